"""What each operation is: from the expressions of its operands to that of its result.

The axes of a node whose size is not 1 are its formal indices 0, 1, ... in order; axes of size 1
have none, so row vectors, column vectors and unit reshapes are all the same. An operation that is
not here, or whose result has no sound normal form, is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import e, inf
from typing import Any, TypeAlias

from ..facts import antisymmetric
from ..ir.dims import Dim, known_equal
from ..ir.node import Node
from ..ir.op import OPS
from .heads import Heads, one, open_axes
from .inverses import is_one_system, solved
from .labels import canonical_term
from .leaves import is_repeated, repeated_number, stretched
from .logistic import log1p, sigmoid, softplus
from .normalize import Normal
from .scalars import constant_value
from .selections import chosen, is_known_choice, is_one_of_each_row, scattered
from .slots import Factors
from .term import Expr, Rational, coefficient, is_exact, scaled, term_is_finite, times

__all__ = ["FORMS", "Forms"]

Rule: TypeAlias = "Callable[[Forms, Node, Sequence[Expr]], Expr | None]"


class Forms:
    """Expressions of nodes, over one table of heads.

    Attributes
    ----------
    at_kinks : bool
        Whether an expression may have another slope at a kink, as nothing is differentiated any
        more; `met_kinks` tells whether that made a difference.
    """

    def __init__(self, heads: Heads, *, at_kinks: bool) -> None:
        self.heads = heads
        self.at_kinks = at_kinks
        self.met_kinks = False
        self.normal = Normal(heads)

    def passes_kink(self) -> bool:
        """Whether an expression with another slope at a kink may be taken."""
        self.met_kinks = True
        return self.at_kinks

    @staticmethod
    def knows(node: Node) -> bool:
        """Whether the operation, with these params and dtypes, has an expression."""
        if node.op.name not in FORMS or node.copy or node.aval.dtype.kind != "f":
            return False
        known = _KNOWN_IF.get(node.op.name)
        return known is None or known(node)

    def form(self, node: Node, operands: Sequence[Expr]) -> Expr | None:
        """The expression of a node, given those of its operands; None if it is a leaf."""
        rule = FORMS.get(node.op.name)
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
        """The expression with formal index k called `to[k]`."""
        if list(to) == list(range(len(to))):
            return expr
        return self.normal.substituted(expr, dict(enumerate(to)))

    # -- contractions ------------------------------------------------------------------------------
    def contracted(
        self, operands: Sequence[Expr], labels: Sequence[Sequence[int]], bound: dict[int, Dim]
    ) -> Expr | None:
        """The product of operands at the given indices, summed over `bound`."""
        if not all(operands):
            # 0 @ x is 0 only where x is defined: without a normal form it stays what it is.
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
def _add(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = forms.aligned(node, operands)
    return forms.normal.add([(x, one), (y, one)])


def _subtract(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = forms.aligned(node, operands)
    return forms.normal.add([(x, one), (y, -one)])


def _negative(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    return forms.normal.add([(operands[0], -one)])


def _multiply(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = forms.aligned(node, operands)
    # What graphs share may stand in a function beside this gradient.
    written = node.origin.adjoint_of is None or node.origin.shared
    if written and not (x and y) and not all(term_is_finite(term) for term in x or y):
        return None  # where the user wrote 0 * x, it is 0 only if x cannot be infinite
    return forms.normal.multiply(x, y)


def _divide(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = forms.aligned(node, operands)
    inverse = forms.normal.power(y, -one) if y else None
    return None if inverse is None else forms.normal.multiply(x, inverse)


def _fixed_power(power: Rational) -> Rule:
    def rule(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
        return forms.normal.power(operands[0], power) if operands[0] else None

    return rule


def _power(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = forms.aligned(node, operands)
    base = _fixed_base(node)
    if base is not None:
        return forms.normal.exp(_in_base(forms, y, base, node)) if y else None
    power = constant_value(y)
    if not is_exact(power) or not x or power.denominator > 12 or power == 0:
        return None
    return forms.normal.power(x, power)


def _exp(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    form = node.op.traits.exponential
    assert form is not None
    return forms.normal.exp(_in_base(forms, operands[0], form.base, node))


def _in_base(forms: Forms, exponent: Expr, base: float, node: Node) -> Expr:
    r"""$x \log b$, of which $b^x$ is the exponential; the logarithm stays a symbol."""
    if base == e or not exponent:
        return exponent
    return forms.normal.multiply(exponent, forms.heads.log_of_base(base, node.dtype, 1))


def _log(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    form = node.op.traits.logarithm
    assert form is not None
    found = forms.normal.log(operands[0]) if operands[0] else None
    if found is None or form.base != e:
        inverse = forms.heads.log_of_base(form.base, node.dtype, -1)
        return None if found is None else forms.normal.multiply(found, inverse)
    if len(found) > 1:
        forms.heads.log_given(node, found)
    return found


# -- sums and movement -----------------------------------------------------------------------------
def _sum(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    return _summed(forms, node.operands[0], operands[0], node.params["axis"])


def _summed(forms: Forms, node: Node, expr: Expr, axes: Sequence[int]) -> Expr | None:
    if not expr:
        return expr
    to: list[int] = []
    bound: dict[int, Dim] = {}
    kept = 0
    for axis in open_axes(node):
        if axis in axes:
            index = forms.heads.fresh()
            bound[index] = node.shape[axis]
            to.append(index)
        else:
            to.append(kept)
            kept += 1
    return forms.normal.sum_over(forms.moved(expr, to), bound)


def _broadcast(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    return forms.aligned(node, operands)[0]


def _reshape(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    # Only unit axes come and go; a repeated number is the same number in any shape.
    return operands[0]


def _transpose(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    axes = node.params["axes"]
    if axes == (-1, -2) and forms.heads.knowledge.of(node.operands[0]).has(antisymmetric):
        return scaled(operands[0], -1)
    places = {axis: place for place, axis in enumerate(open_axes(node))}
    position = {axis: place - len(axes) for place, axis in enumerate(axes)}
    to = [places[position[axis]] for axis in open_axes(node.operands[0])]
    return forms.moved(operands[0], to)


def _diagonal(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    (x,) = node.operands
    axes = open_axes(x)
    kept = {axis: place for place, axis in enumerate([a for a in axes if a != -1])}
    return forms.moved(operands[0], [kept[-2 if axis == -1 else axis] for axis in axes])


def _diagonal_matrix(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    rows = node.shape[-1]
    places = {axis: place for place, axis in enumerate(open_axes(node))}
    (x,) = node.operands
    to = [places[axis - 1] for axis in open_axes(x)]
    delta: Expr = {
        canonical_term([(forms.heads.delta(rows), (places[-2], places[-1]), one)], {}): one
    }
    return forms.normal.multiply(forms.moved(operands[0], to), delta)


# -- contractions ----------------------------------------------------------------------------------
def _matmul(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    x, y = node.operands
    letters_x = [("b", axis) for axis in range(-x.ndim, -2)]
    letters_y = [("b", axis) for axis in range(-y.ndim, -2)]
    letters_x += [("m", 0), ("k", 0)] if x.ndim > 1 else [("k", 0)]
    letters_y += [("k", 0), ("n", 0)] if y.ndim > 1 else [("k", 0)]
    lead = max(x.ndim, y.ndim, 2) - 2
    result = [("b", axis) for axis in range(-lead - 2, -2)]
    result += [("m", 0)] if x.ndim > 1 else []
    result += [("n", 0)] if y.ndim > 1 else []
    return _contraction(forms, node, operands, [letters_x, letters_y], result)


def _einsum(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    left, _, right = node.params["subscripts"].partition("->")
    return _contraction(
        forms, node, operands, [list(term) for term in left.split(",")], list(right)
    )


def _contraction(
    forms: Forms,
    node: Node,
    operands: Sequence[Expr],
    labels: Sequence[Sequence[Any]],
    result: Sequence[Any],
) -> Expr | None:
    names: dict[Any, int] = {}
    bound: dict[int, Dim] = {}
    for letter, dim in zip(result, node.shape, strict=True):
        if dim != 1:
            names[letter] = len(names)
    rows: list[list[int]] = []
    for operand, letters in zip(node.operands, labels, strict=True):
        row: list[int] = []
        for letter, dim in zip(letters, operand.shape, strict=True):
            if dim == 1:
                continue
            if letter not in names:
                names[letter] = forms.heads.fresh()
                bound[names[letter]] = dim
            row.append(names[letter])
        rows.append(row)
    return forms.contracted(operands, rows, bound)


# -- probability -----------------------------------------------------------------------------------
def _softmax(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    normal = forms.normal
    raised = normal.exp(operands[0])
    if raised is None:
        return None
    total = _over_axis(forms, node, raised, node.params["axis"])
    inverse = normal.power(total, -one) if total else None
    return None if inverse is None else normal.multiply(raised, inverse)


def _log_softmax(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    normal = forms.normal
    raised = normal.exp(operands[0])
    total = _over_axis(forms, node, raised, node.params["axis"]) if raised else None
    logs = normal.log(total) if total else None
    return None if logs is None else normal.add([(operands[0], one), (logs, -one)])


def _logsumexp(forms: Forms, node: Node, operands: Sequence[Expr]) -> Expr | None:
    raised = forms.normal.exp(operands[0])
    axes = _axes(node.params["axis"])
    total = _summed(forms, node.operands[0], raised, axes) if raised else None
    return forms.normal.log(total) if total else None


def _axes(axis: Any) -> tuple[int, ...]:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _over_axis(forms: Forms, node: Node, expr: Expr, axis: Any) -> Expr | None:
    """The sum over axes, repeated along them."""
    axes = _axes(axis)
    total = _summed(forms, node, expr, axes)
    if total is None:
        return None
    kept = [place for place, each in enumerate(open_axes(node)) if each not in axes]
    return forms.moved(total, kept)


FORMS: dict[str, Rule] = {
    "add": _add,
    "subtract": _subtract,
    "negative": _negative,
    "multiply": _multiply,
    "divide": _divide,
    "reciprocal": _fixed_power(-1),
    "square": _fixed_power(2),
    "sqrt": _fixed_power(Fraction(1, 2)),
    "power": _power,
    **{
        name: log1p if form.plus else _log
        for name, op in OPS.items()
        if (form := op.traits.logarithm) is not None and form.plus in (0, 1)
    },
    **{
        name: _exp
        for name, op in OPS.items()
        if (form := op.traits.exponential) is not None and not form.less
    },
    "sigmoid": sigmoid,
    "softplus": softplus,
    "sum": _sum,
    "broadcast_to": _broadcast,
    "reshape": _reshape,
    "getitem": _reshape,
    "embed": _reshape,
    "transpose": _transpose,
    "diagonal": _diagonal,
    "diagonal_matrix": _diagonal_matrix,
    "matmul": _matmul,
    "einsum": _einsum,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "where": chosen,
    "add_along_axis": scattered,
    "solve": solved,
}


def _fixed_base(node: Node) -> float | None:
    """The positive number, other than 1, that a power has as its base; None if there is none."""
    repeated = repeated_number(stretched(node.operands[0]))
    if repeated is None or node.dtype.itemsize < _WIDE:
        return None
    base = float(repeated)
    return base if 0 < base < inf and base != 1 else None


def _is_wide(node: Node) -> bool:
    """Whether the product with the logarithm of a base has digits left to be an exponent."""
    return node.dtype.itemsize >= _WIDE


def _has_fixed_power(node: Node) -> bool:
    if _fixed_base(node) is not None:
        return True
    repeated = repeated_number(stretched(node.operands[1]))
    if repeated is None:
        return False
    power = coefficient(repeated)
    return is_exact(power) and power.denominator <= 12 and power != 0


def _keeps_open_axes(node: Node) -> bool:
    old = [dim for dim in node.operands[0].shape if dim != 1]
    new = [dim for dim in node.shape if dim != 1]
    if len(old) == len(new) and all(known_equal(a, b) for a, b in zip(old, new, strict=True)):
        return True
    return is_repeated(stretched(node.operands[0]))


def _takes_all(node: Node) -> bool:
    """Whether an index only adds axes of length one, or takes them away again."""
    index = node.params["index"]
    return all(entry is None or entry == (None, None, 1) for entry in index) and (
        _keeps_open_axes(node)
    )


def _is_main_diagonal(node: Node) -> bool:
    whole = node.operands[0] if node.op.name == "diagonal" else node
    rows, columns = whole.shape[-2:]
    return node.params["offset"] == 0 and known_equal(rows, columns) and rows != 1


_WIDE = 4
"""Bytes of the narrowest floats that exponentials are written in another base for."""

_KNOWN_IF: dict[str, Callable[[Node], bool]] = {
    **{
        name: _is_wide
        for name, op in OPS.items()
        if (form := op.traits.exponential or op.traits.logarithm) is not None and form.base != e
    },
    "power": _has_fixed_power,
    "reshape": _keeps_open_axes,
    "getitem": _takes_all,
    "embed": _takes_all,
    "diagonal": _is_main_diagonal,
    "diagonal_matrix": _is_main_diagonal,
    "where": is_known_choice,
    "add_along_axis": is_one_of_each_row,
    "solve": is_one_system,
}
