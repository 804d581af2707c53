"""ONNX models: every sample of every operation, run by two engines, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import apply
from symgraph.backends.conformance import gradient_of
from symgraph.backends.random_graphs import random_dag
from symgraph.backends.samples import op_samples
from symgraph.errors import BackendError, InputError, SymgraphError
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS, Op
from symgraph.onnx import OPSET, to_onnx

try:
    import onnx
    import onnx.reference
    import onnxruntime
except ImportError:
    onnx = None

HERE = Path(__file__).with_name("refused.txt")
OURS = [op for op in OPS.values() if not op.custom]
engines = pytest.mark.oracle
needs_onnx = pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed")

# onnxruntime has no such operator for the dtypes of some samples, and says so when it loads one.
LACKS = {"Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Det"}


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    with pytest.raises(SymgraphError, match=r'pip install "symgraph\[onnx\]"'):
        sg.trace(np.exp, x="n").to_onnx()


def runs_of(model: Any) -> Iterator[tuple[str, Any]]:
    """The engines that run the model, after the checker has read it."""
    onnx.checker.check_model(model, full_check=True)
    yield "onnx.reference", onnx.reference.ReferenceEvaluator(model).run
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    text = model.SerializeToString()
    try:
        session = onnxruntime.InferenceSession(text, options, ["CPUExecutionProvider"])
    except Exception as error:
        if not any(f"not find an implementation for {op}(" in str(error) for op in LACKS):
            raise
        return
    yield "onnxruntime", session.run


def numbers(dag: Dag, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    given: dict[str, Any] = {}
    for name, node in dag.inputs.items():
        shape = tuple(dim if isinstance(dim, int) else n for dim in node.shape)
        if node.dtype.kind in "biu":
            given[name] = rng.integers(0, 2 if node.dtype.kind == "b" else 4, shape)
        else:
            given[name] = rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0, 3.0], shape)
        given[name] = np.asarray(given[name], node.dtype)
    return given


def assert_equal(got: Any, want: Any, what: str) -> None:
    got = np.asarray(got)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, what)
        return
    tolerance = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3}[want.dtype.name]
    scale = float(np.max(np.abs(want), initial=1, where=np.isfinite(want)))
    np.testing.assert_allclose(got, want, tolerance, tolerance * min(scale, 1e3), err_msg=what)


def assert_runs(dag: Dag, model: Any) -> None:
    runs, read = list(runs_of(model)), sg.from_onnx(model)
    for n in (3, 1, 0) if dag.dims else (3,):
        given = numbers(dag, n)
        try:
            wanted = evaluate(dag, given)
        except ValueError:
            continue  # NumPy refuses these inputs, as for the maximum of no elements.
        for engine, run in runs:
            found = run(None, given)
            for got, want in zip(found, wanted, strict=True):
                assert_equal(got, want, f"{engine}, n={n}")
        try:
            found = evaluate(read.dag, given)
        except ValueError:
            assert n == 0  # NumPy refuses the maximum of no elements; ONNX has one.
            continue
        for got, want in zip(found, wanted, strict=True):
            assert_equal(got, want, f"read again, n={n}")


@engines
@needs_onnx
@pytest.mark.parametrize("op", OURS, ids=lambda op: op.name)
def test_samples_that_export_give_the_numbers_of_the_interpreter(op: Op) -> None:
    with np.errstate(all="ignore"):
        for dag in op_samples(op):
            for each in (dag, gradient_of(dag)):
                if each is None:
                    continue
                try:
                    model = to_onnx(each)
                except BackendError:
                    continue
                assert_runs(each, model)


@engines
@needs_onnx
def test_what_is_refused_is_listed() -> None:
    """`refused.txt` has a line for each operation, with the samples that are refused."""
    told: dict[str, str] = {}
    for op in OURS:
        reasons: list[str] = []
        samples = list(op_samples(op))
        for dag in samples:
            try:
                to_onnx(dag)
            except BackendError as error:
                reasons.append(error.what)
        if reasons:
            told[op.name] = f"{op.name}: {len(reasons)} of {len(samples)}. {sorted(reasons)[0]}"
    assert sorted(told.values()) == HERE.read_text(encoding="utf-8").splitlines()


# -- values that operators of engines treat differently -------------------------------------------
SPECIAL = [np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 7, -7]
SPECIAL += [1e-10, -1e-10, 1e-20, 20, -20, 50, -50, 90, -90, 200, -200, 800, -800, 0.999, 1e30]


def on_special(op: Op, dtype: str) -> tuple[Dag, Mapping[str, Any]] | None:
    count = len(op.vjp) if isinstance(op.vjp, tuple) else 0
    if op.custom or not op.traits.elementwise or count not in (1, 2):
        return None
    values = np.array([*SPECIAL, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    given = dict(zip("xy", [each.ravel() for each in np.meshgrid(*[values] * count)], strict=False))
    operands = {name: sg.input(name, each.shape, dtype) for name, each in given.items()}
    try:
        result = apply(op, *operands.values())
    except (SymgraphError, TypeError):
        return None  # The operation takes no floats.
    return Dag({name: each.node for name, each in operands.items()}, [result.node]), given


@engines
@needs_onnx
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_nan_infinity_and_extremes_of_elementwise_operations(dtype: str) -> None:
    tried = 0
    for op in OURS:
        case = on_special(op, dtype)
        if case is None:
            continue
        dag, given = case
        try:
            model = to_onnx(dag)
        except BackendError:
            continue
        with np.errstate(all="ignore"):
            (want,) = evaluate(dag, given)
            for engine, run in runs_of(model):
                (got,) = run(None, dict(given))
                what = f"{op.name}, {engine}"
                if want.dtype.kind != "f":
                    np.testing.assert_array_equal(got, want, what)
                    continue
                tolerance = 1e-13 if dtype == "float64" else 5e-6
                tiny = 4 * float(np.finfo(dtype).tiny)
                np.testing.assert_allclose(got, want, tolerance, tiny, err_msg=what)
                tried += 1
    assert tried > 80


@engines
@needs_onnx
@pytest.mark.parametrize(
    "function", [np.max, np.min, np.argmax, np.argmin, np.any, np.all, np.sort]
)
def test_nan_in_reductions_and_sorting(function: Any) -> None:
    x = np.array([[1, np.nan, 2, np.nan], [np.inf, 1, np.inf, 0], [-np.inf, -0.0, 0, 1]])
    graph = sg.trace(lambda x: function(x, axis=-1), x="n, 4")
    for engine, run in runs_of(graph.to_onnx()):
        np.testing.assert_array_equal(run(None, {"x": x})[0], function(x, axis=-1), engine)


# -- whole graphs --------------------------------------------------------------------------------
def loss(X: Any, y: Any, W: Any, b: Any) -> Any:
    z = X @ W + b
    return -np.mean(np.sum(y * np.log(snp.softmax(z)), axis=-1)) + 0.1 * np.sum(W**2)


@pytest.fixture(scope="module")
def joint() -> sg.Graph:
    shapes = {"X": "n, 5", "y": "n, 3", "W": "5, 3", "b": "3"}
    return sg.trace(loss, **shapes).gradient("W", "b").simplify()


@engines
@needs_onnx
def test_a_gradient_is_saved_and_run(joint: sg.Graph, tmp_path: Path) -> None:
    path = tmp_path / "g.onnx"
    joint.save(path)
    model = onnx.load(path)
    assert [each.version for each in model.opset_import] == [OPSET]
    assert [each.name for each in model.graph.input] == ["X", "y", "W", "b"]
    assert [each.name for each in model.graph.output] == list(joint.dag.names)
    first = model.graph.input[0].type.tensor_type.shape.dim
    assert (first[0].dim_param, first[1].dim_value) == ("n", 5)
    assert any("test_to_onnx.py:" in node.doc_string for node in model.graph.node)
    rng = np.random.default_rng(0)
    for n in (1, 4):
        given = {"X": rng.normal(size=(n, 5)), "y": np.full((n, 3), 1 / 3)}
        given |= {"W": rng.normal(size=(5, 3)), "b": rng.normal(size=3)}
        wanted = evaluate(joint.dag, given)
        for engine, run in runs_of(model):
            for got, want in zip(run(None, given), wanted, strict=True):
                assert_equal(got, want, engine)


@engines
@needs_onnx
def test_the_example_of_the_documentation() -> None:
    model = sg.trace(lambda x: np.sum(np.exp(x)), x="n").to_onnx()
    kinds = [node.op_type for node in model.graph.node]
    assert kinds == ["Shape", "Exp", "ReduceSum", "Identity"]


@engines
@needs_onnx
def test_arrays_repeated_no_times_have_no_elements() -> None:
    """onnxruntime 1.32 leaves an Expand to no elements out, and a reshape behind it fails."""
    dag = sg.trace(lambda x: np.log1p(np.tile(x, (0, 1))), x="2, 3").dag
    assert_runs(dag, to_onnx(dag))


@engines
@needs_onnx
@pytest.mark.parametrize("cut", [slice(1, None), slice(-2, None), slice(None, -1), slice(0, 5, 2)])
def test_slices_of_named_dimensions(cut: slice) -> None:
    graph = sg.trace(lambda x: x[cut] * 2, x="n, 2")
    for engine, run in runs_of(graph.to_onnx()):
        for n in (0, 1, 2, 7):
            x = np.arange(2.0 * n).reshape(n, 2)
            np.testing.assert_array_equal(run(None, {"x": x})[0], x[cut] * 2, engine)


@engines
@needs_onnx
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_and_their_gradients(seed: int) -> None:
    dtype, rows = ("float64", "float32")[seed % 2], (5, "n", 1)[seed % 3]
    dag = random_dag(seed, dtype=dtype, rows=rows)
    with np.errstate(all="ignore"):
        for each in (dag, gradient_of(dag)):
            if each is None:
                continue
            try:
                model = to_onnx(each)
            except BackendError as error:
                assert "product_of_others" in str(error)  # noqa: PT017
                continue
            assert_runs(each, model)


def block(x: Any, q: Any, k: Any, v: Any, w: Any) -> Any:
    """Attention, layer norm and gelu, on batches whose sizes are names."""
    scores = (x @ q) @ np.swapaxes(x @ k, -1, -2) / 8**0.5
    h = x + snp.softmax(scores, axis=-1) @ (x @ v)
    h = (h - np.mean(h, axis=-1, keepdims=True)) / np.std(h, axis=-1, keepdims=True)
    return np.mean((snp.gelu(h @ w)[:, 1:] - x[:, :-1]) ** 2)


@engines
@needs_onnx
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_transformer_block(dtype: str) -> None:
    shapes = {"x": "b, t, 8", "q": "8, 8", "k": "8, 8", "v": "8, 8", "w": "8, 8"}
    graph = sg.trace(block, **{name: sg.spec(shape, dtype) for name, shape in shapes.items()})
    joint = graph.gradient("q", "w").simplify()
    model = joint.to_onnx()
    rng = np.random.default_rng(0)
    for b, t in ((1, 2), (3, 5)):
        given = {name: rng.normal(size=(8, 8)).astype(dtype) for name in "qkvw"}
        given["x"] = rng.normal(size=(b, t, 8)).astype(dtype)
        wanted = evaluate(joint.dag, given)
        for engine, run in runs_of(model):
            for got, want in zip(run(None, given), wanted, strict=True):
                assert_equal(got, want, engine)


@engines
@needs_onnx
@pytest.mark.parametrize(("function", "base"), [(np.log2, 2), (np.log10, 10)])
def test_logarithms_of_powers_are_whole(function: Any, base: int) -> None:
    graph = sg.trace(lambda x: np.floor(function(x)), x="n")
    x = float(base) ** np.arange(-12, 16)
    for engine, run in runs_of(graph.to_onnx()):
        np.testing.assert_array_equal(run(None, {"x": x})[0], np.arange(-12, 16), engine)


@engines
@needs_onnx
def test_a_transposed_matrix_times_a_vector() -> None:
    """onnxruntime 1.32 fuses the two into one product, in which a vector loses the transpose."""
    graph = sg.trace(lambda A, x: (A.T @ x, x @ A.T, x @ x), A="3, 3", x="3")
    assert_runs(graph.dag, graph.to_onnx())


@engines
@needs_onnx
@pytest.mark.parametrize("dtype", ["int8", "uint16", "uint64", "float16"])
def test_dtypes_that_an_operator_lacks_are_refused(dtype: str) -> None:
    """What is exported passes the checker; `ReduceMax` has no uint16."""
    graph = sg.trace(lambda x: np.max(x, axis=0), x=sg.spec("3", dtype))
    if dtype == "uint16":
        with pytest.raises(BackendError, match=r"max cannot .* takes no uint16"):
            graph.to_onnx()
        return
    model = graph.to_onnx()
    onnx.checker.check_model(model, full_check=True)
    x = np.array([1, 3, 2], dtype)
    assert onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})[0] == 3


@engines
@needs_onnx
def test_inputs_that_disagree_on_a_named_dimension_fail() -> None:
    graph = sg.trace(lambda x, y: x + y, x="n", y="n")
    for _, run in runs_of(graph.to_onnx()):
        given = {"x": np.ones(3), "y": np.ones(3)}
        np.testing.assert_array_equal(run(None, given)[0], [2, 2, 2])
        for size in (1, 2, 4):  # A size of 1 would be broadcast.
            with pytest.raises(Exception, match=r"(?i)ind(ex|ices)|bounds"):
                run(None, {**given, "y": np.ones(size)})


@engines
@needs_onnx
def test_names_of_inputs_and_outputs() -> None:
    x = sg.input("/Exp_0", ("n",))
    dag = Dag({"/Exp_0": x.node}, [np.exp(x).node, x.node], ["/Exp_0", "y"])
    model = to_onnx(dag)
    for _, run in runs_of(model):
        found = run(["/Exp_0_out", "y"], {"/Exp_0": np.zeros(2)})
        np.testing.assert_array_equal(found, [[1, 1], [0, 0]])
    hostile = sg.input("\ud800", ())
    with pytest.raises(BackendError, match="name that ONNX cannot hold"):
        to_onnx(Dag({"\ud800": hostile.node}, [np.exp(hostile).node]))


@engines
@needs_onnx
def test_refusals_name_the_operation_and_the_line() -> None:
    with pytest.raises(BackendError, match=r"(?s)cholesky cannot .* from test_to_onnx.py:\d+"):
        sg.trace(lambda x: np.linalg.cholesky(x), x="3, 3").to_onnx()
    with pytest.raises(BackendError, match="floor_divide cannot"):
        sg.trace(lambda x: x // 2, x=sg.spec("n", "int64")).to_onnx()
    with pytest.raises(BackendError, match=r"power cannot .* int64"):
        sg.trace(lambda x: x**3, x=sg.spec("n", "int64")).to_onnx()
    with pytest.raises(InputError, match=r"Use one of .*\.onnx"):
        sg.trace(np.exp, x="n").save("g.unknown")
