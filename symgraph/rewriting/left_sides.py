"""The left sides of rules as the index needs them; a package may ship those of its rules.

To read a rule is to run its function on variables. A process reads only the rules that may match
in its graphs, if a file `rules.index` beside their modules tells the left sides of all:

    algebra.py 8f3a1c02
    subtract_itself 1 subtract * * =

Below a module's name and the checksum of its text stands, for each rule, its name, the number of
parts of the left side, its operation and, for each operand, the operation that the operand must be:
`#` for one that repeats a number, `*` for any. `=` tells that two operands are one variable. The
rules of a module that was changed since are read as they are defined. An index is made anew for
each version of symgraph: a function may be another operation there.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from itertools import groupby, permutations
from operator import itemgetter
from pathlib import Path
from types import FunctionType
from typing import Any

from ..errors import RuleError
from ..ir.op import OPS
from ..ir.traits import Arrangement
from ..ops.creation import CONSTANT
from ..records import record
from .pattern import Literal, OpPattern, Pattern, Variable, subterms

__all__ = ["INDEX", "LeftSide", "index_text", "shipped_left_side"]

INDEX = "rules.index"
"""The name of the file, in the folder of the modules that define the rules."""

_ANY, _NUMBER, _TWICE = "*", "#", "="


@record(slots=False)
class LeftSide:
    """What the left side of a rule matches, as far as operations tell.

    Parameters
    ----------
    size : int
        The number of its parts that are not variables.
    head : str
        Its operation.
    operands : tuple of str
        The operation that each operand must be; `#` one that repeats a number, `*` any.
    twice : bool
        Whether two of the operands are one variable, as in x - x.
    """

    size: int
    head: str
    operands: tuple[str, ...]
    twice: bool

    @classmethod
    def of(cls, pattern: OpPattern) -> LeftSide:
        """That of a pattern."""
        variables = [each.name for each in pattern.operands if isinstance(each, Variable)]
        return cls(
            size=sum(not isinstance(part, Variable) for part in subterms(pattern)),
            head=pattern.op.name,
            operands=tuple([_matched(part) for part in pattern.operands]),
            twice=len(set(variables)) < len(variables),
        )

    def fits(self, names: Sequence[str], twice: bool) -> bool:
        """Whether the left side may match operands of these operations.

        `twice` tells whether two of the operands are the same node.
        """
        if (self.twice and not twice) or len(names) != len(self.operands):
            return False
        return any(all(map(_allows, order, names)) for order in self._orders)

    @cached_property
    def _orders(self) -> tuple[tuple[str, ...], ...]:
        if OPS[self.head].traits.commutative:
            return tuple(dict.fromkeys(permutations(self.operands)))
        return (self.operands,)

    def __str__(self) -> str:
        return " ".join([str(self.size), self.head, *self.operands, *[_TWICE] * self.twice])


def _matched(pattern: Pattern) -> str:
    """The operation whose results the pattern matches."""
    match pattern:
        case OpPattern():
            return pattern.op.name
        case Literal():
            return _NUMBER
        case Variable(guards=guards):
            return _NUMBER if any(guard.constant for guard in guards) else _ANY
        case _:
            return "nothing"


def _allows(allowed: str, name: str) -> bool:
    return allowed in (_ANY, name) or (allowed == _NUMBER and name in _numbers())


@cache
def _numbers() -> frozenset[str]:
    """Operations whose results may have one value in all elements."""
    repeating = [op for op in OPS.values() if op.traits.arrangement is Arrangement.REPEATED]
    return frozenset(op.name for op in (CONSTANT, *repeating))


# -- the file --------------------------------------------------------------------------------------
def index_text(stated: Iterable[tuple[Callable[..., Any], str, OpPattern]]) -> str:
    """The text of the file for rules: the function, name and left side of each.

    Rules whose functions are not from the text of a module are left out: they are read.

    Raises
    ------
    RuleError
        If the modules lie in several folders.
    """
    found = [(_module_file(function), name, lhs) for function, name, lhs in stated]
    in_order = sorted([each for each in found if each[0]], key=itemgetter(0, 1))
    folders = sorted({os.path.dirname(file) for file, _, _ in in_order})
    if len(folders) > 1:
        raise RuleError(
            "Modules of these rules lie in several folders.",
            folders,
            mend="Make a pack for each folder, and an index of each.",
        )
    lines: list[str] = []
    for file, group in groupby(in_order, key=itemgetter(0)):
        lines.append(f"{os.path.basename(file)} {_checksum(file)}")
        lines.extend(f"{name} {LeftSide.of(lhs)}" for _, name, lhs in group)
    return "".join(f"{line}\n" for line in lines)


def shipped_left_side(function: Callable[..., Any], name: str) -> LeftSide | None:
    """The left side of the rule that a function states, if the index of its module tells it.

    The function must be from the text of the module: one that was made from another text, such as a
    mutant, has other left sides.
    """
    file = _module_file(function)
    if not file:
        return None
    spec: ModuleSpec = function.__globals__["__spec__"]  # A reload makes another.
    known = _known.get(id(spec))
    if known is None:
        known = _known[id(spec)] = (spec, _shipped(file))
    return known[1].get(name)


_known: dict[int, tuple[ModuleSpec, Mapping[str, LeftSide]]] = {}
"""The left sides that are told for each module, by its specification."""


def _module_file(function: Callable[..., Any]) -> str:
    """The file of a function's module, if the function was compiled from it; else nothing."""
    if not isinstance(function, FunctionType):
        return ""
    spec: ModuleSpec | None = function.__globals__.get("__spec__")
    file = function.__code__.co_filename
    return file if spec is not None and spec.origin == file else ""


def _shipped(file: str) -> Mapping[str, LeftSide]:
    """The left sides of the rules of a module, by name; none if its text is another."""
    folder, module = os.path.split(file)
    try:
        checksum, sides = _sections(os.path.join(folder, INDEX)).get(module, ("", {}))
        return sides if checksum and checksum == _checksum(file) else {}
    except (OSError, ValueError, IndexError):
        return {}  # A module in an archive, or an index of another make: its rules are read.


@cache
def _sections(path: str) -> dict[str, tuple[str, dict[str, LeftSide]]]:
    """The checksum and the left sides of each module that an index tells."""
    found: dict[str, tuple[str, dict[str, LeftSide]]] = {}
    sides: dict[str, LeftSide] = {}
    if not os.path.exists(path):
        return found
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        first, *rest = line.split()
        if first.endswith(".py"):
            sides = {}
            found[first] = (rest[0], sides)
        else:
            twice = rest[-1] == _TWICE
            operands = tuple(rest[2:-1] if twice else rest[2:])
            sides[first] = LeftSide(int(rest[0]), rest[1], operands, twice)
    return found


def _checksum(file: str) -> str:
    """Of the text, whose lines may end as on any system."""
    text = Path(file).read_bytes().replace(b"\r\n", b"\n")
    return f"{zlib.crc32(text):08x}"
