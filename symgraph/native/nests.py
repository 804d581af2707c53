"""A group as a nest of loops: rows outside, short vectors of columns inside.

The numbers of a row are gone through once for each stage. What a later stage needs again is
computed again if that is cheap, else kept in memory. A sum over rows that leaves columns is added
row by row, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from ..ir.dims import Dim
from .accumulators import CHUNK, Total, started, with_initial
from .groups import END
from .loop_plan import LoopPlan
from .operations import cast
from .readings import Number, Reading
from .writer import BITS, Code, Value, is_float

__all__ = ["Nest"]

_MOST_IN_PLACE = 20
"""With more operations of many instructions, elementary functions are called."""


class Nest:
    """The loops of a group.

    Parameters
    ----------
    plan : Plan
    code : Code
    register : int
        The bytes of a vector.
    """

    def __init__(self, plan: LoopPlan, code: Code, register: int) -> None:
        self.plan = plan
        self.c = code
        self.pointer = {each.name: f"%p{k}" for k, each in enumerate(plan.parameters)}
        self.singles: dict[str, Value] = {}
        self.bases: dict[str, str] = {}
        self.totals: dict[str, Total] = {}
        self.row = "0"
        self.n = self._size(plan.group.rows, "%n")
        self.m = self._size(plan.group.columns, "%m")
        if plan.group.parted:  # A part has fewer.
            self.n, self.m = ("%n", self.m) if plan.group.rows else (self.n, "%m")
        self.lanes = self._lanes(register)
        code.outlined = sum([each.heavy for each in plan.group.members]) > _MOST_IN_PLACE

    def _size(self, axes: frozenset[int], name: str) -> str:
        dims: list[Dim] = [self.plan.group.space[k] for k in axes]
        if all(isinstance(each, int) for each in dims):
            return str(prod([int(each) for each in dims]))
        return name

    def _lanes(self, register: int) -> int:
        """How many numbers a vector has: a register of the widest kind."""
        kinds = [
            self.plan.kinds[name] for name, each in self.plan.placed.items() if each.form == "full"
        ]
        for each in self.plan.group.members:
            if self.plan.placed[each.target].form == "full":
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
        if self.plan.group.rows:
            self._ones(0)
            c.loop("0", self.n, 1, self._row)
            self._finish_totals()
            self._ones(END)
        else:
            self._row("0")
        given = ", ".join([f"ptr noalias %p{k}" for k in range(len(self.plan.parameters))])
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

    def address(self, base: str, kind: str, index: str) -> str:
        """The address of a number."""
        c = self.c
        found = c.name("a")
        stored = "i8" if kind == "i1" else kind
        c.line(f"{found} = getelementptr {c.type_of(stored, 0)}, ptr {base}, i64 {index}")
        return found

    def loaded(self, name: str, base: str, index: str, mask: Value | None = None) -> Value:
        kind = self.plan.kinds[name]
        return self.c.load(self.address(base, kind, index), kind, mask)

    # -- single numbers ----------------------------------------------------------------------------
    def _single(self, name: str) -> Value:
        """A number that does not vary along a row."""
        found = self.singles.get(name)
        if found is None:
            reading = self.plan.of.get(name)
            form = self.plan.placed[name].form
            index = self.row if form == "row" else "0"
            if reading is None:
                found = self.loaded(name, self.pointer[name], index)
            else:
                found = self.computed(reading, self._single)
                self._hand_out(name, found, index)
            self.singles[name] = found
        return found

    def _hand_out(self, name: str, value: Value, index: str) -> None:
        if name in self.plan.group.results:
            self.c.store(self.address(self.pointer[name], self.plan.kinds[name], index), value)

    def computed(self, reading: Reading, operand: Callable[[str], Value]) -> Value:
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
        for given in self.plan.parameters:
            if given.role == "in" and given.form == "one":
                self._single(given.name)
        for each in self.plan.group.members:
            placed = self.plan.placed[each.target]
            if placed.form == "one" and placed.stage == stage and each.reduction is None:
                self._single(each.target)

    # -- rows --------------------------------------------------------------------------------------
    def _row(self, row: str) -> None:
        c = self.c
        self.row = row
        before = dict(self.singles)
        self.bases = {}
        offset = "0"
        if self.plan.group.rows:
            offset = c.name("o")
            c.line(f"{offset} = mul nsw i64 {row}, {self.m}")
        for each in self.plan.parameters:
            base = self.pointer[each.name]
            if each.form == "full":
                base = self.address(base, each.kind, offset)
            self.bases[each.name] = base
            if each.role == "in" and each.form == "row":
                self._single(each.name)
        for stage in range(self.plan.stages + 1):
            for each in self.plan.group.members:
                placed = self.plan.placed[each.target]
                if placed.form == "row" and placed.stage == stage and each.reduction is None:
                    self._single(each.target)
            if stage < self.plan.stages and self.plan.roots(stage):
                self._stage(stage)
        for each in self.plan.group.members:
            total = self.totals.get(each.target)
            if total is not None and self.plan.placed[each.names[0]].form == "row":
                total.add(self.c, self._single(each.names[0]))
        self.singles = before

    def _stage(self, stage: int) -> None:
        """One pass over the columns."""
        c, lanes = self.c, self.lanes
        reductions = [
            each
            for each in self.plan.reductions(stage)
            if self.plan.placed[each.target].form != "column"
        ]
        parts = {each.target: started(c, each, lanes) for each in reductions}
        sums = [e for e in reductions if e.reduction and e.reduction.sums and is_float(e.kinds[0])]
        totals: dict[str, Total] = {}
        if sums and not (self.m.isdigit() and int(self.m) <= CHUNK * lanes):
            totals = {each.target: started(c, each, lanes, exact=True) for each in sums}

        def body(column: str, mask: Value | None = None) -> None:
            c.width = lanes
            _Body(self, stage, column, mask, parts).run()
            c.width = 0

        def flush() -> None:
            for name, total in totals.items():
                parts[name].moved_to(c, total)

        self._passed(body, flush, CHUNK * lanes if totals else 0)
        for each in reductions:
            self._reduced(each, totals.get(each.target, parts[each.target]))

    def _passed(self, body: Callable[..., None], flush: Callable[[], None], chunk: int) -> None:
        """`body` for each vector of columns, `flush` after each chunk of them."""
        c, lanes = self.c, self.lanes
        step = body

        def masked(column: str) -> None:
            body(column, self._mask(self._difference(self.m, column)))

        if c.outlined and lanes > 1 and (not self.m.isdigit() or int(self.m) % lanes):
            # Written once, all of it with a mask: the code is half as long.
            rest, end, step = "0", self.m, masked
        elif self.m.isdigit():
            rest = str(int(self.m) % lanes)
            end = str(int(self.m) - int(rest))
        else:
            rest, end = c.name(), c.name()
            c.line(f"{rest} = srem i64 {self.m}, {lanes}")
            c.line(f"{end} = sub i64 {self.m}, {rest}")

        def of_chunk(start: str) -> None:
            stop = c.name()
            c.line(f"{stop} = add nsw i64 {start}, {chunk}")
            c.loop(start, self._least(stop, end), lanes, step)
            flush()

        if end != "0" and chunk:
            c.loop("0", end, chunk, of_chunk)
        elif end != "0":
            c.loop("0", end, lanes, step)
        if rest != "0":
            self._tail(end, rest, body)
            flush()

    def _least(self, x: str, y: str) -> str:
        test, found = self.c.name(), self.c.name()
        self.c.line(f"{test} = icmp slt i64 {x}, {y}")
        self.c.line(f"{found} = select i1 {test}, i64 {x}, i64 {y}")
        return found

    def _difference(self, x: str, y: str) -> str:
        found = self.c.name()
        self.c.line(f"{found} = sub i64 {x}, {y}")
        return found

    def _mask(self, count: str) -> Value:
        """The first lanes, as many as are left."""
        c = self.c
        lanes = ", ".join([f"i64 {k}" for k in range(self.lanes)])
        c.width = self.lanes
        number = c.wide(Value(count, "i64", 0))
        mask = c.compared("slt", Value(f"<{lanes}>", "i64", self.lanes), number)
        c.width = 0
        return mask

    def _tail(self, start: str, count: str, body: Callable[..., None]) -> None:
        """The columns that fill no vector."""
        c = self.c

        def run() -> None:
            body(start, self._mask(count))

        if count.isdigit():
            run()
            return
        test = c.name()
        c.line(f"{test} = icmp ne i64 {count}, 0")
        c.when(test, run)

    # -- reductions --------------------------------------------------------------------------------
    def _reduced(self, reading: Reading, total: Total) -> None:
        """The reduction of a row."""
        found = total.result(self.c)
        if self.plan.placed[reading.target].form == "one":
            self.totals[reading.target].add(self.c, found)
            return
        found = with_initial(self.c, reading, found)
        self.singles[reading.target] = found
        self._hand_out(reading.target, found, self.row)

    def _start_totals(self) -> None:
        """Variables for reductions over rows; those that leave columns lie in their results."""
        for each in self.plan.group.members:
            if each.reduction is None or self.plan.placed[each.target].stage != END:
                continue
            if self.plan.placed[each.target].form == "one":
                self.totals[each.target] = started(self.c, each, 0, exact=True)
            else:
                self._clear(each)

    def _clear(self, reading: Reading) -> None:
        c, kind = self.c, reading.kinds[0]
        assert reading.reduction is not None
        value = with_initial(c, reading, reading.reduction.neutral(c, kind, 0))
        place = self.pointer[reading.target]
        c.loop("0", self.m, 1, lambda at: c.store(self.address(place, kind, at), value))

    def _finish_totals(self) -> None:
        for each in self.plan.group.members:
            total = self.totals.get(each.target)
            if total is None:
                continue
            found = with_initial(self.c, each, total.result(self.c))
            self.singles[each.target] = found
            self._hand_out(each.target, found, "0")


class _Body:
    """The operations of one stage on one vector of columns."""

    def __init__(
        self,
        nest: Nest,
        stage: int,
        column: str,
        mask: Value | None,
        parts: Mapping[str, Total],
    ) -> None:
        self.nest, self.stage, self.column, self.mask, self.parts = nest, stage, column, mask, parts
        self.plan = nest.plan
        self.values: dict[str, Value] = {}

    def run(self) -> None:
        """Compute the values of the stage, store those that are kept, and add to the reductions."""
        nest, c = self.nest, self.nest.c
        for name in self.plan.roots(self.stage):
            value = self.value(name)
            if name in self.plan.kept and self.plan.placed[name].stage == self.stage:
                place = nest.address(nest.bases[name], self.plan.kinds[name], self.column)
                c.store(place, value, self.mask)
        for each in self.plan.reductions(self.stage):
            self._reduce(each, cast(c, self.value(each.names[0]), each.kinds[0]))

    def _reduce(self, reading: Reading, value: Value) -> None:
        nest, c = self.nest, self.nest.c
        reduction, kind = reading.reduction, reading.kinds[0]
        assert reduction is not None
        if self.plan.placed[reading.target].form == "column":
            place = nest.address(nest.pointer[reading.target], kind, self.column)
            found = reduction.combine(c, c.load(place, kind, self.mask), value)
            c.store(place, found, self.mask)
            return
        if self.mask is not None:
            value = c.select(self.mask, value, reduction.neutral(c, kind, c.width))
        self.parts[reading.target].add(c, value)

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
        if self.plan.placed[name].form == "full":
            earlier = self.plan.placed[name].stage < self.stage
            return name not in self.plan.of or (name in self.plan.kept and earlier)
        return name not in self.plan.of

    def _needs(self, name: str) -> Sequence[str]:
        if self.plan.placed[name].form in ("row", "one") or self._is_loaded(name):
            return ()
        return self.plan.of[name].names

    def _made(self, name: str) -> Value:
        nest = self.nest
        placed = self.plan.placed[name]
        if placed.form in ("row", "one"):
            return nest.singles[name]
        if self._is_loaded(name):
            base = nest.pointer[name] if placed.form == "column" else nest.bases[name]
            return nest.loaded(name, base, self.column, self.mask)
        return nest.computed(self.plan.of[name], self.values.__getitem__)
