r"""Functions of square matrices: powers, the exponential."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apart, apply, implements
from ..errors import ShapeError
from ..facts import Fact, total
from ..ir.avals import Aval
from ..ir.dims import Dim, known_equal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, register
from ..ir.traits import Matrices, Traits
from ..namespace.exponential import AT_ONCE
from .batched import batch_aligned, batch_into_last
from .carrying import all_but_last
from .composites import as_array, naming_lines
from .creation import eye, zeros
from .families import function
from .joining import concatenate
from .matmul import matmul
from .matrices import LOWER, UPPER, matrix_dtype, per_matrix, square_size
from .movement import matrix_transpose
from .solving import inv

__all__ = ["expm", "expm_along", "matrix_power"]


@implements(np.linalg.matrix_power)
@partial(naming_lines, view=True)
def matrix_power(x: ArrayLike, n: int) -> Array:
    """The matrix to the power `n`, by repeated squaring; n < 0 powers the inverse.

    Raises
    ------
    ShapeError
        If the matrices are not square.
    """
    x = as_array(x)
    if x.ndim < 2 or not known_equal(x.shape[-1], x.shape[-2]):
        raise ShapeError(f"matrix_power: {show_shape(x.shape)} is not square.")
    if n == 0:
        return apart(FUNCTIONS["broadcast_to"](eye(x.shape[-1], dtype=x.dtype), x.shape))
    if n < 0:
        x, n = inv(x), -n
    result = None
    while True:
        if n % 2:
            result = x if result is None else matmul(result, x)
        n //= 2
        if not n:
            return as_array(result)
        x = matmul(x, x)


# -- the exponential -----------------------------------------------------------------------------
def _infer_expm(x: Aval) -> Aval:
    square_size(x)
    return x


def _room_of_expm(out: Aval, *_: Aval) -> Dim:
    """The powers of one matrix, or of those that are computed at once, and what is made of them."""
    return _room_of_rows(out, out.shape[-1])


def _room_of_along(out: Aval, *_: Aval) -> Dim:
    return 6 * out.nbytes + _room_of_rows(out, 2 * out.shape[-1])


def _room_of_rows(out: Aval, rows: Dim) -> Dim:
    return 12 * out.dtype.itemsize * (rows**2 + AT_ONCE)


def _facts_expm(x: Known) -> Any:
    yield total
    if x.has(Fact("symmetric")):
        yield Fact("positive_definite")
    for fact in (Fact("diagonal"), LOWER, UPPER):
        if x.has(fact):
            yield fact


EXPM = register(
    Op(
        "expm",
        workspace=_room_of_expm,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_expm,
        kernel=lambda xp, x: xp.expm(x),
        vjp=(lambda ct, out, x: apply(EXPM_ALONG, matrix_transpose(x), ct),),
        promote=matrix_dtype,
        flops=per_matrix(20),
        facts=_facts_expm,
        doc="The exponential of square matrices, the sum of x**k / k! as a matrix power series.",
        traits=Traits(matrices=Matrices.SQUARE),
    )
)


def _expm(x: ArrayLike) -> Array:
    return apply(EXPM, x)


expm = function(EXPM, _expm)


def _along_kernel(xp: Any, x: Any, direction: Any) -> Any:
    size, shape = x.shape[-1], direction.shape
    top = xp.concatenate((xp.broadcast_to(x, shape), direction), axis=-1)
    below = xp.concatenate((xp.zeros(shape, x.dtype), xp.broadcast_to(x, shape)), axis=-1)
    return xp.expm(xp.concatenate((top, below), axis=-2))[..., :size, size:]


def _blocks(x: Array, corner: Array) -> Array:
    r"""$\begin{pmatrix} x & c \\ 0 & x \end{pmatrix}$."""
    shape = corner.shape if corner.ndim >= x.ndim else x.shape
    x, corner = FUNCTIONS["broadcast_to"](x, shape), FUNCTIONS["broadcast_to"](corner, shape)
    top = concatenate([x, corner], axis=-1)
    below = concatenate([zeros(shape, x.dtype), x], axis=-1)
    return concatenate([top, below], axis=-2)


def _vjp_along_matrix(ct: Array, out: Array, x: Array, direction: Array) -> Array:
    r"""The second derivative $\mathrm D^2 \exp(A^\top)[E^\top, \bar Y]$.

    The directional derivative is an exponential too, of the block matrix of A and E; so its own
    derivative is again one, of blocks twice as large.
    """
    size = x.shape[-1]
    blocks = _blocks(matrix_transpose(x), matrix_transpose(direction))
    along = _blocks(ct, zeros(ct.shape, ct.dtype))
    return apply(EXPM_ALONG, blocks, along)[..., :size, size:]


EXPM_ALONG = register(
    Op(
        "expm_along",
        workspace=_room_of_along,
        batch=batch_into_last,
        carries=all_but_last(2),
        infer=lambda x, direction: direction,
        kernel=_along_kernel,
        vjp=(
            _vjp_along_matrix,
            lambda ct, out, x, direction: apply(EXPM_ALONG, matrix_transpose(x), ct),
        ),
        promote=matrix_dtype,
        flops=per_matrix(160),
        doc=(
            "The derivative of the matrix exponential at x along a direction, which may have more "
            "leading axes: the corner of expm([[x, d], [0, x]]) (Najfeld and Havel 1995)."
        ),
        traits=Traits(linear=(1,)),
    )
)


def _expm_along(x: ArrayLike, direction: ArrayLike) -> Array:
    return apply(EXPM_ALONG, x, direction)


expm_along = function(EXPM_ALONG, _expm_along)
