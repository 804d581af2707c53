"""Function transforms in the ecosystem's habit: `grad(f)` is a function that computes it.

Each gives a `Transform`: traced at its first call with arguments of given structure, shapes, dtypes
and static values, simplified, lowered, kept. Called on symbolic arrays it appends to their trace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from .array import Array
from .autodiff import flat
from .autodiff.jacobians import JacobianMode
from .autodiff.products import HvpMode
from .autodiff.reverse import gradients
from .ops.creation import zeros
from .transformed import Kind, Transform

__all__ = ["grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = """

    Other Parameters
    ----------------
    has_aux : bool
        Whether `f` returns a pair of what is differentiated and anything beside it.
    static : str, int or a sequence of them
        Names or positions of arguments that are known while tracing, whatever they are.
    backend, trust
        As `Graph.lower` and `Graph.simplify`.
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


def _documented(transform: F) -> F:
    """The transform with its options in signature and help."""
    own = inspect.signature(transform)
    named = inspect.signature(Transform.__init__).parameters
    kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        each
        for each in named.values()
        if each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD) and each.name not in own.parameters
    ]
    rest = [each for each in named.values() if each.kind is each.VAR_KEYWORD]
    parameters = [*kept, *[each for each in options if each not in rest], *rest]
    transform.__signature__ = own.replace(parameters=parameters)  # pyright: ignore[reportFunctionMemberAccess]
    transform.__doc__ = f"{(transform.__doc__ or '').rstrip()}{_OPTIONS}"
    return transform


@overload
def grad(f: Array, wrt: Array) -> Array: ...
@overload
def grad(f: Array, wrt: Sequence[Array]) -> list[Array]: ...
@overload
def grad(f: Callable[..., Any], wrt: Any = None, **options: Any) -> Transform: ...
@_documented
def grad(f: Any, wrt: Any = None, **options: Any) -> Any:
    """Gradient of a symbolic scalar, or a function that computes the gradient of a function.

    Parameters
    ----------
    f : Array or callable
        A symbolic scalar; or a function that gives a scalar. Its arguments may be nested dicts,
        lists, tuples, named tuples and dataclasses of arrays.
    wrt : Array or sequence of Array; str, int or a sequence of them
        What to differentiate with respect to; for a function the names or positions of its
        parameters, by default the first.

    Returns
    -------
    Array, list of Array, or Transform
        Zeros where no path leads from a target to the scalar. A transformed function gives results
        nested as the argument is, a tuple of them if `wrt` is a sequence; with `has_aux` a pair of
        that and the auxiliary output.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        As `Graph.gradient`.
    """
    if not isinstance(f, Array):
        return Transform(f, Kind("grad", (flat.gradient,), "targets"), wrt=wrt, **options)
    targets: list[Array] = [wrt] if isinstance(wrt, Array) else list(wrt)
    found = [
        zeros(target.shape, target.dtype) if gradient is None else gradient
        for target, gradient in zip(targets, gradients(f, targets), strict=True)
    ]
    return found[0] if isinstance(wrt, Array) else found


@_documented
def value_and_grad(f: Callable[..., Any], wrt: Any = None, **options: Any) -> Transform:
    """A function that gives the value of `f` and its gradient, sharing what they have in common.

    With `has_aux` the value is a pair of value and auxiliary output. `wrt` and errors as `grad`.
    """
    kind = Kind("value_and_grad", (flat.gradient,), "targets", value=True)
    return Transform(f, kind, wrt=wrt, **options)


@_documented
def jacobian(
    f: Callable[..., Any],
    wrt: Any = None,
    *,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
    **options: Any,
) -> Transform:
    """A function that gives the Jacobian of `f`: nested as outputs are, in each as arguments are.

    `mode` and `diagonal` as `Graph.jacobian`; the rest as `grad`.
    """
    kind = Kind("jacobian", (flat.jacobians(mode, diagonal),), "blocks")
    return Transform(f, kind, wrt=wrt, **options)


@_documented
def hessian(
    f: Callable[..., Any],
    wrt: Any = None,
    *,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
    **options: Any,
) -> Transform:
    """A function that gives the Hessian of `f`, nested twice as arguments are.

    `mode` and `diagonal` as `Graph.hessian`; the rest as `grad`.
    """
    kind = Kind("hessian", (flat.gradient, flat.hessian(mode, diagonal)), "hessian")
    return Transform(f, kind, wrt=wrt, **options)


@_documented
def jvp(f: Callable[..., Any], wrt: Any = None, **options: Any) -> Transform:
    """A function that gives the value of `f` and its tangent J v: `jvp(f)(x, tangent=v)`.

    The tangent given is nested as the argument (a tuple of such if `wrt` is a sequence), the result
    as the outputs. The rest as `grad`.
    """
    kind = Kind("jvp", (flat.jvp,), "outputs", True, "tangent", "targets")
    return Transform(f, kind, wrt=wrt, **options)


@_documented
def vjp(f: Callable[..., Any], wrt: Any = None, **options: Any) -> Transform:
    """A function that gives the value of `f` and a cotangent Jᵀ u: `vjp(f)(x, cotangent=u)`.

    The cotangent given is nested as the outputs, the result as the argument. The rest as `grad`.
    """
    kind = Kind("vjp", (flat.vjp,), "targets", True, "cotangent", "outputs")
    return Transform(f, kind, wrt=wrt, **options)


@_documented
def hvp(
    f: Callable[..., Any], wrt: Any = None, *, mode: HvpMode = "reverse", **options: Any
) -> Transform:
    """A function that gives Hessian-vector products of `f`: `hvp(f)(x, v=v)`; no Hessian is built.

    `v` is nested as the argument, and so is the result; `mode` as `Graph.hvp`, the rest as `grad`.
    """
    kind = Kind("hvp", (flat.gradient, flat.hvp(mode)), "targets", False, "v", "targets")
    return Transform(f, kind, wrt=wrt, **options)
