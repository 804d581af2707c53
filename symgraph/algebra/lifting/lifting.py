"""Lifts operations to expressions: from those of the operands to that of the result.

The axes of a node whose size is not 1 have the formal indices 0, 1, ... in order. Axes of size 1
have none, so that row vectors, column vectors and their reshapes are alike. An operation is a leaf
if it is not lifted here, or if its result has no sound normal form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import e, inf
from typing import Any, TypeAlias

from ...facts import antisymmetric
from ...ir.dims import Dim, same_shape
from ...ir.node import Node
from ...ir.op import OPS, Op
from ...ops.along_axis import add_along_axis
from ...ops.choice import where
from ...ops.linalg import inv, solve
from ..expression.atoms import AtomTable, one, open_axes
from ..expression.canonical_indices import canonical_term
from ..expression.exact_numbers import coefficient, exponent, times
from ..expression.leaf_terms import is_repeated, repeated_number, stretched
from ..expression.scalars import constant_value
from ..expression.term import Expr, scaled, term_is_finite
from ..normal_form.factors import Factors
from ..normal_form.normalize import NormalForm
from .inverses import is_one_system, solved
from .logistic import log1p, sigmoid, softplus
from .multiples import has_number_inside, inverted
from .selections import chosen, is_known_choice, is_one_of_each_row, scattered

__all__ = ["FORMS", "Lifter"]

LiftingRule: TypeAlias = "Callable[[Lifter, Node, Sequence[Expr]], Expr | None]"


class Lifter:
    """Lifts nodes to expressions, over one table of atoms.

    Parameters
    ----------
    atoms : AtomTable
    at_kinks : bool
        Whether an expression may have another slope at a kink. It may once nothing is
        differentiated any more.

    Attributes
    ----------
    met_kinks : bool
        Whether `at_kinks` was ever asked for.
    """

    def __init__(self, atoms: AtomTable, *, at_kinks: bool) -> None:
        self.atoms = atoms
        self.at_kinks = at_kinks
        self.met_kinks = False
        self.normal = NormalForm(atoms, self.passes_kink)

    def passes_kink(self) -> bool:
        """Whether an expression with another slope at a kink is allowed."""
        self.met_kinks = True
        return self.at_kinks

    @staticmethod
    def knows(node: Node) -> bool:
        """Whether a node is lifted: its operation, with its params and dtype."""
        if node.op not in FORMS or node.copy or node.aval.dtype.kind != "f":
            return False
        for each in node.operands:
            if 0 in each.shape:
                return False  # An empty sum is 0 whatever the factor in it; beside it 0/0 is NaN.
        known = _KNOWN_IF.get(node.op)
        return known is None or known(node)

    def form(self, node: Node, operands: Sequence[Expr]) -> Expr | None:
        """The expression of a node, given those of its operands; None for a leaf."""
        rule = FORMS.get(node.op)
        return rule(self, node, operands) if rule is not None else None

    # -- alignment ---------------------------------------------------------------------------------
    def aligned(self, node: Node, operands: Sequence[Expr]) -> list[Expr]:
        """Expressions of broadcast operands, in the formal indices of the result."""
        places = {axis: place for place, axis in enumerate(open_axes(node))}
        return [
            self.moved(expr, [places[axis] for axis in open_axes(operand)])
            for operand, expr in zip(node.operands, operands, strict=True)
        ]

    def moved(self, expr: Expr, to: Sequence[int]) -> Expr:
        """The expression with formal index k renamed to `to[k]`."""
        if list(to) == list(range(len(to))):
            return expr
        return self.normal.substituted(expr, dict(enumerate(to)))

    # -- contractions ------------------------------------------------------------------------------
    def contracted(
        self, operands: Sequence[Expr], labels: Sequence[Sequence[int]], bound: dict[int, Dim]
    ) -> Expr | None:
        """The product of operands at the given indices, summed over `bound`."""
        if not all(operands):
            # 0 @ x is 0 only where x is defined: the node stays a leaf.
            return None
        coef: Any = 1
        factors: Factors = []
        inside = dict(bound)
        for expr, idx in zip(operands, labels, strict=True):
            placed = self.moved(expr, idx)
            by, more, own = self.normal.as_product(placed)
            coef, inside = times(coef, by), inside | own
            factors.extend(more)
        return self.normal.product(coef, factors, inside)


# -- elementwise -----------------------------------------------------------------------------------
def _combination(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression a x + b y."""
    arrays = lifter.aligned(node, operands)
    return lifter.normal.add(list(zip(arrays, node.op.traits.combination, strict=True)))


def _monomial(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The expression x**a y**b."""
    arrays = lifter.aligned(node, operands)
    powers = node.op.traits.monomial
    # A shared node of the gradient may be part of the user's function, too.
    written = node.origin.adjoint_of is None or node.origin.shared
    vanishes = written and set(powers) == {1} and not all(arrays)
    if vanishes and not all(term_is_finite(term) for expr in arrays for term in expr):
        return None  # 0 * x that the user wrote is 0 only if x is finite
    found: Expr | None = None
    for expr, power in zip(arrays, powers, strict=True):
        raised = expr if power == 1 else lifter.normal.power(expr, power) if expr else None
        if raised is None:
            return None
        found = raised if found is None else lifter.normal.multiply(found, raised)
    return found


def _power(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = lifter.aligned(node, operands)
    base = _fixed_base(node)
    if base is not None:
        return lifter.normal.exp(_in_base(lifter, y, base, node)) if y else None
    power = exponent(constant_value(y), node.dtype)
    return lifter.normal.power(x, power) if x and power is not None else None


def _exp(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    form = node.op.traits.exponential
    assert form is not None
    return lifter.normal.exp(_in_base(lifter, operands[0], form.base, node))


def _in_base(lifter: Lifter, exponent: Expr, base: float, node: Node) -> Expr:
    r"""The exponent $x \log b$ of $b^x = e^{x \log b}$. The logarithm stays a symbol."""
    if base == e or not exponent:
        return exponent
    return lifter.normal.multiply(exponent, lifter.atoms.log_of_base(base, node.dtype, 1))


def _log(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    form = node.op.traits.logarithm
    assert form is not None
    found = lifter.normal.log(operands[0]) if operands[0] else None
    if found is None or form.base != e:
        inverse = lifter.atoms.log_of_base(form.base, node.dtype, -1)
        return None if found is None else lifter.normal.multiply(found, inverse)
    if len(found) > 1:
        lifter.atoms.log_given(node, found)
    return found


# -- products that are summed ----------------------------------------------------------------------
def _indexed(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    """The product of the operands, summed over the labels that the result does not have."""
    labels = _labels_of(node)
    assert labels is not None
    rows, result = labels
    if _is_turned_antisymmetric(lifter, node, rows[0], result):
        return scaled(operands[0], -1)
    names: dict[Any, int] = {}
    twice: list[tuple[Dim, int, int]] = []
    for place, (label, dim) in enumerate(_open(result, node.shape)):
        if names.setdefault(label, place) != place:
            twice.append((dim, names[label], place))
    bound: dict[int, Dim] = {}
    placed: list[list[int]] = []
    for operand, row in zip(node.operands, rows, strict=True):
        for label, dim in _open(row, operand.shape):
            if label not in names:
                names[label] = lifter.atoms.fresh()
                bound[names[label]] = dim
        placed.append([names[label] for label, _ in _open(row, operand.shape)])
    found = _contracted(lifter, operands, placed, bound)
    for dim, i, j in twice if found is not None else ():
        delta = canonical_term([(lifter.atoms.delta(dim), (i, j), one)], {})
        found = found and lifter.normal.multiply(found, {delta: one})
    return found


def _labels_of(node: Node) -> tuple[Sequence[Sequence[Any]], Sequence[Any]] | None:
    indices = node.op.traits.indices
    avals = [each.aval for each in node.operands]
    return None if indices is None else indices(node.aval, *avals, **node.params)


def _open(labels: Sequence[Any], shape: Sequence[Dim]) -> list[tuple[Any, Dim]]:
    """Labels and sizes of the axes that carry an index."""
    return [(label, dim) for label, dim in zip(labels, shape, strict=True) if dim != 1]


def _is_turned_antisymmetric(
    lifter: Lifter, node: Node, row: Sequence[Any], result: Sequence[Any]
) -> bool:
    """Whether the node transposes an antisymmetric matrix."""
    turned = len(node.operands) == 1 and len(row) == 2 and list(result) == list(row)[::-1]
    return turned and lifter.atoms.knowledge.of(node.operands[0]).has(antisymmetric)


def _contracted(
    lifter: Lifter, operands: Sequence[Expr], placed: Sequence[Sequence[int]], bound: dict[int, Dim]
) -> Expr | None:
    if len(operands) > 1:
        return lifter.contracted(operands, placed, bound)
    (expr,) = operands
    return lifter.normal.sum_over(lifter.moved(expr, placed[0]), bound) if expr else expr


def _in_order(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    # Only axes of size 1 change. A repeated number is the same number in any shape.
    return operands[0]


def _summed(lifter: Lifter, node: Node, expr: Expr, axes: Sequence[int]) -> Expr | None:
    if not expr:
        return expr
    to: list[int] = []
    bound: dict[int, Dim] = {}
    kept = 0
    for axis in open_axes(node):
        if axis in axes:
            index = lifter.atoms.fresh()
            bound[index] = node.shape[axis]
            to.append(index)
        else:
            to.append(kept)
            kept += 1
    return lifter.normal.sum_over(lifter.moved(expr, to), bound)


# -- sums of exponentials --------------------------------------------------------------------------
def _exponential_sum(lifter: Lifter, node: Node, operands: Sequence[Expr]) -> Expr | None:
    r"""The expression of $Z = \sum e^x$ over an axis, of $e^x / Z$, or of a logarithm of these."""
    form, normal = node.op.traits.exponential_sum, lifter.normal
    assert form is not None
    raised = normal.exp(operands[0])
    if raised is None:
        return None
    axes = _axes(node.params["axis"])
    if not form.share:
        total = _summed(lifter, node.operands[0], raised, axes)
        return normal.log(total) if total else None
    total = _over_axis(lifter, node, raised, axes)
    if not total:
        return None
    if form.logarithm:
        logs = normal.log(total)
        return None if logs is None else normal.add([(operands[0], one), (logs, -one)])
    inverse = normal.power(total, -one)
    return None if inverse is None else normal.multiply(raised, inverse)


def _axes(axis: int | Sequence[int]) -> tuple[int, ...]:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _over_axis(lifter: Lifter, node: Node, expr: Expr, axes: tuple[int, ...]) -> Expr | None:
    """The sum over axes, broadcast along them again."""
    total = _summed(lifter, node, expr, axes)
    if total is None:
        return None
    kept = [place for place, each in enumerate(open_axes(node)) if each not in axes]
    return lifter.moved(total, kept)


def _rule_of(op: Op) -> LiftingRule | None:
    """The function that lifts an operation, chosen by its traits; None if it is not lifted."""
    traits = op.traits
    if traits.combination:
        return _combination
    if traits.monomial:
        return _monomial
    if traits.raises:
        return _power
    if traits.exponential is not None:
        return None if traits.exponential.less else _exp
    if traits.logarithm is not None:
        return _LOGARITHMS.get(traits.logarithm.plus)
    if traits.exponential_sum is not None:
        if traits.exponential_sum.over_axis:
            return _exponential_sum
        return sigmoid if traits.exponential_sum.share else softplus
    if traits.indices is not None:
        return _indexed
    return _in_order if traits.in_order is not None else _OTHERS.get(op)


_LOGARITHMS: Mapping[float, LiftingRule] = {0: _log, 1: log1p}
_OTHERS: Mapping[Op, LiftingRule] = {
    where.op: chosen,
    add_along_axis.op: scattered,
    inv.op: inverted,
    solve.op: solved,
}

FORMS: Mapping[Op, LiftingRule] = {
    op: rule for op in OPS.values() if (rule := _rule_of(op)) is not None
}


def _fixed_base(node: Node) -> float | None:
    """The base of a power, if it is a positive number other than 1; else None."""
    repeated = repeated_number(stretched(node.operands[0]))
    if repeated is None or node.dtype.itemsize < _WIDE:
        return None
    base = float(repeated)
    return base if 0 < base < inf and base != 1 else None


def _is_wide(node: Node) -> bool:
    """Whether x log(b) keeps enough digits for an exponent: float16 has too few."""
    return node.dtype.itemsize >= _WIDE


def _has_fixed_power(node: Node) -> bool:
    if _fixed_base(node) is not None:
        return True
    repeated = repeated_number(stretched(node.operands[1]))
    if repeated is None:
        return False
    return exponent(coefficient(repeated), node.dtype) is not None


def _keeps_open_axes(node: Node) -> bool:
    old = [dim for dim in node.operands[0].shape if dim != 1]
    new = [dim for dim in node.shape if dim != 1]
    if same_shape(old, new):
        return True
    return is_repeated(stretched(node.operands[0]))


def _stays_in_order(node: Node) -> bool:
    """Whether the elements keep their order and only axes of size 1 change."""
    in_order = node.op.traits.in_order
    return in_order is not None and in_order(**node.params) and _keeps_open_axes(node)


def _has_labels(node: Node) -> bool:
    return _labels_of(node) is not None


_WIDE = 4
"""The fewest bytes of a float whose exponentials are written with another base."""


def _condition_of(op: Op) -> Callable[[Node], bool] | None:
    """The condition on a node for lifting it; None if there is none."""
    traits = op.traits
    form = traits.exponential or traits.logarithm
    if form is not None and form.base != e:
        return _is_wide
    if traits.raises:
        return _has_fixed_power
    if traits.indices is not None:
        return _has_labels
    if traits.in_order is not None:
        return _stays_in_order
    return _OTHER_CONDITIONS.get(op)


_OTHER_CONDITIONS: Mapping[Op, Callable[[Node], bool]] = {
    where.op: is_known_choice,
    add_along_axis.op: is_one_of_each_row,
    inv.op: has_number_inside,
    solve.op: is_one_system,
}

_KNOWN_IF = {op: known for op in FORMS if (known := _condition_of(op)) is not None}
