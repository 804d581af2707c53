"""A batch sharded over simulated devices: what is computed where, and what is sent."""

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


COLLECTIVES = """
import re
import jax, numpy as np, symgraph as sg
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def loss(x, y, w, v):
    return np.mean((np.tanh(x @ w) @ v - y) ** 2)

rng, rows = np.random.default_rng(0), 64
given = [rng.normal(size=shape) for shape in ((rows, 50), (rows,), (50, 20), (20,))]
graph = sg.trace(loss, x="n, 50", y="n", w="50, 20", v="20").gradient("w", "v").simplify()
step, wanted = graph.lower("jax"), graph.lower()(*given)
jax.config.update("jax_enable_x64", True)
parameters, flops = (50 * 20 + 20) * 8, {}
for count in (1, 2, 4):
    mesh = Mesh(np.array(jax.devices()[:count]), ("rows",))
    cut, whole = NamedSharding(mesh, P("rows")), NamedSharding(mesh, P())
    arrays = jax.device_put(given, [cut, cut, whole, whole])
    compiled = jax.jit(lambda *arrays: step(*arrays)).lower(*arrays).compile()
    sent = [
        sum(8 * int(np.prod([int(n) for n in dims.split(",") if n] or [1]))
            for dims in re.findall(r"f64\\[([0-9,]*)\\]", line.split(" all-reduce(")[0]))
        for line in compiled.as_text().splitlines() if " all-reduce(" in line
    ]
    # One sum over the devices, of the loss and the gradients: the same bytes for any number.
    assert sent == ([] if count == 1 else [8 + parameters]), sent
    others = ("all-gather(", "all-to-all(", "reduce-scatter(", "collective-permute(")
    assert not any(each in compiled.as_text() for each in others)
    held = compiled.memory_analysis().argument_size_in_bytes
    assert held == rows // count * 51 * 8 + parameters, held
    flops[count] = compiled.cost_analysis()["flops"]
    for results in (compiled(*arrays), step(*arrays[:2], *given[2:])):
        for found, want in zip(jax.tree.leaves(results), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13)
for count in (2, 4):  # Each device computes its share of the rows.
    assert abs(flops[count] * count / flops[1] - 1) < 0.05, flops
print("done")
"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    "program", [PROGRAM, COLLECTIVES], ids=["a gradient of the whole", "one sum of gradients"]
)
def test_a_sharded_batch(program: str) -> None:
    given = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=given
    )
    assert found.stdout == "done\n", found.stderr
