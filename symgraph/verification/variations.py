"""Variations of the text of a rule: each breaks it in one place, as a syntax tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeGuard, TypeVar

from .. import numpy as snp
from ..ir.op import OPS
from ..ops.carrying import carries_reduced
from ..records import record

__all__ = ["Variation", "variations"]

Tree = TypeVar("Tree", bound=ast.AST)

_OPERATORS: dict[type[ast.AST], tuple[type[Any], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow)


@record
class Variation:
    """A function changed in one place, and the changed line as it reads now."""

    tree: ast.FunctionDef
    line: str


def variations(
    tree: ast.FunctionDef,
    namespace: dict[str, Any],
    arrays: Sequence[str],
    statics: Mapping[str, str],
) -> Iterator[Variation]:
    """All ways to break the function in one place; new names are added to the namespace.

    Parameters
    ----------
    tree : ast.FunctionDef
    namespace : dict
        The values of the names in its text.
    arrays : sequence of str
        Its array parameters: on the right side one may replace another.
    statics : mapping
        The kind of each other parameter: "axes", "flag", ...
    """
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    editor = _Editor(namespace, arrays, statics)
    for statement in body:
        if _is_condition(statement):
            yield Variation(_with(tree, statement, ast.Pass()), f"without {ast.unparse(statement)}")
        right = _right_side(statement)
        inside = set(ast.walk(right)) if right is not None else set[ast.AST]()
        idle = {each.value for each in ast.walk(statement) if _is_strict(each)}
        for place in ast.walk(statement):
            if place in idle:
                continue
            for new in editor.replacements(place, place is right, place in inside):
                line = " ".join(ast.unparse(_with(statement, place, new)).split())
                yield Variation(_with(tree, place, new), line)


def _with(whole: Tree, place: ast.AST, new: ast.AST) -> Tree:
    """A copy of a syntax tree with one node replaced."""
    return deepcopy(whole, {id(place): new})


def _is_strict(place: ast.AST) -> TypeGuard[ast.keyword]:
    """Whether this is `strict=` of `zip`, which can only change whether an error is raised."""
    return isinstance(place, ast.keyword) and place.arg == "strict"


def _is_condition(statement: ast.stmt) -> bool:
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    called = statement.value.func
    return isinstance(called, ast.Name) and called.id in ("provided", "holds")


def _right_side(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
        return statement.value.elts[-1]
    return None


class _Editor:
    """Finds the replacements of a node of the syntax tree."""

    def __init__(
        self, namespace: dict[str, Any], arrays: Sequence[str], statics: Mapping[str, str]
    ) -> None:
        self.namespace = namespace
        self.arrays = arrays
        self.statics = statics

    def replacements(self, place: ast.AST, is_right: bool, on_right: bool) -> Iterator[ast.AST]:
        if is_right and isinstance(place, ast.expr) and not isinstance(place, ast.Constant):
            yield ast.UnaryOp(ast.USub(), place)
        match place:
            case ast.Call():
                yield from self._of_call(place)
            case ast.BinOp(left, op, right):
                for other in _OPERATORS.get(type(op), ()):
                    yield ast.BinOp(left, other(), right)
                if isinstance(op, _ORDERED):
                    yield ast.BinOp(right, op, left)
                if isinstance(op, ast.BitAnd):
                    yield from (left, right)
            case ast.UnaryOp(_, operand) if not isinstance(operand, ast.Constant):
                yield operand
            case ast.BoolOp(op, values):
                for other in _OPERATORS.get(type(op), ()):
                    yield ast.BoolOp(other(), values)
            case ast.Compare(left, [op], rest):
                for other in _OPERATORS.get(type(op), ()):
                    yield ast.Compare(left, [other()], rest)
            case ast.Constant(value) if isinstance(value, (bool, int, float)):
                yield from map(ast.Constant, _numbers(value))
            case ast.Name(name, ast.Load()):
                yield from self._of_name(name, on_right)
            case _:
                pass

    def _of_call(self, call: ast.Call) -> Iterator[ast.AST]:
        if not isinstance(call.func, ast.Name) or call.func.id in ("provided", "holds"):
            return
        function = self.namespace.get(call.func.id, getattr(builtins, call.func.id, None))
        if call.func.id == "applied":
            yield from _of_applied(call)
            name = str(getattr(call.args[0], "value", ""))
        else:
            name = _public_name(function)
            for other in _relatives(name):
                yield ast.Call(self._called(other), call.args, call.keywords)
            if name and len(call.args) == 1 and not call.keywords:
                yield call.args[0]
            commutes = name in OPS and OPS[name].traits.commutative
            if len(call.args) >= 2 and not commutes:
                *rest, one, other_one = call.args
                yield ast.Call(call.func, [*rest, other_one, one], call.keywords)
        yield from self._of_keywords(call, name)
        if function in (all, any):
            yield ast.Call(ast.Name("any" if function is all else "all", ast.Load()), call.args, [])

    def _of_keywords(self, call: ast.Call, name: str) -> Iterator[ast.AST]:
        given = {each.arg: each.value for each in call.keywords}
        for key, value in given.items():
            rest = [each for each in call.keywords if each.arg != key]
            if key == "keepdims":
                flipped = isinstance(value, ast.Constant) and value.value is True
                for new in [False] if flipped else [True, False]:
                    yield _call_with(call, rest, key, ast.Constant(new))
            if key == "axis" and isinstance(value, ast.Name):
                plural = self.statics.get(value.id) == "axes"
                last = ast.UnaryOp(ast.USub(), ast.Constant(1))
                yield _call_with(call, rest, key, ast.Tuple([last], ast.Load()) if plural else last)
                if plural:
                    most = ast.Slice(upper=last)
                    yield _call_with(call, rest, key, ast.Subscript(value, most, ast.Load()))
        if name in OPS and OPS[name].carries is carries_reduced and "keepdims" not in given:
            yield _call_with(call, call.keywords, "keepdims", ast.Constant(True))

    def _of_name(self, name: str, on_right: bool) -> Iterator[ast.AST]:
        if name in self.statics:
            kind = self.statics[name]
            for other, its_kind in self.statics.items():
                if other != name and its_kind == kind:
                    yield ast.Name(other, ast.Load())
        elif name in self.arrays and on_right:
            for other in self.arrays:
                if other != name:
                    yield ast.Name(other, ast.Load())

    def _called(self, name: str) -> ast.Name:
        """A name for a function of `symgraph.numpy`, added to the namespace."""
        function = getattr(snp, name)
        free = name not in self.namespace and not hasattr(builtins, name)
        called = name if free or self.namespace.get(name) is function else f"snp_{name}"
        self.namespace[called] = function
        return ast.Name(called, ast.Load())


def _call_with(call: ast.Call, rest: list[ast.keyword], key: str, value: ast.expr) -> ast.Call:
    return ast.Call(call.func, call.args, [*rest, ast.keyword(key, value)])


def _of_applied(call: ast.Call) -> Iterator[ast.AST]:
    first, *rest = call.args
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        for other in _relatives(first.value):
            if other in OPS:
                yield ast.Call(call.func, [ast.Constant(other), *rest], call.keywords)


def _relatives(name: str) -> tuple[str, ...]:
    """The names in `symgraph.numpy` of functions that are easily mistaken for this one."""
    return OPS[name].mistaken_for if name in OPS else ()


def _public_name(function: object) -> str:
    """The function's name in `symgraph.numpy`; empty if it has none."""
    name = getattr(function, "__name__", "")
    return name if name and getattr(snp, name, None) is function else ""


def _numbers(value: bool | int | float) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    others = {0: (1,), 1: (2, 0), 2: (3,), 0.5: (2, 1)}
    return others.get(value, (value + 1,))
