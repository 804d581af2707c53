"""Identities of operations: a check tells whether one holds in a case, None if it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

import numpy as np

from symgraph.ir.traits import Exponential, Logarithm

from .cases import POINTS, SPECIAL, Case, informative, near, on_points, same, same_bits

Check = Callable[[Case], "bool | None"]


def parity(place: int, sign: int) -> Check:
    """Even (1) or odd (-1) in an operand."""

    def check(case: Case) -> bool | None:
        if place not in case.floats:
            return None
        x = case.operands[place]
        result, turned = case(*case.operands), case.at({place: -x})
        if not informative(result):
            return None
        if len(case.operands) == 1 and x.shape == result.shape and not case.params:
            special = np.resize(SPECIAL, x.shape) if x.ndim else SPECIAL
            if not same(case(-special), sign * case(special)):
                return False
        return same(turned, sign * result)

    return check


def linear(places: Sequence[int] | None) -> Check:
    """Jointly linear in these operands (None: in all floats), with the others fixed."""

    def check(case: Case) -> bool | None:
        them = case.floats if places is None else places
        if not set(them) <= set(case.floats):
            return None
        x = {place: case.drawn(place, place) for place in them}
        y = {place: case.drawn(place, 50 + place) for place in them}
        mixed = case.at({place: 2.5 * x[place] - 0.75 * y[place] for place in them})
        with np.errstate(all="ignore"):
            wanted = 2.5 * case.at(x) - 0.75 * case.at(y)
        if not informative(wanted) or mixed.shape != wanted.shape:
            return None
        there = np.isfinite(wanted)  # at log(0), 2.5 times infinity less infinity is no number
        return near(mixed[there], wanted[there])

    return check


def homogeneous(degree: float) -> Check:
    """Homogeneous of this degree in all floating operands together."""

    def check(case: Case) -> bool | None:
        result = case(*case.operands)
        if not informative(result):
            return None
        return all(
            near(case.at({i: by * case.operands[i] for i in case.floats}), by**degree * result)
            for by in (2.0, 0.375)
        )

    return check


def shift(slope: float) -> Check:
    """Adding a number to all floating operands adds `slope` times the number to the result."""

    def check(case: Case) -> bool | None:
        result = case(*case.operands)
        if not informative(result):
            return None
        return all(
            near(case.at({i: case.operands[i] + by for i in case.floats}), result + slope * by)
            for by in (0.5, -1.25)
        )

    return check


def commutative(case: Case) -> bool | None:
    """Swapping two operands keeps all bits; it does not for extrema, which may take either zero."""
    if len(case.operands) != 2 or case.operands[0].shape != case.operands[1].shape:
        return None
    result = case(*case.operands)
    pairs = [case.operands]
    if case.op.traits.elementwise:
        pairs.append((np.repeat(SPECIAL, 10), np.tile(SPECIAL, 10)))
    if not informative(result):
        return None
    return all(same_bits(case(*each), case(*each[::-1])) for each in pairs)


def movement(case: Case) -> bool | None:
    """Each element of the result is an element of an operand or 0, whatever the floats are."""
    result = case(*case.operands)
    if linear(None)(case) is False:
        return False
    there = np.concatenate([[0.0], *[case.operands[i].ravel() for i in case.floats]])
    return bool(np.all(np.isin(result, there))) if informative(result) else None


def selects(case: Case) -> bool | None:
    """Each element of the result is an element of an operand, chosen by the floats."""
    result = case(*case.operands)
    if not informative(result) or movement(case):
        return None
    there = np.concatenate([case.operands[i].ravel() for i in case.floats])
    return bool(np.all(np.isin(result, there)))


def exponent(power: float) -> Check:
    """The result is x to this power, and NaN where the power is NaN."""

    def check(case: Case) -> bool | None:
        if len(case.floats) != 1 or len(case.operands) != 1 or case.params:
            return None
        x = np.linspace(-2, 2, 17)
        with np.errstate(all="ignore"):
            result, wanted = case(x), np.power(x, power)
        return same(result, wanted) if result.shape == x.shape else None

    return check


def multiplies(case: Case) -> bool | None:
    """Some element of the result is a product of several elements of the first operand."""
    result = case(*case.operands)
    if case.op.traits.elementwise or not informative(result):
        return None
    grown = case.at({0: 2 * case.operands[0]})
    if grown.shape != result.shape:
        return False
    with np.errstate(all="ignore"):
        degrees = np.log2(grown / result)
    known = degrees[np.isfinite(degrees)]
    whole = np.allclose(known, np.rint(known), atol=1e-9)
    return bool(known.size) and bool(whole) and bool(np.max(known) > 1.5)


def blind(place: int) -> Check:
    """The result has numbers although an operand is NaN, whatever the other operands are."""

    def check(case: Case) -> bool | None:
        if place not in case.floats or not case.op.traits.elementwise:
            return None
        nothing = {place: np.full_like(case.operands[place], np.nan)}
        untrue = {i: np.zeros_like(case.operands[i]) for i in case.op.unpromoted}
        found = [case.at(nothing), case.at({**nothing, **untrue})]
        return not all(bool(np.all(np.isnan(each))) for each in found)

    return check


def exponential(form: Exponential) -> Check:
    """The result is base**x - less."""

    def check(case: Case) -> bool | None:
        result = on_points(case)
        return None if result is None else near(result, form.base**POINTS - form.less)

    return check


def logarithm(form: Logarithm) -> Check:
    """The result is the logarithm of x + plus to the base."""

    def check(case: Case) -> bool | None:
        result = on_points(case)
        wanted = np.log(POINTS + form.plus) / log(form.base)
        return None if result is None else near(result, wanted)

    return check
