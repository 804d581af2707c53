"""Savitzky and Golay's filter, trends and analytic signals: SciPy's values, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import symgraph as sg
from symgraph.scipy import signal
from symgraph.testing import check_grads

pytestmark = pytest.mark.usefixtures("drawn_anew")

RNG = np.random.default_rng(17)
SAMPLES = [((20,), -1), ((3, 21), -1), ((20, 2), 0), ((2, 9, 3), 1)]


def _close(found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
@pytest.mark.parametrize("mode", ["interp", "mirror", "nearest", "wrap", "constant"])
def test_smoothing_is_scipys(mode: str, shape: tuple[int, ...], axis: int) -> None:
    x = RNG.normal(size=shape)
    for window, order, deriv in ((5, 2, 0), (7, 3, 1), (1, 0, 0), (9, 3, 2)):
        given = (window, order, deriv, 0.5, axis, mode, 3.0)
        wanted = scipy.signal.savgol_filter(x, *given)
        _close(signal.savgol_filter(x, *given), wanted)


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
def test_what_is_left_of_a_trend_is_scipys(shape: tuple[int, ...], axis: int) -> None:
    x = RNG.normal(size=shape)
    for kind in ("linear", "constant"):
        _close(signal.detrend(x, axis, kind), scipy.signal.detrend(x, axis, kind))
    for places in ([5], [0, 3, 8, 8], 4):
        wanted = scipy.signal.detrend(x, axis, bp=places)
        _close(signal.detrend(x, axis, bp=places), wanted)
    np.testing.assert_array_equal(signal.detrend([[3.0, np.nan]], 0), [[0.0, np.nan]])


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
def test_an_analytic_signal_is_scipys(shape: tuple[int, ...], axis: int) -> None:
    x = RNG.normal(size=shape)
    for size in (None, 8, 25):
        _close(signal.hilbert(x, size, axis), scipy.signal.hilbert(x, size, axis))
    assert signal.hilbert(x.astype("float32"), axis=axis).dtype == "complex64"


def test_samples_have_gradients() -> None:
    x = RNG.normal(size=(2, 9))
    for mode in ("interp", "mirror"):
        smooth = lambda x, mode=mode: signal.savgol_filter(x, 5, 2, 1, mode=mode)  # noqa: E731
        check_grads(lambda x, smooth=smooth: np.sum(np.sin(smooth(x))), x, analytic=False)
    check_grads(lambda x: np.sum(np.sin(signal.detrend(x, bp=[4]))), x, analytic=False)
    check_grads(lambda x: np.sum(np.abs(signal.hilbert(x)) ** 3), x, analytic=False)


def test_any_number_of_samples() -> None:
    graph = sg.trace(lambda x: signal.detrend(signal.savgol_filter(x, 5, 2)), x="n")
    x = RNG.normal(size=12)
    wanted = scipy.signal.detrend(scipy.signal.savgol_filter(x, 5, 2))
    np.testing.assert_allclose(graph.evaluate(x=x), wanted, rtol=1e-11, atol=1e-13)
    with pytest.raises(ValueError, match="exceed"):
        graph.evaluate(x=x[:4])
    line = sg.trace(lambda x: signal.detrend(x), x="n")
    np.testing.assert_array_equal(line.evaluate(x=[3.0]), [0.0])


def test_a_nan_stays_where_it_is_seen() -> None:
    x = np.where(np.arange(12) == 6, np.nan, 1.0)
    found = np.isnan(signal.savgol_filter(x, 3, 1))
    np.testing.assert_array_equal(np.flatnonzero(found), [5, 6, 7])
    assert np.isnan(signal.detrend(x)).all()
    assert np.isnan(signal.hilbert(x)).all()


def test_what_cannot_be_smoothed_is_told() -> None:
    with pytest.raises(sg.InputError, match="window of 4 samples has no middle"):
        signal.savgol_filter(np.ones(9), 4, 2)
    with pytest.raises(sg.InputError, match="3 samples are less than a window of 5"):
        signal.savgol_filter(np.ones(3), 5, 2)
    with pytest.raises(sg.InputError, match="mode 'no' is not known"):
        signal.savgol_filter(np.ones(9), 5, 2, mode="no")
    with pytest.raises(ValueError, match="polyorder must be less"):
        signal.savgol_filter(np.ones(9), 3, 3)
    with pytest.raises(sg.InputError, match="type 'cubic' is not known"):
        signal.detrend(np.ones(9), type="cubic")
    with pytest.raises(sg.InputError, match=r"breakpoints \[10\] of 9 samples"):
        signal.detrend(np.ones(9), bp=10)
    with pytest.raises(sg.ShapeError, match="n samples"):
        signal.hilbert(sg.input("x", "n"))
    for function in (signal.detrend, signal.hilbert):
        with pytest.raises(sg.ShapeError, match="no axis"):
            function(1.0)
