"""Numbers that keep arrays in range stay with them: right as written is right simplified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pytest
from textbook import Row, numbers, traced
from textbook.catalogue import CATALOGUE

import symgraph as sg
import symgraph.numpy as snp
from symgraph.verification.high_precision import ORDINARY_BITS, precise_values
from symgraph.verification.real_functions import TooLarge, Unsupported

NUMBERS = {"x": (1, -2, 3), "y": (2, 1, -1.5)}

ROWS: dict[str, tuple[Callable[..., Any], float]] = {
    "squares of thousandths": (lambda x: np.sum((x / 1000) ** 2), 1e20),
    "the mean of squares": (lambda x: np.mean((x * 1e-15) * (x * 1e-15)), 1e25),
    "a norm of thousandths": (lambda x: np.sqrt(np.sum((x / 1000) ** 2)), 1e20),
    "a norm scaled back": (lambda x: 1000 * np.sqrt(np.sum((x / 1000) ** 2)), 1e20),
    "beside one": (lambda x: 3 * np.sqrt(1 + np.sum((x / 1000) ** 2)), 1e20),
    "one factor scaled": (lambda x: np.sum((x * 1e-10) * x), 1e20),
    "an inner product": (lambda x, y: (x * 1e-12) @ (y * 1e-12), 1e25),
    "two arrays": (lambda x, y: np.sum((x * 1e-12) * (y * 1e-12)), 1e25),
    "a cube": (lambda x: np.sum((x * 1e-10) ** 3), 1e15),
    "a fourth power": (lambda x: np.sum((x / 1e6) ** 4), 1e12),
    "a cube beside a square": (lambda x: np.sum((x / 1e9) ** 3 + (x / 1e9) ** 2), 1e17),
    "small ones made larger": (lambda x: np.sum((x * 1e15) ** 2), 1e-25),
    "an inverse square": (lambda x: np.sum(1 / (x / 1e6) ** 2), 1e22),
    "a quotient of squares": (lambda x, y: np.sum((x / 1e8) ** 2 / (1 + (y / 1e8) ** 2)), 1e22),
    "a Cauchy likelihood": (lambda x, y: np.sum(np.log1p(((x - y) / 1e6) ** 2)), 1e22),
    "a hypotenuse": (lambda x, y: np.sum(np.sqrt((x / 1e6) ** 2 + (y / 1e6) ** 2)), 1e22),
    "an outer product": (lambda x, y: np.sum(np.outer(x / 1e9, y / 1e9) ** 2), 1e12),
    "a cosine": (
        lambda x, y: (
            (x / 1e9)
            @ (y / 1e9)
            / np.sqrt(np.sum((x / 1e9) ** 2))
            / np.sqrt(np.sum((y / 1e9) ** 2))
        ),
        1e20,
    ),
    "a variance": (lambda x: np.var(x / 1e9), 1e22),
    "a ratio times a product": (lambda x, y: np.sum((x * 1e-20) * y * (y * 1e-20)), 1e14),
    "a power": (lambda x: np.sum(np.power(np.abs(x) / 1e10, 3.5)), 1e14),
    "under a root with a number": (lambda x: np.sum(np.sqrt(1e12 + (x / 1e6) ** 2)), 1e22),
    "norm of the library": (lambda x: snp.linalg.norm(x / 1e6), 1e20),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("order", [0, 1, pytest.param(2, marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", ROWS)
def test_no_range_is_lost(name: str, order: int) -> None:
    function, scale = ROWS[name]
    names = list(signature(function).parameters)
    at = {name: np.array(NUMBERS[name], "float32") * np.float32(scale) for name in names}

    def derived(dtype: str) -> sg.Graph:
        graph = sg.trace(function, **{name: sg.spec((3,), dtype) for name in names})
        if order > 0:
            graph = graph.gradient("x", value=False)
        return graph.jvp({"x": "dx"}, value=False) if order > 1 else graph

    graph = derived("float32")
    if "dx" in graph.inputs:
        at["dx"] = at["x"][::-1].copy()
    simple = graph.simplify()
    truth = true_values(derived("float64"), {k: v.astype(float) for k, v in at.items()})
    size = float(np.max(np.abs(truth)))
    with np.errstate(all="ignore"):
        written = np.asarray(graph.evaluate(**at), float)
        for found in (simple.evaluate(**at), simple.lower()(**at)):
            kept = np.abs(written - truth) <= 1e-3 * size
            assert np.all(np.abs(np.asarray(found, float) - truth)[kept] <= 1e-2 * size)


def true_values(graph: sg.Graph, at: dict[str, Any]) -> np.ndarray[Any, Any]:
    """In high precision, for double precision may cancel: x / r - x^3 / r^3 is c x / r^3."""
    given = {node: at[name] for name, node in graph.dag.inputs.items()}
    try:
        found = precise_values(list(graph.dag.outputs), given, {}, ORDINARY_BITS)
    except (Unsupported, TooLarge):
        return np.asarray(graph.evaluate(**at))
    return np.asarray(found[0], float)


SIZES = {"n": 6}
FREE = {"positive", "nonnegative", "nonzero"}
"""Facts that a scale leaves true."""


def scaled(row: Row) -> Iterator[dict[str, Any]]:
    """Inputs far from 1, all of them or one alone."""
    for seed in range(2):
        at = numbers(row, SIZES, seed)
        free = [
            name
            for name, spec in row.specs.items()
            if at[name].dtype.kind == "f" and {fact.name for fact in spec.assume} <= FREE
        ]
        for scale in (1e6, 1e12, 1e17, 1e-6, 1e-12, 1e-17):
            for names in [free, *([[name] for name in free] if len(free) > 1 else [])]:
                yield {name: at[name] * (scale if name in names else 1) for name in at}


def as_floats(graph: sg.Graph, at: dict[str, Any], dtype: str) -> list[np.ndarray[Any, Any]]:
    given = {
        n: v.astype("float32").astype(dtype) if v.dtype.kind == "f" else v for n, v in at.items()
    }
    with np.errstate(all="ignore"):
        try:
            found = graph.evaluate(**given)
        except np.linalg.LinAlgError:  # far from 1, I + W W' has lost the I: no number is right
            return [np.full(output.shape, np.nan) for output in graph.dag.outputs]
    return [np.asarray(each, float) for each in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.fuzz
@pytest.mark.parametrize("row", CATALOGUE, ids=str)
def test_the_catalogue_keeps_its_range(row: Row) -> None:
    specs = {
        name: replace(spec, dtype="float32") if spec.dtype == "float64" else spec
        for name, spec in row.specs.items()
    }
    derived = traced(row.f, specs).gradient(*row.wrt, value=False)
    simple = derived.simplify()
    exact = traced(row.f, row.specs).gradient(*row.wrt, value=False)
    closed = traced(row.closed, row.specs)
    lost = False
    for at in scaled(row):
        found = (
            as_floats(derived, at, "float32"),
            as_floats(simple, at, "float32"),
            as_floats(exact, at, "float64"),
            as_floats(closed, at, "float64"),
        )
        for written, short, right, again in zip(*found, strict=True):
            size = np.max(np.abs(right), initial=0.0)
            ordinary = bool(np.all(np.isfinite(right))) and 1e-37 < size < 1e38
            if not ordinary or not np.max(np.abs(again - right)) < 1e-6 * size:
                continue  # No number of float32, or float64 has no digits of it either.
            kept = np.max(np.abs(written - right)) < 1e-3 * size
            gone = bool(kept and not np.max(np.abs(short - right)) < 0.05 * size)
            lost = lost or (gone and is_confirmed(exact, at, right))
    assert not lost


def is_confirmed(exact: sg.Graph, at: dict[str, Any], right: np.ndarray[Any, Any]) -> bool:
    """Whether high precision gives these numbers too, or cannot tell.

    Double precision may have lost the digits: s - y @ (1 - exp(-u t)) is a second-order term for
    tiny u, and both the gradient and the closed form as written have a first-order one for it.
    """
    given = {
        node: np.asarray(at[name]).astype("float32").astype(float)
        for name, node in exact.dag.inputs.items()
    }
    try:
        found = precise_values(list(exact.dag.outputs), given, SIZES, ORDINARY_BITS)
    except (Unsupported, TooLarge):
        return True
    values = [each.astype(float) for each in found if each.shape == right.shape]
    size = np.max(np.abs(right))
    return any(np.max(np.abs(each - right)) < 1e-3 * size for each in values)


# -- growing functions -----------------------------------------------------------------------------
GROWING: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "10**x": lambda x: 10.0**x,
    "3**x": lambda x: 3.0**x,
    "1.001**x": lambda x: 1.001**x,
    "0.5**x": lambda x: 0.5**x,
    "expm1": np.expm1,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "exp of a square": lambda x: np.exp(x * x),
    "x exp(x)": lambda x: x * np.exp(x),
    "x**5": lambda x: x**5,
    "x**12": lambda x: x**12,
    "erfcx": snp.erfcx,
}
ABOVE: dict[str, Callable[..., Any]] = {
    "f/(1.5 + f^2)": lambda f: np.sum(f / (1.5 + f**2)),
    "f/(1.5 + f)": lambda f: np.sum(f / (1.5 + f)),
    "log(1 + f^2)": lambda f: np.sum(np.log(1 + f**2)),
    "f^2/(1 + f^4)": lambda f: np.sum(f**2 / (1 + f**4)),
}


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_growing_functions_are_finite_where_they_were(
    dtype: str, name: str, above: str
) -> None:
    """Between -1000 and 1000, where the gradient as derived is right."""

    def derived(of: str) -> sg.Graph:
        function = sg.trace(lambda x: ABOVE[above](GROWING[name](x)), x=sg.spec(of, dtype))
        return function.gradient("x", value=False)

    x = np.concatenate([np.linspace(-1000, 1000, 4001), np.geomspace(1e-30, 1, 61)]).astype(dtype)
    graph = derived("n")
    with np.errstate(all="ignore"):
        before, after = graph.evaluate(x=x), graph.simplify().evaluate(x=x)
    places = np.flatnonzero(np.isfinite(before) & ~np.isfinite(after))[::7]
    if len(places):
        dag = derived(str(len(places))).dag
        given = {dag.inputs["x"]: x[places].astype(float)}
        (exact,) = precise_values(list(dag.outputs), given, {}, 8_000)
        right = np.abs(before[places] - exact.astype(float)) <= 1e-3 * np.abs(exact.astype(float))
        assert not right.any(), x[places][right]
