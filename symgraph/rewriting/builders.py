"""Constants that a right side computes from the matched ones when its rule is applied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import Array, constant
from ..ir.dims import Dim
from ..ops.creation import dimension
from .conditions import Declined
from .deferred import Deferred
from .guards import uniform_value
from .pattern import PatternArray, building

__all__ = ["as_scalar", "folded", "negated", "number", "product", "value_of"]


def value_of(c: Array) -> Any:
    """The one value of all elements of a constant, for conditions of a rule.

    Raises
    ------
    ValueError
        If the elements differ.
    """
    if isinstance(c, PatternArray):
        name = str(c.pattern)
        return Deferred(name, lambda env: value_of(env[name]))
    uniform = uniform_value(c.node)
    if uniform is None:
        raise ValueError("the elements of the constant differ")
    return uniform.item()


@building
def negated(c: Array) -> Array:
    """The constant with the opposite sign."""
    uniform = uniform_value(c.node)
    value: Any = c.node.params["value"] if uniform is None else uniform
    return constant(np.negative(value), c.dtype)


@building
def as_scalar(c: Array) -> Array:
    """The one value of all elements of a constant, as a 0-d constant."""
    return constant(uniform_value(c.node), c.dtype)


@building
def number(size: Dim, dtype: DTypeLike) -> Array:
    """A dimension, or a product of some, as a 0-d array of `dtype`."""
    return dimension(size, dtype)


@building
def product(c: Array, k: Array) -> Array:
    """The 0-d product of two constants of one value each; out of range, the rule declines."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.multiply(uniform_value(c.node), uniform_value(k.node), dtype=c.dtype)
    if not np.finfo(c.dtype).tiny <= abs(found) < np.inf:
        raise Declined
    return constant(found, c.dtype)


@building
def folded(c: Array, k: Array, ufunc: np.ufunc) -> Array:
    """The ufunc of two constants, computed now; out of range, the rule declines."""
    with np.errstate(all="ignore"):
        found = ufunc(c.node.params["value"], k.node.params["value"], dtype=c.dtype)
    if not np.all(np.isfinite(found)):
        raise Declined
    return constant(found, c.dtype)
