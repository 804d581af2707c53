"""Bad input: each mistake is one clear error with the user's line and a way out, and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.errors import (
    BackendError,
    DTypeError,
    FactError,
    InputError,
    NotDifferentiable,
    ShapeError,
    SymgraphError,
    TraceError,
    VerifyError,
)
from symgraph.ir.dag import Dag
from symgraph.ir.node import Node
from symgraph.ops.creation import ones

X = np.arange(6.0).reshape(2, 3) / 7
ROWS = np.array([0, 1])


def healthy() -> tuple[sg.Graph, dict[str, Array]]:
    """A graph in use, and its inputs: mistakes are made with these."""
    arrays = {
        "x": sg.input("x", (2, 3)),
        "s": sg.input("s", ()),
        "w": sg.input("w", (4, 5)),
        "i": sg.input("i", (2,), "int64"),
        "u": sg.input("u", (3,), "uint8"),
        "f": sg.input("f", (2, 3), "float32"),
        "b": sg.input("b", ("n", 3)),
        "c": sg.input("c", ("m", 3)),
    }
    loss = np.sum(np.tanh(arrays["x"]) ** 2) + np.sum(arrays["x"][arrays["i"]])
    return sg.graph(loss, inputs=[arrays["x"], arrays["i"]]), arrays


@dataclass(frozen=True)
class Mistake:
    """What a user does wrong, and what the error must say."""

    call: Callable[[Any], Any]
    error: type[SymgraphError]
    words: tuple[str, ...]
    id: str

    @property
    def line(self) -> int:
        return self.call.__code__.co_firstlineno


MISTAKES: list[Any] = []


def mistake(
    name: str, error: type[SymgraphError], *words: str
) -> Callable[[Callable[..., Any]], None]:
    """Enter a mistake in the table; the function's first line is the user's line."""

    def enter(call: Callable[[Any], Any]) -> None:
        MISTAKES.append(pytest.param(Mistake(call, error, words, name), id=name))

    return enter


# Each mistake stands on one line, which the message must name, so some lines are long.
# ruff: noqa: E501
# fmt: off
mistake("shapes that do not broadcast", ShapeError, "[2, 3]", "[4, 5]")(lambda a: a.x + a.w)
mistake("inner dimensions differ", ShapeError, "matmul", "3", "4")(lambda a: a.x @ a.w)
mistake("matmul with a scalar", ShapeError, "matmul")(lambda a: a.x @ a.s)
mistake("reshape to another count", ShapeError, "reshape")(lambda a: np.reshape(a.x, (4, 2)))
mistake("reshape with two unknowns", ShapeError, "-1")(lambda a: np.reshape(a.x, (-1, -1)))
mistake("axis out of range in sum", ShapeError, "axis 2", "2 dimensions")(lambda a: np.sum(a.x, axis=2))
mistake("axis out of range in softmax", ShapeError, "axis 5")(lambda a: snp.softmax(a.x, axis=5))
mistake("axis named twice", ShapeError, "twice")(lambda a: np.sum(a.x, axis=(0, -2)))
mistake("axis that is no integer", ShapeError, "axis")(lambda a: np.sum(a.x, axis=1.0))
mistake("axis out of range in concatenate", ShapeError, "axis")(lambda a: np.concatenate([a.x, a.x], axis=3))
mistake("concatenate of unequal shapes", ShapeError, "concatenate")(lambda a: np.concatenate([a.x, a.w], axis=0))
mistake("stack of unequal shapes", ShapeError, "stack")(lambda a: np.stack([a.x, a.w]))
mistake("broadcast to a shape that does not fit", ShapeError, "broadcast_to")(lambda a: np.broadcast_to(a.x, (2, 4)))
mistake("transpose of the wrong rank", ShapeError, "transpose")(lambda a: np.transpose(a.x, (0, 1, 2)))
mistake("squeeze of a long axis", ShapeError, "squeeze")(lambda a: np.squeeze(a.x, axis=0))
mistake("einsum of the wrong rank", ShapeError, "einsum")(lambda a: np.einsum("ijk->i", a.x))
mistake("einsum with unequal sizes", ShapeError, "einsum")(lambda a: np.einsum("ij,jk->ik", a.x, a.w))
mistake("index out of bounds", ShapeError, "5")(lambda a: a.x[5])
mistake("too many indices", ShapeError, "indices")(lambda a: a.x[0, 1, 2])
mistake("trace of a vector", ShapeError, "matrix")(lambda a: np.trace(a.i * 1.0))
mistake("named dimensions that differ", ShapeError, "n", "m")(lambda a: a.b + a.c)
mistake("index that is a float", SymgraphError, "ind")(lambda a: a.x[1.5])
mistake("gather with floats", DTypeError, "int")(lambda a: np.take(a.x, a.s, axis=0))
mistake("if x:", TraceError, "np.where")(lambda a: bool(a.s > 0))
mistake("a and b", TraceError, "np.where")(lambda a: a.s and a.x)
mistake("a chain of comparisons", TraceError, "np.where")(lambda a: 0 < a.s < 1)
mistake("float(x)", TraceError, "float()")(lambda a: float(a.s))
mistake("int(x)", TraceError, "int()")(lambda a: int(a.s))
mistake("round to an index", TraceError, "index")(lambda a: [1, 2, 3][a.s])
mistake("math.sin(x)", TraceError, "numpy")(lambda a: math.sin(a.s))
mistake("np.asarray(x)", TraceError, "NumPy array")(lambda a: np.asarray(a.x))
mistake("np.array([x, x])", TraceError, "NumPy array")(lambda a: np.array([a.x, a.x]))
mistake("x[0] = 1", TraceError, "np.where")(lambda a: a.x.__setitem__(0, 1.0))
mistake("x in y", TraceError, "np.any")(lambda a: 1.0 in a.x)
mistake("len of a scalar", TraceError, "length")(lambda a: len(a.s))
mistake("len of a named dimension", TraceError, "n")(lambda a: len(a.b))
mistake("iteration over a scalar", TraceError, "0-d")(lambda a: list(a.s))
mistake("out=", TraceError, "in place")(lambda a: np.add(a.x, 1.0, out=np.zeros((2, 3))))
mistake("np.sum with out=", TraceError, "out")(lambda a: np.sum(a.x, out=np.zeros(())))
mistake("a function that is not traced", TraceError, "hfft")(lambda a: np.fft.hfft(a.x))
mistake("a ufunc that is not traced", TraceError, "isnat")(lambda a: np.isnat(a.x))
mistake("a ufunc's method that is not traced", TraceError, "add.at")(lambda a: np.add.at(a.x, 0, 1.0))
mistake("an int that does not fit", DTypeError, "300", "uint8")(lambda a: a.u + 300)
mistake("a negative int for unsigned", DTypeError, "-1", "uint8")(lambda a: a.u * -1)
mistake("a complex number rounded", TraceError, "np.floor")(lambda a: np.floor(a.x * 1j))
mistake("a complex array in order", TraceError, "np.less")(lambda a: a.x + np.ones(3, complex) < 1)
mistake("an array of objects", DTypeError, "object")(lambda a: a.x + np.array([None, 1, 2], dtype=object))
mistake("an array of strings", DTypeError, "U")(lambda a: a.x + np.array(["a", "b", "c"]))
mistake("an array of dates", DTypeError, "datetime64")(lambda a: a.x + np.zeros(3, "datetime64[s]"))
mistake("an array of long doubles", DTypeError, "longdouble", "float")(lambda a: a.x + np.ones(3, np.longdouble))
mistake("a string as operand", SymgraphError, "'3'")(lambda a: np.add(a.x, "3"))
mistake("None as operand", SymgraphError, "None")(lambda a: np.multiply(a.x, None))
mistake("cast from complex", TraceError, "z.real")(lambda a: a.x.astype(complex).astype(float))
mistake("cast to nonsense", DTypeError, "floatt")(lambda a: a.x.astype("floatt"))
mistake("bits of a float", DTypeError, "float64")(lambda a: a.x & a.x)
mistake("shift by a float", DTypeError, "float64")(lambda a: a.i << a.s)
# fmt: on


class Names:
    """Inputs as attributes, so that a mistake reads like a user's line."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.__dict__.update(arrays)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("wrong", MISTAKES)
def test_mistake_while_tracing(wrong: Mistake) -> None:
    graph, arrays = healthy()
    before = (graph.dag.nodes, str(graph), graph.evaluate(x=X, i=ROWS).tobytes())
    with pytest.raises(wrong.error) as caught:
        wrong.call(Names(arrays))
    text = str(caught.value)
    for word in wrong.words:
        assert word in text
    assert f"test_bad_input.py:{wrong.line}" in text, text
    assert caught.value.mend or len(text.split()) > 8, f"no way out: {text}"
    assert caught.value.__suppress_context__ or caught.value.__cause__ is None
    assert (graph.dag.nodes, str(graph), graph.evaluate(x=X, i=ROWS).tobytes()) == before


# -- arguments that are no arrays ------------------------------------------------------------------
def test_none_and_lists_are_told_apart_from_arrays() -> None:
    slope = sg.grad(lambda x, y=1.0: np.sum(x**2) * y)
    with pytest.raises(InputError, match="'x' is a list, and no array") as told:
        slope([1.0, 2.0])
    assert "np.array()" in str(told.value)
    assert isinstance(told.value.__cause__, TypeError)
    with pytest.raises(InputError, match="'y' is None, and no array"):
        slope(np.ones(3), None)
    assert sg.grad(lambda x: x[0] * x[1])([2.0, 3.0]) == [3.0, 2.0]


class Float32:
    def __repr__(self) -> str:
        return "torch.float32"


class Tensor:
    """What a tensor of PyTorch's shows of itself."""

    __module__ = "torch"
    shape = (3,)
    dtype = Float32()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def test_a_tensor_of_another_library_is_refused_with_the_way_out() -> None:
    for call in (
        lambda: sg.grad(np.sum)(Tensor()),
        lambda: sg.grad(lambda x: np.sum(x["a"]))({"a": Tensor()}),
        lambda: sg.jvp(np.sin)(np.ones(3), tangent=Tensor()),
    ):
        with pytest.raises(
            InputError, match=r"is a torch\.Tensor, and its dtype torch.float32"
        ) as told:
            call()
        assert "t.detach().numpy()" in str(told.value)
    with pytest.raises(InputError, match="Input 'x' is not an array of numbers: Can't call numpy"):
        sg.trace(np.sin, x=(3,)).lower()(Tensor())


def test_libraries_that_call_numpy_for_the_user_are_passed_over() -> None:
    space: dict[str, Any] = {"__name__": "pandas.core.series", "np": np}
    exec(compile("def series(x):\n    return np.fft.hfft(x)", "series.py", "exec"), space)
    with pytest.raises(TraceError) as told:
        sg.trace(lambda x: space["series"](x), x=(3,))
    assert "test_bad_input.py" in str(told.value)
    assert "series.py" not in str(told.value)


# -- describing inputs ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("describe", "error", "words"),
    [
        (lambda: sg.input("x", (2, -3)), ShapeError, ("-3",)),
        (lambda: sg.input("x", "2, three words"), ShapeError, ("three words",)),
        (lambda: sg.input("x", (2.5,)), ShapeError, ("2.5",)),
        (lambda: sg.input("", (2,)), InputError, ("nonempty",)),
        (lambda: sg.input(3, (2,)), InputError, ("3",)),  # pyright: ignore[reportArgumentType]
        (lambda: sg.input("x", (2,), "complex128"), DTypeError, ("complex128",)),
        (lambda: sg.input("x", (2,), object), DTypeError, ("object",)),
        (lambda: sg.input("x", (2,), "U5"), DTypeError, ("U5",)),
        (lambda: sg.input("x", (2,), "datetime64[s]"), DTypeError, ("datetime64",)),
        (lambda: sg.input("x", (2,), "no dtype"), DTypeError, ("no dtype",)),
        (lambda: sg.input("x", (2,), assume=sg.simplex(axis=3)), FactError, ("simplex(3)",)),
        (lambda: sg.input("x", (2, 3), assume=sg.symmetric), FactError, ("symmetric", "square")),
        (lambda: sg.interval(2, 1), FactError, ("empty",)),
        (
            lambda: sg.input("x", (), assume=(sg.positive, sg.interval(-3, -1))),
            FactError,
            ("positive",),
        ),
        (lambda: sg.trace(lambda x, y: x * y, x="3"), InputError, ("y",)),
        (lambda: sg.trace(lambda x: x, x="3", z="3"), InputError, ("z",)),
        (lambda: sg.trace(lambda x: x, x=None), InputError, ("'x'", "None")),
        (lambda: sg.trace(lambda x: "text", x="3"), TraceError, ("text",)),
        (lambda: sg.trace(lambda x: None, x="3"), TraceError, ("None",)),
        (lambda: sg.trace(lambda x: (), x="3"), InputError, ("output",)),
    ],
)
@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
def test_mistake_in_a_description(
    describe: Callable[[], Any], error: type[SymgraphError], words: tuple[str, ...]
) -> None:
    with pytest.raises(error) as caught:
        describe()
    for word in words:
        assert word in str(caught.value)


def test_an_unused_input_is_said_and_kept() -> None:
    with pytest.warns(sg.UnusedInputWarning, match="'y' is not used"):
        graph = sg.trace(lambda x, y: x * 2, x="3", y="3")
    assert list(graph.inputs) == ["x", "y"]
    with pytest.raises(InputError, match="missing y"):
        graph.evaluate(x=np.ones(3))


# -- derivatives that cannot be -------------------------------------------------------------------
def test_gradient_of_an_array() -> None:
    graph = sg.trace(lambda x: np.tanh(x), x="3")
    with pytest.raises(ShapeError, match=r"scalar.*\(3,\)") as caught:
        graph.gradient("x")
    assert "test_bad_input.py:" in str(caught.value)
    assert "np.sum" in caught.value.mend


def test_gradient_of_an_integer() -> None:
    graph = sg.trace(lambda i: np.sum(i), i=sg.spec("3", "int64"))
    with pytest.raises(DTypeError, match="int64"):
        graph.gradient("i")


def test_gradient_with_respect_to_an_integer() -> None:
    graph = sg.trace(lambda x, i: np.sum(x[i]), x="3", i=sg.spec("2", "int64"))
    with pytest.raises(DTypeError, match="int64") as caught:
        graph.gradient("x", "i")
    assert "'i'" in str(caught.value)
    assert "test_bad_input.py:" in str(caught.value)


def test_gradient_with_respect_to_nothing_known() -> None:
    graph, arrays = healthy()
    with pytest.raises(InputError, match="'y'") as caught:
        graph.gradient("y")
    assert "x: float64[2, 3]" in str(caught.value)
    with pytest.raises(InputError, match="at least one"):
        graph.gradient()
    with pytest.raises(InputError, match="not a node of this graph"):
        graph.gradient(arrays["w"])
    with pytest.raises(InputError, match="not a node of this graph"):
        graph.gradient(3)  # pyright: ignore[reportArgumentType]


def test_gradient_of_one_of_several_outputs() -> None:
    graph = sg.trace(lambda x: {"a": np.sum(x), "b": np.mean(x)}, x="3")
    with pytest.raises(InputError, match="a, b"):
        graph.gradient("x")
    with pytest.raises(InputError, match="'c'"):
        graph.gradient("x", of="c")
    assert graph.gradient("x", of="b").evaluate(x=np.ones(3))[0] == 1


def test_disconnected_is_refused_when_asked() -> None:
    with pytest.warns(sg.UnusedInputWarning):
        graph = sg.trace(lambda x, y: np.sum(x), x="3", y="3")
    assert np.array_equal(graph.gradient("y", value=False).evaluate(x=X[0], y=X[0]), np.zeros(3))
    with pytest.raises(NotDifferentiable, match="disconnected"):
        graph.gradient("y", disconnected="raise")


# -- calls ----------------------------------------------------------------------------------------
def called(path: str) -> tuple[sg.Graph, Callable[..., Any]]:
    """A graph with a named dimension, and a way to run it."""
    graph = sg.trace(
        lambda x, y, w: np.sum((x @ w - y) ** 2),
        x=sg.spec("n, 3"),
        y=sg.spec("n", "float32"),
        w=sg.spec("3"),
    )
    return graph, graph.evaluate if path == "interpreter" else graph.lower()


GOOD = {"x": np.ones((2, 3)), "y": np.ones(2, np.float32), "w": np.ones(3)}


@pytest.mark.parametrize("path", ["interpreter", "lowered"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"w": None}, ("missing w", "w: float64[3]")),
        ({"v": np.ones(3)}, ("unknown v",)),
        ({"w": np.ones(4)}, ("'w'", "[4]", "[3]")),
        ({"w": np.ones((3, 1))}, ("'w'", "[3, 1]")),
        ({"w": 1.0}, ("'w'", "[]")),
        ({"y": np.ones(5, np.float32)}, ("'y'", "[5]", "n=2")),
        ({"y": np.ones(2)}, ("'y'", "float64", "float32", "astype")),
        ({"w": np.ones(3, complex)}, ("'w'", "complex128")),
        ({"w": np.array([None, 1, 2])}, ("'w'", "object")),
        ({"w": np.array(["1", "2", "3"])}, ("'w'", "U1")),
        ({"w": np.zeros(3, "datetime64[s]")}, ("'w'", "datetime64")),
        ({"w": [[1], [2, 3]]}, ("'w'",)),
        ({"w": np.ones(3, np.longdouble)}, ("'w'", "declared")),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_mistake_in_a_call(path: str, given: dict[str, Any], words: tuple[str, ...]) -> None:
    _, f = called(path)
    wanted = f(**GOOD)
    wrong = {name: value for name, value in {**GOOD, **given}.items() if value is not None}
    with pytest.raises(InputError) as caught:
        f(**wrong)
    for word in words:
        assert word in str(caught.value)
    assert f(**GOOD) == wanted


@pytest.mark.parametrize("path", ["interpreter", "lowered"])
def test_harmless_calls_are_not_refused(path: str) -> None:
    _, f = called(path)
    lists = {"x": [[1, 1, 1], [1, 1, 1]], "y": [1.0, 1.0], "w": [1, 1, 1]}
    swapped = {**GOOD, "x": GOOD["x"].astype(">f8")}
    narrow = {**GOOD, "w": np.ones(3, np.int16)}
    for given in (lists, swapped, narrow):
        assert f(**given) == f(**GOOD)


@pytest.mark.parametrize("path", ["interpreter", "lowered"])
def test_inputs_are_never_written_and_results_never_alias(path: str) -> None:
    graph = sg.trace(lambda x: (x, x.T, x[1:], np.reshape(x, (-1,)), x + 0), x="2, 3")
    x = X.copy()
    x.flags.writeable = False
    f = graph.evaluate if path == "interpreter" else graph.lower()
    results = f(x=x)
    for result in results:
        assert not np.shares_memory(result, x)
        result += 1
    assert np.array_equal(x, X)
    assert np.array_equal(f(x=x)[0], X)


def test_an_unknown_backend_is_named() -> None:
    graph, _ = healthy()
    with pytest.raises(BackendError, match="abacus") as caught:
        graph.lower("abacus")
    assert "numpy" in str(caught.value)


def test_an_unknown_option_is_refused_with_those_there_are() -> None:
    graph, _ = healthy()
    with pytest.raises(BackendError, match="no option 'jit'") as told:
        graph.lower("numpy", jit=True)
    assert "debug, floats, threads" in str(told.value)
    with pytest.raises(BackendError, match="no option 'holomorphic'"):
        sg.grad(np.sum, holomorphic=True)  # where it is written, not at the first call


@pytest.mark.parametrize(
    ("theirs", "ours"), [("argnums", "wrt"), ("static_argnums", "static"), ("in_dims", "in_axes")]
)
def test_a_name_of_another_library_is_translated(theirs: str, ours: str) -> None:
    transform = sg.vmap if ours == "in_axes" else sg.grad
    with pytest.raises(InputError, match=f"no argument '{theirs}'") as told:
        transform(np.sum, **{theirs: 0})
    assert f"Its name here is {ours}." in str(told.value)


def test_a_list_where_an_array_is_meant() -> None:
    """It is a list of numbers, which functions take; what needs an array says so."""
    found = sg.grad(lambda x, y: np.sum(x * y))([1.0, 2.0, 3.0], np.arange(3.0))
    assert [float(each) for each in found] == [0.0, 1.0, 2.0]
    with pytest.raises(TraceError, match=r"number by number. Join .* np\.stack\(x\)"):
        sg.grad(lambda x: np.sum(np.array(x)))([1.0, 2.0, 3.0])


# -- graphs that cannot be ------------------------------------------------------------------------
def test_two_inputs_of_one_name() -> None:
    x, other = sg.input("x", (3,)), sg.input("x", (3,))
    with pytest.raises(InputError, match="Two different inputs are named 'x'"):
        sg.graph(np.sum(x * other))


def test_nodes_of_two_graphs() -> None:
    kept: list[Array] = []

    def leak(x: Array) -> Array:
        kept.append(x)
        return np.sum(x)

    sg.trace(leak, x="3")
    for name in ("x", "y"):
        with pytest.raises(TraceError, match="another trace, that of leak") as caught:
            sg.trace(lambda **given: np.sum(given[name] * kept[0]), **{name: "3"})  # noqa: B023
        assert 'sg.trace(leak, x="3")' in str(caught.value)


def test_inputs_of_two_graphs_made_by_hand() -> None:
    other = sg.input("x", (3,))
    with pytest.raises(InputError, match="mixed") as caught:
        sg.trace(lambda x: np.sum(x * other), x="3")
    assert "'x'" in str(caught.value)
    with pytest.raises(InputError, match=r"'x'.*not declared"):
        sg.trace(lambda y: np.sum(y * other), y="3")


def test_a_graph_without_outputs() -> None:
    with pytest.raises(InputError, match="at least one output"):
        sg.graph()


def test_a_graph_without_inputs() -> None:
    graph = sg.graph(np.sum(ones((3,))))
    assert graph.evaluate() == 3
    assert graph.lower()() == 3
    assert graph.simplify().evaluate() == 3


def test_a_cycle_cannot_be_made() -> None:
    """Nodes are immutable in use: a node changed by force is found by `verify`."""
    x = sg.input("x", (3,))
    y = np.tanh(x)
    z = np.exp(y)
    kept = y.node.operands
    y.node.operands = (z.node,)
    try:
        with pytest.raises(VerifyError, match="precedes"):
            sg.graph(z, inputs=[x]).verify()
    finally:
        y.node.operands = kept
    sg.graph(z).verify()


def test_the_networkx_view_is_frozen() -> None:
    graph, _ = healthy()
    nodes = list(graph.nx)
    for change in (
        lambda: graph.nx.add_edge(nodes[-1], nodes[0]),
        lambda: graph.nx.remove_node(nodes[0]),
    ):
        with pytest.raises(nx.NetworkXError, match="Frozen"):
            change()
    assert nx.is_directed_acyclic_graph(graph.nx)


def test_repeated_operands_keep_both_slots() -> None:
    x = sg.input("x", (3,))
    square = x * x
    graph = sg.graph(np.sum(square))
    assert graph.nx.edges[x.node, square.node]["slots"] == "0, 1"
    assert np.array_equal(graph.gradient("x", value=False).evaluate(x=X[0]), 2 * X[0])


def test_names_never_reach_generated_code() -> None:
    """Inputs may be called anything; programs name values themselves."""
    names = [
        "class",
        "__class__",
        "np",
        "v0",
        "a b",
        "x\n",
        "\u2028",
        "ﬁ",
        "fi",
        "'",
        "{0}",
        "x" * 999,
    ]
    arrays = [sg.input(name, ()) for name in names]
    total = arrays[0]
    for each in arrays[1:]:
        total = total + np.sin(each)
    graph = sg.graph(total)
    values = {name: np.float64(i) for i, name in enumerate(names)}
    assert graph.lower()(**values) == graph.evaluate(**values)
    str(graph), graph.to_dot(), graph.to_svg(), graph.simplify()


def test_a_bad_facts_check_names_the_input() -> None:
    graph = sg.trace(lambda p: np.sum(np.log(p)), p=sg.spec("3", assume=sg.simplex(axis=-1)))
    f = graph.lower(check_facts=True)
    f(p=np.full(3, 1 / 3))
    with pytest.raises(FactError, match="'p' is not simplex"):
        f(p=np.ones(3))


def test_user_settings_are_left_alone() -> None:
    """NumPy's error state is the user's: ours neither raises nor changes it."""
    graph, _ = healthy()
    with np.errstate(all="raise"):
        before = np.geterr()
        graph.gradient("x").simplify().lower()(x=X * 1e-200, i=ROWS)
        graph.evaluate(x=X * 1e-200, i=ROWS)
        assert np.geterr() == before


def test_captured_arrays_are_copied() -> None:
    weights = np.ones(3)
    graph = sg.trace(lambda x: np.sum(x * weights), x="3")
    weights[:] = 100
    assert graph.evaluate(x=np.ones(3)) == 3


def test_every_error_of_the_dag_is_ours() -> None:
    """A `Dag` made by hand is checked as one made by tracing."""
    x = sg.input("x", ())
    with pytest.raises(InputError, match="not declared"):
        Dag({}, [x.node])
    assert isinstance(x.node, Node)
