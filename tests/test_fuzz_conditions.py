"""Random conditions take the branch that NumPy takes, but for rounding (docs/decisions.md, 25)."""

from __future__ import annotations

import numpy as np
import pytest
from conditions import Condition, branches, condition, turned

DTYPES = ("float32", "float64", "int8", "uint8", "bool")


def faults(seeds: range) -> list[str]:
    """Each element that took a branch which nothing explains."""
    return [
        str(each)
        for seed in seeds
        for dtype in DTYPES
        for each in branches(condition(seed, dtype))
        if each.verdict == "wrong"
    ]


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 60, 5)], ids=str)
def test_random_conditions_take_the_same_branch(seeds: range) -> None:
    assert not faults(seeds)


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(1000, 5000, 100)], ids=str)
def test_many_random_conditions_take_the_same_branch(seeds: range) -> None:
    assert not faults(seeds)


# -- the judge itself ------------------------------------------------------------------------------
VERDICTS: dict[str, tuple[tuple[str, str, str], float, float, bool, str]] = {
    "a branch for no reason": (("x", ">", "y"), 2.0, 1.0, False, "wrong"),
    "a tie": (("x*y/y", ">=", "x"), 3.0, 7.0, False, "near"),
    "what cancelled": (("((y + x) - x)", ">", "0"), 1e10, 1e-3, True, "near"),
    "what overflowed": (("np.log(np.exp(x))", "<", "1000"), 800.0, 0.0, True, "mended"),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_judge_tells(name: str) -> None:
    (left, sign, right), x, y, found, verdict = VERDICTS[name]
    of = Condition(0, "float32", f"({left} {sign} {right})", ((left, right),))
    at = {"x": np.array([x], "float32"), "y": np.array([y], "float32")}
    assert turned(of, at, 0, not found, found).verdict == verdict
