"""A graph built like one that was simplified gets the same result, told in its own lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textbook import Row, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    sg.cache.folder = tmp_path / "known"
    yield tmp_path / "known"
    sg.cache.folder = None


def softplus(x: Any) -> Any:
    hidden = np.exp(x)
    return np.sum(np.log(1 + hidden))


def scaled(factor: float) -> Any:
    def kernel(x: Any) -> Any:
        return factor * x

    return sg.custom_op(name="scaled_here", vjp=lambda ct, out, x: factor * ct)(kernel)


def gradient(f: Any = softplus, **shapes: Any) -> sg.Graph:
    return sg.trace(f, **(shapes or {"x": "n"})).gradient("x")


def is_hit(graph: sg.Graph, **how: Any) -> bool:
    before = sg.cache.info().hits
    graph.simplify(**how)
    return sg.cache.info().hits > before


@pytest.mark.sampled(one_in=160)
@pytest.mark.parametrize("row", CATALOGUE, ids=[row.name for row in CATALOGUE])
def test_a_known_result_is_the_one_found_anew(row: Row) -> None:
    def found() -> sg.Graph:
        return traced(row.f, row.specs).gradient(*row.wrt, value=False).simplify()

    anew, known = found(), found()
    assert sg.cache.info().hits == 1
    assert known.to_json() == anew.to_json()
    assert len(known.explain().splitlines()) == len(anew.explain().splitlines())


def test_a_result_is_told_in_the_lines_of_now() -> None:
    def again(x: Any) -> Any:
        hidden = np.exp(x)

        return np.sum(np.log(1 + hidden))

    first, second = gradient().simplify(), gradient(again).simplify()
    assert sg.cache.info().hits == 1
    lines = [
        {frame.line for node in graph.nodes if not node.is_input for frame in node.origin.frames}
        for graph in (first, second)
    ]
    assert lines[0].isdisjoint(lines[1])
    assert str(first.formula()) == str(second.formula())


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (lambda x: np.sum(np.log(2 + np.exp(x))), {"x": "n"}),
        (lambda x: np.sum(np.log(1.0 + np.expm1(x))), {"x": "n"}),
        (softplus, {"x": "m"}),
        (softplus, {"x": (3,)}),
        (softplus, {"x": sg.spec("n", "float32")}),
        (softplus, {"x": sg.spec("n", assume=sg.positive)}),
    ],
)
def test_what_differs_is_found_anew(f: Any, shapes: Any) -> None:
    gradient().simplify()
    assert not is_hit(gradient(f, **shapes))


def test_another_way_to_simplify_is_another_result() -> None:
    rules = sg.default_rules().without("sort_of_sort")
    assert not is_hit(gradient())
    for how in ({"trust": "exact"}, {"effort": "low"}, {"rules": rules}, {"keep": "hidden"}):
        assert not is_hit(gradient(), **how)
        assert is_hit(gradient(), **how)


def test_signed_zeros_are_told_apart() -> None:
    assert not is_hit(sg.trace(lambda x: x + 0.0, x="n"))
    assert not is_hit(sg.trace(lambda x: x + -0.0, x="n"))


def test_an_operation_defined_anew_is_another_one() -> None:
    for factor in (2.0, 3.0):
        op = scaled(factor)
        graph = sg.trace(lambda x, op=op: np.sum(op(x)), x=(2,)).gradient("x", value=False)
        found = graph.simplify().evaluate(x=np.ones(2))
        np.testing.assert_array_equal(found, [factor, factor])


def test_loops_and_large_constants_are_not_kept() -> None:
    def looped(x: Any) -> Any:
        return np.sum(sg.fori_loop(3, lambda i, y: np.sin(y), x))

    table = np.ones(200_000)
    for f, shape in ((looped, (3,)), (lambda x: np.sum(np.sin(x) * table), (200_000,))):
        gradient(f, x=shape).simplify()
        assert not is_hit(gradient(f, x=shape))


def test_what_is_done_with_a_known_result() -> None:
    x = np.array([0.5, -1.0])
    s = 1 / (1 + np.exp(-x))
    for _ in range(2):
        slope = gradient(x=(2,)).simplify()
        assert slope.history.check(x=x).steps > 0
        curve = sg.trace(softplus, x=(2,)).simplify().hessian("x", value=False).simplify()
        np.testing.assert_allclose(curve.evaluate(x=x), np.diag(s * (1 - s)))
        assert slope.simplify().op_count() == slope.op_count()


def test_old_results_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sg.cache, "limit", 40)
    for power in range(2, 16):
        sg.trace(lambda x, p=power: np.sum(x**p), x="n").gradient("x").simplify()
    info = sg.cache.info()
    assert 1 < info.graphs < 14
    assert info.nodes <= 40
    monkeypatch.setattr(sg.cache, "limit", 0)
    assert not is_hit(sg.trace(lambda x: np.sum(x**15), x="n").gradient("x"))


def test_a_result_that_is_too_large_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient().simplify()
    monkeypatch.setattr(sg.cache, "limit", 40)
    sg.trace(lambda x: sum(np.sum(x**p) for p in range(2, 9)), x="n").gradient("x").simplify()
    assert is_hit(gradient())


# -- the folder ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        softplus,
        lambda x: np.sum(np.sin(x) * np.tanh(x**2 - 1) / (1 + x**4) - np.exp(-x) * np.cos(1 + x)),
        lambda x: -np.sum(np.log(np.exp(x) / np.sum(np.exp(x)))),
    ],
)
def test_another_process_gets_it_from_the_folder(folder: Path, f: Any) -> None:
    anew = gradient(f).simplify()
    sg.cache.clear()  # as a new process is
    known = gradient(f).simplify()
    assert sg.cache.info().hits == 1
    assert known.to_json() == anew.to_json()
    assert len(list(folder.iterdir())) == 1


@pytest.mark.sampled(one_in=160)
@pytest.mark.parametrize("row", CATALOGUE, ids=[row.name for row in CATALOGUE])
def test_the_folder_knows_each_row(row: Row, folder: Path) -> None:
    """Also where simplifying gave names to values of the function that was simplified."""

    def found() -> sg.Graph:
        return traced(row.f, row.specs).gradient(*row.wrt, value=False).simplify()

    anew = found()
    sg.cache.clear()
    known = found()
    assert sg.cache.info().hits == 1
    assert known.to_json() == anew.to_json()


def test_values_that_get_a_name_later_are_known(folder: Path) -> None:
    def f(x: Any) -> Any:
        x = np.sin(x)
        x = x * 1.0
        return np.sum(x * x)

    anew = gradient(f).simplify()
    sg.cache.clear()
    known = gradient(f).simplify()
    assert sg.cache.info().hits == 1
    assert known.to_json() == anew.to_json()


def test_a_file_that_is_not_of_this_graph_is_not_believed(folder: Path) -> None:
    gradient().simplify()
    (path,) = folder.iterdir()
    other = sg.trace(lambda x: np.sum(np.exp(x)), x="n").gradient("x").simplify()
    for text in ("", "{}", path.read_text()[:500], other.to_json()):
        path.write_text(text)
        sg.cache.clear()
        assert "sigmoid(x)" in str(gradient().simplify().formula())
        assert sg.cache.info().hits == 0


def test_custom_operations_stay_out_of_the_folder(folder: Path) -> None:
    op = scaled(0.5)
    for value in (True, False):  # The gradient alone has no such operation, its function has.
        sg.trace(lambda x: np.sum(op(x)), x=(2,)).gradient("x", value=value).simplify()
    assert not list(folder.iterdir())


def test_another_version_finds_results_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient().simplify()
    sg.cache.clear()
    monkeypatch.setattr(sys.modules[type(sg.cache).__module__], "_code", lambda: "another")
    assert not is_hit(gradient())
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(sg.InputError, match="cannot be the folder of the cache"):
        sg.cache.folder = tmp_path / "file"
    assert sg.cache.folder is None
