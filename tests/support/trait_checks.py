"""Traits of operations tried on numbers: which identities hold on an operation's samples.

A check says whether an identity holds in one case, or None where the case cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from itertools import chain, permutations, product
from math import e, log
from typing import Any

import numpy as np

from symgraph.backends.samples import op_samples
from symgraph.errors import SymgraphError
from symgraph.ir.avals import Aval
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node, reachable
from symgraph.ir.op import OPS, Op, carries_aligned
from symgraph.ir.traits import Angle, Arrangement, Exponential, ExponentialSum, Logarithm, Traits
from symgraph.namespace import NUMPY

Floats = np.ndarray[Any, Any]
_SIZE = 3
_SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, 0.5, -0.5])


@dataclass(frozen=True)
class Case:
    """One operation on some operands."""

    op: Op
    params: dict[str, Any]
    operands: tuple[Floats, ...]
    floats: tuple[int, ...]

    def __call__(self, *operands: Floats) -> Floats:
        """The result; NaN where the kernel refuses these numbers."""
        with np.errstate(all="ignore"):
            try:
                return np.asarray(self.op.kernel(NUMPY, *operands, **self.params))
            except (ValueError, TypeError):  # LinAlgError is a ValueError
                return np.asarray(np.nan)

    def at(self, changes: dict[int, Floats]) -> Floats:
        """The result with some operands replaced."""
        return self(*[changes.get(i, each) for i, each in enumerate(self.operands)])

    def drawn(self, place: int, seed: int) -> Floats:
        """Other numbers for an operand."""
        return np.random.default_rng(seed).uniform(-2, 2, self.operands[place].shape)


def cases(op: Op) -> tuple[Case, ...]:
    """Samples of the operation of this name, in double precision with one floating result."""
    return _cases_of(op.name)


@cache
def _cases_of(name: str) -> tuple[Case, ...]:
    return tuple(_cases(OPS[name], _is_plain))


def _cases(op: Op, taken: Callable[[Node], bool]) -> Iterator[Case]:
    for index, dag in enumerate(op_samples(op)):
        for node in reachable(dag.outputs):
            if node.op is op and taken(node):
                yield from _case(dag, node, index)


def _is_plain(node: Node) -> bool:
    floats = [each.dtype for each in node.operands if each.dtype.kind == "f"]
    one = len(node.results) == 1 and node.dtype.kind == "f"
    return one and bool(floats) and all(each == "float64" for each in [*floats, node.dtype])


def _case(dag: Dag, node: Node, index: int) -> Iterator[Case]:
    rng = np.random.default_rng(index)
    env = dict.fromkeys(dag.dims, _SIZE)
    given = {name: _numbers(each, rng) for name, each in dag.inputs.items()}
    below = Dag(dag.inputs, list(node.operands))
    operands = tuple(np.asarray(each) for each in evaluate(below, given, dims=env))
    params = {key: resolve(value, env) for key, value in node.params.items()}
    floats = tuple(
        i
        for i, each in enumerate(operands)
        if each.dtype.kind == "f" and i not in node.op.unpromoted
    )
    if all(operands[i].size for i in floats):
        yield Case(node.op, params, operands, floats)


def _numbers(node: Node, rng: np.random.Generator) -> Floats:
    shape = tuple(dim if isinstance(dim, int) else _SIZE for dim in node.shape)
    if node.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if node.dtype.kind in "iu":
        return np.asarray(rng.integers(0, 4, shape), dtype=node.dtype)
    drawn = rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0, 3.0], shape)
    return np.asarray(drawn, dtype=node.dtype)


# -- comparing -------------------------------------------------------------------------------------
def _same(a: Floats, b: Floats) -> bool:
    """Equal but for the last digits; NaN is NaN, and the sign of a zero counts for nothing."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-13, atol=0, equal_nan=True))


def _near(a: Floats, b: Floats) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


def _tells(*results: Floats) -> bool:
    """Whether something is compared: a number somewhere, and not 0 everywhere."""
    return all(bool(np.any(np.isfinite(each) & (each != 0))) for each in results)


# -- identities, each in one case ------------------------------------------------------------------
Check = Callable[[Case], "bool | None"]


def parity(place: int, sign: int) -> Check:
    """Even (1) or odd (-1) in an operand."""

    def check(case: Case) -> bool | None:
        if place not in case.floats:
            return None
        x = case.operands[place]
        result, turned = case(*case.operands), case.at({place: -x})
        if not _tells(result):
            return None
        if len(case.operands) == 1 and x.shape == result.shape and not case.params:
            special = np.resize(_SPECIAL, x.shape) if x.ndim else _SPECIAL
            if not _same(case(-special), sign * case(special)):
                return False
        return _same(turned, sign * result)

    return check


def linear(places: Sequence[int] | None) -> Check:
    """Linear in these operands together (None: in all floats), the others fixed."""

    def check(case: Case) -> bool | None:
        them = case.floats if places is None else places
        if not set(them) <= set(case.floats):
            return None
        x = {place: case.drawn(place, place) for place in them}
        y = {place: case.drawn(place, 50 + place) for place in them}
        mixed = case.at({place: 2.5 * x[place] - 0.75 * y[place] for place in them})
        with np.errstate(all="ignore"):
            wanted = 2.5 * case.at(x) - 0.75 * case.at(y)
        if not _tells(wanted) or mixed.shape != wanted.shape:
            return None
        there = np.isfinite(wanted)  # at log(0), 2.5 times infinity less infinity is no number
        return _near(mixed[there], wanted[there])

    return check


def homogeneous(degree: float) -> Check:
    """Of this degree in all floating operands together."""

    def check(case: Case) -> bool | None:
        result = case(*case.operands)
        if not _tells(result):
            return None
        return all(
            _near(case.at({i: by * case.operands[i] for i in case.floats}), by**degree * result)
            for by in (2.0, 0.375)
        )

    return check


def shift(slope: float) -> Check:
    """A number added to all floating operands adds `slope` of it to the result."""

    def check(case: Case) -> bool | None:
        result = case(*case.operands)
        if not _tells(result):
            return None
        return all(
            _near(case.at({i: case.operands[i] + by for i in case.floats}), result + slope * by)
            for by in (0.5, -1.25)
        )

    return check


def commutative(case: Case) -> bool | None:
    """Two operands may be exchanged, to the bit: of two zeros an extremum is the first or last."""
    if len(case.operands) != 2 or case.operands[0].shape != case.operands[1].shape:
        return None
    result = case(*case.operands)
    pairs = [case.operands]
    if case.op.traits.elementwise:
        pairs.append((np.repeat(_SPECIAL, 10), np.tile(_SPECIAL, 10)))
    if not _tells(result):
        return None
    return all(_bits(case(*each), case(*each[::-1])) for each in pairs)


def _bits(a: Floats, b: Floats) -> bool:
    """Equal to the bit, but for what NaN is made of."""
    there = ~np.isnan(a)
    return (
        a.shape == b.shape
        and bool(np.array_equal(a, b, equal_nan=True))
        and bool(np.array_equal(np.signbit(a)[there], np.signbit(b)[there]))
    )


def movement(case: Case) -> bool | None:
    """Each element of the result is one of an operand, or 0; which one, no float decides."""
    result = case(*case.operands)
    if linear(None)(case) is False:
        return False
    there = np.concatenate([[0.0], *[case.operands[i].ravel() for i in case.floats]])
    return bool(np.all(np.isin(result, there))) if _tells(result) else None


def selects(case: Case) -> bool | None:
    """Each element of the result is one of an operand, and floats decide which."""
    result = case(*case.operands)
    if not _tells(result) or movement(case):
        return None
    there = np.concatenate([case.operands[i].ravel() for i in case.floats])
    return bool(np.all(np.isin(result, there)))


def exponent(power: float) -> Check:
    """x to this power, and NaN where that is NaN."""

    def check(case: Case) -> bool | None:
        if len(case.floats) != 1 or len(case.operands) != 1 or case.params:
            return None
        x = np.linspace(-2, 2, 17)
        with np.errstate(all="ignore"):
            result, wanted = case(x), np.power(x, power)
        return _same(result, wanted) if result.shape == x.shape else None

    return check


def logarithmic(op: Op) -> bool | None:
    """Whether its definition is a logarithm, or a multiple of one; None where it has none."""
    if op.definition is None or op.carries is not carries_aligned:
        return None
    words = _Words("")
    count = len(signature(op.definition).parameters) - 1
    return str(op.definition(words, *[words] * count)) == "log"


class _Words:
    """A mathematics of which only whether something is a logarithm is known."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __str__(self) -> str:
        return self.kind

    def __getattr__(self, name: str) -> Callable[..., _Words]:
        return lambda *_operands: _Words("log" if name.startswith("log") else "")

    def _with(self, other: Any) -> _Words:
        return _Words(self.kind or str(getattr(other, "kind", "")))

    def logical(self, *_operands: Any) -> _Words:
        return _Words("")

    logical_and = logical_or = logical_xor = logical_not = logical
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _with

    def __rtruediv__(self, other: Any) -> _Words:
        return _Words("")

    def __neg__(self) -> _Words:
        return self


def multiplies(case: Case) -> bool | None:
    """Some element of the result has several elements of the first operand for factors."""
    result = case(*case.operands)
    if case.op.traits.elementwise or not _tells(result):
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
    """NaN in an operand leaves numbers in the result, whatever the other operands are."""

    def check(case: Case) -> bool | None:
        if place not in case.floats or not case.op.traits.elementwise:
            return None
        nothing = {place: np.full_like(case.operands[place], np.nan)}
        untrue = {i: np.zeros_like(case.operands[i]) for i in case.op.unpromoted}
        found = [case.at(nothing), case.at({**nothing, **untrue})]
        return not all(bool(np.all(np.isnan(each))) for each in found)

    return check


def takes_places(op: Op) -> bool | None:
    """Whether integers beside floats choose among elements; None without samples of floats."""
    found: bool | None = None
    for dag in op_samples(op):
        for node in reachable(dag.outputs):
            if node.op is op and node.operands and node.dtype.kind == "f":
                kinds = {each.dtype.kind for each in node.operands}
                chosen = {"i", "f"} <= kinds and op.carries is not carries_aligned
                found = (chosen and op.follows is None) or bool(found)
    return found


def takes_square_alone(op: Op) -> bool | None:
    """Whether the first operand is a square matrix; None where the samples take no matrix."""
    found: bool | None = None
    for dag in op_samples(op):
        for node in reachable(dag.outputs):
            if (
                node.op is op
                and not node.params
                and len(node.operands) == 1
                and _is_matrix(node.operands[0])
            ):
                (operand,) = node.operands
                lead = operand.shape[:-2]
                found = not _infers(node, (*lead, 6, 7)) and _infers(node, (*lead, 7, 7))
    return found


def _is_matrix(node: Node) -> bool:
    return len(node.results) == 1 and node.ndim >= 2


def _infers(node: Node, shape: tuple[Any, ...]) -> bool:
    try:
        node.op.infer(node.operands[0].aval.with_shape(shape), **node.params)
    except SymgraphError:
        return False
    return True


_POINTS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])


def _on_points(case: Case) -> Floats | None:
    if len(case.operands) != 1 or case.params:
        return None
    result = case(_POINTS)
    return result if result.shape == _POINTS.shape and np.all(np.isfinite(result)) else None


def exponential(form: Exponential) -> Check:
    """base**x - less."""

    def check(case: Case) -> bool | None:
        result = _on_points(case)
        return None if result is None else _near(result, form.base**_POINTS - form.less)

    return check


def logarithm(form: Logarithm) -> Check:
    """The logarithm of x + plus to the base."""

    def check(case: Case) -> bool | None:
        result = _on_points(case)
        wanted = np.log(_POINTS + form.plus) / log(form.base)
        return None if result is None else _near(result, wanted)

    return check


# -- where elements go -----------------------------------------------------------------------------
def arrangements(op: Op) -> set[Arrangement]:
    """What becomes of the elements of the first operand in all samples, of any dtype."""
    found = [_arranged(case) for case in _cases(op, _has_array)]
    return set.intersection(*found) if found else set()


def every_case(op: Op) -> Iterator[Case]:
    """Samples of an operation with one result, of any dtype."""
    return _cases(op, lambda node: len(node.results) == 1 and bool(node.operands))


def _has_array(node: Node) -> bool:
    return len(node.results) == 1 and bool(node.operands) and node.dtype.kind != "b"


def _arranged(case: Case) -> set[Arrangement]:
    x, result = np.asarray(case.operands[0]), case(*case.operands)
    found: set[Arrangement] = set()
    with np.errstate(all="ignore"):
        alike = np.array_equal(result, x.astype(result.dtype)) and result.shape == x.shape
    if alike:
        found.add(Arrangement.CONVERTED)
    if x.dtype != result.dtype:
        return found
    if alike:
        found.add(Arrangement.SAME)
    if np.array_equal(x.ravel(), result.ravel()):
        found.add(Arrangement.REGROUPED)
    orders = permutations(range(x.ndim))
    if any(np.array_equal(np.transpose(x, order), result) for order in orders):
        found.add(Arrangement.PERMUTED)
    leading = x.ndim <= result.ndim and all(
        size in (1, whole) for size, whole in zip(x.shape[::-1], result.shape[::-1], strict=False)
    )
    if leading and np.array_equal(np.broadcast_to(x, result.shape), result):
        found.add(Arrangement.REPEATED)
    return found


# -- forms ---------------------------------------------------------------------------------------
def _is_aligned(case: Case) -> bool:
    """Whether the operands are floats of one shape, and there are no params."""
    shapes = {each.shape for each in case.operands}
    return not case.params and len(shapes) == 1 and len(case.floats) == len(case.operands)


def combination(numbers: Sequence[int]) -> Check:
    """The sum of the operands, each times a number."""

    def check(case: Case) -> bool | None:
        if len(case.operands) != len(numbers) or not _is_aligned(case):
            return None
        wanted = sum(by * x for by, x in zip(numbers, case.operands, strict=True))
        return _near(case(*case.operands), np.asarray(wanted))

    return check


def monomial(powers: Sequence[float]) -> Check:
    """The product of the operands, each to a power."""

    def check(case: Case) -> bool | None:
        if len(case.operands) != len(powers) or not _is_aligned(case):
            return None
        x = [np.abs(each) for each in case.operands]
        with np.errstate(all="ignore"):
            wanted = [each ** float(power) for each, power in zip(x, powers, strict=True)]
            return _near(case(*x), np.prod(wanted, axis=0))

    return check


def raises(case: Case) -> bool | None:
    """The first operand to the power of the second."""
    if len(case.operands) != 2 or not _is_aligned(case):
        return None
    x = np.abs(case.operands[0])
    with np.errstate(all="ignore"):
        return _near(case.at({0: x}), np.exp(case.operands[1] * np.log(x)))


def angle(form: Angle) -> Check:
    """(e^rx - e^-rx) / 2r is a sine and half the sum a cosine; r is i, or 1 of hyperbolic ones."""

    def check(case: Case) -> bool | None:
        result = _on_points(case)
        r = 1j if form.square == 1 else 1.0
        up, down = np.exp(r * _POINTS), np.exp(-r * _POINTS)
        sine, cosine = ((up - down) / (2 * r)).real, ((up + down) / 2).real
        wanted = {"sine": sine, "cosine": cosine, "tangent": sine / cosine}[form.part]
        return None if result is None else _near(result, wanted)

    return check


def exponential_sum(form: ExponentialSum) -> Check:
    """What is made of the exponentials and their sum."""

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
        return result.size == found.size and _near(result.reshape(found.shape), found)

    return check


def extremum(side: int) -> Check:
    """The largest (1) or least (-1) of two numbers, or over an axis."""

    def check(case: Case) -> bool | None:
        choose = np.maximum if side > 0 else np.minimum
        result = case(*case.operands)
        if len(case.operands) == 2 and _is_aligned(case):
            if not np.isnan(case(*case.operands[:1], np.full_like(case.operands[1], np.nan))).all():
                return False
            return _near(result, choose(*case.operands))
        if len(case.operands) != 1 or case.params.keys() != {"axis", "keepdims"}:
            return None
        axis, keepdims = case.params["axis"], case.params["keepdims"]
        wanted = choose.reduce(case.operands[0], axis=axis, keepdims=keepdims)
        return _near(result, np.asarray(wanted))

    return check


def indices(case: Case) -> bool | None:
    """A product of the operands, summed over the labels that the result has not."""
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
    return _near(found, wanted) and rest == 0


def _open(labels: Sequence[Any], array: Floats) -> list[Any]:
    return [label for label, size in zip(labels, array.shape, strict=True) if size != 1]


# -- what is declared, and what holds --------------------------------------------------------------
def holds(op: Op, check: Check) -> bool:
    """Whether an identity holds in every case that can tell, one at least."""
    said = [each for each in map(check, cases(op)) if each is not None]
    return bool(said) and all(said)


def arity(op: Op) -> int:
    """How many operands it has in the samples, the most of them."""
    return max(len(each.operands) for each in cases(op))


def floats(op: Op) -> list[int]:
    """Places where all samples have floats."""
    return sorted(set.intersection(*[set(each.floats) for each in cases(op)]))


def declared(op: Op) -> dict[str, Check]:
    """The identities that an operation's record claims, by what they are called here."""
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
    """What follows from the identities declared, and need not be."""
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


def signed_zero(op: Op, place: int) -> bool:
    """Whether the sign of a zero operand changes a number that is not 0."""
    for case in cases(op):
        zero = np.zeros_like(case.operands[place])
        if not np.array_equal(case.at({place: zero}), case.at({place: -zero}), equal_nan=True):
            return True
    return False


_DEGREES = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def candidates(op: Op) -> dict[str, Check]:
    """The identities that any operation might obey."""
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
    """The identities that hold on the samples and neither stand in the record nor follow."""
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


def sampled_ops() -> list[Op]:
    """Operations of ours with a sample that the checks can use, by name."""
    found = [op for op in OPS.values() if not op.custom and cases(op)]
    return sorted(found, key=lambda op: op.name)
