"""NumPy's names for symbolic arrays: `import symgraph.numpy as snp`.

NumPy's own functions take symbolic arrays already (`np.exp(x)`, `np.sum(x, axis=0)`, `x @ y`).
This module is for what they cannot reach: functions that are given no array (`snp.zeros`,
`snp.eye`) and those NumPy does not have (`snp.softmax`, `snp.erf`, `snp.one_hot`). It is also the
array namespace of symbolic arrays, so code written for the array API standard runs on them.

Every function of the table of operations is here under its name, custom ones included.

Given numbers, each function gives NumPy arrays, so a model that uses this module can be run, tested
and debugged without being traced. While a function is traced, what makes an array to work on
(`zeros`, `full`, `eye`, `arange`, `asarray` and their like) gives a symbolic one.

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
from typing import Any

import numpy as np

from .array import FUNCTIONS, NUMPY_FUNCTIONS
from .array.eager import eager, eager_module
from .ops import creation as _creation
from .ops import linalg as _linalg

__all__ = ["empty", "full", "identity", "linalg", "linspace", "ones", "zeros"]

pi = np.pi
e = np.e
inf = np.inf
nan = np.nan
newaxis = None

bool_ = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{bits}") for bits in (16, 32, 64))

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
        "full_like",
        "geomspace",
        "linspace",
        "logspace",
        "ones_like",
        "tri",
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


def __getattr__(name: str) -> Callable[..., Any]:
    key = _ALIASES.get(name, name)
    found = FUNCTIONS.get(key)
    if found is not None and not name.startswith("_"):
        twin = _twins.get(found)
        if twin is None:
            creates, keeps = key in _CREATES, key in _CREATES | _KEEP_ARRAYS
            twin = _twins[found] = eager(found, creates=creates, keeps_arrays=keeps)
        return twin
    if not name.startswith("_") and hasattr(np, name):
        raise AttributeError(
            f"symgraph.numpy has no {name!r}: np.{name} cannot be traced yet; "
            "a custom operation can add it."
        )
    raise AttributeError(f"symgraph.numpy has no {name!r}.")


def __dir__() -> list[str]:
    public = [name for name in FUNCTIONS if not name.startswith("_")]
    return sorted({*globals(), *public, *_ALIASES})


linalg = eager_module(_linalg, "symgraph.numpy.linalg")

# -- what is given no array ------------------------------------------------------------------------
full = eager(_creation.full, creates=True, keeps_arrays=True)
zeros = eager(_creation.zeros, creates=True, keeps_arrays=True)
ones = eager(_creation.ones, creates=True, keeps_arrays=True)


def empty(shape: Any, dtype: Any = "float64") -> Any:
    """Zeros: an array of symbols has no memory to leave as it is."""
    return zeros(shape, dtype)


def identity(n: Any, dtype: Any = "float64") -> Any:
    """The identity matrix."""
    return __getattr__("eye")(n, dtype=dtype)


def linspace(start: float, stop: float, num: int = 50, **keywords: Any) -> Any:
    """Numbers evenly spaced, a constant."""
    return __getattr__("asarray")(np.linspace(start, stop, num, **keywords))


def _namespace() -> Any:
    return sys.modules[__name__]


NUMPY_FUNCTIONS["__array_namespace__"] = _namespace
