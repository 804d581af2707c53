"""The function of a small program, as Python calls it.

It gives the tuple of results if its inputs are as declared and in row order, else None, as
`entry_frame` tells it. Beside its inputs it has a table of addresses: what it must know of this
process, and where constants lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..records import record
from .entries import Copied, Entry, Looped, Multiplied, Zeroed, matrices
from .entry_frame import KINDS, TABLE, layout
from .groups import Group
from .integer_instructions import IntegerInstructions
from .layouts import Laid, bytes_of
from .loop_plan import Parameter
from .small_products import write_product
from .writer import Code, Machine

__all__ = ["DECLARED", "ENTRY", "GroupFunction", "entry_text"]

ENTRY = "entry"
"""The function's name."""
DECLARED = {"llvm.memset": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"}


@record
class GroupFunction:
    """The function of a group, and its arguments."""

    name: str
    parameters: tuple[Parameter, ...]


def entry_text(
    entry: Entry, loop_of: Mapping[int, GroupFunction], code: Code, machine: Machine
) -> str:
    """The function.

    Parameters
    ----------
    entry : Entry
    loop_of : mapping of int to Loop
        The loop of each group, by the number of its step.
    code : Code
    machine : Machine
    """
    return _Writer(entry, code, machine.head, machine.register).written(loop_of)


class _Writer(IntegerInstructions):
    def __init__(self, entry: Entry, code: Code, head: int, register: int) -> None:
        self.entry, self.c, self.head, self.register = entry, code, head, register

    def written(self, loop_of: Mapping[int, GroupFunction]) -> str:
        c = self.c
        inputs, results = self.entry.inputs.values(), self.entry.results
        c.line(f"%table = load ptr, ptr {self.step('%self', self.head)}")
        frame = self.item("%table", TABLE.index("frame"))
        handed = "ptr %table, ptr %arguments, i64 %count, ptr @layout, ptr %places"
        ready = self.new(f"call i1 {frame}({handed})")
        c.line("%results = load ptr, ptr %places")
        c.line(f"br i1 {ready}, label %ready, label %end")
        c.block("ready")
        for number, each in enumerate([*inputs, *results], 1):
            self._lies_at(each.memory, self.item("%places", number))
        for memory, each in self.entry.temporaries.items():
            self._temporary(memory, each)
        for number, memory in enumerate(self.entry.constants):
            place = self.item("%table", len(TABLE) + len(KINDS) + number)
            self._lies_at(memory, place)
        for number, each in enumerate(self.entry.steps):
            match each:
                case Looped():
                    self._loop(loop_of[number], each)
                case Multiplied():
                    self._product(each)
                case Copied():
                    self._copy(each)
                case Zeroed():
                    self._zeros(each)
        return self._function()

    def _product(self, step: Multiplied) -> None:
        places = self._place(step.left), self._place(step.right)
        pair = matrices(step.left, step.right, places)
        out = self._place(step.out)
        write_product(self.c, step.out.kind, self.register, *pair, out, step.sizes)

    def _zeros(self, step: Zeroed) -> None:
        place, size = self._place(step.out), step.out.size * step.out.itemsize
        self.c.line(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)")

    def _function(self) -> str:
        """The text around the lines that were written."""
        inputs, results = self.entry.inputs.values(), self.entry.results
        numbers = layout([*inputs], results)
        listed = ", ".join([f"i64 {each}" for each in numbers])
        return "\n".join(
            [
                f"@layout = private constant [{len(numbers)} x i64] [{listed}]",
                f"define ptr @{ENTRY}(ptr %self, ptr %arguments, i64 %count) nounwind {{",
                "entry:",
                f"  %places = alloca [{1 + len(inputs) + len(results)} x ptr]",
                *self.c.entry,
                "  br label %start",
                "start:",
                *self.c.lines,
                "  br label %end",
                "end:",
                "  ret ptr %results",
                "}",
            ]
        )

    # -- text ------------------------------------------------------------------------------------
    def step(self, place: str, count: int) -> str:
        """A place so many bytes further."""
        return self.new(f"getelementptr i8, ptr {place}, i64 {count}")

    def item(self, table: str, index: int) -> str:
        """An address in a table of addresses."""
        return self.new(f"load ptr, ptr {self.step(table, 8 * index)}")

    def _lies_at(self, memory: str, place: str) -> None:
        """Name the place of a memory."""
        self.c.line(f"%m_{memory} = getelementptr i8, ptr {place}, i64 0")

    def _place(self, value: Laid) -> str:
        """Where the first number of a value lies."""
        return self.step(f"%m_{value.memory}", value.start * value.itemsize)

    def _temporary(self, memory: str, each: Laid) -> None:
        size = max(1, each.size * each.itemsize)
        self.c.entry.append(f"  %m_{memory} = alloca [{size} x i8], align 64")

    # -- steps -------------------------------------------------------------------------------------
    def _loop(self, loop: GroupFunction, step: Looped) -> None:
        group = step.group
        n, m = _length(group, group.rows), _length(group, group.columns)
        given: list[str] = []
        for each in loop.parameters:
            if each.role == "scratch":
                scratch = self.c.name("s")
                size = max(1, m * bytes_of(each.kind))
                self.c.entry.append(f"  {scratch} = alloca [{size} x i8], align 64")
                given.append(f"ptr {scratch}")
            else:
                given.append(f"ptr {self._place(step.values[each.name])}")
        self.c.line(f"call void @{loop.name}_loop({', '.join([*given, f'i64 {n}', f'i64 {m}'])})")

    def _copy(self, step: Copied) -> None:
        """Number by number, along the axes of the source."""
        c = self.c
        stored = step.out.kind if step.out.kind != "i1" else "i8"

        def along(axis: int, source: str, target: str) -> None:
            if axis == len(step.out.shape):
                c.width = 0
                c.store(target, c.load(source, stored))
                return
            if step.out.shape[axis] == 1:
                along(axis + 1, source, target)
                return

            def one(index: str) -> None:
                places = [
                    self.new(
                        f"getelementptr {c.type_of(stored, 0)}, ptr {place}, i64 "
                        + self.new(f"mul i64 {index}, {steps[axis]}")
                    )
                    for place, steps in ((source, step.source.steps), (target, step.out.steps))
                ]
                along(axis + 1, *places)

            c.loop("0", str(step.out.shape[axis]), 1, one)

        along(0, self._place(step.source), self._place(step.out))


def _length(group: Group, axes: frozenset[int]) -> int:
    """The product of the lengths of some axes."""
    return prod([int(group.space[axis]) for axis in axes])
