"""SciPy's names for symbolic arrays: `from symgraph.scipy import stats, special, linalg`.

SciPy's ufuncs take symbolic arrays by themselves: `scipy.special.erf(x)`. Its other functions make
NumPy arrays of their arguments. Here they are under SciPy's names, with SciPy's parameters: on
symbols, and on numbers, for which they give NumPy arrays. All other names are SciPy's own, for
numbers alone: of symbols they raise an error that tells what to use instead.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import fft, integrate, interpolate, linalg, optimize, signal, special, stats

__all__ = [
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "optimize",
    "signal",
    "special",
    "stats",
]

_OF_NUMBERS = [
    "cluster",
    "constants",
    "datasets",
    "differentiate",
    "io",
    "ndimage",
    "odr",
    "sparse",
    "spatial",
]


def __getattr__(name: str) -> ModuleType:
    if name in _OF_NUMBERS:
        return import_module(f"scipy.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
