"""Random graphs of what a compiled loop computes, and arrays of every layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph as sg
from symgraph.graph import Graph
from symgraph.scipy import special

UNARY: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.exp(-abs(x)),
    lambda x: np.tanh(x),
    lambda x: np.sin(x),
    lambda x: np.cos(x) * x,
    lambda x: np.log(abs(x) + 1),
    lambda x: np.log1p(x * x),
    lambda x: np.expm1(-abs(x)),
    lambda x: np.sqrt(abs(x)),
    lambda x: x**3 / 8,
    lambda x: special.erf(x),
    lambda x: special.expit(x),
    lambda x: -x,
)
STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.sign(x) * 0.5,
    lambda x: (x > 0.1) * x,
    lambda x: x.astype(bool).astype(x.dtype),
    lambda x: np.floor(x) / 4,
    lambda x: np.where(np.isfinite(x) & ~(x > 0.3), x, 0.25),
)
"""Functions that jump: of inputs alone, or a last digit would decide."""
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (1 + y * y),
    lambda x, y: np.maximum(x, y),
    lambda x, y: np.minimum(x, 2 * y),
    lambda x, y: np.logaddexp(x, y),
    lambda x, y: np.copysign(x, y),
)


def _reduced(x: Any, rng: np.random.Generator) -> Any:
    axis = [None, -1, 0, tuple(range(x.ndim))][rng.integers(4)]
    keepdims = bool(rng.integers(2))
    if rng.integers(3):
        return np.sum(x, axis=axis, keepdims=keepdims) / 8
    return np.max(x, axis=axis, keepdims=keepdims)


def native_graph(seed: int, dtype: str) -> Graph:
    """A random graph of elementwise operations and reductions of rows, columns and everything."""
    rng = np.random.default_rng(seed)
    rows = (7, "n", 33, 1)[seed % 4]
    columns = (5, 16, "m", 19)[seed // 4 % 4]

    shapes = {"a": (rows, columns), "b": (rows, columns), "r": (rows, 1), "c": (columns,), "t": ()}
    pool: list[Any] = [sg.input(name, shape, dtype) for name, shape in shapes.items()]
    while len(pool) < 24:
        x, y = [pool[-1 - min(int(rng.exponential(4)), len(pool) - 1)] for _ in range(2)]
        kind = rng.integers(10)
        if kind == 0:
            pool.append(STEPS[rng.integers(len(STEPS))](pool[rng.integers(len(shapes))]))
        elif kind < 4:
            pool.append(UNARY[rng.integers(len(UNARY))](x))
        elif kind < 8 or not x.ndim:
            try:
                pool.append(BINARY[rng.integers(len(BINARY))](x, y))
            except sg.SymgraphError:
                continue  # The shapes do not fit.
        else:
            pool.append(_reduced(x, rng))
    picked = rng.choice(len(pool), size=4, replace=False)
    return sg.graph(pool[-1], *[pool[k] for k in picked])


def _with_negative_strides(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    back = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[back])[back] if x.ndim else x


def _with_gaps(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wide = np.zeros((*x.shape, 3), x.dtype)
    wide[..., 1] = x
    return wide[..., 1]


def _read_only(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:]
    found = raw.view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


def _repeated(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Equal rows, by a stride of zero."""
    return np.broadcast_to(x[:1], x.shape) if x.ndim and x.shape[0] else x


LAYOUTS: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "rows": lambda x: x,
    "columns": lambda x: np.array(x, order="F"),
    "negative strides": _with_negative_strides,
    "gaps": _with_gaps,
    "zero strides": _repeated,
    "read-only": _read_only,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "unaligned": _unaligned,
}


def arrays_for(
    graph: Graph, rng: np.random.Generator, layout: str = "rows", n: int = 6, m: int = 21
) -> dict[str, np.ndarray[Any, Any]]:
    """Inputs of ordinary size in a layout; named dimensions have these lengths."""
    sizes = {"n": n, "m": m}
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, node in graph.inputs.items():
        shape = tuple([d if isinstance(d, int) else sizes[str(d)] for d in node.shape])
        value = np.asarray(rng.normal(size=shape)).astype(node.dtype)
        found[name] = LAYOUTS[layout](value)
    return found


def ulps_apart(got: Any, want: Any) -> float:
    """The largest difference, in units of the last place of the largest number there."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind != "f":
        return 0.0 if np.array_equal(got, want) else np.inf
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    if not finite.any():
        return 0.0
    unit = np.spacing(np.max(np.abs(want[finite]))).astype(float)
    apart = np.abs(got[finite].astype(float) - want[finite].astype(float))
    return float(np.max(apart) / unit)


def digits_lost(seed: int, given: dict[str, Any]) -> list[float]:
    """By how many units the interpreter's results of `native_graph` are off in single precision.

    Some graphs lose digits at these numbers. They lose about as many units in double precision.
    """
    narrow = {name: np.asarray(each, np.float32) for name, each in given.items()}
    wide = {name: np.asarray(each, np.float64) for name, each in narrow.items()}
    with np.errstate(all="ignore"):
        found = native_graph(seed, "float32").evaluate(**narrow)
        exact = native_graph(seed, "float64").evaluate(**wide)
    return [
        0.0 if each.dtype != np.float32 else ulps_apart(each, one.astype(np.float32))
        for each, one in zip(found, exact, strict=True)
    ]


__all__ = ["LAYOUTS", "arrays_for", "digits_lost", "native_graph", "ulps_apart"]
