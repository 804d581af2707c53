"""Run a user's derivative rule, and check its cotangents.

The check: as many cotangents as operands, each with its operand's shape and dtype. A rule without
support for leading axes runs once for each stacked cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from ..array import FUNCTIONS, Array, ArrayLike, constant
from ..array.cuts import Borrowed
from ..errors import DTypeError, ShapeError
from ..ir.differentiation import Pull
from ..ir.dims import Dim, count, same_shape, show_shape
from .creation import zeros
from .loops import scan

__all__ = ["as_sequence", "by_rule", "lent", "lent_to"]


def by_rule(pull: Pull, rule: Callable[[Any], Sequence[Any]], name: str, stacks: bool) -> Any:
    """The cotangents of the wanted operands, by a rule that gives those of all operands.

    A rule without support for leading axes runs once for each stacked cotangent.
    """
    cts = tuple(
        zeros((*_lead_shape(pull), *out.shape), out.dtype) if ct is None else ct
        for ct, out in zip(pull.cts, pull.outs, strict=True)
    )
    if not pull.lead or stacks:
        return _checked(rule(cts), pull, name, _lead_shape(pull))
    lead = _lead_shape(pull)
    flat = [FUNCTIONS["reshape"](ct, (count(lead), *ct.shape[pull.lead :])) for ct in cts]
    present: list[bool] = []

    def one(_carry: None, slices: list[Any]) -> Any:
        found = _checked(rule(tuple(slices)), pull, name, ())
        present[:] = [each is not None for each in found]
        return None, [each for each in found if each is not None]

    stacked = iter(scan(one, None, flat)[1])
    return [
        FUNCTIONS["reshape"](next(stacked), (*lead, *pull.operands[slot].shape)) if there else None
        for slot, there in zip(pull.wanted, present, strict=True)
    ]


def lent_to(pull: Pull) -> Pull:
    """Read-only copies of arrays for a user's rule: other nodes read them too."""
    return replace(
        pull,
        cts=tuple(map(lent, pull.cts)),
        outs=tuple(map(lent, pull.outs)),
        operands=tuple(map(lent, pull.operands)),
    )


def lent(x: ArrayLike) -> Any:
    """A read-only array of the same value; other values unchanged."""
    if type(x) is not Array or not x.shape:
        return x
    found = Array(x.node)
    found.memory = Borrowed("an array that a derivative rule is given")
    return found


def _lead_shape(pull: Pull) -> tuple[Dim, ...]:
    return next(ct.shape[: pull.lead] for ct in pull.cts if ct is not None)


def _checked(
    found: Sequence[Any], pull: Pull, name: str, lead: tuple[Dim, ...]
) -> list[Array | None]:
    """The rule's cotangents for the wanted operands, after their check."""
    if len(found) != len(pull.operands):
        raise ShapeError(
            f"The vjp of {name} gives {len(found)} cotangents for {len(pull.operands)} operands.",
            mend="Return one for each operand, None where the derivative is zero.",
        )
    results: list[Array | None] = []
    for slot in pull.wanted:
        ct, operand = found[slot], pull.operands[slot]
        if ct is None:
            results.append(None)
            continue
        array = ct if isinstance(ct, Array) else constant(ct, operand.dtype)
        wanted = (*lead, *operand.shape)
        if not same_shape(array.shape, wanted):
            raise ShapeError(
                f"The vjp of {name} gives a cotangent of shape {show_shape(array.shape)} for "
                f"operand {slot}, whose shape is {show_shape(wanted)}.",
                mend="A cotangent has its operand's shape: sum over the axes that were broadcast.",
            )
        if array.dtype != operand.dtype:
            raise DTypeError(
                f"The vjp of {name} gives a cotangent of dtype {array.dtype} for operand {slot}, "
                f"whose dtype is {operand.dtype}.",
                mend="Convert it with astype.",
            )
        results.append(array)
    return results


def as_sequence(found: object) -> Sequence[Any]:
    """The rule's result as a sequence; a single cotangent needs no tuple."""
    return cast("Sequence[Any]", found) if isinstance(found, (tuple, list)) else [found]
