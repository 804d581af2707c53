"""Named dimensions as a kernel sees them while its calls are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, cast

from ..ir.dims import Dim, is_named
from .source_pieces import NoSource

__all__ = ["Size", "with_sizes"]


class Size:
    """A named dimension inside a kernel: it can be passed on and calculated with.

    A kernel may ask whether the dimension is zero. The answer is no, and the question is noted: the
    kernel is then called by name. The memory its result shares with its operands is still known,
    for arrays without elements share nothing.
    """

    def __init__(self, expr: Dim, asked: Callable[[], None]) -> None:
        self.expr = expr
        self._asked = asked

    def _with_expr(self, expr: Dim) -> Size:
        return Size(expr, self._asked)

    def __add__(self, other: object) -> Size:
        return self._with_expr(self.expr + _expr(other))

    def __sub__(self, other: object) -> Size:
        return self._with_expr(self.expr - _expr(other))

    def __rsub__(self, other: object) -> Size:
        return self._with_expr(_expr(other) - self.expr)

    def __mul__(self, other: object) -> Size:
        return self._with_expr(self.expr * _expr(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if type(other) is not int or other:
            raise NoSource("the size of a named dimension")
        self._asked()
        return False

    def __bool__(self) -> bool:
        return not self.__eq__(0)

    def _refuse(self, *_args: object) -> NoReturn:
        raise NoSource("the size of a named dimension")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __index__ = __int__ = __float__ = _refuse
    __hash__ = _refuse  # pyright: ignore[reportAssignmentType]  # refusing is the point


def _expr(value: object) -> Dim:
    if isinstance(value, Size):
        return value.expr
    if type(value) is int:
        return value
    raise NoSource("arithmetic with the size of a named dimension")


def with_sizes(value: object, asked: Callable[[], None]) -> object:
    """A param with its named dimensions as `Size`; a question for a size calls `asked`."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return tuple([with_sizes(item, asked) for item in items])
    return Size(value, asked) if is_named(value) else value
