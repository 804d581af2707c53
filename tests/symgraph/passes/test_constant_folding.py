"""Constants are folded bit by bit as the interpreter would compute them, and only while small."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.node import Node
from symgraph.ir.walks import reachable
from symgraph.ops.creation import zeros
from symgraph.passes.constant_folding import with_constants_folded


def one(value: Any) -> Node:
    (result,) = with_constants_folded([value.node])
    return result


def test_what_depends_on_no_input_becomes_a_constant() -> None:
    x = sg.input("x", (3,))
    value = x * (sg.constant(2.0) + sg.constant(3.0))
    assert one(value) is (x * 5.0).node
    assert one(x + 1) is (x + 1).node


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (sg.constant(np.uint8(200)) + sg.constant(np.uint8(100)), np.uint8(44)),
        (sg.constant(np.int8(-128)) * -1, np.int8(-128)),
        (sg.constant(np.float32(1)) / 3, np.float32(1) / np.float32(3)),
        (snp.log(sg.constant(0.0)), np.float64(-np.inf)),
        (snp.log(sg.constant(-1.0)), np.float64(np.nan)),
        (sg.constant(0.0) * -1.0, np.float64(-0.0)),
        (sg.constant(1.0) > 0, np.bool_(True)),
    ],
)
def test_folding_is_what_numpy_computes_in_that_dtype(value: Any, expected: Any) -> None:
    result = one(value)
    assert result.is_constant
    assert result.dtype == expected.dtype
    assert result.params["value"].tobytes() == np.asarray(expected).tobytes() or np.isnan(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [3, 7, 10, 49, 100])
@pytest.mark.parametrize("axis", [0, 1, (0, 1), -2])
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_sum_of_equal_numbers_is_rounded_once(
    n: int, dtype: str, axis: Any, keepdims: bool
) -> None:
    """Added one by one, seven sevenths are less than 1 by two roundings."""
    number = np.asarray(1 / n, dtype)
    each = snp.exp(snp.broadcast_to(sg.constant(0 * number), (n, 3))) * number
    value = snp.sum(each, axis, keepdims=keepdims)
    (found,) = with_constants_folded([value.node], exact=False)
    whole = np.full((n, 3), Fraction(float(number)))
    expected = np.asarray(np.sum(whole, axis, keepdims=keepdims)).astype(
        dtype
    )  # of fractions, and so without rounding
    np.testing.assert_array_equal(found.params["value"], expected)
    assert found.dtype == dtype


def test_sums_of_other_numbers_are_the_interpreters() -> None:
    c = sg.constant(np.array([[0.1, 0.2, 0.7], [0.1, 0.2, 0.3]]))
    v = snp.exp(sg.constant(np.zeros(3)))
    moved = (snp.transpose(c), snp.diagonal(c), snp.diag(v), snp.trace(c[:, :2]), v[:, None] + c.T)
    for value in (snp.sum(c), snp.sum(c, 0), *moved):
        (found,) = with_constants_folded([value.node], exact=False)
        assert found is one(value)


def test_large_values_stay_as_small_as_they_are_written() -> None:
    wide = zeros((1000, 1000)) + 1
    assert (
        sum(node.params["value"].nbytes for node in reachable([one(wide)]) if node.is_constant) < 99
    )


def test_a_repeated_number_stays_one_number() -> None:
    assert one(zeros((3,))).op.name == "broadcast_to"
    assert one(snp.exp(zeros((3,)))).is_constant


def test_named_dimensions_are_not_folded() -> None:
    x = sg.input("x", "n")
    value = x * snp.exp(snp.zeros(x.shape))
    assert not one(value).operands[1].is_constant


def test_a_long_chain_folds_without_recursion() -> None:
    value = sg.constant(1.0)
    for _ in range(5000):
        value = snp.tanh(value)
    assert one(value).is_constant


def test_what_cannot_be_computed_is_left_to_be_told_when_it_runs() -> None:
    graph = sg.trace(lambda x: x @ np.linalg.inv(snp.zeros((2, 2))), x=(2, 2))
    small = graph.simplify()
    with pytest.raises(np.linalg.LinAlgError):
        small.evaluate(x=np.eye(2))
