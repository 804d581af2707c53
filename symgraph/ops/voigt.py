r"""Voigt's profile: the density of a sum of normal and Cauchy variables (DLMF 7.19).

It is the real part of an analytic function $v$ of $x + i \gamma$ which obeys the equation of heat,
$\partial_\sigma v = \sigma\, \partial_x^2 v$. So all derivatives are parts of derivatives of $v$ in
$x$, also at $\sigma = 0$, and one operation is closed under differentiation.
"""

from __future__ import annotations

from typing import Any

from ..array import Array, ArrayLike, apply
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim
from ..ir.op import Op, carries_aligned, per_element, register
from .batched import batch_aligned
from .families import function
from .scipyufuncs import float_or_double

__all__ = ["voigt_profile"]


def _infer(x: Aval, sigma: Aval, gamma: Aval, **_params: object) -> Aval:
    return x.with_shape(broadcast_shapes(broadcast_shapes(x.shape, sigma.shape), gamma.shape))


def _kernel(xp: Any, x: Any, sigma: Any, gamma: Any, *, order: int, imaginary: bool) -> Any:
    return xp.voigt(x, sigma, gamma, order=order, imaginary=imaginary)


def _room(out: Aval, *_: Aval, order: int, imaginary: bool) -> Dim:
    """SciPy's profile and two tests of it, or the complex numbers of both forms of a derivative."""
    return (240 if order or imaginary else 18) * out.size


def _derivative(x: Array, sigma: Array, gamma: Array, *, order: int, imaginary: bool) -> Array:
    return apply(VOIGT, x, sigma, gamma, order=order, imaginary=imaginary)


def _vjp_x(
    ct: Array, out: Array, x: Array, sigma: Array, gamma: Array, *, order: int, imaginary: bool
) -> Array:
    return ct * _derivative(x, sigma, gamma, order=order + 1, imaginary=imaginary)


def _vjp_sigma(
    ct: Array, out: Array, x: Array, sigma: Array, gamma: Array, *, order: int, imaginary: bool
) -> Array:
    return ct * (sigma * _derivative(x, sigma, gamma, order=order + 2, imaginary=imaginary))


def _vjp_gamma(
    ct: Array, out: Array, x: Array, sigma: Array, gamma: Array, *, order: int, imaginary: bool
) -> Array:
    """By the equations of Cauchy and Riemann: v moves by i dv/dx along the imaginary axis."""
    other = ct * _derivative(x, sigma, gamma, order=order + 1, imaginary=not imaginary)
    return other if imaginary else -other


VOIGT = register(
    Op(
        "voigt_profile",
        workspace=_room,
        infer=_infer,
        kernel=_kernel,
        vjp=(_vjp_x, _vjp_sigma, _vjp_gamma),
        carries=carries_aligned,
        batch=batch_aligned,
        total=True,
        promote=float_or_double,
        flops=per_element(200),
        doc=(
            "Voigt's profile of a normal standard deviation sigma and a Cauchy half-width gamma; "
            "its derivative of whole `order` in x, or the imaginary part of this."
        ),
    )
)


def _voigt_profile(x: ArrayLike, sigma: ArrayLike, gamma: ArrayLike) -> Any:
    return apply(VOIGT, x, sigma, gamma, order=0, imaginary=False)


voigt_profile = function(VOIGT, _voigt_profile, "scipy.special.voigt_profile")
