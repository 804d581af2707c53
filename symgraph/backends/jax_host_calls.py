"""Calls of SciPy on the host in a program of JAX's, which another device would wait for.

Each node is traced in a scope whose name holds its place, so that a call is told by its node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import jax

from ..errors import BackendError
from ..ir.node import Node

__all__ = ["TRACER", "HostCalls", "host_calls", "place_in", "scope_name"]

TRACER: type[Any] = import_module("jax.core").Tracer
"""What stands for an array inside a transformation of JAX's."""
_SCOPE = re.compile(r"\bnode(\d+)\.")


def scope_name(place: int, node: Node) -> str:
    """The name of the scope in which a node is traced."""
    return f"node{place}.{node.op.name}"


def place_in(name: str) -> int | None:
    """The place of the node in whose scope something was traced."""
    found = _SCOPE.search(name)
    return None if found is None else int(found.group(1))


def host_calls(jaxpr: Any, place: int | None = None) -> Iterator[int | None]:
    """The places of the nodes for which a function of this Python process would be called."""
    for equation in jaxpr.eqns:
        here = place_in(str(equation.source_info.name_stack)) if place is None else place
        if equation.primitive.name == "pure_callback":
            yield here
        for value in equation.params.values():
            for each in value if isinstance(value, tuple) else (value,):
                inner = getattr(each, "jaxpr", each)
                if hasattr(inner, "eqns"):
                    yield from host_calls(inner, here)


def _platforms(arrays: Sequence[Any]) -> frozenset[str]:
    """The kinds of devices that arrays lie on; if they tell none, that on which JAX computes."""
    found = [
        own.platform
        for each in arrays
        if isinstance(each, jax.Array) and not isinstance(each, TRACER)
        for own in each.devices()
    ]
    return frozenset(found or [jax.default_backend()])


class HostCalls:
    """Refuses a program on another device that would call SciPy on the host."""

    def __init__(self, program: Callable[..., Any], order: Sequence[Node]) -> None:
        self.program = program
        self.order = order
        # Tracing takes longer than a call, so it is done once for each device and all sizes.
        self._allowed: set[Any] = set()

    def check(self, arrays: Sequence[Any], sizes: Sequence[int]) -> None:
        """Look at the program for these arrays.

        Raises
        ------
        BackendError
        """
        on = _platforms(arrays)
        key = (on, tuple(sizes), *[(each.shape, each.dtype) for each in arrays])
        if on == frozenset(["cpu"]) or key in self._allowed:
            return
        traced = jax.make_jaxpr(lambda *values: self.program(*values, sizes=tuple(sizes)))(*arrays)
        for place in host_calls(traced.jaxpr):
            node = None if place is None else self.order[place]
            what = "an operation" if node is None else node.op.name
            raise BackendError(
                f"JAX has no {what}, and SciPy would compute it on the host.",
                [] if node is None else [f"{what} {node.aval}   from {node.origin}"],
                mend='Allow it with lower("jax", host=True), or lower the graph to "numpy".',
            )
        self._allowed.add(key)
