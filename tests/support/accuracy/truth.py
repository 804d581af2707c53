r"""The exact values of a graph as derived, and the error that rounding may cause in them.

Each node is computed from its definition with hundreds of binary digits. The noise of rounding is
found as in Parker 1997, "Monte Carlo Arithmetic": a value that does not fit the digits of its dtype
is rounded up or down at random, one that fits is left alone, so that `2*z - 2*y` of nearly equal
numbers stays exact. Products, quotients and roots that fit do so by the luck of round numbers, and
are perturbed all the same, unless a constant of the graph is a power of two. A common relative
error of all inputs counts as well, $u\,|\sum_i x_i \partial_i f|$: $e^{3x}$ may lose that much
against $(e^x)^3$. Exponents have no limit here: overflow and underflow are not excused.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from mpmath import libmp, mp

import symgraph as sg
from symgraph.ir.node import Node
from symgraph.namespace import NUMPY

from .definitions import ELEMENTWISE, Doubts, Unsupported

__all__ = ["BITS", "Truth", "Unsupported", "limits_of", "truth_of"]

Values: TypeAlias = np.ndarray[Any, Any]
Rounding: TypeAlias = Callable[[Any], Any]

BITS = {"float32": 420, "float64": 1200}
"""Enough bits that 1 survives beside the largest number whose square is in range."""
_RUNS = 4
"""The number of perturbed runs; the final check makes four times as many."""
_STEP = -80
"""The common relative error of the inputs is this power of two."""

_NEARBY = -200
"""Inputs are moved by this relative power of two to see whether a derivative jumps."""
_DIRECTIONS = 3

_ROUND = frozenset(("multiply", "divide", "divide_or_zero", "square", "sqrt", "reciprocal"))
"""Exact by luck alone, of round numbers."""

_MOVEMENT = frozenset(
    ("reshape", "transpose", "broadcast_to", "concatenate", "getitem", "diagonal", "stack", "flip")
)


@dataclass(frozen=True)
class Truth:
    """One entry for each number of the outputs, one output after the other."""

    exact: list[Any]
    noise: list[Any]
    doubtful: bool


def truth_of(
    graph: sg.Graph, at: Mapping[str, Values], dtype: str, bits: int, runs: int = _RUNS
) -> Truth:
    """The exact values of the outputs at these inputs, and the noise of arithmetic in `dtype`.

    Two roundings cancel in every second run, so that few `runs` may show no noise where there is.

    Raises
    ------
    Unsupported
        If an operation has no definition.
    """
    digits = 24 if dtype == "float32" else 53
    rng = random.Random(0)
    with mp.workprec(bits):
        Doubts.found = False
        given = {name: _numbers(value) for name, value in at.items()}
        chosen: dict[Node, Values] = {}
        exact = _flat(_values(graph, given, None, chosen))
        doubtful = Doubts.found
        moved = {name: value * (1 + mp.ldexp(1, _STEP)) for name, value in given.items()}
        near = _flat(_values(graph, moved, None, dict(chosen)))
        noise = [_ulps(abs(b - a), -_STEP - digits) for a, b in zip(exact, near, strict=True)]
        for _ in range(runs):
            with mp.workprec(BITS[dtype]):
                found = _flat(_values(graph, given, _stochastic(digits, rng), {}))
            apart = [abs(b - a) for a, b in zip(exact, found, strict=True)]
            noise = [max(a, b) if mp.isfinite(b) else a for a, b in zip(noise, apart, strict=True)]
    return Truth(exact, noise, doubtful)


def limits_of(graph: sg.Graph, at: Mapping[str, Values], bits: int) -> list[Any]:
    """The exact values of the outputs nearby; NaN where the sides differ.

    A derivative may follow the convention of a kink, as of max(x, 0), where the function has none,
    as max(x, 0) + log(1 + exp(-|x|)): then the limit of the derivative is right.
    """
    rng = random.Random(1)
    with mp.workprec(bits):
        given = {name: _numbers(value) for name, value in at.items()}
        sides: list[list[Any]] = []
        for _ in range(_DIRECTIONS):
            steps = {name: _each(lambda x: _nudge(x, rng), value) for name, value in given.items()}
            for sign in (1, -1):
                moved = {name: given[name] + sign * steps[name] for name in given}
                sides.append(_flat(_values(graph, moved, None, {})))
        return [_common(values) for values in zip(*sides, strict=True)]


def _nudge(x: Any, rng: random.Random) -> Any:
    return mp.ldexp((1 + mp.mpf(rng.random())) * max(abs(x), mp.one), _NEARBY)


def _common(values: Sequence[Any]) -> Any:
    """The value near all of these; NaN if there is none."""
    first = values[0]
    if not all(mp.isfinite(each) for each in values):
        return mp.nan
    slack = mp.ldexp(abs(first) + mp.ldexp(1, _NEARBY // 2), -64)
    return first if all(abs(each - first) <= slack for each in values) else mp.nan


def _ulps(change: Any, shift: int) -> Any:
    return mp.ldexp(change, shift) if mp.isfinite(change) else mp.zero


def _stochastic(digits: int, rng: random.Random) -> Rounding:
    """Up or down to so many binary digits; what has no more is as it was."""

    def rounded(x: Any, lucky: bool = False) -> Any:
        if not isinstance(x, mp.mpf) or not mp.isfinite(x):
            return x
        if lucky:
            x = x * (1 + mp.ldexp(rng.choice((-1, 1)), -2 * digits))
        return mp.make_mpf(libmp.mpf_pos(x._mpf_, digits, "f" if rng.random() < 0.5 else "c"))

    return rounded


def _numbers(value: Any) -> Values:
    """The number as an exact one; bools stay as they are."""
    array = np.asarray(value)
    if array.dtype.kind == "b":
        return array.astype(object)
    return _each(lambda x: mp.mpf(float(x)), array)


def _each(function: Callable[..., Any], *arrays: Any) -> Values:
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)


def _flat(values: Sequence[Values]) -> list[Any]:
    return [mp.mpf(each) for value in values for each in np.ravel(value)]


def _values(
    graph: sg.Graph,
    given: Mapping[str, Values],
    rounding: Rounding | None,
    choices: dict[Node, Values],
) -> list[Values]:
    """The outputs. `choices` fixes the result of each comparison; missing ones are added to it."""
    values: dict[Node, Values] = {}
    for node in graph.dag.nodes:
        if node.is_input:
            values[node] = given[node.params["name"]]
            continue
        if node in choices:
            values[node] = choices[node]
            continue
        operands = [values[each] for each in node.operands]
        value = _value(node, operands, rounding)
        if node.dtype.kind == "b":
            choices[node] = value
        elif rounding is not None and node.op.name not in _MOVEMENT and not node.is_constant:
            lucky = node.op.name in _ROUND and not any(map(_is_power_of_two, node.operands))
            value = _each(partial(rounding, lucky=lucky), value)
        values[node] = value
    return [values[output] for output in graph.dag.outputs]


def _is_power_of_two(node: Node) -> bool:
    """Whether products and quotients with it stay exact."""
    value = np.abs(node.params["value"]) if node.is_constant else np.zeros(())
    return bool(np.all(np.frexp(value)[0] == 0.5))


def _value(node: Node, operands: list[Values], rounding: Rounding | None) -> Values:
    name, params = node.op.name, dict(node.params)
    if name == "constant":
        return _numbers(params["value"])
    if name == "cast":
        if node.dtype.kind != "f":
            raise Unsupported("cast to integers")
        return _each(mp.mpf, operands[0])
    if name in _MOVEMENT:
        return np.asarray(node.op.kernel(NUMPY, *operands, **params), dtype=object)
    if name in _FOLDS:
        return _folded(operands[0], params, rounding, _FOLDS[name])
    if name in _BY_AXIS:
        return _by_axis(operands[0], params, rounding, _BY_AXIS[name])
    if name in _PRODUCTS:
        return _PRODUCTS[name](operands, params, rounding)
    if name not in ELEMENTWISE or params:
        raise Unsupported(name)
    return _each(ELEMENTWISE[name], *operands)


# -- along axes ----------------------------------------------------------------------------------
def _total(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    found = mp.zero
    for each in row:
        found = ELEMENTWISE["add"](found, each)
        found = found if rounding is None else rounding(found)
    return found


def _product(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    found = mp.one
    for each in row:
        found = ELEMENTWISE["multiply"](found, each)
        found = found if rounding is None else rounding(found)
    return found


def _largest(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    return mp.nan if any(mp.isnan(each) for each in row) else max(row)


def _least(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    return mp.nan if any(mp.isnan(each) for each in row) else min(row)


def _logsumexp(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    top = _largest(row, rounding, params)
    if not mp.isfinite(top):
        return top
    return top + mp.log(_total([ELEMENTWISE["exp"](each - top) for each in row], rounding, params))


def _norm(row: Sequence[Any], rounding: Rounding | None, params: Mapping[str, Any]) -> Any:
    if params["ord"] != 2:
        raise Unsupported("p_norm")
    return mp.sqrt(_total([each * each for each in row], rounding, params))


_FOLDS: dict[str, Callable[..., Any]] = {
    "sum": _total,
    "prod": _product,
    "max": _largest,
    "min": _least,
    "logsumexp": _logsumexp,
    "p_norm": _norm,
    "any": lambda row, rounding, params: any(row),
    "all": lambda row, rounding, params: all(row),
}


def _folded(
    x: Values, params: Mapping[str, Any], rounding: Rounding | None, fold: Callable[..., Any]
) -> Values:
    axis = params["axis"]
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rest = [i for i in range(-x.ndim, 0) if i not in axes]
    shape = tuple(x.shape[i] for i in rest)
    rows = np.transpose(x, (*rest, *axes)).reshape((int(np.prod(shape, dtype=int)), -1))
    found = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        found[i] = fold(list(row), rounding, params)
    if params.get("keepdims"):
        shape = tuple(1 if i in axes else x.shape[i] for i in range(-x.ndim, 0))
    return found.reshape(shape)


def _others(row: Sequence[Any], rounding: Rounding | None) -> list[Any]:
    return [_product([*row[:i], *row[i + 1 :]], rounding, {}) for i in range(len(row))]


def _running(row: Sequence[Any], rounding: Rounding | None) -> list[Any]:
    return [_total(row[: i + 1], rounding, {}) for i in range(len(row))]


def _log_softmax(row: Sequence[Any], rounding: Rounding | None) -> list[Any]:
    level = _logsumexp(row, rounding, {})
    return [ELEMENTWISE["subtract"](each, level) for each in row]


def _softmax(row: Sequence[Any], rounding: Rounding | None) -> list[Any]:
    return [ELEMENTWISE["exp"](each) for each in _log_softmax(row, None)]


_BY_AXIS: dict[str, Callable[..., list[Any]]] = {
    "product_of_others": _others,
    "cumsum": _running,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
}


def _by_axis(
    x: Values,
    params: Mapping[str, Any],
    rounding: Rounding | None,
    function: Callable[..., list[Any]],
) -> Values:
    axis = params.get("axis", -1)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    places = tuple(range(-len(axes), 0))
    moved = np.moveaxis(x, axes, places)
    rows = moved.reshape((-1, int(np.prod([x.shape[i] for i in axes], dtype=int))))
    if params.get("reverse"):
        rows = rows[:, ::-1]
    found = np.empty(rows.shape, dtype=object)
    for i, row in enumerate(rows):
        found[i] = function(list(row), rounding)
    if params.get("reverse"):
        found = found[:, ::-1]
    return np.moveaxis(found.reshape(moved.shape), places, axes)


# -- products ------------------------------------------------------------------------------------
def _matmul(operands: list[Values], params: Mapping[str, Any], rounding: Rounding | None) -> Values:
    x, y = operands
    left = x[..., None, :] if x.ndim == 1 else x
    right = y[..., :, None] if y.ndim == 1 else y
    if left.ndim != 2 or right.ndim != 2:
        raise Unsupported("matmul of stacks")
    found = np.empty((left.shape[0], right.shape[1]), dtype=object)
    for i, j in np.ndindex(*found.shape):
        terms = [ELEMENTWISE["multiply"](a, b) for a, b in zip(left[i], right[:, j], strict=True)]
        found[i, j] = _total(terms if rounding is None else map(rounding, terms), rounding, {})  # type: ignore[arg-type]
    found = found[:, 0] if y.ndim == 1 else found
    return found[0] if x.ndim == 1 else found


def _diagonal_matrix(
    operands: list[Values], params: Mapping[str, Any], rounding: Rounding | None
) -> Values:
    if any(params.values()) or operands[0].ndim != 1:
        raise Unsupported("diagonal_matrix")
    found = np.full((operands[0].size,) * 2, mp.zero, dtype=object)
    np.fill_diagonal(found, operands[0])
    return found


_PRODUCTS: dict[str, Callable[..., Values]] = {
    "matmul": _matmul,
    "diagonal_matrix": _diagonal_matrix,
}
