"""Checks that simplified conditions take the branch that NumPy takes, on random comparisons.

`PYTHONPATH=tests/support python -m conditions 0 200` prints the result for 200 conditions.
"""

from __future__ import annotations

from .grammar import Condition, condition
from .judge import Branch, branches, turned

__all__ = ["Branch", "Condition", "branches", "condition", "turned"]
