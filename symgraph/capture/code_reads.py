"""The names that a function's code can read besides its arguments, found in its bytecode.

`self.scaler.mean` is a chain of attributes from a known beginning and read exactly; attributes of
what is passed about (`m.mean`, where m is a parameter) are known by their names alone.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Literal, TypeAlias

from ..records import record

__all__ = ["AttributeChain", "CodeReads", "Start", "code_reads"]

Start: TypeAlias = Literal["global", "free", "fast", "import"]


@record
class AttributeChain:
    """A chain of attributes that is read: `cfg.model.X` is `("global", "cfg", ("model", "X"))`."""

    start: Start
    name: str
    chain: tuple[str, ...]
    line: int


@record
class CodeReads:
    """The reads of a code object, without the functions written inside it.

    Parameters
    ----------
    reads : tuple of AttributeChain
        From globals, enclosed variables, (`"fast"`) the variables of the function itself, and
        modules it imports.
    loose : frozenset of str
        Names of attributes of anything else, and texts that may be such names.
    nested : tuple of code
        Functions, classes and comprehensions written inside.
    stored : frozenset of str
        Variables of the function that it assigns to.
    computed : bool
        Whether attributes are read whose names are not written in the code.
    """

    reads: tuple[AttributeChain, ...]
    loose: frozenset[str]
    nested: tuple[CodeType, ...]
    stored: frozenset[str]
    computed: bool


_STARTS: dict[str, Start] = {
    "LOAD_GLOBAL": "global",
    "LOAD_NAME": "global",
    "LOAD_DEREF": "free",
    "LOAD_CLASSDEREF": "free",
    "LOAD_FROM_DICT_OR_DEREF": "free",
    "LOAD_FROM_DICT_OR_GLOBALS": "global",
    "IMPORT_NAME": "import",
}
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_WRITES = ("STORE_ATTR", "DELETE_ATTR")
# What asks for attributes by a name that is a value, and what comes first after it.
_ASKING = {
    "getattr": "value",
    "hasattr": "value",
    "attrgetter": "name",
    "__getattribute__": "name",
    "vars": "",
}
# They stand between a variable and its attribute, and do nothing to either.
_BETWEEN = ("CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "RESUME")


@lru_cache(maxsize=4096)
def code_reads(code: CodeType) -> CodeReads:
    """The reads of this code."""
    reader = _Reader()
    for instruction in dis.get_instructions(code):
        if instruction.opname not in _BETWEEN:
            reader.take(instruction)
            reader.before = [*reader.before[-2:], instruction]
    for each in code.co_consts:
        if isinstance(each, str):  # "scaler.mean" may be handed to `attrgetter`.
            reader.loose.update([part for part in each.split(".") if part.isidentifier()])
    nested = tuple(each for each in code.co_consts if isinstance(each, CodeType))
    reads = tuple(dict.fromkeys(reader.found))
    return CodeReads(
        reads, frozenset(reader.loose), nested, frozenset(reader.stored), reader.computed
    )


class _Reader:
    """Instructions in their order; a chain of attributes is open until another one comes."""

    def __init__(self) -> None:
        self.found: list[AttributeChain] = []
        self.loose: set[str] = set()
        self.stored: set[str] = set()
        self.before: list[dis.Instruction] = []
        self.computed = False
        self._open = False
        self._counted: AttributeChain | None = None
        self._asked: str | None = None  # What comes next where an attribute is asked for.

    def take(self, instruction: dis.Instruction) -> None:
        """Look at the next instruction."""
        name = instruction.opname
        if self._asked is not None:
            self._ask(name, instruction.argval)
        if instruction.argval in _ASKING and (name in _STARTS or name in _ATTRIBUTES):
            self._asked = _ASKING[instruction.argval]
        if name in _ATTRIBUTES:
            self._attribute(instruction.argval)
        elif name in _WRITES and self._open:  # `self.kept = x` does not read `self`.
            self.found.pop()
            self._open = False
        elif name == "COPY" and self._open:  # `self.calls += 1` reads it only to count on.
            self._counted = self.found.pop()
            self._open = False
        else:
            self._other(instruction)

    def _ask(self, name: str, argument: object) -> None:
        """What comes after `getattr`: a value that has a name, the name, a value instead, the call.

        Anything else computes the name, or may: `getattr(x, f"w{i}")` begins with a text as well.
        """
        loads = name in _STARTS or name.startswith("LOAD_FAST") or name == "LOAD_CONST"
        stage, self._asked = self._asked, None
        if name in ("PRECALL", "CALL"):
            self.computed |= stage not in ("named", "instead")
        elif (stage == "name" and name in _ATTRIBUTES) or (
            stage == "value" and loads and len(_names(argument)) == 1
        ):
            self._asked = "name"
        elif stage == "name" and name == "LOAD_CONST" and isinstance(argument, str):
            self._asked = "named"
        elif stage == "named" and loads:
            self._asked = "instead"
        else:
            self.computed = True

    def _attribute(self, name: str) -> None:
        if self._counted is not None:
            self._counted = None
        elif self._open:
            last = self.found[-1]
            self.found[-1] = AttributeChain(last.start, last.name, (*last.chain, name), last.line)
        else:
            self.loose.add(name)

    def _other(self, instruction: dis.Instruction) -> None:
        if self._counted is not None:  # Copied for something else.
            self.found.append(self._counted)
            self._counted = None
        name, argument = instruction.opname, instruction.argval
        line = instruction.positions.lineno if instruction.positions is not None else None
        self._open = False
        for start, variable in _variables(name, argument):
            self.found.append(AttributeChain(start, variable, (), line or 0))
            self._open = True
        if name == "IMPORT_FROM":
            self.loose.add(argument)
        if name == "STORE_FAST_LOAD_FAST":  # From Python 3.13 on.
            self.stored.update(_names(argument)[:1])
        elif name.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_FAST")):
            self.stored.update(_names(argument))
        if name in ("STORE_GLOBAL", "STORE_DEREF") and self._counts_on(argument):
            self.found.pop()

    def _counts_on(self, variable: str) -> bool:
        """Whether the store is `calls += 1` of an outer variable, read only to count on."""
        names = [each.opname for each in self.before]
        return (
            names[1:] in (["LOAD_CONST", "BINARY_OP"], ["LOAD_SMALL_INT", "BINARY_OP"])
            and "=" in self.before[2].argrepr
            and _variables_of(self.before[0]) == [variable]
        )


def _variables_of(instruction: dis.Instruction) -> list[str]:
    return [name for _, name in _variables(instruction.opname, instruction.argval)]


def _variables(name: str, argument: object) -> Iterator[tuple[Start, str]]:
    if name == "STORE_FAST_LOAD_FAST":
        yield "fast", _names(argument)[1]
        return
    start = _STARTS.get(name)
    if start is None and name.startswith("LOAD_FAST"):
        start = "fast"
    if start is not None:
        for each in _names(argument):
            yield start, each


def _names(argument: object) -> tuple[str, ...]:
    """The variables of an instruction: one, or two of a joined instruction."""
    if isinstance(argument, tuple):
        return tuple(str(each) for each in argument)  # pyright: ignore[reportUnknownVariableType]
    return (str(argument),)
