"""`from_torch`: a model of PyTorch becomes a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from ...array import Array, constant
from ...errors import InputError
from ...facts import Fact
from ...graph import Graph
from ...graph.tracing import grouped
from ...ops.creation import input as symbolic_input
from ..spelling import Absent
from .conversion import Walk
from .program import Given, aval_of, prepared

__all__ = ["from_torch"]

Chosen: TypeAlias = "str | Iterable[str]"
"""`"inputs"`, `"constants"`, or the names of those that are inputs."""


def from_torch(
    model: Any,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    parameters: Chosen = "inputs",
    buffers: Chosen = "constants",
    updates: Literal["refuse", "results"] = "refuse",
    assume: Mapping[str, Fact | Iterable[Fact]] | None = None,
    dynamic_shapes: Any = None,
) -> Graph:
    """The graph of a model of PyTorch.

    Parameters
    ----------
    model : torch.nn.Module, callable or torch.export.ExportedProgram
        In the mode that it has: call `model.eval()` first, so that dropout drops nothing.
    args : tensor or sequence
        Example arguments; an exported program has its own.
    kwargs : mapping, optional
        Example arguments by name.
    parameters : "inputs", "constants" or iterable of str
        Whether parameters are inputs, under the names of `named_parameters`, so that there are
        gradients with respect to them; or the names of those that are.
    buffers : "inputs", "constants" or iterable of str
        The same of buffers.
    updates : "refuse" or "results"
        Of a model that writes buffers, as batch norm in training mode does: refuse it, or give
        `(results, {name: new value})`. The buffers that are written are inputs then; their new
        values have no gradient.
    assume : mapping, optional
        For names of inputs, facts of their values.
    dynamic_shapes : optional
        Which axes have no fixed size, as `torch.export.export` takes it; the names that
        `torch.export.Dim` has become those of the dimensions.

    Returns
    -------
    Graph
        Its inputs are the model's arguments, then parameters, then buffers; its results are grouped
        as the model groups them, None left out. Each node names the model's line.

    Raises
    ------
    InputError
        If an operation has no counterpart here (it names the operation and the model's line), the
        model drops values at random, or it writes its arguments, or buffers without `updates`.
    DTypeError
        If a tensor has a dtype that graphs do not have, bfloat16 for example.
    SymgraphError
        If torch is not installed.

    Notes
    -----
    `torch.export` reads the model, and what it cannot read raises its error. Values that the model
    detaches, or computes within `no_grad`, have no gradient here either. Where a function has a
    kink the derivative is the one that this library documents: ties of a maximum share it equally.

    Examples
    --------
    >>> import torch
    >>> graph = sg.from_torch(torch.nn.Linear(3, 1), torch.zeros(2, 3))
    >>> list(graph.inputs)
    ['input', 'weight', 'bias']
    >>> graph.formula()
    input @ weight.T + bias
    """
    arguments = args if isinstance(args, (tuple, list)) else (args,)
    program = prepared(model, arguments, kwargs or {}, dynamic_shapes, updates)
    made = _Inputs(program.dims, assume or {}, program.writes)
    values = [
        made.value(each, {"parameter": parameters, "buffer": buffers}) for each in program.inputs
    ]
    made.check()
    found = Walk(program.dims).results(program.module, values)
    for each in found:
        if isinstance(each, Absent):
            raise InputError(f"The model gives {each.what}.", mend=each.mend)
    written = len(program.writes)
    results = _without_none(program.regroup(found[written:]))
    if written:
        results = (results, dict(zip(program.writes, found[:written], strict=True)))
    ordered = sorted(made.arrays, key=lambda name: made.ranks[name])
    return grouped(results, {name: made.arrays[name].node for name in ordered})


_RANKS = {"user": 0, "parameter": 1, "buffer": 2}


class _Inputs:
    """The inputs of the graph, made from those of the program."""

    def __init__(
        self,
        dims: Mapping[Any, Any],
        assume: Mapping[str, Fact | Iterable[Fact]],
        written: Iterable[str],
    ) -> None:
        self._dims = dims
        self._written = frozenset(written)
        self._assume = assume
        self._tied: dict[Any, Any] = {}
        self.arrays: dict[str, Array] = {}
        self.ranks: dict[str, int] = {}

    def value(self, given: Given, chosen: Mapping[str, Chosen]) -> Any:
        """A symbolic input, a constant, or the argument itself that is no tensor."""
        if given.kind == "none":
            return given.example
        if given.value is not None:
            key = _place_in_memory(given.value)
            if key not in self._tied:
                self._tied[key] = self._made(given, chosen)
            return self._tied[key]
        return self._made(given, chosen)

    def _made(self, given: Given, chosen: Mapping[str, Chosen]) -> Array:

        aval = aval_of(given.example, self._dims)
        which = chosen.get(given.kind, "inputs" if given.kind == "user" else "constants")
        if given.kind == "buffer" and given.name in self._written:
            which = "inputs"
        if which != "inputs" and (isinstance(which, str) or given.name not in set(which)):
            if which != "constants" and isinstance(which, str):
                raise InputError(
                    f"{given.kind}s={which!r} is not known.",
                    mend='Use "inputs", "constants", or the names of those that are inputs.',
                )
            return constant(given.value.detach().cpu().numpy())
        if given.name in self.arrays:
            raise InputError(
                f"The model has an argument and a {given.kind} of the name {given.name!r}.",
                mend="Rename the argument of forward.",
            )
        facts = self._assume.get(given.name, ())
        made = symbolic_input(given.name, aval.shape, aval.dtype, facts)
        self.arrays[given.name], self.ranks[given.name] = made, _RANKS[given.kind]
        return made

    def check(self) -> None:
        """Refuse facts of names that are no inputs."""
        unknown = [name for name in self._assume if name not in self.arrays]
        if unknown:
            raise InputError(
                f"assume= names {', '.join(unknown)}, which no input is.",
                mend=f"The inputs are {', '.join(self.arrays)}.",
            )


def _place_in_memory(tensor: Any) -> Any:
    """Equal for two names of one tensor, such as tied weights."""
    if not tensor.numel():
        return object()
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())


def _without_none(value: Any) -> Any:
    """Nested results without the entries that are None."""
    if isinstance(value, dict):
        return {k: _without_none(v) for k, v in value.items() if v is not None}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (tuple, list)):
        kept = [_without_none(each) for each in value if each is not None]  # pyright: ignore[reportUnknownVariableType]
        return tuple(kept) if isinstance(value, tuple) else kept
    return value
