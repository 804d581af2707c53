r"""Products, contractions and linear algebra of complex arrays.

A complex matrix A + iB stands for the real one of blocks $\begin{pmatrix} A & -B \\ B & A
\end{pmatrix}$, whose products, inverses and exponentials are those of the complex one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS
from .arithmetic import bilinear, pair, whole
from .handle import COMPLEX_FUNCTIONS, COMPLEX_UFUNCS, Operand, as_complex, refused

__all__: list[str] = []


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    real = NUMPY_FUNCTIONS[function]

    def called(x: Operand, y: Operand, *args: Any, **kwargs: Any) -> Any:
        return bilinear(lambda a, b: real(a, b, *args, **kwargs), x, y)

    return called


def _einsum(subscripts: Operand, *operands: Operand, **kwargs: Any) -> Any:
    if not isinstance(subscripts, str):
        raise refused("np.einsum with lists of axes", "Write the subscripts as a text.")
    kwargs.pop("optimize", None)
    return bilinear(lambda *parts: FUNCTIONS["einsum"](subscripts, *parts, **kwargs), *operands)


def _vdot(x: Operand, y: Operand) -> Any:
    return bilinear(FUNCTIONS["vdot"], COMPLEX_UFUNCS["conjugate"](x), y)


def _blocks(z: Operand) -> Any:
    a, b = whole(*as_complex(z))
    above = FUNCTIONS["concatenate"]([a, -1 * b], axis=-1)
    return FUNCTIONS["concatenate"]([above, FUNCTIONS["concatenate"]([b, a], axis=-1)], axis=-2)


def _of_blocks(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of matrices that gives blocks of the same form."""

    def called(z: Operand) -> Any:
        size = z.shape[-1]
        found = function(_blocks(z))
        return pair(found[..., :size, :size], found[..., size:, :size])

    return called


def _solve(a: Operand, b: Operand) -> Any:
    c, d = whole(*as_complex(b))
    single = c.ndim == 1
    axis = -1 if single else -2
    found = NUMPY_FUNCTIONS[np.linalg.solve](
        _blocks(a), FUNCTIONS["concatenate"]([c, d], axis=axis)
    )
    size = c.shape[axis]
    if single:
        return pair(found[..., :size], found[..., size:])
    return pair(found[..., :size, :], found[..., size:, :])


def _matrix_power(z: Operand, n: int) -> Any:
    return _of_blocks(lambda blocks: NUMPY_FUNCTIONS[np.linalg.matrix_power](blocks, n))(z)


def _norm(x: Operand, ord: Operand = None, axis: Operand = None, keepdims: bool = False) -> Any:
    size = COMPLEX_UFUNCS["absolute"](x)
    vectors = size.ndim == 1 if axis is None else not isinstance(axis, tuple) or len(axis) == 1
    if not vectors and ord in (2, -2, "nuc"):
        raise refused(f"A matrix norm of order {ord!r}", "Take it of np.block of its parts.")
    return NUMPY_FUNCTIONS[np.linalg.norm](size, ord, axis, keepdims)


def _det(z: Operand) -> Any:
    """By cofactors, of up to three rows."""
    size = z.shape[-1]
    if size not in (1, 2, 3) or z.shape[-2] != size:
        raise refused("The determinant of a complex matrix of more than three rows")
    if size == 1:
        return z[..., 0, 0]
    if size == 2:
        return z[..., 0, 0] * z[..., 1, 1] - z[..., 0, 1] * z[..., 1, 0]
    minors = [
        z[..., 1, a] * z[..., 2, b] - z[..., 1, b] * z[..., 2, a]
        for a, b in ((1, 2), (2, 0), (0, 1))
    ]
    return z[..., 0, 0] * minors[0] + z[..., 0, 1] * minors[1] + z[..., 0, 2] * minors[2]


def _eigvalsh(z: Operand, UPLO: str = "L") -> Any:
    """Each eigenvalue of a Hermitian matrix is a double one of the symmetric matrix of blocks.

    One triangle is read, and the real parts of the diagonal. Second derivatives are NaN.
    """
    if UPLO.upper() not in ("L", "U"):
        raise refused(f"np.linalg.eigvalsh(..., UPLO={UPLO!r})", 'UPLO is "L" or "U".')
    lower = np.tril(z, -1) if UPLO.upper() == "L" else np.conj(np.triu(z, 1)).mT
    diagonal = np.triu(np.tril(z.real))
    return NUMPY_FUNCTIONS[np.linalg.eigvalsh](_blocks(lower + np.conj(lower).mT + diagonal))[
        ..., ::2
    ]


def _svdvals(z: Operand) -> Any:
    """Each singular value is a double one of the matrix of blocks."""
    return NUMPY_FUNCTIONS[np.linalg.svdvals](_blocks(z))[..., ::2]


FUNCTIONS["_dot_of_complex"] = _product(np.dot)
COMPLEX_FUNCTIONS.update(
    {
        each: _product(each)
        for each in (np.dot, np.inner, np.outer, np.tensordot, np.kron, np.convolve)
    }
)
COMPLEX_FUNCTIONS.update(
    {
        np.einsum: _einsum,
        np.vdot: _vdot,
        np.linalg.solve: _solve,
        np.linalg.inv: _of_blocks(NUMPY_FUNCTIONS[np.linalg.inv]),
        np.linalg.matrix_power: _matrix_power,
        np.linalg.norm: _norm,
        np.linalg.det: _det,
        np.linalg.eigvalsh: _eigvalsh,
        np.linalg.svdvals: _svdvals,
    }
)
