"""A group as a nest of loops: rows outside, short vectors of columns inside.

The numbers of a row are gone through once for each stage. What a later stage needs again is
computed again if that is cheap, else kept in scratch memory of one row.

A sum of floats adds at most 32 numbers in each lane of a vector before they are added to a total
whose rounding errors are kept and added at the end. So its error is at most (40 + log2 of the
lanes) units of the sum of the absolute values, however many there are. A sum over rows that leaves
columns is added row by row, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..ir.dims import Dim
from .groups import END, Group
from .operations import Reduction, cast, kind_of
from .readings import Number, Reading
from .writer import BITS, Code, Value, is_float

__all__ = ["Nest", "Parameter"]

_CHUNK = 32
"""How many numbers a lane adds before they go to the total."""
_RECOMPUTED = 6
"""Up to so many loads and light operations a value is computed again rather than kept."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An array that the function of a group takes.

    Parameters
    ----------
    name : str
        The value, or that of which scratch memory holds a row.
    role : str
        `"in"`, `"out"` or `"scratch"`.
    kind : str
    form : str
        How it lies in the space, as in `Placed`.
    """

    name: str
    role: str
    kind: str
    form: str


class Nest:
    """The loops of a group.

    Parameters
    ----------
    group : Group
    kinds : mapping of str to str
        The kind of each value outside of the group that it reads.
    code : Code
    register : int
        The bytes of a vector.
    """

    def __init__(self, group: Group, kinds: Mapping[str, str], code: Code, register: int) -> None:
        self.group = group
        self.c = code
        self.of = {each.target: each for each in group.members}
        self.kinds = dict(kinds)
        for each in group.members:
            found = kind_of(each.result.dtype)
            assert found is not None
            self.kinds[each.target] = found
        self.placed = group.placed
        self.kept = {name for name in group.results if self.placed[name].form == "full"}
        self.scratch: list[str] = []
        self.stages = 1 + max([p.stage for p in self.placed.values() if p.stage != END], default=0)
        self._choose_kept()
        self.parameters = self._parameters()
        self.pointer = {each.name: f"%p{k}" for k, each in enumerate(self.parameters)}
        self.rows_of: dict[str, Value] = {}
        self.bases: dict[str, str] = {}
        self.totals: dict[str, tuple[str, str]] = {}
        self.n = self._size(group.rows, "%n")
        self.m = self._size(group.columns, "%m")
        self.lanes = self._lanes(register)

    # -- what is kept ------------------------------------------------------------------------------
    def _roots(self, stage: int) -> list[str]:
        """The full values that a stage must have: results, kept values, and what is reduced."""
        found = [
            each.target
            for each in self.group.members
            if self.placed[each.target].stage == stage
            and self.placed[each.target].form == "full"
            and each.target in self.kept
        ]
        found += [each.names[0] for each in self._reductions(stage)]
        return list(dict.fromkeys(found))

    def _reductions(self, stage: int) -> list[Reading]:
        """The reductions of full values of a stage."""
        return [
            each
            for each in self.group.members
            if each.reduction is not None
            and self.placed[each.names[0]].form == "full"
            and self.placed[each.names[0]].stage == stage
        ]

    def _choose_kept(self) -> None:
        """Find the values of earlier stages that are kept, from the last stage to the first."""
        for stage in reversed(range(self.stages)):
            waiting = self._roots(stage)
            seen: set[str] = set()
            while waiting:
                name = waiting.pop()
                reading = self.of.get(name)
                if name in seen or reading is None or self.placed[name].form != "full":
                    continue
                seen.add(name)
                if self.placed[name].stage < stage:
                    if name in self.kept:
                        continue
                    if self._cost(name) > _RECOMPUTED:
                        self.kept.add(name)
                        self.scratch.append(name)
                        continue
                waiting.extend(reading.names)

    def _cost(self, name: str) -> int:
        """The loads and light operations that compute a value again; many if it is heavy."""
        reading = self.of.get(name)
        if reading is None or name in self.kept:
            return 1
        if self.placed[name].form != "full":
            return 0
        if reading.heavy:
            return _RECOMPUTED + 1
        total = 1
        for each in reading.names:
            total += self._cost(each)
            if total > _RECOMPUTED:
                break
        return total

    def _parameters(self) -> tuple[Parameter, ...]:
        read = dict.fromkeys([n for m in self.group.members for n in m.names])
        found = [
            Parameter(name, "in", self.kinds[name], self.placed[name].form)
            for name in read
            if name not in self.of
        ]
        found += [
            Parameter(name, "out", self.kinds[name], self.placed[name].form)
            for name in self.group.results
        ]
        found += [Parameter(name, "scratch", self.kinds[name], "column") for name in self.scratch]
        return tuple(found)

    def _size(self, axes: frozenset[int], name: str) -> str:
        dims: list[Dim] = [self.group.space[k] for k in axes]
        if all(isinstance(each, int) for each in dims):
            return str(prod([int(each) for each in dims]))
        return name

    def _lanes(self, register: int) -> int:
        """How many numbers a vector has: a register of the widest kind."""
        kinds = [self.kinds[name] for name, each in self.placed.items() if each.form == "full"]
        for each in self.group.members:
            if self.placed[each.target].form == "full":
                kinds.extend(each.kinds)
        widest = max([BITS[kind] // 8 for kind in kinds if kind != "i1"], default=1)
        lanes = min(register // widest, 16)
        if self.m.isdigit():
            while lanes > 1 and lanes // 2 >= int(self.m):
                lanes //= 2
        return lanes

    # -- the function ------------------------------------------------------------------------------
    def written(self, name: str) -> str:
        """The function, which takes pointers and the sizes `%n` and `%m`."""
        c = self.c
        c.lines, c.entry, c.known, c.current, c.width = [], [], {}, "start", 0
        self._start_totals()
        if self.group.rows:
            self._ones(0)
            c.loop("0", self.n, 1, self._row)
            self._finish_totals()
            self._ones(END)
        else:
            self._row("0")
        given = ", ".join([f"ptr noalias %p{k}" for k in range(len(self.parameters))])
        comma = ", " if given else ""
        return "\n".join(
            [
                f"define internal void @{name}({given}{comma}i64 %n, i64 %m) nounwind {{",
                "entry:",
                *c.entry,
                "  br label %start",
                "start:",
                *c.lines,
                "  ret void",
                "}",
            ]
        )

    def _place(self, base: str, kind: str, index: str) -> str:
        """The address of a number."""
        c = self.c
        found = c.name("a")
        stored = "i8" if kind == "i1" else kind
        c.line(f"{found} = getelementptr {c.type_of(stored, 0)}, ptr {base}, i64 {index}")
        return found

    def _loaded(self, name: str, base: str, index: str, mask: Value | None = None) -> Value:
        kind = self.kinds[name]
        return self.c.load(self._place(base, kind, index), kind, mask)

    # -- single numbers ----------------------------------------------------------------------------
    def _single(self, name: str) -> Value:
        """A number that does not vary along a row."""
        found = self.rows_of.get(name)
        if found is None:
            reading = self.of.get(name)
            form = self.placed[name].form
            index = self.row if form == "row" else "0"
            if reading is None:
                found = self._loaded(name, self.pointer[name], index)
            else:
                found = self._computed(reading, self._single)
                self._hand_out(name, found, index)
            self.rows_of[name] = found
        return found

    def _hand_out(self, name: str, value: Value, index: str) -> None:
        if name in self.group.results:
            self.c.store(self._place(self.pointer[name], self.kinds[name], index), value)

    def _computed(self, reading: Reading, operand: Callable[[str], Value]) -> Value:
        c = self.c
        values: list[Value] = []
        for each, kind in zip(reading.operands, reading.kinds, strict=True):
            if isinstance(each, Number):
                values.append(c.number(kind, each.value))
            else:
                values.append(cast(c, c.wide(operand(each)), kind))
        if reading.function is None:
            return values[0]
        return reading.function(c, *values)

    def _ones(self, stage: int) -> None:
        """Numbers of the whole space, before the loop (stage 0) or after it."""
        self.row = "0"
        for given in self.parameters:
            if given.role == "in" and given.form == "one":
                self._single(given.name)
        for each in self.group.members:
            placed = self.placed[each.target]
            if placed.form == "one" and placed.stage == stage and each.reduction is None:
                self._single(each.target)

    # -- rows --------------------------------------------------------------------------------------
    def _row(self, row: str) -> None:
        c = self.c
        self.row = row
        before = dict(self.rows_of)
        self.bases = {}
        offset = "0"
        if self.group.rows:
            offset = c.name("o")
            c.line(f"{offset} = mul nsw i64 {row}, {self.m}")
        for each in self.parameters:
            base = self.pointer[each.name]
            if each.form == "full":
                base = self._place(base, each.kind, offset)
            self.bases[each.name] = base
            if each.role == "in" and each.form == "row":
                self._single(each.name)
        for stage in range(self.stages + 1):
            for each in self.group.members:
                placed = self.placed[each.target]
                if placed.form == "row" and placed.stage == stage and each.reduction is None:
                    self._single(each.target)
            if stage < self.stages and self._roots(stage):
                self._stage(stage)
        for each in self.group.members:
            if each.reduction is not None and self.placed[each.names[0]].form == "row":
                if self.placed[each.target].form == "one":
                    self._add_to_total(each, self._single(each.names[0]))
        self.rows_of = before

    def _stage(self, stage: int) -> None:
        """One pass over the columns."""
        c = self.c
        reductions = [
            each for each in self._reductions(stage) if self.placed[each.target].form != "column"
        ]
        sums = [each for each in reductions if each.reduction and each.reduction.sums]
        c.width = self.lanes
        slots = {each.target: self._accumulator(each) for each in reductions}
        c.width = 0
        static = self.m.isdigit()
        rest = int(self.m) % self.lanes if static else 1
        if static:
            end = str(int(self.m) - rest)
        else:
            over = c.name()
            c.line(f"{over} = srem i64 {self.m}, {self.lanes}")
            end = c.name()
            c.line(f"{end} = sub i64 {self.m}, {over}")
        chunk = _CHUNK * self.lanes
        floats = [each for each in sums if is_float(each.kinds[0])]
        long = bool(floats) and not (static and int(self.m) <= chunk)
        totals = {each.target: self._accumulator(each, 2) for each in floats} if long else {}

        def body(column: str, mask: Value | None = None) -> None:
            c.width = self.lanes
            _Body(self, stage, column, mask, slots).run()
            c.width = 0

        def flush() -> None:
            for each in floats if long else ():
                self._flush(each, slots[each.target], totals[each.target])

        def chunk_of(start: str) -> None:
            stop = c.name()
            c.line(f"{stop} = add nsw i64 {start}, {chunk}")
            least = self._least(stop, end)
            c.loop(start, least, self.lanes, body)
            flush()

        if not static or end != "0":
            if long:
                c.loop("0", end, chunk, chunk_of)
            else:
                c.loop("0", end, self.lanes, body)
        if rest:
            self._tail(end, str(rest) if static else over, body, static)
            flush()
        for each in reductions:
            self._reduced(each, slots[each.target], totals.get(each.target))

    def _least(self, x: str, y: str) -> str:
        test, found = self.c.name(), self.c.name()
        self.c.line(f"{test} = icmp slt i64 {x}, {y}")
        self.c.line(f"{found} = select i1 {test}, i64 {x}, i64 {y}")
        return found

    def _tail(self, start: str, count: str, body: Callable[..., None], static: bool) -> None:
        """The columns that fill no vector."""
        c = self.c
        lanes = ", ".join([f"i32 {k}" for k in range(self.lanes)])

        def run() -> None:
            short = c.name()
            c.line(f"{short} = trunc i64 {count} to i32")
            c.width = self.lanes
            number = c.wide(Value(short, "i32", 0))
            mask = c.compared("ult", Value(f"<{lanes}>", "i32", self.lanes), number)
            c.width = 0
            body(start, mask)

        if static:
            run()
            return
        test = c.name()
        c.line(f"{test} = icmp ne i64 {count}, 0")
        c.when(test, run)

    # -- reductions --------------------------------------------------------------------------------
    def _accumulator(self, reading: Reading, count: int = 1) -> tuple[str, ...]:
        """Variables for a reduction, a number in each lane."""
        c = self.c
        reduction, kind = reading.reduction, reading.kinds[0]
        assert reduction is not None
        first = c.slot(kind, self.lanes, reduction.neutral(c, kind, self.lanes))
        if count == 1:
            return (first,)
        return first, c.slot(kind, self.lanes, c.number(kind, 0.0, self.lanes))

    def _compensated(self, kind: str, width: int, slots: tuple[str, ...], x: Value) -> None:
        """Add to a total, and its rounding error to what the total lacks (Knuth's two-sum)."""
        c = self.c
        total, lack = c.get(slots[0], kind, width), c.get(slots[1], kind, width)
        found = c.add(total, x)
        part = c.sub(found, total)
        error = c.add(c.sub(total, c.sub(found, part)), c.sub(x, part))
        c.set(slots[0], found)
        c.set(slots[1], c.add(lack, error))

    def _flush(self, reading: Reading, slots: tuple[str, ...], totals: tuple[str, ...]) -> None:
        c = self.c
        kind, reduction = reading.kinds[0], reading.reduction
        assert reduction is not None
        self._compensated(kind, self.lanes, totals, c.get(slots[0], kind, self.lanes))
        c.set(slots[0], reduction.neutral(c, kind, self.lanes))

    def _with_lack(self, total: Value, lack: Value) -> Value:
        """The total with what it lacks; an infinite total lacks NaN, which is left out."""
        c = self.c
        return c.select(c.compared("one", lack, 0.0), c.add(total, lack), total)

    def _reduced(
        self, reading: Reading, slots: tuple[str, ...], totals: tuple[str, ...] | None
    ) -> None:
        """The reduction of a row."""
        c = self.c
        kind, reduction = reading.kinds[0], reading.reduction
        assert reduction is not None

        def combine(x: Value, y: Value) -> Value:
            return reduction.combine(c, x, y)

        found = c.folded(c.get((totals or slots)[0], kind, self.lanes), combine)
        if totals is not None:
            found = self._with_lack(found, c.folded(c.get(totals[1], kind, self.lanes), combine))
        if self.placed[reading.target].form == "one":
            self._add_to_total(reading, found)
            return
        found = self._ended(reading, reduction, found, self.m)
        self.rows_of[reading.target] = found
        self._hand_out(reading.target, found, self.row)

    def _ended(self, reading: Reading, reduction: Reduction, found: Value, *sizes: str) -> Value:
        """With the initial value; a sum of nothing is 0.0."""
        c = self.c
        if reading.initial is not None:
            found = reduction.combine(c, found, c.number(found.kind, reading.initial, 0))
        if reduction.sums and is_float(found.kind):
            for size in sizes:
                test = c.compared("eq", Value(size, "i64", 0), 0)
                found = c.select(test, c.number(found.kind, 0.0, 0), found)
        return found

    def _start_totals(self) -> None:
        """Variables for reductions over rows; sums that leave columns lie in their results."""
        c = self.c
        for each in self.group.members:
            reduction = each.reduction
            if reduction is None or self.placed[each.target].stage != END:
                continue
            kind = each.kinds[0]
            if self.placed[each.target].form == "one":
                first = c.slot(kind, 0, reduction.neutral(c, kind, 0))
                self.totals[each.target] = first, c.slot(kind, 0, c.number(kind, 0, 0))
            else:
                self._clear(each, reduction)

    def _clear(self, reading: Reading, reduction: Reduction) -> None:
        c = self.c
        kind = reading.kinds[0]
        value = self._ended(reading, reduction, reduction.neutral(c, kind, 0), self.n)

        def body(column: str) -> None:
            c.store(self._place(self.pointer[reading.target], kind, column), value)

        c.loop("0", self.m, 1, body)

    def _add_to_total(self, reading: Reading, value: Value) -> None:
        c = self.c
        reduction, kind = reading.reduction, reading.kinds[0]
        assert reduction is not None
        slots = self.totals[reading.target]
        if reduction.sums and is_float(kind):
            self._compensated(kind, 0, slots, value)
        else:
            c.set(slots[0], reduction.combine(c, c.get(slots[0], kind, 0), value))

    def _finish_totals(self) -> None:
        c = self.c
        for each in self.group.members:
            slots = self.totals.get(each.target)
            if slots is None or each.reduction is None:
                continue
            kind = each.kinds[0]
            found = c.get(slots[0], kind, 0)
            sums = each.reduction.sums and is_float(kind)
            if sums:
                found = self._with_lack(found, c.get(slots[1], kind, 0))
            sizes = [self.n] if self.placed[each.names[0]].form == "row" else [self.n, self.m]
            found = self._ended(each, each.reduction, found, *sizes)
            self.rows_of[each.target] = found
            self._hand_out(each.target, found, "0")


class _Body:
    """The operations of one stage on one vector of columns."""

    def __init__(
        self,
        nest: Nest,
        stage: int,
        column: str,
        mask: Value | None,
        slots: Mapping[str, Sequence[str]],
    ) -> None:
        self.nest, self.stage, self.column, self.mask, self.slots = nest, stage, column, mask, slots
        self.values: dict[str, Value] = {}

    def run(self) -> None:
        """Compute what the stage must have, store what is kept, and add to what is reduced."""
        nest, c = self.nest, self.nest.c
        for name in nest._roots(self.stage):
            value = self.value(name)
            if name in nest.kept and nest.placed[name].stage == self.stage:
                place = nest._place(nest.bases[name], nest.kinds[name], self.column)
                c.store(place, value, self.mask)
        for each in nest._reductions(self.stage):
            self._reduce(each, cast(c, self.value(each.names[0]), each.kinds[0]))

    def _reduce(self, reading: Reading, value: Value) -> None:
        nest, c = self.nest, self.nest.c
        reduction, kind = reading.reduction, reading.kinds[0]
        assert reduction is not None
        if nest.placed[reading.target].form == "column":
            place = nest._place(nest.pointer[reading.target], kind, self.column)
            found = reduction.combine(c, c.load(place, kind, self.mask), value)
            c.store(place, found, self.mask)
            return
        if self.mask is not None:
            value = c.select(self.mask, value, reduction.neutral(c, kind, c.width))
        (slot,) = self.slots[reading.target]
        c.set(slot, reduction.combine(c, c.get(slot, kind, c.width), value))

    def value(self, name: str) -> Value:
        """A value in the lanes of the vector; a stack, for expressions may be deep."""
        stack = [name]
        while stack:
            top = stack[-1]
            if top in self.values:
                stack.pop()
                continue
            waits = [each for each in self._needs(top) if each not in self.values]
            if waits:
                stack.extend(reversed(waits))
                continue
            stack.pop()
            self.values[top] = self._made(top)
        return self.values[name]

    def _is_loaded(self, name: str) -> bool:
        nest = self.nest
        if nest.placed[name].form == "full":
            earlier = nest.placed[name].stage < self.stage
            return name not in nest.of or (name in nest.kept and earlier)
        return name not in nest.of

    def _needs(self, name: str) -> Sequence[str]:
        nest = self.nest
        if nest.placed[name].form in ("row", "one") or self._is_loaded(name):
            return ()
        return nest.of[name].names

    def _made(self, name: str) -> Value:
        nest = self.nest
        placed = nest.placed[name]
        if placed.form in ("row", "one"):
            return nest.rows_of[name]
        if self._is_loaded(name):
            base = nest.pointer[name] if placed.form == "column" else nest.bases[name]
            return nest._loaded(name, base, self.column, self.mask)
        return nest._computed(nest.of[name], self.values.__getitem__)
