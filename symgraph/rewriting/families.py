"""Operations that share a trait, by name, so that a rule for all of them is stated once."""

from __future__ import annotations

from ..ir.op import OPS

__all__ = ["unary_of_parity"]


def unary_of_parity(parity: int) -> tuple[str, ...]:
    """The names of the elementwise functions of one operand that are even (1) or odd (-1).

    Linear functions are left out, for the algebra knows them.
    """
    found = [
        name
        for name, op in OPS.items()
        if op.traits.elementwise and op.traits.parity == (parity,) and not op.custom
    ]
    return tuple(sorted(found))
