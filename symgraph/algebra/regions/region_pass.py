"""One walk: writes every region of the graph anew, and keeps the result if it is cheaper or safer.

Nodes are visited once, operands first. The expression of each node is formed from those of its
operands. A region ends at an output, at a closed node, and at an operand of an operation that the
algebra does not know. There the expression is written as nodes over the arrays below, and these
replace the old nodes if they cost less. Nodes that are computed anyway count as free. If the cost
is equal, the user's own spelling stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

from ...ir.node import Node
from ...ir.walks import reachable
from ..expression.exps import holds_exps
from ..expression.leaf_terms import leaf_expr
from ..expression.term import EXP, SUM, Atom, Expr
from ..extraction.cheapest import CheapestSpellings
from ..extraction.use_counts import Price, UseCounts, cost_beyond
from ..lifting.lifting import Lifter
from .borders import Borders
from .lower_bound import least_count, plain_count
from .memory import RegionMemory
from .multiples import Multiples
from .node_forms import NodeForms
from .options import options
from .poles import below_bounded, may_get_new_pole
from .rebuilt import RebuiltValues
from .regions import LOGARITHMS, held_by, hides_much, is_closed, is_computed_from, is_trivial
from .related_exps import RelatedExps, has_shifted_exponent
from .repeated import RepeatedRegions
from .replacements import Replacements, RewriteLog
from .vanishing import vanishes

__all__ = ["PATIENT_UP_TO", "RegionPass"]

PATIENT_UP_TO = 1_000
"""The most nodes of a graph in which a region is written out even if it is as short as its arrays
allow. Its parts may be computed anyway, which the lower bound on its length does not see."""

_MEETING_UP_TO = 150
"""The most nodes of a graph in which a region also ends where terms of a quotient meet."""

_TIES_UP_TO = 150
"""A late look over a larger graph takes no spelling that only has fewer constants and reshapes."""


Ended: TypeAlias = tuple[list[Node], Price]
"""The arrays that any spelling of a region needs, and the price of its old spelling."""


class RegionPass:
    """One walk over the graph.

    Parameters
    ----------
    outputs : sequence of Node
    memory : RegionMemory
    log : RewriteLog, optional
    thorough, late : bool
        As for `walks.normalized`.
    after : RegionPass, optional
        The first walk over the graph, if this is the second one, in which regions are not split any
        more. In a large graph it looks only at what the first one has split.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        memory: RegionMemory,
        log: RewriteLog | None,
        *,
        thorough: bool,
        late: bool,
        is_body: bool = False,
        after: RegionPass | None = None,
    ) -> None:
        lifter, judge = memory.lifter, memory.judge
        self.outputs, self.memory, self.lifter = list(outputs), memory, lifter
        self.thorough, self.late, self.again = thorough, late, after is not None
        self.kept = memory.kept_late if late else memory.kept
        self.nodes = nodes = reachable(outputs)
        self.patient = len(nodes) <= PATIENT_UP_TO
        self.meets = thorough and len(nodes) <= _MEETING_UP_TO
        self.below_bounded = below_bounded(nodes, outputs if is_body else ())
        self.postponed: set[Node] = set()
        self.settled: set[Node] = set()
        self.contested, self.shares = False, not self.patient
        self.now: dict[Node, Node] = {}
        self.use_counts = counts = UseCounts(outputs, nodes, memory.costs)
        self.borders = Borders(outputs, nodes, memory.parted)
        self.users = users = self.borders.users
        self.rebuilt = RebuiltValues(self.borders.used_by, self.now, counts)
        self.node_forms = forms = NodeForms(memory, counts, users, self.now, thorough=thorough)
        self.spellings = CheapestSpellings(
            lifter.normal, forms.contractions, counts, users, judge, memory.tried
        )
        self.multiples = Multiples(lifter.normal, self.spellings)
        self.replacements = Replacements(forms, self.now, counts, self.spellings, users, log)
        self.repeated = RepeatedRegions(
            *(self.borders, forms, self.replacements, counts, judge, lifter.atoms.knowledge),
            late=late,
        )
        self.polynomials, self.quotients = memory.polynomials, memory.quotients
        has_logs = any(node.op in LOGARITHMS for node in nodes)
        related = has_logs or any(map(has_shifted_exponent, nodes))
        self.related_exps = RelatedExps(memory, opens=has_logs) if related else None

        # Where regions end, for values that this walk does not look at.
        self.passed_by: dict[Node, bool] = {}
        if after is not None and not (thorough or self.patient):
            self.passed_by = self._settled_by(after)

    def _settled_by(self, first: RegionPass) -> dict[Node, bool]:
        """The values that the first walk has not split, and whether each is part of a region."""
        opened, now = first.node_forms.opened, first.now
        found = {node: node in self.borders.lifted for node in self.nodes}
        found.update({now[node]: is_open for node, is_open in opened.items() if node in now})
        for each in [*self.memory.parted, *[now[node] for node in first.borders.split]]:
            found.pop(each, None)
        return found

    def run(self) -> list[Node]:
        """The outputs, with the regions that were replaced."""
        for node in self.nodes:
            self._visit(node)
            self.rebuilt.note(node)
        return [self.now[output] for output in self.outputs]

    def _visit(self, node: Node) -> None:
        self.replacements.begin()
        self.spellings.told = []
        self.now[node] = self.rebuilt.of(node)
        is_open = self.passed_by.get(node)
        if is_open is not None:
            self.node_forms.opened[node] = is_open
            return
        if self.thorough:
            self.polynomials.learn(node)
            self.quotients.learn(node)
        structure = self.repeated.structure(node)
        if structure is not None and self.repeated.treated_as_first(node, structure):
            self.shares = True  # It was not looked at.
            return
        node_forms = self.node_forms
        expr = node_forms.form(node)
        moved = self._moved(node) if expr is None else None
        if moved is not None and self.late:
            node_forms.bring_near(node, moved)
        elif moved is not None:
            expr = moved
        if node in self.below_bounded and may_get_new_pole(node_forms.identities(node), expr):
            expr = None
        if expr is None:
            node_forms.close(node)
            return
        closed, before = self._closed(node, expr), self.now[node]
        ended = self._ended(
            node, expr, closed, looked=self.late or (self.patient and moved is None)
        )
        if closed:
            node_forms.close(node)
        else:
            node_forms.open(node, expr)
        node_forms.learn(node, expr)
        if closed and self.now[node] is not before and self._shown_anew(node):
            structure = None  # Other regions of its structure would be closed.
        if self.patient:
            self.spellings.learn(self.now[node])
        if structure is not None and expr and not self.spellings.told:
            needed, price = ended or ([], None)
            written = self.now[node] is not before
            self.repeated.keep(node, expr, structure, needed, price, written=written)

    def _shown_anew(self, node: Node) -> bool:
        """Show a closed value by its new spelling, if that is one term over an array.

        A sum of sums joins them to one. Its user, a longer sum, then does the same in this walk.
        """
        new = self.now[node]
        if len(new.operands) != 1 or not Lifter.knows(new):
            return False
        expr = self.lifter.form(new, [leaf_expr(self.lifter.atoms, new.operands[0])])
        if expr is None or len(expr) != 1 or self._closed(node, expr):
            return False
        self.node_forms.open(node, expr)
        return True

    def _ended(self, node: Node, expr: Expr, closed: bool, *, looked: bool) -> Ended | None:
        """Write the node anew, if a region may end here.

        With `looked` it is also tried over values with other users, each as one array.
        """
        trivial = is_trivial(node, [self.node_forms.opened[each] for each in node.operands])
        trivial = trivial and not (self.thorough and self._reaches(node))
        # A value with several users gets its best spelling here: no single user would change it.
        shared = self.users[node] > 1
        wanted = closed or shared or node in self.borders.ends
        if not wanted and self.meets and node in self.quotients.dividing:
            wanted = self.quotients.meet_first_in(node)
        wanted &= not trivial
        near = self.node_forms.near(node, expr) if looked else expr
        if node in self.below_bounded and may_get_new_pole((), near):
            near = expr
        self.shares = self.shares or near is not expr or not looked
        ended = None
        if wanted and not self.late:
            also = [] if near is expr or hides_much(near, expr) else [near]
            ended = self._end(node, expr, also)
        elif wanted and near is not expr:
            ended = self._end(node, near)
        if looked and not (closed and self._closed(node, near)):
            # Over the inputs it is long; over arrays that are computed anyway it may be short.
            self.node_forms.bring_near(node, near)
        return ended

    @property
    def _sparing(self) -> bool:
        """Whether to look only where much is found.

        Where regions repeat, the effort for one region serves all of its structure.
        """
        return not self.thorough and not self.repeated.pays

    def _closed(self, node: Node, expr: Expr) -> bool:
        users, argument = self.users[node], node in self.borders.arguments
        return is_closed(expr, users, argument, early=self._sparing)

    def _moved(self, node: Node) -> Expr | None:
        """The value over other values of its operation, by a law such as f(-x) = -f(x); or None."""
        if self.thorough and Multiples.knows(node) and self.use_counts.alive(node):
            with suppress(OverflowError):
                return self.multiples.form(
                    node, self.node_forms.nearest if self.late else self.node_forms.of
                )
        return None

    # -- the end of a region -----------------------------------------------------------------------
    def _end(self, node: Node, expr: Expr, also: Sequence[Expr] = ()) -> Ended:
        # Any spelling needs the arrays below. While they are held, the walk that prices the old
        # spelling stops at them. What is computed for them alone counts against any other one.
        needed = held_by(expr)
        held, added = self.use_counts.hold(needed)
        saved = self._respelled(node, expr, also, needed, added)
        self.use_counts.let_go(held)
        return needed, saved

    def _respelled(
        self, node: Node, expr: Expr, also: Sequence[Expr], needed: list[Node], added: Price
    ) -> Price:
        """Write the node in its cheapest spelling; the price of its old spelling."""
        saved = cost_beyond(self.use_counts.suspend(node), added)
        polynomial = self._polynomial(node, saved)
        if not polynomial and self._hopeless(node, expr, saved, needed):
            self.use_counts.resume(node)
            return saved
        options = [*self._options(node, expr), *also, *polynomial]
        if not self._taken(node, saved, options, needed):
            self._keep(node, saved)
        return saved

    def _taken(self, node: Node, saved: Price, options: list[Expr], needed: list[Node]) -> bool:
        """Replace a suspended node by its best spelling, if that is a gain; whether it was."""
        old = self.now[node]
        # In a large graph a late look would go on for long over fewer constants and reshapes.
        parts = 3 if not self.late or len(self.nodes) <= _TIES_UP_TO else 2

        def is_gain(spent: Price) -> bool:
            return spent[:parts] < saved[:parts]

        spelled = self.spellings.cheapest(node, old, options, is_gain, needed, saved[0])
        if spelled.hopeless:
            self.settled.add(old)
        else:
            self.contested = True
        new = spelled.node
        # Rescued one by one, its parts may keep more digits than the whole region; and where the
        # best spelling is out, they may find more than the second best.
        even = new is not None and spelled.second and self.use_counts.price(new)[0] >= saved[0]
        postponed = (spelled.refused or spelled.rescued or even) and not self.again
        postponed = postponed and self._part(node)
        if postponed and (spelled.rescued or even):
            self.postponed.add(node)
            return False
        if new is None or new is old or is_computed_from(new, old):
            return False
        if self.memory.licence is None and vanishes(node, new, self.lifter.atoms.knowledge):
            return False
        return self.replacements.replace(
            *(node, new), lambda spent: spelled.rescued or is_gain(spent)
        )

    def _part(self, node: Node) -> bool:
        """Split the region of a node, as the next walk will see it; whether it has parts."""
        return self.borders.part(node, self.node_forms.opened)

    def _keep(self, node: Node, saved: Price) -> None:
        """Put a suspended node back as it was, and remember that nothing was to be gained."""
        self.use_counts.resume(node)
        if node not in self.postponed:
            self.kept[self.now[node]] = saved

    def _hopeless(self, node: Node, expr: Expr, saved: Price, needed: list[Node]) -> bool:
        """Whether nothing is to be gained: it was tried before, or is at the lower bound."""
        if self.kept.get(self.now[node]) == saved:
            return True
        if self.patient and any(term.bound for term in expr):
            return False  # Another contraction may be less work.
        # A sum may be computed anyway, and then be contracted as one array.
        joint = self.thorough and any(
            term.bound and (len(expr) > 1 or any(f.atom.kind == SUM for f in term.factors))
            for term in expr
        )
        least = least_count(expr, self._is_computed)
        if saved[0] > (min(1, least) if joint or self.patient else least) and not (
            self._sparing and plain_count(expr, self._is_computed) > saved[0]
        ):
            return False
        return not holds_exps(expr) or not self.memory.judge.fails_anew(self.now[node], needed)

    def _polynomial(self, node: Node, saved: Price) -> list[Expr]:
        """The value as a polynomial in one array or as a quotient of polynomials, if shorter."""
        if not self.thorough or self.kept.get(self.now[node]) == saved:
            return []
        found = self.polynomials.shorter(node, saved[0])
        forms = [self.polynomials.written(self.now[array], form) for array, form in found]
        quotient = self.quotients.shorter(node, saved[0])
        if quotient is not None:
            forms.append(self.quotients.written(quotient, self.now))
        return forms

    def _reaches(self, node: Node) -> bool:
        """Whether a value may be shorter over arrays other than its operands."""
        return self.polynomials.reaches(node) or self.quotients.reaches(node)

    def _is_computed(self, atom: Atom) -> bool:
        """Whether an exp or log is computed anyway; a thorough walk takes that of exps."""
        if self.thorough and atom.kind == EXP:
            return True
        return any(map(self.use_counts.alive, self.node_forms.functions.get(atom, ())))

    def _options(self, node: Node, expr: Expr) -> list[Expr]:
        """The expressions over which the region is written on trial."""
        self.lifter.normal.applied.take_back(0)
        found, self.spellings.told = options(
            self.node_forms,
            self.related_exps,
            expr,
            thorough=self.thorough,
            late=self.late,
            bounded=node in self.below_bounded,
        )
        return found
