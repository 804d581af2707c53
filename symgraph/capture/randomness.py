"""Random numbers drawn while a function is traced are refused: a trace would keep one draw.

While a function is traced, stand-ins take the place of the functions of `np.random` and of Python's
`random`, and of generators without a seed. They raise at the user's line, and serve other threads
as usual. Of a generator made outside that the function can reach, the state is compared afterwards.
A generator made inside from a fixed seed is allowed: it gives the same numbers at every call.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from threading import Lock
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.random import bit_generator, mtrand

from ..errors import TraceError
from ..ir.scope import current_scope
from ..source import Frame
from .captured import Captured, Root, captured
from .code_reads import code_reads

__all__ = ["refusing_randomness"]

_MEND = (
    "Make a key an argument, and draw from it: sg.random.normal(key, shape), where "
    "key = sg.random.key(seed); or draw before the call and pass the numbers."
)
_GLOBAL: Any = np.random.mtrand._rand  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
_PYTHONS: Any = random.seed.__self__


class refusing_randomness:  # reads as a function: `with refusing_randomness("loss", roots)`
    """Refuse random numbers while the function of this name is called.

    Parameters
    ----------
    what : str
    roots : iterable of (str, object)
        From where generators may be reached: see `captured`.

    Raises
    ------
    TraceError
        At the end, if a generator that was made outside has moved. At the line that draws, if it
        is one of NumPy's or Python's functions.
    """

    __slots__ = ("_found", "_others", "_roots", "_states", "_what")

    def __init__(self, what: str, roots: Iterable[Root]) -> None:
        self._what = what
        self._roots = roots

    def __enter__(self) -> None:
        self._found = captured(self._roots)
        watched = dict(self._found.generators)
        scope = current_scope()
        if scope is None or scope.outer is None:  # Once is enough.
            watched |= {"np.random": _GLOBAL, "random": _PYTHONS}
        self._states = [(label, each, _state(each)) for label, each in watched.items()]
        self._others = _stand_ins.put()

    def __exit__(self, kind: object, *_exception: object) -> None:
        quiet = _stand_ins.taken_away() == self._others
        if kind is not None:
            return
        for label, generator, before in self._states:
            shared = generator is _GLOBAL or generator is _PYTHONS
            if (quiet or not shared) and _state(generator) != before:
                raise _drawn(self._what, label, self._found)


def _drawn(what: str, label: str, found: Captured) -> TraceError:
    at = _line_of(label, found)
    return TraceError(
        f"{what} draws random numbers from {label}, which was made outside of it: a trace would "
        "keep one draw for ever.",
        [f"drawn at {at.quoted()}"] if at else [],
        mend=f"{_MEND} From a Generator a key is sg.random.key(int(rng.integers(2**32))).",
    )


def _line_of(label: str, found: Captured) -> Frame | None:
    """The first line that reads the name."""
    for code in found.codes:
        for each in (code, *code_reads(code).nested):
            for read in code_reads(each).reads:
                if f"{'.'.join((read.name, *read.chain))}.".startswith(f"{label}."):
                    return Frame(each.co_filename, read.line, each.co_name)
    return None


# -- states ----------------------------------------------------------------------------------------
def _state(generator: random.Random | np.random.RandomState | np.random.Generator) -> Any:
    """The state that the next numbers depend on."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return _by_value(generator.get_state())
    bits = generator.bit_generator
    return _by_value(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)


def _by_value(state: object) -> Any:
    if isinstance(state, dict):
        items = cast("dict[str, Any]", state)
        return tuple([(name, _by_value(value)) for name, value in items.items()])
    if isinstance(state, tuple):
        return tuple([_by_value(each) for each in cast("tuple[Any, ...]", state)])
    return state.tobytes() if isinstance(state, np.ndarray) else state


# -- stand-ins -------------------------------------------------------------------------------------
class _StandIns:
    """In place of functions that draw, while any thread traces."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._drawn = 0
        self._table: list[tuple[ModuleType, str, Any, Any]] = []

    def put(self) -> int:
        """Put them in place; gives how many draws of other threads they have let pass."""
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._table = self._table or self._made()
                for module, name, _, stand_in in self._table:
                    setattr(module, name, stand_in)
            return self._drawn

    def taken_away(self) -> int:
        """Take them away if nothing is traced; gives how many draws were allowed."""
        with self._lock:
            self._count -= 1
            if self._count == 0:
                for module, name, original, stand_in in self._table:
                    if getattr(module, name) is stand_in:
                        setattr(module, name, original)
            return self._drawn

    def _made(self) -> list[tuple[ModuleType, str, Any, Any]]:
        table: list[tuple[ModuleType, str, Any, Any]] = []
        for module, owner in ((np.random, _GLOBAL), (random, _PYTHONS)):
            shown = "np.random" if module is np.random else "random"
            for name, original in list(vars(module).items()):
                of_owner = getattr(original, "__self__", None) is owner or name == "seed"
                if of_owner and name not in _HARMLESS:
                    found = self._refusing(original, f"{shown}.{name}")
                    table.append((module, name, original, found))
        # The source of NumPy's seeds where none is given.
        unseeded: Any = vars(bit_generator)["randbits"]
        found = self._refusing(unseeded, _UNSEEDED)
        table.append((bit_generator, "randbits", unseeded, found))
        original = vars(mtrand)["_MT19937"]
        table.append((mtrand, "_MT19937", original, MT19937))
        return table

    def unseeded(self) -> None:
        """Refuse a generator without a seed that is made while a function is traced."""
        self._refusing(lambda: None, _UNSEEDED)()

    def _refusing(self, original: Callable[..., Any], shown: str) -> Callable[..., Any]:
        def stand_in(*args: object, **keywords: object) -> Any:
            scope = current_scope()
            if scope is None or _is_importing() or _is_copying():
                self._drawn += 1
                return original(*args, **keywords)
            raise TraceError(
                f"{shown} draws random numbers while {scope.what} is traced: the trace would keep "
                "one draw for ever.",
                mend=_MEND,
            )

        stand_in.__name__ = stand_in.__qualname__ = getattr(original, "__name__", shown)
        stand_in.__doc__ = original.__doc__
        return stand_in


def _is_importing() -> bool:
    """Whether a module is being imported by the traced function: it draws once, as ever.

    `import scipy.stats` makes a generator without a seed.
    """
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        if str(frame.f_globals.get("__name__")).startswith("symgraph."):
            return False  # We call the function; whoever imports us is not it.
        frame = frame.f_back
    return False


def _is_copying() -> bool:
    """Whether NumPy makes a generator that is given another one's state next."""
    caller = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    return caller.f_globals.get("__name__") == "numpy.random._pickle"


class MT19937(np.random.MT19937):  # NumPy writes the name of the class into the state.
    """The bits of a `RandomState`, which it makes without a seed and then seeds, if it has one."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._has_seed = False

    def _legacy_seeding(self, seed: object) -> None:
        self._has_seed = seed is not None
        super()._legacy_seeding(cast("Any", seed))

    @property
    def capsule(self) -> Any:
        """What a `RandomState` asks for when the seed is in."""
        if not self._has_seed:
            _stand_ins.unseeded()
            super()._legacy_seeding(cast("Any", None))
            self._has_seed = True
        return super().capsule

    def __reduce__(self) -> tuple[Any, ...]:
        made: Any = super().__reduce__()
        make, arguments, *rest = made
        kinds = [np.random.MT19937 if each is MT19937 else each for each in arguments]
        return make, tuple(kinds), *rest


_UNSEEDED = "A generator without a seed"
_HARMLESS = ("get_state", "getstate")
_stand_ins = _StandIns()
