"""Reads sink: of a value that nothing else uses, only what is read is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ir.node import Node
from symgraph.ir.op import OPS, Op
from symgraph.passes import simplify
from symgraph.passes.reads import with_reads_sunk
from symgraph.passes.simplify import _Rounds  # pyright: ignore[reportPrivateUsage]
from symgraph.rewriting.log import Log
from symgraph.rewriting.packs import default_rules
from symgraph.testing.values import random_values

SIZES = {"n": 3, "m": 2}


def simplified(f: Callable[..., Any], **arrays: Any) -> sg.Graph:
    """The simplified graph, which gives what the traced one gives."""
    graph = sg.trace(f, **arrays)
    small = graph.simplify()
    np.testing.assert_allclose(
        small.evaluate(**arrays), graph.evaluate(**arrays), rtol=1e-12, atol=1e-14
    )
    assert small.simplify().dag.outputs == small.dag.outputs
    return small


def shapes(graph: sg.Graph) -> dict[str, tuple[Any, ...]]:
    """The shape that each operation is done in."""
    return {n.op.name: n.shape for n in graph.nodes if n.op.flops(n.aval, *[
        each.aval for each in n.operands
    ], **n.params)}  # fmt: skip


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


# -- every operation -------------------------------------------------------------------------------
def parts(node: Node) -> Iterator[tuple[Any, ...]]:
    """Indices that leave something out along one axis, or all."""
    for axis in range(node.ndim):
        for entry in (0, -1, slice(1, None), slice(None, 1), slice(None, None, -2), slice(0, 0)):
            yield (*[slice(None)] * axis, entry)
    yield tuple(slice(1, None) if axis % 2 else 0 for axis in range(node.ndim))
    yield (None, *[slice(None, -1)] * node.ndim)


def long_enough(value: Node, index: tuple[Any, ...]) -> bool:
    sizes = resolve(value.shape, SIZES)
    entries = [each for each in index if each is not None]
    return all(
        size > 0 for size, each in zip(sizes, entries, strict=False) if isinstance(each, int)
    )


@pytest.mark.sampled(one_in=96)
@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_part_of_every_operation(op: Op) -> None:
    """Of each sample each part, computed in whole and read, or as far below as it goes."""
    rng = np.random.default_rng(0)
    for sample in op_samples(op):
        given = {
            name: rng.integers(0, 3, resolve(x.shape, SIZES))
            if x.dtype.kind == "i"
            else random_values(resolve(x.shape, SIZES), x.dtype, x.params["assume"], rng)
            for name, x in sample.inputs.items()
        }
        wholes = [node for node in sample.outputs if node.op.name != "project"]
        reads = [
            Array(node)[index].node
            for node in wholes
            for index in parts(node)
            if long_enough(node, index)
        ]
        for read in reads:
            (below,) = with_reads_sunk([read])
            assert below.aval == read.aval
            moved = Dag(sample.inputs, [below])
            verify(moved)
            with np.errstate(all="ignore"):
                one, other = (
                    evaluate(each, given)[0] for each in (Dag(sample.inputs, [read]), moved)
                )
            rtol = 1e-5 if one.dtype == np.float32 else 1e-10
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol / 100, err_msg=str(read))


# -- how far ---------------------------------------------------------------------------------------
def test_a_chain_is_done_on_what_is_read() -> None:
    small = simplified(
        lambda x, y: np.tanh(np.exp(x) * y + x)[1, None, 2:], x=numbers(3, 4), y=numbers(4)
    )
    assert set(shapes(small).values()) == {(2,)}


def test_rows_and_columns_of_a_product() -> None:
    small = simplified(
        lambda x, y: (np.exp(x) @ np.sin(y))[1:, :2], x=numbers(3, 4), y=numbers(4, 5)
    )
    assert shapes(small) == {"exp": (2, 4), "sin": (4, 2), "matmul": (2, 2)}


@pytest.mark.parametrize(
    ("rows", "columns"), [((3, 4), (4, 5)), ((4,), (4, 5)), ((2, 3, 4), (4, 5))]
)
def test_one_column_of_a_product_is_a_product_by_a_vector(rows: Any, columns: Any) -> None:
    small = simplified(lambda x, y: (x @ np.sin(y))[..., -2], x=numbers(*rows), y=numbers(*columns))
    assert shapes(small) == {"sin": (4,), "matmul": rows[:-1]}


def test_known_places_along_one_axis() -> None:
    places = np.array([4, 0, 1])
    small = simplified(
        lambda x: np.sum(np.exp(x)[places] * np.sin(x)[:, places].T), x=numbers(5, 5)
    )
    assert (shapes(small)["exp"], shapes(small)["sin"]) == ((3, 5), (5, 3))


def test_what_is_repeated_is_read_once() -> None:
    small = simplified(lambda x, y: np.hypot(x, y)[2, 1:], x=numbers(1, 4), y=numbers(3, 1))
    assert shapes(small) == {"hypot": (3,)}


def test_a_named_axis() -> None:
    graph = sg.trace(lambda x: np.exp(x)[:-1], x=sg.spec(("n", 2)))
    (outer,) = graph.simplify().dag.outputs
    assert outer.op.name == "exp"
    np.testing.assert_array_equal(
        graph.simplify().evaluate(x=numbers(4, 2)), np.exp(numbers(4, 2)[:-1])
    )


# -- and where not ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.exp(x)[0] + np.sum(np.exp(x), axis=0),
        lambda x: (np.exp(x)[0], np.exp(x)),
        lambda x: np.exp(x)[::-1],
        lambda x: np.exp(x)[np.array([0, 0, 1, 1, 2, 2])],
    ],
)
def test_what_is_needed_in_whole_stays_whole(f: Callable[..., Any]) -> None:
    graph = sg.trace(f, x=numbers(3, 4)).simplify()
    assert shapes(graph)["exp"] == (3, 4)


def test_the_only_place_of_a_named_axis_is_not_read_again() -> None:
    # Moving the read gives an axis of size Max(0, Min(4, 2 n) - 3), of which place 0 is all.
    x = np.array([[0.3, -1.2], [0.7, 2.0]])
    y = np.array([1.5, -0.4])
    graph = sg.trace(
        lambda x, y: np.einsum("ab,b->a", np.concatenate([x, x]), y)[3], x="n, n", y="n"
    )
    small = graph.simplify()
    np.testing.assert_allclose(small.evaluate(x=x, y=y), x[1] @ y, rtol=1e-12)
    assert small.simplify().dag.outputs == small.dag.outputs
    assert len(small.dag.nodes) <= 6


def test_elements_that_meet_others_are_not_read_alone() -> None:
    small = simplified(lambda x: snp.softmax(x)[1, 2], x=numbers(3, 4))
    assert shapes(small) == {"softmax": (4,)}
    small = simplified(lambda x: np.cumsum(x, axis=0)[1:, 2:], x=numbers(3, 4))
    assert shapes(small) == {"cumsum": (3, 2)}


def test_places_of_what_is_added_at_places_stay() -> None:
    places = np.array([0, 2, 0])
    small = simplified(
        lambda x, y: snp.scatter_add(x, y, places, axis=0)[1:], x=numbers(4, 2), y=numbers(3, 2)
    )
    assert shapes(small) == {"scatter_add": (4, 2)}


def test_digits_stay_where_the_user_trusts_nothing_else() -> None:
    graph = sg.trace(lambda x, y: (x @ y)[1], x=numbers(3, 4), y=numbers(4, 5))
    assert shapes(graph.simplify(trust="exact")) == {"matmul": (3, 5)}
    graph = sg.trace(lambda x: np.max(np.exp(x), axis=1)[1:], x=numbers(3, 4))
    assert shapes(graph.simplify(trust="exact")) == {"exp": (2, 4), "max": (2,)}


def test_the_gradient_of_one_element_is_computed_of_that_element() -> None:
    graph = sg.trace(lambda x: np.exp(np.sin(x))[2], x=numbers(5)).gradient("x", value=False)
    small = graph.simplify()
    assert set(shapes(small).values()) == {()}
    found = small.evaluate(x=numbers(5))
    np.testing.assert_allclose(found, graph.evaluate(x=numbers(5)), rtol=1e-15)


def test_the_log_tells_of_it() -> None:
    graph = sg.trace(lambda x: np.exp(x)[0], x=numbers(3)).simplify()
    assert "reads moved below" in str(graph.explain())


def test_long_chains_are_no_deeper_than_python_allows() -> None:
    def f(x: Any) -> Any:
        for _ in range(3000):
            x = np.sin(x)
        return x[0]

    (below,) = with_reads_sunk(sg.trace(f, x=numbers(3)).dag.outputs)
    assert (below.shape, below.op.name) == ((), "sin")


def test_of_graphs_that_lead_to_one_another_the_cheapest_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reads move below and are moved back: each graph is seen once."""
    x = sg.input("x", "4")
    dear, cheap = [(snp.sin(x) * 2 + 1).node], [snp.sin(x).node]
    turned = {tuple(dear): cheap, tuple(cheap): dear}
    monkeypatch.setattr(simplify, "with_reads_sunk", lambda outputs, exact: turned[tuple(outputs)])
    monkeypatch.setattr(_Rounds, "once_more", lambda _, outputs: list(outputs))
    for start in (dear, cheap):
        rounds = _Rounds(
            default_rules(), Knowledge(), "rounding", Log(), set(), at_kinks=True, last=True
        )
        assert rounds.with_reads_below(start) == cheap
