"""The function of a small program, as Python calls it.

It gives the tuple of results if its inputs are as declared and in row order, else None. Beside its
inputs it has a table of addresses: what it must know of this process, and where constants lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from .entries import Copied, Entry, Looped, Multiplied, Zeroed, matrices
from .groups import Group
from .layouts import Laid, bytes_of
from .operations import DTYPES
from .plan import Parameter
from .small_products import write_product
from .words import Words
from .writer import Code, Machine

__all__ = ["DECLARED", "ENTRY", "KINDS", "TABLE", "Loop", "entry_text"]

TABLE = ("none", "array", "float", "number", "new")
"""What the table begins with: None, the types of arrays, of floats and of NumPy's float64 numbers,
NumPy's function that makes an array. Then follow the dtypes of KINDS, then constants."""
KINDS = ("f64", "f32", "i64", "i32", "i16", "i8", "i1")
ENTRY = "entry"
"""The function's name."""
DECLARED = {
    "llvm.memset": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "PyTuple_New": "declare ptr @PyTuple_New(i64)",
    "PyTuple_SetItem": "declare i32 @PyTuple_SetItem(ptr, i64, ptr)",
}
_IN_ROWS = 1
"""NumPy's flag of an array in row order."""


@dataclass(frozen=True, slots=True)
class Loop:
    """The function of a group, and what it takes."""

    name: str
    parameters: Sequence[Parameter]


def entry_text(entry: Entry, loop_of: Mapping[int, Loop], code: Code, machine: Machine) -> str:
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


class _Writer(Words):
    def __init__(self, entry: Entry, code: Code, head: int, register: int) -> None:
        self.entry, self.c, self.head, self.register = entry, code, head, register
        self.data: list[str] = []  # Constants of the text: lengths and strides of results.

    def written(self, loop_of: Mapping[int, Loop]) -> str:
        c = self.c
        self._refuse_unless(self.new(f"icmp eq i64 %count, {len(self.entry.inputs)}"))
        c.line(f"%table = load ptr, ptr {self.step('%self', self.head)}")
        for number, each in enumerate(self.entry.inputs.values()):
            self._input(number, each)
        for memory, each in self.entry.temporaries.items():
            self._temporary(memory, each)
        for number, memory in enumerate(self.entry.constants):
            place = self.item("%table", len(TABLE) + len(KINDS) + number)
            self._lies_at(memory, place)
        self._results()
        for number, each in enumerate(self.entry.steps):
            match each:
                case Looped():
                    self._loop(loop_of[number], each)
                case Multiplied():
                    places = self._place(each.left), self._place(each.right)
                    pair = matrices(each.left, each.right, places)
                    out = self._place(each.out)
                    write_product(c, each.out.kind, self.register, *pair, out, each.sizes)
                case Copied():
                    self._copy(each)
                case Zeroed():
                    place, size = self._place(each.out), each.out.size * each.out.itemsize
                    c.line(
                        f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)"
                    )
        return "\n".join(
            [
                *self.data,
                f"define ptr @{ENTRY}(ptr %self, ptr %arguments, i64 %count) nounwind {{",
                "entry:",
                *c.entry,
                "  br label %start",
                "start:",
                *c.lines,
                "  ret ptr %results",
                "refused:",
                f"  %none_at = getelementptr i8, ptr %self, i64 {self.head}",
                "  %refused_table = load ptr, ptr %none_at",
                "  %none = load ptr, ptr %refused_table",
                "  call void @Py_IncRef(ptr %none)",
                "  ret ptr %none",
                "failed:",
                "  call void @Py_DecRef(ptr %results)",
                "  ret ptr null",
                "nothing:",
                "  ret ptr null",
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

    def field(self, thing: str, offset: int, kind: str = "ptr") -> str:
        """A field of a Python object, so many bytes behind its head."""
        return self.new(f"load {kind}, ptr {self.step(thing, self.head + offset)}")

    def _refuse_unless(self, test: str, otherwise: str = "refused") -> None:
        following = self.c.label()
        self.c.line(f"br i1 {test}, label %{following}, label %{otherwise}")
        self.c.block(following)

    def _lies_at(self, memory: str, place: str) -> None:
        """Name the place of a memory."""
        self.c.line(f"%m_{memory} = getelementptr i8, ptr {place}, i64 0")

    def _place(self, value: Laid) -> str:
        """Where the first number of a value lies."""
        return self.step(f"%m_{value.memory}", value.start * value.itemsize)

    def known(self, name: str) -> str:
        """The address of a thing that the table begins with."""
        return self.item("%table", TABLE.index(name))

    def dtype(self, kind: str) -> str:
        return self.item("%table", len(TABLE) + KINDS.index(kind))

    # -- arrays ------------------------------------------------------------------------------------
    def _input(self, number: int, given: Laid) -> None:
        """Find the numbers of an input; a float64 of shape () may be a number of Python's."""
        c = self.c
        thing = self.item("%arguments", number)
        kind = self.field(thing, -8)
        is_array = self.new(f"icmp eq ptr {kind}, {self.known('array')}")
        if given.kind != "f64" or given.shape:
            self._refuse_unless(is_array)
            self._lies_at(given.memory, self._checked(thing, given))
            return
        array, other, inside, found = [self.c.label() for _ in range(4)]
        c.line(f"br i1 {is_array}, label %{array}, label %{other}")
        c.block(array)
        data = self._checked(thing, given)
        last = c.current
        c.line(f"br label %{found}")
        c.block(other)
        tests = [
            self.new(f"icmp eq ptr {kind}, {self.known(each)}") for each in ("float", "number")
        ]
        test = self.new(f"or i1 {tests[0]}, {tests[1]}")
        c.line(f"br i1 {test}, label %{inside}, label %refused")
        c.block(inside)
        number_at = self.step(thing, self.head)
        c.line(f"br label %{found}")
        c.block(found)
        c.line(f"%m_{given.memory} = phi ptr [ {data}, %{last} ], [ {number_at}, %{inside} ]")

    def _checked(self, array: str, given: Laid) -> str:
        """Where the numbers of an array lie, if it has this dtype and shape and is in row order."""
        dtype = self.field(array, 40)  # A pickle's is equal to NumPy's own, but not the same one.
        number = DTYPES[given.kind].num
        tests = [f"icmp eq i32 {self.field(dtype, 12, 'i32')}, {number}"]
        tests.append(f"icmp ne i8 {self.field(dtype, 10, 'i8')}, {ord('>')}")
        tests.append(f"icmp eq i32 {self.field(array, 8, 'i32')}, {len(given.shape)}")
        flag = self.new(f"and i32 {self.field(array, 48, 'i32')}, {_IN_ROWS}")
        tests.append(f"icmp ne i32 {flag}, 0")
        self._refuse_unless(self._all(tests))
        if given.shape:
            lengths = self.field(array, 16)
            self._refuse_unless(
                self._all(
                    [
                        "icmp eq i64 "
                        + self.new(f"load i64, ptr {self.step(lengths, 8 * axis)}")
                        + f", {length}"
                        for axis, length in enumerate(given.shape)
                    ]
                )
            )
        return self.field(array, 0)

    def _all(self, tests: Sequence[str]) -> str:
        found = self.new(tests[0])
        for each in tests[1:]:
            found = self.new(f"and i1 {found}, {self.new(each)}")
        return found

    def _temporary(self, memory: str, each: Laid) -> None:
        size = max(1, each.size * each.itemsize)
        self.c.entry.append(f"  %m_{memory} = alloca [{size} x i8], align 64")

    def _results(self) -> None:
        """Make the arrays and their tuple."""
        c = self.c
        results = self.entry.results
        c.line(f"%results = call ptr @PyTuple_New(i64 {len(results)})")
        self._refuse_unless(self.new("icmp ne ptr %results, null"), "nothing")
        new, array = self.known("new"), self.known("array")
        for number, each in enumerate(results):
            dtype = self.dtype(each.kind)
            lengths = self._numbers(f"lengths{number}", each.shape)
            steps = [step * each.itemsize for step in each.steps]
            strides = "null" if each.in_rows else self._numbers(f"strides{number}", steps)
            c.line(f"call void @Py_IncRef(ptr {dtype})")  # The call below takes a reference.
            found = self.new(
                f"call ptr {new}(ptr {array}, ptr {dtype}, i32 {len(each.shape)}, ptr {lengths}, "
                f"ptr {strides}, ptr null, i32 0, ptr null)"
            )
            self._refuse_unless(self.new(f"icmp ne ptr {found}, null"), "failed")
            self.new(f"call i32 @PyTuple_SetItem(ptr %results, i64 {number}, ptr {found})")
            self._lies_at(each.memory, self.field(found, 0))

    def _numbers(self, name: str, numbers: Sequence[int]) -> str:
        if not numbers:
            return "null"
        listed = ", ".join([f"i64 {each}" for each in numbers])
        self.data.append(f"@{name} = private constant [{len(numbers)} x i64] [{listed}]")
        return f"@{name}"

    # -- steps -------------------------------------------------------------------------------------
    def _loop(self, loop: Loop, step: Looped) -> None:
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
