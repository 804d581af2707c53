"""Fits the polynomials of the native backend's elementary functions; writes `coefficients.py`.

    python tests/support/fit_functions.py [--check]

Each polynomial is the minimax fit of a function of one variable on an interval, found by Remez's
exchange in 60 digits, for a weight that makes the error relative to the result. It prints the
largest error of each before its coefficients are rounded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
TARGET = Path(__file__).parents[2] / "symgraph" / "native" / "coefficients.py"
HEAD = '''"""Coefficients, lowest power first, made by `tests/support/fit_functions.py`."""

from __future__ import annotations

__all__ = ["COEFFICIENTS"]

COEFFICIENTS: dict[str, tuple[str, ...]] = {
'''


@dataclass(frozen=True)
class Fit:
    """A function on an interval, the weight of its error, and the degrees for both precisions."""

    function: Callable[[mp.mpf], mp.mpf]
    weight: Callable[[mp.mpf], mp.mpf]
    low: mp.mpf
    high: mp.mpf
    degrees: tuple[int, int]


def taylor(function: Callable[[mp.mpf], mp.mpf], at: mp.mpf, limit: mp.mpf) -> mp.mpf:
    """The function, or its limit at zero, where its formula is 0 / 0."""
    return limit if abs(at) < mp.mpf(10) ** -18 else function(at)


def exp_rest(r: mp.mpf) -> mp.mpf:
    """(exp(r) - 1 - r) / r^2."""
    return taylor(lambda r: (mp.expm1(r) - r) / r**2, r, mp.mpf(1) / 2)


def log_rest(z: mp.mpf) -> mp.mpf:
    """(2 atanh(s) - 2 s) / s^3 with s^2 = z."""
    return taylor(lambda z: 2 * (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, z, mp.mpf(2) / 3)


def sin_rest(z: mp.mpf) -> mp.mpf:
    """(sin(x) - x) / x^3 with x^2 = z."""
    return taylor(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, z, -mp.mpf(1) / 6)


def cos_rest(z: mp.mpf) -> mp.mpf:
    """(cos(x) - 1 + x^2 / 2) / x^4 with x^2 = z."""
    return taylor(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, z, mp.mpf(1) / 24)


def erf_rest(z: mp.mpf) -> mp.mpf:
    """erf(x) / x - 1 with x^2 = z."""
    at_zero = 2 / mp.sqrt(mp.pi) - 1
    return taylor(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, z, at_zero)


ERF_SPLIT, ERF_SHIFT = mp.mpf(1), mp.mpf("2.25")


def erfc_of(u: mp.mpf) -> mp.mpf:
    """exp(x^2) erfc(x) with u = (x - shift) / (x + shift)."""
    x = ERF_SHIFT * (1 + u) / (1 - u)
    return mp.exp(x**2) * mp.erfc(x)


def mapped(x: mp.mpf) -> mp.mpf:
    """The variable in which erfc is a polynomial."""
    return (x - ERF_SHIFT) / (x + ERF_SHIFT)


def weight_of_erfc(u: mp.mpf) -> mp.mpf:
    """erfc is taken from one, so its error counts as much as it is large."""
    x = ERF_SHIFT * (1 + u) / (1 - u)
    return mp.exp(-(x**2))


TAIL_SHIFT, TAIL_START, TAIL_END = mp.mpf(3), mp.mpf("0.5"), mp.mpf(28)


def tail_of(u: mp.mpf) -> mp.mpf:
    """(1 + 2 x) exp(x^2) erfc(x), between 1 and 1.3, with u = (x - shift) / (x + shift)."""
    x = TAIL_SHIFT * (1 + u) / (1 - u)
    return (1 + 2 * x) * mp.exp(x**2) * mp.erfc(x)


TAIL_ENDS = [(x - TAIL_SHIFT) / (x + TAIL_SHIFT) for x in (TAIL_START, TAIL_END)]
HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.001")
LOG_END = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001")
QUARTER = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
ZERO = mp.mpf(0)

FITS = {
    "exp": Fit(exp_rest, lambda r: r**2 + mp.mpf("1e-3"), -HALF_LN2, HALF_LN2, (9, 4)),
    "expm1": Fit(exp_rest, lambda r: abs(r) + mp.mpf("1e-3"), -HALF_LN2, HALF_LN2, (10, 5)),
    "log": Fit(log_rest, lambda z: z, ZERO, LOG_END, (6, 2)),
    "sin": Fit(sin_rest, lambda z: z, ZERO, QUARTER, (5, 2)),
    "cos": Fit(cos_rest, lambda z: z**2, ZERO, QUARTER, (5, 2)),
    "erf": Fit(erf_rest, lambda z: 1, ZERO, ERF_SPLIT**2, (12, 7)),
    "erfc": Fit(erfc_of, weight_of_erfc, mapped(ERF_SPLIT), mapped(mp.mpf(6)), (12, 5)),
    "tail": Fit(tail_of, lambda u: 1, *TAIL_ENDS, (21, 9)),
}


def remez(fit: Fit, degree: int) -> tuple[list[mp.mpf], mp.mpf]:
    """The polynomial of least weighted error, and this error."""
    count = degree + 2
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    points = [middle - half * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]
    # The weight may vanish at an end: points stand a little inside.
    points = [middle + (x - middle) * mp.mpf("0.9999") for x in points]
    grid = [middle - half * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / 1500) for k in range(1500)]
    values = [(x, fit.function(x), fit.weight(x)) for x in grid]
    coefficients: list[mp.mpf] = []
    worst = mp.mpf(0)
    for _ in range(12):
        rows = [
            [*[x**k for k in range(degree + 1)], (-1) ** i / fit.weight(x)]
            for i, x in enumerate(points)
        ]
        found = mp.lu_solve(mp.matrix(rows), mp.matrix([fit.function(x) for x in points]))
        coefficients, level = list(found)[:-1], abs(found[degree + 1])
        errors = [(x, (mp.polyval(coefficients[::-1], x) - f) * w) for x, f, w in values]
        worst = max(abs(error) for _, error in errors)
        if worst < level * mp.mpf("1.02"):
            break
        points = _extrema(errors, count)
    return coefficients, worst


def _extrema(errors: list[tuple[mp.mpf, mp.mpf]], count: int) -> list[mp.mpf]:
    """The largest error of each run of one sign; the largest runs if there are too many."""
    runs: list[tuple[mp.mpf, mp.mpf]] = []
    for x, error in errors:
        if runs and (runs[-1][1] > 0) == (error > 0):
            if abs(error) > abs(runs[-1][1]):
                runs[-1] = (x, error)
        else:
            runs.append((x, error))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    if len(runs) < count:
        raise ArithmeticError("the error does not alternate often enough")
    return [x for x, _ in runs]


def text() -> str:
    """The module of all coefficients."""
    lines = [HEAD]
    for name, fit in FITS.items():
        for bits, degree in zip((64, 32), fit.degrees, strict=True):
            coefficients, worst = remez(fit, degree)
            print(f"{name}{bits}: degree {degree}, error 2^{float(mp.log(worst, 2)):.1f}")
            hexes = [f'        "{float(each).hex()}",\n' for each in coefficients]
            lines.append(f'    "{name}{bits}": (\n{"".join(hexes)}    ),\n')
    return "".join([*lines, "}\n"])


if __name__ == "__main__":
    made = text()
    if "--check" in sys.argv:
        sys.exit(made != TARGET.read_text(encoding="utf-8"))
    TARGET.write_text(made, encoding="utf-8")
