"""Why a program for autograd is none for symgraph: the reasons that a runner may tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ComplexNumber", "Internal", "internal", "no_complex"]


class Internal(Exception):
    """A part of autograd's own machinery is asked for."""


class ComplexNumber(TypeError):
    """A complex number is differentiated."""


def internal(name: str) -> Callable[..., Any]:
    """A stand-in for what symgraph does not have, for it is no part of its idea."""

    def refused(*_operands: Any, **_params: Any) -> Any:
        raise Internal(name)

    refused.__name__ = refused.__qualname__ = name.rpartition(".")[2]
    return refused


def no_complex(leaves: Any) -> None:
    """Raise if one of the leaves is complex."""
    for leaf in leaves:
        dtype = getattr(leaf, "dtype", None)
        if isinstance(leaf, complex) or (dtype is not None and dtype.kind == "c"):
            raise ComplexNumber("a complex number is differentiated")
