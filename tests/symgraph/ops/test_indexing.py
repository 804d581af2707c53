"""Indexing is NumPy's: basic and advanced, fixed and named dimensions; duplicates add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph
import symgraph.numpy as snp
from symgraph.autodiff.reverse import gradients
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.facts import Fact, one_hot, positive, simplex
from symgraph.ir.cost import op_count
from symgraph.ir.dag import Dag
from symgraph.ir.dims import named
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.interpreter import evaluate
from symgraph.ops.creation import input

SHAPES = [(), (3,), (0,), (4, 3), (3, 1), (2, 3, 4), (2, 0, 3), (2, 3, 2, 3)]
place = st.integers(-5, 4)
slices = st.builds(
    slice,
    st.one_of(st.none(), place),
    st.one_of(st.none(), place),
    st.sampled_from([None, 1, 2, -1, -2, 3]),
)
basic = st.one_of(place, slices, st.none(), st.just(Ellipsis), st.just(np.int64(1)))
integer_arrays = st.sampled_from(
    [
        np.array([0, 1, 1]),
        np.array([[0], [-1]]),
        np.array([], dtype=int),
        np.array(1),
        np.array([[0, 2, 1]], dtype="uint8"),
        [1, 0, 0],
        [],
        np.array([9]),
    ]
)
masks = st.sampled_from(
    [
        np.array([True, False, True]),
        np.array([True, False]),
        np.array([[True, False, True], [False, True, True]]),
    ]
)


@st.composite
def cases(draw: st.DrawFn, entries: st.SearchStrategy) -> tuple:
    shape = draw(st.sampled_from(SHAPES))
    x = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    count = len(shape) + draw(st.sampled_from([0, 0, 0, 1]))
    index = draw(st.lists(entries, max_size=count))
    return x, tuple(index) if len(index) != 1 or draw(st.booleans()) else index[0]


@settings(max_examples=100, deadline=None)
@given(cases(basic))
def test_basic_indices_are_numpys(agrees, case):
    x, index = case
    agrees(lambda x: x[index], x)


@settings(max_examples=150, deadline=None)
@given(cases(st.one_of(basic, integer_arrays, integer_arrays, masks)))
def test_advanced_indices_are_numpys(agrees, case):
    x, index = case
    if index is Ellipsis and x.ndim == 0:
        return
    agrees(lambda x: x[index], x)


@settings(max_examples=60, deadline=None)
@given(cases(st.one_of(slices, integer_arrays)))
def test_gradients_of_reads_count_how_often_each_element_is_read(case):
    x, index = case
    try:
        want = np.zeros_like(x)
        np.add.at(want, index, 1.0)
    except IndexError:
        return
    if not x[index].size:
        return  # NumPy does not look at an index that reads nothing; we refuse what is out of range
    symbol = input("x", x.shape)
    (grad,) = gradients(np.sum(symbol[index]), [symbol])
    np.testing.assert_array_equal(evaluated(grad, x=(symbol, x)), want)


@settings(max_examples=100, deadline=None)
@given(cases(st.one_of(basic, integer_arrays, integer_arrays, masks)), st.booleans())
def test_writes_at_an_index_and_their_gradients(case, computed):
    x, index = case
    try:
        slots = x[index].shape
        places = np.arange(x.size).reshape(x.shape)[index]
    except IndexError:
        return
    v = np.arange(1.0, 1.0 + np.prod(slots)).reshape(slots)
    symbols = {"x": (input("x", x.shape), x), "v": (input("v", slots), v)}
    entries = index if isinstance(index, tuple) else (index,)
    if computed and places.size:  # Index arrays as inputs; a mask stays a constant.
        for k, entry in enumerate(entries):
            if isinstance(entry, np.ndarray) and entry.ndim and entry.dtype.kind in "iu":
                symbols[f"i{k}"] = (input(f"i{k}", entry.shape, entry.dtype), entry)
        entries = tuple(
            symbols[f"i{k}"][0] if f"i{k}" in symbols else entry for k, entry in enumerate(entries)
        )
    target, values = symbols["x"][0], symbols["v"][0]
    wrote = np.full(x.size, -1)
    wrote[places] = np.arange(v.size).reshape(slots)
    w = np.cos(np.arange(float(x.size)))
    of_v = np.zeros(v.size)
    of_v[wrote[wrote >= 0]] = w[wrote >= 0]
    updated, added = x.copy(), x.copy()
    updated[index] = v
    np.add.at(added, index, v)
    for write, value, wanted in (
        (snp.index_update, updated, (np.where(wrote < 0, w, 0), of_v)),
        (snp.index_add, added, (w, w[places])),
    ):
        out = write(target, entries, values)
        np.testing.assert_array_equal(evaluated(out, **symbols), value)
        total = np.sum(out * w.reshape(x.shape))
        for grad, want in zip(gradients(total, [target, values]), wanted, strict=True):
            got = 0.0 if grad is None else evaluated(grad, **symbols)
            np.testing.assert_array_equal(np.ravel(got) + 0.0 * np.ravel(want), np.ravel(want))


def evaluated(out, **inputs):
    nodes = {name: symbol.node for name, (symbol, _) in inputs.items()}
    return evaluate(Dag(nodes, [out.node]), {name: value for name, (_, value) in inputs.items()})[0]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(1, None),
        slice(None, -1),
        slice(2, -2),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(1, None, 3),
        slice(None, 3),
        slice(-3, None),
        slice(5, 2),
        slice(None, 0, -1),
        slice(-2, None, -2),
        slice(3, 0, -1),
        slice(2, -9, -3),
        (slice(None), 1),
        (None, slice(1, None), slice(0, 2)),
        (Ellipsis, np.array([0, 2, 2])),
        (slice(1, None), np.array([1, 0])),
    ],
    ids=str,
)
def test_named_dimensions_are_sliced(agrees, index, n):
    agrees(lambda x: x[index], np.arange(n * 5.0).reshape(n, 5), dims={n: "n"} if n != 5 else {})


def test_slices_of_named_dimensions_are_formulas():
    n = named("n")
    x = input("x", (n, 4))
    assert x[: n - 1].shape == x[:-1].shape
    assert x[0:n].shape == (n, 4)
    assert x[n - 1].shape == (4,)
    assert (x[1:] - x[:-1]).shape == x[1:].shape
    assert np.concatenate([x, x])[:n].shape == (n, 4)
    assert np.concatenate([x, x])[n:].shape == (n, 4)
    with pytest.raises(ShapeError, match="not known to be nonnegative"):
        x[: n - named("m")]


def test_indices_may_be_computed(agrees):
    x, i = np.arange(12.0).reshape(3, 4), np.array([[2, -1], [0, 0]])
    agrees(lambda x, i: x[i], x, i)
    agrees(lambda x, i: x[:, i], x, i)
    agrees(lambda x, i: x[i, i], x, i)
    agrees(lambda x, i: x[1:, None][i, :, i - 1], x, np.array([0, 1]))
    agrees(lambda x, i: np.take(x, i, axis=-1), x, i)
    agrees(lambda x, i: np.take(x, i), x, i)
    agrees(lambda x, i: np.take(x, i, axis=7), x, i)
    agrees(lambda x, i: x.take(i, axis=0), x, i)


@pytest.mark.parametrize("axis", [0, 1, -1, None, 4])
def test_along_an_axis(agrees, axis):
    x = np.random.default_rng(0).normal(size=(3, 4))
    for index in (np.array([[0, 1, 2, 0]]), np.array([[0], [2], [1]]), np.array([0, 1, 0])):
        agrees(lambda x, i: np.take_along_axis(x, i, axis), x, index)
    order = np.argsort(x, axis=axis) if axis in (0, 1, -1) else np.array([0])
    agrees(lambda x: np.take_along_axis(x, order, axis), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_scatter_adds_repeated_places(agrees, dtype):
    x = np.zeros((3, 2), dtype=dtype)
    values = np.arange(8).reshape(4, 2).astype(dtype)
    places = np.array([2, 0, 2, -1])

    def like(x, values, places):
        result = x.copy()
        np.add.at(result, places, values)
        return result

    agrees(lambda x, v, i: snp.scatter_add(x, v, i, axis=0), x, values, places, like=like)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 1), (2, 1), (1, 3), (2, 3)])
def test_a_row_is_added_at_every_row_of_places(agrees, dtype, shape):
    """`np.add.at` itself reads beyond a row that it has to repeat, where `x` has one axis."""
    x = np.arange(4).astype(dtype)
    values = (1 + np.arange(int(np.prod(shape)))).reshape(shape).astype(dtype)
    places = np.array([[0, -1, 2], [3, 0, 0]])

    def like(x, values, places):
        result = x.copy()
        for place, value in zip(places.flat, np.broadcast_to(values, (2, 3)).flat, strict=True):
            result[place] += value
        return result

    agrees(lambda x, v, i: snp.scatter_add(x, v, i, axis=0), x, values, places, like=like)
    graph = symgraph.trace(
        lambda x, v, i: snp.scatter_add(x, v, i, axis=0), x=x, v=values, i=places
    )
    wanted = like(x, values, places)
    assert np.array_equal(graph.lower()(x=x, v=values, i=places), wanted)
    names = {}
    exec(graph.to_python(), names)
    assert np.array_equal(names["function"](np, x=x, v=values, i=places), wanted)


def test_gradient_of_weighted_reads_adds_the_weights_at_every_row_of_places():
    places = np.array([[0, 4, 2], [3, 0, 0]])
    weights = np.array([1.0, 10.0, 100.0])
    graph = symgraph.trace(lambda x: snp.sum(weights * x[places]), x=np.zeros(5))
    found = graph.gradient("x", value=False).simplify().lower()(x=np.zeros(5))
    assert np.array_equal(found, [111.0, 0.0, 100.0, 1.0, 10.0])


def test_one_hot_rows(agrees):
    labels = np.array([[0, 2], [1, -1]])
    agrees(lambda y: snp.one_hot(y, 3, "float32"), labels, like=lambda y: np.eye(3, dtype="f4")[y])
    out = snp.one_hot(input("y", ("n",), "int64"), 3)
    assert Knowledge().of(out.node).has(one_hot(-1))
    assert Knowledge().of(out.node).has(simplex(-1))
    with pytest.raises(IndexError):
        evaluated(out, y=(out.get_inputs()[0], np.array([0, 3])))
    with pytest.raises(DTypeError, match="integers"):
        snp.one_hot(input("y", (3,)), 3)
    with pytest.raises(ShapeError, match="out of range"):
        snp.one_hot([0, 3], 3)


REFUSED = [
    (lambda x: x[3], ShapeError, "out of range"),
    (lambda x: x[:, -5], ShapeError, "out of range"),
    (lambda x: x[np.array([0, 3])], ShapeError, "out of range"),
    (lambda x: x[0, 0, 0], ShapeError, "3 indices"),
    (lambda x: x[..., ...], ShapeError, "ellipsis"),
    (lambda x: x[x > 0], TraceError, "np.where"),
    (lambda x: x[np.array([True, False])], ShapeError, "mask"),
    (lambda x: x[True], TraceError, "np.where"),
    (lambda x: x[0.5], DTypeError, "integer"),
    (lambda x: x[np.array([0.5])], DTypeError, "integers"),
    (lambda x: x[x], DTypeError, "integers"),
    (lambda x: x[::0], ShapeError, "step"),
    (lambda x: np.take(x, [0], axis=0, mode="best"), TraceError, "mode"),
]


@pytest.mark.parametrize(("f", "error", "says"), REFUSED)
def test_bad_indices_are_refused_when_traced(f, error, says):
    x = input("x", (3, 4))
    with pytest.raises(error) as caught:
        f(x)
    assert says in str(caught.value)
    assert "test_indexing.py" in str(caught.value)


def test_equal_slices_are_one_node():
    x = input("x", (3, 4))
    assert x[1:].node is x[1:3].node is x[-2:, :].node is x[1:, ...].node
    assert x[-1].node is x[2].node
    assert x[1:].node is not x[1:2].node


def test_costs_and_facts_of_reads():
    x = input("x", (3, 4), assume=positive)
    assert op_count([x[1:, ::2].node]) == 0
    assert op_count([x[np.array([0, 1])].node]) == 1
    known = Knowledge()
    assert known.of(x[1:, 0].node).has(positive)
    assert known.of(x[[0, 0]].node).has(positive)
    assert not known.of(snp.embed(x, (5, 4), (slice(0, 3),)).node).has(positive)
    assert known.of(snp.embed(x, (5, 4), (slice(0, 3),)).node).has(Fact("nonnegative"))


STENCILS = [
    lambda x: x[2:] - 2 * x[1:-1] + x[:-2],
    lambda x: x[4:] - 8 * x[3:-1] + 8 * x[1:-3] - x[:-4],
    lambda x: np.diff(x, 2) + x[1:][:-1],
    lambda x: x[4:-4] - x[3:-3][1:-1],
    lambda x: x[1:-1:2] + x[2::2],
]


@pytest.mark.parametrize("f", STENCILS)
def test_shifted_slices_of_a_named_axis_are_as_long_as_one_another(f):
    graph = symgraph.trace(f, x="n")
    for size in (12, 9, 5, 3, 2, 1, 0):
        x = np.arange(float(size)) ** 2
        np.testing.assert_array_equal(graph.evaluate(x=x), f(x))
