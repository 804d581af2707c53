"""Products of matrices in tiles that stay in registers.

The scheme is that of K. Goto and R. van de Geijn, *Anatomy of High-Performance Matrix
Multiplication* (ACM TOMS 34(3), 2008): panels of the right matrix are copied to lie together, and a
tile of the result stays in registers while a panel of the left matrix is gone through. Sums run
along the inner axis, each step one fused multiply-add.
"""

from __future__ import annotations

from collections.abc import Callable

from ..records import record
from .integer_instructions import IntegerInstructions
from .writer import BITS, Code, Value

__all__ = ["INNER", "Tile", "written"]

INNER = {"f32": 256, "f64": 192}
"""Steps along the inner axis before the next panel."""
_COLUMNS = {"f32": 512, "f64": 320}
"""Columns of the right matrix that lie together: about half of a second-level cache."""


@record
class Tile:
    """The part of the result that is computed in registers.

    Parameters
    ----------
    kind : str
    rows : int
    vectors : int
        How many vectors wide it is.
    lanes : int
    """

    kind: str
    rows: int
    vectors: int
    lanes: int

    @property
    def name(self) -> str:
        return f"product_{self.kind}_{self.rows}x{self.vectors}"

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes

    @property
    def panel(self) -> int:
        """How many columns lie together."""
        return _COLUMNS[self.kind] // self.columns * self.columns

    @property
    def left_size(self) -> int:
        """The numbers of a panel of the left matrix, and a vector more."""
        return self.rows * INNER[self.kind] + self.lanes

    def right_size(self, columns: int) -> int:
        """The numbers of the panels of the right matrix."""
        wide = -(-columns // self.columns) * self.columns
        return INNER[self.kind] * min(wide, self.panel)


def written(c: Code, tile: Tile) -> str:
    """The function of a tile: pointers and strides of both, the result, sizes, two panels."""
    return _Writer(c, tile).written()


class _Writer(IntegerInstructions):
    def __init__(self, c: Code, tile: Tile) -> None:
        self.c, self.tile = c, tile
        self.size = BITS[tile.kind] // 8

    # -- small parts -----------------------------------------------------------------------------
    def mul(self, x: str, y: str | int) -> str:
        return self.new(f"mul nsw i64 {x}, {y}")

    def add(self, x: str, y: str | int) -> str:
        return self.new(f"add nsw i64 {x}, {y}")

    def least(self, x: str, y: str | int) -> str:
        test = self.new(f"icmp slt i64 {x}, {y}")
        return self.new(f"select i1 {test}, i64 {x}, i64 {y}")

    def at(self, base: str, *offsets: str) -> str:
        """An address some bytes on."""
        for each in offsets:
            base = self.new(f"getelementptr i8, ptr {base}, i64 {each}")
        return base

    def bytes(self, count: str) -> str:
        return self.mul(count, self.size)

    def both(self, test: str, then: Callable[[], None], other: Callable[[], None]) -> None:
        c = self.c
        yes, no, after = c.label(), c.label(), c.label()
        c.line(f"br i1 {test}, label %{yes}, label %{no}")
        c.block(yes)
        then()
        c.line(f"br label %{after}")
        c.block(no)
        other()
        c.line(f"br label %{after}")
        c.block(after)

    def lanes_below(self, count: str) -> Value:
        """A mask of the first lanes."""
        return self.first_lanes(count, self.tile.lanes)

    def vector(self, place: str, mask: Value | None = None) -> Value:
        c = self.c
        c.width = self.tile.lanes
        found = c.load(place, self.tile.kind, mask)
        c.width = 0
        return found

    def one(self, place: str) -> Value:
        return self.c.load(place, self.tile.kind)

    # -- the function ------------------------------------------------------------------------------
    def written(self) -> str:
        c, tile = self.c, self.tile
        c.lines, c.entry, c.known, c.current, c.width = [], [], {}, "start", 0
        self.a, self.ra, self.ca = c.name("s"), c.name("s"), c.name("s")
        c.entry += [f"  {self.a} = alloca ptr", f"  {self.ra} = alloca i64"]
        c.entry += [f"  {self.ca} = alloca i64"]
        self.acc = [
            [c.slot(tile.kind, tile.lanes, self.zero()) for _ in range(tile.vectors)]
            for _ in range(tile.rows)
        ]
        self.whole = c.name("s")
        count = tile.rows * tile.columns
        numbers = f"[{count} x {c.type_of(tile.kind, 0)}]"
        c.entry.append(f"  {self.whole} = alloca {numbers}, align 64")
        c.loop("0", "%n", tile.panel, self._columns)
        return "\n".join(
            [
                f"define internal void @{tile.name}(ptr noalias %a, i64 %ra, i64 %ca, "
                "ptr noalias %b, i64 %rb, i64 %cb, ptr noalias %c, i64 %m, i64 %n, i64 %k, "
                "ptr noalias %pa, ptr noalias %pb) nounwind {",
                "entry:",
                *c.entry,
                "  br label %start",
                "start:",
                *c.lines,
                "  ret void",
                "}",
            ]
        )

    def zero(self) -> Value:
        return self.c.number(self.tile.kind, 0.0, self.tile.lanes)

    def _columns(self, first: str) -> None:
        """Some columns of the result."""
        c, tile = self.c, self.tile
        count = self.least(self.new(f"sub i64 %n, {first}"), tile.panel)

        def inner(start: str) -> None:
            steps = self.least(self.new(f"sub i64 %k, {start}"), INNER[tile.kind])
            c.loop(
                "0",
                count,
                tile.columns,
                lambda at: self._pack_right(first, count, start, steps, at),
            )
            c.loop("0", "%m", tile.rows, lambda row: self._rows(first, count, start, steps, row))

        # Of no steps the result is zero: one round without any.
        c.loop("0", self.new("call i64 @llvm.smax.i64(i64 %k, i64 1)"), INNER[tile.kind], inner)
        c.declared["llvm.smax.i64"] = "declare i64 @llvm.smax.i64(i64, i64)"

    # -- panels ------------------------------------------------------------------------------------
    def _pack_right(self, first: str, count: str, start: str, steps: str, at: str) -> None:
        """Some columns of the right matrix, a tile wide, row after row."""
        tile, size = self.tile, self.size
        width = self.least(self.new(f"sub i64 {count}, {at}"), tile.columns)
        to = self.at("%pb", self.bytes(self.mul(at, steps)))
        corner = self.at("%b", self.mul(start, "%rb"), self.mul(self.add(first, at), "%cb"))
        by_rows = self.new(f"icmp eq i64 %cb, {size}")
        whole = self.new(f"icmp eq i64 {width}, {tile.columns}")
        by_columns = self.new(f"icmp eq i64 %rb, {size}")
        turned = self.new(f"and i1 {whole}, {by_columns}")
        self.both(
            by_rows,
            lambda: self._copied(to, corner, "%rb", width, steps),
            lambda: self.both(
                turned,
                lambda: self._turned(to, corner, steps),
                lambda: self._gathered(to, corner, ("%rb", "%cb"), tile.columns, width, "0", steps),
            ),
        )

    def _copied(self, to: str, corner: str, stride: str, width: str, steps: str) -> None:
        """Rows that lie together."""
        c, tile = self.c, self.tile

        def step(p: str) -> None:
            for v in range(tile.vectors):
                rest = self.new(f"sub i64 {width}, {v * tile.lanes}")
                here = f"{v * tile.lanes * self.size}"
                found = self.vector(
                    self.at(corner, self.mul(p, stride), here), self.lanes_below(rest)
                )
                c.store(self.at(to, self.bytes(self.mul(p, tile.columns)), here), found)

        c.loop("0", steps, 1, step)

    def _turned(self, to: str, corner: str, steps: str) -> None:
        """Columns that lie together, a square of registers at a time."""
        c, tile = self.c, self.tile
        rest = self.new(f"srem i64 {steps}, {tile.lanes}")
        end = self.new(f"sub i64 {steps}, {rest}")

        def square(p: str, first: str) -> None:
            columns = [
                self.vector(self.at(corner, self.bytes(p), self.mul("%cb", self.add(first, q))))
                for q in range(tile.lanes)
            ]
            for q, row in enumerate(self._transposed(columns)):
                place = self.add(self.mul(self.add(p, q), tile.columns), first)
                c.store(self.at(to, self.bytes(place)), row)

        def squares(p: str) -> None:
            c.loop("0", f"{tile.columns}", tile.lanes, lambda first: square(p, first))

        c.loop("0", end, tile.lanes, squares)
        self._gathered(to, corner, ("%rb", "%cb"), tile.columns, f"{tile.columns}", end, steps)

    def _transposed(self, rows: list[Value]) -> list[Value]:
        """The vectors of a square as columns: blocks change places, sizes doubling."""
        c, lanes = self.c, self.tile.lanes
        step = 1
        while step < lanes:
            found = list(rows)
            for k in range(lanes):
                if k & step:
                    continue
                x, y = rows[k], rows[k + step]
                low = [q if not q & step else lanes + q - step for q in range(lanes)]
                high = [q + step if not q & step else lanes + q for q in range(lanes)]
                for place, lanes_of in ((k, low), (k + step, high)):
                    order = ", ".join([f"i32 {each}" for each in lanes_of])
                    found[place] = c.made(
                        f"shufflevector {c.typed(x)}, {c.typed(y)}, <{lanes} x i32> <{order}>",
                        x.kind,
                        lanes,
                    )
            rows = found
            step *= 2
        return rows

    def _gathered(
        self,
        to: str,
        corner: str,
        strides: tuple[str, str],
        wide: int,
        width: str,
        start: str,
        steps: str,
    ) -> None:
        """Numbers one by one; beyond the width zeros."""
        c = self.c

        def step(p: str) -> None:
            along = self.mul(p, strides[0])

            def number(j: str) -> None:
                place = self.at(to, self.bytes(self.add(self.mul(p, wide), j)))
                inside = self.new(f"icmp slt i64 {j}, {width}")
                c.store(place, c.number(self.tile.kind, 0.0, 0))
                c.when(
                    inside,
                    lambda: c.store(
                        place, self.one(self.at(corner, along, self.mul(j, strides[1])))
                    ),
                )

            c.loop("0", f"{wide}", 1, number)

        c.loop(start, steps, 1, step)

    # -- tiles -------------------------------------------------------------------------------------
    def _rows(self, first: str, count: str, start: str, steps: str, row: str) -> None:
        """Some rows of the result: the left matrix as it lies, or a panel of it."""
        c, tile, size = self.c, self.tile, self.size
        height = self.least(self.new(f"sub i64 %m, {row}"), tile.rows)
        corner = self.at("%a", self.mul(row, "%ra"), self.mul(start, "%ca"))
        whole = self.new(f"icmp eq i64 {height}, {tile.rows}")
        plain = self.new(f"icmp eq i64 %ca, {size}")
        direct = self.new(f"and i1 {whole}, {plain}")

        def source(place: str, rows: str, columns: str) -> None:
            c.line(f"store ptr {place}, ptr {self.a}")
            c.line(f"store i64 {rows}, ptr {self.ra}")
            c.line(f"store i64 {columns}, ptr {self.ca}")

        def packed() -> None:
            together = self.new(f"icmp eq i64 %ra, {size}")
            self.both(
                together,
                lambda: self._pack_left(corner, height, steps),
                lambda: self._gathered(
                    "%pa", corner, ("%ca", "%ra"), tile.rows, height, "0", steps
                ),
            )
            source("%pa", f"{size}", f"{tile.rows * size}")

        self.both(direct, lambda: source(corner, "%ra", "%ca"), packed)
        a = self.new(f"load ptr, ptr {self.a}")
        ra, ca = self.new(f"load i64, ptr {self.ra}"), self.new(f"load i64, ptr {self.ca}")

        def tile_at(at: str) -> None:
            self._tile(a, ra, ca, self.at("%pb", self.bytes(self.mul(at, steps))), steps)
            self._hand_out(
                row, height, self.add(first, at), self.new(f"sub i64 {count}, {at}"), start
            )

        c.loop("0", count, tile.columns, tile_at)

    def _pack_left(self, corner: str, height: str, steps: str) -> None:
        """Columns of the left matrix that lie together: each begins after the one before."""
        c, tile = self.c, self.tile
        starts = range(0, tile.rows, tile.lanes)
        masks = [self.lanes_below(self.new(f"sub i64 {height}, {start}")) for start in starts]

        def step(p: str) -> None:
            place = self.bytes(self.mul(p, tile.rows))
            along = self.mul(p, "%ca")
            for start, mask in zip(starts, masks, strict=True):
                here = f"{start * self.size}"
                # What is beyond the rows is written over by the next column.
                c.store(
                    self.at("%pa", place, here), self.vector(self.at(corner, along, here), mask)
                )

        c.loop("0", steps, 1, step)

    def _tile(self, a: str, ra: str, ca: str, panel: str, steps: str) -> None:
        c, tile = self.c, self.tile
        for row in self.acc:
            for slot in row:
                c.set(slot, self.zero())
        offsets = [self.mul(ra, i) for i in range(tile.rows)]

        def step(p: str) -> None:
            here = self.at(panel, self.bytes(self.mul(p, tile.columns)))
            right = [
                self.vector(self.at(here, f"{v * tile.lanes * self.size}"))
                for v in range(tile.vectors)
            ]
            along = self.at(a, self.mul(p, ca))
            for i in range(tile.rows):
                number = self.one(self.at(along, offsets[i]))
                c.width = tile.lanes
                left = c.wide(number)
                for v in range(tile.vectors):
                    slot = self.acc[i][v]
                    c.set(slot, c.fma(left, right[v], c.get(slot, tile.kind, tile.lanes)))
                c.width = 0

        c.loop("0", steps, 1, step)

    def _hand_out(self, row: str, height: str, column: str, width: str, start: str) -> None:
        """Write a tile of the result; after the first panel, add to it."""
        c, tile = self.c, self.tile
        lanes = tile.lanes
        for i, slots in enumerate(self.acc):
            for v, slot in enumerate(slots):
                c.width = lanes
                place = f"{(i * tile.columns + v * lanes) * self.size}"
                c.store(self.at(self.whole, place), c.get(slot, tile.kind, lanes))
                c.width = 0
        later = self.new(f"icmp ne i64 {start}, 0")
        corner = self.at("%c", self.bytes(self.add(self.mul(row, "%n"), column)))

        def of_vector(i: str, v: str) -> None:
            mask = self.lanes_below(self.new(f"sub i64 {width}, {v}"))
            place = self.at(corner, self.bytes(self.add(self.mul(i, "%n"), v)))
            found = self.vector(
                self.at(self.whole, self.bytes(self.add(self.mul(i, tile.columns), v)))
            )
            old = c.slot(tile.kind, lanes, self.zero())
            c.when(later, lambda: c.set(old, self.vector(place, mask)))
            c.width = lanes
            c.store(place, c.add(found, c.get(old, tile.kind, lanes)), mask)
            c.width = 0

        c.loop(
            "0",
            height,
            1,
            lambda i: c.loop("0", f"{tile.columns}", lanes, lambda v: of_vector(i, v)),
        )
