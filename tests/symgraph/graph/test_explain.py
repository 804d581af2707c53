"""Explanations: from the user's line to each rule, both sides, and the facts that license it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import symgraph as sg


def cross_entropy(X: Any, y: Any, W: Any) -> Any:
    z = X @ W
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.mean(np.sum(y * np.log(q), axis=-1))


@pytest.fixture(scope="module")
def small() -> sg.Graph:
    simplex = sg.spec("n, 3", assume=sg.simplex(axis=-1))
    forward = sg.trace(cross_entropy, X=sg.spec("n, 4"), y=simplex, W=sg.spec("4, 3"))
    return forward.gradient("W").simplify()


def test_each_rule_is_told_with_both_sides_its_place_and_its_statement(small: sg.Graph) -> None:
    told = small.explain()
    lines = told.splitlines()
    start = next(i for i, line in enumerate(lines) if "softmax_written_out [rounding]" in line)
    assert "at test_explain.py:" in lines[start]
    assert lines[start + 1].strip() == "exp(a) / sum(exp(a), axis=-1, keepdims)"
    assert lines[start + 2].strip() == "→ softmax(a, axis=-1)"
    assert lines[start + 3].strip() == "where a = X @ W"
    assert lines[start + 4].strip().startswith("by exp(x) / sum(exp(x)")


def test_a_region_is_one_equation_with_the_facts_at_hand(small: sg.Graph) -> None:
    told = small.explain(grains={"region"})
    assert told.count("→") == 1
    assert "→ a @ (b - y) / n" in told
    assert "with simplex(-1), of y" in told
    assert "stated of input 'y'" in told
    assert "softmax_written_out" not in told


def test_bookkeeping_is_one_step(small: sg.Graph) -> None:
    told = [line.strip() for line in small.explain().splitlines()]
    assert any(line.startswith("(differentiated: ") for line in told)
    bare = small.explain(grains={"bookkeeping"}).splitlines()
    assert len(bare) == 3
    assert all(line.strip().startswith("(") for line in bare[:-1])
    assert small.explain(grains=set()) == "No rewrite was needed."


def test_a_value_is_traced_from_the_users_line_through_the_vjp(small: sg.Graph) -> None:
    told = small.explain("grad_W")
    lines = told.splitlines()
    assert lines[0].startswith("X.T @ (softmax(X @ W, axis=-1) - y) / n")
    assert "z = X @ W" in lines[1]
    assert lines[2].strip().startswith("by the vjp of matmul, which made X @ W, at test_explain.py")
    assert "algebra [rounding]" in told
    assert "log_of_softmax" not in told  # only the value has a log in it
    assert "log_of_softmax" in small.explain("out")
    node = small.outputs["grad_W"]
    assert small.explain(node) == small.explain(node.node) == told


def test_a_gradient_of_an_input_is_a_sum_over_its_uses() -> None:
    graph = sg.trace(lambda a, b: a * b + np.tanh(a), a=(), b=()).gradient("a")
    lines = graph.explain("grad_a").splitlines()
    assert lines[2].strip().startswith("by the sum over the uses of a, at test_explain.py")


def test_second_derivatives_name_both_vjps() -> None:
    graph = sg.trace(lambda x: np.sum(np.exp(x) * x), x=sg.spec(3)).hvp("x", "v")
    told = [graph.explain(node, format="data")[0]["adjoint_of"] for node in graph.nodes]
    twice = next(chain for chain in told if len(chain) == 2)
    assert all(link["op"] and "test_explain.py" in link["lines"][0] for link in twice)


def test_guards_are_told_with_the_facts_that_license_them() -> None:
    positive = sg.spec("n", assume=sg.positive)
    graph = sg.trace(lambda x: np.sqrt((x * np.exp(x)) ** 2), x=positive).simplify()
    told = graph.explain()
    assert "with x: nonnegative, of x * exp(x)" in told
    assert "by multiply" in told
    assert "stated of input 'x'" in told


def test_data_is_json_and_says_all(small: sg.Graph) -> None:
    entries = small.explain(format="data")
    assert json.loads(json.dumps(entries)) == entries
    rule = next(each for each in entries if each["grain"] == "rule")
    assert rule["rule"] == "softmax_written_out"
    assert small.history[rule["step"]].rule == rule["rule"]
    assert rule["meaning"] == "equal in exact arithmetic wherever the left side is defined"
    assert rule["doc"]
    assert rule["letters"] == {"a": "X @ W"}
    assert rule["after_latex"] == r"\operatorname{softmax}\left(a\right)"
    assert {each["grain"] for each in entries} == {"rule", "region", "bookkeeping"}


def test_latex_is_one_equation_a_step(small: sg.Graph) -> None:
    told = small.explain(format="latex")
    assert told.startswith("\\begin{aligned}\n")
    assert told.count("&=") == len(small.history)
    assert r"\frac{a \left(b - y\right)}{n} && \text{algebra [rounding]}" in told


def test_facts_that_tie_elements_stand_only_after_differentiating() -> None:
    simplex = sg.spec(3, assume=sg.simplex(-1))
    forward = sg.trace(lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
                       z=sg.spec(3), p=simplex)  # fmt: skip
    entries = forward.gradient("z").simplify().explain(format="data")
    at = next(i for i, each in enumerate(entries) if each.get("what") == "differentiated")
    before, after = (
        [licence["guard"] for each in part for licence in each.get("licences", ())]
        for part in (entries[:at], entries[at:])
    )
    assert "simplex(-1)" not in before
    assert "simplex(-1)" in after


def test_letters_are_no_names_of_inputs() -> None:
    graph = sg.trace(lambda a, b: np.log(np.exp(np.sin(a * b))), a=sg.spec(3), b=sg.spec(3))
    entry = graph.simplify().explain(format="data")[0]
    assert not {"a", "b"} & set(entry["letters"])


def test_choices_are_told() -> None:
    graph = sg.trace(lambda x: np.tanh(x) * 2, x=sg.spec(3)).jacobian("x")
    assert "jacobian by reverse mode" in graph.explain(grains={"choice"})
    assert r"\leadsto" in graph.explain(format="latex")


def test_what_is_not_there_is_refused(small: sg.Graph) -> None:
    with pytest.raises(sg.InputError, match="No input or output is named 'grad_b'"):
        small.explain("grad_b")
    with pytest.raises(sg.InputError, match="no format 'html'"):
        small.explain(format="html")  # pyright: ignore[reportArgumentType]
    with pytest.raises(sg.InputError, match="no grains"):
        small.explain(grains={"sand"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(sg.InputError, match="no grains"):
        small.explain(grains="rule")
