"""Instances with equal lengths of axes: no shape reveals that one axis was taken for another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ..array import Array, constant
from ..ir.dims import fixed, named
from ..ir.fact_inference import Knowledge
from ..ops.carrying import carries_off_axis
from ..rewriting.guards import Guard
from ..rewriting.pattern import OpPattern, subterms
from .instance_maker import Instance, InstanceMaker, admitted_numbers
from .operand_search import OperandSearch
from .random_params import draw_params, shape_of_index

__all__ = ["SmallInstanceMaker"]

_MOST_RANDOM, _TRIES_FOR_EACH = 16, 12
_MOST_OF_FAMILY = 24
_FEW_OPERANDS = 3
"""Up to this number of operands, all combinations of small matrices are tried."""
_EMPTY_SHAPES = ((0, 1), (1, 0), (1, 1), (0,))
_SEARCHES = 120
_AWKWARD = 4
"""The number of instances from the operand search that are tried on awkward values as well."""
_NEW_AXES = tuple(
    entries
    for length in (1, 2, 3)
    for entries in product((None, (None, None, 1), (None, None, 2)), repeat=length)
    if None in entries
)
_COLUMNS = (
    *(((0,), (1,)), ((1,), (2,)), ((4,), (5,)), ((5,), (6,)), ((1,), (0,)), ((-1,), (0,))),
    *(((0,), (0,)), ((0,), (2,)), ((2,), (4,)), ((0,), (1,), (2,)), ((1,), (2,), (4,)), ((3,),)),
)
"""The place along each row, one a row."""
_SHAPES_OF_ONES = ((3,), (2, 2), (3, 2), (1, 3), (3, 1))
_ENTRIES_OF_ONES = (0, -1, (None, None, 1), (1, 2, 1), (0, 0, 1))
_PLACES = (
    *((0,), (1,), (-1,), (0, 1), (1, 0), (-1, 0), (1, 1), (0, 2), (7,), ((0, 1), (1, 0))),
    *((2, 2, 0), (0, 1, 3), (4, 2, 0), (0, 2, 5), (4, 2, 1)),
)
_SHAPES_OF_PLACES = (((6,), -1), (("n",), -1), ((2, 2), -1), ((2, 6), -1), ((6, 2), -2))
_ENTRIES = (0, 1, 2, (None, None, 1), (0, 2, 1), (1, 3, 1), (1, 2, 1), (2, None, -1))


class SmallInstanceMaker(InstanceMaker):
    """Makes instances whose axes have lengths 1 and 2, and whose constants are not uniform."""

    small = True
    queue: list[tuple[Any, ...]]
    """Shapes of the next operands; after them shapes are drawn."""
    places: list[Any]
    """Values of the next index constants; after them values are drawn."""

    def of_small_shapes(self, seen: set[Any]) -> Iterator[Instance]:
        """Systematic instances of each family below, then up to `_MOST_RANDOM` random ones."""
        dtypes = self.dtypes()[:1] * 7 + self.dtypes()
        self.queue, self.places, self.extreme = [], [], False
        yield from self._of_empty_matrices(seen)
        before = len(seen)
        yield from self._of_every_matrix(seen)
        yield from self._of_searched_operands(seen, few=len(seen) < before + _AWKWARD)
        yield from self._of_every_entry(seen)
        yield from self._of_every_place(seen)
        yield from self._of_every_column(seen)
        yield from self._of_new_axes(seen)
        yield from self._of_length_one_axes(seen)
        yield from self._of_empty_arrays(seen)
        found = 0
        wanted = _MOST_RANDOM * (1 + bool(self.indices) + 3 * self.has_places)
        for _ in range(_TRIES_FOR_EACH * wanted):
            shape = self._drawn_shape()
            self.extreme = bool(self.rng.integers(3) == 0)
            made = self.attempt(self.pick(dtypes), shape, uniform=self.rng.integers(3) == 0)
            if made is None or not made.inputs:
                continue
            kind = made.kind, made.lhs.aval, tuple(node.aval for node in made.inputs)
            if kind not in seen:
                seen.add(kind)
                yield made
                found += 1
            if found == wanted:
                return

    def _drawn_shape(self) -> tuple[Any, ...]:
        if self.has_places and self.rng.integers(3) == 0:
            return self.pick(((5,), (5,), (named("n"), 2), (named("n") + 3,)))
        rank = self.pick((1, 2, 2, 2, 3, 3))
        if self.rng.integers(2):
            return (2,) * rank
        return (3,) if rank == 1 else tuple(self.pick((1, 2, 2, 2)) for _ in range(rank))

    def _of_every_matrix(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances on matrices of all small shapes; their blocks need not be square."""
        if self.rule.statics or not 2 <= len(self.guards) <= _FEW_OPERANDS:
            return
        found = 0
        for shapes in product(product((1, 2), repeat=2), repeat=len(self.guards)):
            if found == _MOST_OF_FAMILY:
                break
            self.queue = list(shapes)
            made = self.attempt(self.dtypes()[0], shapes[0], uniform=False, given={})
            if made is not None and (shapes, made.kind) not in seen:
                seen.add((shapes, made.kind))
                yield made
                found += 1
        self.queue = []

    def _of_empty_matrices(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances on matrices without rows or columns: their products are all zeros."""
        if self.rule.statics or not self.of_matrices or len(self.guards) > _FEW_OPERANDS + 1:
            return
        for shapes in product(_EMPTY_SHAPES, repeat=len(self.guards)):
            self.queue = list(shapes)
            made = self.attempt(self.dtypes()[0], shapes[0], uniform=False, given={})
            if made is not None and (shapes, made.kind) not in seen:
                seen.add((shapes, made.kind))
                # A value that the other side leaves out may be NaN; an empty sum is 0.
                yield replace(made, small=False)
        self.queue = []

    def _of_searched_operands(self, seen: set[Any], *, few: bool) -> Iterator[Instance]:
        """Instances on operands searched one at a time: many drawn at once seldom fit."""
        several = self.rule.statics or self.has_constants or (few and self.of_matrices)
        if not (2 if several else _FEW_OPERANDS + 1) <= len(self.guards) <= 5:
            return
        search = OperandSearch(self.rule.lhs, tuple(self.guards), self._one, self.rng)
        found = 0
        for _ in range(_SEARCHES):
            if found >= _MOST_OF_FAMILY:
                return
            env: dict[str, Any] = {}
            draw_params(self.rule.statics, env, self._drawn_shape(), self.rng)
            made = self._built(env, {}) if search.found(env) else None
            if made is None:
                continue
            kind = made.kind, made.lhs.aval, tuple(node.aval for node in made.inputs)
            if kind not in seen:
                seen.add(kind)
                # The rule may have no other instances, and needs some on awkward values.
                yield made if found >= _AWKWARD else replace(made, small=False)
                found += 1

    def _one(self, name: str, shape: tuple[int, ...], env: Mapping[str, Any]) -> Array:
        return self._operand(name, self.guards[name], shape, self.dtypes()[0], env)

    def _of_every_entry(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances on a vector of length 3, at all indices and all pairs of indices."""
        if not self.indices or len(self.rule.statics) != len(self.indices) or len(self.guards) > 3:
            return
        for entries in product(_ENTRIES, repeat=len(self.indices)):
            given = {name: (entry,) for name, entry in zip(self.indices, entries, strict=True)}
            taken = shape_of_index(self.rule.statics, given, (3,), ())
            for part in {taken, ()}:
                self.queue = [(3,), part, part]
                made = self.attempt(self.dtypes()[0], (3,), uniform=False, given=given)
                if made is not None and (part, made.kind) not in seen:
                    seen.add((part, made.kind))
                    yield made
        self.queue = []

    def _of_every_place(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances at constant places: adjacent, apart, backwards, repeated or out of range."""
        known = sum(
            any(guard.constant and guard.kinds == "i" for guard in guards)
            for guards in self.guards.values()
        )
        names = {each.kind.name: each.name for each in self.rule.statics}
        if not known or not {*names} <= {"axis", "index"}:
            return
        every = product(_SHAPES_OF_PLACES, product(_PLACES, repeat=known), (False, True))
        for (sizes, axis), places, repeated in every:
            whole = tuple(named(size) if isinstance(size, str) else size for size in sizes)
            slots = (*whole[:axis], *np.shape(places[0]), *whole[len(whole) + axis + 1 :])
            part = (*slots[:-1], 1) if repeated else slots
            for index in self._indices_of(len(whole)):
                self.queue = [whole] + [part] * len(self.guards)
                self.places = list(places)
                drawn = {"axis": axis, "index": index}
                given = {name: drawn[kind] for kind, name in names.items()}
                made = self.attempt(self.dtypes()[0], whole, uniform=False, given=given)
                kind = (whole, places, part, index)
                if made is not None and made.inputs and kind not in seen:
                    seen.add(kind)
                    yield made
        self.queue, self.places = [], []

    def _of_every_column(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances at a constant place of each row: one further in each row, or anywhere."""
        along = any(
            isinstance(part, OpPattern)
            and part.op.traits.at_places
            and part.op.carries is carries_off_axis
            for part in subterms(self.rule.lhs)
        )
        if not along or not self.has_places or self.rule.statics:
            return
        for column, width, lead in product(_COLUMNS, (2, 3, 6, named("n")), ((), (2,))):
            self.queue = [(*lead, len(column), width)] * len(self.guards)
            self.places = [np.broadcast_to(column, (*lead, len(column), 1))]
            made = self.attempt(self.dtypes()[0], self.queue[0], uniform=False, given={})
            if made is not None and made.inputs and (column, width, lead) not in seen:
                seen.add((column, width, lead))
                yield made
        self.queue, self.places = [], []

    def _indices_of(self, rank: int) -> Iterator[Any]:
        """Indices of an array of this rank; None if the rule has no index."""
        if not self.indices:
            yield None
            return
        for entry in _ENTRIES:
            yield (*[(None, None, 1)] * (rank - 1), entry)

    def _index_and_shape(self) -> tuple[str, str] | None:
        """The params of a rule that has an index, a shape and no other; else None."""
        names = {each.kind.name: each.name for each in self.rule.statics}
        if len(self.rule.statics) != 2 or {*names} != {"index", "shape"}:
            return None
        return names["index"], names["shape"]

    def _of_new_axes(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances with an index that adds axes anywhere, and a broadcast before or after it."""
        names = self._index_and_shape()
        if names is None:
            return
        index, shape = names
        before = self.rule.statics[0].name == shape
        for entries in _NEW_AXES:
            whole = (2,) * sum(entry is not None for entry in entries)
            given: dict[str, Any] = {index: entries}
            part = shape_of_index(self.rule.statics, given, whole, ())
            given[shape] = whole if before else (2,) * len(part)
            self.queue = [whole]
            made = self.attempt(self.dtypes()[0], whole, uniform=False, given=given)
            if made is not None and (entries, made.kind) not in seen:
                seen.add((entries, made.kind))
                yield made
        self.queue = []

    def _of_length_one_axes(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances with an index, and a shape that adds or drops axes of length one."""
        names = self._index_and_shape()
        if names is None:
            return
        index, shape = names
        before = self.rule.statics[0].name == shape
        for whole, count in product(_SHAPES_OF_ONES, (1, 2)):
            for entries in product(_ENTRIES_OF_ONES, repeat=min(count, len(whole))):
                taken = shape_of_index(self.rule.statics, {index: entries}, whole, ())
                for other in _with_ones(whole if before else taken):
                    own = other if before else whole
                    given = {index: entries, shape: whole if before else other}
                    self.queue = [own]
                    made = self.attempt(self.dtypes()[0], own, uniform=False, given=given)
                    kind = (own, entries, other)
                    if made is not None and kind not in seen:
                        seen.add(kind)
                        yield made
        self.queue = []

    def _of_empty_arrays(self, seen: set[Any]) -> Iterator[Instance]:
        """Instances on arrays broadcast to length 0 along one axis or more: they are empty."""
        names = {each.kind.name: each.name for each in self.rule.statics}
        if not {"shape", "axes"} <= {*names}:
            return
        targets = ((0, 0), (0, 2), (2, 0))
        for own, target, axes in product(((), (0,), (1,)), targets, ((-1,), (-2,), (-2, -1))):
            self.queue = [own] * len(self.guards)
            given = {names["shape"]: target, names["axes"]: axes}
            made = self.attempt(self.dtypes()[0], target, uniform=False, given=given)
            if made is not None and (own, target, made.kind) not in seen:
                seen.add((own, target, made.kind))
                yield made
        self.queue = []

    def broadcasting(self, shape: tuple[Any, ...], env: Mapping[str, Any]) -> tuple[Any, ...]:
        """The next shape of the queue; else a random shape derived from `shape`."""
        if self.queue:
            return self.queue.pop(0)
        if self.indices and self.rng.integers(2):
            return shape_of_index(self.rule.statics, env, shape, shape)
        match int(self.rng.integers(4)):
            case 0:
                return shape
            case 1:
                return shape[int(self.rng.integers(len(shape) + 1)) :]
            case 2:
                return tuple(self.pick((1, 2, 2)) for _ in shape)
            case _:
                return (*[self.pick((1, 2)) for _ in range(self.pick((0, 0, 1)))], *shape)

    def constant(
        self,
        guards: tuple[Guard, ...],
        shape: tuple[Any, ...],
        dtype: np.dtype[Any],
        env: Mapping[str, Any],
    ) -> Array:
        """A constant that the guards admit: of different values, or a count of elements."""
        plain = super().constant(guards, shape, dtype, env)
        axes = [env[each.name] for each in self.rule.statics if each.kind.name == "axes"]
        if dtype.kind == "i" and self.places:
            values = np.asarray(self.places.pop(0))
        elif dtype.kind == "i":
            sizes = self.pick(((1,), (2,), (2,), (3,), (2, 1)))
            values = self.rng.integers(self.pick((0, 0, -2)), self.pick((2, 2, 3, 5)), sizes)
        elif axes and self.rng.integers(2):
            values = np.asarray(2 ** len(axes[0]))
        elif any(fact.name == "one_hot" for guard in guards for fact in guard.facts):
            return plain
        elif dtype.kind == "f" and self.extreme:
            values = np.asarray(self.pick((-0.75, 0.75)) * float(np.finfo(dtype).max))
        elif fixed(shape):
            values = self.rng.choice(admitted_numbers(guards, dtype) or [1], shape)
        else:
            return plain
        drawn = constant(values.astype(dtype), dtype)
        admitted = all(guard.holds(drawn.node, Knowledge()) for guard in guards)
        return drawn if admitted else plain


def _with_ones(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Shapes with the same elements: without axes of length one, or with a single one anywhere."""
    longer = tuple(size for size in shape if size != 1)
    yield longer
    for place in range(len(longer) + 1):
        yield (*longer[:place], 1, *longer[place:])
