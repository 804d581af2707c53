"""Which of two programs of a graph is run: its statements one by one, or in blocks of rows.

A program whose peak of memory grows is not taken, however much time it saves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..ir.cost import NOMINAL_DIM
from ..ir.dag import Dag
from ..ir.dims import names_of
from .peak import predicted_peak
from .statements import Program

__all__ = ["FEWER", "GROWTH", "SMALL", "needs_little_more", "with_blocks"]

GROWTH = 25 / 24
"""How much the peak may grow by loops, whose blocks need memory, and by calls made once."""
SMALL = 2**16
"""Bytes by which the peak may always grow: these stay in the cache of one core."""
FEWER = 1 / 2
"""To what the peak must shrink by loops beside compiled ones, which save time themselves."""


def with_blocks(program: Program, blocked: Program, most: float) -> Program:
    """The program, in blocks where that pays; its peak is multiplied by no more than `most`."""
    sizes = _sizes_that_pay(blocked)
    if sizes is None or predicted_peak(blocked, sizes) > predicted_peak(program, sizes) * most:
        return program
    return replace(program, blocked=blocked) if sizes else blocked


def _sizes_that_pay(blocked: Program) -> Mapping[str, int] | None:
    """Sizes of named dimensions at which arrays are four times as large as loops ask for."""
    names = _names_of_sizes(blocked.dag)
    for power in range(6, 24):
        size: int = 2**power
        sizes = dict.fromkeys(names, size)
        if any(loop.pays(sizes) for loop in blocked.loops):
            return dict.fromkeys(names, 4 * size)
        if not names:
            break
    return None


def needs_little_more(shared: Program, program: Program) -> bool:
    """Whether the program that makes each call once has about the peak of the other.

    It may take some more bytes, too, if these are few whatever is passed: no size is named.
    """
    sizes = dict.fromkeys(_names_of_sizes(program.dag), NOMINAL_DIM)
    # NumPy's buffers do not grow with the arrays, and would decide at the nominal size.
    before, after = [predicted_peak(each, sizes, buffers=False) for each in (program, shared)]
    return after <= before * GROWTH or (not sizes and after <= before + SMALL)


def _names_of_sizes(dag: Dag) -> set[str]:
    dims = {dim for node in dag.nodes for aval in node.results for dim in aval.shape}
    return {name for dim in dims for name in names_of(dim)}
