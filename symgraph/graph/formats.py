"""A graph written out: as source, formula, picture or file.

The functions are the methods of `View` of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ..errors import InputError
from ..export import dot, latex, python, svg, text
from ..export.latex import Formula
from .measures import HasDag

__all__ = ["formula", "save", "to_dot", "to_latex", "to_python", "to_svg"]


class Written(HasDag, Protocol):
    """A graph that also writes itself as JSON and as text."""

    def to_json(self) -> str:
        """The graph as a JSON document."""
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


def to_latex(self: HasDag) -> str:
    r"""The outputs as equations, such as `X^\top (\sigma(X w) - y)`; shared parts are named.

    Returns
    -------
    str
        For the inside of a formula.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x="n")
    >>> print(graph.to_latex())
    f = \sum_{i} \left(e^{x}\right)_{i}
    """
    return latex.latex(self.dag)


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
    return Formula(text.formula(self.dag), to_latex(self))


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


def save(self: Written, path: str | Path) -> None:
    """Write the graph in the format its suffix names: .json, .svg, .dot, .txt, .tex or .py.

    `sg.load` reads a .json file.

    Parameters
    ----------
    path : str or Path
        Its suffix names the format; a file of that name is replaced.

    Raises
    ------
    InputError
        If the suffix names no format.
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
    formats: dict[str, Callable[[], str]] = {
        ".json": self.to_json,
        ".svg": lambda: to_svg(self),
        ".dot": lambda: to_dot(self),
        ".txt": self.__str__,
        ".tex": lambda: to_latex(self),
        ".py": lambda: to_python(self),
    }
    if target.suffix not in formats:
        raise InputError(
            f"{target.suffix or target.name!r} names no format.",
            mend=f"Use one of {', '.join(formats)}.",
        )
    # Bytes: on no system does a line end otherwise.
    target.write_bytes(formats[target.suffix]().encode("utf-8"))
