r"""The exact value of an instance's left side, and the rounding error that is unavoidable.

The value is computed in high precision; a large operand of the same sign stands for an infinite
one. The error of a rule that may lose no digit is measured relative to the conditioning
$\sum_i |x_i \partial_i f|$ (Higham 2002, *Accuracy and Stability of Numerical Algorithms*, §1.6);
that of any other rule, relative to the intermediate numbers, which may cancel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import SupportsFloat, cast

import numpy as np

from ..ir.node import Node
from ..ir.traits import Arrangement
from ..ir.walks import reachable
from ..records import record
from ..rewriting.guards import uniform_value
from .grading import LARGE
from .high_precision import ORDINARY_BITS, precise_values
from .instance_maker import Instance
from .real_functions import WIDE_BITS, Real, TooLarge, Unsupported
from .samples import Numbers

__all__ = ["Point", "Reference"]

_MOST_EXTREME = 6
_STEP = 2.0**-24
"""The relative change of an operand that measures how much a value depends on it."""
_WORST_CONDITION = 1e6


@record
class Point:
    """Values of the inputs, sizes of named dimensions, and the flat places that are judged.

    `shape` is the result's.
    """

    given: Mapping[Node, Numbers]
    sizes: Mapping[str, int]
    shape: tuple[int, ...]
    places: Numbers

    def at_places(self, value: Numbers) -> Numbers:
        """The elements of an operand that an elementwise result has at the places."""
        return np.broadcast_to(value, self.shape).ravel()[self.places]


class Reference:
    """The exact values and error scales that both sides of an instance are measured against.

    Parameters
    ----------
    instance : Instance
    rng : numpy.random.Generator
        Chooses the few extreme elements that are computed with very many digits.
    """

    def __init__(self, instance: Instance, rng: np.random.Generator) -> None:
        self.instance = instance
        self.rng = rng
        nodes = reachable([instance.lhs, instance.rhs])
        self.elementwise = all(_is_elementwise(node) for node in nodes)
        self.flat = all(_is_elementwise(node) for node in reachable([instance.lhs]))
        self.strict = bool(instance.rule.stable) and self.elementwise
        # Extreme numbers, which no matrix in practice holds, say nothing about a factorisation.
        self.of_matrices = any(map(_is_factored, nodes))

    # -- the value -------------------------------------------------------------------------------
    def exact(self, at: Point, left: Numbers) -> tuple[Numbers, Numbers]:
        """The exact value of the left side (NaN: undefined), and where it is known.

        If an operation has no definition in high precision, the left side's own values are the
        reference.
        """
        own = left.ravel()[at.places].astype(np.float64)
        limits = self._limits(at)
        known = np.ones(len(at.places), dtype=bool)
        try:
            if self.flat:
                exact, known = self._by_element(limits, at.sizes, len(at.places))
            else:
                exact = self._precisely(limits, at.sizes, ORDINARY_BITS).ravel()[at.places]
        except Unsupported:
            exact, known = own, ~np.isinf(own)  # an overflow hides the exact value
        except TooLarge:
            exact, known = own, np.zeros(len(at.places), dtype=bool)
        if self.instance.rule.limit:
            known &= ~self.infinite(at)
        return exact, known

    def infinite(self, at: Point) -> Numbers:
        """Where an operand is infinite; everywhere, if elements depend on each other."""
        found = np.zeros(len(at.places), dtype=bool)
        for value in at.given.values():
            infinite = np.isinf(value) if value.dtype.kind == "f" else np.zeros((), dtype=bool)
            found |= at.at_places(infinite) if self.flat else np.any(infinite)
        return found

    def _limits(self, at: Point) -> dict[Node, Numbers]:
        """The operands with large numbers for infinite ones; of flat graphs, at the places only."""
        limits: dict[Node, Numbers] = {}
        for node, value in at.given.items():
            number = at.at_places(value) if self.flat else value
            limits[node] = number.astype(np.float64) if value.dtype.kind == "f" else number
        large = _larger_than(limits.values(), each=self.flat)
        for node, number in limits.items():
            if number.dtype.kind == "f":
                limits[node] = np.where(np.isinf(number), np.copysign(large, number), number)
        return limits

    def _by_element(
        self, given: Mapping[Node, Numbers], sizes: Mapping[str, int], number: int
    ) -> tuple[Numbers, Numbers]:
        """Exact values of elements, and which are known; few extreme ones, as they are slow."""
        extreme = np.zeros(number, dtype=bool)
        for value in given.values():
            if value.dtype.kind == "f":
                size = np.abs(value.astype(np.float64))
                extreme |= (size > 100) | ((size < 1e-40) & (size > 0))
        exact = np.zeros(number)
        known = np.zeros(number, dtype=bool)
        few = np.sort(self.rng.permutation(np.flatnonzero(extreme))[:_MOST_EXTREME])
        for chosen, bits in ((np.flatnonzero(~extreme), ORDINARY_BITS), (few, WIDE_BITS)):
            if self._has_sizes(given, sizes, chosen, bits, exact):
                known[chosen] = True
                continue
            for each in chosen:
                known[each] = self._has_sizes(given, sizes, np.array([each]), bits, exact)
        return exact, known

    def _has_sizes(
        self,
        given: Mapping[Node, Numbers],
        sizes: Mapping[str, int],
        chosen: Numbers,
        bits: int,
        exact: Numbers,
    ) -> bool:
        """Put the exact values of the chosen elements into `exact`; False if one is too large."""
        some = {node: value[chosen] for node, value in given.items()}
        try:
            exact[chosen] = self._precisely(some, sizes, bits)
        except TooLarge:
            return False
        return True

    def _precisely(
        self, given: Mapping[Node, Numbers], sizes: Mapping[str, int], bits: int
    ) -> Numbers:
        (exact,) = precise_values([self.instance.lhs], given, sizes, bits, flat=self.flat)
        values = np.asarray(exact, dtype=object)
        return np.array([_as_float(each) for each in values.flat]).reshape(values.shape)

    # -- the unavoidable rounding error ----------------------------------------------------------
    def scale(
        self, at: Point, values: Mapping[Node, Numbers], exact: Numbers, known: Numbers
    ) -> Numbers | float:
        """The scale of rounding errors: the conditioning, or the size of intermediate numbers."""
        return self._conditioning(at, exact, known) if self.strict else self._sizes(at, values)

    def _conditioning(self, at: Point, exact: Numbers, known: Numbers) -> Numbers:
        r"""The effect of relative errors of the operands: $\sum_i |x_i \partial_i f|$.

        No formula can do better: log(x exp(y)) near 0 has the rounding errors of log(x) and y.
        """
        flat = {node: at.at_places(each) for node, each in at.given.items()}
        floats = {n: each.astype(np.float64) for n, each in flat.items() if each.dtype.kind == "f"}
        calm, regular = np.isfinite(exact), np.isfinite(exact)
        for each in floats.values():
            regular &= np.isfinite(each)
            calm &= (np.abs(each) <= 100) & ((np.abs(each) >= 1e-40) | (each == 0))
        scale = np.zeros(len(at.places))
        for chosen, bits in (
            (np.flatnonzero(calm), ORDINARY_BITS),
            (np.flatnonzero(regular & known & ~calm)[:_MOST_EXTREME], WIDE_BITS),
        ):
            for node, each in floats.items():
                moved = {**flat, **floats, node: each * (1 - _STEP)}
                some = {other: value[chosen] for other, value in moved.items()}
                with suppress(TooLarge, Unsupported), np.errstate(all="ignore"):
                    change = np.abs(self._precisely(some, at.sizes, bits) - exact[chosen]) / _STEP
                    scale[chosen] += np.where(np.isfinite(change), change, 0.0)
        return scale

    def _sizes(self, at: Point, values: Mapping[Node, Numbers]) -> Numbers | float:
        """The size of the numbers that a value is computed from: a measure of cancellation."""
        floats = [
            np.abs(np.asarray(value, dtype=np.float64))
            for node, value in values.items()
            if node.aval.dtype.kind == "f"
        ]
        floats = [np.where(np.isfinite(each), each, 0.0) for each in floats]
        if self.elementwise:
            return np.max([at.at_places(each) for each in floats], axis=0)
        largest = max(float(np.max(each, initial=0.0)) for each in floats)
        worst = self._condition(values) if self.of_matrices else 1.0
        return largest * max(each.size for each in floats) ** 0.5 * worst

    def _condition(self, values: Mapping[Node, Numbers]) -> float:
        """The largest condition number of the square input matrices."""
        worst = 1.0
        for node in self.instance.inputs:
            matrix = np.asarray(values[node], dtype=np.float64)
            square = matrix.ndim >= 2 and matrix.shape[-1] == matrix.shape[-2]
            if square and matrix.size and np.all(np.isfinite(matrix)):
                worst = max(worst, float(np.max(np.linalg.cond(matrix))))
        return min(worst, _WORST_CONDITION)


def _is_elementwise(node: Node) -> bool:
    """Whether each element of the value depends only on the same element of each operand."""
    if node.is_constant:
        return node.aval.size == 1 or uniform_value(node) is not None
    if node.op.traits.matrices is not None:
        return False
    converted = node.op.traits.arrangement is Arrangement.CONVERTED
    return node.is_input or not node.params or converted


def _is_factored(node: Node) -> bool:
    """Whether the operation solves or decomposes a matrix: it is more than a sum of products."""
    traits = node.op.traits
    count = len(node.operands)
    return traits.matrices is not None and len(traits.linear_in(count)) < count


def _larger_than(values: Iterable[Numbers], *, each: bool) -> Numbers:
    """A number larger than all the values, to stand for infinity; with `each`, one a place."""
    largest = np.asarray(LARGE / 4)
    for value in values:
        if value.dtype.kind == "f":
            finite = np.where(np.isfinite(value), np.abs(value), 0.0)
            largest = np.maximum(largest, finite if each else np.max(finite, initial=0.0))
    return 4 * np.minimum(largest, np.finfo(np.float64).max / 4)


def _as_float(value: SupportsFloat) -> float:
    if isinstance(value, bool):
        return float(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if cast("Real", value) > 0 else float("-inf")
