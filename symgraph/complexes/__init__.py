"""Complex numbers inside of traced functions, as pairs of real arrays; `np.fft` among them."""

from __future__ import annotations

from . import arithmetic, elementary, linear, statistics, structure, transforms
from .handle import ComplexArray

__all__ = [
    "ComplexArray",
    "arithmetic",
    "elementary",
    "linear",
    "statistics",
    "structure",
    "transforms",
]
