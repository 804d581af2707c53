"""Whether a simplified condition takes the branch that NumPy takes: random comparisons, verdicts.

`PYTHONPATH=tests/support python -m conditions 0 200` prints what 200 conditions show.
"""

from __future__ import annotations

from .grammar import Condition, condition
from .judge import Branch, branches, turned

__all__ = ["Branch", "Condition", "branches", "condition", "turned"]
