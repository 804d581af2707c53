"""`from_onnx`: an ONNX model becomes a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from ...errors import InputError
from ...facts import Fact
from ...graph import Graph
from ...ir.dims import ShapeLike
from .model import Options, parameters_of, read_model

__all__ = ["from_onnx", "onnx_parameters"]


def from_onnx(
    source: str | bytes | Path | IO[bytes] | Any,
    *,
    parameters: str | Iterable[str] = "constants",
    shapes: Mapping[str, ShapeLike] | None = None,
    dims: Mapping[str, int] | None = None,
    values: Mapping[str, Any] | None = None,
    assume: Mapping[str, Fact | Iterable[Fact]] | None = None,
    most_nodes: int = 100_000,
) -> Graph:
    """The graph of an ONNX model; nothing of it is executed.

    Inputs and outputs have the model's names, and values the names of its tensors. An operator that
    ONNX defines by others, and a function of the model itself, is read by its definition. What is
    computed from constants alone and has at most 65,536 elements is evaluated while the model is
    read, for shapes and axes are computed in models as all else is.

    Parameters
    ----------
    source : path, bytes, file object or onnx.ModelProto
    parameters : "constants", "inputs" or names, default "constants"
        What becomes of the weights. As "inputs" all floating-point initializers are inputs of the
        graph, behind the model's own, so that one can derive gradients by them; those that the
        structure depends on, as the scales of a resize, stay constants. Names choose some: of
        initializers, or of results of nodes that depend on no input. `sg.onnx_parameters` gives
        their numbers.
    shapes : mapping of names of inputs to shapes, optional
        Where the model tells none, or in the place of named dimensions: `{"x": "n, 3"}`.
    dims : mapping of names to numbers, optional
        Numbers for named dimensions of the model: `{"batch_size": 8}`.
    values : mapping of names of inputs to numbers, optional
        These inputs become constants. What the structure of a graph depends on must be known, such
        as the operand `shape` of Reshape.
    assume : mapping of names of inputs to facts, optional
        What is known of their values: `{"labels": sg.simplex(axis=-1)}`.
    most_nodes : int, default 100,000
        A larger model is refused. Nodes of functions and of loops that are written out count as
        often as they are read.

    Returns
    -------
    Graph

    Raises
    ------
    SymgraphError
        If the package onnx is not installed: `pip install "symgraph[onnx]"`.
    FormatError
        If it is no model, is malformed or too large, keeps tensors in other files, or has an
        operator, a dtype or a version that is not read. It names the node.
    FactError
        If a fact contradicts another one, or the dtype.
    InputError
        If an argument does not fit the model, or numbers are missing that its structure depends on.
    ShapeError, DTypeError
        If the operands of a node do not fit together; it names the node.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> model = sg.trace(lambda x: np.sum(np.exp(x)), x="n").to_onnx()  # doctest: +SKIP
    >>> sg.from_onnx(model).gradient("x").simplify().formula()  # doctest: +SKIP
    out = sum(exp(x)); grad_x = exp(x)
    """
    if isinstance(parameters, str):
        if parameters not in ("constants", "inputs"):
            raise InputError(
                f"parameters={parameters!r} is neither 'constants' nor 'inputs'.",
                mend=f"To choose some give names in a list: parameters=[{parameters!r}].",
            )
        chosen: str | tuple[str, ...] = parameters
    else:
        chosen = tuple(parameters)
    options = Options(chosen, shapes or {}, values or {}, dims or {}, assume or {}, most_nodes)
    return Graph(read_model(source, options))


def onnx_parameters(
    source: str | bytes | Path | IO[bytes] | Any, names: Iterable[str] | None = None
) -> dict[str, Any]:
    """The numbers of the parameters of an ONNX model, by name.

    Parameters
    ----------
    source : path, bytes, file object or onnx.ModelProto
    names : iterable of str, optional
        Others are left out, and so are names that are no parameters: `graph.inputs` may be given.
        By default all floating-point initializers.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    SymgraphError
        If the package onnx is not installed.
    FormatError
        As `from_onnx`.

    Examples
    --------
    >>> graph = sg.from_onnx("model.onnx", parameters="inputs")  # doctest: +SKIP
    >>> weights = sg.onnx_parameters("model.onnx", graph.inputs)  # doctest: +SKIP
    >>> step = graph.gradient(*weights).simplify().lower()  # doctest: +SKIP
    >>> loss, gradients = step(x=x, **weights)  # doctest: +SKIP
    """
    return parameters_of(source, names)
