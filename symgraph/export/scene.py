"""The parts of a picture: boxes with their texts, and edges, from a graph or a folded graph.

Views (a transpose, a reshape) and values of constants only have no box: they are written where they
are used. Inputs are boxes of their own where the picture is small, and else a line of chips.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..ir.cost import varying
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.origins import adjoint_chain
from ..ir.traits import Arrangement, Infix, Prefix
from ..notation.node_text import ATOM, Spelled, escaped, shortened, spelled
from ..records import record
from .folding import MOST, FoldedNodes, Unit, acyclic, grouped
from .labels import Labels

__all__ = ["CLOSE", "OPEN", "Card", "Scene", "bare", "beside_of", "scene", "tooltip"]

OPEN, CLOSE = "\ue000", "\ue001"
"""Around leaves in an expression; `escaped` removes both signs from names."""
_INPUTS = 24
_LEAF = 26
_SMALL = 24
"""In a picture of more boxes, a short expression used once is written where it is used."""
_SHORT = 18


@record
class Card:
    """The texts of a box.

    Parameters
    ----------
    kind : str
        `leaf`, `forward`, `gradient` or `group`.
    title, below, place, tip : str
    outputs : tuple of str
        The names of the outputs that it holds.
    gradient, again : bool
        Whether it belongs to the gradient; whether it is computed again.
    """

    kind: str
    title: str
    below: str
    place: str
    tip: str
    outputs: tuple[str, ...] = ()
    gradient: bool = False
    again: bool = False


@record
class Scene:
    """Boxes in reading order, edges, the wish of each box, and inputs that have no box."""

    cards: dict[Unit, Card]
    edges: tuple[tuple[Unit, Unit], ...]
    beside: dict[Unit, Unit]
    chips: tuple[Node, ...]
    folded: bool


def scene(dag: Dag, labels: Labels, *, fold: bool | None = None) -> Scene:
    """The boxes and edges of a picture.

    Parameters
    ----------
    dag : Dag
    labels : Labels
    fold : bool, optional
        Whether to draw groups; by default where there are more than 70 boxes.
    """
    known, texts = _texts(dag, labels)
    boxed = [node for node in labels.nodes if node in known]
    forward = [node for node in boxed if not labels.orders[node] and not node.copy]
    gradient = [node for node in boxed if labels.orders[node] or node.copy]
    beside = beside_of(forward, gradient, labels)
    sources = {node: _sources(node, known) for node in boxed}
    pairs = [(source, node) for node in boxed for source in sources[node]]
    units: dict[Node, Unit] = {node: node for node in boxed}
    folded = fold is True or (fold is None and len(boxed) > MOST)
    if folded:
        units = grouped(forward, gradient, beside, sources, labels.scope)
        units = acyclic({node: units[node] for node in boxed}, pairs)
    used = [node for node in dag.inputs.values() if node not in known]
    drawn = used if len(used) + len(set(units.values())) <= _INPUTS * 2 else []
    drawn = [] if folded or len(used) > _INPUTS else drawn
    cards: dict[Unit, Card] = {node: _input_card(node, labels) for node in drawn}
    pairs += [(leaf, node) for node in boxed for leaf in _leaves(node, known) if leaf in drawn]
    members: dict[Unit, list[Node]] = {}
    for node in boxed:
        members.setdefault(units[node], []).append(node)
    for unit, inside in members.items():
        cards[unit] = (
            _group_card(unit, inside, labels)
            if isinstance(unit, FoldedNodes)
            else _card(inside[0], labels, texts)
        )
    edges = [(units.get(a, a), units.get(b, b)) for a, b in pairs]
    wishes = {units[node]: units[each] for node, each in beside.items()}
    return Scene(
        cards,
        tuple(pair for pair in dict.fromkeys(edges) if pair[0] != pair[1]),
        {unit: each for unit, each in wishes.items() if unit != each},
        tuple(node for node in used if node not in drawn),
        folded,
    )


# -- which nodes have a box ------------------------------------------------------------------------
def _boxed(dag: Dag) -> set[Node]:
    """Every output, and every node computed from inputs that is no mere view."""
    computed = {node for node in varying(dag.outputs) if not node.is_input and not node.op.view}
    return {*computed, *dag.outputs}


def _is_small(node: Node, dag: Dag, labels: Labels) -> bool:
    """Whether a node is elementwise and used once, in its own lane."""
    if node in labels.outputs or node.copy or len(dag.uses[node]) != 1 or len(node.results) != 1:
        return False
    user = dag.uses[node][0][0]
    return (
        any(each.shape == node.shape for each in node.operands)
        and isinstance(node.op.text, Infix | Prefix)
        and labels.orders[user] == labels.orders[node]
    )


def _sources(node: Node, known: set[Node]) -> list[Node]:
    """The boxes whose values a node uses, through views."""
    return [each for each in _beneath(node, known) if each in known]


def _leaves(node: Node, known: set[Node]) -> list[Node]:
    return [each for each in _beneath(node, known) if each.is_input and each not in known]


def _beneath(node: Node, known: set[Node]) -> list[Node]:
    found: dict[Node, None] = {}
    stack = list(node.operands)[::-1]
    while stack:
        each = stack.pop()
        if each in known or each.is_input:
            found[each] = None
        else:
            stack.extend(reversed(each.operands))
    return list(found)


def beside_of(
    forward: Sequence[Node], gradient: Sequence[Node], labels: Labels
) -> dict[Node, Node]:
    """For nodes of the gradient the forward node beside which they stand, if there is one."""
    places = {node: place for place, node in enumerate(forward)}
    found: dict[Node, Node] = {}
    for node in gradient:
        chain = adjoint_chain(labels.origins[node])
        if not node.copy and chain and chain[-1] in places:
            found[node] = chain[-1]
            continue
        # The forward node is a leaf, or was simplified away: the lowest forward value that is used.
        below = [each for each in node.operands if each in places]
        if below:
            found[node] = max(below, key=places.__getitem__)
        else:
            near = [found[each] for each in node.operands if each in found]
            if near:
                found[node] = min(near, key=places.__getitem__)
    return found


# -- texts -----------------------------------------------------------------------------------------
def _texts(dag: Dag, labels: Labels) -> tuple[set[Node], dict[Node, Spelled]]:
    """The nodes with a box, and the text of each node as an operand.

    It is the node's name, or its expression if it has no box.
    """
    known = _boxed(dag)
    many = len(known) > _SMALL
    texts: dict[Node, Spelled] = {}
    for node in labels.nodes:
        text, binding = labels.atom(node)
        leaf = node.is_input or not node.operands
        if many and node in known and node.operands and _is_small(node, dag, labels):
            inner = spelled(node, [texts[operand] for operand in node.operands])[0]
            if len(bare(inner)) <= _SHORT:
                known.discard(node)
        if node not in known and node.operands:
            text, binding, leaf = _inlined(node, texts)
        texts[node] = (f"{OPEN}{bare(text)}{CLOSE}" if leaf else text), binding
    return known, texts


def _inlined(node: Node, texts: dict[Node, Spelled]) -> tuple[str, int, bool]:
    """The expression of a node without a box, and whether it is made of leaves only."""
    inner = [texts[operand] for operand in node.operands]
    leaf = all(each.startswith(OPEN) and each.endswith(CLOSE) for each, _ in inner)
    # A broadcast, reshaped or cast number is written as the number.
    moved = node.op.view or node.op.traits.arrangement is Arrangement.CONVERTED
    constant = leaf and not any(each.is_input for each in node.operands)
    text, binding = inner[0] if moved and constant else spelled(node, inner)
    if len(bare(text)) > _LEAF:
        text, binding = shortened(bare(text), _LEAF), ATOM
    return text, binding, leaf


def bare(text: str) -> str:
    """An expression without the marks of leaves."""
    return text.replace(OPEN, "").replace(CLOSE, "")


def _card(node: Node, labels: Labels, texts: dict[Node, Spelled]) -> Card:
    name = shortened(labels.name(node), 30)
    title = name
    if node.operands:
        title = f"{name} = {spelled(node, [texts[each] for each in node.operands])[0]}"
    gradient = bool(labels.orders[node] or node.copy)
    leaf = "parameter" if node in labels.parameters else "leaf"
    kind = leaf if node.is_input else "gradient" if gradient else "forward"
    return Card(
        kind,
        title,
        labels.aval(node),
        labels.place(node),
        tooltip(node, labels),
        tuple(labels.outputs.get(node, ())),
        gradient,
        bool(node.copy),
    )


def _input_card(node: Node, labels: Labels) -> Card:
    return Card(
        "parameter" if node in labels.parameters else "leaf",
        f"{OPEN}{shortened(labels.name(node), 32)}{CLOSE}",
        labels.aval(node),
        "",
        tooltip(node, labels),
    )


def _group_card(group: FoldedNodes, inside: Sequence[Node], labels: Labels) -> Card:
    counts = Counter(node.op.name for node in inside).most_common(3)
    told = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counts)
    outputs = tuple(name for node in inside for name in labels.outputs.get(node, ()))
    title = escaped(f"∂ {group.title}" if group.gradient else group.title)
    places = list(dict.fromkeys(labels.place(node) for node in inside))
    lines = [f"{title}: {len(inside)} values", *(place for place in places[:6] if place)]
    lines += [f"{labels.name(node)} = {labels.expression(node)}" for node in inside[:24]]
    return Card(
        "group", title, f"{len(inside)} values: {told}", "", "\n".join(lines), outputs,
        group.gradient,
    )  # fmt: skip


def tooltip(node: Node, labels: Labels) -> str:
    """The name, expression, type, role, facts, lines and rule of a node, in full."""
    lines = [f"{labels.name(node)} = {shortened(labels.expression(node), 400)}"]
    lines += [labels.aval(node), labels.role(node)]
    facts = node.params.get("assume", ()) if node.is_input else ()
    lines += [escaped(str(fact)) for fact in facts]
    lines += [f"{frame}   {shortened(frame.text, 160)}" for frame in labels.origins[node].frames]
    if labels.origins[node].rule:
        lines.append(f"by {labels.origins[node].rule}")
    return "\n".join(map(escaped, lines))
