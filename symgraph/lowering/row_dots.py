"""Sums of products along the last axis, as products of rows by BLAS.

`np.sum(x * y)` writes all products to memory, and reads them again. `np.vecdot` does neither. It
adds up in another order, so only programs in blocks of rows have it: their sums differ from those
of other programs in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from ..ir.avals import Aval
from .drafts import Draft
from .source_pieces import Alias, Call, Line, Piece, Pieces

__all__ = ["with_row_dots"]

_LEAST, _MOST = 64, 4096
"""The lengths of rows: a shorter one costs a call, and the sums of longer ones lose digits."""
_SUMS = ("np.add.reduce", "xp.row_sums")


def with_row_dots(
    drafts: Sequence[Draft],
    avals: Mapping[str, Aval],
    results: Collection[str],
    new_name: Callable[[], str],
) -> list[Draft]:
    """The statements with such products in the place of a product and its sum.

    Parameters
    ----------
    drafts : sequence of Draft
    avals : mapping of str to Aval
        Of the inputs and constants.
    results : collection of str
        The names of the program's results.
    new_name : callable
        Gives a name that is free.
    """
    known = {**avals, **{each.target: each.line.avals[0] for each in drafts}}
    readers = Counter([name for each in drafts for name in each.names])
    products = {
        each.target: each
        for each in drafts
        if readers[each.target] == 1 and each.target not in results and _is_product(each, known)
    }
    sums = {each.names[0]: each for each in drafts if _is_sum(each) and each.names[0] in products}
    left_out = {each for each in sums if not _axes(sums[each], known[each])}
    found: list[Draft] = []
    for draft in drafts:
        if draft.target in sums and draft.target not in left_out:
            continue
        product = products.get(draft.names[0]) if _is_sum(draft) else None
        if product is None or product.target in left_out:
            found.append(draft)
        else:
            found.extend(_dotted(draft, product, known[product.target], new_name))
    return found


def _is_product(draft: Draft, avals: Mapping[str, Aval]) -> bool:
    """Whether it multiplies two arrays of the result's shape, or an array by itself."""
    call, (aval, *more) = draft.line.call, draft.line.avals
    count = {"np.multiply": 2, "np.square": 1}.get("" if call is None else call.function, 0)
    if more or count == 0 or aval.ndim < 2 or aval.dtype.kind != "f" or aval.dtype.itemsize < 4:
        return False
    operands = draft.pieces[1::2]
    length = aval.shape[-1]
    return (
        len(operands) == count
        and isinstance(length, int)
        and _LEAST <= length <= _MOST
        and all(isinstance(each, str) and avals.get(each) == aval for each in operands)
    )


def _is_sum(draft: Draft) -> bool:
    call = draft.line.call
    return call is not None and call.function in _SUMS and len(draft.names) == 1


def _axes(draft: Draft, aval: Aval) -> set[int]:
    """The axes of a sum, if these are the last one or all; empty if it is another."""
    call = draft.line.call
    assert call is not None
    if draft.line.avals[0].dtype != aval.dtype or not set(call.kwargs) <= {"axis", "keepdims"}:
        return set()
    given: Any = -1 if call.function == "xp.row_sums" else call.kwargs.get("axis")
    every = set(range(-aval.ndim, 0))
    axes = every if given is None else {given} if isinstance(given, int) else {*given}
    axes = {each if each < 0 else each - aval.ndim for each in cast("set[int]", axes)}
    whole = axes == every and not call.kwargs.get("keepdims")
    return axes if axes == {-1} or whole else set()


def _dotted(draft: Draft, product: Draft, aval: Aval, new_name: Callable[[], str]) -> list[Draft]:
    call = draft.line.call
    assert call is not None
    operands = [each for each in product.pieces[1::2] if isinstance(each, str)]
    first, second = operands[0], operands[-1]
    kept = bool(call.kwargs.get("keepdims"))
    text: list[Piece] = ["np.vecdot(", first, ", ", second, *[", keepdims=True"] * kept, ")"]
    options: dict[str, object] = {"keepdims": True} if kept else {}
    dot = Call("np.vecdot", (None, None), options)
    if _axes(draft, aval) == {-1}:
        line = _line(text, draft.line.avals[0], ", out=" if kept else ", ", dot)
        return [Draft(draft.node, draft.target, line, line.pieces, product.names, False)]
    rows = aval.with_shape(aval.shape[:-1])
    name = new_name()
    line = _line(text, rows, ", ", dot)
    total = Call("np.add.reduce", (None,), {"axis": None})
    whole = _line(["np.add.reduce(", name, ", axis=None)"], draft.line.avals[0], ", out=", total)
    return [
        Draft(product.node, name, line, line.pieces, product.names, False),
        Draft(draft.node, draft.target, whole, whole.pieces, (name,), False),
    ]


def _line(pieces: Sequence[Piece], aval: Aval, place: str, call: Call) -> Line:
    found: Pieces = tuple(pieces)
    return Line(found, (aval,), (Alias.FRESH,), "", place, call)
