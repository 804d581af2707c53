"""The pass: every region normalised and written anew, kept where it got cheaper or stable.

Nodes are visited once, operands first. Each gets its expression from those of its operands; where
a region ends (an output, a closed node, an operand of an operation the algebra does not know) the
expression is written out on the arrays below, and takes the place of the old nodes if it costs
less, what lives anyway counted as free. Ties keep what the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from ...ir.fact_inference import Knowledge
from ...ir.node import Node, on_operands, origin, reachable
from ...ops.movement import broadcast_to
from ..expression.exps import holds_exps
from ..expression.term import SUM, Atom, Expr
from ..extraction.cheapest import CheapestSpellings, rewritten
from ..extraction.use_counts import Price, UseCounts
from ..lifting.lifting import Lifter
from ..rational.polynomials import Polynomials
from ..rational.quotients import Quotients
from .lower_bound import least_count, plain_count
from .memory import RegionMemory, memory_of
from .multiples import Multiples
from .node_forms import NodeForms
from .poles import below_bounded, has_new_pole
from .regions import (
    ARGUMENTS,
    SELECTIONS,
    arrays_of,
    held_by,
    hides_much,
    is_closed,
    is_computed_from,
    is_trivial,
)
from .templates import Grade, Reasons, RegionOutcome, RegionShape, RegionShapes, places_of, template
from .vanishing import vanishes

__all__ = ["SMALL", "RewriteLog", "normalized"]

SMALL = 3_000
"""Nodes up to which a graph is simplified thoroughly, in rounds until nothing changes.

A larger graph is spared the rare spellings and the rounds that confirm them."""

_FEW = 200
"""Nodes up to which regions are not looked at for such as are built alike."""

_TINY = 1_000
"""Nodes up to which a region is written out even if it is as short as its arrays allow.

Parts of it may be computed anyway, which a bound on its length does not see."""


Ended: TypeAlias = tuple[list[Node], Price]
"""The arrays that any spelling of a region needs, and what the one it had cost."""


class RewriteLog(Protocol):
    """Where rewrites are recorded."""

    def record(
        self, name: str, before: Node, after: Node, sound: Grade, /, *, identities: Sequence[str]
    ) -> Any: ...


def normalized(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: str = "rounding",
    log: RewriteLog | None = None,
    thorough: bool = True,
    at_kinks: bool = True,
    afresh: bool = False,
    late: bool = False,
) -> list[Node]:
    """The outputs with every algebra region in its cheapest spelling found.

    Parameters
    ----------
    outputs : sequence of Node
    knowledge : Knowledge
        Facts that license cancellation.
    trust : "exact", "rounding" or "domain"
        With "exact" nothing is done: the algebra changes digits. With "domain" it cancels what
        may be 0 or no number, too.
    log : optional
        Told of each region replaced.
    thorough : bool
        Try every spelling known, the rare ones too.
    at_kinks : bool
        Take spellings that have another slope at a kink: not before differentiating.
    afresh : bool
        Forget earlier rounds: what they gave up may be cheaper now, and the order in which arrays
        were first met decides between spellings of one cost.
    late : bool
        Nothing more shortens a region as a whole: written over the values inside that have other
        users too, each as one array, and over nothing else, it may be shorter than it is.
    """
    if trust == "exact":
        return list(outputs)
    if late and len(reachable(outputs)) > _TINY:
        return list(outputs)  # It would gain little, and take as long as all before.
    memory = memory_of(knowledge, trust=trust, at_kinks=at_kinks, afresh=afresh)
    current = list(outputs)
    walk = RegionPass(current, memory, log, thorough=thorough, late=late)
    current = walk.run()
    if walk.parted:
        memory.parted |= walk.parted
        current = RegionPass(current, memory, log, thorough=thorough, late=late, again=True).run()
    return current


class RegionPass:
    """One walk over the graph."""

    def __init__(
        self,
        outputs: Sequence[Node],
        memory: RegionMemory,
        log: RewriteLog | None,
        *,
        thorough: bool,
        late: bool,
        again: bool = False,
    ) -> None:
        self.outputs = list(outputs)
        self.log = log
        self.memory = memory
        self.lifter = memory.lifter
        self.kept = memory.kept_late if late else memory.kept
        self.nodes = reachable(outputs)
        self.below_bounded = below_bounded(self.nodes)
        self.use_counts = UseCounts(outputs, self.nodes)
        self.thorough = thorough
        self.patient = len(self.nodes) <= _TINY
        self.late = late
        self.again = again
        self.users: dict[Node, int] = dict.fromkeys(self.nodes, 0)
        self.ends: set[Node] = set(outputs)
        self.arguments: set[Node] = set()
        self.lifted: set[Node] = {node for node in self.nodes if Lifter.knows(node)}
        for node in self.nodes:
            opened = node in self.lifted and node.op not in SELECTIONS
            for operand in dict.fromkeys(node.operands):
                self.users[operand] += 1
                if not opened:
                    self.ends.add(operand)
                elif node.op in ARGUMENTS:
                    self.arguments.add(operand)
        self.ends.update(memory.parted & self.users.keys())
        self.parted: set[Node] = set()
        self.split: set[Node] = set()  # regions whose parts are among the parted
        self.postponed: set[Node] = set()
        for output in outputs:
            self.users[output] += 1
        for node in reversed(self.nodes):
            # What is repeated for several users is one array to them before it is repeated.
            if node.op is broadcast_to.op and self.users[node] > 1:
                self.users[node.operands[0]] += 1
        self.now: dict[Node, Node] = {}
        self.node_forms = NodeForms(
            memory, self.use_counts, self.users, self.now, thorough=thorough
        )
        self.contractions = self.node_forms.contractions
        self.spellings = CheapestSpellings(
            self.lifter.normal,
            self.contractions,
            self.use_counts,
            self.users,
            memory.judge,
            memory.tried,
        )
        self.multiples = Multiples(self.lifter.normal, self.spellings)
        self.used = 0  # leave taken before the node that is looked at now
        self._placed: set[Node] = set()  # written into the graph by this walk
        self._reasons: dict[Node, Reasons] = {}  # of each value that took the place of another
        self.shapes = RegionShapes(self.lifter.atoms.knowledge)
        self.polynomials = Polynomials(self.lifter.atoms)
        self.quotients = Quotients(self.lifter.atoms)

    def run(self) -> list[Node]:
        for node in self.nodes:
            self._visit(node)
        return [self.now[output] for output in self.outputs]

    def _visit(self, node: Node) -> None:
        self.used = self.node_forms.used
        self.now[node] = self._rebuilt(node)
        if self.thorough:
            self.polynomials.learn(node)
            self.quotients.learn(node)
        shape = self._shape(node)
        if shape is not None and self._as_before(node, shape):
            return
        node_forms = self.node_forms
        expr = node_forms.form(node)
        moved = self._moved(node) if expr is None else None
        if moved is not None and self.late:
            node_forms.bring_near(node, moved)
        elif moved is not None:
            expr = moved
        if node in self.below_bounded and has_new_pole(node_forms.identities(node)):
            expr = None
        if expr is None:
            node_forms.close(node)
            return
        closed = self._closed(node, expr)
        trivial = is_trivial(node, [node_forms.opened[each] for each in node.operands])
        trivial = trivial and not (self.thorough and self._reaches(node))
        # A value with several users is written at its best: alone, none of them would change it.
        shared = self.users[node] > 1
        wanted = (closed or shared or node in self.ends) and not trivial
        looked = self.late or (self.patient and moved is None)
        near = node_forms.near(node, expr) if looked else expr
        before, ended = self.now[node], None
        if wanted and not self.late:
            also = [] if near is expr or hides_much(near, expr) else [near]
            ended = self._end(node, expr, also)
        elif wanted and near is not expr:
            ended = self._end(node, near)
        if looked and not (closed and self._closed(node, near)):
            # Long over the inputs, short over the arrays there are.
            node_forms.bring_near(node, near)
        if closed:
            node_forms.close(node)
        else:
            node_forms.open(node, expr)
        node_forms.learn(node, expr)
        if self.patient:
            self.spellings.learn(self.now[node])
        if shape is not None and expr:
            self._note(node, expr, shape, ended, written=self.now[node] is not before)

    @property
    def _sparing(self) -> bool:
        """Whether to look only where much is found.

        Where shapes repeat, what one region takes is spent for all of its shape.
        """
        return not self.thorough and not self.shapes.pays

    def _closed(self, node: Node, expr: Expr) -> bool:
        users, argument = self.users[node], node in self.arguments
        return is_closed(expr, users, argument, early=self._sparing)

    def _moved(self, node: Node) -> Expr | None:
        """The value over others of its operation, by a law that the operation obeys."""
        if self.thorough and Multiples.knows(node) and self.use_counts.alive(node):
            with suppress(OverflowError):
                return self.multiples.form(
                    node, self.node_forms.nearest if self.late else self.node_forms.of
                )
        return None

    # -- regions of one shape ----------------------------------------------------------------------
    def _about(self, node: Node) -> Any:
        """What of a node's surroundings decides what is done with it."""
        origin = node.origin
        gradient = (origin.adjoint_of is not None, origin.shared)
        return (self.users[node] > 1, node in self.ends, node in self.arguments, gradient)

    def _shape(self, node: Node) -> RegionShape | None:
        if self.late or len(self.nodes) <= _FEW or not self.shapes.pays:
            return None
        if node not in self.lifted or not self.use_counts.alive(node):
            return None
        arrays = [self.node_forms.array(each) for each in node.operands]
        return self.shapes.of(node, arrays, self._about(node))

    def _note(
        self, node: Node, expr: Expr, shape: RegionShape, ended: Ended | None, *, written: bool
    ) -> None:
        """Keep what was done with a region, for others of its shape; if that can be told."""
        held, saved = ended or ([], None)
        places = places_of(held, shape.leaves)
        instead = template(self.now[node], shape.leaves) if written else None
        arrays = arrays_of(expr) if self.node_forms.is_learned(node, expr) else []
        newest = max(arrays, key=lambda each: each.serial, default=None)
        known_by = places_of([] if newest is None else [newest], shape.leaves)
        if places is None or known_by is None or (written and instead is None):
            return
        closed = not self.node_forms.opened[node]
        reasons = self._reasons.get(self.now[node]) if written else None
        split = node in self.split
        self.shapes.keep(
            shape, RegionOutcome(closed, places, saved, instead, known_by, split, reasons)
        )

    def _as_before(self, node: Node, shape: RegionShape) -> bool:
        """Do with a region what was done with the first of its shape; whether that was right."""
        outcome = self.shapes.outcome(shape)
        if outcome is None:
            return False
        if outcome.saved is not None:
            held = self.use_counts.hold([shape.leaves[place] for place in outcome.held])
            right = self._written_as_before(node, outcome, shape)
            self.use_counts.let_go(held)
            if not right:
                return False
        if outcome.split:
            self._parts(node)
        self.node_forms.opened[node] = not outcome.closed
        for place in outcome.known_by:
            self.node_forms.learn_later(node, shape.leaves[place])
        return True

    def _written_as_before(self, node: Node, outcome: RegionOutcome, shape: RegionShape) -> bool:
        saved = self.use_counts.suspend(node)
        if saved != outcome.saved or outcome.instead is None:
            self.use_counts.resume(node)
            return saved == outcome.saved
        old = self.now[node]
        with origin(rewritten(node)):
            new = outcome.instead.over(shape.leaves)
        if new is old or is_computed_from(new, old) or self.memory.judge.loses(new, old):
            right = False
        else:
            right = self._replaced(node, new, lambda spent: spent < saved, outcome.reasons)
        if not right:
            self.use_counts.resume(node)
        return right

    def _rebuilt(self, node: Node) -> Node:
        rebuilt = on_operands(node, tuple([self.now[operand] for operand in node.operands]))
        if rebuilt is not node:
            self.use_counts.same(rebuilt, node)
        return rebuilt

    # -- the end of a region -----------------------------------------------------------------------
    def _end(self, node: Node, expr: Expr, also: Sequence[Expr] = ()) -> Ended:
        # Any spelling needs the arrays below: held, they bound the walk that prices the old one.
        needed = held_by(expr)
        held = self.use_counts.hold(needed)
        saved = self._respelled(node, expr, also)
        self.use_counts.let_go(held)
        return needed, saved

    def _respelled(self, node: Node, expr: Expr, also: Sequence[Expr]) -> Price:
        """The node in its cheapest spelling; what the one it had costs."""
        saved = self.use_counts.suspend(node)
        polynomial = self._polynomial(node, saved)
        if not polynomial and self._hopeless(node, expr, saved):
            self.use_counts.resume(node)
            return saved
        options = [*([expr] if self.late else self._options(expr)), *also, *polynomial]
        if not self._taken(node, expr, saved, options):
            self._keep(node, saved)
        return saved

    def _taken(self, node: Node, expr: Expr, saved: Price, options: list[Expr]) -> bool:
        """Whether a suspended node is put back as the best of these: if that is a gain."""
        old = self.now[node]
        spelled = self.spellings.cheapest(node, old, options)
        new = spelled.node
        # What its parts are rescued to may have more digits than what the whole is.
        postponed = (spelled.refused or spelled.rescued) and not self.again and self._parts(node)
        if postponed and spelled.rescued:
            self.postponed.add(node)
            return False
        if new is None or new is old or is_computed_from(new, old):
            return False
        if self.memory.licence is None and vanishes(node, new, self.lifter.atoms.knowledge):
            return False
        # A late look goes on for long if it may take what is only fewer constants and reshapes.
        parts = 2 if self.late else 3
        return self._replaced(
            *(node, new), lambda spent: spelled.rescued or spent[:parts] < saved[:parts]
        )

    def _parts(self, node: Node) -> bool:
        """Have the values inside a region written each for itself; whether that is new."""
        stack, found = [node], set[Node]()
        while stack:
            for each in stack.pop().operands:
                if self.node_forms.opened.get(each) and each not in self.ends and each not in found:
                    found.add(each)
                    stack.append(each)
        self.parted |= found
        if found:
            self.split.add(node)
        return bool(found)

    def _replaced(
        self, node: Node, new: Node, gain: Callable[[Price], bool], reasons: Reasons | None = None
    ) -> bool:
        """Whether a suspended node is put back as another: if what that costs is a gain.

        The reasons are those of the first region of its shape, if it is written as that one was.
        """
        self.use_counts.replace(node, new)
        if gain(self.use_counts.resume(node)):
            why = reasons or Reasons(self._identities(node, new), self._grade(node))
            if self.log is not None:
                names = why.identities
                self.log.record("algebra", self.now[node], new, why.grade, identities=names)
            self._reasons[new] = why
            if reasons is not None and why.grade == "domain":
                self.node_forms.note_leave(node, new)
            self.now[node] = new
            return True
        self.use_counts.suspend(node)
        self.use_counts.forget(node)
        return False

    def _identities(self, node: Node, new: Node) -> tuple[str, ...]:
        """The identities by which a value is another: of its normal form and of its writing."""
        found = set(self.node_forms.identities(node))
        stack = [new]
        while stack:
            each = stack.pop()
            if each in self._placed or each in self.users:
                continue
            self._placed.add(each)
            found.update(self.spellings.written_by(each))
            stack.extend(each.operands)
        return tuple(sorted(found))

    def _grade(self, node: Node) -> Grade:
        return "domain" if self.node_forms.rests_on_leave(node, self.used) else "rounding"

    def _keep(self, node: Node, saved: Price) -> None:
        self.use_counts.resume(node)
        if node not in self.postponed:
            self.kept[self.now[node]] = saved

    def _hopeless(self, node: Node, expr: Expr, saved: Price) -> bool:
        """Whether nothing is to be gained: tried before, or as short as factors allow."""
        if self.kept.get(self.now[node]) == saved:
            return True
        if self.patient and any(term.bound for term in expr):
            return False  # One contraction may be another that is less work.
        # A sum that is computed anyway may be contracted as one array.
        joint = self.thorough and any(
            term.bound and (len(expr) > 1 or any(f.atom.kind == SUM for f in term.factors))
            for term in expr
        )
        least = least_count(expr, self._has_exp)
        if saved[0] > (min(1, least) if joint or self.patient else least) and not (
            self._sparing and plain_count(expr, self._has_exp) > saved[0]
        ):
            return False
        return not holds_exps(expr) or not self.memory.judge.fails(self.now[node])

    def _polynomial(self, node: Node, saved: Price) -> list[Expr]:
        """The value as a polynomial in one array, or a quotient of them, where that is shorter."""
        if not self.thorough or self.kept.get(self.now[node]) == saved:
            return []
        found = self.polynomials.shorter(node, saved[0])
        forms = [self.polynomials.written(self.now[array], form) for array, form in found]
        quotient = self.quotients.shorter(node, saved[0])
        if quotient is not None:
            forms.append(self.quotients.written(quotient, self.now.__getitem__))
        return forms

    def _reaches(self, node: Node) -> bool:
        """Whether a value may be shorter over arrays that are none of its operands."""
        return self.polynomials.reaches(node) or self.quotients.reaches(node)

    def _has_exp(self, atom: Atom) -> bool:
        """Whether an exp is computed anyway, as far as it is worth while to look."""
        return self.thorough or any(map(self.use_counts.alive, self.node_forms.exps.get(atom, ())))

    def _options(self, expr: Expr) -> list[Expr]:
        """The expression, and what it is with sums opened, and products and contractions known."""
        self.lifter.normal.applied.take_back(0)
        options = [expr]
        with suppress(OverflowError):
            opened = self.lifter.normal.expanded(expr)
            if opened is not None:
                options.append(self.contractions.recalled(opened))
        if self.thorough:
            with suppress(OverflowError):
                given = self.contractions.with_products(expr, self.use_counts.alive)
                if given is not expr:
                    options.append(given)
                uncut = self.contractions.uncut(expr)
                if uncut is not None:
                    options.append(uncut)
        return options
