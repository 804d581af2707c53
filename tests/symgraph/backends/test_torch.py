"""Graphs lowered to torch: tensors in and out, NumPy in and out, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.backends.conformance import check_backend, check_dag
from symgraph.backends.samples import op_samples
from symgraph.errors import BackendError, InputError
from symgraph.ir.op import OPS

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(1200)]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
pytest.importorskip("array_api_compat", reason="the torch extra is not installed")
from symgraph.backends.torch import BACKEND  # noqa: E402  # it needs torch

X, Y = np.array([0.3, -1.2, 0.0]), np.array([1.0, 2.0, 3.0])


def f(x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x) ** 2 * y)


@pytest.fixture(scope="module")
def joint() -> Any:
    return sg.trace(f, x="n", y="n").gradient("x").simplify().lower(BACKEND)


def slope(x: Any, y: Any) -> Any:
    return 2 * np.tanh(x) * (1 - np.tanh(x) ** 2) * y


def test_it_is_found_by_its_name() -> None:
    assert sg.trace(f, x="n", y="n").lower("torch").backend is BACKEND


def test_numpy_gives_numpy_and_tensors_give_tensors(joint: Any) -> None:
    value, found = joint(X, Y)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, slope(X, Y), rtol=1e-12)
    for given in ((torch.tensor(X), torch.tensor(Y)), (torch.tensor(X), Y)):
        value, found = joint(*given)
        assert isinstance(found, torch.Tensor)
        assert found.dtype == value.dtype == torch.float64
        assert found.device == given[0].device
        np.testing.assert_allclose(found.numpy(), slope(X, Y), rtol=1e-12)


def test_reversed_and_read_only_memory(joint: Any) -> None:
    frozen = np.array(Y)
    frozen.flags.writeable = False
    np.testing.assert_allclose(joint(X[::-1], frozen)[1], slope(X[::-1], Y), rtol=1e-12)
    np.testing.assert_array_equal(frozen, [1, 2, 3])


def test_results_share_no_memory_with_inputs() -> None:
    f = sg.trace(lambda x: (x, x.T, np.reshape(x, (-1,))), x="2, 3").lower(BACKEND)
    x = torch.ones((2, 3), dtype=torch.float64)
    results = f(x)
    for each in results:
        each += 1
    assert float(x.sum()) == 6
    assert [float(each.sum()) for each in results] == [12, 12, 12]


def test_dtypes_widen_and_are_refused_where_digits_would_be_lost(joint: Any) -> None:
    assert joint(torch.ones(3), Y)[1].dtype == torch.float64
    narrow = sg.trace(np.exp, x=sg.spec("n", "float32")).lower(BACKEND)
    with pytest.raises(InputError, match="float64, but float32 was declared"):
        narrow(torch.ones(3, dtype=torch.float64))
    with pytest.raises(InputError, match="bfloat16"):
        narrow(torch.ones(3, dtype=torch.bfloat16))


def test_tensors_of_two_devices_are_refused(joint: Any) -> None:
    with pytest.raises(InputError, match="several devices: cpu, meta"):
        joint(torch.tensor(X), torch.tensor(Y, device="meta"))


def test_torch_differentiates_what_was_lowered(joint: Any) -> None:
    x = torch.tensor(X, requires_grad=True)
    value, _ = joint(x, torch.tensor(Y))
    (found,) = torch.autograd.grad(value, x)
    np.testing.assert_allclose(found.numpy(), slope(X, Y), rtol=1e-12)


def test_samples_run_or_are_refused_by_name_and_none_is_wrong() -> None:
    total, refused = 0, dict[str, BackendError]()
    for op in [each for each in OPS.values() if not each.custom]:
        for dag in op_samples(op):
            total += 1
            try:
                check_dag(dag, BACKEND, sizes=(3,))
            except BackendError as error:
                refused[op.name] = error
    assert "expm" not in refused
    assert len(refused) < 0.05 * len(OPS) < total
    for name, error in refused.items():
        assert name in "\n".join([str(error), *getattr(error, "__notes__", ())])
    assert check_backend(BACKEND, ops=[], graphs=12, gradients=True) > 12
