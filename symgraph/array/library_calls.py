"""Which function of an installed library asked a symbolic array for numbers.

Libraries that compute with NumPy, such as scikit-learn, convert their arguments far below the line
that the user wrote; the error names that line and the function called there.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple

from ..capture.foreign import is_foreign, is_installed
from ..source import Frame, described, is_internal, running_frame

__all__ = ["LibraryCall", "caller_of_libraries", "library_call", "library_of"]

_WRAPPED = ("func", "fun", "function", "f", "fn", "wrapped")
"""What decorators call the function that they wrap."""


class LibraryCall(NamedTuple):
    """A call of a library's function: its name, the user's line, and the library's own."""

    name: str
    used: Frame
    within: Frame


def library_call() -> LibraryCall | None:
    """The call of an installed library's function that runs; None outside of any."""
    inner = frame = running_frame()
    outer = None
    while frame is not None and (is_internal(frame) or is_installed(_module(frame))):
        outer = outer if is_internal(frame) else frame
        frame = frame.f_back
    if inner is None or outer is None or frame is None:
        return None
    lines = [described(each.f_code, each.f_lineno) for each in (frame, inner)]
    return LibraryCall(_name(outer), *lines)


def caller_of_libraries(frame: FrameType) -> FrameType | None:
    """The innermost frame, from a frame on, that is in no library and not Python's own."""
    at: FrameType | None = frame
    while at is not None:
        module = _module(at)
        if not (is_internal(at) or is_foreign(module) or is_installed(module)):
            return at
        at = at.f_back
    return None


def library_of(frame: FrameType) -> str:
    """The library that a frame's module belongs to, as `sklearn`."""
    return _module(frame).partition(".")[0]


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "")


def _name(frame: FrameType) -> str:
    """`sklearn.mean_squared_error`, also where a decorator's function runs first."""
    code = frame.f_code
    name = code.co_qualname
    if "<locals>" in name:
        wrapped: Any = next((v for k in _WRAPPED if callable(v := frame.f_locals.get(k))), None)
        name = getattr(wrapped, "__qualname__", code.co_name)
    if name.endswith("__new__"):  # SymPy's sin is a class
        made = frame.f_locals.get("cls", next(iter(frame.f_locals.get("args", ())), None))
        name = getattr(made, "__name__", name)
    return f"{library_of(frame)}.{name}"
