"""Which nodes form a region, and where it is cut so that work stays linear in the graph.

A node is *closed* if its consumers see it as one array: operations the algebra does not know, products of arrays
summed over an index with several users (above all the cotangents of reverse mode), sums of many terms with several
users, and whatever has grown long. All other nodes are opened by each of their consumers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dag import Node
from .term import Expr, Term, weight

__all__ = ["arrays_of", "is_closed", "is_trivial", "least_count"]

_MANY_TERMS = 6
_LONG = 14
_LONGEST = 28
_HEAVIEST = 64


def is_closed(expr: Expr, users: int) -> bool:
    """Whether a node of this form is seen by its consumers as one array.

    Parameters
    ----------
    expr : Expr
    users : int
        How many nodes use it (an output counts as one more).
    """
    length = sum([_length(term) for term in expr])
    if length > _LONGEST or (users > 1 and length > _LONG) or weight(expr) > _HEAVIEST:
        return True
    if users > 1 and len(expr) >= _MANY_TERMS:
        return True
    return users > 1 and any(_is_contraction(term) for term in expr)


def _length(term: Term) -> int:
    """Factors of a product, the terms of a lazy sum among them."""
    return sum([len(f.head.expr) if f.head.kind == "sum" else 1 for f in term.factors])


def _is_contraction(term: Term) -> bool:
    """Whether two factors or more share a bound index (sums of exps and of single arrays do not count)."""
    if not term.bound:
        return False
    inside = [f for f in term.factors if any(index < 0 for index in f.idx)]
    if all(f.head.kind == "exp" for f in inside):
        return False
    return len(inside) > 1 or any(f.power != 1 for f in inside)


def least_count(expr: Expr) -> int:
    """A number of operations below which no spelling is expected; 0 where a stable one may be due.

    n different arrays need n - 1 operations of two operands; each exp, power, number and lone sum needs one
    of its own, and so do logs and inverses.
    """
    arrays: dict[object, None] = {}
    single: dict[object, None] = {}
    queue: list[Expr] = [expr]
    seen: dict[object, None] = {}
    while queue:
        current = queue.pop()
        if len(current) > 1 and any(not term.factors for term in current):
            single[("number", id(current))] = None
        for term, coef in current.items():
            if term.factors and all(f.power < 0 for f in term.factors):
                single["inverse"] = None
            elif term.factors and abs(coef) != 1:
                single[("times", abs(coef))] = None
            for f in term.factors:
                if f.power not in (1, -1):
                    single[(f.head, f.power)] = None
                if f.head.kind == "leaf":
                    arrays[f.head] = None
                    continue
                if f.head.kind == "sum" and any(
                    g.head.kind in ("exp", "log") for t in f.head.expr for g in t.factors
                ):
                    return 0
                if f.head.kind in ("exp", "log"):
                    single[f.head if f.head.kind == "exp" else "log"] = None
                if f.head.kind in ("exp", "log", "sum") and f.head not in seen:
                    seen[f.head] = None
                    queue.append(f.head.expr)
            single.update(dict.fromkeys(_lone_sums(term)))
    return max(0, len(arrays) - 1 + len(single))


def _lone_sums(term: Term) -> list[object]:
    """What tells that an array is summed by itself."""
    if not term.bound:
        return []
    inside = [f for f in term.factors if any(index < 0 for index in f.idx)]
    return [("sum", inside[0].head, inside[0].power)] if len(inside) == 1 else []


def arrays_of(expr: Expr) -> list[Node]:
    """The arrays an expression is written over, those inside closed heads too."""
    found: dict[Node, None] = {}
    seen: set[int] = set()
    queue = [expr]
    while queue:
        for term in queue.pop():
            for factor in term.factors:
                head = factor.head
                if head.kind == "leaf":
                    found[head.node] = None
                elif head.kind in ("sum", "exp", "log") and id(head) not in seen:
                    seen.add(id(head))
                    queue.append(head.expr)
    return list(found)


def is_trivial(node: Node, opened: Sequence[bool]) -> bool:
    """Whether a region is one operation on different arrays, where nothing can be gained."""
    if any(opened) or len(set(node.operands)) < len(node.operands):
        return False
    return not any(_is_plain(operand) for operand in node.operands)


def _is_plain(node: Node) -> bool:
    return node.op.name in ("constant", "dimension", "eye")
