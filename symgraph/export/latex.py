r"""Graphs as LaTeX, such as `X^\top (\sigma(X w) - y)`: one equation an output.

This is the matrix form; the module `indices` writes the other one, with an index for each axis.

Parts that are used twice get a name. Matrix products have no sign, elementwise products have ⊙, and
sums show the indices of their operand. Broadcasts, casts and axes of length one are left out, as on
paper; the listing of a graph shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from ..errors import InputError
from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..notation.arithmetic import sum_formula
from ..notation.array_formulas import as_ones, inverse_formula
from ..notation.formulas import right_side
from ..notation.node_text import Spelled
from ..records import record
from .indices import Indexed, Row
from .labels import Labels
from .latex_names import distinct, symbol, words
from .node_latex import ATOM, JOINED, leaf, spelled

__all__ = ["Form", "Formula", "latex"]

Form: TypeAlias = Literal["matrix", "index"]
"""Values as a whole, or their elements with indices."""

_PART = 140
_MOST_PARTS = 40


@record
class Formula:
    """A formula that prints as text and shows as mathematics in notebooks."""

    text: str
    latex: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"


# -- a graph --------------------------------------------------------------------------------------
class _Matrices:
    """The matrix form: values are vectors and matrices as a whole."""

    def __init__(self, dag: Dag, symbols: Mapping[Node, str]) -> None:
        self._texts: dict[Node, Spelled] = {}
        self._symbols = symbols

    def add(self, node: Node) -> None:
        """Write a node."""
        if node.is_input:
            self._texts[node] = self._symbols[node], ATOM
        else:
            operands = [self._texts[operand] for operand in node.operands]
            self._texts[node] = leaf(node) or spelled(node, operands)

    def of(self, node: Node) -> Spelled:
        """The formula of a node."""
        return self._texts[node]

    def equation(self, left: str, node: Node) -> Row:
        """The equation of an output or a part, whose left side is `left`."""
        return left, right_side(node, as_ones(node, self._texts[node]))

    def named(self, node: Node, part: str) -> None:
        """From now on the node is written as this part."""
        self._texts[node] = part, ATOM if not part.startswith(r"\frac") else JOINED


@collector_paused()
def latex(dag: Dag, form: Form = "matrix") -> str:
    """One equation an output. Equations of parts that are used twice or are long come before.

    Parts have the user's names, or are called t₁, t₂, ... For a graph of more than 40 parts, only
    its size is given.

    Raises
    ------
    InputError
        If there is no such form.
    """
    if form not in ("matrix", "index"):
        raise InputError(f"There is no form {form!r}.", mend='Use "matrix" or "index".')
    labels = Labels(dag)
    symbols = distinct(dag.inputs)
    writer = (_Matrices if form == "matrix" else Indexed)(dag, symbols)
    rows: list[Row] = []
    ends = dict(zip(dag.outputs, dag.names, strict=True))
    lefts = {node: _left_side(name, symbols, dag.inputs) for node, name in ends.items()}
    taken = {*symbols.values(), *lefts.values()}
    results = {each for node, name in ends.items() if name == "out" for each in labels.names(node)}
    parts: dict[Node, str] = {}
    for node in labels.nodes:
        writer.add(node)
        if not _is_part(node, dag, len(writer.of(node)[0])):
            continue
        part = _chosen(labels, node, taken, lefts.get(node), results)
        taken.add(part)
        parts[node] = part
        if len(rows) >= _MOST_PARTS:
            return words(f"a graph of {len(dag)} nodes, too large for a formula")
        rows.append(writer.equation(part, node))
        writer.named(node, part)
    for name, node in zip(dag.names, dag.outputs, strict=True):
        left = _left_side(name, symbols, dag.inputs)
        if left != parts.get(node):
            rows.append(writer.equation(left, node))
    if len(rows) == 1:
        return " = ".join(rows[0])
    lines = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def _is_part(node: Node, dag: Dag, length: int) -> bool:
    """Whether a value gets an equation of its own: it is used twice, or its formula is long."""
    uses = dag.uses[node]
    works = bool(node.op.count) or node.is_constant
    if not uses or node.is_input or not works or (leaf(node) and not node.op.count):
        return False
    if length > _PART or node.is_constant:
        return True
    # 2 t is written for t + t; and S⁻¹ is as short as a name.
    doubled = len(uses) == 2 and uses[0][0] is uses[1][0] and uses[0][0].op.latex is sum_formula
    short = node.op.latex is inverse_formula and node.operands[0].is_input
    return len(uses) > 1 and not doubled and not short


def _chosen(
    labels: Labels, node: Node, taken: set[str], left: str | None, results: Collection[str]
) -> str:
    """The symbol of a part: the user's name if there is one that no other value has, else t₁.

    A derivative of the result, whatever variable held it, is one of f, as the result is called.
    """
    if labels.names(node):
        above, _, below = labels.name(node).removeprefix("∂").partition("/∂")
        above = "f" if below and above in results else above
        found = rf"\frac{{\partial {symbol(above)}}}{{\partial {symbol(below)}}}"
        found = found if below else symbol(above)
        if found == left or found not in taken:
            return found
    letter = "c" if node.is_constant else "t"
    return next(part for k in range(1, 9_999) if (part := f"{letter}_{{{k}}}") not in taken)


def _left_side(name: str, symbols: Mapping[Node, str], inputs: Mapping[str, Node]) -> str:
    """The left side of an output's equation: f, a derivative of f, or the output's name."""
    if name == "out":
        return "f"
    kind, _, of = name.partition("_")
    if of in inputs and kind in ("grad", "jacobian"):
        return rf"\frac{{\partial f}}{{\partial {symbols[inputs[of]]}}}"
    if of in inputs and kind == "hessian":
        return rf"\frac{{\partial^2 f}}{{\partial {symbols[inputs[of]]}^2}}"
    return symbol(name)
