"""Mission rows about simplification, evaluation and use, each by its number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import symgraph as sg
import symgraph.numpy as snp

RNG = np.random.default_rng(22)
NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
Z = RNG.normal(size=(3, 4))
P = np.full((3, 4), 0.25)


def cross_entropy(z: Any, p: Any) -> Any:
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.sum(p * np.log(q))


def gradient_of_cross_entropy(*facts: Any) -> sg.Graph:
    specs = {"z": sg.spec("3, 4"), "p": sg.spec("3, 4", assume=list(facts))}
    return sg.trace(cross_entropy, **specs).gradient("z", value=False).simplify()


# -- simplification --------------------------------------------------------------------------------
def test_m22_the_gradient_of_cross_entropy_is_q_minus_p() -> None:
    """M22: GBC 6.57 where Σp = 1 is known, q·Σp - p where it is not; right where exp overflows."""
    known, unknown = gradient_of_cross_entropy(sg.simplex(axis=-1)), gradient_of_cross_entropy()
    assert [node.op.name for node in known.nodes if not node.is_input] == ["softmax", "subtract"]
    assert "sum" in {node.op.name for node in unknown.nodes}
    large = np.array([[1000.0, 0.0, -1000.0, 1000.0]] * 3)
    q = np.array([[0.5, 0.0, 0.0, 0.5]] * 3)
    np.testing.assert_allclose(known.evaluate(z=large, p=P), q - P, atol=1e-15)
    np.testing.assert_allclose(unknown.evaluate(z=large, p=2 * P), 2 * (q - P), atol=1e-15)


def test_m23_patterns_are_declared_verified_and_logged() -> None:
    """M23: to a fixpoint, and the log names each rule that fired and shows both of its sides."""
    graph = sg.trace(lambda x: np.log(np.exp(np.log(np.exp(x)))) * 1, x="3")
    small = graph.simplify()
    assert list(small.nodes) == [small.inputs["x"].node]
    assert "log_of_exp" in str(small.explain())
    (rule,) = [each for each in sg.default_rules() if each.name == "log_of_exp"]
    assert rule.doc
    assert rule.sound == "rounding"


def test_m24_what_is_dead_double_neutral_or_constant_goes() -> None:
    """M24: one operation is left of seven."""

    def f(x: Any) -> Any:
        np.tan(x)  # nobody reads it
        return np.sin(x) * 1 + 0 * np.sin(x) + np.sin(x) * (snp.asarray(2.0) - 2.0)

    small = sg.trace(f, x=sg.spec("3", assume=sg.finite)).simplify()
    assert [node.op.name for node in small.nodes if not node.is_input] == ["sin"]


def test_m25_a_sum_of_many_gradients_is_one_buffer() -> None:
    """M25: GBC 6.5.8: each part is added as it is computed; the peak does not grow with them."""

    def f(x: Any, *, uses: int) -> Any:
        return sum(np.sum(np.sin(k * x)) for k in range(1, uses + 1))

    x = RNG.normal(size=1000)
    few, many = (
        sg.trace(lambda x, uses=uses: f(x, uses=uses), x=x).gradient("x", value=False)
        for uses in (3, 30)
    )
    assert many.memory().peak_bytes == few.memory().peak_bytes
    expected = sum(k * np.cos(k * x) for k in range(1, 31))
    np.testing.assert_allclose(many.lower()(x=x), expected, rtol=1e-10, atol=1e-11)


def test_m26_a_memory_budget_makes_a_graph_that_recomputes() -> None:
    """M26: GBC 6.5.3: within the budget, with more operations and the same bits."""

    def f(x: Any) -> Any:
        for _ in range(10):
            x = np.tanh(x)
        return np.sum(x)

    x = RNG.normal(size=1000)
    joint = sg.trace(f, x=x).gradient("x")
    budget = joint.memory().peak_bytes // 2
    tight = joint.checkpoint(budget)
    assert tight.memory().peak_bytes <= budget
    assert tight.op_count() > joint.op_count()
    for one, other in zip(tight.lower()(x=x), joint.lower()(x=x), strict=True):
        np.testing.assert_array_equal(one, other)


# -- evaluation and use ----------------------------------------------------------------------------
def test_m27_any_subset_is_evaluated() -> None:
    """M27: each node of a joint graph, alone, by the interpreter and lowered to NumPy."""
    joint = sg.trace(cross_entropy, z=Z, p=P).gradient("z")
    for node in joint.nodes:
        part = sg.graph(sg.Array(node), inputs=list(joint.inputs.values()))
        np.testing.assert_array_equal(part.evaluate(z=Z, p=P), part.lower()(z=Z, p=P))


def test_m29_every_format_shows_the_graph(tmp_path: Path) -> None:
    """M29: pictures, an interactive page, text and formats for machines."""
    graph = sg.trace(cross_entropy, z=Z, p=P).gradient("z")
    starts = {"svg": "<svg", "dot": "digraph", "py": "def ", "tex": "\\", "json": "{", "txt": "z"}
    for ending, sign in starts.items():
        graph.save(path := tmp_path / f"graph.{ending}")
        assert sign in path.read_text(encoding="utf-8")
    loaded = sg.load(tmp_path / "graph.json")
    np.testing.assert_array_equal(loaded.evaluate(z=Z, p=P)[1], graph.evaluate(z=Z, p=P)[1])
    assert "<title>" in graph.to_svg()  # a browser shows it where the pointer is
    assert nx.is_directed_acyclic_graph(graph.nx)


def test_m30_a_notebook_shows_derivation_picture_and_numbers() -> None:
    """M30: a graph draws itself as a cell's result, and the notebooks explain and evaluate."""
    shown = sg.trace(cross_entropy, z=Z, p=P)._repr_mimebundle_()
    assert any("<svg" in each for each in shown.values())
    code = "".join(
        "".join(cell["source"])
        for path in NOTEBOOKS.glob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    )
    for call in (".gradient(", ".simplify(", ".explain(", ".lower("):
        assert call in code
