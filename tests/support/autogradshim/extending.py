"""`autograd.extend`: functions with derivatives of one's own, as custom operations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph as sg

from .numpynames import holds_symbol

__all__ = ["defvjp", "primitive"]

_names: list[str] = []
"""Names of operations that were made, each with a number of its own."""


class primitive:  # autograd's name
    """A function that is one operation to symgraph; its pullbacks are told by `defvjp`."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.__name__ = getattr(fun, "__name__", "fun")
        self.pullbacks: dict[int, Any] = {}

    def __call__(self, *operands: Any, **params: Any) -> Any:
        if not holds_symbol((operands, params)):
            return self.fun(*operands, **params)

        def rule(place: int) -> Any:
            maker = self.pullbacks.get(place)
            if maker is None:
                raise NotImplementedError(f"no pullback of argument {place} of {self.__name__}")
            return lambda ct, out, *given: maker(out, *given, **params)(ct)

        def kernel(*given: Any) -> Any:
            return np.asarray(self.fun(*given, **params))

        _names.append(f"primitive_{len(_names)}")
        op = sg.custom_op(
            kernel,
            name=_names[-1],
            vjp=tuple([rule(place) for place in range(len(operands))]),
        )
        return op(*operands)


def defvjp(fun: primitive, *makers: Any, argnums: Any = None) -> None:
    """Tell the pullbacks: `maker(ans, *args)` gives the function of the cotangent."""
    fun.pullbacks.update(zip(argnums or itertools.count(), makers, strict=False))
