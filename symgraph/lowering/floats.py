"""A program of 0-d values on Python's floats, in plain arithmetic and the functions of `math`.

A ufunc of a 0-d array takes a microsecond, an operation on floats a fiftieth of it. Where NumPy's
result is not a finite number made of finite ones, Python raises: `math.exp(1000.0)`,
`math.log(0.0)`, `1.0 / 0.0`. The caller then runs the program of NumPy calls instead. Everything
else is IEEE arithmetic in both, and a function of `math` stands for NumPy's only where they differ
by at most a unit in the last place.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..ir.avals import Aval
from ..namespace import NUMPY
from ..ops.choice import where
from .shapes import ufunc_named
from .source_pieces import Piece, Tabled
from .statements import Program, Statement

__all__ = [
    "FLOAT_ERRORS",
    "FLOAT_NAMES",
    "FloatLine",
    "constant_text",
    "elementwise_text",
    "float_lines",
    "is_quiet",
    "nested",
    "tied",
]

FloatLine = tuple[str, str, Statement]
"""A name, the expression that it stands for, and the statement that computes it."""

FLOAT_ERRORS = (FloatingPointError, OverflowError, ValueError, ZeroDivisionError)
"""The errors by which arithmetic on floats says that NumPy gives infinity or NaN."""

_FLOAT, _BOOL = np.dtype("float64"), np.dtype("bool")
_ARITHMETIC: dict[np.ufunc, str] = {
    np.absolute: "abs({0})",
    np.add: "{0} + {1}",
    np.divide: "{0} / {1}",
    np.maximum: "{0} if {0} > {1} else {1} if {1} > {0} else tied({0}, {1})",
    np.minimum: "{0} if {0} < {1} else {1} if {1} < {0} else tied({0}, {1})",
    np.multiply: "{0} * {1}",
    np.negative: "-{0}",
    np.positive: "{0}",
    # NumPy takes the square root for a power of 0.5: it is -0.0 at -0.0, and NaN at -inf.
    np.power: "pow({0}, {1}) if {0} > 0.0 else float(np.power({0}, {1}))",
    np.reciprocal: "1.0 / {0}",
    np.sign: "1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else 0.0 if {0} == 0.0 else {0}",
    np.square: "{0} * {0}",
    np.subtract: "{0} - {1}",
}
_COMPARISONS: dict[np.ufunc, str] = {
    np.equal: "{0} == {1}",
    np.greater: "{0} > {1}",
    np.greater_equal: "{0} >= {1}",
    np.isfinite: "isfinite({0})",
    np.isinf: "isinf({0})",
    np.isnan: "{0} != {0}",
    np.less: "{0} < {1}",
    np.less_equal: "{0} <= {1}",
    np.not_equal: "{0} != {1}",
}
_LOGIC: dict[np.ufunc, str] = {
    np.logical_and: "{0} and {1}",
    np.logical_not: "not {0}",
    np.logical_or: "{0} or {1}",
}
_FUNCTIONS: dict[np.ufunc, Callable[..., float]] = {
    np.arccos: math.acos,
    np.arccosh: math.acosh,
    np.arcsin: math.asin,
    np.arctan: math.atan,
    np.arctan2: math.atan2,
    np.copysign: math.copysign,
    np.cos: math.cos,
    np.cosh: math.cosh,
    np.exp: math.exp,
    np.exp2: math.exp2,
    np.expm1: math.expm1,
    np.hypot: math.hypot,
    np.log: math.log,
    np.log1p: math.log1p,
    np.log2: math.log2,
    np.sin: math.sin,
    np.sqrt: math.sqrt,
    np.tan: math.tan,
}
"""Of these `math` gives what NumPy gives, or the float next to it; not of tanh, sinh, log10, ..."""


def tied(x: float, y: float) -> float:
    """The larger or smaller of two floats of which neither is larger: equal ones.

    Raises
    ------
    ValueError
        If one is NaN, or if both are zeros, whose signs NumPy may choose between.
    """
    if x != y or not x:
        raise ValueError("no float is the larger one")
    return x


_OTHERS: tuple[Any, ...] = (
    *(abs, float, math.isfinite, math.isinf, math.pow, np.array, np.ndarray, tied, type),
)
FLOAT_NAMES: Mapping[str, object] = {
    **{each.__name__: each for each in (*_FUNCTIONS.values(), *_OTHERS)},
    "float64": np.dtype(np.float64),
}
"""What programs on floats call by a name without a dot, which takes less to look up."""

_CALLED = re.compile(r"float\(((?:np|special)\.[\w.]+)\(")
_PROBES = (0.0, 5e-324, 1e-310, 1e-160, 0.5, 1.0, 30.0, 800.0, 1e160, 1e308, math.inf, math.nan)


def is_quiet(source: str) -> bool:
    """Whether NumPy's functions in a program on floats warn of nothing, whatever is asked for."""
    special = NUMPY.special if "special." in source else None
    found = [ufunc_named(name, special) for name in set(_CALLED.findall(source))]
    return all(each is not None and each.nin == 1 and _warns_never(each) for each in found)


@cache
def _warns_never(ufunc: np.ufunc) -> bool:
    try:
        with np.errstate(all="raise"):
            for each in _PROBES:
                ufunc(each)
                ufunc(-each)
    except FloatingPointError:
        return False
    return True


def float_lines(program: Program) -> list[FloatLine] | None:
    """A program on floats, one line for each statement; None if it has none.

    It has one if all values are 0-d, of dtype float64 or truth values, and all calls elementwise.
    Results are copied by the caller, so that the copies of the program are left out.
    """
    avals = [node.aval for node in program.dag.inputs.values()]
    if any(each.shape or each.dtype != _FLOAT for each in avals) or program.bodies:
        return None
    dtypes = dict.fromkeys(program.inputs, _FLOAT)
    texts: dict[str, str] = {}
    for name, node in program.constants.items():
        text = constant_text(node.params["value"])
        if text is None:
            return None
        texts[name], dtypes[name] = text, node.dtype
    found: list[FloatLine] = []
    for statement in program.statements:
        text = _line(statement, texts, dtypes)
        if text is None:
            return None
        found.append((statement.target, text, statement))
        dtypes[statement.target] = statement.avals[0].dtype
    return found


_LONGEST = 100
"""The most characters of an expression that another one takes in."""
_NAME = re.compile(r"\bv[0-9]+\b")
_ATOM = re.compile(r"[\w.]+|[\w.]+\([^()]*\)")


def nested(lines: Sequence[FloatLine], results: Sequence[str]) -> list[FloatLine]:
    """The same program in fewer lines: a value that is used once stands where it is used.

    A fourteenth of a microsecond is saved for each line less. Expressions have no effects, so that
    it does not matter when they are computed, nor whether the side of a choice that is not taken
    is.
    """
    uses = Counter(results)
    for _, text, _ in lines:
        uses.update(_NAME.findall(text))
    waiting: dict[str, str] = {}
    kept = {*results}
    found: list[FloatLine] = []

    def inserted(match: re.Match[str]) -> str:
        text = waiting.pop(match[0], None)
        if text is None:
            return match[0]
        around = match.string[: match.start()][-1:] + match.string[match.end() :][:1]
        return text if around in ("", "()") or _ATOM.fullmatch(text) else f"({text})"

    for target, given, statement in lines:
        text = _NAME.sub(inserted, given)
        if uses[target] == 1 and target not in kept and len(text) <= _LONGEST:
            waiting[target] = text
        else:
            found.append((target, text, statement))
    return found


def constant_text(value: object) -> str | None:
    """A finite number or a truth value as source."""
    array = np.asarray(value)
    if array.shape or array.dtype not in (_FLOAT, _BOOL) or not np.isfinite(array):
        return None
    return repr(array.item())


def _line(
    statement: Statement, texts: Mapping[str, str], dtypes: Mapping[str, np.dtype[Any]]
) -> str | None:
    """The right-hand side of a statement on floats."""
    if len(statement.avals) != 1 or statement.avals[0].shape or statement.named:
        return None
    return elementwise_text(statement, texts, dtypes)


def elementwise_text(
    statement: Statement, texts: Mapping[str, str], dtypes: Mapping[str, np.dtype[Any]]
) -> str | None:
    """The text of an elementwise statement for one element; None for another statement.

    Parameters
    ----------
    statement : Statement
    texts : mapping of str to str
        What stands for some operands; the others stand for themselves.
    dtypes : mapping of str to dtype
        Those of the operands.
    """
    (aval,) = statement.avals
    first, *rest = statement.pieces
    if not isinstance(first, str) or not rest or rest[-1] != ")":
        return None
    if [*statement.pieces] == [first, ".astype(", f"np.{_FLOAT.name}", ")"]:
        return f"float({first})" if dtypes.get(first) == _BOOL else None
    arguments = [_argument(piece, texts, dtypes) for piece in rest[:-1:2]]
    if any(piece != ", " for piece in rest[1:-1:2]):
        return None
    known = [each for each in arguments if each is not None]
    if len(known) < len(arguments) or not first.endswith("("):
        return None
    return _call(first[:-1], [text for text, _ in known], [dtype for _, dtype in known], aval)


def _argument(
    piece: Piece, texts: Mapping[str, str], dtypes: Mapping[str, np.dtype[Any]]
) -> tuple[str, np.dtype[Any]] | None:
    if isinstance(piece, str):
        return (texts.get(piece, piece), dtypes[piece]) if piece in dtypes else None
    if isinstance(piece, Tabled):
        text = constant_text(piece.value)
        return None if text is None else (text, np.asarray(piece.value).dtype)
    return None


def _call(
    name: str, arguments: Sequence[str], dtypes: Sequence[np.dtype[Any]], aval: Aval
) -> str | None:
    """A call of NumPy's function of this name on floats."""
    if name == "np.array":
        return arguments[0]
    if name == f"np.{where.op.name}":
        condition, *sides = dtypes
        fits = condition == _BOOL and all(each == aval.dtype for each in sides)
        return f"{arguments[1]} if {arguments[0]} else {arguments[2]}" if fits else None
    ufunc = ufunc_named(name, NUMPY.special if name.startswith("special.") else None)
    if ufunc is None or ufunc.nin != len(arguments):
        return None
    logic = _LOGIC.get(ufunc)
    if logic is not None:
        return logic.format(*arguments) if all(each == _BOOL for each in dtypes) else None
    if any(each != _FLOAT for each in dtypes):
        return None
    template = _COMPARISONS.get(ufunc) if aval.dtype == _BOOL else _ARITHMETIC.get(ufunc)
    if template is not None:
        return template.format(*arguments)
    function = _FUNCTIONS.get(ufunc)
    if function is not None:
        return f"{function.__name__}({', '.join(arguments)})"
    return f"float({name}({', '.join(arguments)}))" if aval.dtype == _FLOAT else None
