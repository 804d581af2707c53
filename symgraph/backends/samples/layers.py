"""Sample calls of the operations of layers and of the special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...array import apply
from ...ir.op import OPS
from .operands import fresh as _x
from .operands import function as _f

__all__ = ["SAMPLES"]

_STEPS: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 2)}


def _within(domains: str, dtype: str = "float64") -> list[Any]:
    """Operands that are positive (+) or between 0 and 1 (u), one for each sign."""
    return [
        abs(_x(3, 4, dtype=dtype)) if each == "+" else _f("sigmoid")(_x(4, dtype=dtype))
        for each in domains
    ]


# Outside a function's domain, SciPy and JAX differ: they give NaN, infinities or numbers.
_DOMAINS = {
    **dict.fromkeys(("gammaln", "gamma", "digamma", "exp1", "spence", "entr"), "+"),
    **dict.fromkeys(("y0", "y1", "k0", "k1", "k0e", "k1e"), "+"),
    **dict.fromkeys(("beta", "betaln", "gammainc", "gammaincc", "gammainc_slope", "huber"), "++"),
    **dict.fromkeys(("jv", "yv", "iv", "ive", "kv", "kve", "pseudo_huber"), "++"),
    **dict.fromkeys(("rel_entr", "kl_div", "poch", "binom", "boxcox", "boxcox1p"), "++"),
    **dict.fromkeys(("gammaincinv", "gammainccinv"), "+u"),
    **dict.fromkeys(("betainc", "betaincc", "betainccinv", "betaincinv"), "++u"),
    **dict.fromkeys(("betainc_slope_a", "betainc_slope_b"), "++u"),
    **dict.fromkeys(("inv_boxcox", "inv_boxcox1p"), "uu"),
    "hyp1f1": "+++",
    "hyp2f1": "+++u",
    "hyperu": "+++",
    **dict.fromkeys(("erfinv", "erfcinv", "ndtri", "logit"), "u"),
}


def _sampled(name: str, domains: str) -> tuple[Callable[..., Any], ...]:
    return (
        lambda: _f(name)(*_within(domains)),
        lambda: _f(name)(*_within(domains, "float32")),
    )


SAMPLES: dict[str, tuple[Callable[..., Any], ...]] = {
    "windows": (lambda: apply(OPS["windows"], _x("n", 5, 6), sizes=(2, 3), **_STEPS),),
    "overlap_add": (
        lambda: apply(OPS["overlap_add"], _x(3, 2, 2, 2, 3), extents=(5, 6), **_STEPS),
    ),
    "sum_of_windows": (lambda: _f("avg_pool2d")(_x("n", 5, 6), 3, (2, 1), 1),),
    "max_of_windows": (lambda: _f("max_pool2d")(_x("n", 5, 6), 3, (2, 1), 1, (1, 2)),),
    "convolution": (
        lambda: _f("conv1d")(_x("n", 4, 6, dtype="float32"), _x(2, 4, 3, dtype="float32")),
        lambda: _f("conv2d")(_x("n", 4, 5, 6), _x(6, 2, 3, 2), (2, 1), "same", (1, 2), 2),
        lambda: _f("conv1d")(_x(2, 4, 6, dtype="int64"), _x(2, 4, 3, dtype="int64")),
    ),
    "adjoint_convolution": (
        lambda: _f("conv_transpose")(_x("n", 4, 3, 2), _x(4, 3, 2, 2), (2, 1), 1, 1, 2),
    ),
    "kernel_convolution": (
        lambda: apply(
            OPS["kernel_convolution"],
            _x(3, 4, 5, 6),
            _x(3, 6, 2, 4),
            sizes=(3, 3),
            groups=2,
            strides=(2, 1),
            dilations=(1, 1),
        ),
    ),
    **{name: _sampled(name, domains) for name, domains in _DOMAINS.items()},
    "zeta": (lambda: _f("zeta")(1.5 + _within("+")[0], *_within("+")),),
    # Only one call, since XLA takes seconds to compile it.
    "expi": (lambda: _f("expi")(_x(3)),),
    "voigt_profile": (
        lambda: _f("voigt_profile")(*_within("+uu")),
        lambda: apply(OPS["voigt_profile"], *_within("+uu"), order=1, imaginary=True),
        lambda: apply(OPS["voigt_profile"], *_within("+uu"), order=2, imaginary=False),
    ),
    "expn": (lambda: _f("expn")(3, *_within("+")),),
    "lambertw": (
        lambda: _f("lambertw")(*_within("+")),
        lambda: _f("lambertw")(-0.3 * _within("u")[0], -1),
    ),
}
