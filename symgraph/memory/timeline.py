"""The bytes that live at each step of a run, as a small picture for notebooks."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from ..ir.node import Node

__all__ = ["timeline_html"]

_WIDTH, _HEIGHT, _MOST = 640, 110, 600


def timeline_html(timeline: Sequence[tuple[Node, int]], text: str) -> str:
    """The picture of a timeline and a text below it; only the text if nothing is computed.

    Of long runs each bar is the largest of several steps.
    """
    below = f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'
    sizes = [size for _, size in timeline]
    most = max(sizes, default=0)
    if not most:
        return below
    share = -(-len(sizes) // _MOST)
    bars = [max(sizes[at : at + share]) for at in range(0, len(sizes), share)]
    wide = _WIDTH / len(bars)
    shapes = [
        f'<rect x="{place * wide:.2f}" y="{_HEIGHT * (1 - size / most):.2f}" '
        f'width="{max(wide - 0.5, 0.5):.2f}" height="{_HEIGHT * size / most:.2f}" '
        f'fill="{"#c27a2c" if size == most else "#4a77ad"}"/>'
        for place, size in enumerate(bars)
    ]
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(shapes)}</svg>'
    )
    data = base64.b64encode(picture.encode()).decode()
    told = f"bytes live at each of {len(sizes)} steps"
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{told}" title="{told}"/>{below}'
