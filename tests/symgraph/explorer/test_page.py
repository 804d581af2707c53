"""The explorer's page as text: its policy, its data, and places that last."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import symgraph as sg
from symgraph.explorer.timeline import moments, timeline


def joint() -> sg.Graph:
    def loss(z: Any, p: Any) -> Any:
        return -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z))))

    graph = sg.trace(loss, z="n", p=sg.spec("n", assume=sg.simplex(axis=-1)))
    return graph.gradient("z")


class _Page(HTMLParser):
    """The texts of scripts and styles, and the attributes of all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts[len(self.tags) - 1] = self.texts.get(len(self.tags) - 1, "") + data

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", {}))

    def of(self, tag: str) -> list[str]:
        return [self.texts[i] for i, (name, _) in enumerate(self.tags) if name == tag]


def data_of(page: str) -> dict[str, Any]:
    return json.loads(_Page(page).of("script")[0])


def test_the_policy_admits_the_own_script_and_style_and_nothing_else() -> None:
    page = _Page(joint().explore().html)
    policy = next(each["content"] for _, each in page.tags if "http-equiv" in each)
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for text in (page.of("style")[0], page.of("script")[1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    for _, attributes in page.tags:
        assert not {"src", "href", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)


def test_the_script_writes_text_only() -> None:
    script = _Page(joint().explore().html).of("script")[1]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http"):
        assert word not in script


@settings(max_examples=8)
@given(name=st.text(min_size=1, max_size=40))
@example(name="</script><script>alert(1)</script>")
@example(name="@DATA@")
@example(name="<!--")
@example(name="\ud800\x00\ufffe\u2028\u202e")
def test_names_are_data_and_nothing_else(name: str) -> None:
    x = sg.input(name, (2,))
    graph = sg.Graph(sg.Dag({name: x.node}, [np.exp(x).node], [name]))
    html = graph.explore().html
    page = _Page(html)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert len(data_of(html)["nodes"]) == 2
    html.encode("utf-8")


def test_nodes_tell_what_they_are() -> None:
    graph = joint().simplify()
    data = data_of(graph.explore(values={"z": [0.0, 1.0], "p": [0.5, 0.5]}).html)
    last = len(data["steps"]) - 1
    alive = [each for each in data["nodes"] if any(a <= last < b for a, b in each["l"])]
    assert {each["k"] for each in alive} == {"input", "parameter", "forward", "gradient"}
    (grad,) = [each for each in alive if "grad_z" in each.get("out", ())]
    assert grad["type"] == "float64[n]"
    assert grad["flops"] == "n"
    assert grad["live"][1] >= grad["live"][0]
    assert grad["v"]["full"] == "[-0.231059  0.231059]"
    assert any("test_page.py" in line for line in grad["lines"])
    (p,) = [each for each in alive if each["n"] == "p"]
    assert ["simplex(-1)", "stated of input 'p'"] in [
        [fact, why.rpartition(": ")[2]] for fact, why in p["facts"]
    ]


def test_the_steps_lead_from_the_trace_to_the_graph() -> None:
    graph = joint().simplify()
    steps = data_of(graph.explore().html)["steps"]
    assert steps[0]["what"] == "traced"
    assert "differentiated" in [each["what"] for each in steps]
    rules = [each["step"] for each in steps if "step" in each]
    assert all(each["before"] and each["after"] for each in rules)
    assert any(each.get("statement") for each in rules)


def test_no_two_values_ever_hold_one_place_at_once() -> None:
    graph = joint().simplify()
    states = moments(graph.history.log, graph.dag.outputs)
    line = timeline(states)
    assert sorted(line.ordered()) == list(range(line.places))
    for time, moment in enumerate(states):
        alive = [e for e in line.entries if any(a <= time < b for a, b in e.lives)]
        assert len({e.place for e in alive}) == len(alive)
        assert {e.node for e in alive} == set(sg.Dag(graph.dag.inputs, moment.outputs).nodes) - (
            set(graph.dag.inputs.values()) - {e.node for e in alive}
        )


def test_a_value_that_replaces_another_takes_its_place() -> None:
    graph = sg.trace(lambda x: np.sum(np.log(np.exp(x * 2.0))), x="n").simplify()
    states = moments(graph.history.log, graph.dag.outputs)
    line = timeline(states)
    assert len(states) > 2
    outputs = {moment.outputs[0] for moment in states}
    assert len(outputs) > 2
    assert len({entry.place for entry in line.entries if entry.node in outputs}) == 1


def test_values_recomputed_for_memory_are_told_apart() -> None:
    def deep(x: Any) -> Any:
        for _ in range(10):
            x = np.sin(x)
        return np.sum(x)

    graph = sg.trace(deep, x="n").gradient("x", value=False).simplify()
    data = data_of(graph.checkpoint("60 kB", n=1000).explore().html)
    assert "recomputed" in {each["k"] for each in data["nodes"]}
    assert data["steps"][-1]["what"] == "checkpoint"


def test_values_are_checked(tmp_path: Path) -> None:
    with pytest.raises(sg.InputError):
        joint().explore(values={"z": [1.0]})
    joint().save(tmp_path / "g.html")
    assert re.match("<!doctype html>", (tmp_path / "g.html").read_text("utf-8"))
