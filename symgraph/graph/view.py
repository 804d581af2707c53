"""View, a graph as it stands: its nodes, what it costs, its values, and how it is shown.

`Graph` is a view with the stages of the pipeline. Nothing here makes another graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..array.handle import Array
from ..errors import FactError, InputError
from ..export import graph_text, networkx_graphs
from ..export.graph_difference import Difference
from ..export.svg import image
from ..facts import Fact
from ..ir.dag import Dag
from ..ir.fact_inference import Knowledge
from ..ir.immutable import Immutable
from ..ir.interpreter import bound_inputs, check_facts, evaluate, given_inputs
from ..ir.invariants import verify
from ..ir.node import Node
from ..ir.origins import origins
from ..other_names import INSTEAD_IN_GRAPHS
from . import formats, interchange, measures, plots, views
from .explain import Format, Grains, explained
from .history import History

if TYPE_CHECKING:
    import networkx as nx


__all__ = ["View"]


class View(Immutable):
    """Named inputs, outputs and the DAG between them.

    Parameters
    ----------
    dag : Dag
        The nodes.
    history : History
        The rewrites that led here.
    """

    def __init__(self, dag: Dag, history: History[Any]) -> None:
        self.dag = dag
        self.history = history

    if not TYPE_CHECKING:  # a type checker tells of the names that there are not

        def __getattr__(self, name: str) -> Any:
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in INSTEAD_IN_GRAPHS:
                told = f"{told}. {INSTEAD_IN_GRAPHS[name]}"
            raise AttributeError(told, name=name, obj=self)  # Python tells what was meant.

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
        """The networkx DAG (read-only): keys are nodes, an edge's `slots` the operand positions.

        Nodes have the attributes `name`, `op`, `expression`, `shape`, `dtype`, `role`, `origin`,
        `scope`, `flops` and `outputs`. All attributes are texts, which networkx's writers of files
        take; `to_networkx()` gives a graph whose nodes are texts, too.
        """
        graph = self.dag.nx
        if self.nodes and "op" not in graph.nodes[self.nodes[0]]:
            for node, told in networkx_graphs.attributes(self.dag).items():
                graph.nodes[node].update(told)
        return graph

    def get_operation(self, node: Node) -> Any:
        """The operation that makes `node`.

        Parameters
        ----------
        node : Node
            Of this graph.

        Returns
        -------
        Op
            Its record: name, kernel, derivative.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.get_operation(graph.nodes[-1]).name
        'sum'
        """
        return node.op

    def get_inputs(self, node: Node) -> tuple[Node, ...]:
        """The operands of `node`, in order.

        Parameters
        ----------
        node : Node
            Of this graph.

        Returns
        -------
        tuple of Node
            None for an input or a constant.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> [node.op.name for node in graph.get_inputs(graph.nodes[-1])]
        ['exp']
        """
        return node.operands

    def get_consumers(self, node: Node) -> tuple[Node, ...]:
        """The nodes that use `node`, each once.

        Parameters
        ----------
        node : Node
            Of this graph.

        Returns
        -------
        tuple of Node
            None for one that is an output alone.

        Raises
        ------
        KeyError
            If the node is not in this graph.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> [node.op.name for node in graph.get_consumers(graph.inputs["x"].node)]
        ['exp']
        """
        return tuple(dict.fromkeys(user for user, _ in self.dag.uses[node]))

    # -- what it costs ---------------------------------------------------------------------------
    op_count = measures.op_count
    flops = measures.flops
    bytes_moved = measures.bytes_moved
    cost = measures.cost
    memory = measures.memory
    memory_frontier = measures.memory_frontier
    memory_plan = measures.memory_plan
    plot_memory = plots.plot_memory
    plot_cost = plots.plot_cost

    # -- numbers ---------------------------------------------------------------------------------
    def evaluate(
        self,
        /,
        *args: object,
        check_facts: bool = False,
        **named: object,
    ) -> Any:
        """The outputs on numbers, by the plain interpreter: the reference for every faster path.

        Parameters
        ----------
        *args : array_like, or one mapping
            Inputs in their order, of the declared shapes and of dtypes that lose nothing; or a
            mapping by name, for names that are keywords of `evaluate`.
        check_facts : bool
            Check first that inputs satisfy the facts stated of them.
        **named : array_like
            Inputs by name.

        Returns
        -------
        ndarray, or tuples and dicts of them
            Fresh arrays, grouped as the graph's outputs are.

        Raises
        ------
        InputError
            Missing or unknown inputs, one given twice, shapes and dtypes that do not fit.
        FactError
            If `check_facts` finds a fact that does not hold.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.evaluate(x=[0.0, 0.0])
        array(2.)
        """
        given = given_inputs(self.dag.inputs, args, named, ("check_facts",))
        if check_facts:
            self.check_inputs(**given)
        return self.dag.regroup(evaluate(self.dag, given))

    def check_inputs(self, /, *args: object, **named: object) -> None:
        """Check numbers, given as for `evaluate`, against the declared shapes, dtypes and facts.

        Parameters
        ----------
        *args, **named : array_like
            Inputs as `evaluate` takes them.

        Raises
        ------
        InputError
            Missing or unknown inputs, shapes and dtypes that do not fit.
        FactError
            If a stated fact does not hold; it names the element.

        Examples
        --------
        >>> graph = sg.trace(np.log, sg.spec("n", assume=sg.positive))
        >>> graph.check_inputs(x=[1.0, -2.0])
        Traceback (most recent call last):
        symgraph.errors.FactError: Input 'x' is not positive, as was stated of it...
        """
        given = given_inputs(self.dag.inputs, args, named)
        arrays, _ = bound_inputs(self.dag.inputs, given)
        check_facts(self.dag.inputs, arrays)

    # -- inspection ------------------------------------------------------------------------------
    def explain(
        self,
        node: Node | Array | str | None = None,
        *,
        format: Format = "text",
        grains: Grains | None = None,
    ) -> Any:
        """The derivation: each rule that fired, where, before and after, and why it is sound.

        Parameters
        ----------
        node : Node, Array or str, optional
            A value (or an output's name): the user's line, the vjp, and the steps that led to it.
        format : "text", "latex", "align", "markdown" or "data"
            "latex" is for the inside of a formula, "align" a display of a document, one equation a
            step. Data is a list of dicts that JSON can hold.
        grains : collection of str, optional
            Only entries of these: `origin`, `rule`, `region`, `choice`, `bookkeeping`.

        Returns
        -------
        str, or list of dict
            As `format` asks.

        Raises
        ------
        InputError
            If no input or output has the name.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> small = graph.gradient("x").simplify()
        >>> "times_one [exact]" in small.explain()
        True
        """
        found = None if node is None else self._node(node)
        return explained(
            self.history.log,
            found,
            origin=None if found is None else origins(self.dag.nodes).get(found),
            format=format,
            grains=grains,
        )

    def why(self, node: Node | Array | str, fact: Fact) -> str:
        """Where a fact about a value comes from.

        Parameters
        ----------
        node : Node, Array or str
            A value of this graph, or the name of an input or output.
        fact : Fact
            Such as `sg.positive`.

        Returns
        -------
        str
            The steps from the stated facts, or that the fact is not known.

        Raises
        ------
        InputError, FactError
            If there is no such name, or it is no fact.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.why("out", sg.nonnegative)
        'nonnegative: <sum ... float64[]> at ...: by sum...'
        """
        if not isinstance(fact, Fact):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FactError(f"{fact!r} is no fact.", mend="Ask for one, such as sg.positive.")
        return Knowledge().why(self._node(node), fact)

    def diff(self, other: View) -> Difference:
        """The nodes that only `other` or only this graph has; prints side by side.

        Parameters
        ----------
        other : View
            A later stage of this graph, or another one.

        Returns
        -------
        Difference
            Its `removed` and `added` are nodes.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> len(graph.diff(graph.gradient("x")).added) > 0
        True
        """
        return views.diff(self, other)

    def _node(self, value: Node | Array | str) -> Node:
        if isinstance(value, str):
            named = {**self.inputs, **self.outputs}
            if value not in named:
                raise InputError(
                    f"No input or output is named {value!r}.",
                    mend=f"The names are {', '.join(named)}.",
                )
            value = named[value]
        return value.node if isinstance(value, Array) else value

    # -- written out -----------------------------------------------------------------------------
    to_python = formats.to_python
    to_latex = formats.to_latex
    formula = formats.formula
    to_dot = formats.to_dot
    to_svg = formats.to_svg
    to_png = views.to_png
    tree = views.tree
    table = views.table_of
    code = views.code
    to_mermaid = formats.to_mermaid
    to_graphml = interchange.to_graphml
    to_networkx = interchange.to_networkx
    to_sympy = interchange.to_sympy
    to_onnx = interchange.to_onnx
    to_stablehlo = interchange.to_stablehlo
    save = formats.save
    explore = formats.explore

    def to_json(self) -> str:
        """The graph as text that `sg.load` reads; `Graph` writes it, for it knows the stages."""
        raise NotImplementedError

    def verify(self) -> None:
        """Check the invariants of the graph.

        Raises
        ------
        VerifyError
            It names the node and the invariant that it breaks.

        Examples
        --------
        >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
        >>> graph.verify()
        """
        verify(self.dag)

    def __str__(self) -> str:
        return graph_text.render(self.dag, self.history)

    def __repr__(self) -> str:
        return (
            f"<Graph ({', '.join(self.dag.inputs)}) -> ({', '.join(self.dag.names)}): "
            f"{len(self.dag)} nodes, {self.op_count()} operations>"
        )

    def __len__(self) -> int:
        return len(self.dag)

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        picture = self.to_svg()
        return {
            "text/plain": str(self),
            "image/svg+xml": picture,
            # An image that holds its data is shown in a notebook that is not trusted, too.
            "text/html": image(picture, repr(self)),
        }
