"""What a backend is, how one is found, and `Lowered`, the callable a graph becomes.

A backend brings an array namespace and turns a graph into a function of arrays. It is found by name
among the entry points of the group `symgraph.backends`, ours as a stranger's, and imported only
when asked for.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from ..errors import BackendError, InputError
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.dims import Dim, bind, names_of
from ..ir.immutable import Immutable
from ..ir.interpreter import bound_inputs, given_inputs
from ..namespace import Namespace
from ..saving.document import dag_of, text_of
from .door import fast_door

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "GROUP",
    "Backend",
    "Compiled",
    "Lowered",
    "OwnArrays",
    "available",
    "backend_named",
    "lower",
    "sizes_read",
]

GROUP = "symgraph.backends"


class OwnArrays(Protocol):
    """Arrays of a backend's own, which may have no numbers that NumPy can read.

    They have a dtype and a shape; both are checked before `cast` is asked.
    """

    def holds(self, value: Any) -> bool:
        """Whether it is one of them."""
        ...

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        """The array in a dtype that loses nothing; itself if it has it."""
        ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a backend makes of a graph.

    Parameters
    ----------
    run : callable
        `run(*arrays, *sizes)` gives one result an output; arrays in the order of `Dag.inputs`,
        sizes in the order of `dims`.
    source : str
        What is run, as text.
    dims : tuple of str
        Named dimensions whose sizes `run` wants.
    explain : callable
        Adds to an exception what is known of the line it came from.
    own : OwnArrays, optional
        Arrays that are handed to `run` as they are, besides those of the `native` types.
    """

    run: Callable[..., Sequence[Any]]
    source: str
    dims: tuple[str, ...] = ()
    explain: Callable[[BaseException], None] = lambda error: None
    own: OwnArrays | None = None


@runtime_checkable
class Backend(Protocol):
    """An array namespace that graphs can be lowered to.

    `native` are the array types whose values `Compiled.run` takes as they are; anything else is
    converted to NumPy arrays first.
    """

    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> Namespace: ...

    @property
    def native(self) -> tuple[type[Any], ...]: ...

    def compile(self, dag: Dag, **options: Any) -> Compiled:
        """The function that computes the outputs of `dag`."""
        ...

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]:
        """A NumPy array with the numbers of a result."""
        ...


def _entries() -> Mapping[str, Sequence[EntryPoint]]:
    """What installed packages declare under each name; an equal declaration counts once."""
    return _entries_on(tuple(sys.path))


@cache  # Reading what all packages declare takes 20 ms.
def _entries_on(_path: tuple[str, ...]) -> Mapping[str, Sequence[EntryPoint]]:
    from importlib.metadata import entry_points  # with email and zipfile: a fifth of our import

    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        # An editable installation beside a wheel shows one entry point twice.
        found.setdefault(entry.name, {}).setdefault(entry.value, entry)
    return {name: tuple(each.values()) for name, each in found.items()}


def available() -> tuple[str, ...]:
    """Names of the backends that are declared, sorted; one may still lack a package it needs."""
    return tuple(sorted(_entries()))


def backend_named(name: str | Backend) -> Backend:
    """The backend of that name; one that is given already is given back.

    Raises
    ------
    BackendError
        If there is none or several packages declare it, or a package it needs is missing.
    """
    if not isinstance(name, str):
        if not callable(getattr(name, "compile", None)):
            raise BackendError(
                f"{name!r} is no backend.", mend=f"Name one: {', '.join(available())}."
            )
        return name
    entry = _entry_named(name)
    try:
        found = entry.load()
    except ImportError as error:
        raise BackendError(
            f"Backend {name!r} cannot be imported: {error}.", mend=_how_to_install(entry)
        ) from error
    if not isinstance(found, Backend):
        raise BackendError(f"{entry.value}, declared as backend {name!r}, is not one.")
    return found


def _entry_named(name: str) -> EntryPoint:
    found = _entries().get(name, ())
    if not found:
        mend = f"A package adds one with an entry point of the group {GROUP!r}."
        if not available():
            mend = "Ours are declared by the installed project: pip install -e . in a checkout."
        raise BackendError(
            f"There is no backend {name!r}.",
            [f"known: {', '.join(available()) or 'none'}"],
            mend=mend,
        )
    if len(found) > 1:
        raise BackendError(
            f"{len(found)} packages declare a backend {name!r}.",
            [each.value for each in found],
            mend="Uninstall all of them but one.",
        )
    return found[0]


def _how_to_install(entry: EntryPoint) -> str:
    """The extra of the backend's package that has the backend's name, if there is one."""
    package = entry.dist
    if package is not None and entry.name in (package.metadata.get_all("Provides-Extra") or ()):
        return f'pip install "{package.name}[{entry.name}]"'
    return f"Install what {entry.value} needs."


def sizes_read(dag: Dag) -> tuple[str, ...]:
    """Named dimensions that some node calculates with, sorted: the `dims` of a `Compiled`."""
    found: dict[str, None] = {}
    for node in dag.nodes:
        stack: list[Any] = list(node.params.values())
        while stack:
            value: Dim | Any = stack.pop()
            if isinstance(value, tuple):
                stack.extend(cast("tuple[Any, ...]", value))
            else:
                found.update(dict.fromkeys(names_of(value)))
    return tuple(sorted(found))


def lower(dag: Dag, backend: str | Backend = "numpy", **options: Any) -> Lowered:
    """A callable that computes the outputs of `dag`.

    Parameters
    ----------
    dag : Dag
    backend : str or Backend
    **options
        The backend's own.

    Raises
    ------
    BackendError
        If the backend is unknown, not installed, or does not know an option.
    """
    chosen = backend_named(backend)
    try:
        inspect.signature(chosen.compile).bind(dag, **options)
    except TypeError as error:
        raise BackendError(f"Backend {chosen.name!r}: {error}.") from None
    with collector_paused():
        return Lowered(dag, chosen, chosen.compile(dag, **options), options=options)


class Lowered(Immutable):
    """A graph as a function of arrays.

    Inputs are passed by name, or in the order of the graph's inputs; sizes of named dimensions that
    no input brings by name, too. Nothing passed is ever written to, and results share memory with
    nothing. Calls may run in several threads at once.

    It is pickled as its graph, by the graph's own form, and lowered again where it arrives.

    Parameters
    ----------
    dag : Dag
    backend : Backend
    compiled : Compiled
    check : callable, optional
        Called first with the inputs by name; see `guarded`.
    options : mapping, optional
        Of the backend, for lowering it again.

    Attributes
    ----------
    source : str
        What is run, as text.
    """

    def __init__(
        self,
        dag: Dag,
        backend: Backend,
        compiled: Compiled,
        check: Callable[..., None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.options = dict(options or {})
        self.dag = dag
        self.backend = backend
        self.source = compiled.source
        self._compiled = compiled
        self._check = check
        self._run = compiled.run
        self._names = tuple(dag.inputs)
        self._native = backend.native
        self._specs = tuple([(node.aval.dtype, node.aval.shape) for node in dag.inputs.values()])
        self._regroup = _regrouping(dag)
        self._enter = fast_door(self._names, self._specs, compiled.dims, self._native)
        self.__signature__ = _signature(self._names)
        self.__name__ = f"lowered_to_{backend.name}"

    def guarded(self, check: Callable[..., None]) -> Lowered:
        """The same function; each call first calls `check` with the inputs by name."""
        return Lowered(self.dag, self.backend, self._compiled, check, self.options)

    def __reduce__(self) -> Any:
        name = self.backend.name
        if backend_named(name) is not self.backend:
            raise BackendError(
                f"A function lowered to {self.backend!r} cannot be pickled: that is not the "
                f"backend installed as {name!r}.",
                mend=f"Declare it with an entry point of the group {GROUP!r}.",
            )
        return _lowered_again, (text_of(self.dag), name, self.options, self._check)

    def __call__(self, /, *args: Any, **inputs: Any) -> Any:
        """The outputs, grouped as the graph groups them.

        Raises
        ------
        InputError
            Missing or unknown inputs, shapes that do not fit, dtypes that would lose digits.
        """
        values = self._enter(args, inputs)
        if values is None:
            values = self._checked(args, inputs)
        if self._check is not None:
            self._check(**dict(zip(self._names, values, strict=False)))
        try:
            return self._regroup(self._run(*values))
        except Exception as error:
            self._compiled.explain(error)
            raise

    def _checked(self, args: Sequence[Any], inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """What the fast door did not take: converted, or refused with the reason."""
        named = self._named(args, inputs)
        missing = [name for name in self._names if name not in named]
        if missing:
            self._refuse(named)
        return self._bound([named[name] for name in self._names], named)

    def _bound(self, values: Sequence[Any], inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Inputs as arrays of the declared dtypes, and the sizes of named dimensions after them."""
        sizes = {name: size for name, size in inputs.items() if name not in self.dag.inputs}
        unknown = [name for name in sizes if name not in self._compiled.dims]
        if unknown:
            self._refuse(inputs)
        env: dict[str, int] = dict(sizes)
        if not self._bind_natively(values, env):
            given = dict(zip(self._names, values, strict=True))
            arrays, env = bound_inputs(self.dag.inputs, self._shown(given), sizes)
            values = [
                arrays[name] if own is None else own.cast(given[name], arrays[name].dtype)
                for name in self._names
                for own in [self._owner(given[name])]
            ]
        missing = [name for name in self._compiled.dims if name not in env]
        if missing:
            raise InputError(
                f"The size of dimension {missing[0]!r} is not known.",
                mend=f"Pass it by name, as in {missing[0]}=128.",
            )
        return (*values, *[env[name] for name in self._compiled.dims])

    def _owner(self, value: Any) -> OwnArrays | None:
        own = self._compiled.own
        return own if own is not None and own.holds(value) else None

    def _shown(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """In place of arrays of the backend's own, arrays of their dtypes and shapes."""
        return {
            name: value
            if self._owner(value) is None
            else np.broadcast_to(np.zeros((), value.dtype), value.shape)
            for name, value in given.items()
        }

    def _bind_natively(self, values: Sequence[Any], env: dict[str, int]) -> bool:
        for value, (dtype, shape) in zip(values, self._specs, strict=True):
            if type(value) not in self._native or value.dtype != dtype:
                return False
            if not bind(shape, value.shape, env):
                return False
        return True

    def _named(self, args: Sequence[Any], inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Positional inputs by name, so that all that is wrong is found in one place."""
        if not args:
            return inputs
        return given_inputs(self.dag.inputs, args, inputs)

    def _refuse(self, inputs: Mapping[str, Any]) -> None:
        dims = set(self._compiled.dims) - set(self._names)
        given = {name: each for name, each in inputs.items() if name not in dims}
        bound_inputs(self.dag.inputs, self._shown(given))
        raise InputError("The inputs do not match.")

    def __repr__(self) -> str:
        return f"<{self.__name__}{self.__signature__}>"


def _lowered_again(
    text: str, backend: str, options: dict[str, Any], check: Callable[..., None] | None
) -> Lowered:
    lowered = lower(dag_of(text), backend, **options)
    return lowered if check is None else lowered.guarded(check)


def _regrouping(dag: Dag) -> Callable[[Sequence[Any]], Any]:
    if dag.structure == 0 and type(dag.structure) is int:
        return lambda results: results[0]
    if type(dag.structure) is tuple and dag.structure == tuple(range(len(dag.outputs))):
        return tuple
    return dag.regroup


def _signature(names: Sequence[str]) -> inspect.Signature:
    usable = all(name.isidentifier() and not keyword.iskeyword(name) for name in names)
    if usable and len(set(names)) == len(names):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return inspect.Signature(
        [
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("inputs", inspect.Parameter.VAR_KEYWORD),
        ]
    )
