"""Random programs, differentially: ours against NumPy, against autograd, and against itself.

Each program is valid by construction and well conditioned where it is tried. A failure
is made smaller and printed as a script.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest
from randomgraphs import NUMPY, SYMGRAPH, Program, random_program, shrunk
from randomgraphs.compare import (
    ROUNDING,
    TOLERANCE,
    Reference,
    Values,
    difference,
    flat,
    identical,
    traced,
)

import symgraph as sg
from symgraph.array import Array, constant
from symgraph.autodiff.reverse import vjp
from symgraph.ir.cost import varying

CONTRACTIONS = ("matmul", "einsum", "tensordot", "dot")
DTYPES = ("float64", "float32", "mixed")
LONG = [range(start, start + 50) for start in range(1000, 3500, 50)]


# -- what must hold --------------------------------------------------------------------------------
@dataclass(frozen=True)
class Case:
    """A program at inputs of one dtype, its graphs, and what the results must be."""

    program: Program
    wanted: Reference
    graph: sg.Graph
    joint: sg.Graph
    reference: Values
    """The interpreter on the gradient graph as derived."""
    tolerance: float
    rounding: float

    @classmethod
    def of(cls, program: Program, dtype: str) -> Case:
        program = program.astype(dtype)
        wanted = Reference.of(program)
        graph = traced(program)
        joint = graph.gradient(*program.targets)
        return cls(
            program,
            wanted,
            graph,
            joint,
            flat(joint.evaluate(**program.values)),
            TOLERANCE[dtype] * wanted.scale,
            ROUNDING[dtype] * wanted.scale,
        )

    def against_oracle(self, label: str, found: Any) -> Iterator[str]:
        wrong = difference(flat(found), self.wanted.results, self.tolerance, self.wanted.dtypes)
        if wrong:
            yield f"{label}: {wrong}"


Part: TypeAlias = Callable[[Case], Iterator[str]]
Problem: TypeAlias = Callable[[Program, str], str]
"""The first problem of a program at inputs of a dtype, or an empty string."""


def problems(program: Program, dtype: str, parts: Sequence[Part]) -> Iterator[str]:
    """Each thing that does not hold of the program at inputs of `dtype`."""
    case = Case.of(program, dtype)
    for part in parts:
        yield from part(case)


def derivation_problems(case: Case) -> Iterator[str]:
    """Forward and gradient graphs as derived: against NumPy, autograd and the lowered program."""
    program = case.program
    case.graph.verify()
    case.joint.verify()
    with np.errstate(all="ignore"):
        plain = np.asarray(program.function(NUMPY.np, NUMPY.sp, **program.values))
    found = flat(case.graph.evaluate(**program.values))
    wrong = difference(found, (plain,), case.rounding)
    if wrong:
        yield f"forward graph against NumPy: {wrong}"
    yield from case.against_oracle("gradient", case.reference)
    yield from lowered_problems("gradient", case.joint, case, case.reference)


def simplification_problems(case: Case) -> Iterator[str]:
    """Simplified after the gradient and on both sides of it; twice; and bit for bit."""
    program = case.program
    small = case.joint.simplify()
    small.verify()
    simplified = flat(small.evaluate(**program.values))
    yield from case.against_oracle("gradient, simplified", simplified)
    yield from lowered_problems("gradient, simplified", small, case, simplified)
    both = case.graph.simplify().gradient(*program.targets).simplify()
    both.verify()
    yield from case.against_oracle(
        "simplified, gradient, simplified", both.evaluate(**program.values)
    )
    if small.simplify().dag.outputs != small.dag.outputs:
        yield "simplify is not idempotent"
    exact = flat(case.joint.simplify(trust="exact").evaluate(**program.values))
    # BLAS adds in an order that depends on strides: products may differ in the last bits although
    # every operand is the same.
    products = any(node.op.name in CONTRACTIONS for node in case.joint.nodes)
    wrong = (
        difference(exact, case.reference, case.rounding)
        if products
        else identical(exact, case.reference)
    )
    if wrong:
        yield f'trust="exact": {wrong}'


def lowered_problems(label: str, graph: sg.Graph, case: Case, reference: Values) -> Iterator[str]:
    """The lowered program against the interpreter; twice, and its inputs untouched."""
    f = graph.lower()
    given = {name: value.copy() for name, value in case.program.values.items()}
    first = flat(f(**given))
    kept = tuple(each.copy() for each in first)
    wrong = difference(first, reference, case.rounding)
    if wrong:
        yield f"{label}, lowered: {wrong}"
    second = flat(f(**given))
    if identical(second, kept) or identical(first, kept):
        yield f"{label}, lowered: a second call gives other bits"
    for name, value in case.program.values.items():
        if value.tobytes() != given[name].tobytes():
            yield f"{label}, lowered: input {name} was written to"


def metamorphic_problems(case: Case) -> Iterator[str]:
    """Linear in the cotangent, and equal subgraphs shared."""
    program, graph = case.program, case.graph
    output = next(iter(graph.outputs.values()))
    targets = [graph.inputs[name] for name in program.targets]
    weights = np.array([1.0, -2.0, 0.5]).astype(output.dtype)
    single = vjp(output, targets, constant(weights[0]))
    pulled = [each for each in vjp(output, targets, constant(weights)) if each is not None]
    connected = [
        gradient
        for gradient, each in zip(case.reference[1:], single, strict=True)
        if each is not None
    ]
    stacked = flat(of_nodes(graph, pulled).evaluate(**program.values))
    linear = tuple(weights.reshape(3, *[1] * each.ndim) * each for each in connected)
    wrong = difference(stacked, linear, 10 * case.rounding, [each.dtype for each in connected])
    if wrong:
        yield f"not linear in the cotangent: {wrong}"
    again = program.function(SYMGRAPH.np, SYMGRAPH.sp, **graph.inputs)
    if len(of_nodes(graph, [output + again])) != len(graph) + 1:
        yield "an equal subgraph was not found"


def recomputation_problems(case: Case) -> Iterator[str]:
    """Forward values computed again, not kept: not a bit changes."""
    program, joint = case.program, case.joint
    forward = [
        node for node in varying(case.graph.dag.outputs) if not (node.is_input or node.op.view)
    ]
    chosen = random.Random(program.seed).sample(forward, min(len(forward), 5))
    tight = joint.checkpoint(recompute=chosen)
    tight.verify()
    wrong = identical(flat(tight.evaluate(**program.values)), case.reference)
    if wrong:
        yield f"checkpointed: {wrong}"
    wrong = identical(flat(tight.lower()(**program.values)), flat(joint.lower()(**program.values)))
    if wrong:
        yield f"checkpointed, lowered: {wrong}"


def budget_problems(case: Case) -> Iterator[str]:
    """Under the least budget and one halfway to the peak: the budget holds, not a bit changes."""
    program, joint = case.program, case.joint
    try:
        joint.checkpoint(1)
    except sg.MemoryBudgetError as error:
        least = error.least_bytes
    peak = joint.memory().peak_bytes
    lowered = flat(joint.lower()(**program.values))
    for budget in (least, (least + peak) // 2):
        tight = joint.checkpoint(budget)
        tight.verify()
        if tight.memory().peak_bytes > budget:
            yield f"over budget: {tight.memory().peak_bytes} bytes, {budget} allowed"
        wrong = identical(flat(tight.lower()(**program.values)), lowered)
        if wrong:
            yield f"under a budget: {wrong}"


def of_nodes(graph: sg.Graph, outputs: Sequence[Array]) -> sg.Graph:
    """A graph of the same inputs with other outputs."""
    return sg.graph(*outputs, inputs=list(graph.inputs.values()))


# -- running ---------------------------------------------------------------------------------------
def first_problem(*parts: Part) -> Problem:
    """What finds the first problem among these parts, errors included."""

    def find(program: Program, dtype: str) -> str:
        try:
            return next(problems(program, dtype, parts), "")
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    return find


def kind(problem: str) -> str:
    """What stays the same while a program shrinks: the check, or the type of the error."""
    return problem.partition(":")[0]


DERIVED = first_problem(derivation_problems, metamorphic_problems, recomputation_problems)
SIMPLIFIED = first_problem(simplification_problems)
BUDGETED = first_problem(budget_problems)


def check(seeds: range, dtype: str, find: Problem) -> None:
    """Fail with the smallest program of the first problem among the seeds."""
    for seed in seeds:
        program = random_program(seed)
        problem = find(program, dtype)
        if problem:
            small = shrunk(program, partial(_same_kind, find, dtype, kind(problem)))
            shown = find(small, dtype)
            script = small.astype(dtype).script(kind(shown))
            pytest.fail(f"{dtype}: {shown}\n\n{script}", pytrace=False)


def _same_kind(find: Problem, dtype: str, wanted: str, program: Program) -> bool:
    return kind(find(program, dtype)) == wanted


@pytest.mark.sampled(one_in=48)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seeds", [range(first, first + 5) for first in range(0, 70, 5)], ids=str)
def test_random_programs_as_derived(seeds: range, dtype: str) -> None:
    check(seeds, dtype, DERIVED)


@pytest.mark.parametrize(
    ("seeds", "dtype"),
    [
        (range(100, 102), "float64"),
        (range(150, 151), "float32"),
        (range(170, 171), "mixed"),
        pytest.param(range(102, 127), "float64", marks=pytest.mark.whole),
        pytest.param(range(127, 150), "float64", marks=pytest.mark.whole),
        pytest.param(range(151, 170), "float32", marks=pytest.mark.whole),
        pytest.param(range(171, 180), "mixed", marks=pytest.mark.whole),
    ],
    ids=str,
)
def test_random_programs_simplified(seeds: range, dtype: str) -> None:
    check(seeds, dtype, SIMPLIFIED)


@pytest.mark.whole
def test_random_programs_under_a_budget() -> None:
    check(range(180, 192), "float64", BUDGETED)


@pytest.mark.fuzz
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seeds", LONG, ids=str)
def test_many_random_programs(seeds: range, dtype: str) -> None:
    check(seeds, dtype, DERIVED)
    check(seeds, dtype, SIMPLIFIED)
    if dtype == "float64":
        check(seeds, dtype, BUDGETED)


def resized(program: Program, old: int, new: int) -> Program:
    """The program at inputs whose dimensions of size `old` have another size."""

    def fitted(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.resize(value, tuple(new if size == old else size for size in value.shape))

    return replace(
        program, inputs=tuple(replace(each, value=fitted(each.value)) for each in program.inputs)
    )


def named_dimension_problems(program: Program, size: int) -> Iterator[str]:
    """With a dimension named: the same values, and those of a fixed graph at other sizes."""
    wanted = Reference.of(program)
    graph = traced(program, {size: "n"}).gradient(*program.targets)
    small = graph.simplify()
    for label, each in (("derived", graph), ("simplified", small)):
        each.verify()
        for found in (each.evaluate(**program.values), each.lower()(**program.values)):
            tolerance = TOLERANCE["float64"] * wanted.scale
            wrong = difference(flat(found), wanted.results, tolerance, wanted.dtypes)
            if wrong:
                yield f"named dimension, {label}: {wrong}"
    other = resized(program, size, size + 3)
    fixed = flat(traced(other).gradient(*other.targets).evaluate(**other.values))
    wrong = identical(flat(graph.evaluate(**other.values)), fixed)
    if wrong:
        yield f"named dimension at another size: {wrong}"


@pytest.mark.whole
def test_named_dimensions() -> None:
    """Programs that do not write a size into a shape run at any size."""
    tried = 0
    for seed in range(300, 345):
        program = random_program(seed)
        size = 2 + seed % 3
        sizes = {each for given in program.inputs for each in given.value.shape}
        try:
            traced(program, {size: "n"})
        except sg.ShapeError:
            continue
        if size in sizes:
            tried += 1
            for problem in named_dimension_problems(program, size):
                pytest.fail(f"n={size}: {problem}\n\n{program.script(problem)}", pytrace=False)
    assert tried > 8


def test_a_seed_is_one_program() -> None:
    assert random_program(3).source == random_program(3).source
    assert random_program(3).source != random_program(4).source


@pytest.mark.whole
def test_programs_are_broad() -> None:
    """Two hundred programs reach most of the vocabulary."""
    text = "".join(random_program(seed).source for seed in range(200))
    names = (
        *("exp", "log", "tanh", "sin", "sqrt", "sum", "mean", "max", "var", "cumsum", "where"),
        *("maximum", "clip", "abs", "reshape", "transpose", "broadcast_to", "concatenate", "stack"),
        *("take", "matmul", "einsum", "tensordot", "softmax", "logsumexp"),
    )
    for name in names:
        assert f".{name}(" in text
    for operator in (" @ ", " ** ", "::-1", "None", " > "):
        assert operator in text


def test_shrinking_keeps_what_fails() -> None:
    program = next(p for p in map(random_program, range(100)) if "np.tanh" in p.source)
    small = shrunk(program, lambda each: "np.tanh" in each.source)
    assert "np.tanh" in small.source
    assert len(small.lines) <= 3
