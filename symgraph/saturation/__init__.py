"""Equality saturation: the strategy `saturate`, over the rules that the greedy driver uses."""

from typing import TYPE_CHECKING

from ..lazy import lazy_getattr
from .bounds import SaturationBounds

if TYPE_CHECKING:
    from .strategy import axioms_besides, saturated

__all__ = ["SaturationBounds", "axioms_besides", "saturated"]

__getattr__ = lazy_getattr(__name__, axioms_besides="strategy", saturated="strategy")
