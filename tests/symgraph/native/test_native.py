"""The native backend: groups of statements as compiled loops give what the interpreter gives."""

from __future__ import annotations

import math
import pickle
import platform
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nativegraphs import LAYOUTS, arrays_for, native_graph, ulps_apart

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import BackendError
from symgraph.testing import check_backend

pytest.importorskip("llvmlite", reason="the native extra is not installed")

from symgraph.backends.native import BACKEND, loops_of_graph
from symgraph.native import machine
from symgraph.native.operations import OPERATIONS

pytestmark = pytest.mark.oracle

ULPS = 256
"""In units of the last place of the largest number of a result: differences cancel digits."""


def calls_of_loops(source: str) -> int:
    return sum([line.strip().startswith("n") for line in source.splitlines()])


def agrees(graph: Any, given: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        want = graph.evaluate(**given)
    before = {name: np.array(each) for name, each in given.items()}
    got = graph.lower(backend=BACKEND)(**given)
    for one, other in zip(got, want, strict=True):
        assert ulps_apart(one, other) <= ULPS
        assert not any(np.shares_memory(one, each) for each in given.values())
    for name, each in given.items():
        np.testing.assert_array_equal(each, before[name])


# -- against the interpreter -----------------------------------------------------------------------
def test_conformance() -> None:
    assert check_backend("native", graphs=30, gradients=True) > 3000


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("first", range(0, 260, 20))
def test_random_graphs(first: int, dtype: str) -> None:
    for seed in range(first, first + 20):
        graph = native_graph(seed, dtype)
        agrees(graph, arrays_for(graph, np.random.default_rng(seed)))


def test_a_loop_has_the_statement_that_it_was_formed_for() -> None:
    graph = native_graph(1401, "float32")
    agrees(graph, arrays_for(graph, np.random.default_rng(0)))


def test_random_graphs_are_mostly_loops() -> None:
    sources = [native_graph(seed, "float64").lower(backend=BACKEND).source for seed in range(40)]
    assert sum(map(calls_of_loops, sources)) >= 40


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, dtype: str) -> None:
    for seed in range(300, 324):
        graph = native_graph(seed, dtype)
        agrees(graph, arrays_for(graph, np.random.default_rng(seed), layout))


@pytest.mark.parametrize("register", [16, 32, 64])
def test_vectors_of_other_processors(register: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgraph.backends.native.vector_bytes", lambda: register)
    for seed in range(400, 420):
        graph = native_graph(seed, ("float64", "float32")[seed % 2])
        agrees(graph, arrays_for(graph, np.random.default_rng(seed)))
    a = np.random.default_rng(0).normal(size=(40, 60))
    square = sg.trace(lambda a: np.exp(a @ a.T) * 2, a=sg.spec(a.shape))
    got = square.lower(backend=BACKEND, products=True)(a)
    np.testing.assert_allclose(got, np.exp(a @ a.T) * 2, rtol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(0, 21), (6, 0), (0, 0), (1, 1), (3, 1025)])
def test_empty_and_long_rows(n: int, m: int) -> None:
    def function(x: Any, y: Any) -> Any:
        e = np.exp(x) * y
        return np.sum(e, axis=-1), np.sum(e, axis=0), np.sum(e), e / (1 + e * e)

    graph = sg.trace(function, x=sg.spec("n, m"), y=sg.spec("n, m"))
    agrees(graph, arrays_for(graph, np.random.default_rng(0), n=n, m=m))


def test_softmax_is_one_loop_over_rows() -> None:
    graph = sg.trace(
        lambda z: np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True), z=sg.spec("n, 1000")
    )
    lowered = graph.simplify().lower(backend=BACKEND)
    assert calls_of_loops(lowered.source) == 1
    assert "row by row" in lowered.source
    z = np.random.default_rng(0).normal(size=(50, 1000)) * 300
    np.testing.assert_allclose(np.sum(lowered(z), axis=-1), 1)


def test_a_column_and_a_row_of_one_length_are_a_square() -> None:
    def function(x: Any, r: Any) -> Any:
        e = np.exp(x) * r
        return np.tanh(e), np.sign(r) * 0.5 + np.max(e, axis=-1)

    graph = sg.trace(function, x=sg.spec((33, 19)), r=sg.spec((33, 1)))
    agrees(graph, arrays_for(graph, np.random.default_rng(0)))
    graph = native_graph(1198, "float64")
    agrees(graph, arrays_for(graph, np.random.default_rng(0)))


# -- single operations -----------------------------------------------------------------------------
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e300, 1e-310, np.inf, -np.inf, np.nan]
INEXACT = ("exp", "expm1", "log", "log1p", "tanh", "sin", "cos", "logaddexp")
DTYPES = {"f": ("float64", "float32"), "i": ("int64", "int32", "int8"), "b": ("bool",)}
EXACT = [
    (name.removeprefix("np."), dtype)
    for name, (kinds, _) in OPERATIONS.items()
    if name.startswith("np.") and name.removeprefix("np.") not in INEXACT
    for kind in kinds
    for dtype in DTYPES[kind]
]


def same_bits(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        signed = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[signed]), np.signbit(want[signed]))


@pytest.mark.parametrize(("name", "dtype"), EXACT)
def test_operations_give_numpys_bits(name: str, dtype: str) -> None:
    kind = np.dtype(dtype).kind
    ufunc: Any = getattr(np, name)
    if kind == "f":
        edges = np.array(EDGES if dtype == "float64" else [*EDGES[:8], *EDGES[10:]], dtype)
    elif kind == "b":
        edges = np.array([True, False])
    else:
        limits = np.iinfo(dtype)
        edges = np.array([0, 1, -1, 7, -7, limits.min, limits.max], dtype)
    pairs = [each.ravel() for each in np.meshgrid(edges, edges)][: ufunc.nin]
    names = "xy"[: ufunc.nin]
    function: Callable[..., Any] = lambda *given: (  # noqa: E731
        getattr(snp, name)(*given),
        getattr(snp, name)(*[snp.where(each == each, each, each) for each in given]),
    )
    specs = {each: sg.spec("n", dtype) for each in names}
    graph = sg.trace(lambda **given: function(*given.values()), **specs)
    lowered = graph.lower(backend=BACKEND)
    with np.errstate(all="ignore"):
        want = ufunc(*pairs)
    # The sign of the larger of 0.0 and -0.0 depends on NumPy's vectors.
    any_zero = kind == "f" and name in ("maximum", "minimum", "fmax", "fmin")
    for got in lowered(*pairs):
        same_bits(got + 0.0, want + 0.0) if any_zero else same_bits(got, want)


def test_integers_wrap_as_numpys_do() -> None:
    x = np.array([2**62, -(2**63), 3, -5])
    graph = sg.trace(
        lambda x: (x * 3 + x, np.sum(x * 3), np.max(x, initial=0), np.abs(x) - 1),
        x=sg.spec("n", "int64"),
    )
    for got, want in zip(graph.lower(backend=BACKEND)(x), graph.evaluate(x=x), strict=True):
        np.testing.assert_array_equal(got, want)


# -- sums ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 15, 1000, 1_000_003])
def test_sums_are_within_their_bound(size: int, dtype: str) -> None:
    x = np.random.default_rng(3).normal(size=size).astype(dtype)
    lowered = sg.trace(lambda x: np.sum(x * 1.5), x=sg.spec("n", dtype)).lower(backend=BACKEND)
    assert calls_of_loops(lowered.source) == 1
    scaled = x * np.array(1.5, dtype)
    bound = 44 * np.finfo(dtype).eps * math.fsum(np.abs(scaled))
    assert abs(float(lowered(x)) - math.fsum(scaled)) <= bound


def test_sums_of_special_values() -> None:
    lowered = sg.trace(lambda x: np.sum(1.0 * -x), x=sg.spec("n")).lower(backend=BACKEND)
    for x in ([], [0.0] * 40, [np.inf, 1.0], [np.inf, -np.inf], [np.nan], [1e308] * 40):
        with np.errstate(all="ignore"):
            want = np.sum(-np.array(x))
        got = lowered(np.array(x))
        np.testing.assert_array_equal(got, want)
        assert np.isnan(want) or np.signbit(got) == np.signbit(want)


def test_the_largest_of_columns() -> None:
    x = np.random.default_rng(0).normal(size=(40, 21))
    x[3, 3], x[0, 4] = np.nan, -np.inf
    graph = sg.trace(
        lambda x: (np.max(2 * x, axis=0), np.min(2 * x, axis=0, initial=-0.5)), x=sg.spec((40, 21))
    )
    lowered = graph.lower(backend=BACKEND)
    assert calls_of_loops(lowered.source) == 1
    got = lowered(x)
    np.testing.assert_array_equal(got[0], np.max(2 * x, axis=0))
    np.testing.assert_array_equal(got[1], np.min(2 * x, axis=0, initial=-0.5))


def test_the_largest_of_nan_is_nan() -> None:
    graph = sg.trace(lambda x: np.max(2 * x, axis=-1), x=sg.spec("n, 20"))
    x = np.random.default_rng(0).normal(size=(40, 20))
    x[np.arange(20), np.arange(20)] = np.nan
    got = graph.lower(backend=BACKEND)(x)
    np.testing.assert_array_equal(got, np.max(2 * x, axis=-1))


# -- products of matrices --------------------------------------------------------------------------
SIZES = [(14, 32, 32), (32, 128, 128), (37, 61, 83), (300, 530, 700), (1, 300, 40), (0, 64, 64)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("turned", ["", "left", "right", "both"])
@pytest.mark.parametrize("size", SIZES)
def test_products(size: tuple[int, int, int], turned: str, dtype: str) -> None:
    rows, inner, columns = size
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    a, b = a.astype(dtype), b.astype(dtype)
    left, right = turned in ("left", "both"), turned in ("right", "both")
    given = {"a": a.T.copy() if left else a, "b": b.T.copy() if right else b, "x": np.ones(3)}
    graph = sg.trace(
        lambda a, b, x: ((a.T if left else a) @ (b.T if right else b), x * 2 + 1),
        **{name: sg.spec(each.shape, str(each.dtype)) for name, each in given.items()},
    )
    got = graph.lower(backend=BACKEND, products=True)(**given)[0]
    exact = a.astype(float) @ b.astype(float)
    bound = np.abs(a).astype(float) @ np.abs(b).astype(float)
    assert np.all(np.abs(got - exact) <= (inner + 2) * np.finfo(dtype).eps * bound)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_of_every_layout(layout: str) -> None:
    rng = np.random.default_rng(6)
    a, b = [LAYOUTS[layout](rng.normal(size=shape)) for shape in ((70, 90), (90, 50))]
    graph = sg.trace(
        lambda a, b, x: (a @ b, x * 2 + 1),
        a=sg.spec("n, 90"),
        b=sg.spec((90, 50)),
        x=sg.spec((3,)),
    )
    lowered = graph.lower(backend=BACKEND, products=True)
    assert "g0(" in lowered.source
    np.testing.assert_allclose(lowered(a, b, np.ones(3))[0], a @ b, rtol=1e-12, atol=1e-12)


def test_products_of_special_values_and_of_nothing() -> None:
    a = np.ones((40, 60))
    b = np.ones((60, 70))
    a[3, 5], a[39, 59], b[7, 0], b[0, 69] = np.nan, np.inf, -np.inf, np.inf
    graph = sg.trace(lambda a, b: (a @ b, np.exp(b) * 2), a=sg.spec((40, 60)), b=sg.spec((60, 70)))
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal(graph.lower(backend=BACKEND, products=True)(a, b)[0], want)


def test_a_custom_operation_is_not_trusted() -> None:
    lying = sg.custom_op(
        lambda x: x[:2].astype("f4"), name="lying", infer=lambda x: (x.shape, x.dtype)
    )
    graph = sg.trace(lambda x: np.sum(np.exp(lying(x)) * 2), x=sg.spec((50,)))
    with pytest.raises(BackendError, match=r"gave float32\[2\]"):
        graph.lower(backend=BACKEND)(np.ones(50))


# -- calls -----------------------------------------------------------------------------------------
def test_eight_threads() -> None:
    graph = sg.trace(lambda x: (np.sum(np.exp(x), axis=0), np.tanh(x) * x), x=sg.spec("n, 50"))
    lowered = graph.lower(backend=BACKEND)
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(size, 50)) for size in (3, 40, 2000)]
    want = [lowered(each) for each in given]

    def call(k: int) -> bool:
        found = lowered(given[k % 3])
        return all(map(np.array_equal, found, want[k % 3]))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(8 * 200)))


def test_graphs_of_scalars_are_one_call() -> None:
    graph = sg.trace(
        lambda a, b: np.sin(a) * b + np.arctan2(a, b) + a**1.7, a=sg.spec(()), b=sg.spec(())
    ).gradient("a", "b")
    lowered = graph.simplify().lower(backend=BACKEND)
    assert calls_of_loops(lowered.source) == 1
    for a, b in [(0.3, 2.0), (0.0, 0.0), (np.inf, 1.0), (-1.0, 2.0)]:
        with np.errstate(all="ignore"):
            value, slopes = graph.evaluate(a=a, b=b)
        got, found = lowered(a, b)
        np.testing.assert_allclose(got, value, rtol=1e-13)
        np.testing.assert_allclose(found, slopes, rtol=1e-13)
        assert isinstance(got, np.ndarray)


def test_what_is_left_to_numpy_is_told() -> None:
    lowered = sg.trace(lambda x: np.tanh(x @ x) * 2, x=sg.spec((300, 300))).lower(backend=BACKEND)
    assert lowered.native_reason == "left to NumPy: matmul (1)"
    alone = sg.trace(lambda x: x @ x, x=sg.spec((300, 300))).lower(backend=BACKEND)
    assert "no two statements share a loop" in alone.native_reason
    x = np.arange(90000.0).reshape(300, 300)
    np.testing.assert_array_equal(alone(x), x @ x)


def test_a_graph_planned_for_memory_is_left_to_numpy() -> None:
    graph = sg.trace(lambda x: np.sum(np.exp(np.sin(x)) * x), x=sg.spec("n")).gradient("x")
    planned = graph.checkpoint(memory="1 GB", n=1000).lower(backend=BACKEND)
    if "n0(" not in planned.source:
        assert "memory budget" in planned.native_reason


# -- machine code ----------------------------------------------------------------------------------
def test_loops_are_vectors() -> None:
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the names of instructions are those of x86")
    graph = sg.trace(lambda x: np.sum(np.exp(x) * np.sin(x)), x=sg.spec("n"))
    loops = loops_of_graph(graph.dag)
    assert loops is not None
    text = machine.assembly(loops.modules[0].text)
    assert text.count("vfmadd") > 20
    assert "call\texp" not in text
    scalar = text.count("sd\t")
    assert text.count("pd\t") > 2 * scalar


def test_machine_code_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAPH_CACHE", str(tmp_path))
    x = np.linspace(0, 1, 10)

    def run(number: float) -> Any:
        machine._engines.clear()
        graph = sg.trace(lambda x: np.exp(x) * number, x=sg.spec("n"))
        return graph.lower(backend=BACKEND)(x)

    first = run(1.25)
    (file,) = (tmp_path / "native").iterdir()
    written = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(machine, "compiled", lambda text: pytest.fail("compiled again"))
        np.testing.assert_array_equal(run(1.25), first)
    file.write_bytes(written[:-7])
    np.testing.assert_array_equal(run(1.25), first)
    assert file.read_bytes() == written
    file.write_bytes(b"")
    (tmp_path / "native").chmod(0o777)  # Others could have written it.
    np.testing.assert_array_equal(run(1.25), first)
    assert file.read_bytes() == b""
    assert stat.S_IMODE((tmp_path / "native").stat().st_mode) == 0o777


def test_without_llvm_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
import symgraph as sg
try:
    sg.trace(np.sin, x=sg.spec((3,))).lower(backend="native")
except sg.BackendError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 'pip install "symgraph[native]"' in found.stdout


def test_importing_symgraph_imports_no_llvm() -> None:
    code = "import sys, symgraph; print('llvmlite' in sys.modules, 'numba' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == ["False", "False"]


def test_options_are_numpys() -> None:
    with pytest.raises(BackendError, match="turbo"):
        sg.trace(np.sin, x=sg.spec((3,))).lower(backend=BACKEND, turbo=True)


def test_a_lowered_function_can_be_pickled() -> None:
    lowered = sg.trace(lambda x: np.exp(x) * 2, x=sg.spec((3,))).lower(backend="native")
    x = np.ones(3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lowered))(x), lowered(x))
