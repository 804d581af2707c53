r"""The orthonormal cosine transform: $y_k = c_k \sum_t x_t \cos(\pi k (2t + 1) / 2n)$.

With $c_0 = \sqrt{1/n}$ and $c_k = \sqrt{2/n}$ its matrix is orthogonal, so its inverse is the
transpose. In SciPy it is the second type, and its inverse the third.
"""

from __future__ import annotations

from typing import Any

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..ir.avals import Aval
from ..ir.dims import show_shape
from ..ir.op import Op, register
from ..ir.traits import Traits
from .batched import batch_whole
from .families import function
from .fourier import real_flops
from .matrices import matrix_dtype

__all__ = ["cosine_transform"]


def _infer(x: Aval, *, axis: int, inverse: bool) -> Aval:
    if not -x.ndim <= axis < 0:
        raise ShapeError(f"there is no axis {axis} in {show_shape(x.shape)}.")
    if x.shape[axis] == 0:
        raise ShapeError("A cosine transform of no elements has none.")
    return x


def _kernel(xp: Any, x: Any, *, axis: int, inverse: bool) -> Any:
    return xp.cosine_transform(x, axis=axis, inverse=inverse)


def _vjp(ct: Array, out: object, x: Array, *, index: int, axis: int, inverse: bool) -> Array:
    return apply(COSINE_TRANSFORM, ct, axis=axis, inverse=not inverse)


COSINE_TRANSFORM = register(
    Op(
        "cosine_transform",
        batch=batch_whole,
        total=True,
        traits=Traits(linear=(0,), homogeneous=1),
        infer=_infer,
        kernel=_kernel,
        vjp=_vjp,
        promote=matrix_dtype,
        flops=lambda out, *_, axis, inverse: real_flops(out, axis),
        doc=(
            "The orthonormal discrete cosine transform along `axis`, of the second type; with "
            "`inverse`=True its transpose, of the third."
        ),
    )
)


def _cosine_transform(x: ArrayLike, axis: int = -1, inverse: bool = False) -> Array:
    return apply(COSINE_TRANSFORM, x, axis=axis, inverse=inverse)


cosine_transform = function(COSINE_TRANSFORM, _cosine_transform)
