"""`from_jax`: a function of JAX becomes a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...array import Array
from ...errors import InputError
from ...facts import Fact
from ...graph import Graph
from ...graph.tracing import grouped
from ...ops.creation import input as symbolic_input
from ..spelling import Absent
from .conversion import Walk, aval_of, jax_module

__all__ = ["from_jax"]


def from_jax(
    function: Callable[..., Any],
    /,
    *args: Any,
    assume: Mapping[str, Fact | Iterable[Fact]] | None = None,
    **kwargs: Any,
) -> Graph:
    """The graph of a function of JAX.

    Parameters
    ----------
    function : callable
        What `jax.make_jaxpr` can read; jitted or not.
    *args, **kwargs : arrays, or nested containers of arrays
        Examples, or `jax.ShapeDtypeStruct`; their values are not used.
    assume : mapping, optional
        For names of inputs, facts of their values.

    Returns
    -------
    Graph
        Its inputs are named by the parameters of the function, those in containers by their path:
        `params.weight`, `layers.0`. Its results are grouped as the function groups them. Each node
        names the function's line.

    Raises
    ------
    InputError
        If a primitive has no counterpart here; it names the primitive and the function's line.
    DTypeError
        If an argument has a dtype that graphs do not have.
    SymgraphError
        If JAX is not installed.

    Notes
    -----
    Dtypes are JAX's: without `jax_enable_x64` numbers of double precision become single. Where a
    function of the user's has a derivative of its own (`jax.custom_jvp`), it is kept; JAX's own
    functions are differentiated as they are written. Where a function has a kink the derivative is
    the one that this library documents: ties of a maximum share it equally.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> graph = sg.from_jax(lambda x: jnp.sum(jnp.log(jnp.exp(x))), np.zeros(3))
    >>> graph.simplify().formula()
    sum(x)
    """
    jax = jax_module()
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*args, **kwargs)
    names = list(_names(jax, function, args, kwargs))
    facts = dict(assume or {})
    inputs: dict[str, Array] = {}
    for name, each in zip(names, closed.in_avals, strict=True):
        aval = aval_of(each)
        inputs[name] = symbolic_input(name, aval.shape, aval.dtype, facts.pop(name, ()))
    if facts:
        raise InputError(
            f"assume= names {', '.join(facts)}, which no input is.",
            mend=f"The inputs are {', '.join(inputs)}.",
        )
    found = Walk().of(closed, list(inputs.values()))
    for each in found:
        if isinstance(each, Absent):
            raise InputError(f"The function gives {each.what}.", mend=each.mend)
    tree = jax.tree_util.tree_structure(shapes)
    results = jax.tree_util.tree_unflatten(tree, found)
    return grouped(results, {name: each.node for name, each in inputs.items()})


def _names(
    jax: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[str]:
    """A name for each array among the arguments, in JAX's order."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
        kinds = bound.signature.parameters.values()
        places = [each.name for each in kinds if each.kind in _BY_PLACE]
        rest = next((each.name for each in kinds if each.kind is each.VAR_POSITIONAL), "arg")
    except (TypeError, ValueError):
        places, rest = [], "arg"
    flatten = jax.tree_util.tree_flatten_with_path
    for place, arg in enumerate(args):
        name = places[place] if place < len(places) else f"{rest}{place - len(places)}"
        for path, _leaf in flatten(arg)[0]:
            yield _path(name, path)
    for path, _leaf in flatten(dict(kwargs))[0]:
        yield _path("", path).lstrip(".")


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _path(name: str, path: Sequence[Any]) -> str:
    """`params.layers.0` of a place in nested containers."""
    for key in path:
        part = next(getattr(key, each) for each in ("key", "idx", "name") if hasattr(key, each))
        name = f"{name}.{part}"
    return name
