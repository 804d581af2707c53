"""Where a NaN or an infinity of a result first arose: a walk back from the result.

All values are computed and kept. From a bad element of an output the walk goes to the operand that
made it bad, and on to the operation that gave a bad number for good ones, to a bad input or to a
bad constant. That an operand made an element bad is tried out, not assumed: with other numbers in
the place of the operand's bad ones the operation must give a good element. So a bad number in a
branch that `where` does not choose is never blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..namespace.namespace import NUMPY, Namespace
from ..records import record
from .body import Body, SizedBody
from .dag import Dag
from .dims import resolve
from .interpreter import values_of
from .node import Node
from .walks import reachable

__all__ = ["BadNumber", "Cause", "bad_elements", "cause_of"]

BadNumber = Literal["nan", "inf"]
"""NaN alone, or infinities too."""

_STAND_INS = (1.0, 0.5)
"""A bad number is an operand's fault if the result is good with one of these in its place."""
_MOST_CALLS = 64
"""So many calls of a body are looked at for the one that matters."""


@record
class Cause:
    """The first bad number on the way to a bad element of an output.

    Parameters
    ----------
    node : Node
        The operation that gave it; an input or a constant that holds it.
    index : tuple of int
        Its place in the result of the node.
    value : ndarray
        The result.
    operands : tuple
        The values of the node's operands.
    output : int
        The position of the output among all.
    reached : tuple of int
        The element of the output.
    step : int or None
        The number of the call of a body, such as the step of a loop, that it arose in.
    nodes : tuple of Node
        The nodes of the graph, or of the body, that the node stands in.
    """

    node: Node
    index: tuple[int, ...]
    value: Any
    operands: tuple[Any, ...]
    output: int
    reached: tuple[int, ...]
    step: int | None
    nodes: tuple[Node, ...]


def bad_elements(value: ArrayLike, kind: BadNumber) -> np.ndarray[Any, Any]:
    """Where an array is NaN or, of the kind "inf", infinite; nowhere if it is no float."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape, bool)
    return np.isnan(array) if kind == "nan" else ~np.isfinite(array)


def cause_of(
    dag: Dag, arrays: Mapping[str, Any], env: Mapping[str, int], kind: BadNumber
) -> Cause | None:
    """The cause of the first bad output; None if every output is good, operation by operation.

    Parameters
    ----------
    dag : Dag
    arrays : mapping of str to array
        The inputs.
    env : mapping of str to int
        The size of each named dimension.
    kind : "nan" or "inf"
    """
    nodes = tuple(dag.nodes)
    with np.errstate(all="ignore"):
        values = values_of(nodes, dag.inputs, arrays, env)
        for number, output in enumerate(dag.outputs):
            bad = bad_elements(values[output], kind)
            if bad.any():
                reached = _first(bad)
                walk = _Walk(values, env, kind)
                node, index, step, inner = walk.back(output, reached)
                known = walk.values if inner is None else inner
                operands = tuple([known[each] for each in node.operands])
                among = nodes if inner is None else tuple(reachable([*inner]))
                value = known[node]
                return Cause(node, index, value, operands, number, reached, step, among)
    return None


def _first(bad: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple([int(each) for each in np.unravel_index(int(np.argmax(bad)), bad.shape)])


@record
class _Walk:
    """A walk back through the values of one graph or one call of a body."""

    values: Mapping[Node, Any]
    env: Mapping[str, int]
    kind: BadNumber

    def back(
        self, node: Node, index: tuple[int, ...]
    ) -> tuple[Node, tuple[int, ...], int | None, Mapping[Node, Any] | None]:
        """Node and element of the cause; of one in a body the call and the values there."""
        part = 0
        while True:
            if node.op.name == "project":
                node, part = node.operands[0], node.params["index"]
                continue
            known = {each: self.values[each] for each in node.operands}
            bad = {each: bad_elements(value, self.kind) for each, value in known.items()
                   if not isinstance(value, tuple)}  # fmt: skip
            bad = {each: where for each, where in bad.items() if where.any()}
            test = self._test(node, part, index)
            if not bad or all(test({**known, **self._good(known, bad, good)}) for good in _goods()):
                inner = self._inside(node, test)
                return inner or (node, index, None, None)
            node, index = self._blamed(node, index, known, bad, test)
            part = 0

    def _test(self, node: Node, part: int, index: tuple[int, ...]) -> Callable[..., bool]:
        """Whether an element of a node's result is bad for these operands."""

        def test(known: Mapping[Node, Any], **bodies: object) -> bool:
            params = {name: resolve(value, self.env) for name, value in node.params.items()}
            try:
                operands = [known[each] for each in node.operands]
                found = node.op.kernel(NUMPY, *operands, **{**params, **bodies})
                result = np.asarray(found[part] if len(node.results) > 1 else found)
                return bool(bad_elements(result[index], self.kind))
            except Exception:  # Other numbers may be none for this operation.
                return True

        return test

    def _good(
        self,
        known: Mapping[Node, Any],
        bad: Mapping[Node, np.ndarray[Any, Any]],
        good: Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], Any],
    ) -> dict[Node, Any]:
        return {each: good(np.asarray(known[each]), where) for each, where in bad.items()}

    def _blamed(
        self,
        node: Node,
        index: tuple[int, ...],
        known: Mapping[Node, Any],
        bad: Mapping[Node, np.ndarray[Any, Any]],
        test: Callable[..., bool],
    ) -> tuple[Node, tuple[int, ...]]:
        """An operand that makes the element bad, and the operand's element that does."""
        good = next(g for g in _goods() if not test({**known, **self._good(known, bad, g)}))
        clean = {**known, **self._good(known, bad, good)}

        def with_bad(each: Node, where: np.ndarray[Any, Any]) -> bool:
            value = np.array(clean[each])
            value[where] = np.asarray(known[each])[where]
            return test({**clean, each: value})

        alone = [each for each in bad if with_bad(each, bad[each])]
        blamed = alone[0] if alone else next(iter(bad))
        where = bad[blamed]
        if where.shape == np.shape(self.values[node]) and where[index]:
            only = np.zeros_like(where)
            only[index] = True
            if with_bad(blamed, only):
                return blamed, index
        return blamed, _narrowed(where, lambda some: with_bad(blamed, some))

    def _inside(
        self, node: Node, test: Callable[..., bool]
    ) -> tuple[Node, tuple[int, ...], int, Mapping[Node, Any]] | None:
        """The cause within a body that the node runs; None if it runs none, or none is to blame."""
        bodies = {name: each for name, each in node.params.items() if isinstance(each, Body)}
        if not bodies:
            return None
        known = {each: self.values[each] for each in node.operands}

        def run(mended: Collection[int]) -> tuple[bool, _Call | None]:
            calls = _Calls(self.kind, mended)
            watched = {name: _Watched(each, self.env, calls) for name, each in bodies.items()}
            return test(known, **watched), calls.found

        found: dict[int, _Call] = {}
        bad, call = run(found)
        while bad and call is not None and len(found) < _MOST_CALLS:
            found[call.number] = call
            bad, call = run(found)
        for number, each in found.items():  # The first without which all would be good.
            if run([other for other in found if other != number])[0]:
                return self._in_call(each)
        return None

    def _in_call(self, call: _Call) -> tuple[Node, tuple[int, ...], int, Mapping[Node, Any]] | None:
        body = call.body
        inputs = {f"i{place}": node for place, node in enumerate(body.inputs)}
        arrays = dict(zip(inputs, call.values, strict=True))
        values = values_of(body.nodes, inputs, arrays, self.env)
        for output in body.outputs:
            bad = bad_elements(values[output], self.kind)
            if bad.any():
                walk = _Walk(values, self.env, self.kind)
                node, index, _, inner = walk.back(output, _first(bad))
                return node, index, call.number, values if inner is None else inner
        return None


@record
class _Call:
    """A call of a body that gave a bad number for good ones."""

    body: Body
    values: tuple[Any, ...]
    number: int


class _Calls:
    """The calls of the bodies of a node, counted; the bad numbers of some are replaced."""

    def __init__(self, kind: BadNumber, mended: Collection[int]) -> None:
        self.kind: BadNumber = kind
        self.mended = mended
        self.count = 0
        self.found: _Call | None = None

    def results(self, body: Body, values: Sequence[Any], found: list[Any]) -> list[Any]:
        """The results of the body, or those that stand in for them."""
        number, self.count = self.count, self.count + 1
        bad = [bad_elements(each, self.kind) for each in found]
        if not any(where.any() for where in bad):
            return found
        if number in self.mended:
            return [_filled(np.asarray(each), where, 1.0) if where.any() else each
                    for each, where in zip(found, bad, strict=True)]  # fmt: skip
        if self.found is None and not any(bad_elements(v, self.kind).any() for v in values):
            self.found = _Call(body, tuple([np.array(each) for each in values]), number)
        return found


class _Watched(SizedBody):
    """A body whose calls are looked at."""

    __slots__ = ("calls",)

    def __init__(self, body: Body, env: Mapping[str, int], calls: _Calls) -> None:
        super().__init__(body, env)
        self.calls = calls

    def __call__(self, xp: Namespace, *values: Any) -> list[Any]:
        return self.calls.results(self.body, values, super().__call__(xp, *values))


def _filled(value: np.ndarray[Any, Any], where: np.ndarray[Any, Any], number: float) -> Any:
    filled = np.array(value)
    filled[where] = number
    return filled


def _diagonal(value: np.ndarray[Any, Any], where: np.ndarray[Any, Any]) -> Any:
    """Identity matrices in the place of an array of square matrices: these have all inverses."""
    if value.ndim < 2 or value.shape[-1] != value.shape[-2]:
        return _filled(value, where, 1.0)
    return np.broadcast_to(np.eye(value.shape[-1], dtype=value.dtype), value.shape)


def _goods() -> list[Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any]], Any]]:
    """Ways to put good numbers in the place of bad ones."""
    fills = [lambda value, where, number=number: _filled(value, where, number)
             for number in _STAND_INS]  # fmt: skip
    return [*fills, _diagonal]


def _narrowed(
    where: np.ndarray[Any, Any], test: Callable[[np.ndarray[Any, Any]], bool]
) -> tuple[int, ...]:
    """One of the places that is enough for the test: halves are tried until one place is left."""
    places = np.flatnonzero(where)
    while len(places) > 1:
        middle = len(places) // 2
        for half in (places[:middle], places[middle:]):
            some = np.zeros(where.shape, bool)
            some.reshape(-1)[half] = True
            if test(some):
                places = half
                break
        else:
            break
    return tuple([int(each) for each in np.unravel_index(int(places[0]), where.shape)])
