"""Reverse mode, symbol to symbol: the gradient is appended to the graph as further nodes.

The algorithm is that of Goodfellow, Bengio and Courville, *Deep Learning*, algorithms 6.5 and 6.6.
Only nodes that are ancestors of the output and descendants of a target are visited, each once, in
reverse topological order, and contributions from consumers are summed. The cost is linear in the
edges, and the depth is bounded by memory only. The engine knows no differentiation rule: each
operation brings its own (`Op.vjp`). The work that all rules share is done here, once: undoing
broadcasting, dtypes, accumulation, zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ..array import FUNCTIONS, Array, project
from ..errors import DTypeError, NotDifferentiable, ShapeError
from ..ir.avals import Aval
from ..ir.differentiation import Pull, StandIn, Undefined
from ..ir.dims import known_equal, same_shape
from ..ir.fact_inference import knowledge_kept
from ..ir.node import Node, adjoint_origin, origin
from ..ir.op import VjpRule
from ..ir.value_names import DERIVED, give
from ..ops.creation import constant_of, zeros
from .shifts import without_effect

__all__ = [
    "active_nodes",
    "check_targets",
    "cotangents",
    "fitted",
    "gradients",
    "past_of",
    "rule_of",
    "vjp",
]


def active_nodes(outputs: Sequence[Node], targets: Sequence[Node]) -> set[Node]:
    """Nodes on a path from a target to an output, both included.

    A node made before every target depends on none of them. So the walk skips such nodes, and is as
    long as the part of the graph made since.
    """
    active = set(targets)
    first = min((target.serial for target in targets), default=0)
    found: set[Node] = set()
    for node in _made_since(first, outputs):
        if node in active or any(operand in active for operand in node.operands):
            active.add(node)
            found.add(node)
    return found


def _made_since(first: int, outputs: Sequence[Node]) -> list[Node]:
    """The nodes with serial `first` or later that the outputs depend on, operands first."""
    seen = {node for node in outputs if node.serial >= first}
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand.serial >= first and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return sorted(seen, key=lambda node: node.serial)


@knowledge_kept()
def cotangents(
    seeds: Sequence[tuple[Array, Array]],
    targets: Sequence[Array],
    *,
    owner: Node | None = None,
    of: str = "",
) -> list[Array | None]:
    """The cotangent of each target, None where no path leads from it to an output.

    Parameters
    ----------
    seeds : sequence of (output, cotangent)
        A cotangent has its output's shape, possibly with extra leading axes, the same for all.
    targets : sequence of Array
    owner : Node, optional
        The node whose derivative the new nodes are; by default each is that of its adjoint node.
    of : str
        The name of the output if the cotangents are its gradients: that of `z` is `∂loss/∂z`.

    Raises
    ------
    DTypeError
        If a target is not floating.
    NotDifferentiable
        If an operation on a path has no derivative.
    """
    check_targets(targets)
    outputs = [output.node for output, _ in seeds]
    wanted = {target.node for target in targets}
    active = active_nodes(outputs, [target.node for target in targets])
    active -= without_effect(active, outputs, wanted)
    lead = seeds[0][1].ndim - seeds[0][0].ndim
    pending: dict[Node, list[Array]] = {}
    partial: dict[Node, dict[int, Array]] = {}
    for output, seed in seeds:
        pending.setdefault(output.node, []).append(seed)
    found: dict[Node, Array] = {}
    ct: Any
    for node in sorted(active, key=lambda each: -each.serial):
        contributions = pending.pop(node, [])
        if not contributions and node not in partial:
            continue
        with origin(adjoint_origin(node, owner or node)):
            if node.op.pullback is not None:
                known = partial.pop(node, {})
                if contributions:
                    known[0] = found[node] = _sum_of(contributions)
                _pull_back_jointly(node, known, lead, active, pending)
                continue
            if node in partial:
                ct = _result_cotangents(node, partial.pop(node), lead)
            else:
                ct = found[node] = _sum_of(contributions)
            past = past_of(node, wanted, active)
            if past is not None and past.helps(ct, Array(node)):
                _pull_back_past(past, node, ct, lead, active, pending)
            else:
                _pull_back(node, ct, lead, active, pending, partial)
    if of:
        _name_gradients(found, of)
    return [found.get(target.node) for target in targets]


def _name_gradients(found: Mapping[Node, Array], of: str) -> None:
    """Call gradients `∂loss/∂z`, or `∂f/∂z` where several values were held by `loss` in turn."""
    held = [node for node in found if any(each.text == of for each in node.names)]
    of = of if len(held) < 2 else "f"
    for node, ct in found.items():
        # A value of the forward part may be a gradient, but it is not known by that.
        if ct.node.origin.adjoint_of is None:
            continue
        own = [each for each in node.names if "∂" not in each.text]
        if node.is_input or own:
            text = node.params["name"] if node.is_input else own[0].text
            give(ct.node, f"∂{of}/∂{text}", DERIVED)


def _name_of(output: Node) -> str:
    """The name of an output in the names of its gradients: a variable, or f."""
    own = [each.text for each in output.names if "∂" not in each.text]
    return own[0] if own else "f"


def past_of(node: Node, ends: Set[Node], active: Set[Node]) -> StandIn | None:
    """The stand-in derivative of a node, unless it would skip a target or an output."""
    past = None if node.op.stand_in is None else node.op.stand_in(node)
    if past is None or not ends.isdisjoint(past.passed) or active.isdisjoint(past.operands):
        return None
    return past


_PASS_FLOATS = (
    "Pass floats, as in x.astype(float) or np.array([1.0, 2.0]): integers and truth values change "
    "by steps."
)


def check_targets(targets: Sequence[Array]) -> None:
    """Refuse integers and booleans, which have no derivative.

    Raises
    ------
    DTypeError
    """
    for target in targets:
        if target.dtype.kind != "f":
            raise DTypeError(
                f"A derivative with respect to {target!r} is not defined: "
                f"its dtype is {target.dtype}.",
                [f"{target!r}   from {target.node.origin}"],
                mend=_PASS_FLOATS,
            )


def _sum_of(contributions: list[Array]) -> Array:
    """The sum of contributions, equal ones next to each other: x * x gives (c + c) + others."""
    ordered = {each.node: each for each in contributions}
    counts = Counter(each.node for each in contributions)
    total: Any = None
    for node, contribution in ordered.items():
        part: Any = contribution
        for _ in range(counts[node] - 1):
            part = part + contribution
        total = part if total is None else total + part
    return total


def _pull_back_past(
    past: StandIn,
    node: Node,
    ct: Array,
    lead: int,
    active: set[Node],
    pending: dict[Node, list[Array]],
) -> None:
    """Add the contributions of a node to the operands of its substitute."""
    for operand, rule in zip(past.operands, past.vjp, strict=True):
        if operand in active:
            pulled = fitted(rule(ct, Array(node)), operand.aval, lead)
            pending.setdefault(operand, []).append(pulled)


def _pull_back(
    node: Node,
    ct: Array,
    lead: int,
    active: set[Node],
    pending: dict[Node, list[Array]],
    partial: dict[Node, dict[int, Array]],
) -> None:
    """Add the contribution of a node to each active operand."""
    if node.op.name == "project":
        results = partial.setdefault(node.operands[0], {})
        results[node.params["index"]] = ct
        return
    operands = [Array(operand) for operand in node.operands]
    out: Any = (
        Array(node) if len(node.results) == 1 else tuple(Array(each) for each in _projections(node))
    )
    for slot, operand in enumerate(node.operands):
        if operand not in active or operand.aval.dtype.kind != "f":
            continue
        rule = rule_of(node, slot)
        if rule is None:
            continue
        contribution = rule(ct, out, *operands, **node.params)
        pending.setdefault(operand, []).append(fitted(contribution, operand.aval, lead))


def rule_of(node: Node, slot: int) -> VjpRule | None:
    """The rule that pulls a cotangent back to an operand; None where its derivative is zero.

    Raises
    ------
    NotDifferentiable
        If the operation has no derivative.
    """
    rule = node.op.vjp_rule(slot)
    if isinstance(rule, Undefined):
        raise NotDifferentiable(
            f"{node.op.name} has no derivative with respect to operand {slot}: {rule.why}.",
            [f"{node!r}   from {node.origin}"],
            mend="Stop the gradient there (snp.stop_gradient), or give the operation a vjp.",
        )
    return rule


def _pull_back_jointly(
    node: Node,
    known: dict[int, Array],
    lead: int,
    active: set[Node],
    pending: dict[Node, list[Array]],
) -> None:
    """Add the contributions of a node whose pullback makes those of all operands at once."""
    pullback = node.op.pullback
    assert pullback is not None
    wanted = tuple(
        slot
        for slot, operand in enumerate(node.operands)
        if operand in active and operand.aval.dtype.kind == "f"
    )
    several = len(node.results) > 1
    pull = Pull(
        tuple(known.get(index) for index in range(len(node.results))),
        tuple(Array(each) for each in (_projections(node) if several else [node])),
        tuple(Array(operand) for operand in node.operands),
        wanted,
        lead,
        cotangents,
    )
    contributions = pullback(pull, **node.params) if wanted else ()
    for slot, contribution in zip(wanted, contributions, strict=True):
        if contribution is not None:
            operand = node.operands[slot]
            pending.setdefault(operand, []).append(fitted(contribution, operand.aval, lead))


def _projections(node: Node) -> list[Node]:
    return [project(node, index) for index in range(len(node.results))]


def _result_cotangents(node: Node, known: dict[int, Array], lead: int) -> tuple[Array, ...]:
    """The cotangents of all results of a node; zeros for results that nothing depends on."""
    shape = next(iter(known.values())).shape[:lead]
    return tuple(
        known[index] if index in known else zeros((*shape, *aval.shape), aval.dtype)
        for index, aval in enumerate(node.results)
    )


def fitted(ct: Array, aval: Aval, lead: int) -> Array:
    """The cotangent in the shape and dtype of its operand.

    It is summed over the axes along which the operand was broadcast: if y repeats x, the cotangent
    of x is the sum of the cotangents of its copies.
    """
    extra = ct.ndim - lead - aval.ndim
    if extra > 0:
        added = tuple(range(-aval.ndim - extra, -aval.ndim))
        ct = FUNCTIONS["sum"](ct, axis=added)
    repeated = tuple(
        axis
        for axis in range(-aval.ndim, 0)
        if aval.shape[axis] == 1 and -axis <= ct.ndim and not known_equal(ct.shape[axis], 1)
    )
    if repeated:
        ct = FUNCTIONS["sum"](ct, axis=repeated, keepdims=True)
    if not same_shape(ct.shape[-aval.ndim :] if aval.ndim else (), aval.shape):
        ct = FUNCTIONS["broadcast_to"](ct, (*ct.shape[:lead], *aval.shape))
    return ct if ct.dtype == aval.dtype else FUNCTIONS["astype"](ct, aval.dtype)


def vjp(output: Array, targets: Sequence[Array], ct: Array) -> list[Array | None]:
    r"""Vector-Jacobian products $\bar x = J^\top \bar y$ of one output; None where disconnected.

    Parameters
    ----------
    output : Array, floating
    targets : sequence of Array, floating
    ct : Array
        A cotangent of the output's shape, possibly with extra leading axes.

    Raises
    ------
    ShapeError
        If `ct` does not end in the output's shape.
    """
    tail = ct.shape[ct.ndim - output.ndim :]
    if ct.ndim < output.ndim or not same_shape(tail, output.shape):
        raise ShapeError(f"The cotangent has shape {ct.shape}, the output {output.shape}.")
    return cotangents([(output, ct)], targets)


def gradients(output: Array, targets: Sequence[Array]) -> list[Array | None]:
    """The gradient of a scalar with respect to each target; None where disconnected.

    Raises
    ------
    ShapeError
        If the output is not a scalar.
    DTypeError
        If the output or a target is not floating.
    """
    if output.ndim:
        raise ShapeError(
            f"A gradient is taken of a scalar; this output has shape {output.shape}.",
            [f"{output!r}   from {output.node.origin}"],
            mend="Reduce it (np.sum, np.mean), or ask for a vjp or a Jacobian.",
        )
    if output.dtype.kind != "f":
        raise DTypeError(
            f"A gradient is taken of a floating-point value; this output has dtype {output.dtype}.",
            [f"{output!r}   from {output.node.origin}"],
            mend=_PASS_FLOATS,
        )
    with origin(adjoint_origin(output.node)):
        seed = constant_of(1, output.dtype)
    return cotangents([(output, seed)], targets, of=_name_of(output.node))
