"""Searches ask for no large pages, and leave NumPy as it was."""

from __future__ import annotations

import threading

import pytest

from symgraph.memory import small_pages as module
from symgraph.memory.small_pages import small_pages


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """NumPy's setting, of which the last entry holds."""
    settings = [True]

    def set_to(wanted: bool) -> bool:
        settings.append(wanted)
        return settings[-2]

    monkeypatch.setattr(module, "_ask_for_large", set_to)
    return settings


def test_searches_within_one_another_are_one(asked: list[bool]) -> None:
    with small_pages():
        assert asked == [True, False]
        with small_pages():
            assert asked == [True, False]
        assert asked == [True, False]
    assert asked == [True, False, True]


def test_the_last_of_several_threads_puts_it_back(asked: list[bool]) -> None:
    entered, ended = threading.Event(), threading.Event()

    def search() -> None:
        with small_pages():
            entered.set()
            ended.wait()

    other = threading.Thread(target=search)
    other.start()
    entered.wait()
    with small_pages():
        pass
    assert asked == [True, False]
    ended.set()
    other.join()
    assert asked == [True, False, True]


def test_an_error_puts_it_back(asked: list[bool]) -> None:
    with pytest.raises(ZeroDivisionError), small_pages():
        _ = 1 / 0
    assert asked[-1]
