"""Graph, the user's door: each method is one stage of the pipeline and gives a new graph.

    trace  →  gradient  →  simplify  →  checkpoint  →  lower

Nothing is changed in place, and every stage can be printed, drawn, explained and evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ..array.handle import Array
from ..autodiff.connectivity import Connection, connection
from ..autodiff.derivations import Derivation
from ..autodiff.differentiate import Disconnected, output_of, target_of
from ..autodiff.directions import Direction, listed
from ..autodiff.jacobians import JacobianMode
from ..autodiff.products import HvpMode, cotangents_given, tangent_pairs, tangents_given
from ..autodiff.scalar import ScalarDerivatives, scalar_derivatives
from ..backends.base import Lowered, lower
from ..errors import InputError, SymgraphError
from ..export.comparison import Difference
from ..ir.cost import checked_dims
from ..ir.dag import Dag
from ..ir.interpreter import given_inputs
from ..ir.node import Node
from ..memory.budget import within
from ..memory.rematerialization import bytes_of, recomputed
from ..passes.simplify import Rules
from ..rewriting.log import Log
from ..rewriting.rule import SOUNDNESS, Soundness
from ..saturation import SaturationBounds
from .documents import document, read
from .history import History
from .stages import Derive, Stage, derived, simplified_stage
from .view import View

__all__ = ["Graph", "diff"]


class Graph(View):
    """Named inputs, outputs and the DAG between them, with the stages of the pipeline as methods.

    Parameters
    ----------
    dag : Dag
        The nodes.
    history : Log, optional
        The rewrites that led here.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.log(np.exp(x) + 1)), x=(3,))
    >>> slope = graph.gradient("x", value=False).simplify()
    >>> slope.formula()
    sigmoid(x)
    >>> slope.lower()(np.zeros(3))
    array([0.5, 0.5, 0.5])
    """

    def __init__(self, dag: Dag | Stage, *, history: Log | None = None) -> None:
        self._stage = dag if isinstance(dag, Stage) else Stage(dag)
        log = Log() if history is None else history
        self.history: History[Graph] = History(log, self._stage.dag, Graph)
        super().__init__(self._stage.dag, self.history)

    # -- saved, loaded, sent ---------------------------------------------------------------------
    def to_json(self) -> str:
        """The graph as text that `sg.load` reads: canonical, and floats exact to the bit.

        It holds what the graph was derived from, the user's lines and the history, so a loaded
        graph is simplified, differentiated and explained as this one is. Times of rules are not
        among it.

        Returns
        -------
        str
        A JSON document.

        Raises
        ------
        InputError
            If a function of the user's is part of the graph; it says which.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> sg.load(graph.to_json()).formula()
        sum(exp(x))
        """
        return document(self._stage, self.history.log)

    @classmethod
    def from_json(cls, text: str | bytes) -> Graph:
        """The graph that `to_json` has written; see `sg.load`.

        Parameters
        ----------
        text : str or bytes
        The document itself.

        Returns
        -------
        Graph
        With its history.

        Raises
        ------
        FormatError
        If it is no saved graph; it tells the path of the fault.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> sg.Graph.from_json(graph.to_json()).formula()
        sum(exp(x))
        """
        stage, log = read(text)
        return cls(stage, history=log)

    def __reduce__(self) -> Any:
        return Graph.from_json, (self.to_json(),)

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

        Returns
        -------
        Graph
        Each gradient has the shape and dtype of its target.

        Raises
        ------
        ShapeError
            If the output is not a scalar.
        DTypeError
            If the output or a target is not floating.
        InputError
            If there is no such target, or several outputs and `of` names none.
        NotDifferentiable
            If an operation on a path has no derivative, or none is met and `disconnected="raise"`.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> value, slope = graph.gradient("x").evaluate(x=[0.0, 0.0])
        >>> slope
        array([1., 1.])
        """
        options = {"wrt": wrt, "value": value, "of": of, "disconnected": disconnected}
        return self.derived(wrt, Derivation("gradient", options))

    def jvp(
        self,
        tangents: Mapping[Any, Direction] | str | Sequence[Any],
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
            for all. Pairs (value, tangent) serve as well, for arrays cannot be keys; names of
            inputs alone give each a new input, `tangent_x`.
        value : bool
            Keep the outputs: results are grouped `outputs, tangents`, both as the outputs are.
        of : str, optional
            Which output; by default all.

        Returns
        -------
        Graph
        Tangents have the shapes of the outputs, behind the extra leading axes.

        Raises
        ------
        InputError, ShapeError, DTypeError
            If a tangent's name is taken or it does not fit.
        NotDifferentiable
            If an operation on a path has no derivative.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.jvp({"x": "v"}, value=False).evaluate(x=[0.0, 0.0], v=[1.0, 2.0])
        array(3.)
        """
        pairs = tangent_pairs(tangents)
        wrt = [target for target, _ in pairs]
        given = tangents_given(self.dag, wrt, [each for _, each in pairs], "tangent")
        return self.derived(wrt, Derivation("jvp", {"given": given, "value": value, "of": of}))

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
            Inputs by name, or intermediate values, of floating dtypes.
        cotangent : str, array_like or Array; or a mapping from names of outputs
            The name of a new input, numbers or a symbolic array, of the output's shape, possibly
            with extra leading axes.
        value, of
            As `jvp`.

        Returns
        -------
        Graph
        Cotangents have the shapes of the targets, behind the extra leading axes.

        Raises
        ------
        InputError, ShapeError, DTypeError
            If the cotangent's name is taken or it does not fit.
        NotDifferentiable
            If an operation on a path has no derivative.

        Examples
        --------
        >>> graph = sg.trace(np.cumsum, "n")
        >>> name = next(iter(graph.inputs))
        >>> graph.vjp(name, cotangent="u", value=False).evaluate([1.0, 2.0], [1.0, 10.0])
        array([11., 10.])
        """
        given = cotangents_given(self.dag, of, cotangent)
        return self.derived(wrt, Derivation("vjp", {"wrt": wrt, "given": given, "value": value}))

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
            Inputs by name, or intermediate values, of floating dtypes.
        value, of
            As `jvp`; results are grouped by output, then by target.
        mode : "reverse", "forward" or "mixed", optional
            Instead of the cheapest: seeds for all elements of the output, of the input, or of the
            narrowest value between them.
        diagonal : bool
            Only the diagonal: axes of the input that are tied to axes of the output do not come
            again, so an elementwise map of shape (n,) has n numbers and not n × n.

        Returns
        -------
        Graph
        Blocks of shape (*output.shape, *input.shape).

        Raises
        ------
        InputError
            If there is no diagonal; it names the operation that mixes.
        DTypeError, NotDifferentiable
            As `gradient`.

        Examples
        --------
        >>> graph = sg.trace(lambda x: x**2 + x[0], x=(2,))
        >>> graph.jacobian("x", value=False).evaluate(x=[1.0, 3.0])
        array([[3., 0.],
               [1., 6.]])
        """
        options = {"wrt": wrt, "value": value, "of": of, "mode": mode, "diagonal": diagonal}
        return self.derived(wrt, Derivation("jacobian", options))

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
        [i][j] of shape (*xi.shape, *xj.shape), of which [j][i] is the transpose of [i][j]. Where
        derivatives of a user's or clipped gradients are met both are computed.

        Parameters
        ----------
        *wrt : str, Array or Node
            Inputs by name, or intermediate values, of floating dtypes.
        value, of, mode, diagonal
            As `jacobian`.

        Returns
        -------
        Graph
        Blocks of shape (*x.shape, *x.shape).

        Raises
        ------
        ShapeError, DTypeError, InputError, NotDifferentiable
        As `gradient` and `jacobian`.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(x**3), x=(2,))
        >>> graph.hessian("x", value=False).evaluate(x=[1.0, 2.0])
        array([[ 6.,  0.],
               [ 0., 12.]])
        """
        options = {"wrt": wrt, "value": value, "mode": mode, "diagonal": diagonal}
        return self.gradient(*wrt, of=of).derived(wrt, Derivation("hessian", options))

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

        Returns
        -------
        Graph
        Products have the shapes and dtypes of the targets.

        Raises
        ------
        InputError, ShapeError, DTypeError, NotDifferentiable
        As `gradient`, or if `v` does not fit.

        Examples
        --------
        Newton's step by conjugate gradients, without a Hessian:

        >>> import numpy as np, symgraph as sg
        >>> from scipy.sparse.linalg import LinearOperator, cg
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x) + (x - 1) ** 4), x=(3,))
        >>> product = graph.hvp("x", "v", value=False).simplify().lower()
        >>> slope = graph.gradient("x", value=False).simplify().lower()
        >>> x = np.array([0.0, 0.5, 2.0])
        >>> hessian = LinearOperator((3, 3), matvec=lambda v: product(x=x, v=v), dtype=float)
        >>> step, _ = cg(hessian, -slope(x=x), rtol=1e-12)
        >>> step.round(4)
        array([ 0.2308, -0.2471, -0.5874])
        """
        single = isinstance(wrt, (str, Array, Node))
        targets = [wrt] if single else list(wrt)
        vectors = [v] if single else listed(v)
        if not single and isinstance(v, str):
            vectors = [f"{v}_{i}" for i in range(len(targets))]
        given = tangents_given(self.dag, targets, vectors, "vector")
        options = {"given": given, "single": single, "value": value, "mode": mode}
        return self.gradient(*targets, of=of).derived(targets, Derivation("hvp", options))

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

        Returns
        -------
        Graph
        With the outputs that `derive` gives.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> def doubled(dag, record):
        ...     (out,) = dag.outputs
        ...     return dag.with_outputs([(sg.Array(out) * 2).node])
        >>> graph.derived([], doubled).evaluate(x=[0.0])
        array(2.)
        """
        stage, log = derived(self._stage, derive, again=all(isinstance(each, str) for each in wrt))
        return Graph(stage, history=log)

    def scalar_derivatives(
        self, /, *args: object, of: str | None = None, **named: object
    ) -> ScalarDerivatives:
        """The textbooks' tables of a graph of scalars, with numbers: forward, backward, naive.

        Inputs are given as for `evaluate`; `of` says which output.

        Parameters
        ----------
        *args, **named : number
            Inputs as `evaluate` takes them.
        of : str, optional
            Which output, if the graph has several.

        Returns
        -------
        ScalarDerivatives
        Values, tangents and partials by node; `side_by_side()` prints the tables.

        Raises
        ------
        InputError, ShapeError
        If inputs do not fit, or a value of the graph is no scalar.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sin(x) * x, x=())
        >>> graph.scalar_derivatives(x=0.0).partials[graph.nodes[-1], 1]
        0.0
        """
        given = given_inputs(self.dag.inputs, args, named, ("of",))
        return scalar_derivatives(self.dag, output_of(self.dag, of), given)

    def connection(self, wrt: str | Array | Node, of: str | None = None) -> Connection:
        """Whether the derivative is connected, zero, disconnected or undefined, and the path.

        Parameters
        ----------
        wrt : str, Array or Node
            An input by name, or a value.
        of : str, optional
            Which output, if the graph has several.

        Returns
        -------
        Connection
        Its `kind` is the answer, `path` the nodes.

        Raises
        ------
        InputError
        If there is no such target or output.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.connection("x").kind
        'connected'
        """
        return connection(output_of(self.dag, of), target_of(self.dag, wrt))

    # -- simplification --------------------------------------------------------------------------
    def simplify(
        self,
        trust: Soundness = "rounding",
        strategy: Literal["greedy", "saturate"] = "greedy",
        rules: Rules = None,
        *,
        bounds: SaturationBounds | None = None,
    ) -> Graph:
        """The simplest equal graph the rules and the algebra find.

        A gradient graph is derived again from its stabilised forward part, so simplifying before
        and after differentiating reaches the same graph.

        Parameters
        ----------
        trust : "exact", "rounding" or "domain"
            Which rewrites are allowed: equal bit for bit; equal in exact arithmetic wherever the
            left side is defined (default); also where the left side gave NaN.
        strategy : "greedy" or "saturate"
            Rules one after the other; or, after that, equality saturation of small parts of the
            graph: every order of the same rules at once, and the cheapest of all that is equal. It
            takes seconds, needs `pip install "symgraph[saturate]"`, and is never worse.
        rules : RuleSet, RulePack, sequence of Rule or RulePack, optional
            Instead of the installed packs: `sg.default_rules().without("name")` leaves one out,
            `sg.default_rules().plus(mine)` adds one.
        bounds : SaturationBounds, optional
            How far `strategy="saturate"` goes.

        Returns
        -------
        Graph
        Of the same inputs and outputs; `explain` tells each step.

        Raises
        ------
        SymgraphError
            If there is no such strategy, or egglog is not installed.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.log(np.exp(x)) - x / 2, x="n")
        >>> graph.simplify().formula()
        0.5 * x
        """
        if strategy not in ("greedy", "saturate"):
            raise SymgraphError(
                f"There is no strategy {strategy!r}.", mend='Use "greedy" or "saturate".'
            )
        if trust not in SOUNDNESS:
            raise SymgraphError(
                f"There is no grade of trust {trust!r}.",
                mend=f"It is one of {', '.join(map(repr, SOUNDNESS))}.",
            )
        bounds = (bounds or SaturationBounds()) if strategy == "saturate" else None
        stage, history = simplified_stage(self._stage, trust, rules, bounds)
        return Graph(stage, history=history)

    # -- memory ----------------------------------------------------------------------------------
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

        Returns
        -------
        Graph
        Of the same values, with a schedule.

        Raises
        ------
        MemoryBudgetError
            If no schedule found fits; it names the least budget that does.
        InputError
            If no budget is given, it is no size, or the size of a dimension is missing.

        Examples
        --------
        >>> def deep(x):
        ...     for _ in range(20):
        ...         x = np.sin(x)
        ...     return np.sum(x)
        >>> graph = sg.trace(deep, x="n").gradient("x", value=False).simplify()
        >>> small = graph.checkpoint("100 kB", n=1000)
        >>> graph.memory(n=1000).peak_bytes, small.memory(n=1000).peak_bytes
        (152000, 96000)
        """
        checked_dims(dims, self.dag.outputs, self.dag.dims)
        if recompute is not None:
            dag = recomputed(self.dag, recompute, dims)
        elif memory is not None:
            dag = within(self.dag, bytes_of(memory), dims)
        else:
            raise InputError('Give a budget, as in checkpoint("64 MB").')
        return Graph(Stage(dag, before=self._stage.before), history=self.history.log)

    # -- numbers ---------------------------------------------------------------------------------
    def lower(
        self, backend: str = "numpy", *, check_facts: bool = False, **options: object
    ) -> Lowered:
        """A callable that computes the outputs fast.

        Parameters
        ----------
        backend : str
            `"numpy"`, `"jax"`, or any installed one.
        check_facts : bool
            Check at each call that inputs satisfy the facts stated of them.
        **options
            The backend's own, such as `numpy_out` of `"jax"`.

        Returns
        -------
        Lowered
        A function of the inputs, by position or name, that gives fresh arrays; its `source` is
        text.

        Raises
        ------
        BackendError
        If the backend is unknown, not installed, or does not know an option.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> compute = graph.lower()
        >>> compute(np.zeros(2))
        array(2.)
        """
        lowered = lower(self.dag, backend, **options)
        return lowered if not check_facts else lowered.guarded(self.check_inputs)


def diff(before: Graph, after: Graph) -> Difference:
    """Nodes kept, removed and added from one graph to another; prints side by side.

    Graphs of different traces are compared by the names of their inputs.

    Parameters
    ----------
    before, after : Graph

    Returns
    -------
    Difference
    Its `removed` and `added` are nodes.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.log(np.exp(x)), x=(3,))
    >>> [node.op.name for node in sg.diff(graph, graph.simplify()).removed]
    ['exp', 'log']
    """
    return before.diff(after)
