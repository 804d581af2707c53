"""`symgraph simplify`, `export`, `explore` and `check`: files in and out, JSON, exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import symgraph as sg
from symgraph.cli import main

ENTROPY = "-sum(p*log(exp(z)/sum(exp(z))))"


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_simplify_prints_the_formula(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simplify", "log(exp(x)) + x"]) == 0
    assert "\nx + x\n\n3 operations before, 1 now\n" in capsys.readouterr().out


def test_simplify_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [ENTROPY, "--wrt", "z", "--given", "p: simplex", "--json"]
    assert main(["simplify", *arguments]) == 0
    found = told(capsys)
    assert "grad_z = softmax(z) - p" in found["formula"]
    assert found["operations"] < found["operations_before"]
    assert found["rules"]


def test_derive_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", ENTROPY, "--wrt=z", "--given", "p: simplex", "--json"]) == 0
    found = told(capsys)
    assert found["gradients"] == {"z": "softmax(z) - p"}
    assert found["check"]["ok"]
    assert r"\operatorname{softmax}\left(z\right) - p" in found["latex"]


def test_a_graph_goes_out_and_in_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.json"
    assert main(["export", "sum(log(exp(x)))", "--no-simplify", "-o", str(path)]) == 0
    assert str(sg.load(path).formula()) == "sum(log(exp(x)))"
    capsys.readouterr()
    assert main(["simplify", str(path), "--json"]) == 0
    assert told(capsys)["formula"] == "sum(x)"
    drawn = tmp_path / "g.graphml"
    assert main(["export", str(path), "--wrt", "x", "-o", str(drawn), "--json"]) == 0
    assert told(capsys)["bytes"] == drawn.stat().st_size
    assert nx.read_graphml(drawn).number_of_nodes() > 0
    picture = tmp_path / "g.svg"
    assert main(["export", str(path), "-o", str(picture)]) == 0
    assert ET.parse(picture).getroot().tag.endswith("svg")


def test_explore_writes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "g.html"
    assert main(["explore", "sum(log(exp(x)))", "--wrt", "x", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_check_tells_by_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "sum(x**3)", "--wrt", "x", "--json"]) == 0
    assert told(capsys)["ok"] is True
    # No derivative is compared where the function has no value.
    assert main(["check", "sum(log(-x*x - 1))", "--wrt", "x", "--json"]) == 1
    found = told(capsys)
    assert (found["ok"], found["finite"], found["worst"]) == (False, False, None)


WRONG = [
    (["check", "sum(x * y)"], "as in --wrt x,y"),
    (["export", "sum(x)", "-o", "g.pickle"], "names no format"),
    (["export", "nothing_here.json", "-o", "g.svg"], "nothing_here.json"),
    (["simplify", "g.json", "--shape", "x=3"], "its own shapes"),
    (["simplify", "x +"], "x +"),
    (["simplify", "__import__('os')"], "__import__"),
    (["check", "g.json", "--wrt", "x"], "g.json"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_bad_usage_is_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
