"""Shared by the standard forms of several continuous distributions."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, nan, pi
from typing import Any

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...ops.slopes import with_slope

__all__ = [
    "at_most_zero",
    "at_zero",
    "below_zero",
    "infinite",
    "infinity",
    "log1p_square",
    "log_gumbel_density",
    "log_normal_density",
    "minus_infinity",
    "one",
    "zero",
]

_LOG_ROOT_2PI = 0.5 * log(2 * pi)


def below_zero(z: Array | float, *_shapes: object) -> Any:
    """Whether z lies below a support that begins at 0."""
    return z < 0


def at_most_zero(z: Array | float, *_shapes: object) -> Any:
    """Whether z lies below a support that begins after 0."""
    return z <= 0


def at_zero(z: Array | float, *_shapes: object) -> Any:
    """Whether z is 0, where a support begins."""
    return z == 0


def infinite(z: ArrayLike, *_shapes: object) -> Any:
    """Whether z is infinite."""
    return z == inf


def zero(*_shapes: object) -> float:
    """A bound of 0 for all shapes."""
    return 0.0


def one(*_shapes: object) -> float:
    """A bound of 1 for all shapes."""
    return 1.0


def minus_infinity(*shapes: Array | float) -> Any:
    """A bound of minus infinity for all shapes, whose slope in them is not known."""
    return _of_shapes(-inf, shapes)


def infinity(*shapes: Array | float) -> Any:
    """A bound of infinity for all shapes, whose slope in them is not known."""
    return _of_shapes(inf, shapes)


def _of_shapes(bound: float, shapes: Sequence[Array | float]) -> Any:
    found: Any = bound
    for each in shapes:
        if isinstance(each, Array) and not each.node.is_constant:
            found = with_slope(found, each, nan)
    return found


def log1p_square(z: ArrayLike) -> Any:
    """log(1 + z²), without overflow of the square."""
    far = snp.abs(z) > 1e15
    near = snp.log1p(snp.where(far, 0.0, z) ** 2)
    return snp.where(far, 2 * snp.log(snp.where(far, snp.abs(z), 1.0)), near)


def log_normal_density(z: Array | float) -> Any:
    """The logarithm of the density of the standard normal distribution."""
    return -0.5 * z**2 - _LOG_ROOT_2PI


def log_gumbel_density(z: Array | float) -> Any:
    """The logarithm of the density of Gumbel's distribution of maxima."""
    return -z - snp.exp(-z)
