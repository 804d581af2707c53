r"""The discrete Fourier transform of complex numbers, given as two real arrays, and of real ones.

Symbolic arrays are real; complex ones are pairs of them (see `symgraph.complexes`). The transform
is linear in both parts together, so its derivative is the transform of the other direction. That of
real numbers has conjugate halves, of which one is computed.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..ir.avals import Aval
from ..ir.dims import Dim, known_equal, normal, same_shape, show_shape
from ..ir.op import Op, register
from ..ir.traits import Traits
from .batched import batch_whole
from .families import function
from .matrices import matrix_dtype

__all__ = ["fourier", "half_spectrum", "half_spectrum_transpose", "real_flops"]


def _check(axis: int, *parts: Aval) -> None:
    shapes = [each.shape for each in parts]
    if not same_shape(shapes[0], shapes[-1]):
        raise ShapeError(
            f"real parts have the shape {show_shape(shapes[0])}, imaginary ones "
            f"{show_shape(shapes[-1])}."
        )
    if not -len(shapes[0]) <= axis < 0:
        raise ShapeError(f"there is no axis {axis} in {show_shape(shapes[0])}.")


def _infer(re: Aval, im: Aval, *, axis: int, inverse: bool) -> tuple[Aval, Aval]:
    _check(axis, re, im)
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


def real_flops(x: Aval, axis: int) -> Dim:
    """Those of a transform of real numbers: half of those of complex ones."""
    return x.size * (5 * _stages(x.shape[axis])) // 2  # pyright: ignore[reportReturnType]


def _stages(n: Dim) -> int:
    return ceil(log2(n)) if isinstance(n, int) and n > 1 else 10


def _flops(out: Aval, *_avals: Aval, axis: int, inverse: bool) -> Dim:
    """Five operations for each of the log2(n) stages (Cooley and Tukey 1965)."""
    return out.size * (5 * _stages(out.shape[axis]))  # pyright: ignore[reportReturnType]


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


# -- real numbers, whose spectrum has conjugate halves ---------------------------------------------
def _with_length(aval: Aval, axis: int, n: Dim) -> Aval:
    place = aval.ndim + axis
    return Aval(aval.dtype, (*aval.shape[:place], n, *aval.shape[place + 1 :]))


def _infer_half(x: Aval, *, axis: int, twice: bool) -> tuple[Aval, Aval]:
    _check(axis, x)
    if x.shape[axis] == 0:
        raise ShapeError("A Fourier transform of no elements has none.")
    half = _with_length(x, axis, normal(x.shape[axis] // 2 + 1))
    return half, half


def _half_kernel(xp: Any, x: Any, *, axis: int, twice: bool) -> Any:
    return xp.half_spectrum(x, axis=axis, twice=twice)


def _half_vjp(
    ct: tuple[Array, Array], out: object, x: Array, *, index: int, axis: int, twice: bool
) -> Array:
    return apply(TRANSPOSE, *ct, n=x.shape[axis], axis=axis, twice=twice)


HALF_SPECTRUM = register(
    Op(
        "half_spectrum",
        workspace=lambda out, *_, **__: 2 * out.nbytes,  # The complex numbers.
        batch=batch_whole,
        total=True,
        infer=_infer_half,
        kernel=_half_kernel,
        vjp=_half_vjp,
        promote=matrix_dtype,
        flops=lambda out, x, *, axis, twice: real_flops(x, axis),
        doc=(
            "Real and imaginary parts of the sums of x[t] exp(-2πi k t / n) along `axis`, for k "
            "from 0 to n // 2. With `twice`=True those that stand for two, which are not their own "
            "conjugates, count twice."
        ),
    )
)


def _infer_transpose(re: Aval, im: Aval, *, n: Dim, axis: int, twice: bool) -> Aval:
    _check(axis, re, im)
    if not known_equal(re.shape[axis], normal(n // 2 + 1)):
        raise ShapeError(
            f"the spectrum of {n} real numbers has {normal(n // 2 + 1)} elements in its half, not "
            f"{re.shape[axis]}."
        )
    return _with_length(re, axis, n)


def _transpose_kernel(xp: Any, re: Any, im: Any, *, n: int, axis: int, twice: bool) -> Any:
    return xp.half_spectrum_transpose(re, im, n=n, axis=axis, twice=twice)


def _transpose_vjp(
    ct: Array, out: object, re: Array, im: Array, *, index: int, n: Dim, axis: int, twice: bool
) -> Array:
    return apply(HALF_SPECTRUM, ct, axis=axis, twice=twice)[index]


def _transpose_workspace(out: Aval, *_avals: Aval, **_params: object) -> Dim:
    """The complex numbers; NumPy transforms single precision in copies of double precision."""
    return (2 if out.dtype.itemsize == 8 else 6) * out.nbytes


TRANSPOSE = register(
    Op(
        "half_spectrum_transpose",
        workspace=_transpose_workspace,
        batch=batch_whole,
        total=True,
        traits=Traits(jointly_linear=..., homogeneous=1),
        infer=_infer_transpose,
        kernel=_transpose_kernel,
        vjp=_transpose_vjp,
        promote=matrix_dtype,
        flops=lambda out, *_, axis, **__: real_flops(out, axis),
        doc=(
            "The sums of re[k] cos(2π k t / n) - im[k] sin(2π k t / n) along `axis`, for each t "
            "below n. With `twice`=True the k that stand for two count twice: n times the real "
            "numbers that have this half of a spectrum."
        ),
    )
)


def _half_spectrum(x: ArrayLike, axis: int = -1, twice: bool = False) -> tuple[Array, Array]:
    return apply(HALF_SPECTRUM, x, axis=axis, twice=twice)


def _half_spectrum_transpose(
    re: ArrayLike, im: ArrayLike, n: Dim, axis: int = -1, twice: bool = False
) -> Array:
    return apply(TRANSPOSE, re, im, n=n, axis=axis, twice=twice)


half_spectrum = function(HALF_SPECTRUM, _half_spectrum)
half_spectrum_transpose = function(TRANSPOSE, _half_spectrum_transpose)
