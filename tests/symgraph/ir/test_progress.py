"""Who waits is told how far the work is."""

from __future__ import annotations

import pytest

from symgraph.ir.progress import Progress, watched, working


def test_who_waits_is_told() -> None:
    told: list[Progress] = []
    with watched(told.append, pause=0.0):
        working("rules", 3, 10)
        working("algebra", 1, 2)
    working("rules", 4, 10)
    assert [(each.what, each.done, each.total) for each in told] == [
        ("rules", 3, 10),
        ("algebra", 1, 2),
    ]
    assert str(Progress("rules", 1200, 30000, 4.2)) == "rules: 1,200 of 30,000 (4 s)"


def test_it_is_told_neither_too_early_nor_too_often() -> None:
    told: list[Progress] = []
    with watched(told.append, after=3600.0):
        working("rules", 1, 2)
    assert told == []
    with watched(told.append, pause=3600.0):
        working("rules", 1, 2)
        working("rules", 2, 2)
    assert [each.done for each in told] == [1]


def test_the_inner_of_two_is_told_and_what_it_raises_ends_the_work() -> None:
    outer: list[Progress] = []

    def stop(_: Progress) -> None:
        raise TimeoutError

    with watched(outer.append, pause=0.0):
        with pytest.raises(TimeoutError), watched(stop):
            working("rules", 1, 2)
        working("rules", 2, 2)
    assert [each.done for each in outer] == [2]
