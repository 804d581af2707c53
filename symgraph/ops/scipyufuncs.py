"""Operations that are SciPy's special functions, reachable by SciPy's own names.

Floats keep their dtype (half precision is computed in single), integers and truth values give
float64. SciPy itself gives single or double for those, depending on the order of its loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array
from ..ir.differentiation import Undefined, undefined
from ..ir.op import Said, VjpRule, results_of
from ..ir.traits import Traits
from .bounds import FactRule
from .families import elementwise

__all__ = [
    "LONG_SERIES",
    "float_or_double",
    "no_closed_form",
    "part_of",
    "polynomial",
    "scipy_ufunc",
]

LONG_SERIES = 1e3
"""The size of numbers from which SciPy's recurrences and series may take minutes, or end the
process (`hyp1f1(-1e9, -9e15, -1e6)`)."""


def float_or_double(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype itself if it is floating, else float64."""
    return dtype if dtype.kind == "f" else np.dtype("float64")


def _kernel(name: str) -> Callable[..., Any]:
    """SciPy's function `name`; SciPy computes float16 in float32, so the dtype is set right."""

    def kernel(xp: Any, *operands: Any) -> Any:
        return xp.astype(getattr(xp.special, name)(*operands), operands[0].dtype)

    return kernel


def no_closed_form(name: str) -> Undefined:
    """The derivative in a parameter, where none is known."""
    return undefined(f"the derivative of {name} in a parameter has no closed form")


def scipy_ufunc(
    name: str,
    *vjp: VjpRule | Undefined | None,
    facts: FactRule | None = None,
    doc: str = "",
    flops: int = 20,
    kernel: Callable[..., Any] | None = None,
    traits: Traits | None = None,
    **said: Unpack[Said],
) -> Any:
    """The operation that is `scipy.special.<name>`, its derivatives one an operand.

    `kernel` is for functions that some backend's `special` lacks.
    """
    found = elementwise(
        name,
        kernel=kernel or _kernel(name),
        vjp=vjp,
        promote=float_or_double,
        facts=facts,
        flops=flops,
        doc=doc,
        traits=traits,
        **said,
    )
    NUMPY_FUNCTIONS[f"scipy.special.{name}"] = found
    return found


_OF_FOUR = ("airy", "airye", "ellipj")
"""SciPy's functions that have four results; others have two."""


def part_of(
    name: str,
    function: str,
    place: int,
    *vjp: VjpRule | Undefined | None,
    doc: str,
    traits: Traits | None = None,
) -> Any:
    """The operation that is one of the results of `scipy.special.<function>`."""

    def kernel(xp: Any, *operands: Any) -> Any:
        found = getattr(xp.special, function)(*operands)
        return xp.astype(found[place], operands[0].dtype)

    return elementwise(
        name,
        kernel=kernel,
        vjp=vjp,
        promote=float_or_double,
        flops=60,
        traits=traits,
        doc=doc,
        # All results of the function but this one.
        workspace=results_of(3 if function in _OF_FOUR else 1),
    )


def polynomial(x: Array, *coefficients: float) -> Array:
    """c₀ + c₁ x + c₂ x² + …, by Horner's scheme.

    Near a removable singularity a polynomial keeps the digits that the quotient loses, and its
    derivatives even more.
    """
    result: Any = FUNCTIONS["full_like"](x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result
