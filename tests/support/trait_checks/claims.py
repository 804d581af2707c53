"""The identities that an operation's record declares, those that follow, and those that hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import e
from typing import Any

from symgraph.ir.op import OPS, Op
from symgraph.ir.traits import Angle, Exponential, ExponentialSum, Logarithm, Traits

from .cases import cases
from .forms import angle, combination, exponential_sum, extremum, indices, monomial, raises
from .identities import (
    Check,
    blind,
    commutative,
    exponent,
    exponential,
    homogeneous,
    linear,
    logarithm,
    movement,
    multiplies,
    parity,
    selects,
    shift,
)


def holds(op: Op, check: Check) -> bool:
    """Whether an identity holds in all cases that can tell, and at least one case can."""
    said = [each for each in map(check, cases(op)) if each is not None]
    return bool(said) and all(said)


def arity(op: Op) -> int:
    """The largest number of operands in the samples."""
    return max(len(each.operands) for each in cases(op))


def floats(op: Op) -> list[int]:
    """The places of operands that are floating in all samples."""
    return sorted(set.intersection(*[set(each.floats) for each in cases(op)]))


def declared(op: Op) -> dict[str, Check]:
    """The identities that an operation's record declares, by name."""
    traits, count = op.traits, arity(op)
    claims: dict[str, Check] = {}
    for place, sign in enumerate(traits.parity):
        if sign:
            claims[f"{'odd' if sign < 0 else 'even'} in {place}"] = parity(place, sign)
    for place in traits.linear_in(count):
        claims[f"linear in {place}"] = linear([place])
    if traits.jointly_linear:
        places = None if traits.jointly_linear is ... else list(traits.jointly_linear)
        claims["linear together"] = linear(places)
    if traits.homogeneous is not None:
        claims[f"homogeneous of degree {traits.homogeneous:g}"] = homogeneous(traits.homogeneous)
    if traits.shift is not None:
        claims[f"shift {traits.shift:g}"] = shift(traits.shift)
    if traits.commutative:
        claims["commutative"] = commutative
    if traits.movement:
        claims["movement"] = movement
    if traits.selects:
        claims["selects"] = selects
    if traits.exponent is not None:  # of negative numbers, too
        claims[f"power {traits.exponent:g}"] = exponent(traits.exponent)
    if traits.multiplies:
        claims["multiplies"] = multiplies
    for place in traits.blind_in(count):
        claims[f"blind in {place}"] = blind(place)
    if traits.exponential is not None:
        claims["exponential"] = exponential(traits.exponential)
    if traits.logarithm is not None:
        claims["logarithm"] = logarithm(traits.logarithm)
    return claims | _declared_forms(traits)


def _declared_forms(traits: Traits) -> dict[str, Check]:
    claims: dict[str, Check] = {}
    if traits.combination:
        claims[f"combination {traits.combination}"] = combination(traits.combination)
    if traits.monomial:
        claims[f"monomial {_floats(traits.monomial)}"] = monomial(_floats(traits.monomial))
    if traits.raises:
        claims["raises"] = raises
    if traits.angle is not None:
        claims[str(traits.angle)] = angle(traits.angle)
    if traits.exponential_sum is not None:
        claims[str(traits.exponential_sum)] = exponential_sum(traits.exponential_sum)
    if traits.extremum:
        claims[f"extremum {traits.extremum}"] = extremum(traits.extremum)
    if traits.indices is not None and traits.indices is not OPS["diagonal"].traits.indices:
        claims["indices"] = indices
    return claims


def _floats(powers: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(power) for power in powers)


def implied(op: Op) -> set[str]:
    """The identities that follow from the declared ones, and need not be declared."""
    count, there = arity(op), set(floats(op))
    alone, together = set(op.traits.linear_in(count)), set(op.traits.linear_together(count))
    found = {f"odd in {place}" for place in alone}
    if there <= together:
        found.add("homogeneous of degree 1")
        found |= {f"odd in {place}" for place in together if len(together) == 1}
    if there <= alone:
        found.add(f"homogeneous of degree {len(there)}")
    if there <= alone and len(there) == 1:
        found.add("linear together")
    return found


_DEGREES = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def candidates(op: Op) -> dict[str, Check]:
    """All identities that are tried on every operation, by name."""
    claims: dict[str, Check] = {"commutative": commutative, "movement": movement}
    claims["multiplies"], claims["selects"] = multiplies, selects
    for power in _DEGREES:
        claims[f"power {power:g}"] = exponent(power)
    for place in floats(op):
        claims[f"blind in {place}"] = blind(place)
        claims[f"odd in {place}"] = parity(place, -1)
        claims[f"even in {place}"] = parity(place, 1)
        claims[f"linear in {place}"] = linear([place])
    if len(floats(op)) > 1:
        claims["linear together"] = linear(None)
    for degree in _DEGREES:
        claims[f"homogeneous of degree {degree:g}"] = homogeneous(degree)
    for slope in (0.0, 1.0):
        claims[f"shift {slope:g}"] = shift(slope)
    for base in (2.0, e, 10.0):
        for more in (0.0, 1.0):
            claims[f"exponential {base:.3g} {more:g}"] = exponential(Exponential(base, more))
            claims[f"logarithm {base:.3g} {more:g}"] = logarithm(Logarithm(base, more))
    return claims | _candidate_forms(len(floats(op)))


def _candidate_forms(count: int) -> dict[str, Check]:
    claims: dict[str, Check] = {"raises": raises}
    for numbers in product((1, -1), repeat=count):
        if numbers == (1,):
            continue  # the value itself
        claims[f"combination {numbers}"] = combination(numbers)
        claims[f"monomial {_floats(numbers)}"] = monomial(_floats(numbers))
    for power in (2.0, 0.5):
        claims[f"monomial {(power,)}"] = monomial((power,))
    for part, square in product(("sine", "cosine", "tangent"), (1, -1)):
        form = Angle(part, square)
        claims[str(form)] = angle(form)
    for kinds in product((True, False), repeat=3):
        claims[str(ExponentialSum(*kinds))] = exponential_sum(ExponentialSum(*kinds))
    for side in (1, -1):
        claims[f"extremum {side}"] = extremum(side)
    return claims


def undeclared(op: Op) -> list[str]:
    """The identities that hold on the samples, and are neither declared nor implied."""
    known = set(declared(op)) | implied(op)
    known |= {f"{form} {base:.3g} {more:g}" for form, base, more in _forms(op)}
    return sorted(
        name for name, check in candidates(op).items() if name not in known and holds(op, check)
    )


def _forms(op: Op) -> Iterator[tuple[str, float, float]]:
    if op.traits.exponential is not None:
        yield "exponential", op.traits.exponential.base, op.traits.exponential.less
    if op.traits.logarithm is not None:
        yield "logarithm", op.traits.logarithm.base, op.traits.logarithm.plus
