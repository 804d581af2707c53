"""A simplified graph against the graph as derived, number by number; exact values judge.

Where both agree to a few units of rounding, exact values are not asked for. Elsewhere the error of
the simplified number may be `FACTOR` times what the graph as derived explains: its own error, and
that which rounding can put there (`truth.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from mpmath import mp
from randomgraphs.program import Program

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.interpreter import evaluate

from .magnitudes import MAGNITUDES, numbers
from .truth import BITS, Truth, Unsupported, limits_of, truth_of

__all__ = ["FACTOR", "Case", "Finding", "Verdict", "derived", "findings", "judged"]

FACTOR = 30.0
"""How much more than the graph as derived a simplified one may lose."""
_UNITS = 4.0
"""Units of rounding that count as none."""
_CERTAIN_BITS = 12_000
"""Digits to settle by what looked wrong: 1 survives beside exp(-8,000)."""
_CERTAIN_RUNS = 32
"""And so often rounding is repeated."""

Verdict: TypeAlias = Literal["wrong", "lost", "worse", "filled"]
"""wrong: a number, not the right one, where derived was NaN or infinite. lost: NaN, infinite or 0
where derived was right. worse: fewer digits. filled: a number where exact arithmetic gives none; no
failure, for the limit may exist."""


@dataclass(frozen=True)
class Finding:
    """One number that came out worse."""

    verdict: Verdict
    place: int
    derived: float
    simplified: float
    exact: str
    loss: float
    """The error in units of what the graph as derived explains; infinite where nothing does."""


@dataclass(frozen=True)
class Case:
    """A program at numbers of one magnitude and dtype, and what was found there."""

    program: Program
    magnitude: str
    dtype: str
    at: Mapping[str, Any]
    graph: sg.Graph
    simple: sg.Graph
    found: tuple[Finding, ...]
    losses: tuple[float, ...]
    """Of every number that is finite in both: 1 or less where nothing was lost."""
    judged: bool = True
    """False where an operation has no definition to judge by."""


def derived(program: Program, dtype: str) -> sg.Graph:
    """The graph of value and gradients, not simplified."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.UnusedInputWarning)
        specs = {
            each.name: sg.spec(each.value.shape, dtype, assume=sg.positive if each.assume else ())
            for each in program.inputs
        }
        graph = sg.trace(lambda **given: program.function(np, snp, **given), **specs)
        return graph.gradient(*program.targets)


def findings(program: Program, dtype: str, magnitudes: Any = tuple(MAGNITUDES)) -> list[Case]:
    """The program at each magnitude: derived once, simplified once."""
    graph = derived(program, dtype)
    simple = graph.simplify()
    return [
        judged(program, magnitude, dtype, graph, simple, numbers(program, magnitude, dtype))
        for magnitude in magnitudes
    ]


def judged(
    program: Program,
    magnitude: str,
    dtype: str,
    graph: sg.Graph,
    simple: sg.Graph,
    at: Mapping[str, Any],
) -> Case:
    """What stands for the simplified graph, against the graph as derived, at these numbers."""
    written, found = _flat(graph, at), _flat(simple, at)
    places = [int(i) for i in np.flatnonzero(~_alike(written, found, dtype))]
    losses = [1.0] * (written.size - len(places))
    bad: list[Finding] = []
    judged = True
    if places:
        try:
            bad, measured = _judged(graph, at, dtype, written, found, places)
        except Unsupported:
            judged, measured = False, []
        losses.extend(measured)
    return Case(program, magnitude, dtype, at, graph, simple, tuple(bad), tuple(losses), judged)


def _flat(graph: sg.Graph, at: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    found = evaluate(graph.dag, at)
    return np.concatenate([np.ravel(each) for each in found]).astype(np.float64)


@np.errstate(all="ignore")
def _alike(x: Any, y: Any, dtype: str) -> Any:
    """Where the two agree to a few units of rounding, or neither is a number."""
    info = np.finfo(dtype)
    near = np.abs(x - y) <= _UNITS * float(info.eps) * np.abs(x) + 4 * float(
        info.smallest_subnormal
    )
    same = (x == y) | near
    return np.where(np.isfinite(x), same & np.isfinite(y), (x == y) | (np.isnan(x) & np.isnan(y)))


def _judged(
    graph: sg.Graph, at: Mapping[str, Any], dtype: str, written: Any, found: Any, places: list[int]
) -> tuple[list[Finding], list[float]]:
    bad, losses = _verdicts(truth_of(graph, at, dtype, BITS[dtype]), dtype, written, found, places)
    if not any(each.verdict != "filled" for each in bad):
        return bad, losses
    certain = truth_of(graph, at, dtype, _CERTAIN_BITS, _CERTAIN_RUNS)
    bad, losses = _verdicts(certain, dtype, written, found, places)
    if not bad:
        return bad, losses
    limits = limits_of(graph, at, BITS[dtype])
    return [each for each in bad if not _is_limit(each, limits, certain, dtype)], losses


def _is_limit(each: Finding, limits: list[Any], truth: Truth, dtype: str) -> bool:
    """Whether a number is the limit of a derivative that is one only by convention."""
    limit, noise = limits[each.place], truth.noise[each.place]
    if not np.isfinite(each.simplified) or not mp.isfinite(limit):
        return False
    unit = _UNITS * float(np.finfo(dtype).eps) * abs(limit)
    return bool(abs(mp.mpf(each.simplified) - limit) <= FACTOR * max(unit, noise))


def _verdicts(
    truth: Truth, dtype: str, written: Any, found: Any, places: list[int]
) -> tuple[list[Finding], list[float]]:
    bad: list[Finding] = []
    losses: list[float] = []
    with mp.workprec(200):
        for place in places:
            each, loss = _verdict(truth, dtype, float(written[place]), float(found[place]), place)
            finite = np.isfinite(found[place])
            if (
                each is not None
                and finite
                and place
                and not np.isfinite(written[0])
                and (np.isfinite(written[place]))
            ):
                continue  # the slope of what overflowed is right by luck, if it is right
            if each is not None:
                bad.append(each)
            if loss is not None:
                losses.append(loss)
    return bad, losses


def _verdict(
    truth: Truth, dtype: str, d: float, s: float, place: int
) -> tuple[Finding | None, float | None]:
    info = np.finfo(dtype)
    exact = truth.exact[place]

    def finding(verdict: Verdict, loss: float) -> Finding:
        return Finding(verdict, place, d, s, mp.nstr(exact, 8), loss)

    if mp.isnan(exact):
        return (finding("filled", 1.0) if np.isnan(d) and np.isfinite(s) else None), None
    if mp.isinf(exact) or abs(exact) > float(info.max):
        # Infinite is right, and NaN no wrong number; a finite one is wrong.
        if np.isfinite(s) and not np.isfinite(d) and not truth.doubtful:
            if abs(exact) <= (1 + FACTOR * info.eps) * float(info.max) or abs(s) == info.max:
                return None, None
            return finding("wrong", np.inf), None
        return None, None
    unit = _UNITS * float(info.eps) * abs(exact) + 4 * mp.mpf(float(info.smallest_subnormal))
    base = max(unit, truth.noise[place])
    own = abs(mp.mpf(d) - exact) if np.isfinite(d) else mp.inf
    right = own <= max(FACTOR * base, abs(exact) / 1000)
    if not np.isfinite(s):
        return (finding("lost", np.inf) if right else None), None
    error = abs(mp.mpf(s) - exact)
    if np.isfinite(d):
        loss = float(error / max(base, own))
        if loss <= FACTOR or (truth.doubtful and not right):
            return None, loss
        return finding("lost" if s == 0 else "worse", loss), loss
    if truth.doubtful:
        return None, None
    loss = float(error / base)
    return (finding("wrong", loss) if loss > FACTOR else None), None
