"""Each operation of PyTorch that has a counterpart: values and gradients are PyTorch's.

A row is a function of tensors. Each is read as exported and as decomposed to core ATen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import InputError
from symgraph.frontends.torch.program import _as_forward
from symgraph.frontends.torch.table import TABLE

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(1200)]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
F = torch.nn.functional
inf = float("inf")


def numbers(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return torch.tensor(rng.uniform(low, high, shape))


def whole(*shape: int, below: int = 5, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng([seed, *shape]).integers(0, below, shape))


def mask(*shape: int, seed: int = 0) -> Any:
    return whole(*shape, below=2, seed=seed).bool()


X, Y, ROW = numbers(3, 4), numbers(3, 4, seed=1), numbers(4)
POSITIVE, SHARE = numbers(3, 4, low=0.2), numbers(3, 4, low=0.1, high=0.9)
CUBE, MATRIX = numbers(2, 3, 4), numbers(4, 4)
IMAGE, PICTURE = numbers(2, 4, 6, 6), numbers(2, 4, 7)
KERNEL = numbers(6, 2, 3, 3)
COUNTS, LABELS = whole(3, 4), torch.tensor([1, 0, 3])
SPD = MATRIX @ MATRIX.T + 2 * torch.eye(4, dtype=torch.float64)
ODD = torch.tensor([float("nan"), inf, -inf, 1.0], dtype=torch.float64)

Row = tuple[Callable[..., Any], tuple[Any, ...]]
ROWS: dict[str, Row] = {}


def row(name: str, function: Callable[..., Any], *args: Any) -> None:
    assert name not in ROWS
    ROWS[name] = (function if isinstance(function, FunctionType) else called(function), args)


def called(function: Any) -> Callable[..., Any]:
    """A function of Python that calls one of C."""

    def call(*args: Any) -> Any:
        return function(*args)

    return call


for each in (
    *["exp", "exp2", "expm1", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid"],
    *["erf", "erfc", "floor", "ceil", "trunc", "sign", "sgn", "relu", "abs", "neg", "frac"],
    *["atan", "asinh", "deg2rad", "rad2deg", "sinc", "selu", "celu", "i0", "reciprocal", "signbit"],
    *["isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_not", "positive", "round"],
    *["clone", "detach", "t"],
):
    row(each, getattr(torch, each), X)
row("numel", lambda x: x * x.numel(), X)
for each in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "lgamma", "digamma"):
    row(each, getattr(torch, each), POSITIVE)
for each in ("asin", "acos", "atanh", "erfinv", "logit"):
    row(each, getattr(torch, each), SHARE)
row("acosh", torch.acosh, POSITIVE + 1)
row("logit_within", lambda x: torch.logit(x, eps=0.2), SHARE)
row("round_decimals", lambda x: torch.round(x, decimals=1), X)
row("nan_to_num", lambda x: torch.nan_to_num(torch.where(x > 0, x, ODD), 1.0, 2.0, -3.0), X)
for each in ("expit", "entr", "erfcx", "ndtr", "ndtri", "log_ndtr", "i0", "i0e", "i1", "i1e"):
    row(f"special_{each}", getattr(torch.special, each), SHARE)
row("special_logit", torch.special.logit, SHARE)
for each in ("add", "sub", "mul", "maximum", "minimum", "fmax", "fmin", "hypot", "copysign"):
    row(each, getattr(torch, each), X, Y)
    row(f"{each}_row", getattr(torch, each), X, ROW)
for each in ("div", "true_divide", "atan2", "logaddexp", "logaddexp2", "remainder", "fmod"):
    row(each, getattr(torch, each), X, POSITIVE)
row("pow", torch.pow, POSITIVE, Y)
row("pow_number", lambda x: x**3 + 2**x + x**0.5, POSITIVE)
row("number_left", lambda x: 3 - x + 2 / x + x // 0.3, POSITIVE)
row("div_floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), X, POSITIVE)
row("div_trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), X, POSITIVE)
row("floor_divide", torch.floor_divide, X, POSITIVE)
row("heaviside", torch.heaviside, X.round(), Y)
row("xlogy", torch.xlogy, X, POSITIVE)
row("special_xlogy", torch.special.xlogy, X, POSITIVE)
row("special_xlog1py", torch.special.xlog1py, X, POSITIVE)
row("scaled", lambda x, y: torch.add(x, y, alpha=3) - torch.sub(x, y, alpha=2), X, Y)
row("rsub", lambda x, y: torch.rsub(x, y, alpha=2), X, Y)
row("lerp", lambda x, y: torch.lerp(x, y, 0.3) + torch.lerp(x, y, x), X, Y)
row("addcmul", lambda x, y: torch.addcmul(x, x, y, value=0.5), X, Y)
row("addcdiv", lambda x, y: torch.addcdiv(x, x, y, value=0.5), X, POSITIVE)
row("clamp", lambda x: x.clamp(-1, 1) + x.clamp(min=0.5) + torch.clip(x, max=0.7), X)
row("clamp_tensor", lambda x, y: torch.clamp(x, y, y + 1), X, Y)
row("clamp_min", lambda x: torch.clamp_min(x, 0.3) * torch.clamp_max(x, 0.6), X)
row("where", lambda x, y: torch.where(x > y, x * 2, y) + torch.where(x > 0, x, 1.0), X, Y)
row("where_numbers", lambda x: torch.where(x > 0, 1.0, 0.0) * x, X)
row("masked_fill", lambda x, m: x.masked_fill(m, -3.0), X, mask(3, 4))
for each in ("eq", "ne", "lt", "le", "gt", "ge"):
    row(each, getattr(torch, each), X.round(), Y.round())
row("compare_dtypes", lambda i, x: (i > 1.5) & (i < x), COUNTS, X)
row("isclose", lambda x: torch.isclose(x, x + 1e-9), X)
row("logical", lambda a, b: (a | b) & ~(a ^ b), mask(3), mask(3, seed=1))
row(
    "logical_names",
    lambda x, m: torch.logical_and(x, m).logical_or(m).logical_xor(x),
    X,
    mask(3, 4),
)
row("bitwise", lambda i, k: (i & k) | (i ^ 3), COUNTS, whole(3, 4, seed=2))
row(
    "integers", lambda i, k: i / (k + 1) + i * 2 + i // (k + 1) + i % 3, COUNTS, whole(3, 4, seed=2)
)
row("to", lambda x, i: x.to(torch.int64) + i.double() + x.float().to(torch.float64), X, COUNTS)
row("type_as", lambda x, i: i.type_as(x) * x + i.to(x), X, COUNTS)

row("activations", lambda x: F.silu(x) + F.mish(x) + F.hardswish(x), X)
# PyTorch has 1/6 in single precision there.
row("hardsigmoid", F.hardsigmoid, X.float())
row("gelu", lambda x: F.gelu(x) + F.gelu(x, approximate="tanh"), X)
row("elu", lambda x: F.elu(x) + F.elu(x, 0.5) + F.leaky_relu(x, 0.2) + F.relu6(3 * x), X)
row("softplus", lambda x: F.softplus(x) + F.softplus(x, beta=2), X)
row("shrunk", lambda x: F.hardshrink(x) + F.softshrink(x) + F.tanhshrink(x) + F.softsign(x), X)
row("logsigmoid", lambda x: F.logsigmoid(x) + F.hardtanh(x, -0.5, 0.5) + F.threshold(x, 0.1, 2), X)
row("prelu", lambda x, w: F.prelu(x, w), CUBE, numbers(3))
row("glu", lambda x: F.glu(x) + F.glu(x, 1), MATRIX)

# -- movement --------------------------------------------------------------------------------------
row("view", lambda x: x.view(4, -1) @ x.reshape(3, 4).flatten().unflatten(0, (3, 4)), X)
row("view_as", lambda x, y: x.view_as(y) + x.reshape_as(y), CUBE, numbers(6, 4))
row("ravel", lambda x: x.ravel(), X)
row("permute", lambda x: x.permute(2, 0, 1).transpose(0, -1).movedim(0, 2).swapaxes(0, 1), CUBE)
row("moved", lambda x: x.movedim((0, 1), (1, 2)).swapdims(0, 1), CUBE)
row("transposed", lambda x: x.T @ x.mT.mT + 0 * x.t().swapdims(0, 1).sum(), X)
row("squeeze", lambda x: x.unsqueeze(0).squeeze(0).unsqueeze(-1).squeeze() + x, X)
row("expand", lambda x, y: x.expand(3, 4) + x.expand_as(y) + x.broadcast_to(3, 4), ROW, X)
row("select", lambda x: x[1] + x[-1, 1:3].sum() + x[:, ::2].sum() + x.narrow(1, 1, 2).sum(), X)
row("flip", lambda x: x.flip(0) + x.roll(1, 1) + x.roll((1, 2), (0, 1)) + x.roll(2), X)
row("repeat", lambda x: x.repeat(2, 3) * x.tile(2, 3) + x.repeat_interleave(2, 0).sum(), X)
row("repeat_interleave", lambda x: x.repeat_interleave(2, 1), X)
row("cat", lambda x, y: torch.cat([x, y], 1) @ torch.cat([x, y], -1).T, X, Y)
row("cat_dtypes", lambda x, i: torch.cat([x, i]) + torch.concat([i, x]), X, COUNTS)
row("stack", lambda x, y: torch.stack([x, y], 1) + torch.hstack([x[0], y[0]]).sum(), X, Y)
row("vstack", lambda x, y: torch.vstack([x, y]), X, Y)
row("split", lambda x: x.split(3, 1)[0] * x.split([3, 1], 1)[0] + x.chunk(2, 1)[1].sum(), X)
row("unbind", lambda x: x.unbind(1)[2] * x.unbind()[0][:3], X)
row("pad", lambda x: F.pad(x, (1, 2, 0, 1)) + F.pad(x, (1, 2, 0, 1), value=3.0), X)
row("pad_modes", lambda x: F.pad(x, (2, 1), mode="reflect") + F.pad(x, (2, 1), "replicate"), CUBE)
row("pad_circular", lambda x: F.pad(x, (2, 1), mode="circular"), CUBE)
row("triangles", lambda x: x.tril() + x.triu(1) + torch.diagonal(x, 1, 0, 1).sum(), MATRIX)
row("unfold", lambda x: x.unfold(1, 3, 2), MATRIX)
row("zeros", lambda x: x + torch.zeros(4) + torch.zeros_like(x) + x.new_zeros(4) + x.new_ones(4), X)
row("ones", lambda x: x * torch.ones(4) * torch.ones_like(x) + torch.full((4,), 2.0), X)
row("full", lambda x: x * torch.full_like(x, 3.0) + x.new_full((4,), 2.0) + torch.eye(3, 4), X)
row("arange", lambda x: x * torch.arange(4) + torch.arange(1.0, 3.0, 0.5) + torch.arange(2, 6), X)
row("linspace", lambda x: x * torch.linspace(0, 1, 4, dtype=x.dtype) + torch.scalar_tensor(2.0), X)
row("tril_indices", lambda x: x[torch.tril_indices(3, 3)[0], torch.tril_indices(3, 3)[1]], X)


def written(x: Any, y: Any) -> Any:
    out = torch.empty(3, 4, dtype=x.dtype)
    out.copy_(x)
    out[0] = y[1] * x[0]
    out[:, 1] += 2
    out[1:, ::2] = 3.0
    out.mul_(x)
    out = (out * 2).relu_() + 1
    out[2].fill_(1.5)
    return out * 3


row("written", written, X, Y)
row("new_empty", lambda x: x.new_empty(3, 4).fill_(2.0) * x + torch.empty_like(x).zero_(), X)

# -- indices ---------------------------------------------------------------------------------------
row("index", lambda x, i: x[i] + x[:, i[0]].sum() + x[i, i].sum(), MATRIX, whole(2, 3, below=4))
row("index_apart", lambda x, i: x[i, :, i], CUBE, torch.tensor([0, 1, 1]))
row("index_select", lambda x, i: x.index_select(1, i), X, LABELS)
row(
    "gather",
    lambda x, i: x.gather(1, i) + x.gather(0, i.clamp(max=2))[:, :3],
    X,
    whole(3, 3, below=4),
)
row("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), X, whole(3, 2, below=4))
row("scatter", lambda x, y: x.scatter(1, torch.tensor([[0, 2], [1, 3]]), y[:2, :2]), X, Y)
row("scatter_number", lambda x: x.scatter(0, torch.tensor([[0, 2, 1, 0]]), 1.5), X)
row("scatter_add", lambda x, i, y: x.scatter_add(1, i, y), X, whole(3, 4, below=4), Y)
row("scatter_reduce", lambda x: x.scatter(1, torch.tensor([[0, 0]]), 1.5, reduce="add"), X)
row("index_put", lambda x, y: x.index_put((torch.tensor([0, 2]),), y[:2]), X, Y)
row("index_put_sum", lambda x, y: x.index_put((LABELS % 3,), y, accumulate=True), X, Y)
row("index_put_mask", lambda x: x.index_put((mask(3, 4),), torch.tensor(2.0, dtype=x.dtype)), X)
row("index_add", lambda x, y: x.index_add(0, torch.tensor([1, 1, 0]), y, alpha=2), X, Y)
row("index_fill", lambda x: x.index_fill(1, torch.tensor([0, 2]), 5.0), X)
row("embedding", lambda w, i: F.embedding(i, w) * 2, MATRIX, whole(2, 3, below=4))
row(
    "embedding_padded",
    lambda w, i: F.embedding(i, w, padding_idx=1) ** 2,
    MATRIX,
    whole(5, below=4),
)
row("one_hot", lambda i: F.one_hot(i, 5), COUNTS)
SPOILT = torch.tensor([[np.nan, 1.0, np.inf, 3.0], [-np.inf, 2.0, np.nan, 0.0]], dtype=X.dtype)
row("sort with nan", lambda x: x.sort(1, descending=True)[1], SPOILT)
row("topk with nan", lambda x: x.topk(3, 1)[1], SPOILT)
row("a nan is not shrunk", lambda x: (F.hardshrink(x) + F.threshold(x, 0.1, 2)).isnan(), SPOILT)
row("sort", lambda x: x.sort(1)[0] * x.sort(0, descending=True)[1] + x.argsort(1), X)
row("argsort_stable", lambda x: torch.argsort(x.round(), dim=1, stable=True), X)
row("topk", lambda x: x.topk(2, 1)[0] + x.topk(2, largest=False)[0] + x.topk(2)[1], X)
row(
    "searchsorted",
    lambda r, x: torch.searchsorted(r, x) + torch.bucketize(x, r, right=True),
    ROW.sort()[0],
    X,
)

# -- reductions and products -----------------------------------------------------------------------
row("sum", lambda x: x.sum() + x.sum(0).sum() + x.sum((0, 1), keepdim=True), X)
row("sum_dtype", lambda i: i.sum() + i.sum(1, dtype=torch.float64) + (i > 1).sum(), COUNTS)
row("mean", lambda x: x.mean() + x.mean((0, 2), keepdim=True) + x.mean(-1).sum(), CUBE)
row("extremes", lambda x: x.amax(1) * x.amin((1,)) + x.max() - x.min(), X)
row("max_dim", lambda x: x.max(1)[0] * x.min(1, keepdim=True)[0] + x.max(0)[1][:3], X)
row("max_other", lambda x, y: torch.max(x, y) * torch.min(x, y), X, Y)
row("aminmax", lambda x: torch.aminmax(x, dim=1)[0] - torch.aminmax(x)[1], X)
row("any", lambda m: m.any() | m.all(1) | m.any(1).all(), mask(3, 4))
row("prod", lambda x: x.prod() + x.prod(1), X)
row("argmax", lambda x: x.argmax() + x.argmax(1) + x.argmin(1, keepdim=True), X)
row("count_nonzero", lambda i: i.count_nonzero() + i.count_nonzero(1), COUNTS)
row("var", lambda x: x.var() + x.var(1) * x.std((0, 1)) + x.var(1, correction=0) + x.std(), X)
row("var_mean", lambda x: torch.var_mean(x, 1)[0] * torch.std_mean(x, dim=1, correction=0)[1], X)
row("logsumexp", lambda x: x.logsumexp(1) + x.logsumexp((0, 1), keepdim=True), X)
row("special_logsumexp", lambda x: torch.special.logsumexp(x, 1), X)
row("norm", lambda x: torch.linalg.vector_norm(x) + x.norm(dim=1) + x.norm(p=1) + x.norm(), X)
row("norms", lambda x: torch.linalg.vector_norm(x, ord=inf, dim=1, keepdim=True), X)
row("cumsum", lambda x: x.cumsum(1) * x.cumprod(0) + x.logcumsumexp(1), X)
row("softmax", lambda x: x.softmax(1) + x.log_softmax(0), X)
row(
    "matmul",
    lambda x, c: (c @ x.T) @ x + torch.bmm(c, c.mT).sum() + x[0] @ x.mv(x[0]).new_ones(4),
    X,
    CUBE,
)
row("mm", lambda x, y: torch.mm(x, y.T) + torch.dot(x[0], y[1]) + torch.vdot(x[0], y[0]), X, Y)
row("addmm", lambda b, x, y: torch.addmm(b, x, y.T, beta=2, alpha=0.5), numbers(3, 3), X, Y)
row("addmv", lambda b, x, y: torch.addmv(b, x, y[0]), numbers(3), X, Y)
row("baddbmm", lambda b, x: torch.baddbmm(b, x, x.mT, beta=0), numbers(2, 3, 3), CUBE)
row("contiguous", lambda x: x.T.contiguous() @ x, X)
row("linear", lambda x, w, b: F.linear(x, w, b) + F.linear(x, w), CUBE, numbers(5, 4), numbers(5))
row("outer", lambda x, y: torch.outer(x[0], y[1]) + torch.inner(x, y).sum(), X, Y)
row("ger", lambda x, y: torch.ger(x[0], y[1]), X, Y)
row("einsum", lambda x, c: torch.einsum("bij, kj -> bik", c, x), X, CUBE)
row("tensordot", lambda x, c: torch.tensordot(c, x, dims=([1, 2], [0, 1])), X, CUBE)
row("det", lambda x: torch.det(x) + torch.linalg.det(x) + torch.trace(x), MATRIX)
row("inverse", lambda x: torch.inverse(x) + torch.linalg.inv(x), SPD)
row("slogdet", lambda x: torch.slogdet(x)[1] + torch.linalg.slogdet(x)[0], SPD)
row(
    "cholesky",
    lambda x: torch.linalg.cholesky(x + x.T) + torch.linalg.cholesky(x + x.T, upper=True),
    SPD,
)
row("matrix_exp", lambda x: torch.linalg.matrix_exp(x), MATRIX / 3)

# -- layers ----------------------------------------------------------------------------------------
W1 = numbers(6, 4, 3)
row("conv1d", lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1), PICTURE, W1, numbers(6))
row("conv2d", lambda x, w: F.conv2d(x, w, padding=(1, 2), dilation=2, groups=2), IMAGE, KERNEL)
row("conv_same", lambda x, w: F.conv1d(x, w, padding="same"), PICTURE, W1)
row("conv3d", lambda x, w: F.conv3d(x, w), numbers(1, 2, 3, 4, 4), numbers(2, 2, 2, 3, 3))
row("conv_alone", lambda x, w: F.conv1d(x, w), numbers(4, 7), W1)
row(
    "conv_transpose1d",
    lambda x, w: F.conv_transpose1d(x, w, stride=2, output_padding=1),
    PICTURE,
    numbers(4, 3, 3),
)
row(
    "conv_transpose2d",
    lambda x, w, b: F.conv_transpose2d(x, w, b, padding=1, groups=2, dilation=2),
    IMAGE,
    numbers(4, 3, 3, 3),
    numbers(6),
)
row(
    "conv_transpose3d",
    lambda x, w: F.conv_transpose3d(x, w),
    numbers(1, 2, 2, 2, 2),
    numbers(2, 1, 2, 2, 2),
)
row(
    "max_pool1d",
    lambda x: F.max_pool1d(x, 3, 2, 1) + F.max_pool1d(x, 2, dilation=2, stride=2).sum(),
    PICTURE,
)
row("max_pool2d", lambda x: F.max_pool2d(x, 2) * F.max_pool2d(x, (3, 2), 2, ceil_mode=True), IMAGE)
row("max_pool3d", lambda x: F.max_pool3d(x, 2), numbers(1, 2, 4, 4, 4))
row("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2, 1, count_include_pad=False), PICTURE)
row("avg_pool2d", lambda x: F.avg_pool2d(x, 2) + F.avg_pool2d(x, 3, 2, 1).sum(), IMAGE)
row("avg_pool3d", lambda x: F.avg_pool3d(x, 2), numbers(1, 2, 4, 4, 4))
row(
    "adaptive",
    lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, (3, 2)).sum(),
    IMAGE,
)
row("adaptive1d", lambda x: F.adaptive_avg_pool1d(x, 1), PICTURE)
row("adaptive3d", lambda x: F.adaptive_avg_pool3d(x, (2, 1, 2)), numbers(1, 2, 4, 4, 4))
row("adaptive_uneven", lambda x: F.adaptive_avg_pool2d(x, (4, 5)), IMAGE)
row("adaptive_uneven1d", lambda x: F.adaptive_avg_pool1d(x, 3), PICTURE)
row("adaptive_max1d", lambda x: F.adaptive_max_pool1d(x, 3), PICTURE)
row(
    "adaptive_max", lambda x: F.adaptive_max_pool2d(x, 3) + F.adaptive_max_pool2d(x, 4).sum(), IMAGE
)
row("adaptive_max3d", lambda x: F.adaptive_max_pool3d(x, (3, 2, 1)), numbers(1, 2, 4, 4, 4))
row("avg_pool_divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), IMAGE)
SMALL = numbers(2, 3, 4, 5)
for each in ("nearest", "nearest-exact", "bilinear", "bicubic"):
    row(f"{each}_by_scale", lambda x, m=each: F.interpolate(x, scale_factor=1.7, mode=m), SMALL)
    row(f"{each}_to_size", lambda x, m=each: F.interpolate(x, (3, 9), mode=m), SMALL)
for each in ("bilinear", "bicubic"):
    row(
        f"{each}_corners",
        lambda x, m=each: F.interpolate(x, (7, 1), mode=m, align_corners=True),
        SMALL,
    )
for each in ("nearest", "nearest-exact", "linear"):
    row(f"{each}_1d", lambda x, m=each: F.interpolate(x, 11, mode=m), PICTURE)
for each in ("nearest", "nearest-exact", "trilinear"):
    row(f"{each}_3d", lambda x, m=each: F.interpolate(x, (3, 5, 2), mode=m), numbers(1, 2, 2, 4, 3))
row("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2) * F.pixel_shuffle(x, 2), IMAGE)
row("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 3) * 2, IMAGE)
row("channel_shuffle", lambda x: torch.channel_shuffle(x, 2) * 2, IMAGE)
row("patches", lambda x: F.unfold(x, (2, 3), dilation=2, padding=1, stride=(1, 2)), IMAGE)
row("patches_alone", lambda x: F.unfold(x, 3), IMAGE[0])
row(
    "of_patches",
    lambda x: F.fold(x, (5, 4), (2, 3), dilation=(2, 1), padding=1, stride=(1, 2)),
    numbers(2, 18, 10),
)
row("layer_norm", lambda x, w: F.layer_norm(x, (4,), w, w) + F.layer_norm(x, (3, 4)), CUBE, ROW)
row("rms_norm", lambda x, w: F.rms_norm(x, (4,), w) + F.rms_norm(x, (3, 4), eps=1e-3), CUBE, ROW)
row("group_norm", lambda x, w: F.group_norm(x, 2, w, w), IMAGE, ROW)
row(
    "batch_norm",
    lambda x, m, v, w: F.batch_norm(x, m.detach(), v.detach(), w, w),
    IMAGE,
    ROW,
    ROW**2,
    ROW,
)
row("batch_norm_rows", lambda x, m: F.batch_norm(x, m.detach(), m.detach() ** 2), X, ROW)
row("batch_statistics", lambda x, w: F.batch_norm(x, None, None, w, w, training=True), IMAGE, ROW)
row("instance_norm", lambda x, w: F.instance_norm(x, weight=w, bias=w), IMAGE, ROW)
Q, K = numbers(2, 2, 3, 4), numbers(2, 2, 5, 4)
row("attention", lambda q, k: F.scaled_dot_product_attention(q, k, k * 2), Q, K)
row(
    "attention_causal",
    lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True, scale=0.3),
    Q,
    K,
)
row("attention_mask", lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m), Q, K, mask(3, 5))
row(
    "attention_nowhere",
    lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m),
    Q,
    K,
    torch.tensor([[True] * 5, [False] * 5, [True] * 5]),
)
row(
    "attention_bias",
    lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m),
    Q,
    K,
    numbers(3, 5),
)
row(
    "attention_grouped",
    lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
    numbers(2, 4, 3, 4),
    K,
)
row("dropout", lambda x: F.dropout(x, 0.5, training=False) + F.dropout2d(x, 0.5, False), IMAGE)
row("feature_alpha_dropout", lambda x: F.feature_alpha_dropout(x, 0.5, training=False) * 2, X)
row("rrelu", lambda x: F.rrelu(x, 0.1, 0.4), X)
row("bilinear_product", lambda x, y, w, b: F.bilinear(x, y, w, b), X, Y, numbers(2, 4, 4), ROW[:2])
row(
    "distances",
    lambda x, y: F.cosine_similarity(x, y) + F.pairwise_distance(x, y, p=3, eps=0.1),
    X,
    Y,
)
row("similarity", lambda x, y: F.cosine_similarity(x, y, 2), CUBE, numbers(3, 4, seed=2))
row("alpha_dropout", lambda x: F.alpha_dropout(x, 0.5, training=False) * 2, X)

# -- losses ----------------------------------------------------------------------------------------
W4 = torch.tensor([0.5, 1.0, 2.0, 0.3], dtype=torch.float64)
row(
    "cross_entropy",
    lambda x, y: F.cross_entropy(x, y) + F.cross_entropy(x, y, reduction="sum"),
    X,
    LABELS,
)
row(
    "cross_entropy_none",
    lambda x, y: F.cross_entropy(x, y, reduction="none", ignore_index=0),
    X,
    LABELS,
)
row(
    "cross_entropy_weight",
    lambda x, y, w: F.cross_entropy(x, y, w.detach(), ignore_index=0, label_smoothing=0.1),
    X,
    LABELS,
    W4,
)
row(
    "cross_entropy_smooth",
    lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2, ignore_index=1),
    X,
    LABELS,
)
row(
    "cross_entropy_shares",
    lambda x, y, w: F.cross_entropy(x, y.softmax(1), w, label_smoothing=0.1),
    X,
    Y,
    W4,
)
row("cross_entropy_pictures", lambda x, y: F.cross_entropy(x, y), PICTURE, whole(2, 7, below=4))
row("cross_entropy_alone", lambda x, y: F.cross_entropy(x, y), ROW, torch.tensor(2))
row(
    "nll_loss",
    lambda x, y, w: F.nll_loss(x, y, w.detach()) + F.nll_loss(x, y, ignore_index=3),
    X,
    LABELS,
    W4,
)
row("nll_loss2d", lambda x, y: F.nll_loss(x, y), IMAGE, whole(2, 6, 6, below=4))
row("mse_loss", lambda x, y: F.mse_loss(x, y) + F.l1_loss(x, y, reduction="sum"), X, Y)
row(
    "huber_loss",
    lambda x, y: F.huber_loss(x, y, delta=0.7) + F.smooth_l1_loss(x, y, beta=0.5),
    X,
    Y,
)
row("smooth_l1_none", lambda x, y: F.smooth_l1_loss(x, y, reduction="none"), X, Y)
row(
    "bce",
    lambda x, y: F.binary_cross_entropy(x, y.detach(), weight=y.detach()),
    SHARE,
    numbers(3, 4, low=0, high=1),
)
row(
    "bce_logits",
    lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, w.detach(), pos_weight=w.detach()),
    X,
    SHARE,
    W4,
)
row("bce_logits_plain", lambda x, y: F.binary_cross_entropy_with_logits(x, y), X, SHARE)
row(
    "kl_div",
    lambda x, y: (
        F.kl_div(x, y, reduction="batchmean") + F.kl_div(x, x, reduction="sum", log_target=True)
    ),
    X,
    SHARE,
)
SIGNS = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
row(
    "poisson_nll",
    lambda x, y: (
        F.poisson_nll_loss(x, y.detach()) + F.poisson_nll_loss(x, 3 * y.detach(), full=True)
    ),
    X,
    POSITIVE,
)
row("poisson_nll_rate", lambda x, y: F.poisson_nll_loss(x, y, log_input=False), POSITIVE, Y)
row(
    "margin_ranking",
    lambda x, y, t: F.margin_ranking_loss(x[:, 0], y[:, 0], t.detach(), margin=0.3),
    X,
    Y,
    SIGNS,
)
row(
    "hinge_embedding",
    lambda x, t: F.hinge_embedding_loss(x[:, 0], t.detach(), margin=0.7, reduction="sum"),
    X,
    SIGNS,
)
row("soft_margin", lambda x, t: F.soft_margin_loss(x[:, 0], t.detach()), X, SIGNS)
row(
    "cosine_embedding",
    lambda x, y, t: F.cosine_embedding_loss(x, y, t.detach(), margin=-0.2, reduction="none"),
    X,
    Y,
    SIGNS,
)
row(
    "multi_margin",
    lambda x, y, w: (
        F.multi_margin_loss(x, y, weight=w.detach(), margin=0.5) + F.multi_margin_loss(x, y, p=2)
    ),
    X,
    LABELS,
    W4,
)
row(
    "multilabel_margin",
    lambda x, y: F.multilabel_margin_loss(x, y),
    X,
    torch.tensor([[0, 3, -1, 2], [-1, 0, 1, 2], [3, 1, 2, 0]]),
)
row(
    "triplet_margin",
    lambda x, y, z: F.triplet_margin_loss(x, y, z, p=3) + F.triplet_margin_loss(x, y, z, swap=True),
    X,
    Y,
    X * Y,
)
row(
    "embedding_bag",
    lambda w, i, o: F.embedding_bag(i, w, o, mode="sum") * F.embedding_bag(i, w, o),
    X,
    torch.tensor([0, 2, 1, 1]),
    torch.tensor([0, 1, 1, 3]),
)
row(
    "embedding_bag_weights",
    lambda w, i, s: F.embedding_bag(i, w, mode="sum", per_sample_weights=s, padding_idx=1),
    X,
    torch.tensor([[0, 2], [1, 1]]),
    numbers(2, 2),
)
row(
    "embedding_bag_padding",
    lambda w, i: F.embedding_bag(i, w, padding_idx=1),
    X,
    whole(2, 3, below=3),
)

# -- recurrent cells -------------------------------------------------------------------------------
CELL = (numbers(2, 4), numbers(2, 3), numbers(9, 4), numbers(9, 3), numbers(9), numbers(9, seed=1))
FOUR = (
    numbers(2, 4),
    numbers(2, 3),
    numbers(12, 4),
    numbers(12, 3),
    numbers(12),
    numbers(12, seed=1),
)
ONE = (numbers(2, 4), numbers(2, 3), numbers(3, 4), numbers(3, 3), numbers(3), numbers(3, seed=1))
row("gru_cell", torch.gru_cell, *CELL)
row("lstm_cell", lambda x, h, *w: torch.lstm_cell(x, (h, h * 2), *w)[1], *FOUR)
row("rnn_tanh_cell", torch.rnn_tanh_cell, *ONE)
row("rnn_relu_cell", torch.rnn_relu_cell, *ONE)

NO_DERIVATIVE = {"number_left", "floor_divide", "heaviside", "scatter_reduce"}
"""What PyTorch does not differentiate."""
DECOMPOSED_INTO_CHECKS = {"inverse", "cholesky"}
"""What becomes operations with an effect, an error if a matrix is singular."""

DECOMPOSED_INTO_ANOTHER = {"multilabel_margin"}
"""What PyTorch 2.13 decomposes wrongly, if a list of labels ends early."""


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("decomposed", [False, True], ids=["exported", "decomposed"])
@pytest.mark.filterwarnings("ignore::symgraph.graph.tracing.UnusedInputWarning")
def test_values_and_gradients_are_those_of_pytorch(name: str, decomposed: bool) -> None:
    program = exported(name, decomposed)
    if decomposed and name in DECOMPOSED_INTO_CHECKS:
        with pytest.raises(InputError, match="of the kind TOKEN"):
            sg.from_torch(program)
        return
    function, args = ROWS[name]
    graph = sg.from_torch(program)
    given = dict(zip(graph.inputs, [each.numpy() for each in args], strict=True))
    another = decomposed and name in DECOMPOSED_INTO_ANOTHER
    expected = program.module()(*args) if another else function(*args)
    result = graph.evaluate(**given)
    assert str(result.dtype) == str(expected.dtype).removeprefix("torch.")
    agree(result, expected)
    if not expected.dtype.is_floating_point or another:
        return
    weights = torch.tensor(np.random.default_rng(0).normal(size=expected.shape))
    leaves = [each.clone().requires_grad_(each.dtype.is_floating_point) for each in args]
    total = (function(*leaves) * weights.to(expected.dtype)).sum()
    wanted = {n: leaf for n, leaf in zip(given, leaves, strict=True) if leaf.requires_grad}
    if name in NO_DERIVATIVE or not wanted or not total.requires_grad:
        return
    slopes = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
    found = pulled(graph, list(wanted), weights.numpy().astype(result.dtype), given)
    for leaf, slope, ours in zip(wanted.values(), slopes, found, strict=True):
        agree(ours, torch.zeros_like(leaf) if slope is None else slope.clone())


@cache
def exported(name: str, decomposed: bool = False, functional: bool = False) -> Any:
    function, args = ROWS[name]
    module = torch.nn.Module()
    module.forward = _as_forward(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, args, strict=False)
        return (
            program.run_decompositions({} if functional else None)
            if (decomposed or functional)
            else program
        )


def pulled(graph: Any, names: list[str], weights: Any, given: dict[str, Any]) -> Any:
    """The gradients of the sum of the weighted result."""
    (out,) = graph.outputs.values()
    total = sg.graph(np.sum(out * weights), inputs=list(graph.inputs.values()))
    found = total.gradient(*names, value=False).evaluate(**given)
    return [found] if len(names) == 1 else found


def agree(ours: Any, theirs: Any) -> None:
    near = 2e-9 if theirs.dtype == torch.float64 else 2e-6
    theirs = theirs.detach().numpy(force=True)
    np.testing.assert_allclose(ours, theirs, rtol=near, atol=near, equal_nan=True)


def test_no_operation_is_without_a_row() -> None:
    programs = [exported(name, decomposed) for name in ROWS for decomposed in (False, True)]
    programs += [exported(name, functional=True) for name in ("written", "new_empty")]
    seen = {str(node.target) for program in programs for node in program.graph.nodes}
    names = {each.removeprefix("aten.").removesuffix(".default") for each in seen}
    stems = names | {each.partition(".")[0] for each in names}
    layers = {"gru", "lstm", "rnn_tanh", "rnn_relu", "_native_batch_norm_legit_functional"}
    # See test_torch_models for these.
    assert sorted(set(TABLE) - stems - layers) == []
