"""The cupy backend's own steps, with NumPy in CuPy's place; its numbers are in `test_gpu.py`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special
from standincupy import OnDevice, modules, on_device

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.base import backend_named
from symgraph.backends.conformance import check_backend
from symgraph.errors import BackendError, InputError
from symgraph.ir.op import OPS

X, Y = np.array([0.3, -1.2, 0.0]), np.array([1.0, 2.0, 3.0])


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The backend, imported while NumPy is in CuPy's place."""
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    ours = ("symgraph.backends.cupy_namespace", "symgraph.backends.cupy")
    for name in ours:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(ours[1]).BACKEND
    for name in ours:
        sys.modules.pop(name, None)


@pytest.fixture
def joint(stand_in: Any) -> Any:
    graph = sg.trace(lambda x, y: np.sum(np.tanh(x) ** 2 * y), x="n", y="n").gradient("x")
    return graph.simplify().lower(stand_in)


def slope(x: Any, y: Any) -> Any:
    return 2 * np.tanh(x) * (1 - np.tanh(x) ** 2) * y


def test_numpy_gives_numpy_and_own_arrays_give_own(joint: Any) -> None:
    _, found = joint(X, Y)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, slope(X, Y), rtol=1e-12)
    for given in ((on_device(X), on_device(Y)), (on_device(X), Y)):
        value, found = joint(*given)
        assert type(found) is type(value) is OnDevice
        np.testing.assert_allclose(found, slope(X, Y), rtol=1e-12)


def test_either_kind_of_results_can_be_asked_for(joint: Any, stand_in: Any) -> None:
    graph = sg.Graph(joint.dag)
    assert type(graph.lower(stand_in, numpy_out=False)(X, Y)[1]) is OnDevice
    assert type(graph.lower(stand_in, numpy_out=True)(on_device(X), Y)[1]) is np.ndarray


def test_dtypes_widen_and_are_refused_where_digits_would_be_lost(stand_in: Any) -> None:
    wide = sg.trace(np.exp, x="n").lower(stand_in)
    assert wide(on_device(X, "float32")).dtype == np.float64
    narrow = sg.trace(np.exp, x=sg.spec("n", "float32")).lower(stand_in)
    with pytest.raises(InputError, match="float64, but float32 was declared"):
        narrow(on_device(X))


def test_a_wrong_device_is_refused(joint: Any, stand_in: Any) -> None:
    graph = sg.Graph(joint.dag)
    with pytest.raises(InputError, match="several devices: cuda:0, cuda:1"):
        joint(on_device(X), on_device(Y, number=1))
    for wanted in ("cpu", "gpu"):
        with pytest.raises(BackendError, match=f"no device '{wanted}' here") as told:
            graph.lower(stand_in, device=wanted)
    assert "here: cuda" in str(told.value)
    graph.lower(stand_in, device="cuda")(on_device(X, number=1), Y)
    with pytest.raises(InputError, match="on cuda:0, but the graph was lowered for cuda:1"):
        graph.lower(stand_in, device="cuda:1")(on_device(X), Y)


def test_results_share_no_memory_with_inputs_constants_or_one_another(stand_in: Any) -> None:
    table = np.arange(3.0)
    f = sg.trace(lambda x: (x, x.T, np.ravel(x), snp.asarray(table)), x="2, 3").lower(stand_in)
    x = on_device(np.ones((2, 3)))
    for _ in range(2):
        results = f(x)
        for each, wanted in zip(results, (np.ones((2, 3)), np.ones((3, 2)), 1, table), strict=True):
            np.testing.assert_array_equal(each, np.broadcast_to(wanted, each.shape))
            each += 1
    np.testing.assert_array_equal(x, np.ones((2, 3)))


def test_memory_is_given_back_after_its_last_use(stand_in: Any) -> None:
    """Of a chain of 30 arrays no more than a few are there at once."""
    import tracemalloc

    def chain(x: Any) -> Any:
        for _ in range(30):
            x = np.sin(x)
        return x

    f, x = sg.trace(chain, x="n").lower(stand_in), on_device(np.ones(10**5))
    f(x)
    tracemalloc.start()
    try:
        f(x)
        assert tracemalloc.get_traced_memory()[1] < 6 * x.nbytes
    finally:
        tracemalloc.stop()


def test_places_beyond_an_axis_are_refused_and_negative_ones_count_back(stand_in: Any) -> None:
    places = sg.spec("k", "int64")
    read = sg.trace(lambda x, at: x[:, at], x="2, 3", at=places)
    x, lowered = np.arange(6.0).reshape(2, 3), read.lower(stand_in)
    at = np.array([2, -3, 0])
    np.testing.assert_array_equal(lowered(x, at), x[:, at])
    for wrong in (3, -4):
        with pytest.raises(InputError, match=f"axis 1 with size 3: {wrong}") as told:
            lowered(x, np.array([0, wrong]))
        assert "test_cupy.py" in "".join(told.value.__notes__)


def test_the_last_of_repeated_writes_stays(stand_in: Any) -> None:
    def f(x: Any, at: Any, v: Any) -> Any:
        x = x.copy()
        x[at] = v
        return x

    graph = sg.trace(f, x="3, 2", at=sg.spec("4", "int64"), v="4, 2")
    x, v = np.zeros((3, 2)), np.arange(8.0).reshape(4, 2)
    for at in ([0, 2, 0, -1], [1, 1, 1, 1]):
        wanted = np.array(x)
        wanted[at] = v
        np.testing.assert_array_equal(graph.lower(stand_in)(x, np.array(at), v), wanted)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32"])
def test_repeated_places_add_up_in_each_dtype(stand_in: Any, dtype: str) -> None:
    def f(x: Any, at: Any, v: Any) -> Any:
        x = x.copy()
        np.add.at(x, at, v)
        return x

    graph = sg.trace(f, x=sg.spec("3", dtype), at=sg.spec("4", "int64"), v=sg.spec("4", dtype))
    x, v = np.array([1, 0, 1], dtype), np.array([1, 120, 120, 0], dtype)
    at = np.array([0, 2, 2, 1])
    wanted = np.array(x)
    with np.errstate(over="ignore"):
        np.add.at(wanted, at, v)
    found = graph.lower(stand_in)(x, at, v)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_running_results_take_as_many_steps_as_the_length_has_bits(stand_in: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 11))
    for function in (np.maximum, np.minimum, np.logaddexp):
        f = sg.trace(lambda x, f=function: f.accumulate(x, axis=1), x="3, n").lower(stand_in)
        np.testing.assert_allclose(f(x), function.accumulate(x, axis=1), rtol=1e-12)
        assert f(x[:, :0]).shape == (3, 0)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution_is_by_products(stand_in: Any, mode: Any) -> None:
    rng = np.random.default_rng(0)
    for n, k in ((5, 3), (3, 4), (6, 2), (4, 4)):
        x, v = rng.normal(size=n), rng.normal(size=k)
        found = stand_in.namespace.convolve(x, v, mode=mode)
        np.testing.assert_allclose(found, np.convolve(x, v, mode), rtol=1e-12)


def test_a_function_that_cupy_lacks_is_refused_by_name(stand_in: Any) -> None:
    graph = sg.trace(lambda x: special.jv(1.0, x), x="n")
    with pytest.raises(BackendError, match=r"CuPy has no jv, and SciPy would") as told:
        graph.lower(stand_in)(on_device(X))
    assert "test_cupy.py" in "".join(told.value.__notes__)


@pytest.mark.whole
def test_operations_run_or_are_refused_by_name_and_none_is_wrong(stand_in: Any) -> None:
    refused: dict[str, BackendError] = {}
    assert check_backend(stand_in, graphs=12, gradients=True, refused=refused) > 2000
    assert not {"einsum", "gather", "scatter_set", "solve", "expm", "convolution"} & set(refused)
    for error in refused.values():
        assert any(word in f"{error}" for word in ("CuPy has no", "cannot compute")), error


def test_some_operations(stand_in: Any) -> None:
    names = "softmax scatter_add scatter_set linear_recurrence argsort cummax expm einsum scan"
    ops = [OPS[name] for name in names.split()]
    assert check_backend(stand_in, ops=ops, graphs=3, gradients=True) > len(ops)


def test_no_device_is_told(monkeypatch: pytest.MonkeyPatch, stand_in: Any) -> None:
    monkeypatch.setattr(sys.modules["cupy"], "is_available", lambda: False)
    with pytest.raises(BackendError, match="finds no device of CUDA"):
        sg.trace(np.exp, x="n").lower(stand_in)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    for name in ("symgraph.backends.cupy", "symgraph.backends.cupy_namespace"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(BackendError, match="'cupy' cannot be imported") as told:
        backend_named("cupy")
    assert 'pip install "symgraph[cupy]"' in str(told.value)
