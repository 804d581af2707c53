"""Declaring rules, matching them and what they refuse."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import RuleError
from symgraph.ir.fact_inference import Knowledge
from symgraph.ops.creation import zeros
from symgraph.rewriting import (
    Array,
    Axes,
    Boolean,
    Flag,
    Nonzero,
    Permutation,
    Positive,
    PositiveConstant,
    Real,
    RulePack,
    Scalar,
    Shape,
    Total,
    applied,
    holds,
    is_real,
    number,
    provided,
    rule,
    static,
)
from symgraph.rewriting.pattern import matches


def at(one: Any, value: Any, trust: Any = "rounding") -> Any:
    """What the rule makes of the value, as an Array, or None."""
    fired = one.apply(value.node, Knowledge(), trust)
    return None if fired is None else sg.Array(fired.node)


def same(one: Any, other: Any) -> bool:
    return one is not None and one.node is other.node


X = sg.input("x", (2, 3))
Y = sg.input("y", (2, 3))


@rule(sound="rounding")
def log_of_exp(x: Real):
    """The inverse pair."""
    return snp.log(snp.exp(x)), x


# -- matching --------------------------------------------------------------------------------------
def test_a_rule_fires_where_its_left_side_stands() -> None:
    assert same(at(log_of_exp, snp.log(snp.exp(X + Y))), X + Y)
    assert at(log_of_exp, snp.log(X)) is None
    assert at(log_of_exp, snp.exp(snp.log(X))) is None


def test_one_variable_is_one_node() -> None:
    @rule(sound="domain")
    def difference(x: Real):
        return x - x, 0

    assert same(at(difference, X - X, "domain"), zeros((2, 3)))
    assert at(difference, X - Y, "domain") is None


def test_commutative_operands_are_tried_in_both_orders() -> None:
    @rule(sound="rounding")
    def product(x: Real, y: Real):
        return snp.exp(x) * (1 + y), x

    for value in (snp.exp(X) * (1 + Y), snp.exp(X) * (Y + 1), (Y + 1) * snp.exp(X)):
        assert same(at(product, value), X)
    assert at(product, snp.exp(X) * (2 + Y)) is None


def test_every_way_to_match_is_found() -> None:
    @rule(sound="rounding")
    def both(x: Real, y: Real):
        return x * y, y * x

    assert len(list(matches(both.lhs, (X * Y).node))) == 2
    assert len(list(matches(both.lhs, (X * X).node))) == 1


@pytest.mark.parametrize(
    ("operand", "fires"),
    [(0, True), (0.0, True), (-0.0, False), (1, False), (zeros((2, 3)), True)],
)
def test_a_number_stands_for_constants_of_that_value_bit_by_bit(operand: Any, fires: bool) -> None:
    @rule(sound="rounding")
    def plus_zero(x: Real):
        return x + 0, x

    assert (at(plus_zero, X + operand) is not None) is fires


def test_a_number_does_not_stand_for_an_array_that_gave_the_shape() -> None:
    @rule(sound="rounding")
    def plus_zero(x: Real):
        return x + 0, x

    scalar = sg.input("s", ())
    assert at(plus_zero, scalar + zeros((2, 3))) is None


# -- what cannot slip through ----------------------------------------------------------------------
@rule(sound="rounding")
def softmax_written_out(x: Real, axis: Axes):
    """Along the axes kept for broadcasting."""
    return snp.exp(x) / snp.sum(snp.exp(x), axis=axis, keepdims=True), snp.softmax(x, axis=axis)


def test_keepdims_is_part_of_the_left_side() -> None:
    x = sg.input("x", (3, 3))
    kept = snp.exp(x) / snp.sum(snp.exp(x), axis=0, keepdims=True)
    assert same(at(softmax_written_out, kept), snp.softmax(x, axis=0))
    assert at(softmax_written_out, snp.exp(x) / snp.sum(snp.exp(x), axis=1)) is None


def test_one_param_has_one_value() -> None:
    @rule(sound="rounding")
    def twice(x: Array, axis: Axes, keepdims: Flag):
        inner = applied("max", x, axis=axis, keepdims=keepdims)
        return applied("sum", inner, axis=axis, keepdims=keepdims), snp.sum(x, axis=axis)

    x = sg.input("x", (2, 3, 4))
    assert at(twice, snp.sum(snp.max(x, axis=-1), axis=-2)) is None


def test_a_right_side_of_another_shape_or_dtype_does_not_fire() -> None:
    @rule(sound="rounding")
    def loses_an_axis(x: Array, axis: Axes):
        return snp.sum(x, axis=axis, keepdims=True), snp.sum(x, axis=axis)

    @rule(sound="rounding")
    def widens(x: Array):
        return snp.exp(x), snp.cast(x, "float64")

    assert at(loses_an_axis, snp.sum(X, axis=0, keepdims=True)) is None
    assert at(widens, snp.exp(sg.input("f", (3,), "float32"))) is None
    assert at(widens, snp.exp(X)) is not None


def test_a_number_on_the_right_fills_the_left_sides_shape() -> None:
    @rule(sound="domain")
    def quotient(x: Real):
        return x / x, 1

    f = sg.input("f", ("n", 3), "float32")
    ones = at(quotient, f / f, "domain")
    assert (ones.shape, ones.dtype) == (f.shape, f.dtype)


# -- guards ----------------------------------------------------------------------------------------
def test_guards_ask_for_facts() -> None:
    @rule(sound="rounding")
    def exp_of_log(x: Positive):
        return snp.exp(snp.log(x)), x

    p = sg.input("p", (3,), assume=sg.positive)
    assert same(at(exp_of_log, snp.exp(snp.log(p))), p)
    assert at(exp_of_log, snp.exp(snp.log(X))) is None


def test_a_guard_earns_a_better_grade() -> None:
    @rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
    def quotient(x: Real):
        return x / x, 1

    p = sg.input("p", (3,), assume=sg.nonzero)
    assert at(quotient, X / X) is None
    assert quotient.apply((X / X).node, Knowledge(), "domain").sound == "domain"
    assert quotient.apply((p / p).node, Knowledge(), "rounding").sound == "rounding"
    assert quotient.apply((p / p).node, Knowledge(), "exact") is None


def test_guards_of_kind_shape_and_value() -> None:
    @rule(sound="rounding")
    def scaled(c: Boolean, x: Real, s: Scalar, k: PositiveConstant):
        return snp.where(c, x * s, k), x

    s = sg.input("s", ())
    assert at(scaled, snp.where(X > 0, X * s, 2.0)) is not None
    assert at(scaled, snp.where(X > 0, X * s, -2.0)) is None
    assert at(scaled, snp.where(X > 0, X * Y, 2.0)) is None


def test_facts_with_params_are_asked_for_by_holds() -> None:
    @static
    def only(axis: tuple[int, ...]) -> int:
        return axis[0] if len(axis) == 1 else -99

    @rule(sound="rounding")
    def whole(x: Real, axis: Axes):
        holds(x, sg.simplex, only(axis))
        return snp.sum(x, axis=axis), 1

    p = sg.input("p", (2, 3), assume=sg.simplex(axis=-1))
    assert at(whole, snp.sum(p, axis=-1)) is not None
    assert at(whole, snp.sum(p, axis=0)) is None
    assert "simplex" in str(whole)


def test_conditions_and_computed_params() -> None:
    @static
    def composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(first[axis] for axis in second)

    @rule(sound="exact")
    def undone(x: Array, first: Permutation, second: Permutation):
        provided(composed(first, second) == tuple(range(-2, 0)))
        return snp.transpose(snp.transpose(x, first), second), x

    assert same(at(undone, X.T.T, "exact"), X)
    assert at(undone, snp.transpose(X.T, (0, 1))) is None


def test_sizes_of_dimensions_on_the_right() -> None:
    @rule(sound="rounding")
    def repeated(x: Scalar, shape: Shape):
        whole = snp.sum(snp.broadcast_to(x, shape))
        return whole, x * number(shape[0], x.dtype)

    s = sg.input("s", ())
    assert at(repeated, snp.sum(snp.broadcast_to(s, (5,)))) is not None
    named = at(repeated, snp.sum(snp.broadcast_to(s, sg.input("v", "n").shape)))
    assert named.shape == ()


# -- refused ---------------------------------------------------------------------------------------
def no_annotation(x):
    return snp.exp(x), x


def no_guard(x: int):
    return snp.exp(x), x


def unbound(x: Real, y: Real):
    return snp.exp(x), y


def no_operation(x: Real):
    return x, x


def no_pair(x: Real):
    return snp.exp(x)


def branches(x: Real):
    return (snp.exp(x), x) if x.ndim == 2 else (snp.log(x), x)


def looks_inside(x: Real):
    return (snp.exp(x), x) if x.node.is_input else (snp.log(x), x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_annotation, "no annotation"),
        (no_guard, "not a guard"),
        (unbound, "nothing on the left binds y"),
        (no_operation, "not an operation"),
        (no_pair, "does not return"),
        (branches, "branches on"),
        (looks_inside, "looks at the node"),
    ],
)
def test_what_is_no_identity_is_refused_where_it_is_declared(function: Any, words: str) -> None:
    with pytest.raises(RuleError, match=words):
        rule(sound="rounding")(function)


def test_an_unknown_grade_is_refused() -> None:
    with pytest.raises(RuleError, match="sound='maybe'"):
        rule(sound="maybe")(unbound)  # pyright: ignore[reportArgumentType]


def test_annotations_need_not_be_names_of_the_module() -> None:
    def one(x: Annotated[Array, is_real], y: sg.Array, axis: Axes):
        """An expression, an attribute, and a name."""
        return snp.sum(x - y, axis=axis), snp.sum(x, axis=axis) - snp.sum(y, axis=axis)

    found = rule(sound="rounding")(one)
    assert [(each.name, [g.name for g in each.guards]) for each in found.variables] == [
        ("x", ["real"]),
        ("y", []),
    ]
    assert [each.name for each in found.statics] == ["axis"]


# -- shown -----------------------------------------------------------------------------------------
def test_a_rule_prints_as_its_identity() -> None:
    assert str(log_of_exp) == "log(exp(x)) → x"

    @rule(sound="rounding")
    def long(x: Positive, y: Real):
        """Precedence and guards."""
        return (x + y) * -(x / y) - x**2, x

    assert str(long) == "(x + y) * -(x / y) - x ** 2 → x   if x: positive"


def test_a_pack_prints_its_catalogue_and_refuses_two_of_one_name() -> None:
    pack = RulePack.of("mine", log_of_exp, softmax_written_out)
    assert [each.name for each in pack] == ["log_of_exp", "softmax_written_out"]
    assert "log(exp(x)) → x" in pack.catalogue()
    with pytest.raises(RuleError, match="two rules named 'log_of_exp'"):
        RulePack.of("mine", log_of_exp, log_of_exp)
