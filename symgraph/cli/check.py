"""Checks a gradient against differences of its function, at a random point that fits the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import FactError, InputError
from ..facts import Fact, holds_on, implied
from ..ir.dag import Dag
from ..ir.dims import resolve
from ..ir.interpreter import evaluate
from ..ir.node import Node
from ..records import record

__all__ = ["Check", "checked", "sample"]

Numbers = np.ndarray[Any, Any]

_MOST_ELEMENTS = 200_000
_MOST_DIRECTIONS = 48
_STEPS = (1e-3, 1e-4, 1e-5)
"""Steps of the differences: near a pole the shorter ones are right, else the longer ones."""
# The errors of fourth-order differences, relative to the largest entry; wider where the gradient
# itself is computed with fewer digits.
_TOLERANCES = {"float64": 1e-6, "float32": 2e-3, "float16": 5e-2}
_SPREADS = ("normal", "positive", "small", "large")
"""Where points are drawn: on both sides of zero; positive, for log and sqrt; between 0 and 0.3, for
probabilities that add up to less than 1; above 1."""


@record
class Check:
    """The result of the comparison.

    Parameters
    ----------
    worst : float
        The largest difference, relative to the largest entry of the gradient (at least 1).
    tolerance : float
    directions : int
        The number of derivatives compared.
    sizes : mapping of str to int
        The sizes of the named dimensions.
    finite : bool
        Whether the function has a finite value at one of the points.
    clear : bool
        Whether differences of two lengths agree, so that they tell the derivative.
    """

    worst: float
    tolerance: float
    directions: int
    sizes: Mapping[str, int]
    finite: bool = True
    clear: bool = True

    @property
    def ok(self) -> bool:
        return self.finite and self.worst <= self.tolerance

    def __str__(self) -> str:
        sizes = "".join(f", {name} = {size}" for name, size in self.sizes.items())
        if not self.finite:
            return f"FAIL: the value is not finite at the points tried{sizes}"
        verdict = "PASS" if self.ok else "FAIL"
        return (
            f"{verdict}: {self.directions} derivatives within {self.worst:.1e} of differences "
            f"(tolerance {self.tolerance:.0e}{sizes})"
        )


def checked(
    forward: Dag,
    gradients: Dag,
    wrt: Sequence[str],
    sizes: Mapping[str, int],
    seed: int = 0,
) -> Check:
    """Compare gradients with central differences of `forward`, in double precision.

    Parameters
    ----------
    forward : Dag
        Has one scalar output; its floating inputs are float64.
    gradients : Dag
        Has one output for each name in `wrt`.
    wrt : sequence of str
    sizes : mapping of str to int
        A size for each named dimension.
    seed : int
        Seed of the random point and directions.

    Raises
    ------
    InputError
        If the inputs have too many elements for a check.
    FactError
        If no point was found that satisfies the facts.
    """
    shapes = {name: resolve(node.shape, sizes) for name, node in forward.inputs.items()}
    total = sum(int(np.prod(shape, dtype=object)) for shape in shapes.values())
    if total > _MOST_ELEMENTS:
        raise InputError(
            f"The check would draw {total} numbers; it draws at most {_MOST_ELEMENTS}.",
            mend="Give smaller shapes, or --no-check.",
        )
    rng = np.random.default_rng(seed)
    found = Check(np.inf, 0.0, 0, sizes, finite=False)
    for spread in _SPREADS:
        point = {
            name: sample(node, shapes[name], rng, spread) for name, node in forward.inputs.items()
        }
        if np.isfinite(_value(forward, point, sizes)):
            found = _compared(forward, gradients, wrt, point, sizes, rng)
            if found.clear:
                break  # A derivative that is not clear is looked at elsewhere, right or wrong.
    return found


def _value(forward: Dag, point: Mapping[str, Numbers], sizes: Mapping[str, int]) -> float:
    return float(evaluate(forward, point, sizes)[0])


def _compared(
    forward: Dag,
    gradients: Dag,
    wrt: Sequence[str],
    point: dict[str, Numbers],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
) -> Check:
    typed = {name: point[name].astype(node.dtype) for name, node in gradients.inputs.items()}
    # The function is evaluated at the gradient's own point, rounded to the dtype of its inputs.
    point = {name: value.astype(point[name].dtype) for name, value in typed.items()}
    found = evaluate(gradients, typed, sizes)
    worst, doubt, count = 0.0, 0.0, 0
    for name, gradient in zip(wrt, found, strict=True):
        gradient = np.asarray(gradient, dtype=np.float64)
        scale = max(1.0, float(np.max(np.abs(gradient), initial=0.0)))
        for direction in _directions(point[name].shape, rng):
            slope, gap = _slope(forward, point, name, direction, sizes)
            differs = abs(float(np.sum(gradient * direction)) - slope) / scale
            worst = differs if differs > worst or np.isnan(differs) else worst
            doubt = max(doubt, gap / scale)
            count += 1
    dtypes = [str(output.dtype) for output in gradients.outputs]
    tolerance = max(_TOLERANCES.get(dtype, 0.0) for dtype in dtypes)
    return Check(worst, tolerance, count, dict(sizes), clear=doubt <= tolerance)


def _directions(shape: tuple[int, ...], rng: np.random.Generator) -> Iterable[Numbers]:
    """The directions of the single entries if they are few, else random unit directions."""
    size = int(np.prod(shape))
    for position in range(min(size, _MOST_DIRECTIONS)):
        if size <= _MOST_DIRECTIONS:
            direction = np.zeros(size)
            direction[position] = 1.0
        else:
            direction = rng.normal(size=size)
            direction /= np.linalg.norm(direction)
        yield direction.reshape(shape)


def _slope(
    forward: Dag,
    point: Mapping[str, Numbers],
    name: str,
    direction: Numbers,
    sizes: Mapping[str, int],
) -> tuple[float, float]:
    """The directional derivative by central differences of fourth order, and how far to trust it.

    Of two steps that give nearly the same the longer one counts; the second number is the gap.
    """
    scale = max(1.0, float(np.max(np.abs(point[name]), initial=0.0)))

    def by(step: float) -> float:
        def at(offset: float) -> float:
            moved = {**point, name: point[name] + offset * step * direction}
            return _value(forward, moved, sizes)

        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)

    slopes = [by(step * scale) for step in _STEPS]
    gaps = [abs(one - other) for one, other in pairwise(slopes)]
    best = min(range(len(gaps)), key=lambda place: (np.isnan(gaps[place]), gaps[place]))
    return slopes[best], np.inf if np.isnan(gaps[best]) else gaps[best]


# -- points ----------------------------------------------------------------------------------------
def sample(
    node: Node, shape: tuple[int, ...], rng: np.random.Generator, spread: str = "normal"
) -> Numbers:
    """Random numbers for an input that satisfy its stated facts.

    Raises
    ------
    FactError
        If the draw does not satisfy all of them.
    """
    stated: tuple[Fact, ...] = tuple(node.params["assume"])
    value = _drawn(node, shape, rng, spread)
    if not all(holds_on(fact, value) for fact in stated):
        said = ", ".join(map(str, stated))
        raise FactError(
            f"No numbers were found for {node.params['name']!r} that are {said} at once.",
            mend="Skip the check with --no-check.",
        )
    return value


def _drawn(node: Node, shape: tuple[int, ...], rng: np.random.Generator, spread: str) -> Numbers:
    facts = {fact.name: fact for fact in implied(node.params["assume"])}
    if node.dtype.kind == "b":
        return rng.random(shape) < 0.5
    normal = rng.normal(size=shape)
    if spread != "normal":
        normal = _FROM_NORMAL[spread](np.abs(normal))
    tied = _structured(facts, normal)
    value = _bounded(facts, normal, rng) if tied is None else tied
    if "integer_valued" in facts or node.dtype.kind in "iu":
        low = -np.inf if node.dtype.kind == "i" and spread == "normal" else 0.0
        value = np.maximum(np.round(value), low)
    return value.astype(node.dtype if node.dtype.kind in "iu" else np.float64)


_FROM_NORMAL: Mapping[str, Callable[[Numbers], Numbers]] = {
    "positive": lambda size: 0.2 + size,
    "small": lambda size: 0.05 + 0.25 * size / (1 + size),
    "large": lambda size: 1.2 + size,
}


def _structured(facts: Mapping[str, Fact], normal: Numbers) -> Numbers | None:
    """Numbers that satisfy an equality fact; None if there is no such fact."""
    for name in ("one_hot", "simplex", "unit_norm"):
        if name in facts and normal.size:
            return _along(name, normal, facts[name].args[0])
    transposed = np.swapaxes(normal, -1, -2) if normal.ndim > 1 else normal
    if "diagonal" in facts:
        return normal * np.eye(normal.shape[-1])
    if "orthogonal" in facts:
        return np.linalg.qr(normal)[0]
    if "positive_definite" in facts:
        return normal @ transposed / normal.shape[-1] + np.eye(normal.shape[-1])
    if "symmetric" in facts:
        return (normal + transposed) / 2
    if "antisymmetric" in facts:
        return (normal - transposed) / 2
    if "triangular" in facts:
        return np.tril(normal) if facts["triangular"].args == ("lower",) else np.triu(normal)
    return None


def _along(name: str, normal: Numbers, axis: int) -> Numbers:
    if name == "unit_norm":
        return normal / np.sqrt(np.sum(normal**2, axis=axis, keepdims=True))
    if name == "one_hot":
        return (normal == np.max(normal, axis=axis, keepdims=True)).astype(np.float64)
    weights = np.exp(normal)
    return weights / np.sum(weights, axis=axis, keepdims=True)


def _bounded(facts: Mapping[str, Fact], normal: Numbers, rng: np.random.Generator) -> Numbers:
    """Numbers within the bounds that facts set, away from the ends."""
    if "interval" in facts:
        low, high = facts["interval"].args
        if np.isinf(low) or np.isinf(high):
            away = 0.1 + np.abs(normal)
            return low + away if np.isfinite(low) else high - away if np.isfinite(high) else normal
        return low + (high - low) * rng.uniform(0.1, 0.9, size=normal.shape)
    if "positive" in facts or "nonnegative" in facts:
        return 0.2 + np.abs(normal)
    if "negative" in facts or "nonpositive" in facts:
        return -0.2 - np.abs(normal)
    return normal
