"""Which nodes form a region, and where a region is cut so that work stays linear in the graph.

A node is *closed* if its users see it as one array. These nodes are closed: operations that the
algebra does not know; products summed over an index with several users, above all the cotangents of
reverse mode; sums of many terms with several users; and any expression that has grown long. All
other nodes are *opened*: each user sees their expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, starmap

from ...ir.node import Node
from ...ops.along_axis import add_along_axis
from ...ops.choice import where
from ...ops.creation import DIMENSION, eye
from ...ops.elementwise import absolute, sign
from ...ops.exponential import softplus
from ...ops.indexing import embed
from ...ops.linalg import inv, solve
from ..expression.exps import exps_of
from ..expression.leaf_terms import has_number
from ..expression.powers import exponents_related, lowered_power
from ..expression.roles import (
    is_choice,
    is_difference,
    is_exponential,
    is_logarithm,
    is_negation,
    is_odd,
    is_power,
    is_product,
    is_sum,
    ops_with,
)
from ..expression.term import (
    EXP,
    LEAF,
    LOG,
    SUM,
    Atom,
    Expr,
    Term,
    weight,
)

__all__ = [
    "ARGUMENTS",
    "EXPONENTIALS",
    "LOGARITHMS",
    "SEEN_WHOLE",
    "SELECTIONS",
    "arrays_of",
    "held_by",
    "hides_much",
    "is_closed",
    "is_computed_from",
    "is_trivial",
]

_MANY_TERMS = 6
_LONG = 8
_LONGEST = 14
_HEAVIEST = 24
_LONG_ARGUMENT = 9


LOGARITHMS = ops_with(is_logarithm)
EXPONENTIAL_SUMS = ops_with(lambda op: op.traits.exponential_sum)
EXPONENTIALS = ops_with(is_exponential)
ARGUMENTS = LOGARITHMS | EXPONENTIAL_SUMS | EXPONENTIALS
"""Operations whose expression contains their argument: a long argument stays closed."""

_MERGING = ops_with(
    lambda op: op.traits.angle is not None and op.traits.angle.part != "tangent"
) | {*(sign.op, absolute.op, inv.op, embed.op)}
"""Operations whose results may combine into another operation on the same operand."""

SELECTIONS = frozenset({where.op, add_along_axis.op})
"""Operations that seldom have an expression, so their operands are written out anyway."""

SEEN_WHOLE = SELECTIONS | LOGARITHMS | {inv.op, solve.op, softplus.op}
"""Operations whose expression depends on which nodes are operands, not only on their values."""


def is_closed(expr: Expr, users: int, argument: bool, *, early: bool = False) -> bool:
    """Whether the users of a node with this expression see it as one array.

    Parameters
    ----------
    expr : Expr
    users : int
        How many nodes use it (an output counts as one more).
    argument : bool
        Whether one of them is in `ARGUMENTS`.
    early : bool
        Close at half the length and half the weight.
    """
    heavy, part = weight(expr), 2 if early else 1
    length = part * _length(expr)
    if length > _LONGEST or (users > 1 and length > _LONG) or part * heavy > _HEAVIEST:
        return True
    if argument and heavy > _LONG_ARGUMENT:
        return True
    if users > 1 and len(expr) >= _MANY_TERMS:
        return True
    return users > 1 and any(_is_contraction(term) for term in expr)


def hides_much(near: Expr, expr: Expr) -> bool:
    """Whether inner values as arrays hide a sum of exps or a product of matrices.

    `near` is the expression over such values, `expr` the expression over the region's arrays.
    """
    if not _of_exps(expr) <= _of_exps(near):
        return True
    return any(
        sum(len(f.idx) > 1 and any(i < 0 for i in f.idx) for f in term.factors) > 1 for term in expr
    )


def _of_exps(expr: Expr) -> set[Atom]:
    atoms = {f.atom for term in expr for f in term.factors}
    return {atom for atom in atoms if atom.kind in (SUM, LOG) and exps_of(atom)}


def _length(expr: Expr) -> int:
    """The number of factors in all terms, each term of a lazy sum counted."""
    length = 0
    for term in expr:
        for factor in term.factors:
            atom = factor.atom
            length += len(atom.expr) if atom.kind == SUM else 1
    return length


def _is_contraction(term: Term) -> bool:
    """Whether a bound index contracts factors; sums of exps and of one array do not count."""
    if not term.bound:
        return False
    inside = [f for f in term.factors if any(index < 0 for index in f.idx)]
    if all(f.atom.kind == EXP for f in inside):
        return False
    return len(inside) > 1 or any(f.power != 1 for f in inside)


def arrays_of(expr: Expr) -> list[Node]:
    """The arrays of an expression, including those inside closed atoms."""
    return list(_uses_of_arrays(expr))


def _uses_of_arrays(expr: Expr) -> dict[Node, int]:
    """For each array the number of factors that it is."""
    found: dict[Node, int] = {}
    seen: set[int] = set()
    queue = [expr]
    while queue:
        for term in queue.pop():
            for factor in term.factors:
                atom = factor.atom
                if atom.kind == LEAF and atom.base is None:
                    found[atom.node] = found.get(atom.node, 0) + 1
                elif atom.kind in (SUM, EXP, LOG) and id(atom) not in seen:
                    seen.add(id(atom))
                    queue.append(atom.expr)
    return found


def held_by(expr: Expr) -> list[Node]:
    """The arrays that any spelling of an expression needs.

    sin(x) cos(x) may become sin(2 x), so it needs only x. A difference inside an odd function may
    be reversed, so only its two parts are needed. x**(a - 1) with one use may become x**a and needs
    x and a; x**y x**z needs x, y and z, and so do x**y z**y and x**y z**(1 - y).
    """
    found: list[Node] = []
    arrays = _uses_of_arrays(expr)
    powers = {node for node in arrays if node.op.traits.raises}
    for node, uses in arrays.items():
        if node in powers:
            joins = any(_may_join(node, other) for other in powers)
            kept = not joins and (uses > 1 or lowered_power(node) is None)
        else:
            kept = True
        if kept and not _merges(node):
            found.append(node)
            continue
        for operand in node.operands:
            found.extend(operand.operands if _changes_inside(node, operand) else (operand,))
    return found


def _may_join(power: Node, other: Node) -> bool:
    """Whether two powers may become one: x**y x**z or x**y z**y."""
    (x, y), (base, z) = power.operands, other.operands
    return power is not other and (x is base or exponents_related(y, z) is not None)


def _changes_inside(node: Node, operand: Node) -> bool:
    """Whether an operand is written anew when the operation absorbs a sign or a number."""
    if is_choice(node):
        return is_product(operand)
    if is_power(node):
        return operand is node.operands[1]
    return _turns(node)


def _merges(node: Node) -> bool:
    if is_choice(node):
        return all(has_number(each) for each in node.operands[1:])
    op = node.op
    return op in _MERGING or (bool(op.traits.parity) and _turns(node))


def _turns(node: Node) -> bool:
    """Whether it is an odd function of a difference, which may absorb a sign."""
    return is_odd(node) and is_difference(node.operands[0])


def is_trivial(node: Node, opened: Sequence[bool]) -> bool:
    """Whether a region is one operation on different arrays, so that nothing can be gained."""
    if any(opened) or len(set(node.operands)) < len(node.operands):
        return False
    if is_sum(node) and all(each.op is embed.op for each in node.operands):
        return False
    if is_choice(node):
        return False
    powers = [each for each in node.operands if each.op.traits.raises]
    if len(powers) > 1 and any(starmap(_may_join, combinations(powers, 2))):
        return False
    if is_negation(node) and _merges(node.operands[0]):
        return False
    return not any(_is_plain(operand) for operand in node.operands)


def _is_plain(node: Node) -> bool:
    return node.is_constant or node.op in (DIMENSION, eye.op)


def is_computed_from(node: Node, on: Node) -> bool:
    """Whether `node` is computed from `on`. Operands have lower serials than their users."""
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
