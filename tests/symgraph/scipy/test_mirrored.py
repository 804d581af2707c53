"""special, linalg, signal and integrate: SciPy's values on numbers, gradients on symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special

import symgraph as sg
import symgraph.scipy
from symgraph.scipy import fft, integrate, interpolate, linalg, optimize, signal, special, stats
from symgraph.testing import check_grads

RNG = np.random.default_rng(0)
A, B, Q = RNG.normal(size=(4, 4)), RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))
S = A @ A.T + 4 * np.eye(4)
C, R = RNG.normal(size=5), RNG.normal(size=3)
X = RNG.normal(size=(3, 4))
HOLED = np.where(np.arange(12).reshape(3, 4) == 0, -np.inf, X)


def assert_like(found: Any, wanted: Any) -> None:
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


LINALG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("solve", (S, C[:4]), {}),
    ("solve", (S, C[:4]), {"assume_a": "pos"}),
    ("solve", (np.triu(S), C[:4]), {"assume_a": "sym"}),
    ("solve", (A, C[:4]), {"transposed": True}),
    ("inv", (A,), {}),
    ("det", (A,), {}),
    ("pinv", (Q,), {}),
    ("cholesky", (S,), {}),
    ("cholesky", (S,), {"lower": True}),
    ("solve_triangular", (np.tril(S), C[:4]), {"lower": True}),
    ("solve_sylvester", (A, B, Q), {}),
    ("solve_continuous_lyapunov", (A, S), {}),
    ("solve_discrete_lyapunov", (A / 9, S), {}),
    ("eigvalsh", (S,), {}),
    ("svdvals", (A,), {}),
    ("norm", (A,), {}),
    ("expm", (A,), {}),
    ("block_diag", (A, B, R, 2.0), {}),
    ("block_diag", (np.eye(2, dtype=int), B.astype("float32")), {}),
    ("toeplitz", (C, R), {}),
    ("toeplitz", (C,), {}),
    ("hankel", (C, R), {}),
    ("hankel", (C,), {}),
    ("circulant", (C,), {}),
    ("khatri_rao", (A, X), {}),
]


@pytest.mark.parametrize(("name", "args", "keywords"), LINALG)
def test_linalg(name: str, args: Any, keywords: Any) -> None:
    ours = getattr(linalg, name)
    assert_like(ours(*args, **keywords), getattr(scipy.linalg, name)(*args, **keywords))
    first = np.asarray(args[0], dtype=float)
    if name in ("cholesky", "eigvalsh") or "assume_a" in keywords:
        return  # They read one triangle; its derivative is that of a symmetric change.
    check_grads(
        lambda a: np.sum(np.cos(ours(a, *args[1:], **keywords))), first, order=1, analytic=False
    )


def test_linalg_pairs() -> None:
    b = C[:4]
    assert_like(
        linalg.cho_solve(linalg.cho_factor(S), b),
        scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), b),
    )
    values, vectors = linalg.eigh(S)
    np.testing.assert_allclose(vectors * values @ vectors.T, S)


SIZES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((7,), (3,)),
    ((3,), (7,)),
    ((6,), (2,)),
    ((2,), (6,)),
    ((4,), (4,)),
    ((6, 5), (2, 3)),
    ((2, 3), (6, 5)),
    ((5, 2), (2, 5)),
    ((4, 3, 5), (2, 2, 2)),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("one", "other"), SIZES)
def test_signal(name: str, mode: str, one: Any, other: Any) -> None:
    x, w = RNG.normal(size=one), RNG.normal(size=other)
    if not hasattr(scipy.signal, name):
        return
    try:
        wanted = getattr(scipy.signal, name)(x, w, mode=mode)
    except ValueError:
        with pytest.raises(sg.ShapeError, match="neither lies within"):
            getattr(signal, name)(x, w, mode=mode)
        return
    assert_like(getattr(signal, name)(x, w, mode=mode), wanted)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("axes", [0, (1,), (0, 2), (-1, 0)])
@pytest.mark.parametrize("shapes", [((5, 3, 4), (2, 3, 4)), ((2, 3, 3), (4, 1, 3))], ids=str)
def test_convolution_along_some_axes_broadcasts_the_others(mode, axes, shapes) -> None:
    x, w = (RNG.normal(size=shape) for shape in shapes)
    try:
        wanted = scipy.signal.fftconvolve(x, w, mode, axes)
    except ValueError:
        with pytest.raises((sg.ShapeError, ValueError)):
            signal.fftconvolve(x, w, mode, axes)
        return
    assert_like(signal.fftconvolve(x, w, mode, axes), wanted)
    assert_like(signal.oaconvolve(x, w, mode, axes), wanted)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_with_summed_axes_is_that_of_layers(mode) -> None:
    x, w = RNG.normal(size=(2, 5, 4, 3)), RNG.normal(size=(2, 3, 2, 3, 2))
    found = signal.convolve(x, w, mode, axes=((1, 2), (2, 4)), dot_axes=((0, 3), (0, 3)))
    for k in range(3):
        parts = [
            scipy.signal.convolve(x[i, :, :, j], w[i, k, :, j], mode)
            for i in range(2)
            for j in range(3)
        ]
        assert_like(found[k], sum(parts))
    some = signal.convolve(x[0], w[0], mode, axes=((0,), (1,)))
    assert_like(some[1, 2, 0, 1, 1], scipy.signal.convolve(x[0, :, 1, 2], w[0, 0, :, 1, 1], mode))
    assert_like(
        signal.convolve(x, w, axes=((), ()), dot_axes=((0,), (0,))),
        np.tensordot(x, w, axes=((0,), (0,))),
    )
    check_grads(
        lambda x, w: np.sum(np.cos(signal.convolve(x, w, mode, axes=((1,), (1,))))),
        RNG.normal(size=(3, 3)),
        RNG.normal(size=(2, 2)),
        order=1,
    )


FACTORS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("lstsq", (Q, C[:4]), {}),
    ("lstsq", (Q, A), {"cond": 1e-12}),
    ("qr", (A,), {}),
    ("qr", (X,), {}),
    ("qr", (Q,), {"mode": "economic"}),
    ("qr", (A,), {"mode": "r"}),
    ("svd", (A,), {}),
    ("svd", (Q,), {"full_matrices": False}),
    ("svd", (A,), {"compute_uv": False}),
]


@pytest.mark.parametrize(("name", "given", "keywords"), FACTORS)
def test_factors(name: str, given: Any, keywords: Any) -> None:
    wanted = getattr(scipy.linalg, name)(*given, **keywords)
    found = getattr(linalg, name)(*given, **keywords)
    for one, other in zip(
        *(each if isinstance(each, tuple) else (each,) for each in (found, wanted)), strict=True
    ):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)

    def some(a: Any) -> Any:
        result = getattr(linalg, name)(a, *given[1:], **keywords)
        return np.sum(np.cos(result[0] if isinstance(result, tuple) else result))

    check_grads(some, given[0], order=1, analytic=False)


def test_a_square_factor_of_a_tall_matrix_is_refused() -> None:
    with pytest.raises(sg.TraceError, match="mode='full' of a matrix") as no:
        linalg.qr(Q)
    assert "economic" in str(no.value.mend)


def test_signal_gradients_and_refusals() -> None:
    check_grads(lambda x, w: np.sum(np.cos(signal.convolve(x, w, "same"))), C, R, order=1)
    with pytest.raises(sg.InputError, match="mode"):
        signal.convolve(C, R, "half")
    with pytest.raises(sg.ShapeError, match="sizes that are numbers"):
        signal.convolve(sg.input("x", "n"), R)
    with pytest.raises(sg.TraceError, match=r"scipy\.signal\.medfilt cannot be traced") as missing:
        signal.medfilt(sg.input("x", (4,)))
    assert "lfilter" in str(missing.value.mend)


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"axis": 0},
        {"axis": (0, 1)},
        {"axis": -1, "keepdims": True},
        {"axis": 1, "b": X, "return_sign": True},
        {"axis": 1, "b": [1, 0, 2.0, 3]},
        {"axis": 0, "b": 2},
    ],
)
def test_logsumexp(keywords: dict[str, Any]) -> None:
    for x in (X, HOLED, 1e4 * X):
        assert_like(special.logsumexp(x, **keywords), scipy.special.logsumexp(x, **keywords))
    check_grads(lambda x: _total(special.logsumexp(x, **keywords)), X, order=1, analytic=False)


def _total(result: Any) -> Any:
    return np.sum(result[0] if isinstance(result, tuple) else result)


def test_special() -> None:
    for axis in (None, 0, 1, -1):
        assert_like(special.softmax(HOLED, axis=axis), scipy.special.softmax(HOLED, axis=axis))
        assert_like(special.log_softmax(X, axis=axis), scipy.special.log_softmax(X, axis=axis))
    at = np.array([4.2, 9.0])
    assert_like(special.multigammaln(at, 3), scipy.special.multigammaln(at, 3))
    assert np.isnan(special.multigammaln(1.0, 3))
    assert special.erf(0.3) == scipy.special.erf(0.3)
    assert isinstance(special.gammaln(sg.input("x")), sg.Array)
    with pytest.raises(sg.InputError, match="positive integer"):
        special.multigammaln(3.0, 1.5)
    with pytest.raises(sg.TraceError, match=r"special\.mathieu_a cannot be traced"):
        special.mathieu_a(1, sg.input("x"))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 9, 10])
def test_quadrature(n: int) -> None:
    x, y = np.cumsum(RNG.uniform(0.2, 1, n)), RNG.normal(size=(2, n))
    assert_like(integrate.simpson(y, x=x), scipy.integrate.simpson(y, x=x))
    assert_like(
        integrate.simpson(y.T, dx=0.3, axis=0), scipy.integrate.simpson(y.T, dx=0.3, axis=0)
    )
    assert_like(integrate.trapezoid(y, x), scipy.integrate.trapezoid(y, x))
    if n > 1:
        for start in (None, 0):
            ours = integrate.cumulative_trapezoid(y, x, initial=start)
            assert_like(ours, scipy.integrate.cumulative_trapezoid(y, x, initial=start))


def pendulum(t: Any, y: Any, k: Any) -> list[Any]:
    return [y[1], -k * y[0] + 0.1 * t]


@pytest.mark.parametrize(("method", "order"), [("RK45", 5), ("RK23", 3), ("RK4", 4)])
def test_the_error_of_the_steps_has_the_methods_order(method: str, order: int) -> None:
    places = np.linspace(0, 3, 4)
    exact = scipy.integrate.solve_ivp(
        pendulum, (0, 3), [1.0, 0.0], t_eval=places, args=(2.0,), rtol=1e-12, atol=1e-13
    ).y
    errors = [
        np.max(np.abs(solved(2.0, method=method, t_eval=places, steps=steps).y - exact))
        for steps in (4, 8)
    ]
    assert np.log2(errors[0] / errors[1]) > order - 0.4
    assert solved(2.0, method=method, t_eval=places, steps=2).y.shape == (2, 4)


def solved(k: Any, **keywords: Any) -> Any:
    return integrate.solve_ivp(pendulum, (0.0, 3.0), [1.0, 0.0], args=(k,), **keywords)


def test_the_gradient_of_a_solution() -> None:
    check_grads(lambda k: np.sum(solved(k, steps=7).y ** 2), np.array(2.0), order=1)
    rows = integrate.odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0], steps=30)
    np.testing.assert_allclose(rows[:, 0], np.exp([-0.0, -1.0, -2.0]), rtol=1e-8)


def test_options_of_adaptive_steps_are_refused() -> None:
    with pytest.raises(sg.TraceError, match="rtol= has no use"):
        solved(2.0, steps=3, rtol=1e-3)
    with pytest.raises(sg.InputError, match="steps is None") as missing:
        solved(2.0)
    assert "twice as many" in str(missing.value.mend)
    with pytest.raises(sg.InputError, match="'BDF' is no explicit one"):
        solved(2.0, steps=3, method="BDF")


@pytest.mark.parametrize(
    ("call", "name", "mend"),
    [
        (lambda x: optimize.minimize(np.sum, x), "optimize.minimize", "flat_objective"),
        (lambda x: optimize.root(np.sin, x), "optimize.root", "sg.root"),
        (
            lambda x: interpolate.BarycentricInterpolator(C, x),
            "BarycentricInterpolator",
            "np.interp",
        ),
        (lambda x: fft.fht(x, 0.1, 0.0), "fft.fht", "cosine and sine"),
        (lambda x: linalg.logm(np.outer(x, x)), "linalg.logm", "eigh"),
        (lambda x: integrate.quad(lambda t: t * x[0], 0, 1), "integrate.quad", "fixed_quad"),
        (lambda x: stats.nakagami.logpdf(x, 1.0), "nakagami.logpdf", "custom_op"),
    ],
)
def test_of_symbols_a_name_of_scipy_s_alone_tells_the_mend(call: Any, name: str, mend: str) -> None:
    with pytest.raises(sg.TraceError, match=f"{name} cannot be traced") as missing:
        call(sg.input("x", (5,)))
    assert mend in str(missing.value.mend)


def test_of_numbers_every_name_is_scipy_s() -> None:
    """A program that changes its import goes on with what it does to numbers."""
    assert optimize.brentq(lambda x: x * x - 2, 0, 2) == scipy.optimize.brentq(
        lambda x: x * x - 2, 0, 2
    )
    assert special.roots_legendre is scipy.special.roots_legendre
    assert linalg.hilbert(3)[1, 1] == pytest.approx(1 / 3)
    assert stats.iqr([1.0, 2.0, 3.0]) == 1
    slope = sg.grad(lambda x: np.sum(signal.butter(2, 0.2)[0]) * x)(1.0)
    assert slope == pytest.approx(np.sum(scipy.signal.butter(2, 0.2)[0]))
    from symgraph.scipy import constants, ndimage

    assert ndimage is scipy.ndimage
    assert constants.c == 299792458.0
    with pytest.raises(AttributeError, match=r"symgraph\.scipy\.linalg has no frobnicate"):
        linalg.frobnicate
    with pytest.raises(AttributeError, match="nowhere"):
        symgraph.scipy.nowhere


COUNTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("log_expit", (np.array([-1e3, -1.0, 0.5, 1e3]),), {}),
    ("factorial", (np.array([-2.0, -0.5, 0.0, 0.5, 3.0, 20.0]),), {}),
    ("factorial", (5,), {}),
    ("comb", (np.array([5.0, 5, 5, -1, 5.5]), np.array([2.0, 6, -1, 1, 2])), {}),
    ("comb", (5, np.array([0, 1, 2])), {}),
    ("comb", (5, 2), {"repetition": True}),
    ("perm", (np.array([5.0, 5, 5, 7]), np.array([2.0, 6, -1, 0])), {}),
]


@pytest.mark.parametrize(("name", "given", "keywords"), COUNTS)
def test_counts_are_scipy_s(name: str, given: Any, keywords: Any) -> None:
    wanted = getattr(scipy.special, name)(*given, **keywords)
    np.testing.assert_allclose(getattr(special, name)(*given, **keywords), wanted, rtol=1e-14)


def test_counts_have_derivatives_and_no_exact_form() -> None:
    at = np.array([2.5, 3.7])
    check_grads(lambda n: np.sum(special.factorial(n)), at, analytic=False)
    check_grads(lambda n: np.sum(special.comb(n, 2.2)), at, analytic=False)
    check_grads(lambda k: np.sum(special.perm(5.0, k)), at, order=1, analytic=False)
    assert sg.grad(special.factorial)(-1.5) == 0
    for call in (special.factorial, lambda n, exact: special.comb(n, 1, exact=exact)):
        with pytest.raises(sg.InputError, match="exact integers of any length"):
            call(3.0, exact=True)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (1, 2), (4, 2)])
def test_images(name: str, mode: str, boundary: str, shape: Any) -> None:
    x, w = RNG.normal(size=(6, 5)), RNG.normal(size=shape)
    for fill in (0, 1.5):
        wanted = getattr(scipy.signal, name)(x, w, mode, boundary, fill)
        assert_like(getattr(signal, name)(x, w, mode, boundary, fill), wanted)
    f = getattr(signal, name)
    check_grads(lambda x, w: np.sum(np.cos(f(x, w, mode, boundary))), x, w, order=1)


def test_images_are_matrices() -> None:
    with pytest.raises(sg.ShapeError, match="two matrices"):
        signal.convolve2d(C, R)
    with pytest.raises(sg.InputError, match="boundary 'mirror' is not known"):
        signal.convolve2d(A, B, boundary="mirror")


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_a_rule_of_fixed_points(n: int) -> None:
    wanted = scipy.integrate.fixed_quad(lambda x, p: np.exp(-p * x), 0.5, 2.0, args=(3.0,), n=n)
    found = integrate.fixed_quad(lambda x, p: np.exp(-p * x), 0.5, 2.0, args=(3.0,), n=n)
    assert found[1] is None
    assert_like(found[0], wanted[0])
    of_ends = sg.grad(lambda a, b: integrate.fixed_quad(np.exp, a, b, n=12)[0], ("a", "b"))
    np.testing.assert_allclose(of_ends(0.5, 2.0), (-np.exp(0.5), np.exp(2.0)), rtol=1e-12)


def test_counts_of_what_is_no_number_are_none() -> None:
    """SciPy's are 0 there."""
    for count in (special.comb, special.perm):
        assert np.isnan(count(np.nan, 2.0))
        assert np.isnan(count(3.0, np.nan))
        assert count(2.0, 3.0) == 0.0
