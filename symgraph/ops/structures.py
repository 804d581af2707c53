"""Structure facts of the results of elementwise operations: symmetry and zeros."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .. import facts as f
from ..facts import Fact
from ..ir.dims import known_equal
from ..ir.fact_inference import Known
from ..ir.node import Node

__all__ = [
    "structure",
    "structure_of_difference",
    "structure_of_product",
    "structure_of_quotient",
    "structure_of_sum",
    "unshaped",
    "with_parity",
]

_ZERO_PATTERNS = (f.diagonal, f.triangular("lower"), f.triangular("upper"))


def _is_scalar(x: Known) -> bool:
    return all(dim == 1 for dim in x.aval.shape[-2:])


def _same_matrix(x: Known, others: Sequence[Known]) -> bool:
    """Whether broadcasting x against the others repeats no row or column of x."""
    shape = x.aval.shape[-2:]
    if len(others) == 1 and others[0].aval.shape == shape:
        return len(shape) == 2
    return len(shape) == 2 and all(
        dim == 1 or known_equal(dim, own)
        for other in others
        for dim, own in zip(reversed(other.aval.shape), reversed(shape), strict=False)
    )


def with_parity(rule: Callable[..., Iterable[Fact]], parity: int) -> Callable[..., Iterable[Fact]]:
    """Extend a fact rule by the structure that an even (1) or odd (-1) function keeps."""
    mirrored = f.symmetric if parity > 0 else f.antisymmetric

    def facts(x: Known, **params: object) -> Iterable[Fact]:
        yield from rule(x, **params)
        if x.has(f.antisymmetric):
            yield mirrored

    return facts


def structure(*known: Known, zero_at_zero: bool = False) -> Iterable[Fact]:
    """Symmetry and zero patterns of an elementwise function of matrices and scalars."""
    for each in known:
        if each.has(f.symmetric):
            if all(other.has(f.symmetric) or _is_scalar(other) for other in known):
                yield f.symmetric
            break
    if zero_at_zero:
        yield from (pattern for pattern in _ZERO_PATTERNS if known[0].has(pattern))


def structure_of_sum(x: Known, y: Known) -> Iterable[Fact]:
    """Structure of x + y: the patterns that both have; x + xᵀ is symmetric."""
    yield from _structure_of_both(x, y)
    if _transposes(x, y):
        yield f.symmetric


def structure_of_difference(x: Known, y: Known) -> Iterable[Fact]:
    """Structure of x - y: the patterns that both have; x - xᵀ is antisymmetric."""
    yield from _structure_of_both(x, y)
    if _transposes(x, y):
        yield f.antisymmetric


def _structure_of_both(x: Known, y: Known) -> Iterable[Fact]:
    """Patterns of a sum or difference that both operands have."""
    yield from structure(x, y)
    if x.has(f.antisymmetric) and y.has(f.antisymmetric):
        yield f.antisymmetric
    if _same_matrix(x, (y,)) and _same_matrix(y, (x,)):
        yield from (each for each in _ZERO_PATTERNS if x.has(each) and y.has(each))


def structure_of_product(x: Known, y: Known) -> Iterable[Fact]:
    """Structure of the elementwise product: zero where a factor is."""
    yield from structure(x, y)
    yield from _signed_structure(x, y)
    yield from _signed_structure(y, x)
    if _transposes(x, y):
        yield f.symmetric
    for one, other in ((x, y), (y, x)):
        if _same_matrix(one, (other,)):
            yield from (each for each in _ZERO_PATTERNS if one.has(each))


def structure_of_quotient(x: Known, y: Known) -> Iterable[Fact]:
    """Structure of x / y: zero where x is."""
    yield from structure(x, y)
    yield from _signed_structure(x, y)
    if _same_matrix(x, (y,)):
        yield from (each for each in _ZERO_PATTERNS if x.has(each))


def _signed_structure(x: Known, y: Known) -> Iterable[Fact]:
    """Structure of x * y or x / y for an antisymmetric x."""
    if not x.has(f.antisymmetric):
        return
    if y.has(f.antisymmetric):
        yield f.symmetric
    elif y.has(f.symmetric) or _is_scalar(y):
        yield f.antisymmetric


def _transposes(x: Known, y: Known) -> bool:
    """Whether one value is the other with its last two axes exchanged."""
    if x.aval.ndim <= 2 and _is_row_of(x, y):
        return True
    if y.aval.ndim <= 2 and _is_row_of(y, x):
        return True
    if x.aval.ndim < 2:
        return False
    for one, other in ((x.node, y.node), (y.node, x.node)):
        if one.op.name == "transpose" and one.operands[0] is other:
            axes = tuple(one.params.get("axes", ()))
            return axes[-2:] == (-1, -2) and axes[:-2] == tuple(range(-len(axes), -2))
    return False


def _is_row_of(x: Known, y: Known) -> bool:
    """Whether x and y lay out the same elements, as a row and as a column."""
    column, row = y.aval.shape, x.aval.shape
    if len(column) != 2 or column[1] != 1 or row not in (column[:1], (1, *column[:1])):
        return False
    return unshaped(x.node) is unshaped(y.node)


def unshaped(node: Node) -> Node:
    """The value before it was laid out as a row or a column."""
    while True:
        laid = node.op.name == "reshape" or (node.op.name == "getitem" and _is_whole(node))
        if not laid and not (node.op.name == "transpose" and node.ndim == 2 and 1 in node.shape):
            return node
        node = node.operands[0]


def _is_whole(node: Node) -> bool:
    """Whether an index keeps all elements in order and gives new axes at most."""
    index = node.params["index"]
    return all(part in (None, (None, None, 1)) for part in index)
