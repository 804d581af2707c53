"""The definition of each operation over mpmath's reals, infinity and NaN, without any kernel.

Infinities are as in IEEE arithmetic; a zero divisor is taken for positive. A division by zero, or
an argument out of mpmath's reach, is noted in `Doubts`: the value may depend on the sign of a zero,
so that it refutes nothing by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp

__all__ = ["ELEMENTWISE", "Doubts", "Unsupported", "guarded"]

_FAR = 1e9
"""No larger argument is given to functions that would take very long."""

_DAWSN_FAR = 24
"""Beyond it exp(-x**2) is less than 800 binary digits can tell; millions of digits take minutes."""

_GAMMA_BITS = 240
"""Functions of the gamma family take minutes with thousands of digits."""


class Unsupported(Exception):
    """The operation has no definition here."""


class Doubts:
    """Whether a value depends on the sign of a zero, or mpmath cannot compute it."""

    found = False


def _doubtful(value: Any) -> Any:
    Doubts.found = True
    return value


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` on real numbers; NaN for NaN, and where its value is not real."""

    def call(*args: Any) -> Any:
        if any(mp.isnan(x) for x in args):
            return mp.nan
        try:
            value = function(*args)
        except (ValueError, ZeroDivisionError, OverflowError, NotImplementedError, TypeError):
            # mpmath raises NotImplementedError at a point where it has no algorithm.
            return _doubtful(mp.nan)
        return mp.nan if isinstance(value, mp.mpc) else value

    return call


def _add(x: Any, y: Any) -> Any:
    return mp.nan if mp.isinf(x) and mp.isinf(y) and x != y else x + y


def _multiply(x: Any, y: Any) -> Any:
    return mp.nan if (mp.isinf(x) and y == 0) or (mp.isinf(y) and x == 0) else x * y


def _divide(x: Any, y: Any) -> Any:
    if y == 0:
        return mp.nan if x == 0 else _doubtful(mp.sign(x) * mp.inf)
    if mp.isinf(y):
        return mp.nan if mp.isinf(x) else mp.zero
    return x / y


def _exp(x: Any) -> Any:
    if abs(x) > 1e30:
        return _doubtful(mp.inf if x > 0 else mp.zero) if mp.isfinite(x) else mp.exp(x)
    return mp.exp(x)


def _log(x: Any) -> Any:
    if x == 0:
        return -mp.inf
    return mp.log(x) if x > 0 else mp.nan


def _power(x: Any, y: Any) -> Any:
    if y == 0 or x == 1:
        return mp.one
    if x == 0:
        return mp.zero if y > 0 else _doubtful(mp.inf)
    whole = mp.isinf(y) or y == mp.floor(y)
    if x < 0 and not whole:
        return mp.nan
    if mp.isinf(x) or mp.isinf(y) or abs(y) > 1e15:
        grows = (abs(x) > 1) == (y > 0)
        return _doubtful(mp.inf if grows else mp.zero)
    if y == mp.floor(y) and abs(y) < 1000:
        return x ** int(y)
    size = _exp(y * mp.log(abs(x)))
    return -size if x < 0 and int(y) % 2 else size


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + _exp(-x)) if x > 0 else _exp(x) / (1 + _exp(x))


def _softplus(x: Any) -> Any:
    return max(x, mp.zero) + mp.log1p(_exp(-abs(x)))


def _erfc(x: Any) -> Any:
    if mp.isinf(x) or abs(x) > _FAR:
        return mp.zero if x > 0 else mp.mpf(2)
    return mp.erfc(x)


def _erfcx(x: Any) -> Any:
    return 1 / (x * mp.sqrt(mp.pi)) if x > _FAR else _exp(x * x) * _erfc(x)


def _dawsn(x: Any) -> Any:
    if abs(x) > _DAWSN_FAR:
        return _dawsn_far(x) if mp.isfinite(x) else mp.zero
    with mp.extraprec(20 + int(3 * x * x)):
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def _dawsn_far(x: Any) -> Any:
    """The asymptotic series, to its least term: below exp(-x**2) of the sum."""
    total, term, k = mp.zero, 1 / (2 * x), 1
    while abs(term) > mp.eps * abs(total):
        total, last = total + term, term
        term = term * (2 * k - 1) / (2 * x * x)
        k += 1
        if abs(term) >= abs(last):
            break
    return total


def _within(low: float, high: float, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x) if low <= x <= high else mp.nan


def _periodic(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x) if mp.isfinite(x) else mp.nan


def _tanh(x: Any) -> Any:
    return mp.sign(x) if abs(x) > _FAR else mp.tanh(x)


def _gammaln(x: Any) -> Any:
    if mp.isinf(x) or x == 0 or (x < 0 and x == mp.floor(x)):
        return mp.inf
    with mp.workprec(_GAMMA_BITS):
        return mp.re(mp.loggamma(x))


def _digamma(x: Any) -> Any:
    with mp.workprec(_GAMMA_BITS):
        if x > 1e6:
            return mp.log(x) - 1 / (2 * x) - 1 / (12 * x * x) if mp.isfinite(x) else mp.inf
        return mp.digamma(x)


def _copysign(x: Any, y: Any) -> Any:
    return abs(x) if (y > 0 or (y == 0 and not _doubtful(False))) else -abs(x)


def _logaddexp(x: Any, y: Any) -> Any:
    if mp.isinf(x) or mp.isinf(y):
        return max(x, y)
    return max(x, y) + mp.log1p(_exp(-abs(x - y)))


def _one_minus_exp(x: Any) -> Any:
    return -_inf() if x == 0 else _log(-mp.expm1(x))


def _inf() -> Any:
    return mp.inf


_REAL: dict[str, Callable[..., Any]] = {
    "add": _add,
    "subtract": lambda x, y: _add(x, -y),
    "multiply": _multiply,
    "divide": _divide,
    "multiply_or_zero": lambda x, y: mp.zero if x == 0 and mp.isinf(y) else _multiply(x, y),
    "log_or_zero": lambda x: mp.zero if x == 0 else _log(x),
    "with_slope": lambda x, y, slope: x,
    "divide_or_slope": lambda x, y, slope: slope if y == 0 else _divide(x, y),
    "divide_or_zero": lambda x, y: mp.zero if y == 0 else _divide(x, y),
    "inverse_root": lambda x: mp.zero if x == 0 else _divide(mp.one, mp.sqrt(x)),
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "reciprocal": lambda x: _divide(mp.one, x),
    "square": lambda x: x * x,
    "sqrt": lambda x: mp.sqrt(x) if x >= 0 else mp.nan,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "hypot": lambda x, y: mp.sqrt(x * x + y * y),
    "absolute": abs,
    "sign": mp.sign,
    "copysign": _copysign,
    "floor": mp.floor,
    "exp": _exp,
    "exp2": lambda x: _exp(x * mp.log(2)),
    "expm1": lambda x: mp.expm1(x) if abs(x) < 1 else _exp(x) - 1,
    "log": _log,
    "log1p": lambda x: mp.log1p(x) if x > -1 else _log(1 + x),
    "log2": lambda x: _log(x) / mp.log(2),
    "logaddexp": _logaddexp,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "relu": lambda x: max(x, mp.zero),
    "log1mexp": _one_minus_exp,
    "power": _power,
    "sin": _periodic(mp.sin),
    "cos": _periodic(mp.cos),
    "tan": _periodic(mp.tan),
    "arcsin": _within(-1, 1, mp.asin),
    "arccos": _within(-1, 1, mp.acos),
    "arctan": mp.atan,
    "arctan2": mp.atan2,
    "sinh": lambda x: mp.sinh(x) if abs(x) < 1 else (_exp(x) - _exp(-x)) / 2,
    "cosh": lambda x: (_exp(x) + _exp(-x)) / 2,
    "tanh": _tanh,
    "arcsinh": lambda x: mp.sign(x) * mp.asinh(abs(x)),
    "erf": lambda x: mp.sign(x) if abs(x) > _FAR else mp.erf(x),
    "erfc": _erfc,
    "erfcx": _erfcx,
    "ndtr": lambda x: _erfc(-x / mp.sqrt(2)) / 2,
    "log_ndtr": lambda x: _log(_erfc(-x / mp.sqrt(2)) / 2),
    "dawsn": _dawsn,
    "gammaln": _gammaln,
    "digamma": _digamma,
    "maximum": max,
    "minimum": min,
    "clip": lambda x, low, high: min(max(x, low), high),
    "stop_gradient": lambda x: x,
}

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{name: guarded(function) for name, function in _REAL.items()},
    "less": lambda x, y: bool(x < y),
    "less_equal": lambda x, y: bool(x <= y),
    "greater": lambda x, y: bool(x > y),
    "greater_equal": lambda x, y: bool(x >= y),
    "equal": lambda x, y: bool(x == y),
    "not_equal": lambda x, y: bool(x != y),
    "isnan": lambda x: bool(mp.isnan(x)),
    "isfinite": lambda x: bool(mp.isfinite(x)),
    "signbit": lambda x: bool(x < 0) if x != 0 else _doubtful(False),
    "logical_not": lambda x: not x,
    "invert": lambda x: not x,
    "bitwise_and": lambda x, y: bool(x and y),
    "bitwise_or": lambda x, y: bool(x or y),
    "logical_and": lambda x, y: bool(x and y),
    "logical_or": lambda x, y: bool(x or y),
    "where": lambda condition, x, y: x if condition else y,
}
"""Definitions by the name of an operation without parameters."""
