"""Rows of SciPy's rarer functions, of histograms and of functions applied along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph.ops  # noqa: F401  # registers the functions
from symgraph.array import FUNCTIONS
from symgraph.testing import GradientCase, Operand

ANY = Operand(-2.0, 2.0)
POSITIVE = Operand(0.3, 3.0)
UNIT = Operand(0.1, 0.9)
SMALL = Operand(-0.9, 0.9)


def _row(name: str, *operands: Operand, note: str = "") -> GradientCase:
    return GradientCase(name, FUNCTIONS[name], operands, False, note=note)


def _with(name: str, given: tuple[Any, ...], *operands: Operand) -> GradientCase:
    """The function of given parameters, differentiated in the rest."""
    function: Callable[..., Any] = FUNCTIONS[name]
    return GradientCase(name, lambda *x: function(*given, *x), operands, False)


def _as(op: str, call: Callable[..., Any], *operands: Operand, note: str) -> GradientCase:
    return GradientCase(op, call, operands, False, note=note)


def _sum(call: Callable[..., Any]) -> Callable[..., Any]:
    """Several results in one, each in a direction of its own."""
    return lambda *x: sum((k + 1) * each for k, each in enumerate(call(*x)))


SPECIAL = (
    _row("rgamma", Operand(-2.9, -2.1)),
    _row("rgamma", POSITIVE, note="positive"),
    GradientCase(
        "rgamma", lambda x: FUNCTIONS["rgamma"](x - 2), (Operand(-1e-9, 1e-9),), False, note="poles"
    ),
    _row("powm1", POSITIVE, ANY),
    _row("cosm1", ANY),
    *[_row(name, Operand(20.0, 70.0)) for name in ("sindg", "cosdg", "tandg", "cotdg")],
    _row("radian", ANY, ANY, ANY),
    _with("hyp0f1", (1.3,), ANY),
    _with("hyp1f1", (0.7, 1.9), ANY),
    _with("hyp2f1", (0.7, 1.2, 1.9), Operand(-0.8, 0.8)),
    _with("hyperu", (0.7, 1.9), POSITIVE),
    _with("struve", (1.3,), POSITIVE),
    _with("modstruve", (1.3,), POSITIVE),
    _row("owens_t", ANY, ANY),
    _row("wrightomega", ANY),
    _row("ellipk", UNIT),
    _row("ellipk", Operand(-0.5, 0.5), note="near 0"),
    _row("ellipe", UNIT),
    _row("ellipe", Operand(-0.5, 0.5), note="near 0"),
    _row("ellipkm1", UNIT),
    _as("ellipd", lambda m: FUNCTIONS["ellipd"](m), UNIT, note=""),
    _row("ellipdm1", POSITIVE),
    *[
        _row(name, POSITIVE)
        for name in ("sine_integral", "cosine_integral", "sinh_integral", "cosh_integral")
    ],
    *[_row(name, ANY) for name in ("fresnel_sine", "fresnel_cosine")],
    *[_row(name, ANY) for name in ("airy_ai", "airy_ai_slope", "airy_bi", "airy_bi_slope")],
    *[
        _as(name, lambda u, name=name: FUNCTIONS[name](u, 0.4), SMALL, note="")
        for name in ("jacobi_sn", "jacobi_cn", "jacobi_dn", "jacobi_am")
    ],
    _as("airy_ai", _sum(FUNCTIONS["airy"]), ANY, note="all"),
    _as("sine_integral", _sum(FUNCTIONS["shichi"]), POSITIVE, note="hyperbolic"),
    _with("betaincc", (0.7, 1.9), UNIT),
    _with("betainccinv", (0.7, 1.9), UNIT),
    _with("stdtr", (2.5,), ANY),
    _with("stdtrit", (2.5,), UNIT),
    _row("ndtri_exp", Operand(-3.0, -0.2)),
    _as("gammainc", lambda x: FUNCTIONS["chdtr"](3, x), POSITIVE, note="chdtr"),
    _as("betainc", lambda x: FUNCTIONS["fdtr"](3, 4, x), POSITIVE, note="fdtr"),
    _as("betainc", lambda x: FUNCTIONS["bdtr"](1, 4, x), UNIT, note="bdtr"),
)

RARER = (
    *[
        _row(name, POSITIVE)
        for name in ("ber", "bei", "ker", "kei", "berp", "beip", "kerp", "keip")
    ],
    *[_row(name, Operand(-0.4, 0.4), note="near 0") for name in ("berp", "beip")],
    *[
        _row(name, POSITIVE)
        for name in (
            "integral_j0",
            "integral_y0",
            "integral_i0",
            "integral_k0",
            "integral_j0_over",
            "integral_y0_over",
            "integral_i0_over",
            "integral_k0_over",
            "itstruve0",
            "it2struve0",
            "itmodstruve0",
        )
    ],
    *[
        _row(name, POSITIVE)
        for name in ("airye_ai", "airye_ai_slope", "airye_bi", "airye_bi_slope")
    ],
    *[
        _as(name, lambda phi, name=name: FUNCTIONS[name](phi, 0.4), Operand(-4.0, 4.0), note="")
        for name in ("ellipdinc", "ellipkinc", "ellipeinc")
    ],
    _as("ellipkm1", FUNCTIONS["agm"], POSITIVE, POSITIVE, note="agm"),
    _with("wright_bessel", (0.7, 1.2), POSITIVE),
    _with("log_wright_bessel", (0.7, 1.2), POSITIVE),
    _with("lpmv", (1, 2.5), SMALL),
    _row("kolmogorov", Operand(0.3, 2.0)),
    _row("kolmogi", UNIT),
    _as("betaincinv", lambda p: FUNCTIONS["fdtri"](3, 4, p), UNIT, note="fdtri"),
)

POLYNOMIALS = (
    *[
        _as("multiply", lambda x, name=name: FUNCTIONS[name](4, x), SMALL, note=name)
        for name in ("eval_chebyt", "eval_legendre", "eval_hermite", "eval_laguerre")
    ],
    _as(
        "multiply",
        lambda a, b, x: FUNCTIONS["eval_jacobi"](3, a, b, x),
        POSITIVE,
        POSITIVE,
        SMALL,
        note="eval_jacobi",
    ),
)

MATRIX = Operand(-1.0, 1.0, (3, 4))
APPLIED = (
    _as(
        "stack",
        lambda x: np.apply_along_axis(lambda v: np.outer(v, v[:2]), 0, x),
        MATRIX,
        note="apply_along_axis",
    ),
    _as(
        "scan",
        lambda x: np.apply_along_axis(lambda v: np.cumsum(v) * v[0], 1, x),
        Operand(-1.0, 1.0, (34, 2)),
        note="apply_along_axis",
    ),
    _as("sum", lambda x: np.apply_over_axes(np.sum, x * x, (0, 1)), MATRIX, note="over axes"),
    _as(
        "scatter_add",
        lambda x, w: np.histogram(x, 3, weights=w)[0] * np.histogram_bin_edges(x, 3)[1:],
        Operand(-1.0, 1.0, (7,)),
        Operand(-1.0, 1.0, (7,)),
        note="histogram",
    ),
    _as(
        "gather",
        lambda x: np.roll(x, FUNCTIONS["argmax"](x)) * x,
        Operand(-1.0, 1.0, (7,)),
        note="rolled by a computed number",
    ),
)

ROWS = (*SPECIAL, *RARER, *POLYNOMIALS, *APPLIED)
