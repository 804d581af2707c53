"""The derivatives of incomplete beta functions in their parameters."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import NotDifferentiable
from symgraph.scipy import stats

PARAMETERS = [1e-6, 1e-3, 0.3, 1.0, 16.0, 70.0, 1e4]
STEP = mp.mpf(10) ** -14


def differences(function: Any, at: float) -> Any:
    """The derivative by central differences of fourth order, in 60 digits."""
    with mp.workdps(60):
        a = mp.mpf(at)
        near, far = (function(a + k * STEP) - function(a - k * STEP) for k in (1, 2))
        return (8 * near - far) / (12 * STEP)


def below(a: Any, b: Any, x: Any, y: Any) -> Any:
    """I_x(a, b) with y = 1 - x, by a series of positive terms (DLMF 8.17.8)."""
    scale = mp.exp(a * mp.log(x) + b * mp.log(y)) / (a * mp.beta(a, b))
    return scale * mp.hyp2f1(a + b, 1, a + 1, x, maxterms=10**6)


def share(a: Any, b: Any, x: Any, is_below: bool) -> Any:
    """I_x(a, b) or minus the rest of 1."""
    return below(a, b, x, 1 - x) if is_below else -below(b, a, 1 - x, x)


def grid() -> list[tuple[float, float, float]]:
    points: list[tuple[float, float, float]] = []
    for a in PARAMETERS:
        for b in PARAMETERS:
            mean = a / (a + b)
            width = np.sqrt(mean * (1 - mean) / (a + b + 1))
            places = [mean, mean - 2 * width, mean + width, mean + 9 * width, 0.01 * mean]
            places += [0.4, 1 - 0.01 * (1 - mean)]
            points += [(a, b, float(x)) for x in places if 0 < x < 1]
    return points


@pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.whole)])
@pytest.mark.parametrize("of", ["a", "b"])
def test_the_slope_has_its_digits(of: str, part: int) -> None:
    found: list[tuple[float, ...]] = []
    for a, b, x in grid()[::part]:
        given = mp.mpf(b if of == "a" else a), mp.mpf(x), x <= a / (a + b)

        def at(t: Any, given: Any = given) -> Any:
            return share(t, *given) if of == "a" else share(given[0], t, *given[1:])

        exact = differences(at, a if of == "a" else b)
        if abs(exact) > 1e-280:
            found.append((a, b, x, float(exact)))
    *points, want = np.array(found).T
    assert len(want) > 200 / part
    got = (snp.betainc_slope_a if of == "a" else snp.betainc_slope_b)(*points)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_large_parameters() -> None:
    """At the middle of a symmetric distribution, whose mean moves by 1 / (4 a)."""
    slope = snp.betainc_slope_a(1e6, 1e6, 0.5)
    # I is 1/2 where a = b, so both slopes are one number but for the sign.
    assert slope == -snp.betainc_slope_b(1e6, 1e6, 0.5)
    assert slope == pytest.approx(-1 / np.sqrt(4 * np.pi * 1e6), rel=1e-6)
    # And as far apart as parameters may be, near the mean.
    x = float(1 - mp.mpf(2) ** -40)
    exact = differences(lambda t: share(t, mp.mpf(1e-6), mp.mpf(x), True), 1e6)
    assert snp.betainc_slope_a(1e6, 1e-6, x) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("call", [snp.betainc_slope_a, snp.betainc_slope_b])
def test_ends_and_what_is_no_number(call: Any) -> None:
    with np.errstate(all="raise", under="ignore"):
        ends = call(np.array([0.3, 2.0, 1e-6, 1e4]), 1.5, np.array([0.0, 1.0, 1.0, 1e-300]))
        bad = [(-1.0, 2.0, 0.5), (2.0, -1.0, 0.5), (2.0, 1.0, -0.1), (2.0, 1.0, 1.1)]
        bad += [
            (0.0, 2.0, 0.5),
            (1e-7, 2.0, 0.5),
            (np.inf, 2.0, 0.5),
            (2.0, np.inf, 0.5),
            (1e7, 1.0, 0.5),
        ]
        bad += [(np.nan, 2.0, 0.5), (2.0, np.nan, 0.5), (2.0, 1.0, np.nan)]
        got = call(*np.array(bad).T)
    np.testing.assert_array_equal(ends, 0.0)
    assert np.isnan(got).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_in_single_and_half_precision_it_is_rounded_once(dtype: str) -> None:
    a, b = np.array([0.5, 2.0, 9.0], dtype)[:, None], np.array(3.0, dtype)
    x = np.array([0.125, 0.5, 0.75, 0.9375], dtype)
    for call in (snp.betainc_slope_a, snp.betainc_slope_b):
        got = call(a, b, x)
        assert got.dtype == dtype
        want = call(*[each.astype(float) for each in (a, b, x)])
        np.testing.assert_array_equal(got, want.astype(dtype))


@pytest.mark.parametrize("name", ["betainc", "betaincc"])
def test_mixed_derivatives(name: str) -> None:
    sign = 1 if name == "betainc" else -1
    inputs = {each: sg.input(each, ()) for each in "abx"}
    at: dict[str, Any] = {"a": 2.3, "b": 1.4, "x": 0.3}

    def density(a: Any, b: Any) -> Any:
        x = mp.mpf(at["x"])
        return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)

    exact = {
        "a": differences(lambda t: density(t, mp.mpf(at["b"])), at["a"]),
        "b": differences(lambda t: density(mp.mpf(at["a"]), t), at["b"]),
    }
    for of, want in exact.items():
        graph = sg.graph(getattr(snp, name)(*inputs.values())).gradient(of, value=False)
        got = graph.gradient("x", value=False).evaluate(**at)
        assert got == pytest.approx(sign * float(want), rel=1e-12)
        with pytest.raises(NotDifferentiable, match="second derivatives of incomplete beta"):
            graph.gradient("a")


@pytest.mark.parametrize("name", ["betaincinv", "betainccinv"])
def test_quantiles_move_with_the_parameters(name: str) -> None:
    a, b = sg.input("a", ()), sg.input("b", ())
    graph = sg.graph(getattr(snp, name)(a, b, 0.3)).gradient("a", "b", value=False)
    p = mp.mpf(0.3) if name == "betaincinv" else 1 - mp.mpf(0.3)
    start = float(getattr(snp, name)(2.3, 1.4, 0.3))

    def quantile(a: Any, b: Any) -> Any:
        return mp.findroot(lambda x: below(a, b, x, 1 - x) - p, (start, 0.999 * start))

    want = [
        float(differences(lambda t: quantile(t, mp.mpf(1.4)), 2.3)),
        float(differences(lambda t: quantile(mp.mpf(2.3), t), 1.4)),
    ]
    np.testing.assert_allclose(graph.evaluate(a=2.3, b=1.4), want, rtol=1e-12)


@pytest.mark.parametrize("name", ["beta", "f"])
def test_distributions_that_rest_on_it(name: str) -> None:
    first, second = sg.input("first", ()), sg.input("second", ())
    at, x = (2.3, 3.4), 0.6
    graph = sg.graph(getattr(stats, name).logsf(x, first, second)).gradient("first", "second")

    def exact(p: Any, q: Any) -> Any:
        if name == "beta":
            return mp.log(mp.betainc(p, q, x, 1, regularized=True))
        return mp.log(mp.betainc(q / 2, p / 2, 0, q / (q + p * mp.mpf(x)), regularized=True))

    _, got = graph.simplify().lower("numpy")(first=at[0], second=at[1])
    want = [
        float(differences(lambda t: exact(t, mp.mpf(at[1])), at[0])),
        float(differences(lambda t: exact(mp.mpf(at[0]), t), at[1])),
    ]
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("name", ["gammainc_slope", "betainc_slope_a", "betainc_slope_b"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_source_stands_alone(name: str, dtype: str) -> None:
    at = {each: np.array([0.25, 0.5, 0.875], dtype) for each in "abx"}
    if name == "gammainc_slope":
        del at["b"]
    graph = sg.graph(getattr(snp, name)(*[sg.input(each, (3,), dtype) for each in at]))
    text, names = graph.to_python(), dict[str, Any]()
    assert "symgraph" not in text
    exec(text, names)
    (found,) = np.atleast_2d(names["function"](np, **at))
    np.testing.assert_array_equal(found, getattr(snp, name)(*at.values()))


def _student(df: Any, t: Any) -> Any:
    half = mp.betainc(df / 2, mp.mpf(0.5), 0, df / (df + t * t), regularized=True) / 2
    return half if t < 0 else 1 - half


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("df", [0.5, 2.5, 100.0, 1000.0])
def test_student_in_its_degrees_of_freedom(df: float) -> None:
    """Near t = 0, where df / (df + t**2) says nothing of t, and far out, too."""
    graph = sg.trace(snp.stdtr, df=sg.spec(()), t=sg.spec(()))
    slope = graph.gradient("df", value=False)
    for t in (-9.0, -1.0, 1e-8, 0.3, 2.0, 6.0):
        with mp.workdps(120):
            exact, step = mp.mpf(t), mp.mpf(10) ** -40
            want = float((_student(df + step, exact) - _student(df - step, exact)) / (2 * step))
        for each in (slope, slope.simplify()):
            found = float(each.evaluate(df=np.array(df), t=np.array(t)))
            assert found == pytest.approx(want, rel=3e-9, abs=0)


@pytest.mark.whole
def test_quantile_of_student_moves_with_the_degrees_of_freedom() -> None:
    slope = sg.grad(lambda df, t: snp.stdtrit(df, snp.stdtr(df, t)), wrt="df")
    assert abs(slope(np.float64(3.5), np.float64(1.3))) < 1e-12


def test_density_of_student_keeps_its_digits_for_many_degrees_of_freedom() -> None:
    slope = sg.grad(snp.stdtr, wrt=1)
    assert slope(np.float64(1e13), np.float64(1.0)) == pytest.approx(0.24197072451914, rel=1e-12)
