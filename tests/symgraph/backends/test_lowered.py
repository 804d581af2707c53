"""A lowered graph as a function: its inputs are checked and converted, its results grouped."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import symgraph.numpy as snp
from symgraph.backends.lowered import lower
from symgraph.errors import InputError
from symgraph.ir.dag import Dag
from symgraph.ops.creation import input


def graph() -> Dag:
    x, w = input("x", "n, 3"), input("w", (3,))
    return Dag({"x": x.node, "w": w.node}, [snp.exp(x * w).node, snp.sum(x).node])


GIVEN = {"x": np.arange(6.0).reshape(2, 3), "w": np.array([0.1, 0.2, 0.3])}


def test_by_name_by_position_and_both() -> None:
    f = lower(graph())
    wanted = np.exp(GIVEN["x"] * GIVEN["w"])
    for got, total in (f(**GIVEN), f(*GIVEN.values()), f(GIVEN["x"], w=GIVEN["w"])):
        np.testing.assert_array_equal(got, wanted)
        assert total == 15
    assert list(inspect.signature(f).parameters) == ["x", "w"]
    assert repr(f) == "<lowered_to_numpy(x, w)>"


def test_lists_and_safe_casts_are_taken() -> None:
    f = lower(graph())
    got, _ = f(x=[[1, 2, 3]], w=np.float32([1, 1, 1]))
    np.testing.assert_array_equal(got, np.exp([[1.0, 2, 3]]))


@pytest.mark.parametrize(
    ("args", "given", "words"),
    [
        ((), {"x": GIVEN["x"]}, "missing w"),
        ((), {**GIVEN, "v": 1}, "unknown v"),
        ((GIVEN["x"],), {}, "missing w"),
        ((1, 2, 3), {}, "3 inputs are given"),
        ((GIVEN["x"],), GIVEN, "'x' is given twice"),
        ((), {**GIVEN, "w": np.zeros(4)}, r"'w' has shape \[4\], but \[3\]"),
        ((), {**GIVEN, "x": np.zeros((2, 4))}, "'x' has shape"),
        ((), {**GIVEN, "w": np.zeros(3, complex)}, "dtype complex128"),
        ((), {**GIVEN, "w": "abc"}, "'w'"),
        ((), {**GIVEN, "n": 3}, "n"),
    ],
)
def test_wrong_inputs(args: tuple[Any, ...], given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        lower(graph())(*args, **given)


def test_one_lowered_function_serves_every_size() -> None:
    f = lower(graph())
    for n in (0, 1, 2, 1000):
        got, total = f(x=np.ones((n, 3)), w=np.zeros(3))
        np.testing.assert_array_equal(got, np.ones((n, 3)))
        assert total == 3 * n


def test_two_inputs_that_disagree_on_a_size() -> None:
    x, y = input("x", "n"), input("y", "n")
    f = lower(Dag({"x": x.node, "y": y.node}, [(x + y).node]))
    with pytest.raises(InputError, match="n=2"):
        f(x=np.zeros(2), y=np.zeros(3))


def test_sizes_no_input_brings_are_passed_by_name() -> None:
    x = input("x", ())
    f = lower(Dag({"x": x.node}, [snp.broadcast_to(x, "m, 2").node]))
    np.testing.assert_array_equal(f(x=1.0, m=3), np.ones((3, 2)))
    with pytest.raises(InputError, match="size of dimension 'm'"):
        f(x=1.0)


def test_results_are_grouped_as_the_graph_asks() -> None:
    x = input("x", ())
    outputs = [x.node, (x + 1).node, (x + 2).node]
    f = lower(Dag({"x": x.node}, outputs, structure=(0, {"next": [1, (2,)]})))
    value, rest = f(x=1.0)
    assert value == 1
    assert rest == {"next": [2.0, (3.0,)]}


def test_a_guard_sees_each_call() -> None:
    seen: list[Any] = []
    f = lower(graph()).guarded(lambda **inputs: seen.append(sorted(inputs)))
    f(**GIVEN)
    f(*GIVEN.values())
    assert seen == [["w", "x"], ["w", "x"]]


def test_groups_deeper_than_python_parses_are_walked_through() -> None:
    x = input("x", (2,)).node
    deep: Any = 0
    for _ in range(300):
        deep = (deep,)
    found = lower(Dag({"x": x}, [x], structure=deep))(np.ones(2))
    for _ in range(300):
        (found,) = found
    np.testing.assert_array_equal(found, np.ones(2))


def test_keys_with_quotes_and_backslashes_stay() -> None:
    x = input("x", (2,)).node
    keys = ["it's", 'a "b"', "c\\n{0}", "", "\n"]
    f = lower(Dag({"x": x}, [x], structure={key: [0] for key in keys}))
    found = f(np.ones(2))
    assert list(found) == keys
    assert all(type(each) is list for each in found.values())
