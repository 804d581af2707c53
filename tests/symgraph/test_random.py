"""sg.random: published bits, the same everywhere, of the right distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import symgraph as sg
from symgraph.namespace import NUMPY
from symgraph.ops.randombits import threefry

KEY = sg.random.key(2024)

# threefry2x32, 20 rounds: the known answers published with Random123 (counter, key, result).
KNOWN_ANSWERS = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


def words(*values: int) -> Any:
    return np.array(values, np.uint32)


@pytest.mark.parametrize(("counter", "key", "wanted"), KNOWN_ANSWERS)
def test_known_answers_of_threefry(counter: Any, key: Any, wanted: Any) -> None:
    low, high = words(*counter)[:1], words(*counter)[1:]
    found = threefry(NUMPY, words(*key), low, high)
    assert tuple(int(each[0]) for each in found) == wanted


def test_the_cipher_is_that_of_jax() -> None:
    core = pytest.importorskip("jax.extend.random").threefry_2x32
    rng = np.random.default_rng(0)
    key, blocks = rng.integers(0, 2**32, (2,), np.uint32), rng.integers(0, 2**32, 1000, np.uint32)
    low, high = np.split(blocks, 2)
    found = np.concatenate(threefry(NUMPY, key, low, high))
    np.testing.assert_array_equal(found, core((key[0], key[1]), blocks))


def test_bits_are_the_words_of_the_counter_and_longer_arrays_begin_as_shorter_ones() -> None:
    zero = words(0, 0)
    assert [hex(each) for each in sg.random.bits(zero, (2,))] == ["0x6b200159", "0x99ba4efe"]
    assert hex(sg.random.bits(zero, (), "uint64")) == "0x6b20015999ba4efe"
    for dtype in ("uint32", "uint64"):
        whole = sg.random.bits(KEY, (100_000,), dtype)
        np.testing.assert_array_equal(sg.random.bits(KEY, (77,), dtype), whole[:77])
        np.testing.assert_array_equal(sg.random.bits(KEY, (5, 7), dtype).ravel(), whole[:35])
        first = sg.random.bits(KEY, (33_333,), dtype)
        np.testing.assert_array_equal(first, whole[:33_333])


SAMPLERS: dict[str, Any] = {
    "bits": lambda key, shape: sg.random.bits(key, shape),
    "wide": lambda key, shape: sg.random.bits(key, shape, "uint64"),
    "uniform": lambda key, shape: sg.random.uniform(key, shape),
    "uniform32": lambda key, shape: sg.random.uniform(key, shape, "float32", -2.0, 3.0),
    "normal": lambda key, shape: sg.random.normal(key, shape),
    "normal32": lambda key, shape: sg.random.normal(key, shape, "float32"),
    "truncated": lambda key, shape: sg.random.truncated_normal(key, 1.0, 3.0, shape),
    "exponential": lambda key, shape: sg.random.exponential(key, shape),
    "gumbel": lambda key, shape: sg.random.gumbel(key, shape),
    "logistic": lambda key, shape: sg.random.logistic(key, shape),
    "laplace": lambda key, shape: sg.random.laplace(key, shape),
    "bernoulli": lambda key, shape: sg.random.bernoulli(key, 0.3, shape),
    "randint": lambda key, shape: sg.random.randint(key, -5, 7, shape),
    "choice": lambda key, shape: sg.random.choice(key, 9, shape),
    "weighted": lambda key, shape: sg.random.choice(key, 3, shape, p=[0.2, 0.5, 0.3]),
    "folded": lambda key, shape: sg.random.normal(sg.random.fold_in(key, 3), shape),
    "split": lambda key, shape: sg.random.normal(sg.random.split(key)[1], shape),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 2)], ids=str)
def test_numbers_are_the_same_at_once_in_a_graph_and_on_jax(name: str, shape: Any) -> None:
    sampler = SAMPLERS[name]
    eager = np.asarray(sampler(KEY, shape))
    assert eager.shape == shape
    graph = sg.trace(lambda key: sampler(key, shape), key=sg.spec((2,), "uint32"))
    wholes = [graph.evaluate(KEY), graph.lower()(KEY), graph.simplify().lower()(KEY)]
    pytest.importorskip("jax")
    wholes.append(graph.lower("jax")(KEY))
    for found in map(np.asarray, wholes):
        assert found.dtype == eager.dtype
        if eager.dtype.kind == "f":
            tolerance = 1e-12 if eager.dtype == np.float64 else 2e-6
            np.testing.assert_allclose(found, eager, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(found, eager)


def test_named_dimensions() -> None:
    graph = sg.trace(
        lambda key, x: x + sg.random.normal(key, x.shape),
        key=sg.spec((2,), "uint32"),
        x=sg.spec("n, 3"),
    ).lower()
    for n in (0, 1, 4):
        found = graph(KEY, np.zeros((n, 3)))
        np.testing.assert_allclose(found, sg.random.normal(KEY, (n, 3)), rtol=1e-13)
    with pytest.raises(sg.ShapeError, match="no dimension of the name 'n'"):
        sg.random.normal(KEY, ("n",))


def test_keys_along_leading_axes_are_independent_keys() -> None:
    keys = sg.random.split(KEY, 4)
    found = sg.random.normal(keys, (3,))
    for row, key in zip(found, keys, strict=True):
        np.testing.assert_array_equal(row, sg.random.normal(key, (3,)))
    folded = sg.random.fold_in(KEY, np.arange(5))
    assert folded.shape == (5, 2)
    np.testing.assert_array_equal(folded[3], sg.random.fold_in(KEY, 3))


def test_keys_made_of_a_key_differ_from_one_another_and_from_its_numbers() -> None:
    found = [
        sg.random.bits(KEY, (4000,)).reshape(-1, 2),
        sg.random.split(KEY, 2000),
        sg.random.fold_in(KEY, np.arange(2000)),
    ]
    rows = np.concatenate(found).astype(np.uint64)
    assert len(np.unique((rows[:, 0] << 32) | rows[:, 1])) == 6000


# -- distributions -------------------------------------------------------------------------------
MANY = 20_000
CONTINUOUS = {
    "uniform": ("uniform", ()),
    "normal": ("norm", ()),
    "normal32": ("norm", ()),
    "exponential": ("expon", ()),
    "gumbel": ("gumbel_r", ()),
    "logistic": ("logistic", ()),
    "laplace": ("laplace", ()),
    "truncated": ("truncnorm", (1.0, 3.0)),
    "uniform32": ("uniform", (-2.0, 5.0)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_follow_their_distribution(name: str) -> None:
    law, args = CONTINUOUS[name]
    for seed in (0, 1):
        sample = np.asarray(SAMPLERS[name](sg.random.key(seed), (MANY,)), np.float64)
        assert stats.kstest(sample, law, args=args).pvalue > 1e-3
        frozen = getattr(stats, law)(*args)
        assert abs(sample.mean() - frozen.mean()) < 5 * frozen.std() / MANY**0.5
        assert abs(sample.std() / frozen.std() - 1) < 0.05
        assert abs(np.corrcoef(sample[:-1], sample[1:])[0, 1]) < 5 / MANY**0.5


def test_truncated_normals_far_out_keep_their_digits() -> None:
    for low, high in ((8.0, 9.0), (-9.0, -8.0), (30.0, np.inf), (-np.inf, np.inf)):
        sample = sg.random.truncated_normal(KEY, low, high, (2000,))
        assert np.all((sample >= low) & (sample <= high))
        assert len(np.unique(sample)) == 2000
        assert stats.kstest(sample, stats.truncnorm(low, high).cdf).pvalue > 1e-3


def test_counts_of_choices() -> None:
    found = np.bincount(sg.random.randint(KEY, 3, 10, (MANY,)) - 3)
    assert stats.chisquare(found).pvalue > 1e-3
    assert abs(sg.random.bernoulli(KEY, 0.3, (MANY,)).mean() - 0.3) < 0.02
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    expected = MANY * weights[[0, 2, 3]]
    with np.errstate(divide="ignore"):
        logits = np.broadcast_to(np.log(weights), (MANY, 4))
    for places in (
        sg.random.choice(KEY, 4, (MANY,), p=weights),
        sg.random.categorical(KEY, logits),
    ):
        counts = np.bincount(places, minlength=4)
        assert counts[1] == 0
        assert stats.chisquare(counts[[0, 2, 3]], expected).pvalue > 1e-3


def test_permutations_are_permutations_and_all_come() -> None:
    keys = sg.random.split(KEY, 600)
    seen = {tuple(sg.random.permutation(key, 3).tolist()) for key in keys}
    assert len(seen) == 6
    rows = np.arange(12.0).reshape(6, 2)
    shuffled = sg.random.permutation(KEY, rows)
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), rows)
    assert not np.array_equal(shuffled, rows)
    few = sg.random.choice(KEY, rows, (4,), replace=False)
    assert len(np.unique(few[:, 0])) == 4
    weighted = sg.random.choice(KEY, 5, (3,), replace=False, p=[0.5, 0.5, 0.0, 0.0, 1e-9])
    assert sorted(weighted.tolist()) == [0, 1, 4]
    traced = sg.trace(lambda key: sg.random.permutation(key, 7), key=sg.spec((2,), "uint32"))
    np.testing.assert_array_equal(traced.lower()(KEY), sg.random.permutation(KEY, 7))


def test_uniform_numbers_are_exact_multiples_below_one() -> None:
    for dtype, bits in (("float32", 24), ("float64", 53)):
        u = sg.random.uniform(KEY, (MANY,), dtype)
        assert u.dtype == dtype
        assert np.all((u >= 0) & (u < 1))
        scaled = u * np.asarray(2.0**bits, dtype)
        np.testing.assert_array_equal(scaled, np.floor(scaled))
        assert np.any(scaled % 2 == 1)
        z = sg.random.normal(KEY, (MANY,), dtype)
        assert z.dtype == dtype
        assert np.all(np.isfinite(z))


# -- in graphs -----------------------------------------------------------------------------------
def loss(w: Any, key: Any) -> Any:
    first, second = sg.random.split(key)
    hidden = np.tanh(w + 0.1 * sg.random.normal(first, (6,)))
    return np.sum(hidden * sg.random.bernoulli(second, 0.5, (6,)) * w) ** 2


def test_a_checkpointed_graph_draws_the_same_numbers_again() -> None:
    w = np.linspace(-1, 1, 6)
    graph = sg.trace(loss, w=(6,), key=sg.spec((2,), "uint32")).gradient("w").simplify()
    wanted = graph.lower()(w, KEY)
    drawn = [node for node in graph.dag.nodes if node.op.name == "random_bits"]
    assert len(drawn) == 2
    inner = [node for node in graph.dag.nodes if not node.is_input and not node.is_constant]
    again = graph.checkpoint(recompute=inner[:-3])
    assert any(node.copy and node.op.name == "random_bits" for node in again.dag.nodes)
    for found, want in zip(again.lower()(w, KEY), wanted, strict=True):
        np.testing.assert_array_equal(found, want)
    np.testing.assert_allclose(wanted[0], loss(w, KEY), rtol=1e-12)


def test_reparameterised_samples_are_differentiated_through() -> None:
    def f(p, key):
        return np.sum((p["loc"] + p["scale"] * sg.random.normal(key, (4,))) ** 2)

    z = sg.random.normal(KEY, (4,))
    found = sg.grad(f)({"loc": 0.5, "scale": 2.0}, KEY)
    np.testing.assert_allclose(found["loc"], np.sum(2 * (0.5 + 2 * z)))
    np.testing.assert_allclose(found["scale"], np.sum(2 * (0.5 + 2 * z) * z))
    slope = sg.grad(lambda high: np.sum(sg.random.uniform(KEY, (3,), high=high)))(2.0)
    np.testing.assert_allclose(slope, np.sum(sg.random.uniform(KEY, (3,))))


def test_a_new_key_is_no_new_trace_and_gives_new_numbers() -> None:
    g = sg.value_and_grad(loss)
    w = np.linspace(-1, 1, 6)
    values = [g(w, sg.random.fold_in(KEY, step))[0] for step in range(20)]
    assert len(set(map(float, values))) == 20
    assert g.cache_info().misses == 1


def test_there_is_no_derivative_by_a_key_and_steps_of_loops_draw_anew() -> None:
    with pytest.raises(sg.DTypeError):
        sg.grad(loss, wrt="key")(np.ones(6), KEY)

    def walk(x, key):
        def step(carry, k):
            return carry + sg.random.normal(k), carry

        return sg.scan(step, x, sg.random.split(key, 5))[0]

    found = sg.value_and_grad(walk)(1.0, KEY)
    steps = [sg.random.normal(k) for k in sg.random.split(KEY, 5)]
    np.testing.assert_allclose(found, (1 + sum(steps), 1.0))


def test_equal_draws_are_one() -> None:
    graph = sg.trace(
        lambda key: sg.random.normal(key, (3,)) - sg.random.normal(key, (3,)),
        key=sg.spec((2,), "uint32"),
    )
    assert sum(node.op.name == "random_bits" for node in graph.dag.nodes) == 1
    np.testing.assert_array_equal(graph.lower()(KEY), np.zeros(3))


# -- refusals ------------------------------------------------------------------------------------
def test_what_is_no_key_or_no_seed_is_refused_with_advice() -> None:
    for wrong in (3, np.random.default_rng(0)):
        with pytest.raises(sg.InputError, match=r"sg\.random\.key"):
            sg.random.normal(wrong, (3,))
    for wrong in (np.ones(2), np.ones(3, np.uint32), sg.input("x", (2,), "int64")):
        with pytest.raises(sg.DTypeError, match=r"sg\.random\.key\(seed\)"):
            sg.random.normal(wrong, (3,))
    for wrong in (-1, 2**64, 1.5, True, "0"):
        with pytest.raises(sg.InputError, match="A seed is an integer"):
            sg.random.key(wrong)
    with pytest.raises(sg.InputError, match="32 bits"):
        sg.random.fold_in(KEY, 2**32)
    with pytest.raises(sg.DTypeError, match="float16"):
        sg.random.normal(KEY, (), "float16")
    with pytest.raises(sg.InputError, match="from 1 to"):
        sg.random.randint(KEY, 3, 3)
    with pytest.raises(sg.InputError, match="without replacement"):
        sg.random.choice(KEY, 3, (4,), replace=False)


def test_keys_of_seeds() -> None:
    assert sg.random.key(2**64 - 1).tolist() == [2**32 - 1, 2**32 - 1]
    np.testing.assert_array_equal(sg.random.key(np.int64(5)), [0, 5])
    graph = sg.trace(sg.random.key, seed=sg.spec((), "uint64"))
    for seed in (0, 7, 2**40 + 3):
        np.testing.assert_array_equal(graph.lower()(np.uint64(seed)), sg.random.key(seed))


def test_randint_reaches_both_ends_of_every_dtype() -> None:
    found = sg.random.randint(KEY, -128, 128, (MANY,), "int8")
    assert (found.min(), found.max(), found.dtype) == (-128, 127, np.int8)
    wide = sg.random.randint(KEY, 0, 2**32, (1000,), "uint32")
    assert wide.max() > 2**31
