"""What books and other libraries call the functions that an expression may call."""

from __future__ import annotations

import difflib

from .calls import functions

__all__ = ["advice"]

# Names that are too different from the names here to be found by likeness.
_ALSO_CALLED = {
    "arcosh": "arccosh",
    "arsinh": "arcsinh",
    "artanh": "arctanh",
    "besseli": "iv",
    "besselj": "jv",
    "besselk": "kv",
    "bessely": "yv",
    "ceiling": "ceil",
    "ei": "expi",
    "lngamma": "gammaln",
    "loggamma": "gammaln",
    "lse": "logsumexp",
    "ln": "log",
    "normcdf": "ndtr",
    "norminv": "ndtri",
    "probit": "ndtri",
    "sgn": "sign",
    "si": "sine_integral",
    "tg": "tan",
    "tr": "trace",
}
_WRITTEN = {
    "cot": "1 / tan(x)",
    "coth": "1 / tanh(x)",
    "csc": "1 / sin(x)",
    "csch": "1 / sinh(x)",
    "ctg": "1 / tan(x)",
    "factorial": "gamma(n + 1)",
    "sec": "1 / cos(x)",
    "sech": "1 / cosh(x)",
    "sqr": "x**2",
}


def advice(name: str) -> str:
    """What to write for a function that is not known."""
    if name in _WRITTEN:
        return f"Write {_WRITTEN[name]}."
    known = _ALSO_CALLED.get(name) or _ALSO_CALLED.get(name.lower())
    close = [known] if known else difflib.get_close_matches(name, functions(), n=3)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return "Functions have NumPy's and SciPy's names; a product is written x * (y + 1)."
