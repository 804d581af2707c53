"""Which statements can be computed a block of rows at a time, and how.

Row `i` of the result depends on row `i` of each operand that has rows, and on the whole of the
others; or the result is a sum (a maximum, a minimum) over the rows, and those of the blocks are
combined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, cast

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..records import record
from .drafts import Draft
from .source_pieces import Alias, Call

__all__ = ["Step", "candidates", "step_of"]

_LEAST_ROWS = 32
"""An axis shorter than this is not cut into blocks."""
_COMBINED = {
    "np.add.reduce": "np.add",
    "np.maximum.reduce": "np.maximum",
    "np.minimum.reduce": "np.minimum",
}
"""The ufunc that combines the reductions of two blocks."""
_WIDEST = 1024
"""Bytes of a row of two matrices, up to which their product over the rows is summed by blocks: a
block has at least 128 rows then, and adding its product costs little beside the product."""


@record
class Step:
    """How a statement is computed by blocks.

    Parameters
    ----------
    axis : int or None
        The axis of the rows of its result, counted from the last.
    operands : mapping of str to int
        The axis of the rows of each operand that has rows.
    combined : str
        The ufunc that combines the results of the blocks, if the result has no rows.
    multiplied : str
        The matrix that is multiplied by a vector, if there is one.
    index : str
        The index that gives the result, if it is a view of the operand: a shape would name the
        number of all rows.
    """

    axis: int | None
    operands: Mapping[str, int] = field(default_factory=dict[str, int])
    combined: str = ""
    multiplied: str = ""
    index: str = ""


class _Apart(Exception):
    """The statement cannot be computed by blocks of these rows."""


def step_of(
    draft: Draft, dim: Dim, inside: Mapping[str, int], avals: Mapping[str, Aval]
) -> Step | None:
    """How a statement is computed by blocks; None if it is not.

    Parameters
    ----------
    draft : Draft
    dim : Dim
        The number of rows.
    inside : mapping of str to int
        The values computed by the loop before it, with the axis of their rows.
    avals : mapping of str to Aval
        Of all values.
    """
    call = draft.line.call
    if call is None or len(draft.line.avals) != 1 or draft.named or draft.node.op.custom:
        return None
    try:
        return _Reader(draft, call, dim, inside, avals).step()
    except (_Apart, KeyError):
        return None


def candidates(draft: Draft, avals: Mapping[str, Aval]) -> list[Dim]:
    """The dimensions that may be the rows of a first statement, the best first."""
    shapes = [draft.line.avals[0].shape] if len(draft.line.avals) == 1 else []
    shapes += [avals[name].shape for name in draft.names if name in avals]
    found: dict[Dim, None] = {}
    # The first axis of the widest array: its rows lie one after the other in memory.
    for shape in sorted(shapes, key=lambda each: -len(each)):
        for dim in shape:
            if not isinstance(dim, int) or dim >= _LEAST_ROWS:
                found[dim] = None
    return list(found)


class _Reader:
    def __init__(
        self,
        draft: Draft,
        call: Call,
        dim: Dim,
        inside: Mapping[str, int],
        avals: Mapping[str, Aval],
    ) -> None:
        self.draft, self.call, self.dim, self.inside, self.avals = draft, call, dim, inside, avals
        self.result = draft.line.avals[0]
        # In the order of the arguments; one may stand twice.
        self.order = [
            each for each in draft.pieces if isinstance(each, str) and each in draft.names
        ]

    def step(self) -> Step:
        function = self.call.function
        if self.draft.line.out or function in ("np.where", "xp.chosen", ".astype"):
            return self._elementwise()
        if function in _COMBINED or function == "xp.row_sums":
            return self._reduced()
        if function == "np.vecdot":
            return self._dotted()
        if function == "np.matmul":
            return self._product()
        if function in ("np.transpose", "np.matrix_transpose"):
            return self._transposed()
        if function == "np.reshape":
            return self._reshaped()
        if function == "np.concatenate":
            return self._joined()
        raise _Apart

    def _axis(self, name: str, axis: int) -> int | None:
        """`axis` if an operand has its rows there, None if it has none."""
        known = self.inside.get(name)
        if known is not None:
            if known != axis:
                raise _Apart
            return axis
        shape = self.avals[name].shape
        if len(shape) < -axis or shape[axis] == 1:
            return None
        if shape[axis] != self.dim:
            raise _Apart
        return axis

    def _operands(self, axes: Mapping[str, int]) -> dict[str, int]:
        found = {name: self._axis(name, axis) for name, axis in axes.items()}
        return {name: axis for name, axis in found.items() if axis is not None}

    def _first_axis(self, shape: tuple[Dim, ...]) -> int:
        for axis in range(-len(shape), 0):
            if shape[axis] == self.dim:
                return axis
        raise _Apart

    def _elementwise(self) -> Step:
        axes = {self.inside[name] for name in self.draft.names if name in self.inside}
        if len(axes) > 1:
            raise _Apart
        axis = axes.pop() if axes else self._first_axis(self.result.shape)
        if self.result.ndim < -axis or self.result.shape[axis] != self.dim:
            raise _Apart
        return Step(axis, self._operands(dict.fromkeys(self.draft.names, axis)))

    def _reduced(self) -> Step:
        kwargs = self.call.kwargs
        if len(self.draft.names) != 1 or not set(kwargs) <= {"axis", "keepdims", "initial"}:
            raise _Apart
        (name,) = self.draft.names
        aval = self.avals[name]
        if aval.dtype != self.result.dtype or aval.dtype.kind != "f" or aval.dtype.itemsize < 4:
            raise _Apart
        given: Any = -1 if self.call.function == "xp.row_sums" else kwargs.get("axis")
        if given is None:
            given = tuple(range(-aval.ndim, 0))
        axes = {
            each if each < 0 else each - aval.ndim
            for each in cast("tuple[int, ...]", given if isinstance(given, tuple) else (given,))
        }
        axis = self.inside.get(name)
        if axis is None:
            axis = self._first_axis(aval.shape)
        if axis in axes:
            if self.call.function not in _COMBINED:
                raise _Apart
            if "initial" in kwargs and self.call.function == "np.add.reduce":
                raise _Apart
            return Step(None, {name: axis}, _COMBINED[self.call.function])
        after = 0 if kwargs.get("keepdims") else sum([each > axis for each in axes])
        return Step(axis + after, {name: axis})

    def _dotted(self) -> Step:
        """The products of the rows of two arrays of one shape."""
        axes = {self.inside[name] for name in self.draft.names if name in self.inside}
        if len(axes) > 1:
            raise _Apart
        axis = axes.pop() if axes else self._first_axis(self.avals[self.order[0]].shape)
        if axis == -1:
            raise _Apart
        after = 0 if self.call.kwargs.get("keepdims") else 1
        return Step(axis + after, self._operands(dict.fromkeys(self.draft.names, axis)))

    def _product(self) -> Step:
        """The product of a matrix and a vector, or of narrow matrices over the rows."""
        if len(self.order) != 2 or self.call.kwargs or self.result.dtype.kind != "f":
            raise _Apart
        left, right = self.order
        a, b = self.avals[left], self.avals[right]
        if a.ndim == b.ndim == 2:
            return self._product_of_matrices(left, right)
        if left == right or {a.ndim, b.ndim} - {1, 2} or a.ndim + b.ndim > 3:
            raise _Apart
        if a.dtype != b.dtype:
            raise _Apart
        matrix = left if a.ndim == 2 else right if b.ndim == 2 else ""
        inner = {left: -1, right: -1 if b.ndim == 1 else -2}
        if a.shape[-1] == self.dim and self._fits(inner):
            return Step(None, self._operands(inner), "np.add", matrix)
        if not matrix:
            raise _Apart
        axis = -2 if matrix == left else -1
        vector = right if matrix == left else left
        if vector in self.inside or self._axis(matrix, axis) is None:
            raise _Apart
        return Step(-1, {matrix: axis}, multiplied=matrix)

    def _product_of_matrices(self, left: str, right: str) -> Step:
        """A sum over the rows, if a factor is computed by the loop; others fill the cache."""
        a, b = self.avals[left], self.avals[right]
        inner = {left: -1, right: -2}
        if a.dtype != b.dtype or a.dtype.itemsize < 4:
            raise _Apart
        if not any(name in self.inside for name in inner):
            raise _Apart
        widths = [a.shape[0], b.shape[1]]
        if not all(isinstance(w, int) and 1 < w <= _WIDEST // a.dtype.itemsize for w in widths):
            raise _Apart
        if a.shape[1] != self.dim or len(inner) < 2 or not self._fits(inner):
            raise _Apart
        return Step(None, self._operands(inner), "np.add")

    def _fits(self, axes: Mapping[str, int]) -> bool:
        try:
            return len(self._operands(axes)) == len(axes)
        except _Apart:
            return False

    def _reshaped(self) -> Step:
        """A reshape that adds and removes axes of length one only."""
        (name,) = self.draft.names
        if name not in self.inside or self.draft.line.aliases != (Alias.RESHAPE,):
            raise _Apart
        old, new = self.avals[name].shape, self.result.shape
        position = len(old) + self.inside[name]
        parts: list[str] = []
        axis = i = j = 0
        while i < len(old) or j < len(new):
            if i < len(old) and j < len(new) and old[i] == new[j]:
                axis = j if i == position else axis
                parts.append(":")
                i, j = i + 1, j + 1
            elif i < len(old) and old[i] == 1:
                parts.append("0")
                i += 1
            elif j < len(new) and new[j] == 1:
                parts.append("None")
                j += 1
            else:
                raise _Apart
        index = f"[{', '.join(parts)}]"
        return Step(axis - len(new), {name: self.inside[name]}, index=index)

    def _joined(self) -> Step:
        """Arrays beside each other; in memory they are copied once, from the cache."""
        axes = {self.inside[name] for name in self.draft.names if name in self.inside}
        along: Any = self.call.kwargs.get("axis")
        if len(axes) != 1 or not isinstance(along, int) or not self.draft.line.place:
            raise _Apart
        (axis,) = axes
        if axis == (along if along < 0 else along - self.result.ndim):
            raise _Apart
        return Step(axis, self._operands(dict.fromkeys(self.draft.names, axis)))

    def _transposed(self) -> Step:
        (name,) = self.draft.names
        if name not in self.inside or self.draft.line.aliases != (Alias.WHOLE,):
            raise _Apart
        ndim = self.result.ndim
        given: Any = self.call.args[1] if len(self.call.args) > 1 else self.call.kwargs.get("axes")
        if given is None:
            given = (
                tuple(range(ndim))[::-1]
                if self.call.function == "np.transpose"
                else (*range(ndim - 2), ndim - 1, ndim - 2)
            )
        order = [each if each < 0 else each - ndim for each in cast("tuple[int, ...]", given)]
        return Step(order.index(self.inside[name]) - ndim, {name: self.inside[name]})
