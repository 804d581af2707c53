"""The verifier: whether a rule is as sound as it says, tried on operands made from its own guards.

Both sides are evaluated by the plain interpreter over dtypes, shapes (0-d, empty, length 1,
broadcasting both ways) and values (NaN, infinities, both zeros, subnormal, huge, ties, ordinary),
and compared at the declared grade:

- `exact`: bit for bit, NaN, infinities and -0.0 included;
- `rounding`: measured against high precision. Where the left side is right, so is the right side;
where the
  left overflows, the right may be finite but must then be right; where the mathematics has no
  value, neither side has a finite one. An infinite operand is taken as the limit of large ones;
- `domain`: as `rounding`, where the left side is not NaN.

A rule that declares itself `stable` must moreover lose no more digits than its left side, element
by element. Gradients of both sides agree too. A rule for which no operands are found fails: nothing
is known of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..array import Array
from ..autodiff.reverse import vjp
from ..dag import Node, reachable
from ..dims import resolve
from ..errors import NotDifferentiable
from ..evaluate import run
from ..ops.creation import input as symbolic_input
from .grading import LARGE, Sides, acceptable, same_bits
from .guards import Guard, uniform_value
from .instances import SIZES, Instance, instances
from .modular import PRIME, NoRingIdentity, Undefined, modular_values
from .precise import ORDINARY_BITS, WIDE_BITS, TooLarge, Unsupported, precise_values
from .rule import Rule, Soundness
from .samples import Numbers, values_for

__all__ = ["Report", "verify_rule"]

_OF_MATRICES = frozenset(
    {"cholesky", "det", "eigh", "expm", "inv", "pinv", "qr", "slogdet", "solve", "svd"}
    | {"solve_triangular"}
)
_MOST = 48
"""Elements judged in high precision at a time: enough, and quick."""
_MOST_EXTREME = 6
_THOROUGH = 6


@dataclass
class Report:
    """What verifying a rule found.

    Parameters
    ----------
    rule : str
    sound : "exact", "rounding" or "domain"
        The grade it declares.
    instances : int
        On how many different operands it fired.
    elements : int
        How many numbers were compared.
    by_dtype : Counter of str
        Of these, how many came of operands of each dtype.
    failures : list of str
        Each with the operands; empty if the rule is what it says.
    """

    rule: str
    sound: Soundness
    instances: int = 0
    elements: int = 0
    by_dtype: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the rule."""
        return not self.failures

    def __str__(self) -> str:
        verdict = "verified" if self.ok else f"FAILED: {self.failures[0]}"
        return (
            f"{self.rule} [{self.sound}] {verdict} "
            f"({self.instances} instances, {self.elements} elements)"
        )


def verify_rule(
    rule: Rule,
    *,
    seed: int = 0,
    wanted: int = 16,
    attempts: int = 300,
    failures: int = 3,
    thorough: bool = False,
) -> Report:
    """Try a rule on operands made from its guards, at its grade and at each grade it can earn.

    Parameters
    ----------
    rule : Rule
    seed : int
    wanted, attempts : int
        How many different instances to look for, in how many tries.
    failures : int
        Stop after so many.
    thorough : bool
        Enumerate ranks 0 to 4 with lengths 0 to 3 as well, and draw a thousand numbers and more of
        each dtype: slow.
    """
    report = Report(rule.name, rule.sound)
    grades: dict[Soundness, Mapping[str, tuple[Guard, ...]]] = {rule.sound: {}, **rule.earned}
    for sound, extra in grades.items():
        rng = np.random.default_rng([seed, *rule.name.encode()])
        fired = 0
        try:
            for instance in instances(
                rule, sound, extra, rng, wanted, attempts, every_shape=thorough
            ):
                fired += 1
                _Trial(instance, rng, report, thorough).run()
                if len(report.failures) >= failures:
                    return report
        except Exception as error:  # a rule may raise anything
            report.failures.append(f"it cannot be applied: {type(error).__name__}: {error}")
        report.instances += fired
        if not fired:
            report.failures.append(
                f"no operands were found on which it fires at grade {sound}: nothing is verified"
            )
    return report


class _Trial:
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
        self.of_matrices = any(node.op.name in _OF_MATRICES for node in self.nodes)

    def run(self) -> None:
        left, right = self.instance.lhs, self.instance.rhs
        if left.aval != right.aval:
            self.fail(f"the sides are {left.aval} and {right.aval}", {})
            return
        for share, sizes in self._draws():
            self._compare(share, sizes)
        if self.instance.sound != "exact":
            self._compare_in_a_field()
        if left.aval.dtype.kind == "f":
            self._compare_gradients()

    def _draws(self) -> Sequence[tuple[float, Mapping[str, int]]]:
        named = any(node.aval.dim_names for node in self.instance.inputs)
        if not self.instance.inputs:
            return [(0.0, SIZES)]
        if self.of_matrices:
            return [(0.0, SIZES)] * 4
        if named:
            return [(0.0, {"n": 2}), (0.3, {"n": 1}), (0.0, {"n": 0})]
        draws = [(0.0, SIZES), (0.25, SIZES), (0.5, SIZES), (1.0, SIZES)]
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
    def _compare(self, share: float, sizes: Mapping[str, int]) -> None:
        given = values_for(self.instance, self.rng, share, sizes)
        try:
            values = _evaluated(self.nodes, given, sizes)
        except (ValueError, ZeroDivisionError, IndexError):
            return  # a kernel refuses these numbers, such as the maximum or element of nothing
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
        scale = 0.0 if self.strict else self._scale(values, left.shape, places)
        bad = known & ~acceptable(here, np.finfo(left.dtype), scale)
        if np.any(bad):
            first = places[int(np.flatnonzero(bad)[0])]
            shown = f"{left.ravel()[first]!r} and {right.ravel()[first]!r}"
            truth = exact[int(np.flatnonzero(bad)[0])]
            self.fail(
                f"the sides disagree ({self.instance.sound}): {shown}, exactly {truth!r}", given
            )

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
        return largest * max(each.size for each in floats) ** 0.5

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
            exact = own
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
        given = values_for(self.instance, self.rng, 0.0, SIZES)
        shape = resolve(seed.node.aval.shape, SIZES)
        given[seed.node] = self.rng.uniform(0.5, 2.0, shape)
        for node, one, other in zip(targets, left, right, strict=True):
            try:
                wanted = _gradient(one, node, given)
                found = _gradient(other, node, given)
            except (np.linalg.LinAlgError, IndexError):
                return  # no such factor of these numbers, no such place
            with np.errstate(all="ignore"):
                fits = np.abs(wanted - found) <= 1e-7 * (1 + np.abs(wanted))
            if not np.all(fits | ~np.isfinite(wanted)):
                self.fail(
                    f"the gradients with respect to {node.params['name']} differ: "
                    f"{np.array2string(wanted, threshold=8)} and "
                    f"{np.array2string(found, threshold=8)}",
                    given,
                )


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
    if node.op.name == "matmul" or node.op.name in _OF_MATRICES:
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


def _gradient(gradient: Array | None, node: Node, given: Mapping[Node, Numbers]) -> Numbers:
    if gradient is None:
        return np.zeros(given[node].shape)
    return np.asarray(_evaluated(reachable([gradient.node]), given, SIZES)[gradient.node])


def _as_float(value: Any) -> float:
    if isinstance(value, bool):
        return float(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
