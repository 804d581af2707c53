"""NumPy's functions, methods and namespaces reach symbolic arrays, or say why they cannot."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import FUNCTIONS, NUMPY_FUNCTIONS, Array
from symgraph.errors import ShapeError, TraceError
from symgraph.ir.dims import named
from symgraph.ir.op import OPS
from symgraph.ops.creation import input

X = np.random.default_rng(0).normal(size=(3, 4))

# 4n elements need not fill (4, 3), and a diagonal of an n by 4 matrix has no known length.
OF_KNOWN_SIZE = [
    lambda x: x.reshape(4, 3),
    lambda x: x.diagonal(1),
    lambda x: x.trace(),
]
METHODS = [
    *OF_KNOWN_SIZE,
    lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=1, keepdims=True, dtype="float32"),
    lambda x: x.mean(axis=-1),
    lambda x: x.prod(),
    lambda x: x.max(axis=0),
    lambda x: x.min(axis=0, keepdims=True),
    lambda x: x.var(axis=0, ddof=1),
    lambda x: x.std(),
    lambda x: x.argmax(axis=0),
    lambda x: x.argmin(),
    lambda x: x.cumsum(axis=1),
    lambda x: (x > 0).all(axis=0),
    lambda x: (x > 0).any(),
    lambda x: x.reshape((-1, 2)),
    lambda x: x.transpose(),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)),
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.swapaxes(0, 1),
    lambda x: x.ravel(),
    lambda x: x.flatten(),
    lambda x: x[:, :1].squeeze(),
    lambda x: x.astype("float32"),
    lambda x: x.dot(x.T),
    lambda x: x.take([0, 2], axis=0),
    lambda x: x.take([9, -7], 1, mode="wrap"),
    lambda x: x.sum(0, None, None, True),
    lambda x: x.max(0, initial=0.5),
    lambda x: x.var(0, None, None, 1),
    lambda x: x.mean(0, where=np.array([True, False, True, True])),
    lambda x: x.cumprod(axis=0),
    lambda x: x.argsort(axis=0),
    lambda x: x.flatten("F"),
    lambda x: x.copy(),
    lambda x: x.repeat(2, axis=1),
    lambda x: x[0].searchsorted([0.0, 1.0]),
    lambda x: x.compress([True, False, True], axis=0),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", METHODS)
def test_methods_are_ndarrays(agrees, f):
    agrees(f, X)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("f", [f for f in METHODS if f not in OF_KNOWN_SIZE])
def test_methods_are_ndarrays_on_named_dimensions(agrees, f):
    agrees(f, X, dims={3: "n"})


NORMS = [None, 2, 1, np.inf, -np.inf, 0, 3, -1, 0.5]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("ord", NORMS)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_norms_are_numpys(agrees, ord, keepdims, axis):
    if axis is None and ord not in (None, 1, -1, np.inf, -np.inf):
        ord = "fro"
    agrees(lambda x: np.linalg.norm(x, ord, axis=axis, keepdims=keepdims), X)
    agrees(lambda x: np.linalg.norm(x[0], None if ord == "fro" else ord, keepdims=keepdims), X)
    agrees(lambda x: np.linalg.norm(x, axis=axis, keepdims=keepdims), np.arange(4).reshape(2, 2))


@pytest.mark.parametrize("axis", [(0, 1), (1, 0), (-1, 0)])
@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices_are_numpys(agrees, ord, axis):
    agrees(lambda x: np.linalg.norm(x, ord, axis=axis), np.stack([X, 2 * X - 1]))
    agrees(lambda x: np.linalg.norm(x, ord, axis=axis, keepdims=True), np.stack([X, 2 * X - 1]))
    agrees(lambda x: np.linalg.matrix_norm(x, ord=ord), np.stack([X, 2 * X - 1]))
    agrees(lambda x: np.linalg.vector_norm(x, axis=axis), np.stack([X, 2 * X - 1]))


def test_norms_of_three_axes_are_refused():
    with pytest.raises(ShapeError, match="neither"):
        np.linalg.norm(input("x", (2, 2, 2)), 1)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_powers_and_chains_of_matrices(agrees, n):
    agrees(lambda x: np.linalg.matrix_power(x, n), np.arange(9.0).reshape(3, 3) / 9)
    agrees(lambda x: np.linalg.multi_dot([x, x.T, x]), X)


CREATED = [
    lambda xp, x: x + xp.zeros((3, 4)),
    lambda xp, x: x * xp.ones(4, dtype="float32"),
    lambda xp, x: x + xp.full((3, 1), 2.5),
    lambda xp, x: x + xp.full((3, 1), 2),
    lambda xp, x: x @ xp.eye(4),
    lambda xp, x: x @ xp.eye(4, 5, k=-1, dtype="float32"),
    lambda xp, x: x @ xp.identity(4),
    lambda xp, x: x + xp.arange(4),
    lambda xp, x: x + xp.arange(1, 5),
    lambda xp, x: x + xp.arange(8, 0, -2),
    lambda xp, x: x + xp.arange(0.0, 2.0, 0.5),
    lambda xp, x: x + xp.linspace(0, 1, 4),
    lambda xp, x: x + xp.zeros_like(x),
    lambda xp, x: x + xp.ones_like(x, dtype="int8"),
    lambda xp, x: x + xp.full_like(x, 7),
    lambda xp, x: x + xp.asarray([1.0, 2.0, 3.0, 4.0]),
    lambda xp, x: x + xp.array(3),
    lambda xp, x: xp.abs(x) * xp.pi + xp.e,
    lambda xp, x: xp.acos(xp.tanh(x)),
    lambda xp, x: xp.pow(xp.abs(x), 1.5),
    lambda xp, x: xp.permute_dims(x, (1, 0)),
    lambda xp, x: xp.concat([x, x]),
    lambda xp, x: xp.linalg.norm(x) + xp.linalg.trace(x),
    lambda xp, x: xp.astype(x, xp.float32)[xp.newaxis],
    lambda xp, x: xp.clip(x, -xp.inf, 0.5),
]


@pytest.mark.parametrize("f", CREATED)
def test_the_namespace_has_numpys_names(agrees, f):
    agrees(lambda x: f(snp, x), X, like=lambda x: f(np, x))


def test_arrays_are_created_in_named_dimensions(agrees):
    for f in (
        lambda xp, x: x + xp.zeros((x.shape[0], 4)),
        lambda xp, x: x.T + xp.arange(x.shape[0]),
        lambda xp, x: x.T + xp.arange(1, x.shape[0] + 1, dtype="float32"),
        lambda xp, x: xp.eye(x.shape[0]) @ x,
    ):
        agrees(lambda x, f=f: f(snp, x), X, dims={3: "n"}, like=lambda x, f=f: f(np, x))
    assert snp.ones((named("n") * 2, 3)).shape == (2 * named("n"), 3)


def test_arrays_bring_their_namespace():
    x = input("x", (3,))
    xp = x.__array_namespace__()
    assert xp is snp
    assert isinstance(xp.exp(x), Array)
    assert {"exp", "sum", "softmax", "einsum", "abs", "linalg"} <= set(dir(xp))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", sorted(OPS.keys() & FUNCTIONS.keys()))
def test_every_operation_has_its_name_and_doc(name):
    assert inspect.unwrap(getattr(snp, name)) is inspect.unwrap(FUNCTIONS[name])
    assert "(*operands" not in str(inspect.signature(getattr(snp, name)))
    assert FUNCTIONS[name].__doc__, name
    assert getattr(snp, name).__doc__.startswith(FUNCTIONS[name].__doc__.splitlines()[0])


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"sg\.random draws from keys"):
        snp.random
    with pytest.raises(AttributeError, match="no 'nonsense'"):
        snp.nonsense


def test_all_other_names_are_numpys_own():
    """`import symgraph.numpy as np` is what a port from JAX or autograd begins with."""
    assert snp.mgrid is np.mgrid
    assert snp.float32(0.5).dtype == snp.zeros(1, snp.float32).dtype == snp.float32
    np.testing.assert_array_equal(snp.r_[1, snp.hanning(3)], [1, 0, 1, 0])
    assert str(sg.trace(lambda x: snp.vecdot(x, x), x=(3,)).outputs["out"].aval) == "float64[]"
    with pytest.raises(sg.TraceError, match=r"np\.stack and snp\.array"):
        sg.trace(lambda x: snp.hanning(x), x=())


UNTRACED = [
    lambda x: np.linalg.eig(x),
    lambda x: np.fft.hfft(x),
    lambda x: np.unique(x),
    lambda x: np.nonzero(x),
    lambda x: np.add.at(x, 0, 1),
    lambda x: np.subtract.reduceat(x, [0, 1]),
    lambda x: np.exp(x, out=np.zeros((3, 3))),
    lambda x: np.asarray(x),
    lambda x: float(x),
    lambda x: int(x),
    lambda x: bool(x > 0),
    lambda x: range(3)[x],
    lambda x: 1.0 in x,
    lambda x: x.__setitem__(0, 1.0),
]


@pytest.mark.parametrize("f", UNTRACED)
def test_what_cannot_be_traced_says_so(f):
    with pytest.raises(TraceError) as caught:
        f(input("x", (3, 3)))
    assert "test_numpy_protocols.py" in str(caught.value)
    assert caught.value.mend


def test_functions_of_numpy_take_lists_of_arrays(agrees):
    agrees(lambda x: np.stack([x, X, x]), X)
    agrees(lambda x: np.concatenate((X, x)), X)
    agrees(lambda x: np.einsum("ij,kj->ik", X, x), X)


def test_numpys_table_holds_functions_of_numpy_only():
    for key in NUMPY_FUNCTIONS:
        assert callable(key) or isinstance(key, (str, tuple)), key


def test_the_namespace_needs_neither_sympy_nor_scipy():
    code = (
        "import sys, symgraph.numpy as snp; x = snp.softmax(snp.ones((2, 3))); "
        "assert 'sympy' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(a=x, axis=0),
        lambda x: np.clip(a=x, a_min=0.0, a_max=1.0),
        lambda x: np.tensordot(a=x, b=x, axes=1),
        lambda x: np.tensordot(x, b=x, axes=1),
        lambda x: np.linalg.solve(a=x, b=x[0]),
        lambda x: np.searchsorted(a=x[0], v=x[1]),
        lambda x: np.pad(array=x, pad_width=1),
        lambda x: np.roll(a=x, shift=1),
        lambda x: np.tile(A=x, reps=2),
    ],
)
def test_operands_by_numpys_names(agrees, f):
    agrees(f, np.array([[3.0, 4.0], [-1.0, 2.0]]))
