"""Which axes a Jacobian is diagonal along: no operation may claim more than is so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array, constant
from symgraph.autodiff.axes import mixing, tied_axes
from symgraph.autodiff.forward import tangents
from symgraph.autodiff.jacobians import jacobian
from symgraph.autodiff.reverse import vjp
from symgraph.ir.cost import flops
from symgraph.ops.creation import input
from symgraph.testing import GradientCase
from symgraph.testing.gradients import numbers


def dense(out: Array, x: Array, given: list[Any]) -> np.ndarray:
    """The Jacobian (*out.shape, *x.shape), by one cotangent an element."""
    size = int(np.prod(out.shape))
    seeds = np.eye(size).reshape(size, *out.shape).astype(out.dtype)
    (found,) = vjp(out, [x], constant(seeds))
    if found is None:
        return np.zeros((*out.shape, *x.shape))
    return numbers([found], given)[0].reshape(*out.shape, *x.shape)


def off_diagonal(jacobian: np.ndarray, ndim: int, tie: tuple[int, int]) -> np.ndarray:
    """The part of a Jacobian that must be zero if two axes are tied."""
    place, axis = tie
    moved = np.moveaxis(jacobian, (place + ndim, axis), (0, 1))
    rows, columns = moved.shape[:2]
    return moved[~np.eye(rows, columns, dtype=bool)]


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("case", ROWS, ids=str)
def test_what_is_said_to_be_carried_is(case: GradientCase) -> None:
    rng = np.random.default_rng(2)
    arrays = [operand.draw(rng, None, "float64") for operand in case.operands]
    inputs = [input(f"x{i}", each.shape, each.dtype) for i, each in enumerate(arrays)]
    out = case.call(*inputs)
    given = list(zip(inputs, arrays, strict=True))
    for x in inputs:
        if x.dtype.kind != "f":
            continue
        for tie in tied_axes(out.node, x.node):
            assert not np.any(off_diagonal(dense(out, x, given), out.ndim, tie)), (case, tie)


X = input("x", (3, 4))
W = input("w", (4, 4))


@pytest.mark.parametrize(
    ("f", "ties"),
    [
        (lambda x: np.exp(x) * np.sin(x) + 2, ((-2, -2), (-1, -1))),
        (lambda x: x @ W, ((-2, -2),)),
        (lambda x: W @ x.T, ((-1, -2),)),
        (lambda x: x @ x.T, ()),
        (lambda x: x.T, ((-2, -1), (-1, -2))),
        (lambda x: np.sum(x, axis=1), ((-1, -2),)),
        (lambda x: np.sum(x, axis=0, keepdims=True) * x, ((-1, -1),)),
        (lambda x: x / np.sum(np.exp(x), axis=-1, keepdims=True), ((-2, -2),)),
        (lambda x: np.cumsum(x, axis=0), ((-1, -1),)),
        (lambda x: np.where(x > np.mean(x), x, 0.0), ((-2, -2), (-1, -1))),
        (lambda x: np.concatenate([x, x * x], axis=1), ((-2, -2),)),
        (lambda x: x[:, ::-1], ((-2, -2),)),
        (lambda x: x[None, :, 1:3], ((-2, -2),)),
        (lambda x: x.reshape(3, 2, 2), ((-3, -2),)),
        (lambda x: x.reshape(12), ()),
        (lambda x: np.einsum("ij,jk,ij->ikj", x, W, x), ((-3, -2), (-1, -1))),
        (lambda x: x[:, np.array([0, 2])], ((-2, -2),)),
        (lambda x: np.max(x, axis=1), ((-1, -2),)),
        (lambda x: np.sum(x), ()),
        (lambda x: x + x[::-1], ((-1, -1),)),
        (lambda x: np.ones((3, 4)), ()),
        (lambda x: snp.index_update(x, (slice(None), 2), x[:, 1] ** 2), ((-2, -2),)),
        (lambda x: snp.index_update(np.zeros((3, 5)), (0, slice(None, 4)), x[1]), ()),
    ],
)
def test_axes_that_are_kept_apart(f: Any, ties: Any) -> None:
    out = f(X)
    node = out.node if isinstance(out, Array) else constant(out).node
    assert tied_axes(node, X.node) == ties


def test_a_copied_axis_is_not_carried() -> None:
    x = input("x", (1, 4))
    out = x + np.ones((3, 4))
    assert tied_axes(out.node, x.node) == ((-1, -1),)


def test_named_dimensions() -> None:
    x = input("x", "n, d")
    assert tied_axes(np.tanh(x).node, x.node) == ((-2, -2), (-1, -1))
    assert tied_axes(np.sum(x * x, axis=1).node, x.node) == ((-1, -2),)


def test_the_operation_that_mixes_is_named() -> None:
    out = np.tanh(X) @ W
    node = mixing(out.node, X.node)
    assert node is not None
    assert node.op.name == "matmul"
    assert mixing(np.tanh(X).node, X.node) is None


BATCH = input("batch", (5, 3, 3))


@pytest.mark.parametrize(
    ("f", "ties"),
    [
        (np.linalg.inv, ((-3, -3),)),
        (np.linalg.det, ((-1, -3),)),
        (lambda x: np.linalg.slogdet(x)[1], ((-1, -3),)),
        (lambda x: np.linalg.eigh(x)[0], ((-2, -3),)),
        (lambda x: np.linalg.svd(x)[0], ((-3, -3),)),
        (lambda x: np.sort(x, axis=0), ((-2, -2), (-1, -1))),
        (lambda x: np.cumprod(x, axis=1), ((-3, -3), (-1, -1))),
        (np.tril, ((-3, -3), (-2, -2), (-1, -1))),
    ],
    ids=["inv", "det", "slogdet", "eigh", "svd", "sort", "cumprod", "tril"],
)
def test_axes_that_linear_algebra_is_batched_over(f: Any, ties: Any) -> None:
    assert tied_axes(f(BATCH).node, BATCH.node) == ties


# -- through graphs that an operation holds --------------------------------------------------------
LANES = input("lanes", (3,))
TIMES = input("times", (4, 3))
SQUARE = input("square", (3, 3))


@sg.custom_vjp
def soft(x: Any) -> Any:
    return np.log1p(np.exp(x))


@soft.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return ct / (1 + np.exp(-x))


@sg.custom_vjp
def turned(x: Any) -> Any:
    return x[::-1] * 2.0


@turned.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return ct[::-1] * 2.0


def soft_sign_of_axes(x: Any) -> Any:
    """Made when it is called, for other tests go through all operations there are."""
    made = sg.custom_op(
        lambda x: x / (1 + np.abs(x)),
        name="soft_sign_of_axes",
        vjp=lambda ct, out, x: ct * (1 - np.abs(out)) ** 2,
    )
    return made(x)


def alternating(x: Any) -> Any:
    """Two carries that change places, one of them transposed: an axis is in two places."""
    return sg.scan(lambda c, _: ((c[1].T, c[0] * 0.5), None), (x, x * x), None, 3)[0][0]


LOOPS: list[tuple[str, Any, Array, Any]] = [
    ("carry", lambda x: sg.scan(lambda c, t: (np.tanh(c * t), c), x, TIMES)[0], LANES, ((-1, -1),)),
    ("steps", lambda x: sg.scan(lambda c, t: (np.tanh(c * t), c), x, TIMES)[1], LANES, ((-1, -1),)),
    (
        "slices of a map",
        lambda t: sg.scan(lambda c, row: (c, np.sin(row)), 0.0, t)[1],
        TIMES,
        ((-2, -2), (-1, -1)),
    ),
    (
        "slices, the lanes of each mixed",
        lambda t: sg.scan(lambda c, row: (c, np.cumsum(row)), 0.0, t, reverse=True)[1],
        TIMES,
        ((-2, -2),),
    ),
    (
        "slices that a carry remembers",
        lambda t: sg.scan(lambda c, row: (c + row, c * row), np.ones(3), t)[1],
        TIMES,
        ((-1, -1),),
    ),
    (
        "closed over",
        lambda x: sg.scan(lambda c, t: (c * x + t, c), TIMES[0], TIMES)[0],
        LANES,
        ((-1, -1),),
    ),
    ("mixed in a step", lambda x: sg.scan(lambda c, t: (SQUARE @ c, t), x, TIMES)[0], LANES, ()),
    ("mixed by the second step", alternating, SQUARE, ()),
    (
        "a loop in a loop",
        lambda t: sg.scan(
            lambda c, row: (c, sg.scan(lambda d, _: (d * row, d), row, None, 2)[0]), 0.0, t
        )[1],
        TIMES,
        ((-2, -2), (-1, -1)),
    ),
    (
        "a loop over what a loop has",
        lambda t: sg.scan(
            lambda c, row: (c, sg.scan(lambda d, e: (d + e, d), 0.0, row)[1]), 0.0, t
        )[1],
        TIMES,
        ((-2, -2),),
    ),
    (
        "while",
        lambda x: sg.while_loop(lambda c: np.sum(c) < 40, lambda c: 2 * c, 1 + x * x),
        LANES,
        ((-1, -1),),
    ),
    (
        "while mixing",
        lambda x: sg.while_loop(lambda c: np.sum(c) < 40, lambda c: c + np.sum(c), 1 + x * x),
        LANES,
        (),
    ),
    (
        "cond",
        lambda x: sg.cond(np.sum(x) > 0, lambda: np.sin(x), lambda: 2 * x),
        LANES,
        ((-1, -1),),
    ),
    (
        "cond, one branch mixing",
        lambda x: sg.cond(np.sum(x) > 9, lambda: np.sin(x), lambda: np.cumsum(x)),
        LANES,
        (),
    ),
    (
        "fixed point",
        lambda x: sg.fixed_point(lambda z: np.cos(z) * x / 4, np.zeros(3)),
        LANES,
        ((-1, -1),),
    ),
    (
        "fixed point, mixing",
        lambda x: sg.fixed_point(lambda z: np.cos(z[::-1]) * x / 4, np.zeros(3)),
        LANES,
        (),
    ),
    ("root", lambda x: sg.root(lambda z: z**3 + z - x, np.ones(3)), LANES, ((-1, -1),)),
    (
        "root, mixing",
        lambda x: sg.root(lambda z: z**3 + 4 * z + np.sum(z) - x, np.ones(3)),
        LANES,
        (),
    ),
    (
        "root of two, one of which mixes nothing",
        lambda x: sg.root(lambda z: (z[0] - x, z[1] - z[0] * x), (np.ones(3), np.ones(3)))[1],
        LANES,
        ((-1, -1),),
    ),
    ("a user's derivative", lambda t: soft(t), TIMES, ((-2, -2), (-1, -1))),
    ("a user's derivative, reordering", lambda t: turned(t), TIMES, ((-1, -1),)),
    ("a user's operation", lambda t: soft_sign_of_axes(t), TIMES, ((-2, -2), (-1, -1))),
    (
        "a user's derivative in a loop",
        lambda x: sg.scan(lambda c, t: (soft(c * t), None), x, TIMES)[0],
        LANES,
        ((-1, -1),),
    ),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(
    ("f", "x", "ties"), [each[1:] for each in LOOPS], ids=[e[0] for e in LOOPS]
)
def test_axes_that_are_kept_apart_through_held_graphs(f: Any, x: Array, ties: Any) -> None:
    out = f(x)
    assert tied_axes(out.node, x.node) == ties
    rng = np.random.default_rng(5)
    given = [(each, rng.standard_normal(each.shape)) for each in (LANES, TIMES, SQUARE)]
    found, _ = jacobian(out, x)
    columns = []
    for place in np.ndindex(*x.shape):
        seed = np.zeros(x.shape)
        seed[place] = 1.0
        (column,) = tangents([out], [(x, constant(seed))])
        columns.append(numbers([column], given)[0])
    expected = np.stack(columns, axis=-1).reshape(*out.shape, *x.shape)
    np.testing.assert_allclose(numbers([found], given)[0], expected, rtol=1e-9, atol=1e-9)


def test_the_jacobian_of_lanes_through_a_loop_takes_one_seed() -> None:
    """Issue 3, deliverable 3: a batched map that holds a scan is as cheap as its gradient."""

    def f(x: Any) -> Any:
        return sg.scan(lambda c, t: (np.tanh(c * t + 0.3 * c), None), x, np.linspace(0.5, 1.5, 9))[
            0
        ]

    costs: list[Any] = []
    for n in (10, 1000):
        x = input("x", (n,))
        found, how = jacobian(f(x), x, diagonal=True)
        assert found.shape == (n,)
        assert "1 seed" in how
        costs.append(flops([found.node]))
    assert costs[1] == 100 * costs[0]
    start = np.linspace(-1, 1, 6)
    full = sg.jacobian(f)(start)
    np.testing.assert_allclose(full, np.diag(sg.jacobian(f, diagonal=True)(start)))
    np.testing.assert_allclose(full, np.diag(sg.grad(lambda x: np.sum(f(x)))(start)))
