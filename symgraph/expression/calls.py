"""The functions an expression may call: a closed table, by NumPy's names."""

from __future__ import annotations

from dataclasses import dataclass

from ..array import FUNCTIONS

__all__ = ["CALLS", "LISTS", "METHODS", "Call", "functions"]


@dataclass(frozen=True, slots=True)
class Call:
    """How a function is called: how many arrays, then which literals, by position or by keyword."""

    name: str
    least: int
    most: int
    literals: tuple[str, ...] = ()


_UNARY = """
    exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal absolute sign negative
    sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
    sigmoid log_sigmoid softplus logit erf erfc erfinv gammaln digamma ndtr log_ndtr
    floor ceil rint isnan isfinite logical_not stop_gradient
    matrix_transpose trace diagonal
"""
_BINARY = """
    add subtract multiply divide power maximum minimum arctan2 hypot logaddexp xlogy xlog1py
    remainder floor_divide less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_xor matmul dot vdot outer inner
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


def _table() -> dict[str, Call]:
    calls = {name: Call(name, 1, 1) for name in _UNARY.split()}
    calls |= {name: Call(name, 2, 2) for name in _BINARY.split()}
    calls |= {name: Call(name, 1, 1, ("axis", "keepdims")) for name in _REDUCTIONS.split()}
    calls |= {name: Call(name, 1, 1, literals) for name, literals in _SHAPED.items()}
    calls |= {"where": Call("where", 3, 3), "clip": Call("clip", 3, 3)}
    calls["einsum"] = Call("einsum", 2, 16)
    return calls | {alias: calls[name] for alias, name in _ALIASES.items() if name in calls}


CALLS = _table()
LISTS = ("concatenate", "stack")
"""Functions of a list of arrays."""

METHODS = frozenset(_REDUCTIONS.split())
"""What may be written as a method: `x.sum(axis=0)`."""


def functions() -> list[str]:
    """Names of the functions an expression may call."""
    return sorted(name for name, call in CALLS.items() if call.name in FUNCTIONS)
