"""A search for operands on which a pattern can be built, one operand at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..array import Array
from ..errors import SymgraphError
from ..ir.traits import Arrangement, Matrices
from ..rewriting.pattern import OpPattern, Pattern, instantiated, subterms, variables_of

__all__ = ["OperandSearch"]

Shape: TypeAlias = tuple[int, ...]
Operand: TypeAlias = Callable[[str, Shape, Mapping[str, Any]], Array]

_SHAPES: tuple[Shape, ...] = (
    *product((1, 2, 3), repeat=2),
    *((2, *matrix) for matrix in product((1, 2), repeat=2)),
    *((), (2,), (3,)),
)
_OF_SYSTEMS: tuple[Shape, ...] = (*_SHAPES, (4,), (4, 2))
_OF_PRODUCTS: tuple[Shape, ...] = (*_OF_SYSTEMS, (6,), (6, 2), (0,), (0, 2), (2, 0))
_STEPS = 80
"""The search gives up after so many operands."""


class OperandSearch:
    """A search for operands of a pattern: shapes of many operands seldom fit by chance.

    Parameters
    ----------
    pattern : Pattern
    names : sequence of str
        Its variables, in the order in which they are chosen.
    operand : callable
        `operand(name, shape, env)` gives an operand for a variable, of this shape if possible;
        `env` holds the params and operands chosen so far.
    rng : numpy.random.Generator
    """

    def __init__(
        self, pattern: Pattern, names: Sequence[str], operand: Operand, rng: np.random.Generator
    ) -> None:
        self.names = names
        self.operand = operand
        self.rng = rng
        terms = [part for part in subterms(pattern) if isinstance(part, OpPattern)]
        # The blocks of a square matrix are mostly square as well.
        self.of_squares = any(
            term.op.traits.matrices in (Matrices.SQUARE, Matrices.DEFINITE) for term in terms
        )
        self.shapes = _OF_SYSTEMS if self.of_squares else _SHAPES
        regrouped = any(term.op.traits.arrangement is Arrangement.REGROUPED for term in terms)
        if regrouped and any(
            term.op.traits.matrices is not None and len(term.operands) > 1 for term in terms
        ):
            self.shapes = _OF_PRODUCTS  # the sides of a Kronecker product are products of lengths
        self.ready: list[list[OpPattern]] = [[] for _ in names]
        places = {name: place for place, name in enumerate(names)}
        for part in subterms(pattern):
            needed = [places[name] for name in variables_of(part) if name in places]
            if isinstance(part, OpPattern) and needed:
                self.ready[max(needed)].append(part)

    def found(self, env: dict[str, Any]) -> bool:
        """Put an operand for each variable into `env`, which holds the params; False if none fit.

        The search is depth first.
        """
        squares = self.of_squares and bool(self.rng.integers(2))
        waiting = [self._drawn(squares)]
        for _ in range(_STEPS):
            while waiting and not waiting[-1]:
                waiting.pop()
            if not waiting:
                return False
            if not self._fits(len(waiting) - 1, waiting[-1].pop(), env):
                continue
            if len(waiting) == len(self.names):
                return True
            waiting.append(self._drawn(squares))
        return False

    def _drawn(self, squares: bool) -> list[Shape]:
        """Shapes to try, the last one first; with `squares`, square ones before all others."""
        drawn = [self.shapes[place] for place in self.rng.permutation(len(self.shapes))]
        return sorted(drawn, key=_is_square) if squares else drawn

    def _fits(self, place: int, shape: Shape, env: dict[str, Any]) -> bool:
        """Whether all parts of the pattern that this operand completes can be built."""
        name = self.names[place]
        try:
            env[name] = self.operand(name, shape, env)
            for part in self.ready[place]:
                instantiated(part, env, {})
        except (SymgraphError, ValueError, IndexError, TypeError):
            return False
        return True


def _is_square(shape: Shape) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2]
