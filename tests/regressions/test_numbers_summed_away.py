"""The slope in a number that stands in each row, once sum(broadcast(1 / t, (3, 50)))."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg


def loss(b: Any, x: Any) -> Any:
    return np.sum(np.log(np.sum(b + x**2, axis=-1)))


@pytest.mark.parametrize("shape", [(3, 2), (3, 50), (2, 3, 4), (1, 4), (4, 1)])
def test_the_number_is_counted(shape: tuple[int, ...]) -> None:
    graph = sg.trace(loss, b=1.5, x=np.ones(shape)).gradient("b").simplify()
    x = np.random.default_rng(0).normal(size=shape)
    count = shape[-1]
    np.testing.assert_allclose(
        graph.evaluate(b=1.5, x=x)[1],
        count * np.sum(1 / np.sum(1.5 + x**2, axis=-1)),
        rtol=1e-14,
    )
    added = [node.operands[0] for node in graph.nodes if node.op.name == "sum"]
    assert not any(each.op.name == "broadcast_to" for each in added)


def test_sizes_to_come_are_counted_too() -> None:
    graph = sg.trace(loss, b=1.5, x="n, d").gradient("b").simplify()
    assert "d * sum(1 / t1)" in str(graph.formula())
    for n, d in ((3, 5), (1, 1), (0, 2)):
        x = np.ones((n, d))
        assert graph.evaluate(b=1.5, x=x)[1] == pytest.approx(n / 2.5)


def test_a_sum_of_nothing_is_nothing_though_the_number_is_none() -> None:
    def empty(b: Any, x: Any) -> Any:
        return np.sum(b * np.broadcast_to(x[:, None], (3, 0)))

    graph = sg.trace(empty, b=1.0, x=np.ones(3)).simplify()
    assert graph.evaluate(b=np.nan, x=np.full(3, np.nan)) == 0.0
