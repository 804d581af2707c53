"""Special functions: values from SciPy, derivatives against mpmath where digits are easily lost."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS
from symgraph.autodiff.reverse import cotangents
from symgraph.backends.conformance import check_dag
from symgraph.backends.samples import op_samples
from symgraph.errors import NotDifferentiable, TraceError
from symgraph.ir.op import OPS
from symgraph.ops.creation import ones

mp.mp.dps = 60


def derivatives(call: Callable[[Any], Any], x: float, order: int) -> list[float]:
    """The value and its derivatives of a function of one variable."""
    symbol = sg.input("x", (1,))
    found = [call(symbol)]
    for _ in range(order):
        found.append(cotangents([(found[-1], ones((1,)))], [symbol])[0])
    return [float(sg.graph(each).evaluate(x=np.array([x]))[0]) for each in found]


def of(name: str) -> Callable[[Any], Any]:
    return FUNCTIONS[name]


def log_ndtr(x: Any) -> Any:
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def spence(x: Any) -> Any:
    return mp.polylog(2, 1 - x).real


def dawsn(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def scaled_airy(x: Any, place: int) -> Any:
    rate = mp.exp((2 / mp.mpf(3)) * x * mp.sqrt(x) * (1 if place < 2 else -1))
    return rate * (mp.airyai, mp.airybi)[place // 2](x, derivative=place % 2)


# Points where a quotient is 0/0, terms cancel, or a naive formula under- or overflows.
HARD: list[tuple[str, Callable[[Any], Any], Callable[[Any], Any], list[float]]] = [
    ("log_ndtr", of("log_ndtr"), log_ndtr, [-1e4, -40.0, -5.0, 0.0, 3.0]),
    ("erfcx", of("erfcx"), lambda x: mp.exp(x * x) * mp.erfc(x), [-2.0, 0.0, 5.0, 14.9, 15.1, 1e3]),
    ("dawsn", of("dawsn"), dawsn, [0.0, 0.3, 5.0, 14.9, 15.1, -15.1, 90.0]),
    ("spence", of("spence"), spence, [0.5, 0.96, 1 - 1e-9, 1 + 1e-9, 1.04, 1.06, 3.0]),
    ("sinc", of("sinc"), mp.sincpi, [0.0, 1e-9, 1e-3, 0.14, 0.16, 1.5, -0.1]),
    ("i1", of("i1"), lambda x: mp.besseli(1, x), [0.0, 1e-8, 1e-3, 2.0, -3.0]),
    ("j1", of("j1"), lambda x: mp.besselj(1, x), [0.0, 1e-8, 1e-3, 2.0, -3.0]),
    ("jv", lambda x: snp.jv(2, x), lambda x: mp.besselj(2, x), [0.0, 1e-8, 4.0]),
    ("i0e", of("i0e"), lambda x: mp.exp(-x) * mp.besseli(0, x), [1e-6, 1.0, 300.0]),
    ("k1e", of("k1e"), lambda x: mp.exp(x) * mp.besselk(1, x), [0.01, 1.0, 300.0]),
    (
        "gammainc",
        lambda x: snp.gammainc(2.5, x),
        lambda x: mp.gammainc(2.5, 0, x, True),
        [1e-3, 30],
    ),
    (
        "betainc",
        lambda x: snp.betainc(2.5, 1.5, x),
        lambda x: mp.betainc(2.5, 1.5, 0, x, True),
        [1e-3, 0.5, 0.999],
    ),
    *[
        (f"i{n}e", of(f"i{n}e"), lambda x, n=n: mp.exp(-x) * mp.besseli(n, x), [99.0, 101.0, 2e3])
        for n in (0, 1)
    ],
    *[
        (f"k{n}e", of(f"k{n}e"), lambda x, n=n: mp.exp(x) * mp.besselk(n, x), [99.0, 101.0, 2e3])
        for n in (0, 1)
    ],
    *[
        (
            f"airye {place}",
            lambda x, place=place: snp.airye(x)[place],
            lambda x, place=place: scaled_airy(x, place),
            [0.5, 29.0, 31.0, 300.0],
        )
        for place in range(4)
    ],
    ("zeta", lambda x: snp.zeta(3, x), lambda x: mp.zeta(3, x), [0.01, 1.0, 50.0]),
    ("ellipk", of("ellipk"), mp.ellipk, [0.0, 1e-9, -1e-3, 0.2999, 0.3001, 0.99, -50.0]),
    ("ellipe", of("ellipe"), mp.ellipe, [0.0, 1e-9, -1e-3, 0.2999, 0.3001, 0.99, -50.0]),
    ("ellipkm1", of("ellipkm1"), lambda p: mp.ellipk(1 - p), [1e-9, 0.5, 1 - 1e-9, 1.0, 1.2]),
    (
        "exprel",
        of("exprel"),
        lambda x: mp.expm1(x) / x,
        [0.0, 1e-9, 0.49, 0.51, -0.49, -30.0, 40.0],
    ),
    (
        "boxcox",
        lambda lam: snp.boxcox(3.0, lam),
        lambda lam: mp.expm1(lam * mp.log(3)) / lam,
        [0.0, 1e-9, -1e-9, 0.45, 0.46, -2.0, 3.0],
    ),
    (
        "inv_boxcox",
        lambda lam: snp.inv_boxcox(0.7, lam),
        lambda lam: mp.exp(mp.log1p(lam * mp.mpf(0.7)) / lam),
        [0.0, 1e-9, -1e-9, 0.07, 0.072, -1.0, 3.0],
    ),
    (
        "pseudo_huber",
        lambda x: snp.pseudo_huber(2, x),
        lambda x: 4 * (mp.sqrt(1 + x * x / 4) - 1),
        [0.0, 1e-9, 1.0, 1e6],
    ),
]


@pytest.mark.sampled(one_in=5)
@pytest.mark.parametrize(("name", "call", "exact", "points"), HARD, ids=[row[0] for row in HARD])
def test_derivatives_keep_their_digits(
    name: str, call: Callable[[Any], Any], exact: Callable[[Any], Any], points: list[float]
) -> None:
    for x in points:
        # Not exactly at a removable point, where mpmath would divide 0 by 0.
        at = mp.mpf(x) + mp.mpf("1e-30")
        want = [float(mp.diff(exact, at, order)) for order in range(3)]
        got = derivatives(call, x, 2)
        for order in range(3):
            near = 1e-10 * abs(want[order]) + (1e-12 if abs(x) < 1 else 1e-14)
            assert abs(got[order] - want[order]) <= near, (name, x, order, got, want)


SCIPY = [
    name
    for name, op in OPS.items()
    if isinstance(getattr(scipy.special, name, None), np.ufunc) and name != "round"
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", SCIPY)
def test_scipys_own_function_traces_to_the_operation(name: str) -> None:
    ufunc = getattr(scipy.special, name)
    every = [np.array([[0.2, 0.6]]), np.array([[0.3], [0.7]]), np.array(0.4), np.array(0.5)]
    arrays = every[: ufunc.nin]
    if name in ("expn",):
        arrays[0] = np.array(2)
    inputs = [sg.input(f"x{i}", each.shape) for i, each in enumerate(arrays)]
    if name in ("expn",):
        graph = sg.graph(ufunc(2, inputs[1]))
        given = {"x1": arrays[1]}
    else:
        graph = sg.graph(ufunc(*inputs))
        given = {f"x{i}": each for i, each in enumerate(arrays)}
    assert any(node.op.name == name for node in graph.nodes)
    np.testing.assert_allclose(graph.evaluate(**given), ufunc(*arrays), rtol=1e-14)


def test_most_of_scipys_functions_are_here() -> None:
    assert len(SCIPY) > 50


@pytest.mark.parametrize("name", ["j0", "beta", "huber", "zeta", "expn", "sinc", "i0e", "entr"])
def test_dtypes(name: str) -> None:
    def call(x: Any) -> Any:
        return FUNCTIONS[name](*{"expn": (2,), "zeta": (3,)}.get(name, ()), *x)

    n = 2 if name in ("beta", "huber") else 1
    for dtype in ("float32", "float64"):
        assert call([sg.input("x", (2,), dtype)] * n).dtype == dtype
    assert call([sg.input("x", (2,), "int64")] * n).dtype == "float64"


def test_exprel_at_its_ends() -> None:
    at = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 716.0, 1e-300])
    got = sg.graph(snp.exprel(sg.input("x", (7,)))).evaluate(x=at)
    np.testing.assert_array_equal(got, scipy.special.exprel(at))


def test_zeta_has_two_forms() -> None:
    x = sg.input("x", (2,))
    at = np.array([1.5, 3.0])
    one, two = sg.graph(scipy.special.zeta(x)), sg.graph(scipy.special.zeta(3.0, x))
    np.testing.assert_allclose(one.evaluate(x=at), scipy.special.zeta(at), rtol=1e-14)
    np.testing.assert_allclose(two.evaluate(x=at), scipy.special.zeta(3.0, at), rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: snp.gammainc_slope(x, 2.0), "second derivative of an incomplete gamma"),
        (lambda x: snp.betainc_slope_b(1.0, x, 0.5), "second derivatives of incomplete beta"),
        (lambda x: snp.zeta(x, 2.0), "in its exponent"),
        (lambda x: snp.jv(x, 2.0), "order of a Bessel function"),
    ],
)
def test_what_has_no_derivative_says_so(call: Callable[[Any], Any], words: str) -> None:
    x = sg.input("x", ())
    with pytest.raises(NotDifferentiable, match=words):
        sg.graph(call(x)).gradient("x")


# -- Lambert's W -----------------------------------------------------------------------------------
BRANCH = -1 / np.e + np.array([1e-16, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.012, 0.06, 0.12])
OF_LAMBERT = {
    0: [*BRANCH, -0.1, -1e-5, -1e-300, 1e-310, 1e-10, 0.9, 1.1, 10.0, 1e50, 1e300, 1.7e308],
    -1: [*BRANCH, -0.1, -1e-3, -1e-100, -1e-300, -1e-310, -5e-324],
}


@pytest.mark.parametrize("call", [scipy.special.lambertw, snp.lambertw])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("k", [0, -1])
def test_lamberts_w_has_its_digits(k: int, dtype: str, call: Any) -> None:
    """SciPy's has an error of 7e-5 at -1/e + 1e-9, on the branch -1."""
    graph = sg.trace(lambda x: call(x, k), x=sg.spec((), dtype)).gradient("x")
    tiny, large = float(np.finfo(dtype).smallest_subnormal), float(np.finfo(dtype).max)
    rounding = float(np.finfo(dtype).eps)
    for each in OF_LAMBERT[k]:
        x = np.asarray(min(each, large), dtype)
        exact = mp.mpf(float(x))
        if abs(exact) < tiny or exact < -mp.exp(-1):
            continue
        w = mp.lambertw(exact, k).real
        slope, second = w / (exact * (1 + w)), -mp.exp(-2 * w) * (w + 2) / (1 + w) ** 3
        lost = float(abs(second * exact / slope))
        for either in (graph, graph.simplify()):
            found = either.evaluate(x=x)
            assert found[0] == pytest.approx(float(w), rel=4 * rounding, abs=tiny)
            near = float(slope) if abs(slope) < large else np.copysign(np.inf, float(slope))
            assert found[1] == pytest.approx(near, rel=(4 + 3 * lost) * rounding, abs=4 * tiny)


def test_lamberts_w_at_the_ends_of_its_domain() -> None:
    at = np.array([0.0, -0.0, np.inf, -1.0, np.nan, -np.inf])
    for k, values, slopes in (
        (0, [0.0, -0.0, np.inf, np.nan, np.nan, np.nan], [1, 1, 0, np.nan, np.nan, np.nan]),
        (-1, [-np.inf, -np.inf, *[np.nan] * 4], [-np.inf, -np.inf, *[np.nan] * 4]),
    ):
        graph = sg.trace(lambda x, k=k: np.sum(snp.lambertw(x, k)), x=sg.spec(6)).gradient("x")
        np.testing.assert_array_equal(snp.lambertw(at, k), values)
        np.testing.assert_array_equal(graph.evaluate(x=at)[1], slopes)


def test_lamberts_w_is_curved_at_0() -> None:
    graph = sg.trace(lambda x: snp.lambertw(x), x=sg.spec(())).hessian("x", value=False)
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=0.0) == -2


@pytest.mark.parametrize("call", [scipy.special.lambertw, snp.lambertw])
def test_other_branches_of_lamberts_w_are_complex(call: Any) -> None:
    with pytest.raises(TraceError, match="branch 1 is complex"):
        call(sg.input("x", ()), 1)


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_losses_at_their_edges(delta: float) -> None:
    at = np.array([0.0, 1.0, -1.0, 2.0])
    for name in ("huber", "pseudo_huber"):
        x = sg.input("x", (4,))
        y = FUNCTIONS[name](delta, x)
        graph = sg.graph(np.sum(y)).gradient("x", value=False)
        np.testing.assert_allclose(
            sg.graph(y).evaluate(x=at), getattr(scipy.special, name)(delta, at)
        )
        want = np.clip(at, -delta, delta) if name == "huber" else delta * at / np.hypot(1, at)
        np.testing.assert_allclose(graph.evaluate(x=at), want)


def test_divergences_where_both_are_zero() -> None:
    for name in ("rel_entr", "kl_div"):
        x, y = sg.input("x", (2,)), sg.input("y", (2,))
        graph = sg.graph(np.sum(FUNCTIONS[name](x, y))).gradient("x", "y")
        at = {"x": np.array([0.0, 0.5]), "y": np.array([0.0, 0.25])}
        value, (dx, dy) = graph.evaluate(**at)
        np.testing.assert_allclose(value, np.sum(getattr(scipy.special, name)(at["x"], at["y"])))
        assert dx[0] == dy[0] == 0
        assert np.all(np.isfinite([dx, dy]))


def test_jax_runs_on_the_host_what_it_lacks() -> None:
    pytest.importorskip("jax")
    for name in ("j0", "kv"):
        assert not hasattr(importlib.import_module("jax.scipy.special"), name)
        check_dag(next(op_samples(OPS[name])), "jax", sizes=(3,))
    x = sg.input("x", (3,))
    run = sg.graph(np.sum(snp.j1(x) ** 2)).gradient("x", value=False).lower("jax")
    at = np.array([0.3, 1.0, -2.0])
    want = 2 * scipy.special.j1(at) * scipy.special.jvp(1, at)
    np.testing.assert_allclose(run(x=at), want, rtol=1e-13)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_polygamma_far_to_the_left_is_found_by_reflection(order: int) -> None:
    """SciPy adds up from there, one by one; at -1e12 that takes hours."""
    x = np.array([-8.25, -20.001, -100.75, -12.999, -1000.3])
    with mp.workdps(40):
        exact = [float(mp.psi(order, mp.mpf(float(each)))) for each in x]
    np.testing.assert_allclose(snp.polygamma(order, x), exact, rtol=1e-11)
    assert np.isfinite(snp.polygamma(order, np.array([-1e12 - 0.25]))).all()
    poles = np.array([-9.0, -1e12])
    np.testing.assert_array_equal(
        snp.polygamma(order, poles), scipy.special.polygamma(order, poles)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_residual_has_a_straight_loss(dtype: str) -> None:
    """Its square overflows."""
    large = np.finfo(dtype).max / 16
    x = sg.input("x", (3,), dtype)
    graph = sg.graph(np.sum(snp.pseudo_huber(0.5, x))).gradient("x", value=False)
    at = np.array([large, -large, np.inf], dtype)
    np.testing.assert_allclose(snp.pseudo_huber(0.5, at), 0.5 * np.abs(at))
    np.testing.assert_allclose(graph.evaluate(x=at)[:2], [0.5, -0.5])


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("x", [1e9, 1e10, 1e15, 1e20, 1e100, 1e200])
@pytest.mark.parametrize(
    ("name", "value", "power"),
    [
        *[(f"{name}e", (2 * np.pi) ** -0.5, -0.5) for name in ("i0", "i1")],
        *[(f"{name}e", (np.pi / 2) ** 0.5, -0.5) for name in ("k0", "k1")],
        ("ive", (2 * np.pi) ** -0.5, -0.5),
        ("kve", (np.pi / 2) ** 0.5, -0.5),
        ("airye 0", 0.5 * np.pi**-0.5, -0.25),
        ("airye 1", -0.5 * np.pi**-0.5, 0.25),
        ("airye 2", np.pi**-0.5, -0.25),
        ("airye 3", np.pi**-0.5, 0.25),
    ],
)
def test_scaled_functions_far_from_0_are_powers(
    name: str, value: float, power: float, x: float
) -> None:
    """Slopes were differences of equal numbers, and values NaN, as SciPy's are."""
    call = name.partition(" ")[0]
    function: Any = {
        "ive": lambda x: snp.ive(0.3, x),
        "kve": lambda x: snp.kve(0.3, x),
        "airye": lambda x: snp.airye(x)[int(name[-1])],
    }.get(call, getattr(snp, call))
    graph = sg.trace(lambda x: function(x), x=sg.spec(())).gradient("x")
    for each in (graph, graph.simplify()):
        found, slope = each.evaluate(x=np.array(x))
        # The next term of the series is 1 / x times the first.
        assert found == pytest.approx(value * x**power, rel=1e-9 if x < 1e15 else 1e-13)
        near = found * power / x
        assert slope == pytest.approx(near, rel=1e-9 if x < 1e15 else 1e-13, abs=0)


def test_scaled_functions_of_whole_order_are_there_left_of_0() -> None:
    v, x = np.array([2.0, 3.0, 2.5, 2.0]), np.array([-1e10, -1e10, -1e10, np.nan])
    size = (2 * np.pi * 1e10) ** -0.5
    np.testing.assert_allclose(snp.ive(v, x), [size, -size, np.nan, np.nan], rtol=1e-9)
    assert np.isnan(snp.kve(v, x)).all()


# -- distributions ---------------------------------------------------------------------------------
def _f_tail(dfn: float, dfd: float, x: float) -> float:
    share = mp.mpf(dfd) / (dfd + mp.mpf(dfn) * mp.mpf(x))
    return float(mp.betainc(dfd / 2, dfn / 2, 0, share, regularized=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("dfn", "dfd", "x"), [(1, 2e6, 0.5), (0.25, 0.5, 1e-10), (3, 4, 2.5)])
def test_an_f_distribution_keeps_the_digits_of_its_lesser_share(
    dtype: str, dfn: float, dfd: float, x: float
) -> None:
    """dfd / (dfd + dfn x) rounds to 1 where dfd is large or x small."""
    given = np.array([dfn, dfd, x], dtype)
    want = _f_tail(*map(float, given))
    rounding = 100 * float(np.finfo(dtype).eps)
    assert snp.fdtrc(*given) == pytest.approx(want, rel=rounding)
    assert snp.fdtr(*given) == pytest.approx(1 - want, rel=rounding)
    assert snp.fdtr(given[0], given[1], np.inf) == 1


def test_an_f_quantile_keeps_the_digits_of_a_small_probability() -> None:
    p = np.array([1e-12, 1e-3], "float32")
    want = scipy.special.fdtri(10.0, 0.5, p.astype(float))
    np.testing.assert_allclose(snp.fdtri(np.float32(10), np.float32(0.5), p), want, rtol=1e-5)


EVENTS = np.array([-2.0, -1.0, 0.0, 1.0, 2.5, 4.0])[:, None], np.array([0.0, 1e-9, 0.3, 1.0])


@pytest.mark.parametrize(
    ("name", "place"), [("bdtr", 1), ("bdtrc", 1), ("nbdtr", 1), ("nbdtrc", 1), ("pdtr", None)]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_counts_of_events_at_the_edges_are_scipys(name: str, place: int | None) -> None:
    k, p = EVENTS
    call, wanted = FUNCTIONS[name], getattr(scipy.special, name)
    trials = () if place is None else (4,)
    graph = sg.graph(call(sg.input("k", k.shape), *trials, sg.input("p", p.shape)))
    want = wanted(k, *trials, p)
    np.testing.assert_allclose(graph.evaluate(k=k, p=p), want, rtol=1e-13)
    known = [call(float(each), *trials, sg.input("p", p.shape)) for each in k[2:, 0]]
    for each, row in zip(known, want[2:], strict=True):
        np.testing.assert_allclose(sg.graph(each).evaluate(p=p), row, rtol=1e-13)


def test_a_quantile_of_binomials_keeps_the_digits_of_a_small_probability() -> None:
    want = float(1 - mp.mpf(1e-12) ** mp.mpf("0.2"))
    assert snp.bdtri(0, 5, 1e-12) == pytest.approx(want, rel=1e-14)


@pytest.mark.parametrize("simplified", [False, True])
def test_the_curvature_of_an_f_distribution_is_no_nan(simplified: bool) -> None:
    def slope(dfn: Any, dfd: Any, x: Any) -> Any:
        return sg.grad(lambda x: scipy.special.fdtrc(dfn, dfd, x))(x)

    graph = sg.trace(slope, dfn=(), dfd=(), x=()).gradient("dfn", value=False)
    graph = graph.simplify() if simplified else graph

    def density(dfn: Any) -> Any:
        odds = dfn * mp.mpf(2) / mp.mpf(3)
        share = odds / (1 + odds)
        return -(share ** (dfn / 2)) * (1 - share) ** mp.mpf(1.5) / 2 / mp.beta(dfn / 2, 1.5)

    expected = float(mp.diff(density, 1.5))
    assert graph.evaluate(dfn=1.5, dfd=3.0, x=2.0) == pytest.approx(expected, rel=1e-12)


def test_a_quantile_of_poissons_rounds_the_count_as_scipy_does() -> None:
    k = np.array([0.0, 0.5, 0.99, 1.0, 7.25])
    graph = sg.trace(lambda k: scipy.special.pdtri(k, 0.5), k=(5,))
    want = scipy.special.pdtri(k.astype(int), 0.5)
    assert graph.evaluate(k=k) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-300, 1e-8, 0.49, 0.51, 3.0])
def test_the_integral_of_struve_s_function_over_x_has_a_slope_at_0(x: float) -> None:
    """-H0(x) / x: 0 / 0 at 0, and a quotient of denormal numbers beside it."""
    with mp.workdps(30):
        at = mp.mpf(x)
        wanted = -2 / mp.pi if x < 1e-9 else -mp.struveh(0, at) / at
    graph = sg.trace(lambda x: snp.it2struve0(x), x=sg.spec(())).gradient("x", value=False)
    for each in (graph, graph.simplify()):
        assert each.evaluate(x=np.array(x)) == pytest.approx(float(wanted), rel=1e-14)


def test_the_inverse_of_kolmogorov_s_function_falls_steeply_at_1() -> None:
    """Its slope was infinite with the sign of 1 / +0."""
    graph = sg.trace(lambda p: snp.kolmogi(p), p=sg.spec(())).gradient("p")
    for each in (graph, graph.simplify()):
        assert each.evaluate(p=np.array(1.0)) == (0.0, -np.inf)


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("t", [1e99, 1e101, 1e160, 1e300])
@pytest.mark.parametrize("df", [1e-3, 0.3, 2.0])
def test_tails_of_students_t_reach_beyond_the_range_of_squares(df: float, t: float) -> None:
    """stdtr(0.001, -1e300) was 0, as SciPy's is; it is 0.2496."""

    def tail(df: Any, t: Any) -> Any:
        return mp.betainc(df / 2, mp.mpf("0.5"), 0, df / (df + t * t), True) / 2

    with mp.workdps(700):
        at = mp.mpf(df), mp.mpf(t)
        step = [each * mp.mpf(10) ** -30 for each in at]
        value = tail(*at)
        by_df = (tail(at[0] + step[0], at[1]) - tail(at[0] - step[0], at[1])) / (2 * step[0])
        by_t = (tail(at[0], at[1] + step[1]) - tail(at[0], at[1] - step[1])) / (2 * step[1])
        wanted = [float(each) for each in (value, by_df, -by_t)]
    graph = sg.trace(lambda df, t: snp.stdtr(df, t), df="", t="").gradient("df", "t")
    for each in (graph, graph.simplify()):
        found, slopes = each.evaluate(df=df, t=-t)
        # A number near the end of the range has lost digits.
        assert [found, *slopes] == pytest.approx(wanted, rel=2e-9, abs=1e-290)
        assert each.evaluate(df=df, t=t)[0] == pytest.approx(1 - wanted[0], rel=1e-14)
