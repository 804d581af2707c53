"""The verifier passes rules that are right and rejects each of the mutants, whatever was broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from rewrites.known import Places
from symgraph.facts import simplex
from symgraph.numpy import exp10, log10
from symgraph.rewriting import (
    Array,
    Axes,
    Axis,
    DType,
    Flag,
    Index,
    Nonnegative,
    Nonzero,
    Permutation,
    Positive,
    Real,
    Rule,
    Scalar,
    Shape,
    Total,
    applied,
    building,
    holds,
    provided,
    rule,
    static,
)
from symgraph.verification.instance_maker import Instance
from symgraph.verification.instance_trials import InstanceTrial
from symgraph.verification.mutants import mutants_of
from symgraph.verification.proofs import is_proved
from symgraph.verification.verifier import Report, verify_rule


# -- right -----------------------------------------------------------------------------------------
@rule(sound="rounding")
def log_of_exp(x: Real):
    """Right, and better at 1000."""
    return snp.log(snp.exp(x)), x


@rule(sound="domain", earned={"rounding": {"x": (Nonzero, Total)}})
def quotient(x: Array):
    """Right at both of its grades."""
    return x / x, 1


@rule(sound="rounding", stable="small x")
def log1p(x: Real):
    """Right to the last digits."""
    return snp.log(1 + x), snp.log1p(x)


@static
def single(axes: tuple[int, ...]) -> int:
    return axes[0] if len(axes) == 1 else -99


@rule(sound="rounding")
def sums_to_one(x: Real, axis: Axes):
    """Right by a fact whose axis is a param."""
    holds(x, simplex, single(axis))
    return snp.sum(x, axis=axis, keepdims=True) * x, x


_THIRD = (2, (None, None, 1))


@rule(sound="rounding")
def third_of_twice(x: Real):
    """Right, and of a named axis there may be no third place."""
    return 2 * applied("getitem", x, index=_THIRD), applied("getitem", 2 * x, index=_THIRD)


RIGHT = [log_of_exp, quotient, log1p, sums_to_one, third_of_twice]


@pytest.mark.parametrize("right", RIGHT, ids=lambda r: r.name)
def test_right_rules_pass(right: Rule) -> None:
    report = verify_rule(right)
    assert report.ok, report.failures
    assert report.instances >= 4
    assert report.elements >= 30
    assert "verified" in str(report)


# -- mutants ---------------------------------------------------------------------------------------
MUTANTS: dict[str, tuple[Callable[..., Any], str, str]] = {}


def mutant(
    sound: str, because: str, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A broken rule, and words of the report that say so."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        MUTANTS[function.__name__] = (
            lambda: rule(sound=sound, **options)(function),
            because,
            sound,
        )
        return function

    return note


@mutant("rounding", "disagree")
def wrong_operation(x: Real):
    return snp.log(snp.exp(x)), snp.exp(x)


@mutant("rounding", "disagree")
def flipped_sign(x: Real):
    return snp.sin(-x), snp.sin(x)


@mutant("rounding", "disagree")
def dropped_guard(x: Real):
    return snp.exp(snp.log(x)), x


@mutant("rounding", "disagree")
def root_without_absolute_value(x: Real):
    return snp.sqrt(snp.square(x)), x


@mutant("rounding", "disagree")
def log_of_square_without_sign(x: Real):
    return snp.log(snp.square(x)), 2 * snp.log(x)


@mutant("rounding", "disagree")
def cosh_keeps_the_sign(x: Real):
    return snp.arccosh(snp.cosh(x)), x


@mutant("rounding", "disagree")
def logit_everywhere(x: Real):
    return snp.sigmoid(snp.log(x / (1 - x))), x


@mutant("rounding", "disagree")
def quotient_at_zero(x: Array):
    return x / x, 1


@mutant("rounding", "infinite where the left is NaN")
def pole_for_nan(x: Real):
    return x / (x * x), 1 / x


@mutant("rounding", "disagree")
def undefined_becomes_a_number(x: Nonzero):
    return x / x, 1


@mutant("rounding", "disagree")
def product_with_zero(x: Array):
    return x * 0, 0


@mutant("exact", "differ")
def signed_zero(x: Real):
    return x + 0, x


@mutant("exact", "differ")
def rounding_called_exact(x: Real, y: Real):
    return x / y, x * (1 / y)


@mutant("exact", "differ")
def nan_equals_itself(x: Real):
    return x == x, True


@mutant("exact", "differ")
def integers_wrap(x: Array):
    return snp.absolute(-x), snp.absolute(x)


@mutant("rounding", "disagree", stable="the wrong way round")
def fewer_digits(x: Real):
    return snp.log1p(x), snp.log(1 + x)


@mutant("rounding", "disagree")
def overflow_introduced(x: Real):
    return snp.softplus(x), snp.log(1 + snp.exp(x))


@mutant("rounding", "disagree")
def overflow_introduced_before_a_sum(x: Real, axis: Axes, keepdims: Flag):
    whole = applied("logsumexp", x, axis=axis, keepdims=keepdims)
    return whole, snp.log(applied("sum", snp.exp(x), axis=axis, keepdims=keepdims))


@mutant("rounding", "disagree")
def lost_keepdims(x: Real, axis: Axes):
    return snp.exp(x) / snp.sum(snp.exp(x), axis=axis), snp.softmax(x, axis=-1)


@mutant("rounding", "disagree")
def changed_axis(x: Real, axis: Axis):
    provided(axis != -1)
    return snp.softmax(x, axis=axis), snp.softmax(x, axis=-1)


@static
def reversed_order(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(reversed(axes))


@mutant("exact", "The sides of rule")
def wrong_permutation(x: Array, first: Permutation, second: Permutation):
    both = reversed_order(first)
    return snp.transpose(snp.transpose(x, first), second), snp.transpose(x, both)


@mutant("rounding", "disagree")
def broadcast_counted_once(x: Real, shape: Shape, axis: Axes):
    whole = snp.sum(snp.broadcast_to(x, shape), axis=axis)
    provided(whole.shape == x.shape)
    return whole, x


@mutant("exact", "differ")
def narrowing_cast(x: Array, middle: DType, dtype: DType):
    inner = applied("cast", x, dtype=middle)
    return applied("cast", inner, dtype=dtype), snp.cast(x, dtype)


@mutant("rounding", "disagree")
def extremum_for_sum(x: Real, axis: Axes, keepdims: Flag):
    least = applied("min", x, axis=axis, keepdims=keepdims)
    return applied("max", x, axis=axis, keepdims=keepdims), least


@mutant("domain", "disagree")
def wrong_where_defined(x: Real):
    return snp.exp(snp.log(x)), x + 1


@mutant("rounding", "gradients")
def wrong_derivative(x: Real):
    return snp.sin(x) * 2, snp.stop_gradient(snp.sin(x)) * 2


@mutant("rounding", "nothing is verified")
def contradiction(x: Nonnegative):
    provided(x.shape == (99,))
    return snp.absolute(x), x


@mutant("rounding", "cannot be applied")
def right_side_fails(x: Positive):
    return snp.absolute(x), snp.sum(x, axis=-7)


@building
def _beside(a: Array, b: Array, x: Array) -> Array:
    """A row of two blocks times a column, the rows of which are parted where the blocks are."""
    return a @ x[: a.shape[-1]] + b @ x[a.shape[-1] :]


@mutant("rounding", "disagree")
def upper_row_twice(a: Real, b: Real, c: Real, d: Real, x: Real):
    """Of five operands that seldom fit one another."""
    rows = (applied("concatenate", a, b, axis=-1), applied("concatenate", c, d, axis=-1))
    whole = snp.matmul(applied("concatenate", *rows, axis=-2), x)
    provided((a.ndim == 2) & (x.ndim == 2) & (a.shape[-1] == c.shape[-1]))
    return whole, applied("concatenate", _beside(a, b, x), _beside(c, b, x), axis=-2)


@mutant("exact", "reads a place out of range")
def read_before_repeated(x: Array, shape: Shape, i: Places, axis: Axis):
    """What is repeated has more places than what it is repeated from."""
    repeated = snp.broadcast_to(x, shape)
    whole = applied("gather", repeated, i, axis=axis)
    provided(x.ndim == repeated.ndim)
    once = applied("gather", x, i, axis=axis)
    return whole, snp.broadcast_to(once, whole.shape)


@mutant("rounding", "only one side has a value")
def root_of_a_negative_scale(x: Real, c: Scalar):
    """A negative number times a negative definite matrix has a factor."""
    provided(x.shape == (3, 3))
    return snp.cholesky(x * c), snp.cholesky(x) * snp.sqrt(c)


@static
def axes_in_front(ndim: int, shape: tuple[object, ...]) -> tuple[int, ...]:
    return tuple(range(-len(shape), -ndim))


@mutant("exact", "only one side has a value")
def extremum_of_nothing(x: Array, shape: Shape, axis: Axes):
    """A named axis may be empty."""
    whole = applied("min", snp.broadcast_to(x, shape), axis=axis, keepdims=False)
    provided(axes_in_front(x.ndim, shape) == axis)
    return whole, snp.broadcast_to(x, whole.shape)


@static
def two_axes_behind(index: tuple[object, ...]) -> bool:
    return index[-2:] == (None, None) and len(index) > 2


@mutant("exact", "differ")
def repeated_in_front_only(x: Array, index: Index, shape: Shape):
    """An axis behind may be repeated to the length of the one before it."""
    provided(two_axes_behind(index) & (x.shape == shape[-1:]))
    return snp.broadcast_to(applied("getitem", x, index=index), shape), snp.broadcast_to(x, shape)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_rejected(name: str) -> None:
    make, because, _ = MUTANTS[name]
    report = verify_rule(make())
    assert not report.ok, f"{name} passed"
    assert any(because in failure for failure in report.failures), report.failures
    assert "FAILED" in str(report)


def test_near_the_largest_number_sums_may_overflow_in_another_order() -> None:
    x, y = sg.input("x", (2,)), sg.input("y", (2,))
    sides = (snp.sum(x) + snp.sum(y)).node, snp.sum(x + y).node
    inputs = (x.node, y.node)
    made = Instance(log_of_exp, *sides, inputs, ((), ()), ((), ()), "rounding", None)
    report = Report("sum_of_sums", "rounding")
    most = np.finfo(np.float64).max
    numbers = {x.node: np.array([most, -most]), y.node: np.array([most, 3.0])}
    InstanceTrial(made, np.random.default_rng(0), report, thorough=False).compare(numbers, {})
    assert report.failures == []
    assert report.elements == 2


def test_a_wrong_earned_grade_is_rejected() -> None:
    @rule(sound="domain", earned={"rounding": {"x": Nonnegative}})
    def quotient_of_nonnegative(x: Real):
        return x / x, 1

    report = verify_rule(quotient_of_nonnegative)
    assert not report.ok
    assert "rounding" in report.failures[0]


@rule(sound="rounding")
def log10_of_exp10(x: Real) -> Any:
    """Beyond 4.8, 10**x is infinite in half precision."""
    return log10(exp10(x)), x


@rule(sound="rounding")
def log2_of_exp10(x: Real) -> Any:
    """The base is mistaken."""
    return snp.log2(exp10(x)), x


def test_a_rule_on_an_operation_asks_its_record_alone() -> None:
    report = verify_rule(log10_of_exp10)
    assert report.ok, report
    assert report.proved
    assert report.by_dtype["float16"]
    assert not verify_rule(log2_of_exp10).ok
    assert not is_proved(log2_of_exp10)
    assert any(
        "log10(exp2(x))" in mutant.what.replace("snp_", "").replace("snp.", "")
        for mutant in mutants_of(log10_of_exp10)
    )


def test_the_verdict_does_not_depend_on_chance() -> None:
    first, second = (verify_rule(log_of_exp) for _ in range(2))
    assert (first.instances, first.elements) == (second.instances, second.elements)
