"""Elliptic integrals and Jacobi's elliptic functions, under SciPy's names.

Derivatives are taken in the argument (DLMF §19, §22).
"""

from __future__ import annotations

from math import pi

from ..array import Array, ArrayLike
from ..ir.traits import Traits
from .bounds import knows, within
from .choice import where
from .composites import composite
from .elementwise import absolute
from .families import elementwise
from .scipyufuncs import float_or_double, no_closed_form, part_of, polynomial, scipy_ufunc

__all__ = ["ellipe", "ellipj", "ellipk", "ellipkm1"]


# -- complete elliptic integrals: DLMF 19.4.1, K - E = m D -----------------------------------------
def _slope_of_d() -> tuple[float, ...]:
    """Coefficients of D'(m): DLMF 19.5.1 and 19.5.2 in K - E = m D; to 1e-17 for |m| < 0.3."""
    found: list[float] = []
    central = 0.5  # (2k - 1)!! / (2k)!!
    for k in range(1, 33):
        central *= (2 * k + 1) / (2 * k + 2)
        found.append(pi / 2 * central**2 * (2 * k + 2) / (2 * k + 1) * k)
    return tuple(found)


_D_SLOPE = _slope_of_d()


def _derivative_of_d(m: Array, out: Array) -> Array:
    near = absolute(m) < 0.3
    far = where(near, 0.5, m)
    value = where(near, 0.0, out)
    slope = (ellipk(far) - 2 * value + far * value) / (2 * far * (1 - far))
    return where(near, polynomial(where(near, m, 0.0), *_D_SLOPE), slope)


def _derivative_of_dm1(p: Array, out: Array) -> Array:
    """The derivative by p = 1 - m, which keeps the digits of p near 0."""
    near = absolute(1 - p) < 0.3
    far = where(near, 0.5, p)
    value = where(near, 0.0, out)
    slope = (ellipkm1(far) - value - far * value) / (2 * far * (1 - far))
    return -where(near, polynomial(where(near, 1 - p, 0.0), *_D_SLOPE), slope)


_D = elementwise(
    "ellipd",
    kernel=lambda xp, m: xp.astype(xp.special.elliprd(m * 0, 1 - m, m * 0 + 1) / 3, m.dtype),
    vjp=(lambda ct, out, m: ct * _derivative_of_d(m, out),),
    promote=float_or_double,
    flops=40,
    doc="(ellipk(m) - ellipe(m)) / m, finite at m = 0.",
)
_DM1 = elementwise(
    "ellipdm1",
    kernel=lambda xp, p: xp.astype(xp.special.elliprd(p * 0, p, p * 0 + 1) / 3, p.dtype),
    vjp=(lambda ct, out, p: ct * _derivative_of_dm1(p, out),),
    promote=float_or_double,
    flops=40,
    doc="ellipd(1 - p), accurate where p is near 0.",
)
ellipk = scipy_ufunc(
    "ellipk",
    lambda ct, out, m: ct * ((out - _D(m)) / (2 * (1 - m))),
    doc="The complete elliptic integral of the first kind, of the parameter m = k².",
    flops=40,
)
ellipe = scipy_ufunc(
    "ellipe",
    lambda ct, out, m: -(ct * (0.5 * _D(m))),
    facts=knows(bounds=within(0.0, float("inf")), defined=lambda m: m.high <= 1),
    doc="The complete elliptic integral of the second kind, of the parameter m = k².",
    flops=40,
)
ellipkm1 = scipy_ufunc(
    "ellipkm1",
    lambda ct, out, p: -(ct * ((out - _DM1(p)) / (2 * p))),
    doc="ellipk(1 - p), accurate where p is near 0.",
    flops=40,
)


# -- Jacobi's elliptic functions -------------------------------------------------------------------
_sn = part_of(
    "jacobi_sn",
    "ellipj",
    0,
    lambda ct, out, u, m: ct * (_cn(u, m) * _dn(u, m)),
    no_closed_form("ellipj"),
    doc="Jacobi's elliptic function sn, of the argument u and the parameter m.",
    traits=Traits(parity=(-1, 0)),
)
_cn = part_of(
    "jacobi_cn",
    "ellipj",
    1,
    lambda ct, out, u, m: -(ct * (_sn(u, m) * _dn(u, m))),
    no_closed_form("ellipj"),
    doc="Jacobi's elliptic function cn, of the argument u and the parameter m.",
    traits=Traits(parity=(1, 0)),
)
_dn = part_of(
    "jacobi_dn",
    "ellipj",
    2,
    lambda ct, out, u, m: -(ct * (m * (_sn(u, m) * _cn(u, m)))),
    no_closed_form("ellipj"),
    doc="Jacobi's elliptic function dn, of the argument u and the parameter m.",
    traits=Traits(parity=(1, 0)),
)
_am = part_of(
    "jacobi_am",
    "ellipj",
    3,
    lambda ct, out, u, m: ct * _dn(u, m),
    no_closed_form("ellipj"),
    doc="The amplitude of Jacobi's elliptic functions, arcsin(sn(u, m)) for small u.",
    traits=Traits(parity=(-1, 0)),
)


@composite("scipy.special.ellipj")
def ellipj(u: ArrayLike, m: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude, differentiable in u."""
    return _sn(u, m), _cn(u, m), _dn(u, m), _am(u, m)
