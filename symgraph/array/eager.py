"""Eager twins: functions of symbolic arrays give NumPy arrays where they are given numbers.

The function is called on constants, and the interpreter evaluates the graph that it makes. So
an eager result is that of the graph, by construction: there is no second implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from ..ir.avals import supported_dtype
from ..ir.dag import Dag
from ..ir.dims import is_named
from ..ir.interpreter import evaluate
from ..ir.node import Node
from ..ir.scope import current_scope
from ..ir.walks import reachable
from ..pytrees import flatten, unflatten
from .dispatch import FUNCTIONS, ComplexOperand, holds_complex
from .handle import Array

__all__ = [
    "eager",
    "eager_module",
    "evaluated",
    "is_symbolic",
    "leaves_complex_to_numpy",
    "symbols_only",
]

F = TypeVar("F", bound=Callable[..., Any])

symbols_only: ContextVar[bool] = ContextVar("symbols_only", default=False)
"""Set while a rule is read or applied: both sides of a rule are graphs, their numbers too."""


def eager(
    function: F,
    *,
    creates: bool = False,
    keeps_arrays: bool = False,
    whole: bool = False,
    nested: bool = False,
) -> F:
    """The function, giving NumPy arrays where no argument is symbolic.

    Parameters
    ----------
    function : callable
        Of symbolic arrays and numbers.
    creates : bool
        Whether it makes an array to be worked on, as `zeros` does. While a user's function is
        traced such arrays stay symbolic: symbols may be written to them.
    keeps_arrays : bool
        Whether a result without dimensions is a 0-d array, as that of `np.reshape`. Others are
        NumPy's scalars, as those of `np.sum`.
    whole : bool
        Whether the function is made of others that have eager twins; they give symbols inside, so
        that its result is evaluated once and as the graph of it would be.
    nested : bool
        Whether it takes nested arrays, as a loop does; complex ones are nested, too.
    """
    call = _of_symbols(function) if whole else function
    of_numpy = leaves_complex_to_numpy(function)

    @wraps(function)
    def twin(*args: object, **keywords: object) -> Any:
        if not nested and (holds_complex(args) or (creates and _makes_complex(args, keywords))):
            if not of_numpy and not is_symbolic(args):
                supported_dtype(np.dtype(complex))  # It is not: NumPy has no such function.
            named = "_complex_named" if of_numpy else "_complex_refused"
            return FUNCTIONS[named](function.__name__, args, keywords)
        result = call(*args, **keywords)
        if symbols_only.get() or (creates and current_scope() is not None):
            return result
        if is_symbolic(args) or (keywords and is_symbolic(keywords)):
            return result
        return evaluated(result, keeps_arrays=keeps_arrays)

    return cast("F", twin)


def leaves_complex_to_numpy(function: Callable[..., Any]) -> bool:
    """Whether NumPy has the function, too: of complex numbers it is NumPy's own."""
    known = hasattr(np, function.__name__) or function.__name__ in _OF_LINALG
    # SciPy's of one name with NumPy's are other functions.
    return known and ".scipy" not in function.__module__


_OF_LINALG = ("det", "eigvalsh", "inv", "matrix_power", "norm", "solve", "svdvals")
"""Functions of `np.linalg` that complex arrays have."""


def _makes_complex(args: Iterable[object], keywords: Mapping[str, object]) -> bool:
    """Whether numbers alone are given, and a complex dtype, as in `zeros(3, dtype=complex)`."""
    given = (*args, *keywords.values())
    return any(map(_is_complex_dtype, given)) and not is_symbolic(given)


def _is_complex_dtype(given: object) -> bool:
    if not isinstance(given, (str, type, np.dtype)):
        return False
    try:
        return np.dtype(cast("Any", given)).kind == "c"
    except TypeError:
        return False


def _of_symbols(function: F) -> F:
    """The function, within which numbers stay symbolic."""

    def call(*args: object, **keywords: object) -> Any:
        token = symbols_only.set(True)
        try:
            return function(*args, **keywords)
        finally:
            symbols_only.reset(token)

    return cast("F", call)


def is_symbolic(value: object) -> bool:
    """Whether a value is, or a container holds, a symbolic array or a named dimension."""
    if isinstance(value, (Array, ComplexOperand)):
        return True
    if isinstance(value, (tuple, list)):
        return any(is_symbolic(each) for each in cast("list[Any]", value))
    if isinstance(value, Mapping):
        return any(is_symbolic(each) for each in cast("Mapping[Any, Any]", value).values())
    return is_named(value)


def evaluated(result: object, *, keeps_arrays: bool = False) -> Any:
    """The result with numbers for symbols, unless some depend on an input or a named dimension."""
    if type(result) is Array:
        leaves, tree = [result], None
    else:
        leaves, tree = flatten(result)
    places = [place for place, leaf in enumerate(leaves) if type(leaf) is Array]
    nodes: list[Node] = [leaves[place].node for place in places]
    if not nodes or any(_unknown(node) for node in reachable(nodes)):
        return result
    for place, value in zip(places, evaluate(Dag({}, nodes), {}), strict=True):
        leaves[place] = value if value.ndim or keeps_arrays else value[()]
    return leaves[0] if tree is None else unflatten(tree, leaves)


def _unknown(node: Node) -> bool:
    """Whether a node's value is not known yet: an input's, or one of a named dimension."""
    sized = node.op.name == "dimension" or any(aval.dim_names for aval in node.results)
    return node.is_input or sized


def eager_module(
    module: ModuleType, name: str, finished: Callable[[F, str], F] | None = None
) -> ModuleType:
    """The public functions of a module, each with its eager twin, as a module of that name.

    A twin is made when it is first asked for. `finished(twin, name)` completes it.
    """
    twins = ModuleType(name, module.__doc__)
    public: list[str] = module.__all__

    def made(each: str) -> Any:
        if each not in public:
            raise AttributeError(f"{name} has no {each!r}.")
        twin = eager(getattr(module, each))
        setattr(twins, each, twin if finished is None else finished(twin, each))
        return getattr(twins, each)

    twins.__all__ = public  # pyright: ignore[reportAttributeAccessIssue]
    twins.__getattr__ = made  # pyright: ignore[reportAttributeAccessIssue]
    twins.__dir__ = lambda: public  # pyright: ignore[reportAttributeAccessIssue]
    return twins
