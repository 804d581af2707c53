"""The explorer: one page, in one file, that shows a graph and the derivation that led to it."""

from typing import TYPE_CHECKING

from ..later import door

if TYPE_CHECKING:
    from .page import Explorer, explorer

__all__ = ["Explorer", "explorer"]

__getattr__ = door(__name__, Explorer="page", explorer="page")
