"""The explanation of a derivation: the user's line, the vjp, and each rule with both sides.

Steps come in three grains. A region of sums and products is one equation that can be checked. A
named rule is shown with both sides. Bookkeeping, such as folding constants and merging equal
values, is one step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..ir.node import Node, Origin
from ..ir.origins import adjoint_chain
from ..ir.walks import reachable
from ..notation.node_text import ATOM, Spelled, escaped, shortened, spelled
from . import node_latex
from .expressions import constant_text
from .graph_text import sides
from .latex_names import words

__all__ = [
    "as_align",
    "as_latex",
    "as_markdown",
    "as_text",
    "bookkeeping",
    "entry",
    "origin_entry",
    "sketch",
]

_DEPTH = 6
_WIDEST = 100
_LONGEST = 400

_NOTHING = words("no rewrite was needed")

Entry = dict[str, Any]
"""One step as data that JSON can hold: strings, numbers, and lists of these."""


class ShownStep(Protocol):
    """One rewrite in a history."""

    @property
    def rule(self) -> str: ...
    @property
    def before(self) -> Node: ...
    @property
    def after(self) -> Node: ...
    @property
    def where(self) -> Origin: ...
    @property
    def sound(self) -> str: ...
    @property
    def grain(self) -> str: ...
    @property
    def by(self) -> Any: ...
    @property
    def identities(self) -> Sequence[str]: ...


class ShownPass(Protocol):
    """The steps of one pass in a history."""

    @property
    def what(self) -> str: ...
    @property
    def before(self) -> Sequence[Node]: ...
    @property
    def after(self) -> Sequence[Node]: ...


class ShownJustification(Protocol):
    """A guard, the value that it was asked of, and the reasons why it holds."""

    @property
    def guard(self) -> str: ...
    @property
    def of(self) -> Node: ...
    @property
    def why(self) -> Sequence[str]: ...


_GRADES = {
    "exact": "equal bit for bit",
    "rounding": "equal in exact arithmetic wherever the left side is defined",
    "domain": "equal where the left side is defined",
}


# -- data -----------------------------------------------------------------------------------------
def entry(index: int, step: ShownStep, licences: Iterable[ShownJustification]) -> Entry:
    """A step as data.

    Keys: `grain`, `step` (its index in the history), `rule`, `grade` and its `meaning`, `where`,
    `lines`, `before`, `after`, `letters` (the value of each letter), `before_latex`,
    `after_latex`, `statement` and `doc` of the rule, `identities` of a region, `licences` (each
    with `guard`, `of`, `why`).
    """
    text = sides(step.before, step.after)
    formulas = sides(step.before, step.after, leaf=node_latex.leaf, spell=node_latex.spelled)
    return {
        "grain": step.grain,
        "step": index,
        "rule": step.rule,
        "grade": step.sound,
        "meaning": _GRADES[step.sound] if step.grain != "choice" else "",
        "where": escaped(str(step.where)),
        "lines": [escaped(frame.quoted()) for frame in step.where.frames],
        "before": text.left,
        "after": text.right,
        "letters": {name: sketch(node) for name, node in text.letters.items()},
        "before_latex": formulas.left,
        "after_latex": formulas.right,
        "statement": str(step.by) if step.by is not None else "",
        "doc": step.by.doc.strip() if step.by is not None else "",
        "identities": list(step.identities),
        "licences": [
            {"guard": each.guard, "of": sketch(each.of), "why": list(each.why)} for each in licences
        ],
    }


def bookkeeping(each: ShownPass) -> Entry:
    """The bookkeeping of a pass as data: keys `grain`, `what`, `before` and `after`."""
    before, after = (len(reachable(nodes)) for nodes in (each.before, each.after))
    return {"grain": "bookkeeping", "what": each.what, "before": before, "after": after}


def origin_entry(node: Node, origin: Origin) -> Entry:
    """The origin of a value as data: the user's lines, and the vjps that made it."""
    chain: list[Entry] = []
    for at in adjoint_chain(origin):
        lines = [escaped(frame.quoted()) for frame in at.origin.frames]
        chain.append(
            {"op": at.op.name, "formula": sketch(at), "lines": lines, "is_input": at.is_input}
        )
    return {
        "grain": "origin",
        "value": sketch(node),
        "aval": ", ".join(map(str, node.results)),
        "lines": [escaped(frame.quoted()) for frame in origin.frames],
        "rule": origin.rule,
        "adjoint_of": chain,
    }


# -- text -----------------------------------------------------------------------------------------
def as_text(entries: Sequence[Entry], *, title: str = "") -> str:
    """Numbered entries: the rule, its grade, its place, both sides, and the facts it needs."""
    lines = [title] if title else []
    number = 0
    for each in entries:
        match each["grain"]:
            case "origin":
                lines += _origin_lines(each)
            case "bookkeeping":
                what = f"{each['what']}: {each['before']} → {each['after']} nodes"
                lines.append(f"     ({what})")
            case _:
                number += 1
                lines += _step_lines(number, each)
    if not number:
        lines.append("No rewrite was needed.")
    return "\n".join(lines)


def _origin_lines(each: Entry) -> list[str]:
    lines = [f"{each['value']}   {each['aval']}"]
    lines += [f"  from {line}" for line in each["lines"]]
    for forward in each["adjoint_of"]:
        place = f", at {forward['lines'][0]}" if forward["lines"] else ""
        rule = f"vjp of {forward['op']}, which made {forward['formula']}"
        if forward["is_input"]:
            rule = f"sum over the uses of {forward['formula']}"
        lines.append(f"  by the {rule}{place}")
    if each["rule"]:
        lines.append(f"  written anew by {each['rule']}")
    return lines


def _step_lines(number: int, each: Entry) -> list[str]:
    place = f" at {each['where']}" if each["where"] else ""
    lines = [f"{number:3}. {each['rule']} [{each['grade']}]{place}"]
    lines.append(f"       {shortened(each['before'], _LONGEST)}")
    lines.append(f"     → {shortened(each['after'], _LONGEST)}")
    if each["letters"]:
        told = (f"{name} = {text}" for name, text in each["letters"].items())
        lines.append(f"       where {', '.join(told)}")
    if each["statement"]:
        lines.append(f"     by {each['statement']}")
    if each["identities"]:
        lines.append(f"     by {', '.join(each['identities'])}")
    for licence in each["licences"]:
        lines.append(f"     with {licence['guard']}, of {licence['of']}")
        lines += [f"       {line}" for line in licence["why"]]
    return lines


# -- Markdown -------------------------------------------------------------------------------------
def as_markdown(entries: Sequence[Entry]) -> str:
    """A heading for each step, and its text in a fenced block, where nothing is markup."""
    parts: list[str] = []
    number = 0
    for each in entries:
        match each["grain"]:
            case "origin":
                parts.append(_fenced(_origin_lines(each)))
            case "bookkeeping":
                parts.append(f"*{each['what']}: {each['before']} → {each['after']} nodes*\n")
            case _:
                number += 1
                head, *lines = _step_lines(number, each)
                rule = re.sub(r"([^\w .,→-])", r"\\\1", each["rule"])
                parts.append(f"### {number}. {rule}\n\n{_fenced([head, *lines])}")
    if not number:
        parts.append("No rewrite was needed.\n")
    return "\n".join(parts)


def _fenced(lines: Sequence[str]) -> str:
    """The lines in a fenced block. The fence is longer than any run of backticks inside."""
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    fence = "`" * max(3, *(run + 1 for run in runs)) if runs else "```"
    return "\n".join([f"{fence}text", *lines, fence, ""])


# -- LaTeX ----------------------------------------------------------------------------------------
def as_latex(entries: Sequence[Entry]) -> str:
    """A derivation in one `aligned` environment, for the inside of a formula; see `as_align`."""
    lines = _rows(entries)
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}" if lines else _NOTHING


def as_align(entries: Sequence[Entry]) -> str:
    """A derivation as a display of a document, which may run over pages: `align*`."""
    lines = _rows(entries)
    return f"\\begin{{align*}}\n{lines or '&' + _NOTHING}\n\\end{{align*}}"


def _rows(entries: Sequence[Entry]) -> str:
    """One equation a step, with its rule and grade; none where both sides are written alike."""
    rows: list[str] = []
    for each in entries:
        if each["grain"] in ("origin", "bookkeeping"):
            continue
        sign = r"\leadsto" if each["grain"] == "choice" else "="
        beside = f"{each['rule']} [{each['grade']}]"
        left, right = each["before_latex"], each["after_latex"]
        if left == right and sign == "=":  # x**2 and square(x), for instance
            continue
        rows.append(rf"{left} &{sign} {right} && {words(beside)}")
    return " \\\\\n".join(rows)


# -- one value ------------------------------------------------------------------------------------
def sketch(node: Node) -> str:
    """The formula of a value, without its deeper parts."""
    layers: dict[Node, int] = {node: 0}
    queue = [node]
    for each in queue:
        level = layers[each]
        if level < _DEPTH:
            for operand in each.operands:
                if operand not in layers:
                    layers[operand] = level + 1
                    queue.append(operand)
    texts: dict[Node, Spelled] = {}
    for each in sorted(layers, key=lambda one: one.serial):
        texts[each] = _text(each, texts)
    found = texts[node][0]
    return found if len(found) <= _WIDEST else found[: _WIDEST - 1] + "…"


def _text(node: Node, texts: Mapping[Node, Spelled]) -> Spelled:
    if node.is_input:
        return escaped(node.params["name"]), ATOM
    if node.is_constant:
        return constant_text(node.params["value"]) or ("constant", ATOM)
    if any(operand not in texts for operand in node.operands):
        return f"{node.op.name}(…)", ATOM
    return spelled(node, [texts[operand] for operand in node.operands])
