"""The pass: every region normalised and written anew, kept where it got cheaper or stable.

Nodes are visited once, operands first. Each gets its expression from those of its operands; where
a region ends (an output, a closed node, an operand of an operation the algebra does not know) the
expression is written out on the arrays below, and takes the place of the old nodes if it costs
less, what lives anyway counted as free. Ties keep what the user wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from ..facts import finite
from ..nodes import Node, Origin, make, origin, reachable
from ..propagation import Knowledge
from .extract import Unwritable, Writer
from .forms import Forms
from .heads import open_axes
from .leaves import leaf_expr
from .lower_bound import exps_of, holds_exps, least_count
from .memory import Exprs, Memory, memory_of
from .pieces import Piece, Spelling
from .polynomials import Polynomials
from .ranges import narrows
from .recall import Recall
from .regions import (
    ARGUMENTS,
    SELECTIONS,
    arrays_of,
    held_by,
    is_closed,
    is_trivial,
)
from .steadiness import can_overflow
from .term import Expr, Head
from .world import Cost, World

__all__ = ["SMALL", "RewriteLog", "normalized"]

_STEADY = frozenset({"logsumexp", "logaddexp", "log_softmax", "softmax", "softplus", "sigmoid"})
"""Spellings that stand for what overflows: not given up for a shorter one that does."""

_OF_EXPS = ARGUMENTS - {"log", "log1p"}
"""Operations that compute an exp."""

_SEEN_WHOLE = frozenset({"where", "add_along_axis", "solve", "softplus", "log"})
"""Operations whose expression tells of the nodes they are applied to, not of their values alone."""

SMALL = 3_000
"""Nodes up to which a graph is simplified thoroughly, in rounds until nothing changes.

A larger graph is spared the rare spellings and the rounds that confirm them."""

_TINY = 1_000
"""Nodes up to which a region is written out even if it is as short as its arrays allow.

Parts of it may be computed anyway, which a bound on its length does not see."""


class RewriteLog(Protocol):
    """Where rewrites are recorded."""

    def record(self, name: str, before: Node, after: Node, /) -> Any: ...


def normalized(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: str = "rounding",
    log: RewriteLog | None = None,
    thorough: bool = True,
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
        With "exact" nothing is done: the algebra changes digits.
    log : optional
        Told of each region replaced.
    thorough : bool
        Try every spelling known, the rare ones too.
    afresh : bool
        Forget earlier rounds: what they gave up may be cheaper now, and the order in which arrays
        were first met decides between spellings of one cost.
    late : bool
        Nothing more shortens a region as a whole: over the values inside that have other users
        too, each as one array, it may be shorter than it is.
    """
    if trust == "exact":
        return list(outputs)
    if late and len(reachable(outputs)) > _TINY:
        return list(outputs)  # It would gain little, and take as long as all before.
    return Pass(
        outputs, memory_of(knowledge, afresh=afresh), log, thorough=thorough, late=late
    ).run()


class Pass:
    """One walk over the graph."""

    def __init__(
        self,
        outputs: Sequence[Node],
        memory: Memory,
        log: RewriteLog | None,
        *,
        thorough: bool,
        late: bool,
    ) -> None:
        self.outputs = list(outputs)
        self.log = log
        self.memory = memory
        self.forms = memory.forms
        self.kept = memory.kept_late if late else memory.kept
        self.recall = Recall(self.forms.normal)
        self.nodes = reachable(outputs)
        self.world = World(outputs, self.nodes)
        self.thorough = thorough
        self.patient = len(self.nodes) <= _TINY
        self.late = late
        self.users: dict[Node, int] = dict.fromkeys(self.nodes, 0)
        self.ends: set[Node] = set(outputs)
        self.arguments: set[Node] = set()
        for node in self.nodes:
            for operand in dict.fromkeys(node.operands):
                self.users[operand] += 1
                if not Forms.knows(node) or node.op.name in SELECTIONS:
                    self.ends.add(operand)
                elif node.op.name in ARGUMENTS:
                    self.arguments.add(operand)
        for output in outputs:
            self.users[output] += 1
        self.spellings: dict[np.dtype[Any], Spelling] = {}
        self.now: dict[Node, Node] = {}
        self.seen: dict[Node, Expr] = {}
        self.near: dict[Node, Expr] = {}
        self.opened: dict[Node, bool] = {}
        self.exps: dict[Head, list[Node]] = {}
        self.polynomials = Polynomials(self.forms.heads)

    def run(self) -> list[Node]:
        for node in self.nodes:
            self._visit(node)
        return [self.now[output] for output in self.outputs]

    def _visit(self, node: Node) -> None:
        rebuilt = self._rebuilt(node)
        self.now[node] = rebuilt
        if self.thorough:
            self.polynomials.learn(node)
        expr = self._form(node)
        if expr is None:
            self._close(node)
            return
        if node.op.name in _OF_EXPS:
            for head in {each for term in expr for f in term.factors for each in exps_of(f.head)}:
                self.exps.setdefault(head, []).append(node)
        closed = is_closed(expr, self.users[node], node in self.arguments)
        trivial = is_trivial(node, [self.opened[each] for each in node.operands])
        trivial = trivial and not (self.thorough and self.polynomials.reaches(node))
        # A value with several users is written at its best: alone, none of them would change it.
        shared = self.users[node] > 1
        near = self._near(node, expr) if self.late else None
        wanted = (closed or shared or node in self.ends) and not trivial
        if wanted and near is not expr:
            self._end(node, expr if near is None else near)
        if closed:
            self._close(node)
            if near is not None and not is_closed(near, self.users[node], node in self.arguments):
                self.near[node] = near  # Long over the inputs, short over the arrays there are.
            with suppress(OverflowError):
                self.recall.learn(expr, self.seen[node])
        else:
            self.seen[node] = expr
            if near is not None:
                self.near[node] = near
            self.opened[node] = True
            if shared and expr and self.thorough:
                learn = self.recall.learn_sum if len(expr) > 1 else self.recall.learn_product
                with suppress(OverflowError):
                    learn(expr, self.now[node])

    def _close(self, node: Node) -> None:
        if len(node.results) == 1:
            self.seen[node] = self._leaf(node)
        self.opened[node] = False

    def _leaf(self, node: Node) -> Expr:
        array = self.now[node]
        found = self.memory.leaves.get(array)
        if found is None:
            found = self.memory.leaves[array] = leaf_expr(self.forms.heads, array)
        return found

    def _near(self, node: Node, expr: Expr) -> Expr:
        """The expression over values with other users as arrays: those are computed anyway."""
        operands = [
            self._leaf(each) if self.users[each] > 1 else self.near.get(each, self.seen[each])
            for each in node.operands
        ]
        seen = map(self.seen.__getitem__, node.operands)
        if all(a is b for a, b in zip(operands, seen, strict=True)):
            return expr
        return self._expr(node, operands, self.memory.nears) or expr

    def _rebuilt(self, node: Node) -> Node:
        operands = tuple([self.now[operand] for operand in node.operands])
        if operands == node.operands:
            return node
        with origin(node.origin):
            rebuilt = make(node.op, operands, node.params, node.copy)
        self.world.same(rebuilt, node)
        return rebuilt

    def _form(self, node: Node) -> Expr | None:
        if not Forms.knows(node) or not self.world.alive(node):
            return None
        operands = [self.seen[operand] for operand in node.operands]
        expr = self._expr(node, operands, self.memory.exprs)
        if expr is not None:
            with suppress(OverflowError):
                return self.recall.recalled(expr)
        return expr

    def _expr(self, node: Node, operands: list[Expr], known: Exprs) -> Expr | None:
        before = known.get(node)
        if before is not None and all(a is b for a, b in zip(before[0], operands, strict=True)):
            return before[1]
        expr = None
        with suppress(OverflowError):  # a number in it that no float is
            expr = self.forms.form(node, operands)
        known[node] = (operands, expr)
        if node.op.name not in _SEEN_WHOLE:
            known[self.now[node]] = (operands, expr)
        return expr

    # -- the end of a region -----------------------------------------------------------------------
    def _end(self, node: Node, expr: Expr) -> None:
        # Any spelling needs the arrays below: held, they bound the walk that prices the old one.
        held = self.world.hold(held_by(expr))
        self._respelled(node, expr)
        self.world.let_go(held)

    def _respelled(self, node: Node, expr: Expr) -> None:
        saved = self.world.suspend(node)
        polynomial = self._polynomial(node, saved)
        if not polynomial and self._hopeless(node, expr, saved):
            self.world.resume(node)
            return
        options = [*([expr] if self.late else self._options(expr)), *polynomial]
        if not self._taken(node, expr, saved, options):
            self._keep(node, saved)

    def _taken(self, node: Node, expr: Expr, saved: Cost, options: list[Expr]) -> bool:
        """Whether a suspended node is put back as the best of these: if that is a gain."""
        old = self.now[node]
        new, option = self._written(node, options)
        if new is None or new is old or _depends(new, old) or self._vanishes(node, expr):
            return False
        alive = self.world.alive
        shaky, was_shaky = can_overflow(new, alive), can_overflow(old, alive)
        steadier = was_shaky and not shaky
        if shaky and (old.op.name in _STEADY or not was_shaky):
            return False
        self.world.replace(node, new)
        spent = self.world.resume(node)
        if steadier or (spent < saved and not narrows(new, old, set(arrays_of(option)))):
            self.now[node] = new
            if self.log is not None:
                self.log.record("algebra", old, new)
            return True
        self.world.suspend(node)
        self.world.forget(node)
        return False

    def _vanishes(self, node: Node, expr: Expr) -> bool:
        """Whether what the user wrote would become 0 although an infinite input makes it NaN.

        In a gradient the terms that cancel are those of reverse mode; there 0 is the derivative.
        """
        if expr or (node.origin.adjoint_of is not None and not node.origin.shared):
            return False
        return not self.forms.heads.knowledge.of(node).has(finite)

    def _keep(self, node: Node, saved: Cost) -> None:
        self.world.resume(node)
        self.kept[self.now[node]] = saved

    def _hopeless(self, node: Node, expr: Expr, saved: Cost) -> bool:
        """Whether nothing is to be gained: tried before, or as short as factors allow."""
        if self.kept.get(self.now[node]) == saved:
            return True
        # A sum that is computed anyway may be contracted as one array.
        joint = self.thorough and any(
            term.bound and (len(expr) > 1 or any(f.head.kind == "sum" for f in term.factors))
            for term in expr
        )
        least = least_count(expr, self._has_exp)
        if self.patient and any(term.bound for term in expr):
            return False  # One contraction may be another that is less work.
        if saved[0] > (min(1, least) if joint or self.patient else least):
            return False
        return not holds_exps(expr) or not can_overflow(self.now[node], self.world.alive)

    def _polynomial(self, node: Node, saved: Cost) -> list[Expr]:
        """The value as a polynomial in one array, or a quotient of them, where that is shorter."""
        if not self.thorough or self.kept.get(self.now[node]) == saved:
            return []
        found = self.polynomials.shorter(node, saved[0])
        return [self.polynomials.written(self.now[array], form) for array, form in found]

    def _has_exp(self, head: Head) -> bool:
        """Whether an exp is computed anyway, as far as it is worth while to look."""
        return self.thorough or any(map(self.world.alive, self.exps.get(head, ())))

    def _options(self, expr: Expr) -> list[Expr]:
        """The expression, and what it is with sums opened, and products and contractions known."""
        options = [expr]
        with suppress(OverflowError):
            opened = self.forms.normal.expanded(expr)
            if opened is not None:
                options.append(self.recall.recalled(opened))
        if self.thorough:
            with suppress(OverflowError):
                given = self.recall.with_products(expr, self.world.alive)
                if given is not expr:
                    options.append(given)
                uncut = self.recall.uncut(expr)
                if uncut is not None:
                    options.append(uncut)
        return options

    def _written(self, node: Node, options: list[Expr]) -> tuple[Node | None, Expr]:
        """The cheapest spelling of any of these, and of which."""
        spelling = self.spellings.get(node.dtype)
        if spelling is None:
            spelling = Spelling(node.dtype, self.world.alive, self.users.__contains__)
            self.spellings[node.dtype] = spelling
        axes = open_axes(node)
        for place, axis in enumerate(axes):
            spelling.sizes[place] = node.shape[axis]
        writer = Writer(
            self.forms.normal,
            spelling,
            self.world.price,
            self.world.size,
            self.recall.sum_of,
            range(len(axes)),
        )
        made = Origin(node.origin.frames, node.origin.adjoint_of, "algebra")
        found: list[tuple[Node, Expr]] = []
        with origin(made):
            for option in options:
                with suppress(Unwritable, OverflowError):
                    found.append((_shaped(spelling, writer.written(option), node), option))
        if len(found) > 1:
            return min(found, key=lambda each: self.world.price(each[0]))
        return found[0] if found else (None, options[0])


def _depends(node: Node, on: Node) -> bool:
    """Whether `node` is computed from `on`; operands precede their consumers."""
    stack = [node]
    seen = {node}
    while stack:
        top = stack.pop()
        if top is on:
            return True
        for operand in top.operands:
            if operand.serial >= on.serial and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return False


def _shaped(spelling: Spelling, piece: Piece, node: Node) -> Node:
    """The piece in the shape of the node it replaces."""
    axes = open_axes(node)
    found = spelling.laid(piece, range(len(axes)))
    shape = node.shape
    if found.shape == shape:
        return found
    units = [axis for axis in range(-node.ndim, 0) if axis not in axes]
    if units:
        padded = (1,) * (len(axes) - found.ndim) + found.shape
        rest = iter(padded)
        wide = tuple([1 if axis in units else next(rest) for axis in range(-node.ndim, 0)])
        found = spelling.call("reshape", found, wide) if found.shape != wide else found
    return found if found.shape == shape else spelling.call("broadcast_to", found, shape)
