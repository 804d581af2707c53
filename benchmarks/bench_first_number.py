"""Seconds of CPU from a function to its first gradient, beside JAX, torch, autograd and CasADi.

Run it from the repository's root; a package that is not installed is left out.

    python benchmarks/bench_first_number.py            # workloads beside other packages
    python benchmarks/bench_first_number.py --sizes    # random graphs and networks, each effort

Each workload runs in a process of its own, so that nothing is compiled or learned before. Times are
of the CPU, divided by what a fixed loop takes in the same process and multiplied by `NOMINAL`: so
they compare between machines and hours. Importing a package is not counted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

NOMINAL = 0.05
"""Seconds that the fixed loop takes on the machine that times are told for."""

Arrays = dict[str, Any]


def calibration() -> float:
    """Seconds of the fixed loop, the least of three."""
    found: list[float] = []
    for _ in range(3):
        begin = time.process_time()
        total = 0
        for i in range(1_000_000):
            total += i & 7
        found.append(time.process_time() - begin)
    return min(found)


# -- workloads: of an array namespace and arrays -----------------------------------------------
def mlp(xp: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, y: Any) -> Any:
    """A perceptron of two layers with softmax cross-entropy, written out."""
    z = xp.tanh(x @ w1 + b1) @ w2 + b2
    return -xp.sum(y * (z - xp.log(xp.sum(xp.exp(z), -1)).reshape(-1, 1)))


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    """One head, its softmax written out."""
    e = xp.exp(q @ k.T / 8**0.5)
    return xp.sum(xp.tanh((e / xp.sum(e, -1).reshape(-1, 1)) @ v))


def scalar(xp: Any, x: Any, y: Any) -> Any:
    """Some 90 operations on two numbers."""
    for i in range(10):
        x, y = xp.sin(x * y) + 0.1 * i, xp.exp(-y * y) * x + xp.tanh(y)
    return x * y


def lstm(xp: Any, x: Any, w: Any, u: Any, b: Any) -> Any:
    """A cell unrolled for 50 steps."""

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + xp.exp(-z))

    h = c = b[0] * 0
    for t in range(50):
        z = [x[t] @ w[i] + h @ u[i] + b[i] for i in range(4)]
        c = sigmoid(z[0]) * c + sigmoid(z[1]) * xp.tanh(z[2])
        h = sigmoid(z[3]) * xp.tanh(c)
    return xp.sum(h * h)


WORKLOADS: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "mlp": (
        mlp,
        {"x": (8, 5), "w1": (5, 6), "b1": (6,), "w2": (6, 4), "b2": (4,), "y": (8, 4)},
    ),
    "attention": (attention, {"q": (6, 8), "k": (6, 8), "v": (6, 8)}),
    "scalar": (scalar, {"x": (), "y": ()}),
    "lstm of 50 steps": (lstm, {"x": (50, 3), "w": (4, 3, 4), "u": (4, 4, 4), "b": (4, 4)}),
}


def arrays(shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Numbers of ordinary size."""
    rng = np.random.default_rng(0)
    return {name: 0.3 * rng.normal(size=shape) for name, shape in shapes.items()}


# -- packages: each gives the gradients of all arrays ----------------------------------------------
def by_symgraph(effort: str) -> Callable[[Callable[..., Any], Arrays], list[Any]]:
    """By symgraph with this effort."""

    def gradients(f: Callable[..., Any], at: Arrays) -> list[Any]:
        import symgraph as sg
        import symgraph.numpy as snp

        options: Any = {"wrt": list(at), "effort": effort}
        return list(sg.grad(lambda **given: f(snp, **given), **options)(**at))

    return gradients


def by_jax(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By jax.jit of jax.grad, compilation included."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    given = {name: jax.numpy.asarray(value) for name, value in at.items()}
    found = jax.jit(jax.grad(lambda given: f(jax.numpy, **given)))(given)
    return [np.asarray(found[name]) for name in at]


def by_torch(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By torch without its compiler."""
    torch = import_module("torch")
    given = {name: torch.tensor(value, requires_grad=True) for name, value in at.items()}
    f(torch, **given).backward()
    return [given[name].grad.numpy() for name in at]


def by_autograd(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """By autograd, which runs what it derives."""
    autograd, xp = import_module("autograd"), import_module("autograd.numpy")
    found = autograd.grad(lambda given: f(xp, **given))(at)
    return [found[name] for name in at]


def by_casadi(f: Callable[..., Any], at: Arrays) -> list[Any]:
    """Of numbers alone: its matrices are no arrays."""
    casadi = import_module("casadi")
    if any(np.ndim(value) for value in at.values()):
        raise NotImplementedError
    given = {name: casadi.SX.sym(name) for name in at}
    slopes = [casadi.gradient(f(casadi, **given), given[name]) for name in at]
    found = casadi.Function("f", list(given.values()), slopes)(*map(float, at.values()))
    return [float(each) for each in found]


PACKAGES: dict[str, tuple[str, Callable[[Callable[..., Any], Arrays], list[Any]]]] = {
    "symgraph": ("symgraph", by_symgraph("normal")),
    "symgraph, low": ("symgraph", by_symgraph("low")),
    "jax": ("jax", by_jax),
    "torch, eager": ("torch", by_torch),
    "autograd": ("autograd", by_autograd),
    "casadi": ("casadi", by_casadi),
}


def seconds(workload: str, package: str) -> float:
    """Scaled seconds of CPU to the first gradient, which must agree with autograd's."""
    f, shapes = WORKLOADS[workload]
    at = arrays(shapes)
    module, gradients = PACKAGES[package]
    import_module(module)
    unit = calibration()
    begin = time.process_time()
    found = gradients(f, at)
    taken = time.process_time() - begin
    for one, other in zip(found, by_autograd(f, at), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5, atol=1e-8)
    return taken / unit * NOMINAL


def beside() -> None:
    """A table: a row a workload, a column a package."""
    print(f"{'seconds':18}" + "".join(f"{name:>16}" for name in PACKAGES))
    for workload in WORKLOADS:
        cells: list[str] = []
        for package in PACKAGES:
            command = [sys.executable, __file__, "--one", workload, package]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            told = run.stderr.strip().splitlines()
            away = (
                any(each in told[-1] for each in ("ModuleNotFound", "NotImplemented"))
                if told
                else False
            )
            if run.returncode and not away:
                raise SystemExit(run.stderr)
            cells.append("-" if run.returncode else f"{float(run.stdout):.3f}")
        print(f"{workload:18}" + "".join(f"{each:>16}" for each in cells), flush=True)


# -- sizes ---------------------------------------------------------------------------------------
def sizes() -> None:
    """Operations and scaled seconds of `simplify` by effort."""
    import symgraph as sg

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
    graphs = import_module("randomgraphs")
    at = {"x": np.full((4, 3), 0.5), "w": 0.3 * np.eye(3)}
    layered = at | {"v": np.full((3, 3), 0.1)}
    cases = {f"random {n}": (graphs.random_function(n), at) for n in (30, 100, 300, 1000, 3000)}
    for name, (made, _) in graphs.NETWORKS.items():
        cases |= {f"{name} {n}": (made(n), layered) for n in (4, 16, 40)}
    print(f"{'graph':16}{'derived':>8}" + "".join(f"{e:>18}" for e in ("low", "normal", "high")))
    sg.trace(cases["random 30"][0], **at).gradient("w").simplify()
    for name, (f, given) in cases.items():
        derived = sg.trace(f, **given).gradient("w")
        line = f"{name:16}{derived.op_count():8}"
        for effort in ("low", "normal", "high"):
            unit, begin = calibration(), time.process_time()
            small = sg.trace(f, **given).gradient("w").simplify(effort=effort)
            taken = (time.process_time() - begin) / unit * NOMINAL
            line += f"{small.op_count():8}{taken:8.2f} s"
        print(line, flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--sizes", action="store_true")
    reader.add_argument("--one", nargs=2, metavar=("WORKLOAD", "PACKAGE"))
    chosen = reader.parse_args()
    if chosen.one:
        print(seconds(*chosen.one))
    elif chosen.sizes:
        sizes()
    else:
        beside()
