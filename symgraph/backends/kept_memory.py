"""Memory that a lowered function keeps between calls, whichever way its program lays it out."""

from __future__ import annotations

from typing import Protocol

__all__ = ["MOST_KEPT", "MOST_SIZES", "KeptMemory"]

MOST_KEPT = 2**28
"""Memory of more bytes than this is given back to the system after the call."""
MOST_SIZES = 8
"""For how many sizes of named dimensions the places of values are remembered."""


class KeptMemory(Protocol):
    """The memory of a program that no call is using."""

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for later calls."""
        ...

    def release(self) -> None:
        """Give the memory back to the system; later calls take new memory."""
        ...
