"""The user's own frame: which file and line asked for a node.

Frames of this package, of rule packs, of NumPy and SciPy are passed over, so that errors,
explanations and profiles speak of the user's code.
"""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

__all__ = ["Frame", "user_frame"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the user's code."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """The source text of the line, or an empty string where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    def quoted(self) -> str:
        """`model.py:12   h = np.tanh(x @ w)`."""
        return f"{self}   {self.text}" if self.text else str(self)


_PACKAGE = str(Path(__file__).parent)
_RULES = str(Path(__file__).parent.parent / "rewrites")
# The demonstration is written as a user would write it, so its lines are user's lines.
_DEMO = str(Path(__file__).parent / "demo.py")
_INTERNAL_MODULES = ("numpy", "scipy", "contextlib", "symgraph", "rewrites")
_internal: dict[CodeType, bool] = {}
_frames: dict[tuple[CodeType, int], Frame] = {}


def _is_internal(code: CodeType, module: str) -> bool:
    internal = code.co_filename != _DEMO and (
        code.co_filename.startswith((_PACKAGE, _RULES, "<frozen", "<__array_function__"))
        or module.partition(".")[0] in _INTERNAL_MODULES
        # The script an installer writes for the command is no file of the user's.
        or Path(code.co_filename).stem == "symgraph"
    )
    _internal[code] = internal
    return internal


def user_frame() -> Frame | None:
    """The innermost frame outside this library, or None where there is none."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # inspect.stack is 1000x slower
    known = _internal
    while frame is not None:
        code = frame.f_code
        internal = known.get(code)
        if internal is None:
            internal = _is_internal(code, frame.f_globals.get("__name__") or "")
        if not internal:
            key = (code, frame.f_lineno)
            found = _frames.get(key)
            if found is None:
                found = _frames[key] = Frame(code.co_filename, frame.f_lineno, code.co_name)
            return found
        frame = frame.f_back
    return None
