"""Every operation's derivatives, from one table: against numbers to order 2, against autograd."""

from __future__ import annotations

import itertools
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from autograd.core import primitive_vjps
from gradientrows import EXEMPT, ROWS

from symgraph.array import FUNCTIONS, Array
from symgraph.autodiff.reverse import cotangents
from symgraph.ir.differentiation import Undefined
from symgraph.ir.op import OPS, Op
from symgraph.ops.creation import input, ones
from symgraph.testing import GradientCase, check_grads, check_stacked
from symgraph.testing.gradients import numbers

ELEMENTWISE = [case for case in ROWS if case.elementwise]
SHAPES = {
    "0-d": [(), (), ()],
    "empty": [(0, 2), (0, 2), (2,)],
    "length 1": [(1,), (1, 1), (1,)],
    "broadcast right": [(2, 3), (3,), (1,)],
    "broadcast left": [(3,), (2, 3), (2, 1)],
    "broadcast both": [(2, 1), (1, 3), ()],
}
each_row = pytest.mark.parametrize("case", ROWS, ids=str)
each_elementwise = pytest.mark.parametrize("case", ELEMENTWISE, ids=str)


def drawn(case: GradientCase, shapes: Any = None, dtype: str = "float64") -> Any:
    rng = np.random.default_rng(7)
    shapes = shapes or itertools.repeat(None)
    return [
        operand.draw(rng, shape, dtype)
        for operand, shape in zip(case.operands, shapes, strict=False)
    ]


def rules_of(op: Op, operands: int) -> list[Any]:
    return [op.vjp_rule(i) for i in range(operands)]


@pytest.mark.sampled(one_in=12, each="case.op")
@each_row
def test_orders_one_and_two(case: GradientCase) -> None:
    check_grads(case.call, *drawn(case), order=case.order, analytic=case.analytic)


@pytest.mark.sampled(one_in=10)
@each_row
def test_float32(case: GradientCase) -> None:
    check_grads(case.call, *drawn(case, dtype="float32"), order=case.order, analytic=case.analytic)


@pytest.mark.sampled(one_in=10)
@each_row
def test_cotangents_may_be_stacked(case: GradientCase) -> None:
    check_stacked(case.call, *drawn(case))


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=list(SHAPES))
@each_elementwise
def test_shapes(case: GradientCase, shapes: list[tuple[int, ...]]) -> None:
    arrays = drawn(case, shapes)
    check_grads(case.call, *arrays, order=1, analytic=case.analytic)
    check_stacked(case.call, *arrays)


@pytest.mark.sampled(one_in=12)
@each_row
def test_layout_does_not_matter(case: GradientCase) -> None:
    arrays = [np.ascontiguousarray(array[::-1])[::-1] for array in map(np.atleast_1d, drawn(case))]
    if any(array.shape != given.shape for array, given in zip(arrays, drawn(case), strict=True)):
        pytest.skip("0-d operands have no strides")
    check_grads(case.call, *arrays, order=1, analytic=case.analytic)


# Rows that are the NumPy function alone, for which autograd has a rule.
SHARED = [
    case
    for case in ELEMENTWISE
    if not case.note
    and case.call is FUNCTIONS.get(case.op)
    and getattr(anp, case.op, None) in primitive_vjps
    and case.op != "clip"  # autograd has no derivative with respect to the bounds
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("case", SHARED, ids=str)
def test_against_autograd(case: GradientCase) -> None:
    arrays = drawn(case)
    reference = getattr(anp, case.op)

    def total(*values: Any) -> Any:
        return anp.sum(reference(*values))

    want = autograd.grad(total, argnum=tuple(range(len(arrays))))(*arrays)
    inputs = tuple(input(f"x{i}", array.shape) for i, array in enumerate(arrays))
    out = case.call(*inputs)
    got = cotangents([(out, ones(out.shape))], inputs)
    for found, expected in zip(got, want, strict=True):
        value = evaluated(found, inputs, arrays)
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12)


def test_autograd_shares_most_of_the_table() -> None:
    assert len(SHARED) > 30


def evaluated(array: Array | None, inputs: list[Array], at: list[Any]) -> Any:
    return 0.0 if array is None else numbers([array], list(zip(inputs, at, strict=True)))[0]


def test_every_differentiable_operation_has_a_row() -> None:
    covered = {case.op for case in ROWS} | EXEMPT
    missing = [
        op.name
        for op in OPS.values()
        if op.name not in covered and not op.custom and any(map(differentiable, rules_of(op, 3)))
    ]
    assert not missing, f"Add rows in tests/support/gradientrows for {missing}."


def differentiable(rule: Any) -> bool:
    return rule is not None and not isinstance(rule, Undefined)
