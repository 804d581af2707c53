"""Ways in: a function written in NumPy style, or symbolic arrays made by hand, become a Graph."""

from __future__ import annotations

import inspect
import reprlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from ..array.handle import Array, constant
from ..capture.calling import called, owners, owns, refuse_leaked
from ..complexes import ComplexArray
from ..errors import InputError, TraceError, nothing_returned
from ..facts import Fact, stated
from ..ir.avals import refuse_other_arrays, supported_dtype
from ..ir.dag import Dag
from ..ir.dims import ShapeLike
from ..ir.naming import settle
from ..ir.node import Node
from ..ir.walks import reachable
from ..ops.creation import input as symbolic_input
from ..pytrees import flatten
from ..records import record
from .graph import Graph

__all__ = ["Spec", "UnusedInputWarning", "graph", "grouped", "spec", "trace"]


_BY_PLACE = inspect.Parameter.POSITIONAL_ONLY


class UnusedInputWarning(UserWarning):
    """A traced function does not use one of its inputs; it stays in the signature."""


@record
class Spec:
    """A description of an input: its shape, dtype and facts.

    Parameters
    ----------
    shape : tuple of int or str, or text such as `"n, 64"`
    dtype : dtype
    assume : tuple of Fact

    Examples
    --------
    >>> sg.spec("n, 3").shape
    'n, 3'
    """

    shape: Any
    dtype: Any = "float64"
    assume: tuple[Fact, ...] = ()


def spec(
    shape: ShapeLike, dtype: DTypeLike = "float64", assume: Fact | Iterable[Fact] = ()
) -> Spec:
    """Describe an input of a traced function.

    Parameters
    ----------
    shape : tuple of int or str, or text such as `"n, 64"`
        Numbers are fixed dimensions, names are dimensions known only when inputs arrive.
    dtype : dtype
        A real or boolean one.
    assume : Fact or iterable of Fact
        What is known of its values: `sg.simplex(axis=-1)`, `sg.positive`, ...

    Returns
    -------
    Spec
        To be given to `trace` for a parameter.

    Raises
    ------
    DTypeError
        If the dtype is none this library computes with, complex ones for example.

    Examples
    --------
    >>> sg.trace(np.log, x=sg.spec("n", "float32", assume=sg.positive)).outputs["out"]
    <Array log float32[n]>
    """
    supported_dtype(dtype)
    return Spec(shape, dtype, stated(assume))


def _as_spec(name: str, given: object) -> Spec:
    if isinstance(given, Spec):
        return given
    if isinstance(given, (str, int)) or type(given) is tuple:
        return Spec(given)
    refuse_other_arrays(given, f"Input {name!r}")
    if isinstance(given, (np.ndarray, np.generic, float)):
        array = np.asarray(given)
        return Spec(array.shape, array.dtype)
    mend = 'Describe it with sg.spec("n, 64", "float32"), a shape, or an example array.'
    if given is not None and flatten(given)[1].kind != "leaf":
        mend = (
            "Each input is one array. Trace a function of the parts, as in "
            'sg.trace(lambda w, b: f({"w": w, "b": b}), w="n", b=()); sg.grad takes containers.'
        )
    elif hasattr(given, "__array__"):
        mend = "Give its array, np.asarray(...), or a shape."
    raise InputError(f"Input {name!r} is described by {reprlib.repr(given)}.", mend=mend)


def _refuse_texts(f: Callable[..., Any], specs: Mapping[str, Any]) -> None:
    """Refuse a text for a parameter that takes texts: it would name a dimension."""
    texts = {name: given for name, given in specs.items() if isinstance(given, str)}
    defaults = {name: each.default for name, each in _parameters(f).items() if name in texts}
    for name, default in defaults.items():
        if isinstance(default, str):
            given = texts[name]
            raise InputError(
                f"{given!r} would be the shape of an input {name!r}, which by default is "
                f"{default!r}.",
                mend=f"State the value before: functools.partial(f, {name}={given!r}).",
            )


def _parameters(f: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Its parameters; empty where it does not tell them."""
    signature = _signature(f)
    return {} if signature is None else signature.parameters


def _signature(f: Callable[..., Any]) -> inspect.Signature | None:
    """How it is called; None where it does not tell. Ufuncs tell from NumPy 2.4 on."""
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        if not isinstance(f, np.ufunc):
            return None
        names = ["x"] if f.nin == 1 else [f"x{number + 1}" for number in range(f.nin)]
        return inspect.Signature([inspect.Parameter(name, _BY_PLACE) for name in names])


def trace(f: Callable[..., Any], /, *args: object, **specs: object) -> Graph:
    """The graph of a function written in NumPy style.

    Parameters
    ----------
    f : callable
        Called once with one symbolic array a name; returns one value, or tuples, lists and dicts of
        values.
    *args, **specs : Spec, shape, or example array
        One for each parameter of `f`, which names the input.

    Returns
    -------
    Graph
        Its results are grouped as `f` groups them.

    Raises
    ------
    InputError
        If the names do not fit the parameters of `f`.
    ShapeError, DTypeError, TraceError
        At the user's line, with operands.

    Notes
    -----
    What writes in place (`y[1:] += 1`, `out=`, `np.add.at`) writes as NumPy does, through views and
    other names of the array too. A write into an argument would change the caller's array: it is
    refused. An argument without dimensions is a number: `s += 1` gives the name to another.

    Examples
    --------
    >>> graph = sg.trace(lambda x, w: np.tanh(x @ w), x="n, 3", w=(3,))
    >>> graph.evaluate(x=np.zeros((2, 3)), w=np.ones(3))
    array([0., 0.])
    """
    if not callable(f):  # pyright: ignore[reportUnnecessaryComparison]
        raise InputError(f"trace is of a function, not of {f!r}.")
    specs = {**_by_name(f, args, specs), **specs}
    _refuse_texts(f, specs)
    first = _positional(f, specs)
    arrays: dict[str, Array] = {}
    for name, given in specs.items():
        described = _as_spec(name, given)
        arrays[name] = symbolic_input(name, described.shape, described.dtype, described.assume)
    named = {name: array for name, array in arrays.items() if name not in first}
    inputs = {name: array.node for name, array in arrays.items()}
    what = str(getattr(f, "__name__", "the function"))
    with called(what, f) as scope:
        owns(scope, inputs.values())
        result = f(*[arrays[name] for name in first], **named)
        leaves = [leaf.node for leaf in flatten(result)[0] if isinstance(leaf, Array)]
        refuse_leaked(what, leaves)
    if result is None:
        raise nothing_returned(what)
    return grouped(result, inputs)


def _by_name(
    f: Callable[..., Any], args: Sequence[Any], specs: Mapping[str, Any]
) -> dict[str, Any]:
    """Specs given in order, under the names of the parameters they belong to."""
    if not args:
        return {}
    mend = "Pass one spec for each parameter, by its name."
    name = getattr(f, "__name__", "the function")
    signature = _signature(f)
    if signature is None:
        raise InputError(f"{name} does not tell the names of its parameters.", mend=mend)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [each for each, param in signature.parameters.items() if param.kind in kinds]
    if len(args) > len(places):
        raise InputError(
            f"{len(args)} specs in order, but {name}{signature} has {len(places)} parameters that "
            "have a place.",
            mend=_NAMED if _takes_any_number(signature) else mend,
        )
    placed = dict(zip(places, args, strict=False))
    twice = [each for each in placed if each in specs]
    if twice:
        raise InputError(f"{twice[0]!r} has two specs, in order and by name.", mend=mend)
    return placed


def _positional(f: Callable[..., Any], specs: Mapping[str, Any]) -> list[str]:
    """The parameters given by place alone, as for a ufunc; the others fit by name."""
    signature = _signature(f)
    if signature is None:
        return []
    kinds = {name: each.kind for name, each in signature.parameters.items()}
    first = [name for name in kinds if kinds[name] is _BY_PLACE and name in specs]
    try:
        signature.bind(
            *[specs[name] for name in first],
            **{name: spec for name, spec in specs.items() if name not in first},
        )
        return first
    except TypeError as error:
        name = getattr(f, "__name__", "the function")
        raise InputError(
            f"{name}{signature} cannot be called with {', '.join(specs) or 'nothing'}: {error}.",
            mend=_NAMED
            if _takes_any_number(signature)
            else "Pass one spec for each parameter, by its name.",
        ) from None


_NAMED = "Inputs have names: trace a function that names them, as in lambda a, b: f(a, b)."


def _takes_any_number(signature: inspect.Signature) -> bool:
    return any(each.kind is each.VAR_POSITIONAL for each in signature.parameters.values())


def grouped(result: object, inputs: Mapping[str, Node]) -> Graph:
    """The graph of nested tuples, lists and dicts of arrays, its results grouped as they are."""
    leaves: list[Node] = []
    names: list[str] = []
    structure = _structure(result, "", leaves, names)
    used = set(reachable(leaves))
    for name, node in inputs.items():
        if node not in used:
            warnings.warn(
                f"Input {name!r} is not used; it stays in the signature.",
                UnusedInputWarning,
                stacklevel=3,
            )
    return Graph(Dag(inputs, leaves, names, structure))


def _structure(value: object, path: str, leaves: list[Node], names: list[str]) -> Any:
    # As deep as the tuples the user returns.
    if isinstance(value, ComplexArray):
        value = {"real": value.real, "imag": value.imag}
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {
            k: _structure(v, f"{path}.{k}" if path else str(k), leaves, names)
            for k, v in items.items()
        }
    if isinstance(value, (tuple, list)):
        parts = [
            _structure(each, f"{path}.{i}" if path else f"out{i}", leaves, names)
            for i, each in enumerate(cast("Sequence[Any]", value))
        ]
        return tuple(parts) if isinstance(value, tuple) else parts
    if not isinstance(value, (Array, np.ndarray, np.generic, int, float, bool)):
        raise TraceError(
            f"The function returned {value!r}, which is no array.",
            mend="Return a symbolic array, or tuples, lists and dicts of them.",
        )
    leaves.append((value if isinstance(value, Array) else constant(value)).node)
    names.append(path or "out")
    return len(leaves) - 1


def graph(*outputs: Array, inputs: Sequence[Array] | None = None) -> Graph:
    """The graph of symbolic arrays made by hand.

    Parameters
    ----------
    *outputs : Array
        Of any shapes and dtypes.
    inputs : sequence of Array, optional
        The call signature; by default all inputs the outputs depend on, in the order they were
        made.

    Returns
    -------
    Graph
        It gives one value, or a tuple of them.

    Raises
    ------
    InputError
        If something is no symbolic array, or two inputs have one name.
    TraceError
        If an array belongs to a trace that is over.

    Examples
    --------
    >>> x, y = sg.input("x", "n"), sg.input("y", "n")
    >>> sg.graph(x * y, x + y).evaluate(x=[1.0, 2.0], y=[3.0, 4.0])
    (array([3., 8.]), array([4., 6.]))
    """
    for each in (*outputs, *(inputs or ())):
        if not isinstance(each, Array):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"A graph is made of symbolic arrays, not of {each!r}.")
    settle()
    nodes = [output.node for output in outputs]
    found = (
        [array.node for array in inputs]
        if inputs is not None
        else [node for node in reachable(nodes) if node.is_input]
    )
    refuse_leaked("The graph", nodes, [scope for scope in owners(nodes) if not scope.is_body])
    named: dict[str, Node] = {}
    for node in found:
        name = node.params["name"]
        if named.setdefault(name, node) is not node:
            raise InputError(f"Two different inputs are named {name!r}.")
    return Graph(Dag(named, nodes))
