"""A whole model: its inputs and parameters, the walk, its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ...array import Array
from ...array.eager import symbols_only
from ...errors import FormatError, InputError, SymgraphError
from ...ir.avals import Aval
from ...ir.collector import collector_paused
from ...ir.dag import Dag
from ...ir.dims import ShapeLike
from ...ir.interpreter import evaluate
from ...ir.walks import reachable
from ...ops.creation import input as new_input
from ...records import record
from . import operators as _operators  # noqa: F401  # pyright: ignore[reportUnusedImport]
from .attributes import sparse_of, tensor_of
from .call import Unknown
from .graphs import NamesInScope, Reader, as_array, bind_initializers, versions_of
from .inputs import declared, names_of_dims
from .source import model_of
from .values import Value

__all__ = ["Options", "parameters_of", "read_model"]


@record
class Options:
    """How a model is read; `sg.from_onnx` tells what each means."""

    parameters: str | tuple[str, ...] = "constants"
    shapes: Mapping[str, ShapeLike] = field(default_factory=dict[str, ShapeLike])
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    assume: Mapping[str, Any] = field(default_factory=dict[str, Any])
    most_nodes: int = 100_000


@collector_paused()
def read_model(source: object, options: Options) -> Dag:
    """The graph of a model.

    Raises
    ------
    FormatError
        If it is malformed, too large, or holds what is not read.
    InputError
        If the options do not fit the model, or numbers are missing that its structure depends on.
    """
    model = model_of(source)
    kept: set[str] = set()
    while True:
        reading = _Reading(model, options, kept)
        token = symbols_only.set(True)
        try:
            return reading.dag()
        except SymgraphError as error:
            if not isinstance(error, Unknown):
                raise
            # A floating-point constant that the structure depends on, as scales do, stays one.
            blamed = set(error.inputs) & reading.implied
            if not blamed:
                raise
            kept |= blamed
        except Exception as error:
            # What a malformed model may cause is not to be told in advance.
            what = f"The model cannot be read: {type(error).__name__}: {error}"
            raise FormatError(what) from error
        finally:
            symbols_only.reset(token)


class _Reading:
    def __init__(self, model: Any, options: Options, kept: set[str]) -> None:
        self.model = model
        self.graph = model.graph
        self.options = options
        self.reader = Reader(model.functions, options.most_nodes)
        self.scope = NamesInScope(versions_of(model.opset_import))
        self.inputs: dict[str, Array] = {}
        self.implied: set[str] = set()
        """Parameters that are inputs because all are."""
        self.kept = kept
        given = options.parameters
        self.asked = set() if isinstance(given, str) else set(given)

    def dag(self) -> Dag:
        self._declare_inputs()
        self._declare_parameters()
        bind_initializers(self.graph, self.scope)
        for node in self.graph.node:
            self.reader.step(node, self.scope)
            for name in node.output:
                if name in self.asked:
                    self._computed_parameter(name)
        unknown = self.asked - set(self.inputs)
        if unknown:
            raise InputError(
                f"The model has no value named {', '.join(map(repr, sorted(unknown)))}.",
                mend="A parameter is an initializer, or the result of a node.",
            )
        _check_names("assume", self.options.assume, self.inputs)
        return self._result()

    # -- inputs ------------------------------------------------------------------------------------
    def _declare_inputs(self) -> None:
        options = self.options
        constants = {each.name for each in self.graph.initializer}
        constants |= {each.values.name for each in self.graph.sparse_initializer}
        names = [each.name for each in self.graph.input]
        _check_names("shapes", options.shapes, names)
        _check_names("values", options.values, names)
        for info in self.graph.input:
            name = info.name
            if name in options.values:
                self.scope.bind(name, Value(numbers=_as_declared(info, options.values[name])))
            elif name not in constants or name in options.shapes:
                found = declared(info, options.shapes.get(name), options.dims)
                self._add(name, found)
        dims = [name for info in self.graph.input for name in names_of_dims(info)]
        _check_names("dims", options.dims, dims)

    def _add(self, name: str, aval: Aval) -> None:
        array = new_input(name, aval.shape, aval.dtype, self.options.assume.get(name, ()))
        if name in self.inputs:
            raise FormatError(f"Two inputs of the model are named {name!r}.")
        self.inputs[name] = array
        self.scope.bind(name, Value(array))

    def _declare_parameters(self) -> None:
        every = self.options.parameters == "inputs"
        for proto in self.graph.initializer:
            name = proto.name
            if name in self.scope.values:
                continue
            floating = every and name not in self.kept and _is_floating(proto)
            if floating or name in self.asked:
                value = tensor_of(proto)
                self._add(name, Aval(value.dtype, value.shape))
                if floating:
                    self.implied.add(name)

    def _computed_parameter(self, name: str) -> None:
        """Put an input in the place of what a node computes from constants."""
        array = as_array(self.scope.values.pop(name), name)
        if any(node.is_input for node in reachable([array.node])):
            raise InputError(
                f"{name!r} depends on inputs, so it is no parameter.",
                mend="A parameter is an initializer, or what nodes compute from constants alone.",
            )
        self._add(name, array.aval)

    # -- outputs -----------------------------------------------------------------------------------
    def _result(self) -> Dag:
        names = [each.name for each in self.graph.output]
        if len(set(names)) < len(names) or not names:
            raise FormatError(f"The outputs of the model are named {names}: each needs a name.")
        outputs = [as_array(self.scope.find(name), name).node for name in names]
        return Dag({name: each.node for name, each in self.inputs.items()}, outputs, names)


def _check_names(what: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    known = list(dict.fromkeys(known))
    unknown = [name for name in given if name not in known]
    if unknown:
        shown = ", ".join(map(repr, known)) or "none"
        raise InputError(f"{what}= names {unknown[0]!r}, but the model has {shown}.")


def _as_declared(info: Any, value: Any) -> np.ndarray[Any, Any]:
    """Numbers in the dtype and of the shape that the model declares."""
    found = declared(info, np.shape(value), {})
    array = np.asarray(value)
    with np.errstate(all="ignore"):
        converted = array.astype(found.dtype)
    if array.dtype.kind not in "biuf" or not np.array_equal(
        converted, array, equal_nan=array.dtype.kind == "f"
    ):
        raise InputError(f"values= gives {info.name!r} what does not fit {found.dtype}: {value!r}.")
    return converted


def _is_floating(proto: Any) -> bool:
    return proto.data_type in (proto.FLOAT, proto.DOUBLE, proto.FLOAT16)


# -- the numbers of parameters ---------------------------------------------------------------------
def parameters_of(source: object, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The numbers of the floating-point initializers, or of those named that are constants."""
    model = model_of(source)
    wanted = None if names is None else set(names)
    found: dict[str, Any] = {}
    for proto in model.graph.initializer:
        if proto.name in wanted if wanted is not None else _is_floating(proto):
            found[proto.name] = tensor_of(proto)
    for proto in model.graph.sparse_initializer:
        if wanted is not None and proto.values.name in wanted:
            found[proto.values.name] = sparse_of(proto)
    missing = set() if wanted is None else wanted - set(found)
    found.update(_computed(model, missing))
    return found


def _computed(model: Any, names: set[str]) -> dict[str, Any]:
    """What nodes compute from constants alone; names of anything else are passed over."""
    makers = {name: node for node in model.graph.node for name in node.output}
    needed: set[str] = set()
    pending = [name for name in names if name in makers]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending.extend(makers[name].input if name in makers else ())
    nodes = [node for node in model.graph.node if needed.intersection(node.output)]
    inputs = {each.name for each in model.graph.input} - {e.name for e in model.graph.initializer}
    if needed & inputs:
        names = names - _fed(nodes, inputs)
        nodes = [node for node in nodes if not set(node.output) & _fed(nodes, inputs)]
    reader, scope = Reader(model.functions, 100_000), NamesInScope(versions_of(model.opset_import))
    token = symbols_only.set(True)
    try:
        bind_initializers(model.graph, scope)
        reader.run(nodes, scope)
        arrays = {name: as_array(scope.find(name), name) for name in names if name in makers}
    finally:
        symbols_only.reset(token)
    return {name: _evaluated(array) for name, array in arrays.items()}


def _fed(nodes: Any, inputs: set[str]) -> set[str]:
    """The names that depend on inputs."""
    found = set(inputs)
    for node in nodes:
        if found.intersection(node.input):
            found.update(node.output)
    return found


def _evaluated(array: Array) -> Any:

    return evaluate(Dag({}, [array.node]), {})[0]
