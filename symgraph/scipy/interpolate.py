"""`scipy.interpolate` is not traced: its names raise errors that say what to use."""

from __future__ import annotations

from typing import NoReturn

from .names.absent import absent

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    raise absent("interpolate", name, __all__)
