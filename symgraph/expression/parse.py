"""The graph of an expression that is given as text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import DTypeLike

from ..array import lift
from ..errors import ExpressionError
from ..facts import Fact
from ..ir.dag import Dag
from ..ir.node import Origin, origin
from ..source import Frame
from .facts import parse_fact
from .reader import ExpressionReader
from .syntax import tree_of

__all__ = ["parse"]


def parse(
    text: str,
    *,
    shapes: Mapping[str, Any] | None = None,
    dtypes: Mapping[str, Any] | None = None,
    dtype: DTypeLike = "float64",
    facts: Iterable[str | tuple[str, Fact]] = (),
) -> Dag:
    """The graph of an expression. Its names become the inputs.

    The inputs are in the order in which their names appear. A name without a shape is a vector of
    length `n`, with the same `n` for all names.

    Parameters
    ----------
    text : str
        Operators and numbers of Python, functions by their NumPy names (see `functions`),
        `x[1:, 0]`, `x.T`, `x.sum(axis=0)`.
    shapes : mapping of str to shape, optional
        Shapes by name, as `sg.spec` takes them: `(3, 4)`, `"n, 10"`, `()`.
    dtypes : mapping of str to dtype, optional
        Dtypes by name.
    dtype : dtype
        The dtype of names that are not in `dtypes`.
    facts : iterable of str or (str, Fact)
        The facts of names, such as `"p: simplex"`.

    Raises
    ------
    ExpressionError
        If a part cannot be read or does not fit; the message points at its column.

    Examples
    --------
    >>> from symgraph.export.graph_text import formula
    >>> formula(parse("sum(x**2) / 2"))
    'sum(x**2) / 2'
    """
    text = text.strip()
    said: dict[str, list[Fact]] = {}
    for each in facts:
        name, fact = parse_fact(each) if isinstance(each, str) else each
        said.setdefault(name, []).append(fact)
    plain = {unicodedata.normalize("NFKC", name): shape for name, shape in (shapes or {}).items()}
    typed = {unicodedata.normalize("NFKC", name): each for name, each in (dtypes or {}).items()}
    tree = tree_of(text)
    reader = ExpressionReader(text, plain, typed, dtype, said)
    with origin(Origin((Frame("expression", 0, "", saved=text),))):
        value: Any = reader.read(tree)
        node = reader.applied(tree, lift, value)
    unknown = [name for name in (*plain, *typed, *said) if name not in reader.inputs]
    if unknown:
        raise ExpressionError(
            f"{unknown[0][:40]!r} does not occur in the expression.",
            mend=f"Its names are {', '.join(reader.inputs) or 'none'}.",
        )
    return Dag(reader.inputs, [node])
