"""Graphs as StableHLO, the text that XLA and its kin compile: lowered by JAX, one program a size.

The kernels run in `jax.numpy` under JAX's tracer, as in the jax backend. JAX writes some operations
as calls of functions that only a Python process with JAX has, such as SciPy's on the host; a text
with such a call would be of no use elsewhere, so it is refused.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import BackendError, InputError
from ..extras import module_of_extra
from ..ir.dag import Dag
from ..ir.node import Node
from .base import backend_named, sizes_read

__all__ = ["to_stablehlo"]

PLATFORM = "tpu"
"""JAX writes Cholesky factors and triangular solutions with StableHLO's own operations for TPUs.

For CPUs it writes calls of LAPACK. The programs run on CPUs, too: the tests run them there.
"""


def to_stablehlo(dag: Dag, sizes: Mapping[str, int]) -> str:
    """The graph as an MLIR module of StableHLO; see `View.to_stablehlo`."""
    module_of_extra("jax", "jax", "StableHLO programs")
    backend: Any = backend_named("jax")
    _check_sizes(dag, sizes)
    order = [node for node in dag.nodes if not node.is_input]
    names = _arguments(list(dag.inputs))
    module, on_host = backend.module_of(dag, order, sizes, names, PLATFORM)
    for place in on_host:
        _refuse("SciPy's on the host", None if place is None else order[place])
    for target, place in _calls(module, backend.place_in):
        _refuse(target, None if place is None else order[place])
    module.operation.verify()
    text = str(module.operation.get_asm(use_name_loc_as_prefix=True))
    return "".join([*_renamed(dag, names), text])


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


def _calls(module: Any, place_in: Callable[[str], int | None]) -> Iterator[tuple[str, int | None]]:
    """The functions outside of the program that it calls, each with the place of its node."""
    functions = {each.attributes["sym_name"].value: each for each in module.body.operations}

    def within(operation: Any, place: int | None) -> Iterator[tuple[str, int | None]]:
        for region in operation.regions:
            for each in [one.operation for block in region.blocks for one in block.operations]:
                here = place_in(str(each.location)) if place is None else place
                if each.name == "stablehlo.custom_call":
                    yield each.attributes["call_target_name"].value, here
                elif each.name == "func.call":
                    yield from within(functions[each.attributes["callee"].value].operation, here)
                yield from within(each, here)

    yield from within(functions["main"].operation, None)


def _refuse(target: str, node: Node | None) -> None:
    what = "An operation" if node is None else node.op.name
    raise BackendError(
        f"{what} has no counterpart in StableHLO: JAX calls a function for it, {target}.",
        [] if node is None else [f"{node.op.name} {node.aval}   from {node.origin}"],
        mend='Run the graph by graph.lower("jax") instead, or leave this operation out of it.',
    )
