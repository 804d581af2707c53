"""All rows and refusals, and those rows that are not reached yet."""

from __future__ import annotations

from . import (
    Refusal,
    Row,
    algebra,
    choices,
    inverses,
    products,
    reads,
    reductions,
    shapes,
    stability,
    systems,
    writes,
)

__all__ = ["LEFT", "REFUSED", "ROWS"]

ROWS: list[Row] = [
    *algebra.ROWS,
    *inverses.ROWS,
    *stability.ROWS,
    *reductions.ROWS,
    *shapes.ROWS,
    *choices.ROWS,
    *reads.ROWS,
    *writes.ROWS,
    *products.ROWS,
    *systems.ROWS,
]
REFUSED: list[Refusal] = [
    *algebra.REFUSED,
    *inverses.REFUSED,
    *stability.REFUSED,
    *reductions.REFUSED,
    *choices.REFUSED,
    *writes.REFUSED,
    *products.REFUSED,
    *systems.REFUSED,
]

_PAIRS = "the pass that moves reads below takes places along one axis at a time"
_ANY = "a rule over any operation: the pattern language has none"
_NAN = "it is made at this trust where the operand is finite: zeros times NaN are NaN"
_FLOPS = "fewer flops, not fewer operations: the algebra and rules do not look for those"

LEFT: dict[str, str] = {
    "local_elemwise_alloc: what is repeated to a shape that the other operand has": _FLOPS,
    "ifelse_lift_single_if_through_acceptable_ops: a choice below an operation": _ANY,
    "local_advanced_subtensor_of_dot: places of a product, in pairs": _PAIRS,
    "local_extract_diag_lift: the diagonal of an elementwise operation": _PAIRS,
    "extract_diag_lift_pass: the diagonal of a product": _PAIRS,
    "dot_diag_to_elemwise: a matrix known to be diagonal": _NAN,
    "local_batched_matmul_to_core_matmul_with_reshape: a batch by one matrix, reshaped": _FLOPS,
    "selection_dot_to_indexing: rows of the identity select": _NAN,
    "kron_of_diagonal_to_diagonal: a Kronecker product of diagonal matrices": _NAN,
    "sum of a product (none has it): the sum of a product of matrices": _FLOPS,
}
"""Rows that are not reached, and what they wait for."""
