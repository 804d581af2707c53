r"""Lambert's W: the real solutions w of $w e^w = x$ (DLMF 4.13).

The principal branch, k = 0, is there for $x \ge -1/e$, and -1 or more; the other one, k = -1, for
$-1/e \le x < 0$, and -1 or less. SciPy's iteration ends with five wrong digits near -1/e, so the
kernel is our own: the series at the branch point (Corless et al. 1996, 4.22) near it, elsewhere two
steps of Fritsch, Shafer and Crowley (1973), of fourth order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..array import NUMPY_FUNCTIONS, Array, ArrayLike, apply
from ..errors import TraceError
from ..ir.avals import Aval
from ..ir.op import Op, carries_aligned, per_element, register
from .batched import batch_aligned
from .choice import where
from .composites import naming_lines
from .elementwise import absolute
from .exponential import exp
from .families import function
from .scipyufuncs import float_or_double
from .tails import horner

__all__ = ["lambertw"]

_E = Fraction("2.71828182845904523536028747135266249775724709369995957496697")


def _branch_series(terms: int) -> list[float]:
    """The coefficients of W in p = sqrt(2 (e x + 1)), by the recurrence of Corless et al."""
    mu, alpha = [Fraction(-1), Fraction(1)], [Fraction(2), Fraction(-1)]
    for k in range(2, terms):
        alpha.append(sum((mu[j] * mu[k + 1 - j] for j in range(2, k)), Fraction(0)))
        ahead = Fraction(k - 1, k + 1) * (mu[k - 2] / 2 + alpha[k - 2] / 4)
        mu.append(ahead - alpha[k] / 2 - mu[k - 1] / (k + 1))
    return [float(each) for each in mu]


_SERIES = _branch_series(22)
_NEAR = 0.25
"""Below this p the series has all digits."""


def _kernel(xp: Any, x: Any, *, k: int) -> Any:
    """W in single or double precision."""
    if x.dtype.itemsize < 4:
        return xp.astype(_kernel(xp, xp.astype(x, "float32"), k=k), x.dtype)
    # The distance from -1/e, of which the nearest float is the first part.
    branch = float(np.dtype(str(x.dtype).rpartition(".")[2]).type(-1 / _E))
    left = (x - branch) - float(-1 / _E - Fraction(branch))
    inside = (left >= 0) & (x < np.inf) & (x != 0)
    inside = inside if k == 0 else inside & (x < 0)
    safe = xp.where(inside, x, 1 + 0 * x if k == 0 else -0.25 + 0 * x)
    p = xp.sqrt(2 * float(_E) * xp.where(inside, left, 1 + 0 * x))
    near = p < _NEAR
    series = horner(xp.where(p < 1, p if k == 0 else -p, 0 * p), _SERIES)
    w = xp.where(p < (0.6 if k == 0 else 0.8), series, _far(xp, safe, k))
    w = xp.where(near, -0.5 + 0 * x, w)
    within = xp.where(near, -0.5 * float(np.exp(-0.5)) + 0 * x, safe)
    for _ in range(2):
        # On the other branch the quotient may be denormal.
        z = (xp.log(within / w) if k == 0 else xp.log(-within) - xp.log(-w)) - w
        q = 2 * (1 + w) * (1 + w + 2 / 3 * z)
        w = w * (1 + z / (1 + w) * ((q - z) / (q - 2 * z)))
    return xp.where(inside, xp.where(near, series, w), _ends(xp, x, k))


def _far(xp: Any, x: Any, k: int) -> Any:
    """A first guess, away from the branch point (Winitzki 2003; DLMF 4.13.11)."""
    if k == 0:
        one = xp.log1p(x)
        return one * (1 - xp.log1p(one) / (2 + one))
    one = xp.log(-x)
    two = xp.log(-one)
    return one - two + two / one


def _ends(xp: Any, x: Any, k: int) -> Any:
    """0 at 0 and infinity at infinity, or -infinity at 0; NaN elsewhere."""
    if k == 0:
        return xp.where((x == 0) | (x == np.inf), x, x * np.nan)
    return xp.where(x == 0, -np.inf + 0 * x, x * np.nan)


def _slope(out: Array, x: Array, k: int) -> Array:
    """W / (x (1 + W)), which is exp(-W) / (1 + W), and 1 at 0."""
    if k == -1:
        return -1 / absolute(x) / (1 + 1 / out)
    near = absolute(x) < 1
    small, large = where(near, out, 0), where(near, 1, out)
    return where(near, exp(-small) / (1 + small), 1 / where(near, 1, x) / (1 + 1 / large))


def _infer(x: Aval, *, k: int) -> Aval:
    return x


LAMBERTW = register(
    Op(
        "lambertw",
        infer=_infer,
        kernel=_kernel,
        vjp=(lambda ct, out, x, *, k: ct * _slope(out, x, k),),
        carries=carries_aligned,
        batch=batch_aligned,
        total=False,
        promote=float_or_double,
        flops=per_element(120),
        doc="The real w with w exp(w) = x, of the branch k = 0 or k = -1; NaN where there is none.",
    )
)


@naming_lines
def _lambertw(z: ArrayLike, k: int = 0, tol: float = 1e-8) -> Any:
    """Real, where SciPy's is complex. `tol` is accepted, and all digits are computed."""
    branch = k.item() if isinstance(k, np.ndarray) and k.ndim == 0 else k  # SciPy makes it one.
    if isinstance(branch, (Array, np.ndarray)) or branch not in (0, -1):
        raise TraceError(
            f"lambertw: the branch {branch!r} is complex, and symbolic arrays are real.",
            mend="The branches k=0 and k=-1 are real.",
        )
    return apply(LAMBERTW, z, k=int(branch))


lambertw = function(LAMBERTW, _lambertw)
NUMPY_FUNCTIONS["scipy.special._lambertw"] = lambertw
