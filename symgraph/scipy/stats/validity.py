"""Arguments of distributions: one floating dtype for all, NaN for parameters that are not valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import numpy as snp
from ...array import Array, constant
from ...errors import DTypeError
from ...facts import Fact, interval
from ...ir.fact_inference import Knowledge

__all__ = ["VALID", "common_float", "fitting", "lifted", "positive"]


def common_float(values: Sequence[Any]) -> np.dtype[Any]:
    """The common floating dtype of the arguments; Python's numbers are weak, integers doubles.

    Raises
    ------
    DTypeError
        If an argument is complex, or holds no numbers.
    """
    kinds: list[Any] = []
    for each in values:
        if isinstance(each, np.generic) or not isinstance(each, (bool, int, float)):
            kinds.append(each.dtype if hasattr(each, "dtype") else np.asarray(each).dtype)
    found = np.result_type(*kinds) if kinds else np.dtype("float64")
    if found.kind not in "biuf":
        raise DTypeError(f"{found} is no dtype of real numbers.", mend="Give the real part alone.")
    return found if found.kind == "f" else np.dtype("float64")


def lifted(value: object, dtype: np.dtype[Any]) -> Array:
    """The value as a symbolic array of this dtype."""
    if isinstance(value, Array):
        return value if value.dtype == dtype else snp.astype(value, dtype)
    return constant(np.asarray(value).astype(dtype))


def _where_valid(value: Array, given: object, holds: Callable[[Any], Any], *known: Fact) -> Array:
    """The parameter, or NaN where it is not valid; unchanged if it is known to be valid."""
    if isinstance(given, Array):
        valid = all(Knowledge().of(value.node).has(each) for each in known)
    else:
        valid = bool(np.all(holds(np.asarray(given))))
    return value if valid else snp.where(holds(value), value, lifted(np.nan, value.dtype))


def positive(value: Array, given: object) -> Array:
    """The parameter, or NaN where it is not positive."""
    return _where_valid(value, given, lambda number: number > 0, Fact("positive"))


def _probability_valid(value: Array, given: object) -> Array:
    return _where_valid(value, given, lambda p: (p >= 0) & (p <= 1), interval(0.0, 1.0))


def _positive_probability(value: Array, given: object) -> Array:
    known = interval(0.0, 1.0), Fact("positive")
    return _where_valid(value, given, lambda p: (p > 0) & (p <= 1), *known)


def fitting(shapes: Sequence[Array], given: Sequence[Any], fit: Callable[..., Any]) -> list[Array]:
    """The parameters, the last one NaN where they do not fit together."""
    numbers = not any(isinstance(each, Array) for each in given)
    if numbers and np.all(fit(*[np.asarray(each) for each in given])):
        return list(shapes)
    *others, last = shapes
    return [*others, snp.where(fit(*shapes), last, lifted(np.nan, last.dtype))]


def _any_number(value: Array, given: object) -> Array:
    return value


def _not_negative(value: Array, given: object) -> Array:
    return _where_valid(value, given, lambda number: number >= 0, Fact("nonnegative"))


VALID: Mapping[str, Callable[[Array, Any], Array]] = {
    "positive": positive,
    "nonnegative": _not_negative,
    "probability": _probability_valid,
    "positive probability": _positive_probability,
    "real": _any_number,
}
