"""The NumPy backend: the program is Python source, compiled once."""

from __future__ import annotations

import contextvars
import hashlib
import itertools
import linecache
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ..ir.dag import Dag
from ..lowering.emit import Emitted, emit
from ..lowering.floats import FLOAT_ERRORS, FLOAT_NAMES, is_quiet
from ..lowering.peak import BUFFER
from ..lowering.program import Program, program_of
from ..lowering.statements import Statement
from ..namespace import NUMPY, Namespace
from ..namespace.error_functions import MANY, special_of_many
from ..ops.special import erf, erfc
from ..passes.unmasked import without_masks
from .arenas import Arenas
from .arity import of_arguments
from .base import Compiled
from .capabilities import Capabilities
from .single_function import SingleFunction
from .threads import InOrder, Team
from .timed_programs import Clock, Clocked
from .workspaces import Workspaces

__all__ = ["BACKEND", "NumpyBackend", "assembled"]

_compilations = itertools.count()


class NumpyBackend:
    """Runs graphs as straight-line NumPy source; see `symgraph.lowering`."""

    name = "numpy"
    native = (np.ndarray,)
    capabilities = Capabilities()

    @property
    def namespace(self) -> Namespace:
        return NUMPY

    def compile(self, dag: Dag, *, floats: bool = True, threads: int | None = None) -> Compiled:
        """The compiled program of `dag`; tracebacks show its source.

        Parameters
        ----------
        dag : Dag
        floats : bool
            Whether a graph of scalars runs on Python's floats, ten times as fast. A function may
            then give the float next to NumPy's.
        threads : int, optional
            On how many threads the blocks of large arrays are computed; by default on the caller's.
            Results are the same to the bit. Products of matrices are BLAS's, which has threads of
            its own; in blocks it uses one, as threadpoolctl tells it.

        Raises
        ------
        InputError
            If there is less than one thread.
        """
        team = None if threads is None else Team(threads)
        return assembled(program_of(without_masks(dag)), floats=floats, team=team)

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        return np.asarray(value)


def assembled(
    program: Program,
    *,
    floats: bool = False,
    names: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    clock: Clock | None = None,
    team: Team | None = None,
) -> Compiled:
    """The functions of a program, compiled by Python.

    Parameters
    ----------
    program : Program
    floats : bool
        Whether a graph of scalars runs on Python's floats.
    names : callable, optional
        Gives further names that the source uses, from the scope that it is run in.
    clock : Clock, optional
        Notes the times of statements.
    team : Team, optional
        The threads that compute blocks.
    """
    emitted = emit(program, floats=floats, threads=team is not None, apart=clock is not None)
    if clock is not None:
        emitted = clock.put_into(emitted)
    digest = hashlib.blake2b(emitted.source.encode(), digest_size=6).hexdigest()
    filename = f"<symgraph {digest}-{next(_compilations)}>"
    scope = _compiled(emitted, filename)
    if team is not None:
        scope.update(spread=team.spread, in_order=partial(InOrder, kept=np.array))
    further = dict(names(scope)) if names is not None else {}
    scope.update(further)
    run, workspaces = _with_memory(program, emitted, scope, team)
    direct: SingleFunction | None = None
    scalars: list[bool] = []
    if emitted.on_floats:
        quick = scope["floats"]
        if not is_quiet(emitted.source):
            quick = _floats_without_warnings(quick, len(program.inputs))
        scalars += [not node.ndim for node in program.dag.inputs.values()]
        run = _on_floats(quick, run, scalars)
        direct = SingleFunction(quick, FLOAT_ERRORS)
    return Compiled(
        run,
        emitted.source,
        emitted.dims,
        _Explainer(filename, emitted.lines),
        workspaces=workspaces,
        floats=emitted.on_floats and all(scalars),
        clocked=partial(_clocked, program, floats, scope, tuple(further)),
        direct=direct,
    )


def _with_memory(
    program: Program, emitted: Emitted, scope: Mapping[str, Any], team: Team | None
) -> tuple[Callable[..., Sequence[Any]], Workspaces | Arenas | None]:
    """The function of the program on memory that is kept between calls, and this memory."""
    called_by_name = _calls_by_name(program)
    count = len(program.inputs) + len(emitted.dims) + emitted.workspace
    run = _without_warnings(scope["program"], called_by_name, count)
    if program.arena:
        arenas = Arenas(program, emitted.dims)
        return arenas.running(run), arenas
    if not emitted.workspace:
        return run, None
    workspaces = Workspaces(program, emitted.dims, team and team.threads)
    blocked = scope.get("blocked")
    if called_by_name:
        blocked = blocked and _without_warnings(blocked, True, count)
        return workspaces.running(run, blocked), workspaces
    return workspaces.running(scope["program"], blocked, _silent_context.copy), workspaces


def _clocked(
    program: Program, floats: bool, scope: Mapping[str, Any], names: Sequence[str]
) -> Clocked:
    """The program with a clock; it uses these names of its scope."""
    clock = Clock()
    # Loops that are compiled by now are taken as they are.
    further = {"tick": clock.tick(), **{name: scope[name] for name in names}}
    run = assembled(program, floats=floats, names=lambda _: further, clock=clock).run
    return Clocked(run, clock, program)


_deleted_files: deque[str] = deque()
"""File names of deleted functions, to be removed from linecache when the next one is added.

A function may be deleted while linecache iterates over its table, so it is not removed at once.
"""


_FAST_NUMPY = ModuleType("numpy")
"""NumPy's functions as a module without `__getattr__`, of which Python keeps where names lie.

Looking `np.exp` up takes 4 ns in it, and 50 ns in NumPy itself.
"""
vars(_FAST_NUMPY).update({name: each for name, each in vars(np).items() if name != "__getattr__"})


def _compiled(emitted: Emitted, filename: str) -> dict[str, Any]:
    """The functions of the source, by name."""
    code = compile(emitted.source, filename, "exec", dont_inherit=True)
    names: dict[str, Any] = {"__builtins__": {}, "np": _FAST_NUMPY, **emitted.table}
    if emitted.on_floats:
        names.update(FLOAT_NAMES)
    if "special." in emitted.source:
        many = any(_computes_many(each) for each in emitted.lines.values())
        names["special"] = special_of_many(NUMPY.special) if many else NUMPY.special
    exec(code, names)
    lines = emitted.source.splitlines(keepends=True)
    while _deleted_files:
        linecache.cache.pop(_deleted_files.popleft(), None)
    linecache.cache[filename] = (len(emitted.source), None, lines, filename)
    weakref.finalize(names["program"], _deleted_files.append, filename)
    return names


def _computes_many(statement: Statement) -> bool:
    """Whether it may compute an error function of many numbers."""
    if statement.node.op not in (erf.op, erfc.op):
        return False
    size = statement.node.aval.size
    return not isinstance(size, int) or size >= MANY


_silent_context = contextvars.copy_context()
_silent_context.run(np.seterr, all="ignore")
_silent_context.run(np.setbufsize, BUFFER)


def _without_warnings(
    function: Callable[..., Any], called_by_name: bool, count: int
) -> Callable[..., Sequence[Any]]:
    """The function of `count` arguments without warnings and with small buffers, as set here."""
    if called_by_name:
        # A kernel called by name may be the user's, and must see the caller's context variables.
        def with_setting(*values: Any) -> Sequence[Any]:
            with np.errstate(all="ignore"):
                return function(*values)

        return with_setting
    # Copying a context takes a fifth of the time of np.errstate, and threads do not share it.
    source = "def run(*values): return copy().run(function, *values)"
    return of_arguments(source, count, copy=_silent_context.copy, function=function)


def _floats_without_warnings(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The same of a function on floats, which gives None for more or fewer arguments."""
    names = [f"v{place}" for place in range(count)]
    source = f"""
def run({"".join([f"{name}=None, " for name in names])}*more):
    return None if more else copy().run({", ".join(["function", *names])})
"""
    return of_arguments(source, 0, copy=_silent_context.copy, function=function)


def _on_floats(
    floats: Callable[..., Sequence[Any]],
    program: Callable[..., Sequence[Any]],
    scalars: Sequence[bool],
) -> Callable[..., Sequence[Any]]:
    """The function on floats, and the program where its results are not all finite.

    `scalars` tells which inputs are floats; the others are arrays.
    """
    array = np.array
    if all(scalars):

        def run(*values: Any) -> Sequence[Any]:
            try:
                return floats(*map(float, values))
            except FLOAT_ERRORS:
                return program(*map(array, values))

        return run

    def run_with_arrays(*values: Any) -> Sequence[Any]:
        try:
            found = floats(
                *[float(v) if one else v for v, one in zip(values, scalars, strict=True)]
            )
        except FLOAT_ERRORS:
            found = None
        return program(*values) if found is None else found

    return run_with_arrays


def _calls_by_name(program: Program) -> bool:
    """Whether the program or one of its bodies calls a kernel by name."""
    waiting = [program]
    while waiting:
        each = waiting.pop()
        if any(statement.named for statement in each.statements):
            return True
        waiting.extend(each.bodies.values())
    return False


class _Explainer:
    """Adds the user's line to an exception from a generated line."""

    def __init__(self, filename: str, lines: Mapping[int, Statement]) -> None:
        self._filename = filename
        self._lines = lines

    def __call__(self, error: BaseException) -> None:
        for frame, line in traceback.walk_tb(error.__traceback__):
            statement = self._lines.get(line)
            if frame.f_code.co_filename != self._filename or statement is None:
                continue
            node = statement.node
            places = "".join(f"\n  {each.quoted()}" for each in node.origin.frames)
            kind = "gradient of " if node.origin.adjoint_of is not None else ""
            error.add_note(f"while computing {kind}{node.op.name} {node.aval}, from{places}")
            if isinstance(error, MemoryError):
                error.add_note(
                    "To use less memory, give the graph a budget: graph.checkpoint(memory=...)."
                )


BACKEND = NumpyBackend()
