r"""The loop as one operation: $(c_{t+1}, y_t) = f(c_t, x_t)$ for $t = 0, \dots, T - 1$.

The body is a graph in the params of one node, so a loop of a thousand steps is as small as one of
ten. Its derivative is another scan, in reverse. It reads the carries of the first scan and runs
the body again at each step (back-propagation through time, Werbos 1990). So its memory is that of
the carries, and its time a constant multiple; a program keeps more, where that is worth its memory
(`passes.residuals`). An array that the body captures is an operand of the
node; its cotangents are summed over the steps, which is weight tying.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..array import FUNCTIONS, Array, apply, project
from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.differentiation import Pull
from ..ir.dims import Dim
from ..ir.node import Node, make
from ..ir.op import Batch, Op, Unbatched, register
from ..ir.walks import reachable
from ..notation import loops
from . import scan_record
from .batched import per_example, whole
from .closures import body_of_batch, body_total, closed, fresh_like, rebuilt, spread
from .creation import zeros

__all__ = ["SCAN", "Carry", "Looped", "adds_up", "looped"]


# -- each of a batch -------------------------------------------------------------------------------
def _batch_scan(
    batch: Batch, *, body: Body, carries: int, scanned: int, length: Dim, reverse: bool
) -> list[Any]:
    """One loop over the whole batch; a carry is batched if it differs at any step."""
    flags = list(batch.batched)
    while True:
        inputs, found = body_of_batch(batch, body, flags)
        after = [flag or now for flag, (_, now) in zip(flags, found[:carries], strict=False)]
        if after == flags[:carries]:
            break
        flags[:carries] = after
    first = [whole(batch, i) if flag else batch.operands[i] for i, flag in enumerate(after)]
    moveaxis = FUNCTIONS["moveaxis"]
    xs = [
        moveaxis(batch.operands[i], 0, 1) if flags[i] else batch.operands[i]
        for i in range(carries, carries + scanned)
    ]
    outputs = [
        (per_example(value, batch.size) if flag and not now else value).node
        for flag, (value, now) in zip(after, found, strict=False)
    ]
    results = apply(
        SCAN,
        *first,
        *xs,
        *batch.operands[carries + scanned :],
        body=Body(inputs, [*outputs, *[value.node for value, _ in found[carries:]]]),
        carries=carries,
        scanned=scanned,
        length=length,
        reverse=reverse,
    )
    every = results if isinstance(results, tuple) else (results,)
    stacked = [*[flag for _, flag in found[carries:]], *after]
    return [
        *[value if flag else Unbatched(value) for value, flag in zip(every, after, strict=False)],
        *[
            moveaxis(value, 1, 0) if flag else Unbatched(value)
            for value, flag in zip(every[carries:], stacked, strict=True)
        ],
    ]


# -- building a loop -------------------------------------------------------------------------------
class Carry(NamedTuple):
    """A carry of a loop: its name inside, its first value, its next value."""

    inner: Node
    init: Array
    after: Node


class Looped(NamedTuple):
    """The results of a loop: the carries after the last step, and the stacked results."""

    carries: list[Array]
    stacked: list[Array]


def looped(
    carries: Sequence[Carry],
    scanned: Sequence[tuple[Node, Array]],
    steps: Sequence[Node],
    *,
    length: Dim,
    reverse: bool,
) -> Looped:
    """The scan whose body computes `after` and `steps` from `inner` and from captures.

    Values that do not depend on the step are computed once, outside. Scanned arrays that no step
    reads are left out.

    Parameters
    ----------
    carries : sequence of Carry
    scanned : sequence of (Node, Array)
        The name inside of a slice along the first axis, and the array.
    steps : sequence of Node
        What each step gives.
    length : Dim
    reverse : bool
        From the last slice to the first.
    """
    fixed = {each.inner: each.init.node for each in carries if each.after is each.inner}
    if fixed:
        # A value that no step changes is captured and no carry.
        rest = [each for each in carries if each.inner not in fixed]
        afters = rebuilt([*[each.after for each in rest], *steps], fixed)
        rest = [each._replace(after=after) for each, after in zip(rest, afters, strict=False)]
        found = looped(rest, scanned, afters[len(rest) :], length=length, reverse=reverse)
        last = iter(found.carries)
        return Looped(
            [each.init if each.inner in fixed else next(last) for each in carries], found.stacked
        )
    outputs = [*[each.after for each in carries], *steps]
    if not outputs:
        return Looped([], [])
    inner = [each.inner for each in carries]
    read = set(reachable(outputs))
    scanned = [pair for pair in scanned if pair[0] in read]
    outside, body = closed([*inner, *[node for node, _ in scanned]], outputs)
    found = apply(
        SCAN,
        *[each.init for each in carries],
        *[array for _, array in scanned],
        *[Array(node) for node in outside],
        body=body,
        carries=len(carries),
        scanned=len(scanned),
        length=length,
        reverse=reverse,
    )
    results = list(found) if isinstance(found, tuple) else [found]
    split = len(carries)
    return Looped(results[:split], results[split : split + len(steps)])


# -- its derivative --------------------------------------------------------------------------------
def _pullback(
    pull: Pull, *, body: Body, carries: int, scanned: int, length: Dim, reverse: bool
) -> list[Array | None]:
    r"""One scan backwards over $\bar c_t = \partial_c f^\top (\bar c_{t+1}, \bar y_t)$.

    Its carries are the cotangents of the carries, and the summed cotangents of the captures.
    """
    return _Reverse(pull, body, carries, scanned, length, reverse).cotangents()


class _Reverse:
    def __init__(
        self, pull: Pull, body: Body, carries: int, scanned: int, length: Dim, reverse: bool
    ) -> None:
        self.pull = pull
        self.lead = pull.lead
        self.length = length
        self.reverse = reverse
        first, second = carries, carries + scanned
        self.carry_in, self.slices = body.inputs[:first], body.inputs[first:second]
        self.closed = body.inputs[second:]
        self.carry_out, self.steps = body.outputs[:first], body.outputs[first:]
        self.inputs = body.inputs
        self.body = body
        given = len(self.steps)
        self.ct_last, self.ct_steps = pull.cts[:first], pull.cts[first : first + given]
        self.ct_history = pull.cts[first + given :]
        self.history = pull.outs[first + given :]
        self.lead_shape = next(ct.shape[: pull.lead] for ct in pull.cts if ct is not None)

    def cotangents(self) -> list[Array | None]:
        wanted = {self.inputs[slot] for slot in self.pull.wanted}
        through = self._through(wanted)
        cts = {node: self._fresh(node, "ct") for node in through}
        slices = {place: self._fresh(node, "cts") for place, node in enumerate(self.steps)}
        slices = {place: ct for place, ct in slices.items() if self.ct_steps[place] is not None}
        seeds = [(Array(self._after(node)), Array(ct)) for node, ct in cts.items()]
        seeds += [
            (Array(self.steps[place]), Array(ct))
            for place, ct in slices.items()
            if self.steps[place].aval.is_float
        ]
        targets = list(dict.fromkeys([*through, *wanted]))
        if not seeds or not targets:
            return [None] * len(self.pull.wanted)
        pulled = dict(
            zip(
                targets,
                self.pull.cotangents(seeds, [Array(each) for each in targets]),
                strict=True,
            )
        )
        return self._built(wanted, cts, slices, pulled)

    def _built(
        self,
        wanted: set[Node],
        cts: dict[Node, Node],
        slices: dict[int, Node],
        pulled: dict[Node, Array | None],
    ) -> list[Array | None]:
        tied = [each for each in self.closed if each in wanted and pulled[each] is not None]
        sums = {node: self._fresh(node, "sum") for node in tied}
        afters, pulled = self._summed(sums, pulled)
        parts: list[Carry] = []
        histories: list[tuple[Node, Array]] = []
        for node, ct in cts.items():
            place = self.carry_in.index(node)
            before = pulled[node]
            at_start = self.ct_history[place]
            if at_start is not None:
                extra = self._fresh(node, "cth")
                histories.append((extra, self._steps_first(at_start)))
                before = Array(extra) if before is None else before + Array(extra)
            last = self.ct_last[place]
            init = self._zeros(node) if last is None else last
            parts.append(Carry(ct, init, (self._zeros(node) if before is None else before).node))
        parts += [Carry(sums[node], self._zeros(node), after) for node, after in afters.items()]
        read = [each for each in self.slices if each in wanted and pulled[each] is not None]
        results = self._looped(parts, histories, slices, [pulled[each] for each in read])
        found = dict(zip([*cts, *tied], results.carries, strict=True))
        for node, stacked in zip(read, results.stacked, strict=True):
            found[node] = FUNCTIONS["moveaxis"](stacked, 0, self.lead) if self.lead else stacked
        return [found.get(self.inputs[slot]) for slot in self.pull.wanted]

    def _summed(
        self, sums: dict[Node, Node], pulled: dict[Node, Array | None]
    ) -> tuple[dict[Node, Node], dict[Node, Array | None]]:
        """The sums after a step, and what was pulled back.

        If a step is a loop that adds up from zero, it goes on from the sum instead: one sum less
        is held, and the bits are those of one loop over all steps.
        """
        begun: dict[Node, dict[int, Node]] = {}
        for node, total in sums.items():
            found = _array(pulled[node]).node
            if found.op.name == "project" and found.operands[0].op is SCAN:
                loop, place = found.operands[0], found.params["index"]
                zero = self._zeros(node).node
                if adds_up(loop, place) and loop.operands[place] is zero:
                    begun.setdefault(loop, {})[place] = total
        new: dict[Node, Node] = {}
        for loop, places in begun.items():
            operands = [places.get(at, each) for at, each in enumerate(loop.operands)]
            other = make(SCAN, operands, loop.params)
            new |= {project(loop, at): project(other, at) for at in range(len(loop.results))}
        afters: dict[Node, Node] = {}
        for node, total in sums.items():
            found = _array(pulled[node]).node
            going_on = found in new and found.params["index"] in begun[found.operands[0]]
            afters[node] = new[found] if going_on else (Array(total) + Array(found)).node
        if new:
            kept = {node: ct for node, ct in pulled.items() if ct is not None and node not in sums}
            ends = rebuilt([*[ct.node for ct in kept.values()], *afters.values()], new)
            pulled = {**pulled, **dict(zip(kept, map(Array, ends), strict=False))}
            afters = dict(zip(afters, ends[len(kept) :], strict=True))
        return afters, pulled

    def _looped(
        self,
        parts: list[Carry],
        histories: list[tuple[Node, Array]],
        slices: dict[int, Node],
        steps: Sequence[Any],
    ) -> Looped:
        outside = {
            node: operand.node
            for node, operand in zip(
                self.closed, self.pull.operands[len(self.inputs) - len(self.closed) :], strict=True
            )
        }
        afters = rebuilt([*[part.after for part in parts], *[each.node for each in steps]], outside)
        scanned = [
            *zip(self.carry_in, self.history, strict=True),
            *zip(self.slices, self.pull.operands[len(self.carry_in) :], strict=False),
            *[(ct, self._steps_first(self.ct_steps[place])) for place, ct in slices.items()],
            *histories,
        ]
        return looped(
            [part._replace(after=after) for part, after in zip(parts, afters, strict=False)],
            scanned,
            afters[len(parts) :],
            length=self.length,
            reverse=not self.reverse,
        )

    # -- what flows where --------------------------------------------------------------------------
    def _through(self, wanted: set[Node]) -> list[Node]:
        """The carries with nonzero cotangents that lead to a wanted operand."""
        varying = self._varying(wanted)
        flowing = self._flowing()
        return [
            node
            for node in self.carry_in
            if node.aval.is_float
            and node in flowing
            and (node in wanted or self._after(node) in varying)
        ]

    def _varying(self, wanted: set[Node]) -> set[Node]:
        """The carries that depend on wanted operands through floating values, over all steps."""
        carries = zip(self.carry_in, self.carry_out, strict=True)
        return spread(self.body, wanted, [*carries], _floats)

    def _flowing(self) -> set[Node]:
        """The carries on which a result with a cotangent depends, over all steps."""
        found = {
            node
            for node, last, history in zip(
                self.carry_in, self.ct_last, self.ct_history, strict=True
            )
            if last is not None or history is not None
        }
        ends = [node for node, ct in zip(self.steps, self.ct_steps, strict=True) if ct is not None]
        while True:
            read = set(reachable([*ends, *[self._after(node) for node in found]]))
            more = {node for node in self.carry_in if node in read} - found
            if not more:
                return found
            found |= more

    # -- shapes ------------------------------------------------------------------------------------
    def _after(self, node: Node) -> Node:
        return self.carry_out[self.carry_in.index(node)]

    def _ct_aval(self, node: Node) -> Aval:
        return node.aval.with_shape((*self.lead_shape, *node.shape))

    def _fresh(self, node: Node, name: str) -> Node:
        return fresh_like(self._ct_aval(node), name)

    def _zeros(self, node: Node) -> Array:
        aval = self._ct_aval(node)
        return zeros(aval.shape, aval.dtype)

    def _steps_first(self, ct: Array) -> Array:
        """A stacked cotangent with its leading axes behind the axis of the steps."""
        return FUNCTIONS["moveaxis"](ct, self.lead, 0) if self.lead else ct


def _array(ct: Array | None) -> Array:
    assert ct is not None
    return ct


def adds_up(loop: Node, place: int) -> bool:
    """Whether a carry is a sum over the steps that no step reads."""
    body: Body = loop.params["body"]
    if place >= loop.params["carries"] or body.outputs[place].op.name != "add":
        return False
    total, more = body.outputs[place].operands
    rest = [each for at, each in enumerate(body.outputs) if at != place]
    return total is body.inputs[place] and total not in reachable([more, *rest])


def _floats(node: Node) -> bool:
    return any(aval.is_float for aval in node.results)


SCAN = register(
    Op(
        "scan",
        batch=_batch_scan,
        total=lambda *_avals, body, **_params: body_total(body),
        infer=scan_record.infer,
        kernel=scan_record.kernel,
        pullback=_pullback,
        flops=scan_record.flops,
        follows=scan_record.follows,
        lazy=True,
        doc="A loop: carries from step to step, slices of arrays in, stacked results out.",
        source=loops.scan_source,
    )
)
