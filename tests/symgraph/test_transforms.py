"""grad and value_and_grad on callables."""

from __future__ import annotations

import numpy as np
import pytest

import symgraph as sg


def energy(x, k=2.0):
    return np.sum(k * x**2)


def test_gradient_of_a_function_with_respect_to_its_first_parameter() -> None:
    df = sg.grad(energy)
    np.testing.assert_allclose(df(np.array([1.0, 2.0])), [4.0, 8.0])
    np.testing.assert_allclose(df(np.array([1.0, 2.0]), k=3.0), [6.0, 12.0])


def test_value_and_gradient_with_respect_to_several() -> None:
    f = sg.value_and_grad(energy, wrt=("x", "k"))
    value, (dx, dk) = f(np.array([1.0, 2.0]), 2.0)
    assert value == 10.0
    assert dk == 5.0
    np.testing.assert_allclose(dx, [4.0, 8.0])


def test_programs_are_kept_by_shape_and_dtype() -> None:
    calls = []

    def f(x):
        calls.append(x.shape)
        return np.sum(np.exp(x))

    df = sg.grad(f)
    for shape in ((2,), (2,), (3,), (2,)):
        df(np.zeros(shape))
    df(np.zeros(2, "float32"))
    assert calls == [(2,), (3,), (2,)]
    assert df(np.zeros(2, "float32")).dtype == np.float32


def test_unknown_parameters_and_bad_calls_are_refused() -> None:
    with pytest.raises(sg.InputError, match="no parameter 'z'"):
        sg.grad(energy, wrt="z")
    with pytest.raises(sg.InputError, match="missing a required argument"):
        sg.grad(energy)()
    with pytest.raises(sg.ShapeError, match="scalar"):
        sg.grad(lambda x: x * 2)(np.ones(3))
    with pytest.raises(sg.DTypeError, match="int64"):
        sg.grad(lambda x: np.sum(x * 1.0))(np.arange(3))
