"""PyTorch's models as graphs, by way of `torch.export`.

`program` makes an exported program ready, `conversion` walks over it, and `table` says what each of
its operations is here.
"""

from __future__ import annotations

from .entry import from_torch

__all__ = ["from_torch"]
