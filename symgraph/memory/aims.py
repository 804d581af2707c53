"""The aims of a plan besides its budget: the cost to keep low, and the time to search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from math import isfinite
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from ..errors import InputError
from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dims import resolve
from ..ir.interpreter import run
from ..ir.node import Node
from ..lowering.memory_model import Model
from ..records import record

__all__ = ["Aim", "Cost", "Terms", "aim_of", "never", "with_costs"]

Cost: TypeAlias = "Literal['flops', 'measured'] | Callable[[Node], float]"
_T = TypeVar("_T")
_TOTAL = 10**9
"""What the costs of all steps come to, as whole numbers."""
_MOST_BYTES = 2**28
"""A node of more bytes is not run to measure it."""


@record
class Aim:
    """The aim of a search.

    Parameters
    ----------
    cost : "flops", "measured" or callable
        What computing a node costs; only recomputations count.
    seconds : float or None
        No new plan is looked for later than this; the quickest search is made in any case.
    """

    cost: Cost = "flops"
    seconds: float | None = None


@record
class Terms:
    """The limits that a plan keeps besides its budget, and when the search for it began.

    Parameters
    ----------
    dims : mapping of str to int
        A size for each named dimension.
    keep, recompute : tuple of Node
        Values that are never computed again, and values that are never held between a forward use
        and a backward use.
    aim : Aim
    started : float
        The time of a monotonic clock.
    """

    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    keep: tuple[Node, ...] = ()
    recompute: tuple[Node, ...] = ()
    aim: Aim = field(default_factory=Aim)
    started: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        """Whether the time of the aim is over."""
        seconds = self.aim.seconds
        return seconds is not None and time.monotonic() - self.started >= seconds

    def in_time(self, found: Iterable[_T]) -> Iterator[_T]:
        """The results found before the time is over."""
        for each in found:
            yield each
            if self.is_over():
                return


def never() -> bool:
    """That the time is not over, where it has no limit."""
    return False


def aim_of(cost: object, time_limit: object) -> Aim:
    """The aim of a user's options.

    Raises
    ------
    InputError
        If the cost is neither a name that is known nor a function, or the limit is no time.
    """
    if cost not in ("flops", "measured") and not callable(cost):
        raise InputError(
            f'cost is "flops", "measured" or a function of a node, not {cost!r}.',
            mend="Leave it out, or give cost=lambda node: 1.0.",
        )
    if time_limit is None:
        return Aim(cost)  # pyright: ignore[reportArgumentType]  # checked above
    number = isinstance(time_limit, (int, float, np.integer, np.floating))
    if not number or isinstance(time_limit, bool) or not float(time_limit) > 0:
        raise InputError(f"time_limit is a number of seconds, not {time_limit!r}.")
    return Aim(cost, float(time_limit))  # pyright: ignore[reportArgumentType]


def with_costs(model: Model, aim: Aim, dims: Mapping[str, int]) -> Model:
    """The model with the costs of an aim.

    Raises
    ------
    InputError
        If the function of a user gives no cost.
    """
    if aim.cost == "flops":
        return model
    known: dict[object, float] = {}
    costs: list[float] = []
    for node in model.nodes:
        told: Any = _seconds(node, dims, known) if aim.cost == "measured" else aim.cost(node)
        if isinstance(told, bool) or not isinstance(told, (int, float, np.number)):
            raise InputError(f"cost({node!r}) is {told!r}, which is no number.")
        cost = float(told)
        if not (isfinite(cost) and cost >= 0):
            raise InputError(f"cost({node!r}) is {cost!r}: a cost is finite and not negative.")
        costs.append(cost)
    unit = _TOTAL / (sum(costs) or 1.0)
    first = len(model) - model.copies
    whole = [1 + round(each * unit) if step < first else 1 for step, each in enumerate(costs)]
    return replace(model, costs=tuple(whole))


def _seconds(node: Node, dims: Mapping[str, int], known: dict[object, float]) -> float:
    """The time that the kernel of a node takes, measured once for equal calls."""
    params = tuple([(name, str(value)) for name, value in node.params.items()])
    key = (node.op.name, params, tuple([each.results for each in node.operands]))
    if key not in known:
        known[key] = _measured(node, dims)
    return known[key]


def _measured(node: Node, dims: Mapping[str, int]) -> float:
    avals = [each.results for each in node.operands]
    bodies = any(isinstance(each, Body) for each in node.params.values())
    size = sum([int(resolve(each.nbytes, dims)) for part in avals for each in part])
    if not node.operands or node.op.custom or bodies or size > _MOST_BYTES:
        # Nothing of the user's is run unasked. A pass over memory takes a second for some 4 GB.
        return size / 4e9

    def array(aval: Aval) -> Any:
        shape = tuple([int(resolve(dim, dims)) for dim in aval.shape])
        return np.full(shape, 0.5 if aval.dtype.kind in "fc" else 0, aval.dtype)

    operands = [
        array(part[0]) if len(part) == 1 else tuple([array(each) for each in part])
        for part in avals
    ]
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                run(node, operands, dims)
        except Exception:  # The numbers may not suit the kernel, as a singular matrix.
            return size / 4e9
        best = min(best, time.perf_counter() - start)
    return best
