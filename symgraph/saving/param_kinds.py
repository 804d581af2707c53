"""The kind of value that each name of a param takes: a first check, so that errors name the param.

The rest is checked by the operations. A name means the same in every operation, so the table is of
names, and no operation stands in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ..ir.body import Body
from ..ir.dims import is_named
from ..ops.backward_rules import Backward
from .json_paths import Place

__all__ = ["check_params"]

Test = tuple[str, Callable[[object], bool]]
"""The kind of value that a param takes, in words, and a test for it."""


def _is_integer(value: object) -> bool:
    return type(value) is int


def _is_size(value: object) -> bool:
    return type(value) is int or is_named(value)


def _is_shape(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_size, cast("tuple[Any, ...]", value)))


def _is_integers(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_integer, cast("tuple[Any, ...]", value)))


def _is_axes(value: object) -> bool:
    return _is_integer(value) or _is_integers(value)


def _is_pads(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_integers, cast("tuple[Any, ...]", value)))


def _is_bound(value: object) -> bool:
    return value is None or _is_size(value)


def _is_entry(value: object) -> bool:
    if isinstance(value, tuple):
        parts = cast("tuple[Any, ...]", value)
        return len(parts) == 3 and all(map(_is_bound, parts))
    return value is None or _is_integer(value)


def _is_index(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_entry, cast("tuple[Any, ...]", value)))


def _of_type(*types: type[Any]) -> Callable[[object], bool]:
    return lambda value: type(value) in types


_INTEGER: Test = ("an integer", _is_integer)
_INTEGERS: Test = ("a list of integers", _is_integers)
_SIZE: Test = ("an integer or a dimension", _is_size)
_BOOLEAN: Test = ("true or false", _of_type(bool))
_TEXT: Test = ("text", _of_type(str))
_BODY: Test = ("a body", _of_type(Body))
_NUMBER: Test = ("a number", _of_type(float, int, type(None)))

_TESTS: Mapping[str, Test] = {
    **dict.fromkeys(("axis",), ("an integer, or a list of integers", _is_axes)),
    **dict.fromkeys(("axes", "dilations", "strides", "sizes"), _INTEGERS),
    "pads": ("a list of pairs of integers", _is_pads),
    **dict.fromkeys(("shape", "extents"), ("a list of integers and dimensions", _is_shape)),
    **dict.fromkeys(("size", "rows", "columns", "length"), _SIZE),
    **dict.fromkeys(
        ("offset", "groups", "k", "carries", "scanned", "tests", "lead", "steps", "trans"), _INTEGER
    ),
    "decimals": _INTEGER,
    "order": _INTEGER,
    **dict.fromkeys(("keepdims", "reverse", "lower", "unit_diagonal"), _BOOLEAN),
    **dict.fromkeys(("mode", "side", "uplo", "subscripts", "what", "kind"), _TEXT),
    **dict.fromkeys(("body", "cond", "true", "false"), _BODY),
    **dict.fromkeys(("tolerance", "norm", "low", "high", "rtol", "rcond", "ord"), _NUMBER),
    "dtype": ("a dtype", lambda value: isinstance(value, np.dtype)),
    "value": ("an array", _of_type(np.ndarray)),
    "index": ("an index", lambda value: _is_integer(value) or _is_index(value)),
    "backward": ("a rule", _of_type(Backward)),
}


def check_params(params: Mapping[str, Any], given: Mapping[str, Place]) -> None:
    """Check that each param is of the kind that its name says.

    Raises
    ------
    FormatError
    """
    for name, value in params.items():
        if name in _TESTS:
            what, holds = _TESTS[name]
            if not holds(value):
                given[name].expected(what)
