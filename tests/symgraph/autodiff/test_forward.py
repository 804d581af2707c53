"""Forward mode: every operation against reverse mode and numbers, cost, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS

import symgraph as sg
from symgraph import numpy as snp
from symgraph.array import Array, apply
from symgraph.autodiff.forward import tangents
from symgraph.autodiff.reverse import cotangents
from symgraph.errors import DTypeError, NotDifferentiable
from symgraph.ir.differentiation import undefined
from symgraph.ir.op import OPS, Op
from symgraph.ir.walks import reachable
from symgraph.ops.creation import input
from symgraph.testing import GradientCase
from symgraph.testing.gradients import numbers

STEP = 1e-30


def drawn(case: GradientCase) -> list[Any]:
    rng = np.random.default_rng(11)
    return [operand.draw(rng, None, "float64") for operand in case.operands]


def pushed(case: GradientCase, arrays: list[Any], directions: list[Any], lead: tuple[int, ...]):
    """Inputs, output and its tangent, for tangents with leading axes `lead`."""
    inputs = [input(f"x{i}", each.shape, each.dtype) for i, each in enumerate(arrays)]
    moving = [i for i, each in enumerate(arrays) if each.dtype.kind == "f"]
    seeds = [input(f"v{i}", (*lead, *arrays[i].shape), arrays[i].dtype) for i in moving]
    out = case.call(*inputs)
    (tangent,) = tangents([out], [(inputs[i], v) for i, v in zip(moving, seeds, strict=True)])
    given = [
        *zip(inputs, arrays, strict=True),
        *zip(seeds, [directions[i] for i in moving], strict=True),
    ]
    return inputs, moving, out, tangent, given


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("case", ROWS, ids=str)
def test_forward_is_the_transpose_of_reverse(case: GradientCase) -> None:
    """⟨u, J v⟩ = ⟨Jᵀ u, v⟩, and against the complex step where the kernels are analytic."""
    rng = np.random.default_rng(3)
    arrays = drawn(case)
    directions = [rng.normal(size=each.shape) for each in arrays]
    inputs, moving, out, tangent, given = pushed(case, arrays, directions, ())
    u = input("u", out.shape, out.dtype)
    pulled = cotangents([(out, u)], [inputs[i] for i in moving])
    weights = rng.normal(size=numbers([out], given)[0].shape)
    found = [each for each in pulled if each is not None]
    values = iter(numbers(found, [*given, (u, weights)]))
    want = sum(
        np.sum(next(values) * directions[i])
        for i, each in zip(moving, pulled, strict=True)
        if each is not None
    )
    if tangent is None:
        assert not found
        return
    assert tangent.shape == out.shape
    assert tangent.dtype == out.dtype
    got = numbers([tangent], given)[0]
    assert not [n for n in reachable([tangent.node]) if n.params.get("name") == "cotangent"]
    np.testing.assert_allclose(np.sum(weights * got), want, rtol=1e-9, atol=1e-9)
    if case.analytic:
        moved: list[Any] = list(arrays)
        for i in moving:
            moved[i] = arrays[i] + 1j * STEP * directions[i]
        step = numbers([out], list(zip(inputs, moved, strict=True)))[0]
        np.testing.assert_allclose(got, np.imag(step) / STEP, rtol=1e-7, atol=1e-9)


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("case", ROWS, ids=str)
def test_tangents_may_be_stacked(case: GradientCase) -> None:
    rng = np.random.default_rng(5)
    arrays = drawn(case)
    stacks = [rng.normal(size=(3, *each.shape)) for each in arrays]
    _, _, _, stacked, given = pushed(case, arrays, stacks, (3,))
    rows = []
    for k in range(3):
        _, _, _, single, at = pushed(case, arrays, [each[k] for each in stacks], ())
        rows.append(None if single is None else numbers([single], at)[0])
    if stacked is None:
        assert rows == [None, None, None]
        return
    np.testing.assert_allclose(numbers([stacked], given)[0], np.stack(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.whole
def test_cost_is_linear_and_nothing_recurses() -> None:
    def made(depth: int) -> int:
        x, v = input("x", ()), input("v", ())
        y = x
        for _ in range(depth):
            y = y * y + np.sin(y)
        (tangent,) = tangents([y], [(x, v)])
        assert tangent is not None
        return len(reachable([tangent.node]))

    small, middle, large = made(200), made(400), made(2_000)
    assert large - middle == 8 * (middle - small)


def test_untaken_branches_do_not_poison_a_tangent() -> None:
    x, v = input("x", (3,)), input("v", (3,))
    y = np.where(x > 0, np.log(x), 0.0) + np.sqrt(np.where(x > 0, x, 1.0))
    (tangent,) = tangents([y], [(x, v)])
    at = np.array([-1.0, 0.0, 4.0])
    got = numbers([tangent], [(x, at), (v, np.ones(3))])[0]
    np.testing.assert_allclose(got, [0.0, 0.0, 0.5])


def test_an_operation_may_bring_a_forward_rule_of_its_own() -> None:
    """As what cannot be reversed must."""
    twice = Op(
        "twice_forward",
        infer=lambda x: x,
        kernel=lambda xp, x: 2 * x,
        vjp=(undefined("it only goes forward"),),
        jvp=lambda tangents, out, x: 2 * tangents[0],
    )
    x, v = input("x", (2,)), input("v", (2,))
    y = apply(twice, np.sin(x))
    (tangent,) = tangents([y], [(x, v)])
    at, direction = np.array([0.1, 0.2]), np.array([1.0, -1.0])
    np.testing.assert_allclose(
        numbers([tangent], [(x, at), (v, direction)])[0], 2 * np.cos(at) * direction
    )
    with pytest.raises(NotDifferentiable, match="only goes forward"):
        cotangents([(y, v)], [x])
    assert "twice_forward" not in OPS


def test_several_results_have_tangents_each() -> None:
    x, v = input("x", (2, 3)), input("v", (2, 3))
    top, place = snp.max_with_index(x, axis=1)
    moving, still = tangents([top, place * 1.0], [(x, v)])
    assert still is None
    at, direction = np.array([[2.0, 5.0, 1.0], [7.0, 1.0, 0.0]]), np.arange(6.0).reshape(2, 3)
    assert moving is not None
    np.testing.assert_array_equal(numbers([moving], [(x, at), (v, direction)])[0], [1.0, 3.0])


def test_seeds_and_paths() -> None:
    x, y, v = input("x", (3,)), input("y", (3,)), input("v", (3,))
    none, zero = tangents([np.sum(y), np.sum(x > 0)], [(x, v)])
    assert none is None
    assert zero is None
    # A seeded value in between is taken for an independent variable.
    h = np.exp(x)
    (tangent,) = tangents([h * h], [(h, v)])
    assert tangent is not None
    at = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(
        numbers([tangent], [(x, at), (v, np.ones(3))])[0], 2 * np.exp(at), rtol=1e-14
    )
    labels = input("labels", (3,), "int64")
    with pytest.raises(DTypeError, match="int64"):
        tangents([x * labels], [(labels, v)])


def test_many_paths_stay_few_nodes() -> None:
    x, v = input("x", ()), input("v", ())
    y: Array = x
    for _ in range(60):
        y = snp.sin(y) * y + 1
    (tangent,) = tangents([y], [(x, v)])
    assert tangent is not None
    assert len(reachable([tangent.node])) < 600
    graph = sg.graph(tangent)
    reverse = sg.graph(sg.grad(y, x)).evaluate(x=0.3)
    np.testing.assert_allclose(graph.evaluate(x=0.3, v=2.0), 2 * reverse, rtol=1e-12)
