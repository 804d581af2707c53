r"""LaTeX formulas of graphs as MathML, which browsers show without a script of others.

It reads the commands that `export.latex` writes, and no others: the page shows a formula with an
unknown one as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from typing import TypeAlias, Union

__all__ = ["Tree", "mathematics"]

Tree: TypeAlias = tuple[str, Union[str, "list[Tree]"]]
"""A MathML element: its tag, and its text or its children."""

_TOKEN = re.compile(
    r"\\(?P<raw>text|mathrm|operatorname|mathbf)\{(?P<words>(?:\\[^a-zA-Z]|[^{}\\])*)\}"
    r"|\\(?:begin|end)\{[a-z]+\}|\\[a-zA-Z]+|\\[^a-zA-Z]|\d+(?:\.\d+)?|\S"
)
_GREEK = re.findall(
    r"\w+",
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau
    upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega""",
)
_FUNCTIONS = frozenset(
    re.findall(r"\w+", "log sin cos tan sinh cosh tanh arcsin arccos arctan exp det max min")
)
_OPERATORS = {
    r"\odot": "⊙",
    r"\oslash": "⊘",
    r"\cdot": "·",
    r"\circ": "∘",
    r"\top": "⊤",
    r"\sum": "∑",
    r"\prod": "∏",
    r"\ne": "≠",
    r"\le": "≤",
    r"\ge": "≥",
    r"\lor": "∨",
    r"\neg": "¬",
    r"\land": "∧",
    r"\oplus": "⊕",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\lceil": "⌈",
    r"\rceil": "⌉",
    r"\|": "‖",
    r"\{": "{",
    r"\}": "}",
    r"\sim": "∼",
    "-": "−",
    **{sign: sign for sign in "+=,()[]|<>/!:;'"},
}
_LARGE = (r"\sum", r"\prod", r"\max", r"\min")
_SPACE: Tree = ("mtext", "\u2009")


def _letters() -> dict[str, str]:
    found = {r"\partial": "∂", r"\infty": "∞", r"\varepsilon": "ε"}
    for name in _GREEK:
        case = "CAPITAL" if name[0].isupper() else "SMALL"
        spelling = name.upper().replace("LAMBDA", "LAMDA")
        found["\\" + name] = unicodedata.lookup(f"GREEK {case} LETTER {spelling}")
    return found


_LETTERS = _letters()


class _Unknown(Exception):
    """A command that is not read."""


def mathematics(latex: str) -> Tree | None:
    r"""The MathML of a formula; None if it has a command that is not known here.

    Parameters
    ----------
    latex : str
        As `export.latex` writes it.

    Examples
    --------
    >>> mathematics(r"x^\top y")
    ('mrow', [('msup', [('mi', 'x'), ('mo', '⊤')]), ('mi', 'y')])
    >>> mathematics(r"\href{x}{y}") is None
    True
    """
    reader = _Reader(latex)
    try:
        found = reader.row(frozenset())
    except (_Unknown, RecursionError):
        return None
    return ("mrow", found)


class _Reader:
    """Reads the tokens of a formula once, from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens = list(_TOKEN.finditer(latex))
        self.place = 0

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.next
        if not token or (wanted and token != wanted):
            raise _Unknown
        self.place += 1
        return token

    def row(self, ends: AbstractSet[str]) -> list[Tree]:
        """The items before one of the ends, or before the end of the formula."""
        found: list[Tree] = []
        while self.next and self.next not in ends:
            named = self.next[1:] in _FUNCTIONS
            found.append(self.scripted())
            if named and self.next and self.next not in {r"\left", *ends}:
                found.append(_SPACE)
        if ends and not self.next:
            raise _Unknown
        return found

    def scripted(self) -> Tree:
        """An atom with what stands below and above it."""
        large = self.next in _LARGE
        base = self.atom()
        below = above = None
        while self.next in ("^", "_"):
            if self.next == "^" and above is None:
                self.take("^")
                above = self.atom()
            elif self.next == "_" and below is None:
                self.take("_")
                below = self.atom()
            else:
                raise _Unknown
        under, over, both = ("munder", "mover", "munderover") if large else _SCRIPTS
        if below and above:
            return (both, [base, below, above])
        if below:
            return (under, [base, below])
        return (over, [base, above]) if above else base

    def atom(self) -> Tree:
        match = self.tokens[self.place] if self.next else None
        token = self.take()
        if match is not None and match["raw"]:
            return _words(match["raw"], match["words"])
        if token == "{":
            return self.closed("}")
        if token == r"\left":
            return self.fenced()
        if token == r"\frac":
            return ("mfrac", [self.group(), self.group()])
        if token == r"\sqrt":
            return self.root()
        if token in (r"\begin{aligned}", r"\begin{cases}", r"\begin{pmatrix}"):
            return self.table(token)
        return _token(token)

    def closed(self, end: str) -> Tree:
        found = self.row({end})
        self.take(end)
        return found[0] if len(found) == 1 else ("mrow", found)

    def group(self) -> Tree:
        self.take("{")
        return self.closed("}")

    def fenced(self) -> Tree:
        left = _token(self.take())
        inside = self.row({r"\right"})
        self.take(r"\right")
        right = _token(self.take())
        # In a row of its own a sign at the front is one of the number, not between two.
        return ("mrow", [left, ("mrow", inside), right])

    def root(self) -> Tree:
        if self.next != "[":
            return ("msqrt", [self.group()])
        self.take("[")
        index = self.closed("]")
        return ("mroot", [self.group(), index])

    def table(self, begin: str) -> Tree:
        end = begin.replace("begin", "end")
        rows: list[list[Tree]] = [[]]
        while True:
            rows[-1].append(("mtd", self.row({"&", r"\\", end})))
            token = self.take()
            if token == end:
                break
            if token == r"\\":
                rows.append([])
        table: Tree = ("mtable", [("mtr", cells) for cells in rows])
        if "pmatrix" in begin:
            return ("mrow", [("mo", "("), table, ("mo", ")")])
        return ("mrow", [("mo", "{"), table]) if "cases" in begin else table


_SCRIPTS = ("msub", "msup", "msubsup")


def _words(command: str, text: str) -> Tree:
    """Upright words; in them a command is a space or a character that has a meaning in LaTeX."""
    text = text.replace(r"\,", "\u2009")
    text = re.sub(r"\\(.)", r"\1", text)
    if command == "text":
        return ("mtext", text.replace(" ", "\u00a0"))
    if command == "mathbf":
        return ("mi", "".join(_bold(char) for char in text))
    return ("mi", text) if len(text) > 1 else ("mtext", text)


def _bold(char: str) -> str:
    return chr(ord("𝟎") + int(char)) if char.isascii() and char.isdigit() else char


def _token(token: str) -> Tree:
    if token in _LETTERS:
        return ("mi", _LETTERS[token])
    if token in _OPERATORS:
        return ("mo", _OPERATORS[token])
    if token[1:] in _FUNCTIONS and token[0] == "\\":
        return ("mi", token[1:])
    if token in (r"\,", r"\ "):
        return _SPACE
    if token[0].isdigit():
        return ("mn", token)
    if len(token) == 1 and token.isalpha():
        return ("mi", token)
    raise _Unknown
