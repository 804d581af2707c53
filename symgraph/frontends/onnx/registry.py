"""Which function reads an operator of ONNX, in which version of its definition.

A function is given the call and the operands, and gives the results: `operator("Relu")` stands
above it. ONNX changes the definitions of operators, so a function may begin with a version.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from ...records import record

__all__ = ["LATEST", "OPERATORS", "OperatorReading", "operator", "reading", "supported"]

LATEST = 28
"""The newest version of ONNX's operators whose definitions were read for this table."""

Function = Callable[..., Any]


@record
class OperatorReading:
    """How an operator is read from a version on.

    Parameters
    ----------
    since : int
    function : callable
        `function(call, *operands)`; a missing operand is None.
    of_sizes : bool
        Whether the function, on object arrays of dimensions, gives those of the result.
    raw : bool
        Whether operands are given as entries, not as arrays.
    until : int
        The last version.
    """

    since: int
    function: Function
    of_sizes: bool = False
    raw: bool = False
    until: int = LATEST


OPERATORS: dict[tuple[str, str], list[OperatorReading]] = {}
"""By domain and name, in the order of versions."""


def operator(
    *names: str,
    since: int = 1,
    until: int = LATEST,
    domain: str = "",
    of_sizes: bool = False,
    raw: bool = False,
) -> Callable[[Function], Function]:
    """Enter a function as what reads the operators `names`, from the version `since` on."""

    def entered(function: Function) -> Function:
        for name in names:
            readings = OPERATORS.setdefault((domain, name), [])
            readings.append(OperatorReading(since, function, of_sizes, raw, until))
            readings.sort(key=_since)
        return function

    return entered


def _since(each: OperatorReading) -> int:
    return each.since


def reading(domain: str, name: str, version: int) -> OperatorReading | None:
    """How an operator is read in a version, or None."""
    readings = OPERATORS.get((domain, name), [])
    place = bisect_right(readings, version, key=_since)
    if not place or readings[place - 1].until < version:
        return None
    return readings[place - 1]


def supported() -> list[str]:
    """The names of the operators that are read, with their domain if it is not ONNX's own."""
    return sorted(f"{domain}.{name}" if domain else name for domain, name in OPERATORS)
