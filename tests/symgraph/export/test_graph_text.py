"""The listing, the formula and the tree of a graph."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.autodiff.differentiate import differentiated
from symgraph.export import graph_text
from symgraph.export.labels import order_of
from symgraph.expression import parse
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Origin, note
from symgraph.ir.origins import adjoint_chain
from symgraph.ops.creation import input as symbolic_input

SOFTMAX = "-sum(p*log(exp(z)/sum(exp(z))))"


def test_listing_of_a_forward_graph() -> None:
    listing = graph_text.render(parse(SOFTMAX, facts=["p: simplex"]), lines=False)
    assert listing == "\n".join(
        [
            "9 nodes, 7 operations",
            "  p: input, simplex(-1)   float64[n]",
            "  z: input                float64[n]",
            "  v1 = exp(z)             float64[n]   forward",
            "  v2 = sum(v1)            float64[]    forward",
            "  v3 = v1 / v2            float64[n]   forward",
            "  v4 = log(v3)            float64[n]   forward",
            "  v5 = p * v4             float64[n]   forward",
            "  v6 = sum(v5)            float64[]    forward",
            "  v7 = -v6                float64[]    forward → out",
        ]
    )


def test_listing_of_a_gradient_graph_tells_roles_and_outputs() -> None:
    joint = differentiated(parse("sum(x*x)", shapes={"x": 3}), ["x"])
    listing = graph_text.render(joint, lines=False)
    assert listing == "\n".join(
        [
            "8 nodes (2 forward, 4 gradient), 4 operations",
            "  x: input                   float64[3]",
            "  v1 = x * x                 float64[3]   forward",
            "  v2 = sum(v1)               float64[]    forward → out",
            "  v3 = reshape(1, (1,))      float64[1]   gradient",
            "  v4 = broadcast(v3, (3,))   float64[3]   gradient",
            "  v5 = v4 * x                float64[3]   gradient",
            "  ∂f/∂x = v5 + v5            float64[3]   gradient → grad_x",
        ]
    )


def test_listing_quotes_the_line_of_each_node() -> None:
    x = symbolic_input("x", (3,))
    y = np.exp(x)
    z = np.sum(y)
    listing = graph_text.render(Dag({"x": x.node}, [z.node]))
    assert "test_graph_text.py:" in listing
    assert "y = np.exp(x)" in listing
    assert "z = np.sum(y)" in listing


def test_one_line_that_made_all_is_told_once() -> None:
    header, *rows = graph_text.render(parse("x + 1")).splitlines()
    assert "x + 1" in header
    assert not any("<expression" in row for row in rows)


def test_an_output_that_is_an_input_or_a_constant_is_marked() -> None:
    x = symbolic_input("x", ())
    one = parse("1").outputs[0]
    listing = graph_text.render(Dag({"x": x.node}, [x.node, one], ["a", "b"]), lines=False)
    assert listing.splitlines()[1:] == [
        "  x: input   float64[]   → a",
        "  1          int64[]     constant → b",
    ]


FORMULAS = [
    "x",
    "-x",
    "--x",
    "x + y * 2",
    "(x + y) * 2",
    "x - (y - 1)",
    "x - y - 1",
    "x / (y / 2)",
    "(-x)**2",
    "-x**2",
    "x**y**2",
    "(x**y)**2",
    "2**-x",
    "(x < y) & (y >= 2)",
    "~(x == y)",
    "-(x + y)",
    "sum(x) * y",
    "max(x, keepdims)",
    "where(x > 0, x, 0.5)",
    "einsum('a,a->', x, y)",
    "concatenate([x, y])",
    "x @ y",
    "x // 2 % 3",
    "softmax(x) - y",
    "A.T @ A",
    "sum(A, axis=-1)",
    "sum(A)",
    "cumsum(A, axis=-2)",
    "A[:, 0]",
    "A[1]",
    "A[0, 1:3]",
    "A[1:]",
    "A[::-1]",
    "A[::2, 1:]",
    "transpose(B, axes=(-2, -1, -3))",
    "B.mT",
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_spelled_as_a_person_would(formula: str) -> None:
    known = {"A": (3, 4), "B": (2, 3, 4)}
    shapes = {name: shape for name, shape in known.items() if name in formula}
    dag = parse(formula.replace("keepdims", "keepdims=True"), shapes=shapes)
    assert graph_text.formula(dag) == formula


def _arithmetic() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["x", "y", "2.0", "0.5", "3.0"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(
                lambda t: f"({t[0]}) {t[1]} ({t[2]})"
            ),
            st.tuples(inner, st.sampled_from(["2", "y"])).map(lambda t: f"({t[0]})**({t[1]})"),
            inner.map(lambda t: f"-({t})"),
            inner.map(lambda t: f"exp(({t}) / 9.0)"),
        ),
        max_leaves=8,
    )


@given(source=_arithmetic())
def test_a_formula_read_again_is_the_same_value(source: str) -> None:
    dag = parse(f"{source} + 0 * (x + y)")
    formula = graph_text.formula(dag)
    if " where " in formula:
        formula, _, parts = formula.partition(" where ")
        for part in reversed(parts.split(", t")):
            name, _, value = part.removeprefix("t").partition(" = ")
            formula = formula.replace(f"t{name}", f"({value})")
    numbers = {"x": np.array([0.3, 1.7, -2.0]), "y": np.array([2.0, -1.0, 0.5])}
    again = parse(formula)
    np.testing.assert_array_equal(evaluate(again, numbers)[0], evaluate(dag, numbers)[0])


def test_what_an_operator_repeats_by_itself_is_not_told() -> None:
    slope = sg.trace(lambda x: np.mean(np.log(x)), x="n").gradient("x", value=False)
    assert str(slope.formula()) == "1 / n / x"
    twice = sg.trace(lambda x: np.mean(np.log(x)) ** 2, x="n").gradient("x", value=False)
    assert "broadcast" not in str(twice.formula())
    assert str(sg.trace(lambda x: np.where(x > 0, np.ones(1), x), x="n").formula()) == (
        "where(x > 0, 1, x)"
    )
    # These would change their shapes, or those of what they are in.
    kept = [
        lambda x, s: (np.broadcast_to(s, (3,)), x),
        lambda x, s: np.concatenate([np.broadcast_to(s, (3,)), x]),
        lambda x, s: (np.broadcast_to(s, (3,)) * 2.0, x),
        lambda x, s: np.broadcast_to(x, (3, 3)) * np.broadcast_to(s, (3, 3)),
    ]
    for each in kept:
        assert "broadcast(s, " in str(sg.trace(each, x=(3,), s=()).formula())


@pytest.mark.parametrize(
    ("shape", "new", "text"),
    [
        ((3,), (3, 1), "(x + y)[:, None]"),
        ((3,), (1, 3), "(x + y)[None]"),
        ((3,), (1, 3, 1), "(x + y)[None, :, None]"),
        ((2, 3), (2, 1, 3), "(x + y)[:, None]"),
        ((1, 3), (1, 1, 3), "(x + y)[:, None]"),
        ((2, 3), (3, 2, 1), "reshape(x + y, (3, 2, 1))"),
        ((1, 3), (3, 1), "reshape(x + y, (3, 1))"),
        ((), (1,), "reshape(x + y, (1,))"),
        ((2, 3), (6,), "reshape(x + y, (6,))"),
    ],
)
def test_axes_of_length_one_are_an_index(
    shape: tuple[int, ...], new: tuple[int, ...], text: str
) -> None:
    graph = sg.trace(lambda x, y: np.reshape(x + y, new), x=shape, y=shape)
    assert str(graph.formula()) == text
    shapes = {name: ",".join(map(str, shape)) for name in "xy"}
    assert parse(text, shapes=shapes).outputs[0].shape == new


def test_shared_parts_are_named_once() -> None:
    assert graph_text.formula(parse(SOFTMAX)) == "-sum(p * log(t1 / sum(t1))) where t1 = exp(z)"


def test_several_outputs_are_named() -> None:
    joint = differentiated(parse("sum(x*y)"), ["x", "y"])
    assert graph_text.formula(joint).startswith("out = sum(x * y); grad_x = ")


def test_names_of_ours_avoid_those_of_the_user() -> None:
    dag = parse("exp(v1) * exp(v1) + t1")
    assert graph_text.formula(dag) == "t2 * t2 + t1 where t2 = exp(v1)"
    rows = graph_text.render(dag, lines=False).splitlines()[1:]
    assert [row.split()[0].strip(":") for row in rows] == ["v1", "t1", "v2", "v3", "v4"]


@given(name=st.text(min_size=1, max_size=80))
def test_no_name_can_break_a_line(name: str) -> None:
    x = symbolic_input(name, (2,))
    dag = Dag({name: x.node}, [np.exp(x).node], [name])
    for shown in (
        graph_text.render(dag, lines=False),
        graph_text.formula(dag),
        graph_text.tree(dag),
    ):
        assert len(shown.splitlines()) <= 3
        bad = {"Cc", "Cf", "Zl", "Zp", "Cs"}
        assert not [c for c in shown if c != "\n" and unicodedata.category(c) in bad]


def _chain(length: int) -> Dag:
    x = symbolic_input("x", ())
    y: Array = x
    for _ in range(length):
        y = np.exp(y)
    return Dag({"x": x.node}, [y.node])


def test_long_chains_are_printed_without_recursion() -> None:
    dag = _chain(5_000)
    assert len(graph_text.render(dag).splitlines()) == 5_002
    assert "too large" in graph_text.formula(dag)
    assert graph_text.tree(dag, most=100).splitlines()[-1] == "... 1 more"


def test_sharing_keeps_texts_linear() -> None:
    x = symbolic_input("x", ())
    y = x
    for _ in range(200):
        y = y + y
    dag = Dag({"x": x.node}, [y.node])
    assert len(graph_text.render(dag, lines=False)) < 20_000
    assert len(graph_text.tree(dag)) < 60_000
    assert "too large" in graph_text.formula(dag)


def test_tree_prints_a_shared_node_once() -> None:
    assert graph_text.tree(parse("exp(x) * exp(x)", shapes={"x": 3})) == "\n".join(
        [
            "out: v2 = v1 * v1   float64[3]",
            "  v1 = exp(x)   float64[3]",
            "    x   float64[3]",
            "  v1 (above)   float64[3]",
        ]
    )


def test_equation_names_what_both_sides_share() -> None:
    before = parse("log(exp(sin(x) * y) + 1)").outputs[0]
    inner = before.operands[0].operands[0].operands[0]
    assert graph_text.equation(before, inner) == "log(exp(a) + 1) → a"
    assert graph_text.equation(inner, inner.operands[0]) == "a * y → a"
    assert graph_text.equation(inner, parse("2 * x").outputs[0]) == "sin(x) * y → 2 * x"
    product = parse("exp(x) * y").outputs[0]
    assert graph_text.equation(product.operands[0], product) == "exp(x) → exp(x) * y"


def test_letters_are_used_and_are_no_sizes() -> None:
    def loss(W: Any, b: Any, X: Any, y: Any) -> Any:
        return np.mean((np.tanh(X @ W + b) - y) ** 2)

    graph = sg.trace(loss, W="d, 3", b="3", X="a, d", y="a, 3").gradient("W").simplify()
    told = [each for each in graph.explain(format="data") if each.get("letters")]
    assert told
    for each in told:
        assert each["letters"].keys().isdisjoint("abd")
        for letter in each["letters"]:
            assert re.search(rf"\b{letter}\b", each["before"] + " " + each["after"]), each


def test_a_slice_put_back_tells_where() -> None:
    x = symbolic_input("x", (5, 2))
    placed = snp.embed(x[1:, 0], (5, 2), (slice(1, None), 0))
    shown = graph_text.formula(Dag({"x": x.node}, [placed.node]))
    assert shown == "embed(x[1:, 0], (5, 2), at=[1:, 0])"


def test_a_write_shows_its_place() -> None:
    def f(x: Any, v: Any) -> Any:
        y = x.copy()
        y[0], y[:, 1:-1] = 2.0, v
        return y

    graph = sg.trace(f, x=(5, 4), v=(2,))
    assert str(graph.formula()) == "assign(assign(x, 2, at=[0]), v, at=[:, 1:3])"
    inner = r"\operatorname{assign}_{[0]}\left(x, 2\right)"
    outer = rf"\operatorname{{assign}}_{{[:, 1:3]}}\left({inner}, v\right)"
    assert graph.to_latex() == f"f = {outer}"


def test_numbers_keep_their_sign_and_digits() -> None:
    assert graph_text.formula(parse("x * -0.0")) == "x * -0.0"
    assert graph_text.formula(parse("x + 0.1", dtype="float32")) == "x + 0.1"
    assert graph_text.formula(parse("x + 1e-300")) == "x + 1e-300"
    assert graph_text.formula(parse("x**(-2)")) == "x**-2"
    assert graph_text.formula(parse("2 - (-3) * x")) == "2 - -3 * x"


def test_notes_that_go_round_in_a_circle_are_printed() -> None:
    one, two = sg.constant(np.array([0.5, 3.25])).node, sg.constant(np.array([0.75, 3.5])).node
    one.origin = Origin(adjoint_of=two, shared=True)
    two.origin = Origin(adjoint_of=one, shared=True)
    note(one, one.origin)
    note(two, two.origin)
    assert sorted(order_of([one, two]).values()) == [0, 1]
    assert adjoint_chain(one.origin) == [two, one]


def test_a_value_of_the_forward_part_is_not_known_as_a_gradient() -> None:
    def loss(h: Any, w: Any, t: Any) -> Any:
        yhat = w @ h
        return 0.5 * (yhat - t) ** 2

    graph = sg.trace(loss, h=3, w=3, t=()).gradient("w")
    assert "∂f/∂yhat" in str(graph)
    small = graph.simplify()
    assert str(small.formula()) == "out = 0.5 * t1**2; grad_w = t1 * h where t1 = w @ h - t"
    assert "∂f/∂yhat" not in str(small)
    alone = sg.trace(loss, h=3, w=3, t=()).gradient("w", value=False).simplify()
    assert "∂f/∂yhat = yhat - t" in str(alone)
