"""Random programs of complex numbers: values beside NumPy's, gradients beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg

C = np.array([0.7 - 0.2j, 1.1j, -0.4 + 0.9j])
M = np.arange(9).reshape(3, 3) / 7 + 1j * np.eye(3)
LEAVES = ["x + 1j * y", "x", "1j * y", "y * (1 - 2j)", "np.exp(1j * x)", "x - 1j", "np.fft.fft(x)"]
OF_ONE = [
    *("np.exp(({0}) * 0.3)", "np.sin({0})", "np.cos({0})", "np.tanh({0})", "np.sqrt({0})"),
    *("np.log(({0}) + 2.5)", "np.conj({0})", "({0}) ** 2", "({0}) ** 3", "1 / (({0}) + 3)"),
    *("-({0})", "({0}) * 1j", "np.fft.fft({0})", "np.fft.ifft({0})", "M @ ({0})", "({0}) * C"),
    *("np.roll({0}, 1)", "C - ({0})", "np.cumsum({0})", "np.where(x > 0.5, {0}, 1j)", "({0}) / C"),
    *("({0}) ** 0.5", "np.real({0}) + 0j", "1j * np.imag({0})", "np.expm1({0})"),
]
OF_TWO = ["({0}) + ({1})", "({0}) - ({1})", "({0}) * ({1})", "({0}) / (({1}) + 4)"]
REAL = [
    *("np.sum(np.abs({0}) ** 2)", "np.sum(np.real({0}))", "np.sum(np.imag({0}) * x)"),
    *("np.abs(np.sum({0}))", "np.sum(np.angle(({0}) + 3))", "np.real(np.vdot({0}, C))"),
]


def _expression(rng: np.random.Generator, depth: int) -> str:
    if depth == 0:
        return str(rng.choice(LEAVES))
    if rng.random() < 0.6:
        return str(rng.choice(OF_ONE)).format(_expression(rng, depth - 1))
    return str(rng.choice(OF_TWO)).format(*[_expression(rng, depth - 1) for _ in range(2)])


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(300))
def test_values_and_gradients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = str(rng.choice(REAL)).format(_expression(rng, int(rng.integers(1, 4))))
    f: Any = eval(f"lambda x, y: {text}", {"np": np, "C": C, "M": M})
    at = rng.uniform(0.1, 1.2, (2, 3))
    want = f(*at)
    value, gradients = sg.value_and_grad(f, wrt=(0, 1))(*at)
    size = 1 + abs(want)
    np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-9 * size, err_msg=text)
    step = 1e-6
    for place, gradient in enumerate(gradients):
        for i in range(3):
            moved = np.zeros((2, 3))
            moved[place, i] = step
            slope = (f(*(at + moved)) - f(*(at - moved))) / (2 * step)
            np.testing.assert_allclose(
                gradient[i], slope, rtol=2e-4, atol=2e-4 * size, err_msg=text
            )
