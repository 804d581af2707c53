"""The values that the user wants to keep through simplification, found by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import InputError
from ..ir.dag import Dag
from ..ir.given_names import given_names
from ..ir.node import Node
from ..ir.value_names import DERIVED
from ..rewriting.log import Log
from .stage import Kept, Stage
from .stages import Interrupted, keeping, released

__all__ = ["named", "simplified_with_kept"]


def simplified_with_kept(
    stage: Stage,
    keep: str | Sequence[str] | bool | None,
    simplify: Callable[[Stage], tuple[Stage, Log]],
) -> tuple[Stage, Log]:
    """The simplified stage, in which the named values stay, and its log.

    Parameters
    ----------
    stage : Stage
    keep : str, sequence of str, bool, or None
        The names; True is every name, None the names that the stage remembers.
    simplify : callable
        Gives the simplified stage and its log.

    Raises
    ------
    InputError
        If no value of the function has one of the names.
    Interrupted
        At Ctrl-C, with the best stage found so far.
    """
    kept = stage.kept if keep is None else _as_kept(keep)
    if not kept:
        return simplify(stage)
    marked = keeping(stage, lambda dag: named(dag, kept, strict=keep is not None))
    try:
        found, log = simplify(marked)
    except Interrupted as stop:
        best = released(stop.stage, stop.log, stage, kept)
        raise Interrupted(best, stop.log) from None
    return released(found, log, stage, kept), log


def _as_kept(wanted: str | Sequence[str] | bool) -> Kept:
    """The names of values to keep as a stage remembers them."""
    if wanted is True:
        return True
    return (wanted,) if isinstance(wanted, str) else tuple(wanted or ())


def named(dag: Dag, wanted: Kept, *, strict: bool = True) -> set[Node]:
    """The nodes of a function that have one of these names; with True, all that have a name.

    Raises
    ------
    InputError
        If no value has one of the names, unless `strict` is False.
    """
    theirs = {name for node in dag.nodes for name, depth, _ in node.names if depth < DERIVED}
    given = {
        node: [name for name in names if name in theirs]
        for node, names in given_names(dag.nodes).items()
    }
    if wanted is True:
        return {node for node, names in given.items() if names}
    known = {name: None for names in given.values() for name in names}
    for text in wanted:
        if strict and text not in known:
            listed = ", ".join(list(known)[:12]) or "none"
            raise InputError(
                f"No value of the function is named {text!r}, so it cannot be kept.",
                mend=f"The names are {listed}; sg.name(value, {text!r}) gives one.",
            )
    return {node for node, names in given.items() if not set(names).isdisjoint(wanted)}
