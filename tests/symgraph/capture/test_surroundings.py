"""What a function reads from around it: a change of it is noticed."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from os import getenv
from threading import Thread, local
from typing import Any

import numpy as np
import pytest

import symgraph as sg

Changed = tuple[Callable[[Any], Any], Callable[[], object]]
X = np.array([1.0, 2.0, 3.0])
SCALE = "SYMGRAPH_TEST_SCALE"


def set_scale() -> None:
    os.environ[SCALE] = "5"


def a_context_variable() -> Changed:
    scale = ContextVar("scale", default=2.0)
    return lambda x: np.sum(x) * scale.get(), lambda: scale.set(5.0)


def a_context_variable_without_a_value() -> Changed:
    scale: ContextVar[float] = ContextVar("scale")
    return lambda x: np.sum(x) * scale.get(2.0), lambda: scale.set(5.0)


def a_key_of_the_environment() -> Changed:
    return lambda x: np.sum(x) * float(os.environ[SCALE]), set_scale


def a_call_for_the_environment() -> Changed:
    return lambda x: np.sum(x) * float(os.getenv(SCALE, "1")), set_scale


def a_function_of_the_environment_by_name() -> Changed:
    return lambda x: np.sum(x) * float(getenv(SCALE, "1")), set_scale


def a_method_of_the_environment_by_name() -> Changed:
    get = os.environ.get
    return lambda x: np.sum(x) * float(get(SCALE, "1")), set_scale


class Scaled:
    by = 2.0


def an_object_behind_a_weak_reference() -> Changed:
    held = Scaled()
    reference = weakref.ref(held)

    def f(x: Any) -> Any:
        found = reference()
        assert found is not None
        return np.sum(x) * found.by

    return f, lambda: setattr(held, "by", 5.0)


def an_object_in_a_weak_dict() -> Changed:
    held = Scaled()
    table = weakref.WeakValueDictionary(a=held)
    return lambda x: np.sum(x) * table["a"].by, lambda: setattr(held, "by", 5.0)


@pytest.mark.parametrize(
    "case",
    [
        a_context_variable,
        a_context_variable_without_a_value,
        a_key_of_the_environment,
        a_call_for_the_environment,
        a_function_of_the_environment_by_name,
        a_method_of_the_environment_by_name,
        an_object_behind_a_weak_reference,
        an_object_in_a_weak_dict,
    ],
)
def test_a_change_is_noticed(case: Callable[[], Changed], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SCALE, "2")
    f, change = case()
    traced = sg.value_and_grad(f)
    before = traced(X)[0]
    assert before == pytest.approx(f(X))
    change()
    assert f(X) != pytest.approx(before)
    assert traced(X)[0] == pytest.approx(f(X))
    programs = traced.cache_info().currsize
    traced(X)
    assert traced.cache_info().currsize == programs


def test_each_thread_has_its_own_values() -> None:
    own = local()
    own.scale = 2.0
    traced = sg.value_and_grad(lambda x: np.sum(x) * own.scale)
    assert traced(X)[0] == 12.0
    found: list[float] = []

    def other() -> None:
        own.scale = 5.0
        found.append(float(traced(X)[0]))

    thread = Thread(target=other)
    thread.start()
    thread.join()
    assert found == [30.0]
