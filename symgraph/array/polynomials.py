"""`np.polynomial` on symbols: sums of polynomials ask for an ndarray, the rest is advice.

Its functions have no hook. `chebval(x, c)` computes with operators alone, but for one question:
if x is an ndarray, then axes of length one are appended to c, so that each column of c is summed at
each x. A symbol has to give the answer that its numbers give; else the two would be broadcast.
"""

from __future__ import annotations

from types import FrameType

__all__ = ["instead_of_polynomials", "sums_polynomials"]

_PACKAGE = "numpy.polynomial"
_VALUES = {
    "chebyshev": "chebval",
    "hermite": "hermval",
    "hermite_e": "hermeval",
    "laguerre": "lagval",
    "legendre": "legval",
    "polynomial": "polyval",
}
"""The function of each module that sums its polynomials."""


def sums_polynomials(frame: FrameType) -> bool:
    """Whether the code that runs in a frame is that of `np.polynomial`."""
    return frame.f_globals.get("__name__", "").startswith(_PACKAGE)


def instead_of_polynomials(module: str, name: str) -> str:
    """What to write instead of a function or class of `np.polynomial` that was given a symbol.

    Parameters
    ----------
    module : str
        Where it is defined, as "numpy.polynomial.chebyshev".
    name : str
        Its name; empty for the call of a series, as in `p(x)`.
    """
    family = module.removeprefix(_PACKAGE).removeprefix(".")
    if family not in _VALUES:
        family = "polynomial"
    values = f"np.polynomial.{family}.{_VALUES[family]}"
    if not name:
        return f"Write a, b = p.mapparms(), and {values}(a + b * x, p.coef)."
    if name.endswith("vander"):
        return f"{values}(x, np.eye(degree + 1)) has the columns of {name}(x, degree) as rows."
    if family == "polynomial":
        # The functions of NumPy that are older than its package, for coefficients as symbols.
        return (
            "np.polyval(coefficients, x) is traced, and so are polyder, polyint, polymul and their "
            "like; coefficients begin with the highest power."
        )
    return f"Of symbolic coefficients c the sum at x is c @ {values}(x, np.eye(len(c)))."
