"""Names that a value has: the user's variables that hold it, and those of gradients."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

__all__ = ["DERIVED", "MOST_NAMES", "Holder", "Name", "carried", "give"]

MOST_NAMES = 4
"""The most names that a value keeps."""
DERIVED = 1_000
"""The depth of a name that no variable has: `∂loss/∂z`. Variables come before it."""


class Name(NamedTuple):
    """A name of a value.

    Parameters
    ----------
    text : str
        A variable, a name given by hand, or `∂loss/∂z`.
    depth : int
        How many scopes deep the variable is: the caller's name comes before the callee's.
    holder : int
        The serial number of the node that got the name. A node that replaces it gets the name, too,
        but goes by it only in graphs that the first one is no part of.
    """

    text: str
    depth: int
    holder: int


_new_name: Any = tuple.__new__
"""Twice as fast as calling `Name`."""


class _Named(Protocol):
    """A node, as far as names go."""

    names: tuple[Name, ...]

    @property
    def serial(self) -> int: ...
    @property
    def is_input(self) -> bool: ...
    @property
    def origin(self) -> Any: ...


class Holder:
    """A value that a variable may hold: a handle on a node."""

    __slots__ = ()
    node: Any


def give(node: _Named, text: str, depth: int = 0, holder: int | None = None) -> None:
    """Add a name to a node; `holder` is the node that had it first, if that is another one.

    Inputs have names of their own. A value made of constants alone belongs to all graphs of the
    process, so it gets none.
    """
    if not (node.is_input or node.origin.shared):
        _add(node, _new_name(Name, (text, depth, node.serial if holder is None else holder)))


def carried(before: _Named, after: _Named) -> None:
    """Give the names of a node to the node that replaces it, which has the same value."""
    if before.names and before is not after and not (after.is_input or after.origin.shared):
        for each in before.names:
            _add(after, each)


def _add(node: _Named, added: Name) -> None:
    names = node.names
    if not names:
        node.names = (added,)
    elif len(names) < MOST_NAMES and all(
        each.text != added.text or each.holder != added.holder for each in names
    ):
        node.names = tuple(sorted((*names, added), key=_depth))


def _depth(each: Name) -> int:
    return each.depth
