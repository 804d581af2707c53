"""The exception where ONNX cannot say what a spelling does; the export adds the user's line."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """The reason, as the end of a sentence that names the operation."""
