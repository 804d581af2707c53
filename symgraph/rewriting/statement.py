"""Rules as users state them: a typed function that returns both sides of an identity.

    @rule(sound="rounding")
    def log_of_exp(x: Real) -> Identity:
        r"Log of exp is the identity on the reals."
        return log(exp(x)), x

Its parameters are pattern variables, its annotations are guards, and both sides are built with the
functions that users call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    TypedDict,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ..array import Array
from ..errors import RuleError
from .conditions import StatedConditions, reading_rule
from .guards import Guard, ParamKind
from .left_sides import shipped_left_side
from .pattern import (
    OpPattern,
    Pattern,
    PatternArray,
    Static,
    StaticVariable,
    Variable,
    as_pattern,
    variables_of,
)
from .rule import SOUNDNESS, Rule, Soundness, Statement

__all__ = ["rule"]

Guards: TypeAlias = Mapping[str, Any]


def rule(
    *,
    sound: Soundness,
    earned: Mapping[Soundness, Guards] | None = None,
    measure: str = "",
    stable: str = "",
    priority: int = 0,
    limit: str = "",
    kink: str = "",
) -> Callable[[Callable[..., Any]], Rule]:
    """Declare the identity that a typed function states.

    Parameters
    ----------
    sound : "exact", "rounding" or "domain"
        Equal bit for bit; equal in exact arithmetic wherever the left side is defined; equal where
        the left side is defined.
    earned : mapping, optional
        Better grades under further guards: `earned={"rounding": {"x": Nonzero}}`.
    measure : str, optional
        The quantity the rule lowers, where it is not the number of operations.
    stable : str, optional
        Where the right side keeps digits or range that the left side loses. Such a rule need not
        lower the cost.
    priority : int, optional
        Rules of higher priority are tried first.
    limit : str, optional
        The convention at infinite operands, where the left side is NaN and the right side is
        neither NaN nor the limit of the left.
    kink : str, optional
        Where the derivatives of the two sides differ by convention; the rule is then not used
        before differentiating. If it begins with "everywhere", derivatives are not compared.

    Raises
    ------
    RuleError
        If the function is not an identity: an annotation is missing, the left side is not an
        operation, a variable of the right side is not bound by the left side, or the function
        branches on a variable.

    Examples
    --------
    >>> from symgraph.rewriting import Real, rule
    >>> @rule(sound="rounding")
    ... def log_of_exp(x: Real):
    ...     return snp.log(snp.exp(x)), x
    >>> print(log_of_exp)
    log(exp(x)) → x
    """

    def declare(function: Callable[..., Any]) -> Rule:
        return _rule_of(
            function,
            sound,
            earned or {},
            measure=measure,
            stable=stable,
            priority=priority,
            limit=limit,
            kink=kink,
        )

    return declare


class _Remarks(TypedDict):
    """Parameters of `rule` that a `Rule` takes as they are."""

    measure: str
    stable: str
    priority: int
    limit: str
    kink: str


def _rule_of(
    function: Callable[..., Any],
    sound: Soundness,
    earned: Mapping[Soundness, Guards],
    **remarks: Unpack[_Remarks],
) -> Rule:
    name = getattr(function, "__name__", "rule")
    if sound not in SOUNDNESS:
        raise RuleError(f"Rule {name} is sound={sound!r}.", mend=f"Choose one of {SOUNDNESS}.")
    shipped = shipped_left_side(function, name)
    read = partial(_stated, name, function)
    return Rule(
        name=name,
        function=function,
        sound=sound,
        # What is wrong with a rule is told where it is declared.
        statement=read if shipped else read(),
        earned={
            grade: {each: _guards_in(hint) for each, hint in guards.items()}
            for grade, guards in earned.items()
        },
        shipped=shipped,
        **remarks,
    )


def _stated(name: str, function: Callable[..., Any]) -> Statement:
    variables, statics = _parameters(name, function)
    lhs, rhs, reading = _read(name, function, variables, statics)
    bound = variables_of(lhs)
    unbound = [each.name for each in (*variables, *statics) if each.name not in bound]
    if unbound:
        raise RuleError(
            f"Rule {name}: nothing on the left binds {', '.join(unbound)}.",
            [f"{lhs} → {rhs}"],
            mend="Each parameter must occur by itself on the left side.",
        )
    return Statement(lhs, rhs, variables, statics, tuple(reading.conditions), tuple(reading.facts))


def _parameters(
    name: str, function: Callable[..., Any]
) -> tuple[tuple[Variable, ...], tuple[Static, ...]]:
    hints = _annotations(function)
    variables: list[Variable] = []
    statics: list[Static] = []
    for parameter in _parameter_names(function):
        hint = hints.get(parameter)
        told = _annotation(hint)
        if hint is None:
            raise RuleError(
                f"Rule {name}: parameter {parameter} has no annotation.",
                mend="Annotate it with Array, a guard such as Positive, or Axes.",
            )
        if told.kinds:
            statics.append(Static(parameter, told.kinds[0]))
        elif told.of is Array:
            variables.append(Variable(parameter, told.guards))
        else:
            raise RuleError(f"Rule {name}: {parameter} is annotated {hint}, which is not a guard.")
    return tuple(variables), tuple(statics)


def _annotations(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The annotations of the parameters, evaluated.

    Most are names of the function's module, such as `Real`. To look these up takes a fifth of the
    time that evaluating them takes, and a process does it for some 600 rules.
    """
    if not isinstance(function, FunctionType):
        return get_type_hints(function, include_extras=True)
    known: dict[str, Any] = function.__globals__
    found: dict[str, Any] = {}
    for parameter, hint in function.__annotations__.items():
        if parameter != "return":
            found[parameter] = known.get(hint) if isinstance(hint, str) else None
    if None in found.values():
        return get_type_hints(function, include_extras=True)
    return found


def _parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters, in order."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__
        if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(function).parameters)


class _Annotation(NamedTuple):
    """The parsed annotation of a parameter."""

    hint: object
    of: object
    kinds: tuple[ParamKind, ...] = ()
    guards: tuple[Guard, ...] = ()


_annotations_read: dict[int, _Annotation] = {}
"""Rules share a few annotations, such as `Real`. Each is read once, and known by its identity."""


def _annotation(hint: object) -> _Annotation:
    found = _annotations_read.get(id(hint))
    if found is None:
        of, *told = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        kinds = tuple([each for each in told if isinstance(each, ParamKind)])
        guards = tuple([each for each in told if isinstance(each, Guard)])
        found = _annotations_read[id(hint)] = _Annotation(hint, of, kinds, guards)
    return found


def _guards_in(hint: object) -> tuple[Guard, ...]:
    """The guards of an annotation, or of a tuple of annotations."""
    hints = cast("tuple[object, ...]", hint if isinstance(hint, tuple) else (hint,))
    return tuple([guard for each in hints for guard in _annotation(each).guards])


def _read(
    name: str,
    function: Callable[..., Any],
    variables: tuple[Variable, ...],
    statics: tuple[Static, ...],
) -> tuple[OpPattern, Pattern, StatedConditions]:
    """Both sides as patterns, and the conditions that the function states."""
    arguments: dict[str, Any] = {each.name: PatternArray(each) for each in variables}
    arguments.update({each.name: StaticVariable(each.name, each.kind) for each in statics})
    try:
        with reading_rule() as reading:
            sides = function(**arguments)
    except RuleError as error:
        raise RuleError(f"Rule {name}: {error.what}", error.rows, error.mend) from error
    if not isinstance(sides, tuple) or len(cast("tuple[Any, ...]", sides)) != 2:
        raise RuleError(f"Rule {name} does not return (left, right).")
    left, right = cast("tuple[Any, Any]", sides)
    lhs = as_pattern(left)
    if not isinstance(lhs, OpPattern):
        raise RuleError(f"Rule {name}: its left side is {lhs}, which is not an operation.")
    return lhs, as_pattern(right), reading
