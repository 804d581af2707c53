"""Matrix products and sums over axes."""

from __future__ import annotations

from ...numpy import add, matmul, negative
from ...rewriting import Identity, rule
from ...rewriting.conditions import provided
from ...rewriting.guards import Axes, Flag, Real
from ...rewriting.pattern import applied


@rule(sound="rounding")
def contractions_associate(x: Real, y: Real, z: Real) -> Identity:
    """$(X Y) Z = X (Y Z)$ for matrices, where X and Z may be vectors."""
    # If Y has no elements, one side is zero, and the other multiplies zeros, by NaN perhaps.
    provided((y.ndim == 2) & (y.size != 0))
    provided(x.ndim <= 2)
    provided(z.ndim <= 2)
    return matmul(matmul(x, y), z), matmul(x, matmul(y, z))


@rule(sound="rounding")
def contractions_associate_right(x: Real, y: Real, z: Real) -> Identity:
    """$X (Y Z) = (X Y) Z$ for matrices, where X and Z may be vectors."""
    provided((y.ndim == 2) & (y.size != 0))
    provided(x.ndim <= 2)
    provided(z.ndim <= 2)
    return matmul(x, matmul(y, z)), matmul(matmul(x, y), z)


@rule(sound="rounding")
def sign_before_left_matrix(x: Real, y: Real) -> Identity:
    """$(-X) Y = -(X Y)$."""
    return matmul(negative(x), y), negative(matmul(x, y))


@rule(sound="rounding")
def sign_before_right_matrix(x: Real, y: Real) -> Identity:
    """$X (-Y) = -(X Y)$."""
    return matmul(x, negative(y)), negative(matmul(x, y))


@rule(sound="rounding")
def common_left_matrix(x: Real, y: Real, z: Real) -> Identity:
    """$X Y + X Z = X (Y + Z)$."""
    provided(y.shape == z.shape)
    return add(matmul(x, y), matmul(x, z)), matmul(x, y + z)


@rule(sound="rounding")
def common_right_matrix(x: Real, y: Real, z: Real) -> Identity:
    """$X Z + Y Z = (X + Y) Z$."""
    provided(x.shape == y.shape)
    return add(matmul(x, z), matmul(y, z)), matmul(x + y, z)


@rule(sound="rounding")
def common_left_matrix_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$X Y - X Z = X (Y - Z)$."""
    provided(y.shape == z.shape)
    return matmul(x, y) - matmul(x, z), matmul(x, y - z)


@rule(sound="rounding")
def common_right_matrix_of_difference(x: Real, y: Real, z: Real) -> Identity:
    """$X Z - Y Z = (X - Y) Z$."""
    provided(x.shape == y.shape)
    return matmul(x, z) - matmul(y, z), matmul(x - y, z)


@rule(sound="rounding")
def sum_of_sums(x: Real, y: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\sum x_i + \sum y_i = \sum (x_i + y_i)$."""
    provided(x.shape == y.shape)
    first = applied("sum", x, axis=axis, keepdims=keepdims)
    second = applied("sum", y, axis=axis, keepdims=keepdims)
    return first + second, applied("sum", x + y, axis=axis, keepdims=keepdims)
