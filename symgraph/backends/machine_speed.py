"""How fast this machine multiplies matrices and copies memory: the roof over what a program does.

S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter

import numpy as np

from ..records import record

__all__ = ["Roof", "roof"]

_SIDE = 512
_COPIED = 2**25
_ROUNDS = 5


@record
class Roof:
    """The highest speeds that this machine reaches, measured in this process.

    Parameters
    ----------
    dtype : str
    flops_per_second : float
        Of a product of two matrices, on the threads that NumPy's BLAS uses.
    bytes_per_second : float
        Of a copy of 32 MiB in one thread; bytes are counted as read and as written.
    """

    dtype: str
    flops_per_second: float
    bytes_per_second: float


@cache
def roof(dtype: str = "float64") -> Roof:
    """The roof of this machine, measured once a process and dtype, in about 50 ms.

    Parameters
    ----------
    dtype : str
        Of the matrices.
    """
    left = np.ones((_SIDE, _SIDE), dtype)
    product = np.empty_like(left)
    source = np.ones(_COPIED // 8)
    target = np.ones(_COPIED // 8)
    multiply = _fastest(lambda: np.matmul(left, left, product))
    copy = _fastest(lambda: np.copyto(target, source))
    return Roof(dtype, 2 * _SIDE**3 / multiply, 2 * _COPIED / copy)


def _fastest(run: Callable[[], object]) -> float:
    found: list[float] = []
    for _ in range(_ROUNDS):
        start = perf_counter()
        run()
        found.append(perf_counter() - start)
    return min(found)
