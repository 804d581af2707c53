"""A graph handed to other software: networkx, GraphML, SymPy, ONNX, StableHLO.

The functions are the methods of `View` of the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import onnx
from ..backends.stablehlo import to_stablehlo as stablehlo_text
from ..export import networkx_graphs
from .measures import HasDag
from .sympy_export import to_sympy as sympy_expressions

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["to_graphml", "to_networkx", "to_onnx", "to_stablehlo", "to_sympy"]


def to_networkx(self: HasDag) -> nx.MultiDiGraph[str]:
    """A networkx graph of plain texts, which networkx's writers of files take.

    Nodes are `n0`, `n1`, ... and have the attributes of `Graph.nx` and a `label`. Each operand has
    an edge of its own, whose `slot` is its position, so `x * x` has two.

    Returns
    -------
    networkx.MultiDiGraph

    Examples
    --------
    >>> graph = sg.trace(lambda x: x * x, x="n").to_networkx()
    >>> graph.nodes["n1"]["op"], graph.nodes["n1"]["flops"], graph.number_of_edges()
    ('multiply', 'n', 2)
    """
    return networkx_graphs.flat(self.dag)


def to_sympy(self: HasDag) -> dict[str, Any]:
    """The outputs as SymPy expressions, for graphs of scalars and matrices.

    Scalars are real symbols, matrices `MatrixSymbol`s of the same names.

    Returns
    -------
    dict of str to sympy.Basic
        By the names of the outputs.

    Raises
    ------
    SymgraphError
        If an operation has no SymPy expression; it names the operation and the user's line.

    Examples
    --------
    >>> graph = sg.trace(lambda x, y: np.exp(x) * y, x=(), y=())
    >>> graph.to_sympy()["out"]
    y*exp(x)
    """
    return sympy_expressions(self.dag)


def to_graphml(self: HasDag) -> str:
    """A GraphML document, which networkx, Gephi and yEd read; see `to_networkx`.

    Returns
    -------
    str
        A whole document.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> nx.parse_graphml(graph.to_graphml()).nodes["n1"]["op"]
    'exp'
    """
    return networkx_graphs.graphml(self.dag)


def to_onnx(self: HasDag) -> Any:
    """The graph as an ONNX model of operator set 20, for ONNX's engines and for Netron.

    Inputs and outputs keep their names, and named dimensions are parameters of the shapes; the
    model fails where two inputs disagree on one. Each node tells the operation and your line.
    Gradients are outputs like others. How results are grouped in tuples and dicts is lost.

    What ONNX cannot say with NumPy's meaning is refused. onnxruntime lacks some operators for
    some dtypes, such as `Tan` of float64, and then refuses the model when it is loaded. Of two
    things no model can take care: onnxruntime's `Where` loses the sign of a zero, and where NumPy
    raises an error, as for the maximum of no elements, a model gives a value or fails.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    SymgraphError
        If the package onnx is not installed: `pip install "symgraph[onnx]"`.
    BackendError
        If an operation, a dtype or a size has no counterpart; it names the operation and your line.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> model = graph.to_onnx()  # doctest: +SKIP
    >>> [node.op_type for node in model.graph.node]  # doctest: +SKIP
    ['Shape', 'Exp', 'ReduceSum', 'Identity']
    """
    return onnx.to_onnx(self.dag)


def to_stablehlo(self: HasDag, **sizes: int) -> str:
    """The graph as a StableHLO program, which XLA and other compilers for accelerators take.

    JAX writes it (`pip install "symgraph[jax]"`). `@main` has an argument for each input and a
    result for each output, in their order; arguments have the inputs' names where MLIR takes them,
    and a comment tells the others. Special functions that StableHLO lacks and JAX composes may be
    operations of the dialect CHLO, which comes with StableHLO.

    Parameters
    ----------
    **sizes : int
        The size of each named dimension: a program has one size.

    Returns
    -------
    str
        An MLIR module.

    Raises
    ------
    SymgraphError
        If JAX is not installed.
    InputError
        If a size is missing or unknown.
    BackendError
        If an operation has no counterpart, such as the QR decomposition and special functions that
        SciPy alone computes; it names the operation and your line.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> "func.func public @main(%x: tensor<8xf64>)" in graph.to_stablehlo(n=8)  # doctest: +SKIP
    True
    """
    return stablehlo_text(self.dag, sizes)
