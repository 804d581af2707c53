"""Rooms whose modules are loaded when something of them is first used.

To load all modules takes a third of a second. What few programs need waits: a room's `__init__`
has a `lazy_getattr` for it, and is imported as a whole, as in `from .. import memory as plans`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_getattr"]


def lazy_getattr(
    room: str, instead: Mapping[str, str] | None = None, /, **names: str
) -> Callable[[str], object]:
    """The `__getattr__` of a room.

    Parameters
    ----------
    room : str
        The module's `__name__`.
    instead : mapping of str to str, optional
        What to write for a name that the room has not.
    **names : str
        For each name the module of the room that has it.
    """

    def opened(name: str) -> object:
        if name not in names:
            mend = f". {instead[name]}" if instead and name in instead else ""
            raise AttributeError(f"module {room!r} has no attribute {name!r}{mend}")
        return getattr(import_module(f"{room}.{names[name]}"), name)

    return opened
