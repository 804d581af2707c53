"""Filters in sections, and forward and backward: SciPy's values, and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import symgraph as sg
from symgraph.scipy import signal
from symgraph.testing import check_grads

pytestmark = pytest.mark.usefixtures("drawn_anew")

RNG = np.random.default_rng(11)
SECTIONS: dict[str, Any] = {
    "odd order": scipy.signal.butter(5, 0.2, output="sos"),
    "even order": scipy.signal.cheby1(4, 1.0, 0.3, output="sos"),
    "one": scipy.signal.butter(2, 0.4, output="sos"),
}
FILTERS = [
    scipy.signal.butter(3, 0.3),
    ([0.5, 0.3], [1.0]),
    ([0.2], [2.0, -0.6, 0.2]),
    ([0.2, 0.1, 0.4, 0.1], [1.0, -0.5]),
]
SAMPLES = [((40,), -1), ((3, 40), -1), ((40, 2), 0), ((2, 40, 3), 1)]


def _close(found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
@pytest.mark.parametrize("kind", SECTIONS)
def test_sections_one_after_another_are_scipys(
    kind: str, shape: tuple[int, ...], axis: int
) -> None:
    sos, x = SECTIONS[kind], RNG.normal(size=shape)
    _close(signal.sosfilt(sos, x, axis), scipy.signal.sosfilt(sos, x, axis))
    size = list(shape)
    size[axis] = 2
    zi = RNG.normal(size=(len(sos), *size))
    pairs = zip(
        signal.sosfilt(sos, x, axis, zi), scipy.signal.sosfilt(sos, x, axis, zi), strict=True
    )
    for found, wanted in pairs:
        _close(found, wanted)
    _close(signal.sosfiltfilt(sos, x, axis), scipy.signal.sosfiltfilt(sos, x, axis))


@pytest.mark.parametrize(("shape", "axis"), SAMPLES)
@pytest.mark.parametrize(("b", "a"), FILTERS)
def test_forward_and_backward_is_scipys(b: Any, a: Any, shape: tuple[int, ...], axis: int) -> None:
    x = RNG.normal(size=shape)
    _close(signal.filtfilt(b, a, x, axis), scipy.signal.filtfilt(b, a, x, axis))
    for padtype in ("odd", "even", "constant", None):
        wanted = scipy.signal.filtfilt(b, a, x, axis, padtype, 7)
        _close(signal.filtfilt(b, a, x, axis, padtype, 7), wanted)


@pytest.mark.parametrize(("b", "a"), FILTERS)
def test_a_constant_input_leaves_the_steady_state_as_it_is(b: Any, a: Any) -> None:
    zi = signal.lfilter_zi(b, a)
    out, after = signal.lfilter(b, a, np.ones(5), zi=zi)
    np.testing.assert_allclose(after, zi, rtol=1e-12)
    np.testing.assert_allclose(out, np.sum(b) / np.sum(a), rtol=1e-12)
    if len(a) > 1:
        np.testing.assert_allclose(zi, scipy.signal.lfilter_zi(b, a), rtol=1e-11, atol=1e-13)


def test_the_steady_states_of_sections_are_scipys() -> None:
    for sos in SECTIONS.values():
        _close(signal.sosfilt_zi(sos), scipy.signal.sosfilt_zi(sos))
    assert signal.lfilter_zi([1.0], [2.0]).shape == (0,)


def test_coefficients_and_samples_have_gradients() -> None:
    sos, x = SECTIONS["odd order"], RNG.normal(size=9)
    check_grads(lambda sos, x: np.sum(np.sin(signal.sosfilt(sos, x))), sos, x, order=2)
    check_grads(
        lambda sos, x: np.sum(np.sin(signal.sosfiltfilt(sos, x, padlen=4))), sos, x, order=1
    )
    b, a = np.array([0.2, 0.3]), np.array([2.0, -0.6, 0.2])
    check_grads(
        lambda b, a, x: np.sum(np.sin(signal.filtfilt(b, a, x, padlen=4))), b, a, x, order=1
    )


def test_any_number_of_samples() -> None:
    b, a = FILTERS[0]
    graph = sg.trace(lambda x: np.sum(signal.filtfilt(b, a, x) ** 2), x="n").gradient("x")
    x = RNG.normal(size=30)
    value, slope = graph.evaluate(x=x)
    assert value == pytest.approx(np.sum(scipy.signal.filtfilt(b, a, x) ** 2), rel=1e-12)
    step = 1e-6 * (np.arange(30) == 3)
    ends = [np.sum(scipy.signal.filtfilt(b, a, x + sign * step) ** 2) for sign in (1, -1)]
    with pytest.raises(IndexError, match="out of bounds"):
        graph.evaluate(x=x[:10])
    assert slope[3] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7)


def test_a_nan_reaches_all_samples_after_it_and_single_precision_stays() -> None:
    sos = SECTIONS["one"]
    found = signal.sosfilt(sos, [1.0, np.nan, 0.0, 0.0])
    np.testing.assert_array_equal(np.isnan(found), [False, True, True, True])
    assert np.isnan(signal.sosfiltfilt(sos, [1.0, np.nan, 0.0, 0.0], padlen=1)).all()
    single = sos.astype("float32"), np.ones(20, "float32")
    assert signal.sosfilt(*single).dtype == signal.sosfiltfilt(*single).dtype == "float32"


def test_what_no_filter_is() -> None:
    with pytest.raises(sg.ShapeError, match=r"sections of shape \[2, 5\]"):
        signal.sosfilt(np.ones((2, 5)), np.ones(3))
    with pytest.raises(sg.ShapeError, match="no axis"):
        signal.sosfilt(np.ones((2, 6)), 1.0)
    with pytest.raises(sg.InputError, match="9 samples for a padlen of 9"):
        signal.filtfilt([1.0], [1.0, -0.5, 0.1], np.ones(9))
    with pytest.raises(sg.InputError, match="padtype='no' is not known"):
        signal.filtfilt([1.0], [1.0], np.ones(9), padtype="no")
    with pytest.raises(sg.InputError, match="they are symbols"):
        signal.sosfiltfilt(sg.input("sos", (2, 6)), np.ones(20))
