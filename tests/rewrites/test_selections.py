"""Reads of what stands at an index of an array: in the gradient of differences, and by slices."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgraph as sg

ENDS = [slice(None), *(slice(a or None, -b or None) for a, b in product(range(3), repeat=2))]
SPECS = [6, "n"]
LENGTHS = [0, 1, 2, 3, 6]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("size", SPECS)
@pytest.mark.parametrize("outer", ENDS, ids=str)
def test_a_read_of_an_embedded_array(size: Any, outer: slice) -> None:
    """The gradient of `y[inner]` for a `y` that holds x at `outer` is read from an embedded array.

    It has the numbers of NumPy for every length, and a read within the embedded places is a slice.
    """
    for inner in ENDS:

        def f(x: Any, inner: slice = inner) -> Any:
            padded = np.pad(x[outer] ** 2, (outer.start or 0, -(outer.stop or 0)))
            return np.sum(np.exp(padded[inner]))

        small = sg.trace(f, x=sg.spec((size,))).gradient("x").simplify()
        for length in [size] if isinstance(size, int) else LENGTHS:
            if length < (outer.start or 0) - (outer.stop or 0):
                continue  # np.pad makes the array longer than x.
            x = np.linspace(-1.0, 2.0, length)
            held = np.zeros(length, bool)
            held[outer] = True
            read = np.zeros(length, bool)
            read[inner] = True
            value, slope = small.evaluate(x=x)
            np.testing.assert_allclose(value, f(x))
            right = np.where(held & read, 2 * x * np.exp(x**2), 0)
            np.testing.assert_allclose(slope, right)


@pytest.mark.parametrize("size", SPECS)
def test_differences_with_a_border_have_differences_as_their_gradient(size: Any) -> None:
    def energy(x: Any) -> Any:
        y = np.concatenate([[1.0], x, [0.0]])
        return np.sum(np.exp(y[1:] - y[:-1]))

    small = sg.trace(energy, x=sg.spec((size,))).gradient("x").simplify()
    assert {"embed", "pad"}.isdisjoint(node.op.name for node in small.nodes), small.formula()
    x = np.array([0.3, -1.0, 2.0, 0.5, 0.1, 1.5])
    rises = np.exp(np.diff(np.concatenate([[1.0], x, [0.0]])))
    np.testing.assert_allclose(small.evaluate(x=x)[1], rises[:-1] - rises[1:])


def test_a_read_beside_an_embedded_array_is_zero() -> None:
    def f(x: Any) -> Any:
        y = np.pad(x, ((2, 0), (0, 0)))
        return np.sum(np.exp(x)) + np.sum(np.sin(y[:2] @ np.ones((3, 2))))

    small = sg.trace(f, x=(4, 3)).gradient("x").simplify()
    assert str(small.formula()) == "out = sum(exp(x)); grad_x = exp(x)"


def test_rows_of_named_length_within_a_border() -> None:
    def f(x: Any) -> Any:
        y = np.pad(x, ((0, 0), (1, 1)))
        return np.sum(np.exp(y[:, 2:] - y[:, :-2]))

    small = sg.trace(f, x=sg.spec("n, 5")).gradient("x").simplify()
    x = np.linspace(-1, 1, 15).reshape(3, 5) ** 3
    y = np.exp(np.pad(x, ((0, 0), (1, 1)))[:, 2:] - np.pad(x, ((0, 0), (1, 1)))[:, :-2])
    right = np.pad(y, ((0, 0), (1, 1)))
    np.testing.assert_allclose(small.evaluate(x=x)[1], right[:, :-2] - right[:, 2:])
