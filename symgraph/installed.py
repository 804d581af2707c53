"""Entry points of installed packages: rule packs and backends are found by them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

__all__ = ["entries_of"]


def entries_of(group: str) -> Sequence[EntryPoint]:
    """The entry points of a group in all installed packages; equal ones count once.

    With an editable installation beside a wheel, each would appear twice.
    """
    folders = tuple([(each, _changed(each)) for each in sys.path])
    return _by_group(folders).get(group, ())


@lru_cache(maxsize=1)  # To read those of all packages takes 4 to 20 ms.
def _by_group(_folders: tuple[tuple[str, int], ...]) -> Mapping[str, Sequence[EntryPoint]]:
    # It loads email and zipfile: a fifth of our import.
    from importlib.metadata import entry_points

    everything = cast("EntryPoints", entry_points())  # Python 3.11 has groups, which select alike.
    found: dict[str, Sequence[EntryPoint]] = {}
    for group in everything.groups:
        if group.startswith("symgraph."):
            distinct = {(each.name, each.value): each for each in everything.select(group=group)}
            found[group] = tuple(distinct.values())
    return found


def _changed(folder: str) -> int:
    """When something was last installed in a folder, in nanoseconds."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
