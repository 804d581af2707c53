"""The results of a transformed function, nested as its arguments and its outputs are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..pytrees import unflatten
from ..records import record
from .arguments import Arguments
from .kinds import TransformKind
from .traced_call import TracedCall

__all__ = ["nested"]


def nested(
    kind: TransformKind, traced: TracedCall, values: Sequence[Any], *, has_aux: bool, single: bool
) -> Any:
    """The results of a program, nested as the arguments and the outputs are.

    Parameters
    ----------
    kind : TransformKind
    traced : TracedCall
    values : sequence
        One for each output of the program.
    has_aux : bool
        Whether the function returns a pair, whose second part is not differentiated.
    single : bool
        Whether one target was named, not a sequence of targets.
    """
    plan, flat_values = traced.plan, list(values)
    if kind.grouping == "traced":
        return unflatten(traced.outputs, flat_values)
    outs: Any = None
    if kind.value:
        outs = unflatten(traced.outputs, flat_values[: plan.outputs])
        del flat_values[: plan.outputs]
    aux = iter(flat_values[: plan.auxiliary])
    del flat_values[: plan.auxiliary]
    result = _derivatives(kind, traced, iter(flat_values), _Targets(traced.arguments, single))
    if has_aux:
        leaves = [next(aux) if leaf is None else leaf for leaf in traced.aux_leaves]
        auxiliary = unflatten(traced.auxiliary, leaves)
        return ((outs, auxiliary), result) if kind.value else (result, auxiliary)
    return (outs, result) if kind.value else result


def _derivatives(
    kind: TransformKind, traced: TracedCall, values: Iterator[Any], targets: _Targets
) -> Any:
    if kind.grouping == "targets":
        return targets.build(lambda: next(values))
    if kind.grouping == "outputs":
        return unflatten(traced.outputs, list(values))
    if kind.grouping == "hessian":
        return targets.build(lambda: targets.build(lambda: next(values)))
    rows = [targets.build(lambda: next(values)) for _ in range(traced.plan.outputs)]
    return unflatten(traced.outputs, rows)


@record
class _Targets:
    """The targets, as a nested value with a result at each array."""

    arguments: Arguments
    single: bool

    def build(self, result: Callable[[], Any]) -> Any:
        """The nested value; static leaves have None."""
        arrays = set(self.arguments.arrays)
        found = [
            unflatten(tree, [result() if i in arrays else None for i in leaves])
            for tree, leaves in zip(self.arguments.trees, self.arguments.targets, strict=True)
        ]
        return found[0] if self.single else tuple(found)
