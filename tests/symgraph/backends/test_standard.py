"""Namespaces of the array API standard as backends: array-api-strict, and torch as an oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.base import Backend
from symgraph.backends.conformance import check_backend, check_dag
from symgraph.backends.lowered import lower
from symgraph.backends.samples import op_samples
from symgraph.backends.standard import StandardBackend, StandardNamespace
from symgraph.errors import BackendError
from symgraph.ir.dag import Dag
from symgraph.ir.op import OPS
from symgraph.ops.creation import input

strict = pytest.importorskip("array_api_strict", reason="the test extra is not installed")
STRICT = StandardBackend("strict", StandardNamespace(strict))


def share_that_runs(backend: Backend) -> tuple[float, dict[str, BackendError]]:
    """The share of all samples that give the interpreter's values, and the refusals by operation.

    A sample that gives other values, or fails otherwise than by a refusal, raises.
    """
    total = failed = 0
    refused: dict[str, BackendError] = {}
    for op in [each for each in OPS.values() if not each.custom]:
        for dag in op_samples(op):
            total += 1
            try:
                check_dag(dag, backend, sizes=(3,))
            except BackendError as error:
                failed += 1
                refused[op.name] = error
    return 1 - failed / total, refused


def told(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.whole
def test_nearly_all_samples_run_in_the_strict_namespace_and_the_rest_is_refused() -> None:
    share, refused = share_that_runs(STRICT)
    assert share >= 0.95
    assert len(refused) < 0.05 * len(OPS)
    assert [name for name, error in refused.items() if name not in told(error)] == []


def test_random_graphs_in_the_strict_namespace() -> None:
    assert check_backend(STRICT, ops=[], graphs=12, gradients=True) == 24


@pytest.mark.oracle
def test_nearly_all_samples_run_in_torch_and_the_rest_is_refused() -> None:
    torch = pytest.importorskip("torch", reason="the oracles extra is not installed")
    compat = pytest.importorskip("array_api_compat.torch")
    names = StandardNamespace(compat, from_numpy=lambda x: torch.tensor(x))
    torch_backend = StandardBackend("torch", names)
    share, refused = share_that_runs(torch_backend)
    assert share >= 0.95
    assert [name for name, error in refused.items() if name not in told(error)] == []
    assert check_backend(torch_backend, ops=[], graphs=12) == 12


# -- by the door ---------------------------------------------------------------------------------
ADAPTER = """
import array_api_strict
from symgraph.backends.standard import StandardBackend, StandardNamespace

BACKEND = StandardBackend("strict", StandardNamespace(array_api_strict))
"""


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strict_adapter.py").write_text(ADAPTER)
    info = tmp_path / "strict_adapter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strict-adapter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[symgraph.backends]\nstrict = strict_adapter:BACKEND\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("_installed")
def test_a_gradient_runs_in_a_strangers_namespace() -> None:
    x = np.linspace(-2, 2, 5)
    slope = sg.grad(lambda x: snp.sum(snp.tanh(x) * x), backend="strict")
    np.testing.assert_allclose(slope(x), np.tanh(x) + x / np.cosh(x) ** 2, rtol=1e-14)


# -- names put together --------------------------------------------------------------------------
EDGES = np.array([0.0, -0.0, 1.0, -2.5, 3.0, 1e300, -1e-300, np.inf, -np.inf, np.nan])
ONE = ["cbrt", "exp2", "sinc", "isnan", "isinf", "isfinite", "logical_not", "absolute", "trunc"]
TWO = ["fmax", "fmin", "maximum", "minimum", "fmod", "heaviside", "logaddexp2", "logical_xor"]


def agrees(fun: Callable[..., Any], *operands: Any) -> None:
    inputs = [input(f"x{i}", each.shape, each.dtype) for i, each in enumerate(operands)]
    dag = Dag({each.node.params["name"]: each.node for each in inputs}, [fun(*inputs).node])
    with np.errstate(all="ignore"):
        want = fun(*operands)
    got = lower(dag, STRICT)(*operands)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number_at_the_edges(name: str) -> None:
    agrees(getattr(np, name), EDGES)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers_at_the_edges(name: str) -> None:
    agrees(getattr(np, name), EDGES[:, None], EDGES)


@pytest.mark.parametrize("name", ["gcd", "lcm", "fmod", "remainder", "floor_divide"])
def test_whole_numbers(name: str) -> None:
    x = np.array([-12, -7, 0, 1, 18, 30])
    agrees(getattr(np, name), x[:, None], np.array([-9, 4, 6, 7]))


@pytest.mark.parametrize("name", ["maximum", "minimum", "add", "multiply", "less", "greater_equal"])
def test_truth_values(name: str) -> None:
    x = np.array([False, True])
    agrees(getattr(np, name), x[:, None], x)


def test_reading_and_writing_at_integer_arrays() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    places, values = np.array([[0, -1], [2, 2]]), np.arange(32.0).reshape(2, 2, 2, 4)
    agrees(lambda x, i: x[:, i], x, places)
    agrees(lambda x, i: x[0, i, i], x, places)
    agrees(lambda x: x[::-1, 2:0:-1, None, 1], x)
    agrees(lambda x, i, v: snp.scatter_add(x, v, i, axis=1) if isinstance(x, sg.Array) else
           added(x, i, v), x, places, values)  # fmt: skip


def added(x: Any, places: Any, values: Any) -> Any:
    found = x.copy()
    np.add.at(found, (slice(None), places), values)
    return found


# -- refusals ------------------------------------------------------------------------------------
def test_what_is_lacking_is_refused_by_its_name_and_the_users_line() -> None:
    x = input("x", (3,))
    with pytest.raises(BackendError, match="array_api_strict has no spacing") as caught:
        lower(Dag({"x": x.node}, [snp.spacing(x).node]), STRICT)(np.ones(3))
    assert "test_standard.py" in told(caught.value)
    assert "method of that name" in str(caught.value)


def test_scipy_is_not_called_for_arrays_that_tell_another_device() -> None:
    class Elsewhere(np.ndarray):
        """Numbers that NumPy could read, on a device that is not the host."""

        def __dlpack_device__(self) -> Any:
            return (2, 0)

    names = StandardNamespace(strict)
    with pytest.raises(BackendError, match="jv, which SciPy computes on the host"):
        names.special.jv(1, np.ones(3).view(Elsewhere))
    np.testing.assert_allclose(names.to_numpy(names.special.j0(strict.ones(2))), 0.765, atol=1e-3)


def test_half_floats_are_kept_in_single_precision_and_rounded_after_each_operation() -> None:
    x = np.array([0.1, 300.0, 65504.0], "float16")
    agrees(lambda x: x * x / 3 + x, x)
