"""The conformance test of backends: each operation and random graphs, against the interpreter.

`check_backend("mine")` is the whole test of a new backend.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import numpy as snp
from ..array import Array, constant
from ..autodiff.reverse import cotangents
from ..errors import BackendError, NotDifferentiable, VerifyError
from ..ir.dag import Dag
from ..ir.interpreter import evaluate
from ..ir.node import Node
from ..ir.op import OPS, Op
from .base import Backend
from .lowered import Lowered, lower
from .random_graphs import random_dag
from .samples import op_samples

__all__ = ["check_backend", "check_dag", "gradient_of", "numbers_for"]


def check_backend(
    backend: str | Backend,
    *,
    ops: Iterable[Op] | None = None,
    graphs: int = 20,
    exact: bool = False,
    gradients: bool = False,
    refused: dict[str, BackendError] | None = None,
    **options: Any,
) -> int:
    """Check a backend against the interpreter, and give the number of graphs that were compared.

    Parameters
    ----------
    backend : str or Backend
    ops : iterable of Op, optional
        By default every registered operation, except those of users.
    graphs : int
        The number of random graphs.
    exact : bool
        Require results equal bit for bit; else equal within the rounding of each dtype.
    gradients : bool
        Check the gradient of the sum of each floating result, too.
    refused : dict, optional
        Receives the last refusal of each operation by its name; a random graph has the name
        `"random graph"`. Without it, the first refusal is raised.
    **options
        Options for `lower`.

    Raises
    ------
    VerifyError
        If a result differs; the message shows the graph and both results.
    BackendError
        If the backend refuses a graph, and `refused` is not given.

    Examples
    --------
    >>> from symgraph.testing import check_backend
    >>> refused = {}
    >>> check_backend("numpy", ops=[], graphs=3, gradients=True, refused=refused), refused
    (6, {})
    """
    count = 0

    def check(name: str, dag: Dag) -> int:
        count = 0
        for each in [dag, *([gradient_of(dag)] if gradients else [])]:
            if each is None:
                continue
            try:
                count += check_dag(each, backend, exact=exact, **options) > 0
            except BackendError as error:
                if refused is None:
                    raise
                refused[name] = error
        return count

    for op in [each for each in OPS.values() if not each.custom] if ops is None else ops:
        for dag in op_samples(op):
            count += check(op.name, dag)
    for seed in range(graphs):
        dtype, rows = ("float64", "float32")[seed % 2], (5, "n", 1)[seed % 3]
        count += check("random graph", random_dag(seed, dtype=dtype, rows=rows))
    return count


def gradient_of(dag: Dag) -> Dag | None:
    """The gradient, in all floating inputs, of the sum of all floating results.

    None if there is no such input or result, or no gradient.
    """
    targets = [Array(node) for node in dag.inputs.values() if node.dtype.kind == "f"]
    results = [Array(node) for node in dag.outputs if node.dtype.kind == "f"]
    if not targets or not results:
        return None
    try:
        seeds = [(each, snp.broadcast_to(constant(1, each.dtype), each.shape)) for each in results]
        found = [each for each in cotangents(seeds, targets) if each is not None]
    except NotDifferentiable:
        return None
    return Dag(dag.inputs, [each.node for each in found]) if found else None


def check_dag(
    dag: Dag,
    backend: str | Backend,
    *,
    exact: bool = False,
    sizes: Iterable[int] = (3, 1, 0),
    **options: Any,
) -> int:
    """Check values, dtypes and shapes of one graph, for several sizes of its named dimensions.

    Returns
    -------
    int
        How many sizes were compared: not those whose inputs NumPy itself refuses, as for the
        maximum of no elements.

    Raises
    ------
    VerifyError
        If a result differs, shares memory with an input, or if the backend writes to an input.
    """
    lowered = lower(dag, backend, **options)
    count = 0
    for n in sizes if dag.dims else (0,):
        rng = np.random.default_rng(n)
        given = {name: numbers_for(node, rng, n) for name, node in dag.inputs.items()}
        before = {name: array.copy() for name, array in given.items()}
        try:
            wanted = evaluate(dag, given)
        except ValueError:
            continue
        _compare(dag, lowered, given, wanted, exact)
        count += 1
        if any(not np.array_equal(before[name], given[name], equal_nan=True) for name in given):
            raise VerifyError(
                f"Backend {lowered.backend.name!r} writes to its inputs.", _shown(dag)
            )
    return count


def _compare(
    dag: Dag, lowered: Lowered, given: dict[str, Any], wanted: list[Any], exact: bool
) -> None:
    results = lowered(**given)
    leaves = [results] if len(dag.outputs) == 1 else list(results)
    for output, got, want in zip(dag.outputs, leaves, wanted, strict=True):
        array = lowered.backend.to_numpy(got)
        what = ""
        if array.dtype != want.dtype or array.shape != want.shape:
            what = f"{array.dtype}{array.shape} instead of {want.dtype}{want.shape}"
        elif not _agree(array, want, exact):
            what = f"\n{array}\ninstead of\n{want}"
        elif any(np.shares_memory(array, each) for each in given.values()):
            what = "the memory of an input"
        if what:
            raise VerifyError(
                f"Backend {lowered.backend.name!r} gives {what} for {output!r}.", _shown(dag)
            )


_TOLERANCE = {"float64": 1e-8, "float32": 2e-4, "float16": 2e-2}


def _agree(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any], exact: bool) -> bool:
    if want.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    if exact:
        return bool(np.array_equal(got, want, equal_nan=True)) and bool(
            np.array_equal(np.signbit(got), np.signbit(want)) or np.any(np.isnan(want))
        )
    tolerance = _TOLERANCE[want.dtype.name]
    scale = float(np.max(np.abs(want), initial=1.0, where=np.isfinite(want)))
    return bool(
        np.allclose(got, want, rtol=tolerance, atol=tolerance * min(scale, 1e3), equal_nan=True)
    )


def _shown(dag: Dag) -> list[str]:
    return [repr(node) for node in dag.nodes[-12:]]


def numbers_for(node: Node, rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """Random numbers for an input whose named dimensions have the size `n`."""
    shape = tuple(dim if isinstance(dim, int) else n for dim in node.shape)
    if node.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if node.dtype.kind in "iu":
        return np.asarray(rng.integers(0, 4, shape), dtype=node.dtype)
    return np.asarray(rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0, 3.0], shape)).astype(
        node.dtype
    )
