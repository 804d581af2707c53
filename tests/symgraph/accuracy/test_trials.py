"""Values at the probes: reproducible, and no luck of the order of terms in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.accuracy.probes import ORDINARY
from symgraph.accuracy.trials import Trials
from symgraph.graph import stages
from symgraph.ir.fact_inference import Knowledge

KNOWLEDGE = Knowledge()
X, Y = sg.input("x", "n"), sg.input("y", "n")
A, B = sg.input("A", "m, n"), sg.input("B", "n, k")


def written_anew(*, backwards: bool) -> tuple[Any, Any]:
    """A spelling and its operands, made in one order or the other of inputs that are new."""
    y = sg.input("y", "n") if backwards else None
    x = sg.input("x", "n")
    y = sg.input("y", "n") if y is None else y
    return snp.exp(x) * y + snp.sin(y) / x, (y, x) if backwards else (x, y)


def test_values_at_the_probes_do_not_depend_on_what_was_met_before() -> None:
    spelling, _ = written_anew(backwards=False)
    other, operands = written_anew(backwards=True)
    first, second = Trials(KNOWLEDGE), Trials(KNOWLEDGE)
    for each in (snp.tanh(operands[0] - operands[1]), *operands):
        second.of(each.node)
    one, two = first.of(spelling.node), second.of(other.node)
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.right, two.right)
    np.testing.assert_array_equal(one.found, two.found)


def test_operands_exchanged_are_rounded_alike() -> None:
    trials = Trials(KNOWLEDGE)
    one, two = trials.of((X * Y).node), trials.of((Y * X).node)
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.found, two.found)


def test_two_inputs_of_one_name_have_other_numbers() -> None:
    x, other = sg.input("x", "n"), sg.input("x", "n")
    trials = Trials(KNOWLEDGE)
    one, two = trials.of(x.node), trials.of(other.node)
    assert one is not None
    assert two is not None
    assert not np.array_equal(one.right, two.right)


def test_a_product_of_matrices_that_overflows_both_ways_is_no_number() -> None:
    """Its sign would be that of the term that BLAS takes first, and a tanh of it any number."""
    trials = Trials(KNOWLEDGE)
    trial = trials.of((A @ B).node)
    left, right = trials.of(A.node), trials.of(B.node)
    assert trial is not None
    assert left is not None
    assert right is not None
    with np.errstate(all="ignore"):
        terms = (left.found[0][..., None] * right.found[0][:, None]).astype(np.float32)
    both = np.any(terms == np.inf, axis=-2) & np.any(terms == -np.inf, axis=-2)
    assert both.any()
    assert not both.all()
    assert np.isnan(trial.found[:, both]).all()
    assert np.isfinite(trial.found[:, ORDINARY]).all()


def test_layers_are_simplified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a network whose softmax overflows nothing is stabilised after all: it is at once."""

    def loss(x: Any, y: Any, w: Any, b: Any, v: Any) -> Any:
        e = np.exp(np.tanh(x @ w + b) @ v)
        return -np.mean(np.sum(y * np.log(e / np.sum(e, axis=-1, keepdims=True)), axis=-1))

    rows = sg.spec("n, 3", assume=sg.simplex(axis=-1))
    graph = sg.trace(loss, x="n, 4", y=rows, w="4, 5", b="5", v="5, 3").gradient("w", "b", "v")
    runs: list[int] = []
    plain = stages.simplified

    def counted(*args: Any, **options: Any) -> Any:
        runs.append(1)
        return plain(*args, **options)

    monkeypatch.setattr(stages, "simplified", counted)
    graph.simplify()
    assert len(runs) == 2  # before it is differentiated, and after
