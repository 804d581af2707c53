"""Guards: conditions of a rule on one variable, stated as an annotation of the parameter.

A guard is a named predicate on a node. Facts come from `ir.fact_inference.Knowledge`, so a guard
holds only where it is proven. A guard also tells the verifier which operands to try.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import numpy as np

from ..array import Array
from ..facts import (
    Fact,
    finite,
    integer_valued,
    negative,
    nonnegative,
    nonpositive,
    nonzero,
    positive,
    total,
)
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..records import record

__all__ = [
    "Axes",
    "Axis",
    "Boolean",
    "Constant",
    "DType",
    "Finite",
    "Flag",
    "Guard",
    "Index",
    "Integer",
    "IntegerValued",
    "Negative",
    "NegativeConstant",
    "Nonnegative",
    "Nonpositive",
    "Nonzero",
    "Offset",
    "ParamKind",
    "Permutation",
    "Positive",
    "PositiveConstant",
    "Real",
    "Scalar",
    "ScaleConstant",
    "Shape",
    "Total",
    "UniformConstant",
    "Varying",
    "is_real",
    "is_scalar",
    "is_total",
    "of_fact",
    "uniform_value",
]


@record
class Guard:
    """A named predicate on the node a variable is bound to.

    Parameters
    ----------
    name : str
        The guard as the catalogue prints it: `x: positive`.
    holds : callable
        `holds(node, knowledge)`; False where it is not proven.
    facts : tuple of Fact
        The facts that the verifier states of the operands it makes.
    kinds : str
        dtype kinds that can satisfy the guard, as in `np.dtype.kind`.
    scalar, constant : bool
        Whether only 0-d arrays, or only constants, satisfy the guard.
    values : callable, optional
        For constants: whether a value satisfies the guard.
    """

    name: str
    holds: Callable[[Node, Knowledge], bool]
    facts: tuple[Fact, ...] = ()
    kinds: str = "biuf"
    scalar: bool = False
    constant: bool = False
    values: Callable[[Any], bool] | None = None


def _of_kind(name: str, kinds: str) -> Guard:
    return Guard(name, lambda node, _: node.aval.dtype.kind in kinds, kinds=kinds)


def of_fact(fact: Fact) -> Guard:
    """The guard that a fact is known, as in `Annotated[Array, of_fact(orthogonal)]`."""
    return Guard(str(fact), lambda node, knowledge: knowledge.of(node).has(fact), facts=(fact,))


def uniform_value(node: Node) -> Any:
    """The one value of all elements of a constant, 0-d; None if they differ or it is no constant.

    The constant may be broadcast.
    """
    while node.op.traits.arrangement is Arrangement.REPEATED:
        node = node.operands[0]
    if not node.is_constant:
        return None
    value: np.ndarray[Any, Any] = node.params["value"]
    if value.ndim == 0:
        return value
    if value.size == 0:
        return None
    first = value.reshape(-1)[:1]
    if value.size > 1 and value.tobytes() != first.tobytes() * value.size:
        return None
    return first.reshape(())


def _of_value(name: str, admits: Callable[[Any], bool]) -> Guard:
    def holds(node: Node, _knowledge: Knowledge) -> bool:
        value = uniform_value(node)
        return value is not None and bool(admits(value))

    return Guard(name, holds, constant=True, values=admits)


is_real = _of_kind("real", "f")
is_total = of_fact(total)
is_scalar = Guard("scalar", lambda node, _: not node.aval.shape, scalar=True)

Real: TypeAlias = Annotated[Array, is_real]
"""A floating-point array."""
Integer: TypeAlias = Annotated[Array, _of_kind("integer", "iu")]
Boolean: TypeAlias = Annotated[Array, _of_kind("boolean", "b")]
Positive: TypeAlias = Annotated[Array, of_fact(positive)]
Nonnegative: TypeAlias = Annotated[Array, of_fact(nonnegative)]
Negative: TypeAlias = Annotated[Array, of_fact(negative)]
Nonpositive: TypeAlias = Annotated[Array, of_fact(nonpositive)]
Nonzero: TypeAlias = Annotated[Array, of_fact(nonzero)]
Finite: TypeAlias = Annotated[Array, of_fact(finite)]
"""No infinity and no NaN."""
Total: TypeAlias = Annotated[Array, is_total]
"""Defined wherever the inputs are finite."""
IntegerValued: TypeAlias = Annotated[Array, of_fact(integer_valued)]
Scalar: TypeAlias = Annotated[Array, is_scalar]
"""A 0-d array."""
Constant: TypeAlias = Annotated[
    Array, Guard("constant", lambda node, _: node.is_constant, constant=True)
]
Varying: TypeAlias = Annotated[
    Array, Guard("not a constant", lambda node, _: uniform_value(node) is None)
]
"""Anything but a constant of one value, which constant folding replaces."""
UniformConstant: TypeAlias = Annotated[
    Array, _of_value("constant of one value", lambda value: np.isfinite(value))
]
"""A constant whose elements are all one finite number."""
NegativeConstant: TypeAlias = Annotated[
    Array, _of_value("negative constant", lambda value: value < 0)
]
"""A constant whose elements are all one negative number."""
PositiveConstant: TypeAlias = Annotated[
    Array, _of_value("positive constant", lambda value: value > 0)
]
ScaleConstant: TypeAlias = Annotated[
    Array, _of_value("constant of ordinary size", lambda value: 2**-20 <= float(value) <= 2**20)
]
"""A constant whose elements are all one number from 1e-6 to 1e6.

Its logarithm is at most 14: exp of x - 700 would be off by hundreds of units in the last place.
"""


@record
class ParamKind:
    """The kind of a static parameter: it tells the verifier which values to try."""

    name: str


Axes: TypeAlias = Annotated[tuple[int, ...], ParamKind("axes")]
Axis: TypeAlias = Annotated[int, ParamKind("axis")]
Offset: TypeAlias = Annotated[int, ParamKind("offset")]
"""The distance of a diagonal from the main one, of either sign."""
Permutation: TypeAlias = Annotated[tuple[int, ...], ParamKind("permutation")]
Shape: TypeAlias = Annotated[tuple[Any, ...], ParamKind("shape")]
DType: TypeAlias = Annotated[np.dtype[Any], ParamKind("dtype")]
Index: TypeAlias = Annotated[Any, ParamKind("index")]
Flag: TypeAlias = Annotated[bool, ParamKind("flag")]
