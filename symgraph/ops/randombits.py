"""Random bits from a key and a counter: Threefry-2x32 with 20 rounds.

Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A block of two
32-bit words is enciphered by additions, rotations and exclusive ors under a key of two words; word
after word of a counter gives the numbers. There is no state: equal keys and shapes give equal
numbers, so a graph may compute them again, share them, or run on another backend.

The second word of a block tells its purpose. Below 2³¹ it is the high word of the counter of bits.
Above, it separates the keys of `split` and of `fold_in` from the bits and from one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import Array, ArrayLike, apply, constant
from ..errors import DTypeError, InputError, ShapeError
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, count, normal, parse_shape
from ..ir.op import Batch, Op, register, results_of
from ..namespace import NUMPY
from .batched import aligned, applied, batch_aligned, own_ndim
from .families import function

__all__ = ["fold_in", "random_bits", "split", "threefry"]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_FOR_SPLIT = 0x80000000
_FOR_FOLD = 0x80000001
_WORD = np.dtype("uint32")
_WIDE = np.dtype("uint64")
_IN_CACHE = 1 << 14
"""Blocks that NumPy enciphers at a time: their arrays fit the processor's cache."""
_FLOPS = 100
"""Integer operations of a block."""


def threefry(xp: Any, key: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Blocks (low, high) of uint32 words under keys (..., 2), whose leading axes come first."""
    zero, one = key[..., 0, None], key[..., 1, None]
    schedule = (zero, one, zero ^ one ^ xp.asarray(_PARITY, dtype=_WORD))
    x, y = low + zero, high + one
    for group in range(5):
        for places in _ROTATIONS[group % 2]:
            x = x + y
            y = x ^ ((y << places) | (y >> (32 - places)))
        x = x + schedule[(group + 1) % 3]
        y = y + (schedule[(group + 2) % 3] + xp.asarray(group + 1, dtype=_WORD))
    return x, y


def _check_key(aval: Aval) -> None:
    if aval.dtype != _WORD or not aval.ndim or aval.shape[-1] != 2:
        raise DTypeError(
            f"A key is uint32[2], or an array of such in its last axis, not {aval}.",
            mend="Make one by sg.random.key(seed).",
        )


# -- bits ------------------------------------------------------------------------------------------
def _infer_bits(key: Aval, *, shape: tuple[Dim, ...], dtype: DTypeLike) -> Aval:
    _check_key(key)
    return Aval(np.dtype(dtype), (*key.shape[:-1], *shape))


def _kernel_bits(xp: Any, key: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    size, wide = int(np.prod(shape)), np.dtype(dtype) == _WIDE
    blocks = size if wide else (size + 1) // 2
    step = _IN_CACHE if xp is NUMPY else blocks
    parts = [
        _words(xp, key, first, min(first + step, blocks), wide)
        for first in range(0, blocks, max(step, 1))
    ]
    lead = key.shape[:-1]
    if not parts:
        return xp.zeros((*lead, *shape), dtype=dtype)
    found = parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-1)
    return xp.reshape(found[..., :size], (*lead, *shape))


def _words(xp: Any, key: Any, first: int, stop: int, wide: bool) -> Any:
    """The words of the blocks: one word of 64 bits a block, or two of 32 bits."""
    counter = xp.arange(first, stop, dtype=_WIDE)
    low, high = xp.asarray(counter, dtype=_WORD), xp.asarray(counter >> 32, dtype=_WORD)
    x, y = threefry(xp, key, low, high)
    if wide:
        return (xp.asarray(x, dtype=_WIDE) << 32) | xp.asarray(y, dtype=_WIDE)
    return xp.reshape(xp.stack((x, y), axis=-1), (*key.shape[:-1], 2 * (stop - first)))


def _room_of_bits(out: Aval, key: Aval, **_: object) -> Dim:
    """The words of the keys, and of a result of eight bytes those of both halves."""
    keys, halves = 2 * key.nbytes, out.nbytes if out.dtype.itemsize == 8 else 0
    if isinstance(keys, int) and isinstance(out.nbytes, int):
        keys = min(keys, 4 * out.nbytes)
    return keys + halves


RANDOM_BITS = register(
    Op(
        "random_bits",
        workspace=_room_of_bits,
        infer=_infer_bits,
        kernel=_kernel_bits,
        vjp=(None,),
        flops=lambda out, key, *, shape, dtype: normal(count(shape) * _FLOPS),
        batch=batch_aligned,
        doc="Random bits: uint32 or uint64 of a shape, the same for the same key.",
    )
)


def _random_bits(key: ArrayLike, shape: Sequence[Dim] = (), dtype: DTypeLike = "uint32") -> Any:
    """Bits of shape (*key.shape[:-1], *shape); a NumPy array for a key of numbers."""
    kind = np.dtype(dtype)
    if kind not in (_WORD, _WIDE):
        raise DTypeError(f"Random bits are uint32 or uint64, not {kind}.")
    params = {"shape": parse_shape(shape), "dtype": kind}
    return _eager_or_applied(RANDOM_BITS, (_as_key(key),), params)


# -- keys ------------------------------------------------------------------------------------------
def _infer_split(key: Aval, *, number: Dim) -> Aval:
    _check_key(key)
    return Aval(_WORD, (*key.shape[:-1], number, 2))


def _kernel_split(xp: Any, key: Any, *, number: int) -> Any:
    low = xp.arange(number, dtype=_WORD)
    return xp.stack(threefry(xp, key, low, xp.full_like(low, _FOR_SPLIT)), axis=-1)


SPLIT = register(
    Op(
        "split_key",
        workspace=results_of(1.75),
        infer=_infer_split,
        kernel=_kernel_split,
        vjp=(None,),
        flops=lambda out, key, *, number: normal(number * _FLOPS),
        batch=batch_aligned,
        doc="Keys made of a key, independent of one another and of what it gives itself.",
    )
)


def _split(key: ArrayLike, number: Dim = 2) -> Any:
    """Keys of shape (*key.shape[:-1], number, 2)."""
    (size,) = parse_shape((number,))
    return _eager_or_applied(SPLIT, (_as_key(key),), {"number": size})


def _infer_fold(key: Aval, data: Aval) -> Aval:
    _check_key(key)
    if data.dtype.kind not in "iu":
        raise DTypeError(f"A key is folded with integers, not with {data.dtype}.")
    return Aval(_WORD, (*broadcast_shapes(key.shape[:-1], data.shape), 2))


def _kernel_fold(xp: Any, key: Any, data: Any) -> Any:
    low = xp.asarray(data, dtype=_WORD)[..., None]
    words = threefry(xp, key, low, xp.full_like(low, _FOR_FOLD))
    return xp.concatenate(words, axis=-1)


def _batch_fold(batch: Batch) -> Any:
    """Broadcast the leading axes of keys and numbers against one another."""
    ndim = max(own_ndim(batch, 0) - 1, own_ndim(batch, 1))
    operands = [
        aligned(x, ndim + extra) if moves else x
        for x, moves, extra in zip(batch.operands, batch.batched, (1, 0), strict=True)
    ]
    return applied(batch, operands)


FOLD_IN = register(
    Op(
        "fold_in_key",
        workspace=results_of(3),
        infer=_infer_fold,
        kernel=_kernel_fold,
        vjp=(None, None),
        flops=lambda out, key, data: normal(out.size * _FLOPS),
        batch=_batch_fold,
        doc="A key made of a key and a number: of a step, a layer, a row.",
    )
)


def _fold_in(key: ArrayLike, data: ArrayLike) -> Any:
    """Keys of shape (*broadcast(key.shape[:-1], data.shape), 2), by the low 32 bits of `data`."""
    if isinstance(data, int) and not 0 <= data < 2**32:
        raise InputError(f"A key is folded with a number of 32 bits, not with {data}.")
    number = data if isinstance(data, Array) else np.asarray(data)
    return _eager_or_applied(FOLD_IN, (_as_key(key), number), {})


# -- with numbers, or with symbols ----------------------------------------------------------------
def _as_key(key: ArrayLike) -> Any:
    if isinstance(key, (np.random.Generator, np.random.RandomState, int)):
        raise InputError(
            f"{key!r} is no key.",
            mend="A key is sg.random.key(seed); from a Generator, "
            "sg.random.key(int(rng.integers(2**32))).",
        )
    return key if isinstance(key, Array) else np.asarray(key)


def _eager_or_applied(op: Op, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
    if any(isinstance(each, Array) for each in operands):
        return apply(
            op,
            *[each if isinstance(each, Array) else constant(each) for each in operands],
            **params,
        )
    out: Any = op.infer(*[Aval(each.dtype, each.shape) for each in operands], **params)
    if out.dim_names:
        raise ShapeError(
            f"Numbers have no dimension of the name {out.dim_names[0]!r}.",
            mend="Give sizes as ints where the key is an array of numbers.",
        )
    return op.kernel(NUMPY, *operands, **params)


random_bits = function(RANDOM_BITS, _random_bits)
split = function(SPLIT, _split)
fold_in = function(FOLD_IN, _fold_in)
