"""Static values that are not known yet: axes, shapes and dtypes while a rule is only being read.

A rule is called once with pattern variables, to learn its two sides. A value that it computes from
them in plain Python, such as `x.shape[axis]` or `joined(inner, outer)`, becomes a `Deferred`: a
recipe, evaluated when the variables are bound. A rule cannot branch on a deferred value, for its
two sides must be the same for all operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeAlias, TypeVar, cast

from ..errors import RuleError

__all__ = ["Deferred", "Environment", "settled", "static"]

Environment = Mapping[str, Any]
"""Values of a rule's variables: arrays and static parameters by name."""

P = ParamSpec("P")
R = TypeVar("R")


class Deferred:
    """A value that will be computed from the bound variables.

    Parameters
    ----------
    text : str
        The value as the catalogue of rules prints it.
    compute : callable
        Gives the value from the environment.
    """

    __slots__ = ("compute", "text")

    def __init__(self, text: str, compute: Callable[[Environment], Any]) -> None:
        self.text = text
        self.compute = compute

    def __repr__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> Deferred:
        if name.startswith("__"):
            raise AttributeError(name)
        return Deferred(f"{self.text}.{name}", lambda env: getattr(self.compute(env), name))

    def __getitem__(self, index: object) -> Deferred:
        return Deferred(
            f"{self.text}[{index!r}]", lambda env: self.compute(env)[settled(index, env)]
        )

    def __call__(self, *args: object, **kwargs: object) -> Deferred:
        shown = ", ".join(map(repr, args))
        return Deferred(
            f"{self.text}({shown})",
            lambda env: self.compute(env)(*settled(args, env), **settled(kwargs, env)),
        )

    def __neg__(self) -> Deferred:
        return Deferred(f"-{self.text}", lambda env: -self.compute(env))

    def _undecided(self) -> NoReturn:
        raise RuleError(
            f"A rule branches on {self.text}, which is known only where the rule is applied.",
            mend="State the condition with provided(...), or write one rule for each case.",
        )

    def __bool__(self) -> bool:
        self._undecided()

    def __len__(self) -> int:
        self._undecided()

    def __iter__(self) -> NoReturn:
        self._undecided()

    def __index__(self) -> int:
        self._undecided()

    __hash__ = object.__hash__


_Method: TypeAlias = Callable[[Deferred, object], Deferred]


def _infix(symbol: str, function: Callable[[Any, Any], Any]) -> tuple[_Method, _Method]:
    """The methods of an infix operator: with the deferred value on the left, and on the right."""

    def forward(self: Deferred, other: object) -> Deferred:
        return Deferred(
            f"({self.text} {symbol} {other!r})",
            lambda env: function(self.compute(env), settled(other, env)),
        )

    def reflected(self: Deferred, other: object) -> Deferred:
        return Deferred(
            f"({other!r} {symbol} {self.text})",
            lambda env: function(settled(other, env), self.compute(env)),
        )

    return forward, reflected


for _name, _symbol in {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
}.items():
    _function = cast(
        "Callable[[Any, Any], Any]", getattr(operator, f"__{_name}__", None) or operator.and_
    )
    _forward, _reflected = _infix(_symbol, _function)
    setattr(Deferred, f"__{_name}__", _forward)
    setattr(Deferred, f"__r{_name}__", _reflected)

for _name, _symbol in {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}.items():
    setattr(Deferred, f"__{_name}__", _infix(_symbol, getattr(operator, _name))[0])


def settled(value: object, env: Environment) -> Any:
    """`value` with all deferred values computed, in tuples, lists, dicts and slices too."""
    if isinstance(value, Deferred):
        return value.compute(env)
    if isinstance(value, tuple):
        return tuple([settled(item, env) for item in cast("tuple[Any, ...]", value)])
    if isinstance(value, list):
        return [settled(item, env) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: settled(item, env) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, slice):
        return slice(settled(value.start, env), settled(value.stop, env), settled(value.step, env))
    return value


def _any_deferred(values: Iterable[object]) -> bool:
    for value in values:
        if isinstance(value, Deferred):
            return True
        if isinstance(value, (tuple, list)) and _any_deferred(cast("Iterable[object]", value)):
            return True
    return False


def static(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of axes, shapes and dtypes be used inside rules.

    While a rule is being read, the result is deferred. Where the rule is applied, the function is
    simply called.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not _any_deferred((*args, *kwargs.values())):
            return function(*args, **kwargs)
        shown = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
        plain = cast("Callable[..., Any]", function)
        later = Deferred(
            f"{function.__name__}({shown})",
            lambda env: plain(*settled(args, env), **settled(kwargs, env)),
        )
        return cast("R", later)

    return call
