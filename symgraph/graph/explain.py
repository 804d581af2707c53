"""Explanations: a history and the facts of its values, as text, LaTeX or data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from ..errors import InputError
from ..export.explanation import (
    as_align,
    as_latex,
    as_markdown,
    as_text,
    bookkeeping,
    entry,
    origin_entry,
)
from ..ir.collector import collector_paused
from ..ir.fact_inference import Knowledge
from ..ir.node import Node, Origin
from ..rewriting.justifications import licences
from ..rewriting.log import Log

__all__ = ["Format", "Grains", "explained"]

Format: TypeAlias = Literal["text", "latex", "align", "markdown", "data"]
Grains: TypeAlias = Collection[Literal["origin", "region", "rule", "choice", "bookkeeping"]]
"""Which kinds of entry to tell."""


@collector_paused()
def explained(
    log: Log,
    node: Node | None,
    *,
    origin: Origin | None = None,
    format: Format = "text",
    grains: Grains | None = None,
) -> Any:
    """The whole derivation, or that of one value.

    Parameters
    ----------
    log : Log
    node : Node, optional
        Only the steps that led to it, after where it comes from.
    origin : Origin, optional
        Its origin, if it is not the node's own: see `origins`.
    format : "text", "latex", "align", "markdown" or "data"
        Data is a list of dicts that JSON can hold.
    grains : collection of str, optional
        Only entries of these grains.

    Raises
    ------
    InputError
        If there is no such format or grain.
    """
    if format not in ("text", "latex", "align", "markdown", "data"):
        raise InputError(
            f"There is no format {format!r}.",
            mend='Use "text", "latex", "align", "markdown" or "data".',
        )
    known = {"origin", "region", "rule", "choice", "bookkeeping"}
    if grains is not None and (isinstance(grains, str) or not set(grains) <= known):
        raise InputError(f"{grains!r} are no grains.", mend=f"Choose from {sorted(known)}.")
    entries = [
        each
        for each in (_whole(log) if node is None else _of_node(log, node, origin or node.origin))
        if grains is None or each["grain"] in grains
    ]
    if format == "data":
        return entries
    written = {"text": as_text, "latex": as_latex, "align": as_align, "markdown": as_markdown}
    return written[format](entries)


def _whole(log: Log) -> Iterator[dict[str, Any]]:
    told = 0
    for each in log.passes:
        if each.start == each.stop or not each.equal:
            yield bookkeeping(each)
        yield from _steps(log, range(each.start, each.stop))
        told = each.stop
    yield from _steps(log, range(told, len(log.steps)))


def _of_node(log: Log, node: Node, origin: Origin) -> Iterator[dict[str, Any]]:
    yield origin_entry(node, origin)
    wanted = {id(step) for step in log.leading_to([node])}
    yield from _steps(log, [i for i, step in enumerate(log.steps) if id(step) in wanted])


def _steps(log: Log, indices: Sequence[int]) -> Iterator[dict[str, Any]]:
    knowledge = Knowledge()
    # Rewrites before the last differentiation used open facts only.
    open_until = max((each.start for each in log.passes if not each.equal), default=0)
    for index in indices:
        step = log.steps[index]
        yield entry(index, step, licences(step, knowledge, ties=index >= open_until))
