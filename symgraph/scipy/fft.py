"""Nothing of `scipy.fft` is traced, for it gives complex numbers: the names raise what to do."""

from __future__ import annotations

from typing import NoReturn

from .absent import absent

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    raise absent("fft", name, __all__)
