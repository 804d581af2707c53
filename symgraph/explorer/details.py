"""The facts about a node and a step that the explorer shows, as data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..export.graph_text import sides
from ..export.labels import Labels
from ..ir.cost import node_bytes, node_flops
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..notation.node_text import escaped, shortened
from ..rewriting.justifications import licences
from ..rewriting.log import Step

__all__ = ["facts_of", "step_of", "summary", "told"]

_FULL = 36
_FACTS = 8


def told(node: Node, labels: Labels) -> dict[str, Any]:
    """Operation, type, cost and the user's lines of a node."""
    origin = labels.origins.get(node, node.origin)
    found: dict[str, Any] = {
        "op": escaped(node.op.name),
        "type": labels.aval(node),
        "flops": escaped(str(node_flops(node))) if node.operands else "0",
        "bytes": escaped(str(node_bytes(node))),
    }
    lines = [shortened(escaped(frame.quoted()), 200) for frame in origin.frames]
    if lines:
        found["lines"] = lines
    if node in labels.origins and (place := labels.place(node)):
        found["where"] = place
    elif origin.frames:
        found["where"] = escaped(str(origin.frames[0]))
    if origin.rule:
        found["rule"] = escaped(origin.rule)
    if origin.adjoint_of is not None:
        found["adjoint"] = True
    return found


def facts_of(node: Node, knowledge: Knowledge, *, chains: bool) -> list[list[str]]:
    """The facts of a node, each with its reason, or with the whole chain of reasons."""
    reasons = list(knowledge.of(node).reasons.items())[:_FACTS]
    return [
        [escaped(str(fact)), _lines(knowledge.why(node, fact)) if chains else escaped(reason)]
        for fact, reason in reasons
    ]


def _lines(text: str) -> str:
    return "\n".join(escaped(line) for line in text.split("\n")[:12])


def step_of(step: Step, knowledge: Knowledge | None, *, ties: bool) -> dict[str, Any]:
    """A rewrite: its rule and grade, both sides, the identity, and the facts that it rests on."""
    text = sides(step.before, step.after)
    found: dict[str, Any] = {
        "rule": escaped(step.rule),
        "grade": step.sound,
        "before": shortened(text.left, 300),
        "after": shortened(text.right, 300),
        "where": escaped(str(step.where)),
    }
    if step.by is not None:
        found["statement"] = escaped(str(step.by))
    if step.identities:
        found["identities"] = [escaped(each) for each in step.identities]
    if knowledge is not None and step.by is not None:
        asked = [
            [escaped(each.guard), "\n".join(escaped(line) for line in each.why)]
            for each in licences(step, knowledge, ties=ties)
        ]
        if asked:
            found["licences"] = asked
    return found


def summary(value: object) -> dict[str, Any]:
    """A value in numbers: a small array in full, of a larger one its extremes and its mean."""
    results = value if isinstance(value, tuple) else (value,)
    array: np.ndarray[Any, Any] = np.asarray(results[0])
    found: dict[str, Any] = {"shape": list(array.shape)}
    if array.size <= _FULL:
        found["full"] = np.array2string(array, precision=6, threshold=_FULL + 1)
    if array.size and array.dtype.kind in "fiu":
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        found["nan"] = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
        found["inf"] = int(array.size - finite.size) - found["nan"]
        if finite.size:
            with np.errstate(all="ignore"):
                numbers = finite.astype(np.float64)
                stats: Mapping[str, float] = {
                    "min": float(numbers.min()),
                    "max": float(numbers.max()),
                    "mean": float(numbers.mean()),
                    "std": float(numbers.std()),
                }
            found.update({name: f"{number:.6g}" for name, number in stats.items()})
    elif array.size and array.dtype.kind == "b":
        found["true"] = int(array.sum())
    return found
