"""SciPy's names for symbolic arrays: `from symgraph.scipy import stats, special, linalg`.

SciPy's ufuncs take symbolic arrays by themselves: `scipy.special.erf(x)`. Its other functions make
NumPy arrays of their arguments. Here they are under SciPy's names, with SciPy's parameters: on
symbols, and on numbers, for which they give NumPy arrays. What is missing raises an error that
tells what to use instead.
"""

from __future__ import annotations

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
