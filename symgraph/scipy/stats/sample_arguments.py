"""What statistics of samples share: how they are published, and what they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import InputError
from ...ir.dims import Dim
from ...ops.composites import as_array
from ..names.mirrored import mirrored

__all__ = ["Axis", "count", "sample", "statistic"]

F = TypeVar("F", bound=Callable[..., object])
Axis: TypeAlias = "int | Sequence[int] | None"


def statistic(function: F) -> F:
    """A function of `scipy.stats`, on symbols and on numbers."""
    return mirrored(function, f"scipy.stats.{function.__name__}")


def sample(a: ArrayLike, nan_policy: str, name: str, dtype: DTypeLike | None = None) -> Array:
    """The elements as floats: of the dtype that is asked for, or of their own.

    Raises
    ------
    InputError
        For another `nan_policy` than to propagate.
    """
    if nan_policy != "propagate":
        raise InputError(
            f"{name}: nan_policy={nan_policy!r} is not there.",
            mend="NaN is propagated; leave it out first, or weigh it by 0 with np.where.",
        )
    values = as_array(a)
    wanted = values.dtype if dtype is None else np.dtype(dtype)
    return snp.astype(values, wanted if wanted.kind == "f" else np.dtype("float64"))


def count(values: Array, axis: Axis) -> Dim:
    """How many elements a mean is of; the size may be named."""
    sizes = values.shape
    if axis is None:
        return prod(sizes)
    return prod(sizes[each] for each in ((axis,) if isinstance(axis, int) else axis))
