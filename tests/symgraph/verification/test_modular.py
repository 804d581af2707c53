"""Ring identities modulo a prime: what holds does, what does not differs, the rest is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.verification.modular import PRIME, DividesByZero, NoRingIdentity, modular_values


def at_random(*sides: Any) -> list[Any]:
    """Both sides at one random point of the field."""
    rng = np.random.default_rng(0)
    given = {each.node: rng.integers(0, PRIME, each.shape) for each in (X, Y)}
    return modular_values([side.node for side in sides], given, {})


X, Y = sg.input("x", (2, 3)), sg.input("y", (3, 2))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (snp.square(X + 1), X * X + 2 * X + 1),
        (snp.transpose(X @ Y), snp.transpose(Y) @ snp.transpose(X)),
        (snp.sum(snp.sum(X, axis=0), axis=0), snp.sum(X)),
        (snp.prod(X, axis=1), X[:, 0] * X[:, 1] * X[:, 2]),
        (X / 0.5 - snp.reciprocal(X), (2 * X * X - 1) / X),
        (X**3, X * snp.square(X)),
        (snp.concatenate([X, X])[2:], X),
    ],
)
def test_identities_hold(left: Any, right: Any) -> None:
    one, other = at_random(left, right)
    np.testing.assert_array_equal(one, other)


def test_what_floating_point_hardly_sees_differs() -> None:
    one, other = at_random(X * 2.0**20, X * 2.0**20 + 2.0**-10)
    assert np.all(one != other)


def test_what_is_no_ring_identity_is_refused() -> None:
    for side in (snp.exp(X), X * 0.1, X ** snp.sum(Y)):
        with pytest.raises(NoRingIdentity):
            at_random(side)


def test_division_by_zero_is_undefined() -> None:
    with pytest.raises(DividesByZero):
        at_random(X / (Y - Y)[0, 0])
