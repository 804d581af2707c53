"""A model from a file, bytes or a message, within bounds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...errors import FormatError, InputError
from ...onnx.writer import onnx_module

__all__ = ["MOST_BYTES", "model_of"]

MOST_BYTES = 2**31
"""What one protobuf message holds."""


def model_of(source: object) -> Any:
    """The `onnx.ModelProto` of a path, of bytes, of an open file, or of itself.

    Raises
    ------
    FormatError
        If it is no model, or larger than a message may be.
    InputError
        If it is none of these.
    OSError
        If the file cannot be read.
    """
    onnx = onnx_module()
    if isinstance(source, onnx.ModelProto):
        return source
    if isinstance(source, (str, Path)):
        size = os.stat(source).st_size
        _check_size(size)
        content: Any = Path(source).read_bytes()
    else:
        read: Any = getattr(source, "read", None)
        content = source if read is None else read()
    if isinstance(content, (bytearray, memoryview)):
        content = bytes(content)
    if not isinstance(content, bytes):
        raise InputError(
            f"{type(source).__name__} is no ONNX model.",
            mend="Give a path, bytes, a file that is open in binary mode, or an onnx.ModelProto.",
        )
    _check_size(len(content))
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # Each protobuf library has a class of its own for it.
        raise FormatError(f"This is no ONNX model: {error}") from error
    if not model.HasField("graph"):
        raise FormatError("This is no ONNX model: it holds no graph.")
    return model


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise FormatError(f"A model of {size:,} bytes is not read; at most {MOST_BYTES:,} are.")
