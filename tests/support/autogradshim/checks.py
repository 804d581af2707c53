"""`autograd.test_util`: derivatives against differences, over combinations of arguments.

Combinations that hold a complex number are left out, and counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgraph.pytrees import flatten, unflatten

from .derivatives import kept_grad, make_jvp
from .excluded import ComplexNumber, no_complex
from .numpynames import is_symbol

__all__ = [
    "check_equivalent",
    "check_grads",
    "check_jvp",
    "check_vjp",
    "combo_check",
    "scalar_close",
]

STEP, TOLERANCE = 1e-5, 2e-5

left_out = 0
"""Combinations that held a complex number."""


def scalar_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < 1e-6 or abs(a - b) < 1e-6 * abs(a + b))


def check_equivalent(x: Any, y: Any) -> None:
    """Check that two nested values are alike in structure and in numbers."""
    (xs, _), (ys, _) = flatten(x), flatten(y)
    assert len(xs) == len(ys)
    for a, b in zip(xs, ys, strict=True):
        assert np.shape(a) == np.shape(b), (np.shape(a), np.shape(b))
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def check_grads(
    fun: Callable[..., Any],
    argnum: int | Sequence[int] | None = None,
    *,
    modes: Sequence[str] = ("fwd", "rev"),
    order: int = 2,
) -> Callable[..., None]:
    """A function that checks derivatives of `fun` at its arguments, in both modes, to an order."""

    def check(*operands: Any, **params: Any) -> None:
        some = range(len(operands)) if argnum is None else np.atleast_1d(argnum)

        def of_some(x: Any) -> Any:
            placed = dict(zip(some, x, strict=True))
            return fun(*[placed.get(i, each) for i, each in enumerate(operands)], **params)

        _check(of_some, tuple([operands[i] for i in some]), tuple(modes), order)

    return check


def check_jvp(fun: Callable[..., Any], x: Any) -> None:
    _check(fun, x, ("fwd",), 1)


def check_vjp(fun: Callable[..., Any], x: Any) -> None:
    _check(fun, x, ("rev",), 1)


def _check(fun: Callable[[Any], Any], x: Any, modes: Sequence[str], order: int) -> None:
    leaves, tree = flatten(x)
    no_complex(leaves)
    leaves = [np.asarray(leaf, float) for leaf in leaves]
    outs, _ = flatten(fun(unflatten(tree, leaves)))
    no_complex(outs)
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=np.shape(each)) for each in outs]
    along = [rng.normal(size=leaf.shape) for leaf in leaves]

    def number(x: Any) -> Any:
        """A random combination of the results."""
        parts, _ = flatten(fun(x))
        return sum(_dot(w, each) for w, each in zip(weights, parts, strict=True)) + 0.0

    slopes = kept_grad(number)

    def moved(step: float) -> Any:
        return unflatten(tree, [a + step * v for a, v in zip(leaves, along, strict=True)])

    point, direction = unflatten(tree, leaves), unflatten(tree, along)
    slope = (number(moved(STEP)) - number(moved(-STEP))) / (2 * STEP)
    scale = 1 + abs(slope) + abs(number(point))
    if "rev" in modes:
        found, _ = flatten(slopes(point))
        for each, leaf in zip(found, leaves, strict=True):
            assert np.shape(each) == leaf.shape, f"{np.shape(each)} for {leaf.shape}"
        total = sum(_dot(v, each) for v, each in zip(along, found, strict=True))
        assert abs(total - slope) < TOLERANCE * scale, f"reverse: {total}, by differences {slope}"
    if "fwd" in modes:
        total = make_jvp(number)(point)(direction)[1]
        assert abs(total - slope) < TOLERANCE * scale, f"forward: {total}, by differences {slope}"
    if order > 1:
        _check(slopes, x, modes, order - 1)


def _dot(a: Any, b: Any) -> Any:
    return np.sum(a * (b if is_symbol(b) else np.asarray(b, float)))


def combo_check(
    fun: Callable[..., Any],
    argnums: Sequence[int] | None = None,
    *,
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
) -> Callable[..., None]:
    """A function that checks `fun` at each combination of arguments and of keywords."""

    def check(*choices: Sequence[Any], **named: Sequence[Any]) -> None:
        global left_out
        real = 0
        some = range(len(choices)) if argnums is None else argnums
        for operands in itertools.product(*choices):
            for values in itertools.product(*named.values()):
                params = dict(zip(named, values, strict=True))

                def of_some(x: Any, operands: Any = operands, params: Any = params) -> Any:
                    placed = dict(zip(some, x, strict=True))
                    return fun(*[placed.get(i, e) for i, e in enumerate(operands)], **params)

                try:
                    no_complex(flatten(operands)[0])
                except ComplexNumber:
                    left_out += 1
                    continue
                real += 1
                _check(of_some, tuple([operands[i] for i in some]), tuple(modes), order)
        if not real:
            raise ComplexNumber("each combination holds a complex number")

    return check
