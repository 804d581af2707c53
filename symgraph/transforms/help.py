"""The help that all transforms have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "documented",
]


F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = """

    Other Parameters
    ----------------
    has_aux : bool
        Whether `f` returns a pair of what is differentiated and anything beside it.
    static : str, int or a sequence of them
        Names or positions of arguments that are known while tracing, whatever they are.
    backend : str
        Where it runs, as in `Graph.lower`.
    trust : {"exact", "rounding", "domain"}
        What simplification may do, as in `Graph.simplify`.
    cache_size : int
        Programs kept; the one used longest ago goes first.
    **options
        The backend's own.

    Notes
    -----
    `f` is traced, not run: once for each structure, shapes and dtypes of its arguments and each
    value of those that are static, at the first call with such. Arrays and floats are inputs of the
    trace. Static are text, functions, None, bools and objects of any other kind, and Python's ints;
    an int that keeps changing and is used for arithmetic with floats alone becomes an input.

    What `f` reads besides its arguments is captured: globals, enclosed variables, attributes of
    `self` and of static arguments, default arguments, arrays, and what the functions that it calls
    read of these. At each call it is looked at again, by identity and by value; where it has
    changed `f` is traced again. Arrays above 256 kB are compared by sums of their bytes, the cells
    of a data frame or tensor by the arrays it gives; where names of attributes are computed, all
    count as read. Not seen are names computed for `globals()`, what another library keeps to itself
    otherwise, what comes after 5000 values, and what is inside of most elements of containers above
    4096: the transformed function's `cache_clear()` forgets all traces. At the third retrace for
    one reason `RetraceWarning` tells it. Random numbers are arguments too: see `sg.random`.
    """


def documented(transform: F) -> F:
    """The transform with what all of them have in common in its help."""
    text = (transform.__doc__ or "").rstrip()
    head, found, examples = text.partition("\n\n    Examples\n")
    transform.__doc__ = f"{head}{_OPTIONS}{f'{found}{examples}' if found else ''}"
    return transform
