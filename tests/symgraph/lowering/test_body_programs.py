"""Programs of loops' bodies, kept while the plans of one graph are compared."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import MemoryBudgetError
from symgraph.lowering import program
from symgraph.lowering.body_programs import bodies_kept
from symgraph.lowering.program import program_of


def nested() -> sg.Graph:
    def f(W, x):
        def outer(h, _):
            def inner(c, _):
                c = np.tanh(W @ c)
                return c, np.sum(c)

            c, s = sg.scan(inner, h, np.zeros(4))
            return c, np.sum(s)

        h, s = sg.scan(outer, x, np.zeros(3))
        return np.sum(s) + np.sum(np.sin(h))

    return sg.trace(f, W=(5, 5), x=(5,)).gradient("W").simplify()


def test_within_a_body_has_one_program_and_without_one_for_each_call() -> None:
    dag = nested().dag
    with bodies_kept():
        first, second = program_of(dag), program_of(dag)
        assert first.bodies
        assert all(second.bodies[each] is made for each, made in first.bodies.items())
    third = program_of(dag)
    assert all(third.bodies[each] is not made for each, made in first.bodies.items())
    for each, made in third.bodies.items():
        lines = [
            [(s.target, s.operands, s.out, s.dead) for s in each_of.statements]
            for each_of in (made, first.bodies[each])
        ]
        assert lines[0] == lines[1]


def test_a_search_drafts_a_body_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each plan: 3 times, where it was 15."""
    graph = nested()
    made: list[int] = []
    real = program._Builder.__init__

    def counted(self, dag, *args, **keywords):
        made.append(id(dag))
        real(self, dag, *args, **keywords)

    monkeypatch.setattr(program._Builder, "__init__", counted)
    with pytest.raises(MemoryBudgetError, match="the least is"):
        graph.checkpoint(1)
    drafts = [made.count(id(body.dag)) for body in program_of(graph.dag).bodies]
    assert 0 < max(drafts) <= 4
