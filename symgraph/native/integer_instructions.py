"""Instructions on integers, addresses and masks, in which functions are written by hand."""

from __future__ import annotations

from .writer import Code, Value

__all__ = ["IntegerInstructions"]


class IntegerInstructions:
    """The instructions that hand-written functions share."""

    c: Code

    def new(self, text: str) -> str:
        """The name of an instruction's result."""
        name = self.c.name("k")
        self.c.line(f"{name} = {text}")
        return name

    def numbers_on(self, kind: str, place: str, *terms: tuple[str | int, str | int]) -> str:
        """A place so many numbers further: the sum of indices times steps."""
        for index, step in terms:
            number = index if step == 1 else self.new(f"mul nsw i64 {index}, {step}")
            place = self.new(f"getelementptr {self.c.type_of(kind, 0)}, ptr {place}, i64 {number}")
        return place

    def first_lanes(self, count: str, lanes: int) -> Value:
        """A mask of the lanes below a count."""
        c = self.c
        numbers = Value(f"<{', '.join([f'i32 {k}' for k in range(lanes)])}>", "i32", lanes)
        short = self.new(f"trunc i64 {count} to i32")
        c.width = lanes
        mask = c.compared("slt", numbers, c.wide(Value(short, "i32", 0)))
        c.width = 0
        return mask
