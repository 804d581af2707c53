"""A call of a function, traced on inputs of its own in place of the arrays it was given.

One input stands for each array among the leaves of the arguments, and one for each of the direction
(a tangent, a cotangent, a vector) that a derivative is taken along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

import numpy as np

from ..array.handle import Array, constant
from ..autodiff.flat import FlatPlan
from ..capture.calling import called, owners, owns, refuse_leaked
from ..errors import InputError, TraceError, nothing_returned
from ..facts import Fact
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input as symbolic_input
from ..pytrees import Tree, flatten
from ..records import record
from .arguments import Arguments, Signature, dtype_of, is_array
from .unknown_int import LARGEST, Count, Family, refusing_more

__all__ = ["TracedCall", "is_number", "traced_call"]


@record
class TracedCall:
    """The graph of a call, and how its inputs, outputs and auxiliary results are nested.

    Parameters
    ----------
    dag : Dag
    plan : FlatPlan
        The names of targets and directions, and how many results there are.
    symbols, directions : tuple of Array
        The inputs that stand for the arrays of the arguments, and of the direction.
    arguments : Arguments
    outputs, auxiliary : Tree
        How the results are nested, and the auxiliary output.
    aux_leaves : tuple
        The leaves of the latter; None in place of arrays.
    captured : bool
        Whether the function reads arrays of an outer trace.
    """

    dag: Dag
    plan: FlatPlan
    symbols: tuple[Array, ...]
    directions: tuple[Array, ...]
    arguments: Arguments
    outputs: Tree
    auxiliary: Tree
    aux_leaves: tuple[Any, ...]
    captured: bool


def traced_call(
    f: Callable[..., Any],
    parameters: Signature,
    arguments: Arguments,
    facts: Mapping[int, tuple[Fact, ...]],
    *,
    has_aux: bool,
    keyword: str,
    direction: object,
    directed: Literal["targets", "outputs"],
) -> TracedCall:
    """The graph of `f` at arguments like these.

    Parameters
    ----------
    f : callable
    parameters : Signature
        Of `f`.
    arguments : Arguments
    facts : mapping of int to tuple of Fact
        Of arrays, by their positions among the leaves.
    has_aux : bool
        Whether `f` returns a pair: the result to differentiate, and anything else.
    keyword : str
        The name of the direction; empty where there is none.
    direction : nested arrays
        Nested as the values it belongs to.
    directed : "targets" or "outputs"
        The values it belongs to.

    Raises
    ------
    InputError
        If no leaf of the targets is an array, or the direction is built otherwise.
    TraceError
        If `f` returns no array, draws random numbers, or uses symbols of another trace.
    NotACount
        If more is asked of an int than its arithmetic, where one stands for every value.
    """
    names: set[str] = set()
    symbols = _symbols(arguments, facts, names)
    moving = [symbols[i] for i in arguments.moving()]
    if parameters.wrt and not moving:
        raise _nothing_to_differentiate(parameters, arguments)
    result, aux = _result(f, parameters, arguments, symbols), cast("Any", ())
    if has_aux:
        result, aux = _parted(result, parameters.name)
    outputs, tree = flatten(result)
    nodes = [_as_output(leaf) for leaf in outputs]
    aux_leaves, aux_tree = flatten(aux)
    kept = [leaf.node for leaf in aux_leaves if isinstance(leaf, Array)]
    directions: list[Array] = []
    if keyword:
        trees = arguments.trees
        of_targets = trees[0] if parameters.single else Tree("tuple", trees)
        belongs = (moving, of_targets) if directed == "targets" else ([*map(Array, nodes)], tree)
        directions = _directions(keyword, direction, *belongs, names)
    inputs = {array.node.params["name"]: array.node for array in (*symbols.values(), *directions)}
    captured = _captured([*nodes, *kept], inputs)
    results = [*nodes, *kept]
    return TracedCall(
        Dag({**inputs, **captured}, results, structure=tuple(range(len(results)))),
        FlatPlan(_names(moving), _names(directions), len(nodes), len(kept)),
        tuple(symbols.values()),
        tuple(directions),
        arguments,
        tree,
        aux_tree,
        tuple(None if isinstance(leaf, Array) else leaf for leaf in aux_leaves),
        bool(captured),
    )


def _nothing_to_differentiate(parameters: Signature, arguments: Arguments) -> InputError:
    targets = ", ".join(repr(place) for place in parameters.wrt)
    among = [i for target in arguments.targets for i in target]
    mend = "Pass arrays or floats for it, or name another parameter with wrt=."
    if any(hasattr(arguments.leaves[i], "__dict__") for i in among):
        mend = (
            "An object is a container of arrays if it is a dataclass, or of a type that "
            "symgraph.pytrees.register has made one."
        )
    if any(hasattr(arguments.leaves[i], "__array__") for i in among):
        mend = "Convert it first: np.asarray(...)."
    return InputError(
        f"Nothing to differentiate with respect to: no leaf of {targets} is an array.",
        [arguments.shown(i) for i in among][:4],
        mend=mend,
    )


def _result(
    f: Callable[..., Any], parameters: Signature, arguments: Arguments, symbols: dict[int, Array]
) -> Any:
    """The result of `f`, called with the symbols in place of the arguments they stand for."""
    leaves: list[Any] = [symbols.get(i, leaf) for i, leaf in enumerate(arguments.leaves)]
    families = [Family(arguments.paths[i]) for i in arguments.counts]
    for i, family in zip(arguments.counts, families, strict=True):
        leaves[i] = Count(symbols[i], LARGEST, family)
    with (
        _containers_told(arguments),
        refusing_more(families),
        called(parameters.name, f, arguments.fixed()) as scope,
    ):
        owns(scope, [array.node for array in symbols.values()])
        result = arguments.call(f, leaves)
        found = [leaf.node for leaf in flatten(result)[0] if isinstance(leaf, Array)]
        given = [leaf.node for leaf in arguments.leaves if isinstance(leaf, Array)]
        refuse_leaked(parameters.name, found, owners(given))
    if result is None:
        raise nothing_returned(parameters.name)
    return result


_CONTAINER = re.compile(r"'(NoneType|list|tuple|dict)'")


@contextmanager
def _containers_told(arguments: Arguments) -> Generator[None]:
    """Tell of None, or of a list that is no array, where an operator of Python's met it."""
    try:
        yield
    except TypeError as error:
        found = _CONTAINER.search(str(error)) if type(error) is TypeError else None
        kind = "" if found is None else found[1].replace("NoneType", "none")
        places = [place for place, tree in arguments.entries if tree.kind == kind]
        if not places:
            raise
        raise InputError(
            f"Argument {places[0]!r} is {'None' if kind == 'none' else f'a {kind}'}, and no "
            f"array: {error}.",
            mend="Pass an array."
            if kind == "none"
            else f"A {kind} is a container of arrays; for one array pass np.array().",
        ) from error


def _symbols(
    arguments: Arguments, facts: Mapping[int, tuple[Fact, ...]], names: set[str]
) -> dict[int, Array]:
    """A fresh input for each leaf that is an array."""
    symbols: dict[int, Array] = {}
    for i in arguments.arrays:
        leaf = arguments.leaves[i]
        name = _fresh_name(arguments.paths[i], names)
        shape = leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)
        symbols[i] = symbolic_input(name, shape, dtype_of(leaf), facts.get(i, ()))
    return symbols


def _parted(result: object, name: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(cast("tuple[Any, ...]", result)) != 2:
        raise TraceError(f"With has_aux=True {name} returns a pair, not {result!r}.")
    return cast("tuple[Any, Any]", result)


def _directions(
    keyword: str, direction: object, directed: Sequence[Array], wanted: Tree, names: set[str]
) -> list[Array]:
    """A fresh input for each number of the direction."""
    leaves, tree = flatten(direction)
    numbers = [leaf for leaf in leaves if is_number(leaf)]
    if not _same_form(tree, wanted) or len(numbers) != len(directed):
        raise InputError(
            f"The {keyword} is not built as what it belongs to.",
            [f"{keyword}: {tree}", f"wanted: {wanted}"],
            mend=f"Pass one array, as in {keyword}=np.array([1.0, 2.0])."
            if wanted.kind == "leaf" and tree.kind in ("list", "tuple")
            else f"Give complex numbers, as in {keyword}=v + 0j."
            if wanted.cls is complex and tree.kind == "leaf"
            else "Nest it as the argument is nested, with an array for each array.",
        )
    return [
        symbolic_input(
            _fresh_name(keyword, names),
            each.shape,
            each.dtype if each.dtype.kind == "f" else "float64",
        )
        for each in directed
    ]


def _names(inputs: Sequence[Array]) -> tuple[str, ...]:
    return tuple([array.node.params["name"] for array in inputs])


def _captured(outputs: Sequence[Node], inputs: dict[str, Node]) -> dict[str, Node]:
    """Inputs of an outer trace that the function encloses, under names of their own."""
    own = set(inputs.values())
    names = set(inputs)
    return {
        _fresh_name(node.params["name"], names): node
        for node in reachable(outputs)
        if node.is_input and node not in own
    }


def _fresh_name(wanted: str, names: set[str]) -> str:
    name, number = wanted, 2
    while name in names:
        name, number = f"{wanted}_{number}", number + 1
    names.add(name)
    return name


def _as_output(leaf: object) -> Node:
    if isinstance(leaf, Array):
        return leaf.node
    if isinstance(leaf, (np.ndarray, np.generic, int, float)):
        return constant(leaf).node
    raise TraceError(
        f"The function returned {leaf!r}, which is no array.",
        mend="Return arrays, nested as you like, or the rest beside them with has_aux=True.",
    )


def is_number(leaf: object) -> bool:
    """Whether a leaf of a direction is an array or a Python number."""
    return is_array(leaf) or (isinstance(leaf, int) and not isinstance(leaf, bool))


def _same_form(one: Tree, other: Tree) -> bool:
    """Whether two structures have the same parts; a list may stand for a tuple."""
    ordered = ("list", "tuple", "namedtuple")
    alike = one.kind == other.kind or (one.kind in ordered and other.kind in ordered)
    named = one.kind in ("dict", "dataclass", "registered")
    if not alike or len(one.children) != len(other.children):
        return False
    if named and one.keys != other.keys:
        return False
    return all(_same_form(a, b) for a, b in zip(one.children, other.children, strict=True))
