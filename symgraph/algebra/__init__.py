"""The algebra: it rewrites regions of the graph as sums of products over named indices.

`regions` walks over the graph. `lifting` turns operations into expressions, `normal_form` brings
these to normal form, and `rational` turns them into quotients of polynomials. `expression` holds
terms and atoms. `extraction` writes an expression as operations again, where that is cheaper.
"""

from __future__ import annotations

from .regions.memory import Settlement
from .regions.replacements import RewriteLog
from .regions.walks import THOROUGH_UP_TO, normalized, settlement

__all__ = ["THOROUGH_UP_TO", "RewriteLog", "Settlement", "normalized", "settlement"]
