"""A batch sharded over four simulated devices: the gradient is computed where its rows lie."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="the jax extra is not installed")

PROGRAM = """
import jax, numpy as np, symgraph as sg
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

X = np.random.default_rng(0).normal(size=(16, 3))
y, w = np.ones(16), np.array([0.3, -0.7, 0.1])
loss = lambda x, y, w: np.mean((np.tanh(x @ w) - y) ** 2)
graph = sg.trace(loss, x="n, 3", y="n", w="3").gradient("w").simplify()
step, wanted = graph.lower("jax"), graph.lower()(X, y, w)
jax.config.update("jax_enable_x64", True)
for count in (1, 2, 4):
    mesh = Mesh(np.array(jax.devices()[:count]), ("rows",))
    rows, whole = NamedSharding(mesh, P("rows")), NamedSharding(mesh, P())
    value, slope = step(*jax.device_put((X, y, w), (rows, rows, whole)))
    assert len(slope.devices()) == count, slope.devices()
    np.testing.assert_allclose(slope, wanted[1], rtol=1e-12)
print("done")
"""


@pytest.mark.oracle
def test_a_sharded_batch_gives_the_gradient_of_the_whole() -> None:
    given = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=given
    )
    assert found.stdout == "done\n", found.stderr
