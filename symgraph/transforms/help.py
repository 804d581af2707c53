"""The help that all transforms have in common."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

__all__ = [
    "documented",
]


F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS = """
Other Parameters
----------------
has_aux : bool
    Whether `f` returns a pair: the result to differentiate, and anything else.
static : str, int or a sequence of them
    Names or positions of arguments that are known while tracing, of any type.
assume : mapping of str to Fact or a sequence of them, optional
    What is known of arguments, by their names: `assume={"scale": sg.positive}`. Of a container
    it holds for all arrays in it, and `"params['w']"` names one of them. With
    `check_facts=True` each call checks it.
backend : str
    Where it runs, as in `Graph.lower`.
trust : {"exact", "rounding", "domain"}
    The rewrites that are allowed, as in `Graph.simplify`.
effort : {"low", "normal", "high"}
    How long to simplify, as in `Graph.simplify`.
cache_size : int
    Programs kept; the one used longest ago goes first.
**options
    The backend's own.

Notes
-----
`f` is traced, not run: at the first call with each structure, shapes and dtypes of its
arguments and each value of its static arguments. Arrays and floats are inputs of the trace.
Text, functions, None, bools, Python's ints and objects of any other kind are static; an int
that keeps changing, and is used for arithmetic with floats alone, becomes an input.

Values that `f` and the functions it calls read besides their arguments are captured: globals,
enclosed variables, attributes of `self` and of static arguments, default arguments, arrays.
Each call compares them, by identity and by value; if one has changed, `f` is traced again.
Arrays above 256 kB are compared by sums of their bytes, the cells of a data frame or tensor by
the arrays it gives. Where names of attributes are computed, all attributes count as read. Four
things are not seen: names computed for `globals()`, other data inside another library, values
after the first 5000, and the inside of most elements of containers above 4096. After a change
of these, call the transformed function's `cache_clear()`: it forgets all traces. The third
retrace for one reason, and the 32nd shape, gives a `RetraceWarning`; a graph with named sizes,
`sg.trace(f, x="n, 3")`, is traced once for all. Random numbers are arguments too: see
`sg.random`.

A complex argument z = x + iy is two real ones, x and y. The gradient of a real f by it is the
complex array df/dx + i df/dy, as PyTorch has it: `z - step * gradient` descends. JAX has its
conjugate. Tangents and cotangents of complex values are complex; a product of two is the sum
of the products of real and of imaginary parts.
"""


def documented(transform: F) -> F:
    """The transform, with the help that all transforms share."""
    # Python 3.13 takes the indentation off by itself.
    head, found, examples = cleandoc(transform.__doc__ or "").partition("\n\nExamples\n")
    transform.__doc__ = f"{head}\n\n{_OPTIONS.strip()}{found}{examples}\n"
    return transform
