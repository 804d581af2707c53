"""The rewrites that the strongest peer lists, each with what becomes of it here.

A `Row` is one rewrite in one form: the peer's name for it, the identity in our own words, a small
function, and what simplifying must reach (a closed form to be no dearer than, or a number of
operations). A `Refusal` is a rewrite that gives wrong numbers: with the operands at which it does.
`SKIPPED` has those that say nothing of real arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

import symgraph as sg

__all__ = ["Given", "Refusal", "Row", "Trust", "given", "reached", "refused", "spec_of"]

Trust: TypeAlias = Literal["exact", "rounding", "domain"]
Given: TypeAlias = "sg.Spec | tuple[int, ...] | int | str"


@dataclass(frozen=True)
class Row:
    """A rewrite that is reached.

    Parameters
    ----------
    peer : str
        Its name there.
    says : str
        The identity in our words.
    left : callable
        What is simplified.
    goal : callable or int
        What it must be no dearer than; or the most operations it may have.
    specs : mapping of str to Spec
    trust : "exact", "rounding" or "domain"
        The strictest trust at which it is reached.
    """

    peer: str
    says: str
    left: Callable[..., Any]
    goal: Callable[..., Any] | int
    specs: Mapping[str, sg.Spec]
    trust: Trust = "rounding"

    def __str__(self) -> str:
        return f"{self.peer}: {self.says}"


@dataclass(frozen=True)
class Refusal:
    """A rewrite that is not made at the default trust, for the numbers would be wrong.

    Parameters
    ----------
    peer, says : str
    left, wrong : callable
        What is written, and what the peer makes of it.
    at : mapping
        Operands at which the two differ.
    """

    peer: str
    says: str
    left: Callable[..., Any]
    wrong: Callable[..., Any]
    at: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.peer}: {self.says}"


def spec_of(shape: Given) -> sg.Spec:
    """A spec from a shape alone, an int for a vector."""
    if isinstance(shape, int):
        return sg.spec((shape,))
    return sg.spec(shape) if isinstance(shape, (tuple, str)) else shape


def given(shape: Given, *facts: sg.Fact, dtype: str = "float64") -> sg.Spec:
    """A spec with facts or another dtype."""
    return sg.spec((shape,) if isinstance(shape, int) else shape, dtype, assume=facts)


def reached(
    peer: str,
    says: str,
    left: Callable[..., Any],
    goal: Callable[..., Any] | int,
    /,
    trust: Trust = "rounding",
    **specs: Given,
) -> Row:
    """A row; the goal takes the inputs of `left`, of which it may leave some unused."""
    return Row(peer, says, left, goal, {key: spec_of(each) for key, each in specs.items()}, trust)


def refused(
    peer: str, says: str, left: Callable[..., Any], wrong: Callable[..., Any], /, **at: Any
) -> Refusal:
    """A refusal with the operands that show why."""
    return Refusal(peer, says, left, wrong, {name: np.asarray(each) for name, each in at.items()})
