"""The elementary functions of the loops: a unit in the last place, and NumPy's special values."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import symgraph as sg
from symgraph.scipy import special as symbolic

pytest.importorskip("llvmlite", reason="the native extra is not installed")

from symgraph.backends.native import BACKEND

pytestmark = pytest.mark.oracle

ROOT = Path(__file__).resolve().parents[3]


def mp_sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def mp_erfc(x: Any) -> Any:
    # Beyond 100 it is far below the least number, and its exponent too long for a float.
    return mpmath.erfc(x) if x < 100 else mpmath.mpf(0)


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], float]] = {
    "exp": (np.exp, np.exp, mpmath.exp, 1.0),
    "expm1": (np.expm1, np.expm1, mpmath.expm1, 1.0),
    "log": (np.log, np.log, mpmath.log, 1.0),
    "log1p": (np.log1p, np.log1p, mpmath.log1p, 1.0),
    "tanh": (np.tanh, np.tanh, mpmath.tanh, 1.0),
    "sin": (np.sin, np.sin, mpmath.sin, 1.0),
    "cos": (np.cos, np.cos, mpmath.cos, 1.0),
    "erf": (symbolic.erf, special.erf, mpmath.erf, 1.0),
    "erfc": (symbolic.erfc, special.erfc, mp_erfc, 4.0),
    "ndtr": (symbolic.ndtr, special.ndtr, lambda x: mp_erfc(-x / mpmath.sqrt(2)) / 2, 4.0),
    "sigmoid": (symbolic.expit, special.expit, mp_sigmoid, 2.5),
}
"""Our function, NumPy's, the exact one, and how many units it may be off."""


def native(function: Callable[[Any], Any], dtype: str) -> Callable[[Any], Any]:
    """The function as a loop; a second result makes it worth a loop."""
    graph = sg.trace(lambda x: (function(x), -x), x=sg.spec("n", dtype))
    lowered = graph.lower(backend=BACKEND)
    assert "n0(" in lowered.source
    return lambda x: lowered(x)[0]


def arguments(name: str, dtype: str, count: int) -> np.ndarray[Any, Any]:
    """Arguments of every size: ordinary, close to zero, of every exponent, and near the ends."""
    rng = np.random.default_rng(7)
    bits = "int64" if dtype == "float64" else "int32"
    every = rng.integers(0, np.iinfo(bits).max, count, bits).view(dtype)
    parts = [
        rng.normal(size=count),
        rng.normal(size=count) * 1e-3,
        rng.uniform(-6, 6, count),
        rng.uniform(-746, 711, count) if dtype == "float64" else rng.uniform(-105, 90, count),
        1 + rng.normal(size=count) * 1e-5,
        rng.integers(-(10**8), 10**8, count) * (np.pi / 2),
        [np.finfo(dtype).smallest_subnormal, np.finfo(dtype).tiny, 3e-310, 1e-40],
        every,
        -every,
    ]
    with np.errstate(over="ignore"):
        x = np.concatenate([np.asarray(each).astype(dtype) for each in parts])
    x = x[np.isfinite(x)]
    if name == "log":
        return np.abs(x)
    return x[x > -1] if name == "log1p" else x


def ulps(got: np.ndarray[Any, Any], exact: list[Any], dtype: str) -> np.ndarray[Any, Any]:
    """How far results are from exact numbers, in units of the last place; 0 beyond the range."""
    found: list[float] = []
    largest = mpmath.mpf(float(np.finfo(dtype).max))
    for value, want in zip(got, exact, strict=True):
        if abs(want) > largest or not np.isfinite(value):
            rounded = abs(want) > largest * (1 - mpmath.mpf(2) ** -25)
            found.append(0.0 if rounded and abs(value) >= float(largest) else np.inf)
            continue
        unit = np.spacing(np.abs(np.array(float(want)).astype(dtype)))
        found.append(float(abs(mpmath.mpf(float(value)) - want) / mpmath.mpf(float(unit))))
    return np.array(found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_unit_in_the_last_place(name: str, dtype: str) -> None:
    function, _, exact, most = CASES[name]
    x = arguments(name, dtype, 250)
    got = native(function, dtype)(x)
    with mpmath.workdps(60):
        # Sines of huge numbers need all their digits.
        with mpmath.workprec(1300 if name in ("sin", "cos") else 260):
            want = [exact(mpmath.mpf(float(each))) for each in x]
        apart = ulps(got, want, dtype)
    worst = int(np.argmax(apart))
    assert apart[worst] <= most, (x[worst], got[worst])


@pytest.mark.parametrize("name", CASES)
def test_many_numbers_of_single_precision(name: str) -> None:
    function, reference, _, most = CASES[name]
    x = arguments(name, "float32", 60_000)
    x = x[np.abs(x) < 1e5] if name in ("sin", "cos") else x
    got = native(function, "float32")(x).astype(float)
    with np.errstate(all="ignore"):
        want = reference(x.astype(float))
        rounded = want.astype(np.float32)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    apart = np.abs(got[finite] - want[finite]) / np.spacing(np.abs(rounded[finite])).astype(float)
    assert np.max(apart) <= most


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_special_values_are_numpys(name: str, dtype: str) -> None:
    function, reference, _, _ = CASES[name]
    given = [0.0, -0.0, 1.0, -1.0, -1.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-310, 800, -800]
    with np.errstate(all="ignore"):
        x = np.array(given, dtype)
        want = reference(x)
    got = native(function, dtype)(x)
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype).eps)
    signed = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[signed]), np.signbit(want[signed]))


def test_log_add_exp_of_special_values() -> None:
    ends = np.array([0.0, -0.0, 1.5, -700.0, 700.0, np.inf, -np.inf, np.nan])
    x, y = [each.ravel() for each in np.meshgrid(ends, ends)]
    graph = sg.trace(
        lambda x, y: (np.logaddexp(x, y), np.logaddexp(x * 0, y)),
        x=sg.spec("n"),
        y=sg.spec("n"),
    )
    got = graph.lower(backend=BACKEND)(x, y)
    with np.errstate(all="ignore"):
        want = np.logaddexp(x, y), np.logaddexp(x * 0, y)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_the_coefficients_are_those_of_the_script() -> None:
    script = ROOT / "tests" / "support" / "fit_functions.py"
    subprocess.run([sys.executable, script, "--check"], check=True, capture_output=True)
