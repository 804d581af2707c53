"""State that a traced function changes itself: at each trace, where the user means each call.

What it reads is found before the trace and after it (`captured`). A number, an array or a container
that differs, and an iterator that is read, are told; a container that only grows may be a record of
calls or a memory of what was computed, and is told where symbols are stored in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_

from ..ir.value_names import Holder
from .watched import Captured, Held, held_by

__all__ = ["side_effects"]

_CHANGES = (
    "{name} changes {what}, which it reads. That is done while it is traced, not at each call: "
    "later calls go on with the first value. Make {what} an argument, and return the next one "
    "beside the result, with has_aux=True."
)
_STORES = (
    "{name} stores symbols in {what}. That is done while it is traced, not at each call. Return "
    "what is to be kept beside the result, with has_aux=True."
)
_TAKES = (
    "{name} takes values from the iterator {what}. That is done while it is traced, not at each "
    "call: later calls go on with the values taken then. Take them before the call, and pass them "
    "as arguments."
)


def side_effects(before: Captured, after: Captured) -> Iterator[tuple[str, str]]:
    """What the function changed, as it says it, and the warning of it, to be given its name.

    Parameters
    ----------
    before, after : Captured
        What the function reads, before it was traced and after.
    """
    number = before.numbers_changed(after)
    if number:
        yield number, _CHANGES
    for what, value in before.values.items():
        if _is_other(value, after.values.get(what)):
            yield what, _CHANGES
    for what, owner, found, is_read in before.containers:
        now = held_by(owner)
        grown = len(now) >= len(found) and all(map(is_, now, found))
        if grown and len(now) == len(found):
            continue
        if not grown and is_read and not isinstance(owner, dict):
            yield what, _CHANGES
        elif any(map(_is_symbol, now)) and not any(map(_is_symbol, found)):
            yield what, _STORES
    for what, left in before.iterators.items():
        if left != after.iterators.get(what):
            yield what, _TAKES


def _is_other(value: object, later: object) -> bool:
    """Whether a number or an array has become a symbol, or an array one of other numbers."""
    if isinstance(value, Held) and isinstance(later, Held):
        return value.content != later.content
    return isinstance(value, (Held, float, int)) and _is_symbol(later)


def _is_symbol(value: object) -> bool:
    return issubclass(type(value), Holder)  # isinstance would ask the symbol
