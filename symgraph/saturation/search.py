"""Equality saturation of one small graph: rules until nothing is new, or a bound is met.

All equal values are kept, so the order of rules does not matter; then the cheapest is taken. Bounds
are counts, so the result depends on the graph alone. Source: M. Willsey et al., egg: fast and
extensible equality saturation, POPL 2021; Y. Zhang et al., Better together: unifying Datalog and
equality saturation (egglog), PLDI 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import RewriteError
from ..ir.cost import node_flops, varying
from ..ir.dims import names_of, resolve
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..passes.constant_folding import with_constants_folded
from ..rewriting.rule import Rule, Soundness
from .bounds import SaturationBounds
from .choices import Choices, ENode
from .directions import shrinks
from .egraph import EGraph, Match
from .extract import A_NODE, extracted
from .matched_instances import Equality, instance_of
from .proof import Closure, ProofStep

__all__ = ["EGraphSearch", "ordered", "price"]

_NOMINAL = 61
"""The size of a named dimension when costs are compared, as in the algebra."""
_WEIGHT_OF_FLOPS = 0.5
"""All flops of the graph together weigh as much as half an operation."""
_LONGEST_SHORTENED = 60
"""The most steps of a proof that is made shorter, which takes another proof for each step."""


class EGraphSearch:
    """An e-graph over `roots`, grown by rules.

    Parameters
    ----------
    roots : sequence of Node
    leaves : iterable of Node
        Values that are computed elsewhere.
    varies : set of Node
        The nodes below the roots that depend on an input.
    rules : sequence of Rule
        The rules, those that shorten first.
    knowledge : Knowledge
    trust : "exact" or "rounding"
    bounds : SaturationBounds
    """

    def __init__(
        self,
        roots: Sequence[Node],
        leaves: Iterable[Node],
        varies: set[Node],
        rules: Sequence[Rule],
        knowledge: Knowledge,
        trust: Soundness,
        bounds: SaturationBounds,
    ) -> None:
        self.roots = tuple(roots)
        self.knowledge = knowledge
        self.trust: Soundness = trust
        self.bounds = bounds
        self.graph = EGraph(rules, leaves)
        self._is_leaf = self.graph.is_leaf
        self.instances: list[Equality] = []
        self._varies = dict.fromkeys(varies, True)
        self._superseded: dict[Node, None] = {}
        self._applied: set[tuple[str, Node]] = set()
        self._shrinks = [shrinks(rule) for rule in rules]
        for root in roots:
            self.graph.add(root)
        self._original = len(self.graph)

    # -- growing -----------------------------------------------------------------------------------
    def run(self) -> list[Node]:
        """A node equal to each root, at the least total cost found."""
        waiting: list[Match] = []
        for left in range(self.bounds.iterations, 0, -1):
            waiting += self.graph.matches()
            if not waiting:
                break
            room = max(self.bounds.nodes - len(self.graph), 0)
            waiting = self._grow(waiting, len(self.graph) + room // left)
        return self._cheapest()

    def _grow(self, matches: Sequence[Match], most: int) -> list[Match]:
        """Apply rules until there are `most` e-nodes; gives the matches that are left."""
        ranked = sorted(matches, key=lambda each: (not self._shrinks[each.rule], each.root, each))
        for i, match in enumerate(ranked):
            if len(self.graph) >= (self.bounds.nodes if self._shrinks[match.rule] else most):
                return ranked[i:]
            self._apply(match)
        return []

    def _apply(self, match: Match) -> None:
        found = instance_of(match, self.graph, self.knowledge, self.trust)
        if found is None or found.rule is None or (found.rule.name, found.left) in self._applied:
            return
        self._applied.add((found.rule.name, found.left))
        if found.rule.stable:
            self._superseded[found.left] = None
        self._note(found)

    def _note(self, instance: Equality) -> None:
        before = len(self.graph)
        self.graph.add(instance.left)
        self.graph.add(instance.right)
        if self.graph.place[instance.left] != self.graph.place[instance.right]:
            self.graph.unite(instance.left, instance.right)
        self.instances.append(instance)
        for node in self.graph.nodes[before:]:
            if not self._varying(node) and node.operands:
                number = with_constants_folded([node])[0]
                if number is not node and number.results == node.results:
                    self._note(Equality(None, node, number, "exact"))

    def _varying(self, node: Node) -> bool:
        found = self._varies.get(node)
        if found is None:
            inside = not self.graph.is_leaf(node)
            found = node.is_input or (inside and any(map(self._varying, node.operands)))
            self._varies[node] = found
        return found

    # -- the cheapest ------------------------------------------------------------------------------
    def _cheapest(self) -> list[Node]:
        classes = self.graph.classes()
        place = self.graph.place
        old = sum(price_of(node) for node in self.graph.nodes[: self._original])
        weight_of_flop = _WEIGHT_OF_FLOPS / max(old, 1.0)
        superseded = {self.graph.shape(node) for node in self._superseded}
        shapes: dict[object, None] = {}
        enodes: list[ENode] = []
        for i, node in enumerate(self.graph.nodes):
            shape = self.graph.shape(node)
            if shape in shapes or (shape in superseded and i >= self._original):
                continue
            shapes[shape] = None
            leaf = self.graph.is_leaf(node)
            below = () if leaf else tuple(classes[place[each]] for each in node.operands)
            weight = A_NODE
            if not leaf and self._varying(node):
                weight += node.op.count + weight_of_flop * price_of(node)
            enodes.append(ENode(node, classes[i], below, weight))
        choices = Choices(enodes, [classes[place[root]] for root in self.roots])
        choices.chosen = {own: ways[0] for own, ways in choices.ways.items()}
        found = extracted(choices, exact_below=self.bounds.exact_below)
        by_class = dict(zip(choices.roots, found, strict=True))
        return [by_class[classes[place[root]]] for root in self.roots]

    # -- the proof ---------------------------------------------------------------------------------
    def proof(self, new: Sequence[Node]) -> list[ProofStep]:
        """The instances of rules that lead from the roots to `new`, derived without egglog.

        Raises
        ------
        RewriteError
            If they do not lead there; then the e-graph is wrong.
        """
        used = self._steps_by(self.instances, new)
        if used is None:
            # A new node may be one that a leaf is computed from, so operands of leaves count now.
            self._is_leaf = _without_operands
            used = self._steps_by(self.instances, new)
        if used is None:
            raise RewriteError(
                "Equality saturation gave values that do not follow from the rules.",
                [f"{a!r} → {b!r}" for a, b in zip(self.roots, new, strict=True)],
                mend='The graph is unchanged; use strategy="greedy".',
            )
        # The proof may make detours: steps that it can do without are left out.
        for step in reversed(used):
            if len(used) > _LONGEST_SHORTENED:
                break
            fewer = self._steps_by([each[2] for each in used if each[2] is not step[2]], new)
            used = used if fewer is None else fewer
        return used

    def _steps_by(
        self, instances: Sequence[Equality], new: Sequence[Node]
    ) -> list[ProofStep] | None:
        """The steps from the roots to `new` by these instances; None if they do not lead there."""
        closure = Closure(self._is_leaf)
        ends = [end for each in instances for end in (each.left, each.right)]
        closure.add(ordered([*self.roots, *new, *ends], self._is_leaf))
        for instance in instances:
            closure.merge(instance)
        pairs = list(zip(self.roots, new, strict=True))
        if not all(closure.equal(before, after) for before, after in pairs):
            return None
        steps = [closure.steps(before, after) for before, after in pairs]
        return list({(a, b): (a, b, why) for each in steps for a, b, why in each}.values())


def _no_leaf(_node: Node) -> bool:
    return False


def _without_operands(node: Node) -> bool:
    return not node.operands or node.copy > 0


def ordered(outputs: Iterable[Node], is_leaf: Callable[[Node], bool] = _no_leaf) -> Iterator[Node]:
    """The nodes below the outputs, operands first, in an order that depends on the graph alone.

    Serial numbers would not do, for they depend on when a node was first made in this process.
    """
    done: set[Node] = set()
    stack = list(outputs)[::-1]
    while stack:
        top = stack[-1]
        missing = [] if is_leaf(top) else [each for each in top.operands if each not in done]
        if top in done:
            stack.pop()
        elif missing:
            stack.extend(reversed(missing))
        else:
            done.add(top)
            stack.pop()
            yield top


def price_of(node: Node) -> float:
    """The floating-point operations of one node, with named dimensions at a nominal size."""
    formula = node_flops(node)
    return float(resolve(formula, dict.fromkeys(names_of(formula), _NOMINAL)))


def price(outputs: Sequence[Node]) -> tuple[int, float]:
    """The number of operations, and of floating-point operations at nominal sizes."""
    nodes = varying(outputs)
    return sum(node.op.count for node in nodes), sum(map(price_of, nodes))
