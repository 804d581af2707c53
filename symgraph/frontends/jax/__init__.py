"""JAX's functions as graphs, by way of their jaxprs.

`conversion` walks over a jaxpr, `control` has its loops, branches and functions with rules of their
own, and `table` says what each other primitive is here.
"""

from __future__ import annotations

from .entry import from_jax

__all__ = ["from_jax"]
