"""Constructors of families of operations; their arguments are what differs within a family."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, Unpack

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply, constant
from ..errors import DTypeError
from ..ir.avals import Aval, broadcast_shapes, supported_dtype
from ..ir.differentiation import Undefined
from ..ir.node import Node
from ..ir.op import Op, Said, Total, VjpRule, carries_aligned, no_facts, per_element, register
from ..ir.traits import PLAIN, Traits
from .batched import batch_aligned
from .masks import behind_masks
from .structures import with_parity

__all__ = [
    "APPLYING",
    "Function",
    "as_ufunc_takes",
    "elementwise",
    "function",
    "like_ufunc",
    "same_dtype",
    "to_float",
]


APPLYING: set[Callable[..., Any]] = set()
"""Functions that promote their operands, apply their operation, and do no more."""


class Function(Protocol):
    """A function of the public namespace that applies one operation."""

    op: Op

    def __call__(self, *args: object, **kwargs: object) -> Array: ...


def function(op: Op, call: Callable[..., Any], *numpy_functions: object) -> Any:
    """Publish `call` under the operation's name, also for the given NumPy functions."""
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.doc or call.__doc__
    call.op = op  # pyright: ignore[reportFunctionMemberAccess]
    FUNCTIONS[op.name] = call
    for each in numpy_functions:
        NUMPY_FUNCTIONS[each] = call
    return call


def same_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Promotion of arithmetic: the operands' common dtype."""
    return dtype


def to_float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Promotion of exp and its like: integers become floats as in NumPy (int8 gives float16)."""
    return dtype if dtype.kind == "f" else np.result_type(dtype, np.float16)


class UfuncPromotion:
    """Promotion by the rules of a NumPy ufunc, which NumPy itself answers.

    Raises DTypeError where the ufunc has no loop: `-x` of bool, `~x` of floats.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._ufunc: np.ufunc = getattr(np, name)
        self._known: dict[tuple[Any, ...], tuple[np.dtype[Any], ...]] = {}

    def __call__(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype that operands of one common dtype are cast to."""
        return self.resolve((dtype,) * self._ufunc.nin)[0]

    def resolve(self, kinds: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        """The dtype of each operand, given dtypes and the types of (weak) Python numbers."""
        found = self._known.get(kinds)
        if found is None:
            found = self._known[kinds] = self._resolved(kinds)
        return found

    def _resolved(self, kinds: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        try:
            loop = self._ufunc.resolve_dtypes((*kinds, *[None] * self._ufunc.nout))
        except TypeError:
            shown = " and ".join(str(getattr(kind, "__name__", kind)) for kind in kinds)
            raise DTypeError(
                f"np.{self.name} is not defined for dtype {shown}.", mend="Convert it with astype."
            ) from None
        return tuple([supported_dtype(dtype) for dtype in loop[: self._ufunc.nin]])


@cache
def like_ufunc(name: str) -> UfuncPromotion:
    """Promotion as the NumPy ufunc `name` does it."""
    return UfuncPromotion(name)


def as_ufunc_takes(name: str, x: ArrayLike) -> Array:
    """`x` in the dtype that the NumPy ufunc of one operand computes in."""
    operand = x if isinstance(x, Array) else constant(x)
    if type(operand) is not Array:  # A pattern variable has no dtype to ask for.
        return operand
    return FUNCTIONS["astype"](operand, like_ufunc(name)(operand.dtype))


def _infer_elementwise(*avals: Aval, **_params: object) -> Aval:
    last = avals[-1]
    shape = broadcast_shapes(*[aval.shape for aval in avals])
    return last if shape == last.shape else Aval(last.dtype, shape)


def _infer_predicate(*avals: Aval, **_params: object) -> Aval:
    return Aval(np.dtype(bool), broadcast_shapes(*[aval.shape for aval in avals]))


def elementwise(
    name: str,
    *,
    kernel: Callable[..., Any],
    vjp: tuple[VjpRule | Undefined | None, ...],
    promote: Callable[[np.dtype[Any]], np.dtype[Any]] | None = None,
    predicate: bool = False,
    flops: int = 1,
    facts: Callable[..., Iterable[Any]] | None = None,
    traits: Traits | None = None,
    ufunc: str = "",
    numpy: tuple[Any, ...] = (),
    doc: str = "",
    unpromoted: tuple[int, ...] = (),
    behind_mask: bool = True,
    steep: Callable[[Node], bool] | None = None,
    total: Total = True,
    **said: Unpack[Said],
) -> Any:
    """An operation on corresponding elements, its operands broadcast against one another.

    The number of operands is the number of entries in `vjp`. `predicate` makes the result boolean.
    `ufunc` names the NumPy ufunc of the same meaning (it takes `out=`), which also traces and whose
    promotion is used where `promote` is not given. `behind_mask` lets the rules in `vjp` act behind
    the mask of a cotangent; sums have no need of it, for they pass a mask on. Where
    `steep` holds of the first operand, whose slope may be infinite at a finite value, they act
    behind the shares of a tie, too.
    """
    kept = _traits_by_element(traits or PLAIN, predicate=predicate)
    if len(vjp) == 1 and (sign := kept.parity_in(0, 1)):
        facts = with_parity(facts or no_facts, sign)
    op = register(
        Op(
            name,
            infer=_infer_predicate if predicate else _infer_elementwise,
            kernel=kernel,
            vjp=tuple(behind_masks(rule, steep) for rule in vjp) if behind_mask else vjp,
            carries=carries_aligned,
            promote=promote or (like_ufunc(ufunc) if ufunc else same_dtype),
            unpromoted=unpromoted,
            flops=per_element(flops),
            traits=kept,
            ufunc=ufunc,
            doc=doc,
            batch=batch_aligned,
            total=total,
            facts=facts or no_facts,
            **said,
        )
    )
    ufuncs = (getattr(np, ufunc),) if ufunc and hasattr(np, ufunc) else ()
    return function(op, _applying(op, len(vjp)), *ufuncs, *numpy)


def _traits_by_element(traits: Traits, *, predicate: bool) -> Traits:
    by_element = replace(traits, elementwise=True)
    return replace(by_element, blind=...) if predicate else by_element


def _applying(op: Op, arity: int) -> Callable[..., Any]:
    """The function that applies an elementwise operation."""

    def call(*operands: ArrayLike) -> Any:
        if len(operands) != arity:
            raise TypeError(f"{op.name}() takes {arity} arrays, not {len(operands)}.")
        return apply(op, *operands)

    if not op.unpromoted:
        APPLYING.add(call)
    return call
