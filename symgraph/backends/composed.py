"""NumPy functions that the array API standard lacks, composed from functions that it has.

Each function takes the namespace first; its `module` has the standard's names. NumPy treats truth
values as numbers and the standard does not, so several functions are here only for truth values.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import BackendError

__all__ = ["COMPOSED", "RENAMED", "accumulated", "truth"]

RENAMED = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "array": "asarray",
    "concatenate": "concat",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "transpose": "permute_dims",
}


def _created(name: str) -> Callable[..., Any]:
    def create(xp: Any, shape: Any, dtype: Any = None) -> Any:
        return getattr(xp.module, name)(tuple(shape), dtype=dtype)

    return create


def _eye(xp: Any, rows: int, columns: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    return xp.module.eye(rows, columns, k=k, dtype=dtype)


def _is_bool(xp: Any, x: Any) -> bool:
    return isinstance(x, bool) or getattr(x, "dtype", None) == xp.module.bool


def truth(xp: Any, x: Any) -> Any:
    """Truth values unchanged; for numbers, whether they are nonzero."""
    return x if _is_bool(xp, x) else x != 0


def _logical(name: str) -> Callable[..., Any]:
    return lambda xp, *operands: getattr(xp.module, name)(*[truth(xp, each) for each in operands])


def _with_truths(name: str, instead: str) -> Callable[..., Any]:
    """A function of numbers, with the function that NumPy applies to truth values instead."""

    def compute(xp: Any, x: Any, y: Any) -> Any:
        of_truths = _is_bool(xp, x) and _is_bool(xp, y)
        return getattr(xp.module, instead if of_truths else name)(x, y)

    return compute


def _unchanged_for_truths(name: str) -> Callable[..., Any]:
    name = RENAMED.get(name, name)
    return lambda xp, x: x if _is_bool(xp, x) else getattr(xp.module, name)(x)


def _constant_for_truths(name: str) -> Callable[..., Any]:
    every = name == "isfinite"
    return lambda xp, x: (
        xp.module.full_like(x, every) if _is_bool(xp, x) else getattr(xp.module, name)(x)
    )


def _compared(name: str) -> Callable[..., Any]:
    def compare(xp: Any, x: Any, y: Any) -> Any:
        if _is_bool(xp, x) and _is_bool(xp, y):
            x, y = xp.astype(x, "int8"), xp.astype(y, "int8")
        return getattr(xp.module, name)(x, y)

    return compare


def _extremum(name: str, neutral: float) -> Callable[..., Any]:
    def reduce(
        xp: Any, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        function = getattr(xp.module, name)
        if initial is None:
            return function(x, axis=axis, keepdims=keepdims)
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        if initial == neutral and all(x.shape[each] for each in axes):
            return function(x, axis=axis, keepdims=keepdims)
        for each in axes:  # the standard has no maximum of no elements
            shape = [1 if i == each % x.ndim else size for i, size in enumerate(x.shape)]
            first = xp.module.full(tuple(shape), initial, dtype=x.dtype)
            x = xp.module.concat((first, x), axis=each)
        return function(x, axis=axis, keepdims=keepdims)

    return reduce


def _ignoring_nan(meeting: str) -> Callable[..., Any]:
    def meet(xp: Any, x: Any, y: Any) -> Any:
        module = xp.module
        x, y = module.broadcast_arrays(x, y)
        both = getattr(xp, meeting)(x, y)
        if not module.isdtype(both.dtype, "real floating"):
            return both
        return module.where(module.isnan(x), y, module.where(module.isnan(y), x, both))

    return meet


def _fmod(xp: Any, x: Any, y: Any) -> Any:
    rest = xp.module.remainder(xp.module.abs(x), xp.module.abs(y))
    if xp.module.isdtype(rest.dtype, "real floating"):
        return xp.module.copysign(rest, x)
    return xp.module.where(x < 0, -rest, rest)


def _cbrt(xp: Any, x: Any) -> Any:
    return xp.module.copysign(xp.module.abs(x) ** (1 / 3), x)


def _heaviside(xp: Any, x: Any, y: Any) -> Any:
    one = xp.module.ones_like(x)
    step = xp.module.where(x > 0, one, xp.module.where(x < 0, one * 0, y))
    return xp.module.where(xp.module.isnan(x), x, step)


def _logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    module = xp.module
    far = module.log1p(2.0 ** -module.abs(x - y)) / float(np.log(2.0))
    return module.where(x == y, x + 1, module.maximum(x, y) + far)


def _sinc(xp: Any, x: Any) -> Any:
    one = xp.module.ones_like(x)
    turned = xp.module.where(x == 0, one, x) * float(np.pi)
    return xp.module.where(x == 0, one, xp.module.sin(turned) / turned)


def _gcd(xp: Any, x: Any, y: Any) -> Any:
    """Euclid's algorithm, on all pairs at once."""
    module = xp.module
    x, y = module.broadcast_arrays(module.abs(x), module.abs(y))
    while bool(module.any(y != 0)):
        safe = module.where(y == 0, module.ones_like(y), y)
        x, y = module.where(y == 0, x, y), module.where(y == 0, y, x % safe)
    return x


def _lcm(xp: Any, x: Any, y: Any) -> Any:
    common = _gcd(xp, x, y)
    safe = xp.module.where(common == 0, xp.module.ones_like(common), common)
    return xp.module.abs(x // safe * y)


def _round(xp: Any, x: Any, decimals: int = 0) -> Any:
    scale = float(10 ** abs(decimals))
    if not decimals:
        return xp.module.round(x)
    if not xp.module.isdtype(x.dtype, "real floating"):
        raise BackendError(
            "Only NumPy rounds integers to tens.",
            mend="Convert to floats first, or lower the graph to NumPy.",
        )
    return (
        xp.module.round(x * scale) / scale if decimals > 0 else xp.module.round(x / scale) * scale
    )


def _swapaxes(xp: Any, x: Any, one: int, other: int) -> Any:
    order = list(range(x.ndim))
    order[one], order[other] = order[other], order[one]
    return xp.module.permute_dims(x, tuple(order))


def _diagonal(xp: Any, x: Any, offset: int, _rows: int, _columns: int) -> Any:
    return xp.module.linalg.diagonal(x, offset=offset)


def _triangle(name: str) -> Callable[..., Any]:
    def keep(xp: Any, x: Any, k: int = 0) -> Any:
        return getattr(xp.module, name)(x, k=k)

    return keep


def _pad(xp: Any, x: Any, widths: Any, constant_values: Any = 0) -> Any:
    for axis, sides in enumerate(widths):
        shapes = [(*x.shape[:axis], side, *x.shape[axis + 1 :]) for side in sides]
        fill = [xp.module.full(each, constant_values, dtype=x.dtype) for each in shapes]
        x = xp.module.concat((fill[0], x, fill[1]), axis=axis)
    return x


def _convolve(xp: Any, x: Any, v: Any, mode: str) -> Any:
    if x.shape[0] < v.shape[0]:
        x, v = v, x
    n, k = x.shape[0], v.shape[0]
    wide = _pad(xp, x, ((k - 1, k - 1),)) if mode == "full" else x
    count = n + k - 1 if mode == "full" else n - k + 1
    return sum(wide[k - 1 - j : k - 1 - j + count] * v[j] for j in range(k))


def _einsum(xp: Any, subscripts: str, *operands: Any, **_optimize: Any) -> Any:
    """A plain einsum: it broadcasts all operands over all indices and sums the product.

    The product is as large as all indices together.
    """
    module = xp.module
    left, _, out = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    pairs = [(term, each.ndim) for term, each in zip(terms, operands, strict=True)]
    wide = max(ndim - len(term.replace("...", "")) for term, ndim in pairs)
    lead = [f".{i}" for i in range(wide)]
    known = [_letters(term, ndim, lead) for term, ndim in pairs]
    wanted = _letters(out, len(out.replace("...", "")) + (wide if "..." in out else 0), lead)
    every = list(dict.fromkeys([*wanted, *[each for row in known for each in row]]))
    product: Any = None
    for row, operand in zip(known, operands, strict=True):
        row, operand = _diagonals_taken(module, row, operand)
        order = sorted(range(len(row)), key=lambda i: every.index(row[i]))
        turned = module.permute_dims(operand, tuple(order))
        sizes = dict(zip(row, operand.shape, strict=True))
        stretched = module.reshape(turned, tuple([sizes.get(each, 1) for each in every]))
        product = stretched if product is None else product * stretched
    closed = tuple(range(len(wanted), len(every)))
    return module.sum(product, axis=closed, dtype=product.dtype) if closed else product


def _letters(term: str, ndim: int, lead: list[str]) -> list[str]:
    before, dots, behind = term.partition("...")
    count = ndim - len(before) - len(behind)
    return [*before, *(lead[len(lead) - count :] if dots else []), *behind]


def _diagonals_taken(module: Any, row: list[str], x: Any) -> tuple[list[str], Any]:
    """Take the diagonal of the axes of each repeated index."""
    twice = next((each for each in row if row.count(each) > 1), None)
    while twice is not None:
        one = row.index(twice)
        other = row.index(twice, one + 1)
        rest = [i for i in range(len(row)) if i not in (one, other)]
        x = module.linalg.diagonal(module.permute_dims(x, (*rest, one, other)))
        row = [*[row[i] for i in rest], twice]
        twice = next((each for each in row if row.count(each) > 1), None)
    return row, x


def accumulated(xp: Any, function: Any, x: Any, axis: int) -> Any:
    """The running results of a binary function along an axis, as of `ufunc.accumulate`."""
    behind = [slice(None)] * (-axis - 1)
    rows = [xp.getitem(x, (Ellipsis, k, *behind)) for k in range(x.shape[axis])]
    return xp.module.stack(list(accumulate(rows, function)), axis=axis) if rows else x


COMPOSED: dict[str, Callable[..., Any]] = {
    "add": _with_truths("add", "logical_or"),
    "cbrt": _cbrt,
    "convolve": _convolve,
    "cross": lambda xp, x, y: xp.module.linalg.cross(x, y),
    "diagonal": _diagonal,
    "einsum": _einsum,
    "exp2": lambda xp, x: 2.0**x,
    "eye": _eye,
    "fmod": _fmod,
    "gcd": _gcd,
    "heaviside": _heaviside,
    "lcm": _lcm,
    "logaddexp2": _logaddexp2,
    "max": _extremum("max", -np.inf),
    "min": _extremum("min", np.inf),
    "multiply": _with_truths("multiply", "logical_and"),
    "ones": _created("ones"),
    "pad": _pad,
    "round": _round,
    "sinc": _sinc,
    "swapaxes": _swapaxes,
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    "zeros": _created("zeros"),
    **{
        name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor", "logical_not")
    },
    **{name: _unchanged_for_truths(name) for name in ("abs", "absolute", "ceil", "floor", "trunc")},
    **{name: _constant_for_truths(name) for name in ("isnan", "isinf", "isfinite")},
    **{name: _compared(name) for name in ("less", "less_equal", "greater", "greater_equal")},
    "maximum": _with_truths("maximum", "logical_or"),
    "minimum": _with_truths("minimum", "logical_and"),
    "fmax": _ignoring_nan("maximum"),
    "fmin": _ignoring_nan("minimum"),
}
