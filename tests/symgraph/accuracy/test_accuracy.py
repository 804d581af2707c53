"""Spellings measured on probes: which of two loses digits or range, and which rescues another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy import Judge
from symgraph.accuracy.draws import drawn
from symgraph.accuracy.probes import COUNT
from symgraph.accuracy.stacked_kernels import _ways, stacked  # pyright: ignore[reportPrivateUsage]
from symgraph.accuracy.trials import Trials
from symgraph.facts import holds_on
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.op import Op
from symgraph.namespace import NUMPY
from symgraph.ops.indexing import EMBED
from symgraph.ops.matmul import MATMUL
from symgraph.ops.pseudoinverses import PINV
from symgraph.ops.solving import INV, SOLVE
from symgraph.scipy import special

KNOWLEDGE = Knowledge()
X, Y, Z = sg.input("x", "n"), sg.input("y", "n"), sg.input("z", "n")
P = sg.input("p", "n", assume=sg.simplex(-1))
POSITIVE = sg.input("c", "n", assume=sg.positive)
BOUNDED = sg.input("b", "n", assume=sg.interval(-3, 3))
A, B, C = sg.input("A", "m, n"), sg.input("B", "n, k"), sg.input("C", "k, j")
S, E = snp.sigmoid(X), snp.exp(X)

# Made where they are used: a constant that lives on would be met by every other test.
WORSE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "a difference after a difference": lambda: ((X - 2 * Y) + X, 2 * (X - Y)),
    "logsumexp less the mean under a simplex": lambda: (
        snp.logsumexp(X) - X @ P,
        -snp.sum(P * snp.log_softmax(X)),
    ),
    "the tail of a sigmoid": lambda: (S * (1 - S), S * snp.sigmoid(-X)),
    "the tail of a tanh": lambda: (1 - snp.tanh(X) ** 2, 1 / snp.cosh(X) ** 2),
    "a quotient of squares": lambda: (X**2 / Y**2, (X / Y) ** 2),
    "a number squared": lambda: (X**2 / 1e12, (X / 1e6) ** 2),
    "exps above and below": lambda: (E / (1 + E), S),
    "the square of an exp below": lambda: (E / (1 + E**2) ** 2, E / (1 + E**2) / (1 + E**2)),
    "a log of a difference": lambda: (snp.log(1 - snp.ndtr(X)), snp.log_ndtr(-X)),
    "what is exactly 0": lambda: ((X / 3 + abs(X) / 3) / 2, snp.maximum(X, 0) / 3),
}

ALIKE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "operands exchanged": lambda: (X * Y, Y * X),
    "a common factor": lambda: (X * Y + X, X * (Y + 1)),
    "a sum of a product": lambda: (snp.sum(A @ B), snp.sum(A, axis=0) @ snp.sum(B, axis=1)),
    "a factor before a sum": lambda: (snp.sum(2 * X), 2 * snp.sum(X)),
    "a sign": lambda: (-(X - Y), Y - X),
    "the order of factors": lambda: (X * Y * Z, X * (Y * Z)),
    "the order of products of matrices": lambda: (A @ B @ C, A @ (B @ C)),
    "a product with an array inside bounds": lambda: (
        BOUNDED * (S * (1 - S)) * BOUNDED,
        BOUNDED**2 * S * (1 - S),
    ),
}


def loses(new: Any, old: Any) -> bool:
    return Judge(KNOWLEDGE).loses(new.node, old.node)


@pytest.mark.parametrize("name", WORSE)
def test_the_worse_of_two_spellings_loses(name: str) -> None:
    worse, better = WORSE[name]()
    assert loses(worse, better)
    assert not loses(better, worse)


@pytest.mark.parametrize("name", ALIKE)
def test_spellings_that_are_alike_may_stand_for_one_another(name: str) -> None:
    one, other = ALIKE[name]()
    assert not loses(one, other)
    assert not loses(other, one)


def test_layers_whose_numbers_are_lost_are_judged_alike() -> None:
    """Where scores have lost their digits, a gradient of exactly 0 in one element is luck."""
    judge = Judge(KNOWLEDGE)
    h, w, v = (
        sg.input(name, shape) for name, shape in (("h", "4, 3"), ("w", "3, 3"), ("v", "3, 3"))
    )
    verdicts: list[bool] = []
    for _ in range(12):
        scores = h @ w @ h.T
        e = snp.exp(scores - snp.max(scores, axis=1, keepdims=True))
        total = snp.sum(e, axis=1, keepdims=True)
        p = e / total
        h = h + p @ h @ v
        ct = h @ w @ h.T
        derived = (ct / total - snp.sum(ct * p / total, axis=1, keepdims=True)) * e
        written = p * ct - p * snp.sum(p * ct, axis=1, keepdims=True)
        verdicts.append(judge.loses(written.node, derived.node))
    assert not any(verdicts)


def test_a_value_loses_nothing_beside_itself() -> None:
    assert not loses(S, S)


@pytest.mark.parametrize("place", [None, 2])
def test_another_value_loses_however_sure_it_is(place: int | None) -> None:
    """Of every element, or of one alone."""
    x = sg.input("x", (4, 3))
    other = 2 * x if place is None else snp.index_update(x, np.s_[place], 2 * x[place])
    assert Judge(KNOWLEDGE).loses(other.node, x.node)


def test_another_value_loses_if_it_is_seen_at_one_probe_only() -> None:
    """Of a root of a difference one probe near 1 in four is a number."""
    x, y = sg.input("x", ()), sg.input("y", ())
    root, judge = np.sqrt(y - 0.5 + 0 * x), Judge(Knowledge())
    other = root * np.sqrt(y + 0.5)
    assert judge.loses(other.node, root.node)
    assert judge.differs(other.node, root.node)


def test_integers_have_no_digits_to_lose() -> None:
    n = sg.input("n", "n", "int64")
    assert not loses(n + n, 2 * n)


def test_a_stable_spelling_rescues() -> None:
    judge = Judge(KNOWLEDGE)
    plain = E / (1 + E)
    assert judge.rescues(S.node, plain.node)
    assert not judge.rescues(plain.node, S.node)
    assert judge.fails(plain.node)
    assert not judge.fails(S.node)


def test_a_rule_that_rescues_is_applied_for_some_digits() -> None:
    """sigmoid(x - y) rounds the difference, which the exps do not: they overflow instead."""
    x, y = sg.input("x", "5"), sg.input("y", "5")
    plain, stable = snp.exp(x) / (snp.exp(x) + snp.exp(y)), snp.sigmoid(x - y)
    judge = Judge(KNOWLEDGE)
    assert judge.loses(stable.node, plain.node)
    assert judge.rescues(stable.node, plain.node)
    small = sg.trace(lambda x, y: np.exp(x) / (np.exp(x) + np.exp(y)), x="5", y="5").simplify()
    assert small.op_count() == 5
    assert "sigmoid" in str(small)


def test_no_rescue_is_wrong_far_out() -> None:
    """At 1e-26 one is 0 / 0**2, and the other 0 / 1e-26, where 2e-26 is right."""
    x = sg.input("x", "5", assume=sg.positive)
    e, m, square = snp.exp(x), snp.expm1(x), snp.square(x)
    plain = 3 * (square / m) - e * x**3 / snp.square(m)
    quotient = (3 - e * x / m) * square / m
    assert not Judge(KNOWLEDGE).rescues(quotient.node, plain.node)


def test_a_nan_becomes_no_wrong_number() -> None:
    square = X @ X
    unit = X / snp.sqrt(square)  # 0 where the square overflows
    assert loses(unit, unit * (square / square))


@pytest.mark.parametrize(
    "facts",
    [
        (),
        (sg.positive,),
        (sg.interval(0.5, 2.0),),
        (sg.interval(3.0, np.inf),),
        (sg.simplex(-1),),
        (sg.one_hot(-1),),
        (sg.unit_norm(-1),),
        (sg.integer_valued,),
        (sg.symmetric,),
        (sg.positive_definite,),
        (sg.triangular("lower"),),
        (sg.diagonal,),
    ],
    ids=str,
)
def test_probes_have_the_facts_of_the_value(facts: tuple[sg.Fact, ...]) -> None:
    known = KNOWLEDGE.of(sg.input("a", (3, 3), assume=facts).node)
    numbers = drawn((3, 3), np.dtype("float64"), known, 0)
    assert numbers.shape == (COUNT, 3, 3)
    for fact in facts:
        assert all(holds_on(fact, each) for each in numbers)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 4)], ids=str)
def test_every_way_to_stack_gives_what_each_point_gives(shape: tuple[int, ...]) -> None:
    x = sg.input("x", shape)
    values: list[Callable[[Any], Any]] = [
        lambda x: x * x + 1,
        lambda x: snp.sum(x, axis=None),
        lambda x: snp.broadcast_to(x, (2, *shape)) + x,
        lambda x: snp.reshape(x, (-1,)),
        lambda x: snp.exp(x).T,
        lambda x: snp.reshape(x, (-1,)) @ snp.reshape(x, (-1,)),
        lambda x: snp.where(x > 0, x, 2.0),
    ]
    trials = Trials(KNOWLEDGE)
    start = trials.of(x.node)
    assert start is not None
    for value in values:
        result = value(x)
        found = trials.of(result.node)
        graph = sg.trace(value, sg.spec(shape))
        assert found is not None
        with np.errstate(all="ignore"):
            for place in (0, 7, COUNT - 1):
                np.testing.assert_allclose(
                    found.right[place], graph.evaluate(start.right[place]), rtol=1e-12
                )


def test_an_overflow_in_place_of_a_right_number_is_a_loss() -> None:
    assert loses(X * X / (X * X + 1), X / (X + 1 / X))


def test_a_nan_in_place_of_a_saturated_zero_is_a_loss() -> None:
    """1 - tanh(1/x)**2 is 0 near x = 0: it stays 0 over x * x in two steps, and is NaN in one."""
    tail = 1 - snp.square(snp.tanh(1 / X))
    assert loses(tail / snp.square(X), tail * (1 / X) / X)
    assert not loses(tail * (1 / X) / X, tail / snp.square(X))


@pytest.mark.parametrize("outer", [np.sum, lambda y: np.sum(np.log1p(y**2))])
@pytest.mark.parametrize("size", [1e-20, 1e-25])
def test_a_saturated_gradient_stays_a_number(outer: Callable[[Any], Any], size: float) -> None:
    x = sg.input("x", 3, "float32")
    plain = sg.graph(outer(np.tanh(1 / x))).gradient(x, value=False)
    at = np.full(3, size, np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(plain.evaluate(x=at), 0)
        np.testing.assert_array_equal(plain.simplify().evaluate(x=at), 0)


def test_what_is_below_the_normal_numbers_is_with_noise() -> None:
    """Each by as much as it may be rounded: by one unit in the last place, and zeros by none."""
    tiny = np.float32(1e-41)
    found = np.full((1000, 4), [tiny, 0, 1, 3 * tiny], dtype=np.float32)
    shaken = Trials(Knowledge())._with_noise(found)  # pyright: ignore[reportPrivateUsage]
    off = np.abs(shaken - found).max(axis=0)
    last = np.finfo(np.float32).smallest_subnormal
    np.testing.assert_array_equal(off[[0, 1, 3]], [last, 0, last])


def test_long_dimensions_are_shortened() -> None:
    x = sg.input("x", (5_000, 300))
    found = Trials(KNOWLEDGE).of((x - snp.mean(x, axis=0)).node)
    assert found is not None
    assert found.right.size < 10_000


def test_what_a_kernel_does_not_take_is_drawn() -> None:
    x = sg.input("x", (100,))
    found = Trials(KNOWLEDGE).of((snp.reshape(x, (10, 10)) * 2).node)
    assert found is not None
    assert np.all(np.isfinite(found.right))


def test_the_verdict_does_not_change() -> None:
    one, other = WORSE["the tail of a tanh"]()
    assert [loses(one, other) for _ in range(3)] == [True] * 3


def test_what_stands_over_other_random_numbers_is_not_compared() -> None:
    """Shortened to 4, a vector of 20 is no matrix of 4 by 5: its product is drawn at random."""
    b, v = sg.input("b", (3, 2, 4, 5)), sg.input("v", (20,))
    whole = snp.reshape(b * b, (6, 20)) @ v
    blocks = snp.reshape(snp.sum(b * b * snp.reshape(v, (4, 5)), axis=(2, 3)), (6,))
    judge = Judge(Knowledge())
    assert not judge.loses(blocks.node, whole.node)
    assert not judge.loses(whole.node, blocks.node)


def test_a_system_is_as_accurate_as_its_condition_allows() -> None:
    """Two systems of one matrix are solved no better than one with the sum on its right side."""
    x = sg.input("x", (3, 3), assume=sg.positive_definite)
    b, c = sg.input("b", (3,)), sg.input("c", (3,))
    one = snp.linalg.solve(x, b + c)
    two = snp.linalg.solve(x, b) + snp.linalg.solve(x, c)
    assert not Judge(Knowledge()).loses(one.node, two.node)


def test_an_overflow_near_the_end_of_the_range_is_no_failure() -> None:
    x = sg.input("x", ())
    judge = Judge(Knowledge())
    assert not judge.fails((x * snp.exp(x) / x).node)
    assert judge.fails((snp.exp(x) / (1 + snp.exp(x))).node)


# -- kernels at many points at once ----------------------------------------------------------------
SIDES = [(1,), (3,), (4,), *product((1, 2, 4), repeat=2), *product((1, 2, 4), (1, 2, 4), (1, 4))]


def products() -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Shapes of operands that a product of matrices takes, and of what it gives."""
    found: list[Any] = []
    for left, right in product(SIDES, SIDES):
        with suppress(ValueError):
            found.append((left, right, (np.ones(left) @ np.ones(right)).shape))
    return found


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("seed", range(6))
def test_products_at_many_points_are_those_point_by_point(seed: int) -> None:
    """Whatever shapes were met before: how a kernel takes points is found once and kept."""
    rng = np.random.default_rng(seed)
    shapes, checked = products(), 0
    for _ in range(100):
        _ways.clear()
        for left, right, shape in [shapes[i] for i in rng.integers(len(shapes), size=8)]:
            counts = [(1, 66), (66, 1), (66, 66), (1, 1)][rng.integers(4)]
            a = rng.normal(size=(counts[0], *left)) * rng.choice([1.0, np.nan, 0.0])
            b = rng.normal(size=(counts[1], *right))
            wanted = [a[min(i, len(a) - 1)] @ b[min(i, len(b) - 1)] for i in range(max(counts))]
            found = stacked(MATMUL, (a, b), {}, shape)
            assert found is not None
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
            checked += 1
    assert checked == 800


def test_whether_a_sum_rounds_depends_on_its_axis() -> None:
    """One of length 1 gives its element as it is: that is no sum of others."""
    trials = Trials(Knowledge())
    row = snp.reshape(sg.input("x", (4,)), (1, 4))
    alone, joint = trials.of(snp.sum(row, axis=0).node), trials.of(snp.sum(row, axis=1).node)
    assert alone is not None
    assert joint is not None
    assert np.array_equal(alone.found[0], alone.found[1])
    assert not np.array_equal(joint.found[0], joint.found[1])


def test_a_way_to_take_points_is_that_of_the_params() -> None:
    """An axis counted from the front is not the same at many points; one from the back is."""

    def kernel(xp: Any, x: Any, *, axis: int) -> Any:
        return xp.cumsum(x, axis)

    total = Op("total", infer=lambda x, *, axis: x, kernel=kernel)
    x = np.random.default_rng(5).normal(size=(66, 3, 3))
    for axis in (-1, 1, 0, -2):
        found = stacked(total, (x,), {"axis": axis}, (3, 3))
        assert found is not None
        np.testing.assert_allclose(found, np.stack([np.cumsum(each, axis) for each in x]))


@pytest.mark.parametrize("index", [((None, None, 1), -2), (1, (None, None, 1)), (0, 2)], ids=str)
def test_a_part_of_zeros_is_filled_at_all_points_at_once(index: Any) -> None:
    sides = [3 for entry in index if isinstance(entry, tuple)]
    x = np.random.default_rng(5).normal(size=(66, *sides))
    calls: list[int] = []

    def kernel(xp: Any, x: Any, **params: Any) -> Any:
        calls.append(1)
        return EMBED.kernel(xp, x, **params)

    counted = replace(EMBED, kernel=kernel)
    params = {"shape": (3, 3), "index": index}
    stacked(counted, (x,), params, (3, 3))
    calls.clear()
    found = stacked(counted, (x,), params, (3, 3))
    assert found is not None
    wanted = [EMBED.kernel(NUMPY, each, **params) for each in x]
    np.testing.assert_array_equal(found, np.stack(wanted))
    assert len(calls) == 1


def test_a_kernel_that_refuses_a_shape_is_not_asked_at_every_point() -> None:
    asked: list[int] = []

    def kernel(xp: Any, x: Any) -> Any:
        asked.append(1)
        raise ValueError("no such shape")

    refusing = Op("refusing", infer=lambda x: x, kernel=kernel)
    assert stacked(refusing, (np.ones((66, 3)),), {}, (3,)) is None
    assert 0 < len(asked) < 10
    asked.clear()
    assert stacked(refusing, (np.ones((66, 3)),), {}, (3,)) is None
    assert not asked


def test_a_kernel_that_gives_another_shape_is_asked_once() -> None:
    """A matrix with 20 rows, of a diagonal that was shortened to 4: other sizes may fit."""
    asked: list[int] = []

    def kernel(xp: Any, x: Any, *, rows: int) -> Any:
        asked.append(1)
        return NUMPY.diagonal_matrix(x, rows, rows, 0)

    placed = Op("placed", infer=lambda x, *, rows: x, kernel=kernel)
    for _ in range(2):
        assert stacked(placed, (np.ones((66, 4)),), {"rows": 20}, (4, 4)) is None
    assert len(asked) == 1
    found = stacked(placed, (np.ones((66, 20)),), {"rows": 20}, (20, 20))
    assert found is not None
    np.testing.assert_array_equal(found, np.broadcast_to(np.eye(20), (66, 20, 20)))
    assert len(asked) < 20


def test_a_kernel_that_refuses_numbers_is_asked_at_every_point() -> None:
    """No inverse at the first points, but at others."""
    x = np.zeros((66, 2, 2))
    x[40:] = np.eye(2)
    found = stacked(INV, (x,), {}, (2, 2))
    assert found is not None
    assert np.isnan(found[:40]).all()
    np.testing.assert_array_equal(found[40:], x[40:])


@pytest.mark.parametrize("sides", [(3,), (3, 2)])
def test_systems_beside_singular_ones_are_solved_at_once(sides: tuple[int, ...]) -> None:
    """As one by one, to the bit; a vector of right sides, and one that all points share, too."""
    asked: list[int] = []

    def kernel(xp: Any, a: Any, b: Any) -> Any:
        asked.append(1)
        return np.linalg.solve(a, b)

    counted = replace(SOLVE, name="counted", kernel=kernel)
    rng = np.random.default_rng(0)
    a = rng.normal(size=(66, 3, 3))
    a[::5], a[::7, 1] = 0, a[::7, 0]
    a[3] = np.nan
    for b in (rng.normal(size=(66, *sides)), rng.normal(size=(1, *sides))):
        with np.errstate(invalid="ignore"):
            stacked(counted, (a, b), {}, sides)
            asked.clear()
            found = stacked(counted, (a, b), {}, sides)
        assert found is not None
        refused = 0
        for each, right, value in zip(a, np.broadcast_to(b, (66, *sides)), found, strict=True):
            try:
                wanted = np.linalg.solve(each, right)
            except np.linalg.LinAlgError:
                wanted, refused = np.full(sides, np.nan), refused + 1
            np.testing.assert_array_equal(value, wanted)
        assert refused > 13
        assert len(asked) == 2 + refused


def test_a_nan_in_place_of_a_wrong_number_is_no_loss() -> None:
    """Where the square overflows the quotient is 0, and nearly 1 is right."""
    length = snp.sqrt(1 + X * X)
    assert not loses(X * length / (1 + X * X), X / length)


@pytest.mark.timeout(60)
def test_a_decomposition_of_what_has_overflowed_is_not_begun() -> None:
    """The kernel of LAPACK never ends for some infinite entries."""
    x = np.ones((3, 4, 4), np.float32)
    x[1, 2, 3] = np.inf
    found = stacked(PINV, [x], {"rtol": None}, (4, 4))
    assert found is not None
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2]], np.linalg.pinv(x[[0, 2]]))
    graph = sg.trace(lambda a: np.sum(np.linalg.pinv(np.swapaxes(a, -1, -2) @ a) ** 2), a="3, 4, 6")
    assert graph.gradient("a").simplify().op_count() > 0


@pytest.mark.parametrize(
    "function",
    [
        # y1 has no value of negative numbers, and cotdg only so far.
        lambda x: np.sum(special.y1(np.exp(x)) ** 2) / np.sum(special.y1(np.exp(x))),
        lambda x: np.sqrt(np.sum(special.cotdg(np.exp2(x)) ** 2)),
    ],
)
def test_no_number_is_lost_where_a_function_has_values(function: Any) -> None:
    x = (np.random.default_rng(1).standard_normal((3, 4)) * 30).astype(np.float32)
    derived = sg.trace(function, x=x).gradient("x", value=False)
    right = np.isfinite(derived.evaluate(x=x))
    assert right.sum() > 8
    assert np.isfinite(derived.simplify().evaluate(x=x))[right].all()
