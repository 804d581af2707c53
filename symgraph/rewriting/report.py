"""The result of verifying a rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .rule import Soundness

__all__ = ["Report"]


@dataclass
class Report:
    """The result of verifying a rule.

    Parameters
    ----------
    rule : str
    sound : "exact", "rounding" or "domain"
        The grade it declares.
    instances : int
        How many different operands it fired on.
    elements : int
        How many numbers were compared.
    by_dtype : Counter of str
        How many of these numbers came from operands of each dtype.
    failures : list of str
        Each failure with its operands; empty if the rule holds.
    proved : bool
        Whether SymPy also proves the equation for all real numbers: see `proofs`.
    """

    rule: str
    sound: Soundness
    instances: int = 0
    elements: int = 0
    by_dtype: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    proved: bool = False

    @property
    def ok(self) -> bool:
        """Whether the rule passed every check."""
        return not self.failures

    def __str__(self) -> str:
        verdict = "verified" if self.ok else f"FAILED: {self.failures[0]}"
        return (
            f"{self.rule} [{self.sound}] {verdict} "
            f"({self.instances} instances, {self.elements} elements"
            f"{'; proved by SymPy' if self.proved else ''})"
        )
