"""Huber's loss in its spellings: the gradient is a clipped residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

RESIDUALS = np.array([-3.0, -0.5, -0.3, -0.0, 0.0, 0.2, 0.3, 0.5, 1.0, 2.0, 7.0])


def by_where(r: Any, c: Any) -> Any:
    return np.where(np.abs(r) < c, 0.5 * r**2, c * np.abs(r) - 0.5 * c**2)


def by_where_turned(r: Any, c: Any) -> Any:
    return np.where(np.abs(r) >= c, c * (np.abs(r) - 0.5 * c), 0.5 * r**2)


def by_minimum(r: Any, c: Any) -> Any:
    near = np.minimum(np.abs(r), c)
    return 0.5 * near**2 + c * (np.abs(r) - near)


def smooth_l1(r: Any, c: Any) -> Any:
    return c * np.where(np.abs(r) < c, 0.5 * r**2 / c, np.abs(r) - 0.5 * c)


SPELLINGS = (by_where, by_where_turned, by_minimum, smooth_l1)


def gradient(loss: Callable[..., Any], **specs: Any) -> sg.Graph:
    return sg.trace(loss, r="n", **specs).gradient("r", value=False).simplify()


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize("bound", [0.3, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("loss", SPELLINGS)
def test_sums_and_means_are_clipped(loss: Callable[..., Any], bound: float) -> None:
    total = gradient(lambda r: np.sum(loss(r, bound)))
    mean = gradient(lambda r: np.sum(loss(r, bound)) / 11)
    assert (total.op_count(), mean.op_count()) == (1, 2)
    want = np.clip(RESIDUALS, -bound, bound)
    np.testing.assert_allclose(total.evaluate(r=RESIDUALS), want, rtol=1e-14)
    np.testing.assert_allclose(mean.evaluate(r=RESIDUALS), want / 11, rtol=1e-14)
    unusual = np.array([np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(total.evaluate(r=unusual), [np.nan, bound, -bound])


@pytest.mark.parametrize("loss", [by_where, by_minimum])
def test_a_bound_that_is_an_input(loss: Callable[..., Any]) -> None:
    small = gradient(lambda r, c: np.sum(loss(r, c)), c=sg.spec("", assume=sg.positive))
    assert small.op_count() == 2
    want = np.clip(RESIDUALS, -0.5, 0.5)
    np.testing.assert_allclose(small.evaluate(r=RESIDUALS, c=0.5), want)


def test_branches_that_do_not_meet_are_no_clipping() -> None:
    """2 sign(x) outside of 1 is twice the bound."""
    f = sg.trace(lambda x: np.where(np.abs(x) < 1, x, 2 * np.sign(x)), x="n")
    small = f.simplify()
    assert "clip" not in {node.op.name for node in small.nodes}
    np.testing.assert_array_equal(small.evaluate(x=RESIDUALS), f.evaluate(x=RESIDUALS))
    other = sg.trace(lambda x, y: np.where(np.abs(x) < 1, x, np.sign(y)), x="n", y="n").simplify()
    assert "clip" not in {node.op.name for node in other.nodes}
