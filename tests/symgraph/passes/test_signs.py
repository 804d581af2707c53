"""Negations go where they cost no operation."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from passedgraphs import operations

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node, make
from symgraph.ir.op import OPS
from symgraph.passes.signs import settled_signs, takes_signs
from symgraph.testing.values import random_values

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")

SIGNED = [name for name, op in OPS.items() if takes_signs(op) and not op.custom]
SIZES = {"n": 3, "m": 2}
X = np.array([0.5, -1.25, 2.0, 3.5, -0.75])
Y = np.array([1.5, 0.25, -2.0, 3.5, 1.0])
C = np.array([True, False, True, False, False])
SPECS = {"x": sg.spec(5), "y": sg.spec(5), "c": sg.spec(5, "bool")}


def settled(graph: sg.Graph) -> list[Node]:
    """The outputs with signs moved: valid, with the same values, and settled for good."""
    outputs = settled_signs(graph.dag.outputs)
    assert settled_signs(outputs) == outputs
    moved = Dag(graph.dag.inputs, outputs)
    verify(moved)
    at: dict[str, Any] = {"x": X, "y": Y, "c": C}
    for found, right in zip(evaluate(moved, at), evaluate(graph.dag, at), strict=True):
        np.testing.assert_array_equal(found, right)
    return outputs


Function = Callable[[Any, Any, Any], Any]

MOVED: list[tuple[Function, str]] = [
    (lambda x, y, c: -snp.cumsum((x - y)[1:]), "cumsum subtract"),
    (lambda x, y, c: x + snp.cumsum(-y * x), "cumsum multiply subtract"),
    (lambda x, y, c: -np.concatenate([x - y, y - 1]), "subtract subtract"),
    (lambda x, y, c: -snp.where(c, 0, (x - 1) * y), "multiply subtract where"),
    (lambda x, y, c: -(np.sin(x - y) / np.exp(y)), "divide exp sin subtract"),
    (lambda x, y, c: -np.outer(x - y, y)[1:] @ x, "matmul multiply subtract"),
    (lambda x, y, c: np.exp(abs(x - y)) * -np.tanh(x - y), "absolute exp multiply subtract tanh"),
    (lambda x, y, c: np.flip(-y - x * y) + x, "add multiply subtract"),
    (lambda x, y, c: -(3 / np.exp(x)), "divide exp"),
    (lambda x, y, c: -(np.exp(x) + 1) * y, "exp multiply subtract"),
    (lambda x, y, c: x - y * (-x), "add multiply"),
    # Two go, and one is new: of the argument of an exp, which needs its sign.
    (lambda x, y, c: np.exp(x * (m := -y)) * (-x) * m, "exp multiply multiply multiply negative"),
    (lambda x, y, c: (x - (d := x - y)[::-1], abs(-np.cumsum(d))), "absolute add cumsum subtract"),
]  # fmt: skip

KEPT: list[Function] = [
    # Others need the value at the sign it has.
    lambda x, y, c: (d := x - y, -np.cumsum(d)),
    lambda x, y, c: np.exp(d := x - y) * np.cumsum(-d * np.exp(x)),
    lambda x, y, c: -np.exp(x - y),
    lambda x, y, c: -(x * y),
    lambda x, y, c: np.exp(-x) + np.log(-y),
    # Where it is 0, the sign of the divisor is that of an infinity.
    lambda x, y, c: -(x / np.cumsum(y - x)),
]


@pytest.mark.parametrize(("f", "wanted"), MOVED)
def test_negations_that_go(f: Function, wanted: str) -> None:
    assert operations(settled(sg.trace(f, **SPECS))) == wanted.split()


@pytest.mark.parametrize("f", KEPT)
def test_negations_that_stay(f: Function) -> None:
    graph = sg.trace(f, **SPECS)
    assert Counter(operations(settled(graph))) == Counter(operations(graph.dag.outputs))


ANY: list[Callable[[Any, Any], Any]] = [
    np.add,
    np.subtract,
    np.multiply,
    np.fmod,
    lambda x, y: -x,
    lambda x, y: -np.tanh(x),
    lambda x, y: np.exp(np.clip(x, -3, 3)),
    lambda x, y: np.cos(x) - 1,
    lambda x, y: snp.where(y > 0, -x, y),
    lambda x, y: np.cumsum(x)[::-1] * -0.5,
]


@pytest.mark.parametrize("seed", range(40))
def test_programs_with_many_negations(seed: int) -> None:
    def program(x: Any, y: Any, c: Any) -> Any:
        rng = np.random.default_rng(seed)
        values = [x, y]
        for _ in range(15):
            one, other = (values[i] for i in rng.integers(0, len(values), 2))
            values.append(ANY[rng.integers(len(ANY))](one, other))
        return tuple(values[-3:])

    graph = sg.trace(program, **SPECS)
    assert len(operations(settled(graph))) <= len(operations(graph.dag.outputs))


# -- every operation -------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("name", sorted(set(SIGNED) - {"negative"}))
def test_what_is_said_of_each_operation(name: str) -> None:
    """With negated operands, the negative, or both: never more operations, the same values."""
    rng = np.random.default_rng(0)
    for sample in op_samples(OPS[name]):
        given = {
            key: rng.integers(0, 3, resolve(x.shape, SIZES)).astype(x.dtype)
            if x.dtype.kind in "ib"
            else random_values(resolve(x.shape, SIZES), x.dtype, x.params["assume"], rng)
            for key, x in sample.inputs.items()
        }
        for node in sample.outputs:
            if node.op.name != name or node.dtype.kind != "f":
                continue
            for signs in itertools.product((False, True), repeat=len(node.operands) + 1):
                before = _with_signs(node, signs)
                (after,) = settled_signs([before])
                assert len(operations([after])) <= len(operations([before]))
                with np.errstate(all="ignore"):
                    found, right = (
                        evaluate(Dag(sample.inputs, [each]), given, SIZES)[0]
                        for each in (after, before)
                    )
                np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def _with_signs(node: Node, signs: tuple[bool, ...]) -> Node:
    """The operation on negated operands, negated: where the signs say so."""
    operands = [
        make(OPS["negative"], (each,)) if minus and each.dtype.kind == "f" else each
        for each, minus in zip(node.operands, signs, strict=False)
    ]
    found = make(node.op, tuple(operands), node.params)
    return make(OPS["negative"], (found,)) if signs[-1] else found


# -- in gradients ----------------------------------------------------------------------------------
def test_a_difference_seen_by_an_even_and_an_odd_function_is_turned() -> None:
    small = sg.trace(lambda x, y: np.exp(-np.sum(np.abs(x - y))), x="5", y="5")
    gradient = small.gradient("x", value=False).simplify()
    assert [n.op.name for n in gradient.nodes].count("negative") == 1  # of the sum of sizes
    sign = np.exp(-np.abs(X - Y).sum()) * np.sign(Y - X)
    np.testing.assert_allclose(gradient.evaluate(x=X, y=Y), sign, rtol=1e-12)


def test_infinities_and_what_is_no_number_stay() -> None:
    """A sign moves past what overflows; nothing is made of an infinity less itself."""
    graph = sg.trace(lambda x, y: x + np.cumsum(-y * np.exp(x)), x="4", y="4")
    small = graph.simplify()
    assert "negative" not in {node.op.name for node in small.nodes}
    x, y = np.array([800.0, -800.0, np.nan, np.inf]), np.array([1.0, -np.inf, 2.0, 0.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(small.evaluate(x=x, y=y), graph.evaluate(x=x, y=y))


def test_what_is_asked_for_bit_by_bit_keeps_its_signs() -> None:
    graph = sg.trace(lambda x, y: -np.cumsum(x - y), x="5", y="5")
    small = graph.simplify(trust="exact")
    assert np.signbit(small.evaluate(x=X, y=X)).all()


def test_masks_of_numbers_are_told_in_another_shape() -> None:
    """What a reshaped mask of numbers multiplies goes into it."""
    graph = sg.trace(
        lambda x, m: np.exp(x) * np.where(m > 0, -2.0, 0)[:, None],
        x=sg.spec("3, 4", assume=sg.interval(-1, 1)),
        m="3",
    )
    small = graph.simplify()
    assert [node.op.name for node in small.dag.outputs] == ["where"]
    at: dict[str, Any] = {
        "x": np.linspace(-1, 1, 12).reshape(3, 4),
        "m": np.array([1.0, -1.0, np.nan]),
    }
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-12)


def test_choices_that_complete_one_another_at_either_sign() -> None:
    def f(x: Array, y: Array, c: Array) -> Array:
        return -snp.where(c, 0, np.exp(x) * (y - 1)) - snp.where(c, x - y, 0)

    graph = sg.trace(f, **SPECS)
    small = graph.simplify()
    assert [node.op.name for node in small.dag.outputs] == ["where"]
    assert "negative" not in {node.op.name for node in small.nodes}
    at: dict[str, Any] = {"x": X, "y": Y, "c": C}
    np.testing.assert_allclose(small.evaluate(**at), graph.evaluate(**at), rtol=1e-12)
