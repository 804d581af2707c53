"""A node that reads or writes outside its array cannot be made, by rules neither."""

from __future__ import annotations

import pytest

import symgraph as sg
from symgraph.array import apply
from symgraph.ir.op import OPS


@pytest.mark.parametrize("index", [(1,), (-2,), (-1, 1)])
def test_written_outside(index: tuple[int, ...]) -> None:
    def outside(x: sg.Array, y: sg.Array) -> sg.Array:
        return apply(OPS["assign"], x, y, index=index)

    with pytest.raises(sg.ShapeError, match="out of range for axis"):
        sg.trace(outside, x=(1, 1), y=())


def test_placed_outside() -> None:
    def outside(y: sg.Array) -> sg.Array:
        return apply(OPS["embed"], y, shape=(2,), index=(3,))

    with pytest.raises(sg.ShapeError, match="index 3 is out of range for axis 0 of size 2"):
        sg.trace(outside, y=())
