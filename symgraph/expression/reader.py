"""The walk over the syntax tree: a loop that knows a closed list of node kinds."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from ..array import FUNCTIONS, Array, lift
from ..errors import ExpressionError, SymgraphError
from ..facts import Fact
from ..ir.node import Node
from ..ops.creation import input as symbolic_input
from .book_names import advice
from .calls import CALLS, LISTS, METHODS, CallSignature, function_named
from .syntax import AS_PYTHON, column_of, pointed

__all__ = ["ExpressionReader"]

Value: TypeAlias = "Array | int | float"

_LARGEST_INT = 2**53
_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
_OF_NAMESPACES = {**_CONSTANTS, "e": math.e}
"""A plain e is the name of an input, of residuals for example."""
_NAMESPACES = ("np", "numpy", "snp", "math", "special")
_WITHIN = ("np", "numpy", "snp", "scipy", "sp")
_DEFAULT_SHAPE = ("n",)


_BINARY_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY_OPERATORS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ON_NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_KINDS: dict[type[ast.AST], str] = {
    ast.Attribute: "An attribute",
    ast.BinOp: "This operator",
    ast.BoolOp: "`and` or `or`",
    ast.DictComp: "A comprehension",
    ast.GeneratorExp: "A comprehension",
    ast.IfExp: "`if`",
    ast.JoinedStr: "A string",
    ast.Lambda: "A lambda",
    ast.ListComp: "A comprehension",
    ast.SetComp: "A comprehension",
}
_INSTEAD: dict[type[ast.AST], str] = {
    ast.BoolOp: "Combine conditions elementwise with & and |.",
    ast.Not: "Negate a condition elementwise with ~.",
    ast.IfExp: "Choose elementwise with where(condition, a, b).",
    ast.List: "Write lists only in concatenate([...]) and stack([...]).",
    ast.Tuple: "Write one expression, and tuples only in axis=(0, 1) and concatenate((...)).",
}


class ExpressionReader:
    """Reads one expression, and gathers the inputs that it names."""

    def __init__(
        self,
        text: str,
        shapes: Mapping[str, Any],
        dtypes: Mapping[str, Any],
        default_dtype: object,
        facts: Mapping[str, list[Fact]],
    ) -> None:
        self.text = text
        self.shapes = shapes
        self.dtypes = dtypes
        self.default_dtype = default_dtype
        self.facts = facts
        self.inputs: dict[str, Node] = {}

    # -- errors ----------------------------------------------------------------------------------
    def refuse(
        self, node: ast.AST, what: str, mend: str = "", rows: Iterable[str] = ()
    ) -> NoReturn:
        raise ExpressionError(what, [*pointed(self.text, *column_of(self.text, node)), *rows], mend)

    def applied(
        self, node: ast.AST, call: Callable[..., Any], *args: object, **keywords: object
    ) -> Any:
        """The result of a call. Its errors are raised with the column of the node."""
        try:
            return call(*args, **keywords)
        except ExpressionError:
            raise
        except SymgraphError as error:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
                self.refuse(node, "^ combines the bits of integers.", "A power is written x**2.")
            operands = [row.partition("   from ")[0] for row in error.rows if "operand" in row]
            self.refuse(node, error.what, error.mend, operands)
        except ZeroDivisionError:
            self.refuse(node, "Division by zero.")
        except OverflowError:
            self.refuse(node, "This number is too large.")
        except (TypeError, ValueError, IndexError) as error:
            self.refuse(node, f"{error}.".replace("..", "."))

    # -- the walk --------------------------------------------------------------------------------
    def read(self, root: ast.expr) -> Value:
        """The value of the expression. Operands are read before the operations that use them."""
        values: dict[ast.expr, Value] = {}
        stack: list[tuple[ast.expr, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                values[node] = self.combined(node, [values.pop(part) for part in self.parts(node)])
            else:
                stack.append((node, True))
                stack.extend((part, False) for part in reversed(self.parts(node)))
        return values[root]

    def parts(self, node: ast.expr) -> list[ast.expr]:
        """The operands of a syntax node. Kinds that are not on the list are refused."""
        match node:
            case ast.Constant() | ast.Name():
                return []
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY_OPERATORS:
                return [operand]
            case ast.UnaryOp(op=op):
                self.refuse(node, "`not` is not an operation on arrays.", _INSTEAD[ast.Not])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY_OPERATORS:
                return [left, right]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return [left, right]
            case ast.Compare():
                self.refuse(
                    node,
                    "This comparison cannot be read.",
                    "Compare two values with <, <=, >, >=, == or !=; combine with &.",
                )
            case ast.Subscript(value=value):
                return [value]
            case ast.Attribute(value=value, attr="T" | "mT"):
                return [value]
            case ast.Attribute(value=ast.Name(id=space), attr=name) if space in _NAMESPACES:
                if name not in _OF_NAMESPACES:
                    self.refuse(node, f"{space}.{name} is not a number.")
                return []
            case ast.Call():
                return self.operands_of(node)
            case _:
                kind = _KINDS.get(type(node), f"{type(node).__name__} of Python")
                mend = _INSTEAD.get(type(node), "")
                self.refuse(node, f"{kind} is not allowed in an expression.", mend)

    def combined(self, node: ast.expr, values: list[Any]) -> Value:
        match node:
            case ast.Constant(value=value):
                return self.number(node, value)
            case ast.Name(id=name):
                return self.named(node, name)
            case ast.UnaryOp(op=op):
                if not isinstance(values[0], Array) and isinstance(op, ast.Invert):
                    self.refuse(node, "~ negates conditions, not numbers.")
                return self.applied(node, _UNARY_OPERATORS[type(op)], values[0])
            case ast.BinOp(left=ast.Name(id="e"), op=ast.Pow()) if self.is_euler(values):
                self.refuse(
                    node,
                    "e is the name of an input here.",
                    "Write exp(x); if e is an input, give it a shape.",
                )
            case ast.BinOp(op=op):
                return self.binary(node, op, values[0], values[1])
            case ast.Compare(ops=[op]):
                self.needs_array(node, values)
                return self.applied(node, _COMPARISONS[type(op)], *values)
            case ast.Subscript(slice=index):
                self.needs_array(node, values)
                return self.applied(node, operator.getitem, values[0], self.index(index))
            case ast.Attribute(value=ast.Name(id=space), attr=name) if space in _NAMESPACES:
                return _OF_NAMESPACES[name]
            case ast.Attribute(attr=name):
                self.needs_array(node, values)
                return self.applied(
                    node, FUNCTIONS["transpose" if name == "T" else "matrix_transpose"], values[0]
                )
            case ast.Call():
                return self.called(node, values)
            case _:
                raise AssertionError(node)

    def is_euler(self, values: list[Any]) -> bool:
        """Whether e to the power of a variable is meant as exp: nothing is told of an input e."""
        told = any("e" in each for each in (self.shapes, self.dtypes, self.facts))
        return isinstance(values[1], Array) and not told

    def needs_array(self, node: ast.expr, values: list[Any]) -> None:
        if not any(isinstance(value, Array) for value in values):
            self.refuse(node, "An array is needed here, not only numbers.")

    # -- numbers and names -----------------------------------------------------------------------
    def number(self, node: ast.AST, value: object) -> int | float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(node, "Only integers and floating-point numbers are allowed.")
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse(node, "This number is too large.", "Infinity is written inf.")
        if isinstance(value, int) and abs(value) > _LARGEST_INT:
            self.refuse(node, "This integer is larger than 2**53.", "Write it as a float: 1e20.")
        return value

    def named(self, node: ast.AST, name: str) -> Value:
        if name in self.inputs:
            return Array(self.inputs[name])
        told = name in self.shapes or name in self.dtypes or name in self.facts
        if name in _CONSTANTS and not told:
            return _CONSTANTS[name]
        if not told and (name in CALLS or name in _NAMESPACES):
            self.refuse(
                node,
                f"{name} is not an array.",
                f"As a function: {name}(x)." if name in CALLS else "",
            )
        if "·" in name:  # To Python the dot is a letter.
            self.refuse(node, f"{name} is one name.", AS_PYTHON["·"])
        if name.startswith("__"):
            self.refuse(node, f"{name} is not the name of an input.", "Choose a plain name.")
        array = self.applied(
            node,
            symbolic_input,
            name,
            self.shapes.get(name, _DEFAULT_SHAPE),
            self.dtypes.get(name, self.default_dtype),
            self.facts.get(name, ()),
        )
        self.inputs[name] = array.node
        return array

    def binary(self, node: ast.expr, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, Array) or isinstance(right, Array):
            return self.applied(node, _BINARY_OPERATORS[type(op)], left, right)
        if not isinstance(op, _ON_NUMBERS):
            self.needs_array(node, [])
        # As floats, for 9**9**9**9 overflows at once, and as integers it would fill the memory.
        result = self.applied(node, _BINARY_OPERATORS[type(op)], float(left), float(right))
        if not isinstance(result, float) or not math.isfinite(result):
            self.refuse(node, "This is not a finite real number.")
        whole = isinstance(left, int) and isinstance(right, int) and result.is_integer()
        small = abs(result) <= _LARGEST_INT and not isinstance(op, ast.Div)
        return int(result) if whole and small else result

    # -- calls -----------------------------------------------------------------------------------
    def function(self, node: ast.Call) -> tuple[CallSignature, list[ast.expr]]:
        """The function that is called, and its arguments; for `x.sum()` the first is x."""
        arguments = list(node.args)
        match node.func:
            case ast.Name(id=name):
                pass
            case ast.Attribute(value=ast.Name(id=space), attr=name) if space in _NAMESPACES:
                pass
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id=space), attr="linalg" | "special"), attr=name
            ) if space in _WITHIN:
                pass
            case ast.Attribute(value=value, attr=name) if name in METHODS:
                arguments.insert(0, value)
            case _:
                self.refuse(node.func, "Only functions by their names are called.")
        call = CALLS.get(name)
        if call is None or function_named(call.name) is None:
            self.refuse(node.func, f"{name[:40]} is not a known function.", advice(name))
        if name in ("max", "min") and node.func.__class__ is ast.Name and len(arguments) > 1:
            # Python's function takes the larger one, NumPy's an axis.
            self.refuse(
                node,
                f"{name} of two arguments has two meanings.",
                f"The {'larger' if name == 'max' else 'smaller'} of two is {name}imum(x, y); along "
                f"an axis: {name}(x, axis=0).",
            )
        return call, arguments

    def operands_of(self, node: ast.Call) -> list[ast.expr]:
        call, arguments = self.function(node)
        for argument in arguments:
            if isinstance(argument, ast.Starred):
                self.refuse(argument, "* is not allowed in a call.")
        if call.name == "einsum":
            first = arguments[0] if arguments else node
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
                self.refuse(
                    first, 'einsum begins with its subscripts, as in einsum("ij,j->i", A, x).'
                )
            return arguments[1:]
        if call.name in LISTS and arguments:
            if not isinstance(arguments[0], (ast.List, ast.Tuple)) or not arguments[0].elts:
                self.refuse(arguments[0], f"{call.name} takes a list of arrays: [a, b].")
            return list(arguments[0].elts)
        if not call.least <= len(arguments) <= call.most + len(call.literals):
            wanted = "one array" if call.least == 1 else f"{call.least} arrays"
            self.refuse(node, f"{call.name} takes {wanted}, not {len(arguments)}.")
        return arguments[: call.most]

    def called(self, node: ast.Call, values: list[Any]) -> Value:
        call, arguments = self.function(node)
        keywords: dict[str, Any] = {}
        for name, argument in self.literals(node, call, arguments):
            if name not in call.literals or name in keywords:
                self.refuse(argument, f"{call.name} takes no argument {name!r:.40} here.")
            keywords[name] = self.order(argument) if name == "ord" else self.literal(argument)
        function = function_named(call.name)
        assert function is not None  # else `self.function` has raised an error
        if call.name == "einsum":
            subscripts: Any = arguments[0]
            return self.applied(node, function, subscripts.value, *values)
        if call.name in LISTS:
            return self.applied(node, function, values, **keywords)
        if not any(isinstance(value, Array) for value in values):
            values = [self.applied(node, lambda: Array(lift(values[0]))), *values[1:]]
        return self.applied(node, function, *values, **keywords)

    def literals(
        self, node: ast.Call, call: CallSignature, arguments: list[ast.expr]
    ) -> Iterator[tuple[str, ast.expr]]:
        if call.name != "einsum":
            arrays = 1 if call.name in LISTS else call.most
            yield from zip(call.literals, arguments[arrays:], strict=False)
        for keyword in node.keywords:
            yield keyword.arg or "**", keyword.value

    # -- literals --------------------------------------------------------------------------------
    def literal(self, node: ast.expr) -> Any:
        """The value of a literal: an integer, a tuple of integers, True, False or None."""
        match node:
            case ast.Constant(value=bool() | None as value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.integer(item) for item in items)
            case _:
                return self.integer(node)

    def order(self, node: ast.expr) -> Any:
        """The order of a norm: a number, inf, "fro" or "nuc"."""
        if isinstance(node, ast.Constant) and node.value in ("fro", "nuc"):
            return node.value
        plain = not any(isinstance(each, ast.Call) for each in ast.walk(node))
        value = self.read(node) if plain else None
        if not isinstance(value, int | float):
            self.refuse(node, 'The order of a norm is a number, inf, "fro" or "nuc".')
        return value

    def integer(self, node: ast.expr) -> int:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                sign = -1
            case ast.Constant(value=int(value)):
                sign = 1
            case _:
                self.refuse(node, "An integer is needed here.")
        if isinstance(value, bool) or value > 2**31:
            self.refuse(node, "An integer is needed here.")
        return sign * value

    def index(self, node: ast.expr) -> Any:
        """The value of a basic index of integers, slices of integers, None and `...`."""
        if isinstance(node, ast.Tuple):
            return tuple(self.index_item(item) for item in node.elts)
        return self.index_item(node)

    def index_item(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [
                    None if end is None else self.integer(end) for end in (lower, upper, step)
                ]
                return slice(*bounds)
            case ast.Constant(value=value) if value is None or value is Ellipsis:
                return value
            case _:
                return self.integer(node)
