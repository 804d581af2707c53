"""Rows of linear algebra, on matrices that are well conditioned and whose spectra are apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph.numpy as snp
from symgraph.ops.matrix_equations import continuous_riccati, discrete_riccati
from symgraph.testing import GradientCase, Operand


def _of(*shape: int) -> Operand:
    return Operand(-1.0, 1.0, shape)


SQUARE = _of(3, 3)
STACK = _of(2, 3, 3)
VECTOR = _of(3)


def _row(
    op: str,
    call: Callable[..., Any],
    *operands: Operand,
    analytic: bool = True,
    order: int = 2,
    note: str = "",
) -> GradientCase:
    return GradientCase(op, call, operands or (SQUARE,), analytic, order, note)


def regular(x: Any) -> Any:
    """Invertible."""
    return x + 3 * np.eye(3)


def definite(x: Any) -> Any:
    """Symmetric positive definite, eigenvalues apart."""
    return x @ x.mT / 4 + np.diag([1.0, 2.0, 4.0][: x.shape[-1]])


def tall(x: Any) -> Any:
    """Of full rank, singular values apart."""
    return x / 4 + np.eye(4, 3) * np.array([1.0, 2.0, 4.0])


def summed(*arrays: Any) -> Any:
    """One number that no sum of the arrays alone would tell: sines keep directions apart."""
    return sum(np.sum(np.sin(each)) for each in arrays)


def singular(x: Any) -> Any:
    """Rank one at every x: of the second and third row nothing is left."""
    return x * np.array([[1.0], [0.0], [0.0]])


SOLVING = (
    _row("solve", lambda a, b: np.linalg.solve(regular(a), b), SQUARE, _of(3, 2)),
    _row("solve", lambda a, b: np.linalg.solve(regular(a), b), SQUARE, VECTOR, note="vector"),
    _row("solve", lambda a, b: np.linalg.solve(regular(a), b), STACK, _of(3, 2), note="stack"),
    _row("solve", lambda a, b: np.linalg.solve(regular(a), b), STACK, VECTOR, note="stack vector"),
    _row("solve", lambda a, b: np.linalg.solve(regular(a), b), SQUARE, _of(2, 3, 2), note="sides"),
    _row(
        "solve",
        lambda a, b: np.linalg.tensorsolve(a + np.eye(6).reshape(2, 3, 6) * 3, b),
        _of(2, 3, 6),
        _of(2, 3),
        note="tensors",
    ),
    *[
        _row(
            "solve_triangular",
            lambda a, b, options=options: snp.linalg.solve_triangular(regular(a), b, **options),
            SQUARE,
            sides,
            note=note,
        )
        for options, sides, note in (
            ({}, _of(3, 2), ""),
            ({"lower": True}, VECTOR, "lower vector"),
            ({"lower": True, "trans": 1}, _of(3, 2), "lower transposed"),
            ({"trans": "T"}, VECTOR, "transposed vector"),
            ({"unit_diagonal": True}, _of(3, 2), "unit"),
            ({"unit_diagonal": True, "lower": True, "trans": 1}, VECTOR, "unit transposed"),
            ({"lower": True}, _of(2, 3, 2), "sides"),
        )
    ],
    _row(
        "solve_triangular",
        lambda a, b: snp.linalg.solve_triangular(regular(a), b, lower=True),
        STACK,
        VECTOR,
        note="stack",
    ),
    _row(
        "solve_triangular",
        lambda a, b: snp.linalg.cho_solve((snp.linalg.cholesky(definite(a)), True), b),
        SQUARE,
        VECTOR,
        analytic=False,
        note="cho_solve",
    ),
    _row("inv", lambda x: np.linalg.inv(regular(x))),
    _row("inv", lambda x: np.linalg.inv(regular(x)), STACK, note="stack"),
    _row("inv", lambda x: np.linalg.matrix_power(regular(x), -3), note="power"),
    _row(
        "inv",
        lambda x: np.linalg.tensorinv(x + np.eye(4).reshape(4, 2, 2) * 3, ind=1),
        _of(4, 2, 2),
        note="tensors",
    ),
)

DETERMINANTS = (
    _row("det", lambda x: np.linalg.det(x), analytic=False, order=3),
    _row("det", lambda x: np.linalg.det(x), STACK, analytic=False, note="stack"),
    _row("det", lambda x: np.linalg.det(singular(x) + 1), analytic=False, note="singular"),
    _row("cofactor", lambda x: snp.cofactor(x), analytic=False),
    _row("cofactor", lambda x: snp.cofactor(x), STACK, analytic=False, note="stack"),
    _row("cofactor", lambda x: snp.cofactor(singular(x)), analytic=False, order=1, note="rank 1"),
    _row("cofactor_along", lambda x, d: snp.cofactor_along(x, d), SQUARE, SQUARE, analytic=False),
    _row(
        "cofactor_along",
        lambda x, d: snp.cofactor_along(x, d),
        SQUARE,
        STACK,
        analytic=False,
        order=1,
        note="stack",
    ),
    _row("slogdet", lambda x: np.linalg.slogdet(regular(x))[1], analytic=False),
    _row("slogdet", lambda x: np.linalg.slogdet(regular(-x)).logabsdet, STACK, analytic=False),
)

FACTORIZATIONS = (
    _row("copied_lower", lambda x: snp.copied_lower(x * x)),
    _row("cholesky", lambda x: np.linalg.cholesky(definite(x)), analytic=False),
    _row(
        "cholesky", lambda x: np.linalg.cholesky(definite(x)), STACK, analytic=False, note="stack"
    ),
    _row(
        "cholesky",
        lambda x: np.linalg.cholesky(definite(x), upper=True),
        analytic=False,
        note="upper",
    ),
    _row("qr", lambda x: summed(*np.linalg.qr(tall(x))), _of(4, 3), analytic=False),
    _row("qr", lambda x: np.linalg.qr(tall(x)).Q, _of(2, 4, 3), analytic=False, note="q"),
    _row("qr", lambda x: np.linalg.qr(tall(x), "r"), _of(4, 3), analytic=False, note="r"),
    _row("qr", lambda x: summed(*np.linalg.qr(tall(x).mT)), _of(4, 3), analytic=False, note="wide"),
    _row("qr", lambda x: summed(*np.linalg.qr(regular(x))), analytic=False, note="square"),
)

SPECTRA = (
    _row(
        "reciprocal_gaps",
        lambda x: snp.reciprocal_gaps(x / 4 + np.arange(3.0)),
        VECTOR,
        analytic=False,
    ),
    _row("eigh", lambda x: summed(*np.linalg.eigh(definite(x))), analytic=False),
    _row("eigh", lambda x: np.linalg.eigh(definite(x), "U")[1], STACK, analytic=False, note="v"),
    _row("eigh", lambda x: np.linalg.eigvalsh(definite(x)) ** 2, analytic=False, note="w"),
    _row(
        "svd",
        lambda x: summed(*np.linalg.svd(tall(x), full_matrices=False)),
        _of(4, 3),
        analytic=False,
    ),
    _row(
        "svd",
        lambda x: summed(*np.linalg.svd(tall(x).mT, full_matrices=False)),
        _of(4, 3),
        analytic=False,
        note="wide",
    ),
    _row(
        "svd",
        lambda x: np.linalg.svd(definite(x) + x / 8)[0],
        STACK,
        analytic=False,
        note="square u",
    ),
    _row("svd", lambda x: np.linalg.svdvals(tall(x)) ** 2, _of(2, 4, 3), analytic=False, note="s"),
    _row("pinv", lambda x: np.linalg.pinv(tall(x)), _of(4, 3), analytic=False),
    _row("pinv", lambda x: np.linalg.pinv(tall(x).mT), _of(2, 4, 3), analytic=False, note="wide"),
    _row(
        "least_squares",
        lambda a, b: summed(*np.linalg.lstsq(tall(a), b)[:2]),
        _of(4, 3),
        _of(4),
        analytic=False,
    ),
    *[
        _row(
            "least_squares",
            lambda a, b, turned=turned: np.linalg.lstsq(turned(tall(a)), b)[0],
            _of(4, 3),
            sides,
            analytic=False,
            note=note,
        )
        for turned, sides, note in (
            (lambda a: a, _of(4, 2), "columns"),
            (lambda a: a.mT, _of(3), "wide"),
            (lambda a: a.mT, _of(3, 2), "wide columns"),
        )
    ],
    *[
        _row("svd", lambda x, p=p: np.linalg.cond(tall(x), p), _of(4, 3), analytic=False, note=note)
        for p, note in ((None, "cond"), (-2, "cond -2"))
    ],
    _row("inv", lambda x: np.linalg.cond(regular(x), 1), analytic=False, note="cond 1"),
    _row("fourier", lambda x, y: summed(*snp.fourier(x, y)), _of(5), _of(5), analytic=False),
    _row(
        "fourier",
        lambda x, y: summed(*snp.fourier(x, y * y, -2, True)),
        _of(2, 3, 2),
        _of(2, 3, 2),
        analytic=False,
        note="inverse",
    ),
    *[
        _row(
            "half_spectrum",
            lambda x, n=n, twice=twice: summed(*snp.half_spectrum(x, -2, twice)),
            _of(2, n, 2),
            analytic=False,
            note=f"{n} twice" if twice else f"{n}",
        )
        for n in (1, 4, 5)
        for twice in (False, True)
    ],
    *[
        _row(
            "half_spectrum_transpose",
            lambda x, y, n=n, twice=twice: snp.half_spectrum_transpose(x, y * y, n, -1, twice),
            _of(2, n // 2 + 1),
            _of(2, n // 2 + 1),
            analytic=False,
            note=f"{n} twice" if twice else f"{n}",
        )
        for n in (1, 4, 5)
        for twice in (False, True)
    ],
    *[
        _row(
            "cosine_transform",
            lambda x, inverse=inverse: snp.cosine_transform(x, -2, inverse),
            _of(2, 5, 2),
            analytic=False,
            note="inverse" if inverse else "",
        )
        for inverse in (False, True)
    ],
    _row("expm", lambda x: snp.expm(x)),
    _row("expm", lambda x: snp.expm(3 * x), STACK, note="stack"),
    _row("expm_along", lambda x, d: snp.expm_along(x, d), SQUARE, SQUARE),
    _row("expm_along", lambda x, d: snp.expm_along(x, d), SQUARE, STACK, order=1, note="stack"),
)

NORMS = (
    _row("inverse_root", lambda s: snp.inverse_root(s), Operand(0.2, 3.0)),
    _row(
        *("divide_or_slope", lambda x, y, slope: snp.divide_or_slope(x, y, slope)),
        *(Operand(), Operand(0.2, 3.0), Operand()),
    ),
    _row("divide_or_zero", lambda x, y: snp.divide_or_zero(x, y), Operand(), Operand(0.2, 3.0)),
    _row("p_norm", lambda x: np.linalg.norm(x), _of(2, 3)),
    _row("p_norm", lambda x: np.linalg.norm(x, axis=1), _of(2, 3), note="axis"),
    _row("p_norm", lambda x: np.linalg.norm(x, axis=(0, 2), keepdims=True), STACK, note="fro"),
    _row("p_norm", lambda x: np.linalg.norm(x, axis=0) ** 2, _of(2, 3), note="squared"),
    *[
        _row(
            "p_norm",
            lambda x, ord=ord: np.linalg.norm(x, ord, axis=0),
            Operand(0.2, 1.0, (2, 3)),
            analytic=False,
            note=str(ord),
        )
        for ord in (3, 1.5, 0.5, -2)
    ],
    *[
        _row(
            "svd",
            lambda x, ord=ord: np.linalg.norm(tall(x), ord),
            _of(4, 3),
            analytic=False,
            note=f"norm {ord}",
        )
        for ord in (2, -2, "nuc")
    ],
)

PRODUCTS = (
    _row("cross", lambda x, y: np.cross(x, y), VECTOR, _of(2, 3)),
    _row("cross", lambda x, y: np.cross(x, y, axisb=0, axisc=0), _of(4, 3), _of(3, 4), note="axes"),
    _row("multiply", lambda x, y: np.kron(x, y), _of(2, 3), _of(3, 2), note="kron"),
    _row("multiply", lambda x, y: np.kron(x, y), _of(2), _of(2, 2, 3), note="kron of stacks"),
)

EQUATIONS = (
    _row(
        "sylvester", lambda a, b, q: snp.sylvester(regular(a), b, q), SQUARE, _of(2, 2), _of(3, 2)
    ),
    _row(
        "sylvester",
        lambda a, b, q: snp.sylvester(regular(a), b, q),
        STACK,
        SQUARE,
        _of(2, 1, 3, 3),
        order=1,
        note="stack",
    ),
    _row(
        "sylvester",
        lambda a, q: snp.sylvester(a + 3 * np.eye(7), a.mT, q),
        _of(7, 7),
        _of(7, 7),
        analytic=False,
        note="large",
    ),
    _row("stein", lambda a, b, q: snp.stein(a / 3, b / 3, q), SQUARE, _of(2, 2), _of(3, 2)),
    _row("stein", lambda a, q: snp.stein(a / 3, a.mT / 3, q), STACK, SQUARE, order=1, note="stack"),
    _row(
        "stein",
        lambda a, q: snp.stein(a / 7, a.mT / 7, q),
        _of(7, 7),
        _of(7, 7),
        analytic=False,
        note="large",
    ),
    _row("sqrtm", lambda a: snp.sqrtm(regular(a)), analytic=False, order=3),
    _row("sqrtm", lambda a: snp.sqrtm(definite(a)), STACK, analytic=False, note="definite"),
    *[
        _row(
            "riccati",
            lambda a, b, q, r, solver=solver: solver(a, b, definite(q), definite(r)),
            SQUARE,
            _of(3, 2) if not stack else _of(2, 3, 3),
            SQUARE,
            _of(3, 3) if stack else _of(2, 2),
            analytic=False,
            order=1 if stack else 2,
            note=note + stack,
        )
        for solver, note in ((continuous_riccati, "continuous"), (discrete_riccati, "discrete"))
        for stack in ("", " stack")
    ],
)

ROWS = (*SOLVING, *DETERMINANTS, *FACTORIZATIONS, *SPECTRA, *NORMS, *PRODUCTS, *EQUATIONS)
