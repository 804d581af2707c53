"""The value of each node at all probes: right, and as single precision has it.

A graph is followed from its inputs, so that what lies below a spelling is as it is: a softmax is
one, and an exp has overflowed. Only where a kernel cannot be run are numbers drawn that have the
facts of the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..ir.dims import names_of
from ..ir.fact_inference import Knowledge
from ..ir.node import Node
from ..ir.op import Op
from .probes import Numbers, drawn
from .stacks import kind_of, stacked

__all__ = ["UNIT", "Trial", "Trials"]

_REPEATED = 5
"""So often each computation is repeated: once as it is, and then with roundings perturbed."""

UNIT = 2.0**-20
"""By how much of its size a rounded value is perturbed, at most.

Eight units in the last place: what is perturbed by one is rounded to few values, and errors cancel
to nothing too often."""

_LONGEST = 6
"""A longer dimension is shortened to `_SHORT`: what cancels among a thousand does so among few."""

_SHORT = 4

_NAMED = 3
"""The size of a named dimension."""

_MOST_ELEMENTS = 4_000
"""A value with more elements at one point is not computed."""

_MOST_BYTES = 1 << 28
"""What is remembered; the oldest is forgotten first, and found again where it is needed."""


_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
_NORMAL = np.finfo(np.float32).tiny
_LAST = np.finfo(np.float32).smallest_subnormal
_LARGEST = float(np.finfo(np.float32).max)

_NOISE = (1.0 + UNIT * np.random.default_rng(1997).uniform(-1, 1, 1 << 16)).astype(np.float32)
"""What values are multiplied by, in turn."""


@dataclass(slots=True)
class Trial:
    """The values of a node.

    Parameters
    ----------
    right : ndarray
        In double precision. The leading axis is that of the probes; of length 1 for a constant.
    found : ndarray
        In single precision, after another leading axis: that of the repetitions.
    drawn : set of Node
        Values below that were drawn although they are computed: for short dimensions there is no
        reshape from 20 to 4 by 5. Spellings over different ones have nothing in common.
    """

    right: Numbers
    found: Numbers
    drawn: frozenset[Node] = frozenset()
    _ends: tuple[Numbers, Numbers] | None = None

    def farthest(self, point: Numbers) -> Numbers:
        """By how much the values of any repetition are off these at most.

        The largest or the smallest is, and subtracting rounds no nearer number farther away.
        """
        if self._ends is None:
            self._ends = np.max(self.found, axis=0), np.min(self.found, axis=0)
        high, low = self._ends
        return np.maximum(np.abs(high - point), np.abs(low - point))


class Trials:
    """Values of nodes at the probes, found on demand and kept.

    Parameters
    ----------
    knowledge : Knowledge
        What is known of values that are drawn.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._trials: dict[Node, Trial | None] = {}
        self._drawn: dict[Node, int] = {}
        self._at = 0
        self._rounding: dict[Any, bool] = {}
        self._bytes = 0

    def of(self, node: Node) -> Trial | None:
        """The values of a node with one result; None if it has too many elements."""
        if node in self._trials:
            return self._trials[node]
        with np.errstate(all="ignore"):
            stack = [node]
            while stack:
                top = stack[-1]
                missing = [each for each in top.operands if each not in self._trials]
                if top in self._trials:
                    stack.pop()
                elif missing:
                    stack.extend(missing)
                else:
                    self._keep(top, self._tried(top))
                    stack.pop()
        found = self._trials[node]
        if self._bytes > _MOST_BYTES:
            self._trials, self._bytes = {}, 0
        return found

    def _keep(self, node: Node, trial: Trial | None) -> None:
        self._trials[node] = trial
        if trial is not None:
            self._bytes += trial.right.nbytes + trial.found.nbytes

    def _tried(self, node: Node) -> Trial | None:
        shape = _short(node.shape)
        if prod(shape) > _MOST_ELEMENTS or len(node.results) > 1:
            return None
        if node.is_constant:
            return _of_constant(node, shape)
        return self._computed(node, shape) or self._given(node, shape)

    def _given(self, node: Node, shape: tuple[int, ...]) -> Trial:
        """Numbers drawn at random, as the facts of the node allow."""
        index = self._drawn.setdefault(node, len(self._drawn))
        right = drawn(shape, node.dtype, self.knowledge.of(node), index)
        found = right.astype(np.float32) if node.dtype.kind == "f" else right
        drawn_here = frozenset[Node]() if node.is_input else frozenset({node})
        # Written out, not broadcast: all that is made of it would write it out again.
        return Trial(right, np.repeat(found[None], _REPEATED, axis=0), drawn_here)

    def _computed(self, node: Node, shape: tuple[int, ...]) -> Trial | None:
        """The values made of those of its operands; None if its kernel cannot be run."""
        op = node.op
        there: list[Trial] = []
        for operand in node.operands:
            below = self._trials[operand]
            if below is None:
                return None
            there.append(below)
        if node.is_input or op.custom:
            return None
        if any(hasattr(value, "at_sizes") for value in node.params.values()):
            return None  # A loop: it would take longer than all else.
        params = _resolved(node.params, _DOUBLE)
        right = stacked(op, [each.right for each in there], params, shape)
        if right is None:
            return None
        is_float = node.dtype.kind == "f"
        repeated = [_rows(each.found) for each in there]
        lower = _resolved(node.params, _SINGLE) if params else params
        if op.conditioned:
            repeated = [self._shaken(each) for each in repeated]
        found = stacked(op, repeated, lower, shape)
        if found is None:
            return None
        if is_float:
            right = right.astype(np.float64, copy=False)
            found = found.astype(np.float32, copy=False)
            # Linear in all of several operands: sums of products. A solve is linear in one alone.
            multilinear = len(op.traits.linear_in(len(there))) == len(there) > 1
            if multilinear and not op.traits.elementwise:
                found = _without_order(op, found, repeated, lower, shape)
            found = self._perturbed(node, found, repeated, params, shape)
        count = len(right)
        if len(found) > 1:
            found = found.reshape(_REPEATED, count, *shape)
        else:
            found = np.broadcast_to(found.reshape(1, count, *shape), (_REPEATED, count, *shape))
        return Trial(right, found, _union(there))

    def _perturbed(
        self,
        node: Node,
        found: Numbers,
        operands: list[Numbers],
        params: Mapping[str, Any],
        shape: tuple[int, ...],
    ) -> Numbers:
        """The values of all repetitions but the first, as they may be rounded as well."""
        if node.op.count == 0 or len(found) == 1:
            return found
        if not self._rounds(node, operands, params, shape):
            return found
        # A kernel may give an operand as it is, or a view of one.
        fresh = found.flags.owndata and not any(found is each for each in operands)
        return self._shaken(found, fresh=fresh and found.flags.writeable)

    def _shaken(self, found: Numbers, *, fresh: bool = False) -> Numbers:
        """The numbers of all repetitions but the first with other roundings.

        In place if they are `fresh`: nothing else holds them.
        """
        if found.dtype.kind != "f" or len(found) == 1:
            return found
        first = len(found) // _REPEATED
        rest = found[first:]
        self._at = (self._at + 4099) % (len(_NOISE) // 2)
        start = _NOISE[self._at : self._at + rest.size]
        noise = (
            start.reshape(rest.shape) if len(start) == rest.size else np.resize(start, rest.shape)
        )
        # Below the normal numbers one unit in the last place is the smallest number there is.
        small = (np.abs(rest) < _NORMAL) & (rest != 0)
        units = _LAST * np.rint((noise[small] - 1) / UNIT) if small.any() else None
        shaken = np.multiply(rest, noise, out=rest) if fresh else rest * noise
        if units is not None:
            shaken[small] += units
        return found if fresh else np.concatenate([found[:first], shaken])

    def _rounds(
        self, node: Node, operands: list[Numbers], params: Mapping[str, Any], shape: tuple[int, ...]
    ) -> bool:
        """Whether the result has to be rounded, whatever the operands are.

        What selects, or doubles, or changes a sign gives the same in any precision.
        """
        below = node.operands
        # What is the same at all probes is made of constants alone, and stands for itself.
        free = {each for each, array in zip(below, operands, strict=True) if len(array) > 1}
        pattern = tuple([below.index(each) if each in free else each for each in below])
        lower = _resolved(node.params, _SINGLE)
        # A sum over an axis of length 1 rounds nothing.
        key = (pattern, kind_of(node.op, operands, lower, shape))
        found = self._rounding.get(key)
        if found is None:
            rng = np.random.default_rng(1999)
            drawn: dict[Node, Numbers] = {}
            for each, array in zip(below, operands, strict=True):
                few = array[:_SHORT]
                if few.dtype.kind == "f" and each in free and each not in drawn:
                    few = rng.normal(size=few.shape).astype(np.float32)
                drawn.setdefault(each, few)
            narrow = [drawn[each] for each in below]
            wide = [each.astype(np.float64) if each.dtype.kind == "f" else each for each in narrow]
            one = stacked(node.op, narrow, lower, shape)
            other = stacked(node.op, wide, params, shape)
            known = one is not None and other is not None
            exact = known and bool(np.all((one == other) | ((one != one) & (other != other))))
            found = self._rounding[key] = not exact
        return found


def _without_order(
    op: Op,
    found: Numbers,
    operands: list[Numbers],
    params: Mapping[str, Any],
    shape: tuple[int, ...],
) -> Numbers:
    """Sums of products, NaN where some overflow upward and some downward.

    There the order of terms, and whether a product is rounded before it is added, decides between
    infinity of either sign and NaN: a tanh of it would be any number.
    """
    if np.isfinite(found).all():
        return found
    wide = [each.astype(np.float64) for each in operands]
    signed = stacked(op, wide, params, shape)
    sizes = stacked(op, [np.abs(each) for each in wide], params, shape)
    if signed is None or sizes is None:
        return found
    return np.where((sizes - np.abs(signed)) / 2 > _LARGEST, np.float32(np.nan), found)


def _union(trials: list[Trial]) -> frozenset[Node]:
    """What was drawn below any of these."""
    found = frozenset[Node]()
    for each in trials:
        if each.drawn:
            found = found | each.drawn if found else each.drawn
    return found


def _rows(found: Numbers) -> Numbers:
    """All repetitions of all probes; one row of a constant, which is the same in all."""
    repeats, count, *shape = found.shape
    return found[0] if count == 1 else found.reshape(repeats * count, *shape)


def _short(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple([_size(dim) for dim in shape])


def _size(dim: Any) -> int:
    if isinstance(dim, int):
        return dim if dim <= _LONGEST else _SHORT
    return _named_size(dim)


@lru_cache(maxsize=1024)
def _named_size(dim: Any) -> int:
    return max(int(dim.subs(dict.fromkeys(dim.free_symbols, _NAMED))), 0)


def _resolved(params: Mapping[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Params for short dimensions, and for floats of this dtype."""
    return {name: _param(name, value, dtype) for name, value in params.items()} if params else {}


def _param(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, np.dtype):
        return dtype if value.kind == "f" else value
    if name == "shape" and isinstance(value, tuple):
        return _short(value)
    if isinstance(value, tuple):
        return tuple([_param("", each, dtype) for each in value])
    return _size(value) if names_of(value) else value


def _of_constant(node: Node, shape: tuple[int, ...]) -> Trial:
    value = node.params["value"][tuple([slice(size) for size in shape])]
    is_float = value.dtype.kind == "f"
    right = np.asarray(value, np.float64 if is_float else value.dtype)[None]
    found = np.asarray(value, np.float32 if is_float else value.dtype)[None]
    return Trial(right, np.broadcast_to(found, (_REPEATED, *found.shape)))
