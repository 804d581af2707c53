"""Calls of a user's function with symbolic arrays: in a scope, without random numbers.

Every function that is traced is called here, so what is refused of one is refused of all: numbers
that a trace would freeze, and symbols of another trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import SymgraphError, TraceError
from ..ir.collector import collector_paused
from ..ir.node import Node, newest_serial
from ..ir.scope import Scope, tracing
from ..ir.walks import reachable
from .captured import Root
from .randomness import refusing_randomness

__all__ = ["called", "owners", "owns", "refuse_leaked"]

_ANOTHER_LIBRARY = (
    "symgraph: 'Array' is a symbolic array. It takes numbers, NumPy arrays and the functions of "
    "numpy, symgraph.numpy and symgraph.scipy. Convert arrays of another library, np.asarray(x); "
    "functions of JAX and modules of PyTorch are read by sg.from_jax and sg.from_torch; of a "
    "function compiled by Numba take the plain one, f.py_func."
)

_ITERATORS = (
    "symgraph: np.nditer iterates over numbers. Compute with the whole array, or number the "
    "elements with np.ndindex(x.shape) and read x[index]."
)

_NAME_OF_ARRAYS = "symgraph.array.handle.Array"
"""What other libraries call a symbolic array."""
_owners: WeakKeyDictionary[Node, Scope] = WeakKeyDictionary()


@contextmanager
def called(
    what: str, f: Callable[..., Any], roots: Iterable[Root] = (), *, body: bool = False
) -> Generator[Scope]:
    """The scope in which `f` is to be called with symbols of its own.

    Parameters
    ----------
    what : str
        Its name in messages.
    f : callable
    roots : iterable of (str, object)
        Arguments that are no arrays, each with its name.
    body : bool
        Whether it is the body of a loop, a branch, or the like.

    Raises
    ------
    TraceError
        If random numbers are drawn that a trace would freeze.
    """
    with collector_paused(), tracing(what) as scope, refusing_randomness(what, ((what, f), *roots)):
        scope.is_body = body
        try:
            yield scope
        except Exception as error:
            if type(error) is TypeError and str(error).startswith("Iterator operand"):
                error.add_note(_ITERATORS)
            if _of_another_library(error):
                error.add_note(_ANOTHER_LIBRARY)
            raise
        finally:
            scope.last = newest_serial()


def _of_another_library(error: Exception) -> bool:
    """Whether Python or another library met a symbolic array, and this was not told yet."""
    if _ANOTHER_LIBRARY in getattr(error, "__notes__", ()):
        return False
    if type(error) is TypeError:
        return re.search(r"\bArray\b(?!' object is not)", str(error)) is not None
    # Numba's errors, for one, are no TypeErrors.
    return not isinstance(error, SymgraphError) and _NAME_OF_ARRAYS in str(error)


def owns(scope: Scope, symbols: Iterable[Node]) -> None:
    """Note that inputs stand for the arguments of the call of this scope."""
    for node in symbols:
        _owners[node] = scope


def owners(nodes: Iterable[Node]) -> set[Scope]:
    """The calls that these values depend on."""
    found = (_owners.get(node) for node in reachable(nodes) if node.is_input)
    return {scope for scope in found if scope is not None}


def refuse_leaked(what: str, outputs: Sequence[Node], allowed: Iterable[Scope] = ()) -> None:
    """Refuse results that depend on symbols of a call that is over.

    Parameters
    ----------
    what : str
        Whose results they are.
    outputs : sequence of Node
    allowed : iterable of Scope
        Calls that the arguments depend on.

    Raises
    ------
    TraceError
        Naming where the symbol was made and where it is used.
    """
    among = reachable(outputs)
    for node in among:
        scope = _owners.get(node) if node.is_input else None
        if scope is not None and not scope.is_open and scope not in allowed:
            raise _leaked(what, node, scope, among)


def _leaked(what: str, symbol: Node, scope: Scope, among: Sequence[Node]) -> TraceError:
    depends = {symbol}
    made, used = symbol, None
    for node in among:
        found = [each for each in node.operands if each in depends]
        if not found:
            continue
        depends.add(node)
        if node.serial > scope.last:
            made, used = found[0], node
            break
        made = node
    rows = [f"{made.aval}   made at {_line(made)} while {scope.what} was traced"]
    if used is not None:
        rows.append(f"used at {_line(used)}")
    if scope.is_body:
        mend = "Return it from the body: what a body gives can be used outside of it."
    else:
        mend = f"Return it from {scope.what}, or pass it as an argument."
    return TraceError(
        f"{what} uses a symbolic array of another trace, that of {scope.what}, which is over.",
        rows,
        mend=f"{mend} What a traced function stores away are symbols, not numbers.",
    )


def _line(node: Node) -> str:
    frames = node.origin.frames
    return frames[-1].quoted() if frames else "an unknown line"
