"""Python's syntax tree of a text, and the line with a caret that errors show."""

from __future__ import annotations

import ast
import keyword
import re
import warnings

from ..errors import ExpressionError
from .calls import CALLS

__all__ = ["AS_PYTHON", "LONGEST", "column_of", "pointed", "tree_of"]

LONGEST = 10_000
"""The largest number of characters of an expression."""

AS_PYTHON = {
    **dict.fromkeys("·×∙⋅", "A product is written x * y."),
    **dict.fromkeys("²³¹⁰⁴⁵⁶⁷⁸⁹ⁿ⁻", "A power is written x**2."),
    **dict.fromkeys("−–", "Minus is written -."),
    **dict.fromkeys("÷", "A quotient is written x / y."),
    **dict.fromkeys("≤≥≠", "Comparisons are written <=, >= and !=."),
    **dict.fromkeys("√", "A root is written sqrt(x)."),
    **dict.fromkeys("∞", "Infinity is written inf."),
    **dict.fromkeys("∑∏", "A sum is written sum(x), a product prod(x)."),
    "!": "A factorial is written gamma(n + 1).",
    "'": "A transpose is written A.T, and a derivative by --wrt x.",
    **dict.fromkeys(("=", ":="), "Write the right side alone."),
    **dict.fromkeys(
        "∂∇", "Write what is differentiated alone, and name the variable apart: --wrt x."
    ),
    **dict.fromkeys("|‖", "A size is written abs(x), and norm(x) for a vector."),
}
"""Signs of mathematics that Python has no meaning for, or another one: what to write instead."""


def pointed(text: str, line: int, column: int) -> list[str]:
    """A line of the text, cut to the width of a screen, and a caret under `column`."""
    lines = _lines(text)
    shown = lines[min(max(line, 1), len(lines)) - 1]
    column = min(max(column, 0), len(shown))
    start = max(0, column - 60)
    window = shown[start : start + 90]
    # One sign for each character, so that the caret stays below the right one.
    window = "".join(char if char.isprintable() else "·" for char in window)
    head, tail = ("…" if start else ""), ("…" if start + 90 < len(shown) else "")
    return [f"{head}{window}{tail}", " " * (column - start + len(head)) + "^"]


def column_of(text: str, node: ast.AST) -> tuple[int, int]:
    """The line and column of a node, in characters. Python's offsets count UTF-8 bytes."""
    line = int(getattr(node, "lineno", 1))
    offset = int(getattr(node, "col_offset", 0))
    before = _lines(text)[line - 1].encode("utf-8", "surrogatepass")[:offset]
    return line, len(before.decode("utf-8", "replace"))


def _lines(text: str) -> list[str]:
    """The lines as Python's parser counts them: form feeds and U+2028 end no line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def tree_of(text: str) -> ast.expr:
    """Python's syntax tree of the text. The text is parsed and never run.

    Raises
    ------
    ExpressionError
        If Python cannot parse the text, or runs out of memory or stack.
    """
    if len(text) > LONGEST:
        raise ExpressionError(
            f"The expression has {len(text)} characters; at most {LONGEST} are allowed.",
            mend="Write it as a Python function and trace that.",
        )
    try:
        # Python warns of odd text (1if x else y), which is refused below or has a plain meaning.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        line, column = error.lineno or 1, (error.offset or 1) - 1
        reason = (error.msg if text else "it is empty").partition(" string conversion")[0]
        raise ExpressionError(
            f"Not an expression: {reason}.",
            pointed(text, line, column),
            mend=_written(text, line, column, reason),
        ) from None
    except (RecursionError, MemoryError):
        raise ExpressionError("The expression is nested too deeply.", pointed(text, 1, 0)) from None
    except ValueError as error:
        # Null bytes, and integers of more digits than Python converts.
        reason = str(error).partition(" string conversion")[0].partition(";")[0]
        raise ExpressionError(f"Not an expression: {reason}.", pointed(text, 1, 0)) from None


def _written(text: str, line: int, column: int, reason: str) -> str:
    """What to write for the sign at which Python stopped; empty where nothing is known of it."""
    lines = _lines(text)
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    before, rest = shown[: max(column, 0)].rstrip(), shown[max(column, 0) :]
    if reason == "invalid decimal literal" and rest[1:2].isalpha() and rest[1:2] not in "eE":
        return AS_PYTHON["×"]  # 2x
    word = re.search(r"\b\w+$", before)
    if "\\" in shown:
        return "LaTeX is not read: write x / y and sqrt(x)."
    if re.match(r"\s*d(\^?\d)?\s*/\s*d\w", shown):
        return "Write what is differentiated alone, and name the variable apart: --wrt x."
    reserved = keyword.iskeyword(word.group() if word else rest.partition("*")[0].strip())
    for name in re.findall(r"\w+", shown) if reserved or column < 0 else ():
        if keyword.iskeyword(name):
            return f"{name} is a word of Python: call it {name}_."
    if word and (rest[:1].isidentifier() or rest[:1].isdecimal()):
        a, b = word.group(), re.split(r"\W", rest, maxsplit=1)[0]
        return f"Write {a}({b})." if a in CALLS else f"A product is written {a} * {b}."
    return AS_PYTHON.get(rest[:2].strip(), "") or AS_PYTHON.get(rest[:1], "")
