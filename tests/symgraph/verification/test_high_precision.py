"""The high-precision reference agrees with the kernels, and says where it has no definition."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS
from symgraph.ir.op import OPS, carries_aligned
from symgraph.namespace import NUMPY
from symgraph.ops.carrying import carries_reduced
from symgraph.verification.high_precision import ORDINARY_BITS, precise_values
from symgraph.verification.real_functions import Unsupported

DEFINED = sorted(
    name
    for name, op in OPS.items()
    if op.definition is not None and op.carries in (carries_aligned, carries_reduced)
)
POINTS = np.array([-2.5, -0.7, 0.3, 0.7, 1.3, 4.0])


@pytest.mark.parametrize("name", DEFINED)
def test_the_reference_agrees_with_the_kernel(name: str) -> None:
    op = OPS[name]
    assert op.definition is not None
    count = len(signature(op.definition).parameters) - 1
    rows = [np.roll(POINTS, place) for place in range(count)]
    if op.unpromoted or name.startswith(("logical", "bitwise", "invert")):
        rows[0] = rows[0] > 0
    if name.startswith(("logical", "bitwise")):
        rows[-1] = rows[-1] > 0
    inputs = [sg.input(f"x{place}", row.shape, row.dtype) for place, row in enumerate(rows)]
    given = {each.node: row for each, row in zip(inputs, rows, strict=True)}
    value = FUNCTIONS[name](*inputs)
    with np.errstate(all="ignore"):
        wanted = op.kernel(NUMPY, *rows, **value.node.params)
    try:
        (exact,) = precise_values([value.node], given, {}, ORDINARY_BITS)
    except Unsupported:
        assert name.startswith(("bitwise", "invert"))
        return
    found = np.asarray(exact.astype(float))
    told = np.isfinite(np.asarray(wanted, float))  # an infinity is no number in exact arithmetic
    assert np.any(told)
    assert np.asarray(found)[told] == pytest.approx(np.asarray(wanted, float)[told], rel=1e-12)


def test_an_operation_without_reference_says_so() -> None:
    x = sg.input("x", (3,))
    with pytest.raises(Unsupported):
        precise_values([snp.cumsum(x).node], {x.node: np.zeros(3)}, {}, ORDINARY_BITS)
