"""Graphs as text: a listing with one line a node, a formula, or a tree.

All three show sharing. Each is a loop over a topological order, linear in the size of the graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from ..ir.body import Body
from ..ir.collector import collector_paused
from ..ir.cost import op_count
from ..ir.dag import Dag
from ..ir.dims import names_of
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ir.walks import substituted
from ..notation.node_text import ATOM, Spelled, escaped, number, power_text, shortened, spelled
from ..ops.creation import input
from ..records import record
from ..source import Frame
from .expressions import atom, inline
from .labels import Labels

__all__ = ["FormulaPair", "equation", "formula", "headline", "render", "sides", "tree"]

_WIDEST = 44
_SOURCE = 80
_FORMULA_PART = 72
_MOST_PARTS = 40
_NAMES = 300
"""The nodes around an equation whose inputs' names are not used as letters."""


def headline(dag: Dag, labels: Labels | None = None) -> str:
    """The size of the graph: `9 nodes (3 forward, 6 gradient), 5 operations`."""
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


@collector_paused()
def render(dag: Dag, history: Sized | None = None, *, lines: bool = True) -> str:
    """The listing of a graph: name, expression, dtype, shape, role and line of each node.

    Inputs come first. Small constants are written in the expressions that use them. Outputs are
    marked with `→` and their names.

    Parameters
    ----------
    dag : Dag
    history : sized, optional
        The rewrites that led to the graph; their number is shown.
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
    # If one line made all nodes, it is shown once, in the header.
    once = len(frames) == 1
    if once and lines:
        header += f"; all from {_quoted(next(iter(frames)))}"
    rows = [_row(node, labels, lines and not once) for node in ordered]
    return "\n".join([header, *_aligned(rows), *_bodies(dag)])


def _bodies(dag: Dag) -> list[str]:
    """A line for each body that a loop or a branch runs, with its formula."""
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
    """The formula of a body. Its operands are called i0, i1, ..."""
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
    """The rows in aligned columns. A cell that is too wide shifts only its own row."""
    columns = range(max((len(row) for row in rows), default=0))
    widths = [
        max((len(row[i]) for row in rows if len(row[i]) <= _WIDEST), default=0) for i in columns
    ]
    return [
        "  "
        + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


@collector_paused()
def formula(dag: Dag) -> str:
    """The outputs as infix formulas, such as `t1 / sum(t1) where t1 = exp(z)`.

    Parts that are used twice get a name, the user's if there is one, so that sharing is visible.
    Parts longer than a line get one, too, so that the text stays linear in the graph. For a graph
    of more than 40 named parts only its size is given, for its listing reads better.
    """
    labels = Labels(dag)
    uses = dag.uses
    taken = {labels.name(node) for node in labels.nodes}
    texts: dict[Node, Spelled] = {}
    parts: dict[str, str] = {}
    count = 0
    for node in labels.nodes:
        if node.is_input or node.is_constant or labels.is_inline(node):
            # With all digits: the formula can be read again.
            texts[node] = inline(node) or labels.atom(node)
            if node.is_constant and not labels.is_inline(node):
                parts[texts[node][0]] = _elements(node)
            continue
        if _is_repeated_by_users(node, dag):
            text = texts[node.operands[0]]
        else:
            operands = [texts[operand] for operand in node.operands]
            text = power_text(node, operands) or spelled(node, operands)
        shared = len(uses[node]) > 1 and not _is_view_of_input(node)
        if shared or (uses[node] and len(text[0]) > _FORMULA_PART):
            part = labels.atom(node) if labels.names(node) else None
            if part is None:
                count += 1
                while f"t{count}" in taken:
                    count += 1
                part = f"t{count}", ATOM
            parts[part[0]] = text[0]
            text = part
            if len(parts) > _MOST_PARTS:
                return f"a graph of {len(dag.nodes)} nodes, too large for a formula"
        texts[node] = text
    return _outputs(dag, texts) + _where(parts)


def _elements(node: Node) -> str:
    """A constant array: its elements if they are few, else its dtype and shape."""
    value: np.ndarray[Any, Any] = node.params["value"]
    if value.ndim == 1 and value.size <= 8:
        return f"[{', '.join(number(item) for item in value)}]"
    return f"constant {node.aval}"


def _is_repeated_by_users(node: Node, dag: Dag) -> bool:
    """Whether it only repeats its operand, which each user would repeat by itself."""
    return (
        _repeats(node)
        and node not in dag.outputs
        and all(
            any(each.shape == user.shape and not _repeats(each) for each in user.operands)
            if user.op.traits.elementwise
            else _is_repeated_by_users(user, dag)
            for user, _ in dag.uses[node]
        )
    )


def _repeats(node: Node) -> bool:
    """Whether it repeats a computed value; `spelled` writes constants as numbers."""
    arrangement = node.op.traits.arrangement
    if arrangement is Arrangement.REPEATED:
        return not node.operands[0].is_constant
    return arrangement is Arrangement.REGROUPED and not node.operands[0].shape


def _is_view_of_input(node: Node) -> bool:
    """Whether the node is `X.T` of an input, which costs nothing and may be written twice."""
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
    """Two values as formulas: `log(exp(x))` and `x` give `log(exp(x)) → x`.

    Inputs keep their names. Values that both share, and values beyond the nearest `most` nodes, are
    called `a`, `b`, ... on both sides.
    """
    found = sides(before, after, most=most)
    return f"{found.left} → {found.right}"


@record
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
    """Two values as formulas over the same letters, as in `equation`.

    Parameters
    ----------
    before, after : Node
    most : int
        The number of nodes of each side that are written out.
    leaf, spell : callable
        Give the texts of leaves and operations, by default those of a listing.
    """
    left, right = _near(before, most), _near(after, most)
    shared = set(left) & set(right)
    seen = (*_near(before, _NAMES), *_near(after, _NAMES))
    taken = {each.params["name"] for each in seen if each.is_input}
    shapes = [aval.shape for each in seen for aval in each.results]
    taken.update(*[names_of(dim) for shape in shapes for dim in shape])
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
    used = _reached((before, after), {*letters.values()})
    letters = {name: each for name, each in letters.items() if each in used}
    return FormulaPair(texts[before][0], texts[after][0], letters)


def _reached(roots: Sequence[Node], ends: set[Node]) -> set[Node]:
    """The nodes below some nodes down to the ends, which may themselves be reached."""
    found: set[Node] = set()
    queue = list(roots)
    for each in queue:
        if each not in found:
            found.add(each)
            queue.extend(() if each in ends else each.operands)
    return found


def _near(node: Node, most: int) -> list[Node]:
    """The node and nodes below it, nearest first, about `most` of them."""
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
    """The graph as a tree below each output. A node that was printed above is only named again.

    Parameters
    ----------
    dag : Dag
    most : int
        The largest number of lines.
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
