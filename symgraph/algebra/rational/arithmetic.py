"""The value of an operation over any field: sums, products, quotients and whole powers.

The traits of the operation decide. The field is given: polynomials in one array, or quotients in
several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from ...ir.op import Op

__all__ = ["Field", "divides_by", "is_rational", "value_of"]

T = TypeVar("T")


class Field(Protocol[T]):
    """Arithmetic of values; None where a result is not supported."""

    def sum(self, a: T, b: T, /) -> T | None: ...

    def negative(self, a: T, /) -> T: ...

    def product(self, a: T, b: T, /) -> T | None: ...

    def quotient(self, a: T, b: T, /) -> T | None: ...

    def inverse(self, a: T, /) -> T | None: ...

    def whole(self, a: T, /) -> int | None:
        """The value as a nonzero whole number that is small enough for a power, else None."""
        ...


def is_rational(op: Op) -> bool:
    """Whether an operation is a sum, a product of whole powers, or a power."""
    traits = op.traits
    return bool(
        traits.combination
        or (traits.monomial and all(power.denominator == 1 for power in traits.monomial))
        or traits.raises
    )


def divides_by(op: Op) -> int | None:
    """The operand that an operation may divide by; None if it does not divide."""
    if op.traits.raises:
        return 0
    return next((i for i, power in enumerate(op.traits.monomial) if power < 0), None)


def value_of(field: Field[T], op: Op, operands: Sequence[T]) -> T | None:
    """The result of an operation on values; None if the field does not support it."""
    traits = op.traits
    if traits.combination:
        return _sum(field, operands, traits.combination)
    if traits.raises:
        base, exponent = operands
        power = field.whole(exponent)
        return None if power is None else _product(field, [base], [power])
    return _product(field, operands, [power.numerator for power in traits.monomial])


def _sum(field: Field[T], values: Sequence[T], signs: Sequence[int]) -> T | None:
    found: T | None = None
    for value, sign in zip(values, signs, strict=True):
        part = value if sign > 0 else field.negative(value)
        found = part if found is None else field.sum(found, part)
        if found is None:
            return None
    return found


def _product(field: Field[T], values: Sequence[T], powers: Sequence[int]) -> T | None:
    found: T | None = None
    for value, power in zip(values, powers, strict=True):
        times = abs(power)
        if power < 0:
            if found is not None and power == -1:
                found = field.quotient(found, value)
                if found is None:
                    return None
                continue
            inverse = field.inverse(value)
            if inverse is None:
                return None
            value = inverse
        for _ in range(times):
            found = value if found is None else field.product(found, value)
            if found is None:
                return None
    return found
