"""Odd and even functions: one rule for each operation that declares its parity."""

from __future__ import annotations

from symgraph.numpy import absolute
from symgraph.rewriting import Identity, Real, Rule, applied, rule, unary_of_parity

_LEFT_TO_ALGEBRA = {"absolute", "square", "reciprocal"}
"""The algebra of products handles the signs of these operations."""


def _odd(op: str) -> Rule:
    def function(x: Real) -> Identity:
        return applied(op, -x), -applied(op, x)

    function.__name__ = f"{op}_is_odd"
    function.__doc__ = f"The {op} of $-x$ is the negative {op} of $x$."
    return rule(sound="rounding", measure="operations above negations")(function)


def _even(op: str) -> Rule:
    def function(x: Real) -> Identity:
        return applied(op, -x), applied(op, x)

    function.__name__ = f"{op}_is_even"
    function.__doc__ = f"The {op} of $-x$ is the {op} of $x$."
    return rule(sound="rounding")(function)


def _even_of_absolute(op: str) -> Rule:
    def function(x: Real) -> Identity:
        return applied(op, absolute(x)), applied(op, x)

    function.__name__ = f"{op}_of_absolute"
    function.__doc__ = f"The {op} of $|x|$ is the {op} of $x$."
    return rule(sound="rounding")(function)


def _all_rules() -> list[Rule]:
    odd = [name for name in unary_of_parity(-1) if name not in _LEFT_TO_ALGEBRA]
    even = [name for name in unary_of_parity(1) if name not in _LEFT_TO_ALGEBRA]
    made = [_odd(name) for name in odd]
    return made + [maker(name) for name in even for maker in (_even, _even_of_absolute)]


globals().update({each.name: each for each in _all_rules()})
