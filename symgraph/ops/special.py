"""Special functions under SciPy's names: error functions, gamma and its relatives, x log y.

Abramowitz and Stegun (1964), chapters 6 and 7; DLMF §5 and §7.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np

from ..array import apply
from ..avals import Aval
from ..op import Op, per_element, register
from .choice import where
from .exponential import exp, log, log1p
from .families import elementwise, function

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "gamma",
    "gammaln",
    "log_ndtr",
    "logit",
    "ndtr",
    "ndtri",
    "polygamma",
    "xlog1py",
    "xlogy",
]


def _to_float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Integers become float64: SciPy has no half-precision loops to follow."""
    return dtype if dtype.kind == "f" else np.dtype("float64")


def _kernel(name: str) -> Callable[..., Any]:
    """SciPy's function `name`; SciPy computes float16 in float32, so the dtype is set right."""

    def kernel(xp: Any, *operands: Any) -> Any:
        return getattr(xp.special, name)(*operands).astype(operands[0].dtype)

    return kernel


def _special(name: str, *vjp: Any, doc: str = "", flops: int = 20) -> Any:
    return elementwise(name, kernel=_kernel(name), vjp=vjp, promote=_to_float, flops=flops, doc=doc)


# -- error functions -------------------------------------------------------------------------------
erf = _special("erf", lambda ct, out, x: ct * (2 / sqrt(pi) * exp(-(x * x))))
erfc = _special("erfc", lambda ct, out, x: -(ct * (2 / sqrt(pi) * exp(-(x * x)))))
erfinv = _special("erfinv", lambda ct, out, x: ct * (sqrt(pi) / 2 * exp(out * out)))
ndtr = _special(
    "ndtr",
    lambda ct, out, x: ct * (1 / sqrt(2 * pi) * exp(-0.5 * (x * x))),
    doc="The normal distribution function.",
)
ndtri = _special(
    "ndtri",
    lambda ct, out, x: ct * (sqrt(2 * pi) * exp(0.5 * (out * out))),
    doc="The inverse of `ndtr`.",
)
log_ndtr = _special(
    "log_ndtr",
    lambda ct, out, x: ct * (1 / sqrt(2 * pi) * exp(-0.5 * (x * x) - out)),
    doc="log(ndtr(x)), accurate far out on the left.",
)

# -- gamma and its derivatives ---------------------------------------------------------------------
gammaln = _special(
    "gammaln", lambda ct, out, x: ct * digamma(x), doc="The logarithm of |gamma(x)|."
)
gamma = _special("gamma", lambda ct, out, x: ct * (out * digamma(x)))
digamma = _special(
    "digamma", lambda ct, out, x: ct * polygamma(1, x), doc="The derivative of gammaln."
)


def _infer_polygamma(x: Aval, *, order: int) -> Aval:
    return x


def _polygamma_kernel(xp: Any, x: Any, *, order: int) -> Any:
    return xp.special.polygamma(order, x).astype(x.dtype)


POLYGAMMA = register(
    Op(
        "polygamma",
        infer=_infer_polygamma,
        kernel=_polygamma_kernel,
        vjp=(lambda ct, out, x, *, order: ct * polygamma(order + 1, x),),
        promote=_to_float,
        flops=per_element(40),
        doc="The derivative of order `order` of digamma; the order comes first.",
    )
)


def _polygamma(order: int, x: Any) -> Any:
    return apply(POLYGAMMA, x, order=int(order))


polygamma = function(POLYGAMMA, _polygamma)

# -- logarithms ------------------------------------------------------------------------------------
logit = _special(
    "logit",
    lambda ct, out, x: ct / (x * (1 - x)),
    doc="log(x / (1 - x)), the inverse of sigmoid.",
)
xlogy = _special(
    "xlogy",
    lambda ct, out, x, y: ct * log(y),
    lambda ct, out, x, y: ct * (x / where((x == 0) & (y == 0), 1, y)),
    doc="x log y, and 0 where x is 0; where both are 0 the derivative with respect to y is 0.",
)
xlog1py = _special(
    "xlog1py",
    lambda ct, out, x, y: ct * log1p(y),
    lambda ct, out, x, y: ct * (x / where((x == 0) & (y == -1), 1, 1 + y)),
    doc="x log(1 + y), and 0 where x is 0; at x = 0, y = -1 the derivative with respect to y is 0.",
)
