"""Which axes a Jacobian is diagonal along: no operation may claim more than is so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradientrows import ROWS

from symgraph.array import Array, constant
from symgraph.autodiff.axes import mixing, tied_axes
from symgraph.autodiff.reverse import vjp
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
