"""The standard rule library, registered in the same way as a third party's.

Each file holds one family of identities. Linear and multiplicative identities (like terms, common
factors, cancellation, products of exponentials) are not here: the engine's algebra applies them.
"""

from symgraph.rewriting import RulePack

from . import (
    algebra,
    blocks,
    bounds,
    choice,
    comparison,
    contraction,
    diagonals,
    elementary,
    erf,
    exponential,
    gradient,
    indexing,
    inverses,
    lifting,
    linalg,
    movement,
    ordering,
    parity,
    probability,
    reduction,
    sigmoid,
    stability,
    trigonometric,
    truth_values,
    updates,
)

__all__ = ["PACK"]

PACK = RulePack.of(
    "standard",
    algebra,
    choice,
    bounds,
    comparison,
    truth_values,
    exponential,
    elementary,
    parity,
    trigonometric,
    reduction,
    ordering,
    movement,
    lifting,
    indexing,
    diagonals,
    updates,
    contraction,
    linalg,
    inverses,
    blocks,
    probability,
    stability,
    sigmoid,
    erf,
    gradient,
)
"""Every rule of the files above, in order."""
