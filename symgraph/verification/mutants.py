"""Mutants of a rule: each breaks one thing, to test whether the verifier notices.

Both the text and the guards of a rule are broken. A mutant takes a similar operation, another sign,
number, axis or `keepdims`, swaps operands or branches, leaves out a condition, leaves out or
weakens a guard, or claims a better grade. The functions of axes and shapes that the rule calls are
broken in the same ways. A mutant that the verifier passes is either true as well, or shows that the
verifier tests too little (DeMillo, Lipton and Sayward 1978).
"""

from __future__ import annotations
import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any, cast, get_type_hints

from ..array import Array
from ..errors import RuleError
from ..facts import nonnegative, nonpositive, nonzero
from ..records import record
from ..rewriting.guards import Guard, of_fact
from ..rewriting.pattern import Variable
from ..rewriting.rule import Rule, Soundness
from ..rewriting.statement import rule
from .variations import variations

__all__ = ["Mutant", "mutants_of"]

_WEAKER = {"positive": (nonnegative, nonzero), "negative": (nonpositive, nonzero)}
_KINDS = "biuf"


@record
class Mutant:
    """A rule with one thing broken.

    Parameters
    ----------
    of : Rule
        The original rule.
    what : str
        The changed line of text, as it reads now; or the changed guard or grade.
    rule : Rule or None
        The broken rule; None if it cannot be declared.
    """

    of: Rule
    what: str
    rule: Rule | None

    def __str__(self) -> str:
        return f"{self.of.name}: {self.what}"


def mutants_of(rule: Rule) -> Iterator[Mutant]:
    """Every mutant of a rule, each once.

    Raises
    ------
    RuleError
        If the text of the rule cannot be found.
    """
    seen: set[str] = set()
    for found in (_of_text(rule), _of_guards(rule), _of_grades(rule)):
        for mutant in found:
            if mutant.what not in seen:
                seen.add(mutant.what)
                yield mutant


# -- text ------------------------------------------------------------------------------------------
def _of_text(of: Rule) -> Iterator[Mutant]:
    source = _Source(of)
    arrays = [each.name for each in of.variables]
    statics = {each.name: each.kind.name for each in of.statics}
    for changed in variations(source.tree, source.namespace, arrays, statics):
        made = _declared(of, source, changed.tree)
        if made is None or not _alike(made, of):
            yield Mutant(of, changed.line, made)
    for name, helper in source.helpers.items():
        for changed in variations(helper, source.namespace, [], {}):
            made = _declared(of, source, source.tree, changed.tree)
            yield Mutant(of, f"{name}: {changed.line}", made)


def _alike(one: Rule, other: Rule) -> bool:
    """Whether two rules print the same."""
    return (str(one), one.conditions) == (str(other), other.conditions)


class _Source:
    """The text of a rule, and of the functions of its module that it calls."""

    def __init__(self, of: Rule) -> None:
        plain = of.function
        self.hints = get_type_hints(plain, include_extras=True)
        self.tree = _tree(plain, of)
        self.tree.decorator_list = []
        self.tree.returns = None
        for parameter in self.tree.args.args:
            parameter.annotation = None
        closure = inspect.getclosurevars(plain).nonlocals
        self.namespace: dict[str, Any] = {**plain.__globals__, **closure}
        self.helpers: dict[str, ast.FunctionDef] = {}
        self._note_helpers(self.tree, of)

    def _note_helpers(self, tree: ast.FunctionDef, of: Rule) -> None:
        """Collect the functions of the rule's module that `tree` calls, directly or indirectly."""
        waiting = [tree]
        while waiting:
            for each in ast.walk(waiting.pop()):
                name = each.id if isinstance(each, ast.Name) else ""
                called = self.namespace.get(name)
                own = getattr(called, "__module__", None) == of.function.__module__
                if inspect.isfunction(called) and own and name not in self.helpers:
                    self.helpers[name] = _tree(called, of)
                    waiting.append(self.helpers[name])

    def function(
        self, tree: ast.FunctionDef, helper: ast.FunctionDef | None = None
    ) -> Callable[..., Any]:
        """The function that the text defines; `helper` replaces a function that it calls."""
        helpers = [] if helper is None else [*self.helpers.values(), helper]
        module = ast.fix_missing_locations(ast.Module([*helpers, tree], []))
        flags = __future__.annotations.compiler_flag
        namespace = dict(self.namespace)
        exec(compile(module, "<mutant>", "exec", flags, dont_inherit=True), namespace)
        function = cast("Callable[..., Any]", namespace[tree.name])
        function.__annotations__ = self.hints
        return function


def _tree(function: Callable[..., Any], of: Rule) -> ast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        (tree,) = ast.parse(text).body
    except (OSError, SyntaxError, ValueError) as error:
        raise RuleError(
            f"The text of rule {of.name} cannot be found: {error}.",
            mend="Define the rule in a file: its mutants are made from its source.",
        ) from error
    if not isinstance(tree, ast.FunctionDef):
        raise RuleError(
            f"Rule {of.name} is not defined by a def statement.",
            mend="Define it with def: its mutants are made from its source.",
        )
    return tree


def _declared(
    of: Rule, source: _Source, tree: ast.FunctionDef, helper: ast.FunctionDef | None = None
) -> Rule | None:
    """The changed text as a rule of the same grade; None if it cannot be declared."""
    earned: dict[Soundness, dict[str, Any]] = {
        grade: {name: _hint(guards) for name, guards in by_name.items()}
        for grade, by_name in of.earned.items()
    }
    declare = rule(
        sound=of.sound,
        earned=earned,
        measure=of.measure,
        stable=of.stable,
        limit=of.limit,
        kink=of.kink,
    )
    try:
        return declare(source.function(tree, helper))
    except Exception:  # broken text may raise anything
        return None


# -- guards ----------------------------------------------------------------------------------------
def _of_guards(of: Rule) -> Iterator[Mutant]:
    for variable in of.variables:
        for what, guards in _weakened(variable.guards):
            yield Mutant(of, f"{variable.name}: {what}", _with_guards(of, variable, guards))
    for grade, by_name in of.earned.items():
        for name, guards in by_name.items():
            for what, fewer in _weakened(guards):
                earned = {**of.earned, grade: {**by_name, name: fewer}}
                yield Mutant(of, f"[{grade}] {name}: {what}", replace(of, earned=earned))


def _with_guards(of: Rule, variable: Variable, guards: tuple[Guard, ...]) -> Rule:
    variables = tuple(
        replace(each, guards=guards) if each is variable else each for each in of.variables
    )
    return replace(of, statement=replace(of.stated, variables=variables), shipped=None)


def _weakened(guards: tuple[Guard, ...]) -> Iterator[tuple[str, tuple[Guard, ...]]]:
    """The guards with one left out or weakened, each with a description."""
    for guard in guards:
        rest = tuple(each for each in guards if each is not guard)
        if guard.kinds != _KINDS and not guard.facts:
            # Only the dtypes that the guard refuses: on the others the rule is unchanged.
            others = "".join(kind for kind in _KINDS if kind not in guard.kinds)
            yield f"not {guard.name}", (*rest, _of_other_kinds(guard, others))
            continue
        yield f"without {guard.name}", rest
        for fact in guard.facts:
            for less in _WEAKER.get(fact.name, ()):
                yield f"{less} for {guard.name}", (*rest, of_fact(less))


def _of_other_kinds(guard: Guard, kinds: str) -> Guard:
    return Guard(f"not {guard.name}", lambda node, _: node.aval.dtype.kind in kinds, kinds=kinds)


def _hint(guards: tuple[Guard, ...]) -> Any:
    hint: Any = Array
    for guard in guards:
        hint = Annotated[hint, guard]
    return hint


# -- grades ----------------------------------------------------------------------------------------
def _of_grades(of: Rule) -> Iterator[Mutant]:
    """The rule at the next better grade, and without its convention at infinity."""
    better: dict[Soundness, Soundness] = {"rounding": "exact", "domain": "rounding"}
    if of.sound in better:
        claimed = better[of.sound]
        earned = {grade: guards for grade, guards in of.earned.items() if grade != claimed}
        yield Mutant(of, f"sound={claimed!r}", replace(of, sound=claimed, earned=earned))
    if of.limit:
        yield Mutant(of, "without limit", replace(of, limit=""))
