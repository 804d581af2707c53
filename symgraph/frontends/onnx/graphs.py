"""The walk over a model's graph: each node becomes nodes of ours, by the table of operators."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...array import Array
from ...errors import FormatError, SymgraphError
from ...ir.naming import name as named
from .attributes import attributes_of, sparse_of, tensor_of
from .call import Call
from .functions import definition, local_functions
from .registry import LATEST, Reading, reading, supported
from .values import Entry, Value, check_sizes, entry, folded, from_sizes, is_sized

__all__ = ["NamesInScope", "Reader", "as_array", "bind_initializers", "versions_of"]

_DEEPEST = 40
"""How deep graphs and functions of a model may be nested."""


class NamesInScope:
    """The names that are visible in a graph.

    Parameters
    ----------
    versions : mapping
        The version of the operators of each domain.
    outer : NamesInScope, optional
        The graph around it, whose names are visible, too.
    attributes : mapping, optional
        Those of the call whose function's body this is.
    """

    def __init__(
        self,
        versions: Mapping[str, int],
        outer: NamesInScope | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.versions = versions
        self.outer = outer
        self.attributes = attributes or {}
        self.values: dict[str, Entry] = {}

    def find(self, name: str) -> Entry:
        """The value of a name.

        Raises
        ------
        FormatError
            If nothing before has that name.
        """
        scope: NamesInScope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise FormatError(
            f"The value {name!r} is used before it is computed, or never is.",
            mend="In an ONNX graph the nodes stand in the order in which they can be computed.",
        )

    def bind(self, name: str, value: Entry) -> None:
        """Give a value its name; in one graph that is done once."""
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # a protobuf's
            raise FormatError(f"A name of the model is no Unicode: {name!r}.")
        if name in self.values:
            raise FormatError(f"Two values of one graph are named {name!r}.")
        self.values[name] = value


_MOST_ELEMENTS = 2**27
"""The most elements of all values that are computed while a model is read: 1 GiB of float64."""


class Reader:
    """Reads graphs of one model.

    Parameters
    ----------
    functions : iterable of onnx.FunctionProto
        The model's own operators.
    most_nodes : int
        More are refused, those of repeated functions and loops included.
    """

    def __init__(self, functions: Any, most_nodes: int) -> None:
        self.functions = local_functions(functions)
        self.most_nodes = most_nodes
        self.count = 0
        self.depth = 0
        self.elements = 0

    def run(self, nodes: Any, scope: NamesInScope) -> None:
        """Read nodes, in their order."""
        for node in nodes:
            self.step(node, scope)

    def step(self, node: Any, scope: NamesInScope) -> list[Entry]:
        """Read one node, and give its results their names."""
        self.count += 1
        if self.count > self.most_nodes:
            raise FormatError(
                f"The model has more than {self.most_nodes:,} nodes, with those of its loops.",
                mend="Allow more with most_nodes=.",
            )
        domain = "" if node.domain == "ai.onnx" else node.domain
        with _located(node):
            results = self._results(node, domain, scope)
            if any(name for name in node.output[len(results) :]):
                raise FormatError(
                    f"{node.op_type} gives {len(results)} results, not all asked for."
                )
            for found in results:
                if isinstance(found, Value) and found.numbers is None:
                    check_sizes(found.array.shape)
        for name, found in zip(node.output, results, strict=False):
            if name:
                _give_name(name, found)
                scope.bind(name, found)
        return results

    def _results(self, node: Any, domain: str, scope: NamesInScope) -> list[Entry]:
        entries = [scope.find(name) if name else None for name in node.input]
        attributes = attributes_of(node, scope.attributes)
        own = self.functions.get((domain, node.op_type, getattr(node, "overload", "")))
        if own is not None:
            return self._expanded(own, node, entries, attributes)
        version = scope.versions.get(domain)
        if version is None:
            raise FormatError(f"The model does not tell the version of the domain {domain!r}.")
        if not domain and not 1 <= version <= LATEST:
            raise FormatError(
                f"The model is written in version {version} of ONNX's operators.",
                mend=f"Versions 1 to {LATEST} are read; onnx.version_converter changes a model's.",
            )
        call = Call(node, version, attributes, entries, _Inside(self, scope))
        found = reading(domain, node.op_type, version)
        if found is not None:
            return _applied(found, call)
        body = definition(node, domain, version, entries, attributes)
        if body is None:
            raise _unsupported(node, domain, version)
        return self._expanded(body, node, entries, attributes, scope.versions)

    def _expanded(
        self,
        function: Any,
        node: Any,
        entries: Sequence[Entry],
        attributes: Mapping[str, Any],
        versions: Mapping[str, int] | None = None,
    ) -> list[Entry]:
        """The results of a function: an operator that is defined by a graph of others."""
        defaults = {each.name: each for each in function.attribute_proto}
        versions = {**(versions or {}), **versions_of(function.opset_import)}
        scope = NamesInScope(versions, None, {**defaults, **attributes})
        if len(entries) > len(function.input):
            raise FormatError(f"The function {function.name} has {len(function.input)} operands.")
        missing: list[Entry] = [None] * (len(function.input) - len(entries))
        for name, found in zip(function.input, [*entries, *missing], strict=True):
            scope.bind(name, found)
        with self._deeper():
            self.run(function.node, scope)
        # A definition may leave out a result that the node does not ask for.
        asked = [*node.output, *[""] * len(function.output)]
        return [
            scope.find(name) if wanted else scope.values.get(name)
            for name, wanted in zip(function.output, asked, strict=False)
        ]

    def branch(self, graph: Any, given: Sequence[Entry], outer: NamesInScope) -> list[Entry]:
        """The outputs of a graph in an attribute, for given inputs."""
        scope = NamesInScope(outer.versions, outer, outer.attributes)
        if len(given) != len(graph.input):
            raise FormatError(
                f"A graph of {len(graph.input)} inputs, {graph.name!r}, is given {len(given)}."
            )
        for info, found in zip(graph.input, given, strict=True):
            scope.bind(info.name, found)
        bind_initializers(graph, scope)
        with self._deeper():
            self.run(graph.node, scope)
        return [scope.find(each.name) for each in graph.output]

    def spend(self, count: int) -> None:
        """Count elements that are computed while reading."""
        self.elements += count
        if self.elements > _MOST_ELEMENTS:
            raise FormatError(
                f"Constants of more than {_MOST_ELEMENTS:,} elements would be computed while the "
                "model is read."
            )

    @contextmanager
    def _deeper(self) -> Generator[None]:
        if self.depth >= _DEEPEST:
            raise FormatError(f"Graphs and functions are nested more than {_DEEPEST} deep.")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


class _Inside:
    """The graph around a node, which its own graphs see."""

    def __init__(self, reader: Reader, scope: NamesInScope) -> None:
        self._reader = reader
        self._scope = scope

    def branch(self, graph: Any, given: Sequence[Entry]) -> list[Entry]:
        return self._reader.branch(graph, given, self._scope)

    def find(self, name: str) -> Entry:
        return self._scope.find(name)

    def spend(self, count: int) -> None:
        self._reader.spend(count)


# -- one operator ----------------------------------------------------------------------------------
def _applied(how: Reading, call: Call) -> list[Entry]:
    """The results of an operator's function, evaluated where they are small and known."""
    entries = call.entries
    if how.raw:
        found = _as_entries(how.function(call, *entries))
        call.check_read()
        return found
    if any(isinstance(each, tuple) for each in entries):
        raise FormatError(f"{call.op} is given a sequence, where it takes a tensor.")
    operands = [each for each in entries if isinstance(each, Value)]
    if how.of_sizes and any(each.sized for each in operands):
        found = _of_sizes(how, call)
        if found is not None:
            return found
    arrays = [each.array if isinstance(each, Value) else None for each in entries]
    results = _as_entries(how.function(call, *arrays))
    call.check_read()
    if all(each.small and not each.sized for each in operands):
        plain = [each for each in results if isinstance(each, Value) and each.numbers is None]
        known = folded([each.array for each in plain])
        if known is not None:
            call.runs.spend(sum(each.size for each in known))
            for each, numbers in zip(plain, known, strict=True):
                each.numbers = numbers
    return results


def _of_sizes(how: Reading, call: Call) -> list[Entry] | None:
    """The results on dimensions; None where they are no formulas, as a quotient rounded down."""
    known: list[Any] = []
    for each in call.entries:
        if isinstance(each, Value) and each.numbers is None:
            return None
        known.append(each.numbers if isinstance(each, Value) else None)
    try:
        found = how.function(call, *known)
        listed = found if isinstance(found, (tuple, list)) else [found]
        if all(is_sized(each) for each in listed):
            return [from_sizes(each) for each in listed]
        return _as_entries(found)
    except (TypeError, ValueError, NotImplementedError, AttributeError, SymgraphError):
        return None


def _as_entries(found: Any) -> list[Entry]:
    if isinstance(found, list):
        return [entry(each) for each in found]
    return [entry(found)]


def _give_name(name: str, found: Entry) -> None:
    if isinstance(found, Value) and found.numbers is None and name.isprintable() and name.strip():
        named(found.array, name)


@contextmanager
def _located(node: Any) -> Generator[None]:
    """Add the node to an error; one that a model alone can cause becomes one of ours."""
    label = f"{node.name!r}, {node.op_type}" if node.name else node.op_type
    outputs = ", ".join(map(repr, node.output))
    row = f"ONNX node {label}   computes {outputs}"
    try:
        yield
    except SymgraphError as error:
        error.rows = (*error.rows, row)
        raise
    except Exception as error:
        # What a malformed model may cause is not to be told in advance.
        what = f"{node.op_type} cannot be read: {type(error).__name__}: {error}"
        raise FormatError(what, [row]) from error


def _unsupported(node: Any, domain: str, version: int) -> FormatError:
    name = f"{domain}.{node.op_type}" if domain else node.op_type
    return FormatError(
        f"The operator {name} (version {version}) is not read.",
        mend=f"Read are: {', '.join(supported())}; and operators that ONNX, or the model, defines "
        "by these.",
    )


# -- parts of a model ------------------------------------------------------------------------------
def versions_of(imports: Any) -> dict[str, int]:
    """The version of the operators of each domain."""
    return {"" if each.domain == "ai.onnx" else each.domain: each.version for each in imports}


def bind_initializers(graph: Any, scope: NamesInScope) -> None:
    """Give the constants of a graph their names; those of inputs are left as they are given."""
    for proto in graph.initializer:
        if proto.name not in scope.values:
            scope.bind(proto.name, Value(numbers=tensor_of(proto)))
    for proto in graph.sparse_initializer:
        if proto.values.name not in scope.values:
            scope.bind(proto.values.name, Value(numbers=sparse_of(proto)))


def as_array(found: Entry, name: str) -> Array:
    """The array of an entry that must be a tensor."""
    if not isinstance(found, Value):
        raise FormatError(f"{name!r} is no tensor.", mend="Graphs give arrays; leave it out.")
    return found.array
