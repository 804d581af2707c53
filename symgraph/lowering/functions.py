"""The function that runs the bodies of a node, as the record of its operation writes it."""

from __future__ import annotations

from ..errors import BackendError
from ..notation.loops import CallSource, Run, SizeSource, Source
from .pieces import Defined

__all__ = ["function_of"]


def function_of(
    piece: Defined, call: CallSource, dimension: SizeSource, *, in_place: bool = True
) -> Source:
    """The lines of the function but for the last, and the last, which returns.

    Operands are called `v0`, `v1`, ...

    Parameters
    ----------
    piece : Defined
    call : callable
        The source of a call of a body on operands by name; it gives a tuple.
    dimension : callable
        The source of a size.
    in_place : bool
        Whether results of steps are written into arrays; else they are listed, then stacked.

    Raises
    ------
    BackendError
        If nothing is known of how the operation runs its bodies.
    """
    write = piece.node.op.source
    if write is None:
        raise BackendError(f"{piece.node.op.name} has no source: nobody says how it is run.")
    return write(Run(piece.node, piece.keep, call, dimension, in_place))
