"""The user's graph: traced, viewed, differentiated, simplified, saved and loaded."""

from .graph import Graph, SimplifyInterrupted, diff

__all__ = ["Graph", "SimplifyInterrupted", "diff"]
