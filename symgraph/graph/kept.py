"""The values that the user wants to keep through simplification, found by their names."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..export.labels import given_names
from ..ir.dag import Dag
from ..ir.naming import DERIVED
from ..ir.node import Node

__all__ = ["named"]


def named(dag: Dag, wanted: str | Sequence[str] | bool) -> set[Node]:
    """The nodes of a function that have one of these names; with True, all that have a name.

    Raises
    ------
    InputError
        If no value has one of the names.
    """
    theirs = {name for node in dag.nodes for name, depth, _ in node.names if depth < DERIVED}
    given = {
        node: [name for name in names if name in theirs]
        for node, names in given_names(dag.nodes).items()
    }
    if wanted is True:
        return {node for node, names in given.items() if names}
    texts = [wanted] if isinstance(wanted, str) else list(wanted or ())
    known = {name: None for names in given.values() for name in names}
    for text in texts:
        if text not in known:
            listed = ", ".join(list(known)[:12]) or "none"
            raise InputError(
                f"No value of the function is named {text!r}, so it cannot be kept.",
                mend=f"The names are {listed}; sg.name(value, {text!r}) gives one.",
            )
    return {node for node, names in given.items() if not set(names).isdisjoint(texts)}
