"""Places in a workspace: temporaries that live at the same time never overlap."""

from __future__ import annotations

import numpy as np
import pytest

from symgraph.ir.avals import Aval
from symgraph.lowering.offsets import offsets
from symgraph.lowering.statements import Temporary

BYTE = Aval(np.dtype("uint8"), (1,))


@pytest.mark.parametrize("seed", range(30))
def test_what_lives_together_lies_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    firsts = rng.integers(0, 30, 25)
    temporaries = [Temporary(BYTE, first, first + rng.integers(0, 10)) for first in firsts]
    sizes = [int(each) for each in rng.integers(0, 500, 25)]
    starts, total = offsets(temporaries, sizes)
    owner = np.full((total, 41), -1)
    for number, (each, start, size) in enumerate(zip(temporaries, starts, sizes, strict=True)):
        assert start % 16 == 0
        part = owner[start : start + size, each.first : each.last + 1]
        assert part.shape[0] == size
        assert (part == -1).all()
        part[...] = number
    most = max(sum(s for t, s in zip(temporaries, sizes, strict=True) if t.first <= at <= t.last)
               for at in range(40))  # fmt: skip
    assert most <= total <= 1.5 * most + 25 * 16


def test_the_largest_of_a_chain_shares_with_all_others() -> None:
    temporaries = [Temporary(BYTE, at, at + 1) for at in range(0, 20, 2)]
    assert offsets(temporaries, [16 * (at + 1) for at in range(10)]) == ((0,) * 10, 160)


def test_no_temporaries_need_no_memory() -> None:
    assert offsets([], []) == ((), 0)
