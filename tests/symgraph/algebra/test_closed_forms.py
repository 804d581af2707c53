"""Spellings of one loss that meet in one gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp


# -- softmax cross-entropy ------------------------------------------------------------------------
def naive(z: Any, p: Any) -> Any:
    return -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)))


def shifted(z: Any, p: Any) -> Any:
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return -np.sum(p * np.log(e / np.sum(e, axis=-1, keepdims=True)))


def by_log_softmax(z: Any, p: Any) -> Any:
    return -np.sum(p * snp.log_softmax(z, axis=-1))


def by_logsumexp(z: Any, p: Any) -> Any:
    return np.sum(snp.logsumexp(z, axis=-1)) - np.sum(p * z)


def by_hand(z: Any, p: Any) -> Any:
    return np.sum(np.log(np.sum(np.exp(z), axis=-1)) - np.sum(p * z, axis=-1))


def by_difference_of_logs(z: Any, p: Any) -> Any:
    return -np.sum(p * (z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))))


SPELLINGS = [naive, shifted, by_log_softmax, by_logsumexp, by_hand, by_difference_of_logs]


def operations(graph: sg.Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op.count and node.operands]


def cross_entropy(
    spelling: Callable[..., Any], shape: str, axis: int | None = None, batch: int | None = None
) -> sg.Graph:
    """The simplified gradient, of the mean over a batch if its size is given."""

    def loss(z: Any, p: Any) -> Any:
        total = spelling(z.T, p.T) if axis == 0 else spelling(z, p)
        return total if batch is None else total / batch

    over = -1 if axis is None else axis
    p = sg.spec(shape, assume=sg.simplex(axis=over))
    graph = sg.trace(loss, z=sg.spec(shape), p=p)
    return graph.gradient("z", value=False).simplify()


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("shape", ["7", "6, 7", "n, 7"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_gives_a_softmax_and_a_subtraction(
    spelling: Callable[..., Any], shape: str
) -> None:
    assert operations(cross_entropy(spelling, shape)) == ["softmax", "subtract"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_mean_adds_one_scaling(spelling: Callable[..., Any]) -> None:
    assert operations(cross_entropy(spelling, "6, 7", batch=6)) == ["softmax", "subtract", "divide"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_other_axis(spelling: Callable[..., Any]) -> None:
    graph = cross_entropy(spelling, "7, 6", axis=0)
    assert operations(graph) == ["softmax", "subtract"]
    (softmax,) = [node for node in graph.nodes if node.op.name == "softmax"]
    z, p = np.random.default_rng(0).standard_normal((2, 7, 6))
    assert softmax.shape in ((7, 6), (6, 7))
    e = np.exp(z)
    np.testing.assert_allclose(graph.evaluate(z=z, p=p), e / e.sum(axis=0) - p)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_without_the_fact_the_sum_of_p_stays(spelling: Callable[..., Any]) -> None:
    graph = sg.trace(spelling, z="7", p="7").gradient("z", value=False).simplify()
    z, p = np.random.default_rng(1).standard_normal((2, 7))
    q = np.exp(z) / np.exp(z).sum()
    if spelling in (by_logsumexp, by_hand):  # Here p weighs z alone.
        np.testing.assert_allclose(graph.evaluate(z=z, p=p), q - p)
    else:
        np.testing.assert_allclose(graph.evaluate(z=z, p=p), q * p.sum() - p)
        assert sorted(operations(graph)) == ["multiply", "softmax", "subtract", "sum"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_large_logits(spelling: Callable[..., Any]) -> None:
    """Finite and right, value and gradient, where exp overflows and underflows."""
    p = sg.spec("3", assume=sg.simplex(axis=-1))
    small = sg.trace(spelling, z="3", p=p).gradient("z").simplify()
    for z in ([1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]):
        at = np.array(z)
        target = np.array([0.25, 0.5, 0.25])
        value, gradient = small.evaluate(z=at, p=target)
        logs = at - at.max() - np.log(np.exp(at - at.max()).sum())
        np.testing.assert_allclose(value, -(target * logs).sum(), rtol=1e-12)
        np.testing.assert_allclose(gradient, np.exp(logs) - target, atol=1e-12)
