"""`scipy.interpolate` on symbols: piecewise polynomials and linear interpolation on grids.

The places are numbers; the values may be symbols for `CubicSpline` and `RegularGridInterpolator`,
and so may the points at which they are asked for. All other names are SciPy's, for numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import product
from math import perm
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import numpy as snp
from ..array import Array, ArrayLike
from ..array.eager import is_symbolic
from ..errors import InputError, ShapeError, TraceError
from ..ir.dims import known_equal, show_shape
from ..ops.composites import as_array
from .names.absent import of_numbers
from .names.mirrored import numbers_too

__all__ = [
    "Akima1DInterpolator",
    "CubicSpline",
    "PchipInterpolator",
    "RegularGridInterpolator",
]


def _scipys(name: str) -> Any:
    """SciPy's class, whose module takes a quarter of a second to load."""
    return getattr(import_module("scipy.interpolate"), name)


Ends: TypeAlias = Sequence[tuple[int, ArrayLike]]
"""The order and the value of a derivative, for the first place and for the last."""


# -- piecewise polynomials -------------------------------------------------------------------------
class _PiecewisePolynomial:
    r"""Polynomials $\sum_k c_{ki} (x - x_i)^{d-k}$ between places $x_i \le x < x_{i+1}$."""

    def __init__(
        self, places: np.ndarray[Any, Any], coefficients: ArrayLike, axis: int, beyond: object
    ) -> None:
        self.x = places
        self.c = coefficients
        self.axis = axis
        self.extrapolate = beyond

    def __call__(self, x: ArrayLike, nu: int = 0, extrapolate: object = None) -> Any:
        """The values at x, or those of the derivative of order `nu`.

        Outside of the places the outermost polynomials go on; with `extrapolate` False it is NaN,
        and for "periodic" x is moved to where the places are.
        """
        beyond = self.extrapolate if extrapolate is None else extrapolate
        return _value(x, self.c, self.x, nu, self.axis, beyond)


@numbers_too
def _value(
    x: ArrayLike,
    coefficients: ArrayLike,
    places: np.ndarray[Any, Any],
    nu: int,
    axis: int,
    beyond: object,
) -> Any:
    at, c = as_array(x), as_array(coefficients)
    if at.dtype.kind != "f":
        at = as_array(snp.astype(at, "float64"))
    if beyond == "periodic":
        at = places[0] + (at - places[0]) % (places[-1] - places[0])
    last = len(places) - 2
    piece = snp.clip(snp.searchsorted(places, at, side="right") - 1, 0, last)
    lead = (slice(None),) * at.ndim + (None,) * (c.ndim - 2)
    step = (at - snp.take(places, piece, axis=0))[lead]
    degree: int = len(c) - 1
    result: Any = 0.0 * snp.take(c[0], piece, axis=0) if nu > degree else None
    for k in range(degree - nu + 1):  # Horner's rule, for the derivative of order nu
        term = perm(degree - k, nu) * snp.take(c[k], piece, axis=0)
        result = term if result is None else result * step + term
    if beyond is False:
        outside = ((at < places[0]) | (at > places[-1]))[lead]
        result = snp.where(outside, np.nan, result)
    return _moved(result, at.ndim, axis) if axis else result


def _moved(x: Array, count: int, axis: int) -> Array:
    """The first axes moved to where `axis` was."""
    return snp.moveaxis(x, tuple(range(count)), tuple(range(axis, axis + count)))


def _given(name: str, x: ArrayLike, y: ArrayLike, axis: int) -> tuple[Any, Any, int]:
    """The places, the values along their first axis, and that axis as no negative number."""
    if is_symbolic(x):
        raise TraceError(
            f"{name}: the places are symbols; which polynomial holds would depend on them.",
            mend="Give numbers as the places; the values may be symbols.",
        )
    places = np.asarray(x, dtype=float)
    values = as_array(y) if is_symbolic(y) else np.asarray(y, dtype=float)
    axis = range(values.ndim)[axis]
    if not known_equal(values.shape[axis], len(places)):
        raise ShapeError(f"{name}: {len(places)} places, values {show_shape(values.shape)}.")
    return places, snp.moveaxis(values, axis, 0), axis


class CubicSpline(_PiecewisePolynomial):
    """Cubic polynomials whose values and first two derivatives go on through the places.

    Parameters
    ----------
    x : array_like
        The places, increasing numbers.
    y : array_like
        The values along `axis`, numbers or symbols. The coefficients are linear in them: those of
        symbols are a constant matrix, as SciPy computes it, times the values.
    axis : int
    bc_type : str or pair
        What holds at the ends, as in SciPy: "not-a-knot", "natural", "clamped", "periodic", or
        for each end the order and the value of a derivative.
    extrapolate : bool or "periodic", optional
        See `__call__`.

    Raises
    ------
    TraceError
        If the places are symbols.
    ShapeError
        If there are not as many values as places.

    Examples
    --------
    >>> from symgraph.scipy.interpolate import CubicSpline
    >>> spline = CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0])
    >>> float(spline(1.5)), float(sg.grad(spline)(1.5))
    (2.25, 3.0)
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        axis: int = 0,
        bc_type: str | Ends = "not-a-knot",
        extrapolate: object = None,
    ) -> None:
        places, values, axis = _given("CubicSpline", x, y, axis)
        usual = "periodic" if bc_type == "periodic" else True
        beyond = usual if extrapolate is None else extrapolate
        super().__init__(places, _coefficients(places, values, bc_type), axis, beyond)


def _coefficients(
    places: np.ndarray[Any, Any], values: Array | np.ndarray[Any, Any], bc_type: str | Ends
) -> Any:
    """Of shape [4, n - 1, ...] for values [n, ...], as SciPy orders them."""
    spline = _scipys("CubicSpline")
    if not isinstance(values, Array):
        return spline(places, values, bc_type=bc_type).c
    size = len(places)
    if isinstance(bc_type, str):
        units = np.eye(size)
        if bc_type == "periodic":  # the last value is the first
            units[-1] = units[0]
        matrix = spline(places, units, bc_type=bc_type).c
        return snp.tensordot(matrix, values, 1)
    if values.ndim > 1:
        raise TraceError(
            "CubicSpline: derivatives at the ends are stated for a vector of symbols only.",
            mend='Give the values as vectors, or say bc_type="clamped" or "natural".',
        )
    none = [(order, np.zeros(size)) for order, _ in bc_type]
    matrix = spline(places, np.eye(size), bc_type=none).c
    start = spline(places, np.zeros(size), bc_type=bc_type).c
    return start + snp.tensordot(matrix, values, 1)


class PchipInterpolator(_PiecewisePolynomial):
    """Cubic polynomials that are monotonic where the values are; places and values are numbers."""

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, extrapolate: object = None
    ) -> None:
        places, values, axis = _of_numbers("PchipInterpolator", x, y, axis)
        found = _scipys("PchipInterpolator")(places, values)
        super().__init__(places, found.c, axis, True if extrapolate is None else extrapolate)


class Akima1DInterpolator(_PiecewisePolynomial):
    """Akima's cubic polynomials, of little overshoot; places and values are numbers."""

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        axis: int = 0,
        *,
        method: Literal["akima", "makima"] = "akima",
        extrapolate: object = None,
    ) -> None:
        places, values, axis = _of_numbers("Akima1DInterpolator", x, y, axis)
        found = _scipys("Akima1DInterpolator")(places, values, method=method)
        super().__init__(places, found.c, axis, extrapolate is not None and extrapolate)


def _of_numbers(name: str, x: ArrayLike, y: ArrayLike, axis: int) -> tuple[Any, Any, int]:
    places, values, axis = _given(name, x, y, axis)
    if isinstance(values, Array):
        raise TraceError(
            f"{name}: the values are symbols, and the coefficients are not linear in them.",
            mend="CubicSpline takes symbols as values.",
        )
    return places, values, axis


# -- grids -----------------------------------------------------------------------------------------
class RegularGridInterpolator:
    """Linear interpolation between the points of a grid, in any number of dimensions.

    Parameters
    ----------
    points : sequence of array_like
        The increasing places along each axis, numbers.
    values : array_like
        The values on the grid, numbers or symbols; further axes follow those of the grid.
    method : "linear"
    bounds_error : bool
        Beyond the grid SciPy raises; here it is NaN, unless this is False.
    fill_value : number or None
        The value beyond the grid if `bounds_error` is False; None extrapolates.

    Raises
    ------
    TraceError
        If the method is another one, or the places are symbols.
    InputError
        If the places along an axis do not increase.
    ShapeError
        If the values do not fit the places.

    Examples
    --------
    >>> from symgraph.scipy.interpolate import RegularGridInterpolator
    >>> plane = RegularGridInterpolator(([0.0, 1.0], [0.0, 2.0]), [[0.0, 2.0], [1.0, 3.0]])
    >>> sg.grad(lambda x: plane(x))(np.array([0.5, 1.0]))
    array([1., 1.])
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: float | None = np.nan,
    ) -> None:
        if method != "linear":
            raise TraceError(
                f"RegularGridInterpolator: method={method!r} has no form for symbols.",
                mend='Say method="linear", or take scipy.interpolate for numbers.',
            )
        if is_symbolic(list(points)):
            raise TraceError(
                "RegularGridInterpolator: the places are symbols.", mend="Give numbers as places."
            )
        self.grid = tuple(np.asarray(each, dtype=float) for each in points)
        for axis, places in enumerate(self.grid):
            if places.ndim != 1 or len(places) < 2 or not np.all(np.diff(places) > 0):
                raise InputError(
                    f"RegularGridInterpolator: the places along axis {axis} do not increase.",
                    mend="Give two places or more in increasing order, and the values with them.",
                )
        self.values = as_array(values) if is_symbolic(values) else np.asarray(values, dtype=float)
        self.fill_value = np.nan if bounds_error else fill_value
        sizes = tuple(len(each) for each in self.grid)
        fits = self.values.ndim >= len(sizes) and all(
            known_equal(a, b) for a, b in zip(self.values.shape, sizes, strict=False)
        )
        if not fits:
            raise ShapeError(
                f"RegularGridInterpolator: values {show_shape(self.values.shape)} on a grid of "
                f"{' by '.join(map(str, sizes))} places."
            )

    def __call__(self, xi: ArrayLike) -> Any:
        """The values at points whose coordinates stand along the last axis."""
        return _on_grid(xi, self.values, self.grid, self.fill_value)


@numbers_too
def _on_grid(
    xi: ArrayLike,
    values: ArrayLike,
    grid: tuple[np.ndarray[Any, Any], ...],
    fill_value: float | None,
) -> Any:
    xi, values = as_array(xi), as_array(values)
    if not known_equal(xi.shape[-1], len(grid)):
        raise ShapeError(f"Points {show_shape(xi.shape)} in a grid of {len(grid)} dimensions.")
    cells: list[Any] = []
    shares: list[Any] = []
    outside: Any = False
    for axis, places in enumerate(grid):
        x = xi[..., axis]
        cell = snp.searchsorted(places, x, side="right") - 1
        cell = snp.clip(cell, 0, len(places) - 2)
        cells.append(cell)
        shares.append(
            (x - snp.take(places, cell, axis=0)) / snp.take(np.diff(places), cell, axis=0)
        )
        outside = outside | (x < places[0]) | (x > places[-1])
    rest = (...,) + (None,) * (values.ndim - len(grid))
    result: Any = 0.0
    for corner in product((0, 1), repeat=len(grid)):
        weight: Any = 1.0
        for up, share in zip(corner, shares, strict=True):
            weight = weight * (share if up else 1.0 - share)
        at = tuple(cell + up for cell, up in zip(cells, corner, strict=True))
        result = result + weight[rest] * values[at]
    if fill_value is None:
        return result
    return snp.where(outside[rest], fill_value, result)


def __getattr__(name: str) -> Any:
    return of_numbers("interpolate", name, __all__)
