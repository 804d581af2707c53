"""Graphs and their parts in notebooks: trees, tables, code, pictures, plots."""

from __future__ import annotations

import ast
import re
import struct
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.testing import gradient_errors, plot_gradient_errors

HOSTILE = "<script>alert(1)</script>\n\u202e\x00"


def loss(x: Any, W: Any) -> Any:
    hidden = np.tanh(x @ W)
    return np.sum(hidden * hidden)


def deep(x: Any) -> Any:
    for _ in range(12):
        x = np.sin(x)
    return np.sum(x)


@cache
def joint() -> sg.Graph:
    return sg.trace(loss, x="n, 3", W="3, 4").gradient("W").simplify()


def hostile() -> sg.Graph:
    x = sg.input(HOSTILE, ("n",))
    return sg.graph(np.sum(sg.name(np.log(np.exp(x)), HOSTILE))).gradient(HOSTILE)


def assert_harmless(html: str) -> None:
    """Whether it is well-formed, and no text became an element."""
    tree = ET.fromstring(f"<div>{html}</div>")
    tags = {each.tag for each in tree.iter()}
    assert tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "img", "pre"}
    assert not any(key.startswith("on") for each in tree.iter() for key in each.attrib)
    assert all(char.isprintable() for char in html.replace("\n", ""))


def test_tree_table_and_code() -> None:
    graph = joint()
    assert repr(graph.tree()) == str(graph.tree())
    assert graph.tree().splitlines()[0].startswith("out: ")
    assert "hidden = tanh" in graph.tree()
    assert len(graph.tree(most=3).splitlines()) == 4
    table = graph.table()
    assert len(table) == len(graph.nodes)
    assert {"name", "op", "shape", "dtype", "role", "origin", "flops"} <= set(table.columns)
    assert [row["op"] for row in table.to_data()].count("tanh") == 1
    assert str(table).splitlines()[0].startswith("name")
    ast.parse(graph.code())
    assert graph.code()._repr_markdown_().startswith("```python\n")


def planned() -> sg.Graph:
    return sg.trace(deep, x="n").gradient("x", value=False).checkpoint("70%", n=1000)


SHOWN: dict[str, Callable[[sg.Graph], Any]] = {
    "graph": lambda graph: graph,
    "node": lambda graph: graph.nodes[-1],
    "array": lambda graph: graph.outputs["out"],
    "derivation": lambda graph: graph.history,
    "profile": lambda graph: graph.history.profile(),
    "difference": lambda graph: sg.diff(sg.trace(loss, x="n, 3", W="3, 4"), graph),
    "memory": lambda graph: graph.memory(n=64),
    "plan": lambda _: planned().memory_plan(n=1000),
    "cost": lambda graph: graph.cost(n=64),
    "formula cost": lambda graph: graph.cost(),
    "table": lambda graph: graph.table(),
    "pair": lambda graph: sg.side_by_side(graph, graph, titles=["one", "two"]),
}


@pytest.mark.parametrize("what", SHOWN)
def test_notebooks_are_given_text_and_html(what: str) -> None:
    bundle = SHOWN[what](joint())._repr_mimebundle_()
    assert bundle["text/plain"]
    if what != "derivation":
        assert_harmless(bundle["text/html"])


def test_hostile_names_are_text_in_every_view() -> None:
    graph = hostile()
    small = graph.simplify()
    things: list[Any] = [*graph.nodes, *graph.outputs.values(), graph.table(), graph.cost(n=3)]
    things += [sg.diff(graph, small), graph.memory(n=3), graph.memory_plan(n=3)]
    things += [small.history.profile(), sg.side_by_side(graph, small, titles=[HOSTILE[:-2], "b"])]
    for each in things:
        html = each._repr_mimebundle_()["text/html"]
        assert_harmless(re.sub("\u202e", "", html) if isinstance(each, type(things[-1])) else html)
        assert "<script" not in html


def test_a_node_tells_what_it_is() -> None:
    graph = joint()
    hidden = next(node for node in graph.nodes if node.op.name == "tanh")
    html = hidden._repr_mimebundle_()["text/html"]
    for text in ("tanh", "float64[n, 4]", "hidden", "test_views.py:"):
        assert text in html
    given = sg.input("p", (3,), assume=sg.positive)
    assert "positive" in given._repr_mimebundle_()["text/html"]


def test_graphs_side_by_side() -> None:
    first = sg.trace(lambda x: np.log(np.exp(x)), x="n")
    pair = sg.side_by_side(first, first.simplify(), titles=["typed", "simplified"])
    assert "2 removed" in str(pair)
    html = pair._repr_mimebundle_()["text/html"]
    assert html.count("<img") == 2
    assert "typed" in html
    assert str(sg.side_by_side(first, first, first)).count("nodes,") == 3
    with pytest.raises(sg.InputError, match="two graphs"):
        sg.side_by_side(first)
    with pytest.raises(sg.InputError, match="2 graphs and 1 titles"):
        sg.side_by_side(first, first, titles=["one"])


# -- PNG -------------------------------------------------------------------------------------------
def test_a_png_has_the_size_of_the_picture(tmp_path: Any) -> None:
    renderer = pytest.importorskip("resvg_py")
    assert renderer
    graph = joint()
    root = ET.fromstring(graph.to_svg())
    for scale in (1.0, 2.0):
        data = graph.to_png(scale=scale)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", data[16:24])
        assert abs(width - scale * float(root.attrib["width"])) <= 1
        assert abs(height - scale * float(root.attrib["height"])) <= 1
    graph.save(tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"


def test_without_a_renderer_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("resvg_py", "cairosvg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(sg.SymgraphError, match=r"symgraph\[png\]"):
        joint().to_png()
    with pytest.raises(sg.InputError, match=r"0\.1 to 10"):
        joint().to_png(scale=float("nan"))


# -- plots -----------------------------------------------------------------------------------------
class Axes:
    """What a plot has drawn."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **how: self.drawn.append((name, args, how))

    def of(self, name: str) -> tuple[Any, ...]:
        return next(args for each, args, _ in self.drawn if each == name)


def test_the_memory_plot_has_each_step_and_the_budget() -> None:
    graph, ax = joint(), Axes()
    assert graph.plot_memory(ax, budget="2 KiB", n=64) is ax
    steps, sizes = ax.of("step")
    found = graph.memory(n=64)
    assert len(list(steps)) == len(found.timeline)
    assert [size * 1024 for size in sizes] == [size for _, size in found.timeline]
    assert ax.of("axhline") == (2.0,)
    with pytest.raises(sg.InputError):
        graph.plot_memory(Axes(), budget="much", n=64)


def test_the_cost_plot_has_a_bar_for_each_line_and_its_gradient() -> None:
    graph, ax = joint(), Axes()
    graph.plot_cost(ax, n=64)
    names, amounts = ax.of("barh")
    assert sum(amounts) == graph.flops(n=64)
    assert list(amounts) == sorted(amounts)
    assert any(name.startswith("gradient of test_views.py:") for name in names)
    with pytest.raises(sg.InputError, match="has no size"):
        graph.plot_cost(Axes())
    with pytest.raises(sg.InputError, match="no cost"):
        graph.plot_cost(Axes(), of="money", n=3)


def test_the_error_curve_of_a_right_gradient_falls_and_of_a_wrong_one_does_not() -> None:
    point = np.array([0.3, 0.7])
    steps, errors = gradient_errors(lambda x: np.sin(x) * x, point)
    assert errors.min() < 1e-9
    assert errors[0] > 1e4 * errors.min()
    near = (steps > 1e-4) & (steps < 1e-1)
    slope = np.polyfit(np.log(steps[near]), np.log(errors[near]), 1)[0]
    assert 1.8 < slope < 2.2
    wrong = sg.custom_op(lambda x: x**3, name="cubed", vjp=lambda ct, out, x: 2 * ct * x**2)
    assert gradient_errors(wrong, point)[1].min() > 1e-2
    ax = Axes()
    plot_gradient_errors(lambda x: x * x, point, steps=[1e-2, 1e-3], ax=ax)
    assert len(ax.of("loglog")[0]) == 2


def test_plots_are_drawn_by_matplotlib_where_it_is_installed() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    graph = joint()
    ax = graph.plot_memory(budget="70%", n=64)
    assert len(ax.lines) == 2
    bars = graph.plot_cost(n=64)
    bars.figure.canvas.draw()
    pyplot.close("all")


def test_without_matplotlib_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(sg.SymgraphError, match="pip install matplotlib"):
        joint().plot_memory(n=3)
