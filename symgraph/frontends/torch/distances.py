"""Distances of PyTorch, and losses made of distances and margins."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

from ... import numpy as snp
from ..functions import f
from ..spelling import Spelling, own, result
from .losses import MEAN, total

__all__ = ["DISTANCES"]


def _cosine_similarity(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    x, y = f.broadcast_arrays(x, y)
    sizes = [
        f.maximum(snp.linalg.vector_norm(each, axis=dim, keepdims=True), eps) for each in (x, y)
    ]
    return f.sum((x / sizes[0]) * (y / sizes[1]), axis=dim)


def _pairwise_distance(
    x: Any, y: Any, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    return snp.linalg.vector_norm(x - y + eps, axis=-1, keepdims=keepdim, ord=p)


def _bilinear(x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    product = f.einsum("...i,kij,...j->...k", x, weight, y)
    return product if bias is None else product + bias


def _trilinear(
    x: Any,
    y: Any,
    z: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """The product of three arrays with new axes at the places to expand, summed over some."""
    ndim = x.ndim + len(expand1)
    letters = ascii_letters[:ndim]
    parts = [
        "".join(letters[axis] for axis in range(ndim) if axis not in expand)
        for expand in (expand1, expand2, expand3)
    ]
    kept = "".join(letters[axis] for axis in range(ndim) if axis not in sumdim)
    return f.einsum(f"{','.join(parts)}->{kept}", x, y, z)


# -- margins ---------------------------------------------------------------------------------------
def _margin_ranking(x: Any, y: Any, target: Any, margin: float = 0.0, reduction: int = MEAN) -> Any:
    return total(f.relu(margin - target * (x - y)), reduction)


def _hinge_embedding(x: Any, target: Any, margin: float = 1.0, reduction: int = MEAN) -> Any:
    near = f.where(f.not_equal(target, -1), x, 0)
    far = f.where(f.not_equal(target, 1), f.relu(margin - x), 0)
    return total(near + far, reduction)


def _soft_margin(x: Any, target: Any, reduction: int = MEAN) -> Any:
    return total(f.softplus(-target * x), reduction)


def _cosine_embedding(
    x: Any, y: Any, target: Any, margin: float = 0.0, reduction: int = MEAN
) -> Any:
    axis, small = target.ndim, 1e-12
    sizes = (f.sum(x * x, axis=axis) + small) * (f.sum(y * y, axis=axis) + small)
    cosine = f.sum(x * y, axis=axis) / f.sqrt(sizes)
    near = f.where(f.equal(target, 1), 1 - cosine, 0)
    far = f.where(f.equal(target, -1), f.relu(cosine - margin), 0)
    return total(near + far, reduction)


def _multi_margin(
    x: Any,
    target: Any,
    p: float = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: int = MEAN,
) -> Any:
    label = f.expand_dims(target, -1)
    excess = f.relu(margin - f.take_along_axis(x, label, -1) + x)
    excess = excess if p == 1 else excess**p
    if weight is not None:
        excess = excess * weight[label]
    others = f.not_equal(f.arange(x.shape[-1]), label)
    return total(f.sum(f.where(others, excess, 0), axis=-1) / x.shape[-1], reduction)


def _multilabel_margin(x: Any, target: Any, reduction: int = MEAN) -> Any:
    # Labels end at the first negative one.
    given = f.equal(f.cumprod(f.astype(target >= 0, "int64"), axis=-1), 1)
    label = f.where(given, target, 0)
    named = f.expand_dims(given, -1) & f.equal(f.expand_dims(label, -1), f.arange(x.shape[-1]))
    others = ~f.any(named, axis=-2, keepdims=True)
    excess = f.relu(1 - f.expand_dims(f.take_along_axis(x, label, -1), -1) + f.expand_dims(x, -2))
    counted = f.where(f.expand_dims(given, -1) & others, excess, 0)
    return total(f.sum(counted, axis=(-2, -1)) / x.shape[-1], reduction)


def _triplet_margin(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> Any:
    near = _pairwise_distance(anchor, positive, p, eps)
    far = _pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = f.minimum(far, _pairwise_distance(positive, negative, p, eps))
    return total(f.relu(margin + near - far), reduction)


DISTANCES: dict[str, Spelling] = {
    "cosine_similarity": result(_cosine_similarity),
    "pairwise_distance": result(_pairwise_distance),
    "bilinear": result(_bilinear),
    "_trilinear": result(_trilinear),
    "margin_ranking_loss": result(_margin_ranking),
    "hinge_embedding_loss": own(_hinge_embedding),
    "soft_margin_loss": result(_soft_margin),
    "cosine_embedding_loss": own(_cosine_embedding),
    "multi_margin_loss": own(_multi_margin),
    "multilabel_margin_loss": own(_multilabel_margin),
    "triplet_margin_loss": result(_triplet_margin),
}
