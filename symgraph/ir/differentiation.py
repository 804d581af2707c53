"""The records that pass between the engine of derivatives and the rules of ops.

The engine gives a rule a `Pull`, a `Push` or a `Trail`; a rule gives back arrays, an `Undefined`
or a `StandIn`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..records import record

__all__ = [
    "Places",
    "Pull",
    "Push",
    "StandIn",
    "Trail",
    "Undefined",
    "joined",
    "undefined",
]


Places: TypeAlias = "tuple[int | None, ...]"
"""Where each axis of some value x is in another one: see `Trail`."""


@record
class Undefined:
    """A derivative that does not exist, and why."""

    why: str


@record
class Pull:
    """The arguments of an operation's `pullback`, from reverse mode at a node.

    Parameters
    ----------
    cts : tuple
        One a result: its cotangent, None where nothing flows back to it.
    outs : tuple
        The results.
    operands : tuple
    wanted : tuple of int
        The operands whose cotangents are asked for, floating all of them.
    lead : int
        How many leading axes cotangents have beyond the axes of the results.
    cotangents : callable
        Reverse mode itself, for operations that hold graphs: `cotangents(seeds, targets)`.
    """

    cts: tuple[Any, ...]
    outs: tuple[Any, ...]
    operands: tuple[Any, ...]
    wanted: tuple[int, ...]
    lead: int
    cotangents: Callable[..., Any]


@record
class Push:
    """The arguments of an operation's `pushforward`, from forward mode at a node.

    Parameters
    ----------
    tangents : tuple
        One an operand, None where it does not move.
    outs : tuple
        The results.
    operands : tuple
    lead : int
        How many leading axes tangents have beyond the axes of the operands.
    differentiate : callable
        Forward mode itself, for operations that hold graphs: `differentiate(outputs, seeds)`.
    """

    tangents: tuple[Any, ...]
    outs: tuple[Any, ...]
    operands: tuple[Any, ...]
    lead: int
    differentiate: Callable[..., Any]


@record
class Trail:
    """Where the axes of some value x are in the operands of a node that holds graphs.

    Places are one an axis of x. A negative one is the axis at which a value depends on x at the
    same position alone; one that is not negative is the number of a loop around it, in whose steps
    the value depends on x at the position of the step alone. None: the axis is mixed.

    Parameters
    ----------
    places : tuple
        One an operand; None where it does not depend on x.
    level : int
        The number of a loop that the node is, or holds, if it is one.
    within : callable
        `within(body, places, level)` follows them through a body, from its inputs to its outputs;
        loops in it are numbered from `level`.
    """

    places: tuple[Places | None, ...]
    level: int
    within: Callable[..., list[Places | None]]


def joined(*routes: Places | None) -> Places | None:
    """Where axes are that reach a value by several routes: where all agree; None takes no part."""
    there = [route for route in routes if route is not None]
    if not there:
        return None
    return tuple(
        places[0] if all(place == places[0] for place in places) else None
        for places in zip(*there, strict=True)
    )


@record
class StandIn:
    """The derivative of a node past the values it is made of, where the chain rule has none.

    It holds where one differentiates by none of these values.

    Parameters
    ----------
    passed : tuple of Node
        The values on the way.
    operands : tuple of Node
        The values before them; one may come twice.
    vjp : tuple of callable
        `rule(ct, out)` gives the cotangent of one operand.
    jvp : callable
        `jvp(tangents, out)` gives the tangent of the result; None where an operand does not move.
    helps : callable
        `helps(ct, out)`: whether it makes a difference for this cotangent.
    """

    passed: tuple[Any, ...]
    operands: tuple[Any, ...]
    helps: Callable[[Any, Any], bool]
    vjp: tuple[Callable[[Any, Any], Any], ...]
    jvp: Callable[[Sequence[Any], Any], Any]


def undefined(why: str) -> Undefined:
    """Mark a derivative as not existing (distinct from zero, which is `None`)."""
    return Undefined(why)
