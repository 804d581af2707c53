"""Advice where a symbol decides a statement: an assertion, a loop, a check, a way out of a loop."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator

from ..source import Frame

__all__ = ["instead_of_statement"]

_ASSERTED = (
    "State what is known of an input as a fact, as in sg.spec(3, assume=sg.positive), and lower "
    "with check_facts=True to have it checked."
)
_CHECKED = (
    "Check numbers outside of the traced function; where a NaN is looked for, sg.grad(f, "
    'debug="nan") and lower(debug="nan") tell the operation that gave it.'
)
_LEFT = "A loop that ends by a condition is sg.while_loop."
_CHOSEN = "Choose elementwise with np.where(condition, a, b), or a branch with sg.cond."


def instead_of_statement(frame: Frame | None) -> str:
    """What to write instead of the statement on the user's line, of which a symbol is the test."""
    line = "" if frame is None else frame.text
    if line.startswith("assert "):
        return _ASSERTED
    if line.startswith("while "):
        return _LEFT
    match _last_of_body(frame):
        case ast.Raise():
            return _CHECKED
        case ast.Break():
            return _LEFT
        case _:
            return _CHOSEN


def _last_of_body(frame: Frame | None) -> ast.stmt | None:
    """The last statement below the `if` that begins on the line; None if none begins there."""
    if frame is None or not frame.text.startswith(("if ", "elif ")):
        return None
    block = textwrap.dedent("".join(_block(frame.file, frame.line)))
    try:
        found = ast.parse(block.removeprefix("el")).body
    except (SyntaxError, ValueError):  # a line that was edited since
        return None
    return found[0].body[-1] if found and isinstance(found[0], ast.If) else None


def _block(file: str, line: int) -> Iterator[str]:
    """A line, and those below that are indented deeper."""
    first = linecache.getline(file, line)
    yield first
    while below := linecache.getline(file, line := line + 1):
        if below.strip() and _indent(below) <= _indent(first):
            return
        yield below


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
