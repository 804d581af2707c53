"""Tables for notebooks: HTML that needs no style sheet and no script, with every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["bundle", "table"]

_CELL = "padding:2px 10px;vertical-align:top;"
_SHORT = 24
"""A text of so many characters stays on one line."""
_MOST = 400


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False, title: str = ""
) -> str:
    """A table; its first column stands to the left, the others too unless they are numbers.

    Parameters
    ----------
    head : sequence of str
        The titles of the columns; may be empty.
    rows : iterable of sequence of str
        Of more than 400 rows the last ones are counted only.
    numbers : bool
        Whether the columns after the first hold numbers.
    title : str
        A line above the table.
    """
    listed = [[str(cell) for cell in row] for row in rows]
    more = len(listed) - _MOST
    parts = [f"<div><strong>{escape(title)}</strong></div>"] if title else []
    parts.append('<table style="border-collapse:collapse;font-size:12px">')
    if head:
        cells = "".join(_cell("th", place, text, numbers) for place, text in enumerate(head))
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for row in listed[:_MOST]:
        cells = "".join(_cell("td", place, text, numbers) for place, text in enumerate(row))
        parts.append(f"<tr>{cells}</tr>")
    parts.append("</tbody></table>")
    if more > 0:
        parts.append(f"<div>and {more:,} rows more</div>")
    return "".join(parts)


def _cell(tag: str, place: int, text: str, numbers: bool) -> str:
    side = "right" if numbers and place else "left"
    mono = "font-family:monospace;" if tag == "td" else ""
    wrap = "pre" if len(text) <= _SHORT else "pre-wrap;overflow-wrap:anywhere"
    style = f"{_CELL}{mono}white-space:{wrap};text-align:{side}"
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def bundle(shown: object, html: str) -> dict[str, str]:
    """The result of `_repr_mimebundle_`: the text of a value, and its HTML."""
    return {"text/plain": str(shown), "text/html": html}
