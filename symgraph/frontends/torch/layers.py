"""Layers of PyTorch: convolution, pooling, normalization, attention, dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..functions import f
from ..spelling import ABSENT, Refused, Spelling, own, result
from .refusals import Random, Statistics
from .resizing import each

__all__ = ["LAYERS"]


# -- convolution -----------------------------------------------------------------------------------
def _with_channels(y: Any, bias: Any, spatial: int) -> Any:
    return y if bias is None else y + f.reshape(bias, (-1, *[1] * spatial))


def _conv(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    y = f.conv(x, weight, stride, padding, dilation, groups)
    return _with_channels(y, bias, weight.ndim - 2)


def _conv_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    y = f.conv_transpose(x, weight, stride, padding, dilation, groups, output_padding)
    return _with_channels(y, bias, weight.ndim - 2)


def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    if transposed:
        return _conv_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return _conv(x, weight, bias, stride, padding, dilation, groups)


# -- pooling ---------------------------------------------------------------------------------------
def _max_pool(n: int) -> Callable[..., Any]:
    def call(
        x: Any,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        window = each(kernel_size, n)
        return f.max_pool(
            x, window, each(stride, n) or window, each(padding, n), each(dilation, n), ceil_mode
        )

    return call


def _avg_pool(n: int) -> Callable[..., Any]:
    def call(
        x: Any,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        window = each(kernel_size, n)
        if divisor_override is not None and ceil_mode:
            raise Refused("divides by a number of its own, and windows reach beyond the image")
        scale = 1 if divisor_override is None else math.prod(window) / divisor_override
        mean = f.avg_pool(
            x,
            window,
            each(stride, n) or window,
            each(padding, n),
            count_include_pad=count_include_pad or divisor_override is not None,
            ceil_mode=ceil_mode,
        )
        return mean if scale == 1 else mean * scale

    return call


# -- normalization ---------------------------------------------------------------------------------
def _normalized(x: Any, axes: Any, eps: float) -> Any:
    mean = f.mean(x, axis=axes, keepdims=True)
    return (x - mean) / f.sqrt(f.var(x, axis=axes, keepdims=True) + eps)


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _layer_norm(
    x: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    return _affine(_normalized(x, axes, eps), weight, bias)


def _rms_norm(
    x: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    axes = tuple(range(-len(normalized_shape), 0))
    small = float(np.finfo(x.dtype).eps) if eps is None else eps
    return _affine(x / f.sqrt(f.mean(x * x, axis=axes, keepdims=True) + small), weight, None)


def _on_channels(values: Any, x: Any) -> Any:
    return None if values is None else f.reshape(values, (-1, *[1] * (x.ndim - 2)))


def _group_norm(
    x: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    grouped = f.reshape(x, (x.shape[0], num_groups, -1))
    normal = f.reshape(_normalized(grouped, -1, eps), x.shape)
    return _affine(normal, _on_channels(weight, x), _on_channels(bias, x))


def _batch_norm(
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    if training:
        if running_mean is not None:
            raise Statistics
        normal = _normalized(x, (0, *range(2, x.ndim)), eps)
    else:
        scale = f.sqrt(running_var + eps)
        normal = (x - _on_channels(running_mean, x)) / _on_channels(scale, x)
    return _affine(normal, _on_channels(weight, x), _on_channels(bias, x))


def _instance_norm(
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    if not use_input_stats:
        return _batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)
    if running_mean is not None:
        raise Statistics
    normal = _normalized(x, tuple(range(2, x.ndim)), eps)
    return _affine(normal, _on_channels(weight, x), _on_channels(bias, x))


def _core_layer_norm(
    x: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, ...]:
    """The layer, and the mean and the reciprocal deviation that its derivative takes."""
    axes = tuple(range(-len(normalized_shape), 0))
    mean = f.mean(x, axis=axes, keepdims=True)
    scale = 1 / f.sqrt(f.var(x, axis=axes, keepdims=True) + eps)
    return _affine((x - mean) * scale, weight, bias), mean, scale


def _core_group_norm(
    x: Any, weight: Any, bias: Any, n: Any, c: Any, extent: Any, group: int, eps: float
) -> tuple[Any, ...]:
    return _group_norm(x, group, weight, bias, eps), ABSENT, ABSENT


def _core_batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float
) -> tuple[Any, ...]:
    return _batch_norm(x, weight, bias, mean, var, False, momentum, eps), ABSENT, ABSENT


def _core_statistics_norm(
    x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, ...]:
    return _batch_norm(x, weight, bias, None, None, True, momentum, eps), ABSENT, ABSENT


def _functional_batch_norm(
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """The layer, and the running statistics after it, which have no gradient."""
    layer = _batch_norm(x, weight, bias, None, None, True, momentum, eps)
    axes = (0, *range(2, x.ndim))
    batch = f.stop_gradient(x)
    found = [f.mean(batch, axis=axes), f.var(batch, axis=axes, ddof=1)]
    after = [
        (1 - momentum) * old + momentum * f.astype(new, old.dtype)
        for old, new in zip((mean, var), found, strict=True)
    ]
    return layer, ABSENT, ABSENT, *after


# -- attention -------------------------------------------------------------------------------------
def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout_p:
        raise Random
    if enable_gqa:
        ratio = query.shape[-3] // key.shape[-3]
        key, value = f.repeat(key, ratio, axis=-3), f.repeat(value, ratio, axis=-3)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (query @ f.swapaxes(key, -1, -2)) * scale
    reached = None
    if is_causal:
        rows, columns = f.arange(scores.shape[-2]), f.arange(scores.shape[-1])
        scores = f.where(f.expand_dims(rows, -1) >= columns, scores, -np.inf)
    elif attn_mask is not None and attn_mask.dtype.kind == "b":
        scores = f.where(attn_mask, scores, -np.inf)
        reached = f.any(attn_mask, axis=-1, keepdims=True)
    elif attn_mask is not None:
        scores = scores + attn_mask
        reached = f.any(attn_mask != -np.inf, axis=-1, keepdims=True)
    shares = f.softmax(scores, axis=-1)
    # PyTorch gives a row 0 that may look nowhere.
    return (shares if reached is None else f.where(reached, shares, 0)) @ value


def _dropout(x: Any, p: float, train: bool) -> Any:
    if train and p:
        raise Random
    return x


def _rrelu(
    x: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    if training:
        raise Random("draws its slope at random")
    return f.leaky_relu(x, (lower + upper) / 2)


LAYERS: dict[str, Spelling] = {
    **dict.fromkeys(["conv1d", "conv2d", "conv3d"], result(_conv)),
    **{f"conv_transpose{n}d": result(_conv_transpose) for n in (1, 2, 3)},
    "convolution": result(_convolution),
    **{f"max_pool{n}d": own(_max_pool(n)) for n in (1, 2, 3)},
    **{f"avg_pool{n}d": own(_avg_pool(n)) for n in (1, 2, 3)},
    "max_pool2d_with_indices": own(lambda *args: (_max_pool(2)(*args), ABSENT)),
    "max_pool3d_with_indices": own(lambda *args: (_max_pool(3)(*args), ABSENT)),
    "layer_norm": result(_layer_norm),
    "rms_norm": result(_rms_norm),
    "group_norm": result(_group_norm),
    "batch_norm": result(_batch_norm),
    "instance_norm": result(_instance_norm),
    "native_layer_norm": result(_core_layer_norm),
    "native_group_norm": result(_core_group_norm),
    "_native_batch_norm_legit_no_training": result(_core_batch_norm),
    "_native_batch_norm_legit_functional": own(_functional_batch_norm),
    "_native_batch_norm_legit.no_stats": result(_core_statistics_norm),
    "scaled_dot_product_attention": own(_attention),
    **dict.fromkeys(
        ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"], own(_dropout)
    ),
    "rrelu": own(_rrelu),
    "rrelu_with_noise_functional": own(lambda x, noise, *rest: (_rrelu(x, *rest), noise)),
}
