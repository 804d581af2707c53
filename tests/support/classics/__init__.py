r"""Test functions of unconstrained minimisation, from their published definitions.

Jorge J. Moré, Burton S. Garbow and Kenneth E. Hillstrom, "Testing Unconstrained Optimization
Software", ACM Transactions on Mathematical Software 7 (1981) 17-41. Each is a sum of squares
$f(x) = \sum_i f_i(x)^2$ with a standard starting point and known minima; numbers in parentheses are
the paper's. In (11) the paper prints $|y_i m i x_2|$ for $|y_i - x_2|$; the latter is meant, for it
alone has the minimum 0 at (50, 25, 1.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "Classic"]


@dataclass(frozen=True)
class Classic:
    """A function by its residuals, where to start, and what minima are known."""

    name: str
    residuals: Callable[[Any], Any]
    start: tuple[float, ...]
    minima: tuple[float, ...]
    at: tuple[float, ...] | None = None

    def __str__(self) -> str:
        return self.name

    def value(self, x: Any) -> Any:
        return np.sum(self.residuals(x) ** 2)


def _numbers(text: str) -> np.ndarray:
    return np.array(text.split(), float)


def rosenbrock(x):  # (1)
    return np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def freudenstein_roth(x):  # (2)
    return np.stack(
        [
            -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1],
            -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1],
        ]
    )


def powell_badly_scaled(x):  # (3)
    return np.stack([1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001])


def brown_badly_scaled(x):  # (4)
    return np.stack([x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2])


def beale(x):  # (5)
    return np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** np.arange(1.0, 4.0))


def jennrich_sampson(x):  # (6)
    i = np.arange(1.0, 11.0)
    return 2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))


def helical_valley(x):  # (7)
    turn = np.arctan(x[1] / x[0]) / (2 * np.pi) + np.where(x[0] > 0, 0.0, 0.5)
    return np.stack([10 * (x[2] - 10 * turn), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]])


BARD = _numbers("0.14 0.18 0.22 0.25 0.29 0.32 0.35 0.39 0.37 0.58 0.73 0.96 1.34 2.10 4.39")


def bard(x):  # (8)
    u = np.arange(1.0, 16.0)
    v = 16 - u
    return BARD - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


GAUSSIAN = np.array([0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989])


def gaussian(x):  # (9)
    t = (8 - np.arange(1.0, 16.0)) / 2
    y = np.concatenate([GAUSSIAN, GAUSSIAN[-2::-1]])
    return x[0] * np.exp(-x[1] * (t - x[2]) ** 2 / 2) - y


MEYER = _numbers(
    "34780.0 28610 23650 19630 16370 13720 11540 9744 8261.0 7030 6005 5147 4427 3820 3307 2872"
)


def meyer(x):  # (10)
    return x[0] * np.exp(x[1] / (45 + 5 * np.arange(1.0, 17.0) + x[2])) - MEYER


def gulf(x):  # (11)
    t = np.arange(1.0, 100.0) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    # √(·²) for |·|, which has a complex step.
    return np.exp(-(np.sqrt((y - x[1]) ** 2) ** x[2]) / x[0]) - t


def box(x):  # (12)
    t = np.arange(1.0, 11.0) / 10
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x):  # (13)
    return np.stack(
        [
            x[0] + 10 * x[1],
            np.sqrt(5.0) * (x[2] - x[3]),
            (x[1] - 2 * x[2]) ** 2,
            np.sqrt(10.0) * (x[0] - x[3]) ** 2,
        ]
    )


def wood(x):  # (14)
    return np.stack(
        [
            10 * (x[1] - x[0] ** 2),
            1 - x[0],
            np.sqrt(90.0) * (x[3] - x[2] ** 2),
            1 - x[2],
            np.sqrt(10.0) * (x[1] + x[3] - 2),
            (x[1] - x[3]) / np.sqrt(10.0),
        ]
    )


KOWALIK_Y = _numbers("0.1957 0.1947 0.1735 0.1600 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246")
KOWALIK_U = np.array([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])


def kowalik_osborne(x):  # (15)
    u = KOWALIK_U
    return KOWALIK_Y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])


def brown_dennis(x):  # (16)
    t = np.arange(1.0, 21.0) / 5
    first, second = x[0] + t * x[1] - np.exp(t), x[2] + x[3] * np.sin(t) - np.cos(t)
    return first**2 + second**2


OSBORNE = _numbers(
    "0.844 0.908 0.932 0.936 0.925 0.908 0.881 0.850 0.818 0.784 0.751 0.718 0.685 0.658 "
    "0.628 0.603 0.580 0.558 0.538 0.522 0.506 0.490 0.478 0.467 0.457 0.448 0.438 0.431 "
    "0.424 0.420 0.414 0.411 0.406"
)


def osborne(x):  # (17)
    t = 10 * np.arange(33.0)
    return OSBORNE - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def biggs(x):  # (18)
    t = np.arange(1.0, 14.0) / 10
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y


def watson(x):  # (20), n = 6
    t = np.arange(1.0, 30.0)[:, None] / 29
    j = np.arange(6.0)
    # j t^(j - 1), without 0 · t^-1 for j = 0
    slopes = np.concatenate([np.zeros((29, 1)), j[1:] * t ** (j[1:] - 1)], axis=1)
    rows = slopes @ x - (t**j @ x) ** 2 - 1
    return np.concatenate([rows, np.stack([x[0], x[1] - x[0] ** 2 - 1])])


def extended_rosenbrock(x):  # (21)
    return np.concatenate([10 * (x[1::2] - x[::2] ** 2), 1 - x[::2]])


def extended_powell(x):  # (22)
    a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
    return np.concatenate(
        [a + 10 * b, np.sqrt(5.0) * (c - d), (b - 2 * c) ** 2, np.sqrt(10.0) * (a - d) ** 2]
    )


def penalty_one(x):  # (23)
    return np.concatenate([np.sqrt(1e-5) * (x - 1), np.stack([np.sum(x**2) - 0.25])])


def variably_dimensioned(x):  # (25)
    weighted = np.sum(np.arange(1.0, len(x) + 1) * (x - 1))
    return np.concatenate([x - 1, np.stack([weighted, weighted**2])])


def trigonometric(x):  # (26)
    i = np.arange(1.0, len(x) + 1)
    return len(x) - np.sum(np.cos(x)) + i * (1 - np.cos(x)) - np.sin(x)


def discrete_boundary_value(x):  # (28)
    n = len(x)
    h = 1 / (n + 1)
    t = h * np.arange(1.0, n + 1)
    zero = np.zeros(1)
    before, behind = np.concatenate([zero, x[:-1]]), np.concatenate([x[1:], zero])
    return 2 * x - before - behind + h**2 * (x + t + 1) ** 3 / 2


def broyden_tridiagonal(x):  # (30)
    zero = np.zeros(1)
    before, behind = np.concatenate([zero, x[:-1]]), np.concatenate([x[1:], zero])
    return (3 - 2 * x) * x - before - 2 * behind + 1


def linear_full_rank(x):  # (32), m = 12
    total = 2 * np.sum(x) / 12
    return np.concatenate([x - total - 1, -total * np.ones(7) - 1])


_BOUNDARY = tuple(t * (t - 1) for t in (i / 11 for i in range(1, 11)))

FUNCTIONS: tuple[Classic, ...] = (
    Classic("rosenbrock", rosenbrock, (-1.2, 1), (0,), (1, 1)),
    Classic("freudenstein_roth", freudenstein_roth, (0.5, -2), (0, 48.98425), (5, 4)),
    Classic("powell_badly_scaled", powell_badly_scaled, (0, 1), (0,)),
    Classic("brown_badly_scaled", brown_badly_scaled, (1, 1), (0,), (1e6, 2e-6)),
    Classic("beale", beale, (1, 1), (0,), (3, 0.5)),
    Classic("jennrich_sampson", jennrich_sampson, (0.3, 0.4), (124.362,)),
    Classic("helical_valley", helical_valley, (-1, 0, 0), (0,), (1, 0, 0)),
    Classic("bard", bard, (1, 1, 1), (8.21487e-3, 17.4286)),
    Classic("gaussian", gaussian, (0.4, 1, 0), (1.12793e-8,)),
    Classic("meyer", meyer, (0.02, 4000, 250), (87.9458,)),
    Classic("gulf", gulf, (5, 2.5, 0.15), (0,), (50, 25, 1.5)),
    Classic("box", box, (0, 10, 20), (0,), (1, 10, 1)),
    Classic("powell_singular", powell_singular, (3, -1, 0, 1), (0,), (0, 0, 0, 0)),
    Classic("wood", wood, (-3, -1, -3, -1), (0,), (1, 1, 1, 1)),
    Classic("kowalik_osborne", kowalik_osborne, (0.25, 0.39, 0.415, 0.39), (3.07505e-4,)),
    Classic("brown_dennis", brown_dennis, (25, 5, -5, -1), (85822.2,)),
    Classic("osborne", osborne, (0.5, 1.5, -1, 0.01, 0.02), (5.46489e-5,)),
    Classic("biggs", biggs, (1, 2, 1, 1, 1, 1), (5.65565e-3, 0), (1, 10, 1, 5, 4, 3)),
    Classic("watson", watson, (0,) * 6, (2.28767e-3,)),
    Classic("extended_rosenbrock", extended_rosenbrock, (-1.2, 1) * 4, (0,), (1,) * 8),
    Classic("extended_powell", extended_powell, (3, -1, 0, 1) * 2, (0,), (0,) * 8),
    Classic("penalty_one", penalty_one, (1, 2, 3, 4), (2.24997e-5,)),
    Classic("variably_dimensioned", variably_dimensioned, (0.8, 0.6, 0.4, 0.2, 0), (0,), (1,) * 5),
    Classic("trigonometric", trigonometric, (0.2,) * 5, (0,), (0,) * 5),
    Classic("discrete_boundary_value", discrete_boundary_value, _BOUNDARY, (0,)),
    Classic("broyden_tridiagonal", broyden_tridiagonal, (-1,) * 8, (0,)),
    Classic("linear_full_rank", linear_full_rank, (1,) * 5, (7,), (-1,) * 5),
)
