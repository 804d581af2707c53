"""NumPy functions that no graph can hold, each with the reason and what to write instead.

The shape of a result is known before there are numbers. A function is refused, with advice, if its
number of elements depends on values, if it calls Python for each element, or if it is complex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike
from ..errors import TraceError
from .composites import as_array, composite, naming_lines, refuse
from .gather import gather
from .movement import ravel

__all__ = ["compress", "extract"]


def _refused(why: str, mend: str, *functions: Callable[..., object]) -> None:
    for each in functions:
        name = each.__name__
        call = _refusal(name, why, mend)
        NUMPY_FUNCTIONS[each] = call
        FUNCTIONS.setdefault(name, call)


def _refusal(name: str, why: str, mend: str) -> Callable[..., Any]:
    def refusing(*_args: object, **_keywords: object) -> NoReturn:
        raise TraceError(f"{name}: {why}.", mend=mend)

    refusing.__name__ = refusing.__qualname__ = name
    refusing.__doc__ = f"Refused: {why}. {mend}"
    return naming_lines(refusing)


_AS_MANY = "the number of elements of the result depends on values that are not known yet"

_refused(
    _AS_MANY,
    "Keep the shape: np.sort(x) and where it changes, np.where(mask, x, 0); or count numbers in a "
    "known range with np.bincount(x, minlength=n).",
    np.unique,
    np.unique_all,
    np.unique_counts,
    np.unique_inverse,
    np.unique_values,
    np.union1d,
    np.intersect1d,
    np.setdiff1d,
    np.setxor1d,
)
_refused(
    _AS_MANY,
    "Keep the shape: np.where(mask, x, 0), or weigh with mask.astype(float).",
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    np.trim_zeros,
)
_refused(
    "counts in bins of several dimensions have no operation",
    "np.histogram counts in one; number the cells, and count them with np.bincount(cells, weights, "
    "minlength=n).",
    np.histogram2d,
    np.histogramdd,
)
_refused(
    "the length of the remainder depends on values that are not known yet",
    "Divide by hand with a known number of steps; np.polymul, polyadd and polyval are traced.",
    np.polydiv,
)
_refused(
    "bits are packed in bytes, and have no derivative",
    "np.bitwise_count, shifts and & | ^ compute with the bits of integers.",
    np.packbits,
    np.unpackbits,
)
_refused(
    "a symbolic array has no place in memory",
    "Leave the question out: y = x.copy() shares memory with nothing.",
    np.may_share_memory,
    np.shares_memory,
)
_refused(
    "it makes text of values that are not known yet",
    "print(x) tells dtype, shape and origin; evaluate the graph to get numbers.",
    np.array2string,
    np.array_repr,
    np.array_str,
)
_refused(
    "it writes values that are not known yet to a file",
    'Evaluate the graph first; graph.save("graph.py") keeps the graph itself.',
    np.save,
    np.savez,
    np.savez_compressed,
    np.savetxt,
)
_refused(
    "it plans contractions for arrays with numbers",
    "np.einsum(..., optimize=True) is planned when the graph is made; np.einsum_path takes "
    "np.empty arrays of the same shapes.",
    np.einsum_path,
)
_refused(
    "dates and times have no arithmetic here",
    "Count days in numbers before the graph: dates.astype('datetime64[D]').astype('int64').",
    np.busday_count,
    np.busday_offset,
    np.is_busday,
    np.datetime_as_string,
    np.isnat,
)
_COMPLEX = "it gives complex numbers of real ones, and symbolic arrays are real"


def _complex(mend: str, *functions: Callable[..., object]) -> None:
    for each in functions:
        NUMPY_FUNCTIONS[each] = _refusal(each.__name__, _COMPLEX, mend)


_complex(
    "Write it by np.fft.irfft of the conjugate, or np.fft.rfft, times the number of elements.",
    np.fft.hfft,
    np.fft.ihfft,
)
_complex(
    "Of a symmetric matrix np.linalg.eigh gives real ones. A single real one near w0 is "
    "sg.root(lambda w: np.linalg.det(a - w * np.eye(n)), w0), with its derivative.",
    np.linalg.eig,
    np.linalg.eigvals,
)
_complex(
    "A single real one near z0 is sg.root(lambda z: np.polyval(c, z), z0), with its derivative.",
    np.roots,
)
_complex("np.sort keeps the dtype.", np.sort_complex)
_complex(
    "np.sqrt, np.log and powers of x + 0j are complex; of x they are NaN where no result is real.",
    *[getattr(np.emath, name) for name in ("sqrt", "log", "log2", "log10", "logn", "power")],
)
_complex(
    "np.arccos, np.arcsin and np.arctanh are NaN where no result is real.",
    *[getattr(np.emath, name) for name in ("arccos", "arcsin", "arctanh")],
)


# -- questions that dtypes answer ------------------------------------------------------------------
NUMPY_FUNCTIONS[np.common_type] = lambda *arrays: np.common_type(*_samples(arrays))
NUMPY_FUNCTIONS[np.min_scalar_type] = lambda a: np.dtype(a.dtype)


def _samples(arrays: tuple[Any, ...]) -> list[Any]:
    """Arrays without elements, of the same dtypes."""
    return [np.empty(0, each.dtype) for each in arrays]


# -- chosen by a constant mask, which is no trouble ------------------------------------------------
def _positions(name: str, condition: ArrayLike) -> Any:
    if isinstance(condition, Array):
        raise TraceError(
            f"{name}: {_AS_MANY}.",
            mend="Keep the shape: np.where(mask, x, 0), or weigh with mask.astype(float).",
        )
    return np.flatnonzero(np.asarray(condition))


@composite(np.compress)
def compress(
    condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: object = None
) -> Array:
    """The slices along `axis` where a constant condition holds; without an axis, elements."""
    refuse("compress", {"out": out})
    places = _positions("compress", condition)
    x, axis = (ravel(as_array(a)), 0) if axis is None else (a, axis)
    return gather(x, places, axis=axis)


@composite(np.extract)
def extract(condition: ArrayLike, arr: ArrayLike) -> Array:
    """The elements where a constant condition of the array's shape holds."""
    return gather(ravel(as_array(arr)), _positions("extract", condition), axis=0)
