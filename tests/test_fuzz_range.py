"""Programs around each operation: simplification makes no finite gradient infinite or NaN.

Each program is `outer(operation(inner(x)))`, of all operations that have a derivative. Its gradient
as derived and its simplified gradient run on numbers of several magnitudes, in single precision.
Where the gradient as derived is finite, and double precision confirms it, the simplified one is
finite too. Two spellings overflow at slightly different inputs: a number counts as lost if it is
lost at inputs ten times as large or as small, too, or at inputs 6 larger or smaller, where one is
an exponent. These are the bands that simplification looks for (`accuracy/probes.is_wide_band`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.array import Array
from symgraph.backends.samples import op_samples
from symgraph.errors import NotDifferentiable, SymgraphError
from symgraph.ir.dag import Dag
from symgraph.ir.op import OPS, Op
from symgraph.ir.walks import substituted

Function = Callable[[Any], Any]

INNER: dict[str, Function] = {
    "x": lambda x: x,
    "-x": lambda x: -x,
    "exp": np.exp,
    "exp2": np.exp2,
    "10^x": lambda x: 10.0**x,
    "sinh": np.sinh,
    "x^3": lambda x: x**3,
    "1/x": lambda x: 1 / x,
    "log(1 + x^2)": lambda x: np.log1p(x**2),
    "x/(1 + x^2)": lambda x: x / (1 + x**2),
}
OUTER: dict[str, Function] = {
    "sum": np.sum,
    "y/(1.5 + y^2)": lambda y: np.sum(y / (1.5 + y**2)),
    "log(1 + y^2)": lambda y: np.sum(np.log(1 + y**2)),
    "exp(-y^2)": lambda y: np.sum(np.exp(-(y**2))),
    "y/sum(y)": lambda y: np.sum(y**2) / np.sum(y),
    "1/(1 + exp(-y))": lambda y: np.sum(1 / (1 + np.exp(-y))),
    "sqrt(sum(y^2))": lambda y: np.sqrt(np.sum(y**2)),
    "y/sqrt(1 + y^2)": lambda y: np.sum(y / np.sqrt(1 + y**2)),
    "log(sum(exp(y)))": lambda y: np.log(np.sum(np.exp(y))),
}
SCALES = (1.0, 30.0, 100.0, 1000.0, 1e20, 1e-18, 1e-20, 1e-25)
NEAR_THE_END = float(np.finfo(np.float32).max) / 64
"""A larger number may overflow in one spelling and not in another."""
KNOWN = {
    # A window whose square overflows is NaN and not 0, and spoils the others as NaN times 0.
    "y/(1.5 + y^2) of max_of_windows of exp",
    "y/(1.5 + y^2) of max_of_windows of 10^x",
    "y/(1.5 + y^2) of max_of_windows of sinh",
    # (r q)**2 overflows where r q q does not, and exp(-y**2) is 0; elsewhere both are NaN.
    "exp(-y^2) of pseudo_huber of x",
    "exp(-y^2) of pseudo_huber of -x",
    # The density by which one divides is below the least normal number.
    "y/(1.5 + y^2) of stdtrit of exp",
    "log(1 + y^2) of stdtrit of exp",
    "y/sqrt(1 + y^2) of stdtrit of exp",
    # exp(t) goes into an exponent that overflows, for a shape of 1e10 at a probability of 1e-29.
    "1/(1 + exp(-y)) of gammaincinv of sinh",
    # exp(a) exp(b) is exp(a + b), which overflows before a third factor makes it small.
    "log(1 + y^2) of with_slope of exp",
}
"""Programs that lose a number at rare combinations of inputs. Strike one that no longer does."""
MOVES: tuple[Function, ...] = (
    lambda x: x * 10,
    lambda x: x / 10,
    lambda x: x + 6,
    lambda x: x - 6,
)
DIFFERENTIABLE = sorted(
    name for name, op in OPS.items() if op.vjp and not op.custom and next(op_samples(op), None)
)


def programs(op: Op) -> Iterator[tuple[str, sg.Graph, sg.Graph]]:
    """Gradients around an operation's first sample that has one, in single and double precision."""
    for dag in op_samples(op):
        floating = [node for node in dag.inputs.values() if node.dtype == np.float64]
        if len(dag.outputs) != 1 or not floating or 0 in dag.outputs[0].shape:
            continue
        for inner, f in INNER.items():
            for outer, g in OUTER.items():
                single, double = (gradient(dag, f, g, dtype) for dtype in ("float32", "float64"))
                if single is not None and double is not None and is_double(double):
                    yield f"{outer} of {op.name} of {inner}", single, double
        return


def is_double(graph: sg.Graph) -> bool:
    """Whether no value is rounded to less: after a cast to float32 it would confirm an overflow."""
    floats = {node.dtype for node in graph.nodes if node.dtype.kind == "f"}
    return floats == {np.dtype(np.float64)}


def gradient(dag: Dag, inner: Function, outer: Function, dtype: str) -> sg.Graph | None:
    """The gradient of one program; None where it has none."""
    given = {
        name: sg.input(name, node.shape, dtype if node.dtype == np.float64 else node.dtype)
        for name, node in dag.inputs.items()
    }
    floating = [x for x in given.values() if x.dtype == dtype]
    mapping = {
        node: (inner(given[name]) if given[name].dtype == dtype else given[name]).node
        for name, node in dag.inputs.items()
    }
    try:
        (result,) = substituted(dag.outputs, mapping)
        if result.dtype.kind != "f":
            return None
        return sg.graph(outer(Array(result))).gradient(*floating, value=False)
    except (NotDifferentiable, SymgraphError):
        return None


def inputs(graph: sg.Graph, seed: int, scale: float) -> dict[str, np.ndarray[Any, Any]]:
    """Numbers of one magnitude and of both signs; small integers for indices."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, array in graph.inputs.items():
        shape = tuple(d if isinstance(d, int) else 2 for d in array.shape)
        drawn = rng.standard_normal(shape) * scale
        found[name] = (drawn if array.dtype.kind == "f" else rng.integers(0, 2, shape)).astype(
            array.dtype
        )
    return found


def finite_only(decompose: Callable[..., Any]) -> Callable[..., Any]:
    """A decomposition that refuses what is not finite: LAPACK may never end there."""

    @wraps(decompose)
    def guarded(*args: Any, **options: Any) -> Any:
        if not all(np.isfinite(x).all() for x in args if isinstance(x, np.ndarray)):
            raise np.linalg.LinAlgError("a matrix that is not finite")
        return decompose(*args, **options)

    return guarded


def values(graph: sg.Graph, at: dict[str, Any]) -> list[np.ndarray[Any, Any]] | None:
    """Each gradient in double precision; None where LAPACK refuses."""
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        for each in ("svd", "eigh", "pinv", "lstsq"):
            patch.setattr(np.linalg, each, finite_only(getattr(np.linalg, each)))
        try:
            found = graph.evaluate(**at)
        except np.linalg.LinAlgError:
            return None
    return [np.asarray(x, float) for x in (found if isinstance(found, tuple) else (found,))]


def lost(graph: sg.Graph, simple: sg.Graph, double: sg.Graph, at: dict[str, Any]) -> bool:
    """Whether an element is lost at these inputs, and at some a power of 10 or an exponent away."""
    here = lost_at(graph, simple, double, at)
    if not any(map(np.any, here)):
        return False
    for move in MOVES:
        moved = {
            name: move(x).astype(x.dtype) if x.dtype.kind == "f" else x for name, x in at.items()
        }
        there = lost_at(graph, simple, double, moved)
        if any(np.any(one & other) for one, other in zip(here, there, strict=False)):
            return True
    return False


def lost_at(
    graph: sg.Graph, simple: sg.Graph, double: sg.Graph, at: dict[str, Any]
) -> list[np.ndarray[Any, Any]]:
    """Where a finite number that double precision confirms is none in the simplified graph.

    One mask a gradient; no mask where LAPACK refuses.

    It confirms a number if it gives about the same at inputs a rounding away. At 1e20 a Bessel
    function is any number, and right in single precision by luck. So is a 0 in an array another
    element of which is a wrong number, as the README has it (`accuracy/lucky_values`).
    """
    exact = {name: x.astype(float) if x.dtype.kind == "f" else x for name, x in at.items()}
    before, after, right = values(graph, at), values(simple, at), values(double, exact)
    if before is None or after is None or right is None:
        return []
    with np.errstate(all="ignore"):
        gone = [
            (np.abs(c) < NEAR_THE_END)
            & (np.abs(a - c) <= 1e-3 * np.abs(c))
            & ~np.isfinite(b)
            & ~((c == 0) & np.any(np.isfinite(a) & (np.abs(a - c) > 0.5 * np.abs(c))))
            for a, b, c in zip(before, after, right, strict=True)
        ]
    if not any(map(np.any, gone)):
        return gone
    for factor in (1 + 2.0**-24, 1 - 2.0**-24):
        around = {n: x * factor if x.dtype.kind == "f" else x for n, x in exact.items()}
        near = values(double, around)
        if near is None:
            return []
        with np.errstate(all="ignore"):
            for each, c, moved in zip(gone, right, near, strict=True):
                each &= np.abs(moved - c) <= 1e-3 * np.abs(c)
    return gone


def losses(name: str) -> tuple[int, list[str]]:
    """How many programs there are around an operation, and those that lose a number."""
    count, found = 0, list[str]()
    for said, graph, double in programs(OPS[name]):
        count += 1
        simple = graph.simplify()
        for seed, scale in enumerate(SCALES):
            if lost(graph, simple, double, inputs(graph, seed, scale)):
                found.append(f"{said}, at {scale:g}")
                break
    return count, found


@pytest.mark.fuzz
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_no_finite_gradient_is_lost(name: str) -> None:
    _, found = losses(name)
    programs_found = {each.rsplit(", at ", 1)[0] for each in found}
    known = {each for each in KNOWN if f" of {name} of " in each}
    assert programs_found == known, "\n".join(found)


if __name__ == "__main__":
    total = 0
    for each in DIFFERENTIABLE:
        count, found = losses(each)
        total += count
        print(
            f"{each:28}{count:5} programs, {len(found)} lost", *found[:8], sep="\n    ", flush=True
        )
    print(f"{total} programs")
