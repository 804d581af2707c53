"""The array namespace a kernel is run on to get its source: its calls are recorded, not made.

A call tells the shape and dtype of its result (`shapes`), and whether the result is a new array or
a view of its argument (`memory_sharing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn, SupportsIndex, cast

import numpy as np
from numpy.typing import DTypeLike

from ..ir.avals import Aval
from ..ir.dims import Dim
from ..ir.op import OPS
from ..ir.traits import Infix
from ..namespace import NUMPY, Namespace
from ..ops.choice import maximum, minimum
from ..ops.comparison import invert
from ..ops.einsum import EINSUM
from ..ops.elementwise import absolute, negative
from ..ops.floats import FREXP
from .kernel_sizes import Size
from .memory_sharing import alias_of, composed
from .recording import Recording, Value, index_part, source_of, used
from .shapes import dtypes_in_loop, result_of, ufunc_named
from .source_pieces import Alias, Call, EarlierResult, NoSource, Piece, Pieces, Tabled

__all__ = ["RecordedArray", "RecordingNamespace"]


class RecordedArray(Value):
    """An array inside a kernel: it holds no numbers, and records the calls made on it."""

    # NumPy must leave operators to this class where an array or a number stands on the left.
    __array_ufunc__ = None

    def _known(self) -> Aval:
        if self.aval is None:
            raise NoSource("the shape of an intermediate result")
        return self.aval

    @property
    def shape(self) -> tuple[int | Size, ...]:
        return tuple(self._as_size(dim) for dim in self._known().shape)

    @property
    def ndim(self) -> int:
        return self._known().ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._known().dtype

    @property
    def size(self) -> int | Size:
        return self._as_size(self._known().size)

    def _as_size(self, dim: Dim) -> int | Size:
        return dim if isinstance(dim, int) else Size(dim, self.recording.note_size)

    @property
    def T(self) -> RecordedArray:
        aval = None if self.aval is None else self.aval.with_shape(self.aval.shape[::-1])
        call = Call("np.transpose", (None,))
        return _recorded(self.recording, (*used(self), ".T"), aval, self, Alias.WHOLE, call=call)

    def astype(self, dtype: DTypeLike) -> RecordedArray:
        target = np.dtype(dtype)
        if self.aval is not None and self.aval.dtype == target and self.own is Alias.FRESH:
            return self  # Casting a new array would only copy it again.
        aval = None if self.aval is None else self.aval.with_dtype(target)
        pieces = (*used(self), ".astype(", *source_of(target, self.recording), ")")
        call = Call(".astype", (None,))
        return _recorded(self.recording, pieces, aval, self, Alias.FRESH, call=call)

    def reshape(self, *shape: object) -> RecordedArray:
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return _Function("np.reshape", self.recording)(self, given)

    def __getitem__(self, index: object) -> Value | tuple[Value, ...]:
        if self.items:
            return self.items[cast("SupportsIndex | slice", index)]
        parts = cast("tuple[object, ...]", index) if isinstance(index, tuple) else (index,)
        basic = all(part is None or part is ... or isinstance(part, (int, slice)) for part in parts)
        arrays = [part for part in parts if isinstance(part, RecordedArray)]
        copied = any(part.aval is not None and part.aval.ndim for part in arrays)
        pieces: list[Piece] = [*used(self), "["]
        for number, part in enumerate(parts):
            pieces.extend((", ",) if number else ())
            pieces.extend(index_part(part, self.recording))
        pieces.append("]" if parts else "()]")
        alias = Alias.PART if basic else Alias.FRESH if copied else Alias.UNKNOWN
        return _recorded(self.recording, tuple(pieces), None, self, alias)

    def __iter__(self) -> Iterator[Value]:
        if not self.items:
            raise NoSource("the items of an array")
        return iter(self.items)

    def __len__(self) -> int:
        if self.items:
            return len(self.items)
        raise NoSource("the length of an array")

    def _refuse(self, *_args: object) -> NoReturn:
        raise NoSource("the numbers of an array")

    __bool__ = __int__ = __float__ = __index__ = _refuse
    __hash__ = object.__hash__


_METHODS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "**": "__pow__",
    "//": "__floordiv__",
    "%": "__mod__",
    "@": "__matmul__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    "==": "__eq__",
    "!=": "__ne__",
}
"""Python's method for each infix sign."""
_UNARY = {"__neg__": negative, "__abs__": absolute, "__invert__": invert}


def _install_operators() -> None:
    """Record each infix operator as a call of its ufunc."""
    ufuncs = {
        op.text.sign: op.ufunc for op in OPS.values() if isinstance(op.text, Infix) and op.ufunc
    }
    for sign, ufunc in ufuncs.items():
        method = _METHODS[sign]

        def forward(self: RecordedArray, other: object, _ufunc: str = ufunc) -> RecordedArray:
            return _Function(f"np.{_ufunc}", self.recording)(self, other)

        def reflected(self: RecordedArray, other: object, _ufunc: str = ufunc) -> RecordedArray:
            return _Function(f"np.{_ufunc}", self.recording)(other, self)

        setattr(RecordedArray, method, forward)
        setattr(RecordedArray, f"__r{method.removeprefix('__')}", reflected)
    for name, function in _UNARY.items():

        def unary(self: RecordedArray, _ufunc: str = function.op.ufunc) -> RecordedArray:
            return _Function(f"np.{_ufunc}", self.recording)(self)

        setattr(RecordedArray, name, unary)


_install_operators()

_RESULTS = {FREXP.name: 2, "linalg.slogdet": 2, "linalg.qr": 2, "linalg.eigh": 2, "linalg.svd": 3}
"""How many results a function has, where it has several."""
_AXIS_OF_ONE = frozenset(["amax", "amin", "mean", "expand_dims", "squeeze"])
"""Functions, beside reductions, that take a number as `axis` for a tuple of one."""
# NumPy 2.4 warns where these get `out` as a third position.
_OUT_BY_KEYWORD = frozenset((f"np.{maximum.op.ufunc}", f"np.{minimum.op.ufunc}"))
_TAKING_OUT = frozenset(("np.clip", "np.concatenate", "np.stack", "xp.chosen", "xp.row_sums"))
"""Functions that are no ufuncs and write their result to a given array of its dtype."""
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*\Z", re.IGNORECASE)


class _Function:
    """A function of the namespace: calling it records the call."""

    def __init__(self, name: str, recording: Recording) -> None:
        self._name = name
        self._recording = recording

    def __call__(self, *args: object, **kwargs: object) -> RecordedArray:
        recording = self._recording
        short = self._name.partition(".")[2]
        name = self._name
        op = OPS.get(short)
        if recording.fast and op is not None and op.reduces and len(args) == 1:
            # `np.add.reduce` has half the overhead of `np.sum`, which matters on small arrays.
            name = f"np.{op.reduces}.reduce"
            kwargs.setdefault("axis", None)
        if short in _AXIS_OF_ONE or (op is not None and op.reduces):
            _simplify_axis(kwargs)
        special = NUMPY.special if name.startswith("special.") else None
        ufunc = ufunc_named(name, special)
        own = Alias.FRESH if ufunc is not None else alias_of(name)
        if kwargs.get("copy", True) is False:
            own = Alias.UNKNOWN
        elif op is EINSUM and len(args) > 2:
            own = Alias.FRESH  # Two operands are multiplied; one may come back as a view.
        known = [arg.aval if isinstance(arg, Value) else arg for arg in args]
        aval = result_of(short, ufunc, known, kwargs)
        out = ""
        if ufunc is not None and not kwargs and len(args) == ufunc.nin:
            out = ", out=" if name in _OUT_BY_KEYWORD else ", "
        place = out or _place_of(name, kwargs)
        if recording.fast and aval is not None:
            args = _with_typed_numbers(ufunc, args, known, aval)
        pieces = self._call_pieces(name, args, kwargs)
        base = args[0] if args else None
        plain = tuple([None if isinstance(arg, Value) else arg for arg in args])
        call = Call(name, plain, kwargs)
        value = _recorded(recording, pieces, aval, base, own, out, place, call)
        return _with_items(value, short, kwargs)

    def _call_pieces(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Pieces:
        pieces: list[Piece] = [f"{name}("]
        for number, arg in enumerate(args):
            pieces.extend((", ",) if number else ())
            pieces.extend(source_of(arg, self._recording))
        for number, (key, value) in enumerate(kwargs.items()):
            pieces.append(f"{', ' if number or args else ''}{key}=")
            pieces.extend(source_of(value, self._recording))
        return (*pieces, ")")

    def __getattr__(self, name: str) -> _Function:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        return _Function(f"{self._name}.{name}", self._recording)


def _place_of(name: str, kwargs: Mapping[str, object]) -> str:
    """How a product of matrices or a reduction is given a buffer that is no operand's."""
    if name.endswith(".reduce"):
        return ", out=" if set(kwargs) <= {"axis", "keepdims", "initial"} else ""
    if name in _TAKING_OUT:
        return ", out=" if set(kwargs) <= {"axis", "keepdims"} else ""
    found = getattr(np, name.partition(".")[2], None) if name.startswith("np.") else None
    product = isinstance(found, np.ufunc) and found.nout == 1 and found.signature
    return ", " if product and not kwargs else ""


def _with_typed_numbers(
    ufunc: np.ufunc | None, args: tuple[object, ...], known: Sequence[object], aval: Aval
) -> tuple[object, ...]:
    """Python numbers among arguments become 0-d arrays of the dtype they are used in.

    A call with a Python number takes a third longer, and needs buffers where NumPy takes the number
    for float64.
    """
    dtypes = (None if ufunc is None else dtypes_in_loop(ufunc, known)) or [aval.dtype] * len(args)
    return tuple(
        [
            _scalar(type(arg), repr(arg), dtype) if type(arg) in (int, float) else arg
            for arg, dtype in zip(args, dtypes, strict=False)
        ]
    )


@lru_cache(maxsize=1024)
def _scalar(kind: type, text: str, dtype: np.dtype[Any]) -> Tabled:
    """One array for equal numbers, so that they share a name."""
    value = np.array(kind(text), dtype)
    value.flags.writeable = False
    return Tabled(value)


def _simplify_axis(kwargs: dict[str, object]) -> None:
    """Write `axis=(0,)` as `axis=0`, and leave out `keepdims=False`."""
    axis = kwargs.get("axis")
    if isinstance(axis, tuple) and len(cast("tuple[object, ...]", axis)) == 1:
        (kwargs["axis"],) = cast("tuple[object, ...]", axis)
    if kwargs.get("keepdims") is False:
        del kwargs["keepdims"]


def _with_items(value: RecordedArray, short: str, kwargs: Mapping[str, object]) -> RecordedArray:
    """The result of a call, with its items where the function gives a tuple."""
    plain = kwargs.get("compute_uv", True) and kwargs.get("mode", "reduced") == "reduced"
    count = _RESULTS.get(short, 0) if plain else 0
    fresh = Alias.FRESH
    value.items = tuple(
        [
            RecordedArray(value.recording, (*value.pieces, f"[{i}]"), fresh, None, own=fresh)
            for i in range(count)
        ]
    )
    return value


class RecordingNamespace:
    """The namespace a kernel sees: functions record their calls, constants are themselves."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def special(self) -> _Function:
        return _Function("special", self._recording)

    # For these NumPy's arrays have a method, an attribute and brackets.
    def astype(self, x: RecordedArray, dtype: DTypeLike) -> RecordedArray:
        return x.astype(dtype)

    def dtype_of(self, x: RecordedArray) -> np.dtype[Any]:
        return x.dtype

    def getitem(self, x: RecordedArray, index: object) -> Value | tuple[Value, ...]:
        return x[index]

    def __getattr__(self, name: str) -> object:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        if callable(getattr(Namespace, name, None)):
            return _Function(f"xp.{name}", self._recording)
        value = getattr(np, name)
        if isinstance(value, (type, float, type(None))):
            return value
        return _Function(f"np.{name}", self._recording)


def _recorded(
    recording: Recording,
    pieces: Pieces,
    aval: Aval | None,
    base: object,
    own: Alias,
    out: str = "",
    place: str = "",
    call: Call | None = None,
) -> RecordedArray:
    """The result of a call, added to the recording; `base` is the first argument."""
    recording.steps.append(pieces)
    recording.uses.append(0)
    step = (EarlierResult(len(recording.steps) - 1),)
    if isinstance(base, Value):
        alias = composed(own, base.alias, of_operand=base.operand)
    else:
        alias = composed(own, None, of_operand=False)
    value = RecordedArray(recording, step, alias, aval, own=own, out=out, place=place, call=call)
    recording.values.append(value)
    return value
