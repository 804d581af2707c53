"""Filters and banded systems against SciPy's, and their derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

import symgraph as sg
from symgraph.scipy import linalg, signal
from symgraph.testing import check_grads

RNG = np.random.default_rng(7)
FILTERS = [
    ([0.5], [1.0]),
    ([0.5, 0.2, 0.1], [1.0]),
    ([0.5, 0.2, 0.1], [2.0]),
    ([0.5], [1.0, -0.3]),
    ([0.2, 0.3], [2.0, -0.3, 0.1, 0.4]),
    ([0.2, 0.3, 0.5], [1.5, 0.4]),
]
SAMPLES = [((7,), -1), ((3, 7), -1), ((7, 3), 0), ((2, 7, 3), 1)]


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
@pytest.mark.parametrize(("b", "a"), FILTERS)
def test_a_filter_is_scipys(
    b: list[float], a: list[float], shape: tuple[int, ...], axis: int
) -> None:
    x = RNG.normal(size=shape)
    wanted = scipy.signal.lfilter(b, a, x, axis=axis)
    np.testing.assert_allclose(signal.lfilter(b, a, x, axis=axis), wanted, rtol=1e-12, atol=1e-14)
    size = list(shape)
    size[axis] = max(len(a), len(b)) - 1
    if not size[axis]:
        return
    zi = RNG.normal(size=size)
    found = signal.lfilter(b, a, x, axis=axis, zi=zi)
    for each, other in zip(found, scipy.signal.lfilter(b, a, x, axis=axis, zi=zi), strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", ["n", "6"])
@pytest.mark.parametrize("simplified", [False, True])
def test_coefficients_and_samples_of_a_filter_have_gradients(size: str, simplified: bool) -> None:
    def loss(b: Any, a: Any, x: Any) -> Any:
        return np.sum(np.sin(signal.lfilter(b, a, x)))

    at = {"b": np.array([0.2, 0.3]), "a": np.array([2.0, -0.3, 0.1]), "x": RNG.normal(size=6)}
    graph = sg.trace(loss, b=sg.spec("2"), a=sg.spec("3"), x=sg.spec(size)).gradient("b", "a", "x")
    graph = graph.simplify() if simplified else graph
    value, slopes = graph.evaluate(**at)
    assert value == pytest.approx(np.sum(np.sin(scipy.signal.lfilter(*at.values()))), rel=1e-13)
    for name, slope in zip(at, slopes, strict=True):
        for place in range(len(at[name])):
            ends: list[float] = []
            for step in (1e-6, -1e-6):
                near = {each: value.copy() for each, value in at.items()}
                near[name][place] += step
                ends.append(np.sum(np.sin(scipy.signal.lfilter(*near.values()))))
            assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_a_nan_stays_in_a_recursive_filter() -> None:
    found = signal.lfilter([1.0], [1.0, -0.5], [1.0, np.nan, 0.0, 0.0])
    np.testing.assert_array_equal(found, [1.0, np.nan, np.nan, np.nan])
    assert signal.lfilter(*np.ones((2, 1), "float32"), np.ones(3, "float32")).dtype == "float32"


def test_what_no_filter_is() -> None:
    with pytest.raises(sg.InputError, match=r"a\[0\] is 0"):
        signal.lfilter([1.0], [0.0, 1.0], np.ones(3))
    with pytest.raises(sg.ShapeError, match="coefficients"):
        signal.lfilter([1.0], sg.input("a", "n"), np.ones(3))
    with pytest.raises(sg.ShapeError, match="no axis"):
        signal.lfilter([1.0], [1.0], 1.0)


# -- banded systems --------------------------------------------------------------------------------
@pytest.mark.parametrize(("below", "above", "n"), [(1, 1, 5), (0, 2, 4), (2, 1, 6), (0, 0, 3)])
def test_a_banded_system_is_solved(below: int, above: int, n: int) -> None:
    ab, b = RNG.normal(size=(below + above + 1, n)), RNG.normal(size=(n, 2))
    ab[above] += 4
    for each in (b, b[:, 0]):
        np.testing.assert_allclose(
            linalg.solve_banded((below, above), ab, each),
            scipy.linalg.solve_banded((below, above), ab, each),
            rtol=1e-10,
        )
    check_grads(lambda ab, b: linalg.solve_banded((below, above), ab, b), ab, b, order=1)


def test_corners_of_a_banded_system_do_not_count() -> None:
    ab = np.array([[np.nan, 1.0, 1.0], [4.0, 4.0, 4.0], [1.0, 1.0, np.nan]])
    graph = sg.trace(
        lambda ab, b: np.sum(linalg.solve_banded((1, 1), ab, b)), ab=sg.spec("3, 3"), b=sg.spec("3")
    ).gradient("ab", "b")
    for each in (graph, graph.simplify()):
        value, (by_ab, by_b) = each.evaluate(ab=ab, b=np.ones(3))
        assert np.isfinite([value, *by_b, *by_ab.flat]).all()
        assert by_ab[0, 0] == by_ab[2, 2] == 0


def test_what_no_banded_system_is() -> None:
    with pytest.raises(sg.ShapeError, match="3 diagonals for l = 1 and u = 0"):
        linalg.solve_banded((1, 0), np.ones((3, 4)), np.ones(4))
    with pytest.raises(sg.ShapeError, match="known length"):
        linalg.solve_banded((1, 1), sg.input("ab", "3, n"), np.ones(4))
