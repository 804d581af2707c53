"""Rows of the special functions; numbers keep away from poles, zeros and ends of domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import symgraph.ops  # noqa: F401  # registers the functions
from symgraph.array import FUNCTIONS
from symgraph.testing import GradientCase, Operand

ANY = Operand()
POSITIVE = Operand(0.3, 3.0)
UNIT = Operand(0.1, 0.9)
ABOVE = Operand(1.5, 4.0)
FAR = Operand(31.0, 40.0)
NEAR_ONE = Operand(0.97, 1.03)
NEAR_ZERO = Operand(-0.1, 0.1)
LARGE = Operand(1.0, 2.0)
BEYOND = Operand(2.2, 4.0)
SMALL = Operand(-0.9, 0.9)


def _row(name: str, *operands: Operand, note: str = "") -> GradientCase:
    return GradientCase(name, FUNCTIONS[name], operands, False, note=note)


def _with(name: str, first: Any, *operands: Operand, note: str = "") -> GradientCase:
    """The function of given parameters, differentiated in the rest."""
    function: Callable[..., Any] = FUNCTIONS[name]
    given = first if isinstance(first, tuple) else (first,)
    return GradientCase(name, lambda *x: function(*given, *x), operands, False, note=note)


def _in_parameter(name: str, *others: float) -> GradientCase:
    """The function of given other operands, differentiated once in the first."""
    function: Callable[..., Any] = FUNCTIONS[name]
    note = f"parameter, at {others}"
    return GradientCase(name, lambda a: function(a, *others), (POSITIVE,), False, 1, note)


BESSEL = (
    *[_row(name, ANY) for name in ("j0", "j1", "i0", "i1")],
    *[_row(name, POSITIVE) for name in ("y0", "y1", "k0", "k1", "k0e", "k1e", "i0e", "i1e")],
    _row("i0e", Operand(-3.0, -0.3), note="negative"),
    *[_with(name, 1.3, POSITIVE) for name in ("jv", "yv", "iv", "ive", "kv", "kve")],
    _with("jv", 2, ANY, note="whole"),
)

INTEGRALS = (
    _row("erfcx", ANY),
    _row("erfcx", FAR, note="far"),
    _row("erfi", SMALL),
    _row("erfcinv", Operand(0.3, 1.7)),
    _row("dawsn", ANY),
    _row("dawsn", FAR, note="far"),
    _row("expi", POSITIVE),
    _row("exp1", POSITIVE),
    *[_with("expn", n, POSITIVE, note=str(n)) for n in (0, 1, 3)],
    _row("voigt_profile", ANY, POSITIVE, POSITIVE),
    _row("voigt_profile", FAR, UNIT, UNIT, note="far"),
    GradientCase(
        *("voigt_profile", lambda x, y: FUNCTIONS["voigt_profile"](x, 0 * y, y), (ANY, POSITIVE)),
        analytic=False,
        note="Cauchy",
    ),
    GradientCase(
        *("voigt_profile", lambda x, y: FUNCTIONS["voigt_profile"](x, y, 0 * y), (ANY, POSITIVE)),
        analytic=False,
        note="normal",
    ),
    _row("spence", POSITIVE),
    _row("spence", NEAR_ONE, note="near one"),
    _row("sinc", ANY),
    _row("sinc", NEAR_ZERO, note="near zero"),
)

BETA = (
    _row("lambertw", POSITIVE),
    _row("lambertw", Operand(-0.3, 0.3), note="near 0"),
    GradientCase(
        *("lambertw", lambda x: FUNCTIONS["lambertw"](x, -1), (Operand(-0.3, -0.1),), False),
        note="the other branch",
    ),
    _row("beta", POSITIVE, POSITIVE),
    _row("betaln", POSITIVE, POSITIVE),
    _row("poch", POSITIVE, UNIT),
    _row("binom", ABOVE, UNIT),
    *[_with(name, 1.7, POSITIVE) for name in ("gammainc", "gammaincc", "gammainc_slope")],
    *[_with(name, 1.7, UNIT) for name in ("gammaincinv", "gammainccinv")],
    *[_in_parameter(name, 1.3) for name in ("gammainc", "gammaincc")],
    *[_in_parameter(name, 0.6) for name in ("gammaincinv", "gammainccinv")],
    *[
        _with(name, (1.7, 2.2), UNIT)
        for name in ("betainc", "betaincinv", "betainc_slope_a", "betainc_slope_b")
    ],
    *[
        _in_parameter(name, *rest)
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv")
        for rest in ((1.3, 0.4), (0.6, 0.8))
    ],
    *[
        GradientCase(
            name, lambda b, name=name: FUNCTIONS[name](1.3, b, 0.4), (POSITIVE,), False, 1, "b"
        )
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv")
    ],
    _with("zeta", 2.5, POSITIVE),
)

DIVERGENCE = (
    _row("entr", POSITIVE),
    _row("rel_entr", POSITIVE, POSITIVE),
    _row("kl_div", POSITIVE, POSITIVE),
    _row("huber", LARGE, SMALL),
    _row("huber", LARGE, BEYOND, note="outside"),
    _row("huber", LARGE, Operand(-4.0, -2.2), note="below"),
    _row("pseudo_huber", LARGE, ANY),
    _row("pseudo_huber", LARGE, BEYOND, note="outside"),
)

BOXCOX = (
    _row("exprel", ANY),
    _row("exprel", NEAR_ZERO, note="near zero"),
    _row("boxcox", POSITIVE, ANY),
    _row("boxcox", POSITIVE, NEAR_ZERO, note="near the logarithm"),
    _row("boxcox1p", UNIT, ANY),
    _row("inv_boxcox", UNIT, SMALL),
    _row("inv_boxcox", UNIT, Operand(-0.04, 0.04), note="near the exponential"),
    _row("inv_boxcox1p", UNIT, SMALL),
)

STABLE = (
    _row("logcosh", ANY),
    _row("logcosh", FAR, note="far"),
    _row("logcosh", NEAR_ZERO, note="near zero"),
    _row("log_expm1", POSITIVE),
    _row("log_expm1", FAR, note="far"),
    _row("logsinh", POSITIVE),
    _row("logsinh", FAR, note="far"),
    _row("sqrt1pm1", POSITIVE),
    _row("sqrt1pm1", NEAR_ZERO, note="near zero"),
    _row("log_erfc", ANY),
    _row("log_erfc", FAR, note="far"),
)

PARTS = (
    GradientCase("ldexp", lambda x: FUNCTIONS["ldexp"](x * x, 2), (POSITIVE,), False),
    GradientCase("frexp", lambda x: FUNCTIONS["frexp"](x * x)[0], (Operand(1.1, 1.3),), False),
    GradientCase("nextafter", lambda x: FUNCTIONS["nextafter"](x * x, 9), (POSITIVE,), False),
    GradientCase("fmod", lambda x: FUNCTIONS["modf"](x * x)[0], (Operand(1.1, 1.3),), False),
)

ROWS = (*BOXCOX, *PARTS, *BESSEL, *INTEGRALS, *BETA, *DIVERGENCE, *STABLE)
