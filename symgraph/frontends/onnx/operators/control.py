"""Branches and loops, whose graphs stand in attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import numpy as snp
from ....errors import DTypeError, FormatError, ShapeError
from ....ir.dims import is_named
from ....ops.branches import cond
from ....ops.iteration import while_loop
from ....ops.loops import scan
from ..call import Call, Tensor, Unknown
from ..registry import operator
from ..values import Entry, Value

__all__: list[str] = []

_UNROLLED = 256
"""The most steps that are written out, where a loop is none of ours."""


def _arrays(entries: Sequence[Entry]) -> tuple[Tensor, ...]:
    found: list[Tensor] = []
    for each in entries:
        if not isinstance(each, Value):
            raise FormatError("A branch, or a step of a loop, gives what is no tensor.")
        found.append(each.array)
    return tuple(found)


def _values(arrays: Sequence[Any]) -> list[Entry]:
    return [Value(each) for each in arrays]


@operator("If", raw=True)
def if_(call: Call, condition: Value) -> list[Any]:
    """One branch, if the condition is known; else a choice when the graph runs."""
    graphs = [call.graph("else_branch"), call.graph("then_branch")]
    if condition.numbers is not None:
        return call.runs.branch(graphs[bool(condition.numbers.ravel()[0])], [])
    otherwise, then = [
        (lambda graph=graph: _arrays(call.runs.branch(graph, []))) for graph in graphs
    ]
    return list(cond(np.reshape(condition.array, ()), then, otherwise))


# -- Loop ------------------------------------------------------------------------------------------
class _Depends(Exception):
    """Whether a loop goes on depends on its values."""


@operator("Loop", raw=True)
def loop(call: Call, limit: Value | None, going: Value | None, *carries: Entry) -> list[Any]:
    """At most so many steps, as long as the condition holds."""
    body = call.graph("body")
    count: Any = None if limit is None else call.dims(0, "number of steps")[0]
    if isinstance(count, int):
        count = max(count, 0)
    known = going is None or going.numbers is not None
    if going is not None and going.numbers is not None and not going.numbers.all():
        count = 0
    few = isinstance(count, int) and count <= _UNROLLED
    tensors = all(isinstance(each, Value) for each in carries)
    if few and known and (count == 0 or not tensors):
        written = _written_out(call, body, count, carries)
        if written is not None:
            return written
    try:
        if known and count is not None:
            return _counted(call, body, count, _arrays(carries))
        raise _Depends
    except (ShapeError, DTypeError, Unknown):
        written = _written_out(call, body, count, carries) if few else None
        if written is None:
            raise
        return written
    except _Depends:
        return _open_ended(call, body, count, going, _arrays(carries))


def _step(call: Call, body: Any, number: Any, going: Value, carries: Sequence[Entry]) -> Any:
    """Whether the loop goes on, and the next carries and results."""
    taken = len(body.input) - 2
    if taken != len(carries):
        raise FormatError(f"A step takes {taken} values, and the loop has {len(carries)}.")
    flag, *found = call.runs.branch(body, [number, going, *carries])
    if not isinstance(flag, Value):
        raise FormatError("A step of a loop does not tell whether it goes on.")
    return flag, found


_TRUE = np.asarray(True)


def _counted(call: Call, body: Any, count: Any, carries: tuple[Tensor, ...]) -> list[Any]:
    """A loop that takes all its steps."""

    def step(carry: tuple[Tensor, ...], number: Tensor) -> Any:
        going, found = _step(call, body, Value(number), Value(numbers=_TRUE), _values(carry))
        if going.numbers is None or not going.numbers.all():
            raise _Depends
        arrays = _arrays(found)
        return arrays[: len(carry)], arrays[len(carry) :]

    last, stacked = scan(step, carries, snp.arange(count), count)
    return [*last, *stacked]


def _written_out(call: Call, body: Any, count: Any, carries: Sequence[Entry]) -> list[Any] | None:
    """The steps one after another; None if a step depends on numbers whether to go on."""
    rows: list[list[Entry]] = []
    state = list(carries)
    for number in range(count):
        going, found = _step(
            call, body, Value(numbers=np.asarray(number)), Value(numbers=_TRUE), state
        )
        if going.numbers is None:
            return None
        state, row = found[: len(state)], found[len(state) :]
        rows.append(row)
        if not going.numbers.all():
            break
    results = len(body.output) - 1 - len(carries)
    if results and not rows:
        raise FormatError("A loop without a step gives results of no known shape.")
    stacked = [np.stack(_arrays([row[place] for row in rows])) for place in range(results)]
    return [*state, *stacked]


def _open_ended(
    call: Call, body: Any, count: Any, going: Value | None, carries: tuple[Tensor, ...]
) -> list[Any]:
    """A loop that ends when its condition says so."""
    if len(body.output) - 1 > len(carries):
        raise FormatError(
            "A loop that ends by a condition gives results of each step, whose number is not known."
        )
    if is_named(count):
        raise FormatError(f"A loop ends by a condition, or after {count} steps: one can be read.")

    def step(carry: Any) -> Any:
        number, _, state = carry
        going, found = _step(call, body, Value(number), Value(numbers=_TRUE), _values(state))
        return number + 1, np.reshape(going.array, ()), _arrays(found)

    first = snp.asarray(_TRUE) if going is None else np.reshape(going.array, ())
    start = (snp.asarray(np.asarray(0)), first, carries)
    found = while_loop(lambda carry: carry[1], step, start, max_steps=count)
    return list(found[2])


# -- Scan ------------------------------------------------------------------------------------------
@operator("Scan", raw=True, until=8)
def scan_of_batch(call: Call, lengths: Entry, *entries: Entry) -> list[Any]:
    """For each of a batch a loop of its own."""
    if lengths is not None:
        raise FormatError("Scan of sequences of several lengths is not read.")
    arrays = _arrays(entries)
    batch = arrays[0].shape[0] if arrays else 0
    if not isinstance(batch, int) or not 0 < batch <= _UNROLLED:
        raise FormatError(f"Scan before version 9 over a batch of {batch} is not read.")
    directions = call.wholes("directions")
    rows = [
        _scanned(call, [each[place] for each in arrays], directions, None, None, None)
        for place in range(batch)
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]


@operator("Scan", raw=True, since=9)
def scan_(call: Call, *entries: Entry) -> list[Any]:
    return _scanned(
        call,
        _arrays(entries),
        call.wholes("scan_input_directions"),
        call.wholes("scan_output_directions"),
        call.wholes("scan_input_axes"),
        call.wholes("scan_output_axes"),
    )


def _scanned(
    call: Call,
    arrays: Sequence[Tensor],
    in_directions: list[int] | None,
    out_directions: list[int] | None,
    in_axes: list[int] | None,
    out_axes: list[int] | None,
) -> list[Any]:
    """The last states, and the results of all steps along an axis."""
    body, count = call.graph("body"), call.whole("num_scan_inputs")
    split = len(arrays) - count
    if split < 0 or not count:
        raise FormatError(f"Scan has {len(arrays)} operands, of which {count} are scanned.")
    xs = [np.moveaxis(x, a, 0) for x, a in zip(arrays[split:], in_axes or [0] * count, strict=True)]
    backwards = in_directions or [0] * count
    xs = [np.flip(x, 0) if back else x for x, back in zip(xs, backwards, strict=True)]

    def step(carry: tuple[Tensor, ...], slices: Sequence[Tensor]) -> Any:
        found = _arrays(call.runs.branch(body, _values([*carry, *slices])))
        return found[:split], found[split:]

    last, stacked = scan(step, tuple(arrays[:split]), tuple(xs))
    out_axes, out_directions = out_axes or [0] * len(stacked), out_directions or [0] * len(stacked)
    turned = [np.flip(y, 0) if d else y for y, d in zip(stacked, out_directions, strict=True)]
    return [*last, *[np.moveaxis(y, 0, a) for y, a in zip(turned, out_axes, strict=True)]]
