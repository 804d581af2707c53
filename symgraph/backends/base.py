"""The backend protocol, and the search for backends.

A backend has an array namespace and turns a graph into a function of arrays. It is found by name
among the entry points of the group `symgraph.backends`, whoever wrote it, and imported only when it
is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from ..errors import BackendError, did_you_mean
from ..installed import entries_of
from ..ir.dag import Dag
from ..ir.dims import Dim, names_of
from ..namespace import Namespace
from ..records import record
from .kept_memory import KeptMemory
from .single_function import SingleFunction
from .timed_programs import Clocked

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "GROUP",
    "Backend",
    "Compiled",
    "OwnArrays",
    "available",
    "backend_named",
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


@record
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
    workspaces : KeptMemory, optional
        Memory that `run` keeps between calls.
    floats : bool
        Whether `run` takes Python's floats as well, where inputs are 0-d and float64.
    reason : str
        What a backend that compiles has left to another, and why; else empty.
    clocked : callable, optional
        Gives the program with a clock, for `Lowered.profile`.
    direct : Direct, optional
        The program as one function, which is called without a look at the inputs.
    """

    run: Callable[..., Sequence[Any]]
    source: str
    dims: tuple[str, ...] = ()
    explain: Callable[[BaseException], None] = lambda error: None
    own: OwnArrays | None = None
    workspaces: KeptMemory | None = None
    floats: bool = False
    reason: str = ""
    clocked: Callable[[], Clocked] | None = None
    direct: SingleFunction | None = None

    def with_reason(self, reason: str) -> Compiled:
        """The same, with the reason why a part is left to another backend."""
        return replace(self, reason=reason)


@runtime_checkable
class Backend(Protocol):
    """An array namespace to which graphs can be lowered.

    `Compiled.run` takes arrays of the `native` types without conversion; any other input is
    converted to a NumPy array first. A backend that has not all dtypes declares those that it has
    in an attribute `capabilities`; see `symgraph.backends.capabilities`. One whose arrays have
    dtypes that NumPy cannot read declares them in an attribute `own`, an `OwnArrays`.
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
    """The entry points under each name in all installed packages."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entries_of(GROUP):
        found.setdefault(entry.name, []).append(entry)
    return found


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
        elif name in ("cuda", "gpu", "tpu", "mps"):
            mend = "Backends jax and torch compute on the device of their arrays, cupy on CUDA's."
        elif name in ("c", "cpu", "llvm", "numba"):
            mend = "Backends numpy and native compute on the CPU; native compiles loops by LLVM."
        elif meant := did_you_mean(name.lower(), available()):
            mend = meant
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
