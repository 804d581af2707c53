"""Which functions give a new array, and which a view of their argument: what may be overwritten."""

from __future__ import annotations

from .pieces import Alias

__all__ = ["alias_of", "composed"]

_FRESH = frozenset(
    [
        "sum",
        "prod",
        "max",
        "min",
        "amax",
        "amin",
        "any",
        "all",
        "mean",
        "var",
        "std",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "sort",
        "argsort",
        "where",
        "take",
        "take_along_axis",
        "concatenate",
        "stack",
        "tile",
        "full",
        "zeros",
        "ones",
        "empty",
        "arange",
        "eye",
        "array",
        "tril",
        "triu",
        "outer",
        "kron",
        "scatter_add",
        "scatter_set",
        "dot",
        "matmul",
        "tensordot",
        "copy",
        "repeat",
        "clip",
        "searchsorted",
        "nan_to_num",
        "count_nonzero",
        "bincount",
        "convolve",
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
        "sinc",
        "convolution",
        "adjoint_convolution",
        "kernel_convolution",
        "overlap_add",
        "sum_of_windows",
        "largest_of_windows",
        "linalg.inv",
        "linalg.solve",
        "linalg.cholesky",
        "linalg.det",
        "linalg.slogdet",
        "linalg.qr",
        "linalg.svd",
        "linalg.eigh",
        "linalg.eigvalsh",
        "linalg.pinv",
        "linalg.norm",
        "linalg.svdvals",
        "linalg.lstsq",
    ]
)
_WHOLE = frozenset(
    [
        "transpose",
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
_PART = frozenset(["broadcast_to", "diagonal", "linalg.diagonal", "windows"])
_RESHAPE = frozenset(["reshape", "ravel"])


def alias_of(name: str) -> Alias:
    """What the result of a function, such as `np.transpose`, shares with its first argument."""
    short = name.partition(".")[2]
    if short in _FRESH or short.endswith((".reduce", ".accumulate")):
        return Alias.FRESH
    if short in _WHOLE:
        return Alias.WHOLE
    if short in _PART:
        return Alias.PART
    return Alias.RESHAPE if short in _RESHAPE else Alias.UNKNOWN


def composed(own: Alias, base: Alias | None, *, of_operand: bool) -> Alias:
    """What a call's result shares with the operands.

    Parameters
    ----------
    own : Alias
        What it shares with the call's first argument.
    base : Alias or None
        What that argument shares with the operands; None where it is no array.
    of_operand : bool
        Whether it is an operand itself.
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
