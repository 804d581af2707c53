"""The sizes of named dimensions as the user's function sees them, in `x.shape` and `x.size`.

This library computes with polynomials and SymPy's expressions. To the user's code each is shown as
a `NamedSize`, for these answer questions that nobody can answer yet: `n == 1` and `n % 2 == 0` are
False, and `bool(n)` is True, whatever size arrives later.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import UnknownSize
from ..ir.dims import Dim, Shape, is_named
from ..ir.scope import refusal
from ..ir.symbolic_sizes import SymbolicSize, as_expr
from ..source import is_internal, user_frame
from .advice import instead_of_numbers
from .dispatch import ufunc_called

if TYPE_CHECKING:
    from sympy import Expr

__all__ = ["NamedSize", "as_seen", "shape_as_seen"]

_WRITE_BOTH = (
    "Trace with a fixed size, as in sg.spec((3, 4)), where the program depends on it; leave the "
    "question out where it does not."
)
_ONE_NAME = "Sizes that are equal have one name, as both axes of sg.spec('n, n')."
_COMPUTE = (
    "Compute with it as it is; NumPy's functions take it, as np.sqrt(x.shape[0]), and snp.arange, "
    "snp.zeros and their kin make arrays of that size. Or trace with a fixed size."
)


def as_seen(dim: Dim) -> Any:
    """A size as the user's code sees it."""
    return dim if isinstance(dim, int) else NamedSize(dim)


def shape_as_seen(shape: Shape) -> Shape:
    """A shape as the user's code sees it."""
    return tuple([as_seen(dim) for dim in shape])


def _expr(value: object) -> Any:
    """The operand of arithmetic on sizes; None if it is neither a number nor a size."""
    if isinstance(value, NamedSize):
        return value.expr
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float)) or is_named(value) else None


def _found(value: Dim) -> NamedSize | int | float:
    """A result of arithmetic: a number of Python's where it is one."""
    if isinstance(value, int):
        return value
    if isinstance(value, SymbolicSize) or value.free_symbols:
        return NamedSize(value)
    return int(value) if value.is_Integer else float(value)


def _binary(compute: Callable[[Any, Any], Any], flipped: bool = False) -> Callable[..., Any]:
    def method(self: NamedSize, other: object) -> Any:
        one, two = self.expr, _expr(other)
        if two is None:
            return NotImplemented
        return _computed(compute, two, one) if flipped else _computed(compute, one, two)

    return method


_DIVIDING = (operator.truediv, operator.floordiv, operator.mod)


def _computed(compute: Callable[..., Any], *operands: Dim | float) -> NamedSize | int | float:
    """A result of arithmetic as Python has it: a quotient is a float, and 0 divides nothing."""
    if compute in _DIVIDING and operands[1] == 0:
        raise ZeroDivisionError("division by zero")
    found = compute(*operands)
    if compute is operator.truediv and (isinstance(found, int) or found.is_integer):
        found = as_expr(found) * 1.0  # also where it is a whole number, as 2 n / n is
    return _found(found)


def _unary(compute: Callable[[Any], Any]) -> Callable[[NamedSize], Any]:
    return lambda self: _found(compute(self.expr))


def _order(sign: str, compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def method(self: NamedSize, other: object) -> Any:
        two = _expr(other)
        if two is None:
            return NotImplemented
        found = compare(as_expr(self.expr), as_expr(two))
        if found.is_Relational:
            raise _unknown(f"{self.expr} {sign} {two}")
        return bool(found)

    return method


def _of_sympy(name: str) -> Callable[..., Any]:
    def call(*operands: object) -> Any:
        import sympy  # Few programs need it.

        return getattr(sympy, name)(*map(as_expr, operands))

    return call


def _unknown(question: str, mend: str = _WRITE_BOTH) -> UnknownSize:
    frame = user_frame()
    return refusal(
        UnknownSize(
            f"Whether {question} is not known while a function is traced: a named dimension has no "
            "size yet.",
            [f"used at {frame.quoted()}"] if frame else [],
            mend=instead_of_numbers(of_size=True) or mend,
        )
    )


class NamedSize:
    """A size that is not known yet.

    Arithmetic gives sizes, NumPy's functions give 0-d arrays, and a question that the name alone
    does not answer is an error. Whatever else is asked of it is asked of the expression.

    Parameters
    ----------
    expr : SymbolicSize or SymPy expression
        In the names of dimensions.

    Examples
    --------
    >>> x = sg.input("x", "n, 3")
    >>> n = x.shape[0]
    >>> n // 2 + 1, n == n, n >= 0
    (floor(n/2) + 1, True, True)
    >>> np.sqrt(n)
    <Array sqrt float64[]>
    """

    __slots__ = ("expr",)
    # SymPy's operators leave `expr * size` to the operand of higher priority.
    _op_priority = 900.0

    def __init__(self, expr: SymbolicSize | Expr) -> None:
        self.expr: Any = expr

    @property
    def _dimension(self) -> Any:
        """The size as this library computes with it (`ir.dims.plain`)."""
        return self.expr

    def __getattr__(self, name: str) -> Any:
        # A protocol's method is not the expression's; nor is there one while it is copied.
        if name == "expr" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.expr, name)

    def __reduce__(self) -> Any:
        return NamedSize, (self.expr,)

    def _sympy_(self) -> Expr:
        return as_expr(self.expr)

    def __repr__(self) -> str:
        return repr(self.expr)

    def __str__(self) -> str:
        return str(self.expr)

    def __format__(self, spec: str) -> str:
        return format(str(self.expr), spec)

    # -- arithmetic ------------------------------------------------------------------------------
    __add__ = _binary(operator.add)
    __radd__ = _binary(operator.add, flipped=True)
    __sub__ = _binary(operator.sub)
    __rsub__ = _binary(operator.sub, flipped=True)
    __mul__ = _binary(operator.mul)
    __rmul__ = _binary(operator.mul, flipped=True)
    __truediv__ = _binary(operator.truediv)
    __rtruediv__ = _binary(operator.truediv, flipped=True)
    __floordiv__ = _binary(operator.floordiv)
    __rfloordiv__ = _binary(operator.floordiv, flipped=True)
    __mod__ = _binary(operator.mod)
    __rmod__ = _binary(operator.mod, flipped=True)
    __pow__ = _binary(operator.pow)
    __rpow__ = _binary(operator.pow, flipped=True)
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __floor__ = _unary(_of_sympy("floor"))
    __ceil__ = _unary(_of_sympy("ceiling"))

    def __divmod__(self, other: object) -> Any:
        return self // other, self % other

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Any:
        compute = None if kwargs or method != "__call__" else _ON_SIZES.get(ufunc)
        operands = [_expr(each) for each in inputs]
        # A float of NumPy's has a dtype, which a size has not.
        if compute is not None and not any(
            two is None or isinstance(each, np.floating)
            for each, two in zip(inputs, operands, strict=True)
        ):
            return _computed(compute, *operands)
        given = [each.expr if isinstance(each, NamedSize) else each for each in inputs]
        return ufunc_called(ufunc, method, tuple(given), kwargs)

    # -- questions -------------------------------------------------------------------------------
    def __eq__(self, other: object) -> Any:
        two = _expr(other)
        if two is None:
            return NotImplemented
        apart: Any = self.expr - two
        apart = apart if isinstance(apart, int) else apart.expand()
        if apart == 0 or isinstance(apart, int) or apart.is_zero is False:
            return bool(apart == 0)
        if is_internal(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return False
        raise _unknown(f"{self.expr} == {two}", _ONE_NAME if is_named(two) else _WRITE_BOTH)

    def __hash__(self) -> int:
        return hash(self.expr)

    __lt__ = _order("<", operator.lt)
    __le__ = _order("<=", operator.le)
    __gt__ = _order(">", operator.gt)
    __ge__ = _order(">=", operator.ge)

    def __bool__(self) -> bool:
        if self.expr.is_zero is None and not is_internal(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            raise _unknown(f"{self.expr} != 0")
        return self.expr.is_zero is not True

    def _refuse(self, *_args: object) -> NoReturn:
        frame = user_frame()
        raise refusal(
            UnknownSize(
                f"A number was needed where the size {self.expr} of a named dimension stands.",
                [f"used at {frame.quoted()}"] if frame else [],
                mend=instead_of_numbers(of_size=True) or _COMPUTE,
            )
        )

    __float__ = __int__ = __round__ = __trunc__ = __complex__ = _refuse


_ON_SIZES: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.negative: operator.neg,
    np.maximum: _of_sympy("Max"),
    np.minimum: _of_sympy("Min"),
    np.floor: _of_sympy("floor"),
    np.ceil: _of_sympy("ceiling"),
}
"""Ufuncs whose result on sizes and numbers is a size."""
