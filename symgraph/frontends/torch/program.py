"""An exported program made ready: functional, its inputs listed, its dimensions named."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...errors import DTypeError, InputError
from ...extras import module_of_extra
from ...ir.avals import Aval, supported_dtype
from ...ir.dims import Dim, named, normal
from ...ir.symbolic_sizes import as_expr
from ...records import record

__all__ = [
    "DecomposedProgramWarning",
    "FunctionalProgram",
    "Given",
    "aval_of",
    "prepared",
    "torch_module",
]


class DecomposedProgramWarning(UserWarning):
    """A program was decomposed before it came here, so some of its gradients may be other ones."""


def torch_module(name: str = "torch") -> Any:
    """The package `torch`, or a module of it.

    Raises
    ------
    SymgraphError
        If it is not installed.
    """
    return module_of_extra(name, "torch", "Models of PyTorch")


@record
class Given:
    """An input of the program.

    Parameters
    ----------
    kind : str
        `"user"`, `"parameter"`, `"buffer"`, `"constant"`, or `"none"` of an argument that is no
        tensor.
    name : str
        As the user knows it: of the argument, or `"encoder.weight"`.
    example : Any
        PyTorch's description of the tensor; the value itself of `"none"`.
    value : Any
        The tensor, except of an argument.
    """

    kind: str
    name: str
    example: Any
    value: Any = None


@record
class FunctionalProgram:
    """A functional program, its inputs in the order of its placeholders.

    Parameters
    ----------
    module : torch.fx.GraphModule
    inputs : sequence of Given
    dims : mapping
        The dimension for each symbol of PyTorch's.
    regroup : callable
        Groups the list of results as the model does.
    writes : sequence of str
        The buffers whose new values come before the results.
    """

    module: Any
    inputs: Sequence[Given]
    dims: Mapping[Any, Any]
    regroup: Any
    writes: Sequence[str] = ()


def prepared(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    updates: str = "refuse",
) -> FunctionalProgram:
    """The model exported and read.

    Raises
    ------
    InputError
        If it is no model, or it writes its arguments, parameters, or buffers without `updates`.
    """
    if updates not in ("refuse", "results"):
        raise InputError(f"updates={updates!r} is not known.", mend='Use "refuse" or "results".')
    torch = torch_module()
    if isinstance(model, torch.export.ExportedProgram):
        if args or kwargs or dynamic_shapes:
            raise InputError("An exported program holds its example arguments already.")
        program = model
        _warn_of_lost_marks(program)
    else:
        program = _exported(torch, model, args, kwargs, dynamic_shapes)
    names = dict(_names_of_dims(program, model, args, kwargs, dynamic_shapes))
    program = _functional(torch, program)
    writes = _writes(program, updates)
    spec = program.call_spec.out_spec
    regroup = torch_module("torch.utils._pytree").tree_unflatten
    return FunctionalProgram(
        program.graph_module,
        list(_givens(program)),
        _Dims(names),
        lambda results: regroup(list(results), spec),
        writes,
    )


def _warn_of_lost_marks(program: Any) -> None:
    """Warn of a decomposed program that does not tell which values were detached."""
    if program.dialect == "TRAINING":
        return
    calls = [node for node in program.graph.nodes if hasattr(node.target, "_schema")]
    if calls and not any(node.meta.get("torch_fn") for node in calls):
        warnings.warn(
            "The program was decomposed and does not tell what the model detached or computed "
            "within no_grad: gradients flow through that. Give the module, or the program as "
            "torch.export gave it.",
            DecomposedProgramWarning,
            stacklevel=5,
        )


def _exported(
    torch: Any, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Any:
    module = model
    if not isinstance(model, torch.nn.Module):
        if not callable(model):
            raise InputError(
                f"from_torch is of a module, a function or an exported program, not of {model!r}."
            )
        module = torch.nn.Module()
        module.forward = _as_forward(model)
    apart = _apart(torch, (tuple(args), dict(kwargs)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's, of its own functions.
            return torch.export.export(module, *apart, dynamic_shapes=dynamic_shapes, strict=False)
    except Exception as error:
        error.add_note("while torch.export read the model for symgraph.from_torch")
        raise


def _apart(torch: Any, arguments: Any) -> Any:
    """The arguments, none of them a tensor that is another one too.

    PyTorch would take every use of such a tensor for a use of the last argument that it is.
    """
    seen: set[int] = set()

    def alone(leaf: Any) -> Any:
        again = isinstance(leaf, torch.Tensor) and id(leaf) in seen
        seen.add(id(leaf))
        return leaf.detach().clone() if again else leaf

    return torch_module("torch.utils._pytree").tree_map(alone, arguments)


def _as_forward(call: Any) -> Any:
    """The function under the name `forward`, the only one of which PyTorch notes the lines."""
    if not isinstance(call, FunctionType):
        return lambda *args, **kwargs: call(*args, **kwargs)
    code = call.__code__.replace(co_name="forward")
    twin = FunctionType(code, call.__globals__, "forward", call.__defaults__, call.__closure__)
    twin.__kwdefaults__ = call.__kwdefaults__
    return twin


# -- what a program writes -------------------------------------------------------------------------
def _graphs(module: Any) -> Iterator[Any]:
    """The graph of a module, and those of its blocks."""
    for each in module.modules():
        if hasattr(each, "graph"):
            yield each.graph


def _is_writing(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and schema is not None and bool(schema.is_mutable)


def _functional(torch: Any, program: Any) -> Any:
    """The program without writing in place; what it detaches stays detached."""
    if not any(
        _is_writing(node) for graph in _graphs(program.graph_module) for node in graph.nodes
    ):
        return program
    switch = torch.ops.higher_order.wrap_with_set_grad_enabled
    for graph in _graphs(program.graph_module):
        for node in [node for node in graph.nodes if node.target is switch and not node.args[0]]:
            _refuse_writes_without_grad(graph.owning_module, node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # An empty table keeps every operation as it is.
        return program.run_decompositions({})


def _refuse_writes_without_grad(module: Any, node: Any) -> None:
    block = getattr(module, node.args[1].target)
    if any(_is_writing(inner) for inner in block.graph.nodes):
        raise InputError(
            "The model writes in place within no_grad, where gradients pass over what is written.",
            mend="Compute the value without writing in place.",
        )


def _writes(program: Any, updates: str) -> list[str]:
    """The buffers that the program writes, in the order of its outputs, where they come first."""
    kinds = torch_module("torch.export.graph_signature").OutputKind
    found: list[str] = []
    for spec in program.graph_signature.output_specs:
        if spec.kind is kinds.BUFFER_MUTATION:
            if updates != "results":
                raise InputError(
                    f"The model writes its buffer {spec.target!r}, and a graph changes nothing.",
                    mend="Call model.eval() first, so that layers use their statistics, or take "
                    'the new values of buffers as further results with updates="results".',
                )
            found.append(spec.target)
        elif spec.kind.name == "PARAMETER_MUTATION":
            raise InputError(
                f"The model writes its parameter {spec.target!r}.",
                mend="Write it before the call; of nn.Embedding, leave max_norm away.",
            )
        elif spec.kind is kinds.USER_INPUT_MUTATION:
            raise InputError(
                f"The model writes into its argument {spec.target!r}.",
                mend="Clone it first, as in x = x.clone().",
            )
        elif spec.kind is not kinds.USER_OUTPUT:
            raise InputError(f"The program has an output of the kind {spec.kind.name}.")
    return found


# -- inputs ----------------------------------------------------------------------------------------
def _givens(program: Any) -> Iterator[Given]:
    signature = torch_module("torch.export.graph_signature")
    kinds = signature.InputKind
    tensors = {**program.constants, **program.state_dict}
    places = [node for node in program.graph.nodes if node.op == "placeholder"]
    for spec, node in zip(program.graph_signature.input_specs, places, strict=True):
        kind = {
            kinds.USER_INPUT: "user",
            kinds.PARAMETER: "parameter",
            kinds.BUFFER: "buffer",
            kinds.CONSTANT_TENSOR: "constant",
        }.get(spec.kind)
        if kind is None:
            raise InputError(f"The program has an input of the kind {spec.kind.name}.")
        if not isinstance(spec.arg, signature.TensorArgument):
            yield Given("none", node.name, getattr(spec.arg, "value", None))
        elif kind == "user":
            yield Given(kind, node.name, node.meta["val"])
        else:
            yield Given(kind, spec.target, node.meta["val"], tensors[spec.target])


def aval_of(example: Any, dims: Mapping[Any, Any]) -> Aval:
    """The dtype and shape of a tensor, from PyTorch's description of it.

    Raises
    ------
    DTypeError
        If graphs have no such dtype.
    """
    name = str(example.dtype).removeprefix("torch.")
    try:
        dtype = supported_dtype(np.dtype(name))
    except (TypeError, DTypeError):
        raise DTypeError(
            f"The model has values of dtype {example.dtype}, which graphs do not have.",
            mend="Convert it first, as in model.float().",
        ) from None
    return Aval(dtype, tuple([dim_of(size, dims) for size in example.shape]))


# -- dimensions ------------------------------------------------------------------------------------
class _Dims(dict[Any, Any]):
    """For each symbol of PyTorch's the dimension here; made when it is first asked for."""

    def __init__(self, names: Mapping[Any, str]) -> None:
        super().__init__({symbol: named(name) for symbol, name in names.items()})

    def __missing__(self, symbol: Any) -> Any:
        found = self[symbol] = named(str(symbol))
        return found


def dim_of(size: Any, dims: Mapping[Any, Any]) -> Dim:
    """A size of PyTorch's as a dimension."""
    if isinstance(size, int):
        return int(size)
    expression = size.node.expr
    return normal(
        expression.xreplace({each: as_expr(dims[each]) for each in expression.free_symbols})
    )


def _names_of_dims(
    program: Any, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Iterator[tuple[Any, str]]:
    """Pairs of PyTorch's symbol and the name that the user gave the dimension."""
    if not dynamic_shapes:
        return
    call = inspect.signature(getattr(model, "forward", model)).bind(*args, **kwargs).arguments
    described: Any = dynamic_shapes
    if not isinstance(described, Mapping):
        described = dict(zip(call, described, strict=False))
    leaves = [leaf for name, arg in call.items() for leaf in _leaves(arg, described.get(name))]
    places = [node for node in program.graph.nodes if node.op == "placeholder"]
    own = places[len(places) - len(leaves) :]
    for node, spec in zip(own, leaves, strict=True):
        axes: Any = spec.items() if isinstance(spec, Mapping) else enumerate(spec or ())
        for axis, dim in axes:
            name = getattr(dim, "__name__", None)
            symbol = getattr(getattr(node.meta["val"].shape[axis], "node", None), "expr", None)
            if name and symbol is not None and symbol.is_Symbol:
                yield symbol, str(name)


def _leaves(arg: Any, spec: Any) -> Iterator[Any]:
    """For each tensor in an argument the dynamic sizes of its axes, in order."""
    if isinstance(arg, Mapping):
        for name, each in arg.items():
            yield from _leaves(each, spec and spec.get(name))
    elif isinstance(arg, (list, tuple)):
        for place, each in enumerate(arg):
            yield from _leaves(each, spec and spec[place])
    else:
        yield spec
