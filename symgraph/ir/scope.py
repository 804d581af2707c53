"""Scopes: which function is being traced now, and inside which other.

`trace`, the transforms and the operations that hold graphs (loops, branches, custom derivatives)
open a scope while they call the user's function. Whoever must know whether a function is being
traced, or in which function a value was made, asks here.
"""

from __future__ import annotations

import re
import warnings
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TypeVar

from ..errors import SymgraphError, TraceError
from ..source import raising_frame
from .naming import watched

__all__ = ["CaughtErrorWarning", "Scope", "current_scope", "refusal", "tracing"]


Refused = TypeVar("Refused", bound=TraceError)


class CaughtErrorWarning(UserWarning):
    """A traced function catches the error of a symbol that was asked for a number."""


class Scope:
    """One call of a user's function, while it is traced.

    Parameters
    ----------
    what : str
        The function's name, for messages.
    outer : Scope or None
        The scope in which this one was opened.

    Attributes
    ----------
    is_open : bool
        Whether the call is still running.
    is_body : bool
        Whether the function is the body of a loop, a branch, or the like.
    last : int
        The serial number of the last node that was made while it was running.
    refused : TraceError or None
        The first error in it that no caller would meet with numbers.
    """

    __slots__ = ("__weakref__", "is_body", "is_open", "last", "outer", "refused", "what")

    def __init__(self, what: str, outer: Scope | None) -> None:
        self.what = what
        self.outer = outer
        self.is_open = True
        self.is_body = False
        self.last = 0
        self.refused: TraceError | None = None


_current: ContextVar[Scope | None] = ContextVar("scope", default=None)


current_scope = _current.get
"""The innermost scope, or None where no function is being traced.

The method itself and no function around it, for every array that is made asks.
"""


def refusal(error: Refused) -> Refused:
    """The error, to be raised: a number was asked for, and there is none while tracing.

    Where the function that is traced catches it, and goes on, that is told.
    """
    scope = _current.get()
    if scope is not None and scope.refused is None:
        scope.refused = TraceError(error.what, mend=error.mend)
        scope.refused.frame = error.frame
    return error


def _tell_caught(what: str, refused: TraceError) -> None:
    """Warn that a function has gone on after this error, at the line that met it."""
    frame = refused.frame
    file, line = (frame.file, frame.line) if frame is not None else (__file__, 1)
    text = (
        f"{what} catches an error that numbers do not raise, and goes on. What it computes then is "
        f"traced, and may be something else than with numbers. The error: {refused}"
    )
    warnings.warn_explicit(text, CaughtErrorWarning, file, line)


class tracing:  # reads as a function: `with tracing("loss")`
    """Open a scope for the call of the function of this name."""

    __slots__ = ("_scope", "_token", "_watched", "_what")

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> Scope:
        self._scope = Scope(self._what, _current.get())
        self._token: Token[Scope | None] = _current.set(self._scope)
        self._watched = watched()
        self._watched.__enter__()
        return self._scope

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._scope.is_open = False
        self._watched.__exit__()
        _current.reset(self._token)
        refused, outer = self._scope.refused, self._scope.outer
        if refused is not None and error is None:
            _tell_caught(self._what, refused)
        elif refused is not None and outer is not None and outer.refused is None:
            outer.refused = refused
        if type(error) is TypeError:
            told = _size_wanted(error, traceback)
            if told is not None:
                raise told from error
        cause = None if error is None else error.__cause__
        if isinstance(error, ValueError) and isinstance(cause, SymgraphError):
            # NumPy's own message for a symbol in an array of numbers does not help.
            raise cause from None


# The messages of Python and NumPy for a SymPy expression where they want a number.
_WANTED_A_SIZE = re.compile(
    r"'(NamedSize|Symbol|Add|Mul|Pow|floor|Mod|Max|Min)' object cannot be interpreted as an integer"
    r"|expected a sequence of integers or a single integer, got"
)


def _size_wanted(error: TypeError, traceback: TracebackType | None) -> TraceError | None:
    """The error for a named dimension where a number is needed: `range(n)`, `np.zeros(n)`."""
    frame = raising_frame(traceback)
    if frame is None or not _WANTED_A_SIZE.match(str(error)):
        return None
    told = TraceError(
        "A number was needed where the size of a named dimension stands.",
        [f"used at {frame.quoted()}"],
        mend="Make arrays of that size with symgraph.numpy, as in snp.zeros(x.shape[0]); loop over "
        "it with sg.scan; or trace with a fixed size.",
    )
    told.frame = frame
    return told
