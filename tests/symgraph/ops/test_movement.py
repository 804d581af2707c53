"""Movement is NumPy's: shapes, values and refusals, of fixed and of named dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph as sg
from symgraph.errors import ShapeError, TraceError
from symgraph.facts import Fact, diagonal, one_hot, positive, simplex, symmetric, triangular
from symgraph.ir.cost import op_count
from symgraph.ir.dims import named
from symgraph.ir.fact_inference import Knowledge
from symgraph.ops.creation import eye, input

SHAPES = [(), (1,), (4,), (0,), (2, 3), (1, 4), (3, 1), (0, 3), (2, 3, 4), (2, 1, 3), (1, 1, 1)]


def filled(shape: tuple, layout: str = "plain") -> np.ndarray:
    x = np.arange(int(np.prod(shape)), dtype="float64").reshape(shape)
    return x[tuple(slice(None, None, -1) for _ in shape)] if layout == "backward" else x


arrays = st.builds(filled, st.sampled_from(SHAPES), st.sampled_from(["plain", "backward"]))
axis = st.integers(-4, 3)
axes = st.one_of(axis, st.tuples(axis), st.tuples(axis, axis))
CASES = {
    "reshape": (np.reshape, st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6, 12]), max_size=3)),
    "expand_dims": (np.expand_dims, axes),
    "squeeze": (lambda x, axis: np.squeeze(x, axis=axis), st.one_of(st.none(), axes)),
    "transpose": (np.transpose, st.one_of(st.none(), st.lists(axis, max_size=3))),
    "swapaxes": (lambda x, pair: np.swapaxes(x, *pair), st.tuples(axis, axis)),
    "moveaxis": (lambda x, pair: np.moveaxis(x, *pair), st.tuples(axes, axes)),
    "broadcast_to": (
        lambda x, shape: np.broadcast_to(x, tuple(shape)),
        st.lists(st.sampled_from([0, 1, 2, 3, 4]), max_size=4),
    ),
    "ravel": (lambda x, _: np.ravel(x), st.none()),
    "matrix_transpose": (lambda x, _: np.matrix_transpose(x), st.none()),
    "flip": (np.flip, st.one_of(st.none(), axes)),
    "roll": (lambda x, pair: np.roll(x, *pair), st.tuples(axis, st.one_of(st.none(), axis))),
    "tile": (np.tile, st.one_of(st.integers(0, 3), st.lists(st.integers(0, 2), max_size=4))),
    "repeat": (
        lambda x, pair: np.repeat(x, *pair),
        st.tuples(st.integers(0, 3), st.one_of(st.none(), axis)),
    ),
    "atleast_1d": (lambda x, _: np.atleast_1d(x), st.none()),
    "atleast_2d": (lambda x, _: np.atleast_2d(x), st.none()),
}


@pytest.mark.parametrize("name", CASES)
def test_movement_is_numpys(agrees, name):
    f, arguments = CASES[name]

    @settings(max_examples=30, deadline=None)
    @given(arrays, arguments)
    def check(x, argument):
        agrees(lambda x: f(x, argument), x)

    check()


@pytest.mark.parametrize("f", [np.concatenate, np.stack], ids=lambda f: f.__name__)
def test_joining_is_numpys(agrees, f):
    @settings(max_examples=30, deadline=None)
    @given(arrays, arrays, st.one_of(axis, st.none()))
    def check(x, y, axis):
        agrees(lambda x, y: f([x, y, x], axis=axis), x, y)
        agrees(lambda x: f([x, np.ones((2, 3), dtype="float32"), x], axis=axis), x)

    check()


@pytest.mark.parametrize("f", [np.hstack, np.vstack], ids=lambda f: f.__name__)
def test_rows_and_columns_join(agrees, f):
    for shape in [(), (3,), (2, 3), (2, 3, 1)]:
        agrees(lambda x: f([x, x * 2]), filled(shape))


def test_joined_arrays_are_promoted(agrees):
    x, y = np.arange(3, dtype="int8"), np.arange(3, dtype="float32")
    agrees(lambda x, y: np.concatenate([x, y]), x, y)
    agrees(lambda x, y: np.stack([y, x]), x, y)


@pytest.mark.parametrize("sections", [1, 2, 3, [1, 3], [2], [0, 5, 9]])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_split_is_numpys(agrees, sections, axis):
    agrees(lambda x: np.split(x, sections, axis), filled((4, 6)))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.reshape(x, (-1,)),
        lambda x: np.reshape(x, (3, -1, 2)),
        lambda x: np.reshape(x, (x.shape[0], 2, -1)),
        lambda x: np.reshape(x, (x.shape[0] * 2, 3)),
        lambda x: x.T,
        lambda x: np.expand_dims(x, 1),
        lambda x: np.broadcast_to(x[:, :1], x.shape),
        lambda x: np.concatenate([x, x, x[:, ::-1]], axis=0),
        lambda x: np.stack([x, x], axis=1),
        lambda x: np.tile(x, (2, 3)),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.flip(x),
        lambda x: np.split(np.concatenate([x, x]), [x.shape[0]])[1],
        lambda x: np.moveaxis(x[None], 1, 0),
    ],
)
def test_named_dimensions_move(agrees, f, n):
    agrees(f, np.random.default_rng(n).normal(size=(n, 6)), dims={n: "n"})


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.moveaxis(x, range(2), range(1, 3)),
        lambda x: np.transpose(x, range(3)[::-1]),
        lambda x: np.tensordot(x, x, axes=(range(2), range(2))),
    ],
)
def test_axes_may_be_a_range(agrees, f):
    agrees(f, np.random.default_rng(0).normal(size=(2, 3, 4)))


def test_shapes_of_named_dimensions_are_formulas():
    n = named("n")
    x = input("x", (n, 6))
    assert np.reshape(x, (-1,)).shape == (6 * n,)
    assert np.reshape(x, (n, 2, -1)).shape == (n, 2, 3)
    assert np.concatenate([x, x, x]).shape == (3 * n, 6)
    with pytest.raises(ShapeError, match="do not divide"):
        np.reshape(x, (-1, 4))
    with pytest.raises(ShapeError, match="do not fill"):
        np.reshape(x, (n, 7))
    with pytest.raises(ShapeError, match="does not broadcast"):
        np.broadcast_to(x, (5, 6))


def test_what_cannot_be_traced_is_refused_with_advice():
    x = input("x", (2, 3))
    with pytest.raises(TraceError, match="order"):
        np.reshape(x, (3, 2), order="Q")
    with pytest.raises(TraceError, match="repeats"):
        np.repeat(x, input("i", (2,), "int64"), axis=0)


def test_an_error_names_operands_and_the_line():
    x = input("x", (2, 3))
    with pytest.raises(ShapeError) as caught:
        np.reshape(x, (4, 2))
    message = str(caught.value)
    assert "float64[2, 3]" in message
    assert "test_movement.py" in message
    assert "np.reshape(x, (4, 2))" in message


def test_movement_is_free():
    x = input("x", (2, 3))
    moved = np.concatenate([np.broadcast_to(x.T.reshape(2, 3)[None], (4, 2, 3)), x[None]])
    assert op_count([moved.node]) == 0


def test_facts_move_with_the_elements():
    known = Knowledge()
    p = input("p", (4, 3), assume=[simplex(-1), positive])
    assert known.of(p.T.node).has(simplex(-2))
    assert not known.of(p.T.node).has(simplex(-1))
    assert known.of(np.reshape(p, (2, 2, 3)).node).has(simplex(-1))
    assert not known.of(np.reshape(p, (3, 4)).node).has(simplex(-1))
    assert known.of(np.reshape(p, (3, 4)).node).has(positive)
    assert known.of(np.broadcast_to(p, (2, 4, 3)).node).has(simplex(-1))
    assert known.of(np.concatenate([p, p]).node).has(positive)
    assert not known.of(np.concatenate([p, input("q", (1, 3))]).node).has(positive)
    a = input("a", (3, 3), assume=[symmetric])
    assert known.of(a.T.node).has(symmetric)
    lower = input("l", (3, 3), assume=[triangular("lower")])
    assert known.of(lower.T.node).has(triangular("upper"))
    assert not known.of(lower.T.node).has(triangular("lower"))
    assert known.of(eye(3).node).has(diagonal)
    assert known.of(eye(4).node).has(one_hot(-1))
    assert known.of(eye(3, 4).node).has(Fact("nonnegative"))
    assert not known.of(eye(3, 4).node).has(diagonal)


# -- as elements lie in memory ---------------------------------------------------------------------
TURNED: dict[str, Callable[[Any], Any]] = {
    "as given": lambda x: x,
    "transposed": lambda x: x.T,
    "two axes exchanged": lambda x: np.swapaxes(x, 0, 1),
    "of a transpose": lambda x: x.T + 1,
    "backwards": lambda x: x[::-1],
    "a part": lambda x: x[:, 1:],
    "copied": lambda x: x.copy(),
    "a copied transpose": lambda x: x.T.copy(),
    "copied by columns": lambda x: x.copy("F"),
    "copied as it lies": lambda x: np.copy(x.T),
    "a row": lambda x: x[1],
    "a column": lambda x: x.T[1, ::-1],
}
READ: dict[str, Callable[[Any, Any], Any]] = {
    "np.ravel": lambda x, order: np.ravel(x, order=order),
    "ravel": lambda x, order: x.ravel(order),
    "flatten": lambda x, order: x.flatten(order),
    "reshape": lambda x, order: np.reshape(x, (-1,), order=order),
    "to a matrix": lambda x, order: x.reshape((-1, 2), order=order),
}


ORDERS = [
    (read, order)
    for read in READ
    for order in ("CFA" if read in ("reshape", "to a matrix") else "CFAK")
]
"""NumPy does not reshape in the order "K"."""


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize(("read", "order"), ORDERS)
@pytest.mark.parametrize("turned", TURNED)
def test_elements_are_read_as_numpy_reads_them_or_not_at_all(
    turned: str, read: str, order: str
) -> None:
    lies_known = turned in ("copied", "a copied transpose", "a row", "a column")

    def f(x: Any) -> Any:
        return READ[read](TURNED[turned](x), order)

    for layout in ("C", "F"):
        x = np.asarray(np.arange(24.0).reshape(4, 6), order=layout)
        if order in ("C", "F") or lies_known:
            found = sg.trace(f, x=sg.spec((4, 6))).evaluate(x=x)
            np.testing.assert_array_equal(found, f(x))
        else:
            with pytest.raises(TraceError, match=rf"(?s)order='{order}'.*memory.*x\.copy\(\)"):
                sg.trace(f, x=sg.spec((4, 6)))


def test_numpy_reshapes_in_no_order_as_it_lies() -> None:
    with pytest.raises(TraceError, match="order='K' is none"):
        sg.trace(lambda x: x.reshape((6,), order="K"), x=sg.spec((2, 3)))
