"""Statements as a loop over elements sees them: operations on elements of operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..ir.avals import Aval
from ..ir.traits import Arrangement
from ..lowering.drafts import Draft
from ..lowering.shapes import dtypes_in_loop, ufunc_named
from ..lowering.source_pieces import Alias, Tabled
from ..namespace import NUMPY
from ..records import record
from .operations import LIBRARY, OPERATIONS, REDUCTIONS, Reduction, kind_of, powers
from .writer import Code, Value

__all__ = ["Number", "Reading", "reading_of"]


@record
class Number:
    """A number of the program's text."""

    value: Any
    dtype: np.dtype[Any]


@record
class Reading:
    """A statement that a loop can compute.

    Parameters
    ----------
    draft : Draft
    result : Aval
    operands : tuple of str or Number
    kinds : tuple of str
        The kind that each operand is cast to.
    function : callable, optional
        Of the code and the operands; None if the statement only looks at its operand in another
        shape, or if it reduces.
    reduction : Reduction, optional
    axes : frozenset of int
        The axes that are reduced, counted from the first.
    kept : bool
        Whether reduced axes stay, with length 1.
    initial : float, optional
        Takes part in the reduction.
    places : tuple of int or None
        For another shape: the axis of the operand that each axis of the result is.
    heavy : bool
        Whether computing it twice costs more than to store it.
    repeats : bool
        Whether the result has the numbers of its operand several times.
    """

    draft: Draft
    result: Aval
    operands: tuple[str | Number, ...]
    kinds: tuple[str, ...]
    function: Callable[..., Value] | None = None
    reduction: Reduction | None = None
    axes: frozenset[int] = frozenset()
    kept: bool = False
    initial: float | None = None
    places: tuple[int | None, ...] = ()
    heavy: bool = False
    repeats: bool = False

    @property
    def target(self) -> str:
        return self.draft.target

    @property
    def names(self) -> tuple[str, ...]:
        return tuple([each for each in self.operands if isinstance(each, str)])


class _Left(Exception):
    """The statement is left to NumPy."""


_LIGHT = frozenset(
    """
    np.absolute np.add np.bitwise_and np.bitwise_or np.bitwise_xor np.equal np.fabs np.greater
    np.greater_equal np.invert np.isfinite np.isinf np.isnan np.less np.less_equal np.logical_and
    np.logical_not np.logical_or np.logical_xor np.maximum np.minimum np.multiply np.negative
    np.not_equal np.positive np.signbit np.square np.subtract
    """.split()  # noqa: SIM905
)
"""Operations of an instruction or two."""


def reading_of(
    draft: Draft, avals: Mapping[str, Aval], numbers: Mapping[str, Number]
) -> Reading | None:
    """The statement as a loop sees it; None if it is left to NumPy.

    Parameters
    ----------
    draft : Draft
    avals : mapping of str to Aval
        Of all values.
    numbers : mapping of str to Number
        The constants that are one number.
    """
    call = draft.line.call
    if call is None or not draft.target or len(draft.line.avals) != 1 or draft.named:
        return None
    if draft.node.op.custom or kind_of(draft.line.avals[0].dtype) is None:
        return None
    try:
        return _Reader(draft, avals, numbers).reading()
    except (_Left, KeyError, TypeError):
        return None


class _Reader:
    def __init__(
        self, draft: Draft, avals: Mapping[str, Aval], numbers: Mapping[str, Number]
    ) -> None:
        call = draft.line.call
        assert call is not None
        self.draft, self.call, self.avals = draft, call, avals
        self.result = draft.line.avals[0]
        names = iter([e for e in draft.pieces if isinstance(e, str) and e in draft.names])
        self.operands: list[str | Number] = []
        # A small array is repeated by a product with ones; a large one is a view.
        repeated = draft.node.op.traits.arrangement is Arrangement.REPEATED
        self.repeats = repeated and call.function == "np.multiply"
        for each in call.args[:1] if self.repeats else call.args:
            if each is None:
                name = next(names)
                self.operands.append(numbers.get(name, name))
            elif isinstance(each, Tabled):
                self.operands.append(self._number(np.asarray(each.value)))
            elif type(each) in (bool, int, float):
                self.operands.append(Number(each, np.dtype(type(each))))
        if next(names, None) is not None:
            raise _Left

    def _number(self, value: np.ndarray[Any, Any]) -> Number:
        if value.shape:
            raise _Left
        return Number(value.item(), value.dtype)

    def _aval(self, operand: str | Number) -> Aval:
        return self.avals[operand] if isinstance(operand, str) else Aval(operand.dtype, ())

    def reading(self) -> Reading:
        name = self.call.function
        if self.repeats:
            return self._repeated()
        if name in REDUCTIONS or name == "np.mean":
            return self._reduced(name)
        if name == "np.reshape":
            return self._reshaped()
        if name == "np.where":
            return self._chosen()
        if name == ".astype":
            return self._cast()
        if len(self.operands) != len(self.call.args) or self.call.kwargs:
            raise _Left
        return self._elementwise(name)

    def _repeated(self) -> Reading:
        kind = self._kind(self.result.dtype)
        read = self._read((kind,), Code.wide, False)
        return replace(read, repeats=True)

    def _kind(self, dtype: np.dtype[Any]) -> str:
        found = kind_of(dtype)
        if found is None:
            raise _Left
        return found

    def _read(self, kinds: tuple[str, ...], function: Callable[..., Value], heavy: bool) -> Reading:
        for each in self.operands:
            self._kind(self._aval(each).dtype)
        return Reading(self.draft, self.result, tuple(self.operands), kinds, function, heavy=heavy)

    def _elementwise(self, name: str) -> Reading:
        ufunc = ufunc_named(name, NUMPY.special if name.startswith("special.") else None)
        if ufunc is None or ufunc.nin != len(self.operands):
            raise _Left
        logical = name.startswith("np.logical_")
        dtypes = dtypes_in_loop(ufunc, [self._aval(each) for each in self.operands])
        if dtypes is None or dtypes[-1] != self.result.dtype:
            raise _Left
        kinds = tuple(["i1" if logical else self._kind(each) for each in dtypes[:-1]])
        family = kinds[0][0] if kinds[0] != "i1" else "b"
        found = OPERATIONS.get(name)
        if found is not None and family in found[0]:
            return self._read(kinds, found[1], name not in _LIGHT)
        if name == "np.power" and isinstance(self.operands[1], Number) and family == "f":
            function = powers(float(self.operands[1].value))
            if function is not None:
                return self._read(kinds, lambda c, x, _: function(c, x), True)
        library = LIBRARY.get(name)
        if library is None or {*kinds} != {"f64"} or self.result.shape:
            raise _Left
        return self._read(kinds, lambda c, *x: c.each_lane(x, library), True)

    def _chosen(self) -> Reading:
        if len(self.operands) != 3 or self._aval(self.operands[0]).dtype != np.dtype("bool"):
            raise _Left
        kind = self._kind(self.result.dtype)
        return self._read(("i1", kind, kind), Code.select, False)

    def _cast(self) -> Reading:
        (operand,) = self.operands
        source, kind = self._kind(self._aval(operand).dtype), self._kind(self.result.dtype)
        if source[0] == "f" and kind[0] == "i" and kind != "i1":
            raise _Left  # NumPy says nothing of floats that no integer is.
        return self._read((kind,), lambda c, x: x, False)

    def _reduced(self, name: str) -> Reading:
        kwargs = dict(self.call.kwargs)
        given, kept = kwargs.pop("axis", None), bool(kwargs.pop("keepdims", False))
        initial = cast("float | None", kwargs.pop("initial", None))
        if kwargs or len(self.operands) != 1 or not isinstance(self.operands[0], str):
            raise _Left
        aval = self.avals[self.operands[0]]
        kind = self._kind(aval.dtype)
        if aval.dtype != self.result.dtype or kind == "i1":
            raise _Left
        mean = name == "np.mean"
        if mean or (name == "np.add.reduce" and initial is not None):
            raise _Left
        axes = self._axes(given, aval.ndim)
        if not axes:
            raise _Left
        reduction = REDUCTIONS[name]
        if not reduction.sums and initial is None:
            sizes = [aval.shape[each] for each in axes]
            if not all(isinstance(each, int) and each > 0 for each in sizes):
                raise _Left  # Of no elements NumPy has no maximum.
        return Reading(
            self.draft,
            self.result,
            tuple(self.operands),
            (kind,),
            reduction=reduction,
            axes=axes,
            kept=kept,
            initial=initial,
            heavy=True,
        )

    def _axes(self, given: object, ndim: int) -> frozenset[int]:
        if given is None:
            return frozenset(range(ndim))
        axes = cast("tuple[int, ...]", given if isinstance(given, tuple) else (given,))
        return frozenset([each % ndim for each in axes])

    def _reshaped(self) -> Reading:
        """A reshape that adds and removes axes of length one only."""
        names = [each for each in self.operands if isinstance(each, str)]
        if len(names) != 1 or self.draft.line.aliases not in ((Alias.RESHAPE,), (Alias.WHOLE,)):
            raise _Left
        old, new = self.avals[names[0]].shape, self.result.shape
        places: list[int | None] = []
        i = j = 0
        while i < len(old) or j < len(new):
            if i < len(old) and j < len(new) and old[i] == new[j]:
                places.append(i)
                i, j = i + 1, j + 1
            elif i < len(old) and old[i] == 1:
                i += 1
            elif j < len(new) and new[j] == 1:
                places.append(None)
                j += 1
            else:
                raise _Left
        kind = self._kind(self.result.dtype)
        return Reading(self.draft, self.result, (names[0],), (kind,), places=tuple(places))
