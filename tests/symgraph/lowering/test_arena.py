"""The arena of a planned program: living values lie apart, and pages of dead ones go back."""

from __future__ import annotations

import numpy as np
import plannednetworks as networks
import pytest

from symgraph.ir.avals import Aval
from symgraph.lowering.arena import LEAST_FREE, laid_out
from symgraph.lowering.peak import bytes_left, bytes_outside, predicted_peak
from symgraph.lowering.program import program_of
from symgraph.lowering.statements import Role, Temporary

PAGE = 4096


def int8s(count: int) -> Aval:
    return Aval(np.dtype(np.int8), (count,))


def random_places(seed: int, count: int) -> tuple[list[Temporary], list[int]]:
    random = np.random.default_rng(seed)
    places: list[Temporary] = []
    sizes: list[int] = []
    for first in range(count):
        role = Role(random.choice([each.value for each in Role], p=[0.8, 0.1, 0.1]))
        last = first + int(random.exponential(4)) if role is Role.TEMPORARY else first
        sizes.append(int(random.choice([500, 4096, 30_000, 2**20, 3 * 2**20])))
        places.append(Temporary(int8s(sizes[-1]), first, last, role=role))
    return places, sizes


def live_bytes(places: list[Temporary], sizes: list[int]) -> list[int]:
    """The bytes of living temporaries at each statement, in whole pages."""
    return [
        sum(
            -(-size // PAGE) * PAGE + PAGE
            for place, size in zip(places, sizes, strict=True)
            if place.role is Role.TEMPORARY and place.first <= now <= place.last
        )
        for now in range(len(places))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_living_values_lie_apart_and_keep_their_pages(seed: int) -> None:
    places, sizes = random_places(seed, 60)
    outside = [1000 * number for number in range(60)]
    needed = [a + b for a, b in zip(live_bytes(places, sizes), outside, strict=True)]
    layout = laid_out(places, sizes, outside, [0] * 60, [0] * 60, max(needed), PAGE)
    assert layout.most <= max(needed)
    given_back = 0
    for number, place in enumerate(places):
        start, end = layout.starts[number], layout.starts[number] + sizes[number]
        assert (start >= 0) == (place.role is Role.TEMPORARY)
        living = [
            (layout.starts[other], layout.starts[other] + sizes[other])
            for other in range(number)
            if places[other].role is Role.TEMPORARY and places[other].last >= place.first
        ]
        if start >= 0:
            assert end <= layout.nbytes
            assert all(end <= a or b <= start for a, b in living)
            living.append((start, end))
        for begin, length in layout.released.get(number, ()):
            given_back += length
            assert begin % PAGE == length % PAGE == 0
            assert all(begin + length <= a or b <= begin for a, b in living)
    assert given_back


def test_pages_go_back_only_where_the_limit_asks_for_it() -> None:
    places, sizes = random_places(3, 60)
    layout = laid_out(places, sizes, [0] * 60, [0] * 60, [0] * 60, sum(sizes) + 60 * PAGE, PAGE)
    assert not layout.released
    assert not layout.trimmed
    assert layout.kept == layout.nbytes == layout.most


def test_the_pages_that_are_used_again_last_go_first() -> None:
    def value(first: int, last: int) -> Temporary:
        return Temporary(int8s(2**21), first, last)

    # The second takes the place of the first; the third lies beside the second, to the end.
    places = [value(0, 0), value(0, 1), value(2, 3), value(4, 4)]
    size = 2**21
    outside = [0, 0, 0, size, 0]
    layout = laid_out(places, [size] * 4, outside, [0] * 5, [0] * 5, 2 * size, PAGE)
    (number,) = layout.released
    ((start, length),) = layout.released[number]
    assert number == 2
    assert length == size
    assert start != layout.starts[2]


def test_the_c_library_is_asked_for_what_it_holds_free() -> None:
    size = 2**20
    places = [Temporary(int8s(size), number, number) for number in range(4)]
    heap = [0, 4 * size, 0, 4 * size]
    layout = laid_out(places, [size] * 4, heap, heap, [0] * 4, 5 * size, PAGE)
    assert layout.trimmed
    assert layout.most <= 5 * size
    little = [LEAST_FREE // 4] * 4
    small = laid_out(places, [size] * 4, little, little, little, size, PAGE)
    assert not small.trimmed


def test_working_room_counts_as_free_after_its_statement() -> None:
    size = 2**20
    places = [Temporary(int8s(size), number, number, role=Role.MARK) for number in range(2)]
    heap, left = [3 * size, 3 * size], [size, size]
    layout = laid_out(places, [size] * 2, heap, heap, left, 4 * size, PAGE)
    assert 1 in layout.trimmed  # Two of the three may lie in gaps that the next array does not fit.
    kept = laid_out(places, [size] * 2, heap, heap, heap, 8 * size, PAGE)
    assert 1 not in kept.trimmed


@pytest.mark.whole
@pytest.mark.parametrize("budget", ["80%", "64%"])
def test_a_piece_of_a_result_makes_room_for_its_pages(budget: str) -> None:
    # The gradient of stacked weights grows by a part per layer, between two other values.
    graph = networks.stacked(24, 2048, 128).simplify().checkpoint(budget)
    program = program_of(graph.dag)
    limit = predicted_peak(program)
    sizes = [each.aval.nbytes for each in program.workspace]
    outside = bytes_outside(program, {}, Role.TEMPORARY)
    heap = bytes_outside(program, {}, Role.TEMPORARY, Role.RESULT)
    left = bytes_left(program, {}, Role.TEMPORARY, Role.RESULT)
    layout = laid_out(program.workspace, sizes, outside, heap, left, limit, PAGE)
    assert layout.most <= limit + PAGE
