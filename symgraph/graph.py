"""Graph, the user's door: each method is one stage of the pipeline and gives a new graph.

    trace  →  gradient  →  simplify  →  checkpoint  →  lower

Nothing is changed in place, and every stage can be printed, drawn, explained and evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import cost
from .array import Array
from .autodiff.connectivity import Connection, connection
from .autodiff.differentiate import Disconnected, differentiated, output_of, target_of
from .autodiff.directions import Direction, listed
from .autodiff.jacobians import JacobianMode, jacobians
from .autodiff.products import (
    HvpMode,
    cotangents_given,
    hessian_products,
    pulled_back,
    pushed_forward,
    tangents_given,
)
from .autodiff.scalar import ScalarDerivatives, scalar_derivatives
from .backends.base import Lowered, lower
from .budget import program_peak, within
from .cost import Cost
from .dag import Dag, Node
from .derivation import Derive, Stage, derived, simplified_stage
from .errors import InputError, SymgraphError
from .evaluate import bound_inputs, check_facts, evaluate
from .export import dot, python, svg, text
from .export.explanation import explain
from .facts import Fact
from .history import History
from .lowering.liveness import Memory
from .lowering.liveness import memory as memory_of
from .lowering.remat import bytes_of, recomputed
from .passes.simplify import Rules
from .propagation import Knowledge
from .rewriting.log import Log
from .rewriting.rule import Soundness
from .verify import verify

if TYPE_CHECKING:
    import networkx as nx

    from .dims import Dim

__all__ = ["Graph"]


class Graph:
    """Named inputs, outputs and the DAG between them, with the stages of the pipeline as methods.

    Parameters
    ----------
    dag : Dag
        The nodes.
    history : Log, optional
        The rewrites that led here.
    """

    def __init__(self, dag: Dag | Stage, *, history: Log | None = None) -> None:
        self._stage = dag if isinstance(dag, Stage) else Stage(dag)
        self.dag: Dag = self._stage.dag
        self.history: History[Graph] = History(
            Log() if history is None else history, self.dag, Graph
        )

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
        return cost.flops(self.dag.outputs, dims, self.dag.dims)

    def bytes_moved(self, **dims: int) -> Dim:
        """Bytes that operations read and write if none are fused: a number or a formula."""
        return cost.bytes_moved(self.dag.outputs, dims, self.dag.dims)

    def cost(self, **dims: int) -> Cost:
        """Operations, flops and bytes, in all, by operation and by node; prints as a table."""
        return cost.cost(self.dag.outputs, dims, self.dag.dims)

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
        return self.derived(
            wrt,
            lambda dag, _: differentiated(dag, wrt, value=value, of=of, disconnected=disconnected),
        )

    def jvp(
        self,
        tangents: Mapping[Any, Direction] | str | Sequence[str],
        *,
        value: bool = True,
        of: str | None = None,
    ) -> Graph:
        """The same graph with tangents J v of its outputs as further outputs: forward mode.

        Parameters
        ----------
        tangents : mapping
            From inputs (or intermediate values) to their tangents: the name of a new input, numbers
            or a symbolic array, of the value's shape, possibly with extra leading axes, the same
            for all. Names of inputs alone give each a new input, `tangent_x`.
        value : bool
            Keep the outputs: results are grouped `outputs, tangents`, both as the outputs are.
        of : str, optional
            Which output; by default all.

        Raises
        ------
        InputError, ShapeError, DTypeError
            If a tangent's name is taken or it does not fit.
        NotDifferentiable
            If an operation on a path has no derivative.
        """
        pairs: dict[Any, Any] = (
            dict(tangents)
            if isinstance(tangents, Mapping)
            else {name: f"tangent_{name}" for name in listed(tangents)}
        )
        given = tangents_given(self.dag, list(pairs), list(pairs.values()), "tangent")
        return self.derived(pairs, lambda dag, _: pushed_forward(dag, given, value=value, of=of))

    def vjp(
        self,
        *wrt: str | Array | Node,
        cotangent: Direction | Mapping[str, Direction] = "cotangent",
        value: bool = True,
        of: str | None = None,
    ) -> Graph:
        """The same graph with cotangents Jᵀ u of inputs as further outputs: reverse mode.

        Parameters
        ----------
        *wrt : str, Array or Node
        cotangent : str, array_like or Array; or a mapping from names of outputs
            The name of a new input, numbers or a symbolic array, of the output's shape, possibly
            with extra leading axes.
        value, of
            As `jvp`.

        Raises
        ------
        InputError, ShapeError, DTypeError, NotDifferentiable
        """
        given = cotangents_given(self.dag, of, cotangent)
        return self.derived(wrt, lambda dag, _: pulled_back(dag, wrt, given, value=value))

    def jacobian(
        self,
        *wrt: str | Array | Node,
        value: bool = True,
        of: str | None = None,
        mode: JacobianMode | None = None,
        diagonal: bool = False,
    ) -> Graph:
        """The same graph with Jacobians, of shape (*output.shape, *input.shape), as outputs.

        The mode of fewest operations is taken, and named in `history`; along axes that output and
        input share elementwise a Jacobian is diagonal and found by one seed.

        Parameters
        ----------
        *wrt : str, Array or Node
        value, of
            As `jvp`; results are grouped by output, then by target.
        mode : "reverse", "forward" or "mixed", optional
            Instead of the cheapest: seeds for all elements of the output, of the input, or of the
            narrowest value between them.
        diagonal : bool
            Only the diagonal: axes of the input that are tied to axes of the output do not come
            again, so an elementwise map of shape (n,) has n numbers and not n × n.

        Raises
        ------
        InputError
            If there is no diagonal; it names the operation that mixes.
        DTypeError, NotDifferentiable
        """
        return self.derived(
            wrt,
            lambda dag, record: jacobians(
                dag, wrt, value=value, of=of, mode=mode, diagonal=diagonal, record=record
            ),
        )

    def hessian(
        self,
        *wrt: str | Array | Node,
        value: bool = True,
        of: str | None = None,
        mode: JacobianMode | None = None,
        diagonal: bool = False,
    ) -> Graph:
        """The same graph with second derivatives of its scalar output: the gradient's Jacobian.

        One target gives a block of shape (*x.shape, *x.shape); several give nested tuples, block
        [i][j] of shape (*xi.shape, *xj.shape). Parameters and errors as `jacobian`, and as
        `gradient` where the output is no scalar.
        """
        blocks = partial(jacobians, wrt=wrt, value=value, mode=mode, diagonal=diagonal)
        return self.gradient(*wrt, of=of).derived(
            wrt,
            lambda dag, record: blocks(
                dag,
                outputs=range(1, 1 + len(wrt)),
                kept=(0,),
                single=len(wrt) == 1,
                name="hessian",
                record=record,
            ),
        )

    def hvp(
        self,
        wrt: str | Array | Node | Sequence[str | Array | Node],
        v: Direction | Sequence[Direction] = "v",
        *,
        value: bool = True,
        of: str | None = None,
        mode: HvpMode = "reverse",
    ) -> Graph:
        r"""The same graph with Hessian-vector products $\nabla(\nabla f \cdot v)$ as outputs.

        No Hessian is built: the graph grows by a multiple of its own size, whatever that of x is.

        Parameters
        ----------
        wrt : str, Array or Node, or a sequence of them
        v : str, array_like or Array, or a sequence of as many
            The name of a new input, numbers or a symbolic array; it is not differentiated through.
        value, of
            As `gradient`.
        mode : "reverse" or "forward"
            Reverse over reverse, or forward over reverse: the same numbers.

        Raises
        ------
        InputError, ShapeError, DTypeError, NotDifferentiable
        """
        single = isinstance(wrt, (str, Array, Node))
        targets = [wrt] if single else list(wrt)
        vectors = [v] if single else listed(v)
        if not single and isinstance(v, str):
            vectors = [f"{v}_{i}" for i in range(len(targets))]
        given = tangents_given(self.dag, targets, vectors, "vector")
        return self.gradient(*targets, of=of).derived(
            targets,
            lambda dag, _: hessian_products(dag, given, single=single, value=value, mode=mode),
        )

    def derived(self, wrt: Iterable[Any], derive: Derive) -> Graph:
        """A derivative that a function of graphs appends; most users want the methods above.

        Simplifying it derives it again from the stabilised forward part, if all targets are names.

        Parameters
        ----------
        wrt : iterable of str, Array or Node
            The targets.
        derive : callable
            `derive(dag, record)` gives the derivative of a `Dag`; `record(what, before, after)`
            adds a line to the history.
        """
        stage, log = derived(self._stage, derive, again=all(isinstance(each, str) for each in wrt))
        return Graph(stage, history=log)

    def scalar_derivatives(self, of: str | None = None, **inputs: Any) -> ScalarDerivatives:
        """The textbooks' tables of a graph of scalars, with numbers: forward, backward, naive."""
        return scalar_derivatives(self.dag, output_of(self.dag, of), inputs)

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
        stage, history = simplified_stage(self._stage, trust, rules)
        return Graph(stage, history=history)

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
        return replace(memory_of(self.dag, dims), peak_bytes=program_peak(self.dag, dims))

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
            dag = within(self.dag, bytes_of(memory), dims)
        else:
            raise InputError('Give a budget, as in checkpoint("64 MB").')
        return Graph(Stage(dag, before=self._stage.before), history=self.history.log)

    # -- numbers ---------------------------------------------------------------------------------
    def evaluate(self, *, check_facts: bool = False, **inputs: Any) -> Any:
        """The outputs on numbers, by the plain interpreter: the reference for every faster path.

        `check_facts` checks first that inputs satisfy the facts stated of them.
        """
        if check_facts:
            self.check_inputs(**inputs)
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
        check_facts(self.dag.inputs, arrays)

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


_DRAWN = 150
"""Larger graphs show as text in notebooks; `to_svg` draws any size."""
