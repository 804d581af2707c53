"""Derivative rules of a user's for a graph: how one is asked, and how it is written as a graph.

A rule is a Python function. `cotangents_asked` calls it with the arrays in the user's containers.
A saved graph holds no function: `written_rule` traces the rule once to a graph of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..array import Array, ArrayLike
from ..errors import NotDifferentiable, ShapeError, SymgraphError, TraceError
from ..ir.body import Body
from ..ir.differentiation import Pull
from ..ir.node import Node, Origin, make, origin
from ..ir.scope import tracing
from ..ir.walks import reachable, substituted
from ..pytrees import Tree, flatten, unflatten
from ..records import record
from .closures import fresh_like
from .userrules import as_sequence, by_rule, lent_to

__all__ = [
    "Backward",
    "Rule",
    "WrittenRule",
    "cotangents_asked",
    "flat_rule",
    "leaves_of_rule",
    "written_rule",
]

Rule = Callable[..., Any]
"""A function of cotangents, results and operands that gives the operands' cotangents."""


@record
class Backward:
    """A rule for a graph, with the containers of its operands and results."""

    name: str
    rule: Rule
    arguments: Tree
    result: Tree
    stacks: bool

    def __repr__(self) -> str:
        return self.name


def cotangents_asked(pull: Pull, backward: Backward) -> list[Array | None]:
    """The cotangents of the wanted operands by the rule."""
    pull = lent_to(pull)
    groups = unflatten(backward.arguments, list(pull.operands))
    out = unflatten(backward.result, list(pull.outs))

    def rule(cts: Iterable[Any]) -> Sequence[Any]:
        return leaves_of_rule(backward, unflatten(backward.result, list(cts)), out, groups)

    return by_rule(pull, rule, backward.name, backward.stacks)


def leaves_of_rule(
    backward: Backward, ct: ArrayLike, out: Array, groups: Sequence[Any]
) -> list[Any]:
    """The results of a rule, one for each array of the arguments."""
    parts = as_sequence(backward.rule(ct, out, *groups))
    if len(parts) != len(groups):
        raise ShapeError(
            f"The vjp of {backward.name} gives {len(parts)} cotangents for {len(groups)} "
            "arguments.",
            mend="Return one for each argument, None where the derivative is zero.",
        )
    return [
        leaf
        for part, tree in zip(parts, backward.arguments.children, strict=True)
        for leaf in _leaves_like(part, tree, backward.name)
    ]


def _leaves_like(part: object, tree: Tree, name: str) -> list[Any]:
    leaves, found = flatten(part)
    if found == tree:
        return leaves
    if part is None:
        return [None] * tree.size
    raise TraceError(
        f"The vjp of {name} gives {found} for an argument {tree}.",
        mend="Return cotangents in the containers of the argument, or None for all of it.",
    )


@record
class WrittenRule:
    """A rule as a graph, in place of the user's function.

    Parameters
    ----------
    body : Body or None
        From cotangents, results and operands, in this order, to the cotangents that are not zero.
    given : tuple of bool
        For each operand whether its cotangent is among them.
    refusal : str
        Why there is no body.
    """

    body: Body | None
    given: tuple[bool, ...]
    refusal: str = ""

    def __call__(self, cts: Sequence[Any], outs: Sequence[Any], *operands: Array) -> list[Any]:
        if self.body is None:
            raise NotDifferentiable(
                f"The vjp of this function could not be saved: {self.refusal}",
                mend="Differentiate the graph before it is saved.",
            )
        values = [each.node for each in (*cts, *outs, *operands)]

        def rebuild(node: Node, operands: tuple[Node, ...]) -> Node:
            return make(node.op, operands, node.params, node.copy)  # of the origin asked for now

        here = dict(zip(self.body.inputs, values, strict=True))
        made = iter(substituted(self.body.outputs, here, rebuild))
        return [Array(next(made)) if there else None for there in self.given]


def flat_rule(name: str, rule: WrittenRule, body: Body) -> Backward:
    """The param `backward` of a node with this body and with a rule that is a graph."""
    leaf = Tree("leaf")
    arguments = Tree("tuple", (leaf,) * len(body.inputs))
    return Backward(name, rule, arguments, Tree("tuple", (leaf,) * len(body.outputs)), False)


def written_rule(backward: Backward, body: Body, within: tuple[Rule, ...] = ()) -> WrittenRule:
    """Trace the rule of a function once to a graph; an error is raised when it is asked for.

    Parameters
    ----------
    backward : Backward
    body : Body
        The function.
    within : tuple of callable
        Rules that are being written: one that calls its own function has no second derivative.
    """
    if isinstance(backward.rule, WrittenRule):
        return backward.rule
    none = (False,) * len(body.inputs)
    if backward.rule in within:
        return WrittenRule(None, none, f"the rule of {backward.name} calls {backward.name} itself.")
    avals = [*body.avals, *body.avals, *body.operand_avals]
    try:
        # Nodes of a rule get the origin of the differentiated node, so they have none here.
        with origin(Origin()), tracing(backward.name):
            nodes = [fresh_like(aval, f"i{place}") for place, aval in enumerate(avals)]
            values = [Array(each) for each in nodes]
            found = _flat_cotangents(backward, values, len(body.outputs))
    except Exception as error:  # the rule is the user's: whatever it raises is told later
        said = error.what if isinstance(error, SymgraphError) else str(error)
        return WrittenRule(None, none, f"{type(error).__name__}: {said}")
    outputs = [each.node for each in found if each is not None]
    if any(node.is_input and node not in nodes for node in reachable(outputs)):
        return WrittenRule(None, none, "it closes over symbolic arrays.")
    if not outputs:
        return WrittenRule(None, none, "it gives no cotangent at all.")
    outputs = _with_written_rules(outputs, (*within, backward.rule))
    return WrittenRule(Body(nodes, outputs), tuple([each is not None for each in found]))


def _flat_cotangents(backward: Backward, values: Sequence[Array], count: int) -> list[Array | None]:
    """The rule's results for `count` cotangents, `count` results and the operands."""
    cts, outs, operands = values[:count], values[count : 2 * count], values[2 * count :]
    wanted = tuple([i for i, each in enumerate(operands) if each.dtype.kind == "f"])
    pull = Pull(tuple(cts), tuple(outs), tuple(operands), wanted, 0, cotangents=_no_reverse_mode)
    found = dict(zip(wanted, cotangents_asked(pull, backward), strict=True))
    return [found.get(i) for i in range(len(operands))]


def _no_reverse_mode(*_arguments: object) -> Any:
    raise AssertionError("A rule of a user's gives cotangents by itself.")


def _with_written_rules(outputs: Sequence[Node], within: tuple[Rule, ...]) -> list[Node]:
    """The outputs with every rule as a graph, also inside bodies."""

    def param(value: object, params: Mapping[str, Any]) -> Any:
        if isinstance(value, Backward):
            rule = written_rule(value, params["body"], within)
            return flat_rule(value.name, rule, params["body"])
        if isinstance(value, Body):
            return Body(value.inputs, _with_written_rules(value.outputs, within))
        return value

    new: dict[Node, Node] = {}
    for node in reachable(outputs):
        operands = tuple([new[each] for each in node.operands])
        params = {name: param(value, node.params) for name, value in node.params.items()}
        if operands == node.operands and all(params[k] is node.params[k] for k in params):
            new[node] = node
            continue
        with origin(node.origin):
            new[node] = make(node.op, operands, params, node.copy)
    return [new[output] for output in outputs]
