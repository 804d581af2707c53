"""The emitted program: what it may say, what it may write to, what memory it needs."""

from __future__ import annotations

import ast
import gc
import os
import re
import subprocess
import sys
import threading
import traceback
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.backends.conformance import check_dag
from symgraph.backends.lowered import Lowered, lower
from symgraph.backends.random_graphs import random_dag
from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.op import OPS
from symgraph.lowering.floats import FLOAT_NAMES
from symgraph.lowering.functional import functional
from symgraph.lowering.peak import predicted_peak
from symgraph.lowering.program import program_of
from symgraph.ops.creation import input


def dag_of(*outputs: Array, **inputs: Array) -> Dag:
    return Dag({name: x.node for name, x in inputs.items()}, [out.node for out in outputs])


# -- what source may say -------------------------------------------------------------------------
NAMES = re.compile(r"(v|c|d|k|r)\d+|np|xp|special|program|w")
NAMES_OF_FUNCTIONS = re.compile(rf"{NAMES.pattern}|(f|s|y)\d+|t|range")
STATEMENTS = (ast.Assign, ast.Delete, ast.Return)
LOOPS = (ast.For, ast.While, ast.If)
EXPRESSIONS = (
    ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.Subscript, ast.Slice,
    ast.keyword, ast.UnaryOp, ast.USub, ast.Load, ast.Store, ast.Del,
)  # fmt: skip
ARITHMETIC = (ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div)
"""Of NumPy's scalars, and in loops of their counts."""
NAMES_ON_FLOATS = re.compile("|".join([NAMES.pattern, *FLOAT_NAMES]))
_OTHER_FLOATS = r"not \(?(type\(v\d+\) is )+float\)?"
_OTHER_ARRAYS = (
    r"\(?type\(v\d+\) is not ndarray\)? or \(?v\d+\.dtype is not float64\)?"
    r" or \(?v\d+\.shape != \([\d, ]+\)\)?"
)
OTHERS = re.compile(rf"if more( or {_OTHER_FLOATS})?( or {_OTHER_ARRAYS})*:\s+return None")
"""What programs on floats do not take."""
ON_FLOATS = (
    ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.operator, ast.unaryop, ast.cmpop, ast.boolop,
)  # fmt: skip


def assert_closed(source: str) -> None:
    """Only assignments of calls and arithmetic on known names, `del` and one `return`.

    Functions that run loops and choices stand above the program, and are as closed as it is.
    """
    functions = ast.parse(source).body
    (program,) = [each for each in functions if getattr(each, "name", "") == "program"]
    functions.remove(program)
    assert isinstance(program, ast.FunctionDef)
    assert program.name == "program"
    inner = (*STATEMENTS, *LOOPS), (*STATEMENTS, *LOOPS, *EXPRESSIONS, *ARITHMETIC)
    names = NAMES_OF_FUNCTIONS if functions else NAMES
    for function in functions:
        assert isinstance(function, ast.FunctionDef)
        if function.name == "blocked":
            assert_closed_loops(function, names)
            continue
        if function.name == "floats":
            parts = (*STATEMENTS, *EXPRESSIONS, *ON_FLOATS)
            first, *function.body = function.body
            assert OTHERS.fullmatch(ast.unparse(first))
            assert_closed_function(function, STATEMENTS, parts, NAMES_ON_FLOATS)
            continue
        assert re.fullmatch(r"f\d+", function.name)
        assert_closed_function(function, *inner, names)
    assert_closed_loops(program, names)


def assert_closed_loops(function: ast.FunctionDef, names: re.Pattern[str]) -> None:
    """A program: its loops run over the blocks that the workspace holds."""
    statements = (*STATEMENTS, ast.For, ast.Expr)
    for each in ast.walk(function):
        if isinstance(each, ast.For):
            names = re.compile(rf"{names.pattern}|rows|t\d+")
            assert re.fullmatch(r"w\[\d+\]", ast.unparse(each.iter))
        if isinstance(each, ast.Expr):
            assert re.match(r"np\.(add|maximum|minimum|copyto)\(", ast.unparse(each))
    assert_closed_function(function, statements, (*statements, *EXPRESSIONS, *ARITHMETIC), names)


def assert_closed_function(
    function: ast.FunctionDef, statements: Any, parts: Any, names: re.Pattern[str]
) -> None:
    assert all(NAMES.fullmatch(argument.arg) for argument in function.args.args)
    assert all(isinstance(statement, statements) for statement in function.body)
    for statement in function.body:
        for part in ast.walk(statement):
            assert isinstance(part, parts), ast.dump(part)
            if isinstance(part, ast.Name):
                assert names.fullmatch(part.id), part.id
            if isinstance(part, ast.Attribute):
                assert re.fullmatch(r"[A-Za-z][a-z0-9_]*", part.attr), part.attr
            if isinstance(part, ast.Constant):
                assert not isinstance(part.value, str) or re.fullmatch(r"[\w,>. -]*", part.value)


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_source_of_every_operation_is_closed(op: Any) -> None:
    for dag in op_samples(op):
        assert_closed(lower(dag).source)


@pytest.mark.parametrize("seed", range(10))
def test_source_of_random_graphs_is_closed(seed: int) -> None:
    assert_closed(lower(random_dag(seed, rows="n")).source)


HOSTILE = [
    "class", "__class__", "np", "v0", "a b", "x\nimport os", "x\u2028y", "\u202etxt", "\x00",
    "k" * 9999, 'x"; y', "'''", "ﬁ",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_users_stand_in_comments_only(name: str) -> None:
    x = input(name, (3,))
    lowered = lower(dag_of(x + 1, **{name: x}))
    assert_closed(lowered.source)
    np.testing.assert_array_equal(lowered(**{name: np.zeros(3)}), np.ones(3))
    scope: dict[str, Any] = {}
    exec(functional(lowered.dag), scope)
    np.testing.assert_array_equal(scope["function"](np, **{name: np.zeros(3)}), np.ones(3))


def test_source_reads_like_numpy() -> None:
    x, w = input("x", "n, 4"), input("w", "4, 2")
    source = lower(dag_of(snp.sum(snp.exp(x @ w), axis=-1), x=x, w=w)).source
    code = [line.partition("  #")[0].rstrip() for line in source.splitlines()]
    assert code[3:] == [
        "# w: the workspace, kept between calls; places: 1",
        "def program(v0, v1, d0, w):",
        "    v2 = np.matmul(v0, v1, w[0])",
        "    v3 = np.exp(v2, v2)",
        "    v4 = xp.row_sums(v3)",
        "    return (v4,)",
        "",
        "",
        "# The same in blocks of rows that fit the cache: called for large arrays.",
        "def blocked(v0, v1, d0, w):",
        "    v2 = np.matmul(v0, v1, w[0])",
        "    v4 = np.empty((d0,), np.float64)",
        "    for rows, t0 in w[1]:",
        "        v5 = v2[rows]",
        "        v3 = np.exp(v5, t0); del v5",
        "        v6 = xp.row_sums(v3, out=v4[rows]); del v6",
        "    return (v4,)",
    ]
    assert "test_lowering.py" in source


@pytest.mark.whole
def test_source_does_not_depend_on_hash_seeds() -> None:
    script = (
        "from symgraph.backends.random_graphs import random_dag; import symgraph.numpy;"
        "from symgraph.backends.lowered import lower;"
        "print(lower(random_dag(3, rows='n')).source)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert "def program" in printed.pop()


# -- values --------------------------------------------------------------------------------------
@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rows", [5, "n"])
@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_to_the_last_bit(seed: int, rows: int | str, dtype: str) -> None:
    dag = random_dag(seed, size=40, dtype=dtype, rows=rows)
    check_dag(dag, "numpy", exact=True, floats=False)  # math's exp may be the float next to NumPy's
    check_dag(dag, "numpy")


@pytest.mark.fuzz
@pytest.mark.parametrize("batch", range(20))
def test_many_random_graphs_to_the_last_bit(batch: int) -> None:
    for seed in range(100 + 200 * batch, 300 + 200 * batch):
        dag = random_dag(seed, size=60, rows=("n", 3)[seed % 2])
        check_dag(dag, "numpy", exact=True, floats=False)


@pytest.mark.parametrize("seed", range(10))
def test_functional_source_gives_the_interpreters_bits(seed: int) -> None:
    dag = random_dag(seed, rows="n")
    rng = np.random.default_rng(seed)
    given = {name: rng.normal(size=(4,) * node.ndim) for name, node in dag.inputs.items()}
    scope: dict[str, Any] = {}
    exec(functional(dag), scope)
    with np.errstate(all="ignore"):
        results = scope["function"](np, **given)
    for got, want in zip(results, evaluate(dag, given), strict=True):
        np.testing.assert_array_equal(got, want)


def test_constants_in_functional_source_are_exact() -> None:
    values = np.array([0.1, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308])
    x = input("x", (7,), "float64")
    scope: dict[str, Any] = {}
    exec(functional(dag_of(x * values, x=x)), scope)
    got = scope["function"](np, x=np.ones(7))
    assert got.view("u8").tolist() == values.view("u8").tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.asfortranarray(a),
        lambda a: a[::-1, ::-1],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.repeat(a, 2, axis=0)[::2],
    ],
    ids=["fortran", "reversed", "broadcast", "strided"],
)
def test_layouts_and_read_only_inputs(change: Callable[[Any], Any]) -> None:
    dag = random_dag(4, size=40)
    rng = np.random.default_rng(0)
    given = {
        name: change(rng.normal(size=tuple(map(int, node.shape)))) if node.ndim == 2
        else rng.normal(size=tuple(map(int, node.shape)))
        for name, node in dag.inputs.items()
    }  # fmt: skip
    for array in given.values():
        array = np.asarray(array)
        array.flags.writeable = False
    for got, want in zip(lower(dag)(**given), evaluate(dag, given), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


def test_warnings_stay_off_whatever_the_caller_asks() -> None:
    x = input("x", (3,))
    program = lower(dag_of(1 / x + snp.log(x), x=x))
    with np.errstate(all="raise"):
        result = program(x=np.zeros(3))
        assert np.geterr()["divide"] == "raise"
    assert np.isnan(result).all()


# -- memory is nobody else's ---------------------------------------------------------------------
def views(x: Array) -> list[Array]:
    return [
        x, x.T, x[1:], snp.reshape(x, (-1,)), snp.broadcast_to(x, (2, 3, 4)), snp.exp(x).T,
        snp.stop_gradient(x), x, snp.sum(x), snp.broadcast_to(snp.sum(x), (3, 4)),
    ]  # fmt: skip


def test_results_share_memory_with_nothing() -> None:
    x = input("x", (3, 4))
    constant = sg.constant(np.ones((3, 4)))
    doubled = x + x
    several = [doubled, doubled.T, doubled, snp.reshape(doubled, (4, 3))]
    program = lower(dag_of(*views(x), *views(constant), *several, x=x))
    given = np.arange(12.0).reshape(3, 4)
    first = program(x=given)
    for i, one in enumerate(first):
        assert type(one) is np.ndarray
        assert not np.shares_memory(one, given)
        for other in first[i + 1 :]:
            assert not np.shares_memory(one, other)
    kept = [np.array(each) for each in first]
    for each in first:
        each[...] = -1.0  # The caller may write to what it gets.
    for again, want in zip(program(x=given), kept, strict=True):
        np.testing.assert_array_equal(again, want)
    np.testing.assert_array_equal(given, np.arange(12.0).reshape(3, 4))


def test_one_array_for_two_inputs() -> None:
    x, y = input("x", (4,)), input("y", (4,))
    program = lower(dag_of(snp.exp(x) * y + x, x=x, y=y))
    same = np.linspace(0, 1, 4)
    np.testing.assert_array_equal(program(x=same, y=same), np.exp(same) * same + same)


def test_a_kernel_that_gives_back_its_operand_is_not_written_into() -> None:
    from symgraph.ir.op import Op

    def kernel(xp: Any, x: Any) -> Any:
        return x[:] if isinstance(x, np.ndarray) else np.asarray(x)  # Names cannot be noted here.

    sly = Op("sly", infer=lambda x: x, kernel=kernel)
    from symgraph.array import apply

    x = input("x", (3,))
    program = lower(dag_of(snp.exp(apply(sly, x)), apply(sly, x), x=x))
    given = np.ones(3)
    result, copied = program(x=given)
    np.testing.assert_array_equal(given, np.ones(3))
    np.testing.assert_array_equal(result, np.exp(given))
    assert not np.shares_memory(copied, given)


def test_eight_threads() -> None:
    program = lower(random_dag(11, size=60, rows="n"))
    rng = np.random.default_rng(0)
    cases: list[Any] = []
    for n in range(1, 9):
        shapes = {name: [n if dim != 4 else 4 for dim in node.shape]
                  for name, node in program.dag.inputs.items()}  # fmt: skip
        given = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        cases.append((given, evaluate(program.dag, given)))
    wrong: list[int] = []

    def work(number: int) -> None:
        given, wanted = cases[number]
        for _ in range(50):
            for got, want in zip(program(**given), wanted, strict=True):
                if not np.array_equal(got, want, equal_nan=True):
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- large and wide ------------------------------------------------------------------------------
@pytest.mark.whole
def test_chain_of_a_hundred_thousand_nodes() -> None:
    x = input("x", (3,))
    y = x
    for i in range(50_000):
        y = snp.sin(y) if i % 2 else snp.cos(y) * x
    program = lower(dag_of(y, x=x))
    given = np.array([0.1, 0.5, 0.9])
    np.testing.assert_array_equal(program(x=given), evaluate(program.dag, {"x": given})[0])


def test_more_inputs_and_outputs_than_a_byte_counts() -> None:
    inputs = {f"x{i}": input(f"x{i}", (2,)) for i in range(400)}
    total = snp.concatenate(list(inputs.values()))
    program = lower(dag_of(total, *[x * 2 for x in inputs.values()], **inputs))
    given = {name: np.full(2, float(i)) for i, name in enumerate(inputs)}
    results = program(**given)
    assert results[0][-1] == 399
    assert [result[0] for result in results[1:]] == [2.0 * i for i in range(400)]


# -- errors --------------------------------------------------------------------------------------
def test_errors_show_the_generated_line_and_the_users() -> None:
    x, i = input("x", (4,)), input("i", (2,), "int64")
    program = lower(dag_of(snp.take(x, i, axis=0) * 2, x=x, i=i))  # the user's line
    with pytest.raises(IndexError) as caught:
        program(x=np.zeros(4), i=np.array([0, 9]))
    assert any("the user's line" in note for note in caught.value.__notes__)
    shown = "".join(traceback.format_exception(caught.value))
    assert "<symgraph" in shown
    assert "v2 = v0[" in shown


# -- memory --------------------------------------------------------------------------------------
def measured_peak(program: Lowered, given: dict[str, Any]) -> int:
    program(**given)
    program.release()
    gc.collect()
    tracemalloc.start()
    try:
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = program(**given)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del result
    return peak - start


def network(layers: int) -> tuple[Array, dict[str, Array]]:
    inputs = {"x": input("x", "n, 64")}
    h = inputs["x"]
    for layer in range(layers):
        name = f"w{layer}"
        inputs[name] = input(name, "64, 64")
        h = snp.tanh(h @ inputs[name])
    return snp.sum(h * h), inputs


def gradient_of_a_network() -> Dag:
    from symgraph.autodiff.reverse import gradients

    loss, inputs = network(6)
    targets = [x for name, x in inputs.items() if name != "x"]
    found = [gradient for gradient in gradients(loss, targets) if gradient is not None]
    return dag_of(loss, *found, **inputs)


def softmax_loss() -> Dag:
    z, p = input("z", "n, 64"), input("p", "n, 64")
    q = snp.exp(z) / snp.sum(snp.exp(z), axis=-1, keepdims=True)
    return dag_of(q - p, -snp.sum(p * snp.log(q)), snp.softmax(z), z=z, p=p)


def moved() -> Dag:
    x = input("x", "n, 64")
    y = snp.exp(x)
    flat = snp.reshape(y.T, (-1,))  # a copy
    same = snp.reshape(y * 2, (-1, 32))  # a view
    return dag_of(flat * 2, same + 1, y[::2] + 1, snp.sum(y, axis=0, keepdims=True) * y, x=x)


def gathered() -> Dag:
    x, i = input("x", "n, 64"), input("i", "n", "int64")
    rows = snp.take(snp.exp(x), i, axis=0)
    best = snp.max(rows, axis=-1, keepdims=True)
    return dag_of(snp.where(rows > best / 2, rows, 0.0), snp.concatenate([rows, x]), x=x, i=i)


def random_graph() -> Dag:
    return random_dag(2, 60, "float64", "n")


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize(
    ("make", "n"),
    [
        (gradient_of_a_network, 2048),
        (softmax_loss, 1024),
        (moved, 2048),
        (gathered, 2048),
        (random_graph, 16384),
    ],
)
def test_predicted_peak_is_what_a_run_needs(make: Callable[[], Dag], n: int) -> None:
    dag = make()
    rng = np.random.default_rng(0)
    given = {
        name: rng.integers(0, n, (n,))
        if node.dtype.kind == "i"
        else rng.uniform(0.1, 0.2, [n if not isinstance(dim, int) else dim for dim in node.shape])
        for name, node in dag.inputs.items()
    }
    predicted = predicted_peak(program_of(dag), {"n": n})
    assert measured_peak(lower(dag), given) == pytest.approx(predicted, rel=0.05)


def test_taking_over_a_buffer_lowers_the_peak() -> None:
    x = input("x", (1000,))
    y = x * 2
    for _ in range(10):
        y = snp.sin(y) + x
    dag = dag_of(y, x=x)
    assert predicted_peak(program_of(dag)) == 8000


def test_values_are_released_where_they_are_read_last() -> None:
    x = input("x", (100, 10))
    chain = x
    for _ in range(20):
        chain = chain @ np.ones((10, 10))  # Its result cannot be written over an operand.
    assert predicted_peak(program_of(dag_of(chain, x=x))) == 2 * 8000


def test_calls_that_two_kernels_have_in_common_are_made_once() -> None:
    z = input("z", "n, 5")
    dag = dag_of(snp.softmax(z), snp.log_softmax(z), z=z)
    for source in (*lower(dag).source.split("def blocked"), functional(dag)):
        assert source.count("np.exp(") == 1
    given = np.array([[1e4, 0, 1, 2, 3], [-np.inf] * 5])
    for got, want in zip(lower(dag)(z=given), evaluate(dag, {"z": given}), strict=True):
        np.testing.assert_array_equal(got, want)


def test_sharing_costs_no_memory_and_leaves_plans_alone() -> None:
    z = input("z", "n, 5")
    far = snp.softmax(z)
    for _ in range(5):
        far = snp.exp(far @ np.ones((5, 5)))
    dag = dag_of(far * snp.log_softmax(z), z=z)
    planned = Dag(dag.inputs, dag.outputs)
    planned.schedule = tuple(dag.nodes)
    apart, shared = [
        predicted_peak(program_of(each, dag.nodes), {"n": 10**5}) for each in (planned, dag)
    ]
    assert shared <= apart
    assert lower(planned).source.count("np.isfinite(") == 2


def product(*shapes: Any, dtype: str = "float64") -> Any:
    x, y = [input(name, shape, dtype) for name, shape in zip("xy", shapes, strict=True)]
    return lower(dag_of(x @ y, x=x, y=y))


@pytest.mark.parametrize("shapes", [((5, 3), (3,)), ((3,), (3, 4)), ((5, 3), (3, 4))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_products_are_methods(shapes: Any, dtype: str) -> None:
    f = product(*shapes, dtype=dtype)
    assert ".dot(" in f.source
    rng = np.random.default_rng(0)
    x, y = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    assert f(x, y).tobytes() == np.matmul(x, y).tobytes()
    for view in (np.asfortranarray(x), x[::-1], np.repeat(x, 2, axis=-1)[..., ::2]):
        np.testing.assert_allclose(f(view, y), np.matmul(view, y), 1e-5)


@pytest.mark.parametrize(
    "shapes",
    [((5, 1), (1,)), ((1,), (1, 4)), ((1, 3), (3,)), ((2, 5, 3), (3,)), ((2, 5, 3), (3, 4))],
)
def test_numbers_and_stacks_stay_with_matmul(shapes: Any) -> None:
    """To `dot` an array of one element is a number, and zero times infinity is zero."""
    f = product(*shapes)
    assert ".dot(" not in f.source
    x, y = [np.full(shape, value) for shape, value in zip(shapes, (np.inf, 0.0), strict=True)]
    assert np.isnan(f(x, y)).all()


def test_products_of_named_sizes_and_integers_stay_with_matmul() -> None:
    assert ".dot(" not in product("n, 3", (3,)).source
    assert ".dot(" not in product((5, 3), (3,), dtype="int64").source
    assert ".dot(" not in product((500, 300), (300,)).source


@pytest.mark.parametrize("part", [np.s_[:, ::2], np.s_[::-1], np.s_[1:4]])
def test_products_of_parts_stay_with_matmul(part: Any) -> None:
    """Where `matmul` calls no BLAS, `dot` would: other bits than the interpreter's."""
    x, y = input("x", (6, 6)), input("y", (6,))
    z = x[part]
    f = lower(dag_of(z @ y[: z.shape[1]], x=x, y=y))
    assert "np.matmul(" in f.source
    assert ".dot(" not in f.source
    assert ".dot(" in lower(dag_of(snp.exp(x).T @ y, x=x, y=y)).source
