"""The explorer: one page, in one file, that shows a graph and the derivation that led to it."""

from typing import TYPE_CHECKING

from ..lazy import lazy_getattr

if TYPE_CHECKING:
    from .page import Explorer, explorer

__all__ = ["Explorer", "explorer"]

__getattr__ = lazy_getattr(__name__, Explorer="page", explorer="page")
