"""Transforms on arrays of other libraries: tensors in, tensors out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import DTypeError, InputError, TraceError

torch: Any = pytest.importorskip("torch", reason="the extra torch is not installed")
pytest.importorskip("array_api_compat", reason="the extra torch is not installed")

X, Y = np.array([1.0, 2.0], "float32"), np.array([3.0, 4.0], "float32")


def f(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def test_each_transform_takes_tensors_and_gives_tensors_of_their_dtype() -> None:
    x, y = torch.tensor(X), torch.tensor(Y)
    found = [
        sg.grad(f, backend="torch")(x, y),
        sg.value_and_grad(f, backend="torch")(x, y)[0],
        sg.hvp(f, backend="torch")(x, y, v=y.double()),
        sg.jvp(f, backend="torch")(x, y, tangent=y)[1],
        sg.vjp(np.sin, backend="torch")(x, cotangent=Y)[1],
        sg.jacobian(np.sin, backend="torch")(x),
        sg.hessian(f, backend="torch")(x, y),
        sg.vmap(lambda x: x**2, backend="torch")(x),
    ]
    s, c = np.sin(X), np.cos(X)
    wanted = [Y * c, np.sum(s * Y), -s * Y * Y, np.sum(Y * Y * c), Y * c]
    wanted += [np.diag(c), np.diag(-s * Y), X**2]
    for one, other in zip(found, wanted, strict=True):
        assert isinstance(one, torch.Tensor)
        assert one.dtype == torch.float32
        np.testing.assert_allclose(one.numpy(), other, rtol=2e-6)


def test_programs_are_kept_by_dtype_and_numbers_stand_beside_tensors() -> None:
    slope = sg.grad(lambda p, s: np.sum(p["a"] * p["b"]) * s, backend="torch")
    for dtype in (torch.float32, torch.float64, torch.float32):
        found = slope({"a": torch.tensor(X).to(dtype), "b": 2.0}, 3.0)
        assert found["a"].dtype == found["b"].dtype == dtype
        np.testing.assert_array_equal(found["a"].numpy(), [6, 6])
        np.testing.assert_array_equal(found["b"].numpy(), 9)
    assert slope.cache_info().misses == 2
    assert slope.cache_info().hits == 1


def test_a_gradient_of_tensors_that_require_one_is_differentiated_by_torch() -> None:
    x = torch.tensor(X, requires_grad=True)
    sg.grad(f, backend="torch")(x, torch.tensor(Y)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), -np.sin(X) * Y, rtol=1e-6)
    assert sg.grad(f, backend="torch")(torch.nn.Parameter(x), Y).requires_grad
    with torch.no_grad():
        assert not sg.grad(f, backend="torch")(x, Y).requires_grad


@pytest.mark.parametrize(
    ("x", "error", "told"),
    [
        (lambda: torch.tensor([1, 2]), DTypeError, "int64"),
        (lambda: torch.tensor(X).bfloat16(), (DTypeError, InputError), "bfloat16"),
        (lambda: torch.tensor(X) + 1j, DTypeError, "complex64"),
        (lambda: torch.ones(2, device="meta"), InputError, "several devices"),
    ],
)
def test_tensors_that_no_derivative_is_by_are_refused(
    x: Callable[[], Any], error: Any, told: str
) -> None:
    with pytest.raises(error, match=told):
        sg.grad(f, backend="torch")(x(), torch.tensor(Y))


def test_another_backend_is_told_of_the_one_for_tensors() -> None:
    for call in (
        lambda: sg.grad(f)(torch.tensor(X), Y),
        lambda: sg.hvp(f)(X, Y, v=torch.tensor(X)),
    ):
        with pytest.raises(InputError, match='backend="torch" takes tensors'):
            call()


def test_an_objective_on_tensors_gives_arrays_of_numpy() -> None:
    data = (torch.ones(3, 2),)
    found = sg.FlatObjective(
        lambda w, x: np.sum((x @ w) ** 2), torch.tensor(X), data, {}, backend="torch"
    )
    value, gradient = found(found.x0)
    assert (value, gradient.tolist()) == (27.0, [18.0, 18.0])
    assert found.hessian(found.x0).tolist() == [[6.0, 6.0], [6.0, 6.0]]


def test_a_tensor_that_the_function_reads_is_a_constant_until_it_changes() -> None:
    m = torch.ones(3, 2)
    slope = sg.grad(lambda x: np.sum(m @ x + x @ m.T), backend="torch")
    np.testing.assert_array_equal(slope(torch.tensor(X)), [6, 6])
    m[0, 0] = 5
    np.testing.assert_array_equal(slope(torch.tensor(X)), [14, 6])
    with pytest.raises(RuntimeError, match="requires grad"):
        sg.grad(lambda x: np.sum(x * torch.nn.Parameter(m[0])))(X)


def plus(x: Any) -> Any:
    t = torch.ones(2)
    t += x
    return np.sum(t)


def put(x: Any) -> Any:
    t = torch.ones(2)
    t[0] = x[0]
    return np.sum(t)


def test_a_symbol_is_not_written_into_a_tensor_and_torchs_functions_are_refused() -> None:
    for each in (plus, put):
        with pytest.raises(InputError, match="into a tensor"):
            sg.grad(each)(X)
    with pytest.raises(TraceError, match=r"torch\.sin(.|\n)*np\.sin"):
        sg.grad(lambda x: torch.sum(torch.sin(x)))(X)
    with pytest.raises(TraceError, match=r"torch\.softmax(.|\n)*snp\.softmax"):
        sg.grad(lambda x: np.sum(torch.softmax(x, 0)))(X)
    with pytest.raises(TraceError, match=r"(?s)torch\.\w+ cannot be traced.*as_tensor\(x\)"):
        sg.grad(lambda x: np.sum(torch.as_tensor(x)))(X)


def test_arrays_of_jax_are_constants_too() -> None:
    jnp: Any = pytest.importorskip("jax.numpy", reason="the extra jax is not installed")
    m = jnp.ones((3, 2), jnp.float32)
    found = sg.grad(lambda x: np.sum(m @ x) - np.sum(x * m), backend="jax")(jnp.asarray(X))
    assert isinstance(found, type(m))
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, [0, 0])
