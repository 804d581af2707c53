"""The algebra: linear and multiplicative regions as sums of products over named indices.

Regions are gathered (`regions`), put into normal form (`forms`, `normalize`), and written out again
(`printable`, `plan`, `extract`) where that is cheaper.
"""

from __future__ import annotations

from .simplify import SMALL, RewriteLog, normalized

__all__ = ["SMALL", "RewriteLog", "normalized"]
