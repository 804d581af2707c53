"""An array inside a kernel that is written as ONNX: its dtype, its shape and its name."""

from __future__ import annotations

from typing import Any, NoReturn, cast

import numpy as np

from ..array.in_place import BINARY_OPERATORS, COMPARISONS
from ..ir.avals import Aval
from ..ir.dims import Dim
from ..lowering.kernel_sizes import Size
from .refusal import Refused

__all__ = ["TracedTensor", "as_size", "dim_of", "size_asked"]


def size_asked() -> NoReturn:
    """Refuse a kernel that asks for the number behind a named dimension."""
    raise Refused("its kernel asks how large a named dimension is")


def as_size(dim: Dim) -> int | Size:
    """A dimension as kernels get it: a number, or a size that they can pass on."""
    return dim if isinstance(dim, int) else Size(dim, size_asked)


def dim_of(size: Any) -> Dim:
    """The dimension that a kernel passes as a size."""
    return size.expr if isinstance(size, Size) else int(size)


class TracedTensor:
    """A tensor of the model.

    Parameters
    ----------
    xp : OnnxNamespace
        The namespace that its operators call.
    name : str
    aval : Aval
    """

    # NumPy must leave operators to this class where an array or a number stands on the left.
    __array_ufunc__ = None

    def __init__(self, xp: Any, name: str, aval: Aval) -> None:
        self.xp = xp
        self.name = name
        self.aval = aval

    @property
    def shape(self) -> tuple[int | Size, ...]:
        return tuple([as_size(dim) for dim in self.aval.shape])

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.aval.dtype

    @property
    def size(self) -> int | Size:
        return as_size(self.aval.size)

    @property
    def T(self) -> TracedTensor:
        return self.xp.transpose(self)

    def astype(self, dtype: Any) -> TracedTensor:
        return self.xp.astype(self, dtype)

    def reshape(self, *shape: Any) -> TracedTensor:
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return self.xp.reshape(self, cast("Any", given))

    def __getitem__(self, index: Any) -> TracedTensor:
        return self.xp.getitem(self, index)

    def _refuse(self, *_args: object) -> NoReturn:
        raise Refused("its kernel looks at the numbers of an array")

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = __array__ = _refuse
    __hash__ = object.__hash__


_UNARY = {"neg": "negative", "abs": "absolute", "invert": "invert"}


def _install_operators() -> None:
    for method, name in (*BINARY_OPERATORS.items(), *COMPARISONS.items()):

        def forward(self: TracedTensor, other: Any, _name: str = name) -> Any:
            return getattr(self.xp, _name)(self, other)

        def reflected(self: TracedTensor, other: Any, _name: str = name) -> Any:
            return getattr(self.xp, _name)(other, self)

        setattr(TracedTensor, f"__{method}__", forward)
        if method in BINARY_OPERATORS:
            setattr(TracedTensor, f"__r{method}__", reflected)
    for method, name in _UNARY.items():

        def unary(self: TracedTensor, _name: str = name) -> Any:
            return getattr(self.xp, _name)(self)

        setattr(TracedTensor, f"__{method}__", unary)


_install_operators()
