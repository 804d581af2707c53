"""Engines on a device of CUDA: every operation, random programs, and where results lie.

    pytest -m gpu -n 12 tests/symgraph/backends

JAX takes most of a device's memory in each process unless XLA_PYTHON_CLIENT_PREALLOCATE=false.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from randomgraphs.engines import problems
from scipy import special

import symgraph as sg
import symgraph.numpy as snp
import symgraph.scipy.fft as sfft
from symgraph.array.handle import apply
from symgraph.backends.base import backend_named
from symgraph.backends.conformance import check_backend
from symgraph.errors import BackendError, InputError, VerifyError
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS, carries_aligned
from symgraph.ops.creation import input as symbolic

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
pytestmark = [pytest.mark.gpu, pytest.mark.timeout(1200)]

ENGINES = {"cupy": "cuda", "torch": "cuda", "jax": "gpu"}
"""What each engine calls the device."""

CORE = """add multiply divide power exp log tanh erf gammaln sum max matmul einsum solve inv
cholesky
eigh svd qr softmax logsumexp gather scatter_add scatter_set getitem where scan cond while_loop sort
cumsum linear_recurrence concatenate"""
"""What each engine computes on each device."""

BLOCKS = 24
X, Y = np.array([0.3, -1.2, 0.0]), np.array([1.0, 2.0, 3.0])
OURS = [op for op in OPS.values() if not op.custom]

EDGES = np.array(
    [0.0, -0.0, 0.5, 1, -1, 2, -2.5, -9, 30, -40, 1e-30, 1e30, np.inf, -np.inf, np.nan]
)


def engine_of(name: str) -> dict[str, Any]:
    """The options that name the device; skips where the package or the device is missing."""
    pytest.importorskip(name, reason=f"the extra {name} is not installed", exc_type=ImportError)
    if name == "torch":
        pytest.importorskip("array_api_compat", reason="the torch extra is not installed")
    try:
        sg.trace(np.exp, x="n").lower(name, device=ENGINES[name])(X)
    except BackendError as error:
        pytest.skip(f"{error}")
    return {"device": ENGINES[name]}


def put(name: str, x: np.ndarray[Any, Any]) -> Any:
    """An array of the engine on the device."""
    if name == "cupy":
        return import_module("cupy").asarray(x)
    if name == "torch":
        return import_module("torch").tensor(x, device=ENGINES["torch"])
    jax = import_module("jax")
    with backend_module("jax").enable_x64(True):
        return jax.device_put(x, jax.devices(ENGINES["jax"])[0])


def backend_module(name: str) -> Any:
    return import_module(f"symgraph.backends.{name}")


def place(name: str, x: Any) -> str:
    """The kind of device of an array of the engine."""
    if name == "torch":
        return x.device.type
    if name == "jax":
        return next(iter(x.devices())).platform
    return "cuda" if isinstance(x, import_module("cupy").ndarray) else "numpy"


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("name", ENGINES)
def test_operations_run_or_are_refused_by_name_and_none_is_wrong(name: str, block: int) -> None:
    options, wrong = engine_of(name), dict[str, str]()
    refused: dict[str, BackendError] = {}
    for op in OURS[block::BLOCKS]:
        try:
            check_backend(name, ops=[op], graphs=0, gradients=True, refused=refused, **options)
        except Exception as error:
            wrong[op.name] = f"{type(error).__name__}: {error}"
    for op, error in refused.items():
        print(f"refused {name} {op}: {error}".splitlines()[0][:200])
    for op, error in wrong.items():
        print(f"wrong {name} {op}: {error[:1500]}")
    assert not wrong, f"{name}: {', '.join(wrong)}"
    # Elsewhere SciPy computes the functions that an engine lacks; here they are refused.
    assert not set(CORE.split()) & set(refused)
    assert len(refused) < 0.75 * len(OURS[block::BLOCKS])


@pytest.mark.parametrize("name", ENGINES)
def test_random_graphs_and_their_gradients(name: str) -> None:
    options = engine_of(name)
    assert check_backend(name, ops=[], graphs=20, gradients=True, **options) > 20


@pytest.mark.parametrize("block", range(2))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ENGINES)
def test_random_programs_and_their_gradients(name: str, dtype: str, block: int) -> None:
    options = engine_of(name)
    assert list(problems(name, range(30 * block, 30 * block + 30), dtype, **options)) == []


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["cupy"])
def test_elementwise_functions_at_the_ends_of_their_domains(name: str, dtype: str) -> None:
    engine_of(name)
    wrong = list[str]()
    x = EDGES.astype(dtype)
    pairs = np.meshgrid(x, x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for op in OURS:
            if op.carries is not carries_aligned:
                continue
            for given in ([x], [each.ravel() for each in pairs]):
                wrong += differing(name, op, given)
    for each in wrong:
        print(each)
    assert wrong == []


def differing(name: str, op: Any, given: list[np.ndarray[Any, Any]]) -> list[str]:
    """What an operation gives that the interpreter does not."""
    inputs = {f"x{i}": symbolic(f"x{i}", each.shape, each.dtype) for i, each in enumerate(given)}
    try:
        out: Any = apply(op, *inputs.values())
        dag = Dag({each: array.node for each, array in inputs.items()}, [out.node])
        wanted = evaluate(dag, dict(zip(inputs, given, strict=True)))[0]
    except Exception:  # Another count of operands, or parameters.
        return []
    try:
        found = sg.Graph(dag).lower(name)(*given)
    except BackendError:
        return []
    near = 1e-10 if given[0].dtype == np.float64 else 1e-4
    same = np.isclose(found, wanted, rtol=near, atol=1e-30, equal_nan=True)
    rows = [
        f"{[float(each[i]) for each in given]}: {found[i]} for {wanted[i]}"
        for i in np.flatnonzero(~same)
    ]
    return [f"edge {op.name} {given[0].dtype} {'; '.join(rows[:6])}"] if rows else []


@pytest.mark.parametrize("name", ENGINES)
def test_numpy_gives_numpy_and_arrays_stay_on_the_device(name: str) -> None:
    options = engine_of(name)
    graph = sg.trace(lambda x, y: np.sum(np.tanh(x) ** 2 * y), x="n", y="n").gradient("x")
    wanted = 2 * np.tanh(X) * (1 - np.tanh(X) ** 2) * Y
    on_device = graph.lower(name, numpy_out=False, **options)(X, Y)[1]
    assert place(name, on_device) == ENGINES[name]
    for lowered in (graph.lower(name), graph.lower(name, **options)):
        assert type(lowered(X, Y)[1]) is np.ndarray
        np.testing.assert_allclose(lowered(X, Y)[1], wanted, rtol=1e-12)
        given = put(name, X), put(name, Y)
        for slope in (lowered(*given)[1], lowered(given[0], Y)[1]):
            assert place(name, slope) == ENGINES[name]
            assert str(slope.dtype).endswith("float64")
            np.testing.assert_allclose(lowered.backend.to_numpy(slope), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_complex_arguments_and_spectra(name: str) -> None:
    options = engine_of(name)
    rng = np.random.default_rng(1)
    z = rng.normal(size=8) + 1j * rng.normal(size=8)

    def energy(z: Any) -> Any:
        spectrum = snp.abs(snp.fft.fft(z)) ** 2 @ np.arange(8.0)
        return spectrum + snp.sum(snp.abs(snp.fft.rfft(sfft.dct(snp.real(z)))) ** 3)

    wanted = sg.grad(energy)(z)
    np.testing.assert_allclose(sg.grad(energy, backend=name, **options)(z), wanted, rtol=1e-11)


@pytest.mark.parametrize("name", ENGINES)
def test_single_precision_keeps_its_digits_in_products(name: str) -> None:
    """Ten bits, as tensor cores multiply by default, would be off by 3e-4 of the largest."""
    options = engine_of(name)
    rng = np.random.default_rng(0)
    x, images, kernel = (
        rng.normal(size=shape).astype("float32")
        for shape in ((256, 256), (4, 16, 32, 32), (8, 16, 3, 3))
    )
    for f, given in (
        (lambda x, y: x @ y, (x, x)),
        (lambda x, y: snp.conv(x, y), (images, kernel)),
    ):
        specs = [sg.spec(each.shape, "float32") for each in given]
        graph = sg.trace(f, **dict(zip("xy", specs, strict=True)))
        wanted = graph.lower()(*given)
        found = graph.lower(name, **options)(*given)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 * np.max(np.abs(wanted)))


def test_arrays_elsewhere_are_refused() -> None:
    ran = 0
    graph = sg.trace(lambda x, y: np.sum(x * y), x="n", y="n")
    for name, kind in ENGINES.items():
        try:
            engine_of(name)
        except pytest.skip.Exception:
            continue
        ran += 1
        if name == "cupy":
            with pytest.raises(BackendError, match="no device 'cpu' here"):
                graph.lower("cupy", device="cpu")
            continue
        here = put(name, X)
        elsewhere = (
            here.cpu()
            if name == "torch"
            else import_module("jax").device_put(X, import_module("jax").devices("cpu")[0])
        )
        with pytest.raises(InputError, match="but the graph was lowered for"):
            graph.lower(name, device=kind)(elsewhere, elsewhere)
        with pytest.raises(InputError, match="but the graph was lowered for"):
            graph.lower(name, device="cpu")(here, here)
    assert ran


@pytest.mark.parametrize("name", ENGINES)
def test_faults_of_the_input_are_told(name: str) -> None:
    options = engine_of(name)
    narrow = sg.trace(np.exp, x=sg.spec("n", "float32")).lower(name, **options)
    with pytest.raises(InputError, match="float64, but float32 was declared"):
        narrow(put(name, X))
    with pytest.raises(BackendError) as told:
        sg.trace(lambda x: special.jv(1.0, x), x="n").lower(name, **options)(put(name, X))
    assert "jv" in str(told.value)


def test_cupy_refuses_places_and_matrices_that_numpy_refuses() -> None:
    engine_of("cupy")
    read = sg.trace(lambda x, at: x[at], x="n", at=sg.spec("k", "int64")).lower("cupy")
    with pytest.raises(InputError, match="axis 0 with size 3: 3"):
        read(X, np.array([3]))
    for f, matrix in (
        (np.linalg.inv, [[1.0, 2.0], [2.0, 4.0]]),
        (np.linalg.cholesky, [[1.0, 2.0], [2.0, -4.0]]),
    ):
        with pytest.raises(BackendError, match="cannot compute"):
            sg.trace(f, a="2, 2").lower("cupy")(np.array(matrix))


def test_verification_reaches_the_device() -> None:
    """A wrong kernel on the device is found: the comparison is not of the host with itself."""
    engine_of("cupy")
    cupy = import_module("cupy")
    backend = backend_named("cupy")

    class Wrong(type(backend)):
        def to_numpy(self, value: Any) -> Any:
            return cupy.asnumpy(cupy.asarray(value) + 1e-3)

    with pytest.raises(VerifyError, match="'cupy' gives"):
        check_backend(Wrong(), ops=[OPS["exp"]], graphs=0)
