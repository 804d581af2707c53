"""Progress is told to who waits, and Ctrl-C keeps the best graph."""

from __future__ import annotations

import io
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_function

import symgraph as sg
from symgraph.graph import stages
from symgraph.ir.cost import op_count
from symgraph.ir.progress import working

AT = {"x": np.full((4, 3), 0.5), "w": 0.3 * np.eye(3)}


def derived(steps: int) -> sg.Graph:
    return sg.trace(random_function(steps), **AT).gradient("w")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_callable_is_told_what_runs_and_how_far_it_is() -> None:
    told: list[sg.Progress] = []
    derived(100).simplify(progress=told.append)
    assert told
    assert all(0 <= each.done <= each.total for each in told)
    assert all(one.seconds <= other.seconds for one, other in pairwise(told))


def test_the_result_is_the_same_whoever_is_told() -> None:
    graph = derived(60)
    quiet, told = graph.simplify(progress=False), graph.simplify(progress=print)
    assert quiet.dag.outputs == told.dag.outputs


def test_a_line_is_written_over_and_wiped_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "tqdm.std", None)  # as where it is not installed
    derived(60).simplify(progress=True)
    *_, last = stream.getvalue().strip("\r").split("\r")
    assert "simplify: rules: 0 of" in stream.getvalue()
    assert last.strip() == ""


def test_tqdm_shows_the_bar_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    quiet = derived(60).simplify(progress=False)
    sg.cache.clear()
    assert derived(60).simplify(progress=True).op_count() == quiet.op_count()
    text = stream.getvalue()
    assert "simplify: rules:" in text
    assert "%|" in text
    assert text.rstrip(" \r\n").rpartition("\r")[2].strip() == "" or text.endswith("\r")


@pytest.mark.whole
def test_checkpoint_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(x: Any) -> Any:
        for _ in range(40):
            x = np.sin(x) * np.cos(x)
        return np.sum(x)

    graph = sg.trace(deep, x="n").gradient("x")
    told: list[sg.Progress] = []
    planned = graph.checkpoint("50%", n=997, progress=told.append)
    assert told
    assert all(0 <= each.done <= each.total for each in told)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    quiet = sg.trace(deep, x="n").gradient("x").checkpoint("50%", n=997)
    assert stream.getvalue() == ""
    assert quiet.memory(n=997).peak_bytes == planned.memory(n=997).peak_bytes


def test_by_default_pipes_are_silent_and_quick_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        sg.trace(lambda x: np.log(np.exp(x)), x="n").simplify()
        assert stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    sg.trace(lambda x: np.log(np.exp(x)), x="n").simplify()


# -- Ctrl-C ----------------------------------------------------------------------------------------
class Stop:
    """Ctrl-C at the round after the given one."""

    def __init__(self, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = rounds
        self.shortest = 10**9
        plain: Any = stages.simplified

        def simplified(*args: Any, reached: Any = None, **how: Any) -> Any:
            def told(outputs: Any) -> None:
                reached(outputs)
                self.shortest = min(self.shortest, op_count(outputs))
                self.left -= 1
                if self.left == 0:
                    raise KeyboardInterrupt

            return plain(*args, reached=told if reached else None, **how)

        monkeypatch.setattr(stages, "simplified", simplified)


@pytest.mark.parametrize("rounds", [1, 2])
def test_ctrl_c_keeps_the_best_graph(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = derived(60)
    whole = graph.simplify()
    stop = Stop(rounds, monkeypatch)
    with pytest.raises(sg.SimplifyInterrupted, match="best graph so far") as stopped:
        graph.simplify()
    kept = stopped.value.graph
    assert whole.op_count() <= kept.op_count() == stop.shortest < graph.op_count()
    for one, other in zip(kept.evaluate(**AT), graph.evaluate(**AT), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert kept.history.check(**AT)
    monkeypatch.undo()
    assert kept.simplify().op_count() <= kept.op_count()
    assert kept.explain()


def test_ctrl_c_before_anything_is_found_keeps_the_graph() -> None:
    graph = derived(60)

    def stop(_: sg.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        graph.simplify(progress=stop)
    assert isinstance(stopped.value, sg.SimplifyInterrupted)
    assert stopped.value.graph.op_count() <= graph.op_count()
    working("rules", 1, 2)  # nobody waits any more
    assert graph.simplify().op_count() < graph.op_count()
