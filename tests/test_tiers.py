"""The default run is a sample, and still reaches every op, rule, pass and row of the mission."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS

import symgraph as sg
import symgraph.passes
from symgraph.ir.op import OPS
from symgraph.rewriting.packs import every_rule

ROOT = Path(__file__).resolve().parent.parent
LONG = {"fuzz", "oracle", "whole", "gpu"}
FAMILIES = (
    *("tests/test_every_rule.py", "tests/symgraph/backends/test_base.py"),
    *("tests/symgraph/autodiff/test_op_gradients.py", "tests/symgraph/passes/test_reads.py"),
)


@cache
def selected(*options: str) -> frozenset[str]:
    """Ids of the tests of `FAMILIES` that `pytest` with these options would run."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, *FAMILIES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(line for line in ran.stdout.splitlines() if "::" in line)


def rows(test: str) -> set[str]:
    """The rows of a family that the default run takes."""
    found = (re.fullmatch(rf".*::{test}\[(.*)\]", each) for each in selected())
    return {match[1] for match in found if match}


@pytest.mark.whole
def test_every_op_is_run_and_differentiated_and_every_rule_tried_by_default() -> None:
    ours = {name for name, op in OPS.items() if not op.custom}  # Other tests add operations.
    assert rows("test_every_operation_on_numpy_to_the_last_bit") == ours
    taken = rows("test_orders_one_and_two")
    # As pytest writes an id: escaped, and rows of one name are numbered.
    taken |= {re.sub(r"_?\d+$", "", each) for each in taken}
    derived = {case.op for case in ROWS if str(case).encode("unicode_escape").decode() in taken}
    assert derived == {case.op for case in ROWS}
    assert rows("test_rule_in_brief") == {rule.name for rule in every_rule()}
    assert 0 < len(rows("test_part_of_every_operation")) < len(OPS) / 6


@pytest.mark.whole
def test_default_and_whole_are_the_tests_of_the_build() -> None:
    default, others = selected(), selected("-m", "whole and not fuzz and not oracle and not gpu")
    assert default
    assert others
    assert not default & others
    assert default | others == selected("-m", "not fuzz and not oracle and not gpu")


def short_tests(path: Path) -> Iterator[ast.FunctionDef]:
    """Those of a file that are in no longer tier."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks = {ast.unparse(each).removeprefix("pytest.mark.") for each in node.decorator_list}
            if not marks & LONG:
                yield node


@pytest.mark.whole
def test_every_row_of_the_mission_has_a_test() -> None:
    """By its number in the docstring, as in `M07`."""
    numbers = {
        int(number)
        for path in ROOT.joinpath("tests").rglob("test_*.py")
        for test in short_tests(path)
        for number in re.findall(r"\bM(\d\d)\b", ast.get_docstring(test) or "")
    }
    assert numbers == set(range(1, 31))


@pytest.mark.whole
def test_every_pass_is_run() -> None:
    """On a graph with a loop, a softmax, a choice, a name, a part read and a value used twice."""

    def f(x: Any, w: Any) -> Any:
        powers = np.sum((x**2 + w**2) ** 1.5)
        w = sg.name(w * 1.5, "weights")
        last, _ = sg.scan(
            lambda c, row: (np.tanh(c * 1 + row), np.exp(c)), np.zeros(3), x, length=4
        )
        q = np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)
        powers = powers + np.sum(np.maximum(0.3 * x, -0.7 * x))
        return np.sum(last) + np.sum((q * w)[1]) + np.sum(-np.sin(-x) / (1 + np.exp(-x))) + powers

    passes = Path(symgraph.passes.__path__[0])
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent == passes and frame.f_code.co_name != "<module>":
            seen.add(path.stem)

    at = {"x": np.linspace(-1, 1, 12).reshape(4, 3), "w": np.linspace(1, 2, 12).reshape(4, 3)}
    graph = sg.trace(f, **at).gradient("x", "w")
    sys.setprofile(note)
    try:
        small = graph.simplify()
        lowered = small.lower()
        graph.simplify(keep="weights")
    finally:
        sys.setprofile(None)
    assert seen >= {path.stem for path in passes.glob("*.py")} - {"__init__"}
    wanted, found = graph.evaluate(**at), lowered(**at)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    for one, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
