"""Lowered graphs beside NumPy written by hand, as ratios of the time of a call.

Rounds alternate between the two, and the least time of each counts, so that load of the machine
cancels. Run it as `python benchmarks/bench_lowering.py`; below 1.00 the lowered graph is faster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import symgraph as sg


def logistic(X: Any, y: Any, w: Any) -> Any:
    """The negative log-likelihood of logistic regression, written naively."""
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def logistic_by_hand(X: Any, y: Any, w: Any) -> Any:
    """Its gradient in w."""
    return X.T @ (1 / (1 + np.exp(-(X @ w))) - y)


def cross_entropy(z: Any, p: Any) -> Any:
    """Softmax cross-entropy, written naively."""
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.sum(p * np.log(q))


def cross_entropy_by_hand(z: Any, p: Any) -> Any:
    """Its gradient in z, stabilised, where the rows of p sum to one."""
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) - p


def polynomial(x: Any) -> Any:
    """A sum of elementwise terms."""
    return np.sum(x * x * np.sin(x) + np.exp(-x) / (1 + x * x))


def polynomial_by_hand(x: Any) -> Any:
    """Its gradient."""
    s = 1 + x * x
    e = np.exp(-x)
    return 2 * x * np.sin(x) + x * x * np.cos(x) - e / s - 2 * x * e / (s * s)


def pendulum(a: Any, b: Any, c: Any) -> Any:
    """The energy of three coupled pendulums, at angles that are numbers."""
    kinetic = a * a + b * b + c * c + a * b * np.cos(a - b) + b * c * np.cos(b - c)
    return kinetic / 2 - 3 * np.cos(a) - 2 * np.cos(b) - np.cos(c) + np.exp(-a * a) * np.sin(c)


def pendulum_by_hand(a: Any, b: Any, c: Any) -> Any:
    """Its derivative in a."""
    turned = math.cos(a - b) - a * math.sin(a - b)
    bump = 2 * a * math.exp(-a * a) * math.sin(c)
    return a + b * turned / 2 + 3 * math.sin(a) - bump


def cases() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any], str]]:
    """Function, gradient by hand, data and target by name."""
    rng = np.random.default_rng(0)

    def logistic_data(n: int, d: int) -> dict[str, Any]:
        return {"X": rng.normal(size=(n, d)), "y": rng.random(n), "w": rng.normal(size=d)}

    def softmax_data(n: int, d: int) -> dict[str, Any]:
        p = rng.random((n, d))
        return {"z": rng.normal(size=(n, d)), "p": p / p.sum(-1, keepdims=True)}

    return {
        "logistic 100 x 10": (logistic, logistic_by_hand, logistic_data(100, 10), "w"),
        "logistic 1000 x 100": (logistic, logistic_by_hand, logistic_data(1000, 100), "w"),
        "cross-entropy 4 x 10": (cross_entropy, cross_entropy_by_hand, softmax_data(4, 10), "z"),
        "cross-entropy 1000 x 100": (
            cross_entropy,
            cross_entropy_by_hand,
            softmax_data(1000, 100),
            "z",
        ),
        "scalars": (
            pendulum,
            pendulum_by_hand,
            {name: np.array(rng.normal()) for name in "abc"},
            "a",
        ),
        "elementwise 10": (polynomial, polynomial_by_hand, {"x": rng.normal(size=10)}, "x"),
        "elementwise 1e6": (polynomial, polynomial_by_hand, {"x": rng.normal(size=10**6)}, "x"),
    }


def lowered(f: Callable[..., Any], data: dict[str, Any], wrt: str) -> Any:
    """The gradient as a lowered graph."""
    specs: dict[str, Any] = {name: sg.spec(array.shape) for name, array in data.items()}
    if "p" in specs:
        specs["p"] = sg.spec(data["p"].shape, assume=sg.simplex(axis=-1))
    return sg.trace(f, **specs).gradient(wrt, value=False).simplify().lower()


def least(call: Callable[[], Any], repeats: int) -> float:
    """Mean seconds of a call."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Least time of a call of ours in microseconds, and that over theirs."""
    repeats = max(1, int(2e-3 / max(least(theirs, 3), 1e-7)))
    pairs = [(least(ours, repeats), least(theirs, repeats)) for _ in range(60)]
    best, other = min(one for one, _ in pairs), min(one for _, one in pairs)
    return best * 1e6, best / other


def main() -> None:
    """Print the table."""
    print(f"{'gradient of':28} {'us a call':>10} {'/ by hand':>10} {'body only':>10}")
    for name, (f, by_hand, data, wrt) in cases().items():
        program = lowered(f, data, wrt)
        got = program(**data)
        got = got[0] if isinstance(got, tuple) else got
        np.testing.assert_allclose(got, by_hand(**data), rtol=1e-9, atol=1e-12)
        reference = partial(by_hand, **data)
        microseconds, against = ratio(partial(program, **data), reference)
        _, body = ratio(partial(program._run, *data.values()), reference)
        print(f"{name:28} {microseconds:10.1f} {against:10.2f} {body:10.2f}")


if __name__ == "__main__":
    main()
