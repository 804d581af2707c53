"""The identities of products, in the order in which they are tried."""

from __future__ import annotations

from .array_identities import (
    antisymmetric_turned,
    cofactors_over_determinant,
    sign_over_magnitude,
    sign_times_value,
)
from .factor_identities import (
    factor_out_of_sum_of_exps,
    fraction_cleared,
    fraction_in_denominator,
    power_of_sum,
    product_of_exps,
    sum_and_its_root,
    sum_of_one_term,
)
from .identity_table import IdentityTable
from .sum_identities import (
    diagonal_of_identity,
    matrix_times_eigenvectors,
    matrix_times_inverse,
    orthogonal_rows,
    spectral_theorem,
    sum_of_constant,
    sum_of_unit_vector,
    sum_with_identity,
)

__all__ = ["IDENTITIES", "settled"]

IDENTITIES = (
    diagonal_of_identity,
    sum_with_identity,
    sum_of_constant,
    sum_of_unit_vector,
    orthogonal_rows,
    matrix_times_inverse,
    matrix_times_eigenvectors,
    spectral_theorem,
    factor_out_of_sum_of_exps,
    product_of_exps,
    sum_of_one_term,
    power_of_sum,
    fraction_cleared,
    fraction_in_denominator,
    sum_and_its_root,
    antisymmetric_turned,
    sign_times_value,
    sign_over_magnitude,
    cofactors_over_determinant,
)

settled = IdentityTable(IDENTITIES)
