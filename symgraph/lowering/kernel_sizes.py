"""Named dimensions as a kernel sees them while its calls are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from .pieces import NotSpelled

__all__ = ["Size", "with_sizes"]


class Size:
    """A named dimension inside a kernel: it can be passed on and calculated with.

    Asked whether it is zero it says no and notes the question: such a kernel is called by name, but
    what its result shares with its operands is known (arrays without elements share nothing).
    """

    def __init__(self, expr: Any, asked: Callable[[], None]) -> None:
        self.expr = expr
        self._asked = asked

    def _made(self, expr: Any) -> Size:
        return Size(expr, self._asked)

    def __add__(self, other: Any) -> Size:
        return self._made(self.expr + _expr(other))

    def __sub__(self, other: Any) -> Size:
        return self._made(self.expr - _expr(other))

    def __rsub__(self, other: Any) -> Size:
        return self._made(_expr(other) - self.expr)

    def __mul__(self, other: Any) -> Size:
        return self._made(self.expr * _expr(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if type(other) is not int or other:
            raise NotSpelled("the size of a named dimension")
        self._asked()
        return False

    def __bool__(self) -> bool:
        return not self.__eq__(0)

    def _refuse(self, *_args: Any) -> NoReturn:
        raise NotSpelled("the size of a named dimension")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __index__ = __int__ = __float__ = _refuse
    __hash__ = _refuse  # pyright: ignore[reportAssignmentType]  # refusing is the point


def _expr(value: Any) -> Any:
    if isinstance(value, Size):
        return value.expr
    if type(value) is int:
        return value
    raise NotSpelled("arithmetic with the size of a named dimension")


def with_sizes(value: Any, asked: Callable[[], None]) -> Any:
    """A param with named dimensions as the kernel may use them; `asked` notes a question."""
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return tuple([with_sizes(item, asked) for item in items])
    return Size(value, asked) if hasattr(value, "free_symbols") else value
