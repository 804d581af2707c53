"""Checks for those who extend the library: gradients against numbers, graphs against graphs."""

from __future__ import annotations

from .gradients import check_grads, check_stacked
from .graphs import assert_same_graph
from .values import GradientCase, Operand, random_values

__all__ = [
    "GradientCase",
    "Operand",
    "assert_same_graph",
    "check_grads",
    "check_stacked",
    "random_values",
]
