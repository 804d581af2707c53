"""The beta function, incomplete gamma and beta functions, and Hurwitz's zeta, by SciPy's names.

DLMF §5.12, §8.2, §8.17 and §25.11. Derivatives in the parameters of incomplete functions come from
`incomplete` and `incomplete_beta`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import NUMPY_FUNCTIONS, Array, ArrayLike
from ..ir.differentiation import undefined
from ..ir.op import results_of
from ..ir.traits import Traits
from .composites import composite
from .incomplete import gamma_density, gammainc_slope
from .incomplete_beta import beta_density, betainc_slope_a, betainc_slope_b
from .scipyufuncs import scipy_ufunc
from .special import digamma

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "binom",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "poch",
    "zeta",
]


def _no(name: str, of: str) -> Any:
    return undefined(f"the derivative of {name} in {of} has no closed form")


# -- quotients of gamma functions ------------------------------------------------------------------
beta = scipy_ufunc(
    "beta",
    lambda ct, out, a, b: ct * (out * (digamma(a) - digamma(a + b))),
    lambda ct, out, a, b: ct * (out * (digamma(b) - digamma(a + b))),
    doc="gamma(a) gamma(b) / gamma(a + b).",
    traits=Traits(commutative=True),
)
poch = scipy_ufunc(
    "poch",
    lambda ct, out, z, m: ct * (out * (digamma(z + m) - digamma(z))),
    lambda ct, out, z, m: ct * (out * digamma(z + m)),
    doc="gamma(z + m) / gamma(z), the rising factorial.",
)
binom = scipy_ufunc(
    "binom",
    lambda ct, out, n, k: ct * (out * (digamma(n + 1) - digamma(n - k + 1))),
    lambda ct, out, n, k: ct * (out * (digamma(n - k + 1) - digamma(k + 1))),
    doc="The binomial coefficient of real arguments.",
)


# -- incomplete functions --------------------------------------------------------------------------
def _quantile_slope(a: Array, x: Array) -> Array:
    """How the x of a given probability moves with a: the probability itself stays."""
    return -(gammainc_slope(a, x) / gamma_density(a, x))


def _beta_quantile_slope(slope: Callable[..., Array], a: Array, b: Array, x: Array) -> Array:
    return -(slope(a, b, x) / beta_density(a, b, x))


gammainc = scipy_ufunc(
    "gammainc",
    lambda ct, out, a, x: ct * gammainc_slope(a, x),
    lambda ct, out, a, x: ct * gamma_density(a, x),
    doc="The regularized lower incomplete gamma function.",
    flops=100,
)
gammaincc = scipy_ufunc(
    "gammaincc",
    lambda ct, out, a, x: -(ct * gammainc_slope(a, x)),
    lambda ct, out, a, x: -(ct * gamma_density(a, x)),
    doc="The regularized upper incomplete gamma function.",
    flops=100,
)
gammaincinv = scipy_ufunc(
    "gammaincinv",
    lambda ct, out, a, y: ct * _quantile_slope(a, out),
    lambda ct, out, a, y: ct / gamma_density(a, out),
    doc="The x with gammainc(a, x) = y.",
    flops=200,
)
gammainccinv = scipy_ufunc(
    "gammainccinv",
    lambda ct, out, a, y: ct * _quantile_slope(a, out),
    lambda ct, out, a, y: -(ct / gamma_density(a, out)),
    doc="The x with gammaincc(a, x) = y.",
    flops=200,
)
betainc = scipy_ufunc(
    "betainc",
    lambda ct, out, a, b, x: ct * betainc_slope_a(a, b, x),
    lambda ct, out, a, b, x: ct * betainc_slope_b(a, b, x),
    lambda ct, out, a, b, x: ct * beta_density(a, b, x),
    doc="The regularized incomplete beta function.",
    flops=100,
)
betaincc = scipy_ufunc(
    "betaincc",
    lambda ct, out, a, b, x: -(ct * betainc_slope_a(a, b, x)),
    lambda ct, out, a, b, x: -(ct * betainc_slope_b(a, b, x)),
    lambda ct, out, a, b, x: -(ct * beta_density(a, b, x)),
    doc="1 - betainc(a, b, x), accurate where that is near 0.",
    flops=100,
)
betainccinv = scipy_ufunc(
    "betainccinv",
    lambda ct, out, a, b, y: ct * _beta_quantile_slope(betainc_slope_a, a, b, out),
    lambda ct, out, a, b, y: ct * _beta_quantile_slope(betainc_slope_b, a, b, out),
    lambda ct, out, a, b, y: -(ct / beta_density(a, b, out)),
    doc="The x with betaincc(a, b, x) = y.",
    flops=200,
)
betaincinv = scipy_ufunc(
    "betaincinv",
    lambda ct, out, a, b, y: ct * _beta_quantile_slope(betainc_slope_a, a, b, out),
    lambda ct, out, a, b, y: ct * _beta_quantile_slope(betainc_slope_b, a, b, out),
    lambda ct, out, a, b, y: ct / beta_density(a, b, out),
    doc="The x with betainc(a, b, x) = y.",
    flops=200,
)

# -- zeta ------------------------------------------------------------------------------------------
_zeta = scipy_ufunc(
    "zeta",
    _no("zeta", "its exponent"),
    lambda ct, out, x, q: -(ct * (x * _zeta(x + 1, q))),
    doc="Hurwitz's zeta function, the sum of (k + q)**-x over k >= 0, for x > 1.",
    flops=60,
    workspace=results_of(1),
)


@composite("scipy.special._zeta")
def zeta(x: ArrayLike, q: ArrayLike = 1) -> Array:
    """Hurwitz's zeta function, the sum of (k + q)**-x over k >= 0, for x > 1; Riemann's for q = 1.

    It is differentiable in q. The derivative in x has no closed form.
    """
    return _zeta(x, q)


NUMPY_FUNCTIONS["scipy.special._riemann_zeta"] = zeta
