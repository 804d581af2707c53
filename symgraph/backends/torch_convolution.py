"""Convolutions of torch's tensors by torch's own operations, where these keep all digits."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .standard import StandardNamespace

__all__ = ["TorchConvolutions"]

torch: Any = import_module("torch")

Sizes = Sequence[int]


class TorchConvolutions(StandardNamespace):
    """The convolution of layers and its transposes, by torch's own on the CPU.

    On a GPU cuDNN multiplies single precision with 10 bits unless a flag of the process says
    otherwise, so there they are products.
    """

    def convolution(self, x: Any, w: Any, strides: Sizes, dilations: Sizes, groups: int) -> Any:
        if not _is_of_layers(x, w):
            return super().convolution(x, w, strides, dilations, groups)
        return torch.ops.aten.convolution(
            x, w, None, strides, [0] * len(strides), dilations, False, [0] * len(strides), groups
        )

    def adjoint_convolution(
        self, y: Any, w: Any, extents: Sizes, strides: Sizes, dilations: Sizes, groups: int
    ) -> Any:
        # In single precision torch multiplies an infinite weight by zeros between strides.
        spread = max(strides) > 1 and y.dtype == torch.float32
        if spread or not _is_of_layers(y, w):
            return super().adjoint_convolution(y, w, extents, strides, dilations, groups)
        x = y.new_empty(1).expand(len(y), w.shape[1] * groups, *extents)
        return _transposed(y, x, w, strides, dilations, groups, [True, False, False])[0]

    def kernel_convolution(
        self, x: Any, y: Any, sizes: Sizes, strides: Sizes, dilations: Sizes, groups: int
    ) -> Any:
        if not _is_of_layers(x, y):
            return super().kernel_convolution(x, y, sizes, strides, dilations, groups)
        w = y.new_empty(1).expand(y.shape[1], x.shape[1] // groups, *sizes)
        return _transposed(y, x, w, strides, dilations, groups, [False, True, False])[1]


def _is_of_layers(one: Any, other: Any) -> bool:
    """Whether torch convolves these tensors: floats on the CPU, without leading axes of kernels."""
    if one.dtype != other.dtype or one.dtype not in (torch.float32, torch.float64):
        return False
    if one.device.type != "cpu" or one.ndim != other.ndim or not 3 <= one.ndim <= 5:
        return False
    return 0 not in one.shape and 0 not in other.shape


def _transposed(
    y: Any,
    x: Any,
    w: Any,
    strides: Sizes,
    dilations: Sizes,
    groups: int,
    wanted: list[bool],
) -> Any:
    """The wanted transposes: in x, in w and in an offset.

    Of what only gives the shape of a transpose no number is read.
    """
    padding = [0] * len(strides)
    return torch.ops.aten.convolution_backward(
        y, x, w, None, strides, padding, dilations, False, padding, groups, wanted
    )
