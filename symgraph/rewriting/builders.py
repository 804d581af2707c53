"""What a right side computes when its rule is applied: constants out of those matched."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import Array, constant
from ..ops.creation import dimension
from .conditions import Declined
from .guards import uniform_value
from .pattern import building

__all__ = ["number", "opposite", "product"]


@building
def opposite(c: Array) -> Array:
    """The constant of the other sign, computed when the rule is applied."""
    uniform = uniform_value(c.node)
    value: Any = c.node.params["value"] if uniform is None else uniform
    return constant(np.negative(value), c.dtype)


@building
def number(size: Any, dtype: Any) -> Array:
    """A dimension, or a product of some, as a 0-d array of `dtype`."""
    return dimension(size, dtype)


@building
def product(c: Array, k: Array) -> Array:
    """The product of two constants of one value, 0-d; the rule declines if it is out of range."""
    with np.errstate(over="ignore", under="ignore"):
        found = np.multiply(uniform_value(c.node), uniform_value(k.node), dtype=c.dtype)
    if not np.finfo(c.dtype).tiny <= abs(found) < np.inf:
        raise Declined
    return constant(found, c.dtype)
