"""Canonical names of indices: equal contractions become equal terms.

The order of indices is found by colour refinement (Weisfeiler and Leman). Ties are broken by trying
each tied index first; the least key wins. The number of trials is bounded. Beyond the bound two
equal terms may stay different, but unequal terms never become equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from ...ir.dims import Dim
from .exact_numbers import Rational
from .term import Atom, Factor, Term

__all__ = ["canonical_term", "ordered_indices"]

_TRIALS = 24
Edge = tuple[Any, tuple[int, ...], bool]
"""A tag, the indices of one factor, and whether the last two may be exchanged."""


def canonical_term(
    factors: Sequence[tuple[Atom, tuple[int, ...], Rational]], bound: Mapping[int, Dim]
) -> Term:
    """The product of factors, summed over the indices in `bound`, which get canonical names."""
    if not bound:
        return Term((), _sorted(factors, {}))
    ids = list(bound)
    if len(ids) == 1:
        return Term((bound[ids[0]],), _sorted(factors, {ids[0]: -1}))

    def edges() -> list[Edge]:
        return [((atom.rank, power), idx, atom.symmetric) for atom, idx, power in factors]

    start = {i: (str(bound[i]),) for i in ids}

    def key(order: Sequence[int]) -> Any:
        names = {index: -1 - place for place, index in enumerate(order)}
        placed = _sorted(factors, names)
        return tuple([(f.atom.rank, f.idx, f.power) for f in placed])

    order = _least_order(ids, edges, start, key)
    names = {index: -1 - place for place, index in enumerate(order)}
    return Term(tuple([bound[index] for index in order]), _sorted(factors, names))


_factor = cast("Callable[[tuple[Any, ...]], Factor]", partial(tuple.__new__, Factor))
"""Makes a factor of a tuple in half the time. Most factors are made here."""


def _sorted(
    factors: Sequence[tuple[Atom, tuple[int, ...], Rational]], names: Mapping[int, int]
) -> tuple[Factor, ...]:
    placed: list[Factor] = []
    for given in factors:
        atom, idx, power = given
        if names:
            idx = tuple([names.get(index, index) for index in idx])
        if len(idx) > 1 and atom.symmetric and idx[-2] > idx[-1]:
            idx = (*idx[:-2], idx[-1], idx[-2])
        if idx is given[1] and type(given) is Factor:
            placed.append(given)
        else:
            placed.append(_factor((atom, idx, power)))
    if len(placed) == 2 and placed[0].atom.rank != placed[1].atom.rank:
        if placed[0].atom.rank > placed[1].atom.rank:
            placed.reverse()
    elif len(placed) > 1:
        placed.sort(key=_factor_key)
    return tuple(placed)


def _factor_key(factor: Factor) -> Any:
    return (factor.atom.rank, factor.idx, factor.power)


def ordered_indices(
    ids: Sequence[int],
    edges: Callable[[], Sequence[Edge]],
    sizes: Mapping[int, Any],
    key: Callable[[Sequence[int]], Any],
) -> list[int]:
    """The indices in canonical order, given the factors that they occur in."""
    if len(ids) <= 1:
        return list(ids)
    return _least_order(list(ids), edges, {i: (str(sizes[i]),) for i in ids}, key)


def _least_order(
    ids: list[int],
    edges: Callable[[], Sequence[Edge]],
    start: Mapping[int, Any],
    key: Callable[[Sequence[int]], Any],
) -> list[int]:
    if len(set(start.values())) == len(ids):
        return sorted(ids, key=start.__getitem__)
    touching: dict[int, list[Edge]] = {index: [] for index in ids}
    for edge in edges():
        for index in dict.fromkeys(edge[1]):
            if index in touching:
                touching[index].append(edge)
    colours = _refined(_ranked(start), touching)
    if len(set(colours.values())) == len(colours):
        return sorted(colours, key=colours.__getitem__)  # without ties no key is needed
    trials = [_TRIALS]
    best: list[Any] = []
    _search(colours, touching, key, trials, best)
    return best[1]


def _search(
    colours: dict[int, int],
    touching: Mapping[int, list[Edge]],
    key: Callable[[Sequence[int]], Any],
    trials: list[int],
    best: list[Any],
) -> None:
    # The depth is the number of tied indices in one term. Regions bound it.
    classes: dict[int, list[int]] = {}
    for index, colour in colours.items():
        classes.setdefault(colour, []).append(index)
    tied = [classes[colour] for colour in sorted(classes) if len(classes[colour]) > 1]
    if not tied:
        order = sorted(colours, key=lambda index: colours[index])
        found = key(order)
        if not best or found < best[0]:
            best[:] = [found, order]
        trials[0] -= 1
        return
    for index in tied[0]:
        if trials[0] <= 0 and best:
            return
        apart = {
            i: (c * 2 + (1 if c == colours[index] and i != index else 0),)
            for i, c in colours.items()
        }
        _search(_refined(_ranked(apart), touching), touching, key, trials, best)


def _ranked(signatures: Mapping[int, Any]) -> dict[int, int]:
    places = {value: place for place, value in enumerate(sorted(set(signatures.values())))}
    return {index: places[value] for index, value in signatures.items()}


def _refined(colours: dict[int, int], touching: Mapping[int, list[Edge]]) -> dict[int, int]:
    classes = len(set(colours.values()))
    while classes < len(colours):
        signatures = {
            index: (colours[index], tuple(sorted([_seen(index, edge, colours) for edge in edges])))
            for index, edges in touching.items()
        }
        colours = _ranked(signatures)
        finer = len(set(colours.values()))
        if finer == classes:
            break
        classes = finer
    return colours


def _seen(index: int, edge: Edge, colours: Mapping[int, int]) -> Any:
    """An edge as one index sees it: the places of the index, and the colours of the others."""
    tag, idx, exchangeable = edge
    places = tuple(
        [(2, 0) if i == index else (1, colours[i]) if i in colours else (0, i) for i in idx]
    )
    if exchangeable:
        places = (*places[:-2], *sorted(places[-2:]))
    return (tag, places)
