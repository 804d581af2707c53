"""The names a kernel is run on: its calls are noted instead of made.

A call tells what its result is (`shapes`) and whether it is a new array or a view of its argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn, cast

import numpy as np

from ..ir.avals import Aval
from ..ir.op import OPS
from ..ir.traits import Infix
from ..namespace import NUMPY, Namespace
from ..ops.choice import maximum, minimum
from ..ops.comparison import invert
from ..ops.contraction import EINSUM
from ..ops.elementwise import absolute, negative
from ..ops.floats import FREXP
from .kernel_sizes import Size
from .pieces import Alias, Dimension, EarlierResult, NotSpelled, Piece, Pieces, Tabled
from .shapes import dtypes_in_loop, result_of, ufunc_named
from .sharing import alias_of, composed

__all__ = [
    "Recorded",
    "Recording",
    "RecordingNamespace",
    "spelled",
    "written",
]


# -- the names a kernel sees -----------------------------------------------------------------------
@dataclass
class Recording:
    """The calls a kernel made so far, and how often each result was used."""

    fast: bool = False
    steps: list[Pieces] = field(default_factory=list[Pieces])
    terms: list[Recorded] = field(default_factory=list["Recorded"])
    uses: list[int] = field(default_factory=list[int])
    sizes_asked: bool = False

    def note_size(self) -> None:
        self.sizes_asked = True


class Recorded:
    """An array inside a kernel: a name; what is called on it is noted.

    `alias` is what the value shares with the operands of the kernel, `own` what it shares with the
    arguments of its own call.
    """

    # An array or number on the left must not take the term for an object of its own.
    __array_ufunc__ = None

    def __init__(
        self,
        recording: Recording,
        pieces: Pieces,
        alias: Alias,
        aval: Aval | None,
        *,
        own: Alias = Alias.WHOLE,
        out: str = "",
        operand: bool = False,
    ) -> None:
        self.recording = recording
        self.pieces = pieces
        self.alias = alias
        self.aval = aval
        self.own = own
        self.out = out
        self.operand = operand
        self.items: tuple[Recorded, ...] = ()

    def _known(self) -> Aval:
        if self.aval is None:
            raise NotSpelled("the shape of an intermediate result")
        return self.aval

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self._as_size(dim) for dim in self._known().shape)

    @property
    def ndim(self) -> int:
        return self._known().ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._known().dtype

    @property
    def size(self) -> Any:
        return self._as_size(self._known().size)

    def _as_size(self, dim: Any) -> Any:
        return dim if isinstance(dim, int) else Size(dim, self.recording.note_size)

    @property
    def T(self) -> Recorded:
        aval = None if self.aval is None else self.aval.with_shape(self.aval.shape[::-1])
        return _noted(self.recording, (*written(self), ".T"), aval, self, Alias.WHOLE)

    def astype(self, dtype: Any) -> Recorded:
        target = np.dtype(dtype)
        if self.aval is not None and self.aval.dtype == target and self.own is Alias.FRESH:
            return self  # A new array already: casting would only copy it again.
        aval = None if self.aval is None else self.aval.with_dtype(target)
        pieces = (*written(self), ".astype(", *spelled(target, self.recording), ")")
        return _noted(self.recording, pieces, aval, self, Alias.FRESH)

    def reshape(self, *shape: Any) -> Recorded:
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return _Function("np.reshape", self.recording)(self, given)

    def __getitem__(self, index: Any) -> Any:
        if self.items:
            return self.items[index]
        parts = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        basic = all(part is None or part is ... or isinstance(part, (int, slice)) for part in parts)
        arrays = [part for part in parts if isinstance(part, Recorded)]
        copied = any(part.aval is not None and part.aval.ndim for part in arrays)
        pieces: list[Piece] = [*written(self), "["]
        for number, part in enumerate(parts):
            pieces.extend((", ",) if number else ())
            pieces.extend(_index_part(part, self.recording))
        pieces.append("]" if parts else "()]")
        alias = Alias.PART if basic else Alias.FRESH if copied else Alias.UNKNOWN
        return _noted(self.recording, tuple(pieces), None, self, alias)

    def __iter__(self) -> Iterator[Recorded]:
        if not self.items:
            raise NotSpelled("the items of an array")
        return iter(self.items)

    def __len__(self) -> int:
        if self.items:
            return len(self.items)
        raise NotSpelled("the length of an array")

    def _refuse(self, *_args: Any) -> NoReturn:
        raise NotSpelled("the numbers of an array")

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
"""Python's methods for its signs."""
_UNARY = {"__neg__": negative, "__abs__": absolute, "__invert__": invert}


def _install_operators() -> None:
    """Infix operators are noted as the ufuncs they are."""
    written = {
        op.text.sign: op.ufunc for op in OPS.values() if isinstance(op.text, Infix) and op.ufunc
    }
    for sign, ufunc in written.items():
        method = _METHODS[sign]

        def forward(self: Recorded, other: Any, _ufunc: str = ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self.recording)(self, other)

        def reflected(self: Recorded, other: Any, _ufunc: str = ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self.recording)(other, self)

        setattr(Recorded, method, forward)
        setattr(Recorded, f"__r{method.removeprefix('__')}", reflected)
    for name, function in _UNARY.items():

        def unary(self: Recorded, _ufunc: str = function.op.ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self.recording)(self)

        setattr(Recorded, name, unary)


_install_operators()

_ITEMS = {FREXP.name: 2, "linalg.slogdet": 2, "linalg.qr": 2, "linalg.eigh": 2, "linalg.svd": 3}
_AXIS_OF_ONE = frozenset(["amax", "amin", "mean", "expand_dims", "squeeze"])
# NumPy 2.4 warns of a third position.
_OUT_BY_KEYWORD = frozenset((f"np.{maximum.op.ufunc}", f"np.{minimum.op.ufunc}"))
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*\Z", re.IGNORECASE)


class _Function:
    """A function of the namespace: calling it notes the call."""

    def __init__(self, name: str, recording: Recording) -> None:
        self._name = name
        self._recording = recording

    def __call__(self, *args: Any, **kwargs: Any) -> Recorded:
        recording = self._recording
        short = self._name.partition(".")[2]
        name = self._name
        op = OPS.get(short)
        if recording.fast and op is not None and op.reduces and len(args) == 1:
            # Half the overhead of the function in front, which matters on small arrays.
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
            own = Alias.FRESH  # One operand may come back as a view, two are multiplied.
        known = [arg.aval if isinstance(arg, Recorded) else arg for arg in args]
        aval = result_of(short, ufunc, known, kwargs)
        out = ""
        if ufunc is not None and not kwargs and len(args) == ufunc.nin:
            out = ", out=" if name in _OUT_BY_KEYWORD else ", "
        if recording.fast and aval is not None:
            args = _with_constants(ufunc, args, known, aval)
        pieces = self._call_pieces(name, args, kwargs)
        base = args[0] if args else None
        return _with_items(_noted(recording, pieces, aval, base, own, out), short, kwargs)

    def _call_pieces(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pieces:
        pieces: list[Piece] = [f"{name}("]
        for number, arg in enumerate(args):
            pieces.extend((", ",) if number else ())
            pieces.extend(spelled(arg, self._recording))
        for number, (key, value) in enumerate(kwargs.items()):
            pieces.append(f"{', ' if number or args else ''}{key}=")
            pieces.extend(spelled(value, self._recording))
        return (*pieces, ")")

    def __getattr__(self, name: str) -> _Function:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        return _Function(f"{self._name}.{name}", self._recording)


def _with_constants(
    ufunc: np.ufunc | None, args: tuple[Any, ...], known: Sequence[Any], aval: Aval
) -> tuple[Any, ...]:
    """Numbers as 0-d arrays of the dtype they are used in.

    A Python number costs a third more each call, and buffers where NumPy takes it for float64.
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
    """One object for equal numbers, so that they share a name."""
    value = np.array(kind(text), dtype)
    value.flags.writeable = False
    return Tabled(value)


def _simplify_axis(kwargs: dict[str, Any]) -> None:
    axis = kwargs.get("axis")
    if isinstance(axis, tuple) and len(cast("Any", axis)) == 1:
        (kwargs["axis"],) = cast("tuple[Any, ...]", axis)
    if kwargs.get("keepdims") is False:
        del kwargs["keepdims"]


def _with_items(term: Recorded, short: str, kwargs: dict[str, Any]) -> Recorded:
    """Functions of several results: the items of their tuple."""
    plain = kwargs.get("compute_uv", True) and kwargs.get("mode", "reduced") == "reduced"
    count = _ITEMS.get(short, 0) if plain else 0
    term.items = tuple(
        [
            Recorded(term.recording, (*term.pieces, f"[{i}]"), Alias.FRESH, None, own=Alias.FRESH)
            for i in range(count)
        ]
    )
    return term


class RecordingNamespace:
    """The namespace a kernel sees: functions note their calls, values are themselves."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def special(self) -> Any:
        return _Function("special", self._recording)

    # These are noted as what NumPy's own arrays have for them.
    def astype(self, x: Recorded, dtype: Any) -> Recorded:
        return x.astype(dtype)

    def dtype_of(self, x: Recorded) -> np.dtype[Any]:
        return x.dtype

    def getitem(self, x: Recorded, index: Any) -> Any:
        return x[index]

    def __getattr__(self, name: str) -> Any:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        if callable(getattr(Namespace, name, None)):
            return _Function(f"xp.{name}", self._recording)
        value = getattr(np, name)
        if isinstance(value, (type, float, type(None))):
            return value
        return _Function(f"np.{name}", self._recording)


def _noted(
    recording: Recording, pieces: Pieces, aval: Aval | None, base: Any, own: Alias, out: str = ""
) -> Recorded:
    recording.steps.append(pieces)
    recording.uses.append(0)
    step = (EarlierResult(len(recording.steps) - 1),)
    known = isinstance(base, Recorded)
    alias = composed(own, base.alias if known else None, of_operand=known and base.operand)
    term = Recorded(recording, step, alias, aval, own=own, out=out)
    recording.terms.append(term)
    return term


# -- spelling values -------------------------------------------------------------------------------
def written(term: Recorded) -> Pieces:
    """A term's own pieces, counted as used."""
    for piece in term.pieces:
        if isinstance(piece, EarlierResult):
            term.recording.uses[piece.index] += 1
    return term.pieces


def spelled(value: Any, recording: Recording) -> Pieces:
    """The source of an argument.

    Raises
    ------
    NotSpelled
        If it has none; `_tabled` then looks it up by name.
    """
    if isinstance(value, Recorded):
        return written(value)
    if isinstance(value, Tabled):
        return (value,)
    if isinstance(value, Size):
        return (Dimension(value.expr),)
    if value is None or isinstance(value, (bool, int)):
        return (repr(value),)
    if type(value) is float:
        return (_float_text(value),)
    if isinstance(value, np.dtype):
        return (f"np.{np.dtype(value).name if value.kind != 'b' else 'bool_'}",)
    if isinstance(value, type) and issubclass(value, np.generic):
        return spelled(np.dtype(value), recording)
    if isinstance(value, str):
        if re.fullmatch(r"[A-Za-z0-9_,>. -]*", value):
            return (f'"{value}"',)
        raise NotSpelled("text")
    if isinstance(value, (tuple, list)):
        items = list(cast("tuple[Any, ...]", value))
        if any(item is ... or isinstance(item, slice) for item in items):
            return _index_written(items, recording)
        pieces: list[Piece] = ["(" if isinstance(value, tuple) else "["]
        for number, item in enumerate(items):
            pieces.extend((", ",) if number else ())
            pieces.extend(spelled(item, recording))
        pieces.append("]" if isinstance(value, list) else ",)" if len(items) == 1 else ")")
        return tuple(pieces)
    raise NotSpelled(type(value).__name__)


def _index_written(parts: list[Any], recording: Recording) -> Pieces:
    """An index that is passed on: slices are written only between brackets."""
    pieces: list[Piece] = ["np.s_["]
    for number, part in enumerate(parts):
        pieces.extend((", ",) if number else ())
        pieces.extend(_index_part(part, recording))
    return (*pieces, "]")


def _float_text(value: float) -> str:
    if value != value:
        return "np.nan"
    if value in (float("inf"), float("-inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _index_part(part: Any, recording: Recording) -> Pieces:
    if part is ...:
        return ("...",)
    if not isinstance(part, slice):
        return spelled(part, recording)
    ends = [() if end is None else spelled(end, recording) for end in (part.start, part.stop)]
    step = () if part.step is None else (":", *spelled(part.step, recording))
    return (*ends[0], ":", *ends[1], *step)
