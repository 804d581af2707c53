"""ONNX's own operator for gradients, replaced by the gradient that we derive."""

from __future__ import annotations

import numpy as np

from .... import numpy as snp
from ....array import Array
from ....autodiff.reverse import gradients
from ....errors import FormatError
from ..call import Call
from ..registry import operator
from ..values import Entry, Value

__all__: list[str] = []


@operator("Gradient", domain="ai.onnx.preview.training", raw=True)
def gradient(call: Call, *given: Entry) -> list[Array]:
    """The derivatives of a scalar by inputs, which are given beside their names."""
    names, others = call.list("xs") or [], call.list("zs") or []
    if len(given) != len(names) + len(others):
        raise FormatError(f"Gradient names {len(names) + len(others)} values, not {len(given)}.")
    targets = [_input(call, name, each) for name, each in zip(names, given, strict=False)]
    for name, each in zip(others, given[len(names) :], strict=True):
        _same(call, name, each)
    output = _value(call, call.text("y")).array
    if output.size != 1:
        raise FormatError(f"Gradient is read of one number, not of {output.aval}.")
    found = gradients(np.reshape(output, ()), targets)  # pyright: ignore[reportArgumentType]
    pairs = zip(targets, found, strict=True)
    return [snp.zeros(x.shape, x.dtype) if each is None else each for x, each in pairs]


def _value(call: Call, name: str) -> Value:
    found = call.runs.find(name)
    if not isinstance(found, Value):
        raise FormatError(f"{name!r} is no tensor.")
    return found


def _same(call: Call, name: str, given: Entry) -> Value:
    """The value of that name, which is the operand: at another point nothing is known of it."""
    found = _value(call, name)
    if found is not given:
        raise FormatError(f"Gradient at another value of {name!r} than the graph's is not read.")
    return found


def _input(call: Call, name: str, given: Entry) -> Array:
    """An input: a value that nodes compute may be equal to others, which are one node in graphs."""
    found = _same(call, name, given).array
    if not found.node.is_input:
        raise FormatError(
            f"Gradient by {name!r} is not read: it is no input of the graph.",
            mend=f"If it is a constant, make it one with parameters=[{name!r}].",
        )
    return found
