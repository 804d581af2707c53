"""Functions of symbols, given numbers: what the traced function gives, evaluated."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS
from symgraph.backends.samples import op_samples
from symgraph.ir.dims import named
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS
from symgraph.ir.scope import tracing
from symgraph.pytrees import flatten

REFUSED_OR_NAMELESS = {name for name in FUNCTIONS if name.startswith("_")}
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (np.float64(0.5),),
    (np.array(0.5),),
    (np.array([0.5, 0.25]),),
    (np.array([[0.5, 0.25], [0.5, 1.0]]),),
    (np.zeros((0, 2)),),
    (3,),
    (np.float32(0.3),),
    (np.array([1, 2]),),
    ([0.5, 0.25],),
)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - REFUSED_OR_NAMELESS))
def test_numbers_give_what_the_graph_of_constants_gives(name: str) -> None:
    for given in ARGUMENTS:
        for arguments in (given, given * 2):
            try:
                symbolic = FUNCTIONS[name](*arguments)
                for each in flatten(symbolic)[0]:
                    if isinstance(each, sg.Array):
                        sg.graph(each).evaluate()
            except Exception:  # as eagerly: the same function is called
                continue
            found = flatten(getattr(snp, name)(*arguments))[0]
            for symbol, value in zip(flatten(symbolic)[0], found, strict=True):
                if not isinstance(symbol, sg.Array):
                    continue
                assert isinstance(value, (np.ndarray, np.generic))
                wanted = sg.graph(symbol).evaluate()
                assert value.dtype == wanted.dtype
                np.testing.assert_array_equal(value, wanted)


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", sorted(OPS))
def test_the_samples_of_every_operation_are_evaluated_alike(name: str) -> None:
    rng = np.random.default_rng(0)
    for dag in op_samples(OPS[name]):
        function = FUNCTIONS.get(name)
        node = dag.outputs[0]
        if function is None or len(dag.outputs) != 1 or node.op.name != name or node.params:
            continue
        if any(not each.is_input or each.aval.dim_names for each in node.operands):
            continue
        numbers = {
            key: rng.uniform(0.1, 0.9, each.shape).astype(each.dtype)
            for key, each in dag.inputs.items()
        }
        with np.errstate(all="ignore"):
            wanted = evaluate(dag, numbers)[0]
            found = function_of(name)(*[numbers[each.params["name"]] for each in node.operands])
        assert np.asarray(found).dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def function_of(name: str) -> Any:
    return getattr(snp, name)


@pytest.mark.parametrize(
    "given", [g for g in ARGUMENTS if isinstance(g[0], (np.ndarray, np.generic))]
)
def test_scalars_and_arrays_are_those_of_numpy(given: tuple[Any, ...]) -> None:
    for name in (
        "sum",
        "exp",
        "mean",
        "reshape",
        "where",
        "transpose",
        "diff",
        "max",
        "dot",
        "pad",
    ):
        calls = {
            "reshape": (*given, -1),
            "where": (True, *given * 2),
            "dot": given * 2,
            "pad": (*given, 1),
        }
        arguments = calls.get(name, given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = getattr(np, name)(*arguments)
            except ValueError:
                continue
        found = getattr(snp, name)(*arguments)
        if name != "transpose":  # NumPy's own gives a scalar for a scalar.
            assert type(found) is type(wanted), name
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_several_results_and_lists() -> None:
    first, second = snp.split(np.arange(4.0), 2)
    assert isinstance(first, np.ndarray)
    np.testing.assert_array_equal(second, [2.0, 3.0])
    assert snp.linalg.slogdet(np.eye(2)).sign == 1.0
    np.testing.assert_array_equal(snp.stack([1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal(snp.array([1, 2]), [1, 2])
    np.testing.assert_array_equal(
        snp.apply_along_axis(lambda v: v * v[0], 0, np.eye(2)), np.eye(2) * [1, 0]
    )


def test_what_is_symbolic_anywhere_stays_symbolic() -> None:
    x = sg.input("x", (3,))
    assert isinstance(snp.stack([x, np.ones(3)]), sg.Array)
    assert isinstance(snp.clip(np.ones(3), 0.0, max=x), sg.Array)
    assert isinstance(snp.zeros((named("n"), 3)), sg.Array)
    assert isinstance(snp.zeros("n, 3"), sg.Array)
    assert isinstance(snp.exp(sg.constant(1.0)), sg.Array)


def test_arrays_to_work_on_are_symbolic_while_tracing() -> None:
    with tracing("f"):
        for made in (
            snp.zeros(2),
            snp.eye(2),
            snp.arange(3),
            snp.asarray([1.0]),
            snp.ones_like([1.0]),
        ):
            assert isinstance(made, sg.Array)
        assert isinstance(snp.softmax(np.ones(3)), np.ndarray)
    assert isinstance(snp.zeros(2), np.ndarray)


def test_results_are_fresh_and_writeable() -> None:
    x = np.ones(3)
    found = snp.asarray(x)
    found += 1
    again = snp.zeros(3)
    again += 1
    np.testing.assert_array_equal(x, 1)
    np.testing.assert_array_equal(snp.zeros(3), 0)


def test_a_model_runs_plainly_and_traced() -> None:
    def model(w: Any, x: Any) -> Any:
        return snp.sum(snp.softmax(snp.relu(x @ w)) * snp.linspace(0.0, 1.0, 2))

    w, x = np.eye(2), np.array([[1.0, 2.0], [3.0, -1.0]])
    plain = model(w, x)
    assert type(plain) is np.float64
    assert sg.trace(model, w=w, x=x).evaluate(w=w, x=x) == plain


@pytest.mark.parametrize("name", ["softmax", "logsumexp", "einsum", "where"])
def test_signature_and_docstring_survive(name: str) -> None:
    assert inspect.signature(getattr(snp, name)) == inspect.signature(FUNCTIONS[name])
    summary = (FUNCTIONS[name].__doc__ or "").splitlines()[0]
    assert getattr(snp, name).__doc__.startswith(summary)


def test_loops_and_branches_of_numbers_run_at_once() -> None:
    carry, ys = sg.scan(lambda c, x: (c + x, c), 0.0, np.arange(4.0))
    assert type(carry) is np.float64
    np.testing.assert_array_equal(ys, [0.0, 0.0, 1.0, 3.0])
    assert sg.fori_loop(3, lambda i, c: c * 2.0, 1.0) == 8.0
    assert sg.while_loop(lambda c: c < 10, lambda c: c * 2.0, 1.0) == 16.0
    assert sg.cond(True, lambda v: v + 1, lambda v: v - 1, 2.0) == 3.0
    w = sg.input("w")
    assert isinstance(sg.fori_loop(3, lambda i, c: c * w, 1.0), sg.Array)


def test_equations_of_numbers_are_solved_at_once() -> None:
    def model(a: Any) -> Any:
        return sg.fixed_point(lambda x: (x + a / x) / 2, a)

    assert isinstance(model(4.0), np.float64)
    np.testing.assert_allclose([model(4.0), sg.grad(model)(4.0)], [2.0, 0.25], rtol=1e-12)
    roots = sg.root(lambda x: x * x - 2, np.array([1.0, -1.0]))
    np.testing.assert_allclose(roots, [2**0.5, -(2**0.5)], rtol=1e-12)
    np.testing.assert_allclose(sg.cg(lambda v: 2 * v, np.ones(3)), [0.5] * 3, rtol=1e-12)
