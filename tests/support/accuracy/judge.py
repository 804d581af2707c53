"""Compares a simplified graph with the graph as derived, number by number, by exact values.

Exact values are computed only where the two differ by more than a few units of rounding. There the
error of the simplified number may be `FACTOR` times an error that the graph as derived explains:
its own error, or the error that rounding can cause there (`truth.py`).
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
"""The largest error of a simplified number, as a multiple of the explained error."""
_UNITS = 4.0
"""A difference of so many units of rounding does not count."""
_CERTAIN_BITS = 12_000
"""The bits of the second, final check of a failure: 1 survives beside exp(-8,000)."""
_CERTAIN_RUNS = 32
"""The number of perturbed runs in the final check."""

Verdict: TypeAlias = Literal["wrong", "lost", "worse", "filled"]
"""wrong: a wrong number where the derived one is NaN or infinite. lost: NaN, infinite or 0 where
the derived number is right. worse: fewer digits. filled: a number where exact arithmetic gives NaN;
this is no failure, because the limit may exist."""


@dataclass(frozen=True)
class Finding:
    """One simplified number that is worse than the derived one."""

    verdict: Verdict
    place: int
    derived: float
    simplified: float
    exact: str
    loss: float
    """The error as a multiple of the explained error; infinite if no error is explained."""


@dataclass(frozen=True)
class Case:
    """A program at numbers of one magnitude and dtype, and the findings there."""

    program: Program
    magnitude: str
    dtype: str
    at: Mapping[str, Any]
    graph: sg.Graph
    simple: sg.Graph
    found: tuple[Finding, ...]
    losses: tuple[float, ...]
    """The loss of every number that is finite in both graphs: 1 or less if nothing is lost."""
    judged: bool = True
    """False if an operation has no exact definition."""


def derived(program: Program, dtype: str) -> sg.Graph:
    """The graph of value and gradients, unsimplified."""
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
    """The findings on a simplified graph beside the graph as derived, at these numbers."""
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
    """A mask: the two agree to a few units of rounding, or both are NaN."""
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
    """Whether a number is the limit of a derivative whose value is a convention."""
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
                continue  # The slope of an overflowed value is right only by luck.
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
        # Infinity is right, and NaN is not wrong; a finite number is wrong.
        if np.isfinite(s) and not np.isfinite(d) and not truth.doubtful:
            if abs(exact) <= (1 + FACTOR * float(info.eps)) * float(info.max) or abs(s) == info.max:
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
