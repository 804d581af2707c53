"""Graphs, lowered functions and transforms sent: pickle, copy, joblib, other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import symgraph as sg
from symgraph.array import Array
from symgraph.errors import SymgraphError
from symgraph.ir.body import Body
from symgraph.ir.dag import Dag
from symgraph.pytrees import flatten


def loss(w: Any, x: Any, y: Any) -> Any:
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + 0.1 * np.sum(w**2)


@sg.custom_vjp
def square(x: Any) -> Any:
    return x * x


@square.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return 2 * ct * x


def graph() -> sg.Graph:
    return sg.trace(loss, w="m", x="n, m", y="n").gradient("w").simplify()


def numbers(seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    return {
        "w": rng.normal(size=4),
        "x": rng.normal(size=(50, 4)),
        "y": np.sign(rng.normal(size=50)),
    }


def bits(values: Any) -> list[bytes]:
    return [np.asarray(each).tobytes() for each in values]


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_graph_is_pickled_by_its_own_form() -> None:
    first = graph()
    again = sent(first)
    assert again.to_json() == first.to_json()
    assert str(again) == str(first)
    assert first.to_json().encode() in pickle.dumps(first)


def test_a_lowered_function_is_pickled_as_its_graph_and_lowered_again() -> None:
    first = graph().lower()
    again = sent(first)
    assert bits(again(**numbers())) == bits(first(**numbers()))
    assert again.source == first.source
    assert first.source.splitlines()[-1].encode() not in pickle.dumps(first)
    assert sent(again).source == first.source


def test_options_and_checks_of_a_lowered_function_are_kept() -> None:
    stated = sg.trace(lambda x: np.sum(np.log(x)), x=sg.spec("n", assume=sg.positive))
    again = sent(stated.lower(check_facts=True))
    assert again(x=np.ones(2)) == 0
    with pytest.raises(sg.FactError):
        again(x=-np.ones(2))


def test_a_pickle_that_was_meddled_with_is_refused() -> None:
    data = pickle.dumps(graph().lower())
    assert b'"op":"matmul"' in data
    with pytest.raises(sg.FormatError):
        pickle.loads(data.replace(b'"op":"matmul"', b'"op":"matmux"'))


def waves(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def test_every_option_of_a_transform_is_kept() -> None:
    x, y = np.ones((2, 3)), np.arange(3.0)
    rows = sg.vmap(waves, in_axes=(0, None))
    both = sg.vmap(sg.grad(waves, wrt=("x", "y")), in_axes=(0, None), out_axes=1)
    aux = sg.value_and_grad(with_aux, has_aux=True, static="k")
    for transform, args in ((rows, (x, y)), (both, (x, y)), (aux, (y, 3))):
        for again in (sent(transform), copy.deepcopy(transform)):
            assert type(again) is type(transform)
            for one, other in zip(
                flatten(again(*args))[0], flatten(transform(*args))[0], strict=True
            ):
                assert one.shape == other.shape
                assert one.tobytes() == other.tobytes()
    assert sent(sg.grad(loss, cache_size=2)).cache_info().maxsize == 2


def with_aux(x: Any, k: int) -> Any:
    return np.sum(x**k), x * k


def test_transforms_are_pickled_as_function_and_options() -> None:
    for transform in (sg.grad(loss), sg.jacobian(loss, "x"), sg.hvp(loss, "w"), sg.grad(square)):
        again = sent(transform)
        assert again.cache_info().currsize == 0
        assert again.__name__ == transform.__name__
    values = numbers()
    assert bits([sent(sg.grad(loss))(**values)]) == bits([sg.grad(loss)(**values)])
    assert sent(sg.grad(square))(3.0) == 6
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(sg.grad(lambda x: x))


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.slope = sg.grad(self.loss)

    def loss(self, w: Any) -> Any:
        return self.scale * np.sum(w**2)


def test_a_model_that_holds_transforms_is_copied_and_pickled() -> None:
    model = Model(3.0)
    assert np.array_equal(model.slope(np.ones(2)), [6, 6])
    for again in (copy.deepcopy(model), sent(model)):
        again.scale = 5.0
        assert np.array_equal(again.slope(np.ones(2)), [10, 10])


def test_what_does_not_change_is_its_own_copy() -> None:
    x = sg.input("x", (3,))
    first = graph()
    body = Body([x.node], [np.exp(x).node])
    for each in (x.node, first, first.dag, first.lower(), body, sg.positive):
        assert copy.copy(each) is each
        assert copy.deepcopy([each])[0] is each


def test_a_symbolic_array_is_copied_as_memory_is():
    x = sg.input("x", (3,)) * 2
    for again in (copy.copy(x), copy.deepcopy([x])[0]):
        assert again is not x
        assert again.node is x.node
        again += 1
        assert again.node is not x.node


def test_graphs_of_nodes_and_bodies_are_pickled() -> None:
    dag = graph().dag
    again = sent(dag)
    assert isinstance(again, Dag)
    assert str(sg.Graph(again)) == str(sg.Graph(dag))
    x = sg.input("x", ("n",))
    body = Body([x.node], [np.exp(x).node, (x * 2).node])
    assert sent(body) == body


def test_an_array_alone_is_not_pickled_and_the_graph_is_named() -> None:
    x = sg.input("x", (3,))
    for each in (x, x.node, Array(x.node)):
        with pytest.raises(SymgraphError, match="nothing without its inputs") as told:
            pickle.dumps(each)
        assert "sg.graph(y)" in str(told.value)


def test_joblib_keeps_and_gives_back(tmp_path: Path) -> None:
    first = graph()
    joblib.dump({"graph": first, "run": first.lower()}, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    assert again["graph"].to_json() == first.to_json()
    assert bits(again["run"](**numbers())) == bits(first.lower()(**numbers()))


@pytest.mark.whole
def test_lowered_functions_run_in_four_spawned_processes() -> None:
    run = graph().lower()
    given = [numbers(seed) for seed in range(8)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        found = [pool.submit(_called, run, each) for each in given]
        processes = {each.result()[0] for each in found}
        assert [bits(each.result()[1]) for each in found] == [bits(run(**each)) for each in given]
    assert multiprocessing.current_process().pid not in processes


def _called(run: Any, given: Any) -> tuple[int | None, Any]:
    return multiprocessing.current_process().pid, run(**given)


@pytest.mark.fuzz
def test_joblib_runs_them_in_processes_of_its_own() -> None:
    run, slope = graph().lower(), sg.grad(loss)
    given = [numbers(seed) for seed in range(4)]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(run)(**each) for each in given)
    assert [bits(each) for each in found] == [bits(run(**each)) for each in given]
    slopes = joblib.Parallel(n_jobs=2)(joblib.delayed(slope)(**each) for each in given)
    assert bits(slopes) == bits([slope(**each) for each in given])
