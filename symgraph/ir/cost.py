"""The cost of a graph: operations by the convention for closed forms, flops, and bytes moved.

Operations: movement (transpose, reshape, broadcast, basic slicing), casts, constants and whatever
depends on constants only are free; every other operation counts one, composites what they are made
of; shared nodes count once.

Flops: elementwise 1 an element of the result, transcendental 10, reductions 1 an element of the
operand, contractions 2mnk, inverse 2n³, Cholesky n³/3, solve 2n³/3 + 2n²m.

Bytes: each operation reads its operands and writes its results, as if nothing were fused; views are
free, and a broadcast operand is read in the size it has in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..records import record
from .dims import Dim, is_named, names_of, normal, resolve, sized
from .html_tables import bundle, table
from .node import Node
from .walks import reachable, unrepeated

__all__ = [
    "NOMINAL_DIM",
    "Cost",
    "Share",
    "bytes_moved",
    "checked_dims",
    "cost",
    "flops",
    "node_bytes",
    "node_flops",
    "nominal",
    "op_count",
    "varying",
]


NOMINAL_DIM = 256
"""The size of each named dimension where a cost is wanted before sizes are known."""


def nominal(value: Dim) -> int:
    """A number of elements or operations where each named dimension is `NOMINAL_DIM`."""
    if isinstance(value, int):
        return value
    return int(resolve(value, dict.fromkeys(names_of(value), NOMINAL_DIM)))


def varying(outputs: Iterable[Node]) -> list[Node]:
    """Nodes that depend on an input, operands first: all that is computed at each call."""
    depends: set[Node] = set()
    found: list[Node] = []
    for node in reachable(outputs):
        if node.is_input or not depends.isdisjoint(node.operands):
            depends.add(node)
            found.append(node)
    return found


def op_count(outputs: Iterable[Node]) -> int:
    """Operations of the graph of `outputs`, by the convention above."""
    return sum([node.op.count for node in varying(outputs)])


def node_flops(node: Node) -> Dim:
    """Floating-point operations of one node; a formula where dimensions are named."""
    operands: list[Any] = [
        operand.results[0] if len(operand.results) == 1 else operand.results
        for operand in node.operands
    ]
    return node.op.flops(node.results[0], *operands, **node.params)


def node_bytes(node: Node) -> Dim:
    """Bytes that one node reads and writes; a formula where dimensions are named.

    0 for a view, and for what is there before the graph runs.
    """
    if node.op.view or node.is_input or node.is_constant or node.op.name == "dimension":
        return 0
    read = {unrepeated(operand): None for operand in node.operands}
    sizes: list[Any] = [_size(each) for each in (*read, node)]
    return normal(sum(sizes))


def _size(node: Node) -> Any:
    sizes: list[Any] = [aval.size * aval.dtype.itemsize for aval in node.results]
    return sum(sizes)


def flops(
    outputs: Iterable[Node], dims: Mapping[str, int] | None = None, known: Iterable[str] = ()
) -> Dim:
    """Floating-point operations of the graph of `outputs`.

    With `dims` given (a size for each named dimension) a number, else a formula in those that
    are left. Parameters and errors as `cost`.
    """
    return _total(map(node_flops, nodes := varying(outputs)), checked_dims(dims, nodes, known))


def bytes_moved(
    outputs: Iterable[Node], dims: Mapping[str, int] | None = None, known: Iterable[str] = ()
) -> Dim:
    """Bytes that the operations of `outputs` read and write; as `flops`."""
    return _total(map(node_bytes, nodes := varying(outputs)), checked_dims(dims, nodes, known))


def _total(parts: Iterable[Any], sizes: Mapping[str, int]) -> Dim:
    """The sum of formulas, many of them equal: each is added once, with its count."""
    total: Any = 0
    for part, count in Counter(parts).items():
        total = total + count * part
    return _at(total, sizes)


@record
class Share:
    """The cost of one node, or of all nodes of one operation.

    Parameters
    ----------
    nodes : int
    operations : int
        By the convention for closed forms.
    flops, bytes : int or sympy.Expr
    """

    nodes: int
    operations: int
    flops: Dim
    bytes: Dim


@record(repr=False)
class Cost:
    """The cost of a graph, in all, by operation and by node; prints as a table.

    Parameters
    ----------
    operations : int
        By the convention for closed forms.
    flops, bytes : int or sympy.Expr
        Formulas in the named dimensions that were given no size.
    by_op : mapping of str to Share
        By the operation's name, in order of first use.
    by_node : mapping of Node to Share
        Every node that is computed at each call, operands first.
    """

    operations: int
    flops: Dim
    bytes: Dim
    by_op: Mapping[str, Share]
    by_node: Mapping[Node, Share]

    @property
    def intensity(self) -> Any:
        """Flops a byte moved: below about 10 a processor waits for memory."""
        total: Any = self.flops
        return total / self.bytes if self.bytes else 0

    def _rows(self) -> list[list[str]]:
        rows = [["operation", "nodes", "operations", "flops", "bytes"]]
        for name, share in self.by_op.items():
            if share.operations or share.flops or share.bytes:
                rows.append([name, *map(str, (share.nodes, share.operations))])
                rows[-1] += [str(share.flops), str(share.bytes)]
        rows.append(["total", str(sum(each.nodes for each in self.by_op.values()))])
        rows[-1] += [str(self.operations), str(self.flops), str(self.bytes)]
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )

    __repr__ = __str__

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        head, *rows = self._rows()
        return bundle(self, table(head, rows, numbers=True))


def cost(
    outputs: Iterable[Node], dims: Mapping[str, int] | None = None, known: Iterable[str] = ()
) -> Cost:
    """The cost of the graph of `outputs`, in all and in parts.

    Parameters
    ----------
    outputs : iterable of Node
    dims : mapping of str to int, optional
        Sizes of named dimensions; formulas keep the other dimensions.
    known : iterable of str
        Further dimensions that may be named, such as dimensions of unused inputs.

    Raises
    ------
    InputError
        If a size is negative, or given for a dimension the graph does not have.
    """
    outputs = list(outputs)
    sizes = checked_dims(dims, outputs, known)
    by_name: dict[str, list[Share]] = {}
    by_node: dict[Node, Share] = {}
    kept: dict[Any, Dim] = {}
    for node in varying(outputs):
        if node.is_input:
            continue
        formulas = node_flops(node), node_bytes(node)
        for formula in formulas:
            if formula not in kept:
                kept[formula] = _at(formula, sizes)
        share = Share(1, node.op.count, kept[formulas[0]], kept[formulas[1]])
        by_node[node] = share
        by_name.setdefault(node.op.name, []).append(share)
    by_op = {
        name: Share(
            len(shares),
            sum(each.operations for each in shares),
            _total((each.flops for each in shares), {}),
            _total((each.bytes for each in shares), {}),
        )
        for name, shares in by_name.items()
    }
    whole = flops(outputs, dims, known), bytes_moved(outputs, dims, known)
    return Cost(op_count(outputs), *whole, by_op, by_node)


def _at(value: Any, sizes: Mapping[str, int]) -> Dim:
    return sized(value, sizes) if sizes and is_named(value) else normal(value)


def checked_dims(
    dims: Mapping[str, int] | None, nodes: Iterable[Node], known: Iterable[str]
) -> Mapping[str, int]:
    """`dims`, if each is a dimension of the graph and has a size.

    Raises
    ------
    InputError
        If a name is no dimension of the graph, or its size no nonnegative int.
    """
    if not dims:
        return {}
    names = dict.fromkeys(known)
    for node in reachable(nodes):
        names.update(dict.fromkeys(name for aval in node.results for name in aval.dim_names))
        names.update(
            dict.fromkeys(name for each in node.params.values() for name in names_of(each))
        )
    for name, size in dims.items():
        if name not in names:
            raise InputError(
                f"No dimension is named {name!r}.",
                mend=f"The named dimensions are {', '.join(names) or 'none'}.",
            )
        if isinstance(size, bool) or not isinstance(size, int | np.integer):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"A dimension is a whole number, not {name}={size!r}.")
        if size < 0:
            raise InputError(f"A dimension cannot be negative: {name}={size}.")
    return dims
