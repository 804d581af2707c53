"""Equality saturation: the strategy `saturate`, over the rules that the greedy driver uses."""

from .search import SaturationBounds
from .strategy import saturated

__all__ = ["SaturationBounds", "saturated"]
