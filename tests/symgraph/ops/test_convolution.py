"""Convolution and pooling: values against definitions, every shape of call, errors, lowering."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.conformance import check_dag
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.ir.dag import Dag
from symgraph.namespace import NUMPY, images, windows
from symgraph.namespace.flat_images import added_places, laid_flat
from symgraph.namespace.windows import counts_of


def normal(size: Any) -> Any:
    """Numbers that depend on the shape alone."""
    shape = size if isinstance(size, tuple) else (size,)
    return np.random.default_rng(shape).normal(size=shape)


def evaluated(call: Callable[..., Any], *arrays: Any) -> Any:
    inputs = [sg.input(f"x{i}", array.shape, array.dtype) for i, array in enumerate(arrays)]
    graph = sg.graph(call(*inputs))
    return graph.evaluate(**{f"x{i}": array for i, array in enumerate(arrays)})


def defined(x: Any, w: Any, stride: Any, pads: Any, dilation: Any, groups: int) -> Any:
    """Convolution by its definition, one result at a time."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = w.shape[2:]
    counts = counts_of(x.shape[2:], sizes, stride, dilation)
    out = np.zeros((x.shape[0], w.shape[0], *counts))
    inner, outer = w.shape[1], w.shape[0] // groups
    for n, o, *place in itertools.product(*map(range, out.shape)):
        for c, *tap in itertools.product(*map(range, w.shape[1:])):
            at = [p * s + k * d for p, s, k, d in zip(place, stride, tap, dilation, strict=True)]
            out[(n, o, *place)] += x[(n, o // outer * inner + c, *at)] * w[(o, c, *tap)]
    return out


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_against_the_definition(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 2))
    small = st.tuples(*[st.integers(1, 3)] * n)
    sizes, stride, dilation = data.draw(small), data.draw(small), data.draw(small)
    pads = data.draw(st.tuples(*[st.tuples(st.integers(0, 2), st.integers(0, 2))] * n))
    groups = data.draw(st.integers(1, 2))
    extents = [
        d * (k - 1) + 1 + data.draw(st.integers(0, 3)) for k, d in zip(sizes, dilation, strict=True)
    ]
    x = normal((data.draw(st.integers(0, 2)), 2 * groups, *extents))
    w = normal((groups * data.draw(st.integers(1, 2)), 2, *sizes))
    got = evaluated(lambda x, w: snp.conv(x, w, stride, pads, dilation, groups), x, w)
    np.testing.assert_allclose(
        got, defined(x, w, stride, pads, dilation, groups), rtol=1e-12, atol=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_transpose_is_one(data: st.DataObject) -> None:
    stride, dilation, padding = (data.draw(st.integers(1, 3)) for _ in range(3))
    groups = data.draw(st.integers(1, 2))
    w = normal((2 * groups, 2, 3))
    extent = dilation * 2 + 1 + data.draw(st.integers(0, 5))
    x = normal((2, 2 * groups, extent))
    padding = min(padding, dilation)
    y = evaluated(lambda x, w: snp.conv1d(x, w, stride, padding, dilation, groups), x, w)
    extra = (extent + 2 * padding - 2 * dilation - 1) % stride
    u = normal(y.shape)
    back = evaluated(
        lambda u, w: snp.conv_transpose(u, w, stride, padding, dilation, groups, extra), u, w
    )
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(y * u), np.sum(x * back), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("extent", [5, 6])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_same_padding_gives_extent_over_stride(extent: int, stride: int, size: int) -> None:
    x, w = sg.input("x", (2, 1, extent)), sg.input("w", (1, 1, size))
    assert snp.conv(x, w, stride, "same").shape == (2, 1, -(-extent // stride))


def test_named_dimensions() -> None:
    x, w = sg.input("x", ("n", 3, "h", 8)), sg.input("w", (4, 3, 3, 3))
    y = snp.conv2d(x, w, padding="same")
    assert [str(dim) for dim in y.shape] == ["n", "4", "h", "8"]
    strided = snp.conv2d(x, w, stride=2)
    graph = sg.graph(np.sum(np.tanh(strided)) + np.sum(snp.max_pool2d(y, 2))).gradient("x", "w")
    for h in (7, 8):
        given = {"x": normal((2, 3, h, 8)), "w": normal((4, 3, 3, 3))}
        _, (dx, dw) = graph.evaluate(**given)
        assert dx.shape == given["x"].shape
        _, (ex, ew) = graph.lower()(**given)
        np.testing.assert_allclose(ex, dx)
        np.testing.assert_allclose(ew, dw)


def test_leading_axes_are_folded_and_restored() -> None:
    x, w = normal((2, 3, 4, 6)), normal((5, 4, 2))
    got = evaluated(snp.conv1d, x, w)
    want = np.stack([evaluated(snp.conv1d, each, w) for each in x])
    np.testing.assert_allclose(got, want, rtol=1e-12)
    one = evaluated(snp.conv1d, x[0, 0], w)
    np.testing.assert_allclose(one, want[0, 0], rtol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, -1, (1, 0)])
def test_sliding_window_view(axis: Any) -> None:
    x = normal((4, 5))
    shape = 2 if isinstance(axis, int) else (2, 3)
    view = np.lib.stride_tricks.sliding_window_view
    np.testing.assert_array_equal(
        evaluated(lambda x: view(x, shape, axis), x), view(x, shape, axis)
    )


def test_integers_convolve_exactly() -> None:
    x = np.rint(3 * normal((1, 2, 6))).astype("int32")
    w = np.rint(3 * normal((1, 2, 3))).astype("int32")
    got = evaluated(snp.conv1d, x, w)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, defined(x, w, (1,), [(0, 0)], (1,), 1))


# -- pooling ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_pooling_against_windows(dtype: str) -> None:
    x = (normal((2, 5, 6)) * 9).astype(dtype)
    low = -np.inf if dtype.startswith("float") else np.iinfo(dtype).min
    wide = np.pad(x, [(0, 0), (1, 1), (1, 1)], constant_values=low)
    seen = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))[:, ::2, ::2]
    got = evaluated(lambda x: snp.max_pool2d(x, 3, 2, 1), x)
    np.testing.assert_array_equal(got, seen.max(axis=(-1, -2)))
    assert got.dtype == dtype
    zeros = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, [(0, 0), (1, 1), (1, 1)]), (3, 3), (1, 2)
    )[:, ::2, ::2]
    mean = evaluated(lambda x: snp.avg_pool2d(x, 3, 2, 1), x)
    np.testing.assert_allclose(mean, zeros.mean(axis=(-1, -2)), rtol=1e-6, atol=1e-6)
    assert mean.dtype == (dtype if dtype.startswith("float") else "float64")


def test_padding_is_no_element_of_a_mean() -> None:
    x = np.ones((1, 4, 4))
    got = evaluated(lambda x: snp.avg_pool2d(x, 3, 1, 1, count_include_pad=False), x)
    np.testing.assert_allclose(got, 1)


def gradient_of(call: Callable[[Any], Any], x: Any) -> Any:
    symbol = sg.input("x", x.shape, x.dtype)
    return sg.graph(np.sum(call(symbol))).gradient("x", value=False).evaluate(x=x)


def test_ties_of_max_pool_are_split_equally() -> None:
    got = gradient_of(lambda x: snp.max_pool1d(x, 3), np.array([1.0, 2.0, 2.0, 5.0, 5.0, 5.0]))
    np.testing.assert_allclose(got, [0, 0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])


def test_padding_takes_no_share_in_a_tie() -> None:
    got = gradient_of(lambda x: snp.max_pool1d(x, 2, 1, 1), np.full(2, -np.inf))
    np.testing.assert_allclose(got, [1.5, 1.5])
    zeros = gradient_of(lambda x: snp.max_pool1d(x, 2, 1, 1), np.array([-1.0, -2.0]))
    np.testing.assert_allclose(zeros, [2, 1])


def test_nan_goes_through_max_pool() -> None:
    got = evaluated(lambda x: snp.max_pool1d(x, 2), np.array([np.nan, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(got, [np.nan, 3.0])


# -- lowering --------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_small_network_on_each_backend(backend: str) -> None:
    if backend == "jax":
        pytest.importorskip("jax")
    x, w, v = sg.input("x", ("n", 1, 8, 8)), sg.input("w", (4, 1, 3, 3)), sg.input("v", (4, 3))
    hidden = snp.max_pool2d(np.maximum(snp.conv2d(x, w, padding="same"), 0), 2)
    loss = np.mean(snp.logsumexp(np.mean(hidden, axis=(-1, -2)) @ v, axis=-1))
    graph = sg.graph(loss).gradient("w", "v").simplify()
    check_dag(Dag(graph.dag.inputs, graph.dag.outputs), backend, sizes=(3, 1))


def test_results_share_no_memory_with_inputs() -> None:
    x = sg.input("x", (2, 5))
    seen = np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)
    check_dag(sg.graph(seen).dag, "numpy")
    check_dag(sg.graph(np.negative(seen)).dag, "numpy", exact=True)


VIEW = np.lib.stride_tricks.sliding_window_view
SHARING: list[Callable[[Any, Any], tuple[Any, ...]]] = [
    lambda a, b: (VIEW(a, 3, 1), b),
    lambda a, b: (b, np.exp(VIEW(a, 3, 1)), VIEW(a, 3, 1)),
    lambda a, b: (np.sum(VIEW(a, 3, 1), axis=-1), a * 2, b),
    lambda a, b: (VIEW(b, 2, 1), b + 1, VIEW(VIEW(a, 3, 1), 2, 1)),
    lambda a, b: (snp.max_pool1d(a, 2), VIEW(np.negative(a), 3, 1), -a),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("made", SHARING)
def test_a_view_of_windows_is_not_overwritten(made: Callable[[Any, Any], tuple[Any, ...]]) -> None:
    x = sg.input("x", ("n", 40))
    a = np.tanh(x)
    outputs = made(a, np.tanh(a) * a - a)
    graph = sg.graph(*outputs)
    check_dag(Dag(graph.dag.inputs, graph.dag.outputs), "numpy", exact=True)
    loss = sg.graph(sum(np.sum(each * each) for each in outputs)).gradient("x").simplify()
    check_dag(Dag(loss.dag.inputs, loss.dag.outputs), "numpy")


def test_cost_in_named_dimensions() -> None:
    x, w = sg.input("x", ("n", 3, 8, 8)), sg.input("w", (4, 3, 3, 3))
    graph = sg.graph(snp.conv2d(x, w))
    assert graph.flops(n=5) == 5 * 2 * (4 * 6 * 6) * (3 * 3 * 3)


JACOBIANS: list[tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = [
    (lambda x, w: np.tanh(snp.conv1d(x, w, padding=1)), ((2, 3, 5), (2, 3, 3))),
    (lambda x, w: snp.conv_transpose(x, w, 2), ((2, 3, 4), (3, 2, 3))),
    (lambda x: snp.max_pool1d(x, 2), ((2, 3, 6),)),
    (lambda x: snp.avg_pool1d(x, 2, 1), ((2, 3, 6),)),
    (lambda x: VIEW(x, 3, 1), ((2, 6),)),
]


@pytest.mark.parametrize(("call", "shapes"), JACOBIANS)
def test_jacobians_one_image_at_a_time(
    call: Callable[..., Any], shapes: tuple[tuple[int, ...], ...]
) -> None:
    at = {f"x{i}": normal(shape) for i, shape in enumerate(shapes)}
    out = sg.graph(call(*[sg.input(key, each.shape) for key, each in at.items()]))
    for key, here in at.items():
        got = out.jacobian(key, value=False).evaluate(**at)
        for place in np.ndindex(*here.shape):
            step = np.zeros(here.shape)
            step[place] = 1e-5
            up, down = (out.evaluate(**{**at, key: here + each}) for each in (step, -step))
            np.testing.assert_allclose(got[(..., *place)], (up - down) / 2e-5, atol=1e-8)


@pytest.mark.parametrize("xp", ["numpy", "jax.numpy"])
def test_source_that_stands_alone(xp: str) -> None:
    module = pytest.importorskip(xp)
    dtype = "float64" if xp == "numpy" else "float32"  # JAX has no other unless it is told
    x, w = sg.input("x", (2, 2, 6, 6), dtype), sg.input("w", (4, 1, 3, 3), dtype)
    y = snp.max_pool2d(snp.conv2d(x, w, 1, 1, 1, 2), 3, 2, 1)
    seen = np.lib.stride_tricks.sliding_window_view(snp.avg_pool2d(y, 2), 1, 1)
    graph = sg.graph(np.sum(np.tanh(seen))).gradient("x", "w")
    at = {key: normal(each.shape).astype(dtype) for key, each in (("x", x), ("w", w))}
    names: dict[str, Any] = {}
    exec(graph.to_python(), names)
    value, (dx, dw) = graph.evaluate(**at)
    given = {key: module.asarray(each) for key, each in at.items()}
    got, (gx, gw) = names["function"](module, **given)
    limit = 1e-12 if xp == "numpy" else 1e-4
    for found, want in ((got, value), (gx, dx), (gw, dw)):
        np.testing.assert_allclose(found, want, rtol=limit, atol=limit)


# -- errors ----------------------------------------------------------------------------------------
X, W = sg.input("x", (2, 4, 5)), sg.input("w", (6, 2, 3))
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: snp.conv(X, W), ShapeError, "4 channels"),
    (lambda: snp.conv(X, W, groups=4), ShapeError, "4 channels"),
    (lambda: snp.conv(X, sg.input("w", (5, 2, 3)), groups=2), ShapeError, "not divisible"),
    (lambda: snp.conv2d(X, W, groups=2), ShapeError, "2 sizes"),
    (lambda: snp.conv(X, W, groups=2, dilation=3), ShapeError, "does not fit"),
    (lambda: snp.conv(X, W, groups=2, stride=0), ShapeError, "stride=0"),
    (lambda: snp.conv(X, W, groups=2, stride=(1, 1)), ShapeError, "stride"),
    (lambda: snp.conv(X, W, groups=2, stride=1.5), ShapeError, "not an integer"),
    (lambda: snp.conv(X, W, groups=2, padding=-1), ShapeError, "padding=-1"),
    (lambda: snp.conv(X, W, groups=2, padding="full"), ShapeError, '"same" or "valid"'),
    (lambda: snp.conv(X, W, groups=2, padding=(1, 2)), ShapeError, "padding"),
    (lambda: snp.conv(sg.input("x", (5,)), W), ShapeError, "no channels"),
    (lambda: snp.conv(X > 0, W > 0, groups=2), DTypeError, "truth values"),
    (lambda: snp.conv(sg.input("x", (1, 2, "n")), W, 2, "same"), ShapeError, "in numbers"),
    (lambda: snp.conv_transpose(X, W), ShapeError, "4 channels"),
    (lambda: snp.conv_transpose(X, X[0][:, :, None], output_padding=1), ShapeError, "output_pad"),
    (lambda: snp.max_pool(X, 2), ShapeError, "number of axes"),
    (lambda: snp.max_pool1d(X, 2, padding=2), ShapeError, "nothing but padding"),
    (lambda: snp.avg_pool1d(X, 6), ShapeError, "does not fit"),
    (
        lambda: np.lib.stride_tricks.sliding_window_view(X, 2, 0, writeable=True),
        TraceError,
        "writeable",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# -- oracle ----------------------------------------------------------------------------------------
@pytest.mark.oracle
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_against_torch(stride: int, padding: int, dilation: int, groups: int) -> None:
    torch = pytest.importorskip("torch")
    x, w = normal((2, 4, 7, 6)), normal((6, 4 // groups, 3, 2))
    tx, tw = (torch.tensor(each, requires_grad=True) for each in (x, w))
    want = torch.nn.functional.conv2d(tx, tw, None, stride, padding, dilation, groups)
    pooled = torch.nn.functional.avg_pool2d(
        torch.nn.functional.max_pool2d(want, 2, 1, 1), 2, 1, 1, count_include_pad=False
    )
    torch.sum(torch.sin(pooled)).backward()
    sx, sw = sg.input("x", x.shape), sg.input("w", w.shape)
    y = snp.conv2d(sx, sw, stride, padding, dilation, groups)
    small = snp.avg_pool2d(snp.max_pool2d(y, 2, 1, 1), 2, 1, 1, count_include_pad=False)
    graph = sg.graph(np.sum(np.sin(small))).gradient("x", "w", value=False)
    dx, dw = graph.evaluate(x=x, w=w)
    np.testing.assert_allclose(dx, tx.grad.numpy(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(dw, tw.grad.numpy(), rtol=1e-10, atol=1e-12)
    back = torch.nn.functional.conv_transpose2d(
        want, tw, None, stride, padding, 0, groups, dilation
    )
    got = evaluated(
        lambda y, w: snp.conv_transpose(y, w, stride, padding, dilation, groups),
        want.detach().numpy(),
        w,
    )
    np.testing.assert_allclose(got, back.detach().numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("groups", [1, 2])
def test_images_are_taken_a_few_at_a_time(groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No bit depends on it but those of the kernel's gradient, which are added up by groups."""
    random = np.random.default_rng(0)
    x, w = random.normal(size=(2, 9, 4, 7, 8)), random.normal(size=(6, 4 // groups, 3, 2))
    a = ((2, 1), (1, 2), groups)
    whole = windows.convolution(NUMPY, x, w, *a)
    back = windows.adjoint_convolution(NUMPY, whole, w, (7, 8), *a)
    kernel = windows.kernel_convolution(NUMPY, x, whole, (3, 2), *a)
    monkeypatch.setattr(images, "COLUMN_BYTES", 6000)
    np.testing.assert_array_equal(NUMPY.convolution(x, w, *a), whole)
    np.testing.assert_array_equal(NUMPY.adjoint_convolution(whole, w, (7, 8), *a), back)
    found = NUMPY.kernel_convolution(x, whole, (3, 2), *a)
    np.testing.assert_allclose(found, kernel, rtol=1e-12)
    assert found.tobytes() != kernel.tobytes()
    no_images = np.zeros((2, 0, 4, 7, 8))
    assert NUMPY.convolution(no_images, w, *a).shape == (2, 0, *whole.shape[2:])
    assert not NUMPY.kernel_convolution(no_images, whole[:, :0], (3, 2), *a).any()


@pytest.mark.parametrize("most", [200, 6000, 2**19])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_results_are_written_to_any_array(
    layout: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last group has fewer images than the others; a stack of kernels; one of 1 x 1."""
    monkeypatch.setattr(images, "COLUMN_BYTES", most)
    random = np.random.default_rng(0)
    for lead, sizes in (((), (3, 2)), ((2,), (3, 2)), ((2,), (1, 1))):
        x = np.asarray(random.normal(size=(2, 7, 4, 7, 8)), order=layout)
        w = np.asarray(random.normal(size=(*lead, 6, 2, *sizes)), order=layout)
        a = ((2, 1), (1, 2), 2)
        y = np.asarray(windows.convolution(NUMPY, x, w, *a), order=layout)
        calls: list[tuple[Any, ...]] = [
            (windows.convolution, images.convolution, x, w),
            (windows.adjoint_convolution, images.adjoint_convolution, y, w, (7, 8)),
            (windows.kernel_convolution, images.kernel_convolution, x, y, sizes),
        ]
        for plain, grouped, *arrays in calls:
            want = plain(NUMPY, *arrays, *a)
            found = grouped(NUMPY, *arrays, *a)
            assert found.flags.c_contiguous
            np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-12)
            for order in ("C", "F"):
                out = np.full(want.shape, np.nan, order=order)
                assert grouped(NUMPY, *arrays, *a, out=out) is out
                np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize(
    ("extents", "sizes", "dilations", "groups"),
    [
        ((7, 8), (3, 2), (1, 1), 1),
        ((9, 8), (3, 3), (2, 1), 2),
        ((4, 5, 6), (2, 1, 3), (1, 1, 2), 1),
    ],
)
@pytest.mark.parametrize("most", [200, 2**19])
def test_columns_are_added_in_flat_images(
    extents: Any, sizes: Any, dilations: Any, groups: int, most: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(images, "COLUMN_BYTES", most)
    random = np.random.default_rng(0)
    ones = (1,) * len(sizes)
    counts = windows.counts_of(extents, sizes, ones, dilations)
    y = random.normal(size=(5, 6, *counts))
    w = random.normal(size=(6, 4 // groups, *sizes))
    assert laid_flat(counts, w, extents, ones, dilations, 6 // groups) is not None
    a = (extents, ones, dilations, groups)
    want = windows.adjoint_convolution(NUMPY, y, w, *a)
    np.testing.assert_allclose(images.adjoint_convolution(NUMPY, y, w, *a), want, 1e-12, 1e-13)
    y[0, 0, 0] = np.nan
    y[1, 2] = np.inf
    with np.errstate(invalid="ignore"):
        want = windows.adjoint_convolution(NUMPY, y, w, *a)
        found = images.adjoint_convolution(NUMPY, y, w, *a)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(want))
    np.testing.assert_allclose(found, want, 1e-12, 1e-13)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_weight_that_is_not_finite_meets_no_zeros_of_ours(bad: float) -> None:
    y, w = np.ones((2, 3, 5, 6)), np.ones((3, 2, 3, 3))
    w[1, 0, 2, 0] = bad
    a = ((7, 8), (1, 1), (1, 1), 1)
    assert laid_flat((5, 6), w, *a[:3], 3) is None
    with np.errstate(invalid="ignore"):
        want = windows.adjoint_convolution(NUMPY, y, w, *a)
        found = images.adjoint_convolution(NUMPY, y, w, *a)
    assert 0 < np.isnan(want).sum() + np.isinf(want).sum() < want.size / 2
    np.testing.assert_array_equal(found, want)


def test_where_images_are_not_laid_flat() -> None:
    assert added_places((28, 28), (3, 3), (30, 30), (1, 1), 32) == 56
    assert added_places((28, 28), (3, 3), (30, 30), (1, 1), 512) is None  # products cost more
    assert added_places((14, 14), (3, 3), (30, 30), (2, 2), 32) is None
    assert added_places((28,), (3,), (30,), (1,), 32) is None
    assert added_places((28, 28), (1, 1), (28, 28), (1, 1), 32) is None
