"""Gradients beside JAX, PyTorch and autograd, as ratios of the time of a call.

One function is written for all of them. Values are checked first; rounds alternate between the
libraries, and medians of CPU time count. Run it on one thread:

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_peers.py [workload ...]

Below 1.00 the lowered graph is faster than the best of the others. Libraries that are missing are
left out, and so is the native backend where it cannot be had. `first` is the time of the first
result, derivation and compilation included and nothing read from disk, over that of JAX. NumPy may
reach the 32 MiB of a third-level cache, so figures differ between machines.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

os.environ["SYMGRAPH_CACHE"] = ""  # Machine code is compiled, not read from disk.

import numpy as np  # noqa: E402

import symgraph as sg  # noqa: E402
import symgraph.numpy as snp  # noqa: E402
from symgraph.backends.base import available  # noqa: E402

Function = Callable[..., Any]
Case = tuple[Function, tuple[str, ...], dict[str, np.ndarray[Any, Any]]]
ROUNDS = 9


# -- workloads -------------------------------------------------------------------------------------
def scalar(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """Numbers only."""
    kinetic = a * a + b * b + c * c + a * b * xp.cos(a - b) + b * c * xp.cos(b - c)
    bump = xp.exp(-a * a) * xp.sin(c) + xp.exp(-b * b) * xp.sin(a) + xp.tanh(a * b * c)
    return kinetic / 2 - 3 * xp.cos(a) - 2 * xp.cos(b) - xp.cos(c) + bump


def logistic(xp: Any, X: Any, y: Any, w: Any) -> Any:
    """The negative log-likelihood of logistic regression."""
    z = X @ w
    return xp.sum(xp.log1p(xp.exp(-xp.abs(z))) + (xp.abs(z) + z) / 2 - y * z)


def network(xp: Any, X: Any, y: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    """Two layers and the mean squared error."""
    h = xp.tanh(X @ W1 + b1)
    d = h @ W2 + b2 - y
    return xp.sum(d * d)


def cross_entropy(xp: Any, z: Any, p: Any) -> Any:
    """Softmax cross-entropy, written naively."""
    e = xp.exp(z)
    return -xp.sum(p * xp.log(e / xp.sum(e, axis=-1, keepdims=True)))


def black_scholes(xp: Any, S: Any, K: Any, T: Any, r: Any, v: Any) -> Any:
    """The price of a call, with a logistic approximation of the normal distribution."""
    root = v * xp.sqrt(T)
    d1 = (xp.log(S / K) + (r + v * v / 2) * T) / root

    def normal(d: Any) -> Any:
        return 1 / (1 + xp.exp(-1.5976 * d - 0.070565992 * d * d * d))

    return xp.sum(S * normal(d1) - K * xp.exp(-r * T) * normal(d1 - root))


def gelu(xp: Any, x: Any) -> Any:
    """An activation of the transformers."""
    return xp.sum(0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))


def layer_norm(xp: Any, x: Any, g: Any, b: Any, t: Any) -> Any:
    """Rows of mean zero and variance one, scaled and shifted."""
    d = x - xp.sum(x, axis=-1, keepdims=True) / 512
    s = xp.sqrt(xp.sum(d * d, axis=-1, keepdims=True) / 512 + 1e-5)
    return xp.sum((d / s * g + b) * t)


def attention(xp: Any, Q: Any, K: Any, V: Any, t: Any) -> Any:
    """One head, written naively."""
    e = xp.exp(Q @ K.T / 8)
    return xp.sum(e / xp.sum(e, axis=-1, keepdims=True) @ V * t)


def factorisation(xp: Any, A: Any, U: Any, V: Any) -> Any:
    """The squared error of a matrix of low rank."""
    d = A - U @ V
    return xp.sum(d * d)


def recurrence(xp: Any, x: Any, W: Any, U: Any) -> Any:
    """A recurrent network of sixteen steps."""
    h = xp.tanh(x[0] @ U)
    for k in range(1, 16):
        h = xp.tanh(h @ W + x[k] @ U)
    return xp.sum(h * h)


def cases() -> dict[str, Case]:
    """Function, targets and data by name."""
    rng = np.random.default_rng(0)

    def normal(*shape: int, dtype: str = "float64", scale: float = 1.0) -> np.ndarray[Any, Any]:
        return (scale * rng.normal(size=shape)).astype(dtype)

    def chances(n: int, d: int) -> np.ndarray[Any, Any]:
        p = rng.random((n, d))
        return (p / p.sum(-1, keepdims=True)).astype("float32")

    def logistic_data(n: int, d: int) -> dict[str, Any]:
        return {"X": normal(n, d), "y": rng.random(n), "w": normal(d, scale=0.1)}

    single = partial(normal, dtype="float32")
    n = 10**6
    options = {
        name: low + wide * rng.random(n)
        for name, low, wide in (
            ("S", 90, 20), ("K", 90, 20), ("T", 0.5, 1), ("r", 0.01, 0.02), ("v", 0.2, 0.1),
        )
    }  # fmt: skip
    layers = {
        "X": single(512, 784), "y": single(512, 10), "W1": single(784, 256, scale=0.03),
        "b1": single(256), "W2": single(256, 10, scale=0.06), "b2": single(10),
    }  # fmt: skip
    normalised = {
        "x": single(4096, 512), "g": single(512), "b": single(512), "t": single(4096, 512),
    }  # fmt: skip
    heads = {name: single(1024, 64) for name in "QKVt"}
    low_rank = {"A": normal(1000, 800), "U": normal(1000, 10), "V": normal(10, 800)}
    steps = {"x": single(16, 32, 64), "W": single(128, 128, scale=0.1), "U": single(64, 128)}
    return {
        "scalar": (scalar, ("a", "b", "c"), {name: np.array(rng.normal()) for name in "abc"}),
        "logistic small": (logistic, ("w",), logistic_data(100, 10)),
        "logistic big": (logistic, ("w",), logistic_data(100_000, 100)),
        "two layers": (network, ("W1", "b1", "W2", "b2"), layers),
        "cross-entropy": (
            cross_entropy, ("z",), {"z": single(4096, 1000), "p": chances(4096, 1000)},
        ),
        "Black-Scholes": (black_scholes, tuple(options), options),
        "GELU": (gelu, ("x",), {"x": single(2048, 1024)}),
        "layer norm": (layer_norm, ("x", "g", "b"), normalised),
        "attention": (attention, ("Q", "K", "V"), heads),
        "factorisation": (factorisation, ("U", "V"), low_rank),
        "recurrence": (recurrence, ("W", "U"), steps),
    }  # fmt: skip


# -- libraries -------------------------------------------------------------------------------------
def ours(case: Case, backend: str = "numpy", blocked: bool = True) -> Callable[[], Any]:
    """The value and the gradient, simplified and lowered."""
    f, wrt, data = case
    specs: dict[str, Any] = {
        name: sg.spec(array.shape, str(array.dtype)) for name, array in data.items()
    }
    if f is cross_entropy:
        specs["p"] = sg.spec(data["p"].shape, "float32", assume=sg.simplex(axis=-1))
    graph = sg.trace(partial(f, snp), **specs).gradient(*wrt).simplify()
    if not blocked:
        from symgraph.lowering import block_sizes as blocks

        least, blocks.LEAST_BYTES = blocks.LEAST_BYTES, 2**60
        lowered = graph.lower()
        blocks.LEAST_BYTES = least
        return partial(lowered, **data)
    return partial(graph.lower(backend), **data)


def through_jax(case: Case) -> Callable[[], Any]:
    """JAX's own gradient, compiled, from and to its own arrays."""
    import jax

    jax.config.update("jax_enable_x64", True)
    f, wrt, data = case
    at = tuple([list(data).index(name) for name in wrt])
    run = jax.jit(jax.value_and_grad(partial(f, jax.numpy), argnums=at))
    values = tuple([jax.device_put(array) for array in data.values()])
    return lambda: jax.block_until_ready(run(*values))


def through_torch(case: Case) -> Callable[[], Any]:
    """PyTorch, eager."""
    import torch

    torch.set_num_threads(1)
    f, wrt, data = case
    tensors = {name: torch.from_numpy(array) for name, array in data.items()}
    targets = [tensors[name].requires_grad_() for name in wrt]

    def run() -> Any:
        value = f(torch, *tensors.values())
        gradients = torch.autograd.grad(value, targets)
        return value.detach().numpy(), [each.numpy() for each in gradients]

    return run


def through_autograd(case: Case) -> Callable[[], Any]:
    """Autograd."""
    from autograd import numpy as anp
    from autograd import value_and_grad

    f, wrt, data = case
    at = tuple([list(data).index(name) for name in wrt])
    run = value_and_grad(partial(f, anp), at)
    values = tuple(data.values())
    return lambda: run(*values)


PEERS = {"jax": through_jax, "torch": through_torch, "autograd": through_autograd}


# -- measuring -------------------------------------------------------------------------------------
def flat(results: Any) -> list[np.ndarray[Any, Any]]:
    """All arrays of a result."""
    if isinstance(results, (tuple, list)):
        return [each for part in results for each in flat(part)]
    return [np.asarray(results)]


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of CPU time of a call, by name."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    start = time.process_time()
    next(iter(calls.values()))()
    repeats = max(1, int(0.02 / max(time.process_time() - start, 1e-6)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats):
                call()
            found[name].append((time.process_time() - start) / repeats)
    return {name: statistics.median(times) for name, times in found.items()}


def checked(call: Callable[[], Any], want: list[np.ndarray[Any, Any]], name: str) -> None:
    """Refuse a peer whose numbers differ."""
    for got, expected in zip(flat(call()), want, strict=True):
        far = 1e-3 if expected.dtype == np.float32 else 1e-8
        scale = float(np.max(np.abs(expected)))
        np.testing.assert_allclose(got, expected, rtol=far, atol=far * scale, err_msg=name)


def first(through: Callable[[Case], Callable[[], Any]], case: Case) -> tuple[Any, float]:
    """A library's call, and the seconds of CPU time to its first result."""
    start = time.process_time()
    call = through(case)
    call()
    return call, time.process_time() - start


def measured(case: Case, name: str, peers: dict[str, Any]) -> dict[str, float]:
    """Seconds of a call by library, and of the first result of two of them."""
    calls = {"numpy": ours(case), "plain": ours(case, blocked=False)}
    want = flat(calls["numpy"]())
    firsts: dict[str, float] = {}
    for peer, through in peers.items():
        calls[peer], firsts[f"first {peer}"] = first(through, case)
    for peer, call in calls.items():
        checked(call, want, f"{name}: {peer}")
    return {**medians(calls), **firsts}


def main() -> None:
    """Print the table."""
    peers: dict[str, Any] = {name: through for name, through in PEERS.items() if find_spec(name)}
    others = tuple(peers)
    if "native" in available() and find_spec("llvmlite"):
        peers["native"] = partial(ours, backend="native")
    mine = ("numpy", "native") if "native" in peers else ("numpy",)
    columns = [*[f"{each} ms" for each in mine], *[f"{each}/best" for each in mine]]
    columns += ["/ no loops", *[f"{mine[-1]}/{each}" for each in others], "first"]
    print(f"{'workload':16}" + "".join([f"{each:>14}" for each in columns]))
    logs: dict[str, list[float]] = {each: [] for each in mine}
    for each in mine:  # What is loaded once a process.
        first(partial(ours, backend=each), cases()["factorisation"])
    for name, case in cases().items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        times = measured(case, name, peers)
        best = min([times[peer] for peer in others], default=times["numpy"])
        for each in mine:
            logs[each].append(float(np.log(times[each] / best)))
        ratios = [times[each] / best for each in mine]
        ratios += [times["numpy"] / times["plain"]]
        ratios += [times[mine[-1]] / times[peer] for peer in others]
        if "first jax" in times and "first native" in times:
            ratios.append(times["first native"] / times["first jax"])
        shown = [*[f"{times[each] * 1e3:14.3f}" for each in mine], *[f"{r:14.2f}" for r in ratios]]
        print(f"{name:16}" + "".join(shown), flush=True)
    for each in mine:
        print(f"geometric mean of {each}, to the best: {np.exp(np.mean(logs[each])):.2f}")


if __name__ == "__main__":
    main()
