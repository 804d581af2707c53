"""The native backend: the NumPy program, with groups of statements as compiled loops.

What is elementwise, with the reductions before and behind it, runs as one loop of machine code a
group; graphs of scalars are one call. Gathers, most products of matrices and all else are calls
of NumPy, as on the NumPy backend. The loops are compiled at the first call and kept on disk.
`f.native_reason` tells what is left to NumPy and why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..ir.dag import Dag
from ..lowering.program import program_of
from ..native.machine import functions, head_bytes, llvm_version, unsupported, vector_bytes
from ..native.modules import Loops, Machine
from ..native.products import blas_is_narrow
from ..native.programs import Grouping
from ..passes.unmasked import without_masks
from .base import Compiled
from .numpy import NumpyBackend, assembled

__all__ = ["BACKEND", "NativeBackend", "loops_of_graph"]


class NativeBackend(NumpyBackend):
    """Runs graphs as NumPy source that calls compiled loops; see `symgraph.native`."""

    name = "native"

    def compile(
        self,
        dag: Dag,
        *,
        floats: bool = True,
        threads: int | None = None,
        products: bool | None = None,
    ) -> Compiled:
        """The compiled program of `dag`; its loops are compiled at the first call.

        Parameters
        ----------
        dag : Dag
        floats : bool
            Whether a graph of scalars without a compiled loop runs on Python's floats.
        threads : int, optional
            As of the NumPy backend, for graphs that are left to it.
        products : bool, optional
            Whether products of matrices are compiled, too; else BLAS computes them. By default they
            are where NumPy's OpenBLAS does not use the whole registers of the processor.
        """
        reason = unsupported()
        if not reason and (dag.schedule is not None or any(node.copy for node in dag.nodes)):
            reason = "the graph is planned for a memory budget, which its own statements keep"
        if reason:
            return (
                super()
                .compile(dag, floats=floats, threads=threads)
                .with_reason(f"all is left to NumPy: {reason}")
            )
        grouping = Grouping(_machine(products))
        program = program_of(without_masks(dag), rewrite=grouping)
        left = ", ".join([f"{name} ({count})" for name, count in sorted(grouping.left.items())])
        told = f"left to NumPy: {left}" if left else ""
        if grouping.loops is None:
            return (
                super()
                .compile(dag, floats=floats, threads=threads)
                .with_reason(f"all is left to NumPy: no two statements share a loop; {told}")
            )
        return assembled(program, names=_Lazy(grouping.loops).names).with_reason(told)


def _machine(products: bool | None = None) -> Machine:
    register = vector_bytes()
    if products is None:
        products = register == 64 and blas_is_narrow()
    return Machine(llvm_version(), register, head_bytes(), products)


def loops_of_graph(dag: Dag) -> Loops | None:
    """The loops of a graph, for a look at their code; None if it has none."""
    grouping = Grouping(_machine())
    program_of(without_masks(dag), rewrite=grouping)
    return grouping.loops


class _Lazy:
    """Functions that compile the loops of a program when the first of them is called."""

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self._lock = threading.Lock()
        self._found: dict[str, Any] = {}

    def names(self, scope: dict[str, Any]) -> dict[str, Any]:
        """A function for each loop, by name; compiled ones take their places in the scope."""
        names = [name for each in self._loops.names for name in each]
        return {name: self._first(name, scope) for name in names}

    def _first(self, name: str, scope: dict[str, Any]) -> Callable[..., Any]:
        def call(*arrays: Any) -> Any:
            with self._lock:
                if not self._found:
                    for module, names in zip(self._loops.modules, self._loops.names, strict=True):
                        found = functions(module.text, module.names)
                        self._found.update(zip(names, found, strict=True))
                    scope.update(self._found)
            return self._found[name](*arrays)

        return call


BACKEND = NativeBackend()
