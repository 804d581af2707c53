"""Predicates and logic on corresponding elements: comparisons, tests for NaN, Boolean operations.

All are constant almost everywhere, so their derivative is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from math import isfinite as isfinite_number
from typing import Any, Unpack

import numpy as np

from .. import facts as f
from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..facts import Fact
from ..ir.fact_inference import Known
from ..ir.op import Said
from ..ir.traits import Comparison, Infix, Prefix, Traits
from ..notation import formulas
from .bounds import FactRule
from .families import elementwise, function
from .structures import structure

__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "right_shift",
    "signbit",
]


# -- facts about results ---------------------------------------------------------------------------
def _apart(x: Known, y: Known) -> bool:
    """Whether every x exceeds every y by more than a rounding error of float32.

    The sign alone is not enough. A positive value may underflow to 0, and the
    comparison may be there to catch that. A fact stated of an input holds for its numbers.
    """
    if x.node.is_input and x.has(f.positive) and y.bounds == (0.0, 0.0):
        return True
    if x.bounds == (0.0, 0.0) and y.node.is_input and y.has(f.negative):
        return True
    gap = x.low - y.high
    return gap > 1e-5 * max(abs(x.low), abs(y.high)) and isfinite_number(gap)


def _settled(known: Iterable[Known]) -> bool:
    return all(each.has(f.finite) or (each.node.is_input and _signed(each)) for each in known)


def _signed(x: Known) -> bool:
    return x.has(f.positive) or x.has(f.negative)


_TRUE, _FALSE = f.interval(1, 1), f.interval(0, 0)


def _ordered(above: bool) -> FactRule:
    """Facts of x > y and x >= y if `above`, else of x < y and x <= y."""

    def rule(x: Known, y: Known) -> Iterable[Fact]:
        yield from structure(x, y)
        big, small = (x, y) if above else (y, x)
        if _settled((x, y)):
            if _apart(big, small):
                yield _TRUE
            elif _apart(small, big):
                yield _FALSE

    return rule


def _equality(alike: bool) -> FactRule:
    def rule(x: Known, y: Known) -> Iterable[Fact]:
        yield from structure(x, y)
        apart = _settled((x, y)) and (_apart(x, y) or _apart(y, x))
        if apart or _input_differs(x, y) or _input_differs(y, x):
            yield _FALSE if alike else _TRUE
        elif x is y and x.has(f.finite):
            yield _TRUE if alike else _FALSE

    return rule


def _input_differs(x: Known, y: Known) -> bool:
    return x.node.is_input and x.has(f.nonzero) and y.bounds == (0.0, 0.0)


def _of_finite(fact: Fact) -> FactRule:
    """Facts of a test for NaN or infinity, whose answer a finite operand decides."""

    def rule(x: Known) -> Iterable[Fact]:
        yield from structure(x)
        if x.has(f.finite):
            yield fact

    return rule


_COMMUTATIVE = Traits(commutative=True)


# -- comparisons -----------------------------------------------------------------------------------
def _comparable(x: Any, y: Any) -> tuple[Any, Any]:
    """The operands; a Python int beyond the other's dtype becomes an infinity.

    NumPy compares with such a number, but does not calculate with it.
    """
    for array, number in ((x, y), (y, x)):
        if type(number) is not int or type(array) not in (Array, np.ndarray):
            continue
        if array.dtype.kind in "iu" and not _within(number, np.iinfo(array.dtype)):
            wide = FUNCTIONS["astype"](array, "float64")
            beyond = inf if number > 0 else -inf
            return (wide, beyond) if array is x else (beyond, wide)
    return x, y


def _within(number: int, limits: np.iinfo[Any]) -> bool:
    return limits.min <= number <= limits.max


def _comparison(
    name: str, doc: str, facts: FactRule, traits: Traits | None = None, **said: Unpack[Said]
) -> Any:
    compare = elementwise(
        name,
        kernel=lambda xp, x, y: getattr(xp, name)(x, y),
        vjp=(None, None),
        predicate=True,
        facts=facts,
        traits=traits,
        ufunc=name,
        doc=doc,
        **said,
    )

    def call(x: ArrayLike, y: ArrayLike) -> Any:
        return apply(compare.op, *_comparable(x, y))

    return function(compare.op, call, getattr(np, name))


greater = _comparison(
    "greater",
    "Whether x is greater than y.",
    _ordered(above=True),
    Traits(comparison=Comparison(1)),
    mistaken_for=("greater_equal", "less"),
    text=Infix(">", 1),
    latex=formulas.relation(">"),
    definition=lambda m, x, y: m.greater(x, y),
)
greater_equal = _comparison(
    "greater_equal",
    "Whether x is at least y.",
    _ordered(above=True),
    Traits(comparison=Comparison(1, ties=True)),
    mistaken_for=("greater", "less_equal"),
    text=Infix(">=", 1),
    latex=formulas.relation(r"\ge"),
    definition=lambda m, x, y: m.greater_equal(x, y),
)
less = _comparison(
    "less",
    "Whether x is less than y.",
    _ordered(above=False),
    Traits(comparison=Comparison(-1)),
    mistaken_for=("less_equal", "greater"),
    text=Infix("<", 1),
    latex=formulas.relation("<"),
    definition=lambda m, x, y: m.less(x, y),
)
less_equal = _comparison(
    "less_equal",
    "Whether x is at most y.",
    _ordered(above=False),
    Traits(comparison=Comparison(-1, ties=True)),
    mistaken_for=("less", "greater_equal"),
    text=Infix("<=", 1),
    latex=formulas.relation(r"\le"),
    definition=lambda m, x, y: m.less_equal(x, y),
)
equal = _comparison(
    "equal",
    "Whether x equals y.",
    _equality(alike=True),
    Traits(commutative=True, comparison=Comparison(0, ties=True)),
    mistaken_for=("not_equal", "greater_equal"),
    text=Infix("==", 1),
    latex=formulas.relation("="),
    definition=lambda m, x, y: m.equal(x, y),
)
not_equal = _comparison(
    "not_equal",
    "Whether x differs from y.",
    _equality(alike=False),
    _COMMUTATIVE,
    mistaken_for=("equal", "less"),
    text=Infix("!=", 1),
    latex=formulas.relation(r"\ne"),
    definition=lambda m, x, y: m.not_equal(x, y),
)

# -- kinds of numbers ------------------------------------------------------------------------------
isnan = elementwise(
    "isnan",
    doc="Whether x is NaN.",
    kernel=lambda xp, x: xp.isnan(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_FALSE),
    ufunc="isnan",
    definition=lambda m, x: m.isnan(x),
)
isinf = elementwise(
    "isinf",
    doc="Whether x is inf or -inf.",
    kernel=lambda xp, x: xp.isinf(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_FALSE),
    ufunc="isinf",
    definition=lambda m, x: m.isinf(x),
)
isfinite = elementwise(
    "isfinite",
    doc="Whether x is neither NaN nor infinite.",
    kernel=lambda xp, x: xp.isfinite(x),
    vjp=(None,),
    predicate=True,
    facts=_of_finite(_TRUE),
    ufunc="isfinite",
    definition=lambda m, x: m.isfinite(x),
)
signbit = elementwise(
    "signbit",
    doc="Whether the sign of x is negative, -0.0 included.",
    kernel=lambda xp, x: xp.signbit(x),
    vjp=(None,),
    predicate=True,
    ufunc="signbit",
)

# -- logic -----------------------------------------------------------------------------------------
logical_and = elementwise(
    "logical_and",
    doc="Whether both operands are true; numbers are true unless they are 0.",
    kernel=lambda xp, x, y: xp.logical_and(x, y),
    vjp=(None, None),
    predicate=True,
    traits=_COMMUTATIVE,
    ufunc="logical_and",
    latex=formulas.relation(r"\land"),
    definition=lambda m, x, y: m.logical_and(x, y),
)
logical_or = elementwise(
    "logical_or",
    doc="Whether an operand is true; numbers are true unless they are 0.",
    kernel=lambda xp, x, y: xp.logical_or(x, y),
    vjp=(None, None),
    predicate=True,
    traits=_COMMUTATIVE,
    ufunc="logical_or",
    latex=formulas.relation(r"\lor"),
    definition=lambda m, x, y: m.logical_or(x, y),
)
logical_xor = elementwise(
    "logical_xor",
    doc="Whether one operand is true and the other is not.",
    kernel=lambda xp, x, y: xp.logical_xor(x, y),
    vjp=(None, None),
    predicate=True,
    traits=_COMMUTATIVE,
    ufunc="logical_xor",
    definition=lambda m, x, y: m.logical_xor(x, y),
)
logical_not = elementwise(
    "logical_not",
    doc="Whether x is false; a number is false if it is 0.",
    kernel=lambda xp, x: xp.logical_not(x),
    vjp=(None,),
    predicate=True,
    ufunc="logical_not",
    latex=formulas.negation_formula,
    text=Prefix("~"),
    definition=lambda m, x: m.logical_not(x),
)

# -- bits ------------------------------------------------------------------------------------------
bitwise_and = elementwise(
    "bitwise_and",
    doc="The bits that both operands have.",
    kernel=lambda xp, x, y: xp.bitwise_and(x, y),
    vjp=(None, None),
    traits=_COMMUTATIVE,
    ufunc="bitwise_and",
    latex=formulas.connective(r"\land"),
    text=Infix("&", 4),
    definition=lambda m, x, y: m.bitwise_and(x, y),
)
bitwise_or = elementwise(
    "bitwise_or",
    doc="The bits that an operand has.",
    kernel=lambda xp, x, y: xp.bitwise_or(x, y),
    vjp=(None, None),
    traits=_COMMUTATIVE,
    ufunc="bitwise_or",
    latex=formulas.connective(r"\lor"),
    text=Infix("|", 2),
    definition=lambda m, x, y: m.bitwise_or(x, y),
)
bitwise_xor = elementwise(
    "bitwise_xor",
    doc="The bits that one operand has and the other has not.",
    kernel=lambda xp, x, y: xp.bitwise_xor(x, y),
    vjp=(None, None),
    traits=_COMMUTATIVE,
    ufunc="bitwise_xor",
    latex=formulas.connective(r"\oplus"),
    text=Infix("^", 3),
    definition=lambda m, x, y: m.bitwise_xor(x, y),
)
invert = elementwise(
    "invert",
    doc="The bits of x inverted; truth values negated.",
    kernel=lambda xp, x: xp.invert(x),
    vjp=(None,),
    ufunc="invert",
    latex=formulas.negation_formula,
    text=Prefix("~"),
    definition=lambda m, x: m.invert(x),
)
left_shift = elementwise(
    "left_shift",
    doc="The bits of x moved y places to the left: x * 2**y.",
    kernel=lambda xp, x, y: xp.left_shift(x, y),
    vjp=(None, None),
    ufunc="left_shift",
    text=Infix("<<", 5),
)
right_shift = elementwise(
    "right_shift",
    doc="The bits of x moved y places to the right: floor(x / 2**y).",
    kernel=lambda xp, x, y: xp.right_shift(x, y),
    vjp=(None, None),
    ufunc="right_shift",
    text=Infix(">>", 5),
)
