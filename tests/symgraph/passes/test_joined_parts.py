"""Sums of embedded arrays become concatenations where no two meet, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ops.indexing import embed
from symgraph.passes.joined_parts import with_joined_parts


def columns(c: Any) -> Any:
    a, b, d = c[:, 0], c[:, 1:3], c[:, 4]
    return np.sum(np.sin(a) * d) - np.sum(b**3)


def rows(c: Any) -> Any:
    return np.sum(c[3:] ** 3) + np.sum(np.exp(c[0]))


def all_negative(c: Any) -> Any:
    return -np.sum(np.exp(c[:, :2])) - np.sum(np.exp(c[:, 4:] * 2))


def last_places(c: Any) -> Any:
    return np.sum(np.exp(c[:, -1])) + np.sum(c[:, -3] ** 3) + np.sum(np.sin(c[:, 0]))


def cubes(c: Any) -> Any:
    return np.sum(c[:, 0, :] ** 3) + np.sum(np.sin(c[:, 2, :])) + np.sum(np.exp(c[:, 1, :]))


def with_constants(c: Any) -> Any:
    return np.sum(np.exp(c[0])) + 2 * np.sum(c[1]) - np.sum(c[2] * c[3]) + 4 * np.sum(c[3])


JOINED: dict[str, tuple[Callable[[Any], Any], str, tuple[int, ...]]] = {
    "columns": (columns, "n, 6", (4, 6)),
    "rows": (rows, "5, k", (5, 3)),
    "all negative": (all_negative, "n, 6", (4, 6)),
    "counted from the end": (last_places, "n, 6", (4, 6)),
    "an inner axis": (cubes, "n, 3, 2", (4, 3, 2)),
    "constants": (with_constants, "5, 2", (5, 2)),
}


def names_of(graph: sg.Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


@pytest.mark.parametrize("case", JOINED)
def test_parts_that_do_not_meet_are_joined(case: str) -> None:
    f, spec, shape = JOINED[case]
    joint = sg.trace(f, c=spec).gradient("c", value=False)
    small = joint.simplify()
    assert "embed" not in names_of(small)
    assert names_of(small).count("concatenate") == 1
    assert small.op_count() < joint.op_count()
    c = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(small.evaluate(c=c), joint.evaluate(c=c), rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(small.lower()(c=c), small.evaluate(c=c))


def test_simplifying_again_changes_nothing_and_the_step_is_told() -> None:
    small = sg.trace(columns, c="n, 6").gradient("c", value=False).simplify()
    assert small.simplify().op_count() == small.op_count()
    assert "parts joined" in str(small.explain())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_numbers_stay_in_their_column(bad: float) -> None:
    joint = sg.trace(columns, c="n, 6").gradient("c", value=False)
    c = np.ones((3, 6))
    c[1, 0] = bad
    np.testing.assert_array_equal(joint.simplify().evaluate(c=c), joint.evaluate(c=c))


def sum_of(*slices: slice) -> list[Any]:
    """A sum of arrays that are embedded on these columns, and what the pass makes of it."""
    w = sg.input("w", (4, 6))
    x = [sg.input(f"x{k}", (4, len(range(6)[each]))) for k, each in enumerate(slices)]
    loss: Any = sum([np.sum(w[:, each] * part) for each, part in zip(slices, x, strict=True)])
    (top,) = sg.grad(loss, [w])
    return [top.node, *with_joined_parts([top.node])]


def test_parts_that_meet_have_steps_or_stand_on_two_axes_stay_sums() -> None:
    for slices in [
        (slice(0, 3), slice(2, 5)), (slice(0, 4, 2), slice(4, 6)), (slice(0, 3), slice(0, 3)),
    ]:  # fmt: skip
        before, after = sum_of(*slices)
        assert after is before
    before, after = sum_of(slice(0, 2), slice(2, 5))
    assert after is not before
    assert after.op.name == "concatenate"


def test_what_else_reads_a_term_keeps_it() -> None:
    w = sg.input("w", (6,))
    slope = sg.grad(np.sum(np.exp(w[:2])) + np.sum(w[3:] ** 3), w)
    (plus,) = [slope.node]
    one = plus.operands[0]
    sums, kept = with_joined_parts([plus, one])
    assert kept is one
    c = np.arange(6.0)
    graph = sg.Graph(sg.Dag({"w": w.node}, [plus, one]))
    again = sg.Graph(sg.Dag({"w": w.node}, [sums, kept]))
    for before, after in zip(graph.evaluate(w=c), again.evaluate(w=c), strict=True):
        np.testing.assert_array_equal(before, after)


def test_exact_trust_leaves_the_sum() -> None:
    joint = sg.trace(columns, c="n, 6").gradient("c", value=False)
    assert "embed" in names_of(joint.simplify(trust="exact"))


def test_a_column_that_is_joined_itself_is_one_part() -> None:
    """The axis on which its numbers were joined is not the axis on which it stands."""

    def f(a: Any, b: Any) -> Any:
        column = embed(np.concatenate([a, b]), (2, 3), np.s_[:, 1])
        return column + np.array([[1.0, 0, 0], [0, 0, 2.0]])

    graph = sg.trace(f, a="1", b="1")
    (joined,) = with_joined_parts(graph.dag.outputs)
    assert joined.op.name == "concatenate"
    at: dict[str, Any] = {"a": np.array([3.0]), "b": np.array([4.0])}
    wanted = [[1, 3, 0], [0, 4, 2]]
    np.testing.assert_array_equal(sg.graph(sg.Array(joined)).evaluate(**at), wanted)


def shared_row(c: Any) -> Any:
    """A join with zeros, less what is embedded there."""
    return np.stack([-c[0] * c[2], c[0] * c[2] - 2 * c[1], 2 * c[1] - 3 * c[2], 3 * c[2]])


def test_a_join_takes_what_stands_on_its_zeros() -> None:
    joint = sg.trace(shared_row, c="4").jacobian("c", value=False)
    small = joint.simplify()
    assert "embed" not in names_of(small)
    assert "subtract" not in names_of(small)
    c = np.array([1.5, -2.0, 0.25, np.nan])
    np.testing.assert_array_equal(small.evaluate(c=c), joint.evaluate(c=c))


def test_embedded_terms_are_joined_beside_others() -> None:
    """The gradient of the cotangent of an angle: one join, and one sum with the array beside."""

    def cotangent(u: Any, v: Any) -> Any:
        return (u @ v) / (u[0] * v[1] - u[1] * v[0])

    joint = sg.trace(cotangent, u="2", v="2").gradient("u", value=False)
    small = joint.simplify()
    assert "embed" not in names_of(small)
    assert small.op_count() <= 11
    u, v = np.array([1.5, -2.0]), np.array([0.25, 3.0])
    np.testing.assert_allclose(small.evaluate(u=u, v=v), joint.evaluate(u=u, v=v), rtol=1e-13)


def test_a_join_that_would_need_more_signs_stays() -> None:
    def f(x: Any) -> Any:
        placed = embed(x[:1], (4,), (slice(3, None),))
        joined = np.concatenate([np.exp(x[:1]), np.sin(x[1:3]), np.zeros(1)])
        other = np.concatenate([np.cos(x[:1]), np.tan(x[:1]), np.exp(x[:2])])
        return placed * 2 - joined, other - placed

    graph = sg.trace(f, x="4")
    assert with_joined_parts(graph.dag.outputs) == list(graph.dag.outputs)


def test_a_join_within_a_join_is_one_join() -> None:
    t = np.linspace(0, 1, 10)

    def loss(p: Any) -> Any:
        a, b, c, d, e, g = p
        return np.sum((a * np.exp(-b * t) + c * np.exp(-d * t) + e + g * t - t**2) ** 2)

    graph = sg.trace(loss, p="6").gradient("p")
    small = graph.simplify()
    assert sum(node.op.name == "concatenate" for node in small.nodes) == 1
    p = np.linspace(0.5, 1.5, 6)
    np.testing.assert_allclose(small.lower()(p)[1], graph.lower()(p)[1], rtol=1e-12)


def test_a_join_that_is_an_output_or_stands_on_another_axis_stays() -> None:
    def f(x: Any) -> Any:
        inner = np.concatenate([x, -x])
        return inner, np.concatenate([inner, x]), np.concatenate([inner, inner])

    def g(x: Any) -> Any:
        rows = [np.concatenate([x, each * x], axis=1) for each in (2.0, 3.0)]
        return (np.concatenate(rows, axis=0),)

    x = np.arange(6.0).reshape(2, 3)
    for each, joins in ((f, 3), (g, 3)):
        small = sg.trace(each, x=x).simplify()
        assert sum(node.op.name == "concatenate" for node in small.nodes) == joins
        for found, wanted in zip(small.lower()(x), each(x), strict=True):
            np.testing.assert_array_equal(found, wanted)
