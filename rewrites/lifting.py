"""Movement above elementwise operations: what is repeated or reshaped is computed first.

One rule an operation, for a rule speaks of operations by name. What is repeated is computed once;
reshapes and transposes that stand above may meet one another, and patterns below them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from symgraph.numpy import broadcast_to, reshape, transpose
from symgraph.rewriting import (
    Array,
    Identity,
    Index,
    Permutation,
    Real,
    Rule,
    Shape,
    applied,
    is_real,
    is_scalar,
    provided,
    rule,
    static,
)

from .selections import keeps_all

Number: TypeAlias = Annotated[Array, is_real, is_scalar]

UNARY = ("absolute", "cos", "exp", "log", "log1p", "sigmoid", "sin", "sqrt", "tanh")
BINARY = ("power", "maximum", "minimum", "hypot")
"""Not sums and products: the algebra writes those, but for numbers, where bits must be kept."""


@static
def repeats(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Whether each axis made is of a known length that is not zero: else nothing is computed."""
    lead = len(new) - len(old)
    made = [*new[:lead], *(b for a, b in zip(old, new[lead:], strict=True) if a != b)]
    return all(isinstance(size, int) and size > 0 for size in made)


def _named(function: Callable[..., Any], name: str, doc: str, measure: str) -> Rule:
    """The rule that a function states, under a name of its own."""
    function.__name__, function.__doc__ = name, doc
    return rule(sound="exact", measure=measure)(function)


def _repeated(op: str) -> Rule:
    def function(x: Real, shape: Shape) -> Identity:
        provided(repeats(x.shape, shape))
        return applied(op, broadcast_to(x, shape)), broadcast_to(applied(op, x), shape)

    doc = f"The {op} of what is repeated is repeated."
    return _named(function, f"{op}_of_repeated", doc, "broadcasts below operations")


def _reshaped(op: str) -> Rule:
    def function(x: Real, shape: Shape) -> Identity:
        return applied(op, reshape(x, shape)), reshape(applied(op, x), shape)

    doc = f"The {op} of what is reshaped, reshaped."
    return _named(function, f"{op}_of_reshaped", doc, "reshapes below operations")


def _transposed(op: str) -> Rule:
    def function(x: Real, axes: Permutation) -> Identity:
        return applied(op, transpose(x, axes)), transpose(applied(op, x), axes)

    doc = f"The {op} of what is transposed, transposed."
    return _named(function, f"{op}_of_transposed", doc, "transposes below operations")


def _both_transposed(op: str) -> Rule:
    def function(x: Real, y: Real, axes: Permutation) -> Identity:
        turned = applied(op, transpose(x, axes), transpose(y, axes))
        return turned, transpose(applied(op, x, y), axes)

    doc = f"The {op} of two arrays transposed alike, transposed."
    return _named(function, f"{op}_of_both_transposed", doc, "transposes below operations")


def _repeated_with_number(op: str) -> Rule:
    def function(x: Real, c: Number, shape: Shape) -> Identity:
        provided(repeats(x.shape, shape))
        return applied(op, broadcast_to(x, shape), c), broadcast_to(applied(op, x, c), shape)

    doc = f"The {op} of what is repeated and a number is repeated."
    return _named(function, f"{op}_of_repeated_and_number", doc, "broadcasts below operations")


def _reshaped_with_number(op: str) -> Rule:
    def function(x: Real, c: Number, shape: Shape) -> Identity:
        return applied(op, reshape(x, shape), c), reshape(applied(op, x, c), shape)

    doc = f"The {op} of what is reshaped and a number, reshaped."
    return _named(function, f"{op}_of_reshaped_and_number", doc, "reshapes below operations")


def _transposed_with_number(op: str) -> Rule:
    def function(x: Real, c: Number, axes: Permutation) -> Identity:
        return applied(op, transpose(x, axes), c), transpose(applied(op, x, c), axes)

    doc = f"The {op} of what is transposed and a number, transposed."
    return _named(function, f"{op}_of_transposed_and_number", doc, "transposes below operations")


def _with_axes(op: str) -> Rule:
    def function(x: Real, index: Index) -> Identity:
        provided(keeps_all(index, x.shape))
        placed = applied("getitem", x, index=index)
        return applied(op, placed), applied("getitem", applied(op, x), index=index)

    doc = f"The {op} of what has axes made or dropped has them made or dropped."
    return _named(function, f"{op}_of_new_axes", doc, "reshapes below operations")


def _left(op: str) -> Rule:
    def function(x: Real, y: Real, shape: Shape) -> Identity:
        whole, once = applied(op, broadcast_to(x, shape), y), applied(op, x, y)
        provided(whole.shape == once.shape)
        return whole, once

    doc = f"In {op} the second operand repeats the first."
    return _named(function, f"{op}_repeats_left", doc, "broadcasts below operations")


def _right(op: str) -> Rule:
    def function(x: Real, y: Real, shape: Shape) -> Identity:
        whole, once = applied(op, x, broadcast_to(y, shape)), applied(op, x, y)
        provided(whole.shape == once.shape)
        return whole, once

    doc = f"In {op} the first operand repeats the second."
    return _named(function, f"{op}_repeats_right", doc, "broadcasts below operations")


def _every() -> list[Rule]:
    made = [maker(op) for op in UNARY for maker in (_repeated, _reshaped, _transposed, _with_axes)]
    with_number = (_repeated_with_number, _reshaped_with_number, _transposed_with_number)
    made += [maker(op) for op in ("maximum", "minimum") for maker in with_number]
    made += [_repeated_with_number(op) for op in ("add", "subtract", "multiply", "divide")]
    # -1 times what is repeated is its negative: either way round it ends below.
    made += [_repeated("negative")]
    made += [_both_transposed(op) for op in ("maximum", "minimum", "hypot")]
    made += [_left(op) for op in BINARY]
    made += [_right(op) for op in BINARY]
    return made


globals().update({each.name: each for each in _every()})
