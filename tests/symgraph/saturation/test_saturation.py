"""`strategy="saturate"`: every order of the rules at once, then the cheapest that is equal."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program
from randomgraphs.compare import TOLERANCE, Reference, difference, flat
from randomgraphs.compare import traced as traced_program
from textbook import numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
from symgraph.ir.cost import varying
from symgraph.ir.dims import resolve
from symgraph.ir.fact_inference import Knowledge
from symgraph.rewriting import default_rules
from symgraph.saturation.axioms import AXIOMS
from symgraph.saturation.bounds import SaturationBounds
from symgraph.saturation.directions import with_directions
from symgraph.saturation.search import EGraphSearch

pytest.importorskip("egglog")

POSITIVE = sg.spec("4", assume=sg.positive)
PLAIN = sg.spec("4")
SIZES = {"n": 6}
SMALL = SaturationBounds(iterations=4, nodes=300, exact_below=150)


@dataclass(frozen=True)
class Case:
    """A function whose parts stand in each other's way when rules go one after the other."""

    name: str
    f: Callable[..., Any]
    operations: int
    specs: dict[str, Any]

    def __str__(self) -> str:
        return self.name


def case(
    name: str, operations: int, f: Callable[..., Any], plain: str = "", positive: str = ""
) -> Case:
    specs = dict.fromkeys(plain, PLAIN) | dict.fromkeys(positive, POSITIVE)
    return Case(name, f, operations, specs)


CASES = [
    case("pythagoras, apart", 1, lambda x, y: np.sin(x) ** 2 + y + np.cos(x) ** 2, "xy"),
    case("hyperbolic, apart", 1, lambda x, y: np.cosh(x) ** 2 + y - np.sinh(x) ** 2, "xy"),
    # Not sin(x + y) + z, where that is measured to lose the digits by which a large sum is rounded.
    case(
        "angles, apart", 8, lambda x, y, z: np.sin(x) * np.cos(y) + z + np.cos(x) * np.sin(y), "xyz"
    ),
    case("extrema, added", 2, lambda x, y, z: np.maximum(x, y) + z + np.minimum(x, y), "xyz"),
    case("extrema, multiplied", 2, lambda x, y, z: np.maximum(x, y) * z * np.minimum(x, y), "xyz"),
    case(
        "maximum of three, twice",
        3,
        lambda x, y, z: np.maximum(np.maximum(x, y), z) + np.maximum(x, np.maximum(y, z)),
        "xyz",
    ),
    case(
        "minimum, one twice",
        2,
        lambda x, y, z: np.minimum(np.minimum(x, y), np.minimum(x, z)),
        "xyz",
    ),
    case("shifted maximum", 2, lambda x, y, z: np.maximum(x + z, y + z), "xyz"),
    case("scaled maximum", 2, lambda x, y, z: np.maximum(x * z, y * z), "xy", "z"),
    case(
        "choices, crossed", 1, lambda x, y, z: np.where(x > 0, y, z) + np.where(x > 0, z, y), "xyz"
    ),
    case("quartic", 5, lambda x: 1 + x + x**2 + x**3 + x**4, "x"),
    case("square of a sum", 2, lambda x, y: x * x + 2 * x * y + y * y, "xy"),
    case("squares over a sum", 1, lambda x, y: (x * x - y * y) / (x + y), "", "xy"),
    case(
        "three factors", 5, lambda x, y, z: x * y * z + x * y + x * z + x + y * z + y + z + 1, "xyz"
    ),
    case("roots, apart", 3, lambda x, y, z: np.sqrt(x) * z * np.sqrt(y), "z", "xy"),
    case("absolutes, apart", 3, lambda x, y, z: np.abs(x) * z * np.abs(y), "xyz"),
    case(
        "one condition twice",
        5,
        lambda x, y, z: ((x > 0) & (y > 0)) | ((x > 0) & (z > 0)),
        "xyz",
    ),
]

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def numbers_of(specs: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    at: dict[str, Any] = {}
    for name, spec in specs.items():
        value = rng.normal(size=4)
        at[name] = np.abs(value) + 0.1 if spec is POSITIVE else value
    return at


def graph_of(case: Case) -> sg.Graph:
    return sg.trace(case.f, **case.specs)


@every_case
def test_what_stands_apart_is_found(case: Case) -> None:
    forward = graph_of(case)
    small = forward.simplify(strategy="saturate")
    assert small.op_count() <= case.operations
    at = numbers_of(case.specs)
    found, plain = small.evaluate(**at), forward.evaluate(**at)
    np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-12)
    # Each rule on the way is an equality of its own, checked on numbers.
    small.history.check(**at)


def test_rules_in_one_order_lose_where_every_order_wins() -> None:
    wins = [case.name for case in CASES if case.operations < graph_of(case).simplify().op_count()]
    assert len(wins) >= 10, wins


def test_the_way_is_told_rule_by_rule() -> None:
    small = graph_of(CASES[0]).simplify(strategy="saturate")
    told = [step.rule for step in small.history]
    assert told[-3:] == ["sums_associate", "pythagoras", "saturate"]
    text = small.explain()
    assert "pythagoras" in text
    assert "saturate" in text
    assert "saturation" in {each.what for each in small.history.passes}


def test_saturating_again_changes_nothing() -> None:
    for case in CASES[:3]:
        small = graph_of(case).simplify(strategy="saturate")
        again = small.simplify(strategy="saturate")
        assert again.dag.outputs == small.dag.outputs


# -- soundness -------------------------------------------------------------------------------------
def test_guards_are_asked() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return np.sqrt(x) * z * np.sqrt(y)

    for known in (0, 1):
        specs = {"x": POSITIVE if known else PLAIN, "y": PLAIN, "z": PLAIN}
        small = sg.trace(f, **specs).simplify(strategy="saturate")
        assert small.op_count() == 4  # y may be negative in both
    small = sg.trace(f, x=POSITIVE, y=POSITIVE, z=PLAIN).simplify(strategy="saturate")
    assert small.op_count() == 3


def test_a_rule_of_grade_domain_is_not_used_at_rounding() -> None:
    forward = sg.trace(lambda x, y: (x * x - y * y) / (x + y), x=PLAIN, y=PLAIN)
    small = forward.simplify(strategy="saturate")
    assert "quotient_of_equals" not in {step.rule for step in small.history}
    # At x = -y there is no number, and none is made.
    with np.errstate(invalid="ignore"):
        assert np.isnan(small.evaluate(x=np.ones(4), y=-np.ones(4))).all()


def test_at_domain_such_rules_are_left_to_the_greedy_passes() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sin(x) ** 2 + np.exp(y) * (y / y) + np.cos(x) ** 2

    forward = sg.trace(f, x=PLAIN, y=PLAIN)
    small = forward.simplify(trust="domain", strategy="saturate")
    assert small.op_count() == 2
    by_pass = {
        each.what: {step.rule for step in small.history.steps[each.start : each.stop]}
        for each in small.history.passes
    }
    assert "quotient_of_equals" not in by_pass["saturation"]
    assert forward.simplify(strategy="saturate").op_count() == 4


def test_trust_exact_changes_no_bit() -> None:
    forward = sg.trace(
        lambda x, y, z: ((x > 0) & (y > 0)) | ((x > 0) & (z > 0)), x=PLAIN, y=PLAIN, z=PLAIN
    )
    small = forward.simplify(trust="exact", strategy="saturate")
    assert small.op_count() == 5
    assert {step.sound for step in small.history} == {"exact"}
    rounded = graph_of(CASES[0])
    same = rounded.simplify(trust="exact", strategy="saturate")
    assert same.op_count() == rounded.simplify(trust="exact").op_count()
    assert all(step.sound == "exact" for step in same.history)


def test_stable_spellings_are_not_given_up() -> None:
    def f(z: Any) -> Any:
        return -np.log(np.exp(z) / np.sum(np.exp(z)))[0] + np.sum(np.exp(z) / np.sum(np.exp(z)))

    graph = sg.trace(f, z=(5,)).gradient("z")
    small = graph.simplify(strategy="saturate")
    large = np.array([1000.0, 0.0, -1000.0, 3.0, 999.0])
    value, gradient = small.evaluate(z=large)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_facts_that_tie_elements_together_wait_for_the_derivative() -> None:
    def f(p: Any) -> Any:
        return np.sum(p) + np.sin(p[0]) ** 2 + p[1] + np.cos(p[0]) ** 2

    graph = sg.trace(f, p=sg.spec("3", assume=sg.simplex(-1)))
    small = graph.simplify(strategy="saturate").gradient("p", value=False)
    found = small.simplify(strategy="saturate").evaluate(p=np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(found, [1.0, 2.0, 1.0], atol=1e-12)


# -- bounds ----------------------------------------------------------------------------------------
def searched(case: Case, bounds: SaturationBounds) -> EGraphSearch:
    outputs = graph_of(case).simplify().dag.outputs
    rules = with_directions([*default_rules(), *AXIOMS])
    search = EGraphSearch(
        outputs, [], set(varying(outputs)), rules, Knowledge(), "rounding", bounds
    )
    search.run()
    return search


@pytest.mark.parametrize("nodes", [30, 100, 250])
def test_the_graph_stays_within_its_bound(nodes: int) -> None:
    quartic = next(each for each in CASES if each.name == "quartic")
    search = searched(quartic, SaturationBounds(nodes=nodes))
    # One rule may be in the middle of its right side.
    assert nodes <= len(search.graph) <= nodes + 20


def test_no_iterations_leave_what_greedy_gives() -> None:
    forward = graph_of(CASES[0])
    bounds = SaturationBounds(iterations=0)
    small = forward.simplify(strategy="saturate", bounds=bounds)
    assert small.dag.outputs == forward.simplify().dag.outputs


def test_a_large_graph_is_taken_in_windows() -> None:
    def f(x: Any, y: Any) -> Any:
        for k in range(12):
            x = np.tanh(np.sin(x * k) ** 2 + y + np.cos(x * k) ** 2) + np.exp(y)
        return x

    forward = sg.trace(f, x=(4,), y=(4,))
    bounds = SaturationBounds(iterations=3, nodes=200, window=20, exact_below=0, rounds=1)
    small = forward.simplify(strategy="saturate", bounds=bounds)
    assert small.op_count() < forward.simplify().op_count()
    at = {"x": np.linspace(-1, 1, 4), "y": np.linspace(-0.5, 0.5, 4)}
    np.testing.assert_allclose(small.evaluate(**at), forward.evaluate(**at), rtol=1e-10)


# -- determinism -----------------------------------------------------------------------------------
SCRIPT = """
import numpy as np, symgraph as sg
spec = sg.spec("4", assume=sg.positive)
f = lambda x, y: np.sin(x) ** 2 + y + np.cos(x) ** 2 + np.sqrt(x) * y * np.sqrt(y)
bounds = sg.SaturationBounds(nodes=200)
small = sg.trace(f, x=spec, y=spec).simplify(strategy="saturate", bounds=bounds)
print(small.to_python(), [step.rule for step in small.history])
"""


def test_results_depend_on_nothing_but_the_graph() -> None:
    elsewhere = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    here = StringIO()
    with redirect_stdout(here):
        exec(SCRIPT, {})
    assert elsewhere == here.getvalue()
    assert "saturate" in elsewhere


def test_what_was_built_before_does_not_matter() -> None:
    case = next(each for each in CASES if each.name == "three factors")
    first = graph_of(case).simplify(strategy="saturate", bounds=SMALL).to_python()
    noise = sg.trace(lambda a, b: np.exp(a) * b + b * a, a=(3,), b=(3,)).simplify()
    second = graph_of(case).simplify(strategy="saturate", bounds=SMALL).to_python()
    assert first == second
    assert noise.op_count() > 0


# -- the catalogue ---------------------------------------------------------------------------------
def sample(count: int) -> list[Any]:
    rows = list(CATALOGUE)
    random.Random(0).shuffle(rows)
    return rows[:count]


def check_row(row: Any, bounds: SaturationBounds | None) -> None:
    plain = traced(row.f, row.specs).gradient(*row.wrt, value=False)
    greedy, small = plain.simplify(), plain.simplify(strategy="saturate", bounds=bounds)
    assert small.op_count() <= greedy.op_count()
    assert resolve(small.flops(), SIZES) <= resolve(greedy.flops(), SIZES)
    at = numbers(row, SIZES, 0)
    for found, wanted in zip(values(small, at), values(plain, at), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


def values(graph: sg.Graph, at: dict[str, Any]) -> tuple[Any, ...]:
    found = graph.evaluate(**at)
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("row", sample(8), ids=str)
def test_textbook_gradients_are_never_worse(row: Any) -> None:
    check_row(row, SMALL)


@pytest.mark.fuzz
@pytest.mark.parametrize("row", sample(100), ids=str)
def test_a_hundred_textbook_gradients_are_never_worse(row: Any) -> None:
    check_row(row, None)


# -- random programs -------------------------------------------------------------------------------
TINY = SaturationBounds(iterations=3, nodes=150, window=30, exact_below=40, rounds=1)


def check_program(seed: int, bounds: SaturationBounds) -> None:
    program = random_program(seed).astype("float64")
    wanted = Reference.of(program)
    joint = traced_program(program).gradient(*program.targets)
    small = joint.simplify(strategy="saturate", bounds=bounds)
    small.verify()
    assert small.op_count() <= joint.simplify().op_count()
    found = flat(small.evaluate(**program.values))
    wrong = difference(found, wanted.results, TOLERANCE["float64"] * wanted.scale, wanted.dtypes)
    assert not wrong, f"{wrong}\n{program}"
    small.history.check(**program.values)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_random_programs(seed: int) -> None:
    check_program(seed, TINY)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(3, 60))
def test_gradients_of_many_random_programs(seed: int) -> None:
    check_program(seed, SMALL)


# -- closed forms ----------------------------------------------------------------------------------
# Rows of the catalogue that count more than their closed form when simplified greedily, and no more
# when saturated; two of many, for each takes seconds.
@pytest.mark.parametrize("name", ["squared Hellinger", "perspective projection", "sqrt(xy)"])
def test_closed_forms_that_only_saturation_reaches(name: str) -> None:
    row = next(row for row in CATALOGUE if row.name == name)
    plain = traced(row.f, row.specs).gradient(*row.wrt, value=False)
    small = plain.simplify(strategy="saturate")
    assert small.op_count() <= traced(row.closed, row.specs).op_count()


@pytest.mark.parametrize(
    "f",
    [
        lambda x, p: np.exp(x) / (p + np.exp(x) ** 2),
        lambda x, p: p + np.cosh(x) / (1 + np.cosh(x) ** 2),
    ],
)
def test_nothing_is_put_over_the_square_of_what_overflows(f: Callable[..., Any]) -> None:
    graph = sg.trace(lambda x, p: np.sum(f(x, p)), x=PLAIN, p=POSITIVE)
    slopes = graph.gradient("x", value=False).simplify(strategy="saturate")
    found = slopes.evaluate(x=np.array([-300.0, 1.0, 300.0, 350.0]), p=np.arange(1.0, 5.0))
    assert np.all(np.isfinite(found))
