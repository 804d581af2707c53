"""Properties of an operation as a whole, from its samples: its operands, and where elements go."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from itertools import permutations
from typing import Any

import numpy as np

from symgraph.backends.samples import op_samples
from symgraph.errors import SymgraphError
from symgraph.ir.node import Node
from symgraph.ir.op import Op, carries_aligned
from symgraph.ir.traits import Arrangement
from symgraph.ir.walks import reachable

from .cases import Case, cases, cases_where


def logarithmic(op: Op) -> bool | None:
    """Whether the definition is a logarithm or a multiple of one; None if there is none."""
    if op.definition is None or op.carries is not carries_aligned:
        return None
    words = _Words("")
    count = len(signature(op.definition).parameters) - 1
    return str(op.definition(words, *[words] * count)) == "log"


class _Words:
    """Stands for functions and numbers of a definition, and tells only which are logarithms."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __str__(self) -> str:
        return self.kind

    def __getattr__(self, name: str) -> Callable[..., _Words]:
        return lambda *_operands: _Words("log" if name.startswith("log") else "")

    def _with(self, other: Any) -> _Words:
        return _Words(self.kind or str(getattr(other, "kind", "")))

    def logical(self, *_operands: Any) -> _Words:
        return _Words("")

    logical_and = logical_or = logical_xor = logical_not = logical
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _with

    def __rtruediv__(self, other: Any) -> _Words:
        return _Words("")

    def __neg__(self) -> _Words:
        return self


def takes_places(op: Op) -> bool | None:
    """Whether integer operands choose among floating elements; None without floating samples."""
    found: bool | None = None
    for dag in op_samples(op):
        for node in reachable(dag.outputs):
            if node.op is op and node.operands and node.dtype.kind == "f":
                kinds = {each.dtype.kind for each in node.operands}
                chosen = {"i", "f"} <= kinds and op.carries is not carries_aligned
                found = (chosen and op.follows is None) or bool(found)
    return found


def takes_square_alone(op: Op) -> bool | None:
    """Whether the first operand must be a square matrix; None if no sample takes a matrix."""
    found: bool | None = None
    for dag in op_samples(op):
        for node in reachable(dag.outputs):
            if (
                node.op is op
                and not node.params
                and len(node.operands) == 1
                and _is_matrix(node.operands[0])
            ):
                (operand,) = node.operands
                lead = operand.shape[:-2]
                found = not _infers(node, (*lead, 6, 7)) and _infers(node, (*lead, 7, 7))
    return found


def _is_matrix(node: Node) -> bool:
    return len(node.results) == 1 and node.ndim >= 2


def _infers(node: Node, shape: tuple[Any, ...]) -> bool:
    try:
        node.op.infer(node.operands[0].aval.with_shape(shape), **node.params)
    except SymgraphError:
        return False
    return True


def signed_zero(op: Op, place: int) -> bool:
    """Whether the sign of a zero operand changes the value of the result."""
    for case in cases(op):
        zero = np.zeros_like(case.operands[place])
        if not np.array_equal(case.at({place: zero}), case.at({place: -zero}), equal_nan=True):
            return True
    return False


# -- where elements go -----------------------------------------------------------------------------
def arrangements(op: Op) -> set[Arrangement]:
    """The arrangements of the first operand's elements that all samples share, of any dtype."""
    found = [_arranged(case) for case in cases_where(op, _has_array)]
    return set.intersection(*found) if found else set()


def _has_array(node: Node) -> bool:
    return len(node.results) == 1 and bool(node.operands) and node.dtype.kind != "b"


def _arranged(case: Case) -> set[Arrangement]:
    x, result = np.asarray(case.operands[0]), case(*case.operands)
    found: set[Arrangement] = set()
    with np.errstate(all="ignore"):
        alike = np.array_equal(result, x.astype(result.dtype)) and result.shape == x.shape
    if alike:
        found.add(Arrangement.CONVERTED)
    if x.dtype != result.dtype:
        return found
    if alike:
        found.add(Arrangement.SAME)
    if np.array_equal(x.ravel(), result.ravel()):
        found.add(Arrangement.REGROUPED)
    orders = permutations(range(x.ndim))
    if any(np.array_equal(np.transpose(x, order), result) for order in orders):
        found.add(Arrangement.PERMUTED)
    leading = x.ndim <= result.ndim and all(
        size in (1, whole) for size, whole in zip(x.shape[::-1], result.shape[::-1], strict=False)
    )
    if leading and np.array_equal(np.broadcast_to(x, result.shape), result):
        found.add(Arrangement.REPEATED)
    if (
        result.ndim == x.ndim + 1 > 1
        and result.shape[:-2] == x.shape[:-1]
        and any(
            np.array_equal(result, _on_diagonal(x, result, offset))
            for offset in range(1 - result.shape[-2], result.shape[-1])
        )
    ):
        found.add(Arrangement.DIAGONAL)
    return found


def _on_diagonal(x: Any, like: Any, offset: int) -> Any:
    """Zeros with the last axis of `x` on a diagonal; None where it is not as long."""
    out = np.zeros_like(like)
    for place in np.ndindex(x.shape[:-1]):
        row = np.diagonal(out[place], offset)
        if row.shape != x.shape[-1:]:
            return None
        count = np.arange(len(row))
        out[(*place, count + max(0, -offset), count + max(0, offset))] = x[place]
    return out
