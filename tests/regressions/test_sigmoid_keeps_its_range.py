"""The sigmoid of a number below -709.8 is a subnormal number, on NumPy and in machine code.

SciPy's `expit` is 0 there, for 1 / (1 + exp(-x)) overflows. Times a huge number it has no digit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.rewriting.packs import every_rule
from symgraph.verification.verifier import verify_rule

BACKENDS = ["numpy", "native"]
ENDS = {"float64": (-746.0, 40.0), "float32": (-104.5, 20.0)}
SHAPES: list[Any] = [(24,), (600,), ("n",)]


def _exact(x: Any) -> Any:
    grown = mpmath.exp(mpmath.mpf(float(x)))
    return grown / (1 + grown)


def _ulps(found: Any, exact: list[Any], dtype: str) -> float:
    units = [np.spacing(np.array(float(each)).astype(dtype)) for each in exact]
    pairs = zip(found, exact, units, strict=True)
    return max(float(abs(mpmath.mpf(float(y)) - want) / float(unit)) for y, want, unit in pairs)


def _lowered(f: Callable[[Any], Any], shape: Any, dtype: str, backend: str) -> Callable[..., Any]:
    if backend == "native":
        pytest.importorskip("llvmlite", reason="the native extra is not installed")
    return sg.trace(f, x=sg.spec(shape, dtype)).lower(backend)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ENDS)
def test_digits_over_the_whole_range(dtype: str, shape: Any, backend: str) -> None:
    low, high = ENDS[dtype]
    count = 24 if shape == (24,) else 600
    x = np.linspace(low, high, count).astype(dtype)
    found = _lowered(snp.sigmoid, shape, dtype, backend)(x)
    with mpmath.workdps(40):
        assert _ulps(found, [_exact(each) for each in x], dtype) <= 2.6


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ENDS)
def test_ends_and_what_is_no_number(dtype: str, backend: str) -> None:
    largest = float(np.finfo(dtype).max)
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, largest, -largest, 40.0, 41.0], dtype)
    found = _lowered(snp.sigmoid, x.shape, dtype, backend)(x)
    np.testing.assert_array_equal(found, np.array([np.nan, 1, 0, 0.5, 0.5, 1, 0, 1, 1], dtype))
    assert not np.any(np.signbit(found[1:]))


@pytest.mark.parametrize("dtype", ENDS)
def test_each_size_gives_the_same_bits(dtype: str) -> None:
    x = np.random.default_rng(0).uniform(*ENDS[dtype], 600).astype(dtype)
    many = _lowered(snp.sigmoid, ("n",), dtype, "numpy")(x)
    few = _lowered(snp.sigmoid, (24,), dtype, "numpy")
    parts = [few(x[start : start + 24]) for start in range(0, 600, 24)]
    np.testing.assert_array_equal(np.concatenate(parts), many)
    np.testing.assert_array_equal(sg.trace(snp.sigmoid, x=sg.spec("n", dtype)).evaluate(x=x), many)


def test_a_number_alone() -> None:
    """A program on Python's floats, which takes `exp` from the C library."""
    f = _lowered(snp.sigmoid, (), "float64", "numpy")
    x = [-745.0, -740.3, -709.9, -700.0, -37.2, -1.0, 0.0, 1e-9, 3.0, 36.7, 40.0, 1e308, np.inf]
    with mpmath.workdps(40):
        assert _ulps([float(f(each)) for each in x], [*map(_exact, x[:-1]), 1.0], "float64") <= 2.6
    assert np.isnan(f(np.nan))
    assert float(f(-np.inf)) == 0


@pytest.mark.parametrize("c", [1e300, -1e300])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_number_is_lost_in_a_product(c: float, shape: Any) -> None:
    x = np.linspace(-720.0, -705.0, 24 if shape == (24,) else 600)
    graph = sg.trace(lambda x: c * snp.sigmoid(x), x=sg.spec(shape))
    want = c * np.exp(x)
    for found in (graph.evaluate(x=x), graph.lower()(x), graph.simplify().lower()(x)):
        np.testing.assert_allclose(found, want, rtol=1e-14)


@pytest.mark.sampled(one_in=6, each="name")
@pytest.mark.parametrize("seed", [2, 3, 5])
@pytest.mark.parametrize(
    "name", ["exp_over_positive_plus_exp", "exp_times_quotient_by_positive_plus_exp"]
)
def test_quotients_of_exps_keep_digits_and_range(name: str, seed: int) -> None:
    """The logarithm of a huge constant has too few digits for an exp of it."""
    rule = next(each for each in every_rule() if each.name == name)
    report = verify_rule(rule, seed=seed, wanted=60, attempts=1500)
    assert report.ok, "\n".join(report.failures)
