"""Identities of products that are summed: identity matrices, constants, orthogonal matrices."""

from __future__ import annotations

from collections.abc import Iterator

from ...array import Array
from ...facts import positive_definite
from ...ir.dims import Dim
from ...ir.node import make
from ...ops.linalg import inv
from ...ops.results import PROJECT
from ...ops.spectral import EIGH
from ..expression.atoms import one
from ..expression.exact_numbers import Coef, times
from ..expression.term import DELTA, LEAF
from .arithmetic import Arithmetic
from .factors import (
    Bound,
    Factors,
    Product,
    RawFactor,
    renamed_factor,
    sums_to_one,
)
from .identity_table import identity, others, without
from .index_renaming import reclosed

__all__ = [
    "diagonal_of_identity",
    "matrix_times_eigenvectors",
    "matrix_times_inverse",
    "orthogonal_rows",
    "spectral_theorem",
    "sum_of_constant",
    "sum_of_unit_vector",
    "sum_with_identity",
]


# -- identity matrices -----------------------------------------------------------------------------
@identity(DELTA)
def diagonal_of_identity(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\delta_{ii} = 1$."""
    for slot in factors:
        atom, idx, power = slot
        if atom.kind == DELTA and power > 0 and idx[0] == idx[1]:
            return one, others(factors, slot), bound
    return None


@identity(DELTA, summed=True)
def sum_with_identity(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_j \delta_{ij} x_j = x_i$."""
    for slot in factors:
        atom, idx, power = slot
        if atom.kind != DELTA or power < 0:
            continue  # 1 / delta is infinite off the diagonal
        i, j = idx
        gone, kept = (i, j) if i in bound else (j, i)
        if gone not in bound:
            continue
        coef: Coef = 1
        renamed: Factors = []
        for other in others(factors, slot):
            by, flat = reclosed(normal, renamed_factor(other, {gone: kept}))
            coef, renamed = times(coef, by), renamed + flat
        return coef, renamed, without(bound, [gone])
    return None


# -- indices that are summed over ------------------------------------------------------------------
@identity(summed=True)
def sum_of_constant(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_{i=1}^n x = n x$."""
    used = {index for slot in factors for index in slot[1]}
    for index, size in bound.items():
        if index not in used:
            left = without(bound, [index])
            if isinstance(size, int):
                return size, factors, left
            return one, [*factors, (normal.atoms.dim(size), (), one)], left
    return None


@identity(summed=True)
def sum_of_unit_vector(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_i p_i = 1$ for probabilities, and $\sum_i u_i^2 = 1$ for a unit vector."""
    for index in bound:
        users = [slot for slot in factors if index in slot[1]]
        if len(users) == 1 and sums_to_one(users[0], index):
            return one, others(factors, *users), without(bound, [index])
    return None


@identity(summed=True)
def orthogonal_rows(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_k Q_{ki} Q_{kj} = \delta_{ij}$ for an orthogonal matrix."""
    for index, users in _pairs(factors, bound):
        (atom, idx, power), (other, at, power2) = users
        if atom is not other or not atom.orthogonal or power != 1 or power2 != 1:
            continue
        place = idx.index(index)
        if at.index(index) != place or index in (idx[1 - place], at[1 - place]):
            continue
        delta = _delta(normal, atom.sizes[0], idx[1 - place], at[1 - place])
        return one, [*others(factors, *users), delta], without(bound, [index])
    return None


@identity(inv.op, summed=True)
def matrix_times_inverse(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_k A_{ik} (A^{-1})_{kj} = \delta_{ij}$, if the inverse is known to exist."""
    for index, users in _pairs(factors, bound):
        for (atom, idx, power), (other, at, power2) in (users, users[::-1]):
            if atom.kind != LEAF or other.kind != LEAF or atom.node.op is not inv.op:
                continue
            if atom.node.operands[0] is not other.node or power != 1 or power2 != 1:
                continue
            place, there = idx.index(index), at.index(index)
            if len(idx) != 2 or index in (idx[1 - place], at[1 - there]):
                continue
            if (place != there or other.symmetric) and (atom.total or atom.granted()):
                delta = _delta(normal, atom.sizes[0], idx[1 - place], at[1 - there])
                return one, [*others(factors, *users), delta], without(bound, [index])
    return None


@identity(PROJECT, summed=True)
def spectral_theorem(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_k V_{ik} \lambda_k V_{jk} = A_{ij}$ of a symmetric matrix.

    With $1 / \lambda_k$ it is the inverse, which is taken if A is known to be definite.
    """
    for index in bound:
        users = [slot for slot in factors if index in slot[1]]
        values = [slot for slot in users if slot[1] == (index,) and _result_of_eigh(slot, 0)]
        vectors = [slot for slot in users if slot[2] == 1 and _result_of_eigh(slot, 1)]
        if len(users) != 3 or len(values) != 1 or len(vectors) != 2:
            continue
        (system, *more) = {slot[0].node.operands[0] for slot in users}
        (i, first), (j, second) = vectors[0][1], vectors[1][1]
        if more or not first == second == index or index in (i, j):
            continue
        matrix, power = normal.atoms.leaf(system.operands[0]), values[0][2]
        if power == -1 and positive_definite in normal.atoms.knowledge.of(system.operands[0]):
            matrix = normal.atoms.leaf(inv(Array(system.operands[0])).node)
        elif power != 1 or not matrix.symmetric:
            continue
        return one, [*others(factors, *users), (matrix, (i, j), one)], without(bound, [index])
    return None


@identity(PROJECT, summed=True)
def matrix_times_eigenvectors(normal: Arithmetic, factors: Factors, bound: Bound) -> Product | None:
    r"""$\sum_j A_{ij} V_{jk} = V_{ik} \lambda_k$ of a symmetric matrix."""
    for index, users in _pairs(factors, bound):
        for (atom, idx, power), (vectors, at, power2) in (users, users[::-1]):
            if power != 1 or power2 != 1 or not _result_of_eigh((vectors, at, power2), 1):
                continue
            system = vectors.node.operands[0]
            if atom.kind != LEAF or atom.node is not system.operands[0] or not atom.symmetric:
                continue
            if at[0] != index or index in (at[1], idx[1 - idx.index(index)]):
                continue
            values = normal.atoms.leaf(make(PROJECT, (system,), {"index": 0}))
            other = idx[1 - idx.index(index)]
            new: Factors = [(vectors, (other, at[1]), one), (values, (at[1],), one)]
            return one, [*others(factors, *users), *new], without(bound, [index])
    return None


def _result_of_eigh(slot: RawFactor, number: int) -> bool:
    """Whether a factor is the eigenvalues of a matrix, 0, or its eigenvectors, 1."""
    atom, idx, _ = slot
    if atom.kind != LEAF or atom.node.op is not PROJECT or len(idx) != number + 1:
        return False
    return atom.node.params["index"] == number and atom.node.operands[0].op is EIGH


def _pairs(factors: Factors, bound: Bound) -> Iterator[tuple[int, Factors]]:
    """Each bound index that occurs in exactly two factors, with the two."""
    for index in bound:
        users = [slot for slot in factors if index in slot[1]]
        if len(users) == 2:
            yield index, users


def _delta(normal: Arithmetic, size: Dim, i: int, j: int) -> RawFactor:
    return normal.atoms.delta(size), (min(i, j), max(i, j)), one
