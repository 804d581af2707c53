r"""The error function and its kin, in float64, from operators that keep all digits there.

For $z \ge 0$ and $t = 2 / (2 + z)$ the function $\log(e^{z^2} \operatorname{erfc}(z) / t)$ is
smooth on $0 \le t \le 1$, and $\operatorname{erf}(x) / x$ is a smooth function of $x^2$. Both are
sums of Chebyshev polynomials, whose coefficients are computed from SciPy's functions.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate

from .refusal import Refused
from .traced import TracedTensor

__all__ = ["erf", "erfc", "ndtr"]


@cache
def _of_tail() -> tuple[float, ...]:
    special = import_module("scipy.special")

    def smooth(u: Any) -> Any:
        t = (u + 1) / 2
        return np.log(special.erfcx(2 / t - 2) / t)

    return tuple(chebinterpolate(smooth, 30).tolist())


@cache
def _of_middle() -> tuple[float, ...]:
    special = import_module("scipy.special")

    def smooth(u: Any) -> Any:
        x = np.sqrt((u + 1) / 2)
        return special.erf(x) / x

    return tuple(chebinterpolate(smooth, 16).tolist())


def _summed(u: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of Chebyshev polynomials at u, by Clenshaw's recurrence."""
    after, last = u * 0.0, u * 0.0
    for each in coefficients[:0:-1]:
        after, last = 2 * u * after - last + each, after
    return u * after - last + coefficients[0]


def _complement(xp: Any, x: Any) -> Any:
    """The complementary error function, of float64."""
    z = xp.absolute(x)
    t = 2 / (2 + z)
    upper = t * xp.exp(_summed(2 * t - 1, _of_tail()) - z * z)
    return xp.where(x < 0, 2 - upper, upper)


def _wide(xp: Any, name: str, x: Any) -> tuple[Any, np.dtype[Any]]:
    (x,), _ = xp.loop(name, x)
    if x.dtype.kind != "f":
        raise Refused(f"ONNX has no {name} of {x.dtype}")
    return xp.lift(x, np.float64), x.dtype


def erf(xp: Any, x: Any) -> TracedTensor:
    """ONNX's own in float32; its engines have no other digits."""
    wide, dtype = _wide(xp, "special.erf", x)
    if dtype == np.float32:
        return xp.made("Erf", x.aval, x)
    near = xp.absolute(wide) < 1
    safe = xp.where(near, wide, xp.lift(0.0, np.float64))
    middle = safe * _summed(2 * safe * safe - 1, _of_middle())
    return xp.astype(xp.where(near, middle, 1 - _complement(xp, wide)), dtype)


def erfc(xp: Any, x: Any) -> TracedTensor:
    """Its digits stay where it is small."""
    wide, dtype = _wide(xp, "special.erfc", x)
    return xp.astype(_complement(xp, wide), dtype)


def ndtr(xp: Any, x: Any) -> TracedTensor:
    r"""$\operatorname{erfc}(-x / \sqrt 2) / 2$."""
    wide, dtype = _wide(xp, "special.ndtr", x)
    return xp.astype(0.5 * _complement(xp, wide * -math.sqrt(0.5)), dtype)
