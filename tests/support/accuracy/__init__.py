"""Checks that simplification keeps digits and range: random programs against exact values.

`PYTHONPATH=tests/support python -m accuracy 0 200` prints the result for 200 programs.
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
