"""Operations, one family a file; each record holds an operation's whole meaning."""

from __future__ import annotations

from . import comparison, control, creation, elementwise, exponential, special, trigonometric

__all__ = [
    "comparison",
    "control",
    "creation",
    "elementwise",
    "exponential",
    "special",
    "trigonometric",
]
