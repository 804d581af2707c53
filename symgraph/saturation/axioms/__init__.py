"""Equalities that only an e-graph can use, for a greedy driver would run in circles with them.

The normal form of `symgraph.algebra` covers most of them. As there, the two sides are equal in
exact arithmetic and to rounding, but numbers near the ends of a dtype's range may overflow in one
order and not in another. Equalities that lose range for ordinary numbers, such as
log x + log y = log(x y), are not here. None states commutativity: e-nodes of commutative operations
are matched in both orders.
"""

from ...rewriting import RulePack
from . import contractions, functions, products, sums

__all__ = ["AXIOMS"]

AXIOMS = RulePack.of("axioms", sums, products, functions, contractions)
"""Every rule of these files, in order."""
