"""Loss functions of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions import f
from ..spelling import Spelling, own, result

__all__ = ["LOSSES", "MEAN", "total"]

_NONE, MEAN = 0, 1
"""PyTorch's numbers of ways to reduce a loss; 2 is the sum."""


def total(loss: Any, reduction: int) -> Any:
    """The mean or the sum of a loss, or the loss itself."""
    if reduction == _NONE:
        return loss
    return f.mean(loss) if reduction == MEAN else f.sum(loss)


# -- labels ----------------------------------------------------------------------------------------
def _of_labels(
    log_p: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    smoothing: float = 0.0,
) -> Any:
    r"""$-\sum_i w_{y_i} \log p_{i, y_i}$, over $\sum_i w_{y_i}$ for the mean; classes on axis 1.

    Labels equal to `ignore_index` count nothing. With smoothing every class has its share.
    """
    axis = 1 if log_p.ndim > 1 else 0
    counted = f.not_equal(target, ignore_index)
    label = f.where(counted, target, 0)
    share = f.astype(counted, log_p.dtype)
    if weight is not None:
        share = share * weight[label]
    picked = f.squeeze(f.take_along_axis(log_p, f.expand_dims(label, axis), axis), axis)
    loss = -picked * share
    if smoothing:
        classes = log_p.shape[axis]
        if weight is None:
            every = f.sum(log_p, axis=axis)
        else:
            every = f.sum(
                log_p * f.reshape(weight, (-1, *[1] * (log_p.ndim - axis - 1))), axis=axis
            )
        every = -every * f.astype(counted, log_p.dtype)
        loss = (1 - smoothing) * loss + smoothing / classes * every
    if reduction == _NONE:
        return loss
    return f.sum(loss) / f.sum(share) if reduction == MEAN else f.sum(loss)


def _nll(
    x: Any, target: Any, weight: Any = None, reduction: int = MEAN, ignore_index: int = -100
) -> Any:
    return _of_labels(x, target, weight, reduction, ignore_index)


def _cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    axis = 1 if x.ndim > 1 else 0
    log_p = f.log_softmax(x, axis=axis)
    if target.dtype.kind != "f":
        return _of_labels(log_p, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / x.shape[axis]
    if weight is not None:
        log_p = log_p * f.reshape(weight, (-1, *[1] * (x.ndim - axis - 1)))
    loss = -f.sum(log_p * target, axis=axis)
    return total(loss, reduction)


# -- differences -----------------------------------------------------------------------------------
def _mse(x: Any, target: Any, reduction: int = MEAN) -> Any:
    return total((x - target) ** 2, reduction)


def _l1(x: Any, target: Any, reduction: int = MEAN) -> Any:
    return total(f.absolute(x - target), reduction)


def _huber(x: Any, target: Any, reduction: int = MEAN, delta: float = 1.0) -> Any:
    return total(f.huber(f.full((), delta, x.dtype), x - target), reduction)


def _smooth_l1(x: Any, target: Any, reduction: int = MEAN, beta: float = 1.0) -> Any:
    if beta == 0:
        return _l1(x, target, reduction)
    return total(f.huber(f.full((), beta, x.dtype), x - target) / beta, reduction)


# -- probabilities ---------------------------------------------------------------------------------
def _bce(x: Any, target: Any, weight: Any = None, reduction: int = MEAN) -> Any:
    # PyTorch bounds logarithms by -100, so that a wrong certainty costs a finite loss.
    log_p, log_q = f.maximum(f.log(x), -100), f.maximum(f.log(1 - x), -100)
    loss = -(target * log_p + (1 - target) * log_q)
    return total(loss if weight is None else loss * weight, reduction)


def _bce_with_logits(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = MEAN
) -> Any:
    if pos_weight is None:
        loss = (1 - target) * x + f.softplus(-x)
    else:
        loss = (1 - target) * x + (1 + (pos_weight - 1) * target) * f.softplus(-x)
    return total(loss if weight is None else loss * weight, reduction)


def _kl_div(x: Any, target: Any, reduction: int = MEAN, *, log_target: bool = False) -> Any:
    if log_target:
        return total(f.exp(target) * (target - x), reduction)
    return total(f.xlogy(target, target) - target * x, reduction)


def _poisson_nll(
    x: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    loss = f.exp(x) - target * x if log_input else x - target * f.log(x + eps)
    if full:  # Stirling's formula for the logarithm of a factorial.
        large = f.where(target > 1, target, 1)
        stirling = large * f.log(large) - large + 0.5 * f.log(2 * np.pi * large)
        loss = loss + f.where(target > 1, stirling, 0)
    return total(loss, reduction)


LOSSES: dict[str, Spelling] = {
    "cross_entropy_loss": own(_cross_entropy),
    "nll_loss_nd": own(_nll),
    "mse_loss": result(_mse),
    "l1_loss": result(_l1),
    "huber_loss": result(_huber),
    "smooth_l1_loss": result(_smooth_l1),
    "binary_cross_entropy": result(_bce),
    "binary_cross_entropy_with_logits": result(_bce_with_logits),
    "kl_div": result(_kl_div),
    "poisson_nll_loss": result(_poisson_nll),
}
