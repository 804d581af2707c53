"""Reductions are NumPy's: shapes, dtypes, values and refusals; facts of results are true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.autodiff.reverse import gradients
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.facts import Fact, holds_on, interval, positive, simplex
from symgraph.ir.cost import flops, op_count
from symgraph.ir.dag import Dag
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.interpreter import evaluate
from symgraph.ops.creation import input

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
    @settings(max_examples=40, deadline=None)
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


@pytest.mark.sampled(one_in=4)
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


def test_the_largest_and_its_place_in_one_pass(agrees):
    x = np.array([[1.0, 5.0, 5.0], [7.0, -1.0, 7.0]])
    agrees(
        lambda x: snp.max_with_index(x, axis=1),
        x,
        like=lambda x: (np.max(x, axis=1), np.argmax(x, axis=1)),
    )


@pytest.mark.parametrize("keyword", [{"out": [0.0]}])
def test_keywords_without_meaning_are_refused_with_advice(keyword):
    x = input("x", (2,))
    with pytest.raises(TraceError) as caught:
        np.sum(x, **keyword)
    assert next(iter(keyword)) in str(caught.value)
    assert "test_reduction.py" in str(caught.value)


def test_dtype_is_that_of_the_sum(agrees):
    x = np.array([100, 100], dtype="int8")
    agrees(lambda x: np.sum(x, dtype="float32"), x)
    agrees(lambda x: np.mean(x, dtype="float32"), x)
    agrees(lambda x: np.cumsum(x, dtype="int16"), x)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool"])
@pytest.mark.parametrize("where", [True, np.array([True, False, True])])
def test_a_mean_of_integers_wraps_around_as_numpys(agrees, dtype, where):
    x = np.array([[-4, 3, 0], [5, 6, 200]], "int32")
    agrees(lambda x: np.mean(x, axis=1, dtype=dtype, where=where), x)


@pytest.mark.parametrize("spread", [np.var, np.std])
def test_a_variance_is_no_integer(spread):
    with pytest.raises(DTypeError, match="dtype=int64 holds no fractions"):
        spread(input("x", (3,)), dtype=int)


@pytest.mark.parametrize("reduce", [np.add, np.multiply, np.maximum, np.minimum])
def test_ufuncs_reduce_along_the_first_axis(agrees, reduce):
    agrees(lambda x: reduce.reduce(x), np.arange(6.0).reshape(2, 3))
    agrees(lambda x: reduce.reduce(x, axis=-1, keepdims=True), np.arange(6.0).reshape(2, 3))


def test_nothing_to_choose_is_refused_when_traced():
    with pytest.raises(ShapeError, match="no element"):
        np.max(input("x", (0, 3)), axis=0)
    assert np.max(input("x", (0, 3)), axis=1).shape == (0,)


def test_what_is_no_axis_is_refused():
    x = input("x", (2, 3))
    with pytest.raises((ShapeError, DTypeError)):
        np.sum(x, axis=1.5)


FACTS = [
    lambda x: np.sum(x, axis=-1),
    lambda x: np.sum(x),
    lambda x: np.prod(x, axis=-1),
    lambda x: np.max(x, axis=0),
    lambda x: np.mean(x, axis=0),
    lambda x: np.cumsum(x, axis=0),
    lambda x: snp.softmax(x, axis=0),
    lambda x: snp.logsumexp(x, axis=0),
    lambda x: snp.log_softmax(x),
    lambda x: np.argmax(x, axis=0),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", FACTS)
@pytest.mark.parametrize("fact", [simplex(-1), positive, interval(-0.5, 0.25)], ids=str)
def test_facts_of_results_are_true(f, fact):
    x = input("x", (4, 3), assume=fact)
    out = f(x)
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.1, 1, size=(4, 3))
    value = {"simplex": weights / weights.sum(-1, keepdims=True), "positive": weights}.get(
        fact.name, weights * 0.75 - 0.5
    )
    result = evaluated(out, x, value)
    for known in Knowledge().of(out.node).facts:
        if known.name == "interval":
            known = interval(known.args[0] - 1e-12, known.args[1] + 1e-12)
        assert holds_on(known, result), known


def evaluated(out: Array, x: Array, value: np.ndarray) -> np.ndarray:
    return evaluate(Dag({"x": x.node}, [out.node]), {"x": value})[0]


def test_what_rules_need_to_know():
    known = Knowledge()
    p = input("p", (4, 3), assume=simplex(-1))
    assert known.of(np.sum(p, axis=-1).node).has(interval(1.0, 1.0))
    assert not known.of(np.sum(p, axis=0).node).has(interval(1.0, 1.0))
    q = snp.softmax(input("z", (4, 3)), axis=0)
    assert known.of(q.node).has(simplex(-2))
    assert not known.of(q.node).has(simplex(-1))
    assert known.of(np.exp(q).node).has(positive)
    assert not known.of(np.sum(np.exp(input("e", ("n",)))).node).has(positive)
    assert known.of(np.sum(np.exp(input("e", ("n",)))).node).has(Fact("nonnegative"))


def test_costs_follow_the_convention():
    x = input("x", (4, "n"))
    assert op_count([np.mean(x, axis=0).node]) == 2
    assert op_count([snp.softmax(x).node]) == 5
    assert op_count([snp.log_softmax(x).node]) == 6
    assert op_count([snp.logsumexp(x).node]) == 6
    assert flops([np.sum(input("y", (4, 5)), axis=0).node]) == 20
    assert str(flops([np.sum(x).node])) == "4*n"


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_softmax_family_is_stable(agrees, axis):
    for scale in (1.0, 1e4):
        x = np.random.default_rng(0).normal(size=(3, 4)) * scale
        agrees(lambda x: snp.softmax(x, axis), x, like=lambda x: special.softmax(x, axis))
        agrees(lambda x: snp.log_softmax(x, axis), x, like=lambda x: special.log_softmax(x, axis))
        agrees(
            lambda x: snp.logsumexp(x, axis, keepdims=True),
            x,
            like=lambda x: special.logsumexp(x, axis, keepdims=True),
        )


def test_logsumexp_of_nothing_and_of_infinities(agrees):
    def like(x):
        with np.errstate(divide="ignore"):
            return np.log(np.sum(np.exp(x), axis=-1))

    agrees(lambda x: snp.logsumexp(x, axis=-1), np.zeros((2, 0)), like=like)
    rows = np.array([[-np.inf, -np.inf], [np.inf, 1.0], [-np.inf, 2.0], [np.nan, 0.0]])
    agrees(lambda x: snp.logsumexp(x, axis=-1), rows, like=like)


def test_the_gradient_of_logsumexp_is_softmax_and_zero_at_minus_infinity():
    x = input("x", (2, 2))
    (grad,) = gradients(np.sum(snp.logsumexp(x, axis=1)), [x])
    value = evaluated(grad, x, np.array([[-np.inf, -np.inf], [0.0, 0.0]]))
    np.testing.assert_array_equal(value, [[0.0, 0.0], [0.5, 0.5]])


def test_ties_split_the_gradient():
    x = input("x", (4,))
    (grad,) = gradients(np.max(x), [x])
    tied = np.array([2.0, 1.0, 2.0, 0.0])
    np.testing.assert_array_equal(evaluated(grad, x, tied), [0.5, 0, 0.5, 0])
    (grad,) = gradients(snp.max_with_index(x)[0], [x])
    np.testing.assert_array_equal(evaluated(grad, x, tied), [1, 0, 0, 0])


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64"])
@pytest.mark.parametrize(("spec", "shape"), [("n", (0,)), ("n, 3", (0, 3)), ("3, n", (3, 0))])
@pytest.mark.parametrize(("reduce", "initial"), [(np.max, 0), (np.min, 1), (np.nanmax, 0)])
def test_a_named_size_of_0_leaves_the_initial_value(
    reduce: Any, initial: int, spec: str, shape: tuple[int, ...], dtype: str
) -> None:
    for axis in (None, 0, -1):
        graph = sg.trace(
            lambda x, axis=axis: reduce(x, axis=axis, initial=initial), x=sg.spec(spec, dtype)
        )
        for size in (0, 2):
            x = np.ones(tuple(each or size for each in shape), dtype)
            wanted = reduce(x, axis=axis, initial=initial)
            for each in (graph, graph.simplify()):
                found = each.evaluate(x=x)
                np.testing.assert_array_equal(found, wanted)
                assert found.dtype == wanted.dtype


def test_a_named_size_of_0_has_a_gradient_of_its_size() -> None:
    graph = sg.trace(lambda x: np.max(x, initial=0.0), x=sg.spec("n")).gradient("x", value=False)
    assert graph.evaluate(x=np.zeros(0)).shape == (0,)
    np.testing.assert_array_equal(graph.evaluate(x=np.array([-1.0, 2.0])), [0, 1])
    np.testing.assert_array_equal(graph.evaluate(x=np.array([-1.0, -2.0])), [0, 0])
