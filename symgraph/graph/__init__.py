"""The user's graph: traced, viewed, differentiated, simplified, saved and loaded."""

from .graph import Graph, diff

__all__ = ["Graph", "diff"]
