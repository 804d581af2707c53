"""Whether simplification keeps digits and range: random programs, exact values, verdicts.

`PYTHONPATH=tests/support python -m accuracy 0 200` prints what 200 programs show.
"""

from __future__ import annotations

from .grammar import accuracy_program
from .judge import FACTOR, Case, Finding, findings
from .magnitudes import MAGNITUDES
from .report import Tally, failing, shown, smaller

__all__ = [
    "FACTOR",
    "MAGNITUDES",
    "Case",
    "Finding",
    "Tally",
    "accuracy_program",
    "failing",
    "findings",
    "shown",
    "smaller",
]
