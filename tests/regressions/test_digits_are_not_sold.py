"""Of two spellings the one that cancels, or leaves the range of numbers earlier, does not win."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special as sc

import symgraph as sg

Function = Callable[..., Any]
SINGLE = np.float32


def results(graph: sg.Graph, *at: Any) -> list[Any]:
    with np.errstate(all="ignore"):
        found = graph.evaluate(dict(zip(graph.inputs, at, strict=True)))
    return list(leaves(found))


def leaves(found: Any) -> Iterator[Any]:
    if isinstance(found, tuple):
        for each in found:
            yield from leaves(each)
    else:
        yield found


def derivatives(function: Function, *at: Any, **assume: Any) -> sg.Graph:
    """The gradient by all parameters, as derived; `assume` tells facts of some."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    specs = [
        sg.spec("n" if each.ndim else "", each.dtype, assume=assume.get(name, ()))
        for name, each in zip(names, at, strict=True)
    ]
    graph = sg.trace(function, *specs)
    return graph.gradient(*graph.inputs)


def held(function: Function, *at: Any, **assume: Any) -> sg.Graph:
    """Value and gradient, simplified, keep what they have as derived; the simplified graph."""
    graph = derivatives(function, *at, **assume)
    simple = graph.simplify()
    wide = [np.asarray(each, np.float64) for each in at]
    truths = results(derivatives(function, *wide, **assume), *wide)
    for derived, found, truth in zip(
        results(graph, *at), results(simple, *at), truths, strict=True
    ):
        size, eps = np.abs(truth), float(np.finfo(at[0].dtype).eps)
        before = np.abs(np.asarray(derived, np.float64) - truth)
        after = np.abs(np.asarray(found, np.float64) - truth)
        known = np.isfinite(before)
        assert np.all((after <= 8 * before + 16 * eps * size + 1e-37)[known]), simple.formula()
    return simple


# -- cancellation ----------------------------------------------------------------------------------
def cross_entropy(z: Any, p: Any) -> Any:
    return -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z))))


def test_a_cross_entropy_stays_a_sum_over_log_softmax() -> None:
    spec = sg.spec("n", "float32")
    graph = sg.trace(cross_entropy, spec, sg.spec("n", "float32", assume=sg.simplex(-1)))
    assert "log_softmax" in str(graph.simplify().formula())
    joint = graph.gradient("z", "p").simplify()
    p = np.exp(np.arange(5.0)) / np.sum(np.exp(np.arange(5.0)))
    for size in (1e4, 1e6):
        z = (size * np.array([1.0, 0.3, -0.2, 0.7, 1.1])).astype(SINGLE)
        exact = z.astype(np.float64) - np.max(z)
        truth = -np.sum(p * (exact - np.log(np.sum(np.exp(exact)))))
        value = results(joint, z, p.astype(SINGLE))[0]
        assert abs(value - truth) <= 1e-6 * truth


def test_the_entropy_of_a_softmax_keeps_its_digits() -> None:
    def entropy(z: Any) -> Any:
        p = np.exp(z) / np.sum(np.exp(z))
        return -np.sum(p * np.log(p))

    held(entropy, np.array([80.0, 70.0, 76.0, 79.5], SINGLE))


@pytest.mark.parametrize("others", [lambda a: a, np.sin])
def test_the_digits_of_terms_are_kept_beside_others(others: Function) -> None:
    def regularized(z: Any, a: Any) -> Any:
        p = np.exp(z) / np.sum(np.exp(z))
        return others(a) - 0.1 * np.sum(p * np.log(p))

    held(regularized, np.array([80.0, 79.0, 10.0, 10.0], SINGLE), np.array(0.0, SINGLE))


def test_a_square_written_out_has_twice_the_difference_for_gradients() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=2_000).astype(SINGLE)
    y = (z * (1 + 1e-3 * rng.normal(size=2_000))).astype(SINGLE)

    def distance(z: Any, y: Any) -> Any:
        return np.sum(z * z - 2 * z * y + y * y)

    simple = derivatives(distance, z, y).simplify()
    _, by_z, by_y = results(simple, z, y)
    truth = 2 * (z.astype(np.float64) - y)
    np.testing.assert_allclose(by_z, truth, rtol=3e-7)
    np.testing.assert_allclose(by_y, -truth, rtol=3e-7)


# -- functions that grow ---------------------------------------------------------------------------
GROWING: dict[str, Function] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "two to the power": lambda x: 2.0**x,
    "ten to the power": lambda x: 10.0**x,
    "expm1": np.expm1,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "gamma": sc.gamma,
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", GROWING)
def test_a_quotient_by_the_square_of_what_grows(name: str) -> None:
    grows = GROWING[name]
    at = np.array([1.5, 10, 18, 25, 34, 50, 80, 110], SINGLE)
    held(lambda x: np.sum(grows(x) / (1.5 + grows(x) ** 2)), at)


def test_no_derivative_stands_over_the_square_of_a_fourth_power() -> None:
    held(lambda x: np.sum(x / (1 + x**4)), np.array([1e3, 1e6, 3e9, -2e9], SINGLE))


# -- quotients and logs that are made stable -------------------------------------------------------
@pytest.mark.parametrize("c", [1.0, 2.5, 1e-3])
def test_an_exp_over_itself_and_a_positive_number(c: float) -> None:
    at = np.array([800.0, -800.0, 0.0, 30.0])

    def share(x: Any) -> Any:
        return np.sum(np.exp(x) / (c + np.exp(x)))

    held(share, at.astype(SINGLE))
    simple = derivatives(share, at).simplify()
    value, by_x = results(simple, at)
    truth = sc.expit(at - np.log(c))
    np.testing.assert_allclose(value, np.sum(truth), rtol=1e-13)
    np.testing.assert_allclose(by_x, truth * sc.expit(np.log(c) - at), rtol=1e-10, atol=1e-15)


def test_the_log_of_an_upper_tail() -> None:
    at = np.array([-3.0, 1.0, 10.0, 40.0])
    simple = derivatives(lambda x: np.sum(np.log(1 - sc.ndtr(x))), at).simplify()
    value, by_x = results(simple, at)
    np.testing.assert_allclose(value, np.sum(sc.log_ndtr(-at)), rtol=1e-13)
    slope = -np.sqrt(2 / np.pi) / sc.erfcx(at / np.sqrt(2))
    np.testing.assert_allclose(by_x, slope, rtol=1e-12)


# -- tails -----------------------------------------------------------------------------------------
def test_the_tail_of_a_sigmoid_times_its_complement() -> None:
    x, y = np.array([-57.0, 30.0, 800.0]), np.array([0.3, -1.0, 2.0])
    simple = held(lambda x, y: np.sum(np.exp(y) / (1 + np.exp(x))), x, y)
    by_x = results(simple, x, y)[1]
    np.testing.assert_allclose(by_x, -np.exp(y) * sc.expit(x) * sc.expit(-x), rtol=1e-12)


def test_the_tail_of_one_minus_a_squared_tanh() -> None:
    held(lambda x: np.sum(2 * sc.expit(2 * (x - 10)) - 1), np.array([-1.0, 3.0, 9.9, 10.5]))
    held(lambda x: np.sum((np.exp(2 * x) - 1) / (np.exp(2 * x) + 1)), np.array([-19.0, -1, 0.5]))


@pytest.mark.whole
def test_a_careful_gradient_shares_its_backward_pass() -> None:
    """If one gradient needs s(x) s(-x) for s (1 - s), both have it, or the work is done twice."""
    steps = 3

    def cell(x: Any, w: Any, u: Any) -> Any:
        h = c = w[0, 0] * 0
        for t in range(steps):
            z = [x[t] @ w[i] + h @ u[i] for i in range(4)]
            s, r, q = (1 / (1 + np.exp(-each)) for each in z[:3])
            c = s * c + r * np.tanh(z[3])
            h = q * np.tanh(c)
        return np.sum(h * h)

    graph = sg.trace(cell, x=sg.spec((steps, 3)), w=sg.spec((4, 3, 4)), u=sg.spec((4, 4, 4)))
    by_w, both = (graph.gradient(*wrt, value=False).simplify() for wrt in ("w", "xw"))
    # A step of the gradient by x is four products with matrices and three sums.
    assert both.op_count() <= by_w.op_count() + 7 * steps


# -- range -----------------------------------------------------------------------------------------
def norm_of_a_norm(x: Any, y: Any) -> Any:
    return np.sqrt(np.sum((np.linalg.norm(y - x) / 1.5) ** 2))


def largest_less_a_norm(y: Any, z: Any) -> Any:
    mean = np.mean(y**2, axis=-1, keepdims=True)
    return np.max(z * y + z) - np.linalg.norm(np.sqrt(mean))


@pytest.mark.parametrize(
    ("function", "at", "truths"),
    [
        (norm_of_a_norm, ([2e26, 1e26], [1.0, 1.0]), ([0.596, 0.298], [-0.596, -0.298])),
        (largest_less_a_norm, ([7e20, 6e20], [1.0, 1.0]), ([0.463, -0.46], [7e20, 0.0])),
    ],
)
def test_a_nan_becomes_no_wrong_number(function: Function, at: Any, truths: Any) -> None:
    arrays = [np.array(each, SINGLE) for each in at]
    simple = derivatives(function, *arrays).simplify()
    for found, truth in zip(results(simple, *arrays)[1:], truths, strict=True):
        told = ~np.isnan(found)
        np.testing.assert_allclose(found[told], np.array(truth)[told], rtol=1e-2)


def test_squares_of_what_was_a_quotient() -> None:
    held(lambda y: np.log(np.sum((y / y / y) ** 2)), np.array([1e110, 2e110]))


@pytest.mark.parametrize("size", [3, 4])
def test_products_of_denominators(size: int) -> None:
    def quotient(a: Any, b: Any, c: Any) -> Any:
        return np.prod(a) / np.sum(b**2) / np.sum(c**2)

    at = [1e72 * np.array([1.0, 2.0, 3.0, 4.0])] * 3
    held(quotient, at[0][:size], *at[1:]) if size == 4 else held(quotient, *[a[:3] for a in at])


def test_a_product_of_small_numbers_over_one_of_them() -> None:
    z, w = np.array([1e-179, -2e-179]), np.array([1.0, -1.0])
    held(lambda z, w: np.sum(np.copysign(z, w) * z * sc.dawsn(z) / z), z, w)


def test_small_numbers_over_one_another() -> None:
    x, y = np.array([1e-20, 3e-22], SINGLE), np.array([1e-43, 4e-42], SINGLE)
    held(lambda x, y: np.sum(x / y * y), x, y)


# -- finite as derived, and then NaN ---------------------------------------------------------------
def inverse_of_inverses(z: Any) -> Any:
    h = 1 / np.sum(1 / z)
    return np.sqrt(np.abs(h / (1 + h)))


FINITE: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "exps under a tanh": (
        lambda x, y, z: np.sum(np.tanh(np.exp(y) * np.exp(x) / np.exp(z))),
        ([300.0, 100.0], [350.0, -200.0], [200.0, 90.0]),
    ),
    "a density over its tail under a tanh": (
        lambda y: np.sum(np.tanh(np.exp(-(y**2)) / sc.erfc(y))),
        ([20.0, 5.0, -3.0, 26.0],),
    ),
    "a density over its tail under a cosh": (
        lambda y: np.sum(np.cosh(np.exp(-(y**2)) / sc.erfc(y))),
        ([20.0, 5.0, -3.0],),
    ),
    "a density over its tail beside a product": (
        lambda x: np.prod(np.exp(-(x**2)) / sc.erfc(x)),
        ([20.0, 5.0, -3.0],),
    ),
    "an inverse of inverses": (inverse_of_inverses, ([1.0, 0.0, 2.0],)),
    "a square over itself beside a deviation": (
        lambda x: np.sum((x * x) / (x * x)) + np.std(x),
        ([1e-3, 2.0, 5e3],),
    ),
}


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("name", FINITE)
def test_what_is_finite_as_derived_stays_so(name: str) -> None:
    function, at = FINITE[name]
    arrays = [np.array(each) for each in at]
    graph = derivatives(function, *arrays)
    for derived, found in zip(
        results(graph, *arrays), results(graph.simplify(), *arrays), strict=True
    ):
        known = np.isfinite(derived)
        np.testing.assert_allclose(
            np.asarray(found)[known], np.asarray(derived)[known], rtol=1e-6, atol=1e-12
        )
