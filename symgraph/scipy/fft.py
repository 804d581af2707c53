"""`scipy.fft` is not traced, `numpy.fft` is: its names raise errors that say so."""

from __future__ import annotations

from typing import NoReturn

from .names.absent import absent

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    raise absent("fft", name, __all__)
