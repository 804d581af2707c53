"""Function transforms in the ecosystem's habit: `grad(f)` is a function that computes it.

Each gives a `Transform`: traced at its first call with arguments of given structure, shapes, dtypes
and static values, simplified, lowered, kept. Called on symbolic arrays it appends to their trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from ..array.handle import Array
from ..autodiff import flat
from ..autodiff.jacobians import JacobianMode
from ..autodiff.reverse import gradients
from ..errors import by_position
from ..ops.creation import zeros
from ..passes.simplify import Effort
from ..rewriting import Soundness
from .arguments import Names
from .assumptions import Assume
from .help import documented
from .kinds import TransformKind
from .transform import Transform

__all__ = ["grad", "hessian", "jacobian", "value_and_grad"]


@overload
def grad(f: Array, wrt: Array) -> Array: ...
@overload
def grad(f: Array, wrt: Sequence[Array]) -> list[Array]: ...
@overload
def grad(
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
) -> Transform: ...
@by_position(2, "Values come in the second call: sg.grad(f)(x).")
@documented
def grad(
    f: Any,
    wrt: Any = None,
    *,
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Any:
    """Gradient of a symbolic scalar, or a function that computes the gradient of a function.

    Parameters
    ----------
    f : Array or callable
        A symbolic scalar of shape () and a floating dtype; or a function that gives such a scalar.
        Its arguments may be nested dicts, lists, tuples, named tuples and dataclasses of arrays.
    wrt : Array or sequence of Array; str, int or a sequence of them
        The targets, of floating dtypes; for a function the names or
        positions of its parameters, by default the first.

    Returns
    -------
    Array, list of Array, or Transform
        Each gradient has the shape and dtype of its target, and is zeros where no path leads from
        it to the scalar. A transformed function gives results nested as the argument is, a tuple of
        them if `wrt` is a sequence; with `has_aux` a pair of that and the auxiliary output.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        As `Graph.gradient`: the function's result is no scalar or no float, or an operation on the
        way has no derivative.

    Examples
    --------
    >>> slope = sg.grad(lambda x: np.sum(np.tanh(x) ** 2))
    >>> slope(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.6397])
    """
    if not isinstance(f, Array):
        return Transform(
            f,
            TransformKind("grad", (flat.gradient,), "targets"),
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
    targets: list[Array] = [wrt] if isinstance(wrt, Array) else list(wrt)
    found = [
        zeros(target.shape, target.dtype) if gradient is None else gradient
        for target, gradient in zip(targets, gradients(f, targets), strict=True)
    ]
    return found[0] if isinstance(wrt, Array) else found


@by_position(2, "Values come in the second call: sg.value_and_grad(f)(x).")
@documented
def value_and_grad(
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
    """A function that gives the value of `f` and its gradient, and computes shared parts once.

    Parameters
    ----------
    f : callable
        A function that gives a scalar of a floating dtype.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.

    Returns
    -------
    Transform
        Called as `f`, it gives a pair: the value, with `has_aux` itself a pair of value and
        auxiliary output; and the gradient, of the shapes and dtypes of the argument.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> both = sg.value_and_grad(lambda x: np.sum(x**3))
    >>> both(np.array([1.0, 2.0]))
    (array(9.), array([ 3., 12.]))
    """
    return Transform(
        f,
        TransformKind("value_and_grad", (flat.gradient,), "targets", value=True),
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


@by_position(2, "Values come in the second call: sg.jacobian(f)(x).")
@documented
def jacobian(
    f: Callable[..., Any],
    wrt: Names | None = None,
    *,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    """A function that gives the Jacobian of `f`: nested as outputs are, in each as arguments are.

    Parameters
    ----------
    f : callable
        A function of arrays that gives arrays of floating dtypes.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.
    mode : {"forward", "reverse"}, optional
        As `Graph.jacobian`: by columns or by rows; by default the cheaper way.
    diagonal : bool
        Only the diagonal, where each element of the output depends on one of the argument.

    Returns
    -------
    Transform
        Called as `f`, it gives blocks of shape (*output.shape, *argument.shape); with `diagonal`
        of the output's shape.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> slopes = sg.jacobian(lambda x: x**2 + x[0])
    >>> slopes(np.array([1.0, 3.0]))
    array([[3., 0.],
           [1., 6.]])
    """
    return Transform(
        f,
        TransformKind("jacobian", (flat.jacobians(mode, diagonal),), "blocks"),
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


@by_position(2, "Values come in the second call: sg.hessian(f)(x).")
@documented
def hessian(
    f: Callable[..., Any],
    wrt: Names | None = None,
    *,
    mode: JacobianMode | None = None,
    diagonal: bool = False,
    has_aux: bool = False,
    static: Names = (),
    assume: Assume | None = None,
    backend: str = "numpy",
    trust: Soundness = "rounding",
    effort: Effort = "normal",
    cache_size: int = 64,
    **options: object,
) -> Transform:
    """A function that gives the Hessian of `f`, nested twice as arguments are.

    Parameters
    ----------
    f : callable
        A function that gives a scalar of a floating dtype.
    wrt : str, int or a sequence of them, optional
        Names or positions of its parameters; by default the first.
    mode : {"forward", "reverse"}, optional
        As `Graph.hessian`: how the gradient is differentiated; by default the cheaper way.
    diagonal : bool
        Only the diagonal of each block.

    Returns
    -------
    Transform
        Called as `f`, it gives blocks of shape (*argument.shape, *argument.shape); with `diagonal`
        of the argument's shape.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        At the call, as `grad`.

    Examples
    --------
    >>> curvature = sg.hessian(lambda x: np.sum(x**3))
    >>> curvature(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return Transform(
        f,
        TransformKind("hessian", (flat.gradient, flat.hessian(mode, diagonal)), "hessian"),
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
