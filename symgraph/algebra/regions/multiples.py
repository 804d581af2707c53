"""Writes f(-x), f(2 x), f(x + c) and f(x + y) over f(x) and f(y), for operations with such a law.

(-u)[1:] is -(u[1:]), and the running sum of x + y is the sum of two running sums. sin(x - y) is
-sin(y - x), and max(2 x + 3) is 2 max(x) + 3. The users of such a value see arrays with numbers,
and may absorb the numbers. The traits of an operation say which laws hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.node import Node, make, origin
from ..expression.exact_numbers import Coef, quotient
from ..expression.leaf_terms import leaf_expr
from ..expression.scalars import constant_power, constant_value, number
from ..expression.term import LEAF, ONE, Expr, scaled
from ..extraction.cheapest import CheapestSpellings, rewritten
from ..normal_form.normalize import NormalForm

__all__ = ["Multiples"]

_MOST_TERMS = 6
"""Longer sums are left as they are."""

Of = Callable[[Node], Expr]


class Multiples:
    """Values as multiples of other values of the same operation, in one walk over the graph.

    Parameters
    ----------
    normal : NormalForm
    spellings : CheapestSpellings
    """

    def __init__(self, normal: NormalForm, spellings: CheapestSpellings) -> None:
        self.normal = normal
        self.spellings = spellings
        self._met: dict[object, Node] = {}

    @staticmethod
    def knows(node: Node) -> bool:
        """Whether the operation has a law, and the value is of floats."""
        if node.copy or node.dtype.kind != "f" or len(node.results) > 1:
            return False
        traits = node.op.traits
        linear = traits.linear or traits.jointly_linear is ...
        scaled_alike = traits.homogeneous is not None and not traits.elementwise
        return bool(linear or scaled_alike or _is_mirrored(node) or traits.shift is not None)

    def form(self, node: Node, of: Of) -> Expr | None:
        """The value over other values; None if no law applies."""
        if _is_mirrored(node):
            return self._mirrored(node, of)
        return self._scaled(node, of) or self._shifted(node, of) or self._spread(node, of)

    # -- f(-x) -------------------------------------------------------------------------------------
    def _mirrored(self, node: Node, of: Of) -> Expr | None:
        """An even or odd function of -x, if the function of x is computed anyway."""
        inside = of(node.operands[0])
        if len(inside) > _MOST_TERMS:
            return None
        key = (node.op, node.aval, frozenset(inside.items()))
        opposite = (node.op, node.aval, frozenset(scaled(inside, -1).items()))
        other = self._met.get(opposite)
        if other is None or not self.spellings.use_counts.alive(other):
            self._met.setdefault(key, node)
            return None
        return self._times(other, node.op.traits.parity[0])

    # -- f(c x) ------------------------------------------------------------------------------------
    def _scaled(self, node: Node, of: Of) -> Expr | None:
        """A number times the operation on scaled operands; None if there is no number."""
        places = _scaled_alike(node)
        exprs = [of(node.operands[place]) for place in places]
        found = _number_of(exprs)
        degree: float | None = 1
        if not _is_linear(node):
            found, degree = abs(found), node.op.traits.homogeneous
        if found == 1 or degree is None or int(degree) != degree:
            return None
        outside = constant_power(found, int(degree)) if degree else number(1)
        if outside is None:
            return None
        moved = self._of(node, places, [scaled(expr, quotient(1, found)) for expr in exprs])
        return None if moved is None else self._times(moved, outside[ONE])

    # -- f(x + c) ----------------------------------------------------------------------------------
    def _shifted(self, node: Node, of: Of) -> Expr | None:
        """The operation without a constant that all operands add, plus that constant; or None."""
        slope, places = node.op.traits.shift, _floats(node)
        exprs = [of(node.operands[place]) for place in places]
        numbers = {expr.get(ONE, 0) for expr in exprs}
        if slope is None or len(numbers) > 1 or numbers == {0}:
            return None
        rest = [{term: coef for term, coef in expr.items() if term != ONE} for expr in exprs]
        if not all(0 < len(each) <= _MOST_TERMS for each in rest):
            return None
        moved = self._of(node, places, rest)
        (by,) = numbers
        if moved is None:
            return None
        return self.normal.add([(self._times(moved, 1), 1), (number(by), int(slope))])

    # -- f(x + y) ----------------------------------------------------------------------------------
    def _spread(self, node: Node, of: Of) -> Expr | None:
        """The sum of a linear operation on each term, if all of these are computed anyway."""
        places = node.op.traits.linear_in(len(node.operands))
        for place in places:
            operand = node.operands[place]
            expr = of(operand)
            if not 1 < len(expr) <= _MOST_TERMS:
                continue
            arrays = [self._alone(operand, {term: 1}) for term in expr]
            parts: list[tuple[Expr, Coef]] = []
            for array, coef in zip(arrays, expr.values(), strict=True):
                each = None if array is None else self._with(node, {place: array})
                if each is None or not self.spellings.use_counts.alive(each):
                    break
                parts.append((self._times(each, 1), coef))
            else:
                return self.normal.add(parts)
        return None

    # -- writing -----------------------------------------------------------------------------------
    def _times(self, node: Node, by: Coef) -> Expr:
        return scaled(leaf_expr(self.normal.atoms, node), by)

    def _of(self, node: Node, places: Sequence[int], exprs: Sequence[Expr]) -> Node | None:
        """The operation with these expressions as operands; None if one has no spelling."""
        arrays: dict[int, Node] = {}
        for place, expr in zip(places, exprs, strict=True):
            array = self._array(node.operands[place], expr)
            if array is None:
                return None
            arrays[place] = array
        return self._with(node, arrays)

    def _with(self, node: Node, arrays: dict[int, Node]) -> Node | None:
        operands = [arrays.get(place, each) for place, each in enumerate(node.operands)]
        with origin(rewritten(node)):
            found = make(node.op, operands, node.params)
        return found if found.aval == node.aval else None

    def _array(self, node: Node, expr: Expr) -> Node | None:
        """The value of an expression, in the shape and dtype of a node."""
        alone = self._alone(node, expr)
        return self.spellings.of_another(node, expr) if alone is None else alone

    def _alone(self, node: Node, expr: Expr) -> Node | None:
        """The array that an expression is, if it has the shape and dtype of a node; else None."""
        if len(expr) != 1:
            return None
        ((term, coef),) = expr.items()
        if coef != 1 or len(term.factors) != 1:
            return None
        (factor,) = term.factors
        atom = factor.atom
        if atom.kind != LEAF or atom.node.aval != node.aval:
            return None
        return atom.node if expr == leaf_expr(self.normal.atoms, atom.node) else None


def _floats(node: Node) -> tuple[int, ...]:
    free = [i for i in range(len(node.operands)) if i not in node.op.unpromoted]
    return tuple([i for i in free if node.operands[i].dtype.kind == "f"])


def _is_linear(node: Node) -> bool:
    """Whether the operation is linear in one operand, or in all of them together."""
    traits = node.op.traits
    return len(traits.linear_in(len(node.operands))) == 1 or traits.jointly_linear is ...


def _is_mirrored(node: Node) -> bool:
    """Whether the operation is an odd or even elementwise function."""
    return node.op.traits.elementwise and node.op.traits.parity in ((1,), (-1,))


def _scaled_alike(node: Node) -> tuple[int, ...]:
    """The operands whose common positive factor can be taken out; empty if it cannot."""
    traits, count = node.op.traits, len(node.operands)
    if _is_linear(node):
        return traits.linear_in(count) or traits.linear_together(count)
    floats = _floats(node)
    return floats if traits.homogeneous is not None and not traits.elementwise else ()


def _number_of(exprs: Sequence[Expr]) -> Coef:
    """The number that all terms have in common, with a common sign; 1 if there is none."""
    numbers = [coef for expr in exprs for coef in expr.values()]
    if not all(exprs) or len(numbers) > _MOST_TERMS * len(exprs):
        return 1
    if any(constant_value(expr) is not None for expr in exprs):
        return 1
    if any(term.bound for expr in exprs for term in expr):
        return 1  # One of the factors absorbs the number.
    sizes = {abs(number) for number in numbers}
    size = sizes.pop() if len(sizes) == 1 else 1
    if size == 0:
        return 1
    return -size if all(number < 0 for number in numbers) else size
