"""The pass: every region normalised and written anew, kept where it got cheaper or stable.

Nodes are visited once, operands first. Each gets its expression from those of its operands; where a region ends
(an output, a closed node, an operand of an operation the algebra does not know) the expression is written out on
the arrays below, and takes the place of the old nodes if it costs less, what lives anyway counted as free. Ties
keep what the user wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..dag import Node, Origin, make, origin, reachable
from ..propagation import Knowledge
from .extract import Unwritable, Writer
from .forms import Forms, leaf_expr
from .heads import Heads, open_axes
from .pieces import Piece, Spelling
from .regions import is_closed, is_trivial
from .term import Expr
from .world import Cost, World

__all__ = ["RewriteLog", "normalized"]

_STABLE = frozenset(
    {"softmax", "log_softmax", "logsumexp", "sigmoid", "softplus", "log_sigmoid", "log1p", "expm1"}
)
_FORCED = _STABLE - {"log1p", "expm1"}


class RewriteLog(Protocol):
    """Where rewrites are recorded."""

    def record(self, name: str, before: Node, after: Node, /) -> Any: ...


def normalized(
    outputs: Sequence[Node],
    knowledge: Knowledge,
    *,
    trust: str = "rounding",
    log: RewriteLog | None = None,
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
    """
    if trust == "exact":
        return list(outputs)
    return _Pass(outputs, knowledge, log).run()


class _Pass:
    def __init__(
        self, outputs: Sequence[Node], knowledge: Knowledge, log: RewriteLog | None
    ) -> None:
        self.outputs = list(outputs)
        self.log = log
        self.forms = Forms(Heads(knowledge))
        self.world = World(outputs)
        self.nodes = reachable(outputs)
        self.users: dict[Node, int] = dict.fromkeys(self.nodes, 0)
        self.ends: set[Node] = set(outputs)
        for node in self.nodes:
            for operand in dict.fromkeys(node.operands):
                self.users[operand] += 1
                if not Forms.knows(node):
                    self.ends.add(operand)
        for output in outputs:
            self.users[output] += 1
        self.now: dict[Node, Node] = {}
        self.seen: dict[Node, Expr] = {}
        self.opened: dict[Node, bool] = {}

    def run(self) -> list[Node]:
        for node in self.nodes:
            self._visit(node)
        return [self.now[output] for output in self.outputs]

    def _visit(self, node: Node) -> None:
        rebuilt = self._rebuilt(node)
        self.now[node] = rebuilt
        expr = self._form(node)
        if expr is None:
            self._close(node)
            return
        closed = is_closed(expr, self.users[node])
        if closed or node in self.ends:
            if not is_trivial(node, [self.opened[each] for each in node.operands]):
                self._end(node, expr)
        if closed:
            self._close(node)
        else:
            self.seen[node] = expr
            self.opened[node] = True

    def _close(self, node: Node) -> None:
        if len(node.results) == 1:
            self.seen[node] = leaf_expr(self.forms.heads, self.now[node])
        self.opened[node] = False

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
        return self.forms.form(node, [self.seen[operand] for operand in node.operands])

    # -- the end of a region -------------------------------------------------------------------------
    def _end(self, node: Node, expr: Expr) -> None:
        old = self.now[node]
        saved = self.world.suspend(node)
        new = self._written(node, expr)
        if new is None or new is old or _depends(new, old):
            self.world.resume(node)
            return
        self.world.replace(node, new)
        spent = self.world.resume(node)
        if self._better(spent, saved) or self._steadier(node, old, new):
            self.now[node] = new
            if self.log is not None:
                self.log.record("algebra", old, new)
            return
        self.world.suspend(node)
        self.world.forget(node)
        self.world.resume(node)

    def _better(self, spent: Cost, saved: Cost) -> bool:
        return spent < saved

    def _steadier(self, node: Node, old: Node, new: Node) -> bool:
        """Whether the new spelling has a stable operation where the old one has not."""
        return bool(self._stable_ops(new) - self._stable_ops(old))

    def _stable_ops(self, root: Node) -> set[Node]:
        found: set[Node] = set()
        seen: set[Node] = {root}
        stack = [root]
        while stack and len(seen) < 200:
            node = stack.pop()
            if node.op.name in _FORCED:
                found.add(node)
            for operand in node.operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return found

    def _written(self, node: Node, expr: Expr) -> Node | None:
        spelling = Spelling(node.dtype, self.world.alive)
        axes = open_axes(node)
        for place, axis in enumerate(axes):
            spelling.sizes[place] = node.shape[axis]
        writer = Writer(
            self.forms.normal, spelling, self.world.price, self.world.size, range(len(axes))
        )
        made = Origin(node.origin.frames, node.origin.adjoint_of, "algebra")
        with origin(made):
            try:
                piece = writer.written(expr)
            except (Unwritable, OverflowError):
                return None
            return _shaped(spelling, piece, node)


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
