"""The table of gradient tests: rows of every operation, one file a family.

A new family adds its file here; a new operation adds a row to its family's.
"""

from __future__ import annotations

from symgraph.testing import GradientCase

from . import arrays, control, elementwise, families, layers, linalg, scientific, special

ROWS: tuple[GradientCase, ...] = (
    *elementwise.ROWS,
    *families.ROWS,
    *arrays.ROWS,
    *control.ROWS,
    *layers.ROWS,
    *special.ROWS,
    *linalg.ROWS,
    *scientific.ROWS,
)

# No derivative passes through these by their own rule.
EXEMPT = {"input", "constant", "dimension", "project", "with_slope"}

__all__ = ["EXEMPT", "ROWS"]
