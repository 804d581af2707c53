"""The native backend: the NumPy program, with groups of statements as compiled loops.

What is elementwise, with the reductions before and behind it, runs as one loop of machine code a
group; graphs of scalars are one call. Gathers, most products of matrices and all else are calls
of NumPy, as on the NumPy backend. The loops are compiled at the first call and kept on disk.
`f.native_reason` tells what is left to NumPy and why.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..ir.body import has_custom
from ..ir.dag import Dag
from ..lowering.program import Program, program_of
from ..native.entry_code import ENTRY
from ..native.entry_table import table
from ..native.machine import (
    entry_function,
    functions,
    head_bytes,
    llvm_version,
    unsupported,
    vector_bytes,
)
from ..native.modules import CompiledLoops
from ..native.products import blas_is_narrow
from ..native.programs import Grouping
from ..native.writer import Machine
from ..passes.unmasked import without_masks
from .base import Compiled
from .native_convolutions import NATIVE
from .numpy import NumpyBackend, assembled
from .shared_loops import shared_loop, shared_product
from .single_function import SingleFunction
from .threads import Team

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
            On how many threads large loops are computed; by default on the caller's. Results are
            the same to the bit for any number. Without one, sums over all rows of a large array are
            added in another order.
        products : bool, optional
            Whether products of matrices are compiled, too; else BLAS computes them. By default they
            are where NumPy's OpenBLAS does not use the whole registers of the processor.

        Raises
        ------
        InputError
            If there is less than one thread.
        """
        team = None if threads is None else Team(threads)
        reason = unsupported()
        if not reason and (dag.schedule is not None or any(node.copy for node in dag.nodes)):
            reason = "the graph is planned for a memory budget, which its own statements keep"
        if reason:
            return (
                super()
                .compile(dag, floats=floats, threads=threads)
                .with_reason(f"all is left to NumPy: {reason}")
            )
        grouping = Grouping(_machine(products), threads, in_bodies=not has_custom(dag))
        program = program_of(without_masks(dag), rewrite=grouping)
        total = sum([each.left for each in grouping.all], Counter[str]())
        counts = [each for each in sorted(total.items()) if each[0] not in _OF_NAMESPACE]
        left = ", ".join([f"{name} ({count})" for name, count in counts])
        told = f"left to NumPy: {left}" if left else ""
        if not grouping.used:
            why = _IN_BLOCKS if grouping.in_blocks else "no two statements share a loop"
            reason = f"all is left to NumPy: {why}; {told}"
            program = program_of(without_masks(dag))
            names = _namespace_of(program)
            return assembled(
                program, floats=floats, names=lambda scope: names, team=team
            ).with_reason(reason)
        loops = [each.loops for each in grouping.all if each.loops is not None]
        lazy = _Lazy(loops, team, _namespace_of(program))
        found = assembled(program, names=lazy.names).with_reason(told)
        if grouping.loops is None or grouping.loops.whole is None:
            return found
        direct = SingleFunction.compiled_later(partial(_whole, grouping.loops))
        return replace(found, run=direct.before(found.run), direct=direct)


def _namespace_of(program: Program) -> dict[str, Any]:
    """The namespace whose convolutions are compiled, under its name in the source; if needed."""
    programs = [program]
    for each in programs:
        programs += each.bodies.values()
    pieces = [piece for each in programs for line in each.statements for piece in line.pieces]
    asks = any(isinstance(each, str) and "convolution(" in each for each in pieces)
    return {"xp": NATIVE} if asks else {}


def _machine(products: bool | None = None) -> Machine:
    register = vector_bytes()
    if products is None:
        products = register == 64 and blas_is_narrow()
    return Machine(llvm_version(), register, head_bytes(), products)


def loops_of_graph(dag: Dag) -> CompiledLoops | None:
    """The loops of a graph, for a look at their code; None if it has none."""
    grouping = Grouping(_machine())
    program_of(without_masks(dag), rewrite=grouping)
    return grouping.loops


_IN_BLOCKS = "it reads a large matrix once, in blocks of rows"
_OF_NAMESPACE = frozenset(("xp.convolution", "xp.adjoint_convolution", "xp.kernel_convolution"))
"""Functions that `native_convolutions` has, or leaves to NumPy as it finds the arrays."""


def _whole(loops: CompiledLoops) -> Callable[..., Any]:
    """A program that is one function."""
    assert loops.whole is not None
    return entry_function(loops.whole, ENTRY, table(loops.constants))


class _Lazy:
    """Functions that compile the loops of a program when the first of them is called."""

    def __init__(
        self, loops: Sequence[CompiledLoops], team: Team | None, others: Mapping[str, Any]
    ) -> None:
        self._loops = loops
        self._others = others
        self._team = team
        self._lock = threading.Lock()
        self._found: dict[str, Any] = {}
        self._scope: dict[str, Any] = {}

    def names(self, scope: dict[str, Any]) -> dict[str, Any]:
        """A function for each loop, by name; compiled ones take their places in the scope."""
        self._scope = scope
        names = [name for loops in self._loops for each in loops.names for name in each]
        return {**self._others, **{name: partial(self._first, name) for name in names}}

    def _first(self, name: str, *arrays: Any) -> Any:
        return self._all()[name](*arrays)

    def _all(self) -> dict[str, Any]:
        with self._lock:
            if not self._found:
                self._found.update(self._compiled())
                self._scope.update(self._found)
        return self._found

    def _compiled(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in self._loops:
            found.update(self._compiled_of(each))
        return found

    def _compiled_of(self, loops: CompiledLoops) -> dict[str, Any]:
        team = self._team
        found: dict[str, Any] = {}
        for module, names in zip(loops.modules, loops.names, strict=True):
            found.update(zip(names, functions(module.text, module.names), strict=True))
        if team is None:
            return found
        for name, parts in loops.parts.items():
            found[name] = shared_loop(found[name], found[f"{name}_part"], parts, team)
        for (name,), rows in zip(loops.names[1:], loops.rows_of_tiles, strict=True):
            found[name] = shared_product(found[name], rows, team)
        return found


BACKEND = NativeBackend()
