"""Normalization: by the mean and the variance, by a norm, by neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []


def _along(x: Tensor, axis: int, ndim: int) -> Tensor:
    """A vector along one axis of an array."""
    return np.reshape(x, [-1 if place == axis else 1 for place in range(ndim)])


@operator("BatchNormalization")
def batch_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
) -> Any:
    """By given means and variances; from version 14 on by those of the batch, if asked to."""
    call.ignore("consumed_inputs")
    momentum, epsilon = call.real("momentum", 0.9), call.real("epsilon", 1e-5)
    if call.version < 7 and not call.flag("is_test"):
        raise FormatError("BatchNormalization in training before version 7 is not read.")
    if not call.flag("spatial", 1):
        raise FormatError("BatchNormalization of each element (spatial=0) is not read.")
    training = call.flag("training_mode")
    if not training and call.results > 1:
        raise FormatError("BatchNormalization gives statistics in training alone.")
    if not training:
        return _normalized(x, scale, bias, mean, variance, epsilon)
    axes = tuple([place for place in range(x.ndim) if place != 1])
    own_mean, own_variance = np.mean(x, axis=axes), np.var(x, axis=axes)
    y = _normalized(x, scale, bias, own_mean, own_variance, epsilon)
    kept = [
        (old * momentum + new * (1 - momentum)).astype(old.dtype)
        for old, new in ((mean, own_mean), (variance, own_variance))
    ]
    return [y, *kept]


def _normalized(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    scale, bias, mean, variance = [
        _along(each, 1, x.ndim) for each in (scale, bias, mean, variance)
    ]
    return (scale * (x - mean) / np.sqrt(variance + epsilon) + bias).astype(x.dtype)


@operator("InstanceNormalization")
def instance_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    axes = tuple(range(2, x.ndim))
    mean, variance = np.mean(x, axis=axes, keepdims=True), np.var(x, axis=axes, keepdims=True)
    scaled = _along(scale, 1, x.ndim) * (x - mean)
    return scaled / np.sqrt(variance + call.real("epsilon", 1e-5)) + _along(bias, 1, x.ndim)


@operator("LayerNormalization", since=17)
def layer_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Any:
    """In the precision of `stash_type`: the mean, and one over the deviation, are results, too."""
    axis = call.whole("axis", -1) % x.ndim
    wide = _wide(call, x)
    axes = tuple(range(axis, x.ndim))
    mean = np.mean(wide, axis=axes, keepdims=True)
    variance = np.var(wide, axis=axes, keepdims=True)
    deviation = np.sqrt(variance + call.real("epsilon", 1e-5))
    y = ((wide - mean) / deviation).astype(x.dtype) * scale
    y = y if bias is None else y + bias
    return [y, mean, 1 / deviation]


def _wide(call: Call, x: Tensor) -> Tensor:
    """The operand in float32, or in its own dtype if that is wider."""
    if call.whole("stash_type", 1) != 1:
        raise FormatError(f"{call.op} is read with the precision of float32 alone (stash_type 1).")
    return x if x.dtype.itemsize >= 4 else x.astype(np.float32)


@operator("RMSNormalization", since=23)
def rms_normalization(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    axis = call.whole("axis", -1) % x.ndim
    wide = _wide(call, x)
    square = np.mean(wide * wide, axis=tuple(range(axis, x.ndim)), keepdims=True)
    return (wide / np.sqrt(square + call.real("epsilon", 1e-5))).astype(x.dtype) * scale


@operator("GroupNormalization", since=21)
def group_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    groups = call.whole("num_groups")
    wide = _wide(call, x)
    parts = np.reshape(wide, (x.shape[0], groups, -1))
    mean = np.mean(parts, axis=-1, keepdims=True)
    variance = np.var(parts, axis=-1, keepdims=True)
    y = (parts - mean) / np.sqrt(variance + call.real("epsilon", 1e-5))
    y = np.reshape(y, x.shape).astype(x.dtype)
    return _along(scale, 1, x.ndim) * y + _along(bias, 1, x.ndim)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(call: Call, x: Tensor) -> Tensor:
    """Of the deviation 1e-9 is added, so that constants give zeros."""
    axes = call.wholes("axes")
    over = tuple([0, 2, 3] if axes is None else axes)
    mean = np.mean(x, axis=over, keepdims=True)
    deviation = np.sqrt(np.mean(x * x, axis=over, keepdims=True) - mean * mean)
    return (x - mean) / (deviation + np.asarray(1e-9, x.dtype))


@operator("LpNormalization")
def lp_normalization(call: Call, x: Tensor) -> Tensor:
    """Over a norm; zero where the norm is."""
    axis, order = call.whole("axis", -1), call.whole("p", 2)
    if order not in (1, 2):
        raise FormatError(f"LpNormalization has the order 1 or 2, not {order}.")
    size = np.absolute(x) if order == 1 else x * x
    total = np.sum(size, axis=axis, keepdims=True)
    norm = total if order == 1 else np.sqrt(total)
    nothing = norm == 0
    one = np.ones((), x.dtype)
    return np.where(nothing, np.zeros((), x.dtype), x / np.where(nothing, one, norm))


@operator("LRN")
def lrn(call: Call, x: Tensor) -> Tensor:
    """Over a power of the mean square of neighbouring channels."""
    size = call.whole("size")
    alpha, beta, bias = call.real("alpha", 1e-4), call.real("beta", 0.75), call.real("bias", 1.0)
    before = (size - 1) // 2
    channels: Any = x.shape[1]
    square = np.pad(x * x, [(0, 0), (before, size - 1 - before), *[(0, 0)] * (x.ndim - 2)])
    total: Any = sum(square[:, k : k + channels] for k in range(size))
    return x / np.power(bias + alpha / size * total, np.asarray(beta, x.dtype))


@operator("Dropout")
def dropout(
    call: Call, x: Tensor, _ratio: Tensor | None = None, training: Tensor | None = None
) -> Any:
    """The identity, as it is outside of training."""
    call.ignore("consumed_inputs", "ratio", "seed")
    drops = call.version < 7 and not call.flag("is_test")
    if training is not None and call.numbers(2, "training mode").any():
        ratio = call.known(1)
        drops = ratio is None or bool(np.any(ratio))  # By default half of the elements.
    if drops:
        raise FormatError(
            "Dropout in training draws random numbers, which is not read.",
            mend="Export the model for inference, or with training_mode=False.",
        )
    dtype = np.dtype(bool) if call.version >= 10 else x.dtype
    return [x, snp.full(x.shape, True, dtype)][: max(call.results, 1)]
