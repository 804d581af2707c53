"""Methods that users of NumPy, JAX and PyTorch look for, and what is written instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

import numpy as np

from .dispatch import FUNCTIONS

__all__ = ["INSTEAD_OF", "instead_of_method", "instead_of_torch"]

_IN_MEMORY = "A symbolic array has no memory yet: leave out what asks how it lies there."
_IN_PLACE = "A symbolic array is a value: snp.index_update, np.where and np.reshape give new ones."
_NUMBERS = "Keep the array symbolic; evaluate the graph to get numbers."
_DEVICE = "A graph is computed where it is lowered to: graph.lower(backend)."

INSTEAD_OF: Mapping[str, str] = {
    **dict.fromkeys(
        ("base", "byteswap", "ctypes", "data", "flags", "getfield", "strides"), _IN_MEMORY
    ),
    **dict.fromkeys(("resize", "setfield", "setflags"), _IN_PLACE),
    **dict.fromkeys(("dump", "dumps", "tobytes", "tofile"), _NUMBERS),
    **dict.fromkeys(("block_until_ready", "eval", "numpy"), _NUMBERS),
    **dict.fromkeys(("cpu", "cuda", "to"), _DEVICE),
    **dict.fromkeys(
        ("evaluate", "gradient", "lower", "save", "simplify"),
        "A graph has it: sg.graph(y), of the symbolic array y.",
    ),
    **dict.fromkeys(
        ("backward", "grad", "requires_grad_"),
        "sg.grad(y, x) is the gradient of the symbolic scalar y by x.",
    ),
    "flat": "Leave it out: an array without dimensions is a number.",
    # -- JAX and PyTorch --
    "at": "Write as in NumPy, y = x.copy(); y[i] = v. snp.index_update(x, i, v) is that copy, "
    "and snp.index_add adds.",
    "abs": "Write np.abs(x).",
    "chunk": "Write np.split(x, parts, axis).",
    "clamp": "Write np.clip(x, low, high).",
    "clone": "Write x.copy().",
    "detach": "snp.stop_gradient(x) is x without a derivative.",
    "dim": "Write x.ndim.",
    "contiguous": "Leave it out: a symbolic array has no memory yet.",
    "double": 'Write x.astype("float64").',
    "expand": "Write np.broadcast_to(x, shape).",
    "gather": "Write np.take_along_axis(x, index, axis).",
    "float": 'Write x.astype("float32").',
    "masked_fill": "Write np.where(mask, value, x).",
    "norm": "Write np.linalg.norm(x).",
    "numel": "Write x.size.",
    "permute": "Write x.transpose(axes).",
    "scatter_add": "Write snp.index_add(x, index, values).",
    "t": "Write x.T.",
    "type": "Write x.dtype, or x.astype(dtype).",
    "unsqueeze": "Write np.expand_dims(x, axis).",
    "values": "Leave it out: np.max(x, axis) is the values alone, np.argmax their places.",
    "view": f"Write x.reshape(shape), or x.astype(dtype). {_IN_MEMORY}",
    **{
        name: f"Write x {sign} y."
        for name, sign in {
            "add": "+", "bmm": "@", "div": "/", "eq": "==", "ge": ">=", "gt": ">", "le": "<=",
            "lt": "<", "mm": "@", "mul": "*", "mv": "@", "ne": "!=", "pow": "**", "sub": "-",
        }.items()
    },
}  # fmt: skip
_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_ELSEWHERE = "symgraph.numpy has the functions; methods are those of np.ndarray."


def instead_of_method(name: str) -> str:
    """What to write for a method or an attribute that arrays lack.

    A function of NumPy or of `symgraph.numpy` with this name is named as such.
    """
    told = INSTEAD_OF.get(name)
    if told is not None:
        return told
    if name in FUNCTIONS:
        given = ", ".join(("x", *_others(FUNCTIONS[name])))
        return f"Write {'np' if hasattr(np, name) else 'snp'}.{name}({given})."
    if name.endswith("_") and not name.startswith("_"):  # PyTorch's add_, zero_
        return _IN_PLACE
    return _ELSEWHERE


def _others(function: Callable[..., object]) -> list[str]:
    """The parameters without a default that follow the first."""
    given = [*signature(function).parameters.values()][1:]
    return [
        each.name if each.name != "x" else "y"
        for each in given
        if each.default is each.empty and each.kind in _BY_PLACE
    ]


def instead_of_torch(name: str) -> str:
    """Advice for a function of PyTorch's that a symbolic array was given to."""
    written = (
        f"Write np.{name}"
        if name in FUNCTIONS and hasattr(np, name)
        else f"Write snp.{name}, of symgraph.numpy"
        if name in FUNCTIONS
        else "Write it with functions of numpy and symgraph.numpy"
    )
    return f"{written}. sg.from_torch(module, x) gives the graph of a module."
