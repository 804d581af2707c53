"""Graphs as StableHLO, the text that XLA and its kin compile: lowered by JAX, one program a size.

The kernels run in `jax.numpy` under JAX's tracer, as in the jax backend. JAX writes some operations
as calls of functions that only a Python process with JAX has, such as SciPy's on the host; a text
with such a call would be of no use elsewhere, so it is refused.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import BackendError, InputError
from ..extras import module_of_extra
from ..ir.dag import Dag
from ..ir.dims import resolve
from ..ir.interpreter import run
from ..ir.node import Node
from .base import sizes_read

__all__ = ["to_stablehlo"]

PLATFORM = "tpu"
"""JAX writes Cholesky factors and triangular solutions with StableHLO's own operations for TPUs.

For CPUs it writes calls of LAPACK. The text is the same for all platforms otherwise.
"""


def to_stablehlo(dag: Dag, sizes: Mapping[str, int]) -> str:
    """The graph as an MLIR module of StableHLO; see `View.to_stablehlo`."""
    jax = module_of_extra("jax", "jax", "StableHLO programs")
    from .jax import BACKEND, enable_x64  # it imports jax

    namespace = BACKEND.namespace
    _check_sizes(dag, sizes)
    order = [node for node in dag.nodes if not node.is_input]
    names = _arguments(list(dag.inputs))

    def graph(*values: Any) -> tuple[Any, ...]:
        known: dict[Node, Any] = dict(zip(dag.inputs.values(), values, strict=True))
        for place, node in enumerate(order):
            with jax.named_scope(f"node{place}"):
                operands = [known[operand] for operand in node.operands]
                known[node] = run(node, operands, dict(sizes), namespace)
        return tuple([namespace.asarray(known[each]) for each in dag.outputs])

    kind = inspect.Parameter.POSITIONAL_ONLY
    _named(graph, inspect.Signature([inspect.Parameter(name, kind) for name in names]))
    specs = [
        jax.ShapeDtypeStruct(resolve(node.shape, sizes), node.dtype) for node in dag.inputs.values()
    ]
    with enable_x64(True):
        traced = jax.jit(graph, keep_unused=True).trace(*specs)
        for place in _callbacks(traced.jaxpr.jaxpr, None):
            _refuse("SciPy's on the host", None if place is None else order[place])
        module = traced.lower(lowering_platforms=(PLATFORM,)).compiler_ir("stablehlo")
        for target, place in _calls(module):
            _refuse(target, None if place is None else order[place])
        module.operation.verify()
        text = str(module.operation.get_asm(use_name_loc_as_prefix=True))
    return "".join([*_renamed(dag, names), text])


def _named(function: Callable[..., Any], signature: inspect.Signature) -> None:
    """Give the function a signature, whose names JAX gives to the arguments of the program."""
    function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]


def _check_sizes(dag: Dag, sizes: Mapping[str, int]) -> None:
    known = {*dag.dims, *sizes_read(dag)}
    missing = sorted(known - set(sizes))
    if missing:
        raise InputError(
            f"The size of dimension {missing[0]!r} is not known; a StableHLO program has one size.",
            mend=f"Give it, as in graph.to_stablehlo({missing[0]}=128).",
        )
    for name, size in sizes.items():
        if name not in known:
            raise InputError(
                f"The graph has no dimension {name!r}.",
                mend=f"It has {', '.join(sorted(known)) or 'none with a name'}.",
            )
        if type(size) is not int or size < 0:
            raise InputError(
                f"The size of dimension {name!r} is {size!r}.", mend="Give an int, at least 0."
            )


def _arguments(names: Sequence[str]) -> list[str]:
    """The inputs' names where MLIR takes them; else with `_` for what it does not take."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = plain if plain.isidentifier() and not keyword.iskeyword(plain) else f"_{plain}"
        while plain in found or (plain != name and plain in names):
            plain += "_"
        found.append(plain)
    return found


def _renamed(dag: Dag, names: Sequence[str]) -> Iterator[str]:
    """A line of comment for each argument that could not have its input's name."""
    for name, given in zip(dag.inputs, names, strict=True):
        if name != given:
            yield f"// %{given} is the input {name!r}\n"


def _callbacks(jaxpr: Any, place: int | None) -> Iterator[int | None]:
    """The places of the nodes for which JAX would call a function of this Python process."""
    for equation in jaxpr.eqns:
        found = re.search(r"\bnode(\d+)\b", str(equation.source_info.name_stack))
        here = int(found.group(1)) if found and place is None else place
        if equation.primitive.name == "pure_callback":
            yield here
        for value in equation.params.values():
            for each in value if isinstance(value, tuple) else (value,):
                inner = getattr(each, "jaxpr", each)
                if hasattr(inner, "eqns"):
                    yield from _callbacks(inner, here)


def _calls(module: Any) -> Iterator[tuple[str, int | None]]:
    """The functions outside of the program that it calls, each with the place of its node."""
    functions = {each.attributes["sym_name"].value: each for each in module.body.operations}
    yield from _calls_of(functions["main"].operation, None, functions)


def _calls_of(
    operation: Any, place: int | None, functions: Mapping[str, Any]
) -> Iterator[tuple[str, int | None]]:
    for region in operation.regions:
        for block in region.blocks:
            for each in block.operations:
                inner = each.operation
                found = re.search(r"\bnode(\d+)/", str(inner.location))
                here = int(found.group(1)) if found and place is None else place
                if inner.name == "stablehlo.custom_call":
                    yield inner.attributes["call_target_name"].value, here
                elif inner.name == "func.call":
                    called = functions[inner.attributes["callee"].value]
                    yield from _calls_of(called.operation, here, functions)
                yield from _calls_of(inner, here, functions)


def _refuse(target: str, node: Node | None) -> None:
    what = "An operation" if node is None else node.op.name
    raise BackendError(
        f"{what} has no counterpart in StableHLO: JAX calls a function for it, {target}.",
        [] if node is None else [f"{node.op.name} {node.aval}   from {node.origin}"],
        mend='Run the graph by graph.lower("jax") instead, or leave this operation out of it.',
    )
