"""Samples of operations as cases: one operation on concrete operands, and how results compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from symgraph.backends.samples import op_samples
from symgraph.ir.dag import Dag
from symgraph.ir.dims import resolve
from symgraph.ir.interpreter import evaluate
from symgraph.ir.node import Node
from symgraph.ir.op import OPS, Op
from symgraph.ir.walks import reachable
from symgraph.namespace import NUMPY

Floats: TypeAlias = np.ndarray[Any, Any]
_SIZE = 3
POINTS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, 0.5, -0.5])


@dataclass(frozen=True)
class Case:
    """One operation on some operands."""

    op: Op
    params: dict[str, Any]
    operands: tuple[Floats, ...]
    floats: tuple[int, ...]

    def __call__(self, *operands: Floats) -> Floats:
        """The result; NaN where the kernel refuses these numbers."""
        with np.errstate(all="ignore"):
            try:
                return np.asarray(self.op.kernel(NUMPY, *operands, **self.params))
            except (ValueError, TypeError):  # LinAlgError is a ValueError
                return np.asarray(np.nan)

    def at(self, changes: dict[int, Floats]) -> Floats:
        """The result with some operands replaced."""
        return self(*[changes.get(i, each) for i, each in enumerate(self.operands)])

    def drawn(self, place: int, seed: int) -> Floats:
        """Other numbers for an operand."""
        return np.random.default_rng(seed).uniform(-2, 2, self.operands[place].shape)


def cases(op: Op) -> tuple[Case, ...]:
    """The operation's samples in double precision with one floating result."""
    return _cases_of(op.name)


@cache
def _cases_of(name: str) -> tuple[Case, ...]:
    return tuple(cases_where(OPS[name], _is_plain))


def cases_where(op: Op, taken: Callable[[Node], bool]) -> Iterator[Case]:
    """The operation's samples whose node passes a test."""
    for index, dag in enumerate(op_samples(op)):
        for node in reachable(dag.outputs):
            if node.op is op and taken(node):
                yield from _case(dag, node, index)


def _is_plain(node: Node) -> bool:
    floats = [each.dtype for each in node.operands if each.dtype.kind == "f"]
    one = len(node.results) == 1 and node.dtype.kind == "f"
    return one and bool(floats) and all(each == "float64" for each in [*floats, node.dtype])


def _case(dag: Dag, node: Node, index: int) -> Iterator[Case]:
    rng = np.random.default_rng(index)
    env = dict.fromkeys(dag.dims, _SIZE)
    given = {name: _numbers(each, rng) for name, each in dag.inputs.items()}
    below = Dag(dag.inputs, list(node.operands))
    operands = tuple(np.asarray(each) for each in evaluate(below, given, dims=env))
    params = {key: resolve(value, env) for key, value in node.params.items()}
    floats = tuple(
        i
        for i, each in enumerate(operands)
        if each.dtype.kind == "f" and i not in node.op.unpromoted
    )
    if all(operands[i].size for i in floats):
        yield Case(node.op, params, operands, floats)


def _numbers(node: Node, rng: np.random.Generator) -> Floats:
    shape = tuple(dim if isinstance(dim, int) else _SIZE for dim in node.shape)
    if node.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if node.dtype.kind in "iu":
        return np.asarray(rng.integers(0, 4, shape), dtype=node.dtype)
    drawn = rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0, 3.0], shape)
    return np.asarray(drawn, dtype=node.dtype)


def every_case(op: Op) -> Iterator[Case]:
    """The operation's samples with one result, of any dtype."""
    return cases_where(op, lambda node: len(node.results) == 1 and bool(node.operands))


def sampled_ops() -> list[Op]:
    """The built-in operations with a sample that the checks can use, sorted by name."""
    found = [op for op in OPS.values() if not op.custom and cases(op)]
    return sorted(found, key=lambda op: op.name)


# -- comparing -------------------------------------------------------------------------------------
def same(a: Floats, b: Floats) -> bool:
    """Whether all digits but the last agree; NaN equals NaN, and -0.0 equals 0.0."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-13, atol=0, equal_nan=True))


def near(a: Floats, b: Floats) -> bool:
    """Whether nine digits agree; NaN equals NaN."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


def informative(*results: Floats) -> bool:
    """Whether each result has a finite number other than 0, so that a comparison can fail."""
    return all(bool(np.any(np.isfinite(each) & (each != 0))) for each in results)


def same_bits(a: Floats, b: Floats) -> bool:
    """Whether all bits agree; the bits inside NaN do not count."""
    there = ~np.isnan(a)
    return (
        a.shape == b.shape
        and bool(np.array_equal(a, b, equal_nan=True))
        and bool(np.array_equal(np.signbit(a)[there], np.signbit(b)[there]))
    )


def on_points(case: Case) -> Floats | None:
    """The values of a function of one operand at `POINTS`, if all are finite."""
    if len(case.operands) != 1 or case.params:
        return None
    result = case(POINTS)
    return result if result.shape == POINTS.shape and np.all(np.isfinite(result)) else None
