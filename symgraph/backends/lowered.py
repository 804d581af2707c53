"""`Lowered`, a graph that a backend has made a function of arrays.

A call checks and converts its inputs, runs the backend's program and gives the results the
structure of the graph's outputs. Where inputs are as declared, the fast entry skips the checks.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..errors import BackendError, InputError
from ..ir.collector import collector_paused
from ..ir.dag import Dag, Structure
from ..ir.dims import bind
from ..ir.immutable import Immutable
from ..ir.interpreter import bound_inputs, given_inputs
from ..saving.document import dag_of, text_of
from .base import GROUP, Backend, Compiled, OwnArrays, backend_named
from .capabilities import Capabilities, check_dtypes
from .fast_entry import direct_entry, fast_entry
from .finite_results import with_finite_results
from .options import check_options
from .profile import Profile, profiled
from .single_function import SingleFunction

__all__ = ["Lowered", "lower"]


def lower(
    dag: Dag, backend: str | Backend = "numpy", *, debug: str | None = None, **options: Any
) -> Lowered:
    """A callable that computes the outputs of `dag`.

    Parameters
    ----------
    dag : Dag
    backend : str or Backend
    debug : "nan" or "inf", optional
        Raise where a result is NaN, or infinite too; see `finite_results`.
    **options
        Options of the backend.

    Raises
    ------
    InputError
        If `debug` is another one.
    BackendError
        If the backend is unknown or not installed, or if it does not have an option, a dtype of the
        graph or the device.
    """
    chosen = backend_named(backend)
    check_options(chosen, options)
    has = getattr(chosen, "capabilities", None)
    if isinstance(has, Capabilities):
        check_dtypes(dag, chosen.name, has, options.get("device"))
    with collector_paused():
        compiled = chosen.compile(dag, **options)
    if debug is not None:
        run = with_finite_results(compiled.run, dag, compiled.dims, chosen, debug)
        compiled = replace(compiled, run=run, direct=None)
        options = {**options, "debug": debug}
    return Lowered(dag, chosen, compiled, options=options)


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
        self._regroup, *grouping = _regrouping(dag)
        self._direct = compiled.direct if check is None else None
        self._regroup_direct = None if self._regroup is tuple else self._regroup
        if self._direct is None and check is None:
            entry = partial(direct_entry, self._specs, compiled.dims, self._native, self._run)
            self._direct = SingleFunction.compiled_later(partial(entry, *grouping))
            self._regroup_direct = None
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
        """The operations that the native backend leaves to NumPy, and why; else empty.

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

    def profile(self, /, *args: Any, **inputs: Any) -> Profile:
        """How long each line of your code takes in a call with these inputs.

        The statements of the program are timed one by one while it runs as usual, and shown by the
        lines of your code that they come from. A compiled loop may compute several lines: they
        share a row. The function runs for about half a second, at least four times.

        Returns
        -------
        Profile
            Prints as a table, the slowest line first; `rows` has the numbers.

        Raises
        ------
        InputError
            As the call.
        BackendError
            If the backend runs the graph as a whole, as JAX does.

        Examples
        --------
        >>> import numpy as np, symgraph as sg
        >>> f = sg.trace(lambda x: np.sum(np.exp(x)), x=sg.spec((1000,))).lower()
        >>> table = f.profile(np.ones(1000))
        >>> [row.flops for row in table.rows], table.seconds > 0
        ([11000], True)
        """
        clocked = self._compiled.clocked
        if clocked is None:
            raise BackendError(
                f"Backend {self.backend.name!r} runs the graph as a whole, so its lines cannot be "
                "timed.",
                mend='Lower it with backend="numpy" or "native" to profile it, or use the '
                "profiler of the library that runs it.",
            )
        values = self._checked(args, inputs)
        call = partial(self, *args, **inputs)
        return profiled(self.dag, self._compiled.dims, clocked, call, values)

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
        direct = self._direct
        if direct is not None and not inputs:
            try:
                found = direct.call(*args)
            except direct.refusals:
                found = None
            except Exception as error:
                self._compiled.explain(error)
                raise
            if found is not None:
                regroup = self._regroup_direct
                return found if regroup is None else regroup(found)
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
            if type(value) in self._native:
                found = value.dtype
            elif (own := self._owner(value)) is not None:
                found = own.dtype_of(value)
            else:
                return False
            if found != dtype or not bind(shape, tuple(value.shape), env):
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


def _regrouping(dag: Dag) -> tuple[Callable[[Sequence[Any]], Any], str, Mapping[str, Any]]:
    """A function that groups results as the graph's outputs are: `lambda r: (r[0], {'w': r[1]})`.

    It takes a tenth of the time of a walk through the structure. Then its expression, and the names
    in that.
    """
    if type(dag.structure) is tuple and dag.structure == tuple(range(len(dag.outputs))):
        return tuple, "tuple(r)", {"tuple": tuple}
    try:
        text = _grouped(dag.structure)
        return eval(f"lambda r: {text}", {"__builtins__": {}}), text, {}
    except (MemoryError, RecursionError, SyntaxError):  # Python's parser has a limit of nesting.
        return dag.regroup, "regroup(r)", {"regroup": dag.regroup}


def _grouped(structure: Structure) -> str:
    """The source of an expression that groups the items of `r`."""
    if isinstance(structure, int):
        return f"r[{int(structure)}]"
    if isinstance(structure, dict):
        structure = cast("dict[str, Structure]", structure)
        parts = [f"{key!r}: {_grouped(part)}" for key, part in structure.items()]
        return f"{{{', '.join(parts)}}}"
    items = "".join([f"{_grouped(part)}, " for part in structure])
    return f"({items})" if isinstance(structure, tuple) else f"[{items}]"


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
