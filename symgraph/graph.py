"""Graph, the user's door: each method is one stage of the pipeline and gives a new graph.

    trace  →  gradient  →  simplify  →  checkpoint  →  lower

Nothing is changed in place, and every stage can be printed, drawn, explained and evaluated.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from . import cost
from .array import Array, constant
from .autodiff.connectivity import Connection, connection
from .autodiff.differentiate import Disconnected, differentiated, output_of, target_of
from .backends.base import Lowered, lower
from .dag import Dag, Node, reachable
from .errors import FactError, InputError, MemoryBudgetError, SymgraphError, TraceError
from .evaluate import bound_inputs, evaluate
from .export import dot, python, svg, text
from .export.explanation import explain
from .facts import Fact, holds_on
from .lowering.liveness import Memory, readable_bytes
from .lowering.liveness import memory as memory_of
from .lowering.peak import predicted_peak
from .lowering.program import program_of
from .lowering.remat import bytes_of, checkpointed, frontier, recomputed
from .ops.creation import input as symbolic_input
from .passes.simplify import Rules, simplified
from .propagation import Knowledge
from .rewriting.log import Log
from .rewriting.rule import Soundness
from .verify import verify

if TYPE_CHECKING:
    import networkx as nx

    from .dims import Dim

__all__ = ["Graph", "Spec", "UnusedInputWarning", "graph", "spec", "trace"]


class UnusedInputWarning(UserWarning):
    """A traced function does not use one of its inputs; it stays in the signature."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What an input is: shape, dtype and facts."""

    shape: Any
    dtype: Any = "float64"
    assume: tuple[Fact, ...] = ()


def spec(shape: Any, dtype: Any = "float64", assume: Fact | Iterable[Fact] = ()) -> Spec:
    """Describe an input of a traced function.

    Parameters
    ----------
    shape : tuple of int or str, or text such as `"n, 64"`
        Numbers are fixed dimensions, names are dimensions known only when inputs arrive.
    dtype : dtype
    assume : Fact or iterable of Fact
        What is known of its values: `sg.simplex(axis=-1)`, `sg.positive`, ...
    """
    return Spec(shape, dtype, (assume,) if isinstance(assume, Fact) else tuple(assume))


def _as_spec(name: str, given: Any) -> Spec:
    if isinstance(given, Spec):
        return given
    if isinstance(given, (str, tuple, int)):
        return Spec(given)
    if isinstance(given, (np.ndarray, np.generic, float)):
        array = np.asarray(given)
        return Spec(array.shape, array.dtype)
    raise InputError(
        f"Input {name!r} is described by {given!r}.",
        mend='Describe it with sg.spec("n, 64", "float32"), a shape, or an example array.',
    )


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a gradient graph was made, to make it again from a stabilised forward part."""

    forward: Graph
    wrt: tuple[str, ...]
    value: bool
    of: str | None
    disconnected: Disconnected


class Graph:
    """Named inputs, outputs and the DAG between them, with the stages of the pipeline as methods.

    Parameters
    ----------
    dag : Dag
        The nodes.
    history : Log, optional
        The rewrites that led here.
    """

    def __init__(self, dag: Dag, *, history: Log | None = None) -> None:
        self.dag = dag
        self.history: Log = history if history is not None else Log()
        self._recipe: _Recipe | None = None
        self._before: Graph | None = None

    # -- the graph itself ------------------------------------------------------------------------
    @property
    def inputs(self) -> Mapping[str, Array]:
        """Inputs by name, in the order of the call signature."""
        return {name: Array(node) for name, node in self.dag.inputs.items()}

    @property
    def outputs(self) -> Mapping[str, Array]:
        """Outputs by name."""
        return {
            name: Array(node) for name, node in zip(self.dag.names, self.dag.outputs, strict=True)
        }

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, operands first."""
        return self.dag.nodes

    @property
    def nx(self) -> nx.DiGraph[Node]:
        """The networkx DAG (read-only): keys are nodes, an edge's `slots` the operand positions."""
        return self.dag.nx

    def get_operation(self, node: Node) -> Any:
        """The operation that makes `node`."""
        return node.op

    def get_inputs(self, node: Node) -> tuple[Node, ...]:
        """The operands of `node`, in order."""
        return node.operands

    def get_consumers(self, node: Node) -> tuple[Node, ...]:
        """The nodes that use `node`, each once."""
        return tuple(dict.fromkeys(user for user, _ in self.dag.uses[node]))

    def op_count(self) -> int:
        """Operations by the convention for closed forms: movement and constants are free."""
        return cost.op_count(self.dag.outputs)

    def flops(self, **dims: int) -> Dim:
        """Floating-point operations: a number, or a formula in the dimensions not given."""
        return cost.flops(self.dag.outputs, dims or None)

    # -- derivatives -----------------------------------------------------------------------------
    def gradient(
        self,
        *wrt: str | Array | Node,
        value: bool = True,
        of: str | None = None,
        disconnected: Disconnected = "zero",
    ) -> Graph:
        """The same graph with gradients of its scalar output as further outputs.

        Reverse mode, symbol to symbol (Goodfellow et al., algorithms 6.5 and 6.6). A graph that was
        simplified with facts that tie elements together (`simplex`, `symmetric`, ...) is
        differentiated as it was before: those facts do not hold in a neighbourhood.

        Parameters
        ----------
        *wrt : str, Array or Node
            Inputs by name, or intermediate values.
        value : bool
            Keep the output itself, as first output: results are grouped `value, (grad, grad, ...)`.
        of : str, optional
            Which output, if the graph has several.
        disconnected : "zero" or "raise"
            What the gradient is where no path leads from the target to the output.

        Raises
        ------
        ShapeError
            If the output is not a scalar.
        DTypeError
            If the output or a target is not floating.
        InputError, NotDifferentiable
        """
        source = self._before
        base = self if source is None else source._stabilized()
        joint = Graph(differentiated(base.dag, wrt, value=value, of=of, disconnected=disconnected))
        if all(isinstance(each, str) for each in wrt):
            names = cast("tuple[str, ...]", wrt)
            joint._recipe = _Recipe(source or self, names, value, of, disconnected)
        return joint

    def connection(self, wrt: str | Array | Node, of: str | None = None) -> Connection:
        """Whether the derivative is connected, zero, disconnected or undefined, and the path."""
        return connection(output_of(self.dag, of), target_of(self.dag, wrt))

    # -- simplification --------------------------------------------------------------------------
    def simplify(
        self,
        trust: Soundness = "rounding",
        strategy: Literal["greedy"] = "greedy",
        rules: Rules = None,
    ) -> Graph:
        """The simplest equal graph the rules and the algebra find.

        A gradient graph is derived again from its stabilised forward part, so simplifying before
        and after differentiating reaches the same graph.

        Parameters
        ----------
        trust : "exact", "rounding" or "domain"
            Which rewrites are allowed: equal bit for bit; equal in exact arithmetic wherever the
            left side is defined (default); also where the left side gave NaN.
        strategy : "greedy"
        rules : RulePack, sequence of Rule or RulePack, optional
            Instead of the installed packs.
        """
        if strategy != "greedy":
            raise SymgraphError(f"There is no strategy {strategy!r}.", mend='Use "greedy".')
        start = self
        history = Log()
        knowledge = Knowledge()
        settled: set[Node] = set()
        recipe = self._recipe
        if recipe is not None and trust != "exact":
            forward = recipe.forward._stabilized(trust, rules, knowledge, settled)
            history.extend(forward.history)
            dag = differentiated(
                forward.dag,
                recipe.wrt,
                value=recipe.value,
                of=recipe.of,
                disconnected=recipe.disconnected,
            )
        else:
            dag = start.dag
        outputs, steps = simplified(
            dag.outputs, knowledge, trust=trust, rules=rules, settled=settled
        )
        history.extend(steps)
        small = Graph(dag.with_outputs(outputs), history=history)
        small._before = self
        return small

    def _stabilized(
        self,
        trust: Soundness = "rounding",
        rules: Rules = None,
        knowledge: Knowledge | None = None,
        settled: set[Node] | None = None,
    ) -> Graph:
        """Simplified with open facts only: what may be done before differentiating.

        Where no other facts are stated, `knowledge` is as good and what it has found is found once.
        """
        facts = [fact for node in self.dag.inputs.values() for fact in node.params["assume"]]
        if knowledge is None or not all(fact.is_open for fact in facts):
            knowledge, settled = Knowledge(only_open=True), None
        outputs, steps = simplified(
            self.dag.outputs, knowledge, trust=trust, rules=rules, settled=settled
        )
        return Graph(self.dag.with_outputs(outputs), history=steps)

    def explain(self, node: Node | Array | str | None = None) -> str:
        """The derivation: each rule that fired, where, before and after, and why it is sound.

        With a node (or an output's name) only the steps that led to it.
        """
        if isinstance(node, str):
            node = self.outputs[node]
        if node is None:
            return explain(self.history.steps)
        found = node.node if isinstance(node, Array) else node
        return explain(self.history.leading_to([found]), title=repr(found))

    def why(self, node: Node | Array | str, fact: Fact) -> str:
        """Where a fact about a value comes from."""
        if isinstance(node, str):
            node = self.inputs[node] if node in self.inputs else self.outputs[node]
        return Knowledge().why(node.node if isinstance(node, Array) else node, fact)

    # -- memory ----------------------------------------------------------------------------------
    def memory(self, **dims: int) -> Memory:
        """Live ranges of the schedule, and the predicted peak in bytes (`.peak_bytes`).

        The peak is that of the program `lower()` emits for NumPy, in-place reuse and working room
        included; inputs belong to the caller and do not count.

        Parameters
        ----------
        **dims : int
            A size for each named dimension.
        """
        return replace(memory_of(self.dag, dims), peak_bytes=_program_peak(self.dag, dims))

    def checkpoint(
        self,
        memory: int | str | None = None,
        *,
        recompute: Sequence[Node] | None = None,
        **dims: int,
    ) -> Graph:
        """The same values within a memory budget: forward nodes are computed again, not kept.

        Parameters
        ----------
        memory : int or str
            Bytes, or text such as `"64 MB"`.
        recompute : sequence of Node, optional
            Instead of a budget: the nodes to compute again for the gradient.
        **dims : int
            A size for each named dimension.

        Raises
        ------
        MemoryBudgetError
            If no schedule found fits; it names the least budget that does.
        """
        if recompute is not None:
            dag = recomputed(self.dag, recompute, dims)
        elif memory is not None:
            dag = _within(self.dag, bytes_of(memory), dims)
        else:
            raise InputError('Give a budget, as in checkpoint("64 MB").')
        tight = Graph(dag, history=self.history)
        tight._before = self._before
        return tight

    # -- numbers ---------------------------------------------------------------------------------
    def evaluate(self, **inputs: Any) -> Any:
        """The outputs on numbers, by the plain interpreter: the reference for every faster path."""
        return self.dag.regroup(evaluate(self.dag, inputs))

    def lower(
        self, backend: str = "numpy", *, check_facts: bool = False, **options: Any
    ) -> Lowered:
        """A callable that computes the outputs fast.

        Parameters
        ----------
        backend : str
            `"numpy"`, `"jax"`, or any installed one.
        check_facts : bool
            Check at each call that inputs satisfy the facts stated of them.

        Raises
        ------
        BackendError
            If the backend is unknown or not installed.
        """
        lowered = lower(self.dag, backend, **options)
        return lowered if not check_facts else lowered.guarded(self.check_inputs)

    def check_inputs(self, **inputs: Any) -> None:
        """Check numbers against the declared shapes, dtypes and facts.

        Raises
        ------
        InputError, FactError
        """
        arrays, _ = bound_inputs(self.dag.inputs, inputs)
        for name, node in self.dag.inputs.items():
            for fact in node.params["assume"]:
                if not holds_on(fact, arrays[name]):
                    raise FactError(f"Input {name!r} is not {fact}, as was stated of it.")

    # -- inspection ------------------------------------------------------------------------------
    def to_python(self) -> str:
        """Self-contained NumPy source, `def function(np, **inputs)`, one line a node."""
        return python.to_python(self.dag)

    def to_dot(self) -> str:
        """Graphviz text."""
        return dot.render(self.dag)

    def to_svg(self) -> str:
        """A picture: the forward spine with each gradient node beside what it is the adjoint of."""
        return svg.render(self.dag)

    def save(self, path: str | Path) -> None:
        """Write the graph in the format its suffix names: .svg, .dot, .txt or .py.

        Raises
        ------
        InputError
            If the suffix names no format.
        """
        target = Path(path)
        formats: dict[str, Callable[[], str]] = {
            ".svg": self.to_svg,
            ".dot": self.to_dot,
            ".txt": self.__str__,
            ".py": self.to_python,
        }
        if target.suffix not in formats:
            raise InputError(
                f"{target.suffix or target.name!r} names no format.",
                mend=f"Use one of {', '.join(formats)}.",
            )
        target.write_text(formats[target.suffix](), encoding="utf-8")

    def verify(self) -> None:
        """Check the invariants of the graph.

        Raises
        ------
        VerifyError
        """
        verify(self.dag)

    def __str__(self) -> str:
        return text.render(self.dag, self.history)

    def __repr__(self) -> str:
        return (
            f"<Graph ({', '.join(self.dag.inputs)}) -> ({', '.join(self.dag.names)}): "
            f"{len(self.dag)} nodes, {self.op_count()} operations>"
        )

    def __len__(self) -> int:
        return len(self.dag)

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": str(self)}
        if len(self.dag) <= _DRAWN:
            bundle["image/svg+xml"] = self.to_svg()
        return bundle


def _program_peak(dag: Dag, dims: Mapping[str, int]) -> int:
    return predicted_peak(program_of(dag), dims)


def _within(dag: Dag, budget: int, dims: Mapping[str, int]) -> Dag:
    """The graph planned so that its emitted program fits; as it is if it fits already.

    Plans are made on a model of the graph; where the program it becomes needs a little more than
    the model, the goal is set lower by as much.
    """
    peak = _program_peak(dag, dims)
    goal, planned = budget, dag
    while peak > budget:
        try:
            planned = checkpointed(dag, goal, dims)
        except MemoryBudgetError as error:
            return _least(dag, budget, dims, error)
        peak = _program_peak(planned, dims)
        goal = min(goal - 1, goal * budget // peak)
    return planned


_LAST_TRIED = 8
"""Plans of the smallest modelled peaks among which the smallest program is looked for."""


def _least(dag: Dag, budget: int, dims: Mapping[str, int], error: MemoryBudgetError) -> Dag:
    """The plan whose program needs least, if it fits; else the error, which names what it needs."""
    goals = sorted(peak for peak, _ in frontier(dag, dims))[:_LAST_TRIED]
    plans = [checkpointed(dag, goal, dims) for goal in goals]
    needed = {_program_peak(plan, dims): plan for plan in plans}
    least = min(needed)
    if least <= budget:
        return needed[least]
    raise MemoryBudgetError(
        f"No plan was found that fits {readable_bytes(budget)}: "
        f"the least is {least} bytes ({readable_bytes(least)}).",
        error.rows,
        mend=f"Give at least memory={least}, smaller inputs, or fewer outputs.",
        least_bytes=least,
    ) from None


_DRAWN = 150
"""Larger graphs show as text in notebooks; `to_svg` draws any size."""


# -- ways in -------------------------------------------------------------------------------------
def trace(f: Callable[..., Any], /, **specs: Any) -> Graph:
    """The graph of a function written in NumPy style.

    Parameters
    ----------
    f : callable
        Called once with one symbolic array a name; returns one value, or tuples, lists and dicts of
        values.
    **specs : Spec, shape, or example array
        One for each parameter of `f`.

    Raises
    ------
    InputError
        If the names do not fit the parameters of `f`.
    ShapeError, DTypeError, TraceError
        At the user's line, with operands.
    """
    _check_signature(f, specs)
    arrays: dict[str, Array] = {}
    for name, given in specs.items():
        described = _as_spec(name, given)
        arrays[name] = symbolic_input(name, described.shape, described.dtype, described.assume)
    return _grouped(f(**arrays), {name: array.node for name, array in arrays.items()})


def _check_signature(f: Callable[..., Any], specs: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**specs)
    except TypeError as error:
        name = getattr(f, "__name__", "the function")
        raise InputError(
            f"{name}{signature} cannot be called with {', '.join(specs) or 'nothing'}: {error}.",
            mend="Pass one spec for each parameter, by its name.",
        ) from None


def _grouped(result: Any, inputs: Mapping[str, Node]) -> Graph:
    leaves: list[Node] = []
    names: list[str] = []
    structure = _structure(result, "", leaves, names)
    used = set(reachable(leaves))
    for name, node in inputs.items():
        if node not in used:
            warnings.warn(
                f"Input {name!r} is not used; it stays in the signature.",
                UnusedInputWarning,
                stacklevel=3,
            )
    return Graph(Dag(inputs, leaves, names, structure))


def _structure(value: Any, path: str, leaves: list[Node], names: list[str]) -> Any:
    # As deep as the tuples the user returns.
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {
            k: _structure(v, f"{path}.{k}" if path else str(k), leaves, names)
            for k, v in items.items()
        }
    if isinstance(value, (tuple, list)):
        parts = [
            _structure(each, f"{path}.{i}" if path else f"out{i}", leaves, names)
            for i, each in enumerate(cast("Sequence[Any]", value))
        ]
        return tuple(parts) if isinstance(value, tuple) else parts
    if not isinstance(value, (Array, np.ndarray, np.generic, int, float, bool)):
        raise TraceError(
            f"The function returned {value!r}, which is no array.",
            mend="Return a symbolic array, or tuples, lists and dicts of them.",
        )
    leaves.append((value if isinstance(value, Array) else constant(value)).node)
    names.append(path or "out")
    return len(leaves) - 1


def graph(*outputs: Array, inputs: Sequence[Array] | None = None) -> Graph:
    """The graph of symbolic arrays made by hand.

    Parameters
    ----------
    *outputs : Array
    inputs : sequence of Array, optional
        The call signature; by default all inputs the outputs depend on, in the order they were
        made.
    """
    nodes = [output.node for output in outputs]
    found = (
        [array.node for array in inputs]
        if inputs is not None
        else [node for node in reachable(nodes) if node.is_input]
    )
    named: dict[str, Node] = {}
    for node in found:
        name = node.params["name"]
        if named.setdefault(name, node) is not node:
            raise InputError(f"Two different inputs are named {name!r}.")
    return Graph(Dag(named, nodes))
