"""Arguments that several commands take: expressions or saved graphs, shapes, dtypes and facts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ..errors import ExpressionError, InputError, ShapeError, SymgraphError
from ..expression import parse
from ..frontends import onnx as models
from ..graph import Graph
from ..graph.loading import load
from ..ir.dag import Dag
from ..ir.node import Node
from ..ops.carrying import carries_aligned
from ..passes.simplify import EFFORTS
from .check import Check, checked

__all__ = [
    "add_input_arguments",
    "add_simplify_arguments",
    "as_data",
    "differentiable",
    "differentiated_by",
    "graph_of",
    "names_of",
    "numeric_check",
    "pairs",
    "parsed",
]

_SIZES = (5, 3, 4, 6, 2, 7)
_VECTORS = "Names without a shape are vectors of n elements; say --shape A=n,n of a matrix A."


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that tell of the names in an expression."""
    add = parser.add_argument
    add("--given", action="append", default=[], metavar="FACT", help='such as "p: simplex"')
    add("--shape", action="append", default=[], metavar="NAME=SHAPE", help='"z=n,10"; "a=" is 0-d')
    add("--dtype", action="append", default=[], metavar="[NAME=]DTYPE", help="default float64")


def add_simplify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Graph.simplify`."""
    add = parser.add_argument
    add("--trust", choices=("exact", "rounding", "domain"), default="rounding")
    add("--effort", choices=EFFORTS, default="normal", help="how long to simplify")


def graph_of(options: argparse.Namespace) -> Graph:
    """The graph of an expression, the one that `Graph.save` has written, or that of a model."""
    text: str = options.expression.strip()
    if text.endswith(".onnx"):
        return _of_model(text, options)
    if text.endswith(".json"):
        if options.given or options.shape or options.dtype:
            raise InputError(
                "A saved graph has its own shapes, dtypes and facts.",
                mend="Leave out --shape, --dtype and --given.",
            )
        return load(Path(text))
    return Graph(differentiable(options) if options.wrt else _of_numbers_where_it_can(options))


def _of_model(path: str, options: argparse.Namespace) -> Graph:
    """The graph of an ONNX model; weights that a gradient is asked by are inputs."""
    if options.given or options.dtype:
        raise InputError(
            "A model has its own dtypes, and facts are of expressions.",
            mend="Leave out --dtype and --given.",
        )
    shapes = dict(pairs(options.shape, "--shape x=n,4"))
    graph = models.from_onnx(path, shapes=shapes)
    weights = [name for name in names_of(options.wrt) if name not in graph.inputs]
    return models.from_onnx(path, shapes=shapes, parameters=weights) if weights else graph


def names_of(given: Iterable[str]) -> list[str]:
    """The names in options such as `--wrt a,b --wrt c`."""
    return [name.strip() for each in given for name in each.split(",") if name.strip()]


def differentiated_by(given: Iterable[str], graph: Graph) -> list[str]:
    """The names to differentiate by: those of `--wrt`, or else the only input.

    Raises
    ------
    InputError
        If none is given and the graph has several inputs, or none.
    """
    names = names_of(given) or list(graph.inputs)
    if len(names) != 1 and not names_of(given):
        raise InputError(
            f"A gradient needs names to differentiate by; here are {', '.join(names) or 'none'}.",
            mend="Give one or more of them, as in --wrt x,y.",
        )
    return names


def parsed(options: argparse.Namespace, *, double: bool = False) -> Dag:
    """The expression's graph; `double` makes its floating inputs float64."""
    default, dtypes = "float64", dict[str, str]()
    for name, dtype in pairs(options.dtype):
        wide = "float64" if double and dtype.startswith("float") else dtype
        if name:
            dtypes[name] = wide
        else:
            default = wide
    shapes = dict(pairs(options.shape, "--shape z=3,4"))
    try:
        return parse(
            options.expression, shapes=shapes, dtypes=dtypes, dtype=default, facts=options.given
        )
    except ExpressionError as error:
        if isinstance(error.__context__, ShapeError):
            error.mend = f"{error.mend} {_VECTORS}".strip()
        raise


def differentiable(options: argparse.Namespace) -> Dag:
    """The expression's graph, of which a gradient can be taken; see `_of_numbers_where_it_can`."""
    dag = _of_numbers_where_it_can(options)
    output = dag.outputs[0]
    if output.shape:
        scalars = [f"{name}=" for name in dag.inputs]
        raise ShapeError(
            f"A gradient needs a scalar; this expression gives {output.aval}.",
            mend=f"Reduce it, as in sum(...), or make its names scalars: --shape "
            f"{' --shape '.join(scalars)}"
            if _is_read(options, scalars)
            else "Reduce it, as in sum(...).",
        )
    return dag


def _is_read(options: argparse.Namespace, shapes: list[str]) -> bool:
    """Whether the expression can be read with these shapes."""
    try:
        parsed(argparse.Namespace(**{**vars(options), "shape": shapes}))
    except SymgraphError:
        return False
    return True


def _of_numbers_where_it_can(options: argparse.Namespace) -> Dag:
    """The expression's graph.

    Where vectors give a vector element by element, as in x**2 / (1 + x), the names without a shape
    are numbers, and the options say so from then on.
    """
    dag = parsed(options)
    stated = {name for name, _ in pairs(options.shape)}
    vectors = [f"{name}=" for name in dag.inputs if name not in stated]
    if dag.outputs[0].shape and vectors and all(_is_by_element(node) for node in dag.nodes):
        options.shape = [*options.shape, *vectors]
        return parsed(options)
    return dag


def _is_by_element(node: Node) -> bool:
    return node.is_input or node.is_constant or node.op.carries is carries_aligned


def pairs(given: Iterable[str], form: str = "") -> list[tuple[str, str]]:
    """The pairs of `NAME=VALUE`; a `form` makes the name mandatory, and is shown as an example.

    `NAME: VALUE`, as facts are written, is the same.
    """
    pairs: list[tuple[str, str]] = []
    for each in given:
        name, sign, value = each.partition("=" if "=" in each else ":")
        if not sign and form:
            raise InputError(f"{each!r} has no name.", mend=f"Write {form}.")
        pairs.append((name.strip(), value.strip()) if sign else ("", each.strip()))
    return pairs


def numeric_check(
    forward: Dag, gradients: Dag, wrt: Sequence[str], options: argparse.Namespace
) -> Check:
    """Compare gradients with differences, at the sizes that the options give."""
    sizes = {name: _SIZES[i % len(_SIZES)] for i, name in enumerate(forward.dims)}
    for name, value in pairs(options.size, "--size n=5"):
        if name not in sizes or not value.isdecimal():
            known = ", ".join(sizes) or "none"
            raise InputError(f"--size {name}={value}: the named dimensions are {known}.")
        sizes[name] = int(value)
    return checked(parsed(options, double=True), gradients, wrt, sizes, options.seed)


def as_data(check: Check) -> dict[str, Any]:
    """The result of a check as JSON can hold it: infinity and NaN are None."""
    return {
        "ok": check.ok,
        "worst": check.worst if isfinite(check.worst) else None,
        "tolerance": check.tolerance,
        "directions": check.directions,
        "sizes": dict(check.sizes),
        "finite": check.finite,
    }
