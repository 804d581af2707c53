"""A history to step through: it rebuilds each graph on the way, and checks each step on numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from ..errors import VerifyError
from ..export.graph_text import equation
from ..ir.dag import Dag
from ..ir.interpreter import bound_inputs, check_facts, values_of
from ..ir.node import Node
from ..ir.walks import reachable, substituted
from ..records import record
from ..rewriting.log import Log, Pass, RuleProfile, Step
from .explain import explained

__all__ = ["Agreement", "History", "Moment"]

G = TypeVar("G")
Numbers = np.ndarray[Any, Any]

# Of the largest number that goes into a step: cancellation may spend half of the digits.
_TOLERANCES = {"float64": 1e-8, "float32": 2e-4, "float16": 5e-2}


@record
class Moment(Generic[G]):
    """A graph on the way, and the step that led to it.

    Parameters
    ----------
    what : str
        The rule, or the pass whose bookkeeping it is.
    step : Step or None
        None for bookkeeping, and for the graph that a pass starts from.
    graph : Graph
    """

    what: str
    step: Step | None
    graph: G


@record
class Agreement:
    """That all steps agree on the numbers given.

    Parameters
    ----------
    steps, passes : int
        How many were compared.
    worst : float
        The largest difference, relative to the largest number that went into the step.
    """

    steps: int
    passes: int
    worst: float

    def __str__(self) -> str:
        return (
            f"{self.steps} steps and {self.passes} passes agree; "
            f"largest relative difference {self.worst:.1e}"
        )


class History(Sequence[Step], Generic[G]):
    """The steps that led to a graph.

    `history[i]` is a step, `history.graphs()` all graphs on the way, `history.check(**inputs)`
    evaluates both sides of every step.

    Parameters
    ----------
    log : Log
    dag : Dag
        The graph it led to.
    shown : callable
        Makes the user's graph from a `Dag`.
    """

    def __init__(self, log: Log, dag: Dag, shown: Callable[[Dag], G]) -> None:
        self.log = log
        self._dag = dag
        self._shown = shown

    def __repr__(self) -> str:
        names = ", ".join(step.rule for step in self.steps)
        many = "step" if len(self) == 1 else "steps"
        return f"<history of {len(self)} {many}{names and ': '}{names}>"

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        """The derivation as a cell's result: text, and Markdown that notebooks show."""
        return {
            "text/plain": explained(self.log, None),
            "text/markdown": explained(self.log, None, format="markdown"),
        }

    @property
    def steps(self) -> Sequence[Step]:
        """Rewrites, in order."""
        return self.log.steps

    @property
    def passes(self) -> Sequence[Pass]:
        """The stretches that the steps belong to, bookkeeping told by what it did."""
        return self.log.passes

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self.log.steps[index]

    def __len__(self) -> int:
        return len(self.log.steps)

    def leading_to(self, outputs: Iterable[Node]) -> list[Step]:
        """The steps that led to the given nodes, in order."""
        return self.log.leading_to(outputs)

    @property
    def fired(self) -> Mapping[str, int]:
        """How often each rule fired."""
        return self.log.fired

    def profile(self) -> RuleProfile:
        """By rule: times fired, times tried, seconds; the slowest first."""
        return self.log.profile()

    # -- stepping --------------------------------------------------------------------------------
    def graphs(self) -> Iterator[Moment[G]]:
        """The graph that each pass starts from, after each step, and after bookkeeping.

        A step whose value the graph does not hold any more changes nothing and is passed over.
        Before a differentiation the outputs are those of the function. Each graph is built from the
        one before when it is asked for, so all of them take steps times nodes.
        """
        for outputs, what, step in self._states():
            yield Moment(what, step, self._shown(self._as_dag(outputs)))

    def graph(self, index: int) -> G:
        """The graph right after step `index`.

        Raises
        ------
        IndexError
        """
        step = self.log.steps[index]
        for outputs, _, made_by in self._states(everything=True):
            if made_by is step:
                return self._shown(self._as_dag(outputs))
        raise IndexError(f"Step {index} belongs to no pass.")

    def _states(
        self, *, everything: bool = False
    ) -> Iterator[tuple[Sequence[Node], str, Step | None]]:
        last: tuple[Node, ...] = ()
        for each in self.log.passes:
            outputs = each.before
            if outputs != last:
                yield outputs, "as it was", None
            for step in self.log.steps[each.start : each.stop]:
                if step.grain == "choice":
                    continue
                new = tuple(substituted(outputs, {step.before: step.after}))
                if new != outputs or everything:
                    yield new, step.rule, step
                outputs = new
            if outputs != each.after:
                yield each.after, each.what, None
            last = each.after

    def _as_dag(self, outputs: Sequence[Node]) -> Dag:
        if len(outputs) == len(self._dag.outputs):
            return self._dag.with_outputs(outputs)
        return Dag(self._dag.inputs, outputs)

    # -- checking --------------------------------------------------------------------------------
    def check(self, /, **inputs: Any) -> Agreement:
        """Evaluate both sides of every step and of every pass.

        Where the left side is not finite the right one may be: that is what stability is for. At
        grade `exact` both are compared bit by bit.

        Parameters
        ----------
        **inputs : array_like
            As `Graph.evaluate`; sizes of named dimensions that no input brings, too.

        Raises
        ------
        VerifyError
            If two sides differ; it names the step, its rule and the user's line.
        InputError, FactError
            If the inputs do not have the declared shapes and dtypes.
        """
        named = {name: value for name, value in inputs.items() if name in self._dag.inputs}
        dims = {name: value for name, value in inputs.items() if name not in named}
        known = {name for node in self._dag.nodes for name in node.aval.dim_names}
        if not dims.keys() <= known:
            named, dims = inputs, {}
        arrays, env = bound_inputs(self._dag.inputs, named, dims)
        check_facts(self._dag.inputs, arrays)
        values = values_of(self._all_nodes(), self._dag.inputs, arrays, env)
        worst = 0.0
        compared = [step for step in self.log.steps if step.grain != "choice"]
        for number, step in enumerate(self.log.steps):
            if step.grain != "choice":
                worst = max(worst, _compared(_title(number, step), step, values))
        passes = [each for each in self.log.passes if each.equal]
        for each in passes:
            for before, after in zip(each.before, each.after, strict=True):
                step = Step(each.what, before, after, before.origin, "rounding")
                worst = max(worst, _compared(f"Pass {each.what!r}", step, values))
        return Agreement(len(compared), len(passes), worst)

    def _all_nodes(self) -> list[Node]:
        ends = {node: None for step in self.log.steps for node in (step.before, step.after)}
        for each in self.log.passes:
            ends.update(dict.fromkeys((*each.before, *each.after)))
        return reachable(ends)


def _title(number: int, step: Step) -> str:
    return f"Step {number}, {step.rule} [{step.sound}],"


def _compared(title: str, step: Step, values: Mapping[Node, Any]) -> float:
    """The largest difference, relative to the inputs; refused where it is too large."""
    lefts, rights = _results(values[step.before]), _results(values[step.after])
    going_in = [each for node in step.before.operands for each in _results(values[node])]
    worst = 0.0
    for left, right in zip(lefts, rights, strict=True):
        found = _difference(left, right, going_in, step.sound)
        if not found <= _tolerance(left, step.sound):
            raise VerifyError(
                f"{title} changes the value.",
                [
                    equation(step.before, step.after),
                    f"before   {_shown(left)}",
                    f"after    {_shown(right)}",
                    *([f"at {step.where}"] if str(step.where) else []),
                ],
                mend="Leave the rule out, as in simplify(rules=default_rules().without(name)).",
            )
        worst = max(worst, found)
    return worst


def _results(value: object) -> list[Numbers]:
    return [np.asarray(each) for each in (value if isinstance(value, tuple) else (value,))]


def _tolerance(left: Numbers, sound: str) -> float:
    return 0.0 if sound == "exact" else _TOLERANCES.get(str(left.dtype), 0.0)


def _difference(left: Numbers, right: Numbers, going_in: Iterable[Numbers], sound: str) -> float:
    if left.shape != right.shape or left.dtype != right.dtype:
        return np.inf
    if left.dtype.kind != "f" or sound == "exact":
        return 0.0 if np.array_equal(left, right, equal_nan=left.dtype.kind == "f") else np.inf
    compared = np.isfinite(left)
    if not compared.any():
        return 0.0
    scale = max(_largest(each) for each in (left, *going_in))
    with np.errstate(all="ignore"):
        off = float(np.max(np.abs(left[compared] - right[compared])))
    return off / scale if scale and np.isfinite(off) else 0.0 if off == 0 else np.inf


def _largest(value: Numbers) -> float:
    size = np.abs(value[np.isfinite(value)]) if value.dtype.kind in "fiu" else np.zeros(0)
    return float(np.max(size, initial=0.0))


def _shown(value: Numbers) -> str:
    return np.array2string(value, threshold=6, precision=6).replace("\n", " ")
