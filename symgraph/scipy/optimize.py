"""Nothing of `scipy.optimize` is traced: the names raise what to use instead."""

from __future__ import annotations

from typing import NoReturn

from .absent import absent

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    raise absent("optimize", name, __all__)
