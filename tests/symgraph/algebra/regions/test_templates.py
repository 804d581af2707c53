"""Of two regions of one structure the second is written as the first, and means what it meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from randomgraphs import NETWORKS, SYMGRAPH, Program, random_program
from randomgraphs.compare import TOLERANCE, Reference, difference, flat
from textbook import Row, numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.accuracy import lost_numbers, verdict
from symgraph.algebra.extraction.cheapest import CheapestSpellings
from symgraph.algebra.regions import region_pass, repeated, templates, walks
from symgraph.ir.node import Node

SIZES = {"n": 6}


@pytest.fixture
def echoed(monkeypatch: pytest.MonkeyPatch) -> list[Node]:
    """Regions written as another was; graphs of all sizes are looked at for them."""
    found: list[Node] = []
    plain = repeated.RepeatedRegions.treated_as_first

    def told(self: Any, node: Node, structure: templates.RegionStructure) -> bool:
        right = plain(self, node, structure)
        if right:
            found.append(node)
        return right

    monkeypatch.setattr(repeated, "_TOO_FEW", 0)
    monkeypatch.setattr(repeated.RepeatedRegions, "treated_as_first", told)
    return found


def doubled(row: Row) -> tuple[sg.Graph, dict[str, np.ndarray[Any, Any]]]:
    """The function of the row at two places, added, and its gradient in all of both."""
    specs = {f"{name}{i}": spec for i in (1, 2) for name, spec in row.specs.items()}

    def f(**arrays: Any) -> Any:
        first, second = (
            row.f(**{name: arrays[f"{name}{i}"] for name in row.specs}) for i in (1, 2)
        )
        return first - 3 * second

    at = {f"{k}{i}": v for i in (1, 2) for k, v in numbers(row, SIZES, seed=i).items()}
    wrt = [f"{name}{i}" for i in (1, 2) for name in row.wrt]
    return traced(f, specs).gradient(*wrt), at


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if place % 4 == 0 else pytest.mark.fuzz, id=row.name)
        for place, row in enumerate(CATALOGUE)
    ],
)
def test_the_second_of_two_is_right(row: Row, echoed: list[Node]) -> None:
    graph, at = doubled(row)
    with np.errstate(all="ignore"):
        wanted = graph.evaluate(**at)
        found = graph.simplify().evaluate(**at)
    for one, other in zip(_leaves(wanted), _leaves(found), strict=True):
        size = float(np.max(np.abs(one), initial=1e-3, where=np.isfinite(one)))
        np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-7 * size)


def _leaves(value: Any) -> list[Any]:
    return [each for v in value for each in _leaves(v)] if isinstance(value, tuple) else [value]


def at_random() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return {
        "x": rng.normal(size=(4, 3)),
        "w": rng.normal(size=(3, 3)),
        "v": rng.normal(size=(3, 3)),
    }


@pytest.mark.whole
@pytest.mark.parametrize("kind", NETWORKS)
def test_layers_come_out_as_if_each_were_written(
    kind: str, echoed: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operation for operation and number for number.

    In the last layer of attention a constant may stand beside either factor of the scores, as cheap
    to the flop: there numbers are equal to a few roundings.
    """
    at = at_random()
    joint = sg.trace(NETWORKS[kind][0](12), **{**at, "x": sg.spec("n, 3")}).gradient("w", "v")
    small = joint.simplify()
    assert len(echoed) > 0.6 * len(small)
    monkeypatch.setattr(templates.RegionStructures, "pays", False)
    alone = joint.simplify()
    assert (small.op_count(), small.flops()) == (alone.op_count(), alone.flops())
    wanted, found = _leaves(alone.evaluate(**at)), _leaves(small.evaluate(**at))
    for one, other in zip(wanted, found, strict=True):
        if kind == "attending":
            np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-13)
        else:
            np.testing.assert_array_equal(other, one)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("kind", "most"), [("residual", 25), ("normalised", 86), ("attending", 152)]
)
def test_spelling_does_not_grow_with_depth(
    kind: str, most: int, echoed: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice the layers hold the same few regions; only a small graph is looked at again, late.

    A few more are looked at: deeper layers are larger, and what keeps their digits is another one.
    """
    for module in (region_pass, walks):
        monkeypatch.setattr(module, "PATIENT_UP_TO", 0)
    spelled: list[Node] = []
    plain = CheapestSpellings.cheapest

    def counted(self: CheapestSpellings, node: Node, *given: Any) -> Any:
        spelled.append(node)
        return plain(self, node, *given)

    monkeypatch.setattr(CheapestSpellings, "cheapest", counted)
    counts: list[int] = []
    for layers in (12, 24):
        spelled.clear()
        sg.trace(NETWORKS[kind][0](layers), **at_random()).gradient("w", "v").simplify()
        counts.append(len(spelled))
    assert counts[1] <= 1.25 * counts[0]
    assert counts[1] <= most


def test_steps_of_a_loop_whose_bounds_grow_are_alike(
    echoed: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of a cell lies between -t and t after t steps, and its steps are written once."""
    for module in (region_pass, walks):
        monkeypatch.setattr(module, "PATIENT_UP_TO", 0)
    written: list[Node] = []
    plain = CheapestSpellings.cheapest

    def counted(self: CheapestSpellings, node: Node, *given: Any) -> Any:
        written.append(node)
        return plain(self, node, *given)

    monkeypatch.setattr(CheapestSpellings, "cheapest", counted)

    def cell(x: Any, w: Any, v: Any, steps: int) -> Any:
        state = np.tanh(x)
        for _ in range(steps):
            gate = 1 / (1 + np.exp(-(state @ w + x @ v)))
            state = state * gate + (1 - gate) * np.tanh(x @ v + 2 * gate)
        return np.sum(state)

    counts: list[int] = []
    for steps in (10, 20):
        written.clear()
        sg.trace(lambda x, w, v, steps=steps: cell(x, w, v, steps), **at_random()).simplify()
        counts.append(len(written))
    assert counts[1] <= counts[0] + 2


TWO: dict[str, tuple[Callable[..., Any], dict[str, sg.Spec]]] = {
    "a positive root and another": (
        lambda x, y: np.tanh(np.sqrt(x * x) * x) + np.tanh(np.sqrt(y * y) * y),
        {"x": sg.spec("3", assume=sg.positive), "y": sg.spec("3")},
    ),
    "a sum of squares that has a root, and one that may not": (
        lambda x, y: np.tanh((x * x * y) ** 0.5) + np.tanh((y * y * x) ** 0.5),
        {"x": sg.spec("3", assume=sg.positive), "y": sg.spec("3")},
    ),
    "a sum that is positive by its bounds, and one that is not": (
        lambda x, y: np.tanh(((x + 3) ** 2) ** 0.5 * x) + np.tanh(((y + 3) ** 2) ** 0.5 * y),
        {
            "x": sg.spec("3", assume=sg.interval(-2, 2)),
            "y": sg.spec("3", assume=sg.interval(-9, 9)),
        },
    ),
    "a transpose that is the same and another": (
        lambda x, y: np.tanh(x + x.T + x) + np.tanh(y + y.T + y),
        {"x": sg.spec("3, 3", assume=sg.symmetric), "y": sg.spec("3, 3")},
    ),
    "probabilities and others": (
        lambda x, y: np.tanh(x * np.sum(x)) + np.tanh(y * np.sum(y)),
        {"x": sg.spec("3", assume=sg.simplex(axis=-1)), "y": sg.spec("3")},
    ),
    "numbers": (
        lambda x, y: np.tanh((2 * x + 3 * x) * x) + np.tanh((2 * y + 4 * y) * y),
        {"x": sg.spec("3"), "y": sg.spec("3")},
    ),
    "lengths": (
        lambda x, y: np.tanh(np.sum(3 * x + 5 * x)) + np.tanh(np.mean(3 * y + 5 * y)),
        {"x": sg.spec("3"), "y": sg.spec("4")},
    ),
    "precisions": (
        lambda x, y: np.tanh(x / 3 + x / 7) + np.tanh(y / 3 + y / 7),
        {"x": sg.spec("3", "float32"), "y": sg.spec("3")},
    ),
    # The numbers are used elsewhere too, or the last of the two would be cheaper by them.
    "terms of two arrays, and of three": (
        lambda x, y, z: (
            np.tanh(2 * x + 3 * y + 4 * x)
            + np.tanh(2 * y + 3 * x + 4 * z)
            + np.sin(2 * np.cos(z) + 3) * np.sin(4 * np.cos(z))
        ),
        {"x": sg.spec("3"), "y": sg.spec("3"), "z": sg.spec("3")},
    ),
    "angles of two arrays, and of three": (
        lambda x, y, z: (
            np.tanh(2 * np.sin(x) + 3 * np.sin(y) + 4 * np.sin(x))
            + np.tanh(2 * np.sin(y) + 3 * np.sin(x) + 4 * np.sin(z))
            + np.sin(2 * np.cos(z) + 3) * np.sin(4 * np.cos(z))
        ),
        {"x": sg.spec("3"), "y": sg.spec("3"), "z": sg.spec("3")},
    ),
    "one angle, and two": (
        lambda x, y, z: np.tanh(np.sin(x) * np.cos(x)) + np.tanh(np.sin(y) * np.cos(z)),
        {"x": sg.spec("3"), "y": sg.spec("3"), "z": sg.spec("3")},
    ),
}


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", TWO)
def test_what_differs_is_told_apart(name: str, order: int, echoed: list[Node]) -> None:
    """Either may come first: what is known of one array is not taken to hold of another."""
    f, specs = TWO[name]
    row = Row(name, f, tuple(specs), f, specs)
    at = numbers(row, SIZES)
    swapped = dict(zip(at, list(at.values())[::order], strict=True))
    specs = dict(zip(specs, list(specs.values())[::order], strict=True))
    graph = traced(lambda **arrays: np.sum(f(**arrays)), specs).gradient(*specs)
    with np.errstate(all="ignore"):
        wanted = _leaves(graph.evaluate(**swapped))
        found = _leaves(graph.simplify().evaluate(**swapped))
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(0, 1000, 50))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_programs_at_two_places(start: int, dtype: str, echoed: list[Node]) -> None:
    for seed in range(start, start + 50):
        program = random_program(seed).astype(dtype)
        places = [program.values, {k: v[...] * v.dtype.type(1) for k, v in program.values.items()}]
        arrays = {f"{k}_{i}": v for i, at in enumerate(places) for k, v in at.items()}

        def both(program: Program = program, **arrays: Any) -> Any:
            first, second = (
                program.function(
                    SYMGRAPH.np, SYMGRAPH.sp, **{k: arrays[f"{k}_{i}"] for k in program.values}
                )
                for i in (0, 1)
            )
            return first - 3 * second

        wrt = [f"{name}_{i}" for i in (0, 1) for name in program.targets]
        joint = sg.trace(both, **arrays).gradient(*wrt)
        scale = Reference.of(program).scale
        wanted, found = flat(joint.evaluate(**arrays)), flat(joint.simplify().evaluate(**arrays))
        assert not difference(found, wanted, 10 * TOLERANCE[dtype] * scale), program
    assert echoed


@pytest.mark.parametrize("trust", ["rounding", "domain"])
def test_a_region_written_as_another_was_is_told_alike(echoed: list[Node], trust: Any) -> None:
    """With its identities, and as resting on the licence to cancel where the first one does."""

    def f(**arrays: Any) -> Any:
        pairs = [(arrays[f"a{i}"], arrays[f"b{i}"], arrays[f"c{i}"]) for i in range(3)]
        if trust == "domain":
            return tuple(np.tanh((a * b + c * a) / a) for a, b, c in pairs)
        return tuple(np.tanh(a * b + a * c) for a, b, c in pairs)

    specs = {f"{name}{i}": "5" for i in range(3) for name in "abc"}
    graph = sg.trace(lambda **arrays: f(**arrays), **specs).simplify(trust=trust, rules=())
    steps = [step for step in graph.history if step.rule == "algebra"]
    assert echoed
    assert len(steps) == 3
    assert {step.sound for step in steps} == {trust}
    assert len({tuple(step.identities) for step in steps}) == 1
    assert trust == "domain" or "factor_taken_out" in steps[2].identities


def test_exponentials_are_compared_in_each_region() -> None:
    """Two regions look alike, but only one has exponents that are related."""

    def f(x: Any, y: Any, z: Any) -> Any:
        total = 0.0
        for place in range(12):
            u = np.log(x[place]) / y[place]
            half = (y if place % 3 == 0 else z)[place] / 2
            first, second = np.tanh(np.sum(u + half)), np.tanh(np.sum(u - half))
            one, other = u + y[place] / 2, u - half
            total += np.exp(-(one**2) / 2) * x[place] + np.exp(-(other**2) / 2) + first * second
        return total

    positive = {n: sg.spec("12", "float64", assume=sg.positive) for n in "xyz"}
    graph = sg.trace(f, **positive)
    at = {n: np.random.default_rng(i).uniform(0.5, 2, 12) for i, n in enumerate("xyz")}
    small = graph.simplify()
    assert small.op_count() < graph.op_count()
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-12)


@pytest.mark.parametrize("compared", [True, False])
def test_an_array_and_its_operand_are_not_taken_for_a_value_of_the_region(
    echoed: list[Node], monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    """The last weight is what the sum of the weights adds, the other weights are not.

    Each weight has a gradient of one structure. Comparing values would find the mistake, too, so
    it is right without."""
    if not compared:
        for module in (lost_numbers, verdict):
            monkeypatch.setattr(module, "are_other_values", lambda *_: False)

    def f(x: Any, scale: Any) -> Any:
        total, weights = 0.0, 0.0
        for step in range(4):
            shifted = np.roll(x, step)
            weight = np.exp(-((x - shifted) ** 2) / scale)
            total, weights = total + weight * shifted, weights + weight
        return np.sum((total / weights) ** 2)

    x = np.linspace(0.1, 2, 5) ** 2
    found = sg.grad(f, effort="low")(x, 0.3)
    assert echoed
    np.testing.assert_allclose(found, sg.grad(f, trust="exact")(x, 0.3), rtol=1e-12)
