"""Convolutions of images without columns of windows: rows of the images stay where they are.

A vector holds numbers of a row that lie together. For some filters at once, each weight is
multiplied with the vector that its tap meets, and sums stay in registers. The gradient of the
weights goes the same way: a sum for each pair of a channel of the results and one of the images,
number by number along the rows. (E. Georganas et al., *Anatomy of High-Performance Deep Learning
Convolutions on SIMD Architectures*, SC 2018.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..records import record
from .integer_instructions import IntegerInstructions
from .modules import BUILTIN, Builtin, Module, module_of
from .writer import BITS, Code, Machine, Value

__all__ = ["NAMES", "Blocks", "convolution_module"]

NAMES = ("convolve", "correlate")


@record
class Blocks:
    """The blocks that stay in registers.

    Parameters
    ----------
    kind : str
    lanes : int
    filters, vectors : int
        Of a convolution: filters at once, and vectors of a row.
    outer, inner : int
        Of the gradient of weights: channels of results and of images at once.
    """

    kind: str
    lanes: int
    filters: int
    vectors: int
    outer: int
    inner: int

    @staticmethod
    def of(kind: str, register: int) -> Blocks:
        """As many as there are registers for."""
        lanes = register // (BITS[kind] // 8)
        return (
            Blocks(kind, lanes, 8, 2, 6, 4) if register == 64 else Blocks(kind, lanes, 6, 2, 3, 4)
        )


def convolution_module(blocks: Blocks, machine: Machine) -> Module:
    """The functions of NAMES for arrays of a kind.

    `convolve(x, weights, taps, out, sizes)` has weights by blocks of filters, then by taps; a tap
    is how many numbers behind the first one of a window it lies. The sizes are: images, step
    between images, step between rows of windows; filters; of the result the steps between images,
    filters and rows; rows, columns, taps.

    `correlate(y, x, taps, sums, sizes)` adds to vectors of sums, by blocks of outer channels,
    blocks of inner ones, taps, outer and inner channels within them. The sizes are: images; of y,
    then of x, the steps between images, channels and rows; rows, columns, taps, outer and inner
    channels.
    """
    code = Code(machine.llvm)
    texts = [_Convolve(code, blocks).text(), _Correlate(code, blocks).text()]
    for name, each in zip(NAMES, (_Convolve, _Correlate), strict=True):
        of = Builtin(name, machine, 5)
        sizes = [of.item(of.data[4], k) for k in range(len(each.SIZES))]
        work = of.new(f"mul i64 {sizes[each.SIZES.index('rows')]}, {sizes[0]}")
        work = of.new(f"mul i64 {work}, {sizes[each.SIZES.index('taps_')]}")
        work = of.new(f"mul i64 {work}, {sizes[each.SIZES.index('columns')]}")
        given = [*[f"ptr {place}" for place in of.data[:4]], *[f"i64 {size}" for size in sizes]]
        texts.append(of.ended(f"@{name}_loop({', '.join(given)})", work))
    return module_of(texts, NAMES, {**code.declared, **BUILTIN})


class _Loops(IntegerInstructions, ABC):
    """The loops that both functions share."""

    NAME = ""
    ARRAYS: Sequence[str] = ()
    SIZES: Sequence[str] = ()

    def __init__(self, code: Code, blocks: Blocks) -> None:
        self.c, self.blocks = code, blocks
        self.size = BITS[blocks.kind] // 8

    def text(self) -> str:
        c = self.c
        c.lines, c.entry, c.known, c.current, c.width = [], [], {}, "start", 0
        self.write()
        given = [f"ptr noalias %{each}" for each in self.ARRAYS]
        given += [f"i64 %{each}" for each in self.SIZES]
        head = f"define internal void @{self.NAME}_loop({', '.join(given)}) nounwind {{"
        start = ["entry:", *c.entry, "  br label %start", "start:"]
        return "\n".join([head, *start, *c.lines, "  ret void", "}"])

    @abstractmethod
    def write(self) -> None:
        """Write the lines of the function."""

    def at(self, place: str, *terms: tuple[str | int, str | int]) -> str:
        """A place so many numbers further: the sum of indices times steps."""
        return self.numbers_on(self.blocks.kind, place, *terms)

    def below(self, count: str) -> Value:
        """A mask of the first lanes."""
        return self.first_lanes(count, self.blocks.lanes)

    def vector(self, place: str, mask: Value | None = None) -> Value:
        self.c.width = self.blocks.lanes
        found = self.c.load(place, self.blocks.kind, mask)
        self.c.width = 0
        return found

    def store(self, place: str, value: Value, mask: Value | None = None) -> None:
        self.c.width = self.blocks.lanes
        self.c.store(place, value, mask)
        self.c.width = 0

    def add(self, slot: str, x: Value, y: Value, mask: Value | None = None) -> None:
        """Add a product to a variable, in the lanes of the mask."""
        c, lanes = self.c, self.blocks.lanes
        c.width = lanes
        old = c.get(slot, self.blocks.kind, lanes)
        found = c.fma(c.wide(x), c.wide(y), old)
        c.set(slot, found if mask is None else c.select(mask, found, old))
        c.width = 0

    def slot(self) -> str:
        return self.c.slot(self.blocks.kind, self.blocks.lanes, self.zero())

    def zero(self) -> Value:
        return self.c.number(self.blocks.kind, 0.0, self.blocks.lanes)

    def tap(self, number: str) -> str:
        place = self.new(f"getelementptr i64, ptr %taps, i64 {number}")
        return self.new(f"load i64, ptr {place}")


class _Convolve(_Loops):
    NAME = NAMES[0]
    ARRAYS = ("x", "weights", "taps", "out")
    SIZES = (
        "images", "x_image", "x_row", "filters", "out_image", "out_filter", "out_row",
        "rows", "columns", "taps_",
    )  # fmt: skip

    def write(self) -> None:
        c, b = self.c, self.blocks
        self.sums = [[self.slot() for _ in range(b.vectors)] for _ in range(b.filters)]

        def filters(image: str, first: str) -> None:
            x = self.at("%x", (image, "%x_image"))
            out = self.at("%out", (image, "%out_image"), (first, "%out_filter"))
            weights = self.at("%weights", (first, "%taps_"))
            count = self.new(f"sub i64 %filters, {first}")
            c.loop("0", "%rows", 1, lambda row: row_of(x, out, weights, count, row))

        def row_of(x: str, out: str, weights: str, count: str, row: str) -> None:
            here, there = self.at(x, (row, "%x_row")), self.at(out, (row, "%out_row"))
            step = b.vectors * b.lanes
            c.loop(
                "0",
                "%columns",
                step,
                lambda column: self._block(here, there, weights, count, column),
            )

        def image_of(image: str) -> None:
            c.loop("0", "%filters", b.filters, lambda first: filters(image, first))

        c.loop("0", "%images", 1, image_of)

    def _block(self, x: str, out: str, weights: str, count: str, column: str) -> None:
        """Some numbers of a row, of some filters."""
        c, b = self.c, self.blocks
        for slots in self.sums:
            for slot in slots:
                c.set(slot, self.zero())
        rest = self.new(f"sub i64 %columns, {column}")
        masks = [self.below(self.new(f"sub i64 {rest}, {v * b.lanes}")) for v in range(b.vectors)]
        corner = self.at(x, (column, 1))

        def step(t: str) -> None:
            here = self.at(corner, (self.tap(t), 1))
            row = [self.vector(self.at(here, (v * b.lanes, 1)), masks[v]) for v in range(b.vectors)]
            place = self.at(weights, (t, b.filters))
            for f, slots in enumerate(self.sums):
                weight = c.load(self.at(place, (f, 1)), b.kind)
                for slot, each in zip(slots, row, strict=True):
                    self.add(slot, weight, each)

        c.loop("0", "%taps_", 1, step)
        to = self.at(out, (column, 1))
        for f, slots in enumerate(self.sums):

            def hand_out(f: int = f, slots: Sequence[str] = slots) -> None:
                for v, slot in enumerate(slots):
                    place = self.at(to, (f, "%out_filter"), (v * b.lanes, 1))
                    self.store(place, c.get(slot, b.kind, b.lanes), masks[v])

            c.when(self.new(f"icmp sgt i64 {count}, {f}"), hand_out)


class _Correlate(_Loops):
    NAME = NAMES[1]
    ARRAYS = ("y", "x", "taps", "sums")
    SIZES = (
        "images", "y_image", "y_channel", "y_row", "x_image", "x_channel", "x_row",
        "rows", "columns", "taps_", "outer", "inner",
    )  # fmt: skip

    def write(self) -> None:
        c, b = self.c, self.blocks
        self.slots = [[self.slot() for _ in range(b.inner)] for _ in range(b.outer)]
        blocks = self.new(f"add i64 %inner, {b.inner - 1}")
        self.blocks_of_inner = self.new(f"sdiv i64 {blocks}, {b.inner}")

        def pair(image: str, first: str, second: str) -> None:
            # The last blocks take channels twice; nothing reads their sums.
            y = [self._channel("%y", image, "%y_image", first, "%outer", "%y_channel", k)
                 for k in range(b.outer)]  # fmt: skip
            x = [self._channel("%x", image, "%x_image", second, "%inner", "%x_channel", k)
                 for k in range(b.inner)]  # fmt: skip
            block = self.new(f"sdiv i64 {first}, {b.outer}")
            block = self.new(f"mul i64 {block}, {self.blocks_of_inner}")
            block = self.new(f"add i64 {block}, {self.new(f'sdiv i64 {second}, {b.inner}')}")
            c.loop("0", "%taps_", 1, lambda t: self._sums(y, x, block, t))

        def image_of(image: str) -> None:
            c.loop(
                "0", "%outer", b.outer,
                lambda first: c.loop(
                    "0", "%inner", b.inner, lambda second: pair(image, first, second)
                ),
            )  # fmt: skip

        c.loop("0", "%images", 1, image_of)

    def _channel(
        self, array: str, image: str, by: str, first: str, count: str, step: str, k: int
    ) -> str:
        number, last = self.new(f"add i64 {first}, {k}"), self.new(f"sub i64 {count}, 1")
        test = self.new(f"icmp slt i64 {number}, {last}")
        number = self.new(f"select i1 {test}, i64 {number}, i64 {last}")
        return self.at(array, (image, by), (number, step))

    def _sums(self, y: Sequence[str], x: Sequence[str], block: str, t: str) -> None:
        """The sums of a block of channels at a tap, over an image."""
        c, b = self.c, self.blocks
        number = self.new(f"add i64 {self.new(f'mul i64 {block}, %taps_')}, {t}")
        kept = self.at("%sums", (number, b.outer * b.inner * b.lanes))
        places = [
            [self.at(kept, ((i * b.inner + j) * b.lanes, 1)) for j in range(b.inner)]
            for i in range(b.outer)
        ]
        for i, slots in enumerate(self.slots):
            for j, slot in enumerate(slots):
                c.set(slot, self.vector(places[i][j]))
        tap = self.tap(t)

        rest = self.new(f"srem i64 %columns, {b.lanes}")
        whole = self.new(f"sub i64 %columns, {rest}")
        some = self.new(f"icmp sgt i64 {rest}, 0")
        mask = self.below(rest)

        def row_of(row: str) -> None:
            # One index for all channels.
            in_y = self.new(f"mul nsw i64 {row}, %y_row")
            in_x = self.new(f"add nsw i64 {self.new(f'mul nsw i64 {row}, %x_row')}, {tap}")

            def vector(column: str, mask: Value | None = None) -> None:
                left, right = [
                    [self.vector(self.at(each, (place, 1)), mask) for each in channels]
                    for channels, start in ((y, in_y), (x, in_x))
                    for place in [self.new(f"add nsw i64 {start}, {column}")]
                ]
                for i, slots in enumerate(self.slots):
                    for j, slot in enumerate(slots):
                        self.add(slot, left[i], right[j], mask)

            c.loop("0", whole, b.lanes, vector)
            c.when(some, lambda: vector(whole, mask))

        c.loop("0", "%rows", 1, row_of)
        for i, slots in enumerate(self.slots):
            for j, slot in enumerate(slots):
                self.store(places[i][j], c.get(slot, b.kind, b.lanes))
