"""Random graphs of elementwise, reducing, moving and contracting operations."""

from __future__ import annotations

from typing import cast

import numpy as np

from .. import numpy as snp
from ..array import FUNCTIONS, Array
from ..errors import SymgraphError
from ..ir.dag import Dag
from ..ops.creation import input as symbolic

__all__ = ["random_dag"]

_UNARY = [
    "exp",
    "tanh",
    "sin",
    "square",
    "absolute",
    "negative",
    "sqrt",
    "log1p",
    "sigmoid",
    "floor",
]
_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power"]


def random_dag(seed: int, size: int = 25, dtype: str = "float64", rows: int | str = 5) -> Dag:
    """A random graph of elementwise, reducing, moving and contracting operations.

    Parameters
    ----------
    seed, size : int
    dtype : str
    rows : int or str
        The first dimension: a size or a name.
    """
    rng = np.random.default_rng(seed)
    pool: list[Array] = [
        symbolic("a", (rows, 4), dtype),
        symbolic("b", (rows, 4), dtype),
        symbolic("w", (4, 4), dtype),
        symbolic("s", (4,), dtype),
        cast("Array", FUNCTIONS["cos"](symbolic("t", (), dtype))),
    ]
    inputs = dict(zip("abws", pool, strict=False))
    inputs["t"] = Array(pool[-1].node.operands[0])
    while len(pool) < size:
        try:
            pool.append(_grown(pool, rng))
        except SymgraphError:
            continue  # the shapes do not fit
    picked = rng.choice(len(pool), size=min(4, len(pool)), replace=False)
    outputs = [pool[-1].node, *[pool[i].node for i in picked]]
    return Dag({name: array.node for name, array in inputs.items()}, outputs)


def _grown(pool: list[Array], rng: np.random.Generator) -> Array:
    # Recent values are picked more often, so that graphs grow deep as well as wide.
    def pick() -> Array:
        return pool[-1 - min(int(rng.exponential(4)), len(pool) - 1)]

    x, y = pick(), pick()
    match int(rng.integers(0, 10)):
        case 0 | 1 | 2:
            return FUNCTIONS[_UNARY[rng.integers(len(_UNARY))]](x)
        case 3 | 4 | 5:
            return FUNCTIONS[_BINARY[rng.integers(len(_BINARY))]](x, y)
        case 6:
            return FUNCTIONS[str(rng.choice(["sum", "max", "prod"]))](x, axis=-1, keepdims=True)
        case 7:
            return x @ y
        case 8:
            return x.T if rng.integers(2) else x[..., ::-1]
        case _:
            return FUNCTIONS["where"](x > y, x, snp.asarray(0.5, dtype=x.dtype))
