"""Compiled loops on several threads: the bits of one thread, the numbers of the interpreter."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from nativegraphs import LAYOUTS, arrays_for, digits_lost, native_graph, ulps_apart

import symgraph as sg
from symgraph.errors import InputError

pytest.importorskip("llvmlite", reason="the native extra is not installed")

from symgraph.backends import shared_loops
from symgraph.backends.native import BACKEND
from symgraph.native import groups, thread_parts

pytestmark = pytest.mark.oracle

ULPS = 256


@pytest.fixture(name="cut")
def small_parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Parts of a few numbers; how many parts each call of a loop had."""
    monkeypatch.setattr(groups, "LEAST_SHARED", 2)
    monkeypatch.setattr(thread_parts, "LEAST_SHARED", 2)
    for name in ("LEAST_PART", "_LEAST_ROWS", "_ALIGNED"):
        monkeypatch.setattr(thread_parts, name, 2)
    monkeypatch.setattr(shared_loops, "_LEAST_WORK", 1)
    monkeypatch.setattr(shared_loops, "_LEAST_TILES", 1)
    found: list[int] = []
    bounds = thread_parts.Parts.bounds

    def noted(self: thread_parts.Parts, rows: int, columns: int) -> list[tuple[int, int]]:
        cut = bounds(self, rows, columns)
        assert [start for start, _ in cut] == sorted([start for start, _ in cut])
        assert sum([count for _, count in cut]) == (rows if cut else 0)
        found.append(len(cut))
        return cut

    monkeypatch.setattr(thread_parts.Parts, "bounds", noted)
    return found


def agrees(seed: int, layout: str = "rows", *, sizes: Any = ((6, 21), (40, 70))) -> None:
    """Any number of threads gives the same bits, and the interpreter's numbers."""
    graph = native_graph(seed, ("float64", "float32")[seed % 2])
    uncut = graph.lower(backend=BACKEND)
    shared = [graph.lower(backend=BACKEND, threads=number) for number in (1, 2, 5)]
    for n, m in sizes:
        given = arrays_for(graph, np.random.default_rng(seed), layout, n, m)
        with np.errstate(all="ignore"):
            want = graph.evaluate(**given)
        first, *others = [f(**given) for f in shared]
        lost = digits_lost(seed, given)
        for got, expected, few in [
            *zip(first, want, lost, strict=True),
            *zip(uncut(**given), want, lost, strict=True),
        ]:
            assert ulps_apart(got, expected) <= ULPS + 4 * few
            assert not any(np.shares_memory(got, each) for each in given.values())
        for each in others:
            for got, expected in zip(each, first, strict=True):
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_graphs(first: int, cut: list[int]) -> None:
    for seed in range(first, first + 20):
        agrees(seed)
    assert sum([each > 1 for each in cut]) > len(cut) / 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, cut: list[int]) -> None:
    for seed in range(300, 308):
        agrees(seed, layout, sizes=((9, 21),))
    assert max(cut) > 1


@pytest.mark.fuzz
@pytest.mark.parametrize("first", range(1000, 4000, 100))
def test_more_random_graphs(first: int, cut: list[int]) -> None:
    for seed in range(first, first + 100):
        agrees(seed, [*LAYOUTS][seed % len(LAYOUTS)], sizes=((9, 21),))
    assert sum([each > 1 for each in cut]) > len(cut) / 2


# -- sizes that are cut by themselves --------------------------------------------------------------
def every_reduction(x: Any, y: Any) -> Any:
    e = np.exp(-x * x) * y
    share = e / np.sum(e * e + 1, axis=-1, keepdims=True)
    return np.sum(e, axis=0), np.sum(e), np.max(e, axis=0), np.min(e), e + 1, share


@pytest.mark.parametrize(
    "shape", [(11_000, 100), (400, 3001), (256, 4096), (300_001, 1), (1, 300_001)]
)
def test_large_loops(shape: tuple[int, int]) -> None:
    n, m = shape
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    for spec in (sg.spec("n, m"), sg.spec(shape)):
        graph = sg.trace(every_reduction, x=spec, y=spec)
        first, *others = [graph.lower(backend=BACKEND, threads=k)(x, y) for k in (1, 2, 3)]
        for each in others:
            for got, want in zip(each, first, strict=True):
                np.testing.assert_array_equal(got, want)
        for got, want in zip(first, graph.evaluate(x=x, y=y), strict=True):
            assert ulps_apart(got, want) <= ULPS
    assert n * m >= thread_parts.LEAST_SHARED


def test_what_no_sum_reaches_has_the_bits_of_uncut_loops() -> None:
    graph = sg.trace(every_reduction, x=sg.spec("n, m"), y=sg.spec("n, m"))
    x = np.random.default_rng(1).normal(size=(4000, 301))
    shared = graph.lower(backend=BACKEND, threads=2)(x, x)
    for got, want in list(zip(shared, graph.lower(backend=BACKEND)(x, x), strict=True))[2:]:
        np.testing.assert_array_equal(got, want)


def test_a_sum_over_all_is_used_after_the_loop() -> None:
    graph = sg.trace(
        lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))), x=sg.spec("n")
    )
    x = np.random.default_rng(2).normal(size=400_000)
    got = graph.lower(backend=BACKEND, threads=2)(x)
    assert ulps_apart(got, graph.evaluate(x=x)) <= ULPS


def test_sums_of_integers_and_of_an_initial_value() -> None:
    def function(x: Any) -> Any:
        return (
            np.sum(x * 3),
            np.sum(x * 3, axis=0),
            np.max(x * 3, initial=7),
            np.sum(x + 1, initial=5),
        )

    x = np.arange(-600_000, 600_000).reshape(12_000, 100) % 1013
    for dtype in ("int64", "int32"):
        given = x.astype(dtype)
        graph = sg.trace(function, x=sg.spec("n, 100", dtype))
        for number in (1, 2):
            got = graph.lower(backend=BACKEND, threads=number)(given)
            for one, other in zip(got, graph.evaluate(x=given), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [(300, 530, 700), (1000, 200, 37), (1, 300, 40), (0, 64, 64)])
@pytest.mark.parametrize("turned", [False, True])
def test_products(size: tuple[int, int, int], turned: bool) -> None:
    rows, inner, columns = size
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    if turned:
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    graph = sg.trace(
        lambda a, b, x: (a @ b, x * 2 + 1),
        a=sg.spec(("n", inner)),
        b=sg.spec(b.shape),
        x=sg.spec((3,)),
    )
    want = graph.lower(backend=BACKEND, products=True)(a, b, np.ones(3))[0]
    for number in (1, 2, 3):
        got = graph.lower(backend=BACKEND, products=True, threads=number)(a, b, np.ones(3))[0]
        np.testing.assert_array_equal(got, want)


# -- calls -----------------------------------------------------------------------------------------
def test_eight_threads_call_one_function() -> None:
    graph = sg.trace(every_reduction, x=sg.spec("n, m"), y=sg.spec("n, m"))
    lowered = graph.lower(backend=BACKEND, threads=2)
    rng = np.random.default_rng(1)
    given = [rng.normal(size=shape) for shape in ((3, 50), (22_000, 50), (11_000, 100))]
    want = [lowered(each, each) for each in given]

    def call(k: int) -> bool:
        found = lowered(given[k % 3], given[k % 3])
        return all(map(np.array_equal, found, want[k % 3]))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(200)))


@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_a_number_of_threads_that_is_none(number: Any) -> None:
    with pytest.raises(InputError, match="threads="):
        sg.trace(np.exp, x=sg.spec("n")).lower(BACKEND, threads=number)


def test_graphs_of_scalars_are_one_call_still() -> None:
    graph = sg.trace(lambda a, b: np.sin(a) * b + np.exp(a), a=sg.spec(()), b=sg.spec(()))
    plain, shared = graph.lower(backend=BACKEND), graph.lower(backend=BACKEND, threads=2)
    assert plain.source == shared.source
