"""The steps of optimizers, which ONNX has for training."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []

_DOMAIN = "ai.onnx.preview.training"


def _groups(operands: tuple[Tensor, ...], parts: int) -> Any:
    """For each parameter its own operands: all parameters come first, then all gradients."""
    count = len(operands) // parts
    return zip(*[operands[k * count : (k + 1) * count] for k in range(parts)], strict=True)


def _in_order(rows: list[tuple[Tensor, ...]]) -> list[Tensor]:
    return [each for column in zip(*rows, strict=True) for each in column]


@operator("Adagrad", domain=_DOMAIN)
def adagrad(call: Call, rate: Tensor, step: Tensor, *operands: Tensor) -> list[Tensor]:
    rate = rate / (1 + step.astype(rate.dtype) * call.real("decay_factor"))
    decay, epsilon = call.real("norm_coefficient"), call.real("epsilon", 1e-6)
    rows: list[tuple[Tensor, ...]] = []
    for x, g, h in _groups(operands, 3):
        g = decay * x + g
        h = h + g * g
        rows.append((x - rate * g / (np.sqrt(h) + epsilon), h))
    return _in_order(rows)


@operator("Momentum", domain=_DOMAIN)
def momentum(call: Call, rate: Tensor, step: Tensor, *operands: Tensor) -> list[Tensor]:
    alpha, beta = call.real("alpha"), call.real("beta")
    nesterov = call.choice("mode", "standard", "nesterov") == "nesterov"
    decay = call.real("norm_coefficient")
    factor = np.where(step > 0, np.asarray(beta, rate.dtype), np.ones((), rate.dtype))
    rows: list[tuple[Tensor, ...]] = []
    for x, g, v in _groups(operands, 3):
        g = decay * x + g
        v = alpha * v + factor * g
        rows.append((x - rate * (g + alpha * v if nesterov else v), v))
    return _in_order(rows)


@operator("Adam", domain=_DOMAIN)
def adam(call: Call, rate: Tensor, step: Tensor, *operands: Tensor) -> list[Tensor]:
    alpha, beta = call.real("alpha", 0.9), call.real("beta", 0.999)
    decay, after = call.real("norm_coefficient"), call.real("norm_coefficient_post")
    epsilon = call.real("epsilon", 1e-6)
    t = step.astype(rate.dtype)
    corrected = rate * np.sqrt(1 - np.power(beta, t)) / (1 - np.power(alpha, t))
    rate = np.where(step > 0, corrected, rate)
    rows: list[tuple[Tensor, ...]] = []
    for x, g, v, h in _groups(operands, 4):
        g = decay * x + g
        v = alpha * v + (1 - alpha) * g
        h = beta * h + (1 - beta) * g * g
        moved = x - rate * v / (np.sqrt(h) + epsilon)
        rows.append(((1 - after) * moved, v, h))
    return _in_order(rows)
