r"""The index form of formulas: each element by its indices, such as `\sum_{k} A_{ik} \, x_{k}`.

The formula of a node is a text with marks: one for each of its axes, one for each index that is
summed over. An operation puts other marks in place of those of its operands. Letters take the place
of the marks when an equation is complete. Axes of length one have no index.

What an operation does to indices is told by the traits of its record. One that tells nothing, such
as an inverse or a softmax, is written in the matrix form with its indices behind brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any, TypeAlias

from ..ir.dag import Dag
from ..ir.dims import Dim, known_equal
from ..ir.node import Node
from ..ir.traits import Arrangement, Selection
from ..notation.arithmetic import product_formula
from ..notation.formulas import (
    ATOM,
    JOINED,
    POWER,
    SUM,
    TIMES,
    argument,
    converted_formula,
    right_side,
    within,
)
from ..notation.node_text import Spelled
from .latex_names import symbol
from .node_latex import leaf, spelled

__all__ = ["Indexed", "Row"]

Row: TypeAlias = tuple[str, str]
"""The left and the right side of an equation."""

_LETTERS = "ijklpqrsuvabcdegh"
# No text of a user's holds these characters: they are escaped.
_FREE, _BOUND = "\x00", "\x01"
_DERIVATIVE = re.compile(r"\\frac\{(\\partial \w+)\}\{\\partial (.*)\}")
_MARK = re.compile(f"([{_FREE}{_BOUND}])(\\d+);")


def _free(axis: int) -> str:
    return f"{_FREE}{axis};"


def _with_axes(text: str, found: Callable[[int], str]) -> str:
    """The text with other marks for the axes."""
    return _MARK.sub(lambda m: found(int(m[2])) if m[1] == _FREE else m[0], text)


def _at(head: str, marks: str, binding: int = ATOM) -> Spelled:
    """A symbol with indices behind it; in brackets if it has an index already."""
    if not marks:
        return head, binding
    derivative = _DERIVATIVE.fullmatch(head)
    if derivative:  # ∂f/∂x with an index is ∂f/∂xᵢ.
        return rf"\frac{{{derivative[1]}}}{{\partial {_at(derivative[2], marks)[0]}}}", JOINED
    call = head.endswith((r"\right)", ")")) and head.startswith((r"\operatorname{", "("))
    bare = "_{" not in head and (re.match(r"\\math\w+\{", head) or not head.endswith(("}", ")")))
    head = head if binding == ATOM and (call or bare) else argument((head, ATOM))
    return f"{head}_{{{marks}}}", ATOM


def _is_one(dim: Dim) -> bool:
    return known_equal(dim, 1)


class Indexed:
    """Writes the nodes of a graph, operands first, in the index form."""

    def __init__(self, dag: Dag, symbols: Mapping[Node, str]) -> None:
        self._symbols = symbols
        self._whole: dict[Node, Spelled] = {}
        self._texts: dict[Node, Spelled] = {}
        self._bound = count()
        used = {*symbols.values(), *map(symbol, dag.dims)}
        self._letters = [each for each in _LETTERS if each not in used]
        self._targets = dict(dag.inputs)
        self._names = dict(zip(dag.outputs, dag.names, strict=True))

    # -- the protocol of a form ----------------------------------------------------------------
    def add(self, node: Node) -> None:
        """Write a node, in both forms: a value without indices is written as a whole."""
        if node.is_input:
            self._whole[node] = self._symbols[node], ATOM
        else:
            wholes = [self._whole[operand] for operand in node.operands]
            self._whole[node] = leaf(node) or spelled(node, wholes)
        self._texts[node] = self._indexed(node) or self._behind(node)

    def of(self, node: Node) -> Spelled:
        """The formula of a node, with marks."""
        return self._texts[node]

    def named(self, node: Node, part: str) -> None:
        """From now on the node is written as this part."""
        self._whole[node] = part, ATOM if not part.startswith(r"\frac") else JOINED
        # As its own equation has it: without indices of axes of length one.
        marks = [_free(axis) for axis, dim in enumerate(node.shape) if not _is_one(dim)]
        self._texts[node] = _at(self._whole[node][0], "".join(marks), self._whole[node][1])

    def equation(self, left: str, node: Node) -> Row:
        """The equation of an output or a part, whose left side is `left`."""
        axes = [_free(axis) for axis, dim in enumerate(node.shape) if not _is_one(dim)]
        right = right_side(node, self._texts[node])
        sides = f"{self._left(left, node, axes)}{_FREE}{_BOUND}{right}"
        left, _, right = self._lettered(sides).partition(f"{_FREE}{_BOUND}")
        return left, right

    # -- sides and letters ---------------------------------------------------------------------
    def _left(self, left: str, node: Node, axes: Sequence[str]) -> str:
        """The left side with an index for each axis; a derivative has them at its variable."""
        split = re.fullmatch(r"\\frac\{(\\partial\^?2? f)\}\{\\partial (.*)\}", left)
        name = self._names.get(node, "")
        kind, _, of = name.partition("_")
        if split is None or of not in self._targets:
            return _at(left, "".join(axes))[0]
        target = self._targets[of]
        by = self._symbols[target]
        rank = sum(not _is_one(dim) for dim in target.shape)

        def indexed(marks: Sequence[str]) -> str:
            left = iter(marks)
            return _at(by, "".join("1" if _is_one(dim) else next(left) for dim in target.shape))[0]

        if kind == "hessian":
            below = rf"\partial {indexed(axes[:rank])} \, \partial {indexed(axes[rank:])}"
            return rf"\frac{{\partial^2 f}}{{{below}}}"
        lead, rest = axes[: len(axes) - rank], axes[len(axes) - rank :]
        above = rf"\partial {_at('f', ''.join(lead))[0]}"
        return rf"\frac{{{above}}}{{\partial {indexed(rest)}}}"

    def _lettered(self, text: str) -> str:
        """The text with letters for marks, in the order in which they appear."""
        given: dict[str, str] = {}

        def letter(mark: re.Match[str]) -> str:
            if mark[0] not in given:
                place = len(given)
                more = place - len(self._letters)
                given[mark[0]] = self._letters[place] if more < 0 else f"i_{{{more + 1}}}"
            return given[mark[0]]

        return _MARK.sub(letter, text)

    def _behind(self, node: Node) -> Spelled:
        """The whole value with its indices behind it."""
        marks = ["1" if _is_one(dim) else _free(axis) for axis, dim in enumerate(node.shape)]
        return _at(self._whole[node][0], "".join(marks), self._whole[node][1])

    # -- operations ----------------------------------------------------------------------------
    def _indexed(self, node: Node) -> Spelled | None:
        """The formula of an element; None where the record does not tell it."""
        if not node.operands:
            text = leaf(node)
            of_one_number = node.is_constant and text is not None and text[0][:1] != "("
            return text if of_one_number else None
        traits, arrangement = node.op.traits, node.op.traits.arrangement
        if len(node.results) != 1:
            return None
        if traits.elementwise:
            return self._elementwise(node)
        if arrangement is Arrangement.CONVERTED:
            return converted_formula(node, [self._aligned(node, 0)])
        if arrangement in (Arrangement.SAME, Arrangement.REPEATED):
            return self._aligned(node, 0)
        if traits.in_order is not None and traits.in_order(**node.params):
            return self._regrouped(node)
        if traits.indices is not None:
            return self._summed(node)
        if traits.selection in (Selection.LARGEST, Selection.LEAST) and "axis" in node.params:
            return self._chosen(node, r"\max" if traits.selection is Selection.LARGEST else r"\min")
        return None

    def _aligned(self, node: Node, place: int) -> Spelled:
        """An operand with the marks of the result, whose last axes are its own."""
        operand = node.operands[place]
        text, binding = self._texts[operand]
        shift = node.ndim - operand.ndim
        return _with_axes(text, lambda axis: _free(axis + shift)), binding

    def _elementwise(self, node: Node) -> Spelled:
        operands = [self._aligned(node, place) for place in range(len(node.operands))]
        if node.op.traits.commutative and operands[1][0][:1].isdigit():
            operands.reverse()  # Numbers come first, as in 2 x.
        elif node.op.latex is product_formula and not node.operands[1].shape and node.shape:
            operands.reverse()
        return spelled(_as_number(node), operands)

    def _regrouped(self, node: Node) -> Spelled | None:
        operand = node.operands[0]
        before = [axis for axis, dim in enumerate(operand.shape) if not _is_one(dim)]
        after = [axis for axis, dim in enumerate(node.shape) if not _is_one(dim)]
        if len(before) != len(after) or not all(
            known_equal(operand.shape[one], node.shape[other])
            for one, other in zip(before, after, strict=True)
        ):
            return None
        places = dict(zip(before, after, strict=True))
        text, binding = self._texts[operand]
        return _with_axes(text, lambda axis: _free(places[axis])), binding

    def _summed(self, node: Node) -> Spelled | None:
        """A product of the operands, summed over the labels that the result does not have."""
        indices = node.op.traits.indices
        assert indices is not None
        avals = [operand.aval for operand in node.operands]
        found = indices(node.aval, *avals, **node.params)
        if found is None or len(set(found[1])) != len(found[1]):
            return None
        labels, result = found
        marks = {
            label: _free(axis)
            for axis, (label, dim) in enumerate(zip(result, node.shape, strict=True))
            if not _is_one(dim)
        }
        sizes = {
            label: dim
            for operand, row in zip(node.operands, labels, strict=True)
            for label, dim in zip(row, operand.shape, strict=True)
            if not _is_one(dim)
        }
        summed = {label: f"{_BOUND}{next(self._bound)};" for label in sizes if label not in marks}
        marks |= summed
        factors: list[Spelled] = []
        for operand, row in zip(node.operands, labels, strict=True):
            text, binding = self._texts[operand]
            factors.append((_with_axes(text, lambda axis, row=row: marks[row[axis]]), binding))
        alone = len(factors) == 1
        if not alone:
            factors = [each for each in factors if each[0] != "1"] or [("1", ATOM)]
        if len(factors) == 2 and factors[0] == factors[1]:
            factors = [(f"{within(factors[0], ATOM)}^{{2}}", POWER)]
            alone = True
        if not summed:
            return factors[0] if alone else (_product(factors), JOINED)
        number, body = _split(_product(factors)) if not alone else ("", within(factors[0], TIMES))
        return f"{number}{self._signs(summed, sizes)} {body}", SUM

    def _signs(self, summed: Mapping[Any, str], sizes: Mapping[Any, Dim]) -> str:
        signs: list[str] = []
        for label, mark in summed.items():
            size = str(sizes[label])
            limit = size if size.isdigit() else symbol(size) if size.isidentifier() else ""
            signs.append(rf"\sum_{{{mark}=1}}^{{{limit}}}" if limit else rf"\sum_{{{mark}}}")
        return " ".join(signs)

    def _chosen(self, node: Node, head: str) -> Spelled:
        (operand,) = node.operands
        axes = [axis % operand.ndim for axis in node.params["axis"]]
        kept = [axis for axis in range(operand.ndim) if axis not in axes]
        shift = list(range(operand.ndim)) if node.params.get("keepdims") else kept
        marks = {axis: _free(shift.index(axis)) for axis in kept}
        marks |= {axis: f"{_BOUND}{next(self._bound)};" for axis in axes}
        text, binding = self._texts[operand]
        over = ", ".join(marks[axis] for axis in axes if not _is_one(operand.shape[axis]))
        body = _with_axes(text, lambda axis: marks[axis])
        return rf"{head}_{{{over}}} {within((body, binding), ATOM)}", SUM


def _product(factors: Sequence[Spelled]) -> str:
    """The product of factors. A number that one of them begins with comes first."""
    numbers = [_split(text)[0] if binding == TIMES else "" for text, binding in factors]
    if len([each for each in numbers if each]) > 1:
        numbers = [""] * len(factors)
    rest = [
        _factor((text[len(number) :], binding))
        for (text, binding), number in zip(factors, numbers, strict=True)
    ]
    return "".join(numbers) + r" \, ".join(rest)


def _factor(operand: Spelled) -> str:
    """A factor of a product of numbers; another product needs no brackets there."""
    plain = operand[1] == TIMES and not re.match(r"[-\d]|\\frac", operand[0])
    return operand[0] if plain else within(operand, JOINED)


def _split(product: str) -> tuple[str, str]:
    """A product without the number that it begins with, and that number with its sign."""
    found = re.match(r"\d+(\.\d+)? \\, |\\frac\{\d\}\{\d\} \\, ", product)
    return (found[0], product[found.end() :]) if found else ("", product)


_NUMBER = SimpleNamespace(
    op=SimpleNamespace(traits=SimpleNamespace(arrangement=None), latex=""),
    shape=(),
    ndim=0,
    is_constant=False,
    operands=(),
)


def _as_number(node: Node) -> Any:
    """A stand-in for an operation between elements, which are numbers."""
    return SimpleNamespace(
        op=node.op,
        params={name: each for name, each in node.params.items() if name != "axis"},
        operands=(_NUMBER,) * len(node.operands),
        shape=(),
        ndim=0,
        dtype=node.dtype,
        is_constant=False,
    )
