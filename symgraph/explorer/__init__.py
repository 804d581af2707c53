"""The explorer: one page, in one file, that shows a graph and the derivation that led to it."""

from .page import Explorer, explorer

__all__ = ["Explorer", "explorer"]
