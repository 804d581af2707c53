"""Where values lie: which die at a statement, and which are written into a buffer that is free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ..ir.avals import Aval
from ..ir.node import Node
from ..ops.results import PROJECT
from .arena_writers import Writer, writer_of
from .block_sizes import Loop
from .buffers import Buffers
from .drafts import IN_PLACE, Draft
from .memory_order import Orders
from .source_pieces import Alias
from .statements import Statement

__all__ = ["Planning"]


class Planning:
    """The statements of drafts, planned one after the other.

    Parameters
    ----------
    drafts : sequence of Draft
    external : mapping of str to Aval
        The inputs and constants.
    results : collection of str
        The names that live to the end.

    Attributes
    ----------
    statements : list of Statement
    buffers : Buffers
    places : dict of str to str
        The values that could be written to memory in row order, with the text that passes it.
    writers : dict of str to callable
        Those that have no such text, with the call that writes them to a place.
    scratch : dict of int to list of str
        The values of each loop that are written to memory kept for a block.
    made : set of str
        The values that are arrays also where they are 0-d: other calls give NumPy's scalars then.
    """

    def __init__(
        self, drafts: Sequence[Draft], external: Mapping[str, Aval], results: Collection[str]
    ) -> None:
        self.drafts = drafts
        self.kept = {*results, *external}
        self.buffers = Buffers()
        self.orders = Orders()
        self.places: dict[str, str] = {}
        self.writers: dict[str, Writer] = {}
        self.scratch: dict[int, list[str]] = {}
        self.statements: list[Statement] = []
        self.made = {each.target for each in drafts if each.line.place == IN_PLACE}
        self.projections: Counter[tuple[Node, int]] = Counter(
            (each.node.operands[0], each.node.params["index"])
            for each in drafts
            if each.node.op is PROJECT and each.target
        )
        for name, aval in external.items():
            self.buffers.external(name)
            self.orders.external(name, aval)

    def run(self, loops: Sequence[Loop] = ()) -> None:
        """Plan all statements."""
        self.scratch = {number: [] for number in range(len(loops))}
        last_read, dying = self._last_reads()
        for number, draft in enumerate(self.drafts):
            # A loop reads whole arrays to its end; its own values may take over each other's place.
            inside = [name for name in draft.names if last_read[name] == number]
            own = [name for name in inside if name not in self.kept]
            dead = [name for name in dying.get(number, ()) if name not in self.kept]
            out = self._computed(draft, [name for name in own if name in dead])
            if draft.target and draft.target not in last_read and draft.target not in self.kept:
                dead.append(draft.target)  # A kernel may ignore an operand.
            for name in dead:
                self.buffers.release(name)
            self.statements.append(self._statement(draft, out, tuple(dead)))

    def _last_reads(self) -> tuple[dict[str, int], dict[int, list[str]]]:
        """Where each name is read last, and the names that die after each statement."""
        last_read = {name: i for i, draft in enumerate(self.drafts) for name in draft.names}
        made_in = {draft.target: draft.loop for draft in self.drafts}
        ends = {draft.loop: i for i, draft in enumerate(self.drafts) if draft.loop >= 0}
        dying: dict[int, list[str]] = {}
        for i, draft in enumerate(self.drafts):
            for name in draft.names:
                if last_read[name] == i:
                    outer = draft.loop >= 0 and made_in.get(name, -1) != draft.loop
                    dying.setdefault(ends[draft.loop] if outer else i, []).append(name)
        return last_read, dying

    def _computed(self, draft: Draft, dead: Sequence[str]) -> tuple[str, str]:
        """Note a value; the buffer it takes over, and the place it is written to otherwise."""
        if not draft.target:
            return "", draft.into
        line = draft.line
        aliases = self._aliases(draft)
        order = self.orders.computed(draft)
        alike = [name for name in dead if self.orders.of(name) == order]
        inner = draft.loop >= 0
        if inner:
            alike = [name for name in alike if name in self.scratch[draft.loop]]
        out = self.buffers.reusable(line.avals[0], alike) if line.out and not draft.into else None
        if out is not None:
            self.buffers.reused(draft.target, out)
            if inner:
                self.scratch[draft.loop].append(draft.target)
            return out, ""
        names = draft.names[:1] if draft.into else draft.names
        self.buffers.computed(draft.target, line.avals, aliases, names)
        if draft.into:
            return "", draft.into
        if inner and line.place:
            self.scratch[draft.loop].append(draft.target)
            self.places[draft.target] = line.place
        elif not inner and line.avals[0].shape and self.orders.is_rows(draft.target):
            self._note_place(draft)
        return "", ""

    def _note_place(self, draft: Draft) -> None:
        """Note how a value in row order can be written to memory that is given."""
        if draft.line.place:
            self.places[draft.target] = draft.line.place
            return
        whole = [each for each in draft.names[:1] if self.buffers.is_whole(each)]
        writer = writer_of(draft, whole)
        if writer is not None:
            self.writers[draft.target] = writer

    def _statement(self, draft: Draft, out: tuple[str, str], dead: tuple[str, ...]) -> Statement:
        line, pieces = draft.line, draft.pieces
        taken, place = out
        if draft.target and (taken or place):
            text = line.out if taken else line.place
            pieces = (*pieces[:-1], f"{pieces[-1]}"[:-1], text, taken or place, ")")
        return Statement(
            draft.node,
            draft.target,
            pieces,
            draft.names,
            line.avals,
            self._aliases(draft) if draft.target else line.aliases,
            draft.named,
            bool(line.out),
            taken,
            dead,
            place,
            draft.loop,
            draft.axis,
            filled=draft.filled,
            members=draft.members,
        )

    def _aliases(self, draft: Draft) -> tuple[Alias, ...]:
        """The memory that a draft's results share with its operands.

        One of several results counts as a new array if all of them are, and it is taken once.
        """
        node = draft.node
        if node.op is not PROJECT:
            return draft.line.aliases
        alone = self.projections[node.operands[0], node.params["index"]] == 1
        fresh = alone and self.buffers.is_own_array(draft.names[0])
        return (Alias.FRESH,) if fresh else (Alias.WHOLE,)
