"""What NumPy's functions give of pairs of symbols, beside NumPy's own results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.complexes.handle import COMPLEX_FUNCTIONS, COMPLEX_UFUNCS, ComplexArray

pytestmark = pytest.mark.filterwarnings("ignore::symgraph.graph.tracing.UnusedInputWarning")

RNG = np.random.default_rng(7)
A, B = RNG.uniform(-1.5, 1.5, (2, 3, 3))
REAL = np.array([0.3, -1.2, 2.0])
OTHER = np.array([0.5 - 1j, 2j, -1.5])


def found(f: Callable[..., Any], *arrays: Any) -> Any:
    """`f` of symbols, in numbers; a pair is joined again."""
    names = [f"x{k}" for k in range(len(arrays))]
    specs = dict(zip(names, [sg.spec(each.shape, each.dtype) for each in arrays], strict=True))
    given = ", ".join(names)
    traced = eval(f"lambda {given}: f({given})", {"f": f})
    result = sg.trace(traced, **specs).lower()(**dict(zip(names, arrays, strict=True)))
    return _joined(result)


def _joined(result: Any) -> Any:
    if isinstance(result, dict):
        return result["real"] + 1j * result["imag"]
    if isinstance(result, (list, tuple)):
        return type(result)([_joined(each) for each in result])
    return result


def _agrees(f: Callable[..., Any], *arrays: Any, rtol: float = 1e-13) -> None:
    got, want = found(f, *arrays), f(*arrays)
    pairs = zip(got, want, strict=True) if isinstance(want, (list, tuple)) else [(got, want)]
    for one, other in pairs:
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-13)


BINARY = ("add", "subtract", "multiply", "divide", "power", "equal", "not_equal", "matmul")
ONE = sorted(COMPLEX_UFUNCS.keys() - {*BINARY, "float_power", "vecdot"})


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand(name: str) -> None:
    f = getattr(np, name)
    _agrees(lambda x, y: f(x + 1j * y), A, B)
    _agrees(lambda x: f(1j * x), A)
    _agrees(lambda x: f(x + 0j), A)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", [*BINARY, "vecdot"])
def test_functions_of_two_operands(name: str) -> None:
    f = getattr(np, name)
    for one, other in (
        (lambda x, y: x + 1j * y, lambda x, y: y - 2j * x),
        (lambda x, y: 1j * x, lambda x, y: y),
        (lambda x, y: x + 0j, lambda x, y: 1j * y),
        (lambda x, y: x, lambda x, y: OTHER),
        (lambda x, y: OTHER, lambda x, y: 1 + 1j * x),
        (lambda x, y: REAL, lambda x, y: y + 1j),
    ):
        _agrees(lambda x, y, one=one, other=other: f(one(x, y), other(x, y)), A, B)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, -1, -2, 2.0, 0.5, -0.7, 1 + 2j, np.int64(3)])
def test_powers(n: Any) -> None:
    _agrees(lambda x, y: (x + 1j * y) ** n, A, B)


def test_numbers_beside_symbols() -> None:
    for f in (
        lambda x: 1j + x,
        lambda x: x - 2j,
        lambda x: x == 1j,
        lambda x: x * OTHER,
        lambda x: x * np.complex64(1j),
        lambda x: np.multiply(x, 1j),
        lambda x: np.where(x > 0, x, 1j),
        lambda x: np.concatenate([x, np.array([1j])]),
        lambda x: x.astype(complex) / 2j,
        lambda x: 0j * x,
        lambda x: x.dot(OTHER) + OTHER @ x,
    ):
        _agrees(f, REAL)


def test_sides_of_a_cut_are_numpys() -> None:
    x = np.array([-4.0, -1.0, 4.0])
    zero = np.zeros(3)
    for f in (
        lambda x, y: x + 0j,
        lambda x, y: np.conj(x + 0j),
        lambda x, y: -(x + 0j),
        lambda x, y: 1 - (x + 1j * y),
        lambda x, y: x - 1j * y,
        lambda x, y: (x + 0j) / -2.0,
        lambda x, y: (x + 0j) / x[::-1],
        lambda x, y: np.conj(x + 1j * y),
        lambda x, y: (x + 0j) * -3.0,
        lambda x, y: (x + 1j * y) * 2j * 2j,
    ):
        for root in (np.sqrt, np.log, np.angle):
            _agrees(lambda x, y, f=f, root=root: root(f(x, y)), x, zero)


def test_powers_of_numbers() -> None:
    _agrees(lambda x: (0.5 + 1j) ** x, REAL)
    _agrees(lambda x: 2.0 ** (1j * x), REAL)


MADE: dict[Any, Callable[[Any], Any]] = {
    np.reshape: lambda z: np.reshape(z, (9,)),
    np.transpose: lambda z: np.transpose(z, (1, 0)),
    np.swapaxes: lambda z: np.swapaxes(z, 0, 1),
    np.moveaxis: lambda z: np.moveaxis(z, 0, 1),
    np.rollaxis: lambda z: np.rollaxis(z, 1),
    np.expand_dims: lambda z: np.expand_dims(z, 1),
    np.broadcast_to: lambda z: np.broadcast_to(z, (2, 3, 3)),
    np.roll: lambda z: np.roll(z, 1, axis=0),
    np.flip: lambda z: np.flip(z, axis=1),
    np.tile: lambda z: np.tile(z, 2),
    np.repeat: lambda z: np.repeat(z, 2, axis=0),
    np.take: lambda z: np.take(z, [2, 0], axis=1),
    np.take_along_axis: lambda z: np.take_along_axis(z, np.array([[0], [2], [1]]), axis=1),
    np.sum: lambda z: np.sum(z, axis=0),
    np.mean: lambda z: np.mean(z, axis=1, keepdims=True),
    np.cumsum: lambda z: np.cumsum(z, axis=1),
    np.diff: lambda z: np.diff(z, axis=0),
    np.polyval: lambda z: np.polyval(z[0], z),
    np.pad: lambda z: np.pad(z, 1),
    np.where: lambda z: np.where(A > 0, z, 1j),
    np.dot: lambda z: np.dot(z, OTHER),
    np.inner: lambda z: np.inner(OTHER, z),
    np.outer: lambda z: np.outer(OTHER, z[0]),
    np.tensordot: lambda z: np.tensordot(z, z, axes=1),
    np.kron: lambda z: np.kron(z, OTHER),
    np.convolve: lambda z: np.convolve(z[0], OTHER),
    np.vdot: lambda z: np.vdot(z, z + 1) + np.vdot(OTHER, z[1]),
    np.einsum: lambda z: np.einsum("ij,jk,k->i", z, z, OTHER),
    np.linalg.solve: lambda z: np.linalg.solve(z + 3, OTHER) + np.linalg.solve(z + 3, z)[0],
    np.linalg.inv: lambda z: np.linalg.inv(z + 3),
    np.linalg.matrix_power: lambda z: np.linalg.matrix_power(z, 3),
    np.linalg.norm: lambda z: (
        np.linalg.norm(z) + np.linalg.norm(z[0], 1) + np.linalg.norm(z, axis=1)
    ),
    np.concatenate: lambda z: np.concatenate([z, A, OTHER[None]], axis=0),
    np.stack: lambda z: np.stack([z[0], z[1].imag, OTHER]),
    np.column_stack: lambda z: np.column_stack([z[0], OTHER]),
    np.array_split: lambda z: np.array_split(z, 2),
    np.split: lambda z: np.split(z, 3, axis=1),
    np.hsplit: lambda z: np.hsplit(z, 3),
    np.vsplit: lambda z: np.vsplit(z, 3),
    np.dsplit: lambda z: np.dsplit(z[..., None], 1),
    np.vstack: lambda z: np.vstack([z, OTHER]),
    np.hstack: lambda z: np.hstack([z, z]),
    np.dstack: lambda z: np.dstack([z, A]),
    np.angle: lambda z: np.angle(z) + np.angle(z, deg=True),
    np.linalg.trace: np.linalg.trace,
    np.linalg.diagonal: np.linalg.diagonal,
}


OF_REAL = (np.fft.rfft, np.fft.rfft2, np.fft.rfftn)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(
    "function",
    [each for each in COMPLEX_FUNCTIONS if each not in OF_REAL],
    ids=lambda f: f.__name__,
)
def test_other_functions(function: Any) -> None:
    f = MADE.get(function, function)
    _agrees(lambda x, y: f(x + 1j * y), A, B, rtol=1e-12)


@pytest.mark.parametrize("function", OF_REAL, ids=lambda f: f.__name__)
def test_transforms_of_real_arrays_refuse_others(function: Any) -> None:
    with pytest.raises(sg.TraceError, match="takes real arrays"):
        sg.trace(lambda x: function(1j * x), x=sg.spec("3, 3"))


@pytest.mark.sampled(one_in=12)
@pytest.mark.parametrize("n", [None, 1, 3, 4, 5, 8])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms(name: str, n: int | None, norm: Any) -> None:
    f = getattr(np.fft, name)
    for x in (RNG.normal(size=(2, 4)), RNG.normal(size=(5, 3))):
        _agrees(lambda x: f(x, n, norm=norm), x)
        _agrees(lambda x: f(x * x, n, axis=0, norm=norm), x)
        if name != "rfft":
            _agrees(lambda x: f(x + 1j * x**2, n, norm=norm), x)


@pytest.mark.parametrize(
    "name", ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"]
)
def test_transforms_along_several_axes(name: str) -> None:
    f = getattr(np.fft, name)
    x = RNG.normal(size=(2, 4, 5))
    _agrees(lambda x: f(x), x)
    _agrees(lambda x: f(x, (3, 6), (0, 1), "ortho"), x)
    if not name.endswith("2"):
        _agrees(lambda x: f(x, axes=(2, 0)), x)


def test_methods() -> None:
    for f in (
        lambda z: z.reshape(1, 9) + z.reshape((9,)) + z.reshape(-1),
        lambda z: z.transpose(1, 0) + z.transpose() + z.T + z.swapaxes(0, 1) + z.mT,
        lambda z: z.ravel() + z.flatten() + z.copy().reshape(9),
        lambda z: z.repeat(2, axis=0).take([0, 3], 1) if z.shape[1] > 3 else z.repeat(2, axis=0),
        lambda z: z.take([2, 0], axis=1).squeeze() + z.sum(axis=0)[:2] + z.mean() + z.trace(),
        lambda z: (
            z.diagonal() + z.cumsum(axis=1)[0] + z.dot(OTHER) + z.conj()[1] + z.conjugate()[2]
        ),
    ):
        _agrees(lambda x, y, f=f: f(x + 1j * y), A, B)


def test_none_is_a_place_too() -> None:
    _agrees(lambda x, y: np.concatenate([x + 1j * y, 1j * y], axis=None), A, B)
    _agrees(lambda x, y: np.sum(x + 1j * y, axis=None, keepdims=True), A, B)
    _agrees(lambda x: np.fft.fft2(1j * x, axes=None), RNG.normal(size=(2, 3, 4)))
    _agrees(lambda x: np.add.outer(x, 1j * x), REAL)


def test_single_precision_stays() -> None:
    x = REAL.astype("float32")
    graph = sg.trace(lambda x: np.fft.fft(np.exp(1j * x) + 2), x=sg.spec(3, "float32"))
    assert {each.dtype for each in graph.lower()(x=x).values()} == {x.dtype}


def test_integers_become_floats() -> None:
    x = np.array([3_000_000_000, -2, 5])
    _agrees(lambda x: (1j * x) * (1j * x) + np.abs(x + 2j) * (x > 0) * 1j, x)
    _agrees(lambda x: np.multiply.outer(x, 1j * x), x)
    assert sg.trace(lambda x: (1j * x).imag, x=sg.spec(3, int)).lower()(x=x).dtype == np.float64


def test_named_sizes() -> None:
    power = sg.trace(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2) / x.shape[0], x=sg.spec("n"))
    centred = sg.trace(lambda x: np.abs((z := x + 1j * x) - np.sum(z) / z.shape[0]), x=sg.spec("n"))
    for n in (3, 8):
        x = np.arange(1.0, n)
        np.testing.assert_allclose(centred.lower()(x=x), np.sqrt(2) * np.abs(x - x.mean()))
        np.testing.assert_allclose(power.lower()(x=x), x @ x)


def test_parts_that_are_zero_cost_nothing() -> None:
    z = found_pair(lambda x: np.exp(1j * x) * 2j)
    assert {z.re.node.op.name, z.im.node.op.name} == {"multiply", "subtract"}
    assert found_pair(lambda x: 1j * (1j * x)).im is None
    assert found_pair(lambda x: 1j * x).re is None


def found_pair(f: Callable[[Any], Any]) -> ComplexArray:
    pairs: list[ComplexArray] = []
    sg.trace(lambda x: pairs.append(f(x)) or x, x=sg.spec(3))
    return pairs[0]
