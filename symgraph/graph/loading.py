"""Loading: a file that `Graph.save` has written becomes the graph again."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from .graph import Graph

__all__ = ["load"]


def load(source: str | bytes | Path | IO[Any]) -> Graph:
    """The graph that `graph.save("g.json")` or `graph.to_json()` has written.

    Loading executes nothing: operations are looked up by name, and dtypes and shapes
    are inferred again and compared. A custom operation must be defined in this process.

    Parameters
    ----------
    source : path, file object, or the text itself
        Text that begins with `{` is the document, any other a path; bytes are the document.

    Returns
    -------
    Graph
        With its history, as it was saved.

    Raises
    ------
    FormatError
        If it is no saved graph, or of another version; it tells the path of the fault, such as
        `nodes[17].params.axis`.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> graph = sg.trace(lambda x: np.sum(np.exp(x)), x=(3,)).gradient("x")
    >>> again = sg.load(graph.to_json())
    >>> again.simplify().formula()
    out = sum(exp(x)); grad_x = exp(x)
    """
    if hasattr(source, "read"):
        source = source.read()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    elif isinstance(source, Path) or (isinstance(source, str) and not _is_document(source)):
        source = Path(source).read_bytes()
    if not isinstance(source, (str, bytes)):
        raise InputError(
            f"{source!r} is no saved graph.", mend="Give a path, a file object or the text."
        )
    return Graph.from_json(source)


def _is_document(text: str) -> bool:
    return text.lstrip().startswith("{")
