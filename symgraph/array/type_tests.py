"""A question about the type of a symbol, `isinstance(x, np.ndarray)`, is told.

Its answer is that of a symbol, so a traced function may take another branch than with numbers.
Python reads `__class__` where the type itself does not answer, which is how we hear of it.
"""

from __future__ import annotations

import ast
import warnings
from abc import ABCMeta
from collections.abc import Iterator
from types import FrameType, UnionType
from typing import Any, cast, get_args

import numpy as np

from .advice import UserExpression, user_expression
from .library_calls import caller_of_libraries, library_of

__all__ = ["PASSES_ON", "TypeTestWarning", "tell_type_test"]

PASSES_ON = {np.isscalar.__code__, ABCMeta.__instancecheck__.__code__}
"""Functions that ask what their callers ask."""


class TypeTestWarning(UserWarning):
    """A traced function asks for the type of a symbol, which is not that of its numbers."""


def tell_type_test(own: type, dtype: np.dtype[Any], ndim: int, frame: FrameType) -> None:
    """Warn if the running expression, the user's or a library's, has another answer for numbers.

    Parameters
    ----------
    own : type
        The type of symbols.
    dtype : numpy.dtype
        Of the symbol that is asked.
    ndim : int
        Its number of dimensions; without any it stands for a number.
    frame : frame
        The one that asks.
    """
    found = user_expression()
    if found is None:
        return
    asked = [*_asked(found)]
    if any(_is_subclass(own, each) for each in asked):
        return
    stands_for = [np.ndarray] if ndim else [dtype.type, *([float] if dtype.kind == "f" else [])]
    if not any(_is_subclass(each, kind) for kind in asked for each in stands_for):
        return
    noun = "array" if ndim else "number"
    text = (
        f"`{found.text}` is False of a symbol, and would be True of the {noun} that it stands for: "
        "the function is traced as it goes on after False. Ask np.ndim(x) == 0 for a number and "
        "hasattr(x, 'shape') for an array, or name sg.Array beside the types."
    )
    caller = caller_of_libraries(frame)
    if caller is not None and caller is not frame:  # The user's line, which the user can change.
        library = library_of(frame)
        text = (
            f"{library} asks whether a symbol is a {noun}, and goes on as if it were none. "
            f"Write this line without {library}, with functions of numpy or symgraph.numpy."
        )
        frame = caller
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text, TypeTestWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry
    )


def _asked(found: UserExpression) -> Iterator[type]:
    """The types that the expression asks for; none if it is no such question."""
    match found.node:
        case ast.Call(func=function, args=[_, kinds]) if found.value_of(function) is isinstance:
            yield from _types(found, kinds)
        case ast.Call(func=function, args=[_]) if found.value_of(function) is np.isscalar:
            yield float
        case ast.Call(func=function, args=[]):  # `case float():`
            yield from _types(found, function)
        case _:
            return


def _types(found: UserExpression, node: ast.expr) -> Iterator[type]:
    match node:
        case ast.Tuple(elts=several):
            for each in several:
                yield from _types(found, each)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _types(found, left)
            yield from _types(found, right)
        case _:
            yield from _flat(found.value_of(node))


def _flat(value: object) -> Iterator[type]:
    if isinstance(value, type):
        yield value
    elif isinstance(value, (tuple, UnionType)):
        members = get_args(value) if isinstance(value, UnionType) else cast("Any", value)
        for each in members:
            yield from _flat(each)


def _is_subclass(kind: type, of: type) -> bool:
    try:
        return issubclass(kind, of)
    except TypeError:  # of a protocol with attributes
        return False
