"""The record of a scan: its shapes, kernel and operations, and the axes its results follow."""

from __future__ import annotations

from typing import Any

from ..errors import DTypeError, ShapeError
from ..ir.avals import Aval
from ..ir.body import Body, SizedBody
from ..ir.differentiation import Places, Trail
from ..ir.dims import Dim, same_shape
from .carrying import settled

__all__ = ["flops", "follows", "infer", "kernel"]


def infer(
    *avals: Aval, body: Body, carries: int, scanned: int, length: Dim, reverse: bool
) -> tuple[Aval, ...]:
    """The last carries, the stacked results of the steps, and the carries before each step."""
    wanted = body.operand_avals
    if len(avals) != len(wanted):
        raise ShapeError(f"{len(avals)} operands, but the body takes {len(wanted)}.")
    for place, (aval, inner) in enumerate(zip(avals, wanted, strict=True)):
        is_scanned = carries <= place < carries + scanned
        shape = (length, *inner.shape) if is_scanned else inner.shape
        if aval.dtype != inner.dtype:
            raise DTypeError(f"operand {place} is {aval}, but the body takes {inner}.")
        if not same_shape(aval.shape, shape):
            raise ShapeError(f"operand {place} is {aval}, but {Aval(inner.dtype, shape)} is due.")
    results = body.avals
    for place, (before, after) in enumerate(zip(wanted[:carries], results[:carries], strict=True)):
        if before.dtype != after.dtype or not same_shape(before.shape, after.shape):
            raise ShapeError(f"carry {place} enters a step as {before} and leaves it as {after}.")
    return (
        *wanted[:carries],
        *[each.with_shape((length, *each.shape)) for each in results[carries:]],
        *[each.with_shape((length, *each.shape)) for each in wanted[:carries]],
    )


def kernel(
    xp: Any,
    *operands: Any,
    body: SizedBody,
    carries: int,
    scanned: int,
    length: int,
    reverse: bool,
    keep: tuple[bool, ...] | None = None,
) -> Any:
    """Run the loop of the namespace on the body."""
    init, xs = operands[:carries], operands[carries : carries + scanned]
    read = body.body.right_factors[carries + scanned :]
    rest = [
        xp.in_rows(each) if factor else each
        for each, factor in zip(operands[carries + scanned :], read, strict=True)
    ]
    results = xp.scan(
        lambda *values: body(xp, *values, *rest),
        init,
        xs,
        length=length,
        reverse=reverse,
        keep=keep,
        avals=body.results(),
    )
    return results if len(results) > 1 else results[0]


def flops(_out: Aval, *_avals: Aval, body: Body, length: Dim, **_params: object) -> Dim:
    """The operations of one step, as often as there are steps."""
    return body.flops * length  # pyright: ignore[reportReturnType]  # int * Expr is an Expr


def follows(
    trail: Trail, *, body: Body, carries: int, scanned: int, length: Dim, reverse: bool
) -> list[Places | None]:
    """The result of a step depends on its own slice alone, unless a carry brings more."""
    number = trail.level
    first = [-node.ndim - 1 for node in body.inputs]
    slices = [
        route and tuple(number if place == axis else place for place in route)
        for route, axis in zip(
            trail.places[carries : carries + scanned], first[carries:], strict=False
        )
    ]
    held, found = settled(
        trail, body, trail.places[:carries], [*slices, *trail.places[carries + scanned :]]
    )
    stacked = [
        route and tuple(-node.ndim - 1 if place == number else place for place in route)
        for route, node in zip(found[carries:], body.outputs[carries:], strict=True)
    ]
    return [*held, *stacked, *held]
