r"""Gradient clipping, by value or by norm: of finished gradients, and inside a graph.

Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", 2013: a
gradient longer than a threshold is scaled back to it, $g \min(1, c / \lVert g \rVert)$.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..errors import InputError
from ..ir.avals import Aval
from ..ir.op import Batch, Op, carries_aligned, no_flops, register
from ..ir.traits import Arrangement, Traits
from ..pytrees import flatten, tree_map, unflatten
from .families import function

__all__ = [
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_gradient",
    "global_norm",
]


# -- of gradients that are there -------------------------------------------------------------------
def clip_by_value(tree: object, low: ArrayLike, high: ArrayLike) -> Any:
    """Clip each element to the range from `low` to `high`.

    Parameters
    ----------
    tree : array, or tuples, lists, dicts and dataclasses of arrays
        Symbolic or NumPy, of any shapes and dtypes.
    low, high : number or array
        Of a shape that broadcasts to that of each array.

    Returns
    -------
    same as tree
        Containers, shapes and dtypes stay.

    Raises
    ------
    ShapeError
        If a bound does not broadcast against a symbolic array.

    Examples
    --------
    >>> sg.clip_by_value({"w": np.array([-3.0, 0.5])}, -1, 1)
    {'w': array([-1. ,  0.5])}
    """
    leaves, structure = flatten(tree)
    return unflatten(structure, [np.clip(leaf, low, high) for leaf in leaves])


def clip_by_norm(tree: object, max_norm: ArrayLike) -> Any:
    """Scale each array by itself so that its Euclidean norm is at most `max_norm`.

    Parameters
    ----------
    tree : array, or tuples, lists, dicts and dataclasses of arrays
        Symbolic or NumPy; the result is alike.
    max_norm : number or array
        Positive.

    Returns
    -------
    same as tree
        Containers, shapes and dtypes stay.

    Raises
    ------
    InputError
        If `max_norm` is a number that is not positive.

    Examples
    --------
    >>> sg.clip_by_norm(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    """
    limit = _positive(max_norm)
    return tree_map(lambda x: x * _scale(_norm(flatten(x)[0]), limit), tree)


def clip_by_global_norm(tree: object, max_norm: ArrayLike) -> Any:
    """Scale all arrays by one factor so that their joint norm is at most `max_norm`.

    The direction stays.

    Parameters
    ----------
    tree : array, or tuples, lists, dicts and dataclasses of arrays
        Symbolic or NumPy, of floating dtypes.
    max_norm : number or array of shape ()
        Positive.

    Returns
    -------
    same as tree
        Containers, shapes and dtypes stay.

    Raises
    ------
    InputError
        If `max_norm` is a number that is not positive.

    Examples
    --------
    >>> sg.clip_by_global_norm([np.array([3.0]), np.array([4.0])], 1.0)
    [array([0.6]), array([0.8])]
    """
    limit = _positive(max_norm)
    leaves, structure = flatten(tree)
    factor = _scale(_norm(leaves), limit)
    return unflatten(structure, [leaf * factor for leaf in leaves])


def global_norm(tree: object) -> Any:
    """The Euclidean norm of all elements of all arrays together; its derivative at 0 is 0.

    Parameters
    ----------
    tree : array, or tuples, lists, dicts and dataclasses of arrays
        Symbolic or NumPy, of floating dtypes.

    Returns
    -------
    array of shape ()
        0 if there is no array.

    Examples
    --------
    >>> float(sg.global_norm([np.array([3.0]), np.array([4.0])]))
    5.0
    """
    return _norm(flatten(tree)[0])


def _positive(max_norm: ArrayLike) -> Any:
    if isinstance(max_norm, (int, float)) and not max_norm > 0:
        raise InputError(f"A norm cannot be clipped to {max_norm!r}; give a positive number.")
    return max_norm


def _norm(leaves: list[Any]) -> Any:
    """The norm, behind a mask that hides the pole of the square root's derivative."""
    if not leaves:
        return np.float64(0.0)
    total: Any = 0
    for leaf in leaves:
        total = total + np.sum(leaf * leaf)
    return np.where(total > 0, np.sqrt(total), total)[()]


def _scale(norm: ArrayLike, limit: ArrayLike) -> Any:
    return limit / np.maximum(norm, limit)


# -- of cotangents on their way --------------------------------------------------------------------
def _vjp(
    ct: Array,
    _out: Array,
    x: Array,
    *,
    low: float | None,
    high: float | None,
    norm: float | None,
    core: int | None = None,
) -> Array:
    """The clipped cotangent; cotangents on leading axes are clipped one by one.

    The norm runs over the last `core` axes, by default over all of x.
    """
    if norm is not None:
        axes = tuple(range(-x.ndim if core is None else -core, 0))
        total = FUNCTIONS["sum"](ct * ct, axis=axes, keepdims=True) if axes else ct * ct
        size = FUNCTIONS["where"](total > 0, FUNCTIONS["sqrt"](total), total)
        ct = ct * (norm / FUNCTIONS["maximum"](size, norm))
    if low is not None:
        ct = FUNCTIONS["maximum"](ct, low)
    return ct if high is None else FUNCTIONS["minimum"](ct, high)


def _carries(
    out: Aval, x: Aval, *, slot: int, norm: float | None, core: int | None = None, **_: object
) -> Any:
    """The axes that the norm does not mix."""
    aligned = carries_aligned(out, x, slot=slot)
    mixed = 0 if norm is None else x.ndim if core is None else core
    return (*aligned[: x.ndim - mixed], *(None,) * mixed)


def _batch(batch: Batch, *, core: int | None = None, **params: object) -> Array:
    """Clip each cotangent of the batch by its own norm."""
    (x,) = batch.operands
    return apply(CLIP_GRADIENT, x, core=x.ndim - 1 if core is None else core, **params)


CLIP_GRADIENT = register(
    Op(
        "clip_gradient",
        batch=_batch,
        total=True,
        carries=_carries,
        infer=lambda x, **_params: x,
        kernel=lambda xp, x, **_params: x,
        vjp=(_vjp,),
        jvp=lambda tangents, out, x, **_params: tangents[0],
        flops=no_flops,
        count=0,
        facts=lambda x, **_params: tuple(x.facts),
        view=True,
        asymmetric=True,
        traits=Traits(arrangement=Arrangement.SAME),
    )
)


def _clip_gradient(
    x: ArrayLike, low: float | None = None, high: float | None = None, norm: float | None = None
) -> Array:
    """The value of `x`; its cotangent is clipped by value, by norm or by both.

    In a loop it clips at every step, not only at the end. Forward mode
    takes it for the identity. So a Jacobian without a stated mode is taken in
    reverse mode, and each of its rows is clipped as a gradient.

    Parameters
    ----------
    x : Array, floating
    low, high : float, optional
        Elements of the cotangent are brought between these.
    norm : float, optional
        The largest Euclidean norm of the cotangent; clipped first.

    Raises
    ------
    InputError
        If nothing is asked for, or `norm` is not positive.
    """
    if low is None and high is None and norm is None:
        raise InputError("clip_gradient clips nothing.", mend="Give low=, high= or norm=.")
    limits = [None if each is None else float(each) for each in (low, high, norm)]
    if limits[2] is not None:
        _positive(limits[2])
    return apply(CLIP_GRADIENT, x, low=limits[0], high=limits[1], norm=limits[2])


clip_gradient = function(CLIP_GRADIENT, _clip_gradient)
