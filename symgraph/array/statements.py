"""Advice where a symbol decides: conditions, assertions, loops, checks, ways out of loops."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator

from ..source import Frame, user_frame, users_frame
from .advice import user_expression

__all__ = ["instead_of_condition", "instead_of_mask", "instead_of_statement"]

_ASSERTED = (
    "State what is known of an input as a fact, as in sg.spec(3, assume=sg.positive), and lower "
    "with check_facts=True to have it checked."
)
_CHECKED = (
    "Check numbers outside of the traced function; where a NaN is looked for, sg.grad(f, "
    'debug="nan") and lower(debug="nan") tell the operation that gave it.'
)
_LEFT = "A loop that ends by a condition is sg.while_loop."
_ELEMENTWISE = "choose elementwise with np.where(condition, a, b)"
_CHOSEN = f"C{_ELEMENTWISE[1:]}, or a branch with sg.cond."


def instead_of_statement(frame: Frame | None) -> str:
    """What to write instead of the statement on the user's line, of which a symbol is the test."""
    line = "" if frame is None else frame.text
    if line.startswith("assert "):
        return _ASSERTED
    if line.startswith("while "):
        return _LEFT
    match _last_of_body(frame):
        case ast.Raise():
            return _CHECKED
        case ast.Break():
            return _LEFT
        case _:
            return _CHOSEN


def _last_of_body(frame: Frame | None) -> ast.stmt | None:
    """The last statement below the `if` that begins on the line; None if none begins there."""
    if frame is None or not frame.text.startswith(("if ", "elif ")):
        return None
    block = textwrap.dedent("".join(_block(frame.file, frame.line)))
    try:
        found = ast.parse(block.removeprefix("el")).body
    except (SyntaxError, ValueError):  # a line that was edited since
        return None
    return found[0].body[-1] if found and isinstance(found[0], ast.If) else None


def _block(file: str, line: int) -> Iterator[str]:
    """A line, and those below that are indented deeper."""
    first = linecache.getline(file, line)
    yield first
    while below := linecache.getline(file, line := line + 1):
        if below.strip() and _indent(below) <= _indent(first):
            return
        yield below


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# -- masks -----------------------------------------------------------------------------------------
def instead_of_mask() -> str:
    """What to write where a symbolic mask selects: `np.where`, for `y[m] *= 2` with its names."""
    frame, found = user_frame(), user_expression(users_frame())
    if found is None or not isinstance(found.node, ast.Subscript):
        return _KEPT
    read = ast.dump(found.node.slice)
    try:
        statements = ast.parse("" if frame is None else frame.text).body
    except (SyntaxError, ValueError):  # a part of a statement
        return _KEPT
    match statements:
        case [ast.AugAssign(target=ast.Subscript() as target, op=op, value=value)]:
            whole: ast.expr = ast.BinOp(target, op, value)
        case [ast.Assign(targets=[ast.Subscript() as target], value=whole)]:
            pass
        case _:
            return _KEPT
    if ast.dump(target.slice) != read or isinstance(target.slice, ast.Tuple):
        return _KEPT
    mask, array = ast.unparse(target.slice), ast.unparse(target.value)
    chosen = ast.unparse(_Unmasked(target.slice).visit(whole))
    return f"Keep the shape: {array} = np.where({mask}, {chosen}, {array})."


_KEPT = "Keep the shape: np.where(mask, x, 0), or multiply by the mask."


class _Unmasked(ast.NodeTransformer):
    """Takes `[mask]` away from arrays."""

    def __init__(self, mask: ast.expr) -> None:
        self._mask = ast.dump(mask)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node.value if ast.dump(node.slice) == self._mask else self.generic_visit(node)


# -- conditions ------------------------------------------------------------------------------------
def instead_of_condition(line: str, is_truth: bool = True) -> str:
    """What to write instead of `and`, `or`, `not` and `a < b < c`; empty for a plain condition.

    Parameters
    ----------
    line : str
        The user's line: the running expression is one side of `and` there.
    is_truth : bool
        Whether the symbol is boolean. Of a number, `x or y` is x or y, and no truth value.
    """
    found = user_expression(users_frame())
    if found is None:
        return ""
    whole = _around(found.node, line)
    match whole:
        case ast.BoolOp(op=op, values=[one, other]) if not is_truth:
            pair = (one, other) if isinstance(op, ast.Or) else (other, one)
            chosen = ", ".join([ast.unparse(each) for each in pair])
            return f"Of a number write np.where({_in_parentheses(one)} != 0, {chosen})."
        case ast.BoolOp() if not is_truth:
            return ""
        case ast.BoolOp(op=op, values=values):
            sign = " & " if isinstance(op, ast.And) else " | "
            joined = sign.join([_in_parentheses(each) for each in values])
        case ast.Compare(left=first, ops=ops, comparators=others) if len(ops) > 1:
            pairs = zip((first, *others), ops, others, strict=False)
            joined = " & ".join(
                [f"({ast.unparse(ast.Compare(a, [op], [b]))})" for a, op, b in pairs]
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            shown = _in_parentheses(operand)
            joined = f"~{shown}" if is_truth else f"{shown} == 0"
        case _:
            return ""
    goes_on = "end the loop by sg.while_loop" if line.startswith("while ") else _ELEMENTWISE
    return f"Of arrays write {joined}, and {goes_on}."


def _in_parentheses(node: ast.expr) -> str:
    alone = isinstance(node, (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.Constant))
    return ast.unparse(node) if alone else f"({ast.unparse(node)})"


def _around(node: ast.expr, line: str) -> ast.expr:
    """The `and` or `or` of a line that an expression is part of; otherwise the expression."""
    try:
        statement = ast.parse(f"{line} pass" if line.endswith(":") else line)
    except (SyntaxError, ValueError):  # a part of a statement, as `elif` is
        return node
    sought = ast.dump(node)
    for each in ast.walk(statement):
        if isinstance(each, ast.BoolOp) and sought in map(ast.dump, each.values):
            return each
    return node
