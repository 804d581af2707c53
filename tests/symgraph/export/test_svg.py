"""SVG pictures: well formed, legible at every size, nothing lost, nothing let through."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symgraph import Graph, scope, trace
from symgraph.array import Array
from symgraph.autodiff.differentiate import differentiated
from symgraph.export import folding, svg
from symgraph.export.expressions import escaped, shortened
from symgraph.export.folding import MOST
from symgraph.export.labels import Labels
from symgraph.export.layout import Item, laid_out
from symgraph.export.scene import scene
from symgraph.expression import parse
from symgraph.ir.dag import Dag
from symgraph.memory.rematerialization import recomputed
from symgraph.ops.creation import input as symbolic_input

_SVG = "{http://www.w3.org/2000/svg}"
LOSS = "-sum(p*log(exp(z)/sum(exp(z))))"


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


GRAPHS: dict[str, Callable[[], Dag]] = {
    "an input": lambda: parse("x"),
    "a number": lambda: parse("1"),
    "one operation": lambda: parse("exp(x)"),
    "a loss": lambda: parse(LOSS),
    "its gradient": lambda: differentiated(parse(LOSS), ["z", "p"]),
    "a gradient alone": lambda: differentiated(parse("sum(x)"), ["x"], value=False),
    "second order": _second_order,
    "computed again": _recomputed,
    **{f"{count} layers": partial(_layers, count) for count in (1, 12, 120, 600)},
}


def _numbers(path: str) -> list[tuple[str, list[float]]]:
    return [
        (letter, [float(number) for number in numbers.split()])
        for letter, numbers in re.findall(r"([MVC])([^MVC]*)", path)
    ]


def _drawn(path: str) -> list[tuple[float, float]]:
    """Points along a path, close to one another."""
    points: list[tuple[float, float]] = []
    x = y = 0.0
    for letter, numbers in _numbers(path):
        if letter == "M":
            x, y = numbers
        elif letter == "V":
            points += [(x, y + (numbers[0] - y) * share / 40) for share in range(41)]
            y = numbers[0]
        else:
            a, b, c, d, to_x, to_y = numbers
            for share in range(41):
                t = share / 40
                u = 1 - t
                weights = (u**3, 3 * t * u * u, 3 * t * t * u, t**3)
                points.append(
                    (
                        sum(w * v for w, v in zip(weights, (x, a, c, to_x), strict=True)),
                        sum(w * v for w, v in zip(weights, (y, b, d, to_y), strict=True)),
                    )
                )
            x, y = to_x, to_y
    return points


def _boxes(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every box; the legend, sheets and flags are none."""
    found: list[tuple[float, float, float, float]] = []
    for group in root.iter(f"{_SVG}g"):
        rects = [each for each in group.findall(f"{_SVG}rect") if each.get("class") != "sg-o"]
        if rects:
            x, y, width, height = (
                float(rects[-1].attrib[name]) for name in ("x", "y", "width", "height")
            )
            found.append((x, y, x + width, y + height))
    return found


@cache
def _picture(name: str) -> str:
    return svg.render(GRAPHS[name]())


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", GRAPHS)
def test_everything_is_within_the_picture(name: str) -> None:
    root = ET.fromstring(_picture(name))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert 300 < width < 1_200
    assert height < 3_000
    for rect in root.iter(f"{_SVG}rect"):
        x, y = float(rect.attrib["x"]), float(rect.attrib["y"])
        assert 0 <= x <= x + float(rect.attrib["width"]) <= width
        assert 0 <= y <= y + float(rect.attrib["height"]) <= height
    for path in root.iter(f"{_SVG}path"):
        if (path.get("class") or "").startswith("sg-"):
            assert all(0 <= x <= width and 0 <= y <= height for x, y in _drawn(path.attrib["d"]))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", GRAPHS)
def test_no_box_overlaps_another_and_no_edge_runs_through_one(name: str) -> None:
    _check_apart(_picture(name))


@pytest.mark.parametrize("layers", [12, pytest.param(120, marks=pytest.mark.whole)])
def test_nothing_overlaps_in_a_large_graph_that_is_not_folded(layers: int) -> None:
    dag = _layers(layers)
    source = svg.render(dag, fold=False)
    _check_apart(source)
    assert len(_boxes(ET.fromstring(source))) > 4 * layers


def _check_apart(source: str) -> None:
    root = ET.fromstring(source)
    boxes = sorted(_boxes(root), key=lambda box: box[1])
    for place, (left, top, right, bottom) in enumerate(boxes):
        for a, b, c, _ in boxes[place + 1 :]:
            if b >= bottom:
                break
            assert c <= left or a >= right, (left, top, a, b)
    inside = [(a + 1, b + 1, c - 1, d - 1) for a, b, c, d in boxes]
    for path in root.iter(f"{_SVG}path"):
        if not (path.get("class") or "").startswith("sg-"):
            continue
        points = _drawn(path.attrib["d"])
        low, high = min(y for _, y in points), max(y for _, y in points)
        near = [box for box in inside if box[3] > low and box[1] < high]
        for x, y in points:
            assert not any(a < x < c and b < y < d for a, b, c, d in near)


def test_a_product_is_a_graph_of_three() -> None:
    """Figure 6.8a of Goodfellow, Bengio & Courville: z = x y."""
    root = ET.fromstring(svg.render(parse("x*y")))
    kinds = [each.get("class") for each in root.iter(f"{_SVG}rect")]
    assert sorted(kinds) == ["sg-f", "sg-i", "sg-i", "sg-o"]
    assert len([p for p in root.iter(f"{_SVG}path") if p.get("class") == "sg-e"]) == 2


def test_the_gradient_runs_up_beside_the_forward_part() -> None:
    x, w = symbolic_input("x", ("n", 8)), symbolic_input("w", (8,))
    h = x
    for _ in range(3):
        h = np.tanh(h * w)
    dag = differentiated(Dag({"x": x.node, "w": w.node}, [np.sum(h * h).node]), ["w"])
    labels = Labels(dag)
    shown = scene(dag, labels)
    items = [
        Item(unit, 100.0, 40.0, card.gradient, shown.beside.get(unit))
        for unit, card in shown.cards.items()
    ]
    layout = laid_out(items, shown.edges)
    right = max(layout.places[u].x + 100 for u, card in shown.cards.items() if not card.gradient)
    checked = 0
    for source, target in shown.edges:
        up = shown.cards[source].gradient and shown.cards[target].gradient
        if up:
            assert layout.places[target].y < layout.places[source].y
            assert layout.places[target].x >= right
            checked += 1
        elif not shown.cards[target].gradient:
            assert layout.places[target].y > layout.places[source].y
    assert checked > 5


def test_every_value_is_shown_and_every_output_has_a_flag() -> None:
    dag = differentiated(parse("sum(tanh(x) * y)"), ["x", "y"])
    root = ET.fromstring(svg.render(dag))
    shown = ["".join(each.itertext()) for each in root.iter(f"{_SVG}text")]
    for expression in ("tanh(x)", "v1 * y", "sum(v2)"):
        assert any(text.endswith(f"= {expression}") for text in shown)
    flags = [text for text in shown if text.startswith("→ ")]
    assert sorted(flags) == ["→ grad_x", "→ grad_y", "→ out"]


def test_values_computed_again_stand_with_the_gradient() -> None:
    dag = _recomputed()
    copies = [node for node in dag.nodes if node.copy]
    cards = scene(dag, Labels(dag)).cards
    assert copies
    assert all(cards[node].gradient and cards[node].again for node in copies)
    root = ET.fromstring(svg.render(dag))
    dashed = [r for r in root.iter(f"{_SVG}rect") if (r.get("class") or "").endswith("sg-r")]
    assert len(dashed) == len(copies)


def test_numbers_have_six_digits() -> None:
    source = svg.render(parse("x * 0.17677669529663687"))
    assert "0.176777" in source
    assert "0.1767766" not in source.split("</defs>")[1].replace("<title>", "\n").split("\n")[0]


def test_a_title_wraps_and_a_long_one_ends() -> None:
    dag = _layers(1)
    for title in ("a b " * 40, "w" * 4_000, ", ".join(f"grad_{i}" for i in range(300))):
        root = ET.fromstring(svg.render(dag, title))
        lines = [each for each in root.iter(f"{_SVG}text") if each.get("class") == "sg-t"]
        assert 1 <= len(lines) <= 3
        for line in lines:
            assert len("".join(line.itertext())) * 8.6 <= float(root.attrib["width"])


def test_a_page_in_the_dark_keeps_its_ground() -> None:
    source = svg.render(_layers(1))
    assert "prefers-color-scheme:dark" in source
    assert '[data-jp-theme-light="false"] .sg-m' in source
    root = ET.fromstring(source)
    width = root.attrib["width"]
    assert all(rect.get("width") != width for rect in root.iter(f"{_SVG}rect"))


# -- folding ---------------------------------------------------------------------------------------
@pytest.mark.whole
def test_layers_fold_to_one_page() -> None:
    dag = _layers(600)
    shown = scene(dag, Labels(dag))
    titles = [card.title for card in shown.cards.values()]
    assert shown.folded
    assert "blocks 1–75 of 600" in titles
    assert "∂ blocks 1–75 of 600" in titles
    root = ET.fromstring(svg.render(dag))
    assert float(root.attrib["height"]) < 1_400


def test_a_folded_graph_shows_each_value_once() -> None:
    dag = _layers(40)
    labels = Labels(dag)
    whole, folded = (scene(dag, labels, fold=fold) for fold in (False, True))
    inside = sum(
        int(card.below.split()[0]) if card.kind == "group" else 1
        for card in folded.cards.values()
        if card.kind != "leaf"
    )
    assert inside == len([card for card in whole.cards.values() if card.kind != "leaf"])
    assert nx.is_directed_acyclic_graph(nx.DiGraph(folded.edges))


def test_a_large_graph_without_structure_is_folded_too() -> None:
    rng = np.random.default_rng(0)
    x = symbolic_input("x", (3,))
    values: list[Array] = [np.exp(x)]
    functions = (np.sin, np.tanh, np.sqrt, np.exp, np.cos, np.arctan)
    for _ in range(300):
        one, other = rng.integers(max(len(values) - 9, 0), len(values), 2)
        values.append(functions[rng.integers(6)](values[one]) + values[other])
    dag = Dag({"x": x.node}, [values[-1].node])
    shown = scene(dag, Labels(dag))
    assert 1 < len(shown.cards) <= MOST
    _check_apart(svg.render(dag))


def test_tooltips_tell_shape_role_and_line() -> None:
    x = symbolic_input("x", ("n", 3))
    root = ET.fromstring(svg.render(Dag({"x": x.node}, [np.exp(x).node])))
    tips = [title.text or "" for title in root.iter(f"{_SVG}title")]
    tip = next(tip for tip in tips if "exp(x)" in tip)
    assert "float64[n, 3]" in tip
    assert "forward" in tip
    assert "test_svg.py:" in tip


def test_a_picture_refers_to_nothing_outside() -> None:
    source = _picture("its gradient")
    assert source.count("http") == source.count("http://www.w3.org/2000/svg") == 1
    assert "href" not in source
    assert "<script" not in source


@settings(max_examples=25)
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


def test_several_pictures_in_one_page_keep_their_arrows() -> None:
    some = ("a loss", "its gradient", "a gradient alone")
    marks = {_picture(name).split('<marker id="')[1].split('"')[0] for name in some}
    assert len(marks) == 3


# -- scopes, parameters ----------------------------------------------------------------------------
def _named_layers(count: int) -> Graph:
    def block(h: Any, w: Any) -> Any:
        return h + np.tanh(h * w)

    def model(x: Any, w: Any) -> Any:
        for layer in range(count):
            with scope(f"layer {layer + 1}"):
                h = block(block(x, w), w)
                x = np.exp(h) if layer % 2 else h
        return np.sum(x)

    return trace(model, x="n, 8", w="8").gradient("w")


def test_groups_are_titled_so_that_each_can_be_told_from_the_others() -> None:
    picture = _named_layers(12).to_svg(fold=True)
    titles = re.findall(r'<tspan class="sg-n">((?:∂ )?layer[^<]*)</tspan>', picture)
    assert {f"layer {number}" for number in range(1, 13)} <= set(titles)
    paths = [("a", "f"), ("b", "f"), ("b", "g"), ("h",)]
    assert [folding._title(path, paths) for path in paths] == ["a / f", "b / f", "g", "h"]


def test_parameters_have_a_rim_of_their_own() -> None:
    graph = trace(lambda x, w: np.sum(np.tanh(x @ w)), x="n, 3", w="3").gradient("w")
    pills = re.findall(r'<rect class="(sg-[ip])"[^>]*/><text[^>]*>(.*?)</text>', graph.to_svg())
    shown = {re.sub("<[^>]*>", "", text).strip(): kind for kind, text in pills}
    assert shown == {"x": "sg-i", "w": "sg-p", "parameter": "sg-p"}
    forward = trace(lambda x: np.sum(x), x="n").to_svg()
    assert 'class="sg-p"' not in forward


def test_a_title_has_room_for_the_widest_of_the_usual_fonts() -> None:
    names = [f"grad_W{place}_W" for place in range(60)]
    picture = svg.render(_layers(3), ", ".join(names))
    lines = re.findall(r'<text class="sg-t"[^>]*>([^<]*)</text>', picture)
    width = float(re.findall(r'<svg[^>]* width="([\d.]+)"', picture)[0])
    assert len(lines) == 3
    # DejaVu Sans Bold at 15 px takes 9.7 px for such letters on the average.
    assert all(16 + 9.7 * len(line) <= width for line in lines)
