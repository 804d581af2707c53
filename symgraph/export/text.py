"""A graph as text: one line a node, or one formula, or a tree; sharing is always visible.

All three are loops over a topological order, linear in the size of the graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.body import Body
from ..ir.cost import op_count
from ..ir.dag import Dag
from ..ir.node import Node, substituted
from ..ir.traits import Arrangement
from ..notation.text import ATOM, Spelled, escaped, shortened, spelled
from ..ops.creation import input
from ..source import Frame
from .expressions import atom
from .labels import Labels

__all__ = ["FormulaPair", "equation", "formula", "headline", "render", "sides", "tree"]

_WIDEST = 44
_SOURCE = 80
_FORMULA_PART = 72
_MOST_PARTS = 40
_NAMES = 300
"""Nodes around an equation whose inputs give their names to no letter."""


def headline(dag: Dag, labels: Labels | None = None) -> str:
    """How large the graph is: `9 nodes (3 forward, 6 gradient), 5 operations`."""
    orders = (labels or Labels(dag)).orders
    computed = [node for node in dag.nodes if not (node.is_input or node.is_constant)]
    again = sum(1 for node in computed if node.copy)
    gradient = sum(1 for node in computed if orders[node] and not node.copy)
    told = [f"{len(computed) - gradient - again} forward", f"{gradient} gradient"]
    told += [f"{again} computed again"] if again else []
    split = f" ({', '.join(told)})" if gradient or again else ""
    operations = op_count(dag.outputs)
    return f"{_counted(len(dag.nodes), 'node')}{split}, {_counted(operations, 'operation')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def render(dag: Dag, history: Any = None, *, lines: bool = True) -> str:
    """The listing of a graph: name, expression, dtype, shape, role and line of each node.

    Inputs come first, small constants stand in the expressions that use them, outputs are marked
    with `→` and their names.

    Parameters
    ----------
    dag : Dag
    history : sized, optional
        The rewrites behind the graph; their number is told.
    lines : bool
        Whether to show the user's lines.
    """
    labels = Labels(dag)
    header = headline(dag, labels)
    if history is not None and len(history):
        header += f"; {_counted(len(history), 'rewrite')} behind it"
    shown = [node for node in labels.nodes if not labels.is_inline(node) or node in labels.outputs]
    inputs = set(dag.inputs.values())
    ordered = [*dag.inputs.values(), *(node for node in shown if node not in inputs)]
    frames = {frame for node in ordered if (frame := labels.frame(node)) is not None}
    # One line made them all: it says nothing of any node, so it is told once.
    once = len(frames) == 1
    if once and lines:
        header += f"; all from {_quoted(next(iter(frames)))}"
    rows = [_row(node, labels, lines and not once) for node in ordered]
    return "\n".join([header, *_aligned(rows), *_bodies(dag)])


def _bodies(dag: Dag) -> list[str]:
    """A line for each body that a loop or a branch runs: what it computes of its operands."""
    found: dict[Body, None] = {}
    waiting: list[Dag] = [dag]
    while waiting:
        for node in waiting.pop().nodes:
            for value in node.params.values():
                if isinstance(value, Body) and value not in found:
                    found[value] = None
                    waiting.append(value.dag)
    return [f"  {body.name}({', '.join(_numbered(body))}): {_computed(body)}" for body in found]


def _numbered(body: Body) -> list[str]:
    return [f"i{place}" for place in range(len(body.inputs))]


def _computed(body: Body) -> str:
    """The body as formulas, its operands called by their places."""
    made = [
        input(name, node.shape, node.dtype).node
        for name, node in zip(_numbered(body), body.inputs, strict=True)
    ]
    outputs = substituted(body.outputs, dict(zip(body.inputs, made, strict=True)))
    return formula(Dag(dict(zip(_numbered(body), made, strict=True)), outputs))


def _row(node: Node, labels: Labels, lines: bool) -> list[str]:
    what = labels.expression(node)
    if node.is_input:
        facts = node.params.get("assume", ())
        shown = f"{labels.name(node)}: input" + "".join(f", {escaped(str(fact))}" for fact in facts)
    elif labels.is_inline(node):
        shown = labels.name(node)
    else:
        shown = f"{labels.name(node)} = {what}"
    role = "" if node.is_input else labels.role(node)
    marked = "".join(f" → {name}" for name in labels.outputs.get(node, ()))
    frame = labels.frame(node) if lines else None
    source = _quoted(frame) if frame is not None else ""
    rule = labels.origins[node].rule
    if rule and lines:
        source += f"   by {escaped(rule)}"
    return [shown, labels.aval(node), (role + marked).strip(), source.strip()]


def _quoted(frame: Frame) -> str:
    text = shortened(escaped(frame.text), _SOURCE)
    return f"{escaped(str(frame))}   {text}" if text else escaped(str(frame))


def _aligned(rows: list[list[str]]) -> list[str]:
    """Rows with columns set below one another; a cell that is too wide moves only its own row."""
    columns = range(max((len(row) for row in rows), default=0))
    widths = [
        max((len(row[i]) for row in rows if len(row[i]) <= _WIDEST), default=0) for i in columns
    ]
    return [
        "  "
        + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def formula(dag: Dag) -> str:
    """The outputs as infix formulas, such as `t1 / sum(t1) where t1 = exp(z)`.

    What is used twice is named, so sharing is visible. A part longer than a line is named too, so
    the text stays linear in the graph. Graphs of more than 40 named parts are told by their size
    instead: their listing reads better.
    """
    labels = Labels(dag)
    uses = dag.uses
    taken = {labels.name(node) for node in dag.inputs.values()}
    texts: dict[Node, Spelled] = {}
    parts: dict[str, str] = {}
    number = 0
    for node in labels.nodes:
        if node.is_input or node.is_constant or labels.is_inline(node):
            texts[node] = labels.atom(node)
            continue
        text = spelled(node, [texts[operand] for operand in node.operands])
        shared = len(uses[node]) > 1 and not _is_view_of_input(node)
        if shared or (uses[node] and len(text[0]) > _FORMULA_PART):
            number += 1
            while f"t{number}" in taken:
                number += 1
            parts[f"t{number}"] = text[0]
            text = f"t{number}", ATOM
            if len(parts) > _MOST_PARTS:
                return f"a graph of {len(dag.nodes)} nodes, too large for a formula"
        texts[node] = text
    return _outputs(dag, texts) + _where(parts)


def _is_view_of_input(node: Node) -> bool:
    """`X.T` may be written twice: it names no work."""
    return node.op.traits.arrangement is Arrangement.PERMUTED and node.operands[0].is_input


def _outputs(dag: Dag, texts: Mapping[Node, Spelled]) -> str:
    if len(dag.outputs) == 1:
        return texts[dag.outputs[0]][0]
    pairs = zip(dag.names, dag.outputs, strict=True)
    return "; ".join(f"{shortened(escaped(name))} = {texts[node][0]}" for name, node in pairs)


def _where(parts: Mapping[str, str]) -> str:
    if not parts:
        return ""
    return " where " + ", ".join(f"{name} = {text}" for name, text in parts.items())


def equation(before: Node, after: Node, *, most: int = 12) -> str:
    """Two values as formulas over what they share: `log(exp(x))`, `x` gives `log(exp(x)) → x`.

    Inputs keep their names; shared values, and whatever lies deeper than `most` nodes, are called
    `a`, `b`, ... on both sides.
    """
    found = sides(before, after, most=most)
    return f"{found.left} → {found.right}"


@dataclass(frozen=True, slots=True)
class FormulaPair:
    """Two formulas over the same letters, and the value that each letter stands for."""

    left: str
    right: str
    letters: Mapping[str, Node]


def sides(
    before: Node,
    after: Node,
    *,
    most: int = 12,
    leaf: Callable[[Node], Spelled | None] = atom,
    spell: Callable[[Node, Sequence[Spelled]], Spelled] = spelled,
) -> FormulaPair:
    """Two values as formulas over what they share, as `equation`.

    Parameters
    ----------
    before, after : Node
    most : int
        How many nodes of each side are spelled out.
    leaf, spell : callable
        How leaves and operations read: as text, or in another language.
    """
    left, right = _near(before, most), _near(after, most)
    shared = set(left) & set(right)
    seen = (*_near(before, _NAMES), *_near(after, _NAMES))
    taken = {each.params["name"] for each in seen if each.is_input}
    texts: dict[Node, Spelled] = {}
    letters: dict[str, Node] = {}
    names = (name for count in itertools.count() if (name := _letter(count)) not in taken)
    for root, near in ((before, left), (after, right)):
        inside = {each for each in near if each not in shared} | {root}
        wanted = {operand for each in inside for operand in each.operands} | inside
        for each in sorted(wanted, key=lambda each: each.serial):
            if each in texts:
                continue
            known = leaf(each)
            if known is not None:
                texts[each] = known
            elif (
                each in inside
                and (each is before or each not in shared)
                and all(operand in texts for operand in each.operands)
            ):
                texts[each] = spell(each, [texts[operand] for operand in each.operands])
            else:
                name = next(names)
                texts[each] = name, ATOM
                letters[name] = each
    return FormulaPair(texts[before][0], texts[after][0], letters)


def _near(node: Node, most: int) -> list[Node]:
    """`node` and up to `most` of the nodes below it, nearest first."""
    found = {node: None}
    queue = [node]
    for each in queue:
        if len(found) >= most:
            break
        fresh = [operand for operand in dict.fromkeys(each.operands) if operand not in found]
        found.update(dict.fromkeys(fresh))
        queue.extend(fresh)
    return list(found)


def _letter(position: int) -> str:
    return chr(ord("a") + position % 26) + (str(position // 26) if position >= 26 else "")


def tree(dag: Dag, *, most: int = 10_000) -> str:
    """The graph as a tree from each output down; a node met again is named, not printed again.

    Parameters
    ----------
    dag : Dag
    most : int
        Lines after which it stops.
    """
    labels = Labels(dag)
    lines: list[str] = []
    seen: set[Node] = set()
    pairs = list(zip(dag.names, dag.outputs, strict=True))[::-1]
    stack = [(node, 0, f"{shortened(escaped(name))}: ") for name, node in pairs]
    while stack:
        if len(lines) >= most:
            return "\n".join([*lines, f"... {len(stack)} more"])
        node, depth, prefix = stack.pop()
        indent = "  " * min(depth, 40) + prefix
        leaf = node.is_input or labels.is_inline(node)
        again = node in seen
        what = "" if leaf else " (above)" if again else f" = {labels.expression(node)}"
        lines.append(f"{indent}{labels.name(node)}{what}   {labels.aval(node)}")
        seen.add(node)
        if not again:
            stack.extend((operand, depth + 1, "") for operand in reversed(node.operands))
    return "\n".join(lines)
