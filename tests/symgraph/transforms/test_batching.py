"""Every operation applied to a batch, against the operation applied to one example at a time."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.autodiff.reverse import gradients
from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.dims import named
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS, Op, carries_aligned
from symgraph.transforms.batching import batched

SIZE = 2
LOOPED = {"implicit"}
"""Operations without a rule: `vmap` loops over the batch. This set may only shrink."""


def own_ops() -> list[Op]:
    return [op for op in OPS.values() if not op.custom]


def unlike_ops() -> list[Any]:
    """All operations; of those on corresponding elements, which share a rule, a few are quick."""
    few = ("add", "where", "exp", "power", "frexp", "cast")
    return [
        op
        if op.name in few or op.carries is not carries_aligned
        else pytest.param(op, marks=pytest.mark.fuzz)
        for op in own_ops()
        if op.name != "custom_vjp"  # Its sample has no rule to try.
    ]


def subsets(count: int) -> Iterator[tuple[bool, ...]]:
    """Each operand alone, and all of them."""
    for one in range(count):
        yield tuple(place == one for place in range(count))
    if count > 1:
        yield (True,) * count


def numbers(shape: tuple[Any, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 4, shape).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def for_batch(dag: Dag, flags: tuple[bool, ...], size: Any = SIZE) -> Dag:
    """The graph for a batch of those inputs that are flagged; the batch comes first in results."""
    inputs = {
        name: sg.input(name, (size, *node.shape) if flag else node.shape, node.dtype)
        for (name, node), flag in zip(dag.inputs.items(), flags, strict=True)
    }
    given = {
        node: (inputs[name], flag)
        for (name, node), flag in zip(dag.inputs.items(), flags, strict=True)
    }
    whole = [
        x if flag else np.broadcast_to(x, (size, *x.shape))
        for x, flag in batched(dag.outputs, given, size)
    ]
    return Dag({name: x.node for name, x in inputs.items()}, [x.node for x in whole])


def assert_same_as_loop(
    dag: Dag, flags: tuple[bool, ...], n: int = 3, size: int = SIZE, named_size: Any = None
) -> None:
    rng = np.random.default_rng(0)
    values = {}
    for (name, node), flag in zip(dag.inputs.items(), flags, strict=True):
        shape = tuple(dim if isinstance(dim, int) else n for dim in node.shape)
        values[name] = numbers((size, *shape) if flag else shape, node.dtype, rng)
    found = evaluate(for_batch(dag, flags, named_size or size), values)
    rows = [
        evaluate(
            dag, {k: v[i] if f else v for (k, v), f in zip(values.items(), flags, strict=True)}
        )
        for i in range(size)
    ]
    for place, (output, got) in enumerate(zip(dag.outputs, found, strict=True)):
        want = np.stack([row[place] for row in rows])
        assert got.dtype == want.dtype == output.dtype
        assert got.shape == want.shape
        tolerance = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2}.get(str(want.dtype), 0)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("op", own_ops(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operation_on_a_batch_is_the_operation_on_each(op: Op) -> None:
    for dag in op_samples(op):
        for flags in subsets(len(dag.inputs)):
            assert_same_as_loop(dag, flags)


LOOPED_AT_TIMES = {
    "searchsorted",  # in vectors that differ
    "least_squares",  # of matrices that differ
    "cond",  # where a branch may raise
    "while_loop",  # where a step may raise
}
"""Operations that loop over the batch for some operands. This set may only shrink."""


def test_operations_that_may_loop_are_those_known() -> None:
    asked = {op.name for op in own_ops() if op.batch and "one_by_one" in rule_text(op)}
    assert asked == LOOPED_AT_TIMES
    for op in own_ops():
        for dag in op_samples(op):
            if op.name not in LOOPED | LOOPED_AT_TIMES and loops(dag) == 0:
                whole = for_batch(dag, (True,) * len(dag.inputs)) if dag.inputs else dag
                assert loops(whole) == 0 or "implicit" in {n.op.name for n in dag.nodes}, op


def rule_text(op: Op) -> str:
    return inspect.getsource(op.batch) if op.batch is not None else ""


def loops(dag: Dag) -> int:
    return sum(node.op.name == "scan" for node in dag.nodes)


def test_operations_without_a_rule_are_those_known() -> None:
    without = {op.name for op in own_ops() if op.batch is None}
    creating = {"input", "constant", "dimension", "arange", "eye", "project"}
    assert without - creating == LOOPED


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("op", unlike_ops(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_of_batches(op: Op) -> None:
    """Each operand in the inner batch alone, in the outer alone, and in both."""
    for dag in itertools.islice(op_samples(op), 1):
        for inner in subsets(len(dag.inputs)):
            once = for_batch(dag, inner, 3)
            for outer in itertools.islice(subsets(len(dag.inputs)), 3):
                assert_same_as_loop(once, outer)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("op", unlike_ops(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_of_a_size_that_is_named(op: Op) -> None:
    for dag in op_samples(op):
        for flags in subsets(len(dag.inputs)):
            assert_same_as_loop(dag, flags, named_size=named("batch"))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("op", unlike_ops(), ids=lambda op: op.name)
@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_batches_of_none_and_of_one(op: Op, size: int) -> None:
    for dag in itertools.islice(op_samples(op), 1):
        flags = (True,) * len(dag.inputs)
        if size and flags:
            assert_same_as_loop(dag, flags, size=size)
            continue
        values = {
            name: np.zeros(
                (size, *[dim if isinstance(dim, int) else 2 for dim in node.shape])
            ).astype(node.dtype)
            for name, node in dag.inputs.items()
        }
        results = evaluate(for_batch(dag, flags, size), values)
        for output, found in zip(dag.outputs, results, strict=True):
            assert found.shape[0] == size
            assert found.ndim == output.ndim + 1


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("op", unlike_ops(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_gradient_of_a_batch_is_the_batch_of_gradients(op: Op) -> None:
    for dag in itertools.islice(op_samples(op), 1):
        for flags in subsets(len(dag.inputs)):
            whole = for_batch(dag, flags)
            try:
                one, many = gradient(dag), gradient(whole)
            except sg.NotDifferentiable:
                return
            if one is not None and many is not None:
                assert_same_gradients(one, many, flags)


def gradient(dag: Dag) -> Dag | None:
    """Of the sum of what the floating outputs are, with respect to all floating inputs."""
    outputs = [sg.Array(node) for node in dag.outputs if node.dtype.kind == "f"]
    targets = [sg.Array(node) for node in dag.inputs.values() if node.dtype.kind == "f"]
    if not outputs or not targets:
        return None
    total = sum(np.sum(np.sin(x)) for x in outputs)
    found = gradients(total, targets)
    results = [x * 0 if ct is None else ct for x, ct in zip(targets, found, strict=True)]
    return Dag(dag.inputs, [x.node for x in results])


def assert_same_gradients(one: Dag, many: Dag, flags: tuple[bool, ...]) -> None:
    """Gradients of a batch against those of each; of what all share they are added up."""
    rng = np.random.default_rng(0)
    values = {
        name: numbers(tuple(d if isinstance(d, int) else 3 for d in node.shape), node.dtype, rng)
        for name, node in many.inputs.items()
    }
    given = dict(zip(many.inputs, flags, strict=True))
    found = evaluate(many, values)
    rows = [
        evaluate(one, {name: v[i] if given[name] else v for name, v in values.items()})
        for i in range(SIZE)
    ]
    names = [name for name, node in one.inputs.items() if node.dtype.kind == "f"]
    for place, name in enumerate(names):
        parts = np.stack([row[place] for row in rows])
        want = parts if given[name] else parts.sum(0)
        tolerance = {"float64": 1e-8, "float32": 1e-3, "float16": 1e-1}[str(want.dtype)]
        np.testing.assert_allclose(
            found[place], want, rtol=tolerance, atol=tolerance, equal_nan=True
        )


# -- shapes that samples have not ------------------------------------------------------------------
def dag_of(call: Any, *avals: tuple[tuple[int, ...], str]) -> Dag:
    inputs = [sg.input(f"x{i}", shape, dtype) for i, (shape, dtype) in enumerate(avals)]
    results = call(*inputs)
    nodes = [each.node for each in (results if isinstance(results, tuple) else (results,))]
    return Dag({f"x{i}": x.node for i, x in enumerate(inputs)}, nodes)


def check(call: Any, *shapes: Any) -> None:
    """Shapes are of floats; a dtype may stand behind."""
    avals = [
        (each[:-1], each[-1]) if each and isinstance(each[-1], str) else (each, "float64")
        for each in shapes
    ]
    dag = dag_of(call, *avals)
    for flags in subsets(len(dag.inputs)):
        assert_same_as_loop(dag, flags)


LEADS = [(), (2,), (3, 2), (1, 2)]
MATRICES = [(*lead, 4, 4) for lead in LEADS]


@pytest.mark.parametrize("left", [(4,), *MATRICES])
@pytest.mark.parametrize("right", [(4,), *MATRICES])
def test_products(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    check(np.matmul, left, right)


@pytest.mark.parametrize("a", MATRICES[:3])
@pytest.mark.parametrize("b", [(4,), *[(*lead, 4, 3) for lead in LEADS[:3]]])
def test_systems(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    if len(a) + len(b) < 6:
        check(np.linalg.solve, a, b)
    check(lambda a, b: snp.solve_triangular(a, b, lower=True), a, b)


@pytest.mark.parametrize(
    "subscripts", ["ij,jk->ik", "ij,ij->", "i,j->ij", "ii->", "ij,kj,k->i", "...i,i->...", "ij->ji"]
)
def test_sums_of_products(subscripts: str) -> None:
    terms = subscripts.split("->")[0].split(",")
    shapes = [(3,) * len(term.replace("...", "ab")) for term in terms]
    check(lambda *x: np.einsum(subscripts, *x), *shapes)


READING: list[Any] = [
    (lambda x, i: x[i], (5, 4), (3, "int64")),
    (lambda x, i: x[i], (5,), ("int64",)),
    (lambda x, i: x[i], (5, 4, 4), ("int64",)),
    (lambda x, i: x[:, i], (4, 5, 4), (2, 3, "int64")),
    (lambda x, i: x[..., i], (4, 5, 4), ("int64",)),
    (lambda x, i, j: x[i, j], (4, 5), (3, "int64"), (3, "int64")),
    (lambda x, i, j: x[i, j], (4, 5), (3, 1, "int64"), (2, "int64")),
    (lambda x, i, j: x[i, j], (4, 5), ("int64",), ("int64",)),
    (lambda x, i, j: x[:, i, j], (2, 4, 5, 3), (3, "int64"), ("int64",)),
    (lambda x, i, j: x[i, :, j], (4, 2, 5), (3, "int64"), (3, "int64")),
    (lambda x, i: np.take_along_axis(x, i, 0), (4, 3), (2, 3, "int64")),
    (lambda x, i: np.take_along_axis(x, i, 1), (4, 4), (4, 2, "int64")),
]
WRITING: list[Any] = [
    (lambda x, v, i: snp.index_add(x, i, v), (5, 2), (3, 2), (3, "int64")),
    (lambda x, v, i: snp.index_update(x, i, v), (5, 2), (3, 2), (3, "int64")),
    (lambda x, v, i: snp.index_update(x, (slice(None), i), v), (2, 5), (2, 3), (3, "int64")),
    (lambda x, v, i: snp.scatter_add(x, v, i, axis=0), (5, 3), (), (4, "int64")),
    (lambda x, v, i: snp.scatter_add(x, v, i, axis=0), (5, 3), (3,), (2, 2, "int64")),
    (lambda x, v, i: snp.scatter_add(x, v, i, axis=1), (3, 5, 2), (3, 2, 2), (2, "int64")),
    (
        lambda x, v, i, j: snp.scatter_add(x, v, i, j, axis=0),
        (4, 5, 2),
        (3, 2),
        (3, "int64"),
        (3, "int64"),
    ),
    (
        lambda x, v, i, j: snp.scatter_add(x, v, i, j, axis=1),
        (2, 4, 5),
        (),
        (3, 1, "int64"),
        (2, "int64"),
    ),
    (lambda x, v: snp.index_update(x, (slice(None), 1), v), (3, 4), (3,)),
    (lambda x, v: snp.index_update(x, (1, None, slice(0, 2)), v), (3, 4), ()),
    (lambda x, v: snp.index_update(x, (slice(None, None, -1), slice(1)), v), (3, 4), (1,)),
    (lambda x, v: snp.index_update(x, 2, v), (3, 4, 2), (2,)),
]


@pytest.mark.parametrize("place", range(len(READING)))
def test_reading_at_places(place: int) -> None:
    check(*READING[place])


@pytest.mark.parametrize("place", range(len(WRITING)))
def test_writing_at_places(place: int) -> None:
    check(*WRITING[place])


@pytest.mark.parametrize("wrong", [3, -4])
def test_a_place_out_of_range_does_not_meet_the_next_example(wrong: int) -> None:
    dag = dag_of(snp.scatter_set, ((3,), "float64"), ((1,), "float64"), ((1,), "int64"))
    whole = for_batch(dag, (True, True, True))
    given = {"x0": np.zeros((2, 3)), "x1": np.ones((2, 1)), "x2": np.array([[0], [-1]])}
    np.testing.assert_array_equal(evaluate(whole, given)[0], [[1, 0, 0], [0, 0, 1]])
    for place in ([[wrong], [0]], [[0], [wrong]]):
        with pytest.raises(IndexError):
            evaluate(whole, {**given, "x2": np.array(place)})


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_images_and_kernels(lead: tuple[int, ...]) -> None:
    check(lambda x, w: snp.conv(x, w, padding=1), (*lead, 4, 6), (2, 4, 3))
    check(lambda x, w: snp.conv_transpose(x, w), (*lead, 4, 6), (4, 2, 3))
    check(lambda x: snp.max_pool2d(x, 2), (*lead, 4, 6))


# -- what may be run where it is not wanted --------------------------------------------------------
HOSTILE = {
    "f": [0.0, -0.0, np.inf, -np.inf, np.nan, -1.5, 1e300, -1e300],
    "i": [0, -1, 5, -(2**62), 2**62],
    "b": [False, True],
    "u": [0, 255],
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("op", unlike_ops(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_total_operation_raises_for_no_numbers(op: Op) -> None:
    rng = np.random.default_rng(0)
    for dag in op_samples(op):
        if op.total is False or not all(
            node.op.is_total(*[x.aval for x in node.operands], **node.params)
            for node in dag.nodes
            if not node.is_input
        ):
            continue
        for _ in range(2):
            values = {
                name: np.array(
                    rng.choice(
                        HOSTILE[node.dtype.kind],
                        [dim if isinstance(dim, int) else 3 for dim in node.shape],
                    )
                ).astype(node.dtype)
                for name, node in dag.inputs.items()
            }
            evaluate(dag, values)
