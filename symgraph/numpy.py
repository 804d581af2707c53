"""NumPy's names for symbolic arrays: `import symgraph.numpy as snp`.

NumPy's own functions take symbolic arrays already (`np.exp(x)`, `np.sum(x, axis=0)`, `x @ y`).
This module is for what they cannot reach: functions that are given no array (`snp.zeros`,
`snp.eye`) and those NumPy does not have (`snp.softmax`, `snp.erf`, `snp.one_hot`). It is also the
array namespace of symbolic arrays, so code written for the array API standard runs on them.

Every function of the table of operations is here under its name, custom ones included.

Given numbers, each function gives NumPy arrays, so a model that uses this module can be run, tested
and debugged without being traced. While a function is traced, what makes an array to work on
(`zeros`, `full`, `eye`, `arange`, `asarray` and their like) gives a symbolic one.

All other names of NumPy's, such as `snp.mgrid` and `snp.hanning`, are NumPy's own.

Examples
--------
>>> x = sg.input("x", (3,))
>>> snp.softmax(x).shape
(3,)
>>> snp.softmax(np.zeros(2))
array([0.5, 0.5])
>>> snp.zeros(2)
array([0., 0.])
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .array import FUNCTIONS, NUMPY_FUNCTIONS
from .array.eager import eager, eager_module
from .ops import creation as _creation
from .ops import linalg as _linalg
from .reference.docstrings import are_put_off, documented

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import DTypeLike

    from .ir.dims import Dim, ShapeLike

__all__ = ["empty", "full", "identity", "linalg", "linspace", "ones", "zeros"]

pi = np.pi
e = np.e
inf = np.inf
nan = np.nan
newaxis = None

# NumPy's types: they are dtypes, and make numbers, as in float32(1e-3).
bool_ = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64

result_type = np.result_type
can_cast = np.can_cast
finfo = np.finfo
iinfo = np.iinfo

_ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "amax": "max",
    "amin": "min",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "deg2rad": "radians",
    "expit": "sigmoid",
    "fix": "trunc",
    "mod": "remainder",
    "pow": "power",
    "psi": "digamma",
    "rad2deg": "degrees",
    "true_divide": "divide",
}


# What is made to be worked on: symbolic while a function is traced.
_CREATES = frozenset(
    [
        "arange",
        "asarray",
        "copy",
        "empty_like",
        "eye",
        "full",
        "full_like",
        "geomspace",
        "linspace",
        "logspace",
        "ones",
        "ones_like",
        "tri",
        "zeros",
        "zeros_like",
    ]
)
# Functions whose result without dimensions is an array in NumPy too, not a scalar.
_KEEP_ARRAYS = frozenset(
    [
        "block",
        "broadcast_arrays",
        "broadcast_to",
        "cast",
        "cov",
        "cross",
        "diagonal",
        "expand_dims",
        "i0",
        "imag",
        "isin",
        "moveaxis",
        "pad",
        "permute_dims",
        "real",
        "real_if_close",
        "reshape",
        "roll",
        "squeeze",
        "swapaxes",
        "transpose",
        "where",
    ]
)
_twins: dict[Callable[..., Any], Callable[..., Any]] = {}
_undocumented: set[Callable[..., Any]] = set()


def __getattr__(name: str) -> Callable[..., Any]:
    key = _ALIASES.get(name, name)
    found: Callable[..., Any] | None = _CREATORS.get(key) or FUNCTIONS.get(key)
    if found is not None and not name.startswith("_"):
        twin = _twins.get(found)
        if twin is None:
            creates, keeps = key in _CREATES, key in _CREATES | _KEEP_ARRAYS
            twin = _twins[found] = eager(found, creates=creates, keeps_arrays=keeps)
            _undocumented.add(found)
        if found in _undocumented and not are_put_off():
            documented(twin, found.__name__)
            _undocumented.discard(found)
        return twin
    if name == "random":
        raise AttributeError("symgraph.numpy has no 'random': sg.random draws from keys.")
    if not name.startswith("_") and hasattr(np, name):
        return getattr(np, name)  # for numbers; of symbols it traces, or is refused with advice
    raise AttributeError(f"symgraph.numpy has no {name!r}.")


def __dir__() -> list[str]:
    public = [name for name in FUNCTIONS if not name.startswith("_")]
    return sorted({*public, *_ALIASES, *_OWN})


linalg = eager_module(
    _linalg, "symgraph.numpy.linalg", lambda twin, name: documented(twin, f"linalg.{name}")
)

fft = np.fft
"""NumPy's own functions: they take symbols as well as numbers."""

# -- what is given no array ------------------------------------------------------------------------
full: Callable[..., Any]
zeros: Callable[..., Any]
ones: Callable[..., Any]
_CREATORS = {"full": _creation.full, "ones": _creation.ones, "zeros": _creation.zeros}


def empty(shape: ShapeLike, dtype: DTypeLike = "float64") -> Any:
    """Zeros: a symbolic array has no uninitialized memory.

    Parameters
    ----------
    shape : int or sequence of int
        The shape; dimensions may be named.
    dtype : dtype, default 'float64'
        The dtype of the result.

    Returns
    -------
    Array
        Of that shape and dtype; a NumPy array outside of a traced function.

    Raises
    ------
    DTypeError
        If the dtype is complex, or none of numbers.

    Examples
    --------
    >>> snp.empty(2)
    array([0., 0.])
    """
    return __getattr__("zeros")(shape, dtype)


def identity(n: Dim, dtype: DTypeLike = "float64") -> Any:
    """The identity matrix.

    Parameters
    ----------
    n : int
        The number of rows and of columns; it may be named.
    dtype : dtype, default 'float64'
        The dtype of the result.

    Returns
    -------
    Array
        Of shape (n, n); a NumPy array outside of a traced function.

    Raises
    ------
    DTypeError
        If the dtype is complex, or none of numbers.

    Examples
    --------
    >>> snp.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return __getattr__("eye")(n, dtype=dtype)


def linspace(start: float, stop: float, num: int = 50, **keywords: Any) -> Any:
    """Numbers evenly spaced, a constant.

    Parameters
    ----------
    start, stop : number
        The first and the last number.
    num : int, default 50
        How many there are.
    **keywords : keyword arguments
        Those of `np.linspace`: endpoint, retstep, dtype, axis.

    Returns
    -------
    Array
        Of shape (num,); a NumPy array outside of a traced function.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> snp.linspace(0.0, 1.0, 3)
    array([0. , 0.5, 1. ])
    """
    return __getattr__("asarray")(np.linspace(start, stop, num, **keywords))


def _namespace() -> ModuleType:
    return sys.modules[__name__]


NUMPY_FUNCTIONS["__array_namespace__"] = _namespace

_OWN = frozenset(
    [
        *["bool_", "can_cast", "e", "finfo", "iinfo", "inf", "linalg", "nan", "newaxis", "pi"],
        *["empty", "full", "identity", "linspace", "ones", "result_type", "zeros"],
        *[f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)],
        *["float16", "float32", "float64"],
    ]
)
