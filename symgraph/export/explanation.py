"""The derivation as text: each rewrite, where it applied, before and after, and why it is sound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..dag import Node, Origin
from .labels import ATOM, Spelled, constant_text, escaped, spelled

__all__ = ["explain", "sketch"]

_DEPTH = 6
_WIDEST = 100


class Step(Protocol):
    """One rewrite, as a history records it."""

    @property
    def rule(self) -> str: ...
    @property
    def before(self) -> Node: ...
    @property
    def after(self) -> Node: ...
    @property
    def where(self) -> Origin: ...
    @property
    def sound(self) -> str: ...


def explain(steps: Iterable[Step], *, title: str = "") -> str:
    """One numbered entry a step: `1. log_of_exp [rounding] at loss.py:3: log(exp(z)) → z`.

    Parameters
    ----------
    steps : iterable of Step
        In the order they were made.
    title : str, optional
    """
    lines = [title] if title else []
    number = 0
    for number, step in enumerate(steps, 1):
        place = f" at {escaped(str(step.where))}" if str(step.where) else ""
        lines.append(f"{number:3}. {step.rule} [{step.sound}]{place}")
        lines.append(f"       {sketch(step.before)}")
        lines.append(f"     → {sketch(step.after)}")
    if not number:
        lines.append("No rewrite was needed.")
    return "\n".join(lines)


def sketch(node: Node, depth: int = _DEPTH) -> str:
    """The formula of a value, parts deeper than `depth` operations left out."""
    layers: dict[Node, int] = {node: 0}
    queue = [node]
    for each in queue:
        level = layers[each]
        if level < depth:
            for operand in each.operands:
                if operand not in layers:
                    layers[operand] = level + 1
                    queue.append(operand)
    texts: dict[Node, Spelled] = {}
    for each in sorted(layers, key=lambda one: one.serial):
        texts[each] = _text(each, texts)
    found = texts[node][0]
    return found if len(found) <= _WIDEST else found[: _WIDEST - 1] + "…"


def _text(node: Node, texts: dict[Node, Spelled]) -> Spelled:
    if node.is_input:
        return escaped(node.params["name"]), ATOM
    if node.is_constant:
        return constant_text(node.params["value"]) or ("constant", ATOM)
    if any(operand not in texts for operand in node.operands):
        return f"{node.op.name}(…)", ATOM
    return spelled(node, [texts[operand] for operand in node.operands])
