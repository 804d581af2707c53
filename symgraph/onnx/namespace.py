"""The array namespace whose functions write ONNX: kernels run on it as on NumPy's.

A function called on no array of the model is NumPy's own, and its result a constant. All others
stand in `table.FUNCTIONS`; a function that does not is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np

from ..ir.avals import Aval
from ..lowering.kernel_sizes import Size
from ..lowering.shapes import dtypes_in_loop, ufunc_named
from ..namespace import NUMPY
from .refusal import Refused
from .traced import TracedTensor
from .writer import Writer

__all__ = ["OnnxNamespace"]


class OnnxNamespace:
    """The namespace a kernel sees.

    Parameters
    ----------
    writer : Writer
        Receives the nodes.
    table : mapping
        `function(xp, *args, **kwargs)` by the name that kernels call it.
    """

    def __init__(self, writer: Writer, table: Mapping[str, Callable[..., Any]]) -> None:
        self.writer = writer
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(np, name, None)
        if isinstance(value, (type, float)):
            return value
        if name == "newaxis":
            return None
        return _Function(self, name)

    def lift(self, value: Any, dtype: Any = None) -> TracedTensor:
        """An array of the model; numbers and NumPy's arrays become constants.

        Raises
        ------
        Refused
            If a cast would lose digits.
        """
        if isinstance(value, TracedTensor):
            return value if dtype is None else self.astype(value, dtype)
        if isinstance(value, Size):
            scalar = self.made(
                "Reshape",
                Aval(np.dtype(np.int64), ()),
                self.writer.size(value.expr),
                self.writer.integers(),
            )
            return scalar if dtype is None else self.astype(scalar, dtype)
        array = np.asarray(value, dtype)
        return TracedTensor(self, self.writer.constant(array), Aval(array.dtype, array.shape))

    def made(
        self, op: str, aval: Aval, *inputs: TracedTensor | str, **attributes: Any
    ) -> TracedTensor:
        """The result of one ONNX operator."""
        dtypes = [each.dtype if isinstance(each, TracedTensor) else None for each in inputs]
        self.writer.check_dtypes(op, dtypes)
        names = [each.name if isinstance(each, TracedTensor) else each for each in inputs]
        return TracedTensor(self, self.writer.emit(op, *names, **attributes), aval)

    def loop(self, name: str, *args: Any) -> tuple[list[TracedTensor], np.dtype[Any]]:
        """The operands of the ufunc `name`, cast as NumPy casts them, and the result's dtype."""
        ufunc = ufunc_named(name if "." in name else f"np.{name}", cast("Any", NUMPY.special))
        known = [
            each.aval
            if isinstance(each, TracedTensor)
            else Aval(each.dtype, each.shape)
            if isinstance(each, (np.ndarray, np.generic))
            else each
            for each in args
        ]
        dtypes = None if ufunc is None else dtypes_in_loop(ufunc, known)
        if dtypes is None:
            raise Refused(f"what {name} makes of these arguments is not known")
        operands = [self.lift(each, dtype) for each, dtype in zip(args, dtypes[:-1], strict=True)]
        return operands, dtypes[-1]


class _Function:
    """A function of the namespace, or a room of it such as `xp.linalg`."""

    def __init__(self, xp: OnnxNamespace, name: str) -> None:
        self._xp = xp
        self._name = name

    def __getattr__(self, name: str) -> _Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Function(self._xp, f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any(map(_of_model, _leaves([*args, *kwargs.values()]))):
            function: Any = NUMPY
            for part in self._name.split("."):
                function = getattr(function, part)
            return function(*args, **kwargs)
        spelled = self._xp._table.get(self._name)  # pyright: ignore[reportPrivateUsage]
        if spelled is None:
            raise Refused(f"ONNX has no counterpart of {self._name}")
        return spelled(self._xp, *args, **kwargs)


def _of_model(value: Any) -> bool:
    return isinstance(value, (TracedTensor, Size))


def _leaves(values: Any) -> Iterator[Any]:
    for each in values:
        if isinstance(each, (tuple, list)):
            yield from _leaves(cast("tuple[Any, ...]", each))
        elif isinstance(each, slice):
            yield from (each.start, each.stop, each.step)
        else:
            yield each
