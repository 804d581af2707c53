"""Facts that are given as text: `p: simplex(axis=0)`."""

from __future__ import annotations

import ast
import re
import unicodedata

from .. import facts as known_facts
from ..errors import ExpressionError, did_you_mean
from ..facts import Fact
from .reader import ExpressionReader
from .syntax import pointed, tree_of

__all__ = ["parse_fact"]

_PLAIN_FACTS = (
    "positive",
    "nonnegative",
    "negative",
    "nonpositive",
    "nonzero",
    "finite",
    "integer_valued",
    "symmetric",
    "antisymmetric",
    "positive_definite",
    "orthogonal",
    "diagonal",
    "unique",
)
_AXIS_FACTS = ("simplex", "one_hot", "unit_norm")
_EVERY = ", ".join((*_PLAIN_FACTS, *_AXIS_FACTS, "interval", "triangular"))
_COMPARED = re.compile(r"\s*([^\W\d]\w*)\s*(>=|<=|!=|>|<)\s*0(?:\.0*)?\s*")
_SIDES = {
    ">": known_facts.positive,
    ">=": known_facts.nonnegative,
    "<": known_facts.negative,
    "<=": known_facts.nonpositive,
    "!=": known_facts.nonzero,
}


def parse_fact(text: str) -> tuple[str, Fact]:
    """A name and its fact: `p: simplex`, `p: simplex(axis=0)`, `x: interval(0, 1)`, `x > 0`.

    Raises
    ------
    ExpressionError
        If the text has another form, or the fact is unknown.

    Examples
    --------
    >>> parse_fact("p: simplex(axis=0)")
    ('p', Fact('simplex', (0,)))
    """
    compared = _COMPARED.fullmatch(text)
    if compared:
        return unicodedata.normalize("NFKC", compared[1]), _SIDES[compared[2]]
    name, colon, said = (part.strip() for part in text.partition(":"))
    if not colon or not name.isidentifier():
        raise ExpressionError(
            "A fact is written as NAME: FACT, or as a comparison with 0.",
            pointed(text, 1, 0),
            f'As in "p: simplex" or "x > 0". Facts are {_EVERY}.',
        )
    reader = ExpressionReader(said, {}, {}, None, {})
    return unicodedata.normalize("NFKC", name), _fact(reader, tree_of(said))


def _fact(reader: ExpressionReader, node: ast.expr) -> Fact:
    arguments: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    called = node
    if isinstance(node, ast.Call):
        called, arguments, keywords = node.func, node.args, node.keywords
    name = called.id if isinstance(called, ast.Name) else ""
    if name in _PLAIN_FACTS and called is node:
        return getattr(known_facts, name)
    if name in _AXIS_FACTS and len(arguments) + len(keywords) <= 1:
        if any(keyword.arg != "axis" for keyword in keywords):
            reader.refuse(node, f"{name} takes an axis: {name}(axis=-1).")
        given = [*arguments, *(keyword.value for keyword in keywords)]
        return getattr(known_facts, name)(*(reader.integer(each) for each in given))
    if name == "interval" and len(arguments) == 2 and not keywords:
        low, high = (reader.read(each) for each in arguments)
        if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
            reader.refuse(node, "The ends of an interval are numbers.")
        return reader.applied(node, known_facts.interval, low, high)
    if name == "triangular" and len(arguments) == 1 and not keywords:
        which = arguments[0]
        side = which.value if isinstance(which, ast.Constant) else None
        side = which.id if isinstance(which, ast.Name) else side
        return reader.applied(node, known_facts.triangular, side)
    every = _EVERY.split(", ")
    mend = "" if name in every else did_you_mean(name, every)
    reader.refuse(node, "This is not a fact.", mend or f"Facts are {_EVERY}.")
