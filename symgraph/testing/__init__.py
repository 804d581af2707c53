"""Tests for your own operations, rules and backends, and for gradients and graphs."""

from __future__ import annotations

from ..backends.conformance import check_backend
from ..verification.verifier import verify_rule as verify
from .curves import gradient_errors, plot_gradient_errors
from .gradients import check_gradient, check_grads, check_stacked
from .graphs import assert_same_graph
from .values import GradientCase, Operand, random_values

__all__ = [
    "GradientCase",
    "Operand",
    "assert_same_graph",
    "check_backend",
    "check_gradient",
    "check_grads",
    "check_stacked",
    "gradient_errors",
    "plot_gradient_errors",
    "random_values",
    "verify",
]
