"""What writes into an array writes what NumPy writes; a row a way of writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import DTypeError, RangeError, ShapeError, TraceError
from symgraph.ops.creation import zeros

Y = np.array([[0.5, -1.5, 2.0, 3.0], [1.0, 0.0, -2.0, 4.0], [0.25, 5.0, -0.5, 1.0]])
MASK = Y[0] > 0


def run(text: str) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        a = x.copy()
        exec(text, {"np": np, "a": a, "v": a[1:, ::2], "x": x, "MASK": MASK})
        return a

    return f


WRITES = [
    "a[0] = 1",
    "a[0, 1] = x[1, 1]",
    "a[-1, ...] = x[0]",
    "a[:, 1] = [1.0, 2.0, 3.0]",
    "a[0, :2] = [x[0, 0], x[1, 1]]",
    "a[0] = np.array([[1.0, 2.0, 3.0, 4.0]])",
    "a[[0, 0, 2]] += 1",
    "a[[2, 0], [1, 3]] = x[0, :2]",
    "a[:, MASK] = 7.0",
    "a[a > 0] = 0.5",
    "a[1:] += a[:-1]",
    "a[:, ::-1] -= a",
    "a[:] = 2 + 0 * x[0]",
    "a[...] = x[::-1]",
    "a[1:][::2][0, 1] = 9.0",
    "v *= 10",
    "v[...] = v[::-1]",
    "a **= 2",
    "a //= 2",
    "a %= 1.5",
    "a @= np.ones((4, 4))",
    "a.fill(x[0, 0])",
    "a.sort()",
    "v.sort(axis=0)",
    "a[0].partition(2)",
    "a.put([0, -1], [8.0, 9.0])",
    "np.put(a, [0, 5, 20], [8.0, 9.0], mode='wrap')",
    "np.put(a, [[0, 1], [-30, 40]], 1.0, mode='clip')",
    "np.copyto(a, x[0])",
    "np.copyto(v, 1.0, where=v > 0)",
    "np.putmask(a, a > 0, [1.0, 2.0, 3.0])",
    "np.place(a, x > 0, 5.0)",
    "np.fill_diagonal(a, [1.0, 2.0])",
    "np.fill_diagonal(a[:, :3], 0)",
    "np.put_along_axis(a, np.array([[0], [1], [2]]), 9.0, 1)",
    "np.add.at(a, [0, 0, 1], x[:3])",
    "np.subtract.at(a, (slice(None), [1, 1]), 2.0)",
    "np.multiply.at(a, [0, 2], 2.0)",
    "np.negative.at(a, [1])",
    "np.add(x, 1, out=a)",
    "np.add(x[0], 1, a)",
    "np.divide(1.0, x, out=a, where=x != 0)",
    "np.modf(x, out=(a, None))",
    "np.clip(a, 0, 1, out=a)",
    "np.sum(x, axis=0, out=a[1])",
    "np.cumsum(x, axis=1, out=a)",
    "np.add.reduce(x, axis=0, out=a[0])",
    "np.round(x, out=a)",
    "np.nan_to_num(a, copy=False)",
    "np.matmul(x, np.eye(4), out=a)",
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("text", WRITES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_writes_as_numpy_does(text: str) -> None:
    f = run(text)
    found = sg.trace(f, x=(3, 4)).evaluate(x=Y)
    np.testing.assert_allclose(found, f(Y), rtol=1e-14)


def test_place_takes_several_values_under_a_constant_mask() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        np.place(a, Y > 1, [1.0, 2.0, 3.0])
        return a

    np.testing.assert_array_equal(sg.trace(f, x=(3, 4)).evaluate(x=Y), f(Y))


def test_out_is_given_back() -> None:
    a = zeros(3)
    assert np.add(a, 1, out=a) is a
    assert np.sum(snp.ones((2, 3)), axis=0, out=a) is a


REFUSED: list[tuple[str, type[Exception], str]] = [
    ("a[5] = 1", ShapeError, "out of range"),
    ("a[0, :2] = [1.0, 2.0, 3.0]", ShapeError, "do not fit"),
    ("np.add(x, 1, out=a[:2])", ShapeError, "does not broadcast"),
    ("np.sum(x, axis=0, out=a)", ShapeError, "does not fit"),
    ("np.divide.at(a, [0, 0], 2.0)", TraceError, "met twice"),
    ("np.sum(x, axis=0, dtype='float32', out=a[0])", TraceError, "float32 is not written"),
    ("np.add(x, 1, out=np.ones((3, 4)))", TraceError, "an array of NumPy's"),
    ("np.place(a, a > 0, [1.0, 2.0])", TraceError, "a computed mask"),
    ("a[a > 0] *= 2", TraceError, "not known before it runs"),
]


@pytest.mark.parametrize(("text", "kind", "words"), REFUSED)
def test_refused(text: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        sg.trace(run(text), x=(3, 4))


def test_integers() -> None:
    a = zeros(3, dtype="int8")
    with pytest.raises(RangeError, match="does not fit"):
        a[0] = 300
    with pytest.raises(DTypeError, match="do not go into"):
        a[0] = 1.5
    with pytest.raises(DTypeError, match="does not go into"):
        a /= 2
    a[0] = 7
    a += np.int64(1)
    np.testing.assert_array_equal(sg.graph(a).evaluate(), np.array([8, 1, 1], np.int8))
