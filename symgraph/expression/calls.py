"""The functions that an expression may call: a closed table with NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

from ..array import FUNCTIONS, Array
from ..ir.op import OPS
from ..ops.determinants import slogdet
from ..ops.norms import norm
from ..records import record

__all__ = ["CALLS", "LISTS", "METHODS", "CallSignature", "function_named", "functions"]


@record
class CallSignature:
    """The arguments of a function: a number of arrays, then literals by position or keyword."""

    name: str
    least: int
    most: int
    literals: tuple[str, ...] = ()


_UNARY = "stop_gradient gelu log_sigmoid diagonal trace pinv cholesky logdet round"
_BINARY = "dot outer cross"
_REDUCTIONS = """
    sum prod mean max min any all logsumexp argmax argmin count_nonzero ptp
    nansum nanprod nanmean nanmax nanmin median nanmedian
"""
_ALONG_AN_AXIS = """
    softmax log_softmax cumsum cumprod cummax cummin logcumsumexp squeeze expand_dims flip sort
    argsort concatenate stack
"""
_SHAPED = {
    "var": ("axis", "ddof", "keepdims"),
    "std": ("axis", "ddof", "keepdims"),
    "nanvar": ("axis", "ddof", "keepdims"),
    "nanstd": ("axis", "ddof", "keepdims"),
    "norm": ("ord", "axis", "keepdims"),
    "transpose": ("axes",),
    "reshape": ("shape",),
    "swapaxes": ("axis1", "axis2"),
    "moveaxis": ("source", "destination"),
    "roll": ("shift", "axis"),
    "diff": ("n", "axis"),
    "repeat": ("repeats", "axis"),
    "tile": ("reps",),
    "diag": ("k",),
    "tril": ("k",),
    "triu": ("k",),
    "one_hot": ("size",),
    "hstack": (),
    "vstack": (),
}
_ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "amax": "max",
    "amin": "min",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "expit": "sigmoid",
    "lgamma": "gammaln",
    "mod": "remainder",
    "pow": "power",
    "psi": "digamma",
}


def _of_arrays_alone() -> Iterator[CallSignature]:
    """The functions that take arrays alone and give one."""
    for name, function in FUNCTIONS.items():
        op = OPS.get(name)
        if op is not None and op.traits.elementwise and isinstance(op.vjp, tuple):
            yield CallSignature(name, len(op.vjp), len(op.vjp))
            continue
        told = signature(function)
        alone = all(
            each.annotation == "ArrayLike" and each.default is each.empty and each.kind in _BY_PLACE
            for each in told.parameters.values()
        )
        if alone and told.return_annotation == "Array" and not name.startswith("_"):
            yield CallSignature(name, len(told.parameters), len(told.parameters))


_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _table() -> dict[str, CallSignature]:
    calls = {each.name: each for each in _of_arrays_alone()}
    calls |= {name: CallSignature(name, 1, 1) for name in _UNARY.split()}
    calls |= {name: CallSignature(name, 2, 2) for name in _BINARY.split()}
    # The first is a number, the order.
    calls |= {name: CallSignature(name, 2, 2) for name in ("polygamma", "expn")}
    calls |= {name: CallSignature(name, 1, 1, ("axis", "keepdims")) for name in _REDUCTIONS.split()}
    calls |= {name: CallSignature(name, 1, 1, ("axis",)) for name in _ALONG_AN_AXIS.split()}
    calls |= {name: CallSignature(name, 1, 1, literals) for name, literals in _SHAPED.items()}
    calls |= {name: CallSignature(name, 1, 2) for name in ("elu", "celu", "leaky_relu")}
    calls |= {name: CallSignature(name, 2, 2, ("axis",)) for name in ("quantile", "percentile")}
    calls |= {name: CallSignature(name, 3, 3) for name in ("where", "clip", "interp")}
    calls["tensordot"] = CallSignature("tensordot", 2, 2, ("axes",))
    calls["einsum"] = CallSignature("einsum", 2, 16)
    return calls | {alias: calls[name] for alias, name in _ALIASES.items() if name in calls}


CALLS = _table()
LISTS = ("concatenate", "stack", "hstack", "vstack")
"""Functions that take a list of arrays."""

METHODS = frozenset(f"{_REDUCTIONS} var std cumsum cumprod dot trace diagonal squeeze".split())
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
