"""Corners of NumPy: weights of quantiles, complete bases, incomplete windows, the plane."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.testing import check_grads

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4, 3))
W = RNG.uniform(0.5, 2.0, size=(4, 3))


def value(f: Any, *arrays: Any) -> Any:
    names = [f"x{i}" for i in range(len(arrays))]
    inputs = [sg.input(name, x.shape, x.dtype) for name, x in zip(names, arrays, strict=True)]
    found = f(*inputs)
    parts = list(found) if isinstance(found, (tuple, list)) else [found]
    got = sg.graph(*parts, inputs=inputs).evaluate(dict(zip(names, arrays, strict=True)))
    return got


def agrees(f: Any, *arrays: Any) -> None:
    got, want = value(f, *arrays), f(*arrays)
    if not isinstance(want, (tuple, list)):
        got, want = [got], [want]
    got = got if isinstance(got, (tuple, list)) else [got]
    for one, other in zip(got, want, strict=True):
        assert one.shape == np.shape(other)
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


# -- quantiles of weighted elements ----------------------------------------------------------------
BY_WEIGHT = {"method": "inverted_cdf"}


@pytest.mark.parametrize("q", [0.4, [0.0, 0.2, 0.5, 1.0]])
@pytest.mark.parametrize(
    ("axis", "keepdims"), [(None, False), (0, False), (1, True), (-1, False), ((0, 1), True)]
)
def test_weighted_quantiles(q: Any, axis: Any, keepdims: bool) -> None:
    options: Any = {"axis": axis, "keepdims": keepdims, **BY_WEIGHT}
    agrees(lambda x, w: np.quantile(x, q, weights=w, **options), X, W)
    agrees(lambda x, w: np.quantile(x, q, weights=w, **options), X, W * (np.min(X) != X))
    agrees(lambda x, w: np.percentile(x, np.multiply(q, 30), weights=w, **options), X, W)
    agrees(lambda x, w: np.quantile(x, q, weights=w, **options), X.round(), (10 * W).astype(int))
    with_nan = np.where(X > 0.5, np.nan, X)
    agrees(lambda x, w: np.nanquantile(x, q, weights=w, **options), with_nan, W)
    if axis in (0, None):
        agrees(lambda x, w: np.quantile(x, q, weights=w, **options), with_nan, W)


def test_weights_of_one_axis_and_gradients() -> None:
    agrees(lambda x, w: np.quantile(x, 0.3, axis=1, weights=w, **BY_WEIGHT), X, W[0])
    agrees(lambda x, w: np.quantile(x, 0.3, axis=0, weights=w, **BY_WEIGHT), X, W[:, 0])

    def f(x: Any, w: Any) -> Any:
        return np.sum(np.sin(np.quantile(x, [0.3, 0.6], axis=0, weights=w, **BY_WEIGHT)))

    check_grads(f, X, W, order=2, analytic=False)


def test_wrong_weights() -> None:
    x = sg.input("x", (4, 3))
    with pytest.raises(sg.TraceError, match="'linear' takes no weights"):
        np.quantile(x, 0.5, weights=W)
    with pytest.raises(sg.ShapeError, match=r"weights of shape \[3\] for \[4, 3\]"):
        np.quantile(x, 0.5, axis=0, weights=W[0], **BY_WEIGHT)
    with pytest.raises(sg.ShapeError, match=r"weights of shape \[3\] for \[4, 3\]"):
        np.quantile(x, 0.5, weights=W[0], **BY_WEIGHT)


# -- a basis completed -----------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (2, 5, 2), (1, 0)])
def test_complete_qr(shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape)
    agrees(lambda x: tuple(np.linalg.qr(x, mode="complete")), x)
    graph = sg.trace(lambda x: np.linalg.qr(x, "complete").R, x=sg.spec(shape))
    np.testing.assert_allclose(graph.lower()(x=x), np.linalg.qr(x, "complete").R, atol=1e-12)


def test_gradients_of_a_complete_qr() -> None:
    check_grads(lambda x: np.sum(np.sin(np.linalg.qr(x, "complete").R)), X, analytic=False)
    square = X[:3] + 2 * np.eye(3)
    check_grads(lambda x: np.sum(np.sin(np.linalg.qr(x, "complete").Q)), square, analytic=False)
    x = sg.input("x", (4, 3))
    with pytest.raises(sg.NotDifferentiable, match='mode="reduced"'):
        sg.grad(np.sum(np.linalg.qr(x, mode="complete").Q), x)
    with pytest.raises(sg.TraceError, match="mode 'raw'"):
        np.linalg.qr(x, mode="raw")


# -- windows that the array does not fill ----------------------------------------------------------
def pooled(
    x: Any, kind: str, size: int, stride: int, pad: int, dilation: int, counted: bool
) -> Any:
    """Window by window, as the words say it."""
    extent = x.shape[-1]
    reach = dilation * (size - 1) + 1
    found = []
    for start in range(-pad, extent, stride):
        if start + reach - stride >= extent + pad and found:
            break  # The window before reached the end.
        places = [start + dilation * k for k in range(size)]
        inside = [x[..., p] for p in places if 0 <= p < extent]
        if kind == "max":
            found.append(np.max(inside, axis=0))
        else:
            own = [p for p in places if -pad <= p < extent + pad] if counted else inside
            found.append(np.sum(inside, axis=0) / len(own))
    return np.stack(found, -1)


CASES = [
    case
    for case in product((4, 5, 6, 7), (2, 3), (2, 3), (0, 1), (1, 2))
    if case[3] < case[4] * (case[1] - 1) + 1 and case[4] * (case[1] - 1) < case[0] + 2 * case[3]
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("extent", "size", "stride", "pad", "dilation"), CASES)
def test_ceil_mode(extent: int, size: int, stride: int, pad: int, dilation: int) -> None:
    x = RNG.normal(size=(2, extent))
    options: Any = {"stride": stride, "padding": pad, "dilation": dilation, "ceil_mode": True}
    got = value(lambda x: snp.max_pool1d(x, size, **options), x)
    np.testing.assert_allclose(got, pooled(x, "max", size, stride, pad, dilation, True))
    for counted in (True, False):
        options["count_include_pad"] = counted
        got = value(lambda x: snp.avg_pool1d(x, size, **options), x)
        want = pooled(x, "avg", size, stride, pad, dilation, counted)
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_gradients_of_windows_that_are_not_filled() -> None:
    x = RNG.normal(size=(2, 5, 7))
    for pool in (snp.max_pool2d, snp.avg_pool2d):
        check_grads(
            lambda x, pool=pool: np.sum(np.sin(pool(x, 2, 2, ceil_mode=True))), x, analytic=False
        )
    with pytest.raises(sg.ShapeError, match="ceil_mode with stride 2 depends on the size of n"):
        snp.max_pool1d(sg.input("x", "n"), 2, ceil_mode=True)


# -- vectors of the plane, digits of truth values, parts -------------------------------------------
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cross_products_in_the_plane() -> None:
    """NumPy refuses numbers of the plane from version 2.5 on; symbols keep their meaning."""
    flat = X * [1, 1, 0]
    for f, want in (
        (lambda x: np.cross(x[:, :2], x[:, 1:]), X[:, 0] * X[:, 2] - X[:, 1] * X[:, 1]),
        (lambda x: np.cross(x[:, :2], x), np.cross(flat, X)),
        (lambda x: np.cross(x, x[:, :2]), np.cross(X, flat)),
        (lambda x: np.cross(x[:2], x[1:3], axis=0), X[0] * X[2] - X[1] * X[1]),
    ):
        np.testing.assert_allclose(value(f, X), want, rtol=1e-12)
    check_grads(lambda x: np.sum(np.sin(np.cross(x[:, :2], x[:, 1:]))), X)
    with pytest.raises(ValueError, match="3-dimensional"):
        np.linalg.cross(X[:, :2], X[:, :2])
    with pytest.raises(sg.ShapeError, match="vectors of the plane"):
        np.linalg.cross(sg.input("x", (4, 2)), sg.input("y", (4, 2)))


def test_digits_of_truth_values() -> None:
    truth = np.array([True, False])
    agrees(np.round, truth)
    for decimals in (1, -1):
        with pytest.raises(TypeError):
            np.round(truth, decimals)
        with pytest.raises(sg.DTypeError, match="truth values have no digits"):
            np.round(sg.input("b", (2,), "bool"), decimals)
    with pytest.raises(sg.DTypeError, match="no differences"):
        np.cross(sg.input("b", (3,), "bool"), sg.input("c", (3,), "bool"))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("split", [np.split, np.array_split, np.hsplit, np.vsplit])
@pytest.mark.parametrize(
    "parts", [1, 2, 3, 4, 0, -1, [1], [2, 1], [1, 9], [-1], (0, 2), np.array([1])]
)
def test_parts_and_their_errors(split: Any, parts: Any) -> None:
    for x in (X, X[0]):
        try:
            split(x, parts)
        except (ValueError, ZeroDivisionError):
            with pytest.raises(sg.ShapeError):
                value(lambda x: split(x, parts), x)
        else:
            agrees(lambda x: split(x, parts), x)


def test_parts_that_are_no_whole_number() -> None:
    with pytest.raises(sg.DTypeError, match="neither a whole number of parts"):
        np.split(sg.input("x", (4,)), 2.0)
