"""What SymPy's functions and structures mean here, in real numbers.

A function that is complex at a real number gives NaN there, as NumPy's logarithm does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import nan, pi
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..array import FUNCTIONS, Array
from ..ops.creation import eye, zeros
from .sympy_export import SAME_MEANING

__all__ = ["REMEDIES", "Maker", "makers"]

Maker: TypeAlias = Callable[..., Any]

REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(
        ("Derivative", "Integral", "Limit", "Product", "Subs", "Sum"),
        "It is not evaluated yet: expr.doit() evaluates it where SymPy can.",
    ),
    "ImaginaryUnit": "Symbols are real here; sympy.re and sympy.im of an expanded expression take "
    "it apart.",
    "Indexed": "A sympy.MatrixSymbol becomes an array.",
    "IndexedBase": "A sympy.MatrixSymbol becomes an array.",
}
"""What to do about what no graph can hold."""

_SAME_NAME = """
    gamma digamma beta erfinv erfcinv erfi binomial=binom RisingFactorial=poch zeta expint=expn
    besselj=jv bessely=yv besseli=iv besselk=kv elliptic_k=ellipk elliptic_f=ellipkinc
    airyai=airy_ai airyaiprime=airy_ai_slope airybi=airy_bi airybiprime=airy_bi_slope
    Ei=expi Si=sine_integral Shi=sinh_integral fresnels=fresnel_sine fresnelc=fresnel_cosine
    Heaviside=heaviside Mod=remainder
"""
_RELATIONS = {
    "StrictGreaterThan": "greater",
    "GreaterThan": "greater_equal",
    "StrictLessThan": "less",
    "LessThan": "less_equal",
    "Equality": "equal",
    "Unequality": "not_equal",
    "Not": "logical_not",
    "ITE": "where",
}
_FOLDED = {
    "Add": "add",
    "MatAdd": "add",
    "Mul": "multiply",
    "HadamardProduct": "multiply",
    "Max": "maximum",
    "Min": "minimum",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
}


def makers() -> dict[Any, Maker]:
    """For each of SymPy's functions and structures, what makes it of its parts."""
    import sympy as s

    f = FUNCTIONS
    table: dict[Any, Maker] = {getattr(s, theirs): f[ours] for ours, theirs in SAME_MEANING.items()}
    for pair in _SAME_NAME.split():
        theirs, _, ours = pair.partition("=")
        table[getattr(s, theirs)] = f[ours or theirs]
    for theirs, ours in _RELATIONS.items():
        table[getattr(s, theirs)] = f[ours]
    for theirs, ours in _FOLDED.items():
        table[getattr(s, theirs)] = _folded(f[ours])
    return table | _circular(s) | _composed(s) | _structures(s)


def _folded(function: Maker) -> Maker:
    return lambda *parts: reduce(function, parts)


def _circular(s: ModuleType) -> dict[Any, Maker]:
    """Secants, cotangents and their inverses, by the functions of one over the argument."""
    f = FUNCTIONS
    table: dict[Any, Maker] = {}
    for h in ("", "h"):
        for theirs, ours in (("sec", "cos"), ("csc", "sin"), ("cot", "tan")):
            table[getattr(s, theirs + h)] = lambda x, g=f[ours + h]: 1.0 / g(x)
            table[getattr(s, f"a{theirs}{h}")] = lambda x, g=f[f"arc{ours}{h}"]: g(1.0 / x)
    return table


def _composed(s: ModuleType) -> dict[Any, Maker]:
    """Functions that are written by others."""
    f = FUNCTIONS
    return {
        s.sinc: lambda x: f["sinc"](x / pi),
        s.frac: lambda x: x - f["floor"](x),
        s.polygamma: lambda n, x: f["polygamma"](n, x) if n != 0 else f["digamma"](x),
        s.factorial: lambda n: f["gamma"](n + 1),
        s.FallingFactorial: lambda x, k: f["poch"](x - k + 1, k),
        s.harmonic: lambda n: f["digamma"](n + 1) + np.euler_gamma,
        s.elliptic_e: lambda *parts: f["ellipeinc" if len(parts) == 2 else "ellipe"](*parts),
        s.lowergamma: lambda a, x: f["gammainc"](a, x) * f["gamma"](a),
        s.uppergamma: lambda a, x: f["gammaincc"](a, x) * f["gamma"](a),
        s.li: lambda x: f["expi"](f["log"](x)),
        s.Ci: lambda x: _real_from_zero("cosine_integral", x),
        s.Chi: lambda x: _real_from_zero("cosh_integral", x),
        s.KroneckerDelta: lambda i, j: f["where"](f["equal"](i, j), 1.0, 0.0),
        s.re: lambda x: x,  # What is complex in SymPy is NaN here.
        s.conjugate: lambda x: x,
        s.Pow: f["power"],
    }


def _real_from_zero(name: str, x: Array) -> Array:
    """The function where x is not negative, and NaN where it is complex."""
    f = FUNCTIONS
    negative = f["less"](x, 0)
    return f["where"](negative, nan, f[name](f["where"](negative, 1.0, x)))


def _structures(s: ModuleType) -> dict[Any, Maker]:
    """Choices and matrices."""
    f = FUNCTIONS
    return {
        s.Piecewise: _piecewise,
        s.functions.elementary.piecewise.ExprCondPair: lambda value, condition: (value, condition),
        s.Tuple: lambda *parts: parts,
        s.functions.special.hyper.TupleArg: lambda *parts: parts,  # so that hyper itself is named
        s.ImmutableDenseMatrix: _matrix,
        s.matrices.expressions.matexpr.MatrixElement: lambda x, i, j: x[i, j],
        s.Identity: eye,
        s.ZeroMatrix: lambda rows, columns: zeros((rows, columns)),
        s.Determinant: f["det"],
        s.Trace: f["trace"],
        s.Transpose: f["matrix_transpose"],
        s.Inverse: lambda x, _exponent: f["inv"](x),
        s.MatMul: _product,
    }


def _piecewise(*pairs: tuple[Any, Any]) -> Any:
    """The first value whose condition holds; NaN if none does."""
    result: Any = nan
    for value, condition in reversed(pairs):
        result = value if condition is True else FUNCTIONS["where"](condition, value, result)
    return result


def _matrix(rows: int, columns: int, entries: tuple[Any, ...]) -> Any:
    return FUNCTIONS["reshape"](FUNCTIONS["array"](list(entries)), (rows, columns))


def _product(*parts: Array | float) -> Any:
    """The product of numbers and matrices, in their order."""
    result: Any = None
    for each in parts:
        if result is None:
            result = each
        elif getattr(result, "shape", ()) and getattr(each, "shape", ()):
            result = FUNCTIONS["matmul"](result, each)
        else:
            result = FUNCTIONS["multiply"](result, each)
    return result
