"""Objectives on one flat vector, as `scipy.optimize.minimize` and its kin want them.

objective = sg.flat_objective(loss, params, X, y)
found = scipy.optimize.minimize(objective, objective.x0, jac=True, hessp=objective.hessp)
params = objective.unflatten(found.x)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..array import ArrayLike
from ..backends.base import backend_named
from ..errors import InputError
from ..passes.simplify import Effort
from ..pytrees import Tree, flatten, unflatten
from ..rewriting import Soundness
from .arguments import Names, dtype_of, is_array
from .directional import hvp
from .functions import hessian, value_and_grad

__all__ = ["FlatObjective", "flat_objective"]

Vector: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


class FlatObjective:
    """A scalar function of nested parameters as a function of one float64 vector.

    Calling it gives value and gradient, for `jac=True`.

    Parameters
    ----------
    f : callable
        `f(params, *args, **kwargs)` gives a scalar.
    params : nested arrays
        An example, and where `x0` starts.
    args, kwargs
        Its other arguments, held fixed; `with_data` exchanges them.
    static : str, int or a sequence of them
        Names or positions of arguments that are known while tracing, of any type.
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

    Attributes
    ----------
    x0 : ndarray
        `params` as a vector.

    Examples
    --------
    >>> f = sg.flat_objective(lambda p: np.sum((p["w"] - 1) ** 2), {"w": np.zeros(2)})
    >>> f.x0, f(f.x0)
    (array([0., 0.]), (2.0, array([-2., -2.])))
    """

    def __init__(
        self,
        f: Callable[..., Any],
        params: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        static: Names = (),
        backend: str = "numpy",
        trust: Soundness = "rounding",
        effort: Effort = "normal",
        cache_size: int = 64,
        **options: Any,
    ) -> None:
        chosen = {
            "static": static,
            "backend": backend,
            "trust": trust,
            "effort": effort,
            "cache_size": cache_size,
        }
        options = {**chosen, **options}
        self._f, self._args, self._kwargs, self._options = f, args, kwargs, options
        self._to_numpy = backend_named(backend).to_numpy
        leaves, self._tree = flatten(params)
        # Text and counts among the parameters stay as they are.
        self._leaves = leaves
        self._moving = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
        if not self._moving:
            raise InputError("There are no arrays among the parameters to optimise.")
        self._avals = [(np.shape(leaves[i]), dtype_of(leaves[i])) for i in self._moving]
        for shape, dtype in self._avals:
            if dtype.kind != "f":
                raise InputError(f"A parameter of dtype {dtype} and shape {shape} cannot move.")
        sizes = [int(np.prod(shape)) for shape, _ in self._avals]
        self._stops = np.cumsum([0, *sizes]).tolist()
        self._value_and_grad = value_and_grad(f, 0, **options)
        self._hvp = hvp(f, 0, **options)
        # A Hessian by complex numbers is one by their parts.
        by_parts = partial(_of_leaves, f, self._tree) if self._tree.holds_complex else f
        self._hessian = hessian(by_parts, 0, **options)
        self.x0 = self.flatten(params)

    def __repr__(self) -> str:
        name = getattr(self._f, "__name__", "a function")
        return f"<FlatObjective of {name} in {self.x0.size} numbers>"

    def __call__(self, x: ArrayLike) -> tuple[float, Vector]:
        """Value and gradient at `x`."""
        value, gradient = self._value_and_grad(self.unflatten(x), *self._args, **self._kwargs)
        return float(value), self.flatten(gradient)

    def value(self, x: ArrayLike) -> float:
        """The value alone."""
        return self(x)[0]

    def gradient(self, x: ArrayLike) -> Vector:
        """The gradient alone."""
        return self(x)[1]

    def hessp(self, x: ArrayLike, p: ArrayLike) -> Vector:
        """The Hessian at `x` times `p`; no Hessian is built."""
        point, v = self.unflatten(x), self.unflatten(p)
        named = {self._hvp.direction: v, **self._kwargs}
        return self.flatten(self._hvp(point, *self._args, **named))

    def hessian(self, x: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The whole Hessian, as a matrix."""
        point = self.unflatten(x)
        point = flatten(point)[0] if self._tree.holds_complex else point
        blocks = self._hessian(point, *self._args, **self._kwargs)
        size = self._stops[-1]
        matrix = np.empty((size, size))
        for i, row in enumerate(self._arrays_of(blocks)):
            for j, block in enumerate(row):
                rows = slice(self._stops[i], self._stops[i + 1])
                columns = slice(self._stops[j], self._stops[j + 1])
                shape = (rows.stop - rows.start, columns.stop - columns.start)
                matrix[rows, columns] = np.reshape(self._to_numpy(block), shape)
        return matrix

    def _arrays_of(self, blocks: object) -> list[list[Any]]:
        """The blocks of a nested Hessian, row by row."""
        count = len(self._moving)
        leaves = [leaf for leaf in flatten(blocks)[0] if is_array(leaf)]
        return [leaves[i * count : (i + 1) * count] for i in range(count)]

    def flatten(self, params: object) -> Vector:
        """Nested parameters (or a gradient by them) as one vector."""
        leaves = [leaf for leaf in flatten(params)[0] if is_array(leaf)]
        if [np.shape(leaf) for leaf in leaves] != [shape for shape, _ in self._avals]:
            raise InputError(
                f"Arrays of shapes {[np.shape(leaf) for leaf in leaves]} are given, "
                f"{[shape for shape, _ in self._avals]} wanted."
            )
        return np.concatenate([self._to_numpy(leaf).ravel() for leaf in leaves], dtype=np.float64)

    def unflatten(self, x: ArrayLike) -> Any:
        """A vector as nested parameters, in their shapes and dtypes."""
        vector = np.asarray(x)
        if vector.shape != (self._stops[-1],):
            raise InputError(f"A vector of {self._stops[-1]} numbers is wanted: {vector.shape}.")
        leaves = list(self._leaves)
        for k, (i, (shape, dtype)) in enumerate(zip(self._moving, self._avals, strict=True)):
            part = vector[self._stops[k] : self._stops[k + 1]]
            leaves[i] = part.reshape(shape).astype(dtype)
        return unflatten(self._tree, leaves)

    def with_data(self, *args: object, **kwargs: object) -> FlatObjective:
        """The same objective with other data: programs for its shapes are kept."""
        found = object.__new__(FlatObjective)
        found.__dict__.update(self.__dict__)
        found._args, found._kwargs = args, kwargs
        return found


def _of_leaves(
    f: Callable[..., Any], tree: Tree, leaves: list[Any], /, *args: object, **kwargs: object
) -> Any:
    """`f` of the leaves of its first argument."""
    return f(unflatten(tree, leaves), *args, **kwargs)


def flat_objective(
    f: Callable[..., Any], params: object, /, *args: object, **kwargs: object
) -> FlatObjective:
    """A scalar function of nested parameters, ready for `scipy.optimize.minimize`.

    Parameters
    ----------
    f : callable
        `f(params, *args, **kwargs)` gives a scalar.
    params : nested dicts, lists, tuples, dataclasses of arrays; or one array
        An example, and where to start. A complex array is one of its real parts, then one of its
        imaginary parts.
    *args, **kwargs
        The other arguments of `f`, held fixed.

    Returns
    -------
    FlatObjective
        With `x0`, a call that gives value and gradient (`jac=True`), `hessp`, `hessian`,
        `flatten` and `unflatten`.

    Raises
    ------
    InputError
        If no parameter is an array of floats.

    Examples
    --------
    >>> def rosenbrock(p):
    ...     return 100 * (p["y"] - p["x"] ** 2) ** 2 + (1 - p["x"]) ** 2
    >>> objective = sg.flat_objective(rosenbrock, {"x": -1.2, "y": 1.0})
    >>> value, gradient = objective(objective.x0)
    >>> round(value, 1), gradient.round(1).tolist()
    (24.2, [-215.6, -88.0])
    """
    return FlatObjective(f, params, args, kwargs)
