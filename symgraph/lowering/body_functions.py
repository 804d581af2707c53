"""The function that runs the bodies of a node, written by the record of its operation."""

from __future__ import annotations

from ..errors import BackendError
from ..notation.loops import CallSource, Run, SizeSource, Source
from .source_pieces import Defined

__all__ = ["function_of"]


def function_of(
    piece: Defined, call: CallSource, dimension: SizeSource, *, in_place: bool = True
) -> Source:
    """All lines of the function but the last, and the last, which returns.

    Operands are called `v0`, `v1`, ..., and the arrays that results are written into `o0`, ...

    Parameters
    ----------
    piece : Defined
    call : callable
        Gives the source of a call of a body, from the body and the names of its operands. The call
        gives a tuple.
    dimension : callable
        Gives the source of a size.
    in_place : bool
        Whether results of steps are written into arrays; else they are collected in a list, then
        stacked.

    Raises
    ------
    BackendError
        If the operation does not say how its bodies are run.
    """
    write = piece.node.op.source
    if write is None:
        raise BackendError(
            f"{piece.node.op.name} has no source: its record does not say how its bodies are run."
        )
    return write(Run(piece.node, piece.keep, call, dimension, in_place, piece.given))
