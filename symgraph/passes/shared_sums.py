"""Terms that several sums share are added once: c + d - a - b beside a - c is d - b - (a - c).

The algebra knows the sums of one region, and a sum that is a factor elsewhere may be none of them.
A pair of terms that two sums or more have, with one sign or with opposite signs, becomes a value of
its own where that takes fewer operations (Brayton and McMullen 1982, on common kernels). And
sum(x) - sum(y) is the sum of x - y where this difference is computed anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from ..array import Array
from ..ir.node import Node, make, origin
from ..ir.walks import reachable, replaced, use_counts
from ..ops.elementwise import add, negative, subtract
from .gains import Loses, is_shorter
from .signs import settled_signs

__all__ = ["with_terms_shared"]

_SUMS = (add.op, subtract.op, negative.op)
_MOST_TERMS = 8
"""A sum of more terms is left as it is."""
_MOST_NODES = 300
"""In larger graphs each pair that is found would cost a look at all sums."""
_MOST_TRIED = 6
"""So many pairs are tried, the most frequent first."""

Terms: TypeAlias = dict[Node, int]
"""The terms of a sum, each with its sign."""

Pair: TypeAlias = tuple[Node, Node, int]
"""Two terms, and whether their signs agree: 1 or -1."""


def with_terms_shared(outputs: Sequence[Node], loses: Loses) -> list[Node]:
    """The outputs with pairs of terms added once, if that takes fewer operations.

    Parameters
    ----------
    outputs : sequence of Node
    loses : Loses
    """
    current = list(outputs)
    tried: set[Pair] = set()
    while len(tried) < _MOST_TRIED:
        nodes = reachable(current)
        if len(nodes) > _MOST_NODES:
            break
        sums = _sums(nodes, current)
        pairs = Counter(pair for terms in sums.values() for pair in _pairs(terms))
        wanted = [pair for pair, count in pairs.items() if pair not in tried and count > 1]
        wanted += [pair for pair in _images(nodes, pairs) if pair not in tried]
        if not wanted:
            break
        pair = max(wanted, key=lambda each: pairs[each])
        tried.add(pair)
        new = settled_signs(_shared(current, nodes, sums, pair))
        if is_shorter(new, current, loses):
            current = new
    return current


def _sums(nodes: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, Terms]:
    """The terms of each sum that is no part of another one; of sums with equal terms none."""
    uses = use_counts(nodes, outputs)
    found: dict[Node, Terms] = {}
    inside: set[Node] = set()
    for node in reversed(nodes):
        if node in inside or node.op not in (add.op, subtract.op) or not _is_sum(node, node):
            continue
        terms: Terms = {}
        opened, distinct = list[Node](), True
        stack = [(node, 1)]
        while stack:
            each, sign = stack.pop()
            if each is not node and (uses[each] > 1 or not _is_sum(each, node)):
                distinct &= each not in terms
                terms[each] = sign
                continue
            opened.append(each)
            signs = (-1,) if each.op is negative.op else (1, -1 if each.op is subtract.op else 1)
            stack += [(x, sign * by) for x, by in zip(each.operands, signs, strict=True)][::-1]
        if distinct and len(terms) <= _MOST_TERMS:
            inside.update(opened)
            found[node] = terms
    return found


def _is_sum(node: Node, like: Node) -> bool:
    return node.op in _SUMS and node.aval == like.aval and node.dtype.kind == "f" and not node.copy


def _pairs(terms: Terms) -> Iterator[Pair]:
    for one, other in combinations(sorted(terms, key=lambda each: each.serial), 2):
        if one.aval == other.aval and not (one.is_constant and other.is_constant):
            yield one, other, terms[one] * terms[other]


def _images(nodes: Sequence[Node], pairs: Mapping[Pair, int]) -> list[Pair]:
    """The pairs of results of one linear operation on terms whose sum or difference is computed."""
    computed = _computed(nodes)
    return [pair for pair in pairs if _image(pair, computed) is not None]


def _computed(nodes: Sequence[Node]) -> dict[tuple[Node, Node, int], tuple[Node, int]]:
    """The nodes x + y and x - y by their terms, each with the sign of x."""
    found: dict[tuple[Node, Node, int], tuple[Node, int]] = {}
    for node in nodes:
        if node.op in (add.op, subtract.op):
            x, y = node.operands
            by = 1 if node.op is add.op else -1
            found[x, y, by], found[y, x, by] = (node, 1), (node, by)
    return found


def _image(
    pair: Pair, computed: Mapping[tuple[Node, Node, int], tuple[Node, int]]
) -> tuple[Node, int] | None:
    """A sum or difference that is computed, from which the pair follows, and the pair's sign."""
    one, other, by = pair
    linear = one.op is other.op and one.params == other.params and one.op.traits.linear_in(1)
    if not linear or len(one.operands) != 1 or one.copy or other.copy:
        return None
    return computed.get((one.operands[0], other.operands[0], by))


def _shared(
    outputs: Sequence[Node], nodes: Sequence[Node], sums: Mapping[Node, Terms], pair: Pair
) -> list[Node]:
    """The outputs with one value for the pair in each sum that has it."""
    one, other, by = pair
    image = _image(pair, _computed(nodes))
    if image is None:
        join, turn = (add if by > 0 else subtract)(Array(one), Array(other)), 1
    else:
        with origin(one.origin):
            join, turn = Array(make(one.op, (image[0],), one.params)), image[1]
    instead: dict[Node, Node] = {}
    for node, terms in sums.items():
        if one in terms and other in terms and terms[one] * terms[other] == by:
            rest = {each: sign for each, sign in terms.items() if each not in (one, other)}
            if join.node in rest:
                continue  # The pair is computed, and a term itself: it cancels, or occurs twice.
            with origin(node.origin):
                instead[node] = _written({join.node: terms[one] * turn, **rest})
    return replaced(outputs, instead)


def _written(terms: Terms) -> Node:
    """The sum of these terms, one with a plus first."""
    first, *rest = sorted(terms, key=lambda each: -terms[each])
    whole = Array(first) if terms[first] > 0 else negative(Array(first))
    for each in rest:
        whole = (add if terms[each] > 0 else subtract)(whole, Array(each))
    return whole.node
