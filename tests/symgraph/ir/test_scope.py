from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.scope import Scope, current_scope


def seen(found: list[Scope | None]) -> None:
    found.append(current_scope())


def test_outside_of_a_trace_there_is_no_scope():
    assert current_scope() is None


def test_a_traced_function_runs_in_a_scope_of_its_name():
    found: list[Scope | None] = []

    def loss(x):
        seen(found)
        return np.sum(x)

    sg.trace(loss, x=sg.spec("n"))
    sg.grad(loss)(np.ones(3))
    assert [scope.what for scope in found] == ["loss", "loss"]
    assert not any(scope.is_open for scope in found)
    assert current_scope() is None


def test_the_body_of_a_loop_has_a_scope_inside_the_function_s():
    found: list[Scope | None] = []

    def step(carry, x):
        seen(found)
        return carry + x, carry

    sg.trace(lambda x: sg.scan(step, np.float64(0), x)[0], x=sg.spec((3,)))
    assert found[0].outer is not None
    assert found[0].outer.outer is None


def test_a_scope_ends_with_an_error():
    def fails(x):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        sg.trace(fails, x=sg.spec((3,)))
    assert current_scope() is None
