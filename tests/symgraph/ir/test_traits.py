"""Each trait that an operation declares holds on numbers, and what holds is declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trait_checks import (
    Case,
    arrangements,
    declared,
    floats,
    holds,
    indices,
    logarithmic,
    sampled_ops,
    signed_zero,
    takes_places,
    takes_square_alone,
    undeclared,
)

from symgraph.ir.op import OPS, Op
from symgraph.ir.traits import (
    EVEN,
    MOVEMENT,
    ODD,
    Angle,
    Exponential,
    ExponentialSum,
    Logarithm,
    Matrices,
    Selection,
    Traits,
)
from symgraph.namespace import NUMPY

SAMPLED = [op.name for op in sampled_ops()]

_MARK = "It marks a value for derivatives, and is looked at by name where they are taken."
_BODY = "It does what the function given by the user does."
_SLOPE = "Its result does not depend on the slope, but its derivative does."
_SIZE = "It depends on the size: the samples are of odd order."
_ROUNDING = "The next number is as near as rounding."

REASONED = {
    "clip": {"linear together", "movement", "odd in 0"},  # the sample's numbers lie within
    "clip_gradient": _MARK,
    "stop_gradient": _MARK,
    "kept_value": "It is there so that no rule looks into the value.",
    "converged": "It is its first operand, and raises where a loop has not ended.",
    "custom_vjp": _BODY,
    "implicit": _BODY,
    "linear_solution": _BODY,
    "while_loop": _BODY,
    "project": "It takes one of several results, whatever made them.",
    "det": _SIZE,
    "cofactor": _SIZE,
    "cofactor_along": {"homogeneous of degree 2", "linear in 0", "odd in 0"},  # of three rows
    "product_of_others": _SIZE,
    "prod": _SIZE,
    "matmul": {"commutative"},  # of two vectors
    "where": {"even in 2", "linear in 1", "odd in 1"},  # of numbers as conditions all are true
    "overlap_add": {"movement"},  # the sample's windows hardly overlap
    "qr_complement": "Its columns have any sign: nothing is said of them.",
    # No sample of a quotient has the divisor 0.
    "divide_or_slope": {"blind in 2"},
    "with_slope": _SLOPE,
    # No sample of a product is infinite times 0, and none of a logarithm is 0.
    "multiply_or_zero": {"linear in 1", "monomial (1.0, 1.0)"},
    "log_or_zero": {"logarithm 2.72 0"},
    "voigt_profile": {"even in 0"},  # of an even order of the derivative
    "nextafter": _ROUNDING,
    "spacing": _ROUNDING,
}
"""Identities that hold on the samples and are no traits: which, or the reason for all of them."""


def test_every_operation_with_traits_is_sampled() -> None:
    plain = Traits()
    told = {name for name, op in OPS.items() if not op.custom and _identities(op.traits) != plain}
    assert told <= set(SAMPLED)


def _identities(traits: Traits) -> Traits:
    """Without what is told by shapes and dtypes, which have tests of their own below."""
    told: dict[str, Any] = {"commutative": False, "elementwise": False, "at_places": False}
    told |= {"arrangement": None, "matrices": None, "blind": (), "comparison": None}
    return replace(traits, **told, other_logarithm=False)


@pytest.mark.parametrize("name", SAMPLED)
def test_declared_traits_hold(name: str) -> None:
    op = OPS[name]
    assert [claim for claim, check in declared(op).items() if not holds(op, check)] == []


@pytest.mark.parametrize("name", SAMPLED)
def test_traits_that_hold_are_declared(name: str) -> None:
    found = undeclared(OPS[name])
    reasoned = REASONED.get(name, set[str]())
    if isinstance(reasoned, str):
        assert found, f"{name} needs no reason any more"
    else:
        assert set(found) == reasoned


@pytest.mark.parametrize("name", SAMPLED)
def test_where_the_sign_of_a_zero_counts(name: str) -> None:
    op = OPS[name]
    found = tuple(place for place in floats(op) if signed_zero(op, place))
    assert found == op.traits.signed_zero


def test_where_elements_go_is_declared() -> None:
    found = {op.name: arrangements(op) for op in OPS.values() if not op.custom}
    unsaid = {name for name, reason in REASONED.items() if reason in (_BODY, _SLOPE)}
    wrong = {
        name: there
        for name, there in found.items()
        if (there and OPS[name].traits.arrangement is None and name not in unsaid)
        or (OPS[name].traits.arrangement is not None and OPS[name].traits.arrangement not in there)
    }
    assert wrong == {}


def test_operations_on_square_matrices_say_so() -> None:
    square = (Matrices.SQUARE, Matrices.DEFINITE)
    told = {op.name: op.traits.matrices in square for op in OPS.values() if not op.custom}
    found = {name: takes_square_alone(OPS[name]) for name in told}
    assert {name: has for name, has in found.items() if has is not None and has != told[name]} == {}


def test_logarithms_say_so() -> None:
    found = {op.name: logarithmic(op) for op in OPS.values() if not op.custom}
    wrong = {
        name
        for name, has in found.items()
        if has is not None and has != OPS[name].traits.logarithmic
    }
    assert wrong == set()
    assert found["log_ndtr"] is True
    assert found["exp2"] is False


def test_a_logarithm_is_declared_once() -> None:
    twice = {
        name
        for name, op in OPS.items()
        if op.traits.other_logarithm and replace(op.traits, other_logarithm=False).logarithmic
    }
    assert twice == set()


def test_operations_at_places_say_so() -> None:
    wrong = {
        op.name
        for op in OPS.values()
        if not op.custom and takes_places(op) not in (None, op.traits.at_places)
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("cos", ODD),
        ("sin", EVEN),
        ("exp", ODD),
        ("arcsin", Traits(linear=(0,))),
        ("cumsum", MOVEMENT),
        ("max", Traits(linear=(0,))),
        ("sum", Traits(shift=1)),
        ("sqrt", Traits(homogeneous=1)),
        ("subtract", Traits(commutative=True)),
        ("maximum", Traits(elementwise=True, commutative=True)),
        ("power", Traits(linear=(0,))),
        ("exp2", Traits(exponential=Exponential())),
        ("expm1", Traits(exponential=Exponential())),
        ("log10", Traits(logarithm=Logarithm(2))),
        ("add", Traits(combination=(1, -1))),
        ("divide", Traits(monomial=(1, 1))),
        ("multiply", Traits(raises=True)),
        ("sinh", Traits(angle=Angle("sine"))),
        ("sigmoid", Traits(exponential_sum=ExponentialSum(logarithm=True))),
        ("fmax", Traits(selection=Selection.LARGEST)),
        ("maximum", Traits(selection=Selection.LEAST)),
        ("cumsum", Traits(indices=OPS["broadcast_to"].traits.indices)),
    ],
)
def test_a_wrong_declaration_is_found(name: str, wrong: Traits) -> None:
    assert not all(holds(OPS[name], check) for check in declared(_claiming(name, wrong)).values())


@pytest.mark.parametrize(
    "name",
    ["arcsin", "cumsum", "max", "exp2", "log10", "hypot", "matmul", "cos", "divide", "softplus"],
)
def test_a_missing_declaration_is_found(name: str) -> None:
    assert undeclared(_claiming(name, Traits()))


def _claiming(name: str, traits: Traits) -> Op:
    """The operation with other traits."""
    return replace(OPS[name], traits=traits)


def test_comparisons_are_told_by_side_and_ties() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    compared = {op.traits.comparison: op for op in OPS.values() if op.traits.comparison}
    assert len(compared) == 5
    for form, op in compared.items():
        wanted = (np.sign(x - y) == form.side) & (x != y) | (form.ties & (x == y))
        assert np.array_equal(op.kernel(NUMPY, x, y), wanted), op.name


WHOLE = (None, None, 1)


@pytest.mark.parametrize(
    ("name", "params", "stays"),
    [
        ("reshape", {"shape": (6,)}, True),
        ("getitem", {"index": (None, WHOLE, WHOLE)}, True),
        ("getitem", {"index": (WHOLE, (None, None, -1))}, False),
        ("getitem", {"index": (0, WHOLE)}, False),
        ("embed", {"index": (WHOLE, WHOLE), "shape": (2, 3)}, True),
        ("embed", {"index": (WHOLE, (0, 3, 1)), "shape": (2, 5)}, False),
    ],
)
def test_which_params_leave_elements_in_order(name: str, params: Any, stays: bool) -> None:
    op, x = OPS[name], np.arange(6.0).reshape(2, 3)
    assert op.traits.in_order is not None
    assert op.traits.in_order(**params) == stays
    assert np.array_equal(np.ravel(op.kernel(NUMPY, x, **params)), x.ravel()) == stays


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 3, 3)])
def test_the_main_diagonal_by_labels(shape: tuple[int, ...]) -> None:
    op, x = OPS["diagonal"], np.random.default_rng(0).normal(size=shape)
    assert indices(Case(op, {"offset": 0}, (x,), (0,)))
    assert indices(Case(op, {"offset": 1}, (x,), (0,))) is None
    assert not indices(Case(replace(op, kernel=_first_row), {"offset": 0}, (x,), (0,)))


def _first_row(xp: Any, x: Any, *, offset: int) -> Any:
    return x[..., offset, :]
