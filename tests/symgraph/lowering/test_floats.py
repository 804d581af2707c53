"""Programs on Python's floats: the numbers, infinities, NaNs and signs of NumPy."""

from __future__ import annotations

import itertools
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.lowered import Lowered
from symgraph.ir.interpreter import evaluate
from symgraph.lowering import floats

UFUNCS = [*floats._ARITHMETIC, *floats._COMPARISONS, *floats._FUNCTIONS]
OTHERS = [np.tanh, np.sinh, np.log10, np.cbrt, np.arcsinh, np.arctanh, np.logaddexp, np.heaviside]
SPECIAL = [
    *(0.0, 1.0, 0.5, 2.0, 3.0, np.pi, 1e-320, 5e-324, 2.2e-308, 1e-17, 1e10, 709.9, 745.2, 1e308),
    *(np.inf, np.nan),
]


def lowered(f: Callable[..., Any], count: int, dtype: str = "float64") -> Lowered:
    spec = sg.spec((), dtype)
    f2 = {1: lambda x: f(x), 2: lambda x, y: f(x, y)}[count]
    return sg.trace(f2, **dict(zip("xy", [spec] * count, strict=False))).lower()


def assert_same(got: Any, want: Any) -> None:
    """The same float or its neighbour; the same infinity, NaN, zero or truth value."""
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == ((), want.dtype)
    if want.dtype == bool or not np.isfinite(want) or want == 0:
        np.testing.assert_array_equal(got, want)
        assert np.isnan(want) or np.signbit(got) == np.signbit(want) or want.dtype == bool
    else:
        assert abs(got - want) <= np.spacing(abs(want))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("ufunc", [*UFUNCS, *OTHERS], ids=lambda each: each.__name__)
def test_values_are_those_of_numpy(ufunc: np.ufunc) -> None:
    f = lowered(ufunc, ufunc.nin)
    assert "def floats(" in f.source
    rng = np.random.default_rng(0)
    numbers = [*SPECIAL, *[-each for each in SPECIAL]]
    pairs = [*itertools.product(numbers, repeat=ufunc.nin)]
    pairs += [*(rng.normal(size=(300, ufunc.nin)) * 10.0 ** rng.integers(-8, 8, (300, 1)))]
    for pair in pairs:
        given = [np.array(each) for each in pair]
        (want,) = evaluate(f.dag, dict(zip("xy", given, strict=False)))
        assert_same(f(*given), np.asarray(want))
        assert_same(f(*map(float, pair)), np.asarray(want))


def test_choices_and_truth_values() -> None:
    def f(x: Any, y: Any) -> Any:
        inside = np.logical_and(x > 0, np.logical_not(y > x))
        either = np.logical_or(x > 0, y > 0)
        return np.where(inside, x * y, -y), inside, either, snp.astype(either, "float64") + x

    program = sg.trace(f, x=sg.spec(()), y=sg.spec(())).lower()
    assert "if" in program.source.partition("def program")[0]
    for x, y in itertools.product([-1.0, 0.0, -0.0, 2.0, np.nan, np.inf], repeat=2):
        want = evaluate(program.dag, {"x": np.array(x), "y": np.array(y)})
        for got, wanted in zip(program(x, y), want, strict=True):
            assert_same(got, np.asarray(wanted))


@pytest.mark.parametrize("x", [1000.0, -1000.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e200])
def test_where_python_raises_numpy_answers(x: float) -> None:
    f = lowered(lambda x: np.exp(x) - 1 / x + np.log(x) + np.sin(x) ** 0.5, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (want,) = evaluate(f.dag, {"x": np.array(x)})
        assert_same(f(x), np.asarray(want))
        assert_same(f(np.array(x)), np.asarray(want))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_other_dtypes_round_as_numpy_rounds(dtype: str) -> None:
    f = lowered(lambda x: x * x * 3 + x, 1, dtype)
    assert "def floats(" not in f.source
    x = np.array(3, dtype) / np.array(7, dtype) if dtype[0] == "f" else np.array(3)
    np.testing.assert_array_equal(f(x.astype(dtype)), (x * x * 3 + x).astype(dtype))


def test_arrays_among_the_values_need_numpy() -> None:
    f = sg.trace(lambda x: np.cumsum(np.exp(x * np.arange(3.0)))[2], x=sg.spec(())).lower()
    assert "def floats(" not in f.source
    assert f(1.0) == pytest.approx(np.exp([0.0, 1.0, 2.0]).sum(), rel=1e-15)
    assert f(x=np.float64(0.0)) == 3


def test_results_are_new_arrays_that_a_caller_may_write_to() -> None:
    f = sg.trace(lambda x: (x, x, x * 2), x=sg.spec(())).lower()
    x = np.array(1.5)
    first, second, third = f(x)
    first[...] = 7
    assert (x, second, third) == (1.5, 1.5, 3.0)


@pytest.mark.parametrize("x", [2, np.float64(2), np.float32(2), np.int64(2), np.array(2)])
def test_numbers_of_any_kind_come_in(x: Any) -> None:
    f = lowered(lambda x: x * x + 1, 1)
    assert_same(f(x), np.array(5.0))
    assert_same(f(x=x), np.array(5.0))


def test_what_does_not_fit_is_refused() -> None:
    f = lowered(lambda x: x * x + 1, 1)
    for wrong in ((np.zeros(2),), ("2",), (1j,), (), (1.0, 2.0), (None,)):
        with pytest.raises(sg.SymgraphError):
            f(*wrong)


def test_a_call_with_floats_enters_three_functions() -> None:
    f = lowered(lambda x, y: np.tanh(np.sin(x) * y) + np.exp(y), 2)
    f(0.5, 2.0)
    entered: list[str] = []

    def seen(frame: Any, event: str, _argument: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    sys.setprofile(seen)
    try:
        f(0.5, 2.0)
    finally:
        sys.setprofile(None)
    assert entered == ["__call__", "floats", "<lambda>"]


@pytest.mark.parametrize("ufunc", OTHERS, ids=lambda each: each.__name__)
def test_no_setting_of_the_caller_is_seen(ufunc: np.ufunc) -> None:
    f = lowered(ufunc, ufunc.nin)
    for x in [*SPECIAL, -2.0, -1e308]:
        given = [x] * ufunc.nin
        with np.errstate(all="raise"):
            got = f(*given)
        with np.errstate(all="ignore"):
            want = ufunc(*given)
        assert_same(got, np.asarray(want))


def test_a_guard_sees_arrays() -> None:
    seen: list[Any] = []
    f = lowered(lambda x: x * x, 1).guarded(lambda **given: seen.append(given["x"]))
    assert f(3.0) == 9
    assert type(seen[0]) is np.ndarray


def test_a_pickle_runs_on_floats_again() -> None:
    f = lowered(lambda x: np.exp(x) + x, 1)
    assert pickle.loads(pickle.dumps(f))(0.5) == f(0.5)


def test_values_used_once_stand_where_they_are_used() -> None:
    def f(x: Any, y: Any) -> Any:
        once = np.sin(x) * y - (x - (y - 2.0)) / (x * x + 1.0)
        twice = np.where(x > y, -(x + y), x / (y * 3.0))
        return once, twice * twice, np.maximum(x - y, twice), x > y

    program = sg.trace(f, x=sg.spec(()), y=sg.spec(())).lower()
    source = program.source.partition("def program")[0]
    for text in (") / ((v0 * v0) + 1.0)", "sin(v0) * v1", "(-(v0 + v1)) if"):
        assert text in source, source
    apart = sg.trace(f, x=sg.spec(()), y=sg.spec(())).lower(floats=False)
    for x, y in itertools.product([-1.5, 0.0, -0.0, 2.0, np.nan, np.inf, 1e200], repeat=2):
        for got, want in zip(program(x, y), apart(np.array(x), np.array(y)), strict=True):
            assert_same(got, np.asarray(want))


def test_a_side_of_a_choice_that_raises_is_not_needed() -> None:
    f = lowered(lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 1 / x) + x, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (0.0, -0.0, 2.0, -2.0, np.inf, np.nan):
            (want,) = evaluate(f.dag, {"x": np.array(x)})
            assert_same(f(x), np.asarray(want))


def test_a_long_sum_of_values_used_once_is_cut_into_lines() -> None:
    f = lowered(lambda x: sum([np.sin(k * x) for k in range(1, 400)]), 1)
    lines = f.source.partition("def program")[0].splitlines()
    assert max([len(each) for each in lines]) < 500
    (want,) = evaluate(f.dag, {"x": np.array(0.3)})
    assert abs(f(0.3) - want) <= 400 * np.spacing(abs(want))
