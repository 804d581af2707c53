"""Numbers as nodes, and the dtypes to which operands are promoted: NumPy's rules.

An operand here is a node, a NumPy array, a Python number or an expression in named dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from ..errors import DTypeError, RangeError
from ..ir.avals import refuse_other_arrays, supported_dtype
from ..ir.dims import is_named
from ..ir.node import Node, make
from ..ir.op import OPS
from ..notation.node_text import shown_value
from .dimension_numbers import node_of_size, weak_number

__all__ = ["cast_to", "common_dtype", "constant_node", "dtype_or_type", "number_or_array"]


def constant_node(value: object, dtype: DTypeLike | None = None) -> Node:
    """The node of a constant: a frozen copy of `value`.

    Raises
    ------
    DTypeError
        If `value` is not numeric.
    RangeError
        If a Python int does not fit `dtype`.
    """
    refuse_other_arrays(value, "A constant")
    try:
        array = np.array(value, dtype=dtype, order="C")
    except OverflowError as error:
        raise RangeError(
            f"{shown_value(value)} does not fit the dtype {dtype}: {error}.",
            mend="Give the number a dtype of its own, as in np.int64(...), or convert the array.",
        ) from None
    except (ValueError, TypeError) as error:
        raise DTypeError(f"{value!r} cannot be a constant of dtype {dtype}: {error}.") from None
    if array.dtype == object and isinstance(value, int):
        raise RangeError(
            f"{shown_value(value)} is too large for an integer of 64 bits.",
            mend="Write it as a float.",
        )
    array = array.astype(supported_dtype(array.dtype), copy=False)
    array.flags.writeable = False
    return make(OPS["constant"], (), {"value": array})


def number_or_array(value: object) -> Any:
    """Arrays, Python numbers and named dimensions as they are, anything else as a NumPy array."""
    refuse_other_arrays(value, "A constant")
    plain = isinstance(value, (np.ndarray, bool, int, float)) and not isinstance(value, np.generic)
    return value if plain or is_named(value) else np.asarray(value)


def dtype_or_type(operand: object) -> Any:
    """The dtype of an operand, or the type of a Python number, which is weak in promotion."""
    if isinstance(operand, Node):
        return operand.dtype
    if isinstance(operand, np.ndarray):
        return supported_dtype(cast("np.ndarray[Any, Any]", operand).dtype)
    if is_named(operand):
        return type(weak_number(operand))
    return np.dtype(bool) if isinstance(operand, bool) else type(operand)


def common_dtype(operands: Sequence[object]) -> np.dtype[Any]:
    """The dtype that NumPy promotes the operands to."""
    items: list[Any] = []
    for operand in operands:
        if isinstance(operand, Node):
            items.append(operand.dtype)
        elif isinstance(operand, np.ndarray):
            items.append(supported_dtype(cast("np.ndarray[Any, Any]", operand).dtype))
        else:
            items.append(weak_number(operand) if is_named(operand) else operand)
    if len(items) > 1 and all(item is items[0] for item in items):
        return np.dtype(items[0]) if isinstance(items[0], np.dtype) else np.result_type(items[0])
    return supported_dtype(np.result_type(*items))


def cast_to(operand: object, dtype: np.dtype[Any]) -> Node:
    """The node of an operand in a dtype."""
    if isinstance(operand, Node):
        if operand.dtype == dtype:
            return operand
        return make(OPS["cast"], (operand,), {"dtype": dtype})
    return node_of_size(operand, dtype) if is_named(operand) else constant_node(operand, dtype)
