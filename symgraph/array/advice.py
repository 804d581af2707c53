"""Advice where a call on the user's line takes numbers only, and got a symbolic array.

Python tells which expression of a line is running (PEP 657), so `math.exp(x)`, `np.array([a, b])`
and `table[i]` can each be answered with the function that traces.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import textwrap
from collections.abc import Mapping, Sequence
from itertools import islice
from types import FrameType, ModuleType
from typing import Any, cast

import numpy as np

from ..records import record
from ..source import is_assigning, running_frame, users_frame
from .methods_of_numbers import instead_of_array_method
from .polynomials import instead_of_polynomials

__all__ = [
    "UserExpression",
    "instead_of_numbers",
    "number_by_number",
    "start_from",
    "user_expression",
]


@record
class UserExpression:
    """The expression that the user's innermost frame is evaluating.

    Parameters
    ----------
    text : str
        As it stands in the source.
    node : ast.expr
        The same, parsed.
    names : mapping
        The values of names there.
    assigned : bool
        Whether a value is put into it, as into `y[0]` in `y[0] = x`.
    """

    text: str
    node: ast.expr
    names: Mapping[str, Any]
    assigned: bool

    def value_of(self, node: ast.expr) -> Any:
        """The value of a name, or of a path of attributes of modules; None for anything else."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        found = self.names.get(node.id, getattr(builtins, node.id, None))
        for name in reversed(path):
            # An attribute of anything else may be a property, and run the user's code.
            found = getattr(found, name, None) if isinstance(found, ModuleType) else None
        return found


def user_expression(frame: FrameType | None = None) -> UserExpression | None:
    """The expression that is running on the user's line, or None where the source is not there.

    Parameters
    ----------
    frame : frame, optional
        The frame of the line; by default the innermost one outside this library, which may be of
        Python's.
    """
    frame = running_frame() if frame is None else frame
    text = "" if frame is None else _text(frame)
    if frame is None or not text:
        return None
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):  # an assignment, or a line that was edited since
        return None
    names = {**frame.f_globals, **frame.f_locals}
    return UserExpression(text, node, names, is_assigning(frame))


def _text(frame: FrameType) -> str:
    """The source of the instruction that the frame is at."""
    place = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if place is None:
        return ""
    first, last, start, end = place
    if first is None or last is None or start is None or end is None:
        return ""
    lines = [
        linecache.getline(frame.f_code.co_filename, line).encode()
        for line in range(first, last + 1)
    ]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace")


def instead_of_numbers(*, of_size: bool = False) -> str:
    """The expression to write instead of the running one; empty where we know none.

    Parameters
    ----------
    of_size : bool
        Whether it is of the size of a named dimension, which is a number without `float` and `int`.
    """
    found = user_expression(users_frame())
    if found is None or (of_size and _is_conversion(found)):
        return ""
    if found.assigned:
        indexed = found.node.value if isinstance(found.node, ast.Subscript) else found.node
        return start_from(found.value_of(indexed), ast.unparse(indexed))
    match found.node:
        case ast.Call():
            return _instead_of_call(found, found.node, of_size)
        case ast.Subscript(value=value, slice=index):
            return _instead_of_index(found, value, index)
        case ast.BinOp(left=left, right=right):
            return _instead_of_operand(found, (left, right))
        case _:
            return ""


def start_from(written: object, name: str = "") -> str:
    """What to write symbols into, instead of an array of numbers.

    Parameters
    ----------
    written : object
        The array, or a view of it.
    name : str, optional
        Its name.
    """
    array = written
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = cast("np.ndarray[Any, Any]", array.base)
    place = f"{name} = " if name.isidentifier() else ""
    if isinstance(array, np.ndarray) and array.dtype.kind == "c":
        return "Join pieces of complex arrays by np.stack or np.concatenate."
    if not isinstance(array, np.ndarray):
        shown = "snp.zeros(shape)"
    elif not array.any():
        shown = f"{place}snp.zeros({_size(array)})"
    elif array.size and (array == 1).all():
        shown = f"{place}snp.ones({_size(array)})"
    else:
        shown = f"{place}snp.copy({name or 'array'})"
    return f"Start from {shown}, which holds symbols, or join values with np.stack."


def _size(array: np.ndarray[Any, Any]) -> str:
    return str(array.size) if array.ndim == 1 else str(array.shape)


# -- calls -----------------------------------------------------------------------------------------
_OF_MATH = {
    "acos": "np.arccos",
    "acosh": "np.arccosh",
    "asin": "np.arcsin",
    "asinh": "np.arcsinh",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "atanh": "np.arctanh",
    "erf": "scipy.special.erf",
    "erfc": "scipy.special.erfc",
    "fsum": "np.sum",
    "gamma": "scipy.special.gamma",
    "lgamma": "scipy.special.gammaln",
    "pow": "np.power",
}
_OF_BUILTINS: dict[object, str] = {
    all: "np.all(x) takes an array.",
    any: "np.any(x) takes an array.",
    float: "Leave float() out: an array without dimensions stands for a number.",
    int: "x.astype(int) cuts the fraction off, and stays an array.",
    max: "np.maximum(a, b) is the larger of two, np.max(x) the largest element.",
    min: "np.minimum(a, b) is the smaller of two, np.min(x) the smallest element.",
    range: "A loop whose length is computed is sg.while_loop.",
    sorted: "np.sort(x) sorts an array.",
}


_OF_PYTHON: Mapping[str, Mapping[str, str]] = {
    "_bisect": dict.fromkeys(("bisect", "bisect_left", "bisect_right"), "np.searchsorted"),
    "heapq": dict.fromkeys(("nlargest", "nsmallest"), "np.sort"),
    "statistics": {
        **dict.fromkeys(("fmean", "mean"), "np.mean"),
        "median": "np.median",
        "pstdev": "np.std",
        "pvariance": "np.var",
        "stdev": "np.std(x, ddof=1)",
        "variance": "np.var(x, ddof=1)",
    },
}
"""Functions of Python's own modules, and NumPy's of the same meaning."""


def _is_conversion(found: UserExpression) -> bool:
    call = found.node
    return isinstance(call, ast.Call) and found.value_of(call.func) in (float, int)


_SIZED = ("arange", "eye", "identity", "ones", "tri", "zeros")
"""Functions that make an array: what they take is how large it is."""
_FILLED = ("full", "linspace")
_OF_NUMPY: dict[object, str] = {
    np.lib.stride_tricks.as_strided: (
        "np.lib.stride_tricks.sliding_window_view(x, size) gives windows."
    ),
    np.take: "NumPy asks only the array that is indexed: snp.take(values, index) takes symbols.",
    np.ndenumerate: "Number the elements with np.ndindex(x.shape), and read x[index].",
}
_JOINING = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)


def _instead_of_call(found: UserExpression, call: ast.Call, of_size: bool) -> str:
    function = found.value_of(call.func)
    module, name = str(getattr(function, "__module__", "")), getattr(function, "__name__", "")
    if function is None and isinstance(call.func, ast.Attribute):
        return instead_of_array_method(found.value_of(call.func.value), call)
    if module == "builtins" and function in _OF_BUILTINS:
        return _OF_BUILTINS[function]
    if isinstance(function, np.vectorize) or _makes_vectorized(found, call.func):
        return number_by_number("np.vectorize")
    if module == "math":
        other = _OF_MATH.get(name) or (f"np.{name}" if hasattr(np, name) else "")
        wants = f"math.{name} takes a number."
        return (
            f"{wants} Use {other}, which traces." if other else f"{wants} NumPy's functions trace."
        )
    if module.startswith("numpy.ma"):
        return "np.ma computes with numbers: np.where(mask, 0, x) leaves elements out."
    if module.startswith("numpy.polynomial"):
        series = not isinstance(function, type) and not name
        return instead_of_polynomials(module, "" if series else name)
    if module in _OF_PYTHON:
        other = _OF_PYTHON[module].get(name, "NumPy's functions")
        traces = "which traces" if other.startswith("np.") else "which trace"
        return f"{module.lstrip('_')}.{name} computes with Python's numbers. Use {other}, {traces}."
    first = call.args[0] if call.args else None
    if function is np.fill_diagonal and first is not None:
        return start_from(found.value_of(first), ast.unparse(first))
    if isinstance(function, type) and issubclass(function, np.generic):
        return f'x.astype("{name}") converts, and stays an array.'
    if function in _OF_NUMPY:
        return _OF_NUMPY[function]
    if name in _SIZED + _FILLED and module.partition(".")[0] in ("numpy", "symgraph"):
        return _instead_of_creation(name, of_size)
    return _instead_of_lists(found, call, function)


def number_by_number(name: str) -> str:
    """What to write instead of a function of NumPy's that calls another one for each number."""
    return f"{name} calls a function of numbers. Give it the whole array, or use sg.vmap."


def _instead_of_creation(name: str, of_size: bool) -> str:
    if of_size:
        return (
            f"NumPy makes arrays of known sizes. snp.{name} of symgraph.numpy makes one whose size "
            "has a name."
        )
    if name in _SIZED:
        return f"How large snp.{name} is must be known while tracing: give it numbers."
    return f"NumPy makes arrays of numbers. snp.{name} of symgraph.numpy takes symbols."


def _instead_of_lists(found: UserExpression, call: ast.Call, function: object) -> str:
    """The function of `symgraph.numpy` of the same name, which takes lists of symbols."""
    library, _, path = str(getattr(function, "__module__", "")).partition(".")
    if library != "numpy":
        return ""
    reads = "NumPy reads a list number by number."
    given = [*call.args, *[each.value for each in call.keywords]]
    if function in _JOINING:
        first = call.args[0] if call.args else None
        if first is not None and _is_flat(found, first):
            return f"{reads} Join symbolic values with {_short(f'np.stack({ast.unparse(first)})')}."
        # The argument itself may be a symbol.
        shown = f"snp.array({', '.join([ast.unparse(each) for each in call.args])})"
        return f"NumPy makes an array of numbers. Use {_short(shown)} of symgraph.numpy."
    if not any(_is_list(found, each) for each in given):
        return _instead_of_named_list(found, given)
    own = str(getattr(function, "__name__", ""))
    name = ".".join(["snp", *([path] if path else []), own])
    shown = f"{name}({', '.join([ast.unparse(each) for each in (*call.args, *call.keywords)])})"
    return f"{reads} Use {_short(shown)} of symgraph.numpy, which joins symbolic values."


def _instead_of_named_list(found: UserExpression, nodes: Sequence[ast.expr]) -> str:
    """What to write for a list that is computed with as if it were an array."""
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and _is_list_of_symbols(found.value_of(each)):
                name = each.id
                return (
                    f"{name} is a list of symbols, and no array: begin with "
                    f"{name} = snp.array({name}), or give the function np.array({name})."
                )
    return ""


def _is_list_of_symbols(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(
        _is_list_of_symbols(each) or _library(each) == "symgraph" for each in cast("Any", value)
    )


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _is_list(found: UserExpression, node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple, ast.ListComp)):
        return True
    return isinstance(found.value_of(node), (list, tuple))


def _is_flat(found: UserExpression, node: ast.expr) -> bool:
    """Whether it is a list without lists in it, as np.stack takes it."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return not any(isinstance(each, ast.Starred) or _is_list(found, each) for each in node.elts)
    value = found.value_of(node)
    return isinstance(value, (list, tuple)) and not any(
        isinstance(each, (list, tuple)) for each in cast("Any", value)
    )


def _makes_vectorized(found: UserExpression, function: ast.expr) -> bool:
    return isinstance(function, ast.Call) and found.value_of(function.func) is np.vectorize


def _instead_of_operand(found: UserExpression, sides: Sequence[ast.expr]) -> str:
    """The array of an operand of another library, which makes numbers of what it meets."""
    for side in sides:
        value, told = found.value_of(side), "is"
        below = side
        while value is None and isinstance(below, ast.Subscript | ast.Attribute):
            below, told = below.value, "comes from"
            value = found.value_of(below)
        if hasattr(value, "__array__") and _library(value) not in ("numpy", "symgraph"):
            name = ast.unparse(side)
            return (
                f"{name} {told} a {type(value).__name__}, which computes with numbers: "
                f"take its array, np.asarray({name})."
            )
    return _instead_of_named_list(found, sides)


def _short(text: str) -> str:
    return textwrap.shorten(text, 60, placeholder="...")


# -- indexing --------------------------------------------------------------------------------------
def _instead_of_index(found: UserExpression, value: ast.expr, index: ast.expr) -> str:
    indexed = found.value_of(value)
    name = ast.unparse(value)
    if indexed is np.r_:
        return "np.r_ reads number by number. Join symbolic values with np.concatenate or np.stack."
    if indexed is np.c_:
        return "np.c_ reads number by number. Join symbolic columns with np.column_stack."
    if isinstance(indexed, np.ndarray):
        return _of_numbers(name, cast("np.ndarray[Any, Any]", indexed).ndim, index)
    if isinstance(indexed, (list, tuple)):
        return f"Index a list symbolically with snp.take(np.asarray({name}), index, axis=0)."
    if indexed is None and not isinstance(index, ast.Slice):
        # `self.table[i]` and `np.eye(3)[i]`: to know them would run the user's code once more.
        return _of_numbers(_short(name), 2, index)
    return ""


def _of_numbers(name: str, ndim: int, index: ast.expr) -> str:
    """NumPy asks only the array that is indexed, so np.take would not do."""
    if isinstance(index, ast.Tuple):
        places = ", ".join([ast.unparse(each) for each in index.elts])
        shown = _short(f"snp.asarray({name})[{places}]")
        return f"Index an array of numbers symbolically with {shown}."
    if isinstance(index, ast.Compare):
        chosen = _short(f"np.where({ast.unparse(index)}, {name}, 0)")
        return f"How many elements a mask takes is known only later: {chosen} keeps the shape."
    several = ", axis=0" if ndim > 1 else ""
    return f"Index an array of numbers symbolically with snp.take({name}, index{several})."
