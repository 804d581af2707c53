"""Equality saturation: the strategy `saturate`, over the rules that the greedy driver uses."""

from .search import SaturationBounds
from .strategy import axioms_besides, saturated

__all__ = ["SaturationBounds", "axioms_besides", "saturated"]
