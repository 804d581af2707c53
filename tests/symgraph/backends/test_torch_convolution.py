"""Convolutions by torch's own operations have NumPy's values, NaN and infinities among them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.namespace import NUMPY

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(600)]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
pytest.importorskip("array_api_compat", reason="the torch extra is not installed")
from symgraph.backends.torch import BACKEND  # noqa: E402  # it needs torch

NAMES = ("convolution", "adjoint_convolution", "kernel_convolution")
LEFT = (0, 1)
"""Elements at the end that no window reads."""


def layer(
    rng: np.random.Generator, axes: int, groups: int, stride: int, left: int, dtype: Any
) -> list[tuple[Any, ...]]:
    """The arguments of a convolution and its transposes in x and w; some numbers are not finite."""
    sizes, counts = rng.integers(1, 4, axes), rng.integers(1, 5, axes)
    dilations = rng.integers(1, 3, axes)
    extents = (counts - 1) * stride + (sizes - 1) * dilations + 1 + min(left, stride - 1)
    number, strides = int(rng.integers(1, 4)), (stride,) * axes
    x = rng.normal(size=(number, 4, *extents)).astype(dtype)
    w = rng.normal(size=(6, 4 // groups, *sizes)).astype(dtype)
    y = rng.normal(size=(number, 6, *counts)).astype(dtype)
    for each in (x, w, y):
        each.flat[rng.integers(each.size)] = rng.choice([1.0, np.inf, -np.inf, np.nan])
    how = (strides, tuple(dilations.tolist()), groups)
    return [
        (x, w, *how),
        (y, w, tuple(extents.tolist()), *how),
        (x, y, tuple(sizes.tolist()), *how),
    ]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_values_are_those_of_numpy(axes: int) -> None:
    rng = np.random.default_rng(axes)
    for each in product((1, 2), (1, 2, 3), LEFT, (np.float32, np.float64), range(3)):
        *shapes, dtype, _ = each
        for name, given in zip(NAMES, layer(rng, axes, *shapes, dtype), strict=True):
            want = getattr(NUMPY, name)(*given)
            tensors = [torch.tensor(x) if isinstance(x, np.ndarray) else x for x in given]
            found = getattr(BACKEND.namespace, name)(*tensors).numpy()
            assert found.dtype == want.dtype
            near = 1e-5 if dtype is np.float32 else 1e-13
            np.testing.assert_allclose(found, want, near, near * 20, err_msg=f"{name} {given[2:]}")


def loss(x: Any, w: Any) -> Any:
    return snp.sum(snp.tanh(snp.conv(x, w)) ** 2)


@pytest.mark.parametrize("how", [False, "aot_eager"])
def test_a_gradient_is_compiled_and_differentiated_by_torch(how: bool | str) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(4, 3, 3, 2))
    graph = sg.trace(loss, x=x, w=w).gradient("x", "w").simplify()
    run = graph.lower("torch", compile=how)
    given = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    value, (of_x, of_w) = run(*given)
    value.backward(retain_graph=True)
    np.testing.assert_allclose(given[0].grad.numpy(), of_x.detach().numpy(), rtol=1e-10)
    np.testing.assert_allclose(given[1].grad.numpy(), of_w.detach().numpy(), rtol=1e-10)
    second = torch.autograd.grad((of_x**2).sum(), given[0])[0]
    square = sg.trace(lambda x, w: snp.sum(sg.grad(loss)(x, w) ** 2), x=x, w=w).gradient("x")
    np.testing.assert_allclose(second.numpy(), square.evaluate(x, w)[1], rtol=1e-8)
