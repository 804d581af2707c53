"""`autograd.scipy`: `symgraph.scipy` where it has a name, else SciPy's own, which may take symbols.

The densities that most examples use are written here, for where there is no `symgraph.scipy.stats`.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

import symgraph.numpy as snp

from .numpynames import wrapped

__all__ = ["modules"]

_PARTS = ("special", "stats", "linalg", "signal", "integrate")


def _ours(path: str) -> Any:
    """`symgraph.scipy.<path>`, or None."""
    try:
        found: Any = importlib.import_module(f"symgraph.scipy.{path.split('.')[0]}")
    except ImportError:
        return None
    for name in path.split(".")[1:]:
        found = getattr(found, name, None)
    return found


def _log_normal(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return -0.5 * ((x - loc) / scale) ** 2 - np.log(scale) - 0.5 * np.log(2 * np.pi)


def _log_normal_vector(
    x: Any, mean: Any = 0.0, cov: Any = 1.0, allow_singular: bool = False
) -> Any:
    """Of vectors along the last axis."""
    if np.ndim(cov) == 0:
        cov = cov * np.eye(np.shape(x)[-1] if np.ndim(x) else 1)
    off = x - mean
    if np.ndim(off) < 1:
        off = off[None]
    solved = np.linalg.solve(cov, np.swapaxes(off, -1, -2) if np.ndim(off) > 1 else off)
    solved = np.swapaxes(solved, -1, -2) if np.ndim(off) > 1 else solved
    size = np.shape(cov)[-1] * np.log(2 * np.pi)
    return -0.5 * (np.sum(off * solved, axis=-1) + np.linalg.slogdet(cov)[1] + size)


def _log_student(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    z = (x - loc) / scale
    parts = snp.gammaln((df + 1) / 2) - snp.gammaln(df / 2) - 0.5 * np.log(np.pi * df)
    return parts - np.log(scale) - (df + 1) / 2 * np.log1p(z * z / df)


_WRITTEN_HERE: dict[str, Any] = {
    "stats.norm.logpdf": _log_normal,
    "stats.norm.pdf": lambda x, loc=0.0, scale=1.0: np.exp(_log_normal(x, loc, scale)),
    "stats.norm.cdf": lambda x, loc=0.0, scale=1.0: snp.ndtr((x - loc) / scale),
    "stats.norm.logcdf": lambda x, loc=0.0, scale=1.0: snp.log_ndtr((x - loc) / scale),
    "stats.norm.sf": lambda x, loc=0.0, scale=1.0: snp.ndtr((loc - x) / scale),
    "stats.norm.logsf": lambda x, loc=0.0, scale=1.0: snp.log_ndtr((loc - x) / scale),
    "stats.multivariate_normal.logpdf": _log_normal_vector,
    "stats.t.logpdf": _log_student,
}


class _Scipy(ModuleType):
    """The functions of a module of SciPy, or the methods of a distribution."""

    def __init__(self, path: str, plain: Any) -> None:
        super().__init__(f"autograd.scipy.{path}")
        self.__path__ = []
        self._path = path
        self._plain = plain

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._plain, name)
        if hasattr(found, "logpdf") or hasattr(found, "logpmf"):
            return _Scipy(f"{self._path}.{name}", found)
        if not callable(found):
            return found
        symbolic = getattr(_ours(self._path), name, _WRITTEN_HERE.get(f"{self._path}.{name}"))
        if symbolic is None and self._path == "special" and not hasattr(found, "nin"):
            symbolic = getattr(snp, name, None)
        if self._path == "integrate" and symbolic is not None:
            return symbolic  # `args` may nest arrays of all shapes
        if self._path == "signal":  # ours takes numbers, too, and axes
            found = symbolic or found
        return wrapped(name, found, symbolic)


def modules() -> dict[str, ModuleType]:
    """`autograd.scipy` and what is in it."""
    found: dict[str, ModuleType] = {}
    for part in _PARTS:
        found[f"autograd.scipy.{part}"] = _Scipy(part, importlib.import_module(f"scipy.{part}"))
    stats: Any = found["autograd.scipy.stats"]
    for name in (
        "norm",
        "t",
        "beta",
        "gamma",
        "chi2",
        "poisson",
        "dirichlet",
        "multivariate_normal",
    ):
        found[f"autograd.scipy.stats.{name}"] = getattr(stats, name)
    whole = ModuleType("autograd.scipy")
    whole.__path__ = []
    return {"autograd.scipy": whole, **found}
