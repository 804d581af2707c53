"""The algebra at trust="domain": what may be 0 or no number cancels, and only there.

What is defined as written has the same value simplified. Equality has a direction: a value that is
less defined never takes the place of one that is more, be it computed anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.algebra import normalized
from symgraph.algebra.regions.memory import memory_of
from symgraph.ir.fact_inference import Knowledge

VECTOR = sg.spec((6,))
MATRIX = sg.spec((3, 3))

# The program, its operations at the default trust and at "domain".
CANCEL: dict[str, tuple[Callable[..., Any], int, int]] = {
    "(a/x + c) x": (lambda a, c, x: (a / x + c) * x, 3, 2),
    "x/y/x": (lambda x, y: x / y / x, 2, 1),
    "-x/x": (lambda x: (-x) / x, 2, 0),
    "x**2/x/y": (lambda x, y: x**2 / x / y, 3, 1),
    "x**3/x**2": (lambda x: x**3 / x**2, 3, 0),
    "x**1.5/x": (lambda x: x**1.5 / x, 2, 1),
    "x/sqrt(x)": (lambda x: x / np.sqrt(x), 2, 1),
    "sqrt(x) sqrt(x) y": (lambda x, y: np.sqrt(x) * y * np.sqrt(x), 3, 1),
    "x**0.5 x**1.5": (lambda x: x**0.5 * x**1.5, 3, 1),
    "x y/(x a)": (lambda a, x, y: x * y / (x * a), 3, 1),
    "x/(x y + x)": (lambda x, y: x / (x * y + x), 3, 2),
    "(x + x y)/x": (lambda x, y: (x + x * y) / x, 3, 1),
    "(x - y)/(y - x)": (lambda x, y: (x - y) / (y - x), 3, 0),
    "x (1/x - 1)": (lambda x: x * (1 / x - 1), 2, 1),
    "x/y y/x": (lambda x, y: (x / y) * (y / x), 3, 0),
    "(x**2 - y**2)/(x + y)": (lambda x, y: (x * x - y * y) / (x + y), 5, 1),
    "(x**2 - 1)/(x - 1)": (lambda x: (x * x - 1) / (x - 1), 4, 1),
    "exp(log x) y": (lambda x, y: np.exp(np.log(x)) * y, 3, 1),
    "exp(2 log x)": (lambda x: np.exp(2 * np.log(x)), 3, 1),
    "log x + y - log x": (lambda x, y: np.log(x) + y - np.log(x), 3, 0),
    "x**y x**a": (lambda a, x, y: x**y * x**a, 3, 2),
    "x**y/x**a": (lambda a, x, y: x**y / x**a, 3, 2),
    "y x**(y - 1) x": (lambda x, y: y * x ** (y - 1) * x, 4, 2),
    "x**2/|x|": (lambda x: x * x / np.abs(x), 3, 1),
    "sum of x a/x": (lambda a, x: np.sum(x * a / x), 2, 1),
    "x normalised and back": (lambda x: x / np.sum(x) * np.sum(x), 3, 0),
}
MATRICES: dict[str, tuple[Callable[..., Any], int, int]] = {
    "solve(A, A b)": (lambda A, b: np.linalg.solve(A, A @ b), 2, 0),
    "inv(A) A b": (lambda A, b: np.linalg.inv(A) @ (A @ b), 2, 0),
}
# What has to stay: its operations at "domain". Of most the left side is defined where the shorter
# one is not, or the other way round.
STAYS: dict[str, tuple[Callable[..., Any], int]] = {
    "sqrt(x**2) is |x|": (lambda x: np.sqrt(x * x), 1),
    "sqrt(x y)": (lambda x, y: np.sqrt(x * y), 2),
    "log(x y)": (lambda x, y: np.log(x * y), 2),
    "x exp(y) of a log": (lambda x, y: np.exp(np.log(x) + y), 3),
    "a choice keeps what it keeps out": (lambda x: np.where(x == 0, 0.0, 1 / x), 3),
}


def counts(f: Callable[..., Any], **specs: sg.Spec) -> tuple[int, int]:
    graph = sg.trace(f, **specs)
    return graph.simplify().op_count(), graph.simplify(trust="domain").op_count()


def specs_of(f: Callable[..., Any]) -> dict[str, sg.Spec]:
    shapes = {"A": MATRIX, "b": sg.spec((3,))}
    return {
        name: shapes.get(name, VECTOR) for name in f.__code__.co_varnames[: f.__code__.co_argcount]
    }


def drawn(specs: dict[str, sg.Spec], seed: int) -> dict[str, Any]:
    """Small numbers of both signs, zeros among the vectors."""
    rng = np.random.default_rng(seed)
    few = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0])
    given: dict[str, Any] = {name: rng.choice(few, spec.shape) for name, spec in specs.items()}
    if "A" in specs:
        given["A"] = rng.normal(size=(3, 3))
    return given


def assert_agree_where_defined(graph: sg.Graph, small: sg.Graph, at: dict[str, Any]) -> None:
    """Equal where the value is finite as written."""
    with np.errstate(all="ignore"):
        written, found = flat(graph.evaluate(**at)), flat(small.evaluate(**at))
    defined = np.abs(written) < 1e9  # beyond it numbers were divided by what rounding left of 0
    np.testing.assert_allclose(
        found[defined], written[defined], rtol=1e-9, atol=1e-9, err_msg=str(small)
    )


def flat(values: Any) -> np.ndarray[Any, Any]:
    leaves = values if isinstance(values, tuple) else (values,)
    parts = [flat(each) if isinstance(each, tuple) else np.ravel(each) for each in leaves]
    return np.concatenate(parts)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", [*CANCEL, *MATRICES])
def test_what_may_be_zero_or_no_number_cancels(name: str) -> None:
    f, plain, short = (CANCEL | MATRICES)[name]
    specs = specs_of(f)
    assert counts(f, **specs) == (plain, short)
    graph = sg.trace(f, **specs)
    for seed in range(5):
        assert_agree_where_defined(graph, graph.simplify(trust="domain"), drawn(specs, seed))


@pytest.mark.parametrize("name", STAYS)
def test_what_is_less_defined_or_loses_range_stays(name: str) -> None:
    f, count = STAYS[name]
    specs = specs_of(f)
    assert counts(f, **specs)[1] == count
    graph = sg.trace(f, **specs)
    for seed in range(5):
        assert_agree_where_defined(graph, graph.simplify(trust="domain"), drawn(specs, seed))


def test_a_value_that_is_less_defined_is_not_used_for_one_that_is_more() -> None:
    """The first value is x y, but of no number where x is 0: the second is not made of it."""

    def f(x: Any, y: Any, z: Any) -> Any:
        less = x * z * y / (x * z) / x * x
        return less, np.sin(less), np.cos(x * z), (x * y + 1) * y, np.sin(z * y)

    specs = specs_of(f)
    graph = sg.trace(f, x=VECTOR, y=VECTOR, z=VECTOR)
    for seed in range(5):
        assert_agree_where_defined(graph, graph.simplify(trust="domain"), drawn(specs, seed))


def test_values_that_rest_on_leave_are_taken_down() -> None:
    x, y, z = (sg.input(name, (6,)) for name in "xyz")
    knowledge = Knowledge()
    less, plain = x * z * y / z, x * y * 3
    outputs = [less.node, plain.node, (less + 1).node, snp.sin(plain).node]
    normalized(outputs, knowledge, trust="domain")
    licence = memory_of(knowledge, trust="domain").licence
    assert licence is not None
    assert {less.node, (less + 1).node} <= licence.values
    assert plain.node not in licence.values
    assert memory_of(knowledge, trust="rounding").licence is None


def test_the_grade_of_a_region_is_told() -> None:
    def grades(f: Callable[..., Any]) -> set[str]:
        small = sg.trace(f, **specs_of(f)).simplify(trust="domain")
        return {step.sound for step in small.history if step.grain == "region"}

    assert grades(lambda a, c, x: (a / x + c) * x) == {"domain"}
    assert grades(lambda x, y: (x * x - y * y) / (x + y)) == {"domain"}
    assert grades(lambda a, x, y: x * y + x * a) == {"rounding"}


def test_powers_of_a_negative_base_join_by_leave_alone() -> None:
    x, y = np.array([-2.0, -2, 0, 3, -0.5, -1]), np.array([2.0, 3, 1, 0.5, -1, 2])
    graph = sg.trace(lambda x, y, z: x**y * x**z, x=VECTOR, y=VECTOR, z=VECTOR)
    small = graph.simplify(trust="domain")
    np.testing.assert_allclose(small.evaluate(x=x, y=y, z=y), x ** (2 * y))
    assert_agree_where_defined(graph, small, {"x": x, "y": y, "z": -y[::-1]})


# -- random programs -------------------------------------------------------------------------------
def program(seed: int) -> Callable[..., Any]:
    """Products, quotients, powers, roots, logs and exps of few values, several of them put out."""

    def f(x: Any, y: Any, z: Any) -> Any:
        rng = np.random.default_rng(seed)
        pool = [x, y, z, x * y]
        for _ in range(rng.integers(3, 9)):
            a, b, c = (pool[rng.integers(len(pool))] for _ in range(3))
            made: list[Callable[[], Any]] = [
                lambda a=a, b=b: a * b,
                lambda a=a, b=b: a / b,
                lambda a=a, b=b: a / b,
                lambda a=a, b=b: a + b,
                lambda a=a, b=b: a - b,
                lambda a=a, b=b, c=c: (a / b + c) * b,
                lambda a=a, b=b: a * b / a,
                lambda a=a: np.sqrt(a),
                lambda a=a: np.sqrt(a) * a,
                lambda a=a: a**2,
                lambda a=a: a**-1,
                lambda a=a: a**1.5,
                lambda a=a: np.log(a),
                lambda a=a: np.exp(np.log(a)),
                lambda a=a, b=b: np.exp(2 * np.log(a)) / b,
                lambda a=a, b=b: np.where(x > 0, b, a / b),  # no comparison of what is none
                lambda a=a, b=b: np.where(y == 0, a, b / y),
                lambda a=a, b=b: a - np.sum(b),
            ]
            pool.append(made[rng.integers(len(made))]())
        return tuple(pool[-3:])

    return f


def check(seed: int) -> None:
    specs = dict.fromkeys("xyz", VECTOR)
    graph = sg.trace(program(seed), **specs)
    if seed % 3 == 0:
        graph = sg.trace(lambda **at: np.sum(program(seed)(**at)[-1]), **specs).gradient("x", "y")
    small = graph.simplify(trust="domain")
    for at in range(3):
        assert_agree_where_defined(graph, small, drawn(specs, seed + at))


@pytest.mark.sampled(one_in=8)
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize("seeds", [range(at, at + 100) for at in range(1000, 4000, 100)], ids=str)
def test_random_programs_at_length(seeds: range) -> None:
    for seed in seeds:
        check(seed)


LAST = {"float32": 2**24 - 1, "float64": 2**53 - 1}
"""The largest odd number of a dtype."""


@pytest.mark.parametrize("trust", ["rounding", "domain"])
@pytest.mark.parametrize("dtype", LAST)
def test_odd_powers_stay_odd(dtype: str, trust: Any) -> None:
    # x**16777215 * x**2 was x**16777216 in single precision: 16777217 is none of its numbers.
    odd = float(LAST[dtype])
    spellings: list[Callable[[Any], Any]] = [
        lambda x: x**odd * x**2.0,
        lambda x: (x**odd) ** 3.0,
        lambda x: x**odd / x**-2.0,
        lambda x: x**odd * x**4.0 / x**2.0,
    ]
    for f in spellings:
        small = sg.trace(f, x=sg.spec((), dtype)).simplify(trust=trust)
        assert small.evaluate(x=-1.0) == -1.0


@pytest.mark.parametrize("dtype", LAST)
def test_powers_known_to_be_large_are_not_joined(dtype: str) -> None:
    high = float(LAST[dtype])
    large = sg.spec((), dtype, assume=sg.interval(0, 2 * high))
    graph = sg.trace(lambda x, y, z: x**y * x**z, x=sg.spec((), dtype), y=large, z=large)
    small = graph.simplify(trust="domain")
    assert small.evaluate(x=-1.0, y=high, z=2.0) == -1.0
    known = sg.trace(
        lambda x, y, z: x**y * x**z, x=sg.spec((), dtype, assume=sg.positive), y=large, z=large
    )
    assert known.simplify(trust="domain").op_count() == 2
