"""Batches in chunks: the numbers of the whole graph, on threads and on a cluster of two workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import BackendError, InputError
from symgraph.testing import check_backend

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
dask = pytest.importorskip("dask", reason="the dask extra is not installed")
distributed = pytest.importorskip("distributed", reason="the dask extra is not installed")
import dask.array as da  # noqa: E402  # it may be missing

from symgraph.backends.dask import BACKEND  # noqa: E402  # it needs dask

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(100, 6)), RNG.dirichlet(np.ones(3), 100)
W, B = RNG.normal(size=(6, 3)), RNG.normal(size=3)


def loss(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x @ w + b
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    return -np.mean(np.sum(y * np.log(q), axis=-1))


@pytest.fixture(scope="module")
def joint() -> Any:
    graph = sg.trace(loss, x="n, 6", y=sg.spec("n, 3", assume=sg.simplex(axis=-1)), w="6, 3", b="3")
    return graph.gradient("w", "b").simplify()


def chunked(value: Any, rows: int = 13) -> Any:
    return da.from_array(value, chunks=(rows, *value.shape[1:]))


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-10, atol=1e-12)


def test_samples_of_all_operations_run_in_chunks_or_are_refused() -> None:
    refused: dict[str, BackendError] = {}
    with dask.config.set(scheduler="synchronous"):
        assert check_backend("dask", graphs=0, batch="n", refused=refused) > 600
    assert "sort" in refused


# -- without a cluster -----------------------------------------------------------------------------
@pytest.mark.parametrize("rows", [1, 13, 50, 100])
def test_a_gradient_is_that_of_the_whole_batch(joint: Any, rows: int) -> None:
    value, slopes = joint.lower(BACKEND, batch="n")(chunked(X, rows), chunked(Y, rows), W, B)
    expected, others = joint.lower()(X, Y, W, B)
    agree(value, expected)
    for ours, theirs in zip(slopes, others, strict=True):
        assert type(ours) is np.ndarray
        agree(ours, theirs)


def test_numpy_arrays_and_other_chunks_are_cut_alike(joint: Any) -> None:
    expected, _ = joint.lower()(X, Y, W, B)
    f = joint.lower(BACKEND, batch="n")
    for x, y, w in (
        (X, Y, W),
        (chunked(X, 30), Y, W),
        (da.from_array(X, chunks=(20, 2)), chunked(Y, 7), da.from_array(W, chunks=(2, 2))),
    ):
        agree(f(x=x, y=y, w=w, b=B)[0], expected)


def test_rows_of_results_are_dask_arrays_in_the_same_chunks() -> None:
    def model(x: Any, w: Any) -> Any:
        return np.tanh(x @ w), x.T * 2, np.sum(x, axis=0)

    graph = sg.trace(model, x="n, 6", w="6, 3")
    found = graph.lower(BACKEND, batch="n")(chunked(X, 30), W)
    assert found[0].chunks == ((30, 30, 30, 10), (3,))
    assert found[1].chunks == ((6,), (30, 30, 30, 10))
    for ours, theirs in zip(found, graph.evaluate(X, W), strict=True):
        agree(ours, theirs)


def test_values_of_the_whole_batch_within_rows() -> None:
    def normalized(x: Any, w: Any) -> Any:
        z = (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 1e-5)
        return np.sum(np.tanh(z @ w) ** 2), np.max(x) - np.min(x, axis=0), z

    graph = sg.trace(normalized, x="n, 6", w="6, 3")
    found = graph.lower(BACKEND, batch="n")(chunked(X), W)
    for ours, theirs in zip(found, graph.evaluate(X, W), strict=True):
        agree(ours, theirs)


def test_the_gradient_of_an_embedding_adds_rows_at_indices() -> None:
    def model(table: Any, i: Any, y: Any) -> Any:
        return np.mean((table[i] - y) ** 2)

    graph = sg.trace(model, table="5, 3", i=sg.spec("n", "int64"), y="n, 3")
    joint = graph.gradient("table")
    i, table = RNG.integers(0, 5, 100), RNG.normal(size=(5, 3))
    value, slope = joint.lower(BACKEND, batch="n")(table, chunked(i), chunked(Y))
    expected = joint.evaluate(table, i, Y)
    agree(value, expected[0])
    agree(slope, expected[1])


def test_gradients_with_rows_and_without() -> None:
    graph = sg.trace(lambda x, w: np.mean(np.tanh(x @ w) ** 2), x="n, 6", w="6, 3")
    joint = graph.gradient("x", "w")
    value, slopes = joint.lower(BACKEND, batch="n")(chunked(X), W)
    expected, others = joint.evaluate(X, W)
    agree(value, expected)
    assert isinstance(slopes[0], da.Array)
    for ours, theirs in zip(slopes, others, strict=True):
        agree(ours, theirs)


def test_the_gradient_of_a_convolution_adds_over_images() -> None:
    graph = sg.trace(lambda x, k: np.sum(snp.conv1d(x, k) ** 2), x="n, 2, 5", k="3, 2, 2")
    x, k = RNG.normal(size=(50, 2, 5)), RNG.normal(size=(3, 2, 2))
    for joint in (graph.gradient("k"), graph.gradient("k").simplify()):
        found = joint.lower(BACKEND, batch="n")(chunked(x, 7), k)
        for ours, theirs in zip(found, joint.evaluate(x, k), strict=True):
            agree(ours, theirs)


def test_labels_of_classes() -> None:
    def model(x: Any, labels: Any, w: Any) -> Any:
        picked = np.take_along_axis(snp.log_softmax(x @ w), labels[:, None], axis=1)
        return -np.mean(picked)

    graph = sg.trace(model, x="n, 6", labels=sg.spec("n", "int64"), w="6, 3").gradient("w")
    labels = RNG.integers(0, 3, 100)
    for each in (graph, graph.simplify()):
        value, slope = each.lower(BACKEND, batch="n")(chunked(X), chunked(labels), W)
        expected = graph.evaluate(X, labels, W)
        agree(value, expected[0])
        agree(slope, expected[1])


def test_a_batch_on_another_axis_and_other_named_dimensions() -> None:
    def model(x: Any, y: Any) -> Any:
        return x.T @ y / x.shape[1], np.sum(x) * y.shape[0]

    graph = sg.trace(lambda x, y: model(x.T, y), x="m, n", y="n, k")
    x = RNG.normal(size=(4, 100))
    found = graph.lower(BACKEND, batch="n")(da.from_array(x, chunks=(4, 30)), chunked(Y))
    for ours, theirs in zip(found, graph.evaluate(x, Y), strict=True):
        agree(ours, theirs)


def test_single_precision_and_empty_chunks() -> None:
    graph = sg.trace(lambda x: np.max(x, axis=0) + np.sum(x), x=sg.spec("n, 6", "float32"))
    x = da.from_array(X.astype("f4"), chunks=((0, 60, 0, 40), 6))
    found = graph.lower(BACKEND, batch="n")(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, graph.evaluate(X.astype("f4")), rtol=1e-5)


# -- refused ---------------------------------------------------------------------------------------
def test_the_batch_is_named() -> None:
    with pytest.raises(BackendError, match="Which dimension is the batch"):
        sg.trace(np.exp, x="n").lower(BACKEND)


def test_what_reads_the_places_of_rows_shows_in_the_trial() -> None:
    graph = sg.trace(lambda x: np.tril(x), x="n, 4")
    with pytest.raises(BackendError, match="other numbers on a trial"):
        graph.lower(BACKEND, batch="n")


def test_unknown_chunks_and_wrong_inputs(joint: Any) -> None:
    f = joint.lower(BACKEND, batch="n")
    unknown = chunked(X)[chunked(X)[:, 0] > 0]
    for y in (chunked(Y), unknown):
        with pytest.raises(InputError, match="chunks of unknown sizes"):
            f(unknown, y, W, B)
    with pytest.raises(InputError, match="'w'"):
        f(chunked(X), chunked(Y), W.T, B)
    with pytest.raises(InputError):
        f(chunked(X), chunked(Y[:50]), W, B)


# -- on a cluster ----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def test_a_cluster_of_two_workers(joint: Any, client: Any) -> None:
    expected, others = joint.lower()(X, Y, W, B)
    value, slopes = joint.lower(BACKEND, batch="n")(chunked(X), chunked(Y), W, B)
    agree(value, expected)
    for ours, theirs in zip(slopes, others, strict=True):
        agree(ours, theirs)
    workers = client.run(lambda: sorted(map(str, __import__("sys").modules)))
    assert len(workers) == 2
    assert all("symgraph.backends.dask" in modules for modules in workers.values())


def test_the_batch_is_never_in_one_process(client: Any) -> None:
    """Each chunk is made on a worker, and no worker nor this process ever gets all of them."""
    graph = sg.trace(lambda x, w: np.mean((x @ w) ** 2), x="n, 50", w="50").gradient("w").simplify()
    rows = 400_000  # 160 MB in chunks of 4 MB.
    x = da.random.default_rng(0).normal(size=(rows, 50), chunks=(10_000, 50))
    w = np.linspace(0, 1, 50)
    client.run(_note_peak)
    value, slope = graph.lower(BACKEND, batch="n")(x, w)
    grown = client.run(_peak_since)
    assert max(grown.values()) < 100e6
    # E (x·w)² = w·w, and its gradient is 2 w.
    np.testing.assert_allclose(value, w @ w, rtol=0.02)
    np.testing.assert_allclose(slope, 2 * w, atol=0.1)


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _note_peak() -> None:
    """Watch the memory of this process from now on."""
    state = {"start": _resident(), "peak": 0, "on": True}

    def watch() -> None:
        while state["on"]:
            state["peak"] = max(state["peak"], _resident())
            time.sleep(0.005)

    threading.Thread(target=watch, daemon=True).start()
    _note_peak.state = state  # type: ignore[attr-defined]


def _peak_since() -> int:
    state = _note_peak.state  # type: ignore[attr-defined]
    state["on"] = False
    return int(state["peak"] - state["start"])


def test_a_worker_that_is_killed_loses_nothing(joint: Any, client: Any) -> None:
    def slowly(block: Any) -> Any:
        time.sleep(0.05)
        return block

    x = chunked(np.tile(X, (40, 1)), 100).map_blocks(slowly, dtype=X.dtype)
    y = chunked(np.tile(Y, (40, 1)), 100)
    expected, others = joint.lower()(X, Y, W, B)
    f = joint.lower(BACKEND, batch="n")
    pids = sorted(client.run(os.getpid).values())
    killer = threading.Timer(0.8, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    value, slopes = f(x, y, W, B)
    killer.join()
    assert pids[0] not in client.run(os.getpid).values()
    agree(value, expected)
    for ours, theirs in zip(slopes, others, strict=True):
        agree(ours, theirs)
