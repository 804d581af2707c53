"""Workspaces: results are right and fresh, whoever calls, at whatever sizes."""

from __future__ import annotations

import gc
import pickle
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.lowered import Lowered, lower
from symgraph.backends.random_graphs import random_dag
from symgraph.ir.interpreter import evaluate
from symgraph.namespace import NUMPY, images


def slope(x: Any, w: Any) -> Any:
    """Several temporaries as large as the result."""
    y = np.exp(x) * w
    return np.sin(y) / (1 + y * y) + np.cos(y)


def lowered(shape: Any = "n, 7") -> Lowered:
    return sg.trace(slope, x=sg.spec(shape), w=sg.spec((7,))).lower()


def given(n: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(n)
    return {"x": rng.normal(size=(n, 7)), "w": rng.normal(size=7)}


def wanted(f: Lowered, values: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    return list(evaluate(f.dag, values))


def test_memory_is_kept_told_and_released() -> None:
    f = lowered((1000, 7))
    assert "w[0]" in f.source
    assert f.workspace_bytes == 0
    values = given(1000)
    f(**values)
    kept = f.workspace_bytes
    assert kept >= 2 * 56_000
    f(**values)
    assert f.workspace_bytes == kept
    f.release()
    assert f.workspace_bytes == 0
    np.testing.assert_array_equal(f(**values), wanted(f, values)[0])


def test_a_second_call_allocates_the_results_alone() -> None:
    f, values = lowered((4000, 7)), given(4000)
    f(**values)
    gc.collect()
    tracemalloc.start()
    try:
        result = f(**values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.nbytes <= peak <= result.nbytes + 4000


@pytest.mark.parametrize("seed", range(20))
def test_no_result_lies_in_the_workspace(seed: int) -> None:
    dag = random_dag(seed, size=40)
    f = lower(dag)
    rng = np.random.default_rng(seed)
    values = [
        {name: rng.normal(size=node.shape) for name, node in dag.inputs.items()} for _ in range(2)
    ]
    first = f(**values[0])
    copies = [np.array(each) for each in first]
    for each in f(**values[1]):
        each[...] = 3  # A caller may write to results.
    for result, copied, want in zip(first, copies, evaluate(dag, values[0]), strict=True):
        np.testing.assert_array_equal(result, copied)
        np.testing.assert_array_equal(result, want)


def test_sizes_change_from_call_to_call() -> None:
    f = lowered()
    largest = 0
    for n in (3, 50, 0, 1, 50, 2000, 3, *range(4, 20), 2000):
        values = given(n)
        np.testing.assert_array_equal(f(**values), wanted(f, values)[0])
        assert f.workspace_bytes >= largest
        largest = f.workspace_bytes
    assert largest >= 2000 * 7 * 8 * 2


def test_threads_have_a_workspace_each() -> None:
    f = lowered()
    wrong: list[int] = []
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        values = given(200 + number)
        want = wanted(f, values)[0]
        barrier.wait()
        for _ in range(200):
            if not np.array_equal(f(**values), want):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_within_a_call_has_its_own() -> None:
    inner: list[Any] = []
    values = given(5)

    def kernel(x: Any) -> Any:
        if not inner:
            inner.append(None)
            inner[0] = f(**values)
        return np.sin(x)

    again = sg.custom_op(kernel, name="sine_that_calls", infer=lambda x: x)
    f = sg.trace(
        lambda x, w: slope(again(np.exp(x) + 1) * 2, w), x=sg.spec("n, 7"), w=sg.spec((7,))
    )
    f = f.lower()
    outer = f(**values)
    np.testing.assert_array_equal(outer, inner[0])
    np.testing.assert_array_equal(outer, wanted(f, values)[0])


def test_a_call_that_fails_leaves_the_function_as_it_was() -> None:
    def take(x: Any, i: Any) -> Any:
        return np.sum(np.exp(x) * np.cos(x)) + np.exp(x)[i] * 2

    f = sg.trace(take, x=sg.spec((4,)), i=sg.spec((2,), "int64")).lower()
    x = np.arange(4.0)
    with pytest.raises(IndexError):
        f(x, np.array([0, 9]))
    np.testing.assert_array_equal(f(x, np.array([0, 3])), take(x, np.array([0, 3])))


def test_what_a_users_kernel_keeps_is_not_written_over() -> None:
    kept: list[np.ndarray[Any, Any]] = []

    def kernel(x: Any) -> Any:
        kept.append(x)
        return np.sin(x)

    noting = sg.custom_op(kernel, name="sine_that_keeps", infer=lambda x: x)
    f = sg.trace(lambda x: slope(noting(np.exp(x)), x) + 1, x=sg.spec((50,))).lower()
    x = np.linspace(0.0, 1.0, 50)
    f(x)
    f(2 * x)
    np.testing.assert_array_equal(kept[0], np.exp(x))


def test_a_pickle_holds_no_workspace() -> None:
    f, values = lowered((1000, 7)), given(1000)
    before = len(pickle.dumps(f))
    f(**values)
    text = pickle.dumps(f)
    assert len(text) == before
    again = pickle.loads(text)
    assert again.workspace_bytes == 0
    np.testing.assert_array_equal(again(**values), f(**values))


def test_planned_graphs_keep_to_their_plan() -> None:
    def chain(x: Any) -> Any:
        for _ in range(12):
            x = np.sin(x)
        return np.sum(x)

    graph = sg.trace(chain, x=sg.spec((1000,))).gradient("x")
    planned = graph.checkpoint(memory=graph.memory().peak_bytes * 2 // 3)
    assert "w: the workspace" in graph.lower().source
    assert "w: the workspace" not in planned.lower().source
    # An arena counts for the values that live in it, not for its whole length.
    assert "w: the arena" in planned.lower().source
    assert planned.memory_plan().peak_bytes <= graph.memory().peak_bytes * 2 // 3
    x = np.linspace(0.0, 1.0, 1000)
    for got, want in zip(planned.lower()(x), graph.lower()(x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_other_backends_keep_nothing() -> None:
    pytest.importorskip("jax")
    f = sg.trace(slope, x=sg.spec((3, 7)), w=sg.spec((7,))).lower(backend="jax")
    assert f.workspace_bytes == 0
    f.release()


def test_rows_are_not_copied_to_buffers_and_the_callers_setting_stays() -> None:
    """NumPy's own buffers of 8,192 elements take longer than a call a row does."""
    seen: list[int] = []

    def noted(xp: Any, x: Any, w: Any, *rest: Any) -> Any:
        seen.append(np.getbufsize())
        return images.convolution(xp, x, w, *rest)

    x, w = np.ones((1, 1, 5, 5)), np.ones((1, 1, 2, 2))
    f = sg.trace(snp.conv, x=sg.spec(x.shape), w=sg.spec(w.shape)).lower()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(NUMPY), "convolution", lambda self, *a: noted(self, *a))
        np.testing.assert_array_equal(f(x, w), np.full((1, 1, 4, 4), 4.0))
    assert seen == [1024]
    assert np.getbufsize() == 8192
