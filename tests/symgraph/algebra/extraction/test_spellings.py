"""How a result is written: signs taken up inside, parts found again, one array for two slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp


def gradient(f: Callable[..., Any], wrt: str = "x", **specs: Any) -> Any:
    return sg.trace(f, **specs).gradient(wrt, value=False).simplify()


def ops(graph: Any) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op.count]


def agrees(f: Callable[..., Any], graph: Any, wrt: str = "x", **arrays: Any) -> None:
    """The graph gives what the gradient gives before it is simplified."""
    wanted = sg.trace(f, **arrays).gradient(wrt, value=False).evaluate(**arrays)
    np.testing.assert_allclose(graph.evaluate(**arrays), wanted, rtol=1e-12, atol=1e-13)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


# -- slices --------------------------------------------------------------------------------------
def test_two_halves_are_one_concatenation() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[:, :2] * x[:, 2:])

    graph = gradient(f, x="3, 4")
    assert ops(graph) == []
    assert "concatenate" in [node.op.name for node in graph.nodes]
    agrees(f, graph, x=numbers(3, 4))


def test_slices_in_the_middle_leave_zeros_around_them() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x[1:3] * y[:2]) + np.sum(x[3] * y[3])

    graph = gradient(f, x="6", y="4")
    assert ops(graph) == ["embed"]
    agrees(f, graph, x=numbers(6), y=numbers(4, seed=1))


@pytest.mark.parametrize("second", [slice(1, 4), slice(3, 5), slice(0, 5, 2), slice(0, 2)])
def test_slices_that_do_not_meet_stay_apart(second: slice) -> None:
    def f(x: Any, y: Any) -> Any:
        n = len(range(5)[second])
        return np.sum(x[:2] * y[:2]) + np.sum(x[second] * y[:n] ** 2)

    agrees(f, gradient(f, x="5", y="5"), x=numbers(5), y=numbers(5, seed=1))


# -- one reduction ---------------------------------------------------------------------------------
def test_a_sum_is_computed_once_with_and_without_its_axes() -> None:
    def f(x: Any, g: Any) -> Any:
        return np.sum(g * (x / np.sum(x, axis=-1, keepdims=True)))

    positive = sg.spec("6, 5", assume=sg.positive)
    graph = gradient(f, x=positive, g="6, 5")
    assert ops(graph).count("sum") == 2
    agrees(f, graph, x=np.abs(numbers(6, 5)), g=numbers(6, 5, seed=1))


# -- signs -----------------------------------------------------------------------------------------
def test_an_odd_function_of_a_difference_takes_up_a_sign() -> None:
    def f(m: Any, x: Any) -> Any:
        return np.sum(np.abs(x - m) / 3.0)

    graph = gradient(f, "m", m="5", x="5")
    assert sorted(ops(graph)) == ["divide", "sign", "subtract"]
    agrees(f, graph, "m", x=numbers(5), m=numbers(5, seed=1))


def test_a_difference_that_is_used_elsewhere_is_not_turned_round() -> None:
    def f(m: Any, x: Any) -> Any:
        return np.sum(np.abs(x - m) * 3.0), x - m

    traced = sg.trace(lambda m, x: (np.sum(np.abs(x - m)), x - m), m="5", x="5")
    graph = traced.simplify()
    assert ops(graph).count("subtract") == 1


def test_a_choice_takes_up_a_sign_in_its_number() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.mean(np.maximum(0.2 - y * x, 0))

    graph = gradient(f, x="5", y="5")
    assert "negative" not in ops(graph)
    agrees(f, graph, x=numbers(5), y=numbers(5, seed=1))


# -- parts found again -----------------------------------------------------------------------------
def test_a_sum_in_another_term_is_written_once() -> None:
    def f(A: Any) -> Any:
        return 0.5 * np.sum((A @ A - A) ** 2)

    graph = gradient(f, "A", A="5, 5")
    assert graph.op_count() == 6
    agrees(f, graph, "A", A=numbers(5, 5))


def test_a_factored_sum_is_found_among_the_other_terms() -> None:
    def f(p: Any, q: Any, x: Any) -> Any:
        return (p - q) + (p - q) @ x * np.ones(4)

    graph = sg.trace(f, p="4", q="4", x="4").simplify()
    assert ops(graph).count("subtract") == 1
    arrays = {"p": numbers(4), "q": numbers(4, seed=1), "x": numbers(4, seed=2)}
    np.testing.assert_allclose(graph.evaluate(**arrays), f(**arrays), rtol=1e-12)


def test_a_quotient_inside_another_factor_is_written_once() -> None:
    def f(z: Any, x: Any, u: Any) -> Any:
        return 0.5 * np.sum((u - x / z) ** 2)

    graph = gradient(f, "z", z="5", x="5", u="5")
    assert sorted(ops(graph)) == ["divide", "divide", "multiply", "subtract"]
    agrees(f, graph, "z", z=numbers(5) + 4, x=numbers(5, seed=1), u=numbers(5, seed=2))


def test_weights_over_their_sum_cancel_where_they_are_summed() -> None:
    def f(x: Any) -> Any:
        p = x / np.sum(x)
        return -np.sum(p * np.log(p))

    graph = gradient(f, x=sg.spec("5", assume=sg.positive))
    assert graph.op_count() <= 7
    agrees(f, graph, x=np.abs(numbers(5)) + 0.1)


# -- constants -------------------------------------------------------------------------------------
def test_one_element_is_read_where_a_row_of_the_identity_picks_it() -> None:
    def f(x: Any) -> Any:
        e = np.exp(x)
        return (e / np.sum(e))[2]

    graph = gradient(f, x="5")
    assert sorted(ops(graph)) == ["multiply", "softmax", "subtract"]
    agrees(f, graph, x=numbers(5))


def test_a_row_of_the_identity_does_not_hide_an_infinity() -> None:
    graph = sg.trace(lambda x: (1 / x) @ np.array([0.0, 1.0, 0.0]), x="3").simplify()
    with np.errstate(all="ignore"):
        assert np.isnan(graph.evaluate(x=np.array([0.0, 1.0, 2.0])))


def test_constant_targets_are_known_to_sum_to_one() -> None:
    targets = np.array([[0.2, 0.8, 0.0], [0.1, 0.2, 0.7]])

    def f(x: Any) -> Any:
        return -np.sum(targets * np.log(np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)))

    graph = gradient(f, x="2, 3")
    assert ops(graph) == ["softmax", "add"]  # of the negative of the targets, a constant
    agrees(f, graph, x=numbers(2, 3))


def test_a_constant_symmetric_matrix_is_its_own_transpose() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    graph = gradient(lambda x: 0.5 * x @ matrix @ x, x="2")
    assert ops(graph) == ["matmul"]


@pytest.mark.parametrize("turned", [False, True])
def test_labels_by_two_index_arrays_give_the_textbook_gradient(turned: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        logs = snp.log_softmax(x, axis=-1)
        return -np.sum(logs.T[y, np.arange(6)] if turned else logs[np.arange(6), y])

    graph = gradient(f, x="6, 5", y=sg.spec("6", "int64"))
    assert sorted(ops(graph)) == ["one_hot", "softmax", "subtract"]
    agrees(f, graph, x=numbers(6, 5), y=np.array([0, 4, 2, 2, 1, 3]))


# -- contractions ----------------------------------------------------------------------------------
def test_a_contraction_that_is_computed_is_opened_where_terms_meet() -> None:
    def f(A: Any) -> Any:
        return np.trace(A @ A @ A @ A)

    graph = gradient(f, "A", A="4, 4")
    assert ops(graph) == ["matmul", "matmul", "multiply"]
    agrees(f, graph, "A", A=numbers(4, 4))


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x, y: np.sum(x @ y), "sum"),
        (lambda x, y: np.sum(np.einsum("ij,jk->ik", x, y)), "sum"),
    ],
)
def test_one_contraction_gives_way_to_one_that_is_less_work(f: Any, name: str) -> None:
    graph = gradient(f, x="6, 5", y="5, 4")
    assert ops(graph) == [name]
    agrees(f, graph, x=numbers(6, 5), y=numbers(5, 4, seed=1))


# -- numbers and signs on the smaller operand ------------------------------------------------------
def flops(graph: Any) -> int:
    return int(graph.flops())


def test_a_number_goes_into_a_scalar_divisor() -> None:
    """-2 x / (x @ x): one product of numbers, not of arrays."""

    def f(x: Any) -> Any:
        return -np.log(x @ x)

    graph = gradient(f, x="50")
    assert (len(ops(graph)), flops(graph)) == (3, 100 + 1 + 50)
    agrees(f, graph, x=numbers(50))


def test_a_sign_goes_to_the_smaller_factor() -> None:
    def f(x: Any, b: Any) -> Any:
        return np.exp(-b * np.sum(x))

    graph = gradient(lambda x, b: np.sum(-b * x * x) / 2, x="50", b="")
    assert flops(graph) == 51
    agrees(f, gradient(f, x="50", b=""), x=numbers(50) / 50, b=np.array(0.7))


def test_a_difference_takes_up_the_sign_of_a_product() -> None:
    def f(x: Any) -> Any:
        return np.sum(1 / (1 + np.exp(x)))

    graph = gradient(f, x="5")
    assert "negative" not in ops(graph)
    agrees(f, graph, x=numbers(5))


# -- what terms share ------------------------------------------------------------------------------
def test_several_factors_are_taken_out_at_once() -> None:
    """2 t - t**2 with t = (x - y) / (x + y) is t (2 - t)."""

    def f(x: Any, y: Any) -> Any:
        return np.sum((x - y) ** 2 / (x + y))

    graph = gradient(f, x=sg.Spec((5,), assume=sg.positive), y=sg.Spec((5,), assume=sg.positive))
    assert len(ops(graph)) == 5
    agrees(f, graph, x=np.abs(numbers(5)) + 0.1, y=np.abs(numbers(5, seed=1)) + 0.1)


def test_a_product_that_stands_in_another_term_is_written_once() -> None:
    """G - x sum(x G) / sum(x x), where G = g W.T is a product itself."""

    def f(x: Any, w: Any, g: Any) -> Any:
        return np.sum(g * ((x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)) @ w))

    graph = gradient(f, x="6, 5", w="5, 4", g="6, 4")
    assert ops(graph).count("matmul") == 1
    agrees(f, graph, x=numbers(6, 5), w=numbers(5, 4, seed=1), g=numbers(6, 4, seed=2))


def test_a_factor_above_and_below_is_not_taken_out() -> None:
    """m / m is not 1 where m may be 0, so neither one is common to the terms."""

    def f(a: Any, x: Any) -> Any:
        mean = np.mean(np.sin(x) * 1.5)
        return np.sum(1 / (1 + np.exp(a)) / (x * mean / mean))

    agrees(f, gradient(f, x="2", a="1"), x=np.array([0.5, -1.5]), a=np.array([0.5]))


def test_roots_are_joined_as_they_were_given() -> None:
    def f(x: Any, y: Any) -> Any:
        return (x @ y) / np.sqrt((x @ x) * (y @ y))

    graph = gradient(f, x="5", y="5")
    assert (len(ops(graph)), ops(graph).count("sqrt")) == (9, 1)
    agrees(f, graph, x=numbers(5), y=numbers(5, seed=1))


def test_a_number_leaves_a_root() -> None:
    """x / (5 sqrt(s / 5)) is x / (sqrt(5) sqrt(s))."""

    def f(x: Any) -> Any:
        return np.sqrt(np.mean(x * x))

    graph = gradient(f, x="5")
    assert len(ops(graph)) == 4
    agrees(f, graph, x=numbers(5))
    both = sg.trace(f, x="5").gradient("x").simplify()
    assert [node.op.name for node in both.nodes].count("sqrt") == 1


def test_a_contraction_that_cancels_once_sums_are_opened() -> None:
    """Of t + 0.3 sum(p (1 - y)) with t = sum(p y), 0.7 t stays."""

    def f(p: Any, y: Any) -> Any:
        t = np.sum(p * y)
        return t / (t + 0.3 * np.sum(p * (1 - y)) + 0.7 * np.sum((1 - p) * y))

    graph = gradient(f, "p", p="5", y="5")
    assert ops(graph).count("matmul") <= 2
    agrees(f, graph, "p", p=np.abs(numbers(5)), y=np.abs(numbers(5, seed=1)))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_goes_to_the_smaller_factor_under_either_sign(sign: int) -> None:
    """Of n - 3 r (n @ r) / (r @ r), the 3 belongs to the one number."""

    def f(m: Any, n: Any, r: Any) -> Any:
        return m @ n + sign * 3 * (m @ r) * (n @ r) / (r @ r)

    graph = gradient(f, "m", m="5", n="5", r="5")
    vectors = [node.op.name for node in graph.nodes if node.op.count and node.shape == (5,)]
    assert set(vectors) == {"multiply", "add" if sign > 0 else "subtract"}
    assert len(vectors) == 2
    agrees(f, graph, "m", **{name: numbers(5, seed=i) for i, name in enumerate("mnr")})
    # r @ r / 3 vanishes where r @ r does, no sooner than 3 / (r @ r) overflows.
    r = np.full(5, 1e-155)
    assert np.isfinite(graph.evaluate(m=r, n=np.ones(5), r=r)).all()


# -- what is computed anyway -----------------------------------------------------------------------
def test_a_difference_and_its_mean_are_of_one_difference() -> None:
    def f(x: Any, y: Any) -> Any:
        return 0.5 * np.sum((x - np.mean(x) - y) ** 2)

    graph = gradient(f, x="5", y="5")
    assert sorted(ops(graph)) == ["divide", "subtract", "subtract", "sum"]
    agrees(f, graph, x=numbers(5), y=numbers(5, seed=1))


def test_sums_of_other_arrays_stay_apart() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return x - y + np.mean(z) - np.mean(y)

    arrays = {"x": numbers(5), "y": numbers(5, seed=1), "z": numbers(5, seed=2)}
    graph = sg.trace(f, **arrays)
    small = graph.simplify()
    assert len(ops(small)) <= len(ops(graph))
    np.testing.assert_allclose(small.evaluate(**arrays), f(**arrays), rtol=1e-12)


def test_a_product_of_three_has_the_product_of_two_that_is_there() -> None:
    def f(x: Any, c: Any, u: Any) -> Any:
        s = snp.sigmoid(x)
        return np.sum(np.tanh(s * c + u))

    graph = gradient(f, x="5", c="5", u="5")
    assert ops(graph).count("multiply") == 3  # s c, times 1 - s, times 1 - tanh**2
    agrees(f, graph, x=numbers(5), c=numbers(5, seed=1), u=numbers(5, seed=2))


def test_a_product_that_is_repeated_is_no_factor_of_its_own_shape() -> None:
    def f(x: Any, c: Any) -> Any:
        return np.sin(x * c) + x * c[0] * np.cos(c)

    arrays = {"x": numbers(5), "c": numbers(5, seed=1)}
    graph = sg.trace(f, **arrays).simplify()
    np.testing.assert_allclose(graph.evaluate(**arrays), f(**arrays), rtol=1e-12)


def test_a_reciprocal_that_is_there_is_taken_away() -> None:
    """Not -1 / x added, which would be another quotient."""

    def f(x: Any, a: Any, b: Any, c: Any) -> Any:
        return 1 / x, a * b * c - c / x

    graph = sg.trace(f, x=sg.spec("5", assume=sg.positive), a="5", b="5", c="5").simplify()
    assert sorted(ops(graph)) == ["divide", "multiply", "multiply", "subtract"]
    arrays = {"x": np.abs(numbers(5)), **{name: numbers(5, seed=i) for i, name in enumerate("abc")}}
    for found, wanted in zip(graph.evaluate(**arrays), f(**arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


# -- squares that are joined ---------------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sin(x) ** 2 * np.cos(x) ** 2,
        lambda x: 1 / (np.sin(x) ** 2 * np.cos(x) ** 2),
        lambda x: np.sinh(x) ** 2 * np.cosh(x) ** 2 * 3,
        lambda x: np.exp(x) / (np.sinh(x) * np.cosh(x)) ** 2,
        lambda x: (np.sin(x) * np.cos(x) / x) ** 2,
    ],
)
def test_squares_of_what_is_a_multiple_keep_its_number(f: Callable[[Any], Any]) -> None:
    """sin(x) cos(x) is sin(2 x) / 2, and its square a quarter of another."""
    x = np.linspace(0.2, 1.3, 5)
    graph = sg.trace(lambda x: np.sum(f(x)), x="5")
    np.testing.assert_allclose(graph.simplify().evaluate(x=x), np.sum(f(x)), rtol=1e-13)
    agrees(lambda x: np.sum(f(x)), gradient(lambda x: np.sum(f(x)), x="5"), x=x)


def test_logs_of_quotients_are_found_again_below_a_sum() -> None:
    def f(k: Any, scale: Any, x: Any) -> Any:
        return np.sum(np.log(k / scale) + (k - 1) * np.log(x / scale))

    positive = {"dtype": "float64", "assume": sg.positive}
    specs = {"k": "", "scale": "", "x": "20"}
    graph = gradient(f, "k", **{name: sg.spec(of, **positive) for name, of in specs.items()})
    assert ops(graph) == ["divide", "log", "sum", "divide", "add"]  # log(x / scale) and 20 / k
    at = np.random.default_rng(0).uniform(0.5, 2, size=20)
    agrees(f, graph, "k", k=np.array(1.5), scale=np.array(0.7), x=at)


def test_an_inverse_that_is_formed_anyway_is_multiplied() -> None:
    def f(L: Any, X: Any) -> Any:
        S = L @ L.T + np.eye(4)
        inverse = np.linalg.inv(S)
        return 5 * np.linalg.slogdet(S)[1] + 0.5 * np.trace(X @ inverse @ X.T)

    graph = gradient(f, "L", L="4, 4", X="90, 4")
    assert "inv" in ops(graph)
    assert "solve" not in ops(graph)
    agrees(f, graph, "L", L=numbers(4, 4), X=numbers(90, 4, seed=1))


def test_squared_divisors_are_shared_out_where_a_square_would_overflow() -> None:
    def f(v: Any, k: Any, s: Any) -> Any:
        return np.sum(v * s / (k + s))

    positive = {"dtype": "float64", "assume": sg.positive}
    graph = gradient(
        f, "k", **{n: sg.spec(of, **positive) for n, of in (("v", ""), ("k", ""), ("s", "9"))}
    )
    assert ops(graph) == ["add", "divide", "divide", "matmul", "negative"]
    far = np.linspace(1e200, 9e200, 9)
    found = graph.evaluate(v=np.array(2.0), k=np.array(1e200), s=far)
    np.testing.assert_allclose(found, -2 * np.sum(far / 1e200 / (1 + far / 1e200) ** 2) / 1e200)


def test_quotients_come_before_products_where_a_product_would_overflow() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3 / (np.exp(x) - 1))

    graph = gradient(f, x=sg.spec("4", "float64", assume=sg.positive))
    assert len(ops(graph)) == 8
    found = graph.evaluate(x=np.array([1e-3, 1.0, 700.0, 709.7]))
    np.testing.assert_allclose(found[:2], [1.99850033333333e-3, 0.825256526400187], rtol=1e-12)
    assert np.all(np.isfinite(found))


def test_densities_of_a_price_cancel() -> None:
    def price(s: Any, k: Any, t: Any, r: Any, v: Any) -> Any:
        spread = v * np.sqrt(t)
        d = (np.log(s / k) + (r + 0.5 * v * v) * t) / spread
        first, second = (0.5 * (1 + snp.erf(each / 2**0.5)) for each in (d, d - spread))
        return np.sum(s * first - k * np.exp(-r * t) * second)

    specs = {name: sg.spec("3", "float64", assume=sg.positive) for name in "sktrv"}
    at = {name: np.linspace(0.5, 1.5, 3) + 0.1 * place for place, name in enumerate("sktrv")}
    graph = gradient(price, "v", **specs)
    assert ops(graph).count("exp") == 1
    agrees(price, graph, "v", **at)
    together = sg.trace(price, **specs).gradient(*"sktrv", value=False)
    small = together.simplify()
    assert len(ops(small)) <= 35
    for found, wanted in zip(small.evaluate(**at), together.evaluate(**at), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


# -- products of exps ------------------------------------------------------------------------------
@pytest.mark.parametrize("of", [lambda p, r: r - p * np.log(r), lambda p, r: p / r])
def test_a_product_of_matrices_of_exps_is_no_softmax(of: Callable[..., Any]) -> None:
    """As that it would have an array of three axes."""

    def f(x: Any, y: Any, p: Any) -> Any:
        return np.sum(of(p, np.exp(x) @ np.exp(y)))

    specs = {"x": "n, k", "y": "k, m", "p": "n, m"}
    graph = sg.trace(f, **specs).gradient("x", "y").simplify()
    assert max(node.ndim for node in graph.nodes) == 2
    assert graph.op_count() <= 13
    agrees(f, gradient(f, **specs), x=numbers(3, 2), y=numbers(2, 4), p=numbers(3, 4) ** 2)


def test_a_softmax_of_a_sum_that_is_there_stays_one() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.log(np.sum(np.exp(x[:, :, None] + y[None]), axis=1)))

    graph = gradient(f, x="3, 2", y="2, 4")
    assert "softmax" in ops(graph)
    assert np.all(np.isfinite(graph.evaluate(x=800 + numbers(3, 2), y=numbers(2, 4))))


def test_one_hot_rows_are_finite_so_nothing_is_left_of_what_cancels() -> None:
    def f(x: Any, v: Any) -> Any:
        q = np.exp(x - x.max(1, keepdims=True))
        q = q / q.sum(1, keepdims=True)
        return np.sum(q[np.arange(4), np.argmax(x, 1)] * v)

    graph = gradient(f, x="4, 3", v="4")
    assert not {"max", "equal"} & set(ops(graph))
    agrees(f, graph, x=numbers(4, 3), v=numbers(4))


def test_densities_over_a_scale_by_its_logarithm() -> None:
    """x / exp(s) is there; its exp and z^2 were written over x and exp(-2 s)."""

    def f(x: Any, s: Any) -> Any:
        return np.sum(np.exp(-0.5 * (x / np.exp(s)) ** 2))

    graph = sg.trace(f, x=sg.spec("7"), s=sg.spec("7")).gradient("s").simplify()
    assert len(ops(graph)) == 8
    at = {"x": np.linspace(-2, 3, 7), "s": np.linspace(-1, 1, 7)}
    _, found = graph.lower()(**at)
    z = at["x"] / np.exp(at["s"])
    np.testing.assert_allclose(found, z**2 * np.exp(-0.5 * z**2), rtol=1e-14)
    _, far = graph.lower()(x=np.full(7, 1e200), s=np.zeros(7))
    np.testing.assert_array_equal(far, 0)  # z^2 is infinite there, and e^(-z^2/2) 0


def test_a_mixture_by_logarithms_of_scales() -> None:
    def f(x: Any, mu: Any, ls: Any) -> Any:
        z = (x[:, None] - mu) / np.exp(ls)
        return np.sum(np.log(np.sum(np.exp(-0.5 * z**2 - ls), axis=1)))

    at = {"x": numbers(7), "mu": numbers(4, seed=1), "ls": numbers(4, seed=2)}
    graph = sg.trace(f, x=sg.spec(7), mu=sg.spec(4), ls=sg.spec(4)).gradient("ls").simplify()
    assert len(ops(graph)) <= 17
    z = (at["x"][:, None] - at["mu"]) / np.exp(at["ls"])
    p = np.exp(-0.5 * z**2 - at["ls"])
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(graph.lower()(**at)[1], np.sum(p * (z**2 - 1), axis=0), rtol=1e-12)


# -- contractions ----------------------------------------------------------------------------------
@pytest.mark.parametrize("gate", [np.tanh, lambda z: z / (1 + np.exp(-z)), lambda z: z])
def test_a_gated_unit_of_a_vector_scales_no_matrix(gate: Callable[[Any], Any]) -> None:
    """y is a factor of both terms, but (V * u[:, None] + W * v[:, None]).T @ y is more work."""

    def f(x: Any, W: Any, V: Any, y: Any) -> Any:
        return y @ (gate(W @ x) * (V @ x))

    graph = gradient(f, x="3", W="4, 3", V="4, 3", y="4")
    computed = [node for node in graph.nodes if node.op.count]
    assert [node.op.name for node in computed if node.ndim > 1] == []
    assert ops(graph).count("matmul") == 4
    arrays = {"x": numbers(3), "W": numbers(4, 3), "V": numbers(4, 3, seed=1), "y": numbers(4)}
    agrees(f, graph, **arrays)


def test_a_quotient_that_a_softmax_needs_is_summed_itself() -> None:
    """(p @ x) / t is p @ (x / t)."""

    def f(t: Any, x: Any) -> Any:
        return t * np.log(np.sum(np.exp(x / t)))

    scale = sg.spec("", assume=sg.positive)
    graph = sg.trace(f, t=scale, x="5").gradient("t", value=False).simplify()
    assert ops(graph).count("divide") == 1
    z = numbers(5) / 0.7
    wanted = snp.logsumexp(z) - snp.softmax(z) @ z
    np.testing.assert_allclose(graph.evaluate(t=0.7, x=numbers(5)), wanted, rtol=1e-13)


def test_two_products_share_a_quotient() -> None:
    """r (B / a) in an exponent and (B / a) P beside it."""

    def price(r: Any, a: Any, t: Any) -> Any:
        return np.exp(r * (1 - np.exp(-a * t)) / a)

    scale = sg.spec("", assume=sg.positive)
    graph = sg.trace(price, r="", a=scale, t=scale).gradient("r", value=False).simplify()
    assert ops(graph).count("divide") == 1
    b = -np.expm1(-0.3 * 2.0) / 0.3
    wanted = b * np.exp(0.05 * b)
    np.testing.assert_allclose(graph.evaluate(r=0.05, a=0.3, t=2.0), wanted, rtol=1e-14)


def test_a_number_of_terms_is_a_sum_of_ones() -> None:
    """5 - sum x / (x + y) is sum y / (x + y), and more digits are left where x is large."""
    positive = sg.spec("5", assume=sg.positive)
    graph = sg.trace(lambda x, y: 5 - np.sum(x / (x + y)), x=positive, y=positive).simplify()
    assert sorted(ops(graph)) == ["add", "divide", "sum"]
    x, y = np.array([1e9, 2.0, 3e12, 0.5, 1e15]), np.arange(1.0, 6.0)
    np.testing.assert_allclose(graph.evaluate(x=x, y=y), np.sum(y / (x + y)), rtol=1e-15)
    # Of another number of terms there is no sum of ones: each would be 4 / 5.
    other = sg.trace(lambda x, y: 4 - np.sum(x / (x + y)), x=positive, y=positive)
    np.testing.assert_allclose(other.simplify().evaluate(x=x, y=y), 4 - np.sum(x / (x + y)))


@pytest.mark.parametrize("size", ["n", "m, n"])
def test_common_factors_go_out_where_scalars_stand_beside_arrays(size: str) -> None:
    """X Y s A + X Y u B is (s A + u B) X Y, for vectors and for matrices."""

    def f(x: Any, y: Any, a: Any, b: Any, s: Any, u: Any) -> Any:
        return np.sin(x * y * s * a + x * y * u * b)

    graph = sg.trace(f, x=size, y=size, a=size, b=size, s=(), u=()).simplify()
    assert sorted(ops(graph)) == ["add", "multiply", "multiply", "multiply", "multiply", "sin"]
