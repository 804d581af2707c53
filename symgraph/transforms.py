"""Function transforms in the ecosystem's habit: `grad(f)` is a function that computes it.

A transformed function is traced at its first call with arguments of given shapes and dtypes,
simplified, lowered and kept; the cache is bounded.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, overload

import numpy as np

from .array import Array
from .autodiff.reverse import gradients
from .errors import InputError
from .ops.creation import zeros
from .tracing import Spec, trace

__all__ = ["grad", "value_and_grad"]

_CACHED = 64
"""Programs kept for each transformed function, one a combination of shapes and dtypes."""


@overload
def grad(f: Array, wrt: Array) -> Array: ...
@overload
def grad(f: Array, wrt: Sequence[Array]) -> list[Array]: ...
@overload
def grad(f: Callable[..., Any], wrt: str | Sequence[str] | None = None, **options: Any) -> Any: ...
def grad(f: Any, wrt: Any = None, **options: Any) -> Any:
    """Gradient of a symbolic scalar, or a function that computes the gradient of a function.

    Parameters
    ----------
    f : Array or callable
        A symbolic scalar; or a function of arrays that gives a scalar.
    wrt : Array, sequence of Array, str or sequence of str
        What to differentiate with respect to; for a function the names of its parameters, by
        default the first one.
    **options
        For a function: `backend=`, `trust=`.

    Returns
    -------
    Array, list of Array, or callable
        Zeros where no path leads from a target to the scalar. A callable gives one array if `wrt`
        is one name, else a tuple.

    Raises
    ------
    ShapeError, DTypeError, NotDifferentiable, InputError
        As `Graph.gradient`.
    """
    if not isinstance(f, Array):
        return _Transformed(f, wrt, value=False, options=options)
    targets: list[Array] = [wrt] if isinstance(wrt, Array) else list(wrt)
    found = [
        zeros(target.shape, target.dtype) if gradient is None else gradient
        for target, gradient in zip(targets, gradients(f, targets), strict=True)
    ]
    return found[0] if isinstance(wrt, Array) else found


def value_and_grad(
    f: Callable[..., Any], wrt: str | Sequence[str] | None = None, **options: Any
) -> Callable[..., Any]:
    """A function that computes the value of `f` and its gradient, sharing what they have in common.

    Parameters and errors as `grad`.
    """
    return _Transformed(f, wrt, value=True, options=options)


class _Transformed:
    """A function traced, differentiated, simplified and lowered once for each signature."""

    def __init__(
        self, f: Callable[..., Any], wrt: str | Sequence[str] | None, value: bool, options: Any
    ) -> None:
        self._f = f
        self._signature = inspect.signature(f)
        names = list(self._signature.parameters)
        chosen = names[:1] if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
        for name in chosen:
            if name not in names:
                raise InputError(
                    f"{getattr(f, '__name__', 'The function')} has no parameter {name!r}.",
                    mend=f"Its parameters are {', '.join(names)}.",
                )
        self._wrt = chosen
        self._single = wrt is None or isinstance(wrt, str)
        self._value = value
        self._trust = options.pop("trust", "rounding")
        self._options = options
        self._programs: OrderedDict[Any, Callable[..., Any]] = OrderedDict()
        self._lock = Lock()
        self.__name__ = f"grad_{getattr(f, '__name__', 'f')}"
        self.__doc__ = getattr(f, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"{self.__name__}: {error}.") from None
        bound.apply_defaults()
        arrays = {name: np.asarray(value) for name, value in bound.arguments.items()}
        for name in self._wrt:
            if arrays[name].dtype.kind in "iub" and not hasattr(bound.arguments[name], "dtype"):
                arrays[name] = arrays[name].astype(np.float64)
        return self._program(arrays)(**arrays)

    def _program(self, arrays: dict[str, np.ndarray[Any, Any]]) -> Callable[..., Any]:
        key = tuple((name, array.shape, array.dtype.str) for name, array in arrays.items())
        with self._lock:
            found = self._programs.get(key)
            if found is not None:
                self._programs.move_to_end(key)
                return found
        made = self.graph(**arrays).lower(**self._options)
        with self._lock:
            self._programs[key] = made
            while len(self._programs) > _CACHED:
                self._programs.popitem(last=False)
        return made

    def graph(self, **arrays: Any) -> Any:
        """The simplified gradient graph for arguments of these shapes and dtypes."""
        specs = {
            name: Spec(np.shape(array), np.asarray(array).dtype) for name, array in arrays.items()
        }
        joint = trace(self._f, **specs).gradient(*self._wrt, value=self._value)
        return joint.simplify(trust=self._trust)
