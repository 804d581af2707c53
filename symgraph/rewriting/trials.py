"""One instance of a rule on trial: both sides on several draws of numbers, and their gradients.

Elements that differ are judged by `grading`, against high precision where an operation has a
definition there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..array import Array
from ..autodiff.reverse import vjp
from ..dims import resolve
from ..errors import NotDifferentiable
from ..evaluate import run
from ..nodes import Node, reachable
from ..ops.creation import input as symbolic_input
from .grading import LARGE, Sides, acceptable, same_bits
from .guards import uniform_value
from .maker import OF_MATRICES, SIZES, Instance
from .modular import PRIME, NoRingIdentity, Undefined, modular_values
from .precise import ORDINARY_BITS, WIDE_BITS, TooLarge, Unsupported, precise_values
from .report import Report
from .samples import Matrices, Numbers, values_for

__all__ = ["Trial"]

_MOST = 48
"""Elements judged in high precision at a time: enough, and quick."""
_MOST_EXTREME = 6
_OVERFLOWING = 1e300
"""Gradients of this size, or not finite, are not compared."""
_THOROUGH = 6
_STEP = 2.0**-24
"""A relative change of an operand, to see how much a value depends on it."""
_WORST_CONDITION = 1e6
_AT_PLACES = frozenset({"gather", "scatter_add", "scatter_set", "take_along_axis"})
_FACTORED = OF_MATRICES - {"matmul"}


@dataclass(frozen=True, slots=True)
class _Draw:
    """How numbers are drawn: the share of awkward ones, the named sizes, and of what sort."""

    share: float = 0.0
    sizes: Mapping[str, int] = field(default_factory=lambda: SIZES)
    matrices: Matrices = "any"


class Trial:
    """One instance compared on several draws of numbers."""

    def __init__(
        self, instance: Instance, rng: np.random.Generator, report: Report, thorough: bool
    ) -> None:
        self.instance = instance
        self.thorough = thorough
        self.rng = rng
        self.report = report
        self.nodes = reachable([instance.lhs, instance.rhs])
        self.elementwise = all(_is_elementwise(node) for node in self.nodes)
        self.flat = all(_is_elementwise(node) for node in reachable([instance.lhs]))
        self.strict = bool(instance.rule.stable) and self.elementwise
        # Numbers that no matrix in practice holds say nothing of a factorisation.
        self.of_matrices = any(node.op.name in _FACTORED for node in self.nodes)
        definite = any(node.op.name == "cholesky" for node in self.nodes)
        self.at_places = any(node.op.name in _AT_PLACES for node in self.nodes)
        self.matrices: Matrices = "definite" if definite else "any"

    def run(self) -> None:
        left, right = self.instance.lhs, self.instance.rhs
        if left.aval != right.aval:
            self.fail(f"the sides are {left.aval} and {right.aval}", {})
            return
        for draw in self._draws():
            self._compare(draw)
        if self.instance.small:
            return
        if self.instance.sound != "exact":
            self._compare_in_a_field()
        if left.aval.dtype.kind == "f":
            self._compare_gradients()

    def _draws(self) -> Sequence[_Draw]:
        named = any(node.aval.dim_names for node in self.nodes)
        if not self.instance.inputs:
            return [_Draw()]
        if self.of_matrices:
            ordinary = [_Draw(), _Draw(matrices=self.matrices)]
            negative = [_Draw(matrices="negative")] * (self.matrices == "definite")
            return [*ordinary, *ordinary, *negative, _Draw(matrices="singular")]
        if named:
            return [_Draw(share, {"n": size}) for share, size in ((0.0, 2), (0.3, 1), (0.0, 0))]
        if self.instance.small:
            return [_Draw(), _Draw(0.25 if self.instance.sound == "exact" else 0.0)]
        draws = [_Draw(share) for share in (0.0, 0.25, 0.5, 1.0)]
        wide = self.instance.inputs[0].aval.size >= _MOST
        return draws * _THOROUGH if self.thorough and wide else draws

    def fail(self, what: str, given: Mapping[Node, Numbers]) -> None:
        shown = "; ".join(
            f"{node.params['name']} = {np.array2string(value, threshold=12)}"
            for node, value in given.items()
        )
        at = f" at {shown}" if shown else ""
        self.report.failures.append(f"{what}{at}   [{self.instance}]")

    # -- values ----------------------------------------------------------------------------------
    def _compare(self, draw: _Draw) -> None:
        sizes = draw.sizes
        given = values_for(self.instance, self.rng, draw.share, sizes, matrices=draw.matrices)
        if self.at_places:
            given = {node: _as_places(value) for node, value in given.items()}
        try:
            values = _evaluated(self.nodes, given, sizes)
        except ZeroDivisionError:
            return  # there is no such size
        except IndexError:
            if self._value(self.instance.lhs, given, sizes) is not None:
                self.fail("the right side takes a place that is not there", given)
            return
        except ValueError:  # no such factor of these numbers, no maximum of nothing
            self._refused(given, sizes)
            return
        left = np.asarray(values[self.instance.lhs])
        right = np.asarray(values[self.instance.rhs])
        if left.dtype != right.dtype or left.shape != right.shape:
            self.fail(
                f"the sides are {left.dtype}{list(left.shape)}, {right.dtype}{list(right.shape)}",
                given,
            )
            return
        self.report.elements += left.size
        for dtype in {node.aval.dtype.name for node in given}:
            self.report.by_dtype[dtype] += left.size
        suspect = ~same_bits(left, right)
        if not np.any(suspect):
            return
        if self.instance.sound == "exact" or left.dtype.kind != "f":
            first = int(np.flatnonzero(suspect)[0])
            shown = f"{left.ravel()[first]!r} and {right.ravel()[first]!r}"
            self.fail(f"the sides differ ({self.instance.sound}): {shown}", given)
            return
        self._judge(given, values, left, right, suspect, sizes)

    def _refused(self, given: Mapping[Node, Numbers], sizes: Mapping[str, int]) -> None:
        """Where one side has no value, as the inverse of a singular matrix, the other has none."""
        if self.instance.sound == "domain":
            return
        for side in (self.instance.lhs, self.instance.rhs):
            value = self._value(side, given, sizes)
            if value is not None and np.any(np.isfinite(value)):
                self.fail(f"one side only has a value ({self.instance.sound})", given)

    def _value(
        self, side: Node, given: Mapping[Node, Numbers], sizes: Mapping[str, int]
    ) -> Numbers | None:
        """The value of a side; None where it raises."""
        try:
            return np.asarray(_evaluated(reachable([side]), given, sizes)[side])
        except (ValueError, ZeroDivisionError, IndexError):
            return None

    def _judge(
        self,
        given: Mapping[Node, Numbers],
        values: Mapping[Node, Numbers],
        left: Numbers,
        right: Numbers,
        suspect: Numbers,
        sizes: Mapping[str, int],
    ) -> None:
        """Judge elements of both sides that differ in some bit, at the grades below `exact`."""
        with np.errstate(all="ignore"):
            same = np.abs(left - right) <= 4 * np.finfo(left.dtype).eps * np.abs(left)
        suspect = suspect & ~(same & np.isfinite(left))
        if self.instance.sound == "domain":
            suspect = suspect & ~np.isnan(left)
        grave = suspect & (np.isfinite(left) != np.isfinite(right))
        places = np.concatenate([_spread(grave), _spread(suspect & ~grave)])
        if not places.size:
            return
        exact, known = self._reference(given, left, places, sizes)
        here = Sides(
            left.ravel()[places].astype(np.float64),
            right.ravel()[places].astype(np.float64),
            exact,
            self._infinite(given, left.shape, places),
            self.strict,
        )
        if self.strict:
            scale = self._conditioning(given, left.shape, places, exact, known, sizes)
        else:
            scale = self._scale(values, left.shape, places)
        bad = known & ~acceptable(here, np.finfo(left.dtype), scale)
        if np.any(bad):
            first = places[int(np.flatnonzero(bad)[0])]
            shown = f"{left.ravel()[first]!r} and {right.ravel()[first]!r}"
            truth = exact[int(np.flatnonzero(bad)[0])]
            self.fail(
                f"the sides disagree ({self.instance.sound}): {shown}, exactly {truth!r}", given
            )

    def _conditioning(
        self,
        given: Mapping[Node, Numbers],
        shape: tuple[int, ...],
        places: Numbers,
        exact: Numbers,
        known: Numbers,
        sizes: Mapping[str, int],
    ) -> Numbers:
        r"""How much relative errors of the operands move a value: $\sum_i |x_i \partial_i f|$.

        No spelling can do better: log(x exp(y)) near 0 has the rounding errors of log(x) and y.
        """
        flat = {node: np.broadcast_to(each, shape).ravel()[places] for node, each in given.items()}
        floats = {n: each.astype(np.float64) for n, each in flat.items() if each.dtype.kind == "f"}
        calm, regular = np.isfinite(exact), np.isfinite(exact)
        for each in floats.values():
            regular &= np.isfinite(each)
            calm &= (np.abs(each) <= 100) & ((np.abs(each) >= 1e-40) | (each == 0))
        scale = np.zeros(len(places))
        for chosen, bits in (
            (np.flatnonzero(calm), ORDINARY_BITS),
            (np.flatnonzero(regular & known & ~calm)[:_MOST_EXTREME], WIDE_BITS),
        ):
            for node, each in floats.items():
                moved = {**flat, **floats, node: each * (1 - _STEP)}
                some = {other: value[chosen] for other, value in moved.items()}
                with suppress(TooLarge, Unsupported), np.errstate(all="ignore"):
                    change = np.abs(self._exactly(some, sizes, bits) - exact[chosen]) / _STEP
                    scale[chosen] += np.where(np.isfinite(change), change, 0.0)
        return scale

    def _scale(
        self, values: Mapping[Node, Numbers], shape: tuple[int, ...], places: Numbers
    ) -> Any:
        """How large the numbers are that a value is computed from: a measure of cancellation."""
        floats = [
            np.abs(np.asarray(value, dtype=np.float64))
            for node, value in values.items()
            if node.aval.dtype.kind == "f"
        ]
        floats = [np.where(np.isfinite(each), each, 0.0) for each in floats]
        if self.elementwise:
            flat = [np.broadcast_to(each, shape).ravel()[places] for each in floats]
            return np.max(flat, axis=0)
        largest = max(float(np.max(each, initial=0.0)) for each in floats)
        worst = self._condition(values) if self.of_matrices else 1.0
        return largest * max(each.size for each in floats) ** 0.5 * worst

    def _condition(self, values: Mapping[Node, Numbers]) -> float:
        """By how much the worst of the square matrices given enlarges a rounding error."""
        worst = 1.0
        for node in self.instance.inputs:
            matrix = np.asarray(values[node], dtype=np.float64)
            square = matrix.ndim >= 2 and matrix.shape[-1] == matrix.shape[-2]
            if square and matrix.size and np.all(np.isfinite(matrix)):
                worst = max(worst, float(np.max(np.linalg.cond(matrix))))
        return min(worst, _WORST_CONDITION)

    def _reference(
        self,
        given: Mapping[Node, Numbers],
        left: Numbers,
        places: Numbers,
        sizes: Mapping[str, int],
    ) -> tuple[Numbers, Numbers]:
        """The left side in exact arithmetic at `places` (NaN: undefined), and where that is known.

        An infinite operand is taken as a large one of its sign. Where an operation has no
        definition in high precision, the left side's own numbers are the reference.
        """
        own = left.ravel()[places].astype(np.float64)
        limits: dict[Node, Numbers] = {}
        for node, value in given.items():
            number = np.broadcast_to(value, left.shape).ravel()[places] if self.flat else value
            limits[node] = number.astype(np.float64) if value.dtype.kind == "f" else number
        large = _larger_than(limits.values(), each=self.flat)
        for node, number in limits.items():
            if number.dtype.kind == "f":
                limits[node] = np.where(np.isinf(number), np.copysign(large, number), number)
        known = np.ones(len(places), dtype=bool)
        try:
            if self.flat:
                exact, known = self._flat_reference(limits, sizes, len(places))
            else:
                exact = self._exactly(limits, sizes, ORDINARY_BITS).ravel()[places]
        except Unsupported:
            exact, known = own, ~np.isinf(own)  # what overflowed is not known
        except TooLarge:
            exact, known = own, np.zeros(len(places), dtype=bool)
        infinite = self._infinite(given, left.shape, places)
        if self.instance.rule.limit:
            known &= ~infinite
        return exact, known

    def _infinite(
        self, given: Mapping[Node, Numbers], shape: tuple[int, ...], places: Numbers
    ) -> Numbers:
        """Where an operand is infinite; everywhere, if elements depend on one another."""
        found = np.zeros(len(places), dtype=bool)
        for value in given.values():
            infinite = np.isinf(value) if value.dtype.kind == "f" else np.zeros((), dtype=bool)
            if self.flat:
                found |= np.broadcast_to(infinite, shape).ravel()[places]
            else:
                found |= np.any(infinite)
        return found

    def _flat_reference(
        self, given: Mapping[Node, Numbers], sizes: Mapping[str, int], number: int
    ) -> tuple[Numbers, Numbers]:
        """Exact values of selected elements, and which are known; few extreme ones: slow."""
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
        """Whether all chosen elements have a size; if so, their values are put into `exact`."""
        some = {node: value[chosen] for node, value in given.items()}
        try:
            exact[chosen] = self._exactly(some, sizes, bits)
        except TooLarge:
            return False
        return True

    def _exactly(
        self, given: Mapping[Node, Numbers], sizes: Mapping[str, int], bits: int
    ) -> Numbers:
        (exact,) = precise_values([self.instance.lhs], given, sizes, bits, flat=self.flat)
        values = np.asarray(exact, dtype=object)
        return np.array([_as_float(each) for each in values.flat]).reshape(values.shape)

    # -- modulo a prime --------------------------------------------------------------------------
    def _compare_in_a_field(self) -> None:
        """Both sides at a random point of a finite field, if they mean something there."""
        if any(not fact.is_open for facts in self.instance.facts for fact in facts):
            return
        sides = [self.instance.lhs, self.instance.rhs]
        given: dict[Node, Numbers] = {}
        for node in self.instance.inputs:
            top = 2 if node.aval.dtype.kind == "b" else PRIME
            given[node] = self.rng.integers(0, top, resolve(node.aval.shape, SIZES))
        try:
            left, right = modular_values(sides, given, SIZES)
        except (NoRingIdentity, Undefined):
            return
        self.report.elements += left.size
        if left.shape != right.shape or np.any(left != right):
            self.fail("the sides differ as polynomials, modulo a prime", given)

    # -- gradients -------------------------------------------------------------------------------
    def _compare_gradients(self) -> None:
        targets = [node for node in self.instance.inputs if node.aval.dtype.kind == "f"]
        if not targets or self.instance.lhs.aval.dtype != np.float64:
            return
        if any(not fact.is_open for facts in self.instance.facts for fact in facts):
            return  # the rule holds on a surface only, and gradients leave it
        seed = symbolic_input("cotangent", self.instance.lhs.aval.shape, np.float64)
        arrays = [Array(node) for node in targets]
        try:
            left = vjp(Array(self.instance.lhs), arrays, seed)
            right = vjp(Array(self.instance.rhs), arrays, seed)
        except NotDifferentiable:
            return
        given = values_for(self.instance, self.rng, 0.0, SIZES, matrices=self.matrices)
        if self.at_places:
            given = {node: _as_places(value) for node, value in given.items()}
        shape = resolve(seed.node.aval.shape, SIZES)
        given[seed.node] = self.rng.uniform(0.5, 2.0, shape)
        for node, one, other in zip(targets, left, right, strict=True):
            try:
                wanted, found = (_gradient(each, node, given) for each in (one, other))
            except (np.linalg.LinAlgError, IndexError):
                return  # no such factor of these numbers, no such place
            if wanted is None or found is None:
                if wanted is not found and given[node].size:
                    self.fail("one side only has a gradient", given)
                return
            with np.errstate(all="ignore"):
                fits = np.abs(wanted - found) <= 1e-7 * (1 + np.abs(wanted))
                fits |= ~(np.abs(wanted) <= _OVERFLOWING)
            if not np.all(fits):
                self.fail(
                    f"the gradients with respect to {node.params['name']} differ: "
                    f"{np.array2string(wanted, threshold=8)} and "
                    f"{np.array2string(found, threshold=8)}",
                    given,
                )


def _as_places(value: Numbers) -> Numbers:
    """Whole numbers as places that every axis with an element has; others as they are."""
    return value % 2 - 1 if value.dtype.kind == "i" else value


def _spread(chosen: Numbers) -> Numbers:
    """Flat places of the chosen elements: all, or some that lie far and wide."""
    places = np.flatnonzero(chosen)
    if places.size <= _MOST:
        return places
    return places[np.linspace(0, places.size - 1, _MOST).astype(int)]


def _larger_than(values: Iterable[Numbers], *, each: bool) -> Any:
    """A number to stand for infinity among these; with `each`, one for each place of vectors."""
    largest: Any = LARGE / 4
    for value in values:
        if value.dtype.kind == "f":
            finite = np.where(np.isfinite(value), np.abs(value), 0.0)
            largest = np.maximum(largest, finite if each else np.max(finite, initial=0.0))
    return 4 * np.minimum(largest, np.finfo(np.float64).max / 4)


def _is_elementwise(node: Node) -> bool:
    """Whether each element of the value depends on the same element of the operands only."""
    if node.is_constant:
        return node.aval.size == 1 or uniform_value(node) is not None
    if node.op.name in OF_MATRICES:
        return False
    return node.is_input or not node.params or node.op.name == "cast"


def _evaluated(
    nodes: Sequence[Node], given: Mapping[Node, Numbers], sizes: Mapping[str, int]
) -> dict[Node, Numbers]:
    values: dict[Node, Numbers] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            values[node] = (
                given[node]
                if node in given
                else run(node, [values[each] for each in node.operands], sizes)
            )
    return values


def _gradient(gradient: Array | None, node: Node, given: Mapping[Node, Numbers]) -> Numbers | None:
    """The gradient; None where it takes the maximum of nothing."""
    if gradient is None:
        return np.zeros(given[node].shape)
    try:
        return np.asarray(_evaluated(reachable([gradient.node]), given, SIZES)[gradient.node])
    except np.linalg.LinAlgError:
        raise
    except ValueError:
        return None


def _as_float(value: Any) -> float:
    if isinstance(value, bool):
        return float(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
