"""The user's graph: traced, viewed, differentiated, simplified, saved and loaded."""

from .graph import Graph, SimplifyInterrupted
from .views import diff, side_by_side

__all__ = ["Graph", "SimplifyInterrupted", "diff", "side_by_side"]
