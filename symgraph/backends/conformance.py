"""What every backend must pass: each operation and random graphs, against the interpreter.

`check_backend("mine")` is all a new backend needs for its tests. An operation without params is
sampled by itself; `SAMPLES` shows one or more calls of each that has some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np

from .. import numpy as snp
from ..array import FUNCTIONS, Array, apply
from ..dag import Dag, Node
from ..errors import SymgraphError, VerifyError
from ..evaluate import evaluate
from ..implicit import fixed_point
from ..op import OPS, Op
from ..ops.branches import cond
from ..ops.creation import dimension
from ..ops.creation import input as symbolic
from ..ops.derivatives import custom_vjp
from ..ops.iteration import while_loop
from ..ops.loops import scan
from ..pytrees import flatten
from . import layersamples
from .base import Backend, Lowered, lower

__all__ = ["SAMPLES", "check_backend", "check_dag", "op_samples", "random_dag"]

Call = Callable[..., Any]


def _x(*shape: int | str, dtype: str = "float64") -> Array:
    return symbolic(f"x{next(_names)}", shape, dtype)


_names = iter(range(10**9))


def _f(name: str) -> Callable[..., Any]:
    return FUNCTIONS[name]


def _step(carry: Array, x: Array) -> tuple[Array, Array]:
    after = _f("tanh")(carry * x - 0.5)
    return after, after + x


def _no_rule(*_arguments: Any) -> None:
    """In place of a derivative: only values are compared."""


# One row an operation with params: calls on fresh symbolic operands.
SAMPLES: dict[str, tuple[Call, ...]] = {
    **layersamples.SAMPLES,
    "cast": (
        lambda: _f("astype")(_x(3, 2), "float32"),
        lambda: _f("astype")(_x(3, 2, dtype="int64"), "bool"),
    ),
    "scan": (
        lambda: scan(_step, _x(3), _x(5, 3), reverse=True),
        lambda: scan(_step, _x(2, dtype="float32"), _x("n", 2, dtype="float32")),
        lambda: scan(lambda c, i: (c * 2, (i, c > 0)), _x(), FUNCTIONS["arange"](4)),
        lambda: scan(lambda c, x: (c, scan(_step, c, x)[1]), _x(3), _x(4, 2, 3))[1],
    ),
    "clip_gradient": (lambda: _f("clip_gradient")(_x(3), norm=1.0),),
    "custom_vjp": (
        lambda: custom_vjp(lambda x, y: (x * y, _f("exp")(x)), _no_rule)(_x(3), _x()),
        lambda: custom_vjp(_f("tanh"), _no_rule)(_x("n", 2)),
    ),
    "implicit": (lambda: fixed_point(lambda x, a: 1 + _f("tanh")(a) * x / 3, _x(2), _x(2)),),
    "converged": (lambda: fixed_point(lambda x: (x[0] / 2, x[1] * 0 + 1), (_x("n"), _x())),),
    "cond": (
        lambda: cond(_x() > 0, lambda x, y: (x * y, x > y), lambda x, y: (x, x > 0), _x(3), _x(3)),
        lambda: cond(_f("sum")(_x("n")) > 0, _f("exp"), _f("negative"), _x("n", dtype="float32")),
    ),
    "while_loop": (
        lambda: while_loop(
            lambda c: _f("all")(c[0] < 40) & (c[1] < 9),
            lambda c: (c[0] * 2 + 0.5, c[1] + 1),
            (_f("absolute")(_x(3)), 0),
        ),
        lambda: while_loop(lambda c: c < 7, lambda c: c * c + 1, _f("absolute")(_x())),
    ),
    "round": (lambda: _f("round")(_x(3, 2), 1),),
    "reshape": (
        lambda: _f("reshape")(_x(3, 4), (2, 6)),
        lambda: _f("reshape")(_f("transpose")(_x("n", 4)), (-1,)),
        lambda: _f("reshape")(_x(0, 4), (2, 0)),
    ),
    "transpose": (
        lambda: _f("transpose")(_x(3, 4)),
        lambda: _f("transpose")(_x(2, "n", 4), (1, 2, 0)),
    ),
    "broadcast_to": (
        lambda: _f("broadcast_to")(_x(3, 1), (2, 3, 4)),
        lambda: _f("broadcast_to")(_x("n", 1), _x("n", 4).shape),
        lambda: _f("broadcast_to")(_x(), (0, 2)),
    ),
    "concatenate": (
        lambda: _f("concatenate")((_x(3, 4), _x(2, 4)), axis=0),
        lambda: _f("concatenate")((_x("n", 4), _x("n", 1)), axis=-1),
    ),
    "matmul": (
        lambda: _x(3, 4) @ _x(4, 2),
        lambda: _x(5, 3, 4) @ _x(4),
        lambda: _x(4) @ _x(4),
        lambda: _x("n", 4, dtype="float32") @ _x(4, "n", dtype="float32"),
        lambda: _x(3, 0) @ _x(0, 2),
    ),
    "einsum": (
        lambda: _f("einsum")("ij,jk->ik", _x(3, 4), _x(4, 2)),
        lambda: _f("einsum")("ii->i", _x(3, 3)),
        lambda: _f("einsum")("ij,j,j->i", _x(3, 4), _x(4), _x(4)),
    ),
    "diagonal": (lambda: _f("diagonal")(_x(3, 4)), lambda: _f("diagonal")(_x(3, 4), 1)),
    "diagonal_matrix": (
        lambda: apply(OPS["diagonal_matrix"], _x(3), rows=3, columns=3, offset=0),
        lambda: apply(OPS["diagonal_matrix"], _x(2, 3), rows=4, columns=4, offset=-1),
    ),
    "dimension": (lambda: _x("n") * dimension(_x("n").shape[0], "float64"),),
    "project": (lambda: apply(OPS["max_with_index"], _x(3, 4), axis=-2, keepdims=True),),
    "constant": (lambda: _x(3) + np.array([0.1, -0.0, np.inf]),),
    "input": (lambda: _x(3, 4),),
    "product_of_others": (lambda: apply(OPS["product_of_others"], _x("n", 4)),),
    "scatter_add": (
        lambda: apply(OPS["scatter_add"], _x(5, 4), _x(3, 4), _i(3), axis=-2),
        lambda: apply(OPS["scatter_add"], _x("n", 4), _x("n", 6), _i(6), axis=-1),
    ),
    "add_along_axis": (
        lambda: apply(OPS["add_along_axis"], _x(5, 4), _x(2, 4), _i(2, 4), axis=-2),
    ),
    "arange": (lambda: FUNCTIONS["arange"](_x("n").shape[0]) * _x("n"),),
    "eye": (lambda: apply(OPS["eye"], rows=3, columns=4, offset=1, dtype=np.dtype("float64")),),
    "getitem": (
        lambda: _x(5, 4)[1:4, ::-1],
        lambda: _x(5, 4)[2],
        lambda: _x("n", 4)[:-1, None, 3],
        lambda: _x(5)[3],
    ),
    "embed": (lambda: _f("embed")(_x(2, 3), (4, 6), (slice(1, 3), slice(None, None, 2))),),
    "gather": (
        lambda: _f("take")(_x(5, 4), _i(3), axis=0),
        lambda: _f("take")(_x(5, 4), _i(2, 3), axis=-1),
    ),
    "take_along_axis": (lambda: _f("take_along_axis")(_x(5, 4), _i(2, 4), axis=0),),
    "one_hot": (lambda: _f("one_hot")(_i(6), 4),),
    "softmax": (lambda: _f("softmax")(_x("n", 4)), lambda: _f("softmax")(_x(3, 4), axis=(0, 1))),
    "log_softmax": (lambda: _f("log_softmax")(_x("n", 4)),),
    "polygamma": (lambda: _f("polygamma")(2, _x(3)),),
    "max_with_index": (lambda: apply(OPS["max_with_index"], _x(3, 4), axis=-1, keepdims=False),),
    **{
        name: (
            lambda name=name: _f(name)(_x(3, 4), axis=0),
            lambda name=name: _f(name)(_x("n", 4), axis=-2),
        )
        for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort")
    },
    **{name: (lambda name=name: _f(name)(_x(3, "n"), 1),) for name in ("tril", "triu")},
    "assign": (lambda: _f("index_update")(_x("n", 4), (slice(None), 1), _x()),),
    "scatter_set": (
        lambda: _f("scatter_set")(_x(3, 4), _x(3, 2), np.array([3, 1])),
        lambda: _f("index_update")(_x("n", 4), (slice(None), _i(3)), _x(3)),
    ),
    "convolve": (
        lambda: _f("convolve")(_x(5), _x(3), "valid"),
        lambda: _f("convolve")(_x(4), _x(3)),
        lambda: apply(OPS["convolve"], _x(2, 5), _x(3), mode="full"),
    ),
    "linear_recurrence": (lambda: _f("linear_recurrence")(_x("n", 1), _x("n", 4)),),
    "searchsorted": (
        lambda: _f("searchsorted")(_f("sort")(_x("n")), _x(3, 4)),
        lambda: _f("searchsorted")(_f("sort")(_x(5)), _x(3), side="right"),
    ),
    "logsumexp": (lambda: _f("logsumexp")(_x("n", 4), axis=-1),),
    "clip": (lambda: _f("clip")(_x(3, 4), -0.5, 0.5),),
    **{
        name: (
            lambda name=name: _f(name)(_x(3, 4)),
            lambda name=name: _f(name)(_x("n", 4), axis=-1, keepdims=True),
        )
        for name in ("sum", "prod", "max", "min", "all", "any")
    },
    **{name: (lambda name=name: _f(name)(_x("n", 4), axis=-1),) for name in ("argmax", "argmin")},
    "solve": (
        lambda: _f("solve")(_square(3), _x(3, 2)),
        lambda: _f("solve")(_square(2, 3, dtype="float32"), _x(3, dtype="float32")),
        lambda: _f("solve")(_square("n"), _x("n")),
        lambda: _f("solve")(_x(0, 0), _x(0)),
    ),
    "solve_triangular": (
        lambda: _f("solve_triangular")(_square(3), _x(3, 2)),
        lambda: _f("solve_triangular")(_square(2, 3), _x(3), lower=True, trans=1),
        lambda: _f("solve_triangular")(_square(3), _x(2, 3, 2), unit_diagonal=True),
        lambda: _f("solve_triangular")(_square("n"), _x("n")),
    ),
    **{
        name: (
            lambda name=name: _f(name)(_square(3)),
            lambda name=name: _f(name)(_square(2, 3, dtype="float32")),
            lambda name=name: _f(name)(_square("n")),
            lambda name=name: _f(name)(_x(0, 0)),
        )
        for name in ("inv", "det", "slogdet", "cofactor", "copied_lower")
    },
    "expm": (
        lambda: _f("expm")(_x(3, 3)),
        lambda: _f("expm")(_x(2, 3, 3, dtype="float32") / 4),
        lambda: _f("expm")(_x("n", "n")),
        lambda: _f("expm")(_x(0, 0)),
    ),
    **{
        name: (
            lambda name=name: _f(name)(_square(3), _x(3, 3)),
            lambda name=name: _f(name)(_square(3), _x(2, 3, 3)),
        )
        for name in ("cofactor_along", "expm_along")
    },
    "cholesky": (
        lambda: _f("cholesky")(_definite(_x(2, 3, 3))),
        lambda: _f("cholesky")(_definite(_x("n", "n"))),
        # Only one triangle is read.
        lambda: _f("cholesky")(_definite(_x(3, 3)) + _UPPER),
    ),
    "qr": (
        lambda: _f("qr")(_x(4, 3)),
        lambda: _f("qr")(_x(2, 3, 4, dtype="float32")),
        lambda: _f("qr")(_x("n", 3)),
    ),
    # The signs of vectors are the backend's own.
    "eigh": (
        lambda: _unsigned(_f("eigh")(_definite(_x(3, 3)) + _UPPER)),
        lambda: _unsigned(_f("eigh")(_definite(_x(2, 3, 3)) + _UPPER, "U")),
    ),
    "svd": (
        lambda: _unsigned(_f("svd")(_x(4, 3), full_matrices=False)),
        lambda: _unsigned(_f("svd")(_x(2, 2, 4, dtype="float32"), full_matrices=False)),
        lambda: _unsigned(_f("svd")(_x("n", 3), full_matrices=False)),
    ),
    "pinv": (lambda: _f("pinv")(_x(4, 3)), lambda: _f("pinv")(_x(2, 2, 4), 0.25)),
    "least_squares": (
        lambda: _f("least_squares")(_x(4, 3), _x(4)),
        lambda: _f("least_squares")(_x(3, 4), _x(2, 3, 2)),
        lambda: _f("least_squares")(_x("n", 3), _x("n", 2)),
    ),
    "reciprocal_gaps": (
        lambda: _f("reciprocal_gaps")(_x(2, 3)),
        lambda: _f("reciprocal_gaps")(_x("n") * 0),
    ),
    "significant": (
        lambda: _f("significant")(_x(3), 4),
        lambda: _f("significant")(_x("n") * 0, _x("n").shape[0]),
    ),
    "p_norm": (
        lambda: snp.linalg.norm(_x("n", 4), axis=-1),
        lambda: snp.linalg.norm(_x(3, 4), keepdims=True),
        lambda: snp.linalg.norm(_x(3, 4, dtype="float32"), 3, axis=0),
    ),
    "cross": (lambda: _f("cross")(_x(2, 3), _x(3)), lambda: _f("cross")(_x("n", 3), _x("n", 3))),
}
_UPPER = np.array([[0.0, 7.0, 7.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]])


def _square(*shape: int | str, dtype: str = "float64") -> Array:
    """Well-conditioned matrices."""
    x = _x(*shape, shape[-1], dtype=dtype)
    return x + 4 * snp.eye(x.shape[-1], dtype=dtype)


def _definite(x: Array) -> Array:
    return x @ x.mT + snp.eye(x.shape[-1])


def _unsigned(results: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple([_f("absolute")(each) for each in results])


def _i(*shape: int | str) -> Array:
    return _x(*shape, dtype="int64")


def op_samples(op: Op) -> Iterator[Dag]:
    """Graphs around one operation: its dtypes, shapes (0-d and empty too) and broadcasting."""
    for call in SAMPLES.get(op.name, ()):
        yield _dag_of(call())
    if op.name not in SAMPLES and isinstance(op.vjp, tuple) and op.vjp:
        dtypes = ("float64", "float32") if op.name in _FLOATS_ONLY else _DTYPES
        for dtype in dtypes:
            for shapes in _SHAPES.get(len(op.vjp), ()):
                operands = [_x(*shape, dtype=dtype) for shape in shapes]
                try:
                    yield _dag_of(apply(op, *operands))
                except (SymgraphError, TypeError):
                    continue  # The operation refuses these dtypes or shapes, or needs params.


_DTYPES = ("float64", "float32", "int64", "bool")
# What an integer's reciprocal is at 0 NumPy leaves to the machine.
_FLOATS_ONLY = ("reciprocal",)
_SHAPES: dict[int, tuple[tuple[tuple[int | str, ...], ...], ...]] = {
    1: (((3, 4),), ((),), (("n", 2),), ((0, 3),)),
    2: (((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), ()), (("n", 2), (2,)), ((0, 3), (3,))),
    3: (((3, 4), (3, 4), (3, 4)), ((3, 1), (1, 4), ())),
}


def _dag_of(result: Any) -> Dag:
    outputs = [each.node for each in flatten(result)[0]]
    found: dict[str, Node] = {}
    seen = set(outputs)
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.is_input:
            found[node.params["name"]] = node
        for operand in node.operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return Dag(dict(sorted(found.items())), outputs)


def _numbers(node: Node, rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    shape = tuple(dim if isinstance(dim, int) else n for dim in node.shape)
    if node.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if node.dtype.kind in "iu":
        return np.asarray(rng.integers(0, 4, shape), dtype=node.dtype)
    return np.asarray(rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0, 3.0], shape)).astype(
        node.dtype
    )


# -- random graphs ---------------------------------------------------------------------------------
_UNARY = [
    "exp",
    "tanh",
    "sin",
    "square",
    "absolute",
    "negative",
    "sqrt",
    "log1p",
    "sigmoid",
    "floor",
]
_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power"]


def random_dag(seed: int, size: int = 25, dtype: str = "float64", rows: int | str = 5) -> Dag:
    """A random graph of elementwise, reducing, moving and contracting operations.

    Parameters
    ----------
    seed, size : int
    dtype : str
    rows : int or str
        The first dimension: a size or a name.
    """
    rng = np.random.default_rng(seed)
    pool: list[Array] = [
        symbolic("a", (rows, 4), dtype),
        symbolic("b", (rows, 4), dtype),
        symbolic("w", (4, 4), dtype),
        symbolic("s", (4,), dtype),
        cast("Array", _f("cos")(symbolic("t", (), dtype))),
    ]
    inputs = dict(zip("abws", pool, strict=False))
    inputs["t"] = Array(pool[-1].node.operands[0])
    while len(pool) < size:
        try:
            pool.append(_grown(pool, rng))
        except SymgraphError:
            continue  # Shapes that do not fit.
    picked = rng.choice(len(pool), size=min(4, len(pool)), replace=False)
    outputs = [pool[-1].node, *[pool[i].node for i in picked]]
    return Dag({name: array.node for name, array in inputs.items()}, outputs)


def _grown(pool: list[Array], rng: np.random.Generator) -> Array:
    # Recent values more often, so that graphs grow deep as well as wide.
    def pick() -> Array:
        return pool[-1 - min(int(rng.exponential(4)), len(pool) - 1)]

    x, y = pick(), pick()
    match int(rng.integers(0, 10)):
        case 0 | 1 | 2:
            return _f(_UNARY[rng.integers(len(_UNARY))])(x)
        case 3 | 4 | 5:
            return _f(_BINARY[rng.integers(len(_BINARY))])(x, y)
        case 6:
            return _f(str(rng.choice(["sum", "max", "prod"])))(x, axis=-1, keepdims=True)
        case 7:
            return x @ y
        case 8:
            return x.T if rng.integers(2) else x[..., ::-1]
        case _:
            return _f("where")(x > y, x, snp.asarray(0.5, dtype=x.dtype))


# -- the check -------------------------------------------------------------------------------------
def check_backend(
    backend: str | Backend,
    *,
    ops: Iterable[Op] | None = None,
    graphs: int = 20,
    exact: bool = False,
    **options: Any,
) -> int:
    """Check a backend against the interpreter; gives the number of graphs that were run.

    Parameters
    ----------
    backend : str or Backend
    ops : iterable of Op, optional
        By default every registered one, those of users left out.
    graphs : int
        How many random graphs.
    exact : bool
        Ask for the interpreter's bits; else for values within rounding of each dtype.
    **options
        For `lower`.

    Raises
    ------
    VerifyError
        Naming the graph that fails, with both results.
    """
    count = 0
    for op in [each for each in OPS.values() if not each.custom] if ops is None else ops:
        for dag in op_samples(op):
            check_dag(dag, backend, exact=exact, **options)
            count += 1
    for seed in range(graphs):
        dtype, rows = ("float64", "float32")[seed % 2], (5, "n", 1)[seed % 3]
        check_dag(random_dag(seed, dtype=dtype, rows=rows), backend, exact=exact, **options)
        count += 1
    return count


def check_dag(
    dag: Dag,
    backend: str | Backend,
    *,
    exact: bool = False,
    sizes: Iterable[int] = (3, 1, 0),
    **options: Any,
) -> None:
    """Check one graph: values, dtypes and shapes, for several sizes of its named dimensions.

    Raises
    ------
    VerifyError
    """
    lowered = lower(dag, backend, **options)
    for n in sizes if dag.dims else (0,):
        rng = np.random.default_rng(n)
        given = {name: _numbers(node, rng, n) for name, node in dag.inputs.items()}
        before = {name: array.copy() for name, array in given.items()}
        try:
            wanted = evaluate(dag, given)
        except ValueError:
            continue  # NumPy refuses, such as the maximum of no elements.
        _compare(dag, lowered, given, wanted, exact)
        if any(not np.array_equal(before[name], given[name], equal_nan=True) for name in given):
            raise VerifyError(
                f"Backend {lowered.backend.name!r} writes to its inputs.", _shown(dag)
            )


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
            what = "memory of an input"
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
