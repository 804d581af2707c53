"""Groups of statements that run together in a loop over blocks of rows.

A group grows from its first statement along the program. A statement that can be computed by rows
joins it; one that needs a whole result of the group comes after the loop, with all that depends on
it; any other comes before the loop. What is left after the loop may form the next group.

Within a group, values that nothing else reads are blocks in scratch memory. The others are arrays
that the loop fills block by block, or sums to which each block adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..ir.avals import Aval
from ..ir.dims import Dim, names_of
from .block_sizes import LEAST_BYTES, Loop, Row
from .drafts import Draft, array_draft
from .rowwise import Step, candidates, step_of
from .source_pieces import Alias, Line, Piece

__all__ = ["fused"]

_WINDOW = 400
"""How many statements are searched for those that join a group."""
_MOST_STEPS = 40_000
"""How many statements are asked whether they join; then the rest of the program has no loops."""
_MOST_PIECES = 16
_STARTS = {"np.add": 0.0, "np.maximum": -np.inf, "np.minimum": np.inf}
"""What a result that is combined from blocks is before the first."""


def fused(
    drafts: Sequence[Draft],
    avals: Mapping[str, Aval],
    results: Collection[str],
    new_name: Callable[[], str],
) -> tuple[list[Draft], tuple[Loop, ...]]:
    """The statements with groups of them in loops, and the loops.

    Parameters
    ----------
    drafts : sequence of Draft
    avals : mapping of str to Aval
        Of the inputs and constants.
    results : collection of str
        The names of the program's results.
    new_name : callable
        Gives a name that is free.
    """
    fusion = _Fusion(drafts, avals, results, new_name)
    fusion.run()
    return fusion.found, tuple(fusion.loops)


@dataclass
class _Group:
    """Statements that run in one loop, and those before and after it."""

    dim: Dim
    members: list[tuple[Draft, Step]] = field(default_factory=list[tuple[Draft, Step]])
    before: list[Draft] = field(default_factory=list[Draft])
    after: list[Draft] = field(default_factory=list[Draft])
    axes: dict[str, int] = field(default_factory=dict[str, int])
    late: set[str] = field(default_factory=set[str])

    def add(self, draft: Draft, avals: Mapping[str, Aval]) -> None:
        """Put a statement into the loop, before it or after it."""
        names = draft.names
        step = None
        if self.late.isdisjoint(names):
            step = step_of(draft, self.dim, self.axes, avals)
            if step is None and not any(name in self.axes for name in names):
                self.before.append(draft)
                return
        if step is None:
            self.after.append(draft)
            # Without a target it writes into arrays that it names.
            self.late.update([draft.target] if draft.target else names)
            return
        self.members.append((draft, step))
        if step.axis is None:
            self.late.add(draft.target)
        else:
            self.axes[draft.target] = step.axis


class _Fusion:
    def __init__(
        self,
        drafts: Sequence[Draft],
        avals: Mapping[str, Aval],
        results: Collection[str],
        new_name: Callable[[], str],
    ) -> None:
        self.waiting = list(drafts)
        self.avals = dict(avals)
        for draft in drafts:
            if len(draft.line.avals) == 1:
                self.avals[draft.target] = draft.line.avals[0]
        self.readers: dict[str, list[str]] = {}
        for draft in drafts:
            for name in draft.names:
                self.readers.setdefault(name, []).append(draft.target)
        self.columns = {draft.target for draft in drafts if _is_column(draft)}
        self.results = {*results}
        self.new_name = new_name
        self.found: list[Draft] = []
        self.loops: list[Loop] = []
        self.left = _MOST_STEPS

    def run(self) -> None:
        """Take groups off the front until nothing waits."""
        refused: set[str] = set()
        while self.waiting:
            start = self._start(refused)
            if start is None or self.left <= 0:
                self.found.extend(self.waiting)
                return
            self.found.extend(self.waiting[:start])
            self.waiting = self.waiting[start:]
            group = self._best_group()
            if group is None:
                refused.add(self.waiting[0].target)
                continue
            self.found.extend(group.before)
            self.found.extend(_Writer(self, group, len(self.loops)).written())
            self.waiting = group.after

    def _start(self, refused: Collection[str]) -> int | None:
        for number, draft in enumerate(self.waiting):
            if draft.target not in refused and self._is_large(draft):
                return number
        return None

    def _is_large(self, draft: Draft) -> bool:
        """Whether a statement may touch an array that does not fit the cache."""
        if draft.line.call is None:
            return False
        known = [self.avals[name] for name in (*draft.names, draft.target) if name in self.avals]
        return any(
            not isinstance(each.nbytes, int) or each.nbytes >= LEAST_BYTES // 16 for each in known
        )

    def _best_group(self) -> _Group | None:
        """The group that begins with the first statement, if a loop of it pays."""
        for dim in candidates(self.waiting[0], self.avals)[:2]:
            if step_of(self.waiting[0], dim, {}, self.avals) is None:
                continue
            group = _Group(dim)
            window = self.waiting[:_WINDOW]
            for draft in window:
                group.add(draft, self.avals)
            self.left -= len(window)
            group.after.extend(self.waiting[len(window) :])
            if self._pays(group):
                return group
        return None

    def _pays(self, group: _Group) -> bool:
        """Whether the loop saves a pass over memory: a value stays in a block, or is read twice."""
        members = {draft.target for draft, _ in group.members}
        reads: dict[str, int] = {}
        for draft, step in group.members:
            if step.axis is None and draft.line.place == "":
                return False
            for name in step.operands:
                reads[name] = reads.get(name, 0) + 1
        saved = sum(
            [count if self.inner(name, members) else count - 1 for name, count in reads.items()]
        )
        if saved < 1 or len(members) < 2:
            return False
        loop = self.loop_of(group, ())
        views = {draft.target for draft, _ in group.members if draft.line.aliases[0] != Alias.FRESH}
        rows = self.rows_of(group).items()
        if any(name not in views and _is_scattered(row) for (name, _), row in rows):
            return False
        named = any(names_of(dim) for row in loop.rows for dim in row.aval.shape)
        return named or loop.pays({})

    def inner(self, name: str, members: Collection[str]) -> bool:
        """Whether a value is computed by these statements and read by no other."""
        return (
            name in members
            and name not in self.results
            and all(reader in members for reader in self.readers.get(name, ()))
        )

    def rows_of(self, group: _Group) -> dict[tuple[str, int], Row]:
        """The values that a group reads or computes by rows, by name and axis."""
        rows: dict[tuple[str, int], Row] = {}
        for draft, step in group.members:
            if step.axis is not None:
                rows[draft.target, step.axis] = Row(draft.line.avals[0], step.axis)
            for name, axis in step.operands.items():
                if name == step.multiplied or (name, axis) not in rows:
                    rows[name, axis] = Row(self.avals[name], axis, name == step.multiplied)
        return rows

    def loop_of(self, group: _Group, scratch: Sequence[str]) -> Loop:
        """The loop of a group."""
        combined = [draft.line.avals[0] for draft, step in group.members if step.combined]
        rows = self.rows_of(group).values()
        return Loop(group.dim, tuple(rows), tuple(scratch), tuple(combined))


class _Writer:
    """The statements of one group: arrays to be filled, then those of the loop."""

    def __init__(self, fusion: _Fusion, group: _Group, number: int) -> None:
        self.fusion = fusion
        self.group = group
        self.number = number
        self.members = {draft.target for draft, _ in group.members}
        self.reads = Counter([name for _, step in group.members for name in step.operands])
        self.ahead: list[Draft] = []
        self.inside: list[Draft] = []
        self.cut: dict[tuple[str, int], str] = {}
        self.blocks: dict[str, str] = {}

    def written(self) -> list[Draft]:
        for draft, step in self.group.members:
            renamed = self._with_blocks(draft, step)
            if step.combined:
                self._combine(renamed, step)
            elif self.fusion.inner(draft.target, self.members):
                self.inside.append(renamed)
            else:
                self._store(renamed)
        self.fusion.loops.append(self.fusion.loop_of(self.group, ()))
        return [*self.ahead, *self.inside]

    def _with_blocks(self, draft: Draft, step: Step) -> Draft:
        """The statement with the blocks of its operands."""
        names = {name: self._block(draft, name, axis) for name, axis in step.operands.items()}
        names.update({name: self.blocks[name] for name in draft.names if name in self.blocks})
        renamed = draft.renamed(lambda name: names.get(name, name))
        if step.index:
            line = replace(draft.line, aliases=(Alias.WHOLE,))
            renamed = replace(renamed, line=line, pieces=(renamed.names[0], step.index))
        return replace(renamed, loop=self.number, axis=step.axis)

    def _block(self, draft: Draft, name: str, axis: int) -> str:
        if name in self.members:
            return self.blocks.get(name, name)
        found = self.cut.get((name, axis))
        if found is None:
            found = self.cut[name, axis] = self.fusion.new_name()
            aval = self.fusion.avals[name]
            line = Line((), (aval,), (Alias.PART,))
            pieces: tuple[Piece, ...] = (name, _rows_of(aval, axis))
            if self.reads[name] > 1 and name in self.fusion.columns:
                # Elements that lie apart are gathered once: each takes a line of the cache.
                line = Line((), (aval,), (Alias.FRESH,), place=", ")
                pieces = ("np.positive(", *pieces, ")")
            self.inside.append(
                Draft(draft.node, found, line, pieces, (name,), False, self.number, axis)
            )
        return found

    def _combine(self, draft: Draft, step: Step) -> None:
        """A result over all rows: that of each block is added to it."""
        total, aval = draft.target, draft.line.avals[0]
        self._new_array(draft, _text(_STARTS[step.combined]))
        block = self.fusion.new_name()
        self.inside.append(replace(draft, target=block))
        last = f", out={total})" if step.combined != "np.add" else f", {total})"
        pieces = (f"{step.combined}(", total, ", ", block, last)
        line = Line(pieces, (aval,), (Alias.WHOLE,))
        self.inside.append(
            Draft(draft.node, "", line, pieces, (total, block), False, self.number, None, total)
        )

    def _store(self, draft: Draft) -> None:
        """An array that is read outside of the loop: each block writes its rows."""
        array, axis = draft.target, draft.axis
        assert axis is not None
        self._new_array(draft)
        block = self.blocks[array] = self.fusion.new_name()
        into = f"{array}{_rows_of(draft.line.avals[0], axis)}"
        line = draft.line
        if line.place and _is_one_piece(line.avals[0], axis):
            line = replace(line, aliases=(Alias.PART,))
            names = (array, *draft.names)
            self.inside.append(replace(draft, target=block, line=line, names=names, into=into))
            return
        self.inside.append(replace(draft, target=block))
        pieces: tuple[Piece, ...] = ("np.copyto(", into, ", ", block, ")")
        line = Line(pieces, line.avals, (Alias.WHOLE,))
        self.inside.append(
            Draft(draft.node, "", line, pieces, (array, block), False, self.number, axis, into)
        )

    def _new_array(self, draft: Draft, value: str = "") -> None:
        (aval,) = draft.line.avals
        self.ahead.append(array_draft(draft.node, draft.target, aval, value))


def _is_one_piece(aval: Aval, axis: int) -> bool:
    """Whether the rows of a block lie together in memory, so that a ufunc may write them.

    From memory with gaps to memory with gaps, NumPy's `negative`, `isnan`, `isinf` and `signbit`
    read the wrong elements (seen in NumPy 2.4.6, in single and double precision).
    """
    return all(dim == 1 for dim in aval.shape[: aval.ndim + axis])


def _is_scattered(row: Row) -> bool:
    """Whether the rows of a block lie in many pieces of memory."""
    pieces = 1
    for dim in row.aval.shape[: row.axis]:
        pieces *= dim if isinstance(dim, int) else _MOST_PIECES + 1
    return pieces > _MOST_PIECES and not row.multiplied


def _is_column(draft: Draft) -> bool:
    """Whether a vector of floats is a column of a matrix: its elements lie a row apart."""
    (aval, *more), end = draft.line.avals, draft.pieces[-2:]
    number = isinstance(end[0], str) and end[0].lstrip("-").isdecimal() and end[1:] == ("]",)
    return not more and aval.ndim == 1 and aval.dtype.kind == "f" and number


def _rows_of(aval: Aval, axis: int) -> str:
    """The index that gives the rows of a block."""
    parts = [":"] * (aval.ndim + axis)
    return f"[{', '.join([*parts, 'rows'])}]"


def _text(value: float) -> str:
    return f"{'-' if value < 0 else ''}np.inf" if np.isinf(value) else repr(value)
