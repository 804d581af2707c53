"""Sums of products that overflow both ways: their value would depend on the order of the terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ..ir.op import Op
from .probes import Numbers
from .stacked_kernels import stacked

__all__ = ["sums_products", "without_order"]

_LARGEST = float(np.finfo(np.float32).max)

_MARGIN = 1e6
"""How far below the largest number a bound of a sum stays where no term can overflow: its terms may
have factors of their own."""


@lru_cache(maxsize=1024)
def sums_products(op: Op, operands: int) -> bool:
    """Whether it is linear in each of several operands: a sum of products.

    A solve is linear in one alone.
    """
    return not op.traits.elementwise and len(op.traits.linear_in(operands)) == operands


class _Found(Protocol):
    """The numbers of an operand, one row for each repetition of each probe."""

    @property
    def rows(self) -> Numbers: ...

    @property
    def largest(self) -> Numbers: ...


def without_order(
    op: Op,
    found: Numbers,
    operands: Sequence[_Found],
    params: Mapping[str, Any],
    shape: tuple[int, ...],
) -> Numbers:
    """Sums of products, with NaN where the positive and the negative terms both overflow.

    There the result depends on the order of the terms and on rounding inside the kernel: it is
    infinity of either sign, or NaN. A tanh of it could be any number.
    """
    if np.isfinite(found).all():
        return found
    all_rows = [each.rows for each in operands]
    rows = _may_overflow(operands)
    if rows is not None:
        if len(rows) == 0:
            return found
        several = [each[rows] if len(each) > 1 else each for each in all_rows]
        found = found.copy()
        found[rows] = _marked(op, found[rows], several, params, shape)
        return found
    return _marked(op, found, all_rows, params, shape)


def _may_overflow(operands: Sequence[_Found]) -> Numbers | None:
    """The rows at which a sum of products may overflow, if they are several; None for all rows."""
    bound: Any = _MARGIN
    for each in operands:
        bound = bound * each.largest * (each.rows.size // max(len(each.rows), 1))
    rows = np.nonzero(~(bound <= _LARGEST))[0]
    return None if len(bound) == 1 or len(rows) == 1 else rows


def _marked(
    op: Op,
    found: Numbers,
    operands: list[Numbers],
    params: Mapping[str, Any],
    shape: tuple[int, ...],
) -> Numbers:
    """The sums of products, with NaN where terms of both signs overflow."""
    wide = [each.astype(np.float64) for each in operands]
    signed = stacked(op, wide, params, shape)
    sizes = stacked(op, [np.abs(each) for each in wide], params, shape)
    if signed is None or sizes is None:
        return found
    return np.where((sizes - np.abs(signed)) / 2 > _LARGEST, np.float32(np.nan), found)
