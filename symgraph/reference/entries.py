"""The files of the reference, read when the first docstring is made.

A blank line ends an entry. Its first line is the name of a function. The names of the operands
follow where the record has none. A line `name : type` begins a parameter, `-> type` the result,
`! Error` an error, and `>>>` the examples. The entry `[parameters]` is for all functions of its
file; that of the file `parameters.txt` is for all functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..records import record

__all__ = ["PLACE", "Entry", "elementwise_entry", "entry", "names"]

PLACE = Path(__file__).parent
_SHARED = "[parameters]"


@record
class Entry:
    """The reference of a function.

    Parameters
    ----------
    operands : tuple of str
        Names of operands, where neither the signature nor the kernel has them.
    parameters : dict
        The type and the description of each parameter.
    returns : str
        The type and the description of the result; empty if a rule gives them.
    raises : str
        The errors that no rule gives.
    examples : str
        Lines of a doctest.
    """

    operands: tuple[str, ...]
    parameters: dict[str, tuple[str, str]]
    returns: str
    raises: str
    examples: str


@cache
def entry(name: str) -> Entry | None:
    """The entry of a function; None if there is none."""
    found = _texts().get(name)
    if found is None:
        return None
    place, text = found
    head, _, body = text.partition("\n")
    _, _, operands = head.rstrip(")").partition("(")
    own = _parsed(body)
    shared = {**_glossary("parameters"), **_glossary(place)}
    return Entry(
        tuple([each.strip() for each in operands.split(",") if each]),
        {**shared, **own.parameters},
        own.returns,
        own.raises,
        own.examples,
    )


def elementwise_entry() -> Entry:
    """An entry with the parameters that elementwise functions share, and nothing else."""
    return Entry((), {**_glossary("parameters"), **_glossary("elementwise")}, "", "", "")


def names() -> list[str]:
    """The names of all functions that have an entry."""
    return list(_texts())


@cache
def _glossary(place: str) -> dict[str, tuple[str, str]]:
    """The parameters that the functions of a file share."""
    for text in _blocks(place):
        if text.startswith(_SHARED):
            return _parsed(text.partition("\n")[2]).parameters
    return {}


@cache
def _texts() -> dict[str, tuple[str, str]]:
    """The file and the text of each entry."""
    return {
        text.partition("\n")[0].partition("(")[0]: (path.stem, text)
        for path in sorted(PLACE.glob("*.txt"))
        for text in _blocks(path.stem)
        if not text.startswith(_SHARED)
    }


@cache
def _blocks(place: str) -> list[str]:
    text = (PLACE / f"{place}.txt").read_text(encoding="utf-8")
    return [each.strip("\n") for each in text.split("\n\n") if each.strip()]


def _parsed(body: str) -> Entry:
    """The parts of an entry after its first line."""
    told, found, examples = body.partition(">>> ")
    parameters: dict[str, tuple[str, str]] = {}
    returns = ""
    raises: list[str] = []
    for head, description in _parts(told):
        if head.startswith("-> "):
            returns = f"{head[3:]}\n{description}".rstrip()
        elif head.startswith("! "):
            raises.append(f"{head[2:]}\n{description}".rstrip())
        else:
            name, _, kind = head.partition(" : ")
            parameters[name] = (kind, description)
    return Entry((), parameters, returns, "\n".join(raises), found + examples)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Each line that is not indented, with the indented lines after it."""
    head, lines = "", list[str]()
    for line in text.splitlines():
        if line.startswith(" "):
            lines.append(line)
            continue
        if head:
            yield head, "\n".join(lines)
        head, lines = line, []
    if head:
        yield head, "\n".join(lines)
