"""Random functions of JAX: the graph's values and gradients, simplified or not, are JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

pytestmark = [pytest.mark.fuzz, pytest.mark.oracle, pytest.mark.timeout(3600)]
jax = pytest.importorskip("jax", reason="the jax extra is not installed")
jnp, lax = jax.numpy, jax.lax

COUNT = 150

UNARY: list[Callable[[Any], Any]] = [
    jnp.sin,
    jnp.tanh,
    jax.nn.sigmoid,
    jax.nn.softplus,
    jax.nn.gelu,
    jax.nn.silu,
    jnp.square,
    jnp.negative,
    lambda x: jnp.exp(-jnp.abs(x)),
    lambda x: jnp.log1p(x * x),
    lambda x: jnp.sqrt(x * x + 0.5),
    lambda x: x / (2 + jnp.abs(x)),
    lambda x: jnp.where(x > 0.1, x, 0.5 * x),
    lambda x: jnp.clip(x, -0.9, 1.1),
    lambda x: lax.stop_gradient(x) * x,
    lambda x: x.T,
    lambda x: x[::-1],
    lambda x: jnp.roll(x, 1, -1),
    lambda x: x - jnp.mean(x, -1, keepdims=True),
    lambda x: x - jnp.max(x, axis=0),
    lambda x: jax.nn.softmax(x, -1),
    lambda x: jax.nn.log_softmax(x, 0),
    lambda x: x / (1 + jnp.sum(x * x, -1, keepdims=True)),
    lambda x: jnp.cumsum(x, 0) / 3,
    lambda x: lax.cumlogsumexp(x, 0),
    lambda x: jnp.broadcast_to(jnp.var(x, 0), x.shape),
    lambda x: jnp.pad(x, ((1, 0), (0, 1)))[:-1, 1:],
    lambda x: jnp.sort(x, -1),
    lambda x: x.reshape(-1)[::-1].reshape(x.shape),
    lambda x: x[jnp.arange(x.shape[0]) // 2],
    lambda x: x.at[0].set(0.3),
    lambda x: x.at[:, jnp.array([0, 1, 0])].add(0.1 * x[:, :1]),
    lambda x: lax.scan(lambda c, r: (0.5 * c + r, jnp.sin(c)), jnp.zeros(x.shape[1:]), x)[1],
    lambda x: lax.fori_loop(0, 2, lambda k, c: jnp.sin(c) + k, x),
    lambda x: lax.cond(x[0, 0] > 0.01, lambda v: 2 * v, jnp.sin, x),
    lambda x: jax.vmap(lambda r: r * jnp.dot(r, r) / 4)(x),
    lambda x: jax.jit(jax.checkpoint(lambda v: jnp.sin(v) * v))(x),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    jnp.add,
    jnp.subtract,
    jnp.multiply,
    jnp.maximum,
    jnp.logaddexp,
    jnp.arctan2,
    lambda x, y: x / (1.5 + y * y),
    lambda x, y: jnp.where(x > y, x, y * 0.5),
    lambda x, y: x @ y.T @ x / 9,
    lambda x, y: jnp.einsum("ij,kj->ik", x, y) @ y / 9,
    lambda x, y: jnp.concatenate([x, y], 1)[:, 1:-2],
    lambda x, y: jnp.stack([x, y]).mean(0),
    lambda x, y: x * y[0] + y[:, :1],
]


def program(seed: int) -> Callable[..., Any]:
    """A random function of two square matrices; the same steps whenever it is called."""
    rng = np.random.default_rng(seed)
    steps: list[tuple[Any, tuple[int, ...]]] = []
    for length in range(2, 2 + int(rng.integers(3, 11))):
        table: list[Any] = UNARY if rng.random() < 0.6 else BINARY
        step = table[int(rng.integers(len(table)))]
        steps.append((step, tuple(rng.integers(0, length, 1 if table is UNARY else 2).tolist())))

    def function(x: Any, y: Any) -> Any:
        values = [x, y]
        for step, places in steps:
            values.append(step(*[values[place] for place in places]))
        return jnp.sum(values[-1] * jnp.cos(jnp.arange(9.0)).reshape(3, 3)) + jnp.sum(values[-2])

    return function


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.filterwarnings("ignore::symgraph.graph.tracing.UnusedInputWarning")
def test_values_and_gradients_are_those_of_jax(seed: int) -> None:
    function = program(seed)
    x, y = np.random.default_rng([seed, 1]).normal(size=(2, 3, 3))
    with jax.enable_x64(True):
        graph = sg.from_jax(function, x, y)
        value, slopes = jax.value_and_grad(function, argnums=(0, 1))(x, y)
    joint = graph.gradient("x", "y")
    for each in (joint, joint.simplify()):
        found, gradients = each.lower()(x, y)
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-9)
        for ours, theirs in zip(gradients, slopes, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
