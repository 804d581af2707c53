"""The verifier: whether a rule is as sound as it says, tried on operands made from its own guards.

Both sides are evaluated by the plain interpreter over dtypes, shapes (0-d, empty, length 1, broadcasting both
ways) and values (NaN, infinities, both zeros, subnormal, huge, ties, ordinary), and compared at the declared
grade:

- `exact`: bit for bit, NaN, infinities and -0.0 included;
- `rounding`: measured against high precision. Where the left side is right, so is the right side; where the
  left overflows, the right may be finite but must then be right; where the mathematics has no value, neither
  side has a finite one. An infinite operand is taken as the limit of large ones;
- `domain`: as `rounding`, where the left side is not NaN.

A rule that declares itself `stable` must moreover lose no more digits than its left side, element by element.
Gradients of both sides agree too. A rule for which no operands are found fails: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..array import Array
from ..autodiff.reverse import vjp
from ..dag import Node, reachable
from ..errors import NotDifferentiable, RuleError, SymgraphError
from ..evaluate import run
from ..ops.creation import input as symbolic_input
from .guards import Guard
from .instances import SIZES, Instance, instances, values_for
from .precise import ORDINARY_BITS, WIDE_BITS, Unsupported, precise_values
from .rule import Rule, Soundness

__all__ = ["Report", "verify_rule"]

Numbers = np.ndarray[Any, Any]

_ULPS = 16
"""Slack against the exact value: several correctly rounded operations, each off by half an ulp or so."""


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
    failures : list of str
        Each with the operands; empty if the rule is what it says.
    """

    rule: str
    sound: Soundness
    instances: int = 0
    elements: int = 0
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
    rule: Rule, *, seed: int = 0, wanted: int = 24, attempts: int = 400, failures: int = 3
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
    """
    report = Report(rule.name, rule.sound)
    grades: dict[Soundness, Mapping[str, tuple[Guard, ...]]] = {rule.sound: {}, **rule.earned}
    for sound, extra in grades.items():
        rng = np.random.default_rng([seed, *rule.name.encode()])
        fired = 0
        try:
            for instance in instances(rule, sound, extra, rng, wanted, attempts):
                fired += 1
                _Trial(instance, rng, report).run()
                if len(report.failures) >= failures:
                    return report
        except (RuleError, SymgraphError) as error:
            report.failures.append(f"it cannot be applied: {error}")
        report.instances += fired
        if not fired:
            report.failures.append(
                f"no operands were found on which it fires at grade {sound}: nothing is verified"
            )
    return report


class _Trial:
    """One instance compared on several draws of numbers."""

    def __init__(self, instance: Instance, rng: np.random.Generator, report: Report) -> None:
        self.instance = instance
        self.rng = rng
        self.report = report
        self.nodes = reachable([instance.lhs, instance.rhs])
        self.elementwise = all(_is_elementwise(node) for node in self.nodes)
        self.strict = bool(instance.rule.stable) and self.elementwise

    def run(self) -> None:
        left, right = self.instance.lhs, self.instance.rhs
        if left.aval != right.aval:
            self.fail(f"the sides are {left.aval} and {right.aval}", {})
            return
        for share, sizes in self._draws():
            self._compare(share, sizes)
        if left.aval.dtype.kind == "f":
            self._compare_gradients()

    def _draws(self) -> Sequence[tuple[float, Mapping[str, int]]]:
        named = any(node.aval.dim_names for node in self.instance.inputs)
        if not self.instance.inputs:
            return [(0.0, SIZES)]
        if named:
            return [(0.0, {"n": 2}), (0.3, {"n": 1}), (0.0, {"n": 0})]
        return [(0.0, SIZES), (0.25, SIZES), (0.5, SIZES), (1.0, SIZES)]

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
        except (ValueError, ZeroDivisionError):
            return  # a kernel refuses these numbers, such as the maximum of nothing
        left = np.asarray(values[self.instance.lhs])
        right = np.asarray(values[self.instance.rhs])
        if left.dtype != right.dtype or left.shape != right.shape:
            self.fail(
                f"the sides are {left.dtype}{list(left.shape)}, {right.dtype}{list(right.shape)}",
                given,
            )
            return
        self.report.elements += left.size
        suspect = ~_same_bits(left, right)
        if not np.any(suspect):
            return
        if self.instance.sound == "exact" or left.dtype.kind != "f":
            self._fail_at(suspect, left, right, given, "differ")
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
        exact, finite, defined = self._reference(given, left, sizes)
        if self.instance.sound == "domain":
            suspect = suspect & ~np.isnan(left)
        scale = self._scale(values, left.shape)
        limit = float(np.finfo(left.dtype).eps) * _ULPS
        tiny = float(np.finfo(left.dtype).tiny)
        with np.errstate(all="ignore"):
            off_left = _distance(left, exact)
            off_right = _distance(right, exact)
            slack = limit * np.abs(exact) + tiny
            if not self.strict:
                slack = slack + limit * scale
            right_is_right = (off_right <= slack) | (off_right <= 4 * off_left + 0)
            overflow = np.abs(exact) > float(np.finfo(left.dtype).max)
            right_is_right |= overflow & ~np.isfinite(right) & ~np.isfinite(left)
            both_lost = ~np.isfinite(right) & ~np.isfinite(left)
            without = ~defined
            close = np.abs(left - right) <= slack_of(left, right, limit, scale)
            good = np.where(
                without,
                ~np.isfinite(right) | (np.isfinite(left) & close),
                np.where(finite, right_is_right, (left == right))
                | (both_lost & ~_opposite(left, right)),
            )
        bad = suspect & ~good
        if np.any(bad):
            self._fail_at(bad, left, right, given, "disagree", exact)

    def _scale(self, values: Mapping[Node, Numbers], shape: tuple[int, ...]) -> Any:
        """How large the numbers are that a value is computed from: what cancellation is measured by."""
        floats = [
            np.abs(np.asarray(value, dtype=np.float64))
            for node, value in values.items()
            if node.aval.dtype.kind == "f"
        ]
        if self.elementwise:
            result = np.zeros(shape)
            for value in floats:
                kept = np.where(np.isfinite(value), value, 0.0)
                result = np.maximum(result, kept)
            return result
        finite = [float(np.max(v[np.isfinite(v)], initial=0.0)) for v in floats]
        return max(finite, default=0.0) * max(1, *(int(v.size) for v in floats)) ** 0.5

    def _reference(
        self, given: Mapping[Node, Numbers], left: Numbers, sizes: Mapping[str, int]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The left side in exact arithmetic; where it is finite, and where it is defined.

        Without a definition in high precision the left side's own numbers are the reference.
        """
        extended: dict[Node, Numbers] = {}
        lost = np.zeros((), dtype=bool)
        for node, value in given.items():
            extended[node] = value
            if value.dtype.kind == "f":
                lost = (
                    lost | np.isnan(value) if self.elementwise else lost | np.any(np.isnan(value))
                )
                extended[node] = np.where(
                    np.isinf(value), np.asarray(np.copysign(1e4, value), value.dtype), value
                )
        try:
            exact = self._precisely(extended, sizes)
        except Unsupported:
            with np.errstate(all="ignore"):
                exact = left.astype(np.float64)
        defined = ~np.isnan(exact)
        if np.ndim(lost):
            defined = defined & ~np.broadcast_to(lost, left.shape)
        elif lost:
            # NaN among the operands: the left side itself tells which results it reaches.
            defined = defined & ~np.isnan(left)
            exact = np.where(np.isnan(left), np.nan, left.astype(np.float64))
        return exact, np.isfinite(exact), defined

    def _precisely(self, given: Mapping[Node, Numbers], sizes: Mapping[str, int]) -> Numbers:
        wide = any(
            value.dtype == np.float64
            and bool(np.any((np.abs(value) > 1e40) | ((np.abs(value) < 1e-40) & (value != 0))))
            for value in given.values()
        )
        bits = WIDE_BITS if wide else ORDINARY_BITS
        (exact,) = precise_values([self.instance.lhs], given, sizes, bits)
        return np.asarray(np.frompyfunc(_as_float, 1, 1)(exact)).astype(np.float64)

    def _fail_at(
        self,
        bad: Numbers,
        left: Numbers,
        right: Numbers,
        given: Mapping[Node, Numbers],
        how: str,
        exact: Numbers | None = None,
    ) -> None:
        place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(bad)))
        where = place if left.shape else ()
        truth = f", exactly {exact[where]!r}" if exact is not None else ""
        self.fail(
            f"the sides {how} ({self.instance.sound}): {left[where]!r} and {right[where]!r}{truth}",
            given,
        )

    # -- gradients -------------------------------------------------------------------------------
    def _compare_gradients(self) -> None:
        targets = [node for node in self.instance.inputs if node.aval.dtype.kind == "f"]
        if not targets or self.instance.lhs.aval.dtype != np.float64:
            return
        seed = symbolic_input("cotangent", self.instance.lhs.aval.shape, np.float64)
        arrays = [Array(node) for node in targets]
        try:
            left = vjp(Array(self.instance.lhs), arrays, seed)
            right = vjp(Array(self.instance.rhs), arrays, seed)
        except NotDifferentiable:
            return
        given = values_for(self.instance, self.rng, 0.0, SIZES)
        shape = tuple(
            dim if isinstance(dim, int) else SIZES[str(dim)] for dim in seed.node.aval.shape
        )
        given[seed.node] = self.rng.uniform(0.5, 2.0, shape)
        for node, one, other in zip(targets, left, right, strict=True):
            wanted = _gradient(one, node, given)
            found = _gradient(other, node, given)
            with np.errstate(all="ignore"):
                fits = np.abs(wanted - found) <= 1e-7 * (1 + np.abs(wanted))
            if not np.all(fits | ~np.isfinite(wanted)):
                self.fail(
                    f"the gradients with respect to {node.params['name']} differ: "
                    f"{np.array2string(wanted, threshold=8)} and "
                    f"{np.array2string(found, threshold=8)}",
                    given,
                )


def slack_of(left: Numbers, right: Numbers, limit: float, scale: Any) -> Any:
    """How far two floating-point results of one value may be apart."""
    return limit * (np.abs(left) + np.abs(right) + scale)


def _is_elementwise(node: Node) -> bool:
    return node.is_input or not node.params or node.op.name in ("constant", "cast")


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


def _same_bits(left: Numbers, right: Numbers) -> Numbers:
    if left.dtype.kind != "f":
        return np.asarray(left == right)
    nan = np.isnan(left) & np.isnan(right)
    return nan | ((left == right) & (np.signbit(left) == np.signbit(right)))


def _distance(values: Numbers, exact: Numbers) -> Numbers:
    off = np.abs(values.astype(np.float64) - exact)
    return np.where(np.isfinite(values), off, np.inf)


def _opposite(left: Numbers, right: Numbers) -> Numbers:
    return np.isinf(left) & np.isinf(right) & (left != right)


def _as_float(value: Any) -> float:
    if isinstance(value, bool):
        return float(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


Verify = Callable[[Rule], Report]
