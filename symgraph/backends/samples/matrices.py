"""Sample calls of matrix products and linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as snp
from ...array import Array, apply
from ...ir.op import OPS
from .operands import definite as _definite
from .operands import fresh as _x
from .operands import function as _f
from .operands import square as _square

__all__ = ["SAMPLES"]


_UPPER = np.array([[0.0, 7.0, 7.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]])


def _sides(size: int | str, dtype: str = "float64") -> tuple[Array, Array]:
    """A square matrix and a right side of an equation of matrices."""
    return _square(size, dtype=dtype), _x(size, size, dtype=dtype)


def _regulator(states: tuple[Any, ...], controls: tuple[Any, ...], discrete: bool) -> Array:
    """Riccati's equation of a system that all controls reach."""
    a, b = _square(*states) / 9, _x(*controls)
    q, r = (_definite(_x(size, size)) for size in controls)
    return apply(OPS["riccati"], a, b, q, r, discrete=discrete)


def _unsigned(results: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple([_f("absolute")(each) for each in results])


SAMPLES: dict[str, tuple[Callable[..., Any], ...]] = {
    "matmul": (
        lambda: _x(3, 4) @ _x(4, 2),
        lambda: _x(5, 3, 4) @ _x(4),
        lambda: _x(4) @ _x(4),
        lambda: _x("n", 4, dtype="float32") @ _x(4, "n", dtype="float32"),
        lambda: _x(3, 0) @ _x(0, 2),
    ),
    "einsum": (
        lambda: _f("einsum")("ij,jk->ik", _x(3, 4), _x(4, 2)),
        lambda: _f("einsum")("ii->i", _x(3, 3)),
        lambda: _f("einsum")("ij,j,j->i", _x(3, 4), _x(4), _x(4)),
    ),
    "solve": (
        lambda: _f("solve")(_square(3), _x(3, 2)),
        lambda: _f("solve")(_square(2, 3, dtype="float32"), _x(3, dtype="float32")),
        lambda: _f("solve")(_square("n"), _x("n")),
        lambda: _f("solve")(_x(0, 0), _x(0)),
    ),
    "solve_triangular": (
        lambda: _f("solve_triangular")(_square(3), _x(3, 2)),
        lambda: _f("solve_triangular")(_square(2, 3), _x(3), lower=True, trans=1),
        lambda: _f("solve_triangular")(_square(3), _x(2, 3, 2), unit_diagonal=True),
        lambda: _f("solve_triangular")(_square("n"), _x("n")),
    ),
    **{
        name: (
            lambda name=name: _f(name)(_square(3)),
            lambda name=name: _f(name)(_square(2, 3, dtype="float32")),
            lambda name=name: _f(name)(_square("n")),
            lambda name=name: _f(name)(_x(0, 0)),
        )
        for name in ("inv", "det", "slogdet", "cofactor", "copied_lower")
    },
    "fourier": (
        lambda: _f("fourier")(_x(5), _x(5) ** 2),
        lambda: _f("fourier")(_x(2, 4, 3, dtype="float32"), _x(2, 4, 3, dtype="float32"), -2, True),
        lambda: _f("fourier")(_x("n"), _x("n") ** 2),
        lambda: _f("fourier")(_x(0), _x(0)),
    ),
    "cosine_transform": (
        lambda: _f("cosine_transform")(_x(5)),
        lambda: _f("cosine_transform")(_x(2, 4, 3, dtype="float32"), -2, True),
        lambda: _f("cosine_transform")(_x("n")),
        lambda: _f("cosine_transform")(_x(0, 4)),
    ),
    "half_spectrum": (
        lambda: _f("half_spectrum")(_x(5)),
        lambda: _f("half_spectrum")(_x(2, 4, 3, dtype="float32"), -2, True),
        lambda: _f("half_spectrum")(_x("n")),
        lambda: _f("half_spectrum")(_x(0, 4)),
    ),
    "half_spectrum_transpose": (
        lambda: _f("half_spectrum_transpose")(_x(3), _x(3) ** 2, 5),
        lambda: _f("half_spectrum_transpose")(
            _x(2, 3, 3, dtype="float32"), _x(2, 3, 3, dtype="float32"), 4, -2, True
        ),
        lambda: _f("half_spectrum_transpose")(*_f("half_spectrum")(_x("n")), _x("n").aval.shape[0]),
        lambda: _f("half_spectrum_transpose")(_x(0, 3), _x(0, 3), 4),
    ),
    "expm": (
        lambda: _f("expm")(_x(3, 3)),
        lambda: _f("expm")(_x(2, 3, 3, dtype="float32") / 4),
        lambda: _f("expm")(_x("n", "n")),
        lambda: _f("expm")(_x(0, 0)),
    ),
    **{
        name: (
            lambda name=name: _f(name)(_square(3), _x(3, 3)),
            lambda name=name: _f(name)(_square(3), _x(2, 3, 3)),
        )
        for name in ("cofactor_along", "expm_along")
    },
    "sylvester": (
        lambda: _f("sylvester")(_square(3), _square(2), _x(3, 2)),
        lambda: _f("sylvester")(_square(2, 3, dtype="float32"), *_sides(3, dtype="float32")),
        lambda: _f("sylvester")(_square("n"), *_sides("n")),
        lambda: _f("sylvester")(_square(7), *_sides(7)),
        lambda: _f("sylvester")(_x(0, 0), _square(2), _x(0, 2)),
    ),
    "stein": (
        lambda: _f("stein")(_square(3) / 9, _square(2) / 9, _x(3, 2)),
        lambda: _f("stein")(_square(2, 3, dtype="float32") / 99, *_sides(3, dtype="float32")),
        lambda: _f("stein")(_square("n") / 99, *_sides("n")),
        lambda: _f("stein")(_square(7) / 99, *_sides(7)),
    ),
    "sqrtm": (
        lambda: _f("sqrtm")(_square(3)),
        lambda: _f("sqrtm")(_square(2, 3, dtype="float32")),
        lambda: _f("sqrtm")(_definite(_x("n", "n"))),
        lambda: _f("sqrtm")(_x(0, 0)),
    ),
    "riccati": (
        lambda: _regulator((3,), (3, 2), False),
        lambda: _regulator((2, 3), (3, 3), False),
        lambda: _regulator((3,), (3, 2), True),
        lambda: _regulator(("n",), ("n", "n"), True),
    ),
    "cholesky": (
        lambda: _f("cholesky")(_definite(_x(2, 3, 3))),
        lambda: _f("cholesky")(_definite(_x("n", "n"))),
        # `cholesky` reads only one triangle.
        lambda: _f("cholesky")(_definite(_x(3, 3)) + _UPPER),
    ),
    "qr_complement": (lambda: apply(OPS["qr_complement"], _x(2, 5, 3)),),
    "qr": (
        lambda: _f("qr")(_x(4, 3)),
        lambda: _f("qr")(_x(2, 3, 4, dtype="float32")),
        lambda: _f("qr")(_x("n", 3)),
    ),
    # The signs of eigenvectors depend on the backend.
    "eigh": (
        lambda: _unsigned(_f("eigh")(_definite(_x(3, 3)) + _UPPER)),
        lambda: _unsigned(_f("eigh")(_definite(_x(2, 3, 3)) + _UPPER, "U")),
    ),
    "svd": (
        lambda: _unsigned(_f("svd")(_x(4, 3), full_matrices=False)),
        lambda: _unsigned(_f("svd")(_x(2, 2, 4, dtype="float32"), full_matrices=False)),
        lambda: _unsigned(_f("svd")(_x("n", 3), full_matrices=False)),
    ),
    "pinv": (lambda: _f("pinv")(_x(4, 3)), lambda: _f("pinv")(_x(2, 2, 4), 0.25)),
    "least_squares": (
        lambda: _f("least_squares")(_x(4, 3), _x(4)),
        lambda: _f("least_squares")(_x(3, 4), _x(2, 3, 2)),
        lambda: _f("least_squares")(_x("n", 3), _x("n", 2)),
    ),
    "reciprocal_gaps": (
        lambda: _f("reciprocal_gaps")(_x(2, 3)),
        lambda: _f("reciprocal_gaps")(_x("n") * 0),
    ),
    "significant": (
        lambda: _f("significant")(_x(3), 4),
        lambda: _f("significant")(_x("n") * 0, _x("n").shape[0]),
    ),
    "p_norm": (
        lambda: snp.linalg.norm(_x("n", 4), axis=-1),
        lambda: snp.linalg.norm(_x(3, 4), keepdims=True),
        lambda: snp.linalg.norm(_x(3, 4, dtype="float32"), 3, axis=0),
    ),
    "cross": (lambda: _f("cross")(_x(2, 3), _x(3)), lambda: _f("cross")(_x("n", 3), _x("n", 3))),
}
