"""What a kernel says in NumPy's words, found by running it on names instead of arrays.

A kernel is written against an array namespace. Given a namespace that notes calls instead of making them,
it writes its own source: `lambda xp, x: xp.sum(x, axis=-1)` becomes `np.sum(v1, axis=-1)`. The outermost
call also tells whether the result is a new array or a view of an operand, which decides what may be
overwritten. A kernel that looks at values or branches on named sizes cannot be written down; it is then
called by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np

from ..dag import Node
from ..namespace import Namespace

__all__ = ["Alias", "Dimension", "Operand", "Piece", "Spelling", "Step", "Tabled", "called_by_name", "spell"]


class Alias(Enum):
    """What memory a result has in common with the operands."""

    FRESH = "a new array"
    WHOLE = "a writable view of all of an operand, or the operand itself"
    PART = "a view that overlaps itself, leaves out elements, or is read-only"
    RESHAPE = "a view of all of the operand if its layout allows, else a new array"
    UNKNOWN = "anything"


@dataclass(frozen=True, slots=True)
class Operand:
    """Stands for the name of an operand."""

    index: int


@dataclass(frozen=True, slots=True)
class Step:
    """Stands for the result of an earlier step of the same kernel."""

    index: int


@dataclass(frozen=True, slots=True)
class Dimension:
    """Stands for the size of a dimension that is not known before the call."""

    expr: Any


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """Stands for a value that source cannot spell; it is looked up by name."""

    value: Any
    prefix: str = "c"


Piece: TypeAlias = "str | Operand | Step | Dimension | Tabled"
Pieces: TypeAlias = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """The source of one node.

    Parameters
    ----------
    steps : tuple of pieces
        Lines to run first; empty unless the kernel uses an intermediate result twice.
    pieces : tuple
        The expression of the result.
    aliases : tuple of Alias
        One a result.
    out : str
        How a place for the result is passed to the outermost call: `""` (it is not), `", "` or `", out="`.
    named : bool
        Whether the kernel is called by name, because it cannot be written down.
    """

    steps: tuple[Pieces, ...]
    pieces: Pieces
    aliases: tuple[Alias, ...]
    out: str = ""
    named: bool = False


class NotSpelled(Exception):
    """The kernel needs more than names."""


# -- the names a kernel sees ---------------------------------------------------------------------------
@dataclass
class _Recording:
    fast: bool = False
    steps: list[Pieces] = field(default_factory=list[Pieces])
    uses: list[int] = field(default_factory=list[int])


class _Size:
    """A named dimension inside a kernel: it can be passed on and calculated with, but not asked."""

    def __init__(self, expr: Any) -> None:
        self.expr = expr

    def __add__(self, other: Any) -> _Size:
        return _Size(self.expr + _expr(other))

    def __sub__(self, other: Any) -> _Size:
        return _Size(self.expr - _expr(other))

    def __rsub__(self, other: Any) -> _Size:
        return _Size(_expr(other) - self.expr)

    def __mul__(self, other: Any) -> _Size:
        return _Size(self.expr * _expr(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def _refuse(self, *_args: Any) -> NoReturn:
        raise NotSpelled("the size of a named dimension")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __index__ = __int__ = __float__ = __hash__ = _refuse  # pyright: ignore


def _expr(value: Any) -> Any:
    if isinstance(value, _Size):
        return value.expr
    if type(value) is int:
        return value
    raise NotSpelled("arithmetic with the size of a named dimension")


def _as_size(dim: Any) -> Any:
    return dim if isinstance(dim, int) else _Size(dim)


def _with_sizes(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_with_sizes(item) for item in cast("tuple[Any, ...]", value)])
    return _Size(value) if hasattr(value, "free_symbols") else value


class _Term:
    """An array inside a kernel: a name, noted calls may be made on it."""

    # Higher than ndarray's: a constant on the left must not take the term for an object.
    __array_ufunc__ = None

    def __init__(
        self, recording: _Recording, pieces: Pieces, alias: Alias, out: str = "", node: Any = None
    ) -> None:
        self._recording = recording
        self._pieces = pieces
        self._alias = alias
        self._out = out
        self._node: Node | None = node
        self._items: tuple[_Term, ...] = ()

    def _known(self) -> Node:
        if self._node is None:
            raise NotSpelled("the shape of an intermediate result")
        return self._node

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(_as_size(dim) for dim in self._known().shape)

    @property
    def ndim(self) -> int:
        return self._known().ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._known().dtype

    @property
    def size(self) -> Any:
        return _as_size(self._known().aval.size)

    @property
    def T(self) -> _Term:
        return self._method(".T", Alias.WHOLE)

    def _method(self, suffix: str, alias: Alias) -> _Term:
        pieces = (*_written(self, self._recording), suffix)
        return _noted(self._recording, pieces, _composed(self, alias))

    def astype(self, dtype: Any) -> _Term:
        text = "".join(_text(piece) for piece in _spelled(np.dtype(dtype), self._recording))
        return self._method(f".astype({text})", Alias.FRESH)

    def copy(self) -> _Term:
        return self._method(".copy()", Alias.FRESH)

    def reshape(self, *shape: Any) -> _Term:
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return _Function("np.reshape", self._recording)(self, given)

    def __getitem__(self, index: Any) -> Any:
        if self._items:
            return self._items[index]
        parts = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        basic = all(part is None or part is ... or isinstance(part, (int, slice)) for part in parts)
        pieces: list[Piece] = [*_written(self, self._recording), "["]
        for number, part in enumerate(parts):
            pieces.extend((", ",) if number else ())
            pieces.extend(_index_part(part, self._recording))
        pieces.append("]" if parts else "()]")
        alias = _composed(self, Alias.PART) if basic else Alias.UNKNOWN
        return _noted(self._recording, tuple(pieces), alias)

    def __iter__(self) -> Iterator[_Term]:
        if not self._items:
            raise NotSpelled("the items of an array")
        return iter(self._items)

    def __len__(self) -> int:
        if self._items:
            return len(self._items)
        raise NotSpelled("the length of an array")

    def _refuse(self, *_args: Any) -> NoReturn:
        raise NotSpelled("the numbers of an array")

    __bool__ = __int__ = __float__ = __index__ = _refuse
    __hash__ = object.__hash__


def _install_operators() -> None:
    """Infix operators are noted as the ufuncs they are."""
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
        "floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul", "and": "bitwise_and",
        "or": "bitwise_or", "xor": "bitwise_xor", "lt": "less", "le": "less_equal",
        "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
    }  # fmt: skip
    for symbol, ufunc in binary.items():

        def forward(self: _Term, other: Any, _ufunc: str = ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self._recording)(self, other)

        def reflected(self: _Term, other: Any, _ufunc: str = ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self._recording)(other, self)

        setattr(_Term, f"__{symbol}__", forward)
        setattr(_Term, f"__r{symbol}__", reflected)
    for symbol, ufunc in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():

        def unary(self: _Term, _ufunc: str = ufunc) -> Any:
            return _Function(f"np.{_ufunc}", self._recording)(self)

        setattr(_Term, f"__{symbol}__", unary)


_install_operators()

_FRESH = frozenset(
    "sum prod max min amax amin any all mean var std argmax argmin cumsum cumprod sort argsort where take "
    "take_along_axis concatenate stack tile full zeros ones empty arange eye array tril triu outer kron "
    "dot matmul tensordot copy repeat clip searchsorted nan_to_num count_nonzero bincount convolve "
    "full_like zeros_like ones_like select median trace pad roll lexsort isin sinc "
    "linalg.inv linalg.solve linalg.cholesky linalg.det linalg.slogdet linalg.qr linalg.svd linalg.eigh "
    "linalg.eigvalsh linalg.pinv linalg.norm linalg.svdvals linalg.lstsq".split()
)
_WHOLE = frozenset(
    "transpose swapaxes moveaxis expand_dims squeeze matrix_transpose permute_dims flip rot90".split()
)
_PART = frozenset("broadcast_to diagonal linalg.diagonal".split())
_RESHAPE = frozenset("reshape ravel".split())
_ITEMS = {"linalg.slogdet": 2, "linalg.qr": 2, "linalg.eigh": 2, "linalg.svd": 3}
_AXIS_OF_ONE = frozenset("sum prod max min amax amin any all mean expand_dims squeeze".split())
# Half the overhead of the function in front of them, which matters on small arrays.
_REDUCE = {
    "sum": "np.add.reduce",
    "prod": "np.multiply.reduce",
    "max": "np.maximum.reduce",
    "min": "np.minimum.reduce",
}
_OUT_BY_KEYWORD = frozenset(("np.maximum", "np.minimum"))  # NumPy 2.4 warns of a third position.
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*\Z", re.IGNORECASE)


def _alias_of(name: str) -> Alias:
    short = name.partition(".")[2]
    if short in _FRESH or _ufunc(name) is not None or short.endswith((".reduce", ".accumulate")):
        return Alias.FRESH
    if short in _WHOLE:
        return Alias.WHOLE
    if short in _PART:
        return Alias.PART
    return Alias.RESHAPE if short in _RESHAPE else Alias.UNKNOWN


def _composed(base: Any, alias: Alias) -> Alias:
    """What a function's result shares with the kernel's operands, given what its argument does."""
    if alias in (Alias.FRESH, Alias.UNKNOWN):
        return alias
    if not isinstance(base, _Term):
        return Alias.UNKNOWN
    inner = base._alias  # pyright: ignore[reportPrivateUsage]
    if base._node is not None:  # pyright: ignore[reportPrivateUsage]
        return alias  # The argument is an operand itself.
    if inner is Alias.FRESH:
        return Alias.UNKNOWN if alias is Alias.PART else Alias.FRESH
    if alias is Alias.RESHAPE or inner not in (Alias.WHOLE, Alias.PART):
        return Alias.UNKNOWN
    return Alias.PART if Alias.PART in (alias, inner) else Alias.WHOLE


def _ufunc(name: str) -> np.ufunc | None:
    """The ufunc of one result that `name` stands for."""
    module, _, function = name.partition(".")
    if module not in ("np", "special"):
        return None
    found = getattr(np if module == "np" else import_module("scipy.special"), function, None)
    return found if isinstance(found, np.ufunc) and found.nout == 1 and not found.signature else None


class _Function:
    """A function of the namespace: calling it notes the call."""

    def __init__(self, name: str, recording: _Recording) -> None:
        self._name = name
        self._recording = recording

    def __call__(self, *args: Any, **kwargs: Any) -> _Term:
        short = self._name.partition(".")[2]
        fast = self._recording.fast and short in _REDUCE and len(args) == 1
        name = _REDUCE[short] if fast else self._name
        if fast:
            kwargs.setdefault("axis", None)
        axis = kwargs.get("axis")
        if short in _AXIS_OF_ONE and isinstance(axis, tuple):
            axes = cast("tuple[Any, ...]", axis)
            kwargs["axis"] = axes[0] if len(axes) == 1 else axes
        if short in _AXIS_OF_ONE and kwargs.get("keepdims") is False:
            del kwargs["keepdims"]
        pieces: list[Piece] = [f"{name}("]
        for number, arg in enumerate(args):
            pieces.extend((", ",) if number else ())
            pieces.extend(_spelled(arg, self._recording))
        for number, (key, value) in enumerate(kwargs.items()):
            pieces.append(f"{', ' if number or args else ''}{key}=")
            pieces.extend(_spelled(value, self._recording))
        pieces.append(")")
        ufunc = _ufunc(name)
        out = ""
        if ufunc is not None and not kwargs and len(args) == ufunc.nin:
            out = ", out=" if name in _OUT_BY_KEYWORD else ", "
        alias = _alias_of(name) if kwargs.get("copy", True) is not False else Alias.UNKNOWN
        alias = _composed(args[0] if args else None, alias)
        if alias is Alias.UNKNOWN and short == "einsum" and len(args) > 2:
            alias = Alias.FRESH  # One operand may come back as a view, two are multiplied.
        term = _noted(self._recording, tuple(pieces), alias, out)
        count = _ITEMS.get(short, 0) if kwargs.get("compute_uv", True) else 0
        if count and kwargs.get("mode", "reduced") in ("reduced", "complete"):
            step = term._pieces
            term._items = tuple(  # pyright: ignore[reportPrivateUsage]
                _Term(self._recording, (*step, f"[{i}]"), Alias.FRESH) for i in range(count)
            )
        return term

    def __getattr__(self, name: str) -> _Function:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        return _Function(f"{self._name}.{name}", self._recording)


class _Names:
    """The namespace a kernel sees: NumPy's functions note their calls, its values are themselves."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    @property
    def special(self) -> Any:
        return _Function("special", self._recording)

    def __getattr__(self, name: str) -> Any:
        if not _PLAIN_NAME.match(name):
            raise AttributeError(name)
        if callable(getattr(Namespace, name, None)):
            return _Function(f"xp.{name}", self._recording)
        value = getattr(np, name)
        if isinstance(value, (type, float, type(None))):
            return value
        return _Function(f"np.{name}", self._recording)


def _noted(recording: _Recording, pieces: Pieces, alias: Alias, out: str = "") -> _Term:
    recording.steps.append(pieces)
    recording.uses.append(0)
    return _Term(recording, (Step(len(recording.steps) - 1),), alias, out)


# -- spelling values -----------------------------------------------------------------------------------
def _written(term: _Term, recording: _Recording) -> Pieces:
    """A term's own pieces, counted as used."""
    if term._recording is not recording:  # pyright: ignore[reportPrivateUsage]
        raise NotSpelled("a value from another kernel")
    for piece in term._pieces:  # pyright: ignore[reportPrivateUsage]
        if isinstance(piece, Step):
            recording.uses[piece.index] += 1
    return term._pieces  # pyright: ignore[reportPrivateUsage]


def _spelled(value: Any, recording: _Recording) -> Pieces:
    """The source of an argument.

    Raises
    ------
    NotSpelled
        If it has none; `_tabled` then looks it up by name.
    """
    if isinstance(value, _Term):
        return _written(value, recording)
    if isinstance(value, _Size):
        return (Dimension(value.expr),)
    if value is None or isinstance(value, (bool, int)):
        return (repr(value),)
    if type(value) is float:
        return (_float_text(value),)
    if isinstance(value, np.dtype):
        return (f"np.{np.dtype(value).name if value.kind != 'b' else 'bool_'}",)
    if isinstance(value, type) and issubclass(value, np.generic):
        return _spelled(np.dtype(value), recording)
    if isinstance(value, str):
        if re.fullmatch(r"[A-Za-z0-9_,>. -]*", value):
            return (f'"{value}"',)
        raise NotSpelled("text")
    if isinstance(value, (tuple, list)):
        items = list(cast("tuple[Any, ...]", value))
        pieces: list[Piece] = ["(" if isinstance(value, tuple) else "["]
        for number, item in enumerate(items):
            pieces.extend((", ",) if number else ())
            pieces.extend(_spelled(item, recording))
        pieces.append("]" if isinstance(value, list) else ",)" if len(items) == 1 else ")")
        return tuple(pieces)
    raise NotSpelled(type(value).__name__)


def _float_text(value: float) -> str:
    if value != value:
        return "np.nan"
    if value in (float("inf"), float("-inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _index_part(part: Any, recording: _Recording) -> Pieces:
    if part is ...:
        return ("...",)
    if not isinstance(part, slice):
        return _spelled(part, recording)
    ends = [() if end is None else _spelled(end, recording) for end in (part.start, part.stop)]
    step = () if part.step is None else (":", *_spelled(part.step, recording))
    return (*ends[0], ":", *ends[1], *step)


def _text(piece: Piece) -> str:
    assert isinstance(piece, str)
    return piece


# -- one node ------------------------------------------------------------------------------------------
def spell(node: Node, *, fast: bool = False) -> Spelling:
    """The source of `node`: its kernel's own calls, or a call of the kernel by name.

    With `fast`, reductions are written as the ufunc methods they are, which cost less to call.
    """
    recording = _Recording(fast)
    terms = [_operand(recording, index, each) for index, each in enumerate(node.operands)]
    params = {name: _with_sizes(value) for name, value in node.params.items()}
    try:
        result = node.op.kernel(_Names(recording), *terms, **params)
        return _finished(recording, result, node)
    except Exception:
        # Whatever stops a kernel that has only names: it runs on arrays then, called by name.
        return called_by_name(node, (Alias.UNKNOWN,) * len(node.results))


def called_by_name(node: Node, aliases: tuple[Alias, ...]) -> Spelling:
    """`k0(xp, v1, axis=-1)`; params that source cannot spell are looked up."""
    pieces: list[Piece] = [Tabled(node.op.kernel, "k"), "(xp"]
    for index in range(len(node.operands)):
        pieces.extend((", ", Operand(index)))
    for name, value in node.params.items():
        pieces.append(f", {name}=")
        try:
            pieces.extend(_spelled(_with_sizes(value), _Recording()))
        except NotSpelled:
            pieces.append(Tabled(value))
    pieces.append(")")
    return Spelling((), tuple(pieces), aliases, named=True)


def _operand(recording: _Recording, index: int, node: Node) -> Any:
    if len(node.results) == 1:
        return _Term(recording, (Operand(index),), Alias.WHOLE, node=node)
    term = _Term(recording, (Operand(index),), Alias.WHOLE)
    term._items = tuple(  # pyright: ignore[reportPrivateUsage]
        _Term(recording, (Operand(index), f"[{i}]"), Alias.WHOLE) for i in range(len(node.results))
    )
    return term


def _finished(recording: _Recording, result: Any, node: Node) -> Spelling:
    out = ""
    if len(node.results) == 1 and type(result) is _Term:
        pieces, aliases, out = _written(result, recording), (result._alias,), result._out
    elif len(node.results) > 1 and isinstance(result, _Term) and result._items:
        pieces, aliases = _written(result, recording), (Alias.FRESH,) * len(node.results)
    elif isinstance(result, tuple) and len(cast("Any", result)) == len(node.results):
        items = cast("tuple[_Term, ...]", result)
        pieces, aliases = _spelled(items, recording), tuple([item._alias for item in items])
        if len({item._pieces for item in items}) < len(items):
            aliases = (Alias.UNKNOWN,) * len(items)
    else:
        raise NotSpelled("a result that no call of the namespace made")
    if all(count == 1 for count in recording.uses):
        return Spelling((), _inlined(pieces, recording.steps), aliases, out)
    return Spelling(tuple(recording.steps), pieces, aliases)


def _inlined(pieces: Pieces, steps: list[Pieces]) -> Pieces:
    whole: list[Pieces] = []
    for step in steps:  # Each step refers to earlier ones only.
        whole.append(_replaced(step, whole))
    return _replaced(pieces, whole)


def _replaced(pieces: Pieces, whole: list[Pieces]) -> Pieces:
    found: list[Piece] = []
    for piece in pieces:
        found.extend(whole[piece.index] if isinstance(piece, Step) else (piece,))
    return tuple(found)
