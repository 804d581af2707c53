"""The functions of symbolic arrays under their names, as the tables of engines call them.

Unlike those of `symgraph.numpy` they give symbols for numbers, too, so that a constant of a model
is a node of its graph.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

# Importing it defines every function.
from .. import numpy as _numpy  # noqa: F401  # pyright: ignore[reportUnusedImport]
from ..array import FUNCTIONS
from ..ops.branches import cond
from ..ops.creation import full, ones, zeros
from ..ops.iteration import while_loop
from ..ops.loops import scan

__all__ = ["f"]

f: Any = SimpleNamespace(
    **FUNCTIONS,
    cond=cond,
    full=full,
    ones=ones,
    scan=scan,
    while_loop=while_loop,
    zeros=zeros,
)
