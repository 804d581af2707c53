"""A graph as self-contained functional source: `def function(np, **inputs)`, one line a node.

No buffer is reused and nothing is written in place, so any array namespace with NumPy's names runs
the source. It needs neither this library nor anything in scope; constants are written out. Values
have the names of the user's variables where these are plain and no other value has them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import BackendError
from ..ir.body import Body
from ..ir.dag import Dag, Structure
from ..ir.dims import Dim, names_of
from ..ir.given_names import variables_of
from ..ir.interpreter import results_read
from ..ir.node import Node
from ..ir.symbolic_sizes import as_expr
from .body_functions import function_of
from .emit import commented, remark, sanitized
from .kernel_sizes import with_sizes
from .node_source import dims_of, spell
from .recording import Recording, source_of
from .source_pieces import (
    Defined,
    Dimension,
    EarlierResult,
    NodeSource,
    NoSource,
    OperandName,
    Piece,
    Tabled,
)
from .supplied_functions import HELPERS, helpers_source, source_of_function

if TYPE_CHECKING:
    from sympy import Expr

__all__ = ["functional"]


def functional(dag: Dag) -> str:
    """Source of `function(np, **inputs)`, which gives the outputs of the graph.

    Raises
    ------
    BackendError
        If a kernel has no NumPy source, for it branches on values or on named sizes.
    """
    source = _Writer(dag).source()
    variables = variables_of(dag.nodes, _NAMES_OF_SOURCE).values()
    if set(re.findall(r"^def (\w+)", source, re.MULTILINE)).isdisjoint(variables):
        return source
    return _Writer(dag, variables=False).source()


_NAMES_OF_SOURCE = frozenset({*HELPERS, "np", "xp", "special", "kernels", "inputs", "function"})


class _Writer:
    def __init__(
        self, dag: Dag, functions: _Functions | None = None, *, variables: bool = True
    ) -> None:
        self.dag = dag
        # The functions of bodies have names of ours alone.
        own = functions is None and variables
        self.variables = variables_of(dag.nodes, _NAMES_OF_SOURCE) if own else {}
        self.functions = functions or _Functions()
        self.read = results_read(dag.nodes)
        self.names: dict[Node, str] = {}
        self.dims: dict[str, str] = {}
        self.number = 0
        self.helpers = self.functions.helpers
        self.known: dict[tuple[str, int], str] = {}

    def source(self) -> str:
        body: list[str] = []
        for name, node in self.dag.inputs.items():
            body.append(self._assignment(node, f"inputs[{name!a}]"))
        for node in self.dag.nodes:
            if not node.is_input:
                body.extend(self._lines(node))
        sizes = [line for name in sorted(self.dims) for line in self._size(name)]
        inputs = len(self.dag.inputs)
        body[inputs:inputs] = sizes
        body.append(f"return {self._structure_source(self.dag.structure)}")
        text = "\n".join(f"    {line}" for line in body)
        lines = [*self.functions.lines, *body]
        special = any("special." in line.partition("  #")[0] for line in lines)
        head = "from scipy import special\n\n\n" if special else ""
        helpers = helpers_source(self.helpers) + "".join(self.functions.custom.values())
        functions = "".join(f"{line}\n" for line in self.functions.lines)
        return f"{head}{helpers}{functions}{self._head()}\n{text}\n"

    def _head(self) -> str:
        passed = self.functions.passed
        names = "np, kernels" if passed else "np"
        # An input may be called `np` or `kernels` as well.
        only = ", /" if {"np", "kernels"} & set(self.dag.inputs) else ""
        head = f"def function({names}{only}, **inputs):"
        if not passed:
            return head
        listed = ", ".join([f"{name!r}: {how}" for name, how in passed.items()])
        return f"# kernels: the functions of custom operations, {{{listed}}}\n{head}"

    def function(self, name: str) -> list[str]:
        """The lines of the function of a body: it takes arrays as positional arguments."""
        self.names = {node: self._target() for node in self.dag.inputs.values()}
        body = [line for node in self.dag.nodes if not node.is_input for line in self._lines(node)]
        arguments = ", ".join(["np", *self.names_of_inputs(), *self.dims.values()])
        results = ", ".join([self.names[node] for node in self.dag.outputs])
        return [
            f"def {name}({arguments}):",
            *[f"    {line}" for line in (*body, f"return ({results},)")],
            *("", ""),
        ]

    def names_of_inputs(self) -> list[str]:
        return [self.names[node] for node in self.dag.inputs.values()]

    def _target(self, node: Node | None = None) -> str:
        """The variable of a value; without a node, that of a step on the way to one."""
        if node in self.variables:
            return self.variables[node]
        self.number += 1
        return f"v{self.number - 1}"

    def _assignment(self, node: Node, right: str) -> str:
        target = self.names[node] = self._target(node)
        return commented(f"{target} = {right}", remark(node, node.results))

    def _lines(self, node: Node) -> list[str]:
        if node.is_constant:
            return [self._assignment(node, _constant_source(node.params["value"]))]
        spelling = spell(node, keep=self.read.get(node))
        if spelling.named and node.op.custom:
            return [self._custom_call(node)]
        if spelling.named and node.op.name in HELPERS:
            self.helpers.add(node.op.name)
            return [self._assignment(node, self._call(f"{node.op.name}(np, ", node))]
        if spelling.named:
            raise BackendError(
                f"{node.op.name} has no NumPy source: its kernel looks at values or named sizes.",
                [f"{node.op.name} {node.aval}   from {node.origin}"],
                mend='Lower the graph instead: graph.lower("numpy").',
            )
        return self._kernel_lines(node, spelling)

    def _kernel_lines(self, node: Node, spelling: NodeSource) -> list[str]:
        operands = [self.names[operand] for operand in node.operands]
        steps: list[str] = []
        lines: list[str] = []
        for line in spelling.lines:
            right = "".join([self._piece_source(piece, operands, steps) for piece in line.pieces])
            key = (right, node.copy)
            if key in self.known:  # The kernels of two nodes may make the same call.
                steps.append(self.known[key])
                continue
            target = self.known[key] = self._target(node if line is spelling.lines[-1] else None)
            steps.append(target)
            if isinstance(line.pieces[0], Defined):
                right = right.replace("(", "(np, ", 1)
            right = self._with_helpers(right)
            lines.append(commented(f"{target} = {right}", remark(node, line.avals)))
        self.names[node] = steps[-1]
        return lines

    def _custom_call(self, node: Node) -> str:
        """A call of a user's kernel: its source is written out, or it is passed in `kernels`."""
        kernel: Any = node.op.kernel
        right = self._call(
            f"{self.functions.kernel(node)}({'np, ' if kernel.any_backend else ''}", node
        )
        if len(node.results) > 1:
            return self._assignment(node, f"tuple(np.asarray(each) for each in {right})")
        return self._assignment(node, f"np.asarray({right})")

    def _call(self, head: str, node: Node) -> str:
        """The call that begins with `head`: operands of a node follow, then its params by name."""
        recording = Recording()
        parts = [self.names[operand] for operand in node.operands]
        for name, value in node.params.items():
            try:
                pieces = source_of(with_sizes(value, recording.note_size), recording)
            except NoSource:
                if not isinstance(value, str):
                    raise BackendError(
                        f"{node.op.name} has no NumPy source: {name}={value!r} cannot be written.",
                        [f"{node.op.name} {node.aval}   from {node.origin}"],
                        mend="Give it numbers, text and tuples of them as keywords, or close over "
                        'the value in the kernel; or lower the graph: graph.lower("numpy").',
                    ) from None
                pieces = (ascii(value),)
            parts.append(
                f"{name}={''.join([self._piece_source(piece, (), ()) for piece in pieces])}"
            )
        return f"{head}{', '.join(parts)})"

    def _with_helpers(self, text: str) -> str:
        for name in HELPERS:
            if f"xp.{name}(" in text:
                self.helpers.add(name)
                text = text.replace(f"xp.{name}(", f"{name}(np, ")
        if re.search(r"\bxp\.", text):
            raise BackendError(f"The call {text} has no NumPy source.")
        return text

    def _piece_source(self, piece: Piece, operands: Sequence[str], steps: Sequence[str]) -> str:
        match piece:
            case str():
                return piece
            case OperandName(index):
                return operands[index]
            case EarlierResult(index):
                return steps[index]
            case Dimension(expr):
                return self._dimension(expr)
            case Defined():
                return self.functions.of(piece)
            case Tabled():
                raise BackendError("A value in the graph has no NumPy source.")

    # -- sizes -------------------------------------------------------------------------------------
    def _dimension(self, expr: Dim) -> str:
        for name in names_of(expr):
            self.dims.setdefault(name, f"d{len(self.dims)}")
        return _size_source(expr, self.dims)

    def _size(self, name: str) -> list[str]:
        for node in self.dag.inputs.values():
            for axis, dim in enumerate(node.shape):
                if not isinstance(dim, int) and str(dim) == name:
                    line = f"{self.dims[name]} = {self.names[node]}.shape[{axis}]"
                    return [commented(line, f"size of {sanitized(name)}")]
        raise BackendError(
            f"The size of dimension {name!r} is not that of any input.",
            mend="Give the dimension a number before you write the graph as source.",
        )

    def _structure_source(self, structure: Structure) -> str:
        # The recursion is as deep as the tuples that the user returns.
        if isinstance(structure, int):
            return self.names[self.dag.outputs[structure]]
        if isinstance(structure, dict):
            items = [f"{key!a}: {self._structure_source(part)}" for key, part in structure.items()]
            return "{" + ", ".join(items) + "}"
        parts = [self._structure_source(part) for part in structure]
        if isinstance(structure, list):
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


class _Functions:
    """The functions of loops, choices, their bodies and custom kernels; each is written once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.helpers: set[str] = set()
        self.custom: dict[Any, str] = {}
        self.passed: dict[str, str] = {}
        self._names: dict[Any, str] = {}

    def kernel(self, node: Node) -> str:
        """The source that gives the kernel of a custom operation."""
        op = node.op
        kernel: Any = op.kernel
        if kernel not in self._names:
            label = f"custom{len(self.custom)}_{op.name}"
            source = source_of_function(kernel.function, label)
            if source is None:
                # A user may have defined an operation, then another one of the same name.
                name = op.name if op.name not in self.passed else label
                self.passed[name] = (
                    "kernel(np, *arrays)" if kernel.any_backend else "kernel(*arrays)"
                )
                self._names[kernel] = f"kernels[{name!a}]"
            else:
                self.custom[kernel] = source
                self._names[kernel] = f"{label}(np)"
        return self._names[kernel]

    def of(self, piece: Defined) -> str:
        """The name of the function that runs the bodies of a node."""
        key = (piece.node, piece.keep)
        if key not in self._names:
            dims = {name: f"d{place}" for place, name in enumerate(dims_of(piece.node))}

            def call(body: Body, operands: Sequence[str]) -> str:
                sizes = [dims[name] for name in body.dim_names]
                return f"{self._of_body(body)}({', '.join(['np', *operands, *sizes])})"

            def dimension(expr: Dim) -> str:
                return _size_source(expr, dims)

            lines, last = function_of(piece, call, dimension, in_place=False)
            name = self._names[key] = f"f{len(self._names)}"
            operands = [f"v{place}" for place in range(len(piece.node.operands))]
            arguments = ", ".join(["np", *operands, *dims.values()])
            head = commented(f"def {name}({arguments}):", remark(piece.node, ()))
            self.lines += [head, *lines, f"    {last}", "", ""]
        return self._names[key]

    def _of_body(self, body: Body) -> str:
        if body not in self._names:
            writer = _Writer(body.dag, self)
            writer.dims = {name: f"d{place}" for place, name in enumerate(body.dim_names)}
            # The functions of bodies within this one stand above it, and so get their names first.
            lines = writer.function("")
            name = self._names[body] = f"f{len(self._names)}"
            self.lines += [lines[0].replace("def (", f"def {name}("), *lines[1:]]
        return self._names[body]


def _size_source(size: Dim, names: dict[str, str]) -> str:
    """A size as source, in integer arithmetic; the recursion is as deep as the formula."""
    if isinstance(size, int) or size.is_Symbol:
        return str(size) if isinstance(size, int) else names[str(size)]
    expr = as_expr(size)
    if expr.is_Integer:
        return str(int(expr))
    kind, args = type(expr).__name__, cast("tuple[Expr, ...]", expr.args)
    if kind in ("floor", "ceiling"):
        top, bottom = [_size_source(part, names) for part in _fraction(args[0])]
        rounded = f"({top})//({bottom})"
        return f"({rounded})" if kind == "floor" else f"(-(-{rounded}))"
    if kind in ("Max", "Min"):
        return f"{kind.lower()}({', '.join(_size_source(part, names) for part in args)})"
    if kind == "Mod":
        return f"(({_size_source(args[0], names)}) % ({_size_source(args[1], names)}))"
    top, bottom = _fraction(expr)
    if bottom != 1:  # The quotient is a whole number all the same, as n (n + 1) / 2 is.
        return f"(({_size_source(top, names)})//({_size_source(bottom, names)}))"
    if expr.is_Add:
        return f"({' + '.join(_size_source(part, names) for part in args)})"
    if expr.is_Mul:
        return "*".join(_size_source(part, names) for part in args)
    if expr.is_Pow and args[1].is_Integer and args[1].is_positive:
        return f"{_size_source(args[0], names)}**{int(args[1])}"
    raise BackendError(
        f"The size {expr} has no source.", mend='Lower the graph instead: graph.lower("numpy").'
    )


def _fraction(expr: Expr) -> tuple[Expr, Expr]:
    from sympy import fraction, together  # Importing SymPy takes 0.3 s: only named sizes pay.

    return fraction(together(expr))


def _constant_source(value: np.ndarray[Any, Any]) -> str:
    name = "bool_" if value.dtype.kind == "b" else value.dtype.name
    if not value.size:
        return f"np.zeros({value.shape}, dtype=np.{name})"
    # Python's repr of a float is exact, whatever the dtype; only nan and inf have no literal.
    text = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(value.tolist()))
    return f"np.asarray({text}, dtype=np.{name})"
