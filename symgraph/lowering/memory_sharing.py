"""Which functions give a new array, and which a view of their argument.

A program needs to know, for it may overwrite a new array that dies, but not an array with views.
"""

from __future__ import annotations

from ..ir.op import OPS, Op
from ..ir.traits import Arrangement
from .source_pieces import Alias

__all__ = ["alias_of", "composed"]

_FRESH = frozenset(
    [
        "amax",
        "amin",
        "mean",
        "var",
        "std",
        "take",
        "stack",
        "tile",
        "full",
        "zeros",
        "ones",
        "empty",
        "array",
        "outer",
        "kron",
        "dot",
        "tensordot",
        "copy",
        "repeat",
        "nan_to_num",
        "count_nonzero",
        "bincount",
        "full_like",
        "zeros_like",
        "ones_like",
        "select",
        "median",
        "trace",
        "pad",
        "roll",
        "lexsort",
        "isin",
        "largest_of_windows",
        "chosen",
        "row_sums",
        "linalg.eigvalsh",
        "linalg.norm",
        "linalg.svdvals",
        "linalg.lstsq",
    ]
)
"""NumPy's functions that are not operations here, and always give a new array."""
_WHOLE = frozenset(
    [
        "swapaxes",
        "moveaxis",
        "expand_dims",
        "squeeze",
        "matrix_transpose",
        "permute_dims",
        "flip",
        "rot90",
    ]
)
"""NumPy's functions that are not operations here, and give a view of all elements."""


def alias_of(name: str) -> Alias:
    """The memory that the result of a function, such as `np.transpose`, shares with its argument.

    With several arguments, the first is meant.
    """
    short = name.partition(".")[2]
    op = OPS.get(short.rpartition(".")[2])
    if op is not None and not op.custom:
        return _alias_of_op(op)
    if short in _FRESH or short.endswith((".reduce", ".accumulate")):
        return Alias.FRESH
    if short in _WHOLE:
        return Alias.WHOLE
    return Alias.RESHAPE if short == "ravel" else Alias.UNKNOWN


def _alias_of_op(op: Op) -> Alias:
    """The memory that the result of the operation's NumPy function shares with its argument."""
    arrangement = op.traits.arrangement
    if arrangement is Arrangement.REGROUPED:
        return Alias.RESHAPE
    if arrangement is Arrangement.PERMUTED:
        return Alias.WHOLE
    if op.view:
        return Alias.PART if op.traits.movement else Alias.UNKNOWN
    return Alias.FRESH if op.fresh else Alias.UNKNOWN


def composed(own: Alias, base: Alias | None, *, of_operand: bool) -> Alias:
    """The memory that the result of a call shares with the operands of the kernel.

    Parameters
    ----------
    own : Alias
        The memory it shares with the call's first argument.
    base : Alias or None
        The memory this argument shares with the operands; None where it is no array.
    of_operand : bool
        Whether this argument is an operand itself.
    """
    if own in (Alias.FRESH, Alias.UNKNOWN):
        return own
    if base is None:
        return Alias.UNKNOWN
    if of_operand:
        return own
    if base is Alias.FRESH:
        return Alias.UNKNOWN if own is Alias.PART else Alias.FRESH
    if own is Alias.RESHAPE or base not in (Alias.WHOLE, Alias.PART):
        return Alias.UNKNOWN
    return Alias.PART if Alias.PART in (own, base) else Alias.WHOLE
