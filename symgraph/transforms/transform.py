"""Transform: a function whose derivatives are traced, simplified, lowered and kept.

A transformed function is traced at its first call with arguments of given structure, shapes and
dtypes, differentiated, simplified, lowered and kept; the cache is bounded. Called on symbolic
arrays, inside another trace, it appends its nodes to that trace instead: transforms compose.

Values that a function reads besides its arguments (globals, enclosed variables, attributes of
`self`) are read while it is traced, and compared at each call: if one has changed, the function is
traced again (see `captured`). An int that the function uses for arithmetic alone is traced once for
all its values (see `counts`); other static numbers that go on changing warn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Self, cast

import numpy as np

from ..array.dispatch import FUNCTIONS
from ..array.handle import Array, constant
from ..autodiff.derivations import staged
from ..autodiff.flat import StageOf
from ..backends.base import OwnArrays, backend_named
from ..backends.lowered import Lowered
from ..backends.profile import Profile
from ..capture.captured import Captured, captured
from ..capture.retraces import Retraces
from ..errors import InputError
from ..graph.graph import Graph
from ..ir.node import Node
from ..ir.walks import substituted
from ..passes.simplify import Effort
from ..pytrees import flatten
from ..rewriting.rule import Soundness
from .arguments import Arguments, Names, Signature, check_foreign, dtype_of, shown_place
from .assumptions import Assume, facts_of_leaves, stated_facts
from .kinds import TransformKind, check_complex, checked, with_keyword
from .options import check_transform_options
from .programs import CacheInfo, KeptProgram, Programs
from .results import nested
from .traced_call import TracedCall, is_number, traced_call
from .unknown_int import LARGEST, NotACount

__all__ = ["Transform"]


class Transform:
    """A function whose derivatives are traced, simplified and lowered once for each signature.

    Parameters
    ----------
    f : callable
    kind : TransformKind
        The quantity to compute.
    wrt : str, int or a sequence of them, optional
        The targets: names or positions; by default the first argument.
    has_aux : bool
        Whether `f` returns a pair: the result to differentiate, and anything else.
    static : str, int or a sequence of them
        Arguments known while tracing. Python's ints, bools and all that is no array are so anyway.
    assume : mapping, optional
        Facts of arguments, by name.
    backend, trust, effort
        As `Graph.lower` and `Graph.simplify`.
    cache_size : int
        Programs kept; the one used longest ago goes first.
    **options
        The backend's own.
    """

    _made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **options: Any) -> Self:
        made = super().__new__(cls)
        # Noted here, so that a copy hands a subclass the same arguments again.
        made._made_with = (args, options)
        return made

    def __init__(
        self,
        f: Callable[..., Any],
        kind: TransformKind,
        *,
        wrt: Names | None = None,
        has_aux: bool = False,
        static: Names = (),
        assume: Assume | None = None,
        backend: str = "numpy",
        trust: Soundness = "rounding",
        effort: Effort = "normal",
        cache_size: int = 64,
        **options: object,
    ) -> None:
        if not callable(f):
            raise InputError(f"{kind.name} is of a function, not of {f!r}.")
        if cache_size < 1:
            raise InputError(f"A cache of {cache_size} programs keeps none.")
        check_transform_options(kind.name, backend, options)
        parameters = Signature(f, wrt, static)
        kind = kind.of(parameters)
        self._f = f
        self._kind = kind
        self._parameters = checked(parameters, kind)
        self._has_aux = has_aux
        self._assume = stated_facts(assume)
        self._how: tuple[Soundness, Effort] = trust, effort
        self._lowering = {"backend": backend, **options}
        self._own: OwnArrays | None = getattr(backend_named(backend), "own", None)
        self._retraces = Retraces(self._parameters.name)
        self._programs = Programs(cache_size, self._retraces)
        self._counted: frozenset[str] = frozenset()
        self._static: set[str] = set()
        self._chosen = {shown_place(place) for place in self._parameters.static}
        self.__wrapped__ = f
        self.__name__ = f"{kind.name}_{self._parameters.name}"
        self.__doc__ = getattr(f, "__doc__", None)
        if self._parameters.signature is not None:
            self.__signature__ = with_keyword(self._parameters.signature, kind.directions)

    def __reduce__(self) -> Any:
        # The function and the options, no programs: they are made again where they are asked for.
        return _made_again, (type(self), *self._made_with)

    # -- calling it ------------------------------------------------------------------------------
    def __call__(self, *args: object, **kwargs: object) -> Any:
        """The derivative at these arguments.

        Raises
        ------
        InputError, ShapeError, DTypeError, TraceError, NotDifferentiable
        """
        arguments, given = self._bound(args, kwargs)
        if any(isinstance(leaf, Array) for leaf in (*arguments.leaves, *given)):
            return self._appended(self._trace(arguments, kwargs), arguments, given)
        plain = arguments
        if self._counted:
            arguments = plain.counted(self._countable(plain, self._counted))
        program = self._program(arguments, len(given))
        if program is None:
            before = self._captured(arguments)
            arguments, traced = self._traced_anew(plain, kwargs)
            if traced.captured:
                return self._appended(traced, arguments, given)
            lowered = self._graph(traced).lower(**cast("Any", self._lowering))
            program = KeptProgram(traced, lowered, self._captured(arguments))
            self._retraces.of_side_effects(before, program.captured)
            self._programs.add((arguments.key(), len(given)), program)
        values = [arguments.leaves[i] for i in arguments.arrays]
        found = program.lowered(*values, *_directed(program.traced, given, self._own))
        return self._nested(program.traced, found)

    def _program(self, arguments: Arguments, directions: int) -> KeptProgram | None:
        key = (arguments.key(), directions)
        return self._programs.get(key, lambda: self._captured(arguments))

    def _captured(self, arguments: Arguments) -> Captured:
        """The values that the function reads besides its arrays."""
        return captured(((self._parameters.name, self._f), *arguments.fixed()))

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Arguments, list[Any]]:
        """The arguments, and the leaves of the direction."""
        keyword = self._kind.directions
        if not keyword:
            return self._parameters.bound(args, kwargs, self._own), []
        if keyword not in kwargs:
            raise InputError(
                f"{self.__name__}: the argument {keyword!r} is missing.",
                mend=f"Pass it by name, as in f(x, {keyword}=...), shaped as what it belongs to.",
            )
        rest = {name: value for name, value in kwargs.items() if name != keyword}
        leaves, _ = flatten(kwargs[keyword])
        for leaf in leaves:
            if is_number(leaf):
                check_foreign(leaf, keyword, self._own)
        return self._parameters.bound(args, rest, self._own), leaves

    def graph(self, *args: object, **kwargs: object) -> Graph:
        """The simplified graph that is lowered for arguments like these."""
        arguments, _ = self._bound(args, kwargs)
        return self._graph(self._trace(arguments, kwargs))

    def lowered(self, *args: object, **kwargs: object) -> Lowered:
        """The program for arguments like these; `.source` shows it."""
        return self.graph(*args, **kwargs).lower(**cast("Any", self._lowering))

    def profile(self, *args: object, **kwargs: object) -> Profile:
        """How long each line of your code takes in a call with these arguments.

        As `Lowered.profile`, of the program for arguments like these.

        Raises
        ------
        InputError
            If an argument is symbolic.
        BackendError
            If the backend runs programs as a whole, as JAX does.

        Examples
        --------
        >>> table = sg.grad(lambda x: np.sum(np.tanh(x) ** 2)).profile(np.ones(1000))
        >>> {row.part for row in table.rows} <= {"forward", "gradient"}
        True
        """
        self(*args, **kwargs)  # Traced, if it is new.
        arguments, given = self._bound(args, kwargs)
        if self._counted:
            arguments = arguments.counted(self._countable(arguments, self._counted))
        program = self._program(arguments, len(given))
        if program is None:
            raise InputError(
                f"{self.__name__} has no program of its own here: an argument, or an array that "
                "it reads, is symbolic.",
                mend="Profile it with arrays of numbers, outside of a traced function.",
            )
        values = [arguments.leaves[i] for i in arguments.arrays]
        return program.lowered.profile(*values, *_directed(program.traced, given, self._own))

    @property
    def direction(self) -> str:
        """The keyword of the direction: `"v"`, `"tangent"`; empty for a transform without one."""
        return self._kind.directions

    # -- the cache -------------------------------------------------------------------------------
    def cache_info(self) -> CacheInfo:
        """Hits, misses, and how many programs are kept of how many that may be."""
        return self._programs.info()

    def cache_clear(self) -> None:
        """Forget all programs: the function is traced again."""
        self._programs.clear()

    @property
    def cached(self) -> list[str]:
        """The signatures of the programs kept, the last used at the end: `x: float64[3], k: 2`."""
        return [_described(program.traced.arguments) for program in self._programs.all()]

    # -- tracing ---------------------------------------------------------------------------------
    def _trace(self, arguments: Arguments, kwargs: dict[str, Any]) -> TracedCall:
        keyword = self._kind.directions
        traced = traced_call(
            self._traced_function(),
            self._parameters,
            arguments,
            facts_of_leaves(arguments, self._assume),
            has_aux=self._has_aux,
            keyword=keyword,
            direction=kwargs[keyword] if keyword else (),
            directed=self._kind.directed,
        )
        check_complex(self._kind, arguments.trees, traced.outputs)
        return traced

    def _traced_anew(
        self, arguments: Arguments, kwargs: dict[str, Any]
    ) -> tuple[Arguments, TracedCall]:
        """The call traced; once for all values of an int that has changed, if that can be."""
        self._retraces.of_shapes(arguments.shapes())
        numbers = [i for i in arguments.numbers() if arguments.paths[i] not in self._chosen]
        noted = {arguments.paths[i]: arguments.leaves[i] for i in numbers}
        alike = arguments.key(numbers) if numbers else ()
        changed = self._retraces.changed(alike, noted)
        if changed and self._captured(arguments).asks_types:
            self._static.update(changed)
        while places := self._countable(arguments, {*changed, *self._counted} - self._static):
            counted = arguments.counted(places)
            try:
                found = counted, self._trace(counted, kwargs)
            except (NotACount, Exception) as error:  # What is the user's own comes again below.
                every = {arguments.paths[i] for i in places}
                asked = error.names if isinstance(error, NotACount) else every
                self._static |= asked
                self._counted -= asked
                continue
            once = {arguments.paths[i] for i in places}
            self._counted |= once
            self._retraces.forget(alike, once)
            return found
        self._retraces.warn_of_numbers(alike, noted)
        return arguments, self._trace(arguments, kwargs)

    def _countable(self, arguments: Arguments, paths: Collection[str]) -> list[int]:
        """Positions of static ints at these paths that are small enough to be exact."""
        return [
            i
            for i in arguments.numbers()
            if arguments.paths[i] in paths
            and type(arguments.leaves[i]) is int
            and abs(arguments.leaves[i]) < LARGEST
        ]

    def _traced_function(self) -> Callable[..., Any]:
        """The function to call on symbolic arrays."""
        return self._f

    def _graph(self, traced: TracedCall) -> Graph:
        """The derivative, derived stage by stage and simplified."""
        graph = Graph(traced.dag)
        for stage, value in self._stages():
            graph = graph.derived(traced.plan.targets, staged(stage, traced.plan, value))
        trust, effort = self._how
        return graph.simplify(trust=trust, effort=effort)

    def _stages(self) -> list[tuple[StageOf, bool]]:
        last = len(self._kind.stages) - 1
        return [(stage, i < last or self._kind.value) for i, stage in enumerate(self._kind.stages)]

    def _appended(self, traced: TracedCall, arguments: Arguments, given: Sequence[Any]) -> Any:
        """The derivative's nodes in the trace that this call is part of."""
        dag = traced.dag
        for stage, value in self._stages():
            dag = stage(dag, traced.plan, value, lambda what, before, after: None)
        values = [arguments.leaves[i] for i in arguments.arrays]
        replacement = {
            symbol.node: _lifted(value, symbol)
            for symbol, value in zip(
                (*traced.symbols, *traced.directions),
                (*values, *[leaf for leaf in given if is_number(leaf)]),
                strict=True,
            )
        }
        found = substituted(dag.outputs, replacement)
        return self._nested(traced, [Array(node) for node in found])

    def _nested(self, traced: TracedCall, values: Sequence[Any]) -> Any:
        single = self._parameters.single
        return nested(self._kind, traced, values, has_aux=self._has_aux, single=single)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def _made_again(cls: type[Transform], args: tuple[Any, ...], options: dict[str, Any]) -> Transform:
    return cls(*args, **options)


def _directed(traced: TracedCall, given: Sequence[Any], own: OwnArrays | None) -> list[Any]:
    """The numbers of directions, in the dtypes of the values they belong to."""
    found: list[Any] = [leaf for leaf in given if is_number(leaf)]
    for i, (value, symbol) in enumerate(zip(found, traced.directions, strict=True)):
        if isinstance(value, (np.ndarray, np.generic, float, int)):
            found[i] = np.asarray(value, symbol.dtype)
        elif own is not None and own.holds(value):
            found[i] = own.cast(value, symbol.dtype)
        # Else an array of a backend's own: it may have no numbers yet.
    return found


def _lifted(value: object, symbol: Array) -> Node:
    found = value if isinstance(value, Array) else constant(np.asarray(value))
    return (found if found.dtype == symbol.dtype else FUNCTIONS["astype"](found, symbol.dtype)).node


def _described(arguments: Arguments) -> str:
    arrays = set(arguments.arrays)
    parts: list[str] = []
    for i, (path, leaf) in enumerate(zip(arguments.paths, arguments.leaves, strict=True)):
        shape = ", ".join(map(str, np.shape(leaf))) if i in arrays else ""
        parts.append(f"{path}: {dtype_of(leaf)}[{shape}]" if i in arrays else f"{path}: {leaf!r}")
    return ", ".join(parts)
