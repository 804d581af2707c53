"""The published schema of saved graphs: all that is saved follows it, and faults do not."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.samples import op_samples
from symgraph.ir.op import OPS
from symgraph.saving import schema

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def validator() -> Any:
    kind = jsonschema.validators.validator_for(schema())
    kind.check_schema(schema())
    return kind(schema())


def assert_follows(validator: Any, graph: sg.Graph) -> None:
    document = json.loads(graph.to_json())
    found = next(iter(validator.iter_errors(document)), None)
    assert found is None, f"{found.json_path}: {found.message[:300]}"


def logistic(x: Any, w: Any, y: Any) -> Any:
    p = sg.name(1 / (1 + np.exp(-(x @ w))), "probability")
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def trained() -> sg.Graph:
    return sg.trace(logistic, x="n, 4", w="4", y=sg.spec("n", assume=sg.interval(0, np.inf)))


def looped(x: Any, w: Any) -> Any:
    with sg.scope("recurrence"):
        last, states = sg.scan(lambda h, row: (np.tanh(row @ w + h),) * 2, x[0], x)
    return {"last": np.sum(last), "all": (np.sum(states), [np.max(states)])}


def deep(x: Any) -> Any:
    for _ in range(12):
        x = np.sin(x)
    return np.sum(x)


GRAPHS: dict[str, Any] = {
    "function": trained,
    "gradient": lambda: trained().gradient("w", "x"),
    "simplified": lambda: trained().gradient("w").simplify(),
    "exact and little": lambda: trained().simplify(trust="exact", effort="low"),
    "kept": lambda: trained().gradient("w").simplify(keep="probability"),
    "all kept": lambda: trained().gradient("w").simplify(keep=True),
    "jvp": lambda: trained().jvp({"w": "v", "y": "u"}),
    "vjp": lambda: trained().vjp("w", cotangent=2.0),
    "jacobian": lambda: trained().gradient("w", value=False).jacobian("w", mode="forward"),
    "hessian": lambda: trained().hessian("w", "x"),
    "hvp": lambda: trained().hvp(["w", "y"], "v"),
    "transform": lambda: sg.hessian(logistic, "w").graph(np.ones((3, 4)), np.ones(4), np.ones(3)),
    "checkpoint": lambda: sg.trace(deep, x="n").gradient("x").checkpoint("70%", n=1000),
    "loop": lambda: sg.trace(looped, x="n, 3", w="3, 3").gradient("w", of="last"),
    "facts": lambda: sg.trace(
        lambda a, b: a @ b,
        a=sg.spec("3, 3", assume=[sg.triangular("lower"), sg.orthogonal]),
        b=sg.spec("3", "float32", assume=sg.simplex(-1)),
    ),
    "sizes": lambda: sg.trace(lambda x: np.reshape(x, (-1,))[: x.shape[0] // 2], x="n, m"),
    "constants": lambda: sg.trace(
        lambda x: x * np.arange(40.0) + np.array([np.nan, -0.0] * 20) + np.float32(3), x=(40,)
    ),
    "clipped": lambda: sg.trace(lambda x: np.clip(x, -np.inf, 3) + snp.softmax(x), x="n"),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_saved_graph_follows_the_schema(name: str, validator: Any) -> None:
    assert_follows(validator, GRAPHS[name]())


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("op", sorted(OPS))
def test_every_operation_follows_the_schema(op: str, validator: Any) -> None:
    for dag in op_samples(OPS[op]):
        assert_follows(validator, sg.Graph(dag))


@pytest.mark.sampled(one_in=50)
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_follow_the_schema(seed: int, validator: Any) -> None:
    program = random_program(seed)
    assert_follows(validator, traced_program(program).gradient(*program.targets).simplify())


FAULTS: list[tuple[str, Any]] = [
    ("version", 2),
    ("format", "other"),
    ("more", 1),
    ("frames.0.1", -1),
    ("nodes.0.op", ""),
    ("nodes.0.results", []),
    ("nodes.0.results.0.0", "complex64"),
    ("nodes.0.results.0.1.0", -1),
    ("nodes.0.results.0.1.0", {"Mul": []}),
    ("nodes.0.results.0.1.0", {"eval": ["n"]}),
    ("nodes.0.params.name", {"python": "1"}),
    ("nodes.0.params.assume", [{"fact": ["pretty"]}]),
    ("nodes.0.operands", [-1]),
    ("nodes.0.extra", 1),
    ("notes.0", [0]),
    ("stages", []),
    ("stages.0.structure", {"set": [0]}),
    ("stages.1.derive.name", "anything"),
    ("stages.1.derive.wrt", "w"),
    ("stages.2.trust", "blind"),
    ("stages.2.keep", []),
    ("steps.0.grain", "sand"),
    ("passes.0.equal", 1),
]


@cache
def saved() -> str:
    return trained().gradient("w").simplify().to_json()


@pytest.mark.parametrize(("path", "value"), FAULTS, ids=str)
def test_what_the_schema_refuses_is_refused_by_load(path: str, value: Any, validator: Any) -> None:
    document = json.loads(saved())
    *outer, last = path.split(".")
    at: Any = document
    for key in outer:
        at = at[int(key)] if isinstance(at, list) else at[key]
    at[int(last) if isinstance(at, list) else last] = value
    assert not validator.is_valid(document)
    with pytest.raises(sg.FormatError):
        sg.load(json.dumps(document))


def test_the_schema_in_the_documentation_is_the_one_that_is_shipped() -> None:
    shipped = ROOT / "symgraph" / "saving" / "graph.schema.json"
    published = ROOT / "docs" / "graph.schema.json"
    assert published.read_bytes() == shipped.read_bytes()
    assert json.loads(shipped.read_text(encoding="utf-8")) == schema()
