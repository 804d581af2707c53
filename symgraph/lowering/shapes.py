"""Shape and dtype of the intermediate results of a kernel, as far as its calls tell.

Only functions whose results kernels pass on are known. A kernel that passes on the result of
another function is called as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Shape
from ..ir.op import OPS, Op
from ..ops.choice import where

__all__ = ["dtypes_in_loop", "result_of", "ufunc_named"]

Arguments: TypeAlias = Sequence[Any]
_Rule: TypeAlias = Callable[[Arguments, Mapping[str, Any]], Aval | None]


def ufunc_named(name: str, special: ModuleType | None) -> np.ufunc | None:
    """The elementwise ufunc of one result that a name such as `np.exp` or `special.erf` means."""
    module, _, function = name.partition(".")
    found = getattr({"np": np, "special": special}.get(module), function, None)
    return (
        found if isinstance(found, np.ufunc) and found.nout == 1 and not found.signature else None
    )


def result_of(
    name: str, ufunc: np.ufunc | None, args: Arguments, kwargs: Mapping[str, Any]
) -> Aval | None:
    """Shape and dtype of the result of a call; None if they are not known.

    Parameters
    ----------
    name : str
        The function without its module: `"sum"`, `"where"`.
    ufunc : ufunc or None
        The function itself, if it is a ufunc.
    args : sequence
        Arrays as their `Aval`, None where it is not known; all else as it is.
    kwargs : mapping
    """
    if any(arg is None for arg in args[:1]) or not set(kwargs) <= _UNDERSTOOD:
        return None
    if ufunc is not None:
        return _of_ufunc(ufunc, args) if not kwargs else None
    op = OPS.get(name)
    if op is where.op:
        return _of_where(args, kwargs)
    if op is not None and op.reduces:
        return _reduction(partial(_reduced_dtype, op))(args, kwargs)
    rule = _RULES.get(name)
    return rule(args, kwargs) if rule is not None else None


def _reduced_dtype(op: Op, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype of a reduction's result; None where it accumulates in another dtype."""
    if op.promote is not None and op.promote(dtype) != dtype:
        return None
    found = op.infer(Aval(dtype, (1,)), axis=(-1,), keepdims=False)
    return found.dtype if isinstance(found, Aval) else None


_UNDERSTOOD = {"axis", "keepdims", "initial"}


def _of_ufunc(ufunc: np.ufunc, args: Arguments) -> Aval | None:
    dtypes = dtypes_in_loop(ufunc, args)
    if dtypes is None:
        return None
    shapes = [arg.shape if isinstance(arg, Aval) else () for arg in args]
    return Aval(dtypes[-1], broadcast_shapes(*shapes))


def dtypes_in_loop(ufunc: np.ufunc, args: Arguments) -> tuple[np.dtype[Any], ...] | None:
    """The dtypes a ufunc computes in: of each operand, then of the result; None if not known."""
    kinds: list[Any] = []
    for arg in args:
        if isinstance(arg, Aval):
            kinds.append(arg.dtype)
        elif type(arg) in (int, float):
            kinds.append(type(arg))
        else:
            return None
    return ufunc.resolve_dtypes((*kinds, None))


def _of_where(args: Arguments, kwargs: Mapping[str, Any]) -> Aval | None:
    if len(args) != 3 or kwargs:
        return None
    shapes: list[Shape] = []
    kinds: list[Any] = []
    for arg in args:
        if isinstance(arg, Aval):
            shapes.append(arg.shape)
            kinds.append(arg.dtype)
        elif type(arg) in (int, float):
            kinds.append(arg)
        else:
            return None
    return Aval(np.result_type(*kinds[1:]), broadcast_shapes(*shapes))


def _reduction(dtype: Callable[[np.dtype[Any]], np.dtype[Any] | None]) -> _Rule:
    """The rule of a reduction whose result has the dtype that `dtype` gives for the operand's."""

    def rule(args: Arguments, kwargs: Mapping[str, Any]) -> Aval | None:
        if len(args) != 1:
            return None
        x: Aval = args[0]
        axis = kwargs.get("axis")
        axes = range(-x.ndim, 0) if axis is None else (axis,) if isinstance(axis, int) else axis
        if any(each >= 0 for each in axes):
            return None
        found = dtype(x.dtype)
        positions = {each + x.ndim for each in axes}
        keep = kwargs.get("keepdims", False)
        shape = [
            1 if i in positions else dim
            for i, dim in enumerate(x.shape)
            if keep or i not in positions
        ]
        return None if found is None else Aval(found, tuple(shape))

    return rule


def _floats_only(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    return dtype if dtype.kind == "f" else None


def _of_squeeze(args: Arguments, kwargs: Mapping[str, Any]) -> Aval | None:
    return _reduction(lambda dtype: dtype)(args, kwargs) if "axis" in kwargs else None


def _like(args: Arguments, kwargs: Mapping[str, Any]) -> Aval | None:
    return args[0] if len(args) == 1 and not kwargs else None


_RULES: dict[str, _Rule] = {
    "mean": _reduction(_floats_only),
    "squeeze": _of_squeeze,
    "zeros_like": _like,
    "ones_like": _like,
}
