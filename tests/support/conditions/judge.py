"""Compares a simplified condition with NumPy, number by number, by exact values.

A simplified condition compares simplified numbers. So a branch may change where the sides differ by
less than rounding, and where the condition as typed overflows or cancels and so misses the branch
that exact arithmetic takes. Anywhere else a changed branch is a fault.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from accuracy.truth import Unsupported, truth_of
from mpmath import mp

import symgraph as sg
from symgraph.ir.interpreter import evaluate

from .grammar import COUNT, Condition, numbers

__all__ = ["Branch", "branches", "turned"]

_BITS = {"float32": 700, "float64": 4500}
"""Enough bits that the smallest number survives beside the square of the largest."""

FACTOR = 16.0
"""The largest gap between the sides of a changed branch, as a multiple of the typed error."""

Verdict: TypeAlias = Literal["same", "near", "mended", "overflowed", "unknown", "wrong"]
"""near: a tie up to rounding. mended: exact arithmetic takes the new branch. overflowed: a side as
typed overflows. unknown: there is no exact definition. wrong: a fault."""


@dataclass(frozen=True)
class Branch:
    """The verdict on one element of a condition."""

    condition: Condition
    verdict: Verdict
    x: float = 0.0
    y: float = 0.0
    typed: bool = False
    simplified: bool = False
    exact: tuple[str, ...] = ()


def branches(of: Condition) -> list[Branch]:
    """The verdict on each element: the condition as NumPy runs it, against the simplified graph."""
    at = numbers(of)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        specs = {name: sg.spec((COUNT,), of.dtype) for name in "xy"}
        typed = np.broadcast_to(of.function(at["x"], at["y"]), COUNT)
        graph = sg.trace(of.function, **specs)
        found = np.broadcast_to(evaluate(graph.simplify().dag, at)[0], COUNT)
        np.testing.assert_array_equal(evaluate(graph.dag, at)[0], typed)
    changed = np.flatnonzero(typed != found)
    same = [Branch(of, "same")] * (COUNT - len(changed))
    return same + [turned(of, at, int(i), bool(typed[i]), bool(found[i])) for i in changed]


def turned(of: Condition, at: Any, i: int, typed: bool, found: bool) -> Branch:
    """The verdict on an element that takes another branch when simplified."""
    x, y = at["x"][i : i + 1], at["y"][i : i + 1]

    def said(verdict: Verdict, exact: tuple[str, ...] = ()) -> Branch:
        return Branch(of, verdict, float(x[0]), float(y[0]), typed, found, exact)

    if np.dtype(of.dtype).kind != "f":
        return said("wrong")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        specs = {name: sg.spec((1,), of.dtype) for name in "xy"}
        graph = sg.trace(of.compared, **specs)
    try:
        truth = truth_of(graph, {"x": x, "y": y}, of.dtype, _BITS[of.dtype])
    except Unsupported:
        return said("unknown")
    told = tuple(str(mp.nstr(each, 12)) for each in truth.exact)
    if truth.doubtful:
        return said("unknown", told)
    info, near = np.finfo(of.dtype), False
    with mp.workprec(_BITS[of.dtype]):
        for k in range(0, len(truth.exact), 2):
            left, right = truth.exact[k : k + 2]
            if not mp.isfinite(left) or not mp.isfinite(right):
                return said("unknown", told)
            size = max(abs(left), abs(right))
            unit = 4 * float(info.eps) * size + 4 * mp.mpf(float(info.tiny))
            near |= abs(left - right) <= FACTOR * (truth.noise[k] + truth.noise[k + 1] + unit)
    if near:
        return said("near", told)
    if _exactly(of, truth.exact) == found:
        return said("mended", told)
    with np.errstate(all="ignore"):
        finite = all(np.isfinite(each).all() for each in of.compared(x, y))
    return said("wrong" if finite else "overflowed", told)


def _exactly(of: Condition, sides: list[Any]) -> bool | None:
    """The value of the condition for exact sides."""
    text = of.text
    for k, (left, right) in enumerate(of.sides):
        for sign in (">=", "<=", "==", "!=", ">", "<"):
            whole = f"({left} {sign} {right})"
            if whole in text:
                a, b = sides[2 * k], sides[2 * k + 1]
                value = eval(f"a {sign} b", {"a": a, "b": b})
                text = text.replace(whole, f"np.bool_({value})", 1)
                break
    return bool(eval(text, {"np": np}))
