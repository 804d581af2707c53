r"""The discrete Fourier transform of complex numbers that are given as two real arrays.

Symbolic arrays are real; complex ones are pairs of them (see `symgraph.complexes`). The transform
is linear in both parts together, so its derivative is the transform of the other direction.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..ir.avals import Aval
from ..ir.dims import Dim, same_shape, show_shape
from ..ir.op import Op, register
from .batched import batch_whole
from .families import function
from .matrices import matrix_dtype

__all__ = ["fourier"]


def _infer(re: Aval, im: Aval, *, axis: int, inverse: bool) -> tuple[Aval, Aval]:
    if not same_shape(re.shape, im.shape):
        raise ShapeError(
            f"real parts have the shape {show_shape(re.shape)}, imaginary ones "
            f"{show_shape(im.shape)}."
        )
    if not -re.ndim <= axis < 0:
        raise ShapeError(f"there is no axis {axis} in {show_shape(re.shape)}.")
    return re, re


def _kernel(xp: Any, re: Any, im: Any, *, axis: int, inverse: bool) -> Any:
    return xp.fourier(re, im, axis=axis, inverse=inverse)


def _vjp(
    ct: tuple[Array, Array],
    out: object,
    re: Array,
    im: Array,
    *,
    index: int,
    axis: int,
    inverse: bool,
) -> Array:
    r"""$\bar z = F^* \bar Z$: the transform of the other direction, by both cotangents at once."""
    return apply(FOURIER, *ct, axis=axis, inverse=not inverse)[index]


def _flops(out: Aval, *_avals: Aval, axis: int, inverse: bool) -> Dim:
    """Five operations for each of the log2(n) stages (Cooley and Tukey 1965)."""
    long = out.shape[axis]
    stages = ceil(log2(long)) if isinstance(long, int) and long > 1 else 10
    return out.size * (5 * stages)  # pyright: ignore[reportReturnType]


FOURIER = register(
    Op(
        "fourier",
        workspace=lambda out, *_, **__: 4 * out.nbytes,  # The complex numbers, and their transform.
        batch=batch_whole,
        total=True,
        infer=_infer,
        kernel=_kernel,
        vjp=_vjp,
        promote=matrix_dtype,
        flops=_flops,
        doc=(
            "Real and imaginary parts of the sums of (re + i im)[t] exp(-2πi k t / n) along "
            "`axis`, for each k below n; with `inverse`=True of exp(2πi k t / n). Nothing is "
            "divided by n."
        ),
    )
)


def _fourier(
    re: ArrayLike, im: ArrayLike, axis: int = -1, inverse: bool = False
) -> tuple[Array, Array]:
    return apply(FOURIER, re, im, axis=axis, inverse=inverse)


fourier = function(FOURIER, _fourier)
