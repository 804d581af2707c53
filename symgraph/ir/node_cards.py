"""A node in a notebook: its operation, type, names, operands, facts, and the user's line."""

from __future__ import annotations

from typing import Any

from .html_tables import table

__all__ = ["card"]

_LONGEST = 200


def card(of: object) -> str:
    """The table of a node, as HTML."""
    node: Any = of  # The module of nodes imports this one.
    rows: list[tuple[str, str]] = []

    def told(what: str, text: str) -> None:
        plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        if plain:
            cut = plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
            rows.append((what, cut))

    told("operation", node.op.name)
    told("type", ", ".join(map(str, node.results)))
    told("names", ", ".join(dict.fromkeys(each.text for each in node.names)))
    if node.is_input:
        told("input", node.params["name"])
        told("facts", ", ".join(map(str, node.params["assume"])))
    told("operands", ", ".join(map(_called, node.operands)))
    told("scope", " / ".join(node.origin.scope))
    for frame in node.origin.frames[:3]:
        told("line", frame.quoted())
    forward = node.origin.adjoint_of
    if forward is not None:
        told("gradient of", _called(forward))
    told("by rule", node.origin.rule or "")
    return table((), rows)


def _called(of: object) -> str:
    """A node as others refer to it: by its name, if the user gave one."""
    node: Any = of
    return f"{node.names[0].text} = {node.op.name}" if node.names else repr(node)
