r"""Maxima that are subtracted for the range of numbers alone: the result does not depend on them.

$e^{x - m} / \sum e^{x - m}$ is the same for every $m$, so $m = \max x$ has no cotangent. By the
chain rule it has one: a difference of sums that cancel, shared out among the largest elements.

Put $m + c$ for $m$, where each element of $c$ is any number. A value $v$ becomes $v + a c$, or
$v\,e^{a c}$, or stays; the operations that keep one of these forms are told by their traits. If
every path from $m$ ends in values that stay, the derivative by $m$ is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from math import e
from typing import NamedTuple

from ..ir.node import Node

__all__ = ["without_effect"]

_MOST = 200
"""The most values that are followed from one maximum."""


class _Answer(NamedTuple):
    """How a value changes with the shift c.

    Parameters
    ----------
    grows : bool
        Whether it is multiplied by exp(a c); else a c is added.
    amount : number
        a.
    unit : frozenset
        What c was multiplied with on the way: an array and its power, or the base of a power.
    axes : tuple of frozenset
        For each axis of the value the axes, of the maximum and of what is in the unit, along which
        a c differs; empty for an axis along which it is the same.
    """

    grows: bool
    amount: float | Fraction
    unit: frozenset[Hashable]
    axes: tuple[frozenset[Hashable], ...]


_SAME: frozenset[Hashable] = frozenset()


class _Depends(Exception):
    """The value depends on c in another way."""


def without_effect(active: Set[Node], outputs: Iterable[Node], wanted: Set[Node]) -> set[Node]:
    """The maxima and minima on which the outputs do not depend otherwise than by their operand.

    Parameters
    ----------
    active : set of Node
        The values on the way from the targets to the outputs.
    outputs : iterable of Node
    wanted : set of Node
        Values whose derivative is asked for.
    """
    ends = {*outputs}
    found = [
        node
        for node in active
        if node.op.traits.extremum and len(node.operands) == 1 and node not in wanted | ends
    ]
    if not found:
        return set()
    users: dict[Node, list[Node]] = {}
    for node in active:
        for operand in dict.fromkeys(node.operands):
            users.setdefault(operand, []).append(node)
    return {node for node in found if _has_no_effect(node, users, ends)}


def _has_no_effect(node: Node, users: Mapping[Node, list[Node]], ends: Set[Node]) -> bool:
    answers = {node: _Answer(False, 1, frozenset(), _own_axes(node))}
    waiting = {*users.get(node, ())}
    followed = 0
    while waiting:
        # Operands have lower serials than their users.
        each = min(waiting, key=lambda node: node.serial)
        waiting.remove(each)
        followed += 1
        try:
            answer = _answer(each, answers)
        except _Depends:
            return False
        if answer is None:
            continue
        if each in ends or followed > _MOST:
            return False
        answers[each] = answer
        waiting.update(users.get(each, ()))
    return True


def _own_axes(node: Node) -> tuple[frozenset[Hashable], ...]:
    """The marks of an array's axes: an axis longer than 1 differs from element to element."""
    return tuple(
        [frozenset([(node, axis)]) if size != 1 else _SAME for axis, size in enumerate(node.shape)]
    )


def _answer(node: Node, known: Mapping[Node, _Answer]) -> _Answer | None:
    """The answer of a value, given those of its operands; None if it stays."""
    if len(node.results) > 1:
        raise _Depends
    if node.dtype.kind != "f":
        return None  # It has no derivative.
    given = [known.get(operand) for operand in node.operands]
    for applies, answer in _FORMS:
        if applies(node):
            found = answer(node, given)
            return None if found is None or found.amount == 0 else found
    raise _Depends


# -- element by element ------------------------------------------------------------------------
def _aligned(node: Node, given: Sequence[_Answer | None]) -> list[_Answer | None]:
    """The answers with the axes of the result, to which the operands are broadcast."""
    return [
        None if each is None else each._replace(axes=_padded(each.axes, node.ndim))
        for each in given
    ]


def _padded(axes: tuple[frozenset[Hashable], ...], ndim: int) -> tuple[frozenset[Hashable], ...]:
    return (_SAME,) * (ndim - len(axes)) + axes


def _alike(answers: Sequence[_Answer]) -> _Answer:
    """The answers' common form; their amounts may differ."""
    first = answers[0]
    if any(each._replace(amount=first.amount) != first for each in answers):
        raise _Depends
    return first


def _combined(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of a x + b y."""
    answers = _aligned(node, given)
    moving = [each for each in answers if each is not None]
    first = _alike(moving)
    if first.grows:
        if len(moving) < len(answers) or len({each.amount for each in moving}) > 1:
            raise _Depends
        return first
    factors = node.op.traits.combination
    total = sum([by * each.amount for by, each in zip(factors, answers, strict=True) if each])
    return first._replace(amount=total)


def _multiplied(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of x^a y^b."""
    powers = node.op.traits.monomial
    answers = _aligned(node, given)
    first = _alike([each for each in answers if each is not None])
    if first.grows:
        total = sum([by * each.amount for by, each in zip(powers, answers, strict=True) if each])
        return first._replace(amount=total)
    places = [place for place, each in enumerate(answers) if each is not None]
    if len(places) > 1 or powers[places[0]] != 1:
        raise _Depends
    for operand, power in zip(node.operands, powers, strict=True):
        if operand is not node.operands[places[0]]:
            first = _in_unit(first, operand, power)
    return first


def _in_unit(answer: _Answer, by: Node, power: float | Fraction) -> _Answer:
    """The answer of a value that is multiplied by a power of an array."""
    if (by, power) in answer.unit:
        raise _Depends  # The unit is a set.
    own = _padded(_own_axes(by), len(answer.axes))
    pairs = list(zip(answer.axes, own, strict=True))
    if (by, -power) in answer.unit:
        unit, axes = answer.unit - {(by, -power)}, [one - two for one, two in pairs]
    else:
        unit, axes = answer.unit | {(by, power)}, [one | two for one, two in pairs]
    return answer._replace(unit=unit, axes=tuple(axes))


def _raised(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of x^k for a number k."""
    base, exponent = given
    power = node.operands[1]
    if base is None or exponent is not None or not base.grows or not power.is_constant:
        raise _Depends
    value = power.params["value"]
    if value.ndim:
        raise _Depends
    return base._replace(amount=base.amount * float(value), axes=_padded(base.axes, node.ndim))


def _exponential(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    (answer,), form = given, node.op.traits.exponential
    if answer is None or answer.grows or form is None or form.less:
        raise _Depends
    unit = answer.unit if form.base == e else answer.unit | {("base", form.base)}
    return answer._replace(grows=True, unit=unit)


def _logarithm(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    (answer,), form = given, node.op.traits.logarithm
    if answer is None or not answer.grows or form is None or form.plus:
        raise _Depends
    base = ("base", form.base)
    if form.base != e and base not in answer.unit:
        raise _Depends
    return answer._replace(grows=False, unit=answer.unit - {base})


# -- sums, products that are summed, and shapes ------------------------------------------------
def _indexed(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of a product of the operands that is summed over some labels of their axes."""
    indices = node.op.traits.indices
    found = indices and indices(node.aval, *[each.aval for each in node.operands], **node.params)
    if not found:
        raise _Depends
    rows, result = found
    moving = [(each, row) for each, row in zip(given, rows, strict=True) if each is not None]
    first = _alike([each._replace(axes=()) for each, _ in moving])
    places: dict[Hashable, frozenset[Hashable]] = {}
    for each, row in moving:
        for label, axis in zip(row, each.axes, strict=True):
            if axis and places.setdefault(label, axis) != axis:
                raise _Depends
    # An axis that is summed may stay, of length 1.
    kept = {label for label, size in zip(result, node.shape, strict=True) if size != 1}
    summed = any(label not in kept for label in _long_labels(node, rows))
    if not set(places) <= kept or not (first.grows or (len(given) == 1 and not summed)):
        raise _Depends
    total = sum([each.amount for each, _ in moving])
    return first._replace(amount=total, axes=tuple([places.get(label, _SAME) for label in result]))


def _long_labels(node: Node, rows: Sequence[Sequence[Hashable]]) -> set[Hashable]:
    """The labels of axes that are longer than 1."""
    return {
        label
        for operand, row in zip(node.operands, rows, strict=True)
        for label, size in zip(row, operand.shape, strict=True)
        if size != 1
    }


def _in_order(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of the same elements in a shape with other axes of length 1."""
    ((operand,), (answer,)) = node.operands, given
    before = [axis for axis, size in enumerate(operand.shape) if size != 1]
    after = [axis for axis, size in enumerate(node.shape) if size != 1]
    same = [operand.shape[axis] for axis in before] == [node.shape[axis] for axis in after]
    if answer is None or not same:
        raise _Depends
    axes = [_SAME] * node.ndim
    for one, two in zip(before, after, strict=True):
        axes[two] = answer.axes[one]
    return answer._replace(axes=tuple(axes))


def _over_axis(node: Node, given: Sequence[_Answer | None]) -> _Answer | None:
    """Of a maximum, logsumexp or softmax over axes."""
    (answer,), traits = given, node.op.traits
    if answer is None:
        raise _Depends
    axis = [each % len(answer.axes) for each in node.params["axis"]]
    if any(answer.axes[each] for each in axis):
        raise _Depends
    form = traits.exponential_sum
    if form is not None and (answer.grows or not form.over_axis):
        raise _Depends
    if form is not None and form.share:
        return None
    kept = node.params["keepdims"]
    return answer._replace(
        axes=tuple([each for at, each in enumerate(answer.axes) if kept or at not in axis])
    )


_FORMS: tuple[
    tuple[Callable[[Node], object], Callable[[Node, Sequence[_Answer | None]], _Answer | None]], ...
] = (
    (lambda node: node.op.traits.combination, _combined),
    (lambda node: node.op.traits.monomial, _multiplied),
    (lambda node: node.op.traits.raises, _raised),
    (lambda node: node.op.traits.exponential, _exponential),
    (lambda node: node.op.traits.logarithm, _logarithm),
    (lambda node: node.op.traits.indices, _indexed),
    (
        lambda node: node.op.traits.in_order and node.op.traits.in_order(**node.params),
        _in_order,
    ),
    (
        lambda node: (
            (node.op.traits.extremum or node.op.traits.exponential_sum) and "axis" in node.params
        ),
        _over_axis,
    ),
)
"""Which operations keep the form of an answer, and how."""
