"""The steps of random programs: each form chooses operands and parameters and adds its line."""

from __future__ import annotations

from . import contractions, elementwise, movement, reductions
from .forms import Form

__all__ = ["FORMS"]

FORMS: dict[str, tuple[Form, float]] = {
    **elementwise.form.table,
    **reductions.form.table,
    **movement.form.table,
    **contractions.form.table,
}
"""Each form and how often it is tried; random programs depend on the order."""
