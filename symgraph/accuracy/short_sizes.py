"""Short dimensions for the values at the probes: few elements cancel as a thousand do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any, cast

import numpy as np

from ..ir.dims import Dim, Shape, is_named, names_of, resolve
from ..ir.node import Node

__all__ = ["LONGEST", "MOST_ELEMENTS", "resolved", "shortened", "size_of"]

LONGEST = 6
"""A longer dimension is shortened to `_SHORT`."""

_SHORT = 4

_NAMED = 3
"""The size of a named dimension."""

MOST_ELEMENTS = 4_000
"""A value with more elements at one point is not computed."""


@lru_cache(maxsize=4096)
def shortened(shape: Shape, longest: int) -> tuple[int, ...]:
    """The shape with named and long dimensions replaced by small sizes."""
    return tuple([_size(dim, longest) for dim in shape])


def _size(dim: Dim, longest: int) -> int:
    if isinstance(dim, int):
        return dim if dim <= longest else _SHORT
    return _named_size(dim)


def size_of(node: Node) -> int:
    """The elements of a node, where named dimensions are small and others as they are."""
    return prod([_size(dim, MOST_ELEMENTS) for dim in node.shape])


@lru_cache(maxsize=1024)
def _named_size(dim: Dim) -> int:
    return max(resolve(dim, dict.fromkeys(names_of(dim), _NAMED)), 0)


def resolved(params: Mapping[str, Any], dtype: np.dtype[Any], longest: int) -> dict[str, Any]:
    """Params with short dimensions, and with this dtype for every float dtype."""
    if not params:
        return {}
    return {name: _param(name, value, dtype, longest) for name, value in params.items()}


def _param(name: str, value: object, dtype: np.dtype[Any], longest: int) -> object:
    if isinstance(value, np.dtype):
        return dtype if value.kind == "f" else value
    if name == "shape" and isinstance(value, tuple):
        return shortened(cast("Shape", value), longest)
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return tuple([_param("", each, dtype, longest) for each in items])
    return _size(value, longest) if is_named(value) and names_of(value) else value
