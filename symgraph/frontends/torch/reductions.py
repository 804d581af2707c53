"""Reductions, scans and products of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as snp
from ...ir.dims import count
from ..functions import f
from ..spelling import ABSENT, Refused, Spelling, own, result

__all__ = ["REDUCTIONS"]


def _axes(dim: Any) -> Any:
    """PyTorch's axes as NumPy's: none is all."""
    if dim is None or isinstance(dim, int):
        return dim
    return tuple(dim) or None


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return function(x, axis=_axes(dim), keepdims=keepdim)

    return call


def _correction(x: Any, dim: Any, keepdim: bool, unbiased: bool, correction: Any) -> dict[str, Any]:
    ddof = (1 if unbiased else 0) if correction is None else correction
    axes = _axes(dim)
    sizes = x.shape if axes is None else [x.shape[each] for each in np.atleast_1d(axes)]
    size = count(sizes)
    if isinstance(size, int) and size <= ddof:
        raise Refused(f"divides by {size} - {ddof}")
    return {"axis": axes, "keepdims": keepdim, "ddof": ddof}


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """`var` or `std`, of which one overload begins with `unbiased`."""

    def call(
        x: Any,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        return function(x, **_correction(x, dim, keepdim, unbiased, correction))

    return call


def _with_mean(spread: Callable[..., Any]) -> Callable[..., Any]:
    found = _spread(spread)

    def call(x: Any, dim: Any = None, *rest: Any, **options: Any) -> tuple[Any, Any]:
        over = None if isinstance(dim, bool) else dim
        keepdim = options.get("keepdim", rest[1] if len(rest) > 1 else False)
        return found(x, dim, *rest, **options), _reduced(f.mean)(x, over, keepdim)

    return call


def _extreme_with_index(largest: bool) -> Callable[..., Any]:
    def call(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
        if not x.ndim:
            return x, f.zeros((), "int64")
        if largest:
            return f.max_with_index(x, dim, keepdim)
        # The index decides where the gradient goes, as in PyTorch.
        value, index = f.max_with_index(-x, dim, keepdim)
        return -value, index

    return call


def _place(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        return function(x, axis=dim, keepdims=keepdim)

    return call


def _scanned(function: Callable[..., Any]) -> Spelling:
    return result(lambda x, dim, *, dtype=None: function(x, axis=dim))


def _softmax(function: Callable[..., Any]) -> Spelling:
    return result(lambda x, dim, *_rest, **_options: function(x, axis=dim))


def _vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:

    axis = _axes(dim)
    if axis is None:
        flat = snp.linalg.vector_norm(f.reshape(x, (-1,)), ord=ord)
        return f.reshape(flat, (1,) * x.ndim) if keepdim else flat
    return snp.linalg.vector_norm(x, axis=axis, keepdims=keepdim, ord=ord)


# -- products --------------------------------------------------------------------------------------
def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    product = x @ f.transpose(weight) if weight.ndim == 2 else x @ weight
    return product if bias is None else product + bias


def _added_product(bias: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = one @ other
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (bias if beta == 1 else bias * beta)


def _einsum(equation: str, tensors: Sequence[Any], **_path: Any) -> Any:
    return f.einsum(equation.replace(" ", ""), *tensors)


def _tensordot(x: Any, other: Any, dims_self: Sequence[int], dims_other: Sequence[int]) -> Any:
    return f.tensordot(x, other, axes=(tuple(dims_self), tuple(dims_other)))


def _cholesky(x: Any, *, upper: bool = False) -> Any:
    found = f.cholesky(x)
    return f.swapaxes(found, -1, -2) if upper else found


REDUCTIONS: dict[str, Spelling] = {
    "sum": result(_reduced(f.sum)),
    "mean": result(_reduced(f.mean)),
    "amax": own(_reduced(f.max)),
    "amin": own(_reduced(f.min)),
    "max": own(f.max),
    "min": own(f.min),
    "max.dim": own(_extreme_with_index(largest=True)),
    "min.dim": own(_extreme_with_index(largest=False)),
    "max.other": result(f.maximum),
    "min.other": result(f.minimum),
    "aminmax": own(
        lambda x, *, dim=None, keepdim=False: (
            f.min(x, axis=dim, keepdims=keepdim),
            f.max(x, axis=dim, keepdims=keepdim),
        )
    ),
    "any": own(_reduced(f.any)),
    "all": own(_reduced(f.all)),
    "prod": result(_reduced(f.prod)),
    "argmax": own(_place(f.argmax)),
    "argmin": own(_place(f.argmin)),
    "count_nonzero": own(lambda x, dim=None: f.count_nonzero(x, axis=_axes(dim))),
    "var": own(_spread(f.var)),
    "std": own(_spread(f.std)),
    "var_mean": own(_with_mean(f.var)),
    "std_mean": own(_with_mean(f.std)),
    "logsumexp": result(_reduced(f.logsumexp)),
    "special_logsumexp": result(_reduced(f.logsumexp)),
    "linalg_vector_norm": result(_vector_norm),
    "cumsum": _scanned(f.cumsum),
    "cumprod": _scanned(f.cumprod),
    "logcumsumexp": _scanned(f.logcumsumexp),
    "softmax": _softmax(f.softmax),
    "_softmax": _softmax(f.softmax),
    "log_softmax": _softmax(f.log_softmax),
    "_log_softmax": _softmax(f.log_softmax),
    **dict.fromkeys(["mm", "bmm", "matmul", "dot", "mv", "vdot"], result(f.matmul)),
    "inner": result(f.inner),
    "outer": result(f.outer),
    "ger": result(f.outer),
    "linear": result(_linear),
    **dict.fromkeys(["addmm", "addmv", "baddbmm"], result(_added_product)),
    "einsum": result(_einsum),
    "tensordot": result(_tensordot),
    "trace": own(f.trace),
    **dict.fromkeys(["det", "linalg_det"], own(f.det)),
    **dict.fromkeys(["inverse", "linalg_inv"], own(f.inv)),
    **dict.fromkeys(["slogdet", "linalg_slogdet"], own(f.slogdet)),
    "linalg_cholesky": own(_cholesky),
    "_linalg_det": own(lambda x: (f.det(x), ABSENT, ABSENT)),
    "_linalg_slogdet": own(lambda x: (*f.slogdet(x), ABSENT, ABSENT)),
    "linalg_matrix_exp": own(f.expm),
}
