"""SciPy's `erf` and `erfc` of many numbers, to the bit, in the order that a processor can foresee.

SciPy goes number by number, and asks each whether it is negative and whether it is below 1. Where
the answers follow no pattern, half of them are guessed wrong, which takes as long as the function.
The sign is therefore taken off before the call and put on after it, and for `erfc` the numbers from
1 on are set apart, where they are few: below 1 it is 1 - erf.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["MANY", "special_of_many"]

MANY = 4096
"""From so many numbers on the calls cost little beside the guesses."""
_BLOCK = 2**12
"""Numbers at a time: they stay in the cache, and need little memory."""
_SAMPLED = 256
"""Of so many numbers in a block it is asked whether they are large."""
_MOST_LARGE = 0.4
"""The part of large numbers up to which it pays to set them apart."""


@cache
def special_of_many(special: Any) -> ModuleType:
    """SciPy's module of special functions, in which `erf` and `erfc` are these."""
    found = ModuleType(special.__name__)
    vars(found).update(vars(special))
    if _are_as_known(special):
        vars(found).update(erf=_erf_of_many(special.erf), erfc=_erfc_of_many(special))
    return found


def _are_as_known(special: Any) -> bool:
    """Whether erf is odd and erfc is 1 - erf below 1, to the bit: a SciPy may have other forms."""
    x = np.concatenate([np.linspace(0.0, 1.0, 999)[:-1], 10.0 ** np.arange(-320.0, 0.0)])
    x = np.concatenate([x, -x, [np.nextafter(1.0, 0.0)]])
    all_x = np.concatenate([x, 8.0 * x])
    odd = np.array_equal(special.erf(-all_x), -special.erf(all_x))
    return odd and np.array_equal(special.erfc(x), 1.0 - special.erf(x))


def _erf_of_many(erf: Any) -> Any:
    def erf_of_many(x: Any, out: Any = None) -> Any:
        if not _fit(x, out) or x.size < MANY:
            return erf(x) if out is None else erf(x, out)
        found = np.empty_like(x) if out is None else out
        given, flat = x.reshape(-1), found.reshape(-1)
        for start in range(0, x.size, _BLOCK):
            part = given[start : start + _BLOCK]
            size = np.absolute(part)
            np.copysign(erf(size, size), part, flat[start : start + _BLOCK])
        return found

    return erf_of_many


def _erfc_of_many(special: Any) -> Any:
    erf, erfc = special.erf, special.erfc

    def erfc_of_many(x: Any, out: Any = None) -> Any:
        # In single precision SciPy rounds erfc once, not erf and the difference.
        if not _fit(x, out) or x.size < MANY or x.dtype != np.float64:
            return erfc(x) if out is None else erfc(x, out)
        found = np.empty_like(x) if out is None else out
        given, flat = x.reshape(-1), found.reshape(-1)
        for start in range(0, x.size, _BLOCK):
            part, result = given[start : start + _BLOCK], flat[start : start + _BLOCK]
            sample = np.absolute(part[:: max(1, part.size // _SAMPLED)])
            if np.count_nonzero(sample >= 1.0) > _MOST_LARGE * sample.size:
                erfc(part, result)
                continue
            size = np.absolute(part)
            (large,) = np.logical_not(size < 1.0).nonzero()  # NaN among them.
            values = erfc(part[large])
            size[large] = 0.0
            np.subtract(1.0, np.copysign(erf(size, size), part, size), result)
            result[large] = values
        return found

    return erfc_of_many


def _fit(x: Any, out: Any) -> bool:
    """Whether both are arrays in row order, of one dtype."""
    if type(x) is not np.ndarray or x.dtype not in _DTYPES or not x.flags.c_contiguous:
        return False
    return out is None or (out.dtype == x.dtype and out.flags.c_contiguous)


_DTYPES = (np.dtype("float32"), np.dtype("float64"))
