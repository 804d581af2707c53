"""Transforms along a direction: Jacobians times vectors, without the Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autodiff import flat
from ..autodiff.jacobian_products import HvpMode
from ..errors import by_position
from ..passes.simplify import Effort
from ..rewriting import Soundness
from .arguments import Names
from .assumptions import Assume
from .help import documented
from .kinds import TransformKind
from .transform import Transform

__all__ = [
    "hvp",
    "jvp",
    "vjp",
]


@by_position(2, "Values come in the second call: sg.jvp(f)(x, tangent=v).")
@documented
def jvp(
    f: Callable[..., Any],
    wrt: Names | None = None,
    *,
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    """A function that gives the value of `f` and its tangent J v: `jvp(f)(x, tangent=v)`.

    Parameters
    ----------
    f : callable
        A function of arrays that gives arrays of floating dtypes.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.

    Returns
    -------
    Transform
        Called as `f`, with the tangent by name besides: nested as the argument (a tuple of such if
        `wrt` is a sequence), of its shapes and dtypes. It gives a pair: the value, and the tangent
        of the outputs, nested as they are.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> value, tangent = sg.jvp(np.square)(np.array([3.0]), tangent=np.array([2.0]))
    >>> value, tangent
    (array([9.]), array([12.]))
    """
    return Transform(
        f,
        TransformKind("jvp", (flat.jvp,), "outputs", True, "tangent", "targets"),
        wrt=wrt,
        has_aux=has_aux,
        static=static,
        assume=assume,
        backend=backend,
        trust=trust,
        effort=effort,
        cache_size=cache_size,
        **options,
    )


@by_position(2, "Values come in the second call: sg.vjp(f)(x, cotangent=u).")
@documented
def vjp(
    f: Callable[..., Any],
    wrt: Names | None = None,
    *,
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    """A function that gives the value of `f` and a cotangent Jᵀ u: `vjp(f)(x, cotangent=u)`.

    Parameters
    ----------
    f : callable
        A function of arrays that gives arrays of floating dtypes.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.

    Returns
    -------
    Transform
        Called as `f`, with the cotangent by name besides: nested as the outputs, of their shapes
        and dtypes. It gives a pair: the value, and the cotangent of the argument, nested as it is.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> value, back = sg.vjp(np.cumsum)(np.array([1.0, 2.0]), cotangent=np.array([1.0, 10.0]))
    >>> value, back
    (array([1., 3.]), array([11., 10.]))
    """
    return Transform(
        f,
        TransformKind("vjp", (flat.vjp,), "targets", True, "cotangent", "outputs"),
        wrt=wrt,
        has_aux=has_aux,
        static=static,
        assume=assume,
        backend=backend,
        trust=trust,
        effort=effort,
        cache_size=cache_size,
        **options,
    )


@by_position(2, "Values come in the second call: sg.hvp(f)(x, v=v).")
@documented
def hvp(
    f: Callable[..., Any],
    wrt: Names | None = None,
    *,
    mode: HvpMode = "reverse",
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    """A function that gives Hessian-vector products of `f`: `hvp(f)(x, v=v)`; no Hessian is built.

    Parameters
    ----------
    f : callable
        A function that gives a scalar of a floating dtype.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.
    mode : {"reverse", "forward"}
        As `Graph.hvp`: how the gradient is differentiated along `v`.

    Returns
    -------
    Transform
        Called as `f`, with the vector `v` by name besides; `v` and the result are nested as the
        argument, of its shapes and dtypes. If `f` has a parameter `v`, the vector's name is
        `vector`.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> product = sg.hvp(lambda x: np.sum(x**3))
    >>> product(np.array([1.0, 2.0]), v=np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    return Transform(
        f,
        TransformKind(
            "hvp", (flat.gradient, flat.hvp(mode)), "targets", False, "v", "targets", "vector"
        ),
        wrt=wrt,
        has_aux=has_aux,
        static=static,
        assume=assume,
        backend=backend,
        trust=trust,
        effort=effort,
        cache_size=cache_size,
        **options,
    )
