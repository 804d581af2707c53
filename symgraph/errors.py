"""The exception tree, and how a message is put together: what, where, how to mend.

Every error a user can cause derives from `SymgraphError`. A message has up to three parts: the
headline says what is wrong, the rows say where (operands with their shapes and the user's lines),
the last line says how to mend it. The user's line that led to an error is always among the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from .source import Frame, user_frame

__all__ = [
    "BackendError",
    "ConvergenceError",
    "DTypeError",
    "ExpressionError",
    "FactError",
    "FormatError",
    "InputError",
    "MemoryBudgetError",
    "MissingAttribute",
    "NonFiniteError",
    "NotDifferentiable",
    "RangeError",
    "RewriteError",
    "RewriteLoopError",
    "RuleError",
    "ShapeError",
    "SymgraphError",
    "TraceError",
    "UnknownSize",
    "VerifyError",
    "did_you_mean",
    "nothing_returned",
]


F = TypeVar("F", bound=Callable[..., Any])


class SymgraphError(Exception):
    """Base of all errors of this library.

    Parameters
    ----------
    what : str
        The headline: one sentence.
    rows : sequence of str
        Where: one line each, indented under the headline.
    mend : str
        What to do about it.
    """

    def __init__(self, what: str, rows: Sequence[str] = (), mend: str = "") -> None:
        self.what = what
        self.rows = tuple(rows)
        self.mend = mend
        self.frame = user_frame()
        super().__init__(what)

    def __str__(self) -> str:
        rows = list(self.rows)
        if self.frame is not None and not any(str(self.frame) in row for row in rows):
            rows.append(f"used at {self.frame.quoted()}")
        lines = [self.what, *("  " + row for row in rows)]
        if self.mend:
            lines.append(self.mend)
        return "\n".join(lines)


class ShapeError(SymgraphError, ValueError):
    """Shapes do not fit: broadcasting, inner dimensions, an axis out of range."""


class DTypeError(SymgraphError, TypeError):
    """A dtype is not supported here, or a value does not fit it."""


class RangeError(DTypeError, OverflowError):
    """A Python int does not fit the dtype it would be converted to."""


class TraceError(SymgraphError, TypeError):
    """A symbolic array was used where only numbers can be: `if x:`, `float(x)`, `np.asarray(x)`."""


class UnknownSize(TraceError):
    """The size of a named dimension was asked for, as in `if x.shape[0] == 1:`."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question which of the known names was meant; empty where none is like it."""
    import difflib  # Not needed until something is wrong.

    close = difflib.get_close_matches(name, list(known), n=3)
    return f"Did you mean {' or '.join(close)}?" if close else ""


def check_choice(what: str, given: str, known: Sequence[str]) -> None:
    """Refuse a choice that there is not.

    Raises
    ------
    SymgraphError
    """
    if given not in known:
        raise SymgraphError(
            f"There is no {what} {given!r}.", mend=f"It is one of {', '.join(map(repr, known))}."
        )


def nothing_returned(name: str) -> TraceError:
    """The error for a traced function that has no result."""
    return TraceError(
        f"{name} returned None: it has no `return`, or a path through it has none.",
        mend="End it with `return` and the value.",
    )


def by_position(most: int, mend: str) -> Callable[[F], F]:
    """For a function that takes `most` arguments by position: what to write is said of more.

    Raises
    ------
    InputError
        When it is called with more.
    """

    def told(function: F) -> F:
        @wraps(function)
        def checked(*args: object, **keywords: object) -> object:
            if len(args) > most:
                names = ", ".join(list(signature(function).parameters)[:most])
                raise InputError(
                    f"{function.__name__} takes {most} arguments by position, {names}; "
                    f"{len(args)} were given.",
                    mend=mend,
                )
            return function(*args, **keywords)

        return cast("F", checked)

    return told


class MissingAttribute(TraceError, AttributeError):
    """A symbolic array was asked for an attribute that only arrays of numbers have."""


class InputError(SymgraphError, ValueError):
    """A call lacks an input, has one too many, or one of the wrong shape or dtype."""


class NotDifferentiable(SymgraphError, ValueError):
    """A gradient was asked for that does not exist; the message names the path."""


class FactError(SymgraphError, ValueError):
    """A fact was stated that contradicts another one, or that cannot hold."""


class FormatError(SymgraphError, ValueError):
    """The file holds no saved graph; the message gives the path of the fault in the file."""


class RuleError(SymgraphError, ValueError):
    """A rewrite rule is ill formed, or its two sides disagree."""


class RewriteError(SymgraphError, RuntimeError):
    """A rewrite failed while it was applied; the graph is unchanged."""


class RewriteLoopError(RewriteError):
    """Rules undo one another; the message names the cycle and the user's line."""


class VerifyError(SymgraphError, AssertionError):
    """A graph breaks an invariant: a cycle, a shape that does not follow, an unknown operation."""


class BackendError(SymgraphError, RuntimeError):
    """A backend is unknown, not installed, or cannot run an operation."""


class ConvergenceError(SymgraphError, RuntimeError):
    """An iteration did not converge within its steps; raised when a graph is run."""


class NonFiniteError(SymgraphError, FloatingPointError):
    """A result is NaN or infinite; the message names the operation in which that began.

    Raised by functions that are lowered with `debug="nan"` or `debug="inf"`.

    Attributes
    ----------
    operation : str
        The operation; `"input"` or `"constant"` if the number was there from the start.
    lines : tuple of Frame
        The user's lines of it; of an operation of a gradient those of the forward pass.
    gradient : bool
        Whether it is an operation of a gradient.
    index : tuple of int
        The element of its result.
    output : str
        The name of the output that it reaches.
    """

    def __init__(
        self,
        what: str,
        rows: Sequence[str] = (),
        mend: str = "",
        *,
        operation: str = "",
        lines: tuple[Frame, ...] = (),
        gradient: bool = False,
        index: tuple[int, ...] = (),
        output: str = "",
    ) -> None:
        super().__init__(what, rows, mend)
        self.operation = operation
        self.lines = lines
        self.gradient = gradient
        self.index = index
        self.output = output


class MemoryBudgetError(SymgraphError, ValueError):
    """No schedule fits the memory budget; `least_bytes` is the least budget found that has one.

    No schedule at all needs less than `bound_bytes`.
    """

    def __init__(
        self,
        what: str,
        rows: Sequence[str] = (),
        mend: str = "",
        *,
        least_bytes: int = 0,
        bound_bytes: int = 0,
    ) -> None:
        super().__init__(what, rows, mend)
        self.least_bytes = least_bytes
        self.bound_bytes = bound_bytes


class ExpressionError(SymgraphError, ValueError):
    """Text that is not an expression this library reads; the message points at the column."""
