"""Checks of derivatives against numerical ones, along random directions.

If the kernels are analytic, the reference is the complex step of Squire and Trapp (1998),
f'(x) = Im f(x + ih) / h, which is exact to rounding; else central differences of fourth order. The
reference always runs in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..array import Array, constant
from ..autodiff.reverse import cotangents, vjp
from ..errors import DTypeError, InputError
from ..ir.dims import resolve
from ..ir.interpreter import run
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input

__all__ = [
    "check_gradient",
    "check_grads",
    "check_stacked",
    "difference_quotients",
    "numbers",
]

Numbers: TypeAlias = "np.ndarray[Any, Any]"
Inputs: TypeAlias = "tuple[Array, ...]"

_TOLERANCE = {"float64": 1e-7, "float32": 2e-3, "float16": 5e-2}
_COMPLEX_STEP = 1e-30
_STEP = 1e-3


def numbers(
    outputs: Sequence[Array],
    given: Sequence[tuple[Array, Any]],
    dims: Mapping[str, int] | None = None,
) -> list[Any]:
    """The values of outputs for the given values of inputs, which may be complex.

    Kernels run one by one, as in the plain interpreter, but no dtype is checked.

    Raises
    ------
    InputError
        If an input of the outputs has no value.
    """
    values: dict[Node, Any] = {symbol.node: value for symbol, value in given}
    with np.errstate(all="ignore"):
        for node in reachable([output.node for output in outputs]):
            if node in values:
                continue
            if node.is_input:
                raise InputError(
                    f"Input {node.params['name']!r} has no value.",
                    mend="Give each input of the outputs a value.",
                )
            operands = [values[operand] for operand in node.operands]
            if node.op.name == "cast" and np.iscomplexobj(operands[0]):
                values[node] = operands[0]
            else:
                values[node] = run(node, operands, dims or {})
    return [values[output.node] for output in outputs]


def _symbols(arrays: Sequence[Numbers], dtype: DTypeLike | None = None) -> Inputs:
    return tuple(
        input(f"x{i}", array.shape, dtype if dtype and array.dtype.kind == "f" else array.dtype)
        for i, array in enumerate(arrays)
    )


def _floating(arrays: Sequence[Numbers]) -> list[int]:
    found = [i for i, array in enumerate(arrays) if array.dtype.kind == "f"]
    if not found:
        raise DTypeError(
            "There is nothing to differentiate: no operand is floating.",
            mend="Pass at least one operand with a floating dtype.",
        )
    return found


def check_grads(
    f: Callable[..., Any],
    *arrays: object,
    order: int = 2,
    analytic: bool = True,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Check the derivatives of `f` at `arrays`, up to `order`, along random directions.

    Parameters
    ----------
    f : callable
        Takes symbolic arrays and gives one floating array.
    *arrays : array_like
        The point; derivatives are taken with respect to the floating arrays.
    order : int
        1 checks gradients, 2 also the gradients of gradients, and so on.
    analytic : bool
        Compare with the complex step; else with central differences.
    tolerance : float, optional
        Largest difference, relative to 1 + the reference; the default depends on the dtype.
    seed : int
        Seed of the directions.

    Raises
    ------
    AssertionError
        If a derivative differs; the message gives both numbers.
    NotDifferentiable
        If `f` has no derivative.

    Examples
    --------
    >>> check_grads(lambda x: np.sin(x) * x, np.array([0.3, 0.7]))
    """
    points = [np.asarray(array) for array in arrays]
    active = _floating(points)
    coarsest = min((points[i].dtype for i in active), key=lambda dtype: dtype.itemsize)
    limit = _TOLERANCE[coarsest.name] if tolerance is None else tolerance
    rng = np.random.default_rng(seed)
    wide = [point.astype("float64") if i in active else point for i, point in enumerate(points)]
    plan = _Directions(rng, [point.shape for point in points], active, order)
    precise = plan.derivatives(f, wide, "float64")
    for depth in range(1, order + 1):
        want = _numeric(precise[depth - 1], wide, plan.of(depth - 1), active, analytic)
        _assert_close(depth, precise[depth].value(wide), want, limit, "of numbers")
    if coarsest != np.dtype("float64"):
        coarse = plan.derivatives(f, points, None)
        for depth in range(order + 1):
            want = precise[depth].value(wide)
            _assert_close(depth, coarse[depth].value(points), want, limit, "of float64")


def check_gradient(
    f: Callable[..., Any], *arrays: object, tolerance: float | None = None, seed: int = 0
) -> None:
    """Check the gradient of your function by differences, with its custom operations and rules.

    This is `check_grads` to order 1, with central differences of fourth order: the kernels need not
    work on complex numbers.

    Parameters
    ----------
    f : callable
        Takes symbolic arrays and gives one floating array.
    *arrays : array_like
        The point, away from kinks.
    tolerance, seed
        As for `check_grads`.

    Raises
    ------
    AssertionError
        If the gradient differs; the message gives both numbers.

    Examples
    --------
    >>> cube = sg.custom_op(lambda x: x**3, name="cube", vjp=lambda ct, out, x: 3 * ct * x**2)
    >>> check_gradient(cube, np.array([0.3, 0.7]))
    """
    check_grads(f, *arrays, order=1, analytic=False, tolerance=tolerance, seed=seed)


def _assert_close(depth: int, got: complex, want: float, limit: float, of: str) -> None:
    assert abs(got - want) <= limit * (1 + abs(want)), (
        f"The derivative of order {depth} is {got}, but that {of} is {want}."
    )


@dataclass
class _Contracted:
    """The scalar Σ wᵢ·outᵢ of outputs and their weights, as a function of inputs."""

    inputs: Inputs
    terms: list[tuple[Array, Numbers]]

    def value(self, at: Sequence[Any]) -> Any:
        if not self.terms:
            return 0.0
        found = numbers(
            [output for output, _ in self.terms], list(zip(self.inputs, at, strict=True))
        )
        pairs = zip(found, self.terms, strict=True)
        return sum(np.sum(value * weights) for value, (_, weights) in pairs)


class _Directions:
    """Random directions, one for each operand and order, the same for every function."""

    def __init__(
        self,
        rng: np.random.Generator,
        shapes: Sequence[tuple[int, ...]],
        active: Sequence[int],
        order: int,
    ) -> None:
        self.rng = rng
        self.active = active
        self.drawn = [[rng.normal(size=shapes[i]) for i in active] for _ in range(order)]
        self.weights: Any = None

    def of(self, depth: int) -> list[Numbers]:
        """Directions of the derivative of order depth + 1, one for each active operand."""
        return self.drawn[depth]

    def derivatives(
        self, f: Callable[..., Any], at: Sequence[Numbers], dtype: DTypeLike | None
    ) -> list[_Contracted]:
        """The weighted output and its derivatives along the directions, as weighted sums."""
        inputs = _symbols(at, dtype)
        output = f(*inputs)
        if self.weights is None:
            shape = resolve(output.shape, {})
            self.weights = self.rng.uniform(0.5, 1.5, shape) * self.rng.choice((-1.0, 1.0), shape)
        terms: list[tuple[Array, Numbers]] = [(output, self.weights)]
        found = [_Contracted(inputs, terms)]
        targets = [inputs[i] for i in self.active]
        for directions in self.drawn:
            seeds = [(each, constant(weights, each.dtype)) for each, weights in terms]
            grads = cotangents(seeds, targets) if seeds else []
            terms = [
                (grad, direction)
                for grad, direction in zip(grads, directions, strict=bool(grads))
                if grad is not None
            ]
            found.append(_Contracted(inputs, terms))
        return found


def _numeric(
    scalar: _Contracted,
    at: Sequence[Numbers],
    directions: Sequence[Numbers],
    active: Sequence[int],
    analytic: bool,
) -> float:
    """The numerical derivative of a scalar along a direction."""

    def moved(step: complex) -> list[Any]:
        points: list[Any] = list(at)
        for i, direction in zip(active, directions, strict=True):
            points[i] = at[i] + step * direction
        return points

    if analytic:
        return float(np.imag(scalar.value(moved(1j * _COMPLEX_STEP)))) / _COMPLEX_STEP
    near = scalar.value(moved(_STEP)) - scalar.value(moved(-_STEP))
    far = scalar.value(moved(2 * _STEP)) - scalar.value(moved(-2 * _STEP))
    return float(8 * near - far) / (12 * _STEP)


def difference_quotients(
    f: Callable[..., Any], arrays: Sequence[object], steps: Sequence[float], seed: int
) -> tuple[float, list[float]]:
    """The derivative along a random direction, and the central difference quotients of steps."""
    points = [np.asarray(array) for array in arrays]
    active = _floating(points)
    wide = [point.astype("float64") if i in active else point for i, point in enumerate(points)]
    shapes = [point.shape for point in points]
    plan = _Directions(np.random.default_rng(seed), shapes, active, 1)
    value, slope = plan.derivatives(f, wide, "float64")

    def moved(step: float) -> list[Any]:
        found: list[Any] = list(wide)
        for i, direction in zip(active, plan.of(0), strict=True):
            found[i] = wide[i] + step * direction
        return found

    quotients = [
        float(value.value(moved(step)) - value.value(moved(-step))) / (2 * step) for step in steps
    ]
    return float(slope.value(wide)), quotients


def check_stacked(f: Callable[..., Any], *arrays: object, count: int = 3, seed: int = 0) -> None:
    """Check that cotangents stacked on a leading axis give the same results as one by one.

    Parameters
    ----------
    f : callable
        Takes symbolic arrays and gives one floating array.
    *arrays : array_like
        The point.
    count : int
        The number of cotangents.
    seed : int
        Seed of the cotangents.

    Raises
    ------
    AssertionError
        If a shape or a number differs.
    """
    points = [np.asarray(array) for array in arrays]
    inputs = _symbols(points)
    targets = [inputs[i] for i in _floating(points)]
    output = f(*inputs)
    rng = np.random.default_rng(seed)
    stack = rng.normal(size=(count, *resolve(output.shape, {}))).astype(output.dtype)
    given = list(zip(inputs, points, strict=True))
    together = vjp(output, targets, constant(stack))
    singly = [vjp(output, targets, constant(each)) for each in stack]
    for position, (target, stacked) in enumerate(zip(targets, together, strict=True)):
        rows = [row[position] for row in singly]
        if stacked is None:
            assert all(row is None for row in rows)
            continue
        assert stacked.shape == (count, *target.shape), (stacked.shape, target.shape)
        got = numbers([stacked], given)[0]
        want = np.stack(numbers([row for row in rows if row is not None], given))
        np.testing.assert_allclose(got, want, rtol=1e-5 if target.dtype.itemsize < 8 else 1e-12)
