"""The plain interpreter, and the door inputs come through."""

from __future__ import annotations

import numpy as np
import pytest

from symgraph.errors import InputError
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import bound_inputs, evaluate
from symgraph.ops.creation import dimension, input


def single(name: str, shape: object, dtype: str = "float64") -> Dag:
    x = input(name, shape, dtype)
    return Dag({name: x.node}, [(x * 2).node])


def test_named_dimensions_are_read_off_the_inputs() -> None:
    x, y = input("x", "n, m"), input("y", "m")
    size = dimension(x.shape[0] * x.shape[1], "float64")
    dag = Dag({"x": x.node, "y": y.node}, [(x * y / size).node])
    found = evaluate(dag, {"x": np.ones((2, 3)), "y": np.full(3, 12.0)})[0]
    np.testing.assert_array_equal(found, np.full((2, 3), 2.0))
    with pytest.raises(InputError, match="'y' has shape"):
        evaluate(dag, {"x": np.ones((2, 3)), "y": np.ones(4)})


def test_a_size_no_input_brings_is_given_by_name() -> None:
    x = input("x", ())
    from_name = Dag({"x": x.node}, [(x * dimension(input("z", "k").shape[0], "float64")).node])
    assert evaluate(from_name, {"x": 2.0}, {"k": 5})[0] == 10.0
    with pytest.raises(InputError, match="'k' is not known"):
        evaluate(from_name, {"x": 2.0})


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        (3, "float64"),
        ([1, 2], "float32"),
        (np.float32(1), "float64"),
        (np.arange(3, dtype="int32"), "int64"),
        (np.arange(3, dtype="int32"), "float64"),
        (np.arange(3.0).astype(">f8"), "float64"),
        (True, "float32"),
    ],
    ids=str,
)
def test_what_loses_nothing_is_converted(value: object, declared: str) -> None:
    x = input("x", np.shape(value), declared)
    arrays, _ = bound_inputs({"x": x.node}, {"x": value})
    assert arrays["x"].dtype == np.dtype(declared)
    np.testing.assert_array_equal(arrays["x"], np.asarray(value))


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        (np.ones(2), "float32"),
        (np.ones(2), "int64"),
        (np.ones(2, "complex128"), "float64"),
        (np.array(["a", "b"]), "float64"),
        (np.array([None, 1]), "float64"),
        ([1.5, 2.0], "int64"),
        (np.arange(2), "bool"),
    ],
    ids=str,
)
def test_what_loses_digits_is_refused_by_name(value: object, declared: str) -> None:
    with pytest.raises(InputError, match="Input 'weights'"):
        evaluate(single("weights", "2", declared), {"weights": value})


def test_missing_and_unknown_inputs_are_named() -> None:
    dag = single("x", "2")
    with pytest.raises(InputError, match="missing x"):
        evaluate(dag, {})
    with pytest.raises(InputError, match="unknown y") as error:
        evaluate(dag, {"x": np.ones(2), "y": 1.0})
    assert "x: float64[2]" in str(error.value)
    with pytest.raises(InputError, match="not an array of numbers"):
        evaluate(dag, {"x": [[1.0], [1.0, 2.0]]})


def test_inputs_are_never_written_to_and_results_share_nothing() -> None:
    x = input("x", "3")
    dag = Dag({"x": x.node}, [x.node, x.reshape(3, 1).node, (x + 1).node])
    given = np.arange(3.0)
    given.flags.writeable = False
    same, column, _ = evaluate(dag, {"x": given})
    same[0] = 7.0
    column[1] = 8.0
    assert given.tolist() == [0.0, 1.0, 2.0]


def test_floating_point_accidents_warn_nobody() -> None:
    x = input("x", ())
    dag = Dag({"x": x.node}, [np.log(x / x).node])
    assert np.isnan(evaluate(dag, {"x": 0.0})[0])


@pytest.mark.whole
def test_a_chain_of_20_000_holds_few_values_at_once() -> None:
    x = input("x", ())
    y = x
    for _ in range(20_000):
        y = y + 1
    assert evaluate(Dag({"x": x.node}, [y.node]), {"x": 0.0})[0] == 20_000.0
