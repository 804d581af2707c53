"""Values without operands: inputs, constants, sizes of dimensions, counting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply, constant
from ..array.aliasing import own
from ..array.cuts import Borrowed
from ..array.promotion import constant_node
from ..errors import FactError, InputError
from ..facts import Fact, consistent, finite, integer_valued, interval, stated
from ..ir.avals import Aval, supported_dtype
from ..ir.dims import Dim, ShapeLike, is_nonnegative, normal, parse_shape
from ..ir.fact_inference import Knowledge, Known
from ..ir.node import fresh, make
from ..ir.op import Op, no_flops, register
from ..notation import formulas, node_text
from .composites import as_array, composite
from .constant_facts import constant_facts
from .families import function

__all__ = [
    "arange",
    "asarray",
    "constant_of",
    "dimension",
    "eye",
    "full",
    "full_like",
    "input",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


# -- inputs and constants ------------------------------------------------------------------------
def _no_kernel(_xp: object, **params: object) -> Any:
    raise InputError(f"Input {params['name']!r} has no value.")


def _infer_input(**_params: object) -> Aval:
    raise InputError("Inputs are made by sg.input, each one fresh.")


INPUT = register(Op("input", infer=_infer_input, kernel=_no_kernel, flops=no_flops, count=0))


def input(
    name: str,
    shape: ShapeLike = (),
    dtype: DTypeLike = "float64",
    assume: Fact | Iterable[Fact] = (),
) -> Array:
    """A symbolic input array.

    Parameters
    ----------
    name : str
        How values are passed: any string; two inputs of one graph need two names.
    shape : tuple of int or str, or text such as `"n, 64"`
        Numbers are fixed dimensions, names are known only when inputs arrive; () by default.
    dtype : dtype
        A real or boolean one.
    assume : Fact or iterable of Fact
        What is known of its values, such as `sg.positive`.

    Returns
    -------
    Array
        Symbolic, of that shape and dtype; no other array equals it.

    Raises
    ------
    InputError, ShapeError, DTypeError, FactError
        If the name is empty, or the rest makes no sense together.

    Examples
    --------
    >>> x = sg.input("x", "n, 64", "float32", assume=sg.nonnegative)
    >>> x
    <Array 'x' float32[n, 64]>
    >>> sg.graph(np.sqrt(x * x)).simplify().formula()
    x
    """
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"An input is named by a nonempty string, not {name!r}.")
    aval = Aval(supported_dtype(dtype), parse_shape(shape))
    facts = tuple(_placed(fact, aval) for fact in stated(assume))
    consistent(facts)
    made = fresh(INPUT, {"name": name, "assume": facts}, aval)
    if facts and aval.dtype.kind != "f":
        Knowledge().of(made)  # an error if the dtype says the opposite
    return Array(made)


_NEED_AXIS = ("simplex", "one_hot", "unit_norm")
_NEED_MATRIX = (
    "symmetric",
    "antisymmetric",
    "positive_definite",
    "orthogonal",
    "diagonal",
    "triangular",
)


def _placed(fact: Fact, aval: Aval) -> Fact:
    """The fact with its axis counted from the end, checked against its array."""
    if fact.name in _NEED_AXIS:
        axis = fact.args[0]
        if not -aval.ndim <= axis < aval.ndim:
            raise FactError(f"{fact} names an axis that an array {aval} does not have.")
        return Fact(fact.name, (axis if axis < 0 else axis - aval.ndim,))
    square = aval.ndim >= 2 and (fact.name == "triangular" or aval.shape[-1] == aval.shape[-2])
    if fact.name in _NEED_MATRIX and not square:
        raise FactError(f"{fact} applies to square matrices, not to {aval}.")
    return fact


def _infer_constant(*, value: np.ndarray[Any, Any]) -> Aval:
    return Aval(value.dtype, value.shape)


CONSTANT = register(
    Op(
        "constant",
        total=True,
        infer=_infer_constant,
        kernel=lambda xp, *, value: xp.asarray(value),
        flops=no_flops,
        count=0,
        facts=constant_facts,
    )
)


# -- the size of a dimension as a value ----------------------------------------------------------
def _dimension_facts(*, size: Dim, dtype: np.dtype[Any]) -> tuple[Fact, ...]:
    # x.shape[0] - 5 may be a negative number.
    signs = (Fact("nonnegative"),) if is_nonnegative(size) else ()
    return (*signs, finite, integer_valued)


DIMENSION = register(
    Op(
        "dimension",
        total=True,
        infer=lambda *, size, dtype: Aval(dtype, ()),
        kernel=lambda xp, *, size, dtype: xp.asarray(size, dtype=dtype),
        flops=no_flops,
        count=0,
        facts=_dimension_facts,
        text=node_text.size_text,
    )
)


def dimension(size: Dim, dtype: DTypeLike = "int64") -> Array:
    """The size of a dimension as a 0-d array: a constant where it is a number."""
    size = normal(size)
    if isinstance(size, int):
        return constant_of(size, dtype)
    return Array(make(DIMENSION, (), {"size": size, "dtype": supported_dtype(dtype)}))


def constant_of(value: object, dtype: DTypeLike) -> Array:
    """A 0-d constant of `dtype`."""
    return Array(constant_node(value, supported_dtype(dtype)))


# -- filled arrays and counting ------------------------------------------------------------------
def full(shape: ShapeLike, fill_value: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """An array of one value: a broadcast 0-d constant, or a symbolic array, broadcast."""
    if isinstance(fill_value, Array) or np.ndim(fill_value):
        value = asarray(fill_value, dtype)
    else:
        value = constant_of(fill_value, dtype if dtype is not None else np.result_type(fill_value))
    return _lying_by_rows(FUNCTIONS["broadcast_to"](value, parse_shape(shape)))


def _lying_by_rows(x: Array) -> Array:
    """The value in fresh memory: NumPy makes an array, never a number."""
    found = Array(x.node)
    own(found, rows=True)
    return found


def zeros(shape: ShapeLike, dtype: DTypeLike = "float64") -> Array:
    """Zeros; see `full`."""
    return full(shape, 0, dtype)


def ones(shape: ShapeLike, dtype: DTypeLike = "float64") -> Array:
    """Ones; see `full`."""
    return full(shape, 1, dtype)


ARANGE = register(
    Op(
        "arange",
        total=True,
        infer=lambda *, size, dtype: Aval(dtype, (size,)),
        kernel=lambda xp, *, size, dtype: xp.arange(size, dtype=dtype),
        flops=no_flops,
        count=0,
        facts=lambda *, size, dtype: (
            Fact("nonnegative"),
            finite,
            integer_valued,
            *((Fact("unique"),) if np.dtype(dtype).kind in "iu" else ()),
        ),
    )
)


def _arange(
    start: Dim, stop: Dim | None = None, step: object = 1, dtype: DTypeLike | None = None
) -> Array:
    """`start`, `start + step`, ... before `stop`; named dimensions may bound it at step 1."""
    if stop is None:
        start, stop = 0, start
    if any(isinstance(each, (float, np.floating)) for each in (start, stop, step)):
        return constant(_counted(start, stop, step, dtype))
    kind = supported_dtype(dtype if dtype is not None else "int64")
    if step != 1:
        return constant(_counted(start, stop, step, kind))
    size = normal(stop - start)
    counted = apply(ARANGE, size=size if not isinstance(size, int) or size > 0 else 0, dtype=kind)
    return counted if isinstance(start, int) and not start else counted + dimension(start, kind)


def _counted(start: Any, stop: Any, step: Any, dtype: Any) -> np.ndarray[Any, Any]:
    return np.arange(start, stop, step, dtype=dtype)


arange = function(ARANGE, _arange)


# -- the identity matrix -------------------------------------------------------------------------
def _facts_eye(*, rows: Dim, columns: Dim, offset: int, dtype: Known) -> Iterable[Fact]:
    yield finite
    yield interval(0.0, 1.0)
    yield integer_valued
    if rows == columns and offset == 0:
        yield from (Fact("diagonal"), Fact("orthogonal"), Fact("positive_definite"))
        yield from (Fact("one_hot", (-1,)), Fact("one_hot", (-2,)))


EYE = register(
    Op(
        "eye",
        total=True,
        infer=lambda *, rows, columns, offset, dtype: Aval(dtype, (rows, columns)),
        kernel=lambda xp, *, rows, columns, offset, dtype: xp.eye(
            rows, columns, k=offset, dtype=dtype
        ),
        flops=no_flops,
        count=0,
        facts=_facts_eye,
        latex=formulas.symbol_formula("I"),
    )
)


def _eye(rows: Dim, columns: Dim | None = None, k: int = 0, dtype: DTypeLike = "float64") -> Array:
    """Ones on the diagonal `k` places above the main one, else zeros."""
    height = normal(rows)
    width = height if columns is None else normal(columns)
    return apply(EYE, rows=height, columns=width, offset=int(k), dtype=supported_dtype(dtype))


eye = function(EYE, _eye)


# -- like another array --------------------------------------------------------------------------
@composite(np.full_like, array=True)
def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
) -> Array:
    """An array of one value, shaped as `x`."""
    like = as_array(x)
    return full(like.shape if shape is None else shape, fill_value, dtype or like.dtype)


@composite(np.zeros_like, array=True)
def zeros_like(
    x: ArrayLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None
) -> Array:
    """Zeros, shaped as `x`."""
    return full_like(x, 0, dtype, shape)


@composite(np.ones_like, array=True)
def ones_like(
    x: ArrayLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None
) -> Array:
    """Ones, shaped as `x`."""
    return full_like(x, 1, dtype, shape)


@composite(view=True)
def asarray(x: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """`x` as a symbolic array: a constant if it holds numbers."""
    if isinstance(x, Array):
        return x if dtype is None or x.dtype == np.dtype(dtype) else FUNCTIONS["astype"](x, dtype)
    found = constant(x, dtype)
    if isinstance(x, np.ndarray):
        found.memory = Borrowed("an array of NumPy's, which asarray may give itself")
    return found


@composite(view=True)
def array(x: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """A fresh copy of the array or numbers; see `asarray`."""
    return _lying_by_rows(asarray(x, dtype))
