"""How each value looks to its users: as an expression over the arrays below, or as one array.

A value whose region was written like an earlier one gets its expression only when one is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import is_

from ...ir.node import Node, on_operands
from ..expression.applied import NONE, IdentityNames
from ..expression.exps import exps_of
from ..expression.leaf_terms import leaf_expr
from ..expression.term import LOG, Atom, Expr
from ..extraction.use_counts import UseCounts
from ..lifting.lifting import Lifter
from ..normal_form.known_contractions import KnownContractions
from .memory import Exprs, RegionMemory
from .regions import ARGUMENTS, LOGARITHMS, SEEN_WHOLE, arrays_of

__all__ = ["NodeForms"]

_OF_EXPS = ARGUMENTS - LOGARITHMS
"""Operations that compute an exp."""


class NodeForms:
    """Expressions of values, and knowledge learned from them, in one walk over the graph.

    Parameters
    ----------
    memory : RegionMemory
    use_counts : UseCounts
    users : mapping
        How many nodes use a value.
    now : mapping
        The node as which each value is computed, as far as the walk has come.
    thorough : bool
        Learn from values with several users, too.
    """

    def __init__(
        self,
        memory: RegionMemory,
        use_counts: UseCounts,
        users: Mapping[Node, int],
        now: Mapping[Node, Node],
        *,
        thorough: bool,
    ) -> None:
        self.memory = memory
        self.lifter = memory.lifter
        self.use_counts = use_counts
        self.users = users
        self.now = now
        self.thorough = thorough
        self.contractions = KnownContractions(self.lifter.normal)
        self.opened: dict[Node, bool] = {}
        self.functions: dict[Atom, list[Node]] = {}
        self._seen: dict[Node, Expr] = {}
        self._near: dict[Node, Expr] = {}
        self._unlearned: dict[Node, list[Node]] = {}
        self._identities: dict[Node, IdentityNames] = {}

    # -- one array, or an expression ---------------------------------------------------------------
    def close(self, node: Node) -> None:
        """Show the value as one array from now on."""
        if len(node.results) == 1:
            self._seen[node] = self._leaf(node)
        self.opened[node] = False

    def open(self, node: Node, expr: Expr) -> None:
        """Show the value as this expression from now on."""
        if self.memory.licence is not None:
            self._note_licence(node)
        self._seen[node] = expr
        self.opened[node] = True

    def array(self, node: Node) -> Node | None:
        """The array as which its users see the value; None if they see an expression."""
        return None if self.opened[node] else self.now[node]

    def of(self, node: Node) -> Expr:
        """The expression as which its users see the value."""
        found = self._seen.get(node)
        return self._caught_up(node) if found is None else found

    def nearest(self, node: Node) -> Expr:
        """The expression over values with other users, if one was formed; else the usual one."""
        found = self._near.get(node)
        return self.of(node) if found is None else found

    def _leaf(self, node: Node) -> Expr:
        array = self.now[node]
        found = self.memory.leaf_exprs.get(array)
        if found is None:
            found = self.memory.leaf_exprs[array] = leaf_expr(self.lifter.atoms, array)
        return found

    # -- expressions -------------------------------------------------------------------------------
    def form(self, node: Node) -> Expr | None:
        """The value as an expression; None if it is an array."""
        if not Lifter.knows(node) or not self.use_counts.alive(node):
            return None
        expr = self._formed(node)
        if expr is not None and self._unlearned:
            arrays = arrays_of(expr)
            if any(array in self._unlearned for array in arrays):
                self._learn_of(arrays)
                return self._formed(node)
        return expr

    def _formed(self, node: Node) -> Expr | None:
        operands = [self.of(operand) for operand in node.operands]
        licence = self.memory.licence
        used = 0 if licence is None else licence.used
        expr = self._expr(node, operands, self.memory.exprs)
        if expr is not None:
            expr = self.contractions.recalled(expr)
            self._note_identities(node, self.memory.exprs[node][2])
        if licence is not None:
            self._note_licence(node, used)
        return expr

    # -- identities --------------------------------------------------------------------------------
    def _note_identities(self, node: Node, names: IdentityNames) -> None:
        """Record the identities behind an expression, including those behind its parts."""
        for each in node.operands:
            inside = self._identities.get(each)
            if inside is not None and self.opened.get(each):
                names |= inside
        if names:
            self._identities[node] = names

    def identities(self, node: Node) -> IdentityNames:
        """The identities by which the value equals its expression."""
        return self._identities.get(node, NONE)

    # -- the licence to cancel ---------------------------------------------------------------------
    @property
    def licence_uses(self) -> int:
        """The number of uses of the licence so far."""
        return 0 if self.memory.licence is None else self.memory.licence.used

    def _note_licence(self, node: Node, before: int | None = None) -> None:
        """Record a value whose expression depends on the licence: used since, or in an operand."""
        licence = self.memory.licence
        if licence is not None and (
            (before is not None and licence.used > before)
            or any(self.opened.get(each) and each in licence.values for each in node.operands)
        ):
            # The next round meets the new node of the value, and forms its expression from memory.
            licence.values.update((node, self.now[node]))

    def note_licensed(self, *nodes: Node) -> None:
        """Record values that depend on the licence to cancel."""
        if self.memory.licence is not None:
            self.memory.licence.values.update(nodes)

    def depends_on_licence(self, node: Node, before: int | None = None) -> bool:
        """Whether the value's expression depends on the licence, or the licence was used since."""
        licence = self.memory.licence
        if licence is None:
            return False
        return node in licence.values or (before is not None and licence.used > before)

    def near(self, node: Node, expr: Expr) -> Expr:
        """The expression over values with other users as arrays: these are computed anyway."""
        operands = [
            self._leaf(each) if self.users[each] > 1 else self._near.get(each, self._seen[each])
            for each in node.operands
        ]
        seen = map(self._seen.__getitem__, node.operands)
        if all(a is b for a, b in zip(operands, seen, strict=True)):
            return expr
        used = self.licence_uses
        found = self._expr(node, operands, self.memory.nears) or expr
        self._note_licence(node, used)
        return found

    def bring_near(self, node: Node, near: Expr) -> None:
        """Remember the expression of the value over values with other users."""
        self._near[node] = near

    def _expr(self, node: Node, operands: list[Expr], known: Exprs) -> Expr | None:
        computed = self._as_computed(node)
        before = known.get(computed)
        if before is not None and _are_same(before[0], operands):
            known[node] = before
            return before[1]
        expr, applied = None, self.lifter.normal.applied
        mark = applied.mark()
        with suppress(OverflowError):  # A number in it is too large for a float.
            expr = self.lifter.form(computed, operands)
        names = applied.since(mark)
        applied.take_back(mark)
        known[node] = known[computed] = (operands, expr, names)
        if node.op not in SEEN_WHOLE:
            known[self.now[node]] = (operands, expr, names)
        return expr

    def _as_computed(self, node: Node) -> Node:
        """The node over the arrays as which its operands are computed now.

        The expression may contain an operand as an array, such as the matrix of a linear system.
        The operand as it was before would be computed a second time.
        """
        if node.op not in SEEN_WHOLE:
            return node
        return on_operands(node, tuple([self.now[each] for each in node.operands]))

    # -- learning ----------------------------------------------------------------------------------
    def learn(self, node: Node, expr: Expr) -> None:
        """Remember the exps and logs in the value, and its expression, for users to meet them."""
        if node.op in _OF_EXPS:
            for atom in {each for term in expr for f in term.factors for each in exps_of(f.atom)}:
                self.functions.setdefault(atom, []).append(node)
        elif node.op in LOGARITHMS:
            for atom in {f.atom for term in expr for f in term.factors if f.atom.kind == LOG}:
                self.functions.setdefault(atom, []).append(node)
        closed = not self.opened[node]
        if not closed and not (expr and self.thorough and self.users[node] > 1):
            return
        if self.depends_on_licence(node):
            return  # The expression may be a number where the value is NaN.
        with suppress(OverflowError):
            if closed:
                self.contractions.learn(expr, self._seen[node])
            elif len(expr) > 1:
                self.contractions.learn_sum(expr, self.now[node])
            else:
                self.contractions.learn_product(expr, self.now[node])

    def is_learned(self, node: Node, expr: Expr) -> bool:
        """Whether `learn` has anything to remember."""
        shared = self.thorough and self.users[node] > 1
        return shared or node.op in ARGUMENTS or not self.opened[node]

    def learn_later(self, node: Node, array: Node) -> None:
        """Learn from the value once an expression contains this array."""
        self._unlearned.setdefault(array, []).append(node)

    def _learn_of(self, arrays: list[Node]) -> None:
        for array in arrays:
            for node in self._unlearned.pop(array, ()):
                expr = self._formed(node)
                if expr is not None:
                    self.of(node)
                    self.learn(node, expr)

    def _caught_up(self, node: Node) -> Expr:
        """The expression of a value whose region was written without forming it."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [each for each in top.operands if self.opened[top] and each not in self._seen]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            expr = self._formed(top) if self.opened[top] else None
            self._seen[top] = self._leaf(top) if expr is None else expr
        return self._seen[node]


def _are_same(before: Sequence[Expr], operands: Sequence[Expr]) -> bool:
    """Whether a value is of the operands it was, of which another spelling may have more."""
    return len(before) == len(operands) and all(map(is_, before, operands))
