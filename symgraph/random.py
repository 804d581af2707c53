"""Random numbers from keys: `sg.random.normal(key, (3, 4))`.

A key is an array, uint32[2], and so can be an input of a graph. Equal keys give equal numbers: in
NumPy, in a graph on any backend, computed once or again. So a key is used once, and new ones are
made of it by `split` or `fold_in`. Functions give NumPy arrays for keys of NumPy's, and symbolic
arrays for symbolic ones; shapes may have named dimensions then.

Bits are those of Threefry-2x32-20 (Salmon, Moraes, Dror & Shaw, SC 2011), equal everywhere.
Floating samples are made of them by the formulas given below: equal up to rounding. Derivatives
pass through what is added to a sample and multiplied by it (`loc + scale * normal(key, shape)`),
and so through `low` and `high` here; there is none with respect to a key.

Examples
--------
>>> import numpy as np, symgraph as sg
>>> key = sg.random.key(0)
>>> sg.random.randint(key, 0, 10, (4,))
array([4, 3, 3, 7])
>>> def loss(w, key):
...     return np.sum(sg.random.bernoulli(key, 0.5, (3,)) * w)
>>> slope = sg.grad(loss)
>>> for step in range(2):
...     print(slope(np.ones(3), sg.random.fold_in(key, step)))
[1. 0. 1.]
[0. 0. 0.]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from .array import Array, ArrayLike
from .errors import DTypeError, InputError
from .ir.dims import Dim, ShapeLike, fixed, parse_shape
from .namespace import NUMPY
from .ops.randombits import fold_in, random_bits, split

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]

bits = random_bits


def key(seed: Any) -> Any:
    """A key of a seed: uint32[2], its higher and its lower word.

    Parameters
    ----------
    seed : int, or symbolic integer
        From 0 to 2**64 - 1.

    Raises
    ------
    InputError
        If the seed is no such number.
    """
    if isinstance(seed, Array):
        if seed.dtype.kind not in "iu" or seed.ndim:
            raise InputError(f"A seed is one integer, not {seed!r}.")
        wide = seed.astype("uint64")
        return np.stack([wide >> 32, wide]).astype("uint32")
    if isinstance(seed, bool) or not hasattr(type(seed), "__index__") or not 0 <= seed < 2**64:
        raise InputError(f"A seed is an integer from 0 to 2**64 - 1, not {seed!r}.")
    number = int(seed)
    return np.array([number >> 32, number & 0xFFFFFFFF], np.uint32)


# -- numbers between 0 and 1 -----------------------------------------------------------------------
def _floating(dtype: DTypeLike) -> np.dtype[Any]:
    kind = np.dtype(dtype)
    if kind.name not in ("float32", "float64"):
        raise DTypeError(f"Samples are float32 or float64, not {kind}.", mend="Use astype on them.")
    return kind


def _from_zero(key: ArrayLike, shape: object, dtype: DTypeLike) -> Any:
    """Multiples of 2⁻⁵³ (2⁻²⁴ in float32) in [0, 1), each as likely."""
    kind = _floating(dtype)
    if kind.name == "float32":
        return (random_bits(key, shape) >> 8).astype(kind) * kind.type(2.0**-24)
    return (random_bits(key, shape, "uint64") >> 11).astype(kind) * 2.0**-53


def _inside(key: ArrayLike, shape: ShapeLike, dtype: DTypeLike) -> Any:
    """Odd multiples of 2⁻⁵³ (2⁻²⁴ in float32) in (0, 1), each as likely: symmetric about 1/2."""
    kind = _floating(dtype)
    if kind.name == "float32":
        return ((random_bits(key, shape) >> 9) * 2 + 1).astype(kind) * kind.type(2.0**-24)
    return ((random_bits(key, shape, "uint64") >> 12) * 2 + 1).astype(kind) * 2.0**-53


def uniform(
    key: ArrayLike,
    shape: ShapeLike = (),
    dtype: DTypeLike = "float64",
    low: Any = 0.0,
    high: Any = 1.0,
) -> Any:
    """Numbers low + (high - low) u, u a multiple of 2⁻⁵³ (2⁻²⁴ in float32) in [0, 1).

    `high` itself comes only where the sum is rounded to it.

    Parameters
    ----------
    key : array, uint32[..., 2]
        Keys along leading axes give samples along leading axes.
    shape : tuple of int, or of names too for a symbolic key
    dtype : float32 or float64
    low, high : array_like
        Broadcast against the shape.

    Raises
    ------
    DTypeError, InputError, ShapeError
        If the key is none, the dtype another one, or a name stands in the shape of numbers.
    """
    found = _from_zero(key, shape, dtype)
    plain = isinstance(low, float) and isinstance(high, float) and (low, high) == (0.0, 1.0)
    return found if plain else low + (high - low) * found


def bernoulli(key: ArrayLike, p: ArrayLike = 0.5, shape: ShapeLike = ()) -> Any:
    """True with probability `p`, which is broadcast against the shape; see `uniform`."""
    return _from_zero(key, shape, "float64") < p


def randint(
    key: ArrayLike, low: int, high: int, shape: ShapeLike = (), dtype: DTypeLike = "int64"
) -> Any:
    """Whole numbers from `low` to `high - 1`: 64 random bits times their number, divided by 2⁶⁴.

    No number is likelier than another by more than one part in 2³².

    Raises
    ------
    InputError
        If there are none, or more than 2³².
    """
    span = int(high) - int(low)
    if not 0 < span <= 2**32:
        raise InputError(f"Between {low} and {high} there are {span} numbers: from 1 to 2**32 can.")
    words = random_bits(key, shape, "uint64")
    higher, lower = words >> 32, words & 0xFFFFFFFF
    found = (higher * span + (lower * span >> 32)) >> 32
    return (found.astype("int64") + np.int64(low)).astype(dtype)


# -- distributions ---------------------------------------------------------------------------------
def normal(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = "float64") -> Any:
    """Standard normal numbers: the inverse distribution function of u in (0, 1).

    The largest are 8.2, in float32 5.4.
    """
    return NUMPY.special.ndtri(_inside(key, shape, dtype))


def truncated_normal(
    key: ArrayLike, low: Array, high: Array, shape: ShapeLike = (), dtype: DTypeLike = "float64"
) -> Any:
    """Standard normal numbers between `low` and `high`, which are broadcast against the shape."""
    kind = _floating(dtype)
    low, high = _typed(low, kind), _typed(high, kind)
    above = low > 0  # The lower tail has the digits that the upper one lacks.
    first, last = np.where(above, -high, low), np.where(above, -low, high)
    start, stop = NUMPY.special.ndtr(first), NUMPY.special.ndtr(last)
    found = NUMPY.special.ndtri(start + (stop - start) * _inside(key, shape, dtype))
    return np.clip(np.where(above, -found, found), low, high)


def _typed(x: ArrayLike, dtype: np.dtype[Any]) -> Any:
    return x.astype(dtype) if isinstance(x, Array) else np.asarray(x, dtype)


def exponential(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = "float64") -> Any:
    """Exponential numbers of mean 1: -log1p(-u), u in [0, 1)."""
    return -np.log1p(-_from_zero(key, shape, dtype))


def gumbel(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = "float64") -> Any:
    """Standard Gumbel numbers: -log(-log u), u in (0, 1)."""
    return -np.log(-np.log(_inside(key, shape, dtype)))


def logistic(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = "float64") -> Any:
    """Standard logistic numbers: log u - log(1 - u), u in (0, 1)."""
    u = _inside(key, shape, dtype)
    return np.log(u) - np.log1p(-u)


def laplace(key: ArrayLike, shape: ShapeLike = (), dtype: DTypeLike = "float64") -> Any:
    """Standard Laplace numbers: log 2u below the median, -log 2(1 - u) above it."""
    u = _inside(key, shape, dtype)
    low = np.log(2 * np.minimum(u, 1 - u))
    return np.where(u < 0.5, low, -low)


# -- choices ---------------------------------------------------------------------------------------
def categorical(key: ArrayLike, logits: ArrayLike, axis: int = -1) -> Any:
    """The place of one category along `axis` for each row of logits, by the Gumbel-max trick.

    Equal in distribution to softmax(logits); Gumbel (1954), Maddison et al., "A* sampling", 2014.
    """
    scores = logits if isinstance(logits, Array) else np.asarray(logits)
    kind = scores.dtype if scores.dtype.name == "float32" else np.dtype("float64")
    return np.argmax(scores + gumbel(key, scores.shape, kind), axis=axis)


def permutation(key: ArrayLike, x: ArrayLike) -> Any:
    """The numbers below x, an int or a named dimension, in random order; or the rows of an array.

    Sorted by 64 random bits each.
    """
    if isinstance(x, (Array, np.ndarray, list)):
        rows: Any = x if isinstance(x, Array) else np.asarray(x)
        return np.take(rows, permutation(key, rows.shape[0]), axis=0)
    return np.argsort(random_bits(key, (x,), "uint64"), kind="stable")


def choice(
    key: ArrayLike,
    a: ArrayLike,
    shape: Sequence[Dim] = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
) -> Any:
    """Elements of `a` along an axis, or of the numbers below an int `a`, drawn at random.

    Parameters
    ----------
    key : array, uint32[2]
    a : int or array
    shape : tuple of int
        How many, along the axis; without replacement no more than there are.
    replace : bool
        Whether an element may come again.
    p : array, optional
        Probabilities of the elements; they sum to 1. Without replacement the elements of the
        largest log p plus a Gumbel number are taken, one draw after the other in distribution.

    Raises
    ------
    InputError
        If more are asked for than there are, or the number of elements has a name only.
    """
    sizes: Any = parse_shape(shape)
    array = None if not isinstance(a, (Array, np.ndarray, list)) else a
    if array is not None and not isinstance(array, Array):
        array = np.asarray(array)
    number: Any = int(cast("int", a)) if array is None else array.shape[axis]
    wanted = int(np.prod(sizes)) if fixed(sizes) else 0
    if not isinstance(number, int):
        raise InputError(f"Choice is among a number of elements that is known, not {number!r}.")
    if not replace and (not fixed(sizes) or wanted > number):
        raise InputError(f"{wanted} of {number} elements cannot be drawn without replacement.")
    if p is not None:
        places = _by_weight(key, p, sizes, wanted, replace)
    elif replace:
        places = randint(key, 0, number, sizes)
    else:
        places = np.reshape(permutation(key, number)[:wanted], sizes)
    return places if array is None else np.take(array, places, axis=axis)


def _by_weight(key: ArrayLike, p: ArrayLike, shape: Any, wanted: int, replace: bool) -> Any:
    weights = p if isinstance(p, Array) else np.asarray(p, np.float64)
    if replace:
        sums = np.cumsum(weights)
        return np.searchsorted(sums, _from_zero(key, shape, "float64") * sums[-1], side="right")
    with np.errstate(divide="ignore"):
        scores = np.log(weights) + gumbel(key, weights.shape)
    return np.reshape(np.argsort(-scores, kind="stable")[:wanted], shape)
