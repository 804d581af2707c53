"""Random conditions: one or two comparisons of small expressions of x and y.

Its seed and dtype alone determine a condition and the numbers at which it is tried. These are
integers, at which most arithmetic is exact and ties are common; numbers a few units of rounding
apart; and zeros, tiny and huge numbers.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["COUNT", "Condition", "condition", "numbers"]

COUNT = 240
"""The number of elements of each input."""

_LEAVES = ("x", "x", "x", "y", "y", "y", "1", "2", "3", "0.5")
_ONE = (
    *("-{0}", "abs({0})", "{0}*{0}", "{0}**2", "{0} + 1", "{0} - 1", "2*{0}", "{0}*3", "1 - {0}"),
    *("np.maximum({0}, 0)", "np.minimum({0}, 1)", "np.sign({0})", "np.abs({0})"),
)
_ONE_OF_FLOATS = (
    *("np.exp({0})", "np.log({0})", "np.sqrt({0})", "np.tanh({0})", "1/{0}", "{0}/3", "{0}*0.1"),
    *("np.exp(-{0})", "np.log1p({0})", "np.expm1({0})", "{0}**3", "np.sqrt({0}*{0})"),
    "np.power({0}, 0.5)",
    *("np.floor({0})", "np.log(np.exp({0}))", "np.exp(np.log({0}))", "1/(1 + np.exp(-{0}))"),
    *("np.cosh({0})", "{0}**-2", "np.exp(-{0}**2)", "np.log(1 + np.exp({0}))"),
)
_TWO = (
    *("{0} + {1}", "{0} - {1}", "{0}*{1}", "({1} + {0}) - {0}", "{0} + {1} - {1}"),
    *("np.maximum({0}, {1})", "np.minimum({0}, {1})", "({0} - {1})*({0} + {1})", "{0}*{1} - {1}"),
    *("np.where({0} > {1}, {0}, {1})", "np.where({0} < 0, 0, {1})"),
)
_TWO_OF_FLOATS = (
    *("{0}/{1}", "{0}*{1}/{1}", "{0}/{1}*{1}", "{0}/{1}/{1}", "np.hypot({0}, {1})"),
    *("np.exp({0})*np.exp({1})", "np.exp({0})/np.exp({1})", "{0}**2 - {1}**2", "{0}/({0} + {1})"),
    *("np.log({0}*{1})", "np.sqrt({0})*np.sqrt({1})", "np.log(np.exp({0}) + np.exp({1}))"),
)
_COMPARISONS = (">", ">=", "<", "<=", "==", "!=")


@dataclass(frozen=True)
class Condition:
    """A Boolean function of x and y, and the sides that it compares.

    Parameters
    ----------
    text : str
        The condition.
    sides : tuple of (str, str)
        The two sides of each comparison.
    """

    seed: int
    dtype: str
    text: str
    sides: tuple[tuple[str, str], ...]

    @property
    def function(self) -> Callable[[Any, Any], Any]:
        """The condition as a function of x and y."""
        return _function(self.text)

    @property
    def compared(self) -> Callable[[Any, Any], Any]:
        """All sides as a function of x and y, one comparison after the other."""
        return _function("(" + "".join(f"{a} + 0*x, {b} + 0*x, " for a, b in self.sides) + ")")


def _function(text: str) -> Callable[[Any, Any], Any]:
    return eval(f"lambda x, y: {text}", {"np": np})  # Only texts from this file.


def condition(seed: int, dtype: str) -> Condition:
    """One or two comparisons."""
    rng = random.Random(f"condition {seed} {np.dtype(dtype).kind}")
    while True:
        found = _drawn(rng, seed, dtype)
        # NumPy has no negative power of an integer.
        undefined = ZeroDivisionError, OverflowError, ValueError
        with suppress(*undefined), np.errstate(all="ignore"):
            ones = np.ones(1, dtype)
            if not any(map(np.iscomplexobj, found.compared(ones, ones))):
                return found  # The sides without x and y are real, and defined.


def _drawn(rng: random.Random, seed: int, dtype: str) -> Condition:
    leaves, one, two = _vocabulary(dtype)

    def expression(depth: int) -> str:
        draw = rng.random()
        if depth == 0 or draw < 0.1:
            return rng.choice(leaves)
        if draw < 0.5:
            return "(" + rng.choice(one).format(expression(depth - 1)) + ")"
        return "(" + rng.choice(two).format(expression(depth - 1), expression(depth - 1)) + ")"

    def comparison() -> tuple[str, str, str]:
        left = expression(rng.choice((1, 2, 2, 3)))
        right = rng.choice(("0", "1", "2", "x", "y", left, expression(1), expression(2)))
        if not {"x", "y"} & set(left.replace("exp", "").replace("max", "")):
            left = f"(x + {left})"
        return left, rng.choice(_COMPARISONS), right

    first, second = comparison(), comparison()
    texts = [f"({left} {sign} {right})" for left, sign, right in (first, second)]
    form = rng.choice(("{0}", "{0}", "{0}", "~{0}", "{0} & {1}", "{0} | {1}", "{0} ^ {1}"))
    pairs = tuple((left, right) for left, _, right in (first, second))
    return Condition(seed, dtype, form.format(*texts), pairs if "{1}" in form else pairs[:1])


def _vocabulary(dtype: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Leaves, operations on one operand, and operations on two."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return (
            ("x", "y"),
            ("~{0}", "abs({0})"),
            ("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} + {1}"),
        )
    if kind == "f":
        return _LEAVES, (*_ONE, *_ONE_OF_FLOATS), (*_TWO, *_TWO_OF_FLOATS)
    one, two = _ONE, _TWO
    if kind == "u":  # NumPy refuses -1 there.
        one, two = (tuple(text for text in each if "-" not in text) for each in (one, two))
    return _LEAVES[:-1], one, two


def numbers(of: Condition) -> dict[str, np.ndarray[Any, Any]]:
    """The numbers x and y, the same at every call."""
    rng = np.random.default_rng([of.seed, zlib.crc32(of.dtype.encode())])
    kind, size = np.dtype(of.dtype).kind, COUNT // 6
    if kind == "b":
        return {name: rng.integers(0, 2, COUNT).astype(bool) for name in "xy"}
    if kind in "iu":
        limits = np.iinfo(of.dtype)
        wide = {name: rng.integers(limits.min, limits.max + 1, COUNT // 2) for name in "xy"}
        low = 0 if kind == "u" else -3
        near = {name: rng.integers(low, 4, COUNT - COUNT // 2) for name in "xy"}
        return {n: np.concatenate([wide[n], near[n]]).astype(of.dtype) for n in "xy"}
    limit = 36.0 if of.dtype == "float32" else 300.0
    base = rng.standard_normal(size).astype(of.dtype)
    few = base * (1 + rng.integers(-3, 4, size) * np.finfo(of.dtype).eps)
    found = {}
    for name in "xy":
        parts = [
            rng.integers(-6, 7, size),
            rng.standard_normal(size),
            base if name == "x" else few,
            10 * rng.standard_normal(size),
            rng.choice([-1, 1], size) * 10.0 ** rng.uniform(-limit, limit, size),
            rng.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 100.0, 800.0, -800.0], size),
        ]
        found[name] = np.concatenate(parts).astype(of.dtype)
    return found
