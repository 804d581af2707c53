"""SVG pictures: well formed, of one width at every size, nothing lost, nothing let through."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symgraph.array import Array
from symgraph.autodiff.differentiate import differentiated
from symgraph.export import svg
from symgraph.export.expressions import escaped, shortened
from symgraph.export.labels import order_of
from symgraph.export.layout import BOX_HEIGHT, WIDTH, bands
from symgraph.expression import parse
from symgraph.ir.dag import Dag
from symgraph.memory.rematerialization import recomputed
from symgraph.ops.creation import input as symbolic_input

_SVG = "{http://www.w3.org/2000/svg}"


def _layers(count: int) -> Dag:
    """A residual network with a tied weight, and its gradient."""
    x, w = symbolic_input("x", ("n", 8)), symbolic_input("w", (8,))
    h: Array = x
    for _ in range(count):
        h = h + np.tanh(h * w)
    loss = np.sum(h * h)
    return differentiated(Dag({"x": x.node, "w": w.node}, [loss.node]), ["w"])


def _second_order() -> Dag:
    first = differentiated(parse("sum(exp(x) * x)"), ["x"], value=False)
    total = Array(first.outputs[0]).sum()
    return differentiated(first.with_outputs([total.node], ["s"], 0), ["x"])


def _recomputed() -> Dag:
    joint = _layers(4)
    return recomputed(joint, [node for node in joint.nodes if node.op.name == "tanh"])


GRAPHS = [
    parse("x"),
    parse("1"),
    parse("exp(x)"),
    parse("-sum(p*log(exp(z)/sum(exp(z))))"),
    differentiated(parse("-sum(p*log(exp(z)/sum(exp(z))))"), ["z", "p"]),
    differentiated(parse("sum(x)"), ["x"], value=False),
    _second_order(),
    _recomputed(),
    _layers(1),
    _layers(12),
    _layers(120),
    _layers(600),
]


@pytest.mark.parametrize("dag", GRAPHS, ids=lambda dag: f"{len(dag)}-nodes")
def test_the_width_is_the_same_at_every_size(dag: Dag) -> None:
    root = ET.fromstring(svg.render(dag))
    height = float(root.attrib["height"])
    assert float(root.attrib["width"]) == WIDTH == 640
    assert height < 90 * len(dag) + 400
    for rect in root.iter(f"{_SVG}rect"):
        x, y = float(rect.get("x", 0)), float(rect.get("y", 0))
        assert 0 <= x <= x + float(rect.attrib["width"]) <= WIDTH
        assert 0 <= y <= y + float(rect.attrib["height"]) <= height


@pytest.mark.parametrize("dag", GRAPHS, ids=lambda dag: f"{len(dag)}-nodes")
def test_boxes_of_a_column_stand_apart(dag: Dag) -> None:
    layout = bands(dag, dag.nodes, order_of(dag.nodes))
    for column in layout.columns:
        ys = sorted(box.y for box in layout.boxes.values() if box.column == column)
        assert all(b - a > BOX_HEIGHT for a, b in pairwise(ys))


def test_a_gradient_node_stands_in_the_band_of_its_forward_node() -> None:
    dag = _layers(8)
    layout = bands(dag, dag.nodes, order_of(dag.nodes))
    checked = 0
    for node, box in layout.boxes.items():
        forward = layout.boxes.get(node.origin.adjoint_of) if node.origin.adjoint_of else None
        if forward is None:
            continue
        band = next(b for b in layout.bands if b.y <= forward.y < b.y + b.height)
        assert band.y <= box.y < band.y + band.height
        checked += 1
    assert checked > 20


def test_every_computed_node_has_a_box_and_every_output_a_flag() -> None:
    dag = differentiated(parse("sum(tanh(x) * y)"), ["x", "y"])
    root = ET.fromstring(svg.render(dag))
    shown = ["".join(each.itertext()) for each in root.iter(f"{_SVG}text")]
    for expression in ("tanh(x)", "v1 * y", "sum(v2)"):
        assert any(text.endswith(f"= {expression}") for text in shown)
    flags = [text for text in shown if text.startswith("→ ")]
    assert sorted(flags) == ["→ grad_x", "→ grad_y", "→ out"]
    kinds = [rect.get("class") for rect in root.iter(f"{_SVG}rect")]
    assert kinds.count("sg-i") == 2
    # One more of each stands in the legend.
    assert kinds.count("sg-f") == 3 + 1


def test_values_computed_again_stand_with_the_gradient_below_their_use() -> None:
    dag = _recomputed()
    layout = bands(dag, dag.nodes, order_of(dag.nodes))
    copies = [node for node in dag.nodes if node.copy]
    assert copies
    for node in copies:
        assert layout.boxes[node].column == "gradient"
        users = [user for user, _ in dag.uses[node]]
        assert layout.boxes[node].y > min(layout.boxes[user].y for user in users)
    root = ET.fromstring(svg.render(dag))
    dashed = [r for r in root.iter(f"{_SVG}rect") if (r.get("class") or "").endswith("sg-r")]
    assert len(dashed) == len(copies)


def test_tooltips_tell_shape_role_and_line() -> None:
    x = symbolic_input("x", ("n", 3))
    root = ET.fromstring(svg.render(Dag({"x": x.node}, [np.exp(x).node])))
    tips = [title.text or "" for title in root.iter(f"{_SVG}title")]
    tip = next(tip for tip in tips if "exp(x)" in tip)
    assert "float64[n, 3]" in tip
    assert "forward" in tip
    assert "test_svg.py:" in tip


def test_a_picture_refers_to_nothing_outside() -> None:
    source = svg.render(GRAPHS[4])
    assert source.count("http") == source.count("http://www.w3.org/2000/svg") == 1
    assert "href" not in source
    assert "<script" not in source


@given(name=st.text(min_size=1, max_size=60))
@example(name="<script>alert(1)</script>")
@example(name="]]>")
@example(name='"><rect width="9999"/>')
@example(name="&amp;&#0;")
@example(name="\ud800\x00\ufffe\u2028\u202e")
@example(name="\ue000\ue001")
def test_names_are_text_and_nothing_else(name: str) -> None:
    x = symbolic_input(name, (2,))
    dag = Dag({name: x.node}, [np.exp(x).node], [name])
    root = ET.fromstring(svg.render(dag, title=name))
    assert {each.tag.removeprefix(_SVG) for each in root.iter()} <= {
        "svg",
        "title",
        "defs",
        "style",
        "marker",
        "path",
        "rect",
        "text",
        "tspan",
        "g",
    }
    spans = [span.text for span in root.iter(f"{_SVG}tspan")]
    assert shortened(escaped(name), 32) in spans


def test_edges_too_long_to_follow_become_stubs() -> None:
    x = symbolic_input("x", ())
    first = np.exp(x)
    y = first
    for _ in range(60):
        y = np.tanh(y)
    root = ET.fromstring(svg.render(Dag({"x": x.node}, [(y * first).node])))
    names = ["".join(each.itertext()) for each in root.iter(f"{_SVG}text")]
    assert "v1" in names


def test_several_pictures_in_one_page_keep_their_arrows() -> None:
    marks = {svg.render(dag).split('<marker id="')[1].split('"')[0] for dag in GRAPHS[3:6]}
    assert len(marks) == 3
