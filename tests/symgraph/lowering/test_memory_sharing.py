"""What the result of a NumPy function shares with its argument: as NumPy does it, on numbers."""

from __future__ import annotations

import numpy as np
import pytest
from trait_checks import every_case

from symgraph.ir.op import OPS
from symgraph.lowering.memory_sharing import alias_of
from symgraph.lowering.source_pieces import Alias

SAMPLED = [name for name, op in OPS.items() if not op.custom and hasattr(np, name)]


@pytest.mark.parametrize("name", SAMPLED)
def test_what_is_called_fresh_shares_no_memory(name: str) -> None:
    alias = alias_of(f"np.{name}")
    for case in every_case(OPS[name]):
        result = case(*case.operands)
        shared = any(np.shares_memory(result, each) for each in case.operands)
        assert not (shared and alias is Alias.FRESH), case.params


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("np.reshape", Alias.RESHAPE),
        ("np.transpose", Alias.WHOLE),
        ("np.broadcast_to", Alias.PART),
        ("np.linalg.diagonal", Alias.PART),
        ("np.linalg.solve", Alias.FRESH),
        ("np.add.reduce", Alias.FRESH),
        ("np.squeeze", Alias.WHOLE),
        ("np.einsum", Alias.UNKNOWN),
        ("np.nothing", Alias.UNKNOWN),
    ],
)
def test_what_functions_share(name: str, alias: Alias) -> None:
    assert alias_of(name) is alias
