r"""`scipy.integrate` on symbols: quadrature of samples, initial value problems by fixed steps.

`solve_ivp` and `odeint` take Runge–Kutta steps of a fixed size, as a scan; the gradient is that of
the numbers computed (the discrete adjoint), right to rounding whatever the error of the steps.
SciPy chooses its steps by an error estimate, in a loop whose length depends on numbers, and has no
gradient. Here you state the number of steps; `rtol`, `atol`, events and dense output are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scipy.special import roots_legendre

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..errors import InputError, ShapeError, TraceError
from ..ir.dims import known_equal, show_shape
from ..ops.composites import as_array
from ..ops.loops import fori_loop, scan
from ..records import record
from .names.absent import of_numbers
from .names.mirrored import mirrored
from .stats.validity import common_float, lifted

__all__ = ["cumulative_trapezoid", "fixed_quad", "odeint", "simpson", "solve_ivp", "trapezoid"]

trapezoid = snp.trapezoid


# -- samples ---------------------------------------------------------------------------------------
def _widths(x: ArrayLike | None, dx: ArrayLike, y: Array, axis: int) -> Any:
    """The distances between samples, broadcast against y along the last axis."""
    if x is None:
        return dx
    places = as_array(x)
    if places.ndim > 1:
        places: Array = snp.moveaxis(places, axis, -1)
    if not known_equal(places.shape[-1], y.shape[-1]):
        raise ShapeError(f"{places.shape[-1]} places do not fit {y.shape[-1]} samples.")
    return places[..., 1:] - places[..., :-1]


@mirrored
def cumulative_trapezoid(
    y: ArrayLike,
    x: ArrayLike | None = None,
    dx: ArrayLike = 1.0,
    axis: int = -1,
    initial: object = None,
) -> Array:
    """The integrals up to each sample but the first, by the trapezoidal rule.

    Parameters
    ----------
    initial : None or 0
        With 0 the integral up to the first sample too, as SciPy's.
    """
    samples = snp.moveaxis(as_array(y), axis, -1)
    widths = _widths(x, dx, samples, axis)
    parts = widths * (samples[..., 1:] + samples[..., :-1]) / 2.0
    result = snp.cumsum(parts, axis=-1)
    if initial is not None:
        if initial != 0:
            raise InputError("cumulative_trapezoid: initial is None or 0.")
        result = snp.concatenate([snp.zeros_like(result[..., :1]), result], axis=-1)
    return snp.moveaxis(result, -1, axis)


@mirrored
def simpson(
    y: ArrayLike, x: ArrayLike | None = None, *, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """The integral of samples by Simpson's rule, with any distances.

    For an even number of samples, the last interval uses the parabola through the last three
    (Cartwright 2017), as in SciPy; two samples make a trapezoid.
    """
    samples = snp.moveaxis(as_array(y), axis, -1)
    count = samples.shape[-1]
    if not isinstance(count, int) or count < 1:
        raise ShapeError(f"simpson: {count} samples.", mend="Give the dimension a number.")
    widths = snp.broadcast_to(_widths(x, dx, samples, axis), (*samples.shape[:-1], count - 1))
    if count == 1:
        return snp.zeros_like(samples[..., 0])
    if count == 2:
        return (widths * (samples[..., 1:] + samples[..., :-1]) / 2.0)[..., 0]
    odd = count if count % 2 else count - 1
    h0, h1 = widths[..., 0 : odd - 1 : 2], widths[..., 1 : odd - 1 : 2]
    y0, y1, y2 = (samples[..., k : odd - 2 + k : 2] for k in range(3))
    whole = h0 + h1
    total = whole / 6.0 * (y0 * (2.0 - h1 / h0) + y1 * whole**2 / (h0 * h1) + y2 * (2.0 - h0 / h1))
    result = snp.sum(total, axis=-1)
    return result if count % 2 else result + _last_interval(samples, widths)


def _last_interval(y: Array, widths: Array) -> Array:
    """The integral over the last interval of the parabola through the last three samples."""
    h0, h1 = widths[..., -2], widths[..., -1]
    last = (2 * h1**2 + 3 * h0 * h1) / (6 * (h0 + h1))
    middle = (h1**2 + 3 * h0 * h1) / (6 * h0)
    first = h1**3 / (6 * h0 * (h0 + h1))
    return last * y[..., -1] + middle * y[..., -2] - first * y[..., -3]


@mirrored
def fixed_quad(
    func: Callable[..., Any],
    a: ArrayLike,
    b: ArrayLike,
    args: Sequence[object] = (),
    n: int = 5,
) -> tuple[Any, None]:
    r"""The integral of a function from a to b by the Gauss–Legendre rule of n points, and None.

    $\tfrac{b - a}{2} \sum_i w_i f(\tfrac{b - a}{2} (x_i + 1) + a)$: exact for polynomials of a
    degree below 2 n. The function takes all points at once, along its last axis.
    """
    if n < 1:
        raise InputError(f"fixed_quad: {n} points.", mend="Take one or more.")
    points, weights = roots_legendre(n)
    half = (as_array(b) - a) / 2.0
    values = func(half * (points + 1.0) + a, *args)
    return half * snp.sum(weights * values, axis=-1), None


# -- initial value problems ------------------------------------------------------------------------
@record
class Tableau:
    """An explicit Runge–Kutta method: nodes, weights of the stages, weights of the step."""

    nodes: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


TABLEAUS = {
    # Kutta (1901).
    "RK4": Tableau(
        (0, 1 / 2, 1 / 2, 1), ((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    ),
    # Bogacki & Shampine (1989), of order 3.
    "RK23": Tableau((0, 1 / 2, 3 / 4), ((), (1 / 2,), (0, 3 / 4)), (2 / 9, 1 / 3, 4 / 9)),
    # Dormand & Prince (1980), of order 5.
    "RK45": Tableau(
        (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
        (
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
}


class Solution(NamedTuple):
    """The points in time, and the states there: one column a point, as SciPy's `sol.y`."""

    t: Any
    y: Any


_REFUSED = (
    "rtol atol events dense_output vectorized first_step max_step jac jac_sparsity lband uband"
)


@mirrored
def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[Any],
    y0: ArrayLike,
    method: str = "RK45",
    t_eval: ArrayLike | None = None,
    *,
    args: Sequence[Any] = (),
    steps: int | None = None,
    **options: object,
) -> Solution:
    r"""The solution of $y' = f(t, y)$ from $y(t_0) = y_0$, by steps of a fixed size.

    Parameters
    ----------
    fun : callable
        `fun(t, y, *args)` gives the derivative, a vector or a list of numbers; called with symbols.
    method : "RK45", "RK23" or "RK4"
        Of the orders 5, 3 and 4.
    t_eval : array_like, optional
        Points at which the solution is asked for, in order; by default t_0 and the end of each
        step.
    args : sequence
        Further arguments of `fun`.
    steps : int
        How many steps are taken between two points of `t_eval` (and from t_0 to its first one); in
        all, without it. The error is not estimated: doubling the steps tells it.

    Returns
    -------
    Solution
        `t`, shape (T,), and `y`, shape (n, T).

    Raises
    ------
    TraceError
        For options of SciPy's that a fixed number of steps has no use for.
    InputError
        If `steps` is missing, or the method is implicit or unknown.

    Examples
    --------
    >>> from symgraph.scipy.integrate import solve_ivp
    >>> decay = lambda k: solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0], steps=20).y[0, -1]
    >>> bool(np.isclose(sg.grad(decay)(1.0), -np.exp(-1)))
    True
    """
    _refuse_options("solve_ivp", options)
    start, stop = t_span
    dtype = common_float([start, stop, y0, *([] if t_eval is None else [t_eval])])
    first, last = lifted(start, dtype), lifted(stop, dtype)
    count = _steps("solve_ivp", steps)

    def derivative(t: ArrayLike, y: ArrayLike) -> Any:
        return fun(t, y, *args)

    if t_eval is None:
        grid = first + (last - first) * (snp.arange(count + 1, dtype=dtype) / count)
        states = _marched(derivative, lifted(y0, dtype), grid, 1, method)
        return Solution(grid, states.T)
    points = lifted(t_eval, dtype)
    grid = snp.concatenate([snp.reshape(first, (1,)), points])
    states = _marched(derivative, lifted(y0, dtype), grid, count, method)
    return Solution(points, states[1:].T)


@mirrored
def odeint(
    func: Callable[..., Any],
    y0: ArrayLike,
    t: ArrayLike,
    args: Sequence[Any] = (),
    tfirst: bool = False,
    *,
    steps: int | None = None,
    method: str = "RK45",
    **options: object,
) -> Array:
    r"""The solution of $y' = f(y, t)$ at the points t, one row a point; the first row is $y_0$.

    It takes `steps` steps of `method` between two points; see `solve_ivp`.
    """
    _refuse_options("odeint", options)
    dtype = common_float([y0, t])
    count = _steps("odeint", steps)

    def derivative(t: ArrayLike, y: ArrayLike) -> Any:
        return func(t, y, *args) if tfirst else func(y, t, *args)

    return _marched(derivative, lifted(y0, dtype), lifted(t, dtype), count, method)


def _steps(name: str, steps: int | None) -> int:
    if steps is None or int(steps) != steps or steps < 1:
        raise InputError(
            f"{name}: steps is {steps!r}.",
            mend="Say how many steps are taken: the steps are of a fixed size, for a gradient; "
            "twice as many tell the error.",
        )
    return int(steps)


def _refuse_options(name: str, options: dict[str, Any]) -> None:
    for each in options:
        raise TraceError(
            f"{name}: {each}= has no use here, for the steps are of a fixed size."
            if each in _REFUSED.split()
            else f"{name}: {each}= is not known.",
            mend="Leave it out; steps= sets the accuracy.",
        )


def _marched(
    derivative: Callable[[Any, Any], Any], y0: Array, grid: Array, steps: int, method: str
) -> Array:
    """The states at all points of the grid, with `steps` steps from point to point."""
    if method not in TABLEAUS:
        raise InputError(
            f"The method {method!r} is no explicit one of fixed steps.",
            mend=f"Use one of {', '.join(TABLEAUS)}.",
        )
    if y0.ndim > 1:
        raise ShapeError(f"y0 has shape {show_shape(y0.shape)}, but a state is a vector.")
    y0 = snp.atleast_1d(y0)
    tableau = TABLEAUS[method]

    def advanced(y: Array, ends: tuple[Array, Array]) -> Any:
        start, stop = ends
        width = (stop - start) / steps

        def step(i: Array | int, y: Array) -> Any:
            t = start + snp.astype(i, y.dtype) * width
            return _stepped(derivative, t, y, width, tableau)

        after = fori_loop(steps, step, y) if steps > 1 else step(0, y)
        return after, after

    _, states = scan(advanced, y0, (grid[:-1], grid[1:]))
    return snp.concatenate([y0[None], states], axis=0)


def _stepped(
    derivative: Callable[[Any, Any], Any], t: ArrayLike, y: Array, width: Array, tableau: Tableau
) -> Array:
    """One step."""
    slopes: list[Array] = []
    for node, weights in zip(tableau.nodes, tableau.stages, strict=True):
        slopes.append(_slope(derivative, t + node * width, y + width * _mixed(weights, slopes), y))
    return y + width * _mixed(tableau.weights, slopes)


def _mixed(weights: Sequence[float], slopes: Sequence[Array]) -> Any:
    terms = [w * k for w, k in zip(weights, slopes, strict=True) if w]
    return sum(terms[1:], terms[0]) if terms else 0.0


def _slope(derivative: Callable[[Any, Any], Any], t: ArrayLike, at: ArrayLike, y: Array) -> Array:
    found = derivative(t, at)
    if isinstance(found, (list, tuple)):
        found = snp.stack([as_array(each) for each in found])  # pyright: ignore[reportUnknownArgumentType]
    slope = snp.astype(as_array(found), y.dtype)
    return snp.broadcast_to(slope, y.shape)


def __getattr__(name: str) -> Any:
    return of_numbers("integrate", name, __all__)
