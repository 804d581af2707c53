"""Equalities that only an e-graph can use, for a greedy driver would run in circles with them.

The algebra of `symgraph.algebra` knows most of these by its normal form. As there, sides are equal
in exact arithmetic and to rounding, but numbers near the ends of a dtype's range may overflow in
one order and not in another; what loses range for ordinary numbers, as log x + log y = log(x y), is
not here. None says commutativity: e-nodes of commutative operations are found in both orders.
"""

from ...rewriting import RulePack
from . import contractions, functions, products, sums

__all__ = ["AXIOMS"]

AXIOMS = RulePack.of("axioms", sums, products, functions, contractions)
"""Every rule of these files, in order."""
