"""The user's own frame: which file and line asked for a node.

Frames of this package, of rule packs, of NumPy, SciPy, pandas and JAX are passed over, so that
errors, explanations and profiles speak of the user's code.
"""

from __future__ import annotations

import dis
import linecache
import os
import sys
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from .records import record

__all__ = [
    "Frame",
    "described",
    "is_assigning",
    "is_internal",
    "is_pythons",
    "is_running",
    "raising_frame",
    "running_frame",
    "user_frame",
    "users_frame",
]


@record
class Frame:
    """A line of the user's code.

    Parameters
    ----------
    file : str
    line : int
        From 1; 0 of what is no file.
    function : str
    saved : str, optional
        The text of the line, where no file has it: of a graph that was loaded, whose file may be
        another one by now.
    """

    file: str
    line: int
    function: str
    saved: str | None = None

    @property
    def text(self) -> str:
        """The source text of the line, or an empty string where it cannot be read."""
        if self.saved is not None:
            return self.saved
        return linecache.getline(self.file, self.line).strip()

    @property
    def place(self) -> str:
        """The name of the file, or of the cell of a notebook: `In[2]`."""
        number = _cell(self.file)
        return f"In[{number}]" if number is not None else os.path.basename(self.file)

    def __str__(self) -> str:
        name = self.place
        return f"{name}:{self.line}" if self.line else name

    def quoted(self) -> str:
        """`model.py:12   h = np.tanh(x @ w)`."""
        return f"{self}   {self.text}" if self.text else str(self)


def _cell(file: str) -> int | None:
    """The number of the notebook's cell that stands for a file, or None."""
    shell: Any = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell is not None else None
    # IPython's own tracebacks find the number there.
    cells = getattr(getattr(shell, "compile", None), "_filename_map", None)
    number = cells.get(file) if isinstance(cells, dict) else None
    return number if isinstance(number, int) else None


_PACKAGE = str(Path(__file__).parent)
_RULES = str(Path(_PACKAGE).parent / "rewrites")
# The demonstration is written as a user would write it, so its lines are user's lines.
_DEMO = str(Path(_PACKAGE) / "demo.py")
_INTERNAL_MODULES = (
    "numpy",
    "scipy",
    "pandas",
    "jax",
    "contextlib",
    "functools",
    "symgraph",
    "rewrites",
)
# By file, and what is in no file, as `<string>`, by module, too. The hash of a name is kept, that
# of a code object is not.
_internal: dict[str | tuple[str, str], bool] = {}
_PYTHON = os.path.join(os.path.dirname(linecache.__file__), "")
_INSTALLED = ("site-packages", "dist-packages")
"""Folders of Python's library that hold what else is installed."""
_frames: dict[tuple[CodeType, int], Frame] = {}


def is_internal(frame: FrameType) -> bool:
    """Whether the code that runs there is ours, a rule pack's, or that of NumPy and its kin."""
    file = frame.f_code.co_filename
    module: str = frame.f_globals.get("__name__") or ""
    key = (file, module) if file.startswith("<") else file
    found = _internal.get(key)
    if found is None:
        # Examples in docstrings run under the name of their module, and are written as a user's.
        ours = file != _DEMO and not file.startswith("<doctest")
        found = _internal[key] = ours and (
            file.startswith((_PACKAGE, _RULES, "<symgraph ", "<frozen", "<__array_function__"))
            or module.partition(".")[0] in _INTERNAL_MODULES
            # The script an installer writes for the command is no file of the user's.
            or Path(file).stem == "symgraph"
        )
    return found


def user_frame() -> Frame | None:
    """The innermost frame outside this library and Python's, or None where there is none."""
    frame = users_frame()
    return None if frame is None else described(frame.f_code, frame.f_lineno)


def users_frame() -> FrameType | None:
    """Python's own object for the innermost frame outside this library and Python's."""
    frame = running_frame()
    while frame is not None and is_pythons(frame.f_code.co_filename):
        frame = None if frame.f_back is None else running_frame(frame.f_back)
    return frame


@cache
def is_pythons(file: str) -> bool:
    """Whether a file is of Python's own library, as those of `statistics` and `heapq` are."""
    below = file.removeprefix(_PYTHON)
    return below != file and below.partition(os.sep)[0] not in _INSTALLED


def running_frame(frame: FrameType | None = None) -> FrameType | None:
    """Python's own object for the innermost frame outside this library, from a frame on."""
    if frame is None:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # inspect.stack: 1000x slower
    known = _internal
    while frame is not None:
        internal = known.get(frame.f_code.co_filename)
        if internal is None:
            internal = is_internal(frame)
        if not internal:
            return frame
        frame = frame.f_back
    return None


def is_running(frame: FrameType) -> bool:
    """Whether a frame is among those that run now, and so not over and not suspended."""
    at: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while at is not None and at is not frame:
        at = at.f_back
    return at is frame


_ASSIGNMENTS = {dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap}


def is_assigning(frame: FrameType) -> bool:
    """Whether a frame is at an assignment `x[...] = y` or `x[...] += y`."""
    return frame.f_code.co_code[frame.f_lasti] in _ASSIGNMENTS


def raising_frame(traceback: TracebackType | None) -> Frame | None:
    """The innermost frame outside this library and Python's that an exception came through."""
    found: Frame | None = None
    while traceback is not None:
        frame = traceback.tb_frame
        if not (is_internal(frame) or is_pythons(frame.f_code.co_filename)):
            found = described(frame.f_code, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def described(code: CodeType, line: int) -> Frame:
    """A line of a code object, as a `Frame`."""
    key = (code, line)
    found = _frames.get(key)
    if found is None:
        found = _frames[key] = Frame(code.co_filename, line, code.co_name)
    return found
