"""Graph, the user's door: each method is one stage of the pipeline and gives a new graph.

    trace  →  gradient  →  simplify  →  checkpoint  →  lower

Nothing is changed in place, and every stage can be printed, drawn, explained and evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from .. import memory as plans
from ..array import Array
from ..backends.lowered import Lowered, lower
from ..errors import InputError, check_choice
from ..ir.dag import Dag
from ..ir.node import Node
from ..passes.simplify import EFFORTS, Effort, Rules
from ..rewriting.log import Log
from ..rewriting.rule import SOUNDNESS, Soundness
from ..saturation import SaturationBounds
from . import derivatives
from .checkpointing import Asked, scheduled
from .documents import document, read
from .history import History
from .interrupted import SimplifyInterrupted
from .kept import named, simplified_with_kept
from .progress_display import Told, telling
from .stage import Derive, Stage
from .stages import Interrupted, derived, simplified_stage
from .view import View

__all__ = ["Graph", "SimplifyInterrupted"]


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
        self._budget: tuple[int | float | str | None, dict[str, int]] = (None, {})
        log = Log() if history is None else history
        self.history: History[Graph] = History(log, self._stage.dag, Graph)
        super().__init__(self._stage.dag, self.history)

    # -- saved, loaded, sent ---------------------------------------------------------------------
    def to_json(self) -> str:
        """The graph as text that `sg.load` reads: canonical, and floats exact to the bit.

        It holds the graph it was derived from, the user's lines and the history, so a loaded
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
    gradient = derivatives.gradient
    jvp = derivatives.jvp
    vjp = derivatives.vjp
    jacobian = derivatives.jacobian
    hessian = derivatives.hessian
    hvp = derivatives.hvp
    scalar_derivatives = derivatives.scalar_derivatives
    connection = derivatives.connection

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
        stage, log = derived(
            self._stage,
            derive,
            again=all(isinstance(each, str) for each in wrt),
            chosen=lambda dag: named(dag, self._stage.kept, strict=False),
        )
        return Graph(stage, history=log)

    # -- simplification --------------------------------------------------------------------------
    def simplify(
        self,
        trust: Soundness = "rounding",
        strategy: Literal["greedy", "saturate"] = "greedy",
        rules: Rules = None,
        *,
        bounds: SaturationBounds | None = None,
        effort: Effort = "normal",
        keep: str | Sequence[str] | bool | None = None,
        progress: Told = None,
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
        effort : "low", "normal" or "high"
            How long to look. Low: one round, each value looked at a bounded number of times; above
            60 nodes by rules alone, without the algebra of sums and products. Normal: rounds until
            nothing changes; above 60 nodes, until a round gains less than 1 % of the operations;
            above 3,000 nodes, as low. High: rounds until nothing changes; above 3,000 nodes, one
            round with the algebra. A graph that had less is simplified from the graph before that,
            so the result is what it would have been at once.
        keep : str, sequence of str, or bool
            Values that stay, by the names you gave them: variables of the traced function, or
            names of `sg.name`. True keeps all of them. Rules see neither through nor across a kept
            value. It is still left out where no output needs it. The graph remembers the names:
            by default its `simplify`, also that of its derivatives, keeps them again. False keeps
            none.
        progress : bool or callable, optional
            True shows a line on stderr that tells how far the work is, False shows nothing. By
            default the line is shown after a second, on a terminal or in a notebook. A callable is
            called with each `Progress`, at most ten times a second.

        Returns
        -------
        Graph
            Of the same inputs and outputs; `explain` tells each step.

        Raises
        ------
        SymgraphError
            If there is no such strategy, or egglog is not installed.
        InputError
            If no value of the function has a name that is to be kept.
        SimplifyInterrupted
            At Ctrl-C; its `graph` is the simplest equal graph found so far.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.log(np.exp(x)) - x / 2, x="n")
        >>> graph.simplify().formula()
        0.5 * x

        A value that the reader knows may stay, although the formula is shorter without it:

        >>> graph = sg.trace(lambda x: np.log(sg.name(np.exp(x), "growth")), x="n")
        >>> graph.simplify(keep="growth").formula()
        log(exp(x))
        """
        check_choice("strategy", strategy, ("greedy", "saturate"))
        check_choice("grade of trust", trust, SOUNDNESS)
        check_choice("effort", effort, EFFORTS)
        if self.dag.schedule is not None:
            options: dict[str, Any] = {"trust": trust, "strategy": strategy, "rules": rules}
            return self._planned_again(
                {**options, "bounds": bounds, "effort": effort, "keep": keep, "progress": progress}
            )
        bounds = (bounds or SaturationBounds()) if strategy == "saturate" else None
        try:
            with telling(progress, "simplify"):
                found, log = simplified_with_kept(
                    self._stage,
                    keep,
                    lambda stage: simplified_stage(stage, trust, rules, bounds, effort),
                )
        except Interrupted as stop:
            best = Graph(stop.stage, history=stop.log)
            raise SimplifyInterrupted(best, self.op_count()) from None
        except KeyboardInterrupt:
            raise SimplifyInterrupted(self, self.op_count()) from None
        return Graph(found, history=log)

    def _with(self, dag: Dag) -> Stage:
        """The stage of a graph of the same values in another order."""
        return Stage(dag, before=self._stage.before, kept=self._stage.kept)

    def _planned_again(self, options: dict[str, Any]) -> Graph:
        """Simplified without the plan, and planned for the same budget."""
        memory, dims = self._budget
        if memory is None:
            raise InputError(
                "simplify would lose the plan of this graph.",
                mend="Simplify the graph first, then call checkpoint.",
            )
        plain = Graph(self._with(plans.without_copies(self.dag)))
        checkpoint: Any = plain.simplify(**options).checkpoint
        return checkpoint(memory, **dims)

    # -- memory ----------------------------------------------------------------------------------
    def checkpoint(
        self,
        memory: int | float | str | None = None,
        *,
        keep: Sequence[Node | Array | str] = (),
        recompute: Sequence[Node | Array | str] | None = None,
        cost: plans.Cost = "flops",
        time_limit: float | None = None,
        progress: Told = None,
        **dims: int,
    ) -> Graph:
        """The same values within a memory budget: forward nodes are computed again, not kept.

        A loop (`scan`) keeps all that its gradient reads, or the carries alone, or those of every
        k-th step, by the budget; but not where `keep`, `recompute` or `cost` is given.

        Parameters
        ----------
        memory : int, float or str
            Whole bytes, text such as `"64 MB"`, or `"70%"` of the peak without a plan.
        keep : sequence of Node, Array or str, optional
            Values, or names of outputs, that are never computed again.
        recompute : sequence of Node, Array or str, optional
            Values to compute again for the gradient, with a budget or instead of one.
        cost : "flops", "measured" or callable
            What recomputation costs: operations, the time each kernel takes here on arrays of
            these sizes, or a number for each node.
        time_limit : float, optional
            Seconds after which no new plan is looked for; the best so far is taken. The quickest
            of the searches is made in any case.
        progress : bool or callable, optional
            As for `simplify`.
        **dims : int
            A size for each named dimension.

        Returns
        -------
        Graph
            Of the same values, with a schedule. Its `simplify` simplifies the graph without the
            plan, and plans again for the same budget; it raises if an option was given.

        Raises
        ------
        MemoryBudgetError
            If no schedule found fits; it names the least budget that does (`least_bytes`), and
            the bytes that every schedule needs (`bound_bytes`).
        InputError
            If no budget is given, it is no size, the size of a dimension is missing, or a value
            is not computed by the graph.

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
        nodes = [self._node(each) for each in keep]
        again = None if recompute is None else [self._node(each) for each in recompute]
        asked = Asked(memory, nodes, again, cost, time_limit)
        dag = scheduled(self.dag, asked, dims, progress)
        planned = Graph(self._with(dag), history=self.history.log)
        planned._budget = (memory if asked.repeatable else None, dims)
        return planned

    # -- numbers ---------------------------------------------------------------------------------
    def lower(
        self,
        backend: str = "numpy",
        *,
        check_facts: bool = False,
        debug: Literal["nan", "inf"] | None = None,
        **options: object,
    ) -> Lowered:
        """A callable that computes the outputs fast.

        Parameters
        ----------
        backend : str
            `"numpy"`, `"jax"`, or any installed one.
        check_facts : bool
            Check at each call that inputs satisfy the facts stated of them.
        debug : {"nan", "inf"}, optional
            Raise if a result holds a NaN, or with "inf" an infinity, too. The error names the first
            operation that gave one on the way to the result, your line, of a gradient the forward
            line, and the operands. The program and its numbers stay the same; each call looks
            through the results once more, and a failing call computes all again, every value kept.
        **options
            The backend's own, such as `numpy_out` of `"jax"`. With `floats=False` `"numpy"` runs
            graphs of scalars on NumPy's functions to the last bit, not on Python's floats.

        Returns
        -------
        Lowered
            A function of the inputs, by position or name, that gives fresh arrays; its `source` is
            text.

        Raises
        ------
        BackendError
            If the backend is unknown, not installed, or does not know an option.
        InputError
            If `debug` is neither.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> compute = graph.lower()
        >>> compute(np.zeros(2))
        array(2.)
        """
        lowered = lower(self.dag, backend, debug=debug, **options)
        return lowered if not check_facts else lowered.guarded(self.check_inputs)
