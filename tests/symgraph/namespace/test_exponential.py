"""The matrix exponential: digits beside a power series of many digits, stacks, ends of range."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import linalg

from symgraph.namespace.exponential import AT_ONCE, expm

RNG = np.random.default_rng(0)


def _squares(scale: float, size: int = 4, count: int = 5) -> Any:
    return scale * RNG.normal(size=(count, size, size))


def _rates(x: Any) -> Any:
    return np.abs(x) - np.eye(x.shape[-1]) * np.abs(x).sum(axis=-1)[..., None]


STACKS = {
    "small": _squares(1e-5),
    "ordinary": _squares(1.0, 3),
    "large": _squares(20.0),
    "rates": _rates(_squares(4.0)),
    "turns": (turns := _squares(8.0)) - turns.mT,
    "upper": np.triu(_squares(5.0, 5)),
    "lower": np.tril(_squares(5.0, 5)),
    "equal diagonal": np.triu(_squares(1e4), 1) + 3 * np.eye(4),
    "steep": np.triu(_squares(1.0, 8)) + np.triu(_squares(1e4, 8), 1),
    "nearly triangular": _squares(1e-2) + np.triu(_squares(1e3), 1),
    "diagonal": np.eye(3) * RNG.normal(size=(5, 3, 1)) * 30,
}


def _by_series(x: Any) -> Any:
    with mpmath.workdps(60):
        power = total = mpmath.eye(len(x))
        halvings = max(0, int(np.ceil(np.log2(np.abs(x).sum() + 1e-300)))) + 5
        scaled = mpmath.matrix(x.tolist()) / mpmath.mpf(2) ** halvings
        for k in range(1, 30):
            power = power * scaled / k
            total = total + power
        for _ in range(halvings):
            total = total * total
        return np.array(total.tolist(), dtype=float)


@pytest.mark.parametrize("name", STACKS)
def test_it_has_the_digits_of_its_norm(name: str) -> None:
    stack = STACKS[name]
    found = expm(stack)
    for one, value in zip(stack, found, strict=True):
        want = _by_series(one)
        np.testing.assert_allclose(value, want, rtol=0, atol=1e-13 * np.linalg.norm(want, 1))
        np.testing.assert_array_equal(expm(one), value)  # Whatever is beside it in the stack.


def test_zeros_of_a_triangle_stay_zeros() -> None:
    for name, part in (("upper", np.tril), ("lower", np.triu)):
        assert not part(expm(STACKS[name]), -1 if part is np.tril else 1).any()
    assert not (expm(STACKS["diagonal"]) * (1 - np.eye(3))).any()


def test_two_rows_are_known_to_the_last_digits() -> None:
    """exp of ((a, 1), (0, b)) has (exp(a) - exp(b)) / (a - b) in its corner."""
    for a, b in ((1.0, 1.0 + 1e-9), (700.0, -700.0), (-800.0, 3.0), (0.5, 0.5)):
        found = expm(np.array([[a, 1.0], [0.0, b]]))[0, 1]
        with mpmath.workdps(60):
            high, low = mpmath.mpf(a), mpmath.mpf(b)
            want = mpmath.exp(a) if a == b else (mpmath.exp(high) - mpmath.exp(low)) / (high - low)
        np.testing.assert_allclose(found, float(want), rtol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_gives_nan_in_its_matrix_alone(bad: float) -> None:
    stack = _squares(1.0)
    stack[2, 1, 0] = bad
    found = expm(stack)
    assert np.isnan(found[2]).all()
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(found[others], expm(stack[others]))


def test_huge_elements_overflow_or_vanish() -> None:
    found = expm(np.array([[[-1e300, 0.1], [0.1, -1e300]], [[1e5, 1.0], [1.0, 1e5]]]))
    assert not found[0].any()
    assert np.isinf(found[1]).all()


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3), (1, 1), (2, 1, 1), (2, 3, 4, 4)])
def test_shapes_and_single_precision(shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape).astype("float32")
    found = expm(x)
    assert (found.shape, found.dtype) == (shape, x.dtype)
    if x.size:
        np.testing.assert_allclose(found, linalg.expm(x.astype(float)), rtol=2e-5, atol=1e-5)


def test_long_stacks_and_layouts_change_nothing() -> None:
    long = RNG.normal(size=(AT_ONCE // 9 + 7, 3, 3))
    np.testing.assert_array_equal(expm(long)[-7:], expm(long[-7:]))
    turned = np.asfortranarray(long[5])[::-1, ::-1]
    np.testing.assert_allclose(expm(turned), expm(long[5])[::-1, ::-1], rtol=1e-13)
