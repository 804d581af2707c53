"""Dimensions as data: numbers, names, and trees of the few operations that shapes are made with.

Text is never given to SymPy. A tree is read by a grammar of sums, products, powers, minima, maxima
and roundings, and its size is bounded before anything is built.
"""

from __future__ import annotations

import json
from typing import Any, cast

from ..errors import DTypeError, InputError, ShapeError
from ..ir.avals import Aval, supported_dtype
from ..ir.dims import Dim, named, normal
from ..ir.symbolic_sizes import as_expr
from .json_paths import LARGEST, Place

__all__ = ["aval_at", "dim_at", "dtype_at", "shape_at", "written_aval", "written_dim"]

_HEADS = ("Add", "Mul", "Pow", "Min", "Max", "ceiling", "floor")
_DEEPEST = 12
_MOST_ARGUMENTS = 64
_MOST_TERMS = 4096
"""The most terms of a dimension, and of the number of elements of a shape, once products of sums
are multiplied out."""
_LONGEST_NAME = 200
_MOST_AXES = 64  # This is NumPy's own bound.


def written_dim(dim: Dim) -> Any:
    """A dimension as JSON: `3`, `"n"`, `{"Mul": [2, "n"]}`."""
    if isinstance(dim, int):
        return int(dim)
    if dim.is_Symbol:
        return str(dim)
    expr = as_expr(dim)
    if expr.is_Integer:
        return int(expr)
    if expr.is_Rational:
        return {"Ratio": [int(part) for part in expr.as_numer_denom()]}
    head = type(expr).__name__
    if head not in _HEADS:
        raise InputError(
            f"The dimension {dim} cannot be saved: it is made by {head}.",
            mend="Use sums, products and quotients of named dimensions.",
        )
    parts = [written_dim(cast("Dim", each)) for each in expr.args]
    # SymPy keeps the arguments of Min and Max in a set, whose order may change.
    return {head: parts if head == "Pow" else sorted(parts, key=json.dumps)}


def dim_at(place: Place) -> Dim:
    """The dimension written at a place."""
    return _dim_at(place)[0]


def _dim_at(place: Place) -> tuple[Dim, int]:
    """The dimension, and an upper bound of the number of its terms."""
    if isinstance(place.value, dict):
        found, terms = _tree(place, 0)
        if not found.free_symbols or found.is_integer is False:
            place.refuse("this is not a whole number in named dimensions")
        return normal(found), terms
    if isinstance(place.value, str):
        return _symbol(place), 1
    return place.integer(0), 1


def _symbol(place: Place) -> Any:
    name = place.text()
    if len(name) > _LONGEST_NAME:
        place.expected("the name of a dimension")
    try:
        return named(name)
    except ShapeError as error:
        place.refuse(error.what.rstrip("."))


def _tree(place: Place, depth: int) -> tuple[Any, int]:
    import sympy  # Only named dimensions pay for the import.

    if depth > _DEEPEST:
        place.refuse("the expression is nested too deeply")
    if isinstance(place.value, str):
        return as_expr(_symbol(place)), 1
    if not isinstance(place.value, dict):
        return sympy.Integer(place.integer()), 1
    head, inner = place.alone()
    if head == "Ratio":
        over, under = inner.items(2)
        return sympy.Rational(over.integer(), under.integer(1, LARGEST)), 1
    if head not in _HEADS:
        known = ", ".join(_HEADS)
        inner.refuse(f"there is no such operation on dimensions; the operations are {known}")
    places = inner.items({"Pow": 2, "ceiling": 1, "floor": 1}.get(head))
    if not 1 <= len(places) <= _MOST_ARGUMENTS:
        inner.refuse(f"expected 1 to {_MOST_ARGUMENTS} arguments, got {len(places)}")
    parts = [_tree(each, depth + 1) for each in places]
    terms = _terms(head, parts, inner)
    if terms > _MOST_TERMS:
        inner.refuse("the expression has too many terms")
    found = getattr(sympy, head)(*[part for part, _ in parts])
    if found.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I) or found.is_real is False:
        inner.refuse("this is not a real, finite number")
    return found, terms


def _terms(head: str, parts: list[tuple[Any, int]], place: Place) -> int:
    """The number of terms once products and powers of sums are multiplied out."""
    counts = [count for _, count in parts]
    if head in ("Add", "Min", "Max"):
        return sum(counts)
    if head == "Mul":
        return _product(counts)
    if head != "Pow":
        return counts[0]
    base, exponent = parts[0][0], parts[1][0]
    if not exponent.is_Rational or abs(exponent.p) > 64 or exponent.q > 64:
        place.refuse("the exponent is not a small number")
    if base.is_number and abs(base) > 64:
        place.refuse("the base is not a small number")
    return _product([counts[0]] * abs(int(exponent.p))) if counts[0] > 1 else 1


def _product(counts: list[int]) -> int:
    total = 1
    for each in counts:
        total = min(total * each, _MOST_TERMS + 1)
    return total


def shape_at(place: Place) -> tuple[Dim, ...]:
    """The shape written at a place."""
    places = place.items()
    if len(places) > _MOST_AXES:
        place.refuse(f"an array has {_MOST_AXES} axes at most, not {len(places)}")
    found = [_dim_at(each) for each in places]
    if _product([terms for _, terms in found]) > _MOST_TERMS:
        place.refuse("the number of elements has too many terms")
    return tuple([dim for dim, _ in found])


def dtype_at(place: Place) -> Any:
    """The dtype named at a place."""
    name = place.text()
    if not (name.isidentifier() and name.isascii() and len(name) < 10):
        place.expected("a dtype")  # NumPy would accept other text than names of dtypes.
    try:
        found = supported_dtype(name)
    except DTypeError:
        place.expected("a dtype")
    if found.name != name:
        place.refuse(f"expected the name {found.name!r}, got {name!r}")
    return found


def written_aval(aval: Aval) -> Any:
    """A dtype and a shape as JSON: `["float64", ["n", 3]]`."""
    return [aval.dtype.name, [written_dim(dim) for dim in aval.shape]]


def aval_at(place: Place) -> Aval:
    """The dtype and shape written at a place."""
    dtype, shape = place.items(2)
    return Aval(dtype_at(dtype), shape_at(shape))
