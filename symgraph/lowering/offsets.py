"""Where in a workspace each temporary lies: temporaries that live at the same time lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from .statements import Temporary

__all__ = ["offsets"]

_ALIGNMENT = 16
"""Bytes; also that of memory from the C library."""


def offsets(temporaries: Sequence[Temporary], sizes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The first byte of each temporary, and the bytes of the workspace.

    The largest is placed first; each goes to the lowest gap that is wide enough.

    Parameters
    ----------
    temporaries : sequence of Temporary
    sizes : sequence of int
        Bytes of each.
    """
    found = [0] * len(sizes)
    placed: list[tuple[int, int, Temporary]] = []  # First and last byte, by first byte.
    for number in sorted(range(len(sizes)), key=lambda each: (-sizes[each], each)):
        temporary = temporaries[number]
        start = 0
        for begin, end, other in placed:
            if other.first <= temporary.last and temporary.first <= other.last:
                if start + sizes[number] <= begin:
                    break
                start = max(start, end)
        found[number] = start
        end = start + -(-sizes[number] // _ALIGNMENT) * _ALIGNMENT
        placed.append((start, end, temporary))
        placed.sort(key=lambda each: each[0])
    return tuple(found), max([end for _, end, _ in placed], default=0)
