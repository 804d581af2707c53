"""Random programs with branches and loops, applied to a batch and to each example by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

UNARY: list[Callable[[Any], Any]] = [
    np.tanh,
    np.exp,
    np.log,
    np.sqrt,
    lambda x: 1 / x,
    np.sum,
    lambda x: x[::-1],
    np.cumsum,
    np.sort,
    np.max,
    snp.softmax,
    np.linalg.norm,
    lambda x: np.where(x > 0, np.log(x), x),
    lambda x: x[np.argmax(x)],
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x - y,
    lambda x, y: x / y,
    np.dot,
    np.maximum,
    lambda x, y: np.outer(x, y) @ y,
    lambda x, y: x @ (np.outer(y, y) + np.eye(3)),
]
SHARE = np.array([1.0, 2.0, 3.0])


class RandomProgram:
    """A loss of two vectors, through a random graph of vectors."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.plan = rng.integers(0, 1000, size=(int(rng.integers(3, 8)), 4)).tolist()
        self.w, self.x = rng.normal(size=3), rng.normal(size=(4, 3))

    def __call__(self, w: Any, x: Any) -> Any:
        return np.sum(self.value([x, w], 0, 0) * SHARE)

    def value(self, pool: list[Any], start: int, depth: int) -> Any:
        pool = list(pool)
        for kind, which, one, other in self.plan[start : start + 4]:
            p, q = pool[one % len(pool)], pool[other % len(pool)]
            if kind % 5 < 2:
                pool.append(UNARY[which % len(UNARY)](p) * np.ones(3))
            elif kind % 5 < 4:
                pool.append(BINARY[which % len(BINARY)](p, q) * np.ones(3))
            elif depth < 2:
                pool.append(self.control(which, p, q, pool, start, depth))
        return pool[-1]

    def control(self, which: int, p: Any, q: Any, pool: list[Any], start: int, depth: int) -> Any:
        if which % 3 == 0:
            return sg.cond(
                np.sum(p) > 0.3,
                lambda: self.value(pool, start + 1, depth + 1),
                lambda: self.value([q, p], start + 2, depth + 1),
            )
        if which % 3 == 1:
            return sg.while_loop(
                lambda s: np.sum(s * s) < 4.0,
                lambda s: s * 1.7 + 0.1 * np.abs(q) + 0.2,
                np.where(np.isfinite(p), p, 1.0),
                max_steps=4,
            )
        return sg.scan(lambda s, t: (np.tanh(s * t + q), None), p, q)[0]


def assert_same(found: Any, wanted: Any, *, may_be_defined: bool = False) -> None:
    """Equal; where a program gives NaN for one example, `may_be_defined` lets a number stand."""
    size = max(1.0, np.max(np.abs(wanted), where=np.isfinite(wanted), initial=0.0))
    if may_be_defined:
        found = np.where(np.isnan(wanted), np.nan, found)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7 * size)


@pytest.mark.sampled(one_in=8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "seed", [*range(30), *[pytest.param(s, marks=pytest.mark.fuzz) for s in range(30, 2000)]]
)
def test_a_batch_is_each_of_its_examples(seed: int) -> None:
    f = RandomProgram(seed)
    one = sg.value_and_grad(f, wrt=(0, 1), trust="exact")
    each = [one(f.w, row) for row in f.x]
    values = np.stack([value for value, _ in each])
    of_w, of_x = (np.stack([grads[i] for _, grads in each]) for i in (0, 1))
    found, (found_w, found_x) = sg.vmap(one, in_axes=(None, 0), trust="exact")(f.w, f.x)
    assert_same(found, values)
    assert_same(found_w, of_w)
    assert_same(found_x, of_x)
    total = sg.grad(
        lambda w, x: np.sum(sg.vmap(f, in_axes=(None, 0))(w, x)), wrt=(0, 1), trust="exact"
    )
    total_w, total_x = total(f.w, f.x)
    assert_same(total_x, of_x, may_be_defined=True)
    if np.all(np.isfinite(of_w)):
        assert_same(total_w, of_w.sum(0))
