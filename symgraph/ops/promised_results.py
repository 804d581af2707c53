"""Results of a user's kernel, held against the shapes and dtypes that its graph was built with.

A graph is built, simplified and planned by the shapes that inference gave. A kernel whose result
has another one, as `x[x > 0]` has, would broadcast in silence to another number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..errors import BackendError
from ..ir.avals import Aval
from ..ir.dims import Shape, bind, show_shape
from ..ir.interning import params_key

__all__ = ["PromisedResults"]

Ndarray: TypeAlias = "np.ndarray[Any, Any]"
_Call: TypeAlias = "tuple[tuple[Aval, ...], tuple[Any, ...]]"

_MOST = 1_000
"""The most calls, and shapes of arrays, that are remembered of one operation."""


class PromisedResults:
    """The results that inference promised for calls of one operation.

    Parameters
    ----------
    name : str
        Of the operation.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._inferred: dict[_Call, tuple[Aval, ...]] = {}
        self._known: dict[tuple[Any, ...], list[list[Aval]]] = {}

    def note(
        self, avals: Sequence[Aval], params: Mapping[str, Any], found: Aval | tuple[Aval, ...]
    ) -> Aval | tuple[Aval, ...]:
        """Remember the results inferred for a call; they are given back."""
        call = (tuple(avals), params_key(params))
        if call not in self._inferred:
            if len(self._inferred) >= _MOST:
                self._inferred.clear()
            self._inferred[call] = found if isinstance(found, tuple) else (found,)
            self._known.clear()
        return found

    def checked(
        self, operands: Sequence[Any], params: Mapping[str, Any], results: Sequence[Any]
    ) -> list[Ndarray]:
        """The results as arrays of the dtypes promised for these operands.

        Raises
        ------
        BackendError
            If their number or a shape differs from what was promised, or a dtype that would lose
            digits. A number of Python's takes the dtype that was promised.
        """
        if not all(isinstance(each, (np.ndarray, np.generic)) for each in operands):
            return [np.asarray(each) for each in results]  # Called on numbers of Python's.
        given = params_key(params) if params else ()
        key = (given, *[(each.shape, each.dtype) for each in operands])
        promised = self._known.get(key)
        if promised is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            promised = self._known[key] = self._promised(operands, given)
        if promised and _are(results, promised[0]):
            return list(results)
        if not promised:
            return [np.asarray(each) for each in results]  # No graph counts on anything.
        fitting = next((each for each in promised if _fit(results, each)), None)
        if fitting is None:
            raise self._broken(results, promised[0])
        pairs = zip(results, fitting, strict=True)
        return [np.asarray(each, aval.dtype) for each, aval in pairs]

    def _promised(self, operands: Sequence[Ndarray], params: tuple[Any, ...]) -> list[list[Aval]]:
        """The results of all calls inferred that these operands fit."""
        found: list[list[Aval]] = []
        for (avals, given), results in list(self._inferred.items()):
            sizes: dict[str, int] = {}
            if given == params and len(avals) == len(operands):
                pairs = zip(avals, operands, strict=True)
                if all(a.dtype == x.dtype and bind(a.shape, x.shape, sizes) for a, x in pairs):
                    found.append([each.with_shape(_sized(each.shape, sizes)) for each in results])
        return found

    def _broken(self, results: Sequence[Any], promised: Sequence[Aval]) -> BackendError:
        def told(values: Sequence[Any]) -> str:
            return ", ".join(f"{each.dtype}{show_shape(each.shape)}" for each in values)

        return BackendError(
            f"The custom operation {self.name!r} gave {told([np.asarray(x) for x in results])}, "
            f"where the graph was built for {told(promised)}.",
            mend="Let shape and dtype of a result follow from those of the operands, not from "
            "their values, and state them by infer= where samples do not tell.",
        )


def _sized(shape: Shape, sizes: Mapping[str, int]) -> Shape:
    """The shape with the sizes that are known."""
    return tuple([dim if isinstance(dim, int) else sizes.get(str(dim), dim) for dim in shape])


def _are(results: Sequence[Any], promised: Sequence[Aval]) -> bool:
    """Whether the results are just as promised, which takes little time to tell."""
    if len(results) != len(promised):
        return False
    for each, aval in zip(results, promised, strict=True):
        if type(each) is not np.ndarray or each.shape != aval.shape or each.dtype != aval.dtype:
            return False
    return True


def _fit(results: Sequence[Any], promised: Sequence[Aval]) -> bool:
    """Whether results have the number and shapes that were promised, and dtypes that go there."""
    return len(results) == len(promised) and all(map(_fits, results, promised))


def _fits(result: object, aval: Aval) -> bool:
    casting = "same_kind" if type(result) in (bool, int, float) else "safe"
    array = np.asarray(result)
    return bind(aval.shape, array.shape, {}) and np.can_cast(array.dtype, aval.dtype, casting)
