r"""Voigt's profile and its derivatives in x, in NumPy.

With $\zeta = x + i \gamma$ and $z = \zeta / (\sigma \sqrt 2)$ the profile is the real part of
$v(\zeta) = w(z) / (\sigma \sqrt{2 \pi})$ (DLMF 7.19), with Faddeeva's function
$w(z) = e^{-z^2} \operatorname{erfc}(-i z)$.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["source", "voigt"]

_FAR = 7.0
"""The size of z from which the series has all digits."""
_TERMS = 32
_ON_AXIS = 0.5
"""The imaginary part of z up to which the Gauss function is there beside the series, once, though
it fades out: it is less than its rounding elsewhere. Below the axis it is there twice."""


def voigt(x: Any, sigma: Any, gamma: Any, *, order: int, imaginary: bool) -> Any:
    """The real or the imaginary part of the derivative of v of some order.

    NaN for a negative sigma. Near the origin the recurrence of w's derivatives (DLMF 7.10.3) loses
    digits: errors of either part are up to 1e-11 of the first derivative, 1e-10 of the second, and
    a part of a hundred more for each further one.
    """
    dtype = np.result_type(x, sigma, gamma)
    x, sigma, gamma = (np.asarray(each, np.float64) for each in (x, sigma, gamma))
    with np.errstate(all="ignore"):
        if not order and not imaginary:
            found = _special().voigt_profile(x, sigma, gamma)
        else:
            zeta = x + 1j * gamma
            near = np.abs(zeta) < _FAR * np.sqrt(2) * sigma
            found = np.where(
                near,
                _near(np.where(near, zeta, 1), np.where(near, sigma, 1), order),
                _far(np.where(near, 1, zeta), np.where(near, 0, sigma), order),
            )
            found = found.imag if imaginary else found.real
            found = np.where(np.isinf(x) | np.isinf(gamma) | np.isinf(sigma), 0.0, found)
        bad = np.isnan(x) | np.isnan(sigma) | np.isnan(gamma) | (sigma < 0)
        return np.where(bad, np.nan, found).astype(dtype)


def _special() -> Any:
    return import_module("scipy.special")


def _near(zeta: Any, sigma: Any, order: int) -> Any:
    """By w'' + 2 z w' + 2 w = 0, differentiated."""
    width = np.sqrt(2) * sigma
    z = zeta / width
    before, found = 2j / np.sqrt(np.pi), _special().wofz(z)
    for k in range(order):
        before, found = found, -2 * z * found + (before if k == 0 else -2 * k * before)
    return found / (width ** (order + 1) * np.sqrt(np.pi))


def _far(zeta: Any, sigma: Any, order: int) -> Any:
    r"""By $\frac i\pi \sum_k (2 k - 1)!!\, \sigma^{2 k} / \zeta^{2 k + 1}$ (DLMF 7.12.1)."""
    u = (sigma / zeta) ** 2
    coefficients = [1.0]
    for k in range(1, _TERMS):
        coefficients.append(coefficients[-1] * (2 * k - 1))
    total = 0j
    for k in range(_TERMS - 1, -1, -1):
        rising = np.prod(np.arange(2 * k + 1.0, 2 * k + 1.0 + order))
        total = total * u + coefficients[k] * rising
    series = 1j / np.pi * (-1) ** order * total / zeta ** (order + 1)
    return series + _gauss(zeta, sigma, order)


def _gauss(zeta: Any, sigma: Any, order: int) -> Any:
    """What e^(-z²) adds to the series: nothing above the axis, where it is too small to be seen."""
    width = np.sqrt(2) * np.where(sigma > 0, sigma, 1)
    z = zeta / width
    height = z.imag
    seen = (sigma > 0) & (height < _ON_AXIS) & (np.abs(z.real) < 1e3)
    z = np.where(seen, z, 0)
    before, hermite = 0 * z, 1 + 0 * z
    for k in range(order):
        before, hermite = hermite, -2 * (z * hermite + k * before)
    bell = np.exp(-z * z) * hermite / (width ** (order + 1) * np.sqrt(np.pi))
    return np.where(seen, np.where(height < -_ON_AXIS, 2, 1) * bell, 0)


# -- as source -------------------------------------------------------------------------------------
@cache
def source() -> str:
    """A function of NumPy and the operands, with all that it needs inside."""
    kept: list[str] = ["from importlib import import_module"]
    for each in ast.parse(inspect.getsource(sys.modules[__name__])).body:
        if isinstance(each, ast.Assign) and not ast.unparse(each).startswith("__all__"):
            kept.append(ast.unparse(each))
        if isinstance(each, ast.FunctionDef) and each.name != "source":
            each.body = each.body[1 if ast.get_docstring(each) else 0 :]
            each.returns = None
            for argument in (*each.args.args, *each.args.kwonlyargs):
                argument.annotation = None
            kept.append(ast.unparse(each))
    head = "\ndef voigt(np, x, sigma, gamma, order, imaginary):\n"
    call = "return voigt(x, sigma, gamma, order=order, imaginary=imaginary)\n"
    return head + textwrap.indent("\n".join([*kept, call]), "    ")
