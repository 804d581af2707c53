"""The algebra: linear and multiplicative regions as sums of products over named indices.

A walk over the graph (`regions`) lifts its operations to expressions (`lifting`) in normal form
(`normal_form`, over terms and atoms of `expression`), or to quotients of polynomials (`rational`),
and writes them out again (`extraction`) where that is cheaper.
"""

from __future__ import annotations

from .regions.simplify import SMALL, RewriteLog, normalized

__all__ = ["SMALL", "RewriteLog", "normalized"]
