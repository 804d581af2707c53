"""Forms of operations, such as a monomial or an extremum, each as a check of one case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from symgraph.ir.avals import Aval
from symgraph.ir.traits import Angle, ExponentialSum

from .cases import POINTS, Case, Floats, near, on_points
from .identities import Check


def is_aligned(case: Case) -> bool:
    """Whether the operands are floats of one shape, and there are no params."""
    shapes = {each.shape for each in case.operands}
    return not case.params and len(shapes) == 1 and len(case.floats) == len(case.operands)


def combination(numbers: Sequence[int]) -> Check:
    """The result is the sum of the operands, each times a number."""

    def check(case: Case) -> bool | None:
        if len(case.operands) != len(numbers) or not is_aligned(case):
            return None
        wanted = sum(by * x for by, x in zip(numbers, case.operands, strict=True))
        return near(case(*case.operands), np.asarray(wanted))

    return check


def monomial(powers: Sequence[float]) -> Check:
    """The result is the product of the operands, each to a power."""

    def check(case: Case) -> bool | None:
        if len(case.operands) != len(powers) or not is_aligned(case):
            return None
        x = [np.abs(each) for each in case.operands]
        with np.errstate(all="ignore"):
            wanted = [each ** float(power) for each, power in zip(x, powers, strict=True)]
            return near(case(*x), np.prod(wanted, axis=0))

    return check


def raises(case: Case) -> bool | None:
    """The result is the first operand to the power of the second."""
    if len(case.operands) != 2 or not is_aligned(case):
        return None
    x = np.abs(case.operands[0])
    with np.errstate(all="ignore"):
        return near(case.at({0: x}), np.exp(case.operands[1] * np.log(x)))


def angle(form: Angle) -> Check:
    """A sine is (e^rx - e^-rx) / 2r, a cosine (e^rx + e^-rx) / 2; r is i, or 1 if hyperbolic."""

    def check(case: Case) -> bool | None:
        result = on_points(case)
        r = 1j if form.square == 1 else 1.0
        up, down = np.exp(r * POINTS), np.exp(-r * POINTS)
        sine, cosine = ((up - down) / (2 * r)).real, ((up + down) / 2).real
        wanted = {"sine": sine, "cosine": cosine, "tangent": sine / cosine}[form.part]
        return None if result is None else near(result, wanted)

    return check


def exponential_sum(form: ExponentialSum) -> Check:
    """The result is the form's function of the exponentials and their sum."""

    def check(case: Case) -> bool | None:
        if len(case.operands) != 1 or form.over_axis != ("axis" in case.params):
            return None
        if not case.floats:
            return None
        result, raised = case(*case.operands), np.exp(case.operands[0])
        over = case.params["axis"] if form.over_axis else ()
        total = raised.sum(over, keepdims=True) if form.over_axis else 1 + raised
        found = raised / total if form.share else total
        found = np.log(found) if form.logarithm else found
        return result.size == found.size and near(result.reshape(found.shape), found)

    return check


def extremum(side: int) -> Check:
    """The result is the largest (1) or least (-1) of two numbers, or along an axis."""

    def check(case: Case) -> bool | None:
        choose = np.maximum if side > 0 else np.minimum
        result = case(*case.operands)
        if len(case.operands) == 2 and is_aligned(case):
            if not np.isnan(case(*case.operands[:1], np.full_like(case.operands[1], np.nan))).all():
                return False
            return near(result, choose(*case.operands))
        if len(case.operands) != 1 or case.params.keys() != {"axis", "keepdims"}:
            return None
        axis, keepdims = case.params["axis"], case.params["keepdims"]
        wanted = choose.reduce(case.operands[0], axis=axis, keepdims=keepdims)
        return near(result, np.asarray(wanted))

    return check


def indices(case: Case) -> bool | None:
    """The result is the product of the operands, summed over the labels that it lacks."""
    form = case.op.traits.indices
    result = case(*case.operands)
    avals = [Aval(each.dtype, each.shape) for each in (result, *case.operands)]
    labels = form(*avals, **case.params) if form is not None else None
    if labels is None:
        return None
    rows, out = ([_open(row, x) for row, x in zip(labels[0], case.operands, strict=True)],
                 _open(labels[1], result))  # fmt: skip
    numbers = {
        label: i for i, label in enumerate(dict.fromkeys([*chain.from_iterable(rows), *out]))
    }
    sizes = dict(zip(out, np.squeeze(result).shape, strict=True))
    arrays = [np.squeeze(each) for each in case.operands]
    arrays += [np.ones(size) for size in sizes.values()]
    places = [[numbers[label] for label in row] for row in [*rows, *([each] for each in sizes)]]
    inside = [numbers[label] for label in sizes]
    wanted = np.einsum(
        *[part for pair in zip(arrays, places, strict=True) for part in pair], inside
    )
    found = np.einsum(np.squeeze(result), [numbers[label] for label in out], inside)
    rest = np.count_nonzero(result) - np.count_nonzero(found)  # beside the diagonal
    return near(found, wanted) and rest == 0


def _open(labels: Sequence[Any], array: Floats) -> list[Any]:
    return [label for label, size in zip(labels, array.shape, strict=True) if size != 1]
