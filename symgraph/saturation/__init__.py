"""Equality saturation: the strategy `saturate`, over the rules that the greedy driver uses."""

from typing import TYPE_CHECKING

from ..later import door
from .bounds import SaturationBounds

if TYPE_CHECKING:
    from .strategy import axioms_besides, saturated

__all__ = ["SaturationBounds", "axioms_besides", "saturated"]

__getattr__ = door(__name__, axioms_besides="strategy", saturated="strategy")
