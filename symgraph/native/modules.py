"""The module of a program's groups: for each a loop, and a builtin of Python that calls it.

The builtin takes arrays in row order, as many as the loop has parameters. It reads from the array
objects where their numbers lie, and the sizes that are not known before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ..ir.avals import Aval
from ..records import record
from .entries import Entry, Looped
from .entry_code import DECLARED, ENTRY, GroupFunction, entry_text
from .groups import Group
from .loop_plan import LoopPlan, Parameter
from .nests import Nest
from .operations import kind_of
from .thread_parts import Parts, length_of, parts_of
from .tiles import Tile, written
from .writer import Code, Machine

__all__ = ["BUILTIN", "Builtin", "CompiledLoops", "Module", "loops_of", "module_of"]

BUILTIN = {
    "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
}
"""What a `Builtin` calls."""
_RELEASED = 2**16
"""From so many elements on, other threads of Python run during the loop."""


@record
class Module:
    """A text in LLVM's intermediate language, and the names of the functions that Python calls."""

    text: str
    names: tuple[str, ...]


@record
class CompiledLoops:
    """The loops of a program.

    Parameters
    ----------
    modules : tuple of Module
        One for all groups, and one for each tile of products: programs share these.
    names : tuple of tuple of str
        For each module the names of its functions in the program.
    of_groups : tuple of str
        The name of the function of each group.
    parameters : tuple of tuple of Parameter
        What the function of each group takes.
    parts : mapping of str to Parts
        How the loop of a function is cut, if another function, named `..._part`, computes a part.
    rows_of_tiles : tuple of int
        The rows of each tile of products.
    whole : str, optional
        If the program is one function, the text of its module; the first of the others is for
        inputs that the function refuses.
    constants : tuple of array
        Those that this function reads.
    """

    modules: tuple[Module, ...]
    names: tuple[tuple[str, ...], ...]
    of_groups: tuple[str, ...]
    parameters: tuple[tuple[Parameter, ...], ...]
    parts: Mapping[str, Parts] = field(default_factory=dict[str, Parts])
    rows_of_tiles: tuple[int, ...] = ()
    whole: str | None = None
    constants: tuple[np.ndarray[Any, Any], ...] = ()


class _GroupFunctions:
    """The functions of groups; groups of one form share one.

    Parameters
    ----------
    avals : mapping of str to Aval
    machine : Machine
    series : str
        What names begin with.
    """

    def __init__(self, avals: Mapping[str, Aval], machine: Machine, series: str) -> None:
        self.avals, self.machine, self.series = avals, machine, series
        self.names: dict[str, str] = {}  # By the text.
        self.texts: list[str] = []
        self.builtins: list[str] = []
        self.declared: dict[str, str] = {}
        self.defined: dict[str, str] = {}
        self.parts: dict[str, Parts] = {}

    def add(self, group: Group) -> GroupFunction:
        """Write a group, unless one of its form is written already."""
        avals, machine = self.avals, self.machine
        read = {name for each in group.members for name in each.names}
        kinds = {name: kind_of(avals[name].dtype) or "" for name in read}
        code = Code(machine.llvm)
        nest = Nest(LoopPlan(group, kinds), code, machine.register)
        text, builtin = nest.written("NAME_loop"), _builtin("NAME", nest, avals, machine)
        if group.parted:
            builtin = f"{builtin}\n{_part('NAME', nest, avals, machine)}"
        name = self.names.setdefault(f"{text}\n{builtin}", f"{self.series}n{len(self.names)}")
        if group.parted:
            self.parts[name] = parts_of(nest.plan, avals)
        if len(self.names) > len(self.texts):
            self.texts.append(text.replace("@NAME", f"@{name}"))
            self.builtins.append(builtin.replace("@NAME", f"@{name}"))
        self.declared.update(code.declared)
        self.defined.update(code.defined)
        return GroupFunction(name, nest.plan.parameters)

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the functions that Python calls."""
        return (*self.names.values(), *[f"{name}_part" for name in self.parts])


def loops_of(
    groups: Sequence[Group],
    tiles: Sequence[Tile],
    avals: Mapping[str, Aval],
    machine: Machine,
    *,
    entry: Entry | None = None,
    series: str = "",
) -> CompiledLoops:
    """The loops of these groups `n0`, `n1`, ..., and products in these tiles, `g0`, `g1`, ...

    An `entry` is the whole program, and uses these groups. Names begin with the `series`.
    """
    functions = _GroupFunctions(avals, machine, series)
    loops = [functions.add(group) for group in groups]
    declared, texts = functions.declared, [*functions.texts, *functions.defined.values()]
    called = functions.called
    modules = [module_of([*texts, *functions.builtins], called, {**declared, **BUILTIN})]
    whole = None
    if entry is not None:
        code = Code(machine.llvm)
        text = entry_text(entry, _loops_in(entry, groups, loops), code, machine)
        known = {**declared, **code.declared, **DECLARED}
        whole = module_of([*texts, text], [ENTRY], known).text
    modules += [_tile_module(tile, machine) for tile in tiles]
    return CompiledLoops(
        tuple(modules),
        (called, *[(f"{series}g{number}",) for number in range(len(tiles))]),
        tuple([each.name for each in loops]),
        tuple([each.parameters for each in loops]),
        functions.parts,
        tuple([each.rows for each in tiles]),
        whole,
        () if entry is None else tuple(entry.arrays.values()),
    )


def _tile_module(tile: Tile, machine: Machine) -> Module:
    code = Code(machine.llvm)
    body = [written(code, tile), _product("product", tile, machine)]
    return module_of(body, ["product"], {**code.declared, **BUILTIN})


def _loops_in(
    entry: Entry, groups: Sequence[Group], loops: Sequence[GroupFunction]
) -> dict[int, GroupFunction]:
    """The loop of each step of an entry that is a group, by the step's number."""
    places = {id(each): number for number, each in enumerate(groups)}
    return {
        number: loops[places[id(step.group)]]
        for number, step in enumerate(entry.steps)
        if isinstance(step, Looped)
    }


def module_of(texts: Sequence[str], names: Sequence[str], declared: Mapping[str, str]) -> Module:
    """The module of these texts, in which functions are declared; Python calls those named."""
    head = [
        *sorted(declared.values()),
        '!0 = !{!"branch_weights", i32 1, i32 4000}',
    ]
    return Module("\n".join([*head, *texts, ""]), tuple(names))


class Builtin:
    """The lines of a function that Python calls: `(self, arguments, how many)`."""

    def __init__(self, name: str, machine: Machine, count: int) -> None:
        self.head = machine.head
        self.lines = [f"define ptr @{name}(ptr %self, ptr %arguments, i64 %count) {{", "entry:"]
        self.number = 0
        self.arrays = [
            self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %arguments, i64 {k}')}")
            for k in range(count)
        ]
        self.data = [self.field(each, 0) for each in self.arrays]

    def new(self, text: str) -> str:
        """The name of an instruction's result."""
        self.number += 1
        self.lines.append(f"  %x{self.number} = {text}")
        return f"%x{self.number}"

    def field(self, array: str, offset: int) -> str:
        """A pointer in an array object: numbers (0), lengths of axes (16), strides (24)."""
        place = self.new(f"getelementptr i8, ptr {array}, i64 {self.head + offset}")
        return self.new(f"load ptr, ptr {place}")

    def item(self, numbers: str, index: int) -> str:
        place = self.new(f"getelementptr i64, ptr {numbers}, i64 {index}")
        return self.new(f"load i64, ptr {place}")

    def ended(self, call: str, work: str) -> str:
        """The whole: other threads run during the call if there is much work."""
        test = self.new(f"icmp ugt i64 {work}, {_RELEASED}")
        self.lines += [
            f"  br i1 {test}, label %long, label %short",
            "short:",
            f"  call void {call}",
            "  br label %end",
            "long:",
            "  %state = call ptr @PyEval_SaveThread()",
            f"  call void {call}",
            "  call void @PyEval_RestoreThread(ptr %state)",
            "  br label %end",
            "end:",
            "  call void @Py_IncRef(ptr %self)",
            "  ret ptr %self",
            "}",
        ]
        return "\n".join(self.lines)


def _builtin(name: str, nest: Nest, avals: Mapping[str, Aval], machine: Machine) -> str:
    """The builtin of a group: its arrays in row order."""
    group = nest.plan.group
    of = Builtin(name, machine, len(nest.plan.parameters))
    n, m = [_size(of, nest, avals, axes) for axes in (group.rows, group.columns)]
    given = ", ".join([*[f"ptr {each}" for each in of.data], f"i64 {n}", f"i64 {m}"])
    return of.ended(f"@{name}_loop({given})", of.new(f"mul i64 {n}, {m}"))


def _size(of: Builtin, nest: Nest, avals: Mapping[str, Aval], axes: frozenset[int]) -> str:
    """The product of the lengths of these axes of the space."""
    total = "1"
    for axis in sorted(axes):
        found = length_of(nest.plan, avals, axis)
        if isinstance(found, int):
            length = str(found)
        else:
            length = of.item(of.field(of.arrays[found[0]], 16), found[1])
        total = length if total == "1" else of.new(f"mul i64 {total}, {length}")
    return total


def _part(name: str, nest: Nest, avals: Mapping[str, Aval], machine: Machine) -> str:
    """The builtin that computes some rows of a group.

    After the arrays of the group come those for the results of parts; then four integers: the first
    row, the number of rows, that of the scratch memory, that of the part.
    """
    plan = nest.plan
    parts = parts_of(plan, avals)
    place_of = {out: place for out, place, _ in parts.combined}
    of = Builtin(f"{name}_part", machine, len(plan.parameters) + len(place_of) + 1)
    first, count, mine, number = [of.item(of.data[-1], k) for k in range(4)]
    m = _size(of, nest, avals, plan.group.columns) if plan.group.rows else "1"
    given: list[str] = []
    for k, each in enumerate(plan.parameters):
        data, step = of.data[k], "0"
        if k in place_of:
            data = of.data[place_of[k]]
            step = of.new(f"mul i64 {number}, {m if each.form == 'column' else '1'}")
        elif each.role == "scratch":
            step = of.new(f"mul i64 {mine}, {m}")
        elif each.form == "full":
            step = of.new(f"mul i64 {first}, {m}")
        elif each.form == "row" and plan.group.rows:
            step = first
        kind = "i8" if each.kind == "i1" else nest.c.type_of(each.kind, 0)
        given.append(f"ptr {of.new(f'getelementptr {kind}, ptr {data}, i64 {step}')}")
    sizes = (count, m) if plan.group.rows else ("1", count)
    given += [f"i64 {each}" for each in sizes]
    return of.ended(f"@{name}_loop({', '.join(given)})", f"{_RELEASED + 1}")


def _product(name: str, tile: Tile, machine: Machine) -> str:
    """The builtin of a product: `(left, right, result, panel, panel)`, of any strides."""
    of = Builtin(name, machine, 5)
    given: list[str] = []
    for k in (0, 1):
        strides = of.field(of.arrays[k], 24)
        given += [f"ptr {of.data[k]}", f"i64 {of.item(strides, 0)}", f"i64 {of.item(strides, 1)}"]
    lengths = of.field(of.arrays[2], 16)
    m, n = of.item(lengths, 0), of.item(lengths, 1)
    k = of.item(of.field(of.arrays[0], 16), 1)
    given += [f"ptr {of.data[2]}", f"i64 {m}", f"i64 {n}", f"i64 {k}"]
    given += [f"ptr {of.data[3]}", f"ptr {of.data[4]}"]
    work = of.new(f"mul i64 {of.new(f'mul i64 {m}, {n}')}, {k}")
    return of.ended(f"@{tile.name}({', '.join(given)})", work)
