"""The program of a graph in which groups of statements are calls of compiled loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..ir.avals import Aval
from ..ir.body import Body
from ..ir.dims import Dim
from ..ir.node import Node
from ..lowering.drafts import Draft, array_draft
from ..lowering.source_pieces import Alias, Dimension, Line, Piece, Tabled
from ..records import record
from .entries import Entry, entry_of, is_small
from .group_formation import alone, grouped
from .groups import Group, Item
from .loop_plan import Parameter
from .modules import CompiledLoops, loops_of
from .products import Product, product_of
from .readings import Number
from .thread_parts import MOST_PARTS, Parts
from .tiles import Tile
from .writer import Machine

__all__ = ["Grouping"]

_MOST_SHOWN = 40
_WHOLE = (
    "All is one compiled function of arrays in row order. These lines run for other inputs, and in",
    "profiles:",
)


@dataclass
class Grouping:
    """Replaces groups of statements by calls of loops; a `Rewrite` of a program.

    Parameters
    ----------
    machine : Machine
    threads : int, optional
        How many threads compute parts of loops; if it is None, loops are not cut.
    in_bodies : bool
        Whether statements of the bodies of loops are grouped, too. Their inputs must be as
        declared, so no user's kernel may have computed them.
    series : str
        What the names of its loops begin with; it is not empty in bodies.

    Attributes
    ----------
    loops : Loops or None
        The loops, after the call; None if there are none.
    left : Counter of str
        The functions that are left to NumPy, and how often each is called.
    bodies : list of Grouping
        Those of bodies.
    in_blocks : bool
        Whether NumPy runs some of the statements in blocks, to read a matrix once.
    """

    machine: Machine
    threads: int | None = None
    in_bodies: bool = False
    series: str = ""
    loops: CompiledLoops | None = None
    left: Counter[str] = field(default_factory=Counter[str])
    bodies: list[Grouping] = field(default_factory=list["Grouping"])
    notes: tuple[str, ...] = ()
    in_blocks: bool = False

    def of_body(self) -> Grouping | None:
        """The grouping of the statements of a body."""
        if not self.in_bodies:
            return None
        series = f"{self.series}b{len(self.bodies)}_"
        self.bodies.append(Grouping(self.machine, self.threads, True, series))
        return self.bodies[-1]

    @property
    def used(self) -> bool:
        return any(each.loops is not None for each in self.all)

    @property
    def all(self) -> list[Grouping]:
        """The grouping itself and those of bodies."""
        return [self, *[one for each in self.bodies for one in each.all]]

    def __call__(
        self,
        drafts: Sequence[Draft],
        inputs: Mapping[str, Aval],
        constants: Mapping[str, Node],
        results: Sequence[str],
        new_name: Callable[[], str],
        left: Collection[str] = (),
    ) -> tuple[list[Draft], tuple[str, ...]]:
        avals = {**inputs, **{name: node.aval for name, node in constants.items()}}
        numbers = {
            name: Number(np.asarray(node.params["value"]).item(), node.dtype)
            for name, node in constants.items()
            if not node.shape
        }
        self.in_blocks = bool(left)
        parted = self.threads is not None
        items = grouped(drafts, avals, numbers, results, parted=parted, left=left)
        avals.update({d.target: d.line.avals[0] for d in drafts if len(d.line.avals) == 1})
        groups = [each for each in items if isinstance(each, Group)]
        products = self._products([each for each in items if isinstance(each, Draft)], avals)
        entry, alone = self._entry(items, inputs, constants, results, avals, numbers)
        for each in items:
            if entry is None and isinstance(each, Draft) and each.target not in products:
                self.left[_function(each)] += 1
        notes = tuple([note for each in self.bodies for note in each.notes])
        if not groups and not products and entry is None:
            self.notes = notes
            return list(drafts), notes
        tiles = [*dict.fromkeys([each.tile for each in products.values()])]
        self.loops = loops_of(
            [*groups, *alone], tiles, avals, self.machine, entry=entry, series=self.series
        )
        doubted = {each.target for each in drafts if _runs_custom(each.node)}
        found = self._called(items, products, _Operands(avals, set(), doubted), new_name)
        whole = () if entry is None else _WHOLE
        self.notes = (*whole, *notes, *self._notes(groups, tiles))
        return found, self.notes

    def _entry(
        self,
        items: Sequence[Item],
        inputs: Mapping[str, Aval],
        constants: Mapping[str, Node],
        results: Sequence[str],
        avals: Mapping[str, Aval],
        numbers: Mapping[str, Number],
    ) -> tuple[Entry | None, list[Group]]:
        """The program as one function, and its groups of one statement."""
        if self.series or not all(map(is_small, avals.values())):
            return None, []
        single = {
            number: group
            for number, each in enumerate(items)
            if isinstance(each, Draft)
            for group in [alone(each, avals, numbers)]
            if group is not None
        }
        whole = [single.get(number, each) for number, each in enumerate(items)]
        entry = entry_of(whole, inputs, constants, results)
        if entry is None:
            return None, []
        return entry, [*single.values()]

    def _called(
        self,
        items: Sequence[Item],
        products: Mapping[str, Product],
        operands: _Operands,
        new_name: Callable[[], str],
    ) -> list[Draft]:
        """The statements, with calls in the place of groups and products."""
        assert self.loops is not None
        found: list[Draft] = []
        of_groups = iter(zip(self.loops.of_groups, self.loops.parameters, strict=True))
        tiles = [*dict.fromkeys([each.tile for each in products.values()])]
        for each in items:
            if isinstance(each, Group):
                found.extend(self._call(each, *next(of_groups)).drafts(operands, new_name))
            elif each.target in products:
                product = products[each.target]
                name = f"{self.series}g{tiles.index(product.tile)}"
                found.extend(_product_drafts(product, name, operands, new_name, self.threads or 1))
                operands.made.add(each.target)
            else:
                found.append(each)
        return found

    def _call(self, group: Group, name: str, parameters: Sequence[Parameter]) -> _Call:
        assert self.loops is not None
        return _Call(group, name, parameters, self.loops.parts.get(name), self.threads or 1)

    def _notes(self, groups: Sequence[Group], tiles: Sequence[Tile]) -> tuple[str, ...]:
        """Notes on the loops' operations; groups of one form are shown once."""
        assert self.loops is not None
        names = self.loops.of_groups[: len(groups)]
        shown = dict(zip(reversed(names), reversed(groups), strict=True))
        notes = [
            line
            for name in self.loops.names[0]
            if name in shown
            for line in _note(name, shown[name])
        ]
        notes += [
            f"{self.series}g{k}: product of matrices, "
            f"in tiles of {tile.rows} rows and {tile.columns} columns"
            for k, tile in enumerate(tiles)
        ]
        return tuple(notes)

    def _products(self, drafts: Sequence[Draft], avals: Mapping[str, Aval]) -> dict[str, Product]:
        """The products of matrices that are computed here, by the names of their results."""
        if not self.machine.products:
            return {}
        found = [product_of(each, avals, self.machine.register) for each in drafts]
        return {each.draft.target: each for each in found if each is not None}


def _runs_custom(node: Node) -> bool:
    """Whether a user's kernel computes a value, so that its shape and dtype are his word alone."""
    return node.op.custom or any(isinstance(each, Body) for each in node.params.values())


@record
class _Operands:
    """How the operands of a loop are passed to it.

    Parameters
    ----------
    avals : mapping of str to Aval
        Of all values.
    made : set of str
        The values that loops have written: they lie in row order.
    doubted : set of str
        The values whose shape and dtype are looked at first: a loop trusts them.
    """

    avals: Mapping[str, Aval]
    made: set[str]
    doubted: set[str]

    def in_rows(self, name: str) -> list[Piece]:
        """An array in row order."""
        if name in self.made:
            return [name]
        if name in self.doubted:
            return self._looked_at(name)
        return ["np.ascontiguousarray(", name, ")"]

    def in_any_order(self, name: str) -> list[Piece]:
        return self._looked_at(name) if name in self.doubted else [name]

    def _looked_at(self, name: str) -> list[Piece]:
        aval = self.avals[name]
        shape: list[Piece] = []
        for dim in aval.shape:
            shape += [repr(dim) if isinstance(dim, int) else Dimension(dim), ", "]
        head = ["np.ascontiguousarray(np.broadcast_to(", name, ", ("]
        return [*head, *shape, f")), np.{aval.dtype.name if aval.dtype.kind != 'b' else 'bool_'})"]


def _product_drafts(
    product: Product,
    name: str,
    operands: _Operands,
    new_name: Callable[[], str],
    threads: int,
) -> list[Draft]:
    """Arrays for a product and the panels of each thread, and the call."""
    node, target = product.draft.node, product.draft.target
    (aval,) = product.draft.line.avals
    tile = product.tile
    panels = [new_name(), new_name()]
    sizes = [tile.left_size, tile.right_size(product.columns)]
    found = [array_draft(node, target, aval)]
    found += [
        array_draft(node, panel, Aval(aval.dtype, (threads, size)))
        for panel, size in zip(panels, sizes, strict=True)
    ]
    left, right = [operands.in_any_order(each) for each in (product.left, product.right)]
    pieces = (f"{name}(", *left, ", ", *right)
    for each in (target, *panels):
        pieces = (*pieces, ", ", each)
    pieces = (*pieces, ")")
    line = Line(pieces, (aval,), (Alias.WHOLE,))
    reads = tuple(dict.fromkeys([product.left, product.right, target, *panels]))
    return [*found, Draft(node, "", line, pieces, reads, False, into=target)]


def _function(draft: Draft) -> str:
    """The name of the function that a statement calls."""
    if draft.line.call is not None:
        return draft.line.call.function.removeprefix("np.")
    return draft.node.op.name


@record
class _Call:
    """The call of a loop."""

    group: Group
    name: str
    parameters: Sequence[Parameter]
    parts: Parts | None
    threads: int

    def drafts(self, operands: _Operands, new_name: Callable[[], str]) -> list[Draft]:
        """The arrays that the loop fills, and the call."""
        avals = operands.avals
        node = self.group.members[-1].draft.node
        nodes = {each.target: each.draft.node for each in self.group.members}
        found: list[Draft] = []
        pieces: list[Piece] = [f"{self.name}("]
        names: list[str] = []
        for number, each in enumerate(self.parameters):
            name = each.name
            pieces.extend((", ",) if number else ())
            if each.role == "scratch":
                name = new_name()
                aval = Aval(avals[each.name].dtype, self._row())
                found.append(array_draft(nodes[each.name], name, aval))
            elif each.role == "out":
                found.append(array_draft(nodes[name], name, avals[name]))
                operands.made.add(name)
            names.append(name)
            pieces.extend(operands.in_rows(name) if each.role == "in" else (name,))
        for number, _, _ in self.parts.combined if self.parts else ():
            # The results of parts, one after the other.
            name = new_name()
            whole = avals[names[number]]
            aval = Aval(whole.dtype, (MOST_PARTS, *whole.shape))
            found.append(array_draft(nodes[names[number]], name, aval))
            names.append(name)
            pieces.extend((", ", name))
        pieces.append(")")
        out = next((each.name for each in self.parameters if each.role == "out"), "")
        line = Line(tuple(pieces), (avals[out],), (Alias.WHOLE,))
        members = tuple(dict.fromkeys(nodes.values()))
        names = list(dict.fromkeys(names))
        call = Draft(node, "", line, tuple(pieces), tuple(names), False, into=out, members=members)
        return [*found, call]

    def _row(self) -> tuple[Dim, ...]:
        row = tuple([self.group.space[k] for k in sorted(self.group.columns)])
        return row if self.parts is None else (self.threads, *row)


def _note(name: str, group: Group) -> list[str]:
    """The work of a loop, in NumPy's words."""
    space = ", ".join(map(str, group.space))
    rows = "" if not group.rows else ", row by row"
    head = f"{name}: one compiled loop over [{space}]{rows}:"
    lines = [f"    {each.target} = {_text(each.draft)}" for each in group.members]
    if len(lines) > _MOST_SHOWN:
        lines[_MOST_SHOWN - 1 :] = [f"    ... {len(lines) - _MOST_SHOWN + 1} more"]
    return [head, *lines]


def _text(draft: Draft) -> str:
    parts: list[str] = []
    for piece in draft.pieces:
        if isinstance(piece, Tabled):
            parts.append(f"{piece.value}")
        elif isinstance(piece, Dimension):
            parts.append(f"{piece.expr}")
        else:
            parts.append(f"{piece}")
    return "".join(parts)
