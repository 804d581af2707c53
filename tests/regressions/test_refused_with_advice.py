"""What makes no sense is refused where it is said, in words that tell how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgraph as sg
from symgraph.cli import main


def f(x, w):
    return np.sum(np.tanh(x @ w) ** 2)


@pytest.fixture(scope="module")
def graph() -> sg.Graph:
    return sg.trace(f, x="n, 3", w=(3, 2)).gradient("w")


@pytest.mark.parametrize("assume", ["positive", sg.simplex, 3, [sg.positive, None]])
def test_a_fact_is_a_fact(assume: Any) -> None:
    for make in (sg.spec, partial(sg.input, "x")):
        with pytest.raises(sg.FactError, match=r"is not a fact(.|\n)*State"):
            make("n", assume=assume)


def test_why_is_asked_of_a_fact(graph: sg.Graph) -> None:
    with pytest.raises(sg.FactError, match="'positive' is no fact"):
        graph.why("x", "positive")  # pyright: ignore[reportArgumentType]


def test_only_functions_are_traced() -> None:
    with pytest.raises(sg.InputError, match="trace is of a function, not of 3"):
        sg.trace(3, x=())  # pyright: ignore[reportArgumentType]


def test_a_graph_is_made_of_arrays() -> None:
    with pytest.raises(sg.InputError, match="made of symbolic arrays, not of 3"):
        sg.graph(3)  # pyright: ignore[reportArgumentType]


def test_graphs_are_compared_with_graphs(graph: sg.Graph) -> None:
    for compare in (graph.diff, partial(sg.diff, graph), partial(sg.side_by_side, graph)):
        with pytest.raises(sg.InputError, match=r"3 is no graph(.|\n)*sg\.trace"):
            compare(3)  # pyright: ignore[reportArgumentType]


def test_a_shape_is_no_fraction() -> None:
    with pytest.raises(sg.ShapeError, match=r"2.5 is no shape(.|\n)*text such as"):
        sg.trace(np.sin, sg.spec(2.5))  # pyright: ignore[reportArgumentType]


def test_inputs_are_named_one_by_one() -> None:
    with pytest.raises(sg.InputError, match=r"one by one, as in gradient"):
        sg.trace(f, x="n, 3", w=(3, 2)).gradient(["x", "w"])  # pyright: ignore[reportArgumentType]


def test_a_direction_of_one_array_is_no_list() -> None:
    with pytest.raises(sg.InputError, match=r"Pass one array, as in v=np\.array"):
        sg.hvp(lambda x: np.sum(x**2))(np.ones(2), v=[1.0, 2.0])
    with pytest.raises(sg.InputError, match="Nest it as the argument"):
        sg.hvp(lambda p: np.sum(p["x"] ** 2))({"x": np.ones(2)}, v=np.ones(2))


@pytest.mark.parametrize(
    ("name", "mend"), [("evaluate", "sg.graph"), ("backward", "sg.grad"), ("numpy", "evaluate")]
)
def test_methods_of_other_arrays_are_told(name: str, mend: str) -> None:
    with pytest.raises(sg.errors.MissingAttribute, match=mend):
        getattr(sg.input("x", ()), name)


def test_there_are_three_grades_of_trust(graph: sg.Graph) -> None:
    with pytest.raises(sg.SymgraphError, match=r"no grade of trust 'sure'(.|\n)*'rounding'"):
        graph.simplify(trust="sure")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("rules", ["standard", [3], ["plus_zero"]])
def test_rules_are_rules(graph: sg.Graph, rules: Any) -> None:
    """They were passed over in silence, and nothing was simplified."""
    with pytest.raises(sg.RuleError, match="is not a rule or a pack"):
        graph.simplify(rules=rules)


@pytest.mark.parametrize("size", [-3, 2.5, "a", None, True])
def test_a_dimension_is_a_whole_number(graph: sg.Graph, size: Any) -> None:
    for ask in (graph.memory, graph.flops, graph.cost, graph.bytes_moved):
        with pytest.raises(sg.InputError, match=r"n=|negative"):
            ask(n=size)
    with pytest.raises(sg.InputError, match=r"n=|negative"):
        graph.checkpoint(10_000, n=size)


def test_a_dimension_nobody_named_is_told(graph: sg.Graph) -> None:
    with pytest.raises(sg.InputError, match=r"No dimension is named 'm'(.|\n)*are n"):
        graph.memory(n=4, m=3)
    with pytest.raises(sg.InputError, match="No dimension is named 'm'"):
        graph.checkpoint(10_000, n=4, m=3)


def test_a_mask_is_not_passed_over_in_silence(graph: sg.Graph) -> None:
    x = np.ma.masked_greater(np.ones((4, 3)), 0)
    for compute in (graph.evaluate, graph.lower()):
        with pytest.raises(sg.InputError, match="'x' is a masked array"):
            compute(x=x, w=np.ones((3, 2)))


def test_a_backend_is_named(graph: sg.Graph) -> None:
    with pytest.raises(sg.BackendError, match=r"None is not a backend(.|\n)*numpy"):
        graph.lower(backend=None)  # pyright: ignore[reportArgumentType]


def test_rules_of_an_operation_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Verifying none of none was a success."""
    assert main(["rules", "verify", "--op", "sofmax"]) == 2
    told = capsys.readouterr().err
    assert "no operation 'sofmax'" in told
    assert "softmax" in told


@dataclass
class Parameters:
    w: Any
    b: Any


class Pair(NamedTuple):
    w: Any
    b: Any


@pytest.mark.parametrize(
    "given", [{"w": "n", "b": ()}, ["n", ()], Parameters("n", ()), Pair("n", ())]
)
def test_a_container_describes_no_input(given: Any) -> None:
    with pytest.raises(sg.InputError, match=r"described by(.|\n)*Trace a function of the parts"):
        sg.trace(lambda p: np.sum(p), p=given)


def test_a_text_for_a_parameter_that_takes_texts_is_no_shape() -> None:
    """It named a dimension, and `mode == "sum"` was False without a word."""

    def reduced(x, mode="sum"):
        return np.sum(x) if mode == "sum" else np.mean(x)

    with pytest.raises(sg.InputError, match=r"would be the shape(.|\n)*partial\(f, mode='sum'\)"):
        sg.trace(reduced, x="n", mode="sum")
    assert sg.trace(partial(reduced, mode="sum"), x="n").evaluate(x=[1.0, 2.0]) == 3.0


@pytest.mark.parametrize("trace", [lambda f: sg.trace(f, (3,), (3,)), lambda f: sg.trace(f, x=3)])
def test_any_number_of_arguments_has_no_names(trace: Any) -> None:
    with pytest.raises(sg.InputError, match="lambda a, b: f"):
        trace(lambda *several: np.sum(several[0]))


class Table:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(3)


class Unhashable(Table):
    __hash__ = None  # pyright: ignore[reportAssignmentType]


@pytest.mark.parametrize("table", [Table(), Unhashable()])
def test_a_table_of_another_library_is_converted_first(table: Any) -> None:
    with pytest.raises(sg.InputError, match=r"np\.asarray"):
        sg.grad(lambda x: np.sum(x))(table)
    with pytest.raises(sg.InputError, match=r"np\.asarray"):
        sg.trace(lambda x: np.sum(x), x=table)


def test_an_object_of_one_s_own_is_made_a_container() -> None:
    class Plain:
        def __init__(self) -> None:
            self.w = np.ones(3)

    with pytest.raises(sg.InputError, match="if it is a dataclass"):
        sg.grad(lambda p: np.sum(p.w))(Plain())


def test_a_name_that_is_nearly_right_is_named() -> None:
    with pytest.raises(sg.RuleError, match="Did you mean log_of_exp"):
        sg.default_rules().without("log_of_ex")
    with pytest.raises(sg.DTypeError, match="Did you mean float32"):
        sg.spec("n", "flaot32")


def test_a_fact_that_is_nearly_right_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "log(x)", "--wrt", "x", "--given", "x: postive"]) == 2
    assert "Did you mean positive" in capsys.readouterr().err


def test_branches_are_functions() -> None:
    with pytest.raises(sg.TraceError, match=r"A branch is a function(.|\n)*np\.where"):
        sg.grad(lambda x: sg.cond(x > 0, x**2, -x))(3.0)


def test_a_step_without_a_result_is_told() -> None:
    with pytest.raises(sg.TraceError, match=r"not one array(.|\n)*\(carry, None\)"):
        sg.grad(lambda x: sg.scan(lambda c, a: c + a, x[0], x)[0])(np.ones(3))


def test_an_objective_tells_what_it_is() -> None:
    def loss(p):
        return np.sum(p["w"] ** 2) + p["b"] ** 2

    objective = sg.flat_objective(loss, {"w": np.ones(2), "b": 1.0})
    assert repr(objective) == "<FlatObjective of loss in 3 numbers>"


def test_a_budget_is_the_first_argument_of_checkpoint() -> None:
    graph = sg.trace(lambda x: np.sum(np.sin(x)), x="n").gradient("x")
    with pytest.raises(sg.InputError, match=r"checkpoint\('2 MB', n=100\)"):
        graph.checkpoint(budget="2 MB", n=100)  # pyright: ignore[reportArgumentType]


def test_an_entry_of_an_array_by_name_is_one_of_a_dict() -> None:
    with pytest.raises(sg.DTypeError, match=r"no entry named 'a'(.|\n)*Give a dict"):
        sg.grad(lambda b: b["a"] ** 2)(np.ones(2))
    assert sg.grad(lambda b: b["a"] ** 2)({"a": 3.0}) == {"a": 6.0}


@pytest.mark.parametrize("wrt", [3.0, np.float64(3), np.array(3.0), np.ones(2), [1.0, 2.0], 3])
def test_the_point_is_no_parameter(wrt: Any) -> None:
    for transform in (sg.grad, sg.hessian, sg.vjp):
        with pytest.raises(sg.InputError, match=r"parameter(.|\n)*sg\.grad\(f\)\(x\)"):
            transform(lambda x: np.sum(x), wrt)
