"""Dimensions: fixed ones are ints, named ones polynomials in names that stand for sizes.

What is no polynomial with whole coefficients, such as `ceiling(n / 2)`, is a SymPy expression in
nonnegative integer symbols. SymPy is imported when the first such dimension is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import ceil, floor, prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from ..errors import InputError, ShapeError
from .symbolic_sizes import SymbolicSize, as_expr, as_polynomial

if TYPE_CHECKING:
    from sympy import Expr

__all__ = [
    "Dim",
    "Shape",
    "ShapeLike",
    "bind",
    "count",
    "fixed",
    "is_named",
    "is_nonnegative",
    "known_equal",
    "known_most",
    "named",
    "names_of",
    "normal",
    "parse_shape",
    "plain",
    "resolve",
    "same_shape",
    "show_shape",
    "sized",
]

Dim: TypeAlias = "int | SymbolicSize | Expr"
Shape: TypeAlias = tuple[Dim, ...]
ShapeLike: TypeAlias = "Dim | np.integer[Any] | str | Sequence[Dim | np.integer[Any] | str]"
"""A shape as users write it: numbers, names of dimensions, or text such as `"n, 64"`."""


@cache
def named(name: str) -> SymbolicSize:
    """The dimension called `name`: a nonnegative integer not known until inputs arrive."""
    if not name.isidentifier():
        raise ShapeError(
            f"{name!r} cannot name a dimension.",
            mend='Name it like a variable, as in sg.spec("n, 64").',
        )
    return SymbolicSize.named(name)


def plain(dim: object) -> Any:
    """A size as the user's code sees it, as a dimension; anything else as it is."""
    return getattr(dim, "_dimension", dim)


def normal(dim: Any) -> Dim:
    """`dim` as an int where it is one, else as a polynomial or an expanded SymPy expression."""
    if isinstance(dim, (int, SymbolicSize)):
        return int(dim) if isinstance(dim, int) else dim
    if hasattr(dim, "__index__") and not hasattr(dim, "free_symbols"):
        return int(dim.__index__())
    dim = plain(dim)
    if isinstance(dim, SymbolicSize):
        return dim
    if hasattr(dim, "free_symbols"):
        return as_polynomial(dim.expand()) if dim.free_symbols else int(dim)
    raise ShapeError(
        f"{dim!r} is not a dimension.", mend="A dimension is a nonnegative int or a name."
    )


def is_named(value: object) -> TypeGuard[SymbolicSize | Expr]:
    """Whether `value` is a dimension with a name, or an expression in some."""
    if isinstance(plain(value), SymbolicSize):
        return True
    return hasattr(value, "free_symbols") and hasattr(value, "is_integer")


def is_nonnegative(dim: Dim) -> bool:
    """Whether the expression is a size whatever the names stand for: `n`, but not `n - 5`."""
    return dim >= 0 if isinstance(dim, int) else bool(dim.is_nonnegative)


def known_equal(a: Dim, b: Dim) -> bool:
    """Whether the two are equal for all sizes of the named dimensions."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return bool(a == b) or normal(a - b) == 0


def same_shape(one: Sequence[Dim], other: Sequence[Dim]) -> bool:
    """Whether two shapes are equal for all sizes of the named dimensions."""
    return one == other or (len(one) == len(other) and all(map(known_equal, one, other)))


def known_most(dim: Dim) -> int | None:
    """A number that the dimension never exceeds, such as 1 for `Max(0, Min(4, n) - 3)`."""
    dim = plain(dim)
    if isinstance(dim, int):
        return dim
    if isinstance(dim, SymbolicSize):
        return None
    if dim.is_Integer:
        return int(cast("Any", dim))
    most = [known_most(cast("Expr", part)) for part in dim.args]
    known = [each for each in most if each is not None]
    kind = type(dim).__name__
    if kind == "Min":
        return min(known, default=None)
    if kind not in ("Max", "Add") or len(known) < len(most):
        return None
    return max(known) if kind == "Max" else sum(known)


def count(shape: Sequence[Dim]) -> Dim:
    """The number of elements of an array of this shape."""
    total: Any = 1
    for dim in shape:
        total = total * dim
    return normal(total)


def parse_shape(shape: ShapeLike | Iterable[Dim | np.integer[Any] | str]) -> Shape:
    """A shape from a dimension, a tuple of ints and names, or text such as `"n, 64"`."""
    if isinstance(shape, (int, np.integer)) or is_named(shape):
        parts: list[Any] = [shape]
    elif isinstance(shape, str):
        parts = [part.strip() for part in shape.strip().strip("()").split(",")]
        if parts and not parts[-1]:
            parts.pop()
    elif isinstance(shape, Iterable):
        parts = list(cast("Iterable[Any]", shape))
    else:
        raise ShapeError(
            f"{shape!r} is no shape.",
            mend='A shape is a number, a tuple of numbers and names, or text such as "n, 64".',
        )
    return tuple(_parse_dim(part, shape) for part in parts)


def _parse_dim(part: object, shape: object) -> Dim:
    if isinstance(part, str):
        digits = part.lstrip("-")
        dim: Dim = int(part) if digits.isdecimal() and digits.isascii() else named(part)
    else:
        dim = normal(part)
    if isinstance(dim, int) and dim < 0:
        raise ShapeError(f"A dimension cannot be negative: {dim} in shape {shape!r}.")
    return dim


def names_of(dim: object) -> tuple[str, ...]:
    """The names a dimension depends on, or a graph held in params, sorted."""
    names = getattr(dim, "dim_names", None)
    if names is not None:
        return names
    symbols = getattr(dim, "free_symbols", ())
    return tuple(sorted([symbol.name for symbol in symbols]))


def resolve(value: Any, env: Mapping[str, int]) -> Any:
    """`value` with every named dimension in it replaced by its size in `env`; tuples inside too.

    A graph held in params has a method `at_sizes`, which is asked.
    """
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return tuple(resolve(item, env) for item in items)
    if is_named(value):
        value = plain(value)
        missing = [name for name in names_of(value) if name not in env]
        if missing:
            raise InputError(
                f"The size of dimension {missing[0]!r} is not known.",
                mend=f"Pass it by name, as in {missing[0]}=128.",
            )
        if isinstance(value, SymbolicSize):
            return value.at(env)
        found = _computed(value, env)
        if found is None:
            found = value.subs({as_expr(named(name)): env[name] for name in names_of(value)})
        return int(found)
    return value.at_sizes(env) if hasattr(value, "at_sizes") else value


def sized(dim: SymbolicSize | Expr, sizes: Mapping[str, int]) -> Dim:
    """A dimension with numbers for some of its names."""
    if isinstance(dim, SymbolicSize):
        return dim.at(sizes)
    return normal(dim.subs({as_expr(named(name)): size for name, size in sizes.items()}))


def _computed(dim: Expr, env: Mapping[str, int]) -> int | Fraction | None:
    """A dimension's size by Python's numbers, in a tenth of the time that SymPy's `subs` takes.

    None where the expression has a function that dimensions seldom have.
    """
    leaf: Any = dim
    if dim.is_Symbol:
        return int(env[leaf.name])
    if dim.is_Rational:
        return int(leaf.p) if leaf.q == 1 else Fraction(int(leaf.p), int(leaf.q))
    if (compute := _FUNCTIONS.get(type(dim).__name__)) is None:
        return None
    values: list[int | Fraction] = []
    for part in dim.args:
        found = _computed(cast("Expr", part), env)
        if found is None:
            return None
        values.append(found)
    return compute(values)


_FUNCTIONS: dict[str, Callable[[Sequence[Any]], int | Fraction | None]] = {
    "Add": sum,
    "Mul": prod,
    "Max": max,
    "Min": min,
    "floor": lambda values: floor(values[0]),
    "ceiling": lambda values: ceil(values[0]),
    "Pow": lambda values: values[0] ** values[1] if values[1] in range(2, 9) else None,
}


def bind(shape: Shape, actual: tuple[int, ...], env: dict[str, int]) -> bool:
    """Whether `actual` fits `shape`; sizes of named dimensions are read off into `env`."""
    if len(shape) != len(actual):
        return False
    for dim, size in zip(shape, actual, strict=True):
        if isinstance(dim, int):
            if dim != size:
                return False
        elif env.setdefault(str(dim), size) != size:
            return False
    return True


def show_shape(shape: Sequence[Dim]) -> str:
    """`[n, 64]`, as errors and listings print it."""
    return "[" + ", ".join(str(dim) for dim in shape) + "]"


def fixed(shape: Sequence[Dim]) -> bool:
    """Whether every dimension is a number."""
    return all(isinstance(dim, int) for dim in shape)
