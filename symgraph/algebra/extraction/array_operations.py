"""Operations on arrays with named axes, as a person would write them.

Operations align their operands by index. Transposes and axes of size 1 are added only where they
are not aligned yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from ...array import Array, apply
from ...ir.dims import Dim
from ...ir.node import Node, existing, make
from ...ir.op import Op
from ...ops.choice import where
from ...ops.creation import constant_of
from ...ops.einsum import einsum
from ...ops.elementwise import add, divide, multiply, negative, sqrt, square
from ...ops.families import APPLYING, Function
from ...ops.indexing import embed
from ...ops.matmul import matmul
from ...ops.movement import reshape, transpose
from ...ops.powers import power as power_of
from ...ops.softmax import logsumexp
from ...ops.totals import sum
from ..expression.exact_numbers import Coef, Rational, coefficient, is_exact, times
from ..expression.leaf_terms import is_repeated, repeated_number, stretched
from ..expression.roles import EXPONENTIALS, is_choice, is_product
from .adjacent_slices import joined_slices
from .contraction_order import MATMUL
from .indexed_arrays import IndexedArray, Label, aligned

__all__ = ["ArrayOperations"]

_HALF = Fraction(1, 2)

_SUMS: dict[Op, Function] = {sum.op: sum, logsumexp.op: logsumexp}
"""The functions that sum over axes, by operation."""


class ArrayOperations:
    """Operations on pieces of one dtype.

    Parameters
    ----------
    dtype : dtype
    alive : callable
        Whether a node is computed anyway.
    given : callable
        Whether a node is in the graph as it was given.
    products : mapping
        For each array the known products that it is a factor of.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        alive: Callable[[Node], bool],
        given: Callable[[Node], bool],
        products: Mapping[Node, Sequence[Node]],
    ) -> None:
        self.dtype = dtype
        self.products = products
        self.alive = alive
        self.given = given
        self.sizes: dict[int, Dim] = {}
        self._constants: dict[Coef, Node] = {}
        self._applied: dict[Callable[..., Any], Op | None] = {}
        self.formed: set[Node] = set()
        """Inverses that are formed whatever else is written."""
        self.written_by: dict[Node, set[str]] = {}
        """The identities by which each value was written."""

    def forms(self, inverse: Node) -> bool:
        """Whether an inverse is computed anyway, so that a product with it need be no solve."""
        return inverse in self.formed or self.alive(inverse)

    def call(self, function: Callable[..., Array], *operands: object, **params: object) -> Node:
        """The result of a public function, with nodes as operands."""
        if not params:
            op = self._applied_by(function)
            if op is not None and self._are_nodes(operands):
                return make(op, operands)
        arrays = [Array(each) if isinstance(each, Node) else each for each in operands]
        return function(*arrays, **params).node

    def _are_nodes(self, operands: tuple[object, ...]) -> TypeGuard[tuple[Node, ...]]:
        """Whether all are nodes of this dtype."""
        for each in operands:
            if not isinstance(each, Node) or each.dtype is not self.dtype:
                return False
        return True

    def _applied_by(self, function: Callable[..., Array]) -> Op | None:
        """The operation, if the function does nothing but apply it to operands of this dtype."""
        if function in self._applied:
            return self._applied[function]
        op: Op | None = getattr(function, "op", None) if function in APPLYING else None
        if op is not None and (op.promote is None or op.promote(self.dtype) is not self.dtype):
            op = None
        self._applied[function] = op
        return op

    def known(self, function: Function, *operands: Node) -> Node | None:
        """The result if it is computed anyway, else None; no node is made to find out."""
        op = self._applied_by(function)
        if op is None or not self._are_nodes(operands):
            found: Node | None = self.call(function, *operands)
        else:
            found = existing(op, operands)
        return found if found is not None and self.alive(found) else None

    def applied(self, op: Op, operand: Node) -> Node:
        """The result of an operation without params."""
        return apply(op, Array(operand)).node

    def note(self, node: Node, identity: str) -> None:
        """Remember the identity by which a value is written, unless it is computed anyway."""
        if not self.alive(node):
            self.written_by.setdefault(node, set()).add(identity)

    def constant(self, value: Coef) -> Node:
        """A 0-d constant.

        Raises
        ------
        OverflowError
            If the value is not a finite number of the dtype, or loses digits near 0.
        """
        found = self._constants.get(value)
        if found is None:
            with np.errstate(all="ignore"):
                number = self.dtype.type(float(value))
            least = np.finfo(self.dtype).tiny
            if not np.isfinite(number) or (value != 0 and abs(number) < least):
                raise OverflowError(value)
            found = self._constants[value] = constant_of(number, self.dtype).node
        return found

    # -- layout ------------------------------------------------------------------------------------
    def laid(self, piece: IndexedArray, order: Sequence[int]) -> Node:
        """The piece as a node whose axes follow `order`, with size 1 for indices it lacks.

        Leading indices that it lacks get no axis.
        """
        if piece.labels == order or aligned(piece.labels, order):
            return piece.node
        if piece.symmetric:
            swapped = (*piece.labels[:-2], piece.labels[-1], piece.labels[-2])
            if aligned(swapped, order):
                return piece.node
        kept = self._kept_dims(piece)
        if kept is not None and aligned(kept.labels, order):
            return kept.node
        names = [name for name in order if name in piece.names]
        node = self._transposed(piece, names)
        first = order.index(names[0]) if names else len(order)
        target = order[first:]
        if len(target) == len(names):
            return node
        return self.call(reshape, node, tuple([self.sizes[i] if i in names else 1 for i in target]))

    def _transposed(self, piece: IndexedArray, names: Sequence[int]) -> Node:
        node = piece.node
        if None in piece.labels:
            node = self.call(reshape, node, tuple([self.sizes[i] for i in piece.names]))
        current = list(piece.names)
        if current == list(names):
            return node
        return self.call(transpose, node, tuple([current.index(name) for name in names]))

    def _kept_dims(self, piece: IndexedArray) -> IndexedArray | None:
        """A sum again, with the summed axes kept at size 1; None if that is no use."""
        node = piece.node
        if node.op not in _SUMS or node.params["keepdims"] or self.alive(node):
            return None
        axes = node.params["axis"]
        ndim = node.operands[0].ndim
        rest = iter(piece.labels)
        labels = tuple([None if axis in axes else next(rest) for axis in range(-ndim, 0)])
        return IndexedArray(
            self.call(_SUMS[node.op], node.operands[0], axis=axes, keepdims=True), labels
        )

    def order_of(self, *pieces: IndexedArray) -> tuple[int, ...]:
        """An order of all indices that needs few transposes: the largest piece keeps its own."""
        first, last = pieces[0], pieces[-1]
        if len(pieces) <= 2 and first.names == last.names:
            return first.names
        order: list[int] = []
        for piece in sorted(pieces, key=lambda each: -len(each.names)):
            missing = [name for name in piece.names if name not in order]
            order = [*missing, *order] if order else list(piece.names)
        return tuple(order)

    # -- operations --------------------------------------------------------------------------------
    def joined(self, a: IndexedArray, b: IndexedArray) -> IndexedArray | None:
        """The sum of two arrays padded with zeros, if their slices are adjacent; else None."""
        order = self.order_of(a, b)
        node = joined_slices(self.laid(a, order), self.laid(b, order))
        return None if node is None else IndexedArray(node, self._labels_of(node, order))

    def binary(self, function: Function, a: IndexedArray, b: IndexedArray) -> IndexedArray:
        """An elementwise operation on two pieces."""
        order = self.order_of(a, b)
        left, right = self.laid(a, order), self.laid(b, order)
        node = joined_slices(left, right) if function is add else None
        node = node or self.call(function, left, right)
        if function.op.traits.commutative and not self.alive(node):
            node = self.known(function, right, left) or node
        return IndexedArray(node, self._labels_of(node, order))

    def _labels_of(self, node: Node, order: Sequence[int]) -> tuple[Label, ...]:
        shape = node.results[0].shape
        ndim = len(shape)
        if ndim == len(order) and 1 not in shape:
            return tuple(order)
        padded: list[Label] = [None] * max(0, ndim - len(order)) + list(order)[
            len(order) - min(ndim, len(order)) :
        ]
        return tuple(
            [None if dim == 1 else label for dim, label in zip(shape, padded, strict=True)]
        )

    def unary(self, function: Function, a: IndexedArray, **params: object) -> IndexedArray:
        """An elementwise function of one piece."""
        return IndexedArray(self.call(function, a.node, **params), a.labels, a.symmetric)

    def exponential(self, base: float, a: IndexedArray) -> IndexedArray:
        """A number to the power of a piece."""
        exponential = EXPONENTIALS.get(base)
        if exponential is not None:
            return self.unary(exponential, a)
        return IndexedArray(self.call(power_of, self.constant(base), a.node), a.labels, a.symmetric)

    def raised(self, a: IndexedArray, power: Rational) -> IndexedArray:
        """A positive power.

        Raises
        ------
        OverflowError
            If the power is an integer that the dtype rounds: an odd power could become even.
        """
        if power == 1:
            return a
        if power == 2:
            return self.unary(square, a)
        if power == _HALF:
            return self.unary(sqrt, a)
        if power.denominator == 1 and int(self.dtype.type(power.numerator)) != power:
            raise OverflowError(power)
        exponent = constant_of(float(power), self.dtype).node
        return IndexedArray(self.call(power_of, a.node, exponent), a.labels, a.symmetric)

    def times(self, a: IndexedArray, coef: Coef) -> IndexedArray:
        """The piece times a number: a negation, a product or a quotient."""
        if coef == 1:
            return a
        chosen = self.number_chosen(a, coef)
        if chosen is not None:
            return chosen
        if coef == -1:
            return self.unary(negative, a)
        if a.node.op is embed.op and not self.alive(a.node):
            return self._among_zeros(a, coef)
        if is_exact(coef) and abs(coef.numerator) == 1 and coef.denominator > 2:
            divisor = self.constant(coef.denominator * coef.numerator)
            return IndexedArray(self.call(divide, a.node, divisor), a.labels, a.symmetric)
        return IndexedArray(self.call(multiply, self.constant(coef), a.node), a.labels, a.symmetric)

    def _among_zeros(self, a: IndexedArray, coef: Coef) -> IndexedArray:
        """A zero-padded array times a number: only the array inside is multiplied."""
        (inner,) = a.node.operands
        scaled = self.times(IndexedArray(inner, (None,) * inner.ndim), coef)
        return IndexedArray(make(a.node.op, [scaled.node], a.node.params), a.labels, a.symmetric)

    def number_chosen(self, a: IndexedArray, coef: Coef) -> IndexedArray | None:
        """A choice times a number, if both branches have a number that absorbs it; else None."""
        if not is_choice(a.node) or self.alive(a.node):
            return None
        condition, *branches = a.node.operands
        scaled = [self._number_times(each, coef) for each in branches]
        if scaled[0] is None or scaled[1] is None:
            return None
        node = self.call(where, condition, *scaled)
        return IndexedArray(node, a.labels) if node.shape == a.node.shape else None

    def _number_times(self, node: Node, coef: Coef) -> Node | None:
        """The node times a number that goes into a number in it; None if it has none."""
        given = coefficient(repeated_number(node)) if is_repeated(node) else None
        if given is not None:
            return self.constant(times(given, coef))
        if not is_product(node) or self.alive(node):
            return None
        for number, other in (node.operands, node.operands[::-1]):
            if is_repeated(stretched(number)):
                scaled = self._number_times(stretched(number), coef)
                return self.call(multiply, scaled, other)
        return None

    def summed(self, a: IndexedArray, gone: Sequence[int]) -> IndexedArray:
        """The sum over indices."""
        ndim = len(a.labels)
        axes = tuple([place - ndim for place, label in enumerate(a.labels) if label in gone])
        node = self.call(sum, a.node, axis=axes)
        if not self.alive(node):
            kept = self.call(sum, a.node, axis=axes, keepdims=True)
            if self.alive(kept):
                return IndexedArray(kept, tuple([None if i in gone else i for i in a.labels]))
        return IndexedArray(node, tuple([label for label in a.labels if label not in gone]))

    def contracted(
        self, a: IndexedArray, b: IndexedArray, gone: Sequence[int], kind: str, out: Sequence[int]
    ) -> IndexedArray:
        """The contraction of two pieces over indices."""
        if kind == MATMUL:
            return self._matmul(a, b, gone[0], out)
        letters = {name: chr(ord("a") + place) for place, name in enumerate(self.order_of(a, b))}
        result = [name for name in out if name in letters and name not in gone]
        result += [name for name in letters if name not in result and name not in gone]
        left, right = self._squeezed(a), self._squeezed(b)
        text = ",".join("".join(letters[name] for name in piece.names) for piece in (left, right))
        text += "->" + "".join(letters[name] for name in result)
        return IndexedArray(self.call(einsum, text, left.node, right.node), tuple(result))

    def _squeezed(self, a: IndexedArray) -> IndexedArray:
        if None not in a.labels:
            return a
        return IndexedArray(self._transposed(a, a.names), a.names, a.symmetric)

    def _matmul(
        self, a: IndexedArray, b: IndexedArray, gone: int, out: Sequence[int]
    ) -> IndexedArray:
        shared = [name for name in a.names if name in b.names and name != gone]
        shared.sort(key=lambda name: out.index(name) if name in out else -1)
        rows = [name for name in a.names if name not in b.names]
        columns = [name for name in b.names if name not in a.names]
        # Write a vector on the right: X.T @ r.
        swap = bool(columns) and not rows
        if rows and columns:
            places = [out.index(each[0]) if each[0] in out else -1 for each in (rows, columns)]
            swap = places[0] > places[1] if -1 not in places else self._prefers_swap(a, b, gone)
        if not rows and not columns:
            swap = False
        if swap:
            a, b, rows, columns = b, a, columns, rows
        left = self.laid(a, [*shared, *rows, gone])
        right = self.laid(b, [*shared, gone, *columns])
        return IndexedArray(self.call(matmul, left, right), (*shared, *rows, *columns))

    def _prefers_swap(self, a: IndexedArray, b: IndexedArray, gone: int) -> bool:
        """Whether b @ a needs fewer transposes than a @ b."""
        straight = (a.names[-1] != gone) + (b.names[-1] == gone)
        crossed = (b.names[-1] != gone) + (a.names[-1] == gone)
        return crossed < straight
