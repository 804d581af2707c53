"""The entry that runs the program itself: what it takes, what it leaves to the slow entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.fast_entry import direct_entry

SPECS: Any = [(np.dtype("float64"), (2,)), (np.dtype("float64"), ())]


def entry(specs: Any = SPECS, dims: Any = (), grouping: str = "(r[0], {'sizes': r[1]})") -> Any:
    def run(*values: Any) -> Any:
        return values[0] if values else None, values[1:]

    return direct_entry(specs, dims, (np.ndarray,), run, grouping, {})


def test_it_groups_what_the_program_gives() -> None:
    x = np.ones(2)
    found, rest = entry()(x, 3.0)
    assert found is x
    (number,) = rest["sizes"]
    assert isinstance(number, np.ndarray)
    assert number == 3.0


@pytest.mark.parametrize(
    "given",
    [
        (), (np.ones(2),), (np.ones(2), 1.0, 1.0), (np.ones(3), 1.0), (np.ones((2, 1)), 1.0),
        (np.ones(2, "float32"), 1.0), ([1.0, 1.0], 1.0), (np.ones(2), 1), (np.ma.ones(2), 1.0),
        (np.ones(2, ">f8"), np.ones(1)),
    ],
)  # fmt: skip
def test_it_refuses_other_inputs(given: Any) -> None:
    assert entry()(*given) is None


def test_it_reads_sizes_of_named_dimensions() -> None:
    graph = sg.trace(lambda x, y: x * x.shape[0] + y, x=sg.spec(("n",)), y=sg.spec(("n",)))
    specs = [(node.dtype, node.shape) for node in graph.dag.inputs.values()]
    enter = entry(specs, ("n",), "r[1]")
    x = np.ones(4)
    assert enter(x, x)[1:] == (4,)
    assert enter(x, np.ones(3)) is None
    np.testing.assert_array_equal(graph.lower()(x, x), np.full(4, 5.0))


def test_an_error_of_the_program_tells_the_line_of_the_user() -> None:
    lowered = sg.trace(lambda a: snp.linalg.inv(a) * 2, a=sg.spec((2, 2))).lower()
    with pytest.raises(np.linalg.LinAlgError) as raised:
        lowered(np.zeros((2, 2)))
    assert any("while computing" in note for note in raised.value.__notes__)


def test_calls_within_calls_and_errors_leave_the_function_as_it_is() -> None:
    lowered = sg.trace(lambda a: snp.sum(snp.linalg.inv(a) @ a), a=sg.spec((3, 3))).lower()
    a = np.eye(3) + 0.1
    want = lowered(a)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            lowered(np.zeros((3, 3)))
        assert lowered(a) == want
        assert lowered(a=a) == want
