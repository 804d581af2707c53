"""The functions that an expression may call: a closed table with NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..array import FUNCTIONS, Array
from ..ops.determinants import slogdet
from ..ops.norms import norm

__all__ = ["CALLS", "LISTS", "METHODS", "CallSignature", "function_named", "functions"]


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The arguments of a function: a number of arrays, then literals by position or keyword."""

    name: str
    least: int
    most: int
    literals: tuple[str, ...] = ()


_UNARY = """
    exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal absolute sign negative
    sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
    sigmoid log_sigmoid softplus logit erf erfc erfinv gammaln digamma ndtr log_ndtr
    floor ceil rint isnan isfinite logical_not stop_gradient
    relu gelu silu softsign hard_tanh log1mexp sinc
    matrix_transpose trace diagonal inv pinv det logdet cholesky tril triu
"""
_BINARY = """
    add subtract multiply divide power maximum minimum arctan2 hypot logaddexp xlogy xlog1py
    remainder floor_divide less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_xor matmul dot vdot outer inner solve kron
"""
_REDUCTIONS = """
    sum prod mean max min any all logsumexp argmax argmin count_nonzero ptp
"""
_SHAPED = {
    "var": ("axis", "ddof", "keepdims"),
    "std": ("axis", "ddof", "keepdims"),
    "softmax": ("axis",),
    "log_softmax": ("axis",),
    "cumsum": ("axis",),
    "cumprod": ("axis",),
    "norm": ("ord", "axis", "keepdims"),
    "transpose": ("axes",),
    "reshape": ("shape",),
    "squeeze": ("axis",),
    "expand_dims": ("axis",),
    "swapaxes": ("axis1", "axis2"),
    "one_hot": ("size",),
    "concatenate": ("axis",),
    "stack": ("axis",),
}
_ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "amax": "max",
    "amin": "min",
    "asin": "arcsin",
    "atan": "arctan",
    "expit": "sigmoid",
    "pow": "power",
}


def _table() -> dict[str, CallSignature]:
    calls = {name: CallSignature(name, 1, 1) for name in _UNARY.split()}
    calls |= {name: CallSignature(name, 2, 2) for name in _BINARY.split()}
    calls |= {name: CallSignature(name, 1, 1, ("axis", "keepdims")) for name in _REDUCTIONS.split()}
    calls |= {name: CallSignature(name, 1, 1, literals) for name, literals in _SHAPED.items()}
    calls |= {"where": CallSignature("where", 3, 3), "clip": CallSignature("clip", 3, 3)}
    calls["einsum"] = CallSignature("einsum", 2, 16)
    return calls | {alias: calls[name] for alias, name in _ALIASES.items() if name in calls}


CALLS = _table()
LISTS = ("concatenate", "stack")
"""Functions that take a list of arrays."""

METHODS = frozenset(_REDUCTIONS.split())
"""Functions that may be written as methods: `x.sum(axis=0)`."""


def _logdet(a: Array) -> Array:
    """The logarithm of the absolute value of the determinant."""
    return slogdet(a)[1]


_OWN: dict[str, Callable[..., Any]] = {"norm": norm, "logdet": _logdet}


def function_named(name: str) -> Callable[..., Any] | None:
    """The function of a name; None if there is none."""
    return _OWN.get(name) or FUNCTIONS.get(name)


def functions() -> list[str]:
    """The names of the functions that an expression may call."""
    return sorted(name for name, call in CALLS.items() if function_named(call.name) is not None)
