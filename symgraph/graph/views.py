"""A graph in other views: a tree, a table, code, a PNG, and beside another graph.

The functions are methods of `View`, but for `side_by_side` and `diff`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from ..errors import InputError
from ..export import graph_text, networkx_graphs, svg
from ..export.graph_difference import Difference, difference
from ..export.png import png
from ..ir.dag import Dag
from ..ir.html_tables import bundle, table
from ..lowering.functional import functional
from ..records import record
from .measures import HasDag

__all__ = [
    "SideBySide",
    "Table",
    "Text",
    "code",
    "diff",
    "side_by_side",
    "table_of",
    "to_png",
    "tree",
]


class Text(str):
    """A text that a cell of a notebook shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class PythonSource(Text):
    """Python source, which a notebook colours."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        fence = "```"
        while fence in self:
            fence += "`"
        return f"{fence}python\n{self}\n{fence}"


@record(repr=False)
class Table:
    """The nodes of a graph, one row each; prints in columns.

    Parameters
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        listed = [self.columns, *self.rows]
        widths = [min(max(len(row[i]) for row in listed), 60) for i in range(len(self.columns))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in listed
        )

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.rows)

    def to_data(self) -> list[dict[str, str]]:
        """One dict a row, which JSON can hold and data frames take."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        return bundle(self, table(self.columns, self.rows))


def tree(self: HasDag, *, most: int = 10_000) -> Text:
    """The graph as a tree below each output; a value that was printed above is only named again.

    Parameters
    ----------
    most : int
        The largest number of lines.

    Returns
    -------
    Text
        A str.

    Examples
    --------
    >>> sg.trace(lambda x: np.sum(np.exp(x)), x="n").tree()
    out: v2 = sum(v1)   float64[]
      v1 = exp(x)   float64[n]
        x   float64[n]
    """
    return Text(graph_text.tree(self.dag, most=most))


def table_of(self: HasDag) -> Table:
    """The nodes as a table: name, operation, expression, shape, dtype, role, line, scope, flops.

    Returns
    -------
    Table
        Its `to_data()` is a list of dicts.

    Examples
    --------
    >>> found = sg.trace(lambda x: np.sum(np.exp(x)), x="n").table()
    >>> [row["op"] for row in found.to_data()]
    ['input', 'exp', 'sum']
    """
    told = list(networkx_graphs.attributes(self.dag).values())
    columns = tuple(told[0]) if told else ()
    return Table(columns, tuple([tuple(row.values()) for row in told]))


def code(self: HasDag) -> PythonSource:
    """The graph as NumPy source, as `to_python` gives it; a notebook colours it.

    Returns
    -------
    Text
        A str.

    Raises
    ------
    BackendError
        As `to_python`.

    Examples
    --------
    >>> print(sg.trace(lambda x: np.exp(x), x="n").code().splitlines()[0])
    def function(np, **inputs):
    """
    return PythonSource(functional(self.dag))


def to_png(self: HasDag, *, scale: float = 2.0, fold: bool | None = None) -> bytes:
    r"""The picture of `to_svg` as a PNG on white, for papers and for viewers that show no SVG.

    Parameters
    ----------
    scale : float
        Pixels for each unit of the picture, from 0.1 to 10.
    fold : bool, optional
        As for `to_svg`.

    Returns
    -------
    bytes
        A whole file.

    Raises
    ------
    SymgraphError
        If no renderer is installed: `pip install "symgraph[png]"`.
    InputError
        If the scale is out of range.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> graph.to_png()[:4]  # doctest: +SKIP
    b'\x89PNG'
    """
    if not (isfinite(scale) and 0.1 <= scale <= 10):
        raise InputError(f"A picture cannot be scaled by {scale}.", mend="Use 0.1 to 10.")
    return png(svg.render(self.dag, fold=fold), scale)


@record(repr=False)
class SideBySide:
    """Graphs beside one another; prints their listings, shows their pictures in notebooks.

    Parameters
    ----------
    graphs : tuple of Graph
    titles : tuple of str
    """

    graphs: tuple[HasDag, ...]
    titles: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.graphs) == 2:
            return str(difference(self.graphs[0].dag, self.graphs[1].dag))
        pairs = zip(self.titles, self.graphs, strict=True)
        return "\n\n".join(f"{title}\n{graph}".strip() for title, graph in pairs)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        cells: list[str] = []
        for title, graph in zip(self.titles, self.graphs, strict=True):
            picture = svg.image(svg.render(graph.dag, title), title or "a graph")
            cells.append(f'<div style="flex:1 1 360px;min-width:0">{picture}</div>')
        style = "display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start"
        return bundle(self, f'<div style="{style}">{"".join(cells)}</div>')


def side_by_side(*graphs: HasDag, titles: Sequence[str] = ()) -> SideBySide:
    """Graphs beside one another: pictures in a notebook, the differences in print.

    Parameters
    ----------
    *graphs : Graph
        Two or more.
    titles : sequence of str, optional
        One for each graph.

    Returns
    -------
    SideBySide

    Raises
    ------
    InputError
        If there are fewer than two graphs, or not as many titles.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.log(np.exp(x)), x="n")
    >>> print(sg.side_by_side(graph, graph.simplify()))
    1 kept, 2 removed, 0 added
      x: input       | x: input → out
    - v1 = exp(x)    |
    - v2 = log(v1) → out |
    """
    if len(graphs) < 2:
        raise InputError("side_by_side shows two graphs or more.")
    dags = [_dag_of(each) for each in graphs]
    if titles and len(titles) != len(dags):
        raise InputError(f"There are {len(dags)} graphs and {len(titles)} titles.")
    return SideBySide(graphs, tuple(titles) or ("",) * len(graphs))


def diff(before: HasDag, after: HasDag) -> Difference:
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
    return difference(_dag_of(before), _dag_of(after))


def _dag_of(graph: object) -> Dag:
    dag = getattr(graph, "dag", None)
    if not isinstance(dag, Dag):
        raise InputError(
            f"{graph!r} is no graph.", mend="sg.trace(f, x=...) makes one of a function."
        )
    return dag
