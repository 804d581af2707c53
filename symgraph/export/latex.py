r"""Graphs as LaTeX, such as `X^\top (\sigma(X w) - y)`: one equation an output.

Parts that are used twice get a name. Matrix products have no sign, elementwise products have ⊙, and
sums show the indices of their operand. Broadcasts, casts and axes of length one are left out, as on
paper; the listing of a graph shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..notation.formulas import as_ones
from ..notation.text import Spelled
from .labels import Labels
from .mathematics import ATOM, JOINED, leaf, spelled
from .symbols import symbol, words

__all__ = ["Formula", "latex"]

_PART = 140
_MOST_PARTS = 40


@dataclass(frozen=True, slots=True)
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
@collector_paused()
def latex(dag: Dag) -> str:
    """One equation an output. Equations of parts that are used twice or are long come before.

    Parts are called t₁, t₂, ... For a graph of more than 40 parts, only its size is given.
    """
    labels = Labels(dag)
    uses = dag.uses
    texts: dict[Node, Spelled] = {}
    rows: list[tuple[str, str]] = []
    taken = {symbol(name) for name in dag.inputs}
    count = 0
    for node in labels.nodes:
        found = leaf(node)
        if found is None:
            found = spelled(node, [texts[operand] for operand in node.operands])
            works = bool(node.op.count) or node.is_constant
            shared = len(uses[node]) > 1 and works
            if shared or (uses[node] and works and len(found[0]) > _PART):
                part = _chosen(labels, node, taken)
                while not part:
                    count += 1
                    part = f"t_{{{count}}}" if f"t_{{{count}}}" not in taken else ""
                taken.add(part)
                if len(rows) >= _MOST_PARTS:
                    return words(f"a graph of {len(dag)} nodes, too large for a formula")
                rows.append((part, found[0]))
                found = part, ATOM if not part.startswith(r"\frac") else JOINED
        texts[node] = found
    names = _left_sides(dag)
    rows += [
        (name, as_ones(node, texts[node])[0]) for name, node in zip(names, dag.outputs, strict=True)
    ]
    if len(rows) == 1:
        return " = ".join(rows[0])
    lines = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def _chosen(labels: Labels, node: Node, taken: set[str]) -> str:
    """The symbol of the user's name for a value; empty without one, or if it is taken."""
    if not labels.names(node):
        return ""
    above, _, below = labels.name(node).removeprefix("∂").partition("/∂")
    found = rf"\frac{{\partial {symbol(above)}}}{{\partial {symbol(below)}}}"
    found = found if below else symbol(above)
    return "" if found in taken else found


def _left_sides(dag: Dag) -> list[str]:
    """The left side of each output's equation: f, a derivative of f, or the output's name."""
    return [_left_side(name, dag.inputs) for name in dag.names]


def _left_side(name: str, inputs: Mapping[str, Node]) -> str:
    if name == "out":
        return "f"
    kind, _, of = name.partition("_")
    if of in inputs and kind in ("grad", "jacobian"):
        return rf"\frac{{\partial f}}{{\partial {symbol(of)}}}"
    if of in inputs and kind == "hessian":
        return rf"\frac{{\partial^2 f}}{{\partial {symbol(of)}^2}}"
    return symbol(name)
