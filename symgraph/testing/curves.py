"""The error of difference quotients over their step, against the derivative of the graph.

A right derivative gives a V: the error falls with the square of the step until rounding takes over.
A wrong one gives a flat line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph.plots import axes_of
from .gradients import difference_quotients

__all__ = ["gradient_errors", "plot_gradient_errors"]


def gradient_errors(
    f: Callable[..., Any],
    *arrays: object,
    steps: Sequence[float] | None = None,
    seed: int = 0,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The steps, and the relative error of the central difference quotient at each of them.

    Parameters
    ----------
    f : callable
        Takes symbolic arrays and gives one floating array.
    *arrays : array_like
        The point, away from kinks.
    steps : sequence of float, optional
        By default 10**-1 to 10**-12.
    seed : int
        Seed of the direction.

    Returns
    -------
    tuple of ndarray
        Both float64.

    Examples
    --------
    >>> steps, errors = gradient_errors(lambda x: np.sin(x) * x, np.array([0.3, 0.7]))
    >>> bool(errors.min() < 1e-9 < errors[0])
    True
    """
    chosen = np.logspace(-1, -12, 23) if steps is None else np.asarray(steps, dtype="float64")
    exact, quotients = difference_quotients(f, arrays, [float(step) for step in chosen], seed)
    return chosen, np.abs(np.array(quotients) - exact) / (1 + abs(exact))


def plot_gradient_errors(
    f: Callable[..., Any],
    *arrays: object,
    steps: Sequence[float] | None = None,
    seed: int = 0,
    ax: object = None,
) -> Any:
    """The curve of `gradient_errors` on logarithmic axes, by matplotlib.

    Parameters
    ----------
    f, *arrays, steps, seed
        As for `gradient_errors`.
    ax : matplotlib.axes.Axes, optional
        To draw on; new ones by default.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    SymgraphError
        If matplotlib is not installed.

    Examples
    --------
    >>> plot_gradient_errors(np.sin, np.array([0.3, 0.7]))  # doctest: +SKIP
    """
    found, errors = gradient_errors(f, *arrays, steps=steps, seed=seed)
    axes = axes_of(ax)
    # An error of zero has no place on a logarithmic axis.
    axes.loglog(found, np.maximum(errors, np.finfo("float64").tiny), marker=".")
    axes.set_xlabel("step of the difference quotient")
    axes.set_ylabel("relative error")
    return axes
