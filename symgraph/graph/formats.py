"""A graph written out: as source, formula, picture or file.

The functions are the methods of `View` of the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from .. import explorer as pages
from ..errors import InputError
from ..export import constants, dot, graph_text, latex, mermaid, networkx_graphs, python, svg
from ..export.latex import Form, Formula
from .explain import Format
from .history import History
from .interchange import to_graphml, to_onnx, to_stablehlo
from .measures import HasDag
from .views import to_png

__all__ = [
    "WRITERS",
    "explore",
    "formula",
    "save",
    "to_dot",
    "to_latex",
    "to_mermaid",
    "to_python",
    "to_svg",
    "writer_of",
]


class Derived(HasDag, Protocol):
    """A graph that knows the steps that led to it."""

    history: History[Any]


class Written(Derived, Protocol):
    """A graph that also writes itself as JSON and as text."""

    def to_json(self) -> str:
        """The graph as a JSON document."""
        ...

    def explain(self, *, format: Format = "text") -> Any:
        """The derivation."""
        ...


def to_python(self: HasDag) -> str:
    """Self-contained NumPy source, `def function(np, **inputs)`, one line a node.

    Operations that NumPy lacks (a loop, a scatter, a triangular solve) are written out above it.
    So is the kernel of a custom operation, if its source can be read and refers to modules and
    numbers only; others are an argument, `def function(np, kernels, **inputs)`: a mapping from
    names of operations to functions.

    Returns
    -------
    str
        Source that needs an array namespace and nothing else.

    Raises
    ------
    BackendError
        If a param of an operation or a size has no source.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> print(graph.to_python().splitlines()[0])
    def function(np, **inputs):
    """
    return python.to_python(self.dag)


def to_latex(self: HasDag, form: Form = "matrix") -> str:
    r"""The outputs as equations, such as `X^\top (\sigma(X w) - y)`; shared parts are named.

    In the matrix form products of matrices have no sign, products of elements have ⊙, functions
    and powers of the elements of a matrix have a circle, and a vector that is added to each row is
    $\mathbf{1} b^\top$. The index form gives each element by its indices; a function that mixes
    elements, such as an inverse, has them behind it.

    Parameters
    ----------
    form : "matrix" or "index"

    Returns
    -------
    str
        For the inside of a formula.

    Raises
    ------
    InputError
        If there is no such form.

    Examples
    --------
    >>> graph = sg.trace(lambda A, x: np.exp(A @ x), A="m, n", x="n")
    >>> print(graph.to_latex())
    f = e^{A x}
    >>> print(graph.to_latex("index"))
    f_{i} = e^{\sum_{j=1}^{n} A_{ij} \, x_{j}}
    """
    return latex.latex(self.dag, form)


def formula(self: HasDag) -> Formula:
    """The outputs as formulas: prints as text, shows as mathematics in notebooks.

    Returns
    -------
    Formula
        Text where it is printed, mathematics in notebooks.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.formula()
    sum(exp(x))
    """
    return Formula(graph_text.formula(self.dag), to_latex(self))


def to_dot(self: HasDag) -> str:
    """Graphviz text.

    Returns
    -------
    str
        For `dot -Tsvg`.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.to_dot().startswith("digraph")
    True
    """
    return dot.render(self.dag)


def to_mermaid(self: HasDag) -> str:
    """A Mermaid flowchart, which Markdown viewers draw up to some hundreds of edges.

    Returns
    -------
    str
        For a block of Markdown that is marked `mermaid`.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> print(graph.to_mermaid().splitlines()[1])
        n0["x<br/>float64#91;n#93;"]:::given
    """
    return mermaid.render(self.dag)


def to_svg(self: HasDag, *, fold: bool | None = None) -> str:
    """A picture: forward runs down, the gradient up beside the values whose adjoints it holds.

    Parameters
    ----------
    fold : bool, optional
        Whether repeated blocks and long stretches are one box each; by default where there are more
        than 70 boxes.

    Returns
    -------
    str
        A whole document.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.to_svg().startswith("<svg")
    True
    """
    return svg.render(self.dag, fold=fold)


def explore(
    self: Derived, path: str | Path | None = None, *, values: Mapping[str, object] | None = None
) -> pages.Explorer:
    """A page to look into the graph and its derivation: one file, which needs no network.

    The slider leads from the trace to the graph, step by step; what a step leaves alone keeps its
    place. A click on a value tells its operation, type, cost, facts and why they hold, the rules
    that shaped it and the user's line. Large graphs open folded.

    Parameters
    ----------
    path : str or Path, optional
        The file to write. Without it the page is only returned; a notebook shows it.
    values : mapping of str to array_like, optional
        Inputs by name; the page then tells the value of each node.

    Returns
    -------
    Explorer
        Its `html` is the page.

    Raises
    ------
    InputError
        If values are missing, unknown, or of another shape or dtype.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.log(np.exp(x))), x="n").gradient("x").simplify()
    >>> page = graph.explore(values={"x": [0.5, 2.0]})
    >>> page.html.startswith("<!doctype html>")
    True
    """
    page = pages.explorer(self.dag, self.history.log, values)
    if path is not None:
        Path(path).write_bytes(page.html.encode("utf-8"))
    return page


def save(self: Written, path: str | Path) -> None:
    """Write the graph in the format its suffix names.

    These are .json, which `sg.load` reads, .svg, .png (if a renderer is installed), .html (the
    explorer), .dot, .mmd (Mermaid), .graphml, .gexf (Gephi), .onnx, .mlir (StableHLO, for graphs
    without named dimensions), .txt, .tex, .py, .md (the derivation) and .npz (the constants, in the
    order of the nodes).

    Parameters
    ----------
    path : str or Path
        Its suffix names the format; a file of that name is replaced.

    Raises
    ------
    InputError
        If the suffix names no format.
    BackendError
        If the format cannot hold an operation of the graph.
    SymgraphError
        If the format needs a package that is not installed.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "g.json"
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.save(path)
    >>> sg.load(path).formula()
    sum(exp(x))
    """
    target = Path(path)
    written = writer_of(target)(self)
    # Bytes: on no system does a line end otherwise.
    target.write_bytes(written if isinstance(written, bytes) else written.encode("utf-8"))


WRITERS: dict[str, Callable[[Written], str | bytes]] = {
    ".json": lambda graph: graph.to_json(),
    ".svg": to_svg,
    ".png": to_png,
    ".html": lambda graph: explore(graph).html,
    ".dot": to_dot,
    ".mmd": to_mermaid,
    ".graphml": to_graphml,
    ".gexf": lambda graph: networkx_graphs.gexf(graph.dag),
    ".onnx": lambda graph: to_onnx(graph).SerializeToString(),
    ".mlir": to_stablehlo,
    ".npz": lambda graph: constants.npz(graph.dag),
    ".md": lambda graph: graph.explain(format="markdown"),
    ".txt": str,
    ".tex": to_latex,
    ".py": to_python,
}
"""The function that writes a graph, for each suffix of files."""


def writer_of(path: Path) -> Callable[[Written], str | bytes]:
    """The function that writes a graph in the format of a file's suffix.

    Raises
    ------
    InputError
        If the suffix names no format.
    """
    if path.suffix not in WRITERS:
        raise InputError(
            f"{path.suffix or path.name!r} names no format.",
            mend=f"Use one of {', '.join(WRITERS)}.",
        )
    return WRITERS[path.suffix]
