"""NumPy's names for symbolic arrays: `import symgraph.numpy as snp`.

NumPy's own functions take symbolic arrays already (`np.exp(x)`, `np.sum(x, axis=0)`, `x @ y`).
This module is for what they cannot reach: functions that are given no array (`snp.zeros`,
`snp.eye`) and those NumPy does not have (`snp.softmax`, `snp.erf`, `snp.one_hot`). It is also the
array namespace of symbolic arrays, so code written for the array API standard runs on them.

Every function of the table of operations is here under its name, custom ones included.

Examples
--------
>>> x = sg.input("x", (3,))
>>> snp.softmax(x).shape
(3,)
>>> snp.zeros((2, 3), dtype="float32")
<Array broadcast_to float32[2, 3]>
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .array import FUNCTIONS, NUMPY_FUNCTIONS
from .ops import linalg as linalg
from .ops.creation import full, ones, zeros

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
    "array": "asarray",
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


def __getattr__(name: str) -> Callable[..., Any]:
    found = FUNCTIONS.get(_ALIASES.get(name, name))
    if found is not None and not name.startswith("_"):
        return found
    if not name.startswith("_") and hasattr(np, name):
        raise AttributeError(
            f"symgraph.numpy has no {name!r}: np.{name} cannot be traced yet; "
            "a custom operation can add it."
        )
    raise AttributeError(f"symgraph.numpy has no {name!r}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS, *_ALIASES})


# -- what is given no array ------------------------------------------------------------------------
def empty(shape: Any, dtype: Any = "float64") -> Any:
    """Zeros: an array of symbols has no memory to leave as it is."""
    return zeros(shape, dtype)


def identity(n: Any, dtype: Any = "float64") -> Any:
    """The identity matrix."""
    return FUNCTIONS["eye"](n, dtype=dtype)


def linspace(start: float, stop: float, num: int = 50, **keywords: Any) -> Any:
    """Numbers evenly spaced, a constant."""
    return FUNCTIONS["asarray"](np.linspace(start, stop, num, **keywords))


def _namespace() -> Any:
    return sys.modules[__name__]


NUMPY_FUNCTIONS["__array_namespace__"] = _namespace
