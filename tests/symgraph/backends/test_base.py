"""Backends: found by name, refused with advice, all held to the interpreter's values."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.backends.base import Backend, available, backend_named
from symgraph.backends.capabilities import DTYPES, Capabilities
from symgraph.backends.conformance import check_backend, check_dag
from symgraph.backends.lowered import lower
from symgraph.backends.random_graphs import random_dag
from symgraph.backends.samples import SAMPLES, op_samples
from symgraph.errors import BackendError, VerifyError
from symgraph.installed import entries_of
from symgraph.ir.dag import Dag
from symgraph.ir.op import OPS
from symgraph.ops.creation import input

SOME = ["exp", "multiply", "matmul", "sum", "softmax", "getitem", "scatter_add", "max_with_index"]


def graph(**inputs: Array) -> Dag:
    x, w = input("x", "n, 3"), input("w", (3,))
    return Dag({"x": x.node, "w": w.node}, [snp.exp(x * w).node, snp.sum(x).node])


GIVEN = {"x": np.arange(6.0).reshape(2, 3), "w": np.array([0.1, 0.2, 0.3])}


# -- conformance ---------------------------------------------------------------------------------
@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_every_operation_on_numpy_to_the_last_bit(op: Any) -> None:
    assert check_backend("numpy", ops=[op], graphs=0, exact=True, floats=False) > 0


@pytest.mark.sampled(one_in=8)  # `tests/symgraph/lowering/test_floats.py` has each function.
@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_every_operation_on_numpy_with_scalars_as_floats(op: Any) -> None:
    assert check_backend("numpy", ops=[op], graphs=0) > 0


def test_some_operations_and_graphs_on_jax() -> None:
    pytest.importorskip("jax", reason="the jax extra is not installed")
    samples = [next(op_samples(OPS[name])) for name in SOME]
    for dag in [*samples, random_dag(1), random_dag(2, dtype="float32")]:
        check_dag(dag, "jax", sizes=(3,))


@pytest.mark.oracle
@pytest.mark.timeout(2400)  # JAX compiles each sample of each operation
def test_every_operation_and_random_graphs_on_jax() -> None:
    pytest.importorskip("jax", reason="the jax extra is not installed")
    assert check_backend("jax", graphs=30) > len(SAMPLES)


@pytest.mark.parametrize(
    "fault",
    [lambda x: x + 1e-3, lambda x: x.astype("f4"), lambda x: x[None]],
    ids=["value", "dtype", "shape"],
)
def test_conformance_finds_a_wrong_backend(fault: Any) -> None:
    class Wrong(type(backend_named("numpy"))):
        name = "wrong"

        def to_numpy(self, value: Any) -> Any:
            return fault(np.asarray(value))

    with pytest.raises(VerifyError, match="'wrong' gives"):
        check_backend(Wrong(), ops=[OPS["exp"]], graphs=0)


def test_conformance_finds_a_wrong_gradient() -> None:
    numpy = backend_named("numpy")

    class Wrong(type(numpy)):
        name = "wrong"

        def compile(self, dag: Dag, **options: Any) -> Any:
            from dataclasses import replace

            compiled = numpy.compile(dag, **options)
            if not any(node.op.name == "cos" for node in dag.nodes):
                return compiled
            return replace(compiled, run=lambda *values: [-each for each in compiled.run(*values)])

    assert check_backend(Wrong(), ops=[OPS["sin"]], graphs=0) > 0
    with pytest.raises(VerifyError, match="'wrong' gives"):
        check_backend(Wrong(), ops=[OPS["sin"]], graphs=0, gradients=True)


def test_a_dtype_that_a_backend_lacks_is_refused_with_the_users_line() -> None:
    class Narrow(type(backend_named("numpy"))):
        name = "narrow"
        capabilities = Capabilities(dtypes=DTYPES - {"float64"})

    single = sg.trace(np.exp, x=sg.spec("n", "float32"))
    assert single.lower(Narrow())(np.zeros(2, "float32")).dtype == np.float32
    with pytest.raises(BackendError, match=r"Backend 'narrow' has no float64\.") as told:
        sg.trace(np.exp, x="n").lower(Narrow())
    assert "test_base.py" in str(told.value)
    inner = sg.trace(lambda x: sg.cond(x[0] > 0, lambda x: x.astype("float64").astype("f4"),
                                       np.exp, x), x=sg.spec("3", "float32"))  # fmt: skip
    with pytest.raises(BackendError, match="no float64"):
        inner.lower(Narrow())
    refused: dict[str, BackendError] = {}
    check_backend(Narrow(), ops=[OPS["exp"]], graphs=2, refused=refused)
    assert {"exp", "random graph"} == set(refused)


def test_conformance_does_not_count_what_numpy_refuses() -> None:
    x = input("x", ("n",))
    largest = Dag({"x": x.node}, [np.max(x).node])
    assert check_dag(largest, "numpy", sizes=(3, 1, 0)) == 2
    assert check_dag(largest, "numpy", sizes=(0,)) == 0


def test_conformance_lists_refusals_and_goes_on() -> None:
    class Lacking(type(backend_named("numpy"))):
        name = "lacking"

        def compile(self, dag: Dag, **options: Any) -> Any:
            if any(node.op.name == "exp" for node in dag.nodes):
                raise BackendError("No exp.")
            return super().compile(dag, **options)

    refused: dict[str, BackendError] = {}
    ops = [OPS["exp"], OPS["sin"]]
    assert check_backend(Lacking(), ops=ops, graphs=0, refused=refused) > 0
    assert list(refused) == ["exp"]
    with pytest.raises(BackendError, match="No exp"):
        check_backend(Lacking(), ops=ops, graphs=0)


def test_conformance_finds_a_backend_that_writes_to_inputs() -> None:
    numpy = backend_named("numpy")

    class Wrong(type(numpy)):
        name = "wrong"

        def compile(self, dag: Dag, **options: Any) -> Any:
            from dataclasses import replace

            compiled = numpy.compile(dag, **options)

            def run(*values: Any) -> Any:
                result = compiled.run(*values)
                values[0][...] = 7
                return result

            return replace(compiled, run=run)

    with pytest.raises(VerifyError, match="writes to its inputs"):
        check_backend(Wrong(), ops=[OPS["exp"]], graphs=0)


# -- finding -------------------------------------------------------------------------------------
def test_ours_are_known() -> None:
    assert {"numpy", "jax"} <= set(available())
    assert isinstance(backend_named("numpy"), Backend)


def test_unknown_backend() -> None:
    with pytest.raises(BackendError, match="no backend 'abacus'") as caught:
        lower(graph(), "abacus")
    assert "known: cupy, dask, jax, native, numpy, torch" in str(caught.value)
    assert "symgraph.backends" in str(caught.value)
    with pytest.raises(BackendError, match=r"no backend 'cuda'(.|\n)*cupy on CUDA"):
        lower(graph(), "cuda")
    with pytest.raises(BackendError, match=r"no backend 'numba'(.|\n)*native compiles"):
        lower(graph(), "numba")
    for name, meant in (("JAX", "jax"), ("pytorch", "torch"), ("Numpy", "numpy")):
        with pytest.raises(BackendError, match=f"Did you mean {meant}"):
            lower(graph(), name)


@pytest.mark.parametrize("name", ["dask", "jax", "native", "torch"])
def test_missing_package_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"symgraph.backends.{name}", None)
    with pytest.raises(BackendError, match="cannot be imported") as caught:
        lower(graph(), name)
    assert f'pip install "symgraph[{name}]"' in str(caught.value)


def test_unknown_option() -> None:
    with pytest.raises(BackendError, match="turbo"):
        lower(graph(), "numpy", turbo=True)


LOOPBACK = '''
"""A backend of another package: the interpreter, dressed up."""

import numpy as np

from symgraph.backends.base import Compiled
from symgraph.ir.interpreter import evaluate
from symgraph.namespace import NUMPY


class Loopback:
    name = "loopback"
    namespace = NUMPY
    native = (np.ndarray,)

    def compile(self, dag):
        names = list(dag.inputs)
        return Compiled(lambda *values: evaluate(dag, dict(zip(names, values))), "evaluate")

    def to_numpy(self, value):
        return value


BACKEND = Loopback()
WRONG = object()
'''


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that declares backends, as installing it would leave it."""
    (tmp_path / "loopback_backend.py").write_text(LOOPBACK)
    info = tmp_path / "loopback_backend-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loopback-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[symgraph.backends]\n"
        "loopback = loopback_backend:BACKEND\n"
        "wrong = loopback_backend:WRONG\n"
        "broken = loopback_backend_missing:BACKEND\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("_installed")
def test_a_strangers_backend_enters_by_the_same_door() -> None:
    """M28: it is chosen by its name, and nothing of ours is changed for it."""
    assert "loopback" in available()
    assert check_backend("loopback", ops=[OPS[name] for name in SOME], graphs=3, exact=True)
    np.testing.assert_array_equal(lower(graph(), "loopback")(**GIVEN)[1], 15.0)


@pytest.mark.usefixtures("_installed")
def test_ours_enter_by_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_strangers(group: str) -> Any:
        return [each for each in entries_of(group) if each.name == "loopback"]

    assert {"numpy", "jax"} <= set(available())
    monkeypatch.setattr("symgraph.backends.base.entries_of", only_strangers)
    assert available() == ("loopback",)
    with pytest.raises(BackendError, match="no backend 'numpy'"):
        lower(graph(), "numpy")


def test_without_an_installation_the_error_says_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import symgraph.backends.base as base

    monkeypatch.setattr(base, "_entries", dict)
    with pytest.raises(BackendError, match="pip install -e"):
        lower(graph(), "numpy")


def test_two_packages_that_claim_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[symgraph.backends]\nnumpy = other:BACKEND\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BackendError, match="2 packages declare") as caught:
        lower(graph(), "numpy")
    assert "other:BACKEND" in str(caught.value)
    assert "symgraph.backends.numpy:BACKEND" in str(caught.value)


@pytest.mark.usefixtures("_installed")
def test_a_strangers_mistakes_are_named() -> None:
    with pytest.raises(BackendError, match="loopback_backend:WRONG"):
        lower(graph(), "wrong")
    with pytest.raises(BackendError, match="loopback_backend_missing"):
        lower(graph(), "broken")


# -- JAX -----------------------------------------------------------------------------------------
def test_jax_keeps_64_bits_and_leaves_the_setting_alone() -> None:
    jax = pytest.importorskip("jax", reason="the jax extra is not installed")
    before = jax.config.jax_enable_x64
    f = lower(graph(), "jax")
    got, _ = f(**GIVEN)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, np.exp(GIVEN["x"] * GIVEN["w"]), rtol=1e-15)
    assert jax.config.jax_enable_x64 == before
    assert "def function" in f.source
    got[...] = 0  # The caller's own.


def test_jax_arrays_in_and_out() -> None:
    jax = pytest.importorskip("jax", reason="the jax extra is not installed")
    x = input("x", (3,), "float32")
    f = lower(Dag({"x": x.node}, [snp.exp(x).node]), "jax", numpy_out=False)
    result = f(x=jax.numpy.zeros(3, "float32"))
    assert isinstance(result, jax.Array)
    np.testing.assert_array_equal(np.asarray(result), np.ones(3, "f4"))
