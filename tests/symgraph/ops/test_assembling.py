"""Padding, cutting, joining, turning and writing at an index are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import DTypeError, ShapeError, SymgraphError, TraceError
from symgraph.facts import Fact
from symgraph.ir.fact_inference import Knowledge

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4))
ROW = np.array([3.0, 1.0, 2.0])

# -- padding ---------------------------------------------------------------------------------------
PADS = [
    lambda x: np.pad(x, 2),
    lambda x: np.pad(x, (1, 0)),
    lambda x: np.pad(x, ((0, 2), (1, 0))),
    lambda x: np.pad(x, ((0, 2), (1, 0)), constant_values=((1, 2), (3, 4))),
    lambda x: np.pad(x, 1, constant_values=7),
    lambda x: np.pad(x, 0),
    *[
        lambda x, mode=mode, width=width: np.pad(x, width, mode=mode)
        for mode in ("edge", "reflect", "symmetric", "wrap")
        for width in (1, ((0, 2), (1, 0)), ((7, 9), (10, 8)))
    ],
]
MORE_PADS = [
    lambda x: np.pad(x, ((1, 5), (2, 2)), "reflect", reflect_type="odd"),
    lambda x: np.pad(x, 2, "symmetric", reflect_type="odd"),
    lambda x: np.pad(x, ((1, 2), (0, 3)), "linear_ramp", end_values=((1, 2), (0, -1))),
    lambda x: np.pad(x, ((1, 2), (0, 3)), "maximum"),
    lambda x: np.pad(x, 1, "minimum", stat_length=2),
    lambda x: np.pad(x, 1, "mean", stat_length=((1, 2), (3, 3))),
    lambda x: np.pad(x, 1, "median"),
    lambda x: np.pad(x, {-1: (1, 2)}),
]


@pytest.mark.parametrize("f", [*PADS, *MORE_PADS])
def test_padding_is_numpys(agrees, f):
    agrees(f, X)
    agrees(f, X[:1])


@pytest.mark.parametrize("f", PADS)
def test_padding_of_named_dimensions(agrees, f):
    agrees(f, X, dims={3: "n", 4: "m"})
    agrees(f, X[:1], dims={1: "n", 4: "m"})
    agrees(f, (X * 5).astype(int), dims={3: "n"})


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.pad(x, -1),
        lambda x: np.pad(x, ((1, 2), (1, 2), (1, 2))),
        lambda x: np.pad(x, 1, "mirror"),
        lambda x: np.pad(x, 1, "edge", constant_values=1),
        lambda x: np.pad(x[:0], 1, "edge"),
        lambda x: np.pad(x, 1.5),
    ],
)
def test_padding_that_numpy_refuses(agrees, f):
    agrees(f, X)


def test_the_constant_may_be_symbolic(agrees):
    agrees(
        lambda x, c: np.pad(x, (1, 2), constant_values=c),
        X,
        np.array(2.5),
        like=lambda x, c: np.pad(x, (1, 2), constant_values=2.5),
    )
    with pytest.raises(TraceError, match="cannot be traced"):
        np.pad(sg.input("x", (2,)), 1, lambda *_: None)
    with pytest.raises(DTypeError, match="rounds"):
        np.pad(sg.input("x", (2,), "int64"), 1, "mean")


# -- cutting, joining, turning ---------------------------------------------------------------------
PLACES = [
    lambda x: np.array_split(x, 3, axis=1),
    lambda x: np.array_split(x, [1, 1, 7]),
    lambda x: np.array_split(x, 5),
    lambda x: np.split(x, [1], axis=1),
    lambda x: np.split(x, 2, axis=1),
    lambda x: np.split(x, 2),
    lambda x: np.hsplit(x, 2),
    lambda x: np.hsplit(x[0], [1]),
    lambda x: np.vsplit(x, 3),
    lambda x: np.vsplit(x[0], 2),
    lambda x: np.dsplit(x[..., None], 1),
    lambda x: np.unstack(x),
    lambda x: np.unstack(x, axis=-1),
    lambda x: np.block([[x, x * 2], [x[:1], x[-1:]]]),
    lambda x: np.block([x[0], 1.0]),
    lambda x: np.block(x),
    lambda x: np.block([[[x]], [[x + 1]]]),
    lambda x: np.block([x, [x]]),
    lambda x: np.meshgrid(x[0], x[:, 1]),
    lambda x: np.meshgrid(x[0], x[:, 1], indexing="ij"),
    lambda x: np.meshgrid(x[0], x[:, 1], x[:2], sparse=True),
    lambda x: np.meshgrid(x[0], 2.0, [1, 2]),
    lambda x: np.meshgrid(x),
    lambda x: np.broadcast_arrays(x, x[0], 1.0),
    lambda x: np.broadcast_arrays(x, x[:, :2]),
    lambda x: np.dstack([x, x]),
    lambda x: np.dstack([x[0], x[1]]),
    lambda x: np.column_stack([x[0], x[1]]),
    lambda x: np.column_stack([x, x[:, 0]]),
    lambda x: np.append(x, [1.0, 2.0]),
    lambda x: np.append(x, x[:1], axis=0),
    lambda x: np.append(x, x[0], axis=0),
    lambda x: np.atleast_3d(x[0, 0]),
    lambda x: np.atleast_3d(x[0]),
    lambda x: np.atleast_3d(x),
    lambda x: np.atleast_1d(x, x[0, 0]),
    lambda x: np.atleast_2d(x[0], 1.0),
    *[lambda x, k=k: np.rot90(x, k) for k in range(-1, 4)],
    lambda x: np.rot90(x[None], axes=(2, 0)),
    lambda x: np.rot90(x[None], -1, axes=(1, 2)),
    lambda x: np.rot90(x, axes=(0, 0)),
    lambda x: np.flipud(x),
    lambda x: np.fliplr(x),
    lambda x: np.roll(x, (1, 2), axis=(0, 1)),
    lambda x: np.roll(x, 1, axis=(0, 1)),
    lambda x: np.roll(x, (1, 2), axis=0),
    lambda x: np.roll(x, -9),
    lambda x: np.roll(x, 1, axis=()),
    lambda x: np.resize(x, (2, 3)),
    lambda x: np.resize(x, 17),
    lambda x: np.resize(x[:0], 2),
    lambda x: np.rollaxis(x[None], 2),
    lambda x: np.rollaxis(x[None], 0, 3),
    lambda x: np.rollaxis(x[None], 2, -1),
    lambda x: np.rollaxis(x, 0, 5),
    lambda x: np.copy(x),
    lambda x: np.repeat(x, [2, 0, 1], axis=0),
    lambda x: np.repeat(x, [3], axis=1),
    lambda x: np.repeat(x, [2, 0], axis=0),
    lambda x: np.repeat(x, -1),
    lambda x: np.ravel(x, order="F"),
    lambda x: np.reshape(x, (2, -1), order="F"),
    lambda x: np.reshape(x, (2, 3, 2), order="F"),
    lambda x: np.reshape(x, (2, 6), order="Q"),
    lambda x: np.diagflat(x[:1], 1),
    lambda x: np.tril(x),
    lambda x: np.tril(x[None], 1),
    lambda x: np.triu(x, -1),
    lambda x: np.triu(x[0]),
    lambda x: x[np.tril_indices_from(x)],
    lambda x: x[np.triu_indices_from(x, 1)],
    lambda x: np.delete(x, 1),
    lambda x: np.delete(x, 1, axis=0),
    lambda x: np.delete(x, [0, -1], axis=1),
    lambda x: np.delete(x, slice(None, None, 2), axis=1),
    lambda x: np.delete(x, [True, False, True, False], axis=1),
    lambda x: np.delete(x, 7, axis=0),
    lambda x: np.insert(x, 1, 9.0),
    lambda x: np.insert(x, 1, 9.0, axis=1),
    lambda x: np.insert(x, [1], [[1.0], [2.0], [3.0]], axis=1),
    lambda x: np.insert(x, 1, [1.0, 2.0, 3.0], axis=1),
    lambda x: np.insert(x, [3, 0, 0], [1.0, 2.0, 3.0], axis=1),
    lambda x: np.insert(x, slice(1, 3), [1.0, 2.0], axis=1),
    lambda x: np.insert(x, [-1, 2], x[:, :2], axis=1),
    lambda x: np.insert(x[0], [2, 2], [5, 6]),
    lambda x: np.insert(x, 1, x[0], axis=0),
    lambda x: np.insert(x, 9, 1.0, axis=0),
    lambda x: np.insert(x, [1, 9], 1.0, axis=0),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", PLACES)
def test_moving_elements_is_numpys(agrees, f):
    agrees(f, X)


def test_moving_elements_of_named_dimensions(agrees):
    done = 0
    for f in PLACES:
        try:
            f(sg.input("x", ("n", 4)))
        except SymgraphError:
            continue  # What needs a number of rows.
        agrees(f, X, dims={3: "n"})
        done += 1
    assert done > 45


def test_rolling_further_than_there_are_rows(agrees):
    for shift in (-7, -3, 1, 3, 8):
        agrees(lambda x, s=shift: np.roll(x, s, axis=0), X, dims={3: "n"})
    agrees(lambda x: np.roll(x, 2, axis=0), X[:0], dims={0: "n"})


def test_what_is_asked_without_numbers():
    x = sg.input("x", ("n", 4), "float32")
    assert np.shape(x) == x.shape
    assert np.ndim(x) == 2
    assert np.size(x) == x.size
    assert np.size(x, 1) == 4
    assert np.result_type(x, np.float64) == "float64"
    assert np.result_type(x, 1.0) == "float32"
    assert np.can_cast(x, np.dtype("float64"))


def test_triangles_are_known_to_be_triangular():
    x = sg.input("x", (3, 3), assume=(sg.nonnegative,))
    know = Knowledge()
    assert know.holds(np.tril(x).node, Fact("triangular", ("lower",)))
    assert know.holds(np.triu(x, 1).node, Fact("triangular", ("upper",)))
    assert not know.holds(np.tril(x, 1).node, Fact("triangular", ("lower",)))
    assert know.holds(np.triu(np.tril(x)).node, Fact("diagonal"))
    assert know.holds(np.tril(x).node, sg.nonnegative)


def test_made_of_nothing(agrees):
    agrees(lambda x: x * snp.tri(3, 4, 1), X, like=lambda x: x * np.tri(3, 4, 1))
    rows, columns = snp.tril_indices(3, -1, 4)
    np.testing.assert_array_equal((rows, columns), np.tril_indices(3, -1, 4))
    np.testing.assert_array_equal(snp.triu_indices(3), np.triu_indices(3))


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.linspace(a, b, 5),
        lambda a, b: np.linspace(a, b, 4, endpoint=False, axis=-1),
        lambda a, b: np.linspace(a, b, 3, retstep=True),
        lambda a, b: np.linspace(a, b, 1),
        lambda a, b: np.linspace(a, 2, 0),
        lambda a, b: np.linspace(0, b, 5, dtype=int),
        lambda a, b: np.linspace(a, b, -1),
        lambda a, b: np.logspace(a, b, 4),
        lambda a, b: np.logspace(a, 1.0, 4, base=2.0),
        lambda a, b: np.geomspace(a, 4.0, 5),
        lambda a, b: np.zeros_like(np.empty_like(a)),
        lambda a, b: np.isposinf(a / 0),
        lambda a, b: np.isneginf(a / 0),
    ],
)
def test_evenly_spaced_numbers_are_numpys(agrees, f):
    a, b = np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0, 0.5])
    agrees(f, a, b)
    agrees(f, a.astype("float32"), b.astype("float32"))
    agrees(f, np.array(1.5), np.array(4.0))
    agrees(f, a, b, dims={3: "n"})


@pytest.mark.parametrize(
    "f",
    [
        lambda i: np.unravel_index(i, (3, 4)),
        lambda i: np.unravel_index(i, (3, 2, 2), order="F"),
        lambda i: np.unravel_index(i, 12),
        lambda i: np.ravel_multi_index((i % 3, i % 4), (3, 4)),
        lambda i: np.ravel_multi_index((i, i), (3, 4), mode="wrap"),
        lambda i: np.ravel_multi_index((i, i), (3, 4), mode="clip", order="F"),
        lambda i: np.ix_(i, i[:2]),
        lambda i: X[np.ix_([0, 2], [1, 3])] * i[0],
        lambda i: np.ix_(i[None]),
    ],
)
def test_index_arithmetic_is_numpys(agrees, f):
    agrees(f, np.array([0, 5, 11, 7]))


def test_diagonal_indices():
    for got, want in zip(
        np.diag_indices_from(sg.input("x", (3, 3))), np.diag_indices(3), strict=True
    ):
        np.testing.assert_array_equal(got, want)
    with pytest.raises(ShapeError, match="equal numbers"):
        np.diag_indices_from(sg.input("x", (3, 4)))


# -- equality --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.isclose(a, b),
        lambda a, b: np.isclose(a, b, rtol=0.1, atol=0.0, equal_nan=True),
        lambda a, b: np.allclose(a, b),
        lambda a, b: np.allclose(a, a, equal_nan=True),
        lambda a, b: np.array_equal(a, b),
        lambda a, b: np.array_equal(a, a),
        lambda a, b: np.array_equal(a, a, equal_nan=True),
        lambda a, b: np.array_equal(a, b[:2]),
        lambda a, b: np.array_equiv(a, a[:1]),
        lambda a, b: np.isclose(a, 1),
    ],
)
def test_equality_is_numpys(agrees, f):
    a = np.array([1.0, np.nan, np.inf, -np.inf, 0.0, 1e-9])
    b = np.array([1.0 + 1e-6, np.nan, np.inf, np.inf, 1e-9, 0.0])
    agrees(f, a, b)
    agrees(f, np.array([1, 2, 3, 4, 5, 6]), np.array([1, 2, 3, 4, 5, 7]))


# -- writing at an index ---------------------------------------------------------------------------
INDICES = [
    1,
    (slice(None), 2),
    (slice(1, None), None, slice(None, None, -2)),
    Ellipsis,
    np.array([2, 0]),
    np.array([2, 0, 2, 2]),
    (np.array([2, 0, 2, 2]), np.array([1, 1, 1, 0])),
    (np.array([2, 0, 2]), slice(None, 2)),
    (slice(None), np.array([[0, -1], [3, 0]])),
    (0, np.array([1, 1, -3])),
    X > 0,
    (slice(None), np.array([True, False, False, True])),
    np.array([], dtype=int),
    [0, 1],
]


def numpy_update(x, index, values):
    found = np.array(x)
    found[index] = values
    return found


def numpy_add(x, index, values):
    found = np.array(x)
    np.add.at(found, index, values)
    return found


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_is_numpys(agrees, index):
    def update(x, v):
        return snp.index_update(x, index, v)

    def add(x, v):
        return snp.index_add(x, index, v)

    full = RNG.normal(size=X[index].shape)
    for values in (np.array(5.0), full, full[..., :1], full[:1] if full.ndim else full):
        agrees(update, X, values, like=lambda x, v: numpy_update(x, index, v))
        agrees(add, X, values, like=lambda x, v: numpy_add(x, index, v))
    if not (isinstance(index, np.ndarray) and index.dtype == bool):
        start = np.zeros((5, 4))
        dims = {} if 4 in full.shape else {5: "n"}  # where the slots are as many for every n
        if index is INDICES[2]:
            dims = {4: "n"}
        agrees(update, start, full, like=lambda x, v: numpy_update(x, index, v), dims=dims)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_of_values_that_share_a_place_the_last_stays(backend):
    if backend == "jax":
        pytest.importorskip("jax")
    index = np.array([2, 0, 2, 0, -1])
    v, w = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 10.0, 100.0, 1000.0])
    x = np.arange(4.0)

    def constant(x, v):
        return np.sum(w * snp.index_update(x, index, v))

    def computed(x, v, i):
        return np.sum(w * snp.index_update(x, i, v))

    specs = {"x": sg.spec((4,)), "v": sg.spec((5,))}
    one = sg.trace(constant, **specs).gradient("x", "v").simplify().lower(backend)
    other = sg.trace(computed, **specs, i=sg.spec((5,), "int64")).gradient("x", "v").simplify()
    want = np.sum(w * numpy_update(x, index, v))
    for value, (of_x, of_v) in (one(x=x, v=v), other.lower(backend)(x=x, v=v, i=index)):
        assert value == want
        np.testing.assert_array_equal(of_x, [0, 10, 0, 0])
        np.testing.assert_array_equal(of_v, [0, 0, 100, 1, 1000])


def test_symbolic_masks_and_indices(agrees):
    mask = X > 0
    agrees(
        lambda x, m: snp.index_update(x, m, 7.0), X, mask, like=lambda x, m: numpy_update(x, m, 7.0)
    )
    agrees(lambda x, m: snp.index_add(x, m, 7.0), X, mask, like=lambda x, m: numpy_add(x, m, 7.0))
    rows = mask[:, 0]
    agrees(
        lambda x, m: snp.index_update(x, m, np.arange(4.0)),
        X,
        rows,
        like=lambda x, m: numpy_update(x, m, np.arange(4.0)),
    )
    i, j = np.array([0, -1, 0]), np.array([1, 2, 1])
    v = np.array([1.0, 2.0, 3.0])
    for dims in ({}, {4: "m"}):
        agrees(
            lambda x, i, v: snp.index_update(x, (i, j), v),
            X, i, v, like=lambda x, i, v: numpy_update(x, (i, j), v), dims=dims,
        )  # fmt: skip
        agrees(
            lambda x, i, v: snp.index_add(x, (slice(None), i), v[:, None]),
            X, i, v, like=lambda x, i, v: numpy_add(x, (slice(None), i), v[:, None]), dims=dims,
        )  # fmt: skip
    x, m = sg.input("x", (3, 4)), sg.input("m", (3, 4), "bool")
    with pytest.raises(TraceError, match="where"):
        snp.index_update(x, m, v)
    with pytest.raises(TraceError, match="where"):
        snp.index_update(x, (m[0], 1), 0.0)
    with pytest.raises(TraceError, match="where"):
        x[m]
    with pytest.raises(ShapeError, match="mask"):
        snp.index_update(x, m[:, :2], 0.0)
    with pytest.raises(DTypeError, match="do not go into"):
        snp.index_update(sg.input("i", (3,), "int64"), 0, 1.5)
    with pytest.raises(ShapeError, match="out of range"):
        snp.index_add(x, np.array([3]), 1.0)
    with pytest.raises(ShapeError, match="does not broadcast"):
        snp.index_add(x, np.array([0, 1]), np.ones(3))


def put(x, index, values, axis):
    found = np.array(x)
    np.put_along_axis(found, index, values, axis)
    return found


def test_put_along_axis(agrees):
    index = np.argsort(X, axis=1)[:, :2]
    values = RNG.normal(size=(3, 2))
    for axis, idx, v in ((1, index, values), (0, np.array([[0, 2, -1, 1]]), np.array(4.0))):
        agrees(
            lambda x, i, v, a=axis: snp.put_along_axis(x, i, v, a),
            X, idx, v, like=lambda x, i, v, a=axis: put(x, i, v, a),
        )  # fmt: skip
        agrees(
            lambda x, v, i=idx, a=axis: snp.put_along_axis(x, i, v, a),
            X, v, like=lambda x, v, i=idx, a=axis: put(x, i, v, a),
        )  # fmt: skip
    flat = np.array([3, 3, 0])
    agrees(
        lambda x: snp.put_along_axis(x, flat, ROW, None), X, like=lambda x: put(x, flat, ROW, None)
    )


def filled(x, value, wrap=False):
    found = np.array(x)
    np.fill_diagonal(found, value, wrap=wrap)
    return found


def test_fill_diagonal(agrees):
    for shape in ((3, 3), (3, 4), (7, 3), (2, 2, 2)):
        x = RNG.normal(size=shape)
        for value in (0.0, ROW[:2], ROW):
            for wrap in (False, True):
                agrees(
                    lambda x, v=value, w=wrap: snp.fill_diagonal(x, v, w),
                    x,
                    like=lambda x, v=value, w=wrap: filled(x, v, w),
                )
    x = RNG.normal(size=(3, 3))
    agrees(lambda x: snp.fill_diagonal(x, 5), x, like=lambda x: filled(x, 5), dims={3: "n"})


WHOLE = [
    lambda i, j: i,
    lambda i, j: (i, ...),
    lambda i, j: (i, j),
    lambda i, j: (slice(None), j),
    lambda i, j: (..., j, slice(None)),
    lambda i, j: (..., i % 2),
    lambda i, j: (slice(None), j, i % 2),
]
MIXED = [
    lambda i, j: (slice(1, None), j),
    lambda i, j: (i, slice(None), j % 2),
    lambda i, j: (i, None, j),
    lambda i, j: (1, j),
    lambda i, j: (i, slice(None, None, -1)),
]


@pytest.mark.parametrize("of", [*WHOLE, *MIXED])
def test_adding_at_places_that_are_computed(agrees, of):
    """Rows, columns and elements are added where they stand, not in the raveled array."""
    x, rng = np.arange(24.0).reshape(4, 3, 2), np.random.default_rng(1)
    for shape in ((5,), (5, 1)):
        i, j = rng.integers(-4, 4, shape), rng.integers(-3, 3, shape)
        full = rng.normal(size=x[of(i, j)].shape)
        for values in (np.array(2.5), full, full[..., :1]):

            def add(x, v, i, j):
                return snp.index_add(x, of(i, j), v)

            agrees(add, x, values, i, j, like=lambda x, v, i, j: numpy_add(x, of(i, j), v))


def test_messages_along_edges_are_added_as_in_the_book():
    def energy(h, source, target):
        received = np.zeros_like(h)
        np.add.at(received, target, h[source])
        return np.sum(received**2)

    edges = sg.spec("e", "int64")
    joint = sg.trace(energy, h=(6, 5), source=edges, target=edges).gradient("h")
    assert str(joint.simplify().formula()) == (
        "out = sum(t2**2); grad_h = scatter_add(t1, (2 * t2)[target], source, axis=-2) "
        "where t1 = zeros((6, 5)), t2 = scatter_add(t1, h[source], target, axis=-2)"
    )


def test_a_slice_of_a_named_dimension_may_be_shorter_than_the_values():
    def f(x):
        y = x.copy()
        y[1:3] = np.array([[1.0], [2.0]])
        return y

    with pytest.raises(ShapeError, match=r"(?s)do not fit the slice .*A named dimension may be"):
        sg.trace(f, x="n, 4")
    assert sg.trace(f, x="6, 4").evaluate(x=np.zeros((6, 4)))[2, 0] == 2
