"""The predicted peak of every operation, beside the bytes that a run of its samples holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from largesamples import large_samples, traced_peak

from symgraph.ir.op import OPS
from symgraph.lowering.peak import predicted_peak
from symgraph.lowering.program import program_of
from symgraph.passes.unmasked import without_masks

MEASURED = [op for op in OPS.values() if not op.custom and not op.view]
BUFFERS = 72 * 1024
"""What NumPy may hold for one call whatever the size of the arrays, and Python's own objects."""
UNTRACED = {"expm": "SciPy 1.18", "least_squares": "NumPy 2.4"}
"""Operations of which these versions take memory that Python does not trace."""


@pytest.mark.sampled(one_in=64)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", MEASURED, ids=lambda op: op.name)
def test_what_was_predicted_is_held(op: Any) -> None:
    with np.errstate(all="ignore"):
        for dag in large_samples(op):
            predicted = predicted_peak(program_of(without_masks(dag)), {})
            traced = traced_peak(dag)
            told = (op.name, [str(each.aval) for each in dag.inputs.values()])
            assert traced <= 1.2 * predicted + BUFFERS, told
            # Working room depends on shapes: what is told holds for the worst of the samples.
            assert op.name in UNTRACED or traced >= 0.5 * predicted - BUFFERS, told


def test_most_operations_have_large_samples() -> None:
    few = [op.name for op in MEASURED[:80] if not any(True for _ in large_samples(op))]
    assert len(few) < 8, few
