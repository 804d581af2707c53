"""The array namespace that kernels are written against."""

from .namespace import NUMPY, Namespace

__all__ = ["NUMPY", "Namespace"]
