"""The backend protocol, the search for backends, and `Lowered`, a graph as a callable.

A backend has an array namespace and turns a graph into a function of arrays. It is found by name
among the entry points of the group `symgraph.backends`, whoever wrote it, and imported only when it
is used.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from .arenas import Arenas
from .capabilities import Capabilities, check_dtypes
from .fast_entry import fast_entry
from .workspaces import Workspaces

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
    """A backend's own arrays, whose numbers NumPy may be unable to read.

    They have a dtype and a shape; both are checked before `cast` is called.
    """

    def holds(self, value: Any) -> bool:
        """Whether the value is one of these arrays."""
        ...

    def dtype_of(self, value: Any) -> np.dtype[Any]:
        """The dtype of the array, as NumPy's."""
        return np.dtype(value.dtype)

    def cast(self, value: Any, dtype: np.dtype[Any]) -> Any:
        """The array, converted to a dtype that holds all its numbers if it has another."""
        ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """A graph compiled by a backend.

    Parameters
    ----------
    run : callable
        `run(*arrays, *sizes)` gives one result for each output. The arrays are in the order of
        `Dag.inputs`, the sizes in the order of `dims`.
    source : str
        The program as text.
    dims : tuple of str
        Named dimensions whose sizes `run` takes.
    explain : callable
        Adds to an exception the user's line from which it came.
    own : OwnArrays, optional
        Arrays that `run` takes without conversion, besides those of the `native` types.
    workspaces : Workspaces or Arenas, optional
        Memory that `run` keeps between calls.
    floats : bool
        Whether `run` takes Python's floats as well, where inputs are 0-d and float64.
    reason : str
        What a backend that compiles has left to another, and why; else empty.
    """

    run: Callable[..., Sequence[Any]]
    source: str
    dims: tuple[str, ...] = ()
    explain: Callable[[BaseException], None] = lambda error: None
    own: OwnArrays | None = None
    workspaces: Workspaces | Arenas | None = None
    floats: bool = False
    reason: str = ""

    def with_reason(self, reason: str) -> Compiled:
        """The same, telling what is left to another backend."""
        return replace(self, reason=reason)


@runtime_checkable
class Backend(Protocol):
    """An array namespace to which graphs can be lowered.

    `Compiled.run` takes arrays of the `native` types without conversion; any other input is
    converted to a NumPy array first. A backend that has not all dtypes declares those that it has
    in an attribute `capabilities`; see `symgraph.backends.capabilities`.
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
    """The entry points under each name in all installed packages; equal ones count once."""
    return _entries_on(tuple(sys.path))


@cache  # Reading the entry points of all packages takes 20 ms.
def _entries_on(_path: tuple[str, ...]) -> Mapping[str, Sequence[EntryPoint]]:
    from importlib.metadata import entry_points  # it loads email and zipfile: 1/5 of our import

    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        # With an editable installation beside a wheel, each entry point appears twice.
        found.setdefault(entry.name, {}).setdefault(entry.value, entry)
    return {name: tuple(each.values()) for name, each in found.items()}


def available() -> tuple[str, ...]:
    """The sorted names of all declared backends; a package that one needs may still be missing."""
    return tuple(sorted(_entries()))


def backend_named(name: str | Backend) -> Backend:
    """The backend of this name; a backend itself is given back.

    Raises
    ------
    BackendError
        If no package or several packages declare it, or if a package that it needs is missing.
    """
    if not isinstance(name, str):
        if not callable(getattr(name, "compile", None)):
            raise BackendError(
                f"{name!r} is not a backend.", mend=f"Name one: {', '.join(available())}."
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
        raise BackendError(
            f"{entry.value}, declared as backend {name!r}, is not a backend.",
            mend="Give it the attributes of symgraph.backends.base.Backend.",
        )
    return found


def _entry_named(name: str) -> EntryPoint:
    found = _entries().get(name, ())
    if not found:
        mend = f"A package declares a backend with an entry point of the group {GROUP!r}."
        if not available():
            mend = "Install the project, which declares ours: pip install -e . in a checkout."
        raise BackendError(
            f"There is no backend {name!r}.",
            [f"known: {', '.join(available()) or 'none'}"],
            mend=mend,
        )
    if len(found) > 1:
        raise BackendError(
            f"{len(found)} packages declare a backend {name!r}.",
            [each.value for each in found],
            mend="Uninstall all but one of them.",
        )
    return found[0]


def _how_to_install(entry: EntryPoint) -> str:
    """Advice for a missing package: the extra with the backend's name, if its package has one."""
    package = entry.dist
    if package is not None and entry.name in (package.metadata.get_all("Provides-Extra") or ()):
        return f'pip install "{package.name}[{entry.name}]"'
    return f"Install what {entry.value} needs."


def sizes_read(dag: Dag) -> tuple[str, ...]:
    """The sorted named dimensions whose size some node uses: the `dims` of a `Compiled`."""
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
        Options of the backend.

    Raises
    ------
    BackendError
        If the backend is unknown or not installed, or if it does not have an option, a dtype of the
        graph or the device.
    """
    chosen = backend_named(backend)
    try:
        inspect.signature(chosen.compile).bind(dag, **options)
    except TypeError as error:
        raise BackendError(f"Backend {chosen.name!r}: {error}.") from None
    has = getattr(chosen, "capabilities", None)
    if isinstance(has, Capabilities):
        check_dtypes(dag, chosen.name, has, options.get("device"))
    with collector_paused():
        return Lowered(dag, chosen, chosen.compile(dag, **options), options=options)


class Lowered(Immutable):
    """A graph as a function of arrays.

    Inputs are passed by name, or in the order of the graph's inputs. The size of a named dimension
    that no input has is passed by name too. A call never writes to its inputs, and its results
    share memory with no other array. Calls may run in several threads at once.

    A pickle holds the graph in its saved form; unpickling lowers it again.

    Parameters
    ----------
    dag : Dag
    backend : Backend
    compiled : Compiled
    check : callable, optional
        Called before each run with the inputs by name; see `guarded`.
    options : mapping, optional
        Options of the backend, for lowering the graph again.

    Attributes
    ----------
    source : str
        The program as text.
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
        floats = compiled.floats and check is None
        self._enter = fast_entry(self._names, self._specs, compiled.dims, self._native, floats)
        self.__signature__ = _signature(self._names)
        self.__name__ = f"lowered_to_{backend.name}"

    @property
    def workspace_bytes(self) -> int:
        """The bytes for temporaries that are kept between calls.

        Each thread that calls the function at the same time as others needs as many again.

        Examples
        --------
        >>> import numpy as np, symgraph as sg
        >>> f = sg.trace(lambda x: np.sum(np.exp(x) * np.sin(x)), x=sg.spec((1000,))).lower()
        >>> f(np.ones(1000)) and f.workspace_bytes
        16000
        >>> f.release()
        >>> f.workspace_bytes
        0
        """
        workspaces = self._compiled.workspaces
        return 0 if workspaces is None else workspaces.nbytes

    @property
    def native_reason(self) -> str:
        """What the native backend leaves to NumPy, and why; empty for other backends.

        Examples
        --------
        >>> import numpy as np, symgraph as sg
        >>> sg.trace(np.sin, x=sg.spec((3,))).lower().native_reason
        ''
        """
        return self._compiled.reason

    def release(self) -> None:
        """Give the memory that is kept between calls back; a later call takes new memory."""
        if self._compiled.workspaces is not None:
            self._compiled.workspaces.release()

    def guarded(self, check: Callable[..., None]) -> Lowered:
        """The same function, which calls `check` with the inputs by name before each run."""
        return Lowered(self.dag, self.backend, self._compiled, check, self.options)

    def __reduce__(self) -> Any:
        name = self.backend.name
        if backend_named(name) is not self.backend:
            raise BackendError(
                f"A function lowered to {self.backend!r} cannot be pickled: this is not the "
                f"backend installed as {name!r}.",
                mend=f"Declare it with an entry point of the group {GROUP!r}.",
            )
        return _lowered_again, (text_of(self.dag), name, self.options, self._check)

    def __call__(self, /, *args: Any, **inputs: Any) -> Any:
        """The outputs, in the structure that the graph gives them.

        Raises
        ------
        InputError
            If an input is missing or unknown, if a shape does not fit, or if a dtype would lose
            digits.
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
        """The converted inputs, if the fast entry did not take them; else an error explains why."""
        named = self._named(args, inputs)
        missing = [name for name in self._names if name not in named]
        if missing:
            self._refuse(named)
        return self._bound([named[name] for name in self._names], named)

    def _bound(self, values: Sequence[Any], inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Inputs as arrays of the declared dtypes, then the sizes of named dimensions."""
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
        """The inputs, with a NumPy array of equal dtype and shape for each own array."""
        return {
            name: value
            if own is None
            else np.broadcast_to(np.zeros((), own.dtype_of(value)), tuple(value.shape))
            for name, value in given.items()
            for own in [self._owner(value)]
        }

    def _bind_natively(self, values: Sequence[Any], env: dict[str, int]) -> bool:
        for value, (dtype, shape) in zip(values, self._specs, strict=True):
            if type(value) not in self._native or value.dtype != dtype:
                return False
            if not bind(shape, value.shape, env):
                return False
        return True

    def _named(self, args: Sequence[Any], inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Positional inputs by name, so that one function finds all errors."""
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
