"""Movement of elements after elementwise operations, not before them.

An operation on a broadcast array then computes each element once. Reshapes and transposes after the
operations may cancel each other, and other rules see the operations together. A rule names its
operation, so there is one rule for each operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from symgraph.numpy import broadcast_to, multiply, reshape, transpose
from symgraph.rewriting import (
    Array,
    Identity,
    Index,
    Permutation,
    Real,
    Rule,
    Shape,
    Soundness,
    applied,
    is_real,
    is_scalar,
    provided,
    rule,
    static,
)

from .selections import keeps_all

RealScalar: TypeAlias = Annotated[Array, is_real, is_scalar]

UNARY = ("absolute", "cos", "exp", "log", "log1p", "sigmoid", "sin", "sqrt", "tanh")
BINARY = ("power", "maximum", "minimum", "hypot")
"""Sums and products are left to the algebra, except with a number, where bits must be kept."""
BY_SIZE = ("sigmoid",)
"""Operations whose last digit depends on how many elements there are."""


@static
def repeats(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Whether each broadcast axis has a known length above 0: an empty one holds nothing."""
    lead = len(new) - len(old)
    made = [*new[:lead], *(b for a, b in zip(old, new[lead:], strict=True) if a != b)]
    return all(isinstance(size, int) and size > 0 for size in made)


def _named(
    function: Callable[..., Any], name: str, doc: str, measure: str, sound: Soundness = "exact"
) -> Rule:
    """The rule that a function states, with this name and docstring."""
    function.__name__, function.__doc__ = name, doc
    return rule(sound=sound, measure=measure)(function)


def _repeated(op: str) -> Rule:
    def function(x: Real, shape: Shape) -> Identity:
        provided(repeats(x.shape, shape))
        return applied(op, broadcast_to(x, shape)), broadcast_to(applied(op, x), shape)

    doc = f"The {op} of a broadcast array is a broadcast {op}."
    sound = "rounding" if op in BY_SIZE else "exact"
    return _named(function, f"{op}_of_repeated", doc, "broadcasts below operations", sound)


def _reshaped(op: str) -> Rule:
    def function(x: Real, shape: Shape) -> Identity:
        return applied(op, reshape(x, shape)), reshape(applied(op, x), shape)

    doc = f"The {op} of a reshaped array is a reshaped {op}."
    return _named(function, f"{op}_of_reshaped", doc, "reshapes below operations")


def _transposed(op: str) -> Rule:
    def function(x: Real, axes: Permutation) -> Identity:
        return applied(op, transpose(x, axes)), transpose(applied(op, x), axes)

    doc = f"The {op} of a transpose is a transposed {op}."
    return _named(function, f"{op}_of_transposed", doc, "transposes below operations")


def _both_transposed(op: str) -> Rule:
    def function(x: Real, y: Real, axes: Permutation) -> Identity:
        transposed = applied(op, transpose(x, axes), transpose(y, axes))
        return transposed, transpose(applied(op, x, y), axes)

    doc = f"The {op} of two transposes by the same permutation is a transposed {op}."
    return _named(function, f"{op}_of_both_transposed", doc, "transposes below operations")


def _repeated_with_number(op: str) -> Rule:
    def function(x: Real, c: RealScalar, shape: Shape) -> Identity:
        provided(repeats(x.shape, shape))
        return applied(op, broadcast_to(x, shape), c), broadcast_to(applied(op, x, c), shape)

    doc = f"The {op} of a broadcast array and a number is a broadcast {op}."
    return _named(function, f"{op}_of_repeated_and_number", doc, "broadcasts below operations")


def _reshaped_with_number(op: str) -> Rule:
    def function(x: Real, c: RealScalar, shape: Shape) -> Identity:
        return applied(op, reshape(x, shape), c), reshape(applied(op, x, c), shape)

    doc = f"The {op} of a reshaped array and a number is a reshaped {op}."
    return _named(function, f"{op}_of_reshaped_and_number", doc, "reshapes below operations")


def _transposed_with_number(op: str) -> Rule:
    def function(x: Real, c: RealScalar, axes: Permutation) -> Identity:
        return applied(op, transpose(x, axes), c), transpose(applied(op, x, c), axes)

    doc = f"The {op} of a transpose and a number is a transposed {op}."
    return _named(function, f"{op}_of_transposed_and_number", doc, "transposes below operations")


def _with_axes(op: str) -> Rule:
    def function(x: Real, index: Index) -> Identity:
        provided(keeps_all(index, x.shape))
        placed = applied("getitem", x, index=index)
        return applied(op, placed), applied("getitem", applied(op, x), index=index)

    doc = f"An index that only adds or drops axes can be applied after the {op}."
    return _named(function, f"{op}_of_new_axes", doc, "reshapes below operations")


def _left_broadcast(op: str) -> Rule:
    def function(x: Real, y: Real, shape: Shape) -> Identity:
        whole, once = applied(op, broadcast_to(x, shape), y), applied(op, x, y)
        provided(whole.shape == once.shape)
        return whole, once

    doc = f"The second operand of {op} broadcasts the first."
    return _named(function, f"{op}_repeats_left", doc, "broadcasts below operations")


def _right_broadcast(op: str) -> Rule:
    def function(x: Real, y: Real, shape: Shape) -> Identity:
        whole, once = applied(op, x, broadcast_to(y, shape)), applied(op, x, y)
        provided(whole.shape == once.shape)
        return whole, once

    doc = f"The first operand of {op} broadcasts the second."
    return _named(function, f"{op}_repeats_right", doc, "broadcasts below operations")


@rule(sound="exact", measure="broadcasts below operations")
def multiply_repeats_number(c: RealScalar, x: Real, shape: Shape) -> Identity:
    """An array multiplied by a number repeats it: the algebra keeps what it does not shorten."""
    whole, once = multiply(broadcast_to(c, shape), x), multiply(c, x)
    provided(whole.shape == once.shape)
    return whole, once


def _all_rules() -> list[Rule]:
    made = [maker(op) for op in UNARY for maker in (_repeated, _reshaped, _transposed, _with_axes)]
    with_number = (_repeated_with_number, _reshaped_with_number, _transposed_with_number)
    made += [maker(op) for op in ("maximum", "minimum") for maker in with_number]
    made += [_repeated_with_number(op) for op in ("add", "subtract", "multiply", "divide")]
    # -1 times an array is its negative, so both forms must move below the broadcast.
    made += [_repeated("negative")]
    made += [_both_transposed(op) for op in ("maximum", "minimum", "hypot")]
    # The algebra keeps a quotient that it does not shorten, and so 1 / x of a repeated 1.
    made += [_left_broadcast(op) for op in (*BINARY, "divide")]
    made += [_right_broadcast(op) for op in BINARY]
    return made


globals().update({each.name: each for each in _all_rules()})
