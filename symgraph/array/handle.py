"""Array: the user's handle on a node, and `apply`, through which every operation is applied.

An `Array` behaves like a NumPy array that has no numbers yet. NumPy functions reach it through
`__array_ufunc__`, `__array_function__` and `__array_namespace__`; operators and methods
(`methods`) by the NumPy functions they stand for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, ClassVar, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike

from ..errors import SymgraphError, TraceError
from ..ir.avals import Aval
from ..ir.dims import Dim, Shape, is_named
from ..ir.immutable import Immutable
from ..ir.node import Node, make
from ..ir.op import OPS, Op
from ..ir.scope import current_scope as _scope
from ..ir.scope import refusal
from ..ir.value_names import Holder
from ..source import is_internal, user_frame
from .advice import instead_of_numbers
from .aliasing import cut, own
from .dimension_numbers import node_of_size
from .dispatch import FUNCTIONS, NUMPY_FUNCTIONS, function_called, ufunc_called
from .located_errors import located
from .methods import ArrayMethods
from .named_sizes import as_seen, shape_as_seen
from .polynomials import sums_polynomials
from .promotion import cast_to, common_dtype, constant_node, dtype_or_type, number_or_array
from .type_tests import PASSES_ON, tell_type_test

__all__ = [
    "Array",
    "ArrayLike",
    "Index",
    "apart",
    "apply",
    "constant",
    "lift",
    "project",
]

ArrayLike: TypeAlias = "Array | np.ndarray[Any, Any] | np.generic | float | Sequence[Any]"
"""An operand of any function: symbols, numbers, or nested sequences of them."""
Index: TypeAlias = "int | slice | EllipsisType | ArrayLike | tuple[Any, ...] | None"
"""The index of an array: `x[index]`."""

_frame = sys._getframe  # pyright: ignore[reportPrivateUsage]  # who asks, at 0.1 us


class Array(ArrayMethods, Immutable, Holder):
    """A symbolic array: dtype and shape are known, numbers are not.

    Parameters
    ----------
    node : Node
        The value in the graph. A write in place puts another in its place.

    Attributes
    ----------
    memory : object
        Where the value stands, see `aliasing`; to begin with, the scope the array is made in.

    Examples
    --------
    >>> x = sg.input("x", "n, 3")
    >>> y = np.sum(x * x, axis=1)
    >>> y, y.ndim, y.dtype
    (<Array sum float64[n]>, 1, dtype('float64'))
    """

    __slots__ = ("__weakref__", "memory", "node")
    __array_priority__: ClassVar[float] = 1000.0
    # SymPy's operators leave `n * x` to the operand of higher priority.
    _op_priority: ClassVar[float] = 1000.0

    def __init__(self, node: Node) -> None:
        self.node = node
        self.memory: Any = _scope()

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]  # is not set
        """The type; Python reads it for `isinstance(x, np.ndarray)`, which is told."""
        frame = _frame(1)
        if sums_polynomials(frame):
            return np.ndarray
        if _scope() is not None:
            while frame.f_code in PASSES_ON and frame.f_back is not None:
                frame = frame.f_back
            if not is_internal(frame):
                tell_type_test(type(self), self.dtype, self.ndim, frame)
        return type(self)

    # -- what is known ---------------------------------------------------------------------------
    @property
    def aval(self) -> Aval:
        """Dtype and shape together."""
        return self.node.aval

    @property
    def shape(self) -> Shape:
        """Dimensions: ints, or in the user's code a `NamedSize` of each named one."""
        shape = self.node.aval.shape
        for dim in shape:
            if type(dim) is not int:
                return shape if is_internal(_frame(1)) else shape_as_seen(shape)
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return self.node.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.node.aval.ndim

    @property
    def size(self) -> Dim:
        """The number of elements: an int, or a size in named dimensions."""
        size = self.node.aval.size
        return size if is_internal(_frame(1)) else as_seen(size)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Dim:
        """Bytes of all elements."""
        nbytes = self.node.aval.nbytes
        return nbytes if is_internal(_frame(1)) else as_seen(nbytes)

    def __repr__(self) -> str:
        name = f"{self.node.params['name']!r} " if self.node.is_input else f"{self.node.op.name} "
        return f"<Array {name}{self.aval}>"

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        return {**self.node._repr_mimebundle_(), "text/plain": repr(self)}  # pyright: ignore[reportPrivateUsage]  # a protocol of notebooks

    def get_operation(self) -> Op:
        """The operation that makes this value.

        Returns
        -------
        Op
            Its record: name, kernel, derivative.

        Examples
        --------
        >>> np.sin(sg.input("x")).get_operation().name
        'sin'
        """
        return self.node.op

    def get_inputs(self) -> tuple[Array, ...]:
        """Its operands, in order.

        Returns
        -------
        tuple of Array
            None for an input or a constant.

        Examples
        --------
        >>> x, y = sg.input("x"), sg.input("y")
        >>> [each.node is x.node for each in (x * y).get_inputs()]
        [True, False]
        """
        return tuple(Array(operand) for operand in self.node.operands)

    # -- how operations are applied; rule patterns override this ---------------------------------
    @classmethod
    def _apply(cls, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        return _apply_concretely(op, operands, params)

    # -- NumPy's protocols -----------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc_called(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return function_called(func, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return NUMPY_FUNCTIONS["__array_namespace__"]()

    # -- what its methods are made of ------------------------------------------------------------
    def _call(self, name: str, *args: object, **kwargs: object) -> Any:
        return FUNCTIONS[name](*args, **kwargs)

    def _no_numbers(self, what: str, mend: str) -> NoReturn:
        frame = user_frame()
        rows = [f"used at {frame.quoted()}"] if frame else []
        made = str(self.node.origin)
        raise refusal(
            TraceError(
                f"{what} needs numbers, but a symbolic array has none yet: {self!r}.",
                [*rows, *([f"made at {made}"] if made else [])],
                mend=instead_of_numbers() or mend,
            )
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TraceError("A 0-d array has no length.")
        first = self.shape[0]
        if not isinstance(first, int):
            raise TraceError(
                f"len() is not known: the first dimension is {first!r}.",
                mend="Use x.shape[0] in arithmetic on shapes.",
            )
        return first

    def __iter__(self) -> Iterator[Array]:
        if self.shape and not isinstance(self.shape[0], int):
            frame = user_frame()
            raise TraceError(
                f"A loop over an array of {self.shape[0]} elements, a number to come: {self!r}.",
                [f"used at {frame.quoted()}"] if frame else [],
                mend="Compute with the whole array, loop with sg.scan, or trace with a fixed size.",
            )
        return (self[i] for i in range(len(self)))


# -- applying operations -------------------------------------------------------------------------


def apply(op: Op, *operands: object, **params: object) -> Any:
    """Apply `op` to arrays and numbers; gives an `Array`, or a tuple of them for several results.

    Operands are cast to their common dtype by NumPy's rules where the operation asks for it,
    numbers and NumPy arrays become constants, and errors name the operands with the user's lines.
    """
    kind: type[Array] = Array
    for operand in operands:
        if type(operand) is not Array and isinstance(operand, Array):
            kind = type(operand)
            break
    return kind._apply(op, operands, params)  # pyright: ignore[reportPrivateUsage]


def _apply_concretely(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    nodes: list[Node] = []
    try:
        if any(type(each) in _JOINED for each in operands):
            operands = [each if (found := _joined(each)) is None else found for each in operands]
        nodes = _promoted(op, operands)
        avals = tuple([node.aval for node in nodes])
        node = make(op, nodes, op.normalize(avals, **params))
    except SymgraphError as error:
        raise located(error, op.name, operands) from None
    if len(node.results) == 1:
        result = Array(node)
        if op.write is not None and isinstance(operands[0], Array):
            cut(result, operands[0])
        return result
    return tuple(Array(project(node, index)) for index in range(len(node.results)))


def apart(result: object, array: bool = False) -> Any:
    """A result, or each of several, as an array that shares memory with no other.

    Without dimensions it is a number, as NumPy's ufuncs give; an array of one if `array` says so.
    """
    if type(result) is Array:
        alone = Array(result.node)
        if array or (result.node.op.name == "input" and result.shape):
            own(alone)  # A copy of an argument is not the argument.
        return alone
    if isinstance(result, (tuple, list)):
        parts = [apart(each, array) for each in cast("Sequence[Any]", result)]
        make_anew = getattr(type(cast("Any", result)), "_make", type(cast("Any", result)))
        return make_anew(parts)
    return result


def project(node: Node, index: int) -> Node:
    """Result `index` of a node with several results."""
    return make(OPS["project"], (node,), {"index": index})


def _promoted(op: Op, operands: Sequence[Any]) -> list[Node]:
    if op.promote is None:
        return [lift(operand) for operand in operands]
    first = operands[-1]
    # The common case, five times faster than asking NumPy: nothing needs a cast.
    if type(first) is Array:
        dtype = first.node.results[0].dtype
        nodes = [
            each.node
            for each in operands
            if type(each) is Array and each.node.results[0].dtype == dtype
        ]
        if len(nodes) == len(operands) and op.promote(dtype) == dtype:
            return nodes
    given = {
        i: each.node if isinstance(each, Array) else number_or_array(each)
        for i, each in enumerate(operands)
        if i not in op.unpromoted
    }
    resolve = getattr(op.promote, "resolve", None)
    if resolve is not None and not op.unpromoted:
        targets = resolve(tuple([dtype_or_type(each) for each in given.values()]))
        return [cast_to(each, to) for each, to in zip(given.values(), targets, strict=True)]
    target = op.promote(common_dtype(list(given.values())))
    return [
        cast_to(given[i], target) if i in given else lift(each) for i, each in enumerate(operands)
    ]


def constant(value: object, dtype: DTypeLike | None = None) -> Array:
    """A constant: a frozen copy of `value`.

    Parameters
    ----------
    value : array_like
        Of any shape; a later change of it does not reach the graph. A list that holds symbolic
        arrays becomes their stack.
    dtype : dtype, optional
        By default as NumPy chooses.

    Returns
    -------
    Array
        Symbolic, of the shape of `value`.

    Raises
    ------
    DTypeError
        If `value` is not numeric.
    RangeError
        If a Python int does not fit `dtype`.

    Examples
    --------
    >>> sg.constant([1, 2, 3], "float32")
    <Array constant float32[3]>
    """
    found = _joined(value)
    if found is None:
        return Array(constant_node(value, dtype))
    return found if dtype is None else FUNCTIONS["astype"](found, dtype)


def lift(value: object) -> Node:
    """The node of an array, or of a constant holding `value`."""
    if isinstance(value, Array):
        return value.node
    return node_of_size(value) if is_named(value) else constant(value).node


_JOINED = frozenset((list, tuple, np.ndarray))
"""What may hold symbols."""


def _joined(value: object) -> Array | None:
    """A list that holds symbols or named sizes, at any depth, as one array; else None.

    It is what `numpy.array` makes of a list of arrays: entries of one shape, along a new axis.
    """
    if isinstance(value, Array):
        return value
    if is_named(value):
        return Array(node_of_size(value))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _joined(value.tolist())  # what np.array makes of sizes
    if not isinstance(value, (list, tuple)):
        return None
    entries = cast("Sequence[object]", value)
    inner = [_joined(each) for each in entries]
    if all(each is None for each in inner):
        return None
    found = FUNCTIONS["stack"](
        [one if two is None else two for one, two in zip(entries, inner, strict=True)]
    )
    own(found)
    return found
