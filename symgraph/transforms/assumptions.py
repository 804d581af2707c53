"""Facts that are stated of a function's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..errors import InputError
from ..facts import Fact
from ..facts.implications import stated
from .arguments import Arguments

__all__ = ["Assume", "facts_of_leaves", "stated_facts"]

Assume: TypeAlias = "Mapping[str, Fact | Iterable[Fact]]"
"""Facts by the names of arguments, or of parts of them such as `params['w']`."""


def stated_facts(assume: Assume | None) -> dict[str, tuple[Fact, ...]]:
    """The facts by name, checked to be facts.

    Raises
    ------
    InputError
        If `assume` is no mapping.
    FactError
        If it has something else than facts.
    """
    if assume is None:
        return {}
    if not hasattr(assume, "items"):
        raise InputError(
            f"assume= has the facts of each argument by name; {assume!r} names none.",
            mend='Name it: assume={"x": sg.positive}.',
        )
    return {name: stated(facts) for name, facts in assume.items()}


def facts_of_leaves(
    arguments: Arguments, assume: Mapping[str, tuple[Fact, ...]]
) -> dict[int, tuple[Fact, ...]]:
    """The facts of each array of a call, by its position among the leaves.

    Raises
    ------
    InputError
        If a name is that of no array.
    """
    found: dict[int, tuple[Fact, ...]] = {}
    for name, facts in assume.items():
        meant = [i for i in arguments.arrays if _is_part(arguments.paths[i], name)]
        if not meant:
            arrays = ", ".join(arguments.paths[i] for i in arguments.arrays)
            raise InputError(
                f"assume= names {name!r}, which is no array among the arguments.",
                mend=f"The arrays are {arrays}.",
            )
        _refuse_complex(arguments, name, meant)
        for i in meant:
            found[i] = (*found.get(i, ()), *facts)
    return found


def _refuse_complex(arguments: Arguments, name: str, meant: Iterable[int]) -> None:
    """Check that facts are stated of real numbers."""
    if not any(tree.holds_complex for _, tree in arguments.entries):
        return
    for i in meant:
        if arguments.paths[i] == f"{name}.imag":
            raise InputError(
                f"assume= names {name!r}, which is complex; facts are of real numbers.",
                mend=f"Name a part of it: {name}.real or {name}.imag.",
            )


def _is_part(path: str, name: str) -> bool:
    """Whether a leaf is the named part, or inside it."""
    return path.startswith(name) and path[len(name) : len(name) + 1] in ("", ".", "[")
