"""Parts of floating-point numbers and integers; NumPy's complex functions of real arrays.

Symbolic arrays are real. `conj`, `real`, `imag` and `angle` have their meaning for real
numbers. A function that would make a complex array is refused where it is traced.
"""

from __future__ import annotations

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply
from ..ir.avals import Aval, broadcast_shapes
from ..ir.op import Op, carries_aligned, register
from ..ir.traits import Traits
from .batched import batch_aligned
from .bounds import knows, within
from .composites import as_array, composite
from .control import stop_gradient
from .creation import full_like, zeros_like
from .einsum import einsum
from .families import as_ufunc_takes, elementwise, function, like_ufunc
from .trigonometric import arctan2

__all__ = [
    "angle",
    "bitwise_count",
    "conjugate",
    "frexp",
    "gcd",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "lcm",
    "ldexp",
    "matvec",
    "nextafter",
    "real",
    "real_if_close",
    "spacing",
    "vecmat",
]


# -- mantissa and exponent -------------------------------------------------------------------------
LDEXP = register(
    Op(
        "ldexp",
        batch=batch_aligned,
        total=True,
        infer=lambda x, n: Aval(x.dtype, broadcast_shapes(x.shape, n.shape)),
        kernel=lambda xp, x, n: xp.ldexp(x, n),
        vjp=(lambda ct, out, x, n: apply(LDEXP, ct, n), None),
        carries=carries_aligned,
        promote=like_ufunc("ldexp"),
        doc="x * 2**n for whole n.",
        traits=Traits(linear=(0,)),
    )
)


def _ldexp(x: ArrayLike, n: ArrayLike) -> Array:
    return apply(LDEXP, x, n)


ldexp = function(LDEXP, _ldexp, np.ldexp)


FREXP = register(
    Op(
        "frexp",
        batch=batch_aligned,
        total=True,
        infer=lambda x: (x, x.with_dtype("int32")),
        kernel=lambda xp, x: xp.frexp(x),
        vjp=(lambda ct, out, x: apply(LDEXP, ct[0], -out[1]),),
        carries=carries_aligned,
        promote=like_ufunc("frexp"),
        doc="The mantissa of x, in [0.5, 1), and its exponent, which has no derivative.",
    )
)


def _frexp(x: ArrayLike) -> tuple[Array, Array]:
    return apply(FREXP, x)


frexp = function(FREXP, _frexp, np.frexp)

nextafter = elementwise(
    "nextafter",
    kernel=lambda xp, x, y: xp.nextafter(x, y),
    vjp=(lambda ct, out, x, y: ct, None),
    ufunc="nextafter",
    doc="The next number after x towards y; its derivative with respect to x is 1.",
)
spacing = elementwise(
    "spacing",
    kernel=lambda xp, x: xp.spacing(x),
    vjp=(None,),
    ufunc="spacing",
    doc="The distance to the next number away from 0; its derivative is 0.",
)

# -- whole numbers ---------------------------------------------------------------------------------
gcd = elementwise(
    "gcd",
    doc="The greatest common divisor of |x| and |y|.",
    kernel=lambda xp, x, y: xp.gcd(x, y),
    vjp=(None, None),
    ufunc="gcd",
)
lcm = elementwise(
    "lcm",
    doc="The least common multiple of |x| and |y|.",
    kernel=lambda xp, x, y: xp.lcm(x, y),
    vjp=(None, None),
    ufunc="lcm",
)
BITWISE_COUNT = register(
    Op(
        "bitwise_count",
        batch=batch_aligned,
        total=True,
        infer=lambda x: x.with_dtype("uint8"),
        kernel=lambda xp, x: xp.astype(xp.bitwise_count(x), "uint8"),
        vjp=(None,),
        promote=like_ufunc("bitwise_count"),
        facts=knows(bounds=within(0.0, 64.0)),
        doc="The number of 1-bits of |x|.",
    )
)


def _bitwise_count(x: ArrayLike) -> Array:
    return apply(BITWISE_COUNT, x)


bitwise_count = function(BITWISE_COUNT, _bitwise_count, np.bitwise_count)


# -- complex in NumPy, refused here ----------------------------------------------------------------
@composite(np.conjugate)
def conjugate(x: ArrayLike) -> Array:
    """The array itself, which is real; truth values become integers, as in NumPy."""
    return as_ufunc_takes("conjugate", x)


FUNCTIONS["conj"] = conjugate


@composite(np.real, view=True)
def real(x: ArrayLike) -> Array:
    """The array itself, which is real."""
    return as_array(x)


@composite(np.imag)
def imag(x: ArrayLike) -> Array:
    """The imaginary part: zeros."""
    return zeros_like(x)


@composite(np.real_if_close, view=True)
def real_if_close(x: ArrayLike, tol: float = 100) -> Array:
    """The array itself, which is real."""
    return as_array(x)


@composite(np.isrealobj)
def isrealobj(x: ArrayLike) -> bool:
    """True, for symbolic arrays are real."""
    as_array(x)  # Refuses complex numbers.
    return True


@composite(np.iscomplexobj)
def iscomplexobj(x: ArrayLike) -> bool:
    """False, for symbolic arrays are real."""
    as_array(x)  # Refuses complex numbers.
    return False


@composite(np.isreal)
def isreal(x: ArrayLike) -> Array:
    """True everywhere."""
    return full_like(x, True, dtype=bool)


@composite(np.iscomplex)
def iscomplex(x: ArrayLike) -> Array:
    """False everywhere."""
    return full_like(x, False, dtype=bool)


@composite(np.angle)
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """The angle: 0 where z is positive, pi (180 with `deg`) where it is negative; derivative 0."""
    found = stop_gradient(arctan2(0.0, z))
    return FUNCTIONS["multiply"](found, 180 / np.pi) if deg else found


# -- products of stacks ----------------------------------------------------------------------------
@composite()
def matvec(x: ArrayLike, y: ArrayLike) -> Array:
    """Stacks of matrices (..., i, j) times stacks of vectors (..., j)."""
    return einsum("...ij,...j->...i", x, y)


@composite()
def vecmat(x: ArrayLike, y: ArrayLike) -> Array:
    """Stacks of vectors (..., i) times stacks of matrices (..., i, j)."""
    return einsum("...i,...ij->...j", x, y)


# NumPy has the two since 2.2.
for _name, _call in (("matvec", matvec), ("vecmat", vecmat)):
    if hasattr(np, _name):
        NUMPY_FUNCTIONS[getattr(np, _name)] = _call
