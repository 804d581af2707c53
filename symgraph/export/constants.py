"""The constants of a graph as an `.npz` file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..ir.dag import Dag

__all__ = ["npz"]


def npz(dag: Dag) -> bytes:
    """The bytes of an `.npz` file of the constants `c0`, `c1`, ... in the order of the nodes.

    `numpy.load(file, allow_pickle=False)` reads it.
    """
    constants = [node.params["value"] for node in dag.nodes if node.is_constant]
    target = io.BytesIO()
    named: dict[str, Any] = {f"c{place}": value for place, value in enumerate(constants)}
    np.savez(target, **named)
    return target.getvalue()
