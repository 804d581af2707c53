"""Products of matrices, and contractions."""

from __future__ import annotations

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ..call import Call, Tensor
from ..registry import operator

__all__: list[str] = []


@operator("MatMul")
def matmul(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    return np.matmul(x, y)


@operator("Gemm")
def gemm(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    r"""$\alpha A B + \beta C$, either matrix transposed if an attribute says so."""
    call.ignore("broadcast")
    alpha, beta = call.real("alpha", 1.0), call.real("beta", 1.0)
    if a.ndim != 2 or b.ndim != 2:
        raise FormatError(f"Gemm takes matrices, not {a.aval} and {b.aval}.")
    a = a.T if call.flag("transA") else a
    b = b.T if call.flag("transB") else b
    found = _scaled(np.matmul(a, b), alpha)
    return found if c is None else found + _scaled(c, beta)


def _scaled(x: Tensor, factor: float) -> Tensor:
    return x if factor == 1 else np.multiply(x, np.asarray(factor, x.dtype))


@operator("Einsum", since=12)
def einsum(call: Call, *operands: Tensor) -> Tensor:
    return np.einsum(call.text("equation"), *operands)


@operator("Det", since=11)
def det(_call: Call, x: Tensor) -> Tensor:
    return snp.linalg.det(x)


@operator("MatMulInteger", since=10)
def matmul_integer(
    _call: Call, a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    x, y = a.astype(np.int32), b.astype(np.int32)
    if a_zero is not None:  # One for each row, or one for all.
        zero = a_zero.astype(np.int32)
        x = x - (np.reshape(zero, (*zero.shape, 1)) if zero.ndim == 1 else zero)
    if b_zero is not None:
        y = y - b_zero.astype(np.int32)
    return np.matmul(x, y)
