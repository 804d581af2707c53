"""Values made of shapes and numbers alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ....ir.dims import Dim, is_named
from ..attributes import dtype_of
from ..call import Call, Tensor
from ..registry import operator
from ..values import Value, from_sizes

__all__: list[str] = []


@operator("Constant", raw=True)
def constant(call: Call) -> Value:
    for name in ("value", "sparse_value"):
        if call.has(name):
            return Value(numbers=call.tensor(name))
    if call.has("value_float"):
        return Value(numbers=np.asarray(call.real("value_float"), np.float32))
    if call.has("value_int"):
        return Value(numbers=np.asarray(call.whole("value_int"), np.int64))
    if call.has("value_floats"):
        return Value(numbers=np.asarray(call.list("value_floats"), np.float32))
    if call.has("value_ints"):
        return Value(numbers=np.asarray(call.wholes("value_ints"), np.int64))
    raise FormatError("Constants of texts are not read.")


@operator("Shape", raw=True)
def shape(call: Call, x: Value) -> Value:
    start, end = call.whole("start"), call.whole("end", len(x.array.shape))
    return from_sizes(list(x.array.shape[start:end]))


@operator("Size", raw=True)
def size(_call: Call, x: Value) -> Value:
    return from_sizes(x.array.size)


@operator("ConstantOfShape", since=9)
def constant_of_shape(call: Call, _shape: Tensor) -> Tensor:
    found = call.tensor("value")
    value = np.zeros(1, np.float32) if found is None else found
    if value.size != 1:
        raise FormatError(f"ConstantOfShape is given {value.size} values, and takes one.")
    dims = tuple(call.dims(0, "shape"))
    return snp.full(dims, value.reshape(())[()], value.dtype)


@operator("Range", since=11)
def range_(call: Call, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """`start + i * delta`, as many as lie before the limit."""
    call.ignore("stash_type")  # Nothing is added up here.
    count = _count(call)
    steps = snp.arange(count)
    if start.dtype.kind == "f" and start.dtype.itemsize < 4:
        wide = start.astype(np.float32) + steps.astype(np.float32) * delta.astype(np.float32)
        return wide.astype(start.dtype)
    return start + steps.astype(start.dtype) * delta


def _count(call: Call) -> Dim:
    """How many numbers a range has: a named dimension, where it is `range(n)`."""
    first, last, step = [
        call.numbers(place, what).ravel().tolist()[0]
        for place, what in enumerate(("start", "limit", "delta"))
    ]
    if is_named(first) or is_named(last):
        if step != 1:
            raise FormatError("Range of a named dimension is read with steps of 1 alone.")
        return last - first
    if not step:
        raise FormatError("Range has the step 0.")
    return max(math.ceil((last - first) / step), 0)


@operator("EyeLike", since=9)
def eye_like(call: Call, x: Tensor) -> Tensor:
    dtype = dtype_of(call.whole("dtype")) if call.has("dtype") else x.dtype
    rows, columns = x.shape
    return snp.eye(rows, columns, call.whole("k"), dtype=dtype)


@operator("OneHot", since=9)
def one_hot(call: Call, indices: Tensor, _depth: Tensor, values: Tensor) -> Tensor:
    """Off values, and the on value at an index; at none, where the index is out of range."""
    (depth,) = [int(each) for each in call.numbers(1, "depth").ravel()]
    places = indices.astype(np.int64)
    places = np.where(places < 0, places + depth, places)
    axis = call.whole("axis", -1)
    hot = np.expand_dims(places, axis)
    axis += hot.ndim if axis < 0 else 0
    row = np.reshape(snp.arange(depth), [-1 if a == axis else 1 for a in range(hot.ndim)])
    return np.where(hot == row, values[1], values[0])


# -- windows of signals ----------------------------------------------------------------------------
_COSINES: dict[str, tuple[float, ...]] = {
    "HannWindow": (0.5, 0.5),
    "HammingWindow": (25 / 46, 21 / 46),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}


@operator(*_COSINES, since=17)
def window(call: Call, _size: Tensor) -> Any:
    r"""$\sum_k (-1)^k a_k \cos(2 \pi k i / N)$ for i = 0, ..., N - 1; N - 1 if not periodic."""
    (count,) = call.ints(0, "size")
    call.runs.spend(max(count, 0))
    turn = 2 * np.pi * np.arange(count) / max(count - (not call.flag("periodic", 1)), 1)
    found = sum((-1) ** k * factor * np.cos(k * turn) for k, factor in enumerate(_COSINES[call.op]))
    return snp.asarray(np.asarray(found, dtype_of(call.whole("output_datatype", 1))))


@operator("MelWeightMatrix", since=17)
def mel_weight_matrix(call: Call, *_operands: Tensor) -> Tensor:
    """Triangles of height 1 over the frequencies of a spectrum, evenly spaced in mels.

    As ONNX defines it, the last edge lies a step below the upper frequency.
    """
    bins, length, rate = [int(call.numbers(i, "size").ravel()[0]) for i in range(3)]
    low, high = [float(call.numbers(i, "frequency").ravel()[0]) for i in (3, 4)]
    if min(bins, length) < 0:
        raise FormatError(f"A matrix of {length} frequencies in {bins} bins is not read.")
    call.runs.spend((length // 2 + 1) * (bins + 2))
    lowest, highest = 2595 * np.log10(1 + np.array([low, high]) / 700)
    mels = lowest + (highest - lowest) / (bins + 2) * np.arange(bins + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    places = ((length + 1) * edges // rate).astype(np.int64)
    found = np.zeros((length // 2 + 1, bins))
    for column in range(bins):
        lower, center, higher = places[column : column + 3]
        if center == lower:
            found[center, column] = 1
        else:
            rising = np.arange(lower, center + 1)
            found[rising, column] = (rising - lower) / (center - lower)
        if higher > center:
            falling = np.arange(center, higher)
            found[falling, column] = (higher - falling) / (higher - center)
    return snp.asarray(found.astype(dtype_of(call.whole("output_datatype", 1))))
