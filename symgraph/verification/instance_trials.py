"""The test of one instance of a rule: its sides and their gradients on several draws of numbers.

Elements that differ are judged by `grading` against the `reference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from ..array import Array
from ..autodiff.reverse import vjp
from ..errors import NotDifferentiable
from ..ir import traits
from ..ir.dims import resolve
from ..ir.interpreter import run
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input as symbolic_input
from ..records import record
from ..rewriting.report import Report
from .grading import Sides, acceptable, same_bits
from .instance_maker import SIZES, Instance
from .modular import PRIME, DividesByZero, NoRingIdentity, modular_values
from .reference import Point, Reference
from .samples import Matrices, Numbers, values_for

__all__ = ["InstanceTrial"]

_MOST = 48
"""The most elements judged in high precision at a time: each is slow."""
_OVERFLOWING = 1e300
"""Gradients larger than this, or not finite, are not compared."""
_THOROUGH = 6


@record
class _Draw:
    """The settings of a draw: share of awkward numbers, named sizes, kind of matrices."""

    share: float = 0.0
    sizes: Mapping[str, int] = field(default_factory=lambda: SIZES)
    matrices: Matrices = "any"


class InstanceTrial:
    """Compares both sides of one instance on several draws of numbers."""

    def __init__(
        self, instance: Instance, rng: np.random.Generator, report: Report, thorough: bool
    ) -> None:
        self.instance = instance
        self.thorough = thorough
        self.rng = rng
        self.report = report
        self.nodes = reachable([instance.lhs, instance.rhs])
        self.reference = Reference(instance, rng)
        definite = any(node.op.traits.matrices is traits.Matrices.DEFINITE for node in self.nodes)
        self.at_places = any(node.op.traits.at_places for node in self.nodes)
        self.matrices: Matrices = "positive definite" if definite else "any"

    def run(self) -> None:
        left, right = self.instance.lhs, self.instance.rhs
        if left.aval != right.aval:
            self.fail(f"the sides are {left.aval} and {right.aval}", {})
            return
        for draw in self._draws():
            self.compare(self._numbers(draw), draw.sizes)
        if self.instance.small:
            return
        if self.instance.sound != "exact":
            self._compare_modulo_prime()
        if left.aval.dtype.kind == "f":
            self._compare_gradients()

    def _draws(self) -> Sequence[_Draw]:
        named = any(node.aval.dim_names for node in self.nodes)
        if not self.instance.inputs:
            return [_Draw()]
        if self.reference.of_matrices:
            ordinary = [_Draw(), _Draw(matrices=self.matrices)]
            definite = self.matrices == "positive definite"
            negative = [_Draw(matrices="negative definite")] * definite
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

    def _numbers(self, draw: _Draw) -> dict[Node, Numbers]:
        given = values_for(self.instance, self.rng, draw.share, draw.sizes, matrices=draw.matrices)
        if self.at_places:
            given = {node: _as_places(value) for node, value in given.items()}
        return given

    # -- values ----------------------------------------------------------------------------------
    def compare(self, given: Mapping[Node, Numbers], sizes: Mapping[str, int]) -> None:
        """Compare the values of both sides at these numbers."""
        try:
            values = _evaluated(self.nodes, given, sizes)
        except ZeroDivisionError:
            return  # some dimension has no value at these sizes
        except IndexError:
            if self._value(self.instance.lhs, given, sizes) is not None:
                self.fail("the right side reads a place out of range", given)
            return
        except ValueError:  # a matrix without this factorisation, or the maximum of no elements
            self._compare_refusals(given, sizes)
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
        self._judge(given, values, suspect, sizes)

    def _compare_refusals(self, given: Mapping[Node, Numbers], sizes: Mapping[str, int]) -> None:
        """If one side has no value, such as the inverse of a singular matrix, neither may."""
        if self.instance.sound == "domain":
            return
        for side in (self.instance.lhs, self.instance.rhs):
            value = self._value(side, given, sizes)
            if value is not None and np.any(np.isfinite(value)):
                self.fail(f"only one side has a value ({self.instance.sound})", given)

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
        suspect: Numbers,
        sizes: Mapping[str, int],
    ) -> None:
        """Judge the elements in which both sides differ, at the grades below `exact`."""
        left, right = (np.asarray(values[each]) for each in (self.instance.lhs, self.instance.rhs))
        with np.errstate(all="ignore"):
            same = np.abs(left - right) <= 4 * np.finfo(left.dtype).eps * np.abs(left)
        suspect = suspect & ~(same & np.isfinite(left))
        if self.instance.sound == "domain":
            suspect = suspect & ~np.isnan(left)
        turned = np.isinf(left) & np.isinf(right) & (left != right)
        if np.any(suspect & ((np.isfinite(left) & ~np.isfinite(right)) | turned)):
            smaller = self._below_overflow(given)
            if smaller is not None:
                self.compare(smaller, sizes)
                return
        grave = suspect & (np.isfinite(left) != np.isfinite(right))
        places = np.concatenate([_spread_evenly(grave), _spread_evenly(suspect & ~grave)])
        if not places.size:
            return
        at = Point(given, sizes, left.shape, places)
        exact, known = self.reference.exact(at, left)
        here = Sides(
            left.ravel()[places].astype(np.float64),
            right.ravel()[places].astype(np.float64),
            exact,
            self.reference.infinite(at),
            self.reference.strict,
        )
        self._refuse_new_poles(at, here, known)
        scale = self.reference.scale(at, values, exact, known)
        bad = np.flatnonzero(known & ~acceptable(here, np.finfo(left.dtype), scale))
        if bad.size:
            shown = f"{left.ravel()[places[bad[0]]]!r} and {right.ravel()[places[bad[0]]]!r}"
            truth = exact[bad[0]]
            self.fail(
                f"the sides disagree ({self.instance.sound}): {shown}, exactly {truth!r}", given
            )

    def _refuse_new_poles(self, at: Point, here: Sides, known: Numbers) -> None:
        """Infinity stands for NaN only where the value overflows, or is infinite at +0.0.

        Operations above may make a number of it: tanh(1 / x) is 1 where tanh(x / x**2) is NaN.
        Rules that are there for stability mend such NaN: log(sigmoid(x) / 0) is infinite.
        """
        if self.instance.rule.stable or not self.reference.elementwise:
            return
        poles = known & np.isnan(here.left) & np.isinf(here.right) & ~here.infinite
        with np.errstate(all="ignore"):
            poles &= ~(np.isinf(here.exact) | (np.abs(here.exact) > self._largest))
        if not np.any(poles):
            return
        unsigned = {
            n: value + 0 if value.dtype.kind == "f" else value for n, value in at.given.items()
        }
        left = self._value(self.instance.lhs, unsigned, at.sizes)
        if left is None:
            return
        poles &= left.ravel()[at.places] != here.right
        if np.any(poles):
            self.fail("the right side is infinite where the left is NaN", at.given)

    @property
    def _largest(self) -> float:
        return float(np.finfo(self.instance.lhs.aval.dtype).max)

    def _below_overflow(self, given: Mapping[Node, Numbers]) -> dict[Node, Numbers] | None:
        """Smaller numbers, whose sums and products overflow in no order.

        None for elementwise rules, and where no number is too large.
        """
        if self.reference.elementwise:
            return None
        size = max([value.size for value in given.values()] + [1])
        multiplied = any(node.op.traits.multiplies for node in self.nodes)
        # With k operations that multiply, a term of a sum has up to k + 1 factors.
        factors = 1 + sum(map(_multiplies, reachable([self.instance.lhs])))
        smaller = dict(given)
        for node, value in given.items():
            if value.dtype.kind == "f":
                largest = float(np.finfo(value.dtype).max)
                summed = largest ** (1 / factors) / (4 * size)
                limit = np.asarray(largest ** (1 / size) if multiplied else summed, value.dtype)
                clipped = np.clip(value, -limit, limit)
                smaller[node] = np.where(np.isfinite(value), clipped, value)
        same = all(np.array_equal(smaller[node], given[node], equal_nan=True) for node in given)
        return None if same else smaller

    # -- modulo a prime --------------------------------------------------------------------------
    def _compare_modulo_prime(self) -> None:
        """Compare both sides at a random point of a finite field, if they are defined there."""
        if any(not fact.is_open for facts in self.instance.facts for fact in facts):
            return
        sides = [self.instance.lhs, self.instance.rhs]
        given: dict[Node, Numbers] = {}
        for node in self.instance.inputs:
            top = 2 if node.aval.dtype.kind == "b" else PRIME
            given[node] = self.rng.integers(0, top, resolve(node.aval.shape, SIZES))
        try:
            left, right = modular_values(sides, given, SIZES)
        except (NoRingIdentity, DividesByZero, IndexError):  # IndexError: place beyond a named size
            return
        self.report.elements += left.size
        if left.shape != right.shape or np.any(left != right):
            self.fail("the sides differ as polynomials, modulo a prime", given)

    # -- gradients -------------------------------------------------------------------------------
    def _compare_gradients(self) -> None:
        if self.instance.rule.kink.startswith("everywhere"):
            return  # a slope that is told, and is not that of the value
        targets = [node for node in self.instance.inputs if node.aval.dtype.kind == "f"]
        if not targets or self.instance.lhs.aval.dtype != np.float64:
            return
        if any(not fact.is_open for facts in self.instance.facts for fact in facts):
            return  # the rule holds on a surface only, and gradients point off it
        seed = symbolic_input("cotangent", self.instance.lhs.aval.shape, np.float64)
        arrays = [Array(node) for node in targets]
        try:
            left = vjp(Array(self.instance.lhs), arrays, seed)
            right = vjp(Array(self.instance.rhs), arrays, seed)
        except NotDifferentiable:
            return
        given = self._numbers(_Draw(matrices=self.matrices))
        shape = resolve(seed.node.aval.shape, SIZES)
        given[seed.node] = self.rng.uniform(0.5, 2.0, shape)
        for node, one, other in zip(targets, left, right, strict=True):
            try:
                wanted, found = (_gradient(each, node, given) for each in (one, other))
            except (np.linalg.LinAlgError, IndexError):
                return  # a matrix without this factorisation, or a place out of range
            if wanted is None or found is None:
                if wanted is not found and given[node].size:
                    self.fail("only one side has a gradient", given)
                return
            with np.errstate(all="ignore"):
                fits = np.abs(wanted - found) <= 1e-7 * (1 + np.abs(wanted))
                fits |= ~(np.abs(wanted) <= _OVERFLOWING)
            if not np.all(fits):
                shown = " and ".join(np.array2string(each, threshold=8) for each in (wanted, found))
                name = node.params["name"]
                self.fail(f"the gradients with respect to {name} differ: {shown}", given)


def _multiplies(node: Node) -> bool:
    """Whether the operation multiplies elements of one operand with those of another."""
    return len(node.op.traits.linear_in(len(node.operands))) > 1


def _as_places(value: Numbers) -> Numbers:
    """Integers as places -1 and 0, which every nonempty axis has; other values unchanged."""
    return value % 2 - 1 if value.dtype.kind == "i" else value


def _spread_evenly(chosen: Numbers) -> Numbers:
    """Flat places of the chosen elements: all, or `_MOST` spread evenly over them."""
    places = np.flatnonzero(chosen)
    if places.size <= _MOST:
        return places
    return places[np.linspace(0, places.size - 1, _MOST).astype(int)]


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
    """The value of a gradient; None where it takes the maximum of no elements."""
    if gradient is None:
        return np.zeros(given[node].shape)
    try:
        return np.asarray(_evaluated(reachable([gradient.node]), given, SIZES)[gradient.node])
    except np.linalg.LinAlgError:
        raise
    except ValueError:
        return None
