"""Graphs as StableHLO: XLA compiles each text, and its values are compared with the graph's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgraph as sg
from symgraph.backends.conformance import numbers_for
from symgraph.backends.samples import op_samples
from symgraph.errors import BackendError, InputError
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS

jax = pytest.importorskip("jax", reason="the jax extra is not installed")
from symgraph.backends.jax import enable_x64  # noqa: E402  # it needs jax

X = np.linspace(-1.0, 2.0, 6).reshape(3, 2)


def executed(text: str, *arrays: Any) -> list[np.ndarray[Any, Any]]:
    """The results of a program, parsed and compiled by jaxlib."""
    from jaxlib.xla_client import CompileOptions

    client = jax.devices()[0].client
    program = client.compile_and_load(text.encode(), client.devices()[:1], CompileOptions())
    with enable_x64(True):
        placed = [jax.device_put(each) for each in arrays]
    found = program.execute_sharded(placed).disassemble_into_single_device_arrays()
    return [np.asarray(each[0]) for each in found]


def loss(x: Any, y: Any, w: Any) -> Any:
    z = x @ w
    return np.mean((np.tanh(z) - y) ** 2) + np.sum(w**2)


@pytest.fixture(scope="module")
def joint() -> sg.Graph:
    return sg.trace(loss, x="n, 2", y="n", w="2").gradient("w").simplify()


def test_a_gradient_is_compiled_from_its_text(joint: sg.Graph) -> None:
    text = joint.to_stablehlo(n=3)
    assert "@main(%x: tensor<3x2xf64>, %y: tensor<3xf64>, %w: tensor<2xf64>)" in text
    assert "custom_call" not in text
    y, w = np.ones(3), np.array([0.3, -0.7])
    for ours, wanted in zip(executed(text, X, y, w), joint.lower()(X, y, w), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_loops_and_branches_are_compiled_too() -> None:
    def f(c: Any, xs: Any) -> Any:
        last, steps = sg.scan(lambda c, x: (np.tanh(c * x), c + x), c, xs)
        return sg.cond(np.sum(last) > 0, np.exp, np.negative, last), steps

    graph = sg.trace(f, c="2", xs="4, 2")
    c, xs = np.array([0.4, 0.1]), np.linspace(-1, 1, 8).reshape(4, 2)
    found = executed(graph.to_stablehlo(), c, xs)
    for ours, wanted in zip(found, graph.lower()(c, xs), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


def test_single_precision_stays_single_and_inputs_without_use_stay_arguments() -> None:
    x, y = sg.input("x", (2,), "float32"), sg.input("y", (3,))
    graph = sg.graph(np.exp(x), inputs=[x, y])
    text = graph.to_stablehlo()
    assert "(%x: tensor<2xf32>, %y: tensor<3xf64>)" in text
    (found,) = executed(text, np.ones(2, "float32"), np.ones(3))
    assert found.dtype == np.float32


def test_names_that_mlir_does_not_take_are_told_in_a_comment() -> None:
    x, other = sg.input("params.w", (2,)), sg.input("params_w", (2,))
    graph = sg.graph(x - other, inputs=[x, other])
    text = graph.to_stablehlo()
    assert text.startswith("// %params_w_ is the input 'params.w'\n")
    assert "@main(%params_w_: tensor<2xf64>, %params_w: tensor<2xf64>)" in text
    (found,) = executed(text, np.array([3.0, 5.0]), np.ones(2))
    np.testing.assert_array_equal(found, [2, 4])


def test_it_is_saved(tmp_path: Path, joint: sg.Graph) -> None:
    graph = sg.trace(np.exp, x="2")
    graph.save(tmp_path / "g.mlir")
    (found,) = executed((tmp_path / "g.mlir").read_text(), np.zeros(2))
    np.testing.assert_array_equal(found, [1, 1])
    with pytest.raises(InputError, match="'n' is not known"):
        joint.save(tmp_path / "h.mlir")


def test_sizes_are_asked_for_by_name(joint: sg.Graph) -> None:
    with pytest.raises(InputError, match=r"to_stablehlo\(n=128\)"):
        joint.to_stablehlo()
    with pytest.raises(InputError, match="no dimension 'm'"):
        joint.to_stablehlo(n=3, m=2)
    with pytest.raises(InputError, match=r"is -1"):
        joint.to_stablehlo(n=-1)


@pytest.mark.parametrize(
    ("function", "op", "lacking"),
    [
        (lambda x: np.linalg.qr(x)[1], "qr", "Qr"),
        (lambda x: sg.cond(np.sum(x) > 0, np.linalg.inv, np.negative, x), "cond", "LuDecomp"),
        (lambda x: special.j0(x), "j0", "SciPy's on the host"),
    ],
)
def test_what_has_no_counterpart_is_named_with_the_users_line(
    function: Any, op: str, lacking: str
) -> None:
    with pytest.raises(BackendError, match=f"{op} has no counterpart.*{lacking}") as told:
        sg.trace(function, x="3, 3").to_stablehlo()
    assert "test_stablehlo.py" in str(told.value)


def test_a_missing_jax_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "import numpy as np, symgraph as sg\n"
        "sg.trace(np.exp, x='2').to_stablehlo()"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "symgraph[jax]"' in found.stderr


@pytest.mark.oracle
@pytest.mark.timeout(1200)
def test_samples_of_all_operations_give_the_interpreters_values_or_are_refused() -> None:
    count, refused = 0, dict[str, BackendError]()
    for op in [each for each in OPS.values() if not each.custom]:
        for dag in op_samples(op):
            sizes = dict.fromkeys(dag.dims, 3)
            rng = np.random.default_rng(0)
            given = {name: numbers_for(node, rng, 3) for name, node in dag.inputs.items()}
            try:
                wanted = evaluate(dag, given, sizes)
            except ValueError:
                continue  # NumPy refuses these numbers
            try:
                text = sg.Graph(dag).to_stablehlo(**sizes)
            except BackendError as error:
                refused[op.name] = error
                continue
            for ours, theirs in zip(
                executed(text, *[given[name] for name in dag.inputs]), wanted, strict=True
            ):
                assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), op.name
                near = 1e-8 if theirs.dtype == np.float64 else 2e-2
                np.testing.assert_allclose(ours, theirs, rtol=near, atol=near, err_msg=op.name)
            count += 1
    assert count > 1900
    assert [name for name, error in refused.items() if name not in str(error)] == []
    assert not {"exp", "matmul", "cholesky", "scan"} & set(refused)
