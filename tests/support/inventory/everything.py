"""All rows and refusals, and those rows that are not reached yet."""

from __future__ import annotations

from . import Refusal, Row, arrays, elementwise, indexing, matrices

__all__ = ["LEFT", "REFUSED", "ROWS"]

ROWS: list[Row] = [*elementwise.ROWS, *arrays.ROWS, *indexing.ROWS, *matrices.ROWS]
REFUSED: list[Refusal] = [
    *elementwise.REFUSED,
    *arrays.REFUSED,
    *indexing.REFUSED,
    *matrices.REFUSED,
]

_PAIRS = "the pass that moves reads below takes places along one axis at a time"
_ANY = "a rule over any operation: the pattern language has none"
_FLOPS = "fewer flops, not fewer operations: the algebra and rules do not look for those"
_SHAPES = "a rule that the verifier has no operands for"

LEFT: dict[str, str] = {
    "local_dimshuffle_lift: the same, of one operand and a number": _ANY,
    "local_dimshuffle_lift: an axis made and dropped around an elementwise operation": _ANY,
    "topological_second_sink: the same through several operations": _ANY,
    "local_join_of_alloc: a join of repeated numbers is a repeated join": _SHAPES,
    "local_elemwise_alloc: what is repeated to a shape that the other operand has": _FLOPS,
    "local_blockwise_alloc: inverses of a repeated matrix": _FLOPS,
    "local_cast_cast: elementwise single precision, widened and narrowed": _ANY,
    "ifelse_lift_single_if_through_acceptable_ops: a choice below an operation": _ANY,
    "local_adv_idx_to_diagonal: equal rows and columns are the diagonal": _SHAPES,
    "local_advanced_subtensor_of_dot: places of a product, in pairs": _PAIRS,
    "local_extract_diag_lift: the diagonal of an elementwise operation": _PAIRS,
    "extract_diag_lift_pass: the diagonal of a product": _PAIRS,
    "dot_diag_to_elemwise: a matrix known to be diagonal": _FLOPS,
    "local_batched_matmul_to_core_matmul_with_reshape: a batch by one matrix, reshaped": _FLOPS,
    "selection_dot_to_indexing: rows of the identity select": _FLOPS,
    "kron_of_diagonal_to_diagonal: a Kronecker product of diagonal matrices": _FLOPS,
    "block_diag_solve_to_block_diag_solves: a system of blocks": _SHAPES,
    "sum of a product (none has it): the sum of a product of matrices": _FLOPS,
}
"""Rows that are not reached, and what they wait for."""
