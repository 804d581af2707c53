"""Calls on several threads give the bits of calls on one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from nativegraphs import LAYOUTS, arrays_for, digits_lost, native_graph, ulps_apart

import symgraph as sg
from symgraph.backends import threads
from symgraph.backends.lowered import lower
from symgraph.backends.random_graphs import random_dag
from symgraph.backends.threads import InOrder, Team
from symgraph.errors import BackendError, InputError
from symgraph.lowering import block_sizes

NUMBERS = (1, 2, 3, 8)


@pytest.fixture(name="_small_blocks")
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, so that small arrays are computed by several threads."""
    for name in ("VALUE_BYTES", "OPERAND_BYTES", "LEAST_BYTES"):
        monkeypatch.setattr(block_sizes, name, 64)
    monkeypatch.setattr(block_sizes, "LEAST_SHARED_BYTES", 64)
    monkeypatch.setattr(block_sizes, "MOST_COMBINED", 1e9)
    monkeypatch.setattr("symgraph.lowering.fusion.LEAST_BYTES", 64)


def flat(results: Any) -> list[Any]:
    if isinstance(results, (tuple, list)):
        return [each for part in results for each in flat(part)]
    return [results]


def same_bits(got: Any, want: Any) -> None:
    for one, other in zip(flat(got), flat(want), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def logistic(X: Any, y: Any, w: Any) -> Any:
    z = X @ w
    return np.sum(np.log1p(np.exp(-np.abs(z))) + (np.abs(z) + z) / 2 - y * z)


@cache
def logistic_graph() -> Any:
    specs = {"X": sg.spec("n, 40"), "y": sg.spec("n"), "w": sg.spec((40,))}
    return sg.trace(logistic, **specs).gradient("w").simplify()


def logistic_data(n: int, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return {"X": rng.normal(size=(n, 40)), "y": rng.random(n), "w": rng.normal(size=40) / 9}


# -- results ---------------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=6)
@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed: int) -> None:
    dag = random_dag(seed, size=40, dtype="float32" if seed % 4 == 3 else "float64", rows="n")
    plain = lower(dag)
    shared = [lower(dag, threads=number) for number in NUMBERS]
    rng = np.random.default_rng(seed)
    for n in (30, 1, 57):
        values = {
            name: rng.normal(size=[n if str(dim) == "n" else dim for dim in each.shape]).astype(
                each.dtype
            )
            for name, each in dag.inputs.items()
        }
        want = plain(**values)
        for f in shared:
            same_bits(f(**values), want)


@pytest.mark.fuzz
@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("first", range(5000, 7000, 100))
def test_more_random_graphs(first: int) -> None:
    cut = 0
    for seed in range(first, first + 100):
        layout = [*LAYOUTS][seed % len(LAYOUTS)]
        graph = native_graph(seed, ("float64", "float32")[seed % 2])
        plain, shared = graph.lower(), [graph.lower(threads=number) for number in (1, 3)]
        cut += "spread(part0" in shared[0].source
        given = arrays_for(graph, np.random.default_rng(seed), layout, 40, 21)
        with np.errstate(all="ignore"):
            want = graph.evaluate(**given)
        lost = digits_lost(seed, given)
        for got, expected, few in zip(plain(**given), want, lost, strict=True):
            # Sums of both signs cancel, and blocks of a row add hundreds of numbers one by one.
            assert ulps_apart(got, expected) <= 2048 + 4 * few
        for f in shared:
            same_bits(f(**given), plain(**given))
    assert cut > 5


@pytest.mark.whole
@pytest.mark.usefixtures("_small_blocks")
def test_random_graphs_are_computed_by_parts() -> None:
    found = [
        "spread(part0" in lower(random_dag(seed, size=40, rows="n"), threads=2).source
        for seed in range(60)
    ]
    assert sum(found) >= 20


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("number", NUMBERS)
def test_sums_have_the_bits_of_one_thread(number: int) -> None:
    graph, values = logistic_graph(), logistic_data(120_000)
    f = graph.lower(threads=number)
    assert "spread(part0, w[0], products=True)" in f.source
    same_bits(f(**values), graph.lower(threads=1)(**values))
    for got, want in zip(flat(f(**values)), flat(graph.evaluate(**values)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10)


def test_each_thread_has_scratch_memory() -> None:
    values = logistic_data(120_000)
    kept: list[int] = []
    for number in NUMBERS:
        f = logistic_graph().lower(threads=number)
        f(**values)
        kept.append(f.workspace_bytes)
    assert kept == sorted({*kept})


@pytest.mark.usefixtures("_small_blocks")
def test_a_thread_does_not_warn() -> None:
    f = sg.trace(lambda x: np.exp(np.log(x) * 3) + 1, x=sg.spec("n")).lower(threads=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(f(np.full(4000, -1.0))).all()


# -- calls -----------------------------------------------------------------------------------------
def test_eight_threads_call_one_function() -> None:
    f = logistic_graph().lower(threads=2)
    given = [logistic_data(n, n) for n in (60_000, 40_000, 50)]
    want = [f(**each) for each in given]
    wrong: list[int] = []

    def call(k: int) -> None:
        for got, expected in zip(flat(f(**given[k % 3])), flat(want[k % 3]), strict=True):
            if not np.array_equal(got, expected):
                wrong.append(k)

    with ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(call, range(60))]) == 60
    assert not wrong


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("backend", ["numpy"])
def test_a_number_of_threads_that_is_none(backend: str, number: Any) -> None:
    graph = sg.trace(np.exp, x=sg.spec("n"))
    with pytest.raises(InputError, match=r"threads="):
        graph.lower(backend, threads=number)


def test_backends_without_threads_of_ours_refuse() -> None:
    pytest.importorskip("jax")
    with pytest.raises(BackendError, match="threads"):
        sg.trace(np.exp, x=sg.spec("n")).lower("jax", threads=2)


# -- teams -----------------------------------------------------------------------------------------
def test_parts_run_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=60)

    def part(numbers: Iterable[int]) -> None:
        for _ in numbers:
            both.wait()

    Team(2).spread(part, [range(6)] * 2)


def test_an_error_of_another_thread_reaches_the_caller() -> None:
    begun = threading.Event()
    caller = threading.current_thread()

    def part(numbers: Iterable[int]) -> None:
        for _ in numbers:
            if threading.current_thread() is caller:
                assert begun.wait(60)
            else:
                begun.set()
                raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        Team(2).spread(part, [range(2)] * 2)


def test_after_an_error_of_the_caller_no_part_begins() -> None:
    begun: list[int] = []

    def part(numbers: Iterable[int]) -> None:
        for number in numbers:
            begun.append(number)
            raise ValueError(f"part {number}")

    with pytest.raises(ValueError, match="part"):
        Team(2).spread(part, [range(1000)] * 2)
    assert len(begun) <= 2


def test_nobody_waits_for_a_thread_that_has_not_begun() -> None:
    """All threads of the pool are busy with calls that ask for more threads."""

    def inner(numbers: Iterable[int]) -> None:
        for _ in numbers:
            time.sleep(0.001)

    def outer(numbers: Iterable[int]) -> None:
        for _ in numbers:
            Team(3).spread(inner, [range(5)] * 3)

    Team(3).spread(outer, [range(12)] * 3)


def test_values_are_taken_in_order() -> None:
    found: list[int] = []
    put: InOrder[int] = InOrder(found.append)
    rng = np.random.default_rng(0)
    orders = rng.permutation(400)

    def part(numbers: Iterable[int]) -> None:
        for number in numbers:
            put(int(orders[number]), int(orders[number]))

    Team(8).spread(part, [range(400)] * 8)
    assert found == [*range(400)]


# -- BLAS ------------------------------------------------------------------------------------------
def blas_threads() -> list[int]:
    control = pytest.importorskip("threadpoolctl")
    return [each["num_threads"] for each in control.threadpool_info() if each["user_api"] == "blas"]


def test_blas_has_one_thread_in_parts_and_its_own_afterwards() -> None:
    control = pytest.importorskip("threadpoolctl")
    seen: list[list[int]] = []

    def part(numbers: Iterable[int]) -> None:
        for number in numbers:
            if not number:
                Team(2).spread(lambda _: None, [range(2)] * 2, products=True)
                seen.append(blas_threads())

    with control.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        Team(2).spread(part, [range(4)] * 2, products=True)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError):
            Team(2).spread(lambda _: 1 // 0, [range(4)] * 2, products=True)
        assert blas_threads() == before
    assert before[0] == 2
    assert seen[0][0] == 1


def test_without_a_way_to_tell_blas_the_caller_works_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_can_tell_blas", lambda: False)
    seen: set[int] = set()

    def part(numbers: Iterable[int]) -> None:
        for _ in numbers:
            seen.add(threading.get_ident())
            time.sleep(0.001)

    Team(4).spread(part, [range(20)] * 4, products=True)
    assert seen == {threading.get_ident()}


# -- processes -------------------------------------------------------------------------------------
_FORKS = """
import os, sys
import numpy as np, symgraph as sg
def f(X, w):
    z = X @ w
    return np.sum(np.log1p(np.exp(-np.abs(z))) * z)
g = sg.trace(f, X=sg.spec("n, 40"), w=sg.spec((40,))).gradient("w").simplify().lower(threads=3)
X, w = np.random.default_rng(0).normal(size=(120_000, 40)), np.ones(40)
want = g(X, w)
child = os.fork()
if not child:
    got = g(X, w)
    same = all(np.array_equal(a, b) for a, b in zip(got, want))
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
again = g(X, w)
assert all(np.array_equal(a, b) for a, b in zip(again, want))
sys.exit(os.waitstatus_to_exitcode(status))
"""

_ENDS = """
import atexit
import numpy as np, symgraph as sg
f = sg.trace(lambda x: np.exp(x) * np.sin(x) + np.sum(x * 2), x=sg.spec("n")).lower(threads=4)
x = np.linspace(0, 1, 10**6)
want = f(x)
def late():
    print(np.array_equal(f(x), want))
atexit.register(late)
"""


def printed(text: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.whole
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_has_threads_of_its_own() -> None:
    printed(_FORKS)


@pytest.mark.whole
def test_a_call_while_the_interpreter_ends() -> None:
    assert printed(_ENDS) == "True\n"
