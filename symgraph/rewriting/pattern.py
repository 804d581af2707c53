"""Patterns: both sides of a rule as data, and matching one of them at a node.

A rule is an ordinary function on arrays. Called with `PatternArray`s, it gives its two sides as
trees of operations, operands and params. These trees serve matching, indexing and the printed
catalogue.

Matching is structural. A variable stands for the same node wherever it occurs. A number stands for
a constant of that value, bit by bit, so 0 is not -0.0. Commutative operations are tried in both
orders, so no rule states commutativity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, NoReturn, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from ..array import Array, apply
from ..errors import RuleError
from ..ir.node import Node
from ..ir.op import OPS, Op
from ..ir.traits import Arrangement, Infix, Prefix
from ..notation.node_text import ATOM, UNARY
from ..records import record
from .deferred import Deferred, settled
from .guards import Guard, ParamKind, uniform_value

__all__ = [
    "Bindings",
    "Literal",
    "OpPattern",
    "Opaque",
    "Pattern",
    "PatternArray",
    "Variable",
    "applied",
    "building",
    "instantiated",
    "matches",
    "subterms",
    "variables_of",
]

P = ParamSpec("P")
R = TypeVar("R")


@record
class Variable:
    """Stands for any node that passes its guards."""

    name: str
    guards: tuple[Guard, ...] = ()

    def __str__(self) -> str:
        return self.name


@record
class Static:
    """Stands for a param: axes, a shape, a dtype."""

    name: str
    kind: ParamKind


@record(eq=False)
class Literal:
    """A number: it stands for a constant whose elements all have this value."""

    value: Any

    def __str__(self) -> str:
        return f"{self.value!r}" if not isinstance(self.value, np.ndarray) else f"{self.value}"


@record(eq=False)
class Opaque:
    """A part of a right side that only a call of the rule can build, such as a dimension's size."""

    text: str

    def __str__(self) -> str:
        return self.text


@record(eq=False)
class OpPattern:
    """An operation on patterns."""

    op: Op
    operands: tuple[Pattern, ...]
    params: Mapping[str, Any]

    def __str__(self) -> str:
        return _shown(self)


Pattern: TypeAlias = "Variable | Literal | OpPattern | Opaque"

Bindings: TypeAlias = dict[Any, Any]
"""The result of matching: nodes and params by variable name, constants by `Literal`, and True for
each `OpPattern` whose operands are swapped."""


class PatternArray(Array):
    """An array parameter of a rule while it is being read: arithmetic on it gives patterns."""

    __slots__ = ("pattern",)

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def _deferred(self, attribute: str) -> Any:
        pattern = self.pattern
        return Deferred(
            f"{pattern}.{attribute}",
            lambda env: getattr(instantiated(pattern, env, {}), attribute),
        )

    @property
    def node(self) -> NoReturn:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise RuleError(
            "A rule looks at the node of one of its variables.",
            mend="Build both sides with functions on arrays; ask for facts with holds(x, fact).",
        )

    @property
    def aval(self) -> Any:
        return self._deferred("aval")

    @property
    def shape(self) -> Any:
        return self._deferred("shape")

    @property
    def dtype(self) -> Any:
        return self._deferred("dtype")

    @property
    def ndim(self) -> Any:
        return self._deferred("ndim")

    @property
    def size(self) -> Any:
        return self._deferred("aval").size

    @classmethod
    def _apply(cls, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        return PatternArray(OpPattern(op, tuple(as_pattern(each) for each in operands), params))

    def _overwritten(self, value: object) -> Any:
        return value  # A pattern has no memory, so `x += y` binds the name to the sum.

    def __len__(self) -> int:
        raise RuleError(
            "A rule asks for the length of a variable, but shapes are not known while it is read."
        )

    def __repr__(self) -> str:
        return f"{self.pattern}"


def as_pattern(value: object) -> Pattern:
    """The pattern of an operand inside a rule.

    Raises
    ------
    RuleError
        If it is an array that is neither a variable nor a constant.
    """
    if isinstance(value, PatternArray):
        return value.pattern
    if isinstance(value, Deferred):
        return Opaque(value.text)
    if isinstance(value, Array):
        if not value.node.is_constant:
            raise RuleError(f"A rule uses the array {value!r}, which is not one of its variables.")
        return Literal(value.node.params["value"])
    return Literal(value)


def building(function: Callable[P, R]) -> Callable[P, R]:
    """Let a right side use a function that needs known shapes, such as a count of elements."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given: list[Any] = [*args, *kwargs.values()]
        if any(isinstance(each, (PatternArray, Deferred)) for each in given):
            shown = ", ".join(
                str(each.pattern) if isinstance(each, PatternArray) else repr(each)
                for each in given
            )
            return cast("R", PatternArray(Opaque(f"{function.__name__}({shown})")))
        return function(*args, **kwargs)

    return call


def subterms(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and all patterns inside it."""
    stack: list[Pattern] = [pattern]
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, OpPattern):
            stack.extend(reversed(top.operands))


def variables_of(pattern: Pattern) -> set[str]:
    """The names that matching the pattern binds: of arrays, and of params that stand alone."""
    names: set[str] = set()
    for part in subterms(pattern):
        if isinstance(part, Variable):
            names.add(part.name)
        elif isinstance(part, OpPattern):
            names.update(
                value.text for value in part.params.values() if isinstance(value, StaticVariable)
            )
    return names


class StaticVariable(Deferred):
    """A parameter of a rule that stands for a param of an operation."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: ParamKind) -> None:
        super().__init__(name, lambda env: env[name])
        self.name = name
        self.kind = kind


# -- matching --------------------------------------------------------------------------------------
_Goals: TypeAlias = "tuple[Pattern, Node, _Goals] | None"


def matches(pattern: OpPattern, node: Node) -> Iterator[Bindings]:
    """Each way in which the pattern fits the node.

    Params that the rule computes or writes out are not compared here. They are compared when
    `instantiated` rebuilds the left side, which must be the node.
    """
    return _solve((pattern, node, None), {})


def _solve(goals: _Goals, found: Bindings) -> Iterator[Bindings]:
    # The recursion is at most as deep as the pattern has commutative operations.
    while goals is not None:
        pattern, node, goals = goals
        if isinstance(pattern, OpPattern):
            if node.op is not pattern.op or len(node.operands) != len(pattern.operands):
                return
            if pattern.params and not _params_fit(pattern, node, found):
                return
            operands = node.operands
            if pattern.op.traits.commutative and operands[0] is not operands[1]:
                for swapped in (False, True):
                    one, other = (1, 0) if swapped else (0, 1)
                    branch = dict(found)
                    if swapped:
                        branch[pattern] = True
                    rest: _Goals = (pattern.operands[1], operands[other], goals)
                    yield from _solve((pattern.operands[0], operands[one], rest), branch)
                return
            for part, operand in zip(reversed(pattern.operands), reversed(operands), strict=True):
                goals = (part, operand, goals)
        elif isinstance(pattern, Variable):
            if found.setdefault(pattern.name, node) is not node:
                return
        elif isinstance(pattern, Literal):
            if not _is_number(node, pattern):
                return
            found[pattern] = node
        else:
            return
    yield found


def _params_fit(pattern: OpPattern, node: Node, found: Bindings) -> bool:
    actual = node.params
    for name, wanted in pattern.params.items():
        if isinstance(wanted, StaticVariable):
            if name not in actual:
                return False
            value = actual[name]
            if wanted.name not in found:
                found[wanted.name] = value
            elif not _same(found[wanted.name], value):
                return False
        elif isinstance(wanted, bool) and actual.get(name, wanted) is not wanted:
            return False
    return True


def _same(one: object, other: object) -> bool:
    if one is other:
        return True
    if type(one) is not type(other) or isinstance(one, np.ndarray):
        return False
    try:
        return bool(one == other)
    except ValueError:  # An index array stands in a tuple: it counts as different.
        return False


def _is_number(node: Node, literal: Literal) -> bool:
    if not (node.is_constant or node.op.traits.arrangement is Arrangement.REPEATED):
        return False
    actual = uniform_value(node)
    return actual is not None and actual.tobytes() == _bytes(literal, actual.dtype)


@lru_cache(maxsize=4096)
def _bytes(literal: Literal, dtype: np.dtype[Any]) -> bytes | None:
    """The bytes of the number in this dtype; None if the dtype lacks the number."""
    try:
        with np.errstate(invalid="ignore"):  # no whole number is infinite
            wanted = np.asarray(literal.value).astype(dtype)
    except (OverflowError, ValueError):
        return None
    # -1 as uint8 would be 255, but a number stands only for itself.
    return wanted.tobytes() if bool(wanted == literal.value) else None


# -- building --------------------------------------------------------------------------------------
def instantiated(pattern: Pattern, env: Mapping[str, Any], found: Bindings) -> Any:
    """The array that the pattern describes for the values in `env`, with the matched constants.

    Raises
    ------
    ShapeError, DTypeError
        If the operations do not fit the values.
    RuleError
        If a part can only be built by calling the rule.
    """
    if isinstance(pattern, Variable):
        return env[pattern.name]
    if isinstance(pattern, Literal):
        node = found.get(pattern)
        return pattern.value if node is None else Array(node)
    if isinstance(pattern, Opaque):
        raise RuleError(f"{pattern} cannot stand on the left side of a rule.")
    operands = [instantiated(each, env, found) for each in pattern.operands]
    if pattern in found:
        operands.reverse()
    return apply(pattern.op, *operands, **settled(dict(pattern.params), env))


# -- printing --------------------------------------------------------------------------------------
def _strength(pattern: Pattern) -> int:
    """The precedence of the printed pattern."""
    written = pattern.op.text if isinstance(pattern, OpPattern) else None
    if isinstance(written, Prefix):
        return UNARY
    return written.binding if isinstance(written, Infix) else ATOM


def _shown(term: OpPattern) -> str:
    written = term.op.text
    if isinstance(written, Prefix):
        inner = term.operands[0]
        shown = f"{inner}" if _strength(inner) >= UNARY else f"({inner})"
        return f"{written.sign}{shown}"
    if isinstance(written, Infix) and len(term.operands) == 2:
        left, right = term.operands
        shown_left = f"{left}" if _strength(left) >= written.binding else f"({left})"
        shown_right = f"{right}" if _strength(right) > written.binding else f"({right})"
        return f"{shown_left} {written.sign} {shown_right}"
    parts = [str(each) for each in term.operands]
    parts += [
        f"{key}={value!r}"
        for key, value in term.params.items()
        if value is not None and value is not False
    ]
    return f"{term.op.name}({', '.join(parts)})"


def applied(name: str, *operands: object, **params: object) -> Array:
    """The operation called `name` on the operands, with params passed on unread.

    It serves rules whose params stand for any value, such as `keepdims=keepdims`: the functions
    that users call would branch on them.

    Raises
    ------
    RuleError
        If there is no such operation.
    """
    if name not in OPS:
        raise RuleError(f"There is no operation {name!r}.")
    return apply(OPS[name], *operands, **params)
