"""Profiles: each line of the user's code has its own time, flops and bytes, and no number moves."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.backends.machine_speed import roof
from symgraph.backends.profile import Profile, ProfileRow

needs_native = pytest.mark.skipif(find_spec("llvmlite") is None, reason="no native extra")


def loss(X: Any, y: Any, W: Any) -> Any:
    h = np.tanh(X @ W)
    d = h - y
    return np.sum(d * d)


def graph_of_loss() -> sg.Graph:
    return sg.trace(loss, X="n, 5", y="n, 3", W="5, 3").gradient("W").simplify()


def given(n: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "X": rng.normal(size=(n, 5)), "y": rng.normal(size=(n, 3)), "W": rng.normal(size=(5, 3)),
    }  # fmt: skip


def texts(row: ProfileRow) -> list[str]:
    return [frame.text for frame in row.lines]


def row_of(table: Profile, text: str, part: str = "forward") -> ProfileRow:
    (found,) = [row for row in table.rows if texts(row) == [text] and row.part == part]
    return found


@pytest.mark.parametrize(
    "n", [40, pytest.param(60_000, marks=pytest.mark.whole)], ids=["whole", "in blocks"]
)
def test_rows_are_lines_and_add_up_to_the_costs_of_the_graph(n: int) -> None:
    graph = graph_of_loss()
    f = graph.lower()
    table = f.profile(**given(n))
    assert row_of(table, "h = np.tanh(X @ W)").operations[0] == "matmul"
    assert row_of(table, "h = np.tanh(X @ W)", "gradient").flops > 0
    assert {text for row in table.rows for text in texts(row)} == {
        "h = np.tanh(X @ W)", "d = h - y", "return np.sum(d * d)",
    }  # fmt: skip
    cost = graph.cost(n=n)
    assert sum(row.flops for row in table.rows) == cost.flops
    assert sum(row.bytes for row in table.rows) == cost.bytes
    assert sum(row.share for row in table.rows) == pytest.approx(1)
    assert table.parts == pytest.approx(sum(row.seconds for row in table.rows) + table.between)
    assert [row.seconds for row in table.rows] == sorted(
        [row.seconds for row in table.rows], reverse=True
    )


def test_a_slow_line_is_told_and_the_sum_is_the_call() -> None:
    @sg.custom_op
    def slow(x: Any) -> Any:
        time.sleep(0.004)
        return x + 1

    def model(x: Any) -> Any:
        y = slow(x)
        return np.sum(np.exp(y))

    table = sg.trace(model, x="3").lower().profile(np.ones(3))
    first = table.rows[0]
    assert texts(first) == ["y = slow(x)"]
    assert 0.004 <= first.seconds <= table.parts
    assert table.seconds >= 0.004
    assert first.flops_per_second == first.flops / first.seconds
    assert first.bytes_per_second == first.bytes / first.seconds


@pytest.mark.parametrize("backend", ["numpy", pytest.param("native", marks=needs_native)])
def test_no_number_changes_before_in_or_after_a_profile(backend: str) -> None:
    f = graph_of_loss().lower(backend)
    values = given(3000)
    before = f(**values)
    clocked: Any = f._compiled.clocked  # pyright: ignore[reportPrivateUsage]
    inside = clocked().run(*values.values(), 3000)
    f.profile(**values)
    for results in (inside, [before[0], before[1]], [*f(**values)]):
        assert [np.asarray(r).tobytes() for r in results] == [
            np.asarray(b).tobytes() for b in before
        ]


@needs_native
def test_lines_that_a_compiled_loop_computes_share_a_row() -> None:
    def model(x: Any, y: Any) -> Any:
        a = np.exp(x) * y
        b = np.tanh(a) + x
        return np.sum(b * b)

    f = sg.trace(model, x="n", y="n").lower("native")
    table = f.profile(np.ones(500), np.ones(500))
    (together,) = [row for row in table.rows if len(row.lines) > 1]
    assert texts(together)[:2] == ["a = np.exp(x) * y", "b = np.tanh(a) + x"]
    assert {"exp", "tanh"} <= set(together.operations)
    assert together.where.endswith("together")
    # Two operands are read once, and nothing between them leaves the loop.
    assert 2 * 500 * 8 <= together.bytes <= 2 * 500 * 8 + 64
    assert together.flops >= 2 * 10 * 500


def test_a_statement_of_a_loop_counts_at_every_step() -> None:
    def model(W: Any, x: Any) -> Any:
        def step(h: Any, each: Any) -> Any:
            h = np.tanh(W @ h + each)
            return h, h

        return sg.scan(step, np.zeros(4), x)[0]

    table = sg.trace(model, W="4, 4", x="n, 4").lower().profile(np.eye(4), np.ones((7, 4)))
    row = row_of(table, "h = np.tanh(W @ h + each)")
    assert row.flops == 7 * (2 * 16 + 4 + 40)
    assert row.calls == 7 * 3


def test_scalars_on_floats_are_timed() -> None:
    def model(a: Any, b: Any) -> Any:
        c = np.sin(a) * b
        return c + np.cos(b)

    f = sg.trace(model, a="", b="").lower()
    assert "def floats" in f.source
    table = f.profile(1.0, 2.0)
    assert {text for row in table.rows for text in texts(row)} == {
        "c = np.sin(a) * b", "return c + np.cos(b)",
    }  # fmt: skip
    assert all(row.seconds >= 0 for row in table.rows)


def test_functions_of_transforms_have_profiles() -> None:
    f = sg.value_and_grad(lambda x, k: np.sum(np.tanh(x) ** k))
    table = f.profile(np.ones(50), 2)
    assert {row.part for row in table.rows} == {"forward", "gradient"}
    directed = sg.hvp(lambda x: np.sum(np.tanh(x) ** 3))
    assert directed.profile(np.ones(50), v=np.ones(50)).rows
    assert f.cache_info().currsize == 1
    with pytest.raises(sg.InputError, match="symbolic"):
        f.profile(sg.input("x", (3,)), 2)


def test_it_prints_and_shows_itself_in_notebooks() -> None:
    table = graph_of_loss().lower().profile(**given())
    head, first, *_ = str(table).splitlines()
    assert head.split()[:4] == ["line", "ms", "share", "calls"]
    assert table.rows[0].lines[0].text in first
    assert "GFLOP/s in a product of float64 matrices" in str(table)
    page: str = vars(type(table))["_repr_html_"](table)
    assert page.count("<tr>") == 1 + len(table.rows)
    assert "test_profile.py:" in page


def test_what_cannot_be_profiled_is_refused() -> None:
    f = sg.trace(loss, X="4, 5", y="4, 3", W="5, 3").lower()
    with pytest.raises(sg.InputError, match="missing W"):
        f.profile(X=np.ones((4, 5)), y=np.ones((4, 3)))


@pytest.mark.skipif(find_spec("jax") is None, reason="no jax extra")
def test_a_backend_that_runs_all_at_once_refuses() -> None:
    f = sg.trace(np.sin, x="3").lower("jax")
    with pytest.raises(sg.BackendError, match="as a whole"):
        f.profile(np.ones(3))


def test_the_roof_is_measured_once() -> None:
    found = roof("float32")
    assert found is roof("float32")
    assert min(found.flops_per_second, found.bytes_per_second) > 0
