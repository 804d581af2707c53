"""NumPy's functions that write in place: assignment, `np.copyto`, `np.put`, `np.add.at`, ...

Each function makes the new array by the functions of `updates`. It stores the array in the memory
of its first operand, so that views read it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, Index, constant
from ..array.aliasing import has_memory, reads_all_again
from ..array.dispatch import holds_complex
from ..array.in_place import overwrite, refuse_ndarray
from ..errors import DTypeError, SymgraphError, TraceError
from ..ir.avals import Casting
from ..ir.dims import fixed, known_equal
from .choice import where
from .composites import as_array, naming_lines
from .indexing import GETITEM, getitem
from .joining import stack
from .movement import broadcast_to, ravel, reshape
from .repeated_places import COMBINING, combined_at
from .slices import basic_shape, is_expression, normal_index
from .triangles import fill_diagonal
from .updates import index_add, index_update, put_along_axis

__all__: list[str] = []


# -- assignment ------------------------------------------------------------------------------------
def _setitem(x: Array, index: Index, values: ArrayLike) -> None:
    if not has_memory(x):
        raise TraceError(
            "This is a number, as x[0] and np.sum(x) give: nothing is assigned to its elements.",
            mend="Assign to the array it comes from.",
        )
    params = _basic(x, index)
    if isinstance(values, Array) and params and reads_all_again(values, x, GETITEM, params):
        return  # x[1:] += 1 has written through the view, and assigns it to where it is.
    overwrite(x, _assigned(x, index, params, _values(values, x)))


def _assigned(x: Array, index: object, params: Mapping[str, Any] | None, values: Array) -> Array:
    if params is None:
        return index_update(x, index, values)
    read = len(basic_shape(x.shape, params["index"]))
    while values.ndim > read and known_equal(values.shape[0], 1):
        values = reshape(values, values.shape[1:])  # as NumPy's assignment does
    if all(entry == (None, None, 1) for entry in params["index"]):
        return _widened(_in_dtype_of(x, values), x)
    return index_update(x, index, values)


def _widened(values: Array, x: Array) -> Array:
    return values if values.shape == x.shape else broadcast_to(values, x.shape)


def _in_dtype_of(x: Array, values: Array) -> Array:
    """Values in the dtype of the array they are assigned to, if it can hold them."""
    if values.dtype.kind == "f" and x.dtype.kind != "f":
        return index_update(x, Ellipsis, values)  # refuses
    return FUNCTIONS["astype"](values, x.dtype)


def _basic(x: Array, index: object) -> dict[str, Any] | None:
    """The index in normal form, if it is of slices and numbers."""
    entries = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    for entry in entries:
        plain = entry is None or entry is Ellipsis or isinstance(entry, (int, np.integer, slice))
        if isinstance(entry, (bool, np.bool_)) or not (plain or is_expression(entry)):
            return None
    try:
        return normal_index((x.aval,), index=entries)
    except SymgraphError:
        return None  # `index_update` raises the error.


def _values(values: object, x: Array) -> Array:
    """The assigned values as an array; lists may hold symbols."""
    if isinstance(values, Array):
        return values
    if holds_complex([values]):
        raise DTypeError(
            f"The assigned value is complex, and the array {x.dtype}.",
            mend="Join complex values by np.stack, or snp.array.",
        )
    if isinstance(values, (list, tuple)) and _holds_symbols(values):
        return stack([_values(each, x) for each in cast("Sequence[Any]", values)])
    if type(values) is int and x.dtype.kind in "iu":
        return constant(values, x.dtype)  # NumPy refuses a number that is out of range.
    return as_array(values)


def _holds_symbols(values: ArrayLike) -> bool:
    if isinstance(values, (list, tuple)):
        return any(map(_holds_symbols, cast("Sequence[Any]", values)))
    return isinstance(values, Array)


def _fill(x: Array, value: ArrayLike) -> None:
    number = _values(value, x)
    if number.ndim:
        number = reshape(number, ())
    overwrite(x, _widened(_in_dtype_of(x, number), x))


# -- functions of NumPy ----------------------------------------------------------------------------
def _writes(name: str, *numpy_functions: object) -> Callable[[Callable[..., Any]], Any]:
    """Register a function that writes into its first operand and returns None."""

    def publish(call: Callable[..., Any]) -> Callable[..., Any]:
        def writing(x: ArrayLike, *args: object, **keywords: object) -> None:
            if not isinstance(x, Array):
                raise refuse_ndarray(name, x)
            overwrite(x, call(x, *args, **keywords), "unsafe")

        writing.__name__ = writing.__qualname__ = name
        named = naming_lines(writing)
        for each in numpy_functions:
            NUMPY_FUNCTIONS[each] = named
        return named

    return publish


@_writes("copyto", np.copyto)
def _copied(
    dst: Array, src: ArrayLike, casting: Casting = "same_kind", where: ArrayLike = True
) -> Array:
    values = _values(src, dst)
    if not np.can_cast(values.dtype if isinstance(src, Array) else _kind(src), dst.dtype, casting):
        raise TraceError(
            f"copyto: {values.dtype} is not cast to {dst.dtype} by the rule {casting!r}.",
            mend="Convert it with astype.",
        )
    values = _widened(FUNCTIONS["astype"](values, dst.dtype), dst)
    return values if where is True else _chosen(where, values, dst)


def _kind(src: ArrayLike) -> Any:
    """The dtype for NumPy's casting rules; a Python number gives a dtype of its kind."""
    if isinstance(src, float):
        return np.dtype("float16")
    return np.min_scalar_type(src) if isinstance(src, int) else np.asarray(src).dtype


def _chosen(condition: ArrayLike, values: Array, x: Array) -> Array:
    return FUNCTIONS["astype"](_widened(where(condition, values, x), x), x.dtype)


@_writes("fill_diagonal", np.fill_diagonal)
def _filled_diagonal(a: Array, val: ArrayLike, wrap: bool = False) -> Array:
    return fill_diagonal(a, _values(val, a), wrap)


@_writes("put_along_axis", np.put_along_axis)
def _put_along(arr: Array, indices: ArrayLike, values: ArrayLike, axis: int | None = -1) -> Array:
    return put_along_axis(arr, indices, _values(values, arr), axis)


@_writes("put", np.put)
def _put(a: Array, ind: object, v: ArrayLike, mode: str = "raise") -> Array:
    if isinstance(ind, Array) or not fixed(a.shape):
        raise TraceError(
            "put: places that are computed, or in named dimensions, have no operation.",
            mend="Write at an index: x[index] = values.",
        )
    places = np.ravel(np.asarray(ind))
    size = int(np.prod(cast("Any", a.shape)))
    if mode != "raise":
        places = places % size if mode == "wrap" else np.clip(places, 0, size - 1)
    flat = ravel(a)
    values = _repeated(_values(v, a), len(places))
    return a if values is None else reshape(index_update(flat, places, values), a.shape)


def _repeated(values: Array, count: int) -> Array | None:
    """`count` values, repeating the given ones; None if there are none."""
    row = ravel(values)
    have = row.shape[0]
    if not isinstance(have, int):
        raise TraceError("The number of values is not known.", mend="Use np.where.")
    if not have or not count:
        return None
    return row if have == count else getitem(row, np.arange(count) % have)


@_writes("putmask", np.putmask)
def _put_mask(a: Array, mask: ArrayLike, values: ArrayLike) -> Array:
    row = _values(values, a)
    size: Any = a.size
    if row.ndim == 0 or known_equal(row.size, 1):
        given = reshape(row, ())
    elif isinstance(size, int):
        given = _repeated(row, size)
        if given is None:
            return a
        given = reshape(given, a.shape)
    else:
        raise TraceError("putmask: values for named dimensions are one number.", mend="np.where.")
    return _chosen(reshape(as_array(mask), a.shape), _in_dtype_of(a, given), a)


@_writes("place", np.place)
def _place(arr: Array, mask: ArrayLike, vals: ArrayLike) -> Array:
    values = ravel(_values(vals, arr))
    if known_equal(values.shape[0], 1):
        given = _in_dtype_of(arr, reshape(values, ()))
        return _chosen(reshape(as_array(mask), arr.shape), given, arr)
    if isinstance(mask, Array):
        raise TraceError(
            "place: a computed mask decides where each of several values goes.",
            mend="Give one value, or choose elementwise with np.where(mask, values, x).",
        )
    places = np.flatnonzero(np.asarray(mask))
    found = _repeated(values, len(places))
    return arr if found is None else reshape(index_update(ravel(arr), places, found), arr.shape)


# -- ufunc.at --------------------------------------------------------------------------------------
def write_at(ufunc: np.ufunc, x: ArrayLike, index: Index, *values: ArrayLike) -> None:
    """Write as `ufunc.at(x, index, values)` does: repeated places are written repeatedly.

    Raises
    ------
    TraceError
        If a place may be repeated, and the ufunc neither adds nor subtracts, nor is one of
        `COMBINING` at places that are known.
    """
    if not isinstance(x, Array):
        raise refuse_ndarray(f"np.{ufunc.__name__}.at", x)
    given = [_values(each, x) for each in values]
    if ufunc in (np.add, np.subtract) and x.dtype.kind != "b":
        added = given[0] if ufunc is np.add else -given[0]
        if np.can_cast(added.dtype, x.dtype, "same_kind"):
            overwrite(x, index_add(x, index, FUNCTIONS["astype"](added, x.dtype)))
            return
    once = _once(x, index)
    if not once and not (ufunc in COMBINING and _is_known(x, index)):
        raise _met_twice(ufunc)
    found = NUMPY_FUNCTIONS[ufunc](getitem(x, index), *given)
    if not np.can_cast(found.dtype, x.dtype, "same_kind"):
        overwrite(x, found.astype(found.dtype))  # refuses
    if once:
        overwrite(x, index_update(x, index, FUNCTIONS["astype"](found, x.dtype)))
    else:
        places = index if isinstance(index, tuple) else (index,)
        overwrite(x, combined_at(ufunc, x, places, *given))


def _once(x: Array, index: object) -> bool:
    if _basic(x, index) is not None:
        return True
    if not _is_known(x, index):
        return False
    places = np.arange(int(np.prod(cast("Any", x.shape)))).reshape(cast("Any", x.shape))[index]
    return len(np.unique(places)) == places.size


def _is_known(x: Array, index: object) -> bool:
    """Whether the places of an index are known while tracing."""
    entries = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    return fixed(x.shape) and not any(isinstance(entry, Array) for entry in entries)


def _met_twice(ufunc: np.ufunc) -> TraceError:
    name = f"np.{ufunc.__name__}.at"
    if ufunc in COMBINING:
        return TraceError(
            f"{name}: places that are computed, or in named dimensions, may be met twice.",
            mend="Give the places as an array of numbers, and sizes to the dimensions.",
        )
    able = ", ".join([f"np.{each.__name__}" for each in (np.add, np.subtract, *COMBINING)])
    return TraceError(
        f"{name} writes at places that are met twice, or may be: only {able} can.",
        mend="Write at places that differ: x[index] = f(x[index], values).",
    )


# -- out= ------------------------------------------------------------------------------------------
def write_out(
    name: str, out: object, found: Any, mask: ArrayLike = True, *, ufunc: bool = False
) -> Any:
    """Store a result, or each of several, in the memory of `out`, and return `out`.

    The result of a ufunc is broadcast to `out` and cast to its dtype as `same_kind` allows. Results
    of other functions must have its shape and dtype, for NumPy may compute in the dtype of `out`.
    """
    if isinstance(found, tuple):
        outs: Any = out if isinstance(out, tuple) else (out,)
        pairs = zip(cast("tuple[Any, ...]", found), outs, strict=True)
        return tuple(
            each if into is None else write_out(name, into, each, mask, ufunc=ufunc)
            for each, into in pairs
        )
    into = cast("Any", out)[0] if isinstance(out, tuple) else out
    if not isinstance(into, Array):
        raise refuse_ndarray(f"{name}(..., out=...)", into)
    if mask is not True:
        found = where(mask, found, into)
    if ufunc:
        found = _widened(found, into)
    elif found.dtype != into.dtype:
        raise TraceError(
            f"{name}: a result of {found.dtype} is not written into an array of {into.dtype}.",
            mend=f"Give out= the dtype {found.dtype}, or use the result instead of out=.",
        )
    return overwrite(into, found)


FUNCTIONS["_setitem"] = _setitem
FUNCTIONS["_fill"] = _fill
FUNCTIONS["_put"] = _put
FUNCTIONS["_write_at"] = write_at
FUNCTIONS["_write_out"] = write_out
