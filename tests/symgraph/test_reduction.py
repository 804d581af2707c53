"""Reductions are NumPy's: shapes, dtypes, values and refusals; facts of results are true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.cost import flops, op_count
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.facts import Fact, holds_on, interval, positive, simplex
from symgraph.ops.creation import input
from symgraph.propagation import Knowledge

DTYPES = ["bool", "int8", "int32", "uint8", "int64", "float16", "float32", "float64"]
SHAPES = [(), (1,), (3,), (0,), (2, 3), (1, 3), (0, 3), (3, 0), (2, 1, 3), (2, 0, 3), (2, 2, 2, 2)]
REDUCTIONS = [
    np.sum,
    np.prod,
    np.max,
    np.min,
    np.mean,
    np.var,
    np.std,
    np.any,
    np.all,
    np.count_nonzero,
    np.ptp,
]


@st.composite
def operand(draw: st.DrawFn, dtypes: list[str] = DTYPES) -> np.ndarray:
    shape = draw(st.sampled_from(SHAPES))
    dtype = draw(st.sampled_from(dtypes))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x = (rng.integers(-3, 4, size=shape) / (2 if dtype.startswith("float") else 1)).astype(dtype)
    layout = draw(st.sampled_from(["plain", "backward", "transposed"]))
    if layout == "backward":
        x = x[tuple(slice(None, None, -1) for _ in shape)]
    return x.T if layout == "transposed" else x


@st.composite
def reduction_case(draw: st.DrawFn) -> tuple:
    x = draw(operand())
    axes = [None, (), *range(-x.ndim - 1, x.ndim + 1)]
    if x.ndim > 1:
        axes += [(0, -1), tuple(range(x.ndim)), (0, 0)]
    return x, draw(st.sampled_from(axes)), draw(st.booleans())


@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions_are_numpys(agrees, f):
    @settings(max_examples=60, deadline=None)
    @given(reduction_case())
    def check(case):
        x, axis, keepdims = case
        if f in (np.ptp, np.var, np.std) and x.dtype.kind == "b":
            return  # NumPy subtracts no booleans
        agrees(lambda x: f(x, axis=axis, keepdims=keepdims), x)

    check()


@pytest.mark.parametrize("f", [np.argmax, np.argmin], ids=lambda f: f.__name__)
def test_places_of_extrema_are_numpys(agrees, f):
    @settings(max_examples=40, deadline=None)
    @given(operand(), st.sampled_from([None, 0, -1, 1, 5]), st.booleans())
    def check(x, axis, keepdims):
        agrees(lambda x: f(x, axis=axis, keepdims=keepdims), x)

    check()


def test_cumulative_sums_are_numpys(agrees):
    @settings(max_examples=40, deadline=None)
    @given(operand(), st.sampled_from([None, 0, -1, 1, 5]))
    def check(x, axis):
        agrees(lambda x: np.cumsum(x, axis=axis), x)

    check()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x),
        lambda x: np.mean(x, axis=0),
        lambda x: np.mean(x, axis=(0, 1)),
        lambda x: np.var(x, axis=0),
        lambda x: np.var(x, axis=0, ddof=1),
        lambda x: np.std(x, axis=-1, ddof=1),
        lambda x: np.max(x, axis=0, keepdims=True),
        lambda x: np.argmax(x, axis=0),
        lambda x: np.cumsum(x, axis=0),
        lambda x: np.prod(x),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_named_dimensions_are_sized_when_run(agrees, f, size):
    x = np.random.default_rng(size).normal(size=(size, 3)).astype("float32")
    agrees(f, x, dims={size: "n"})


def test_ddof_beyond_the_count_divides_by_zero_as_numpy_does(agrees):
    agrees(lambda x: np.var(x, ddof=2), np.array([1.0, 3.0]))
    agrees(lambda x: np.var(x, ddof=2), np.array([1.0, 3.0]), dims={2: "n"})
