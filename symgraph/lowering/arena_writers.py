"""Calls that write to a place of an arena, for functions that NumPy gives no `out`.

The functions are those of `namespace.writing`, which a program knows as `into`. A call is rewritten
only where its result would lie in row order anyway, as a place does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from ..ir.node import Node
from .drafts import Draft
from .source_pieces import Alias, Piece, Pieces

__all__ = ["Writer", "fills", "takes_first_axis", "writer_of"]

Writer: TypeAlias = Callable[[str], Pieces]
"""From the text of a place to the pieces of the call that writes to it."""

_SAME_ARGUMENTS = {
    "np.sort(": "into.sort(",
    "np.where(": "into.where(",
    "xp.adjoint_convolution(": "into.adjoint_convolution(",
    "xp.convolution(": "into.convolution(",
    "xp.diagonal_matrix(": "into.diagonal_matrix(",
    "xp.kernel_convolution(": "into.kernel_convolution(",
    "xp.scatter_add(": "into.scatter_add(",
    "xp.scatter_set(": "into.scatter_set(",
}
_ZEROS = "np.zeros("


def takes_first_axis(node: Node) -> bool:
    """Whether the node takes elements along the first axis at one array of integers."""
    return (
        node.op.traits.at_places
        and node.op.traits.movement
        and len(node.operands) == 2
        and node.params.get("axis") == -node.operands[0].ndim
    )


def writer_of(draft: Draft, whole: Collection[str]) -> Writer | None:
    """The call that writes the result of a statement to a place, if there is one.

    Parameters
    ----------
    draft : Draft
    whole : collection of str
        The values that are arrays of their own or the caller's, and no views.
    """
    if draft.line.aliases != (Alias.FRESH,) or len(draft.line.avals) != 1:
        return None
    pieces = draft.pieces
    first = pieces[0]
    if isinstance(first, str) and first in _SAME_ARGUMENTS:
        rest = _without_zeros(pieces[1:])
        return _passing((_SAME_ARGUMENTS[first], *rest))
    if len(pieces) == 4 and pieces[1] == ".astype(":
        return _passing(("into.astype(", pieces[0], ")"))
    if takes_first_axis(draft.node) and len(draft.names) == 2 and draft.names[0] in whole:
        x, index = draft.names
        return _passing(("into.take(", x, ", ", index, ")"))
    return None


def fills(pieces: Pieces) -> bool:
    """Whether the call fills its place with zeros, and needs no array of them beside it."""
    return pieces[1:2] == ("0",) or pieces[0] == "into.diagonal_matrix("


def _passing(pieces: Pieces) -> Writer:
    *first, last = pieces

    def written(place: str) -> Pieces:
        return (*first, f"{last}"[:-1], f", out={place})")

    return written


def _without_zeros(pieces: Pieces) -> Pieces:
    """The arguments with a 0 for an array of zeros at the first place: the place is filled so."""
    if not (isinstance(pieces[0], str) and pieces[0].startswith(_ZEROS)):
        return pieces
    depth = 0
    for number, piece in enumerate(pieces):
        for at, sign in enumerate(piece if isinstance(piece, str) else ""):
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0 and sign == ")":
                rest: list[Piece] = ["0", f"{piece}"[at + 1 :], *pieces[number + 1 :]]
                return tuple([each for each in rest if each != ""])
    return pieces
