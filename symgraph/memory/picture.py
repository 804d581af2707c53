"""The bytes that live at each step of a plan, drawn with the budget and the step of the peak."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..ir.node import Node

__all__ = ["timeline_svg"]

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 84, 30, 620, 220, 44
_MOST = 600
"""How many steps are drawn; of longer runs each is the largest of several."""


def timeline_svg(
    timeline: Sequence[tuple[Node, int]], budget: int | None, title: str, told: str
) -> str:
    """The picture of a timeline.

    Parameters
    ----------
    timeline : sequence of (Node, int)
        Each step with the bytes that live at it.
    budget : int, optional
        Drawn as a dashed line.
    title : str
    told : str
        What stands below: the step of the peak.
    """
    sizes = [size for _, size in timeline] or [0]
    share = -(-len(sizes) // _MOST)
    bars = [max(sizes[at : at + share]) for at in range(0, len(sizes), share)]
    again = [
        any(node.copy for node, _ in timeline[at : at + share])
        for at in range(0, len(sizes), share)
    ]
    axes = _Axes(len(bars), max(*sizes, budget or 0, 1))
    parts = [
        _text(_LEFT, 18, title, size=13),
        *axes.drawn(bars, again),
        *(axes.budget(budget) if budget is not None else []),
    ]
    bottom = _TOP + _HEIGHT + 18
    parts += [
        _text(_LEFT, bottom, f"{len(timeline)} steps; marked below: computed again"),
        _text(_LEFT, bottom + 15, told),
    ]
    width, height = _LEFT + _WIDTH + 12, _TOP + _HEIGHT + _BELOW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


class _Axes:
    """Places in the picture: bars from left to right, bytes from the bottom up."""

    def __init__(self, count: int, most: int) -> None:
        self.wide = _WIDTH / count
        self.most = most

    def across(self, place: float) -> str:
        return f"{_LEFT + place * self.wide:.1f}"

    def up(self, size: float) -> str:
        return f"{_TOP + _HEIGHT * (1 - size / self.most):.1f}"

    def drawn(self, bars: Sequence[int], again: Sequence[bool]) -> list[str]:
        """The bytes at each bar, the marks of those computed again, and the two axes."""
        floor = self.up(0)
        points = [f"{self.across(0)},{floor}"]
        for place, size in enumerate(bars):
            points += [f"{self.across(end)},{self.up(size)}" for end in (place, place + 1)]
        points.append(f"{self.across(len(bars))},{floor}")
        marks = [
            f'<rect x="{self.across(place)}" y="{floor}" width="{max(self.wide, 0.8):.1f}" '
            'height="5" fill="#c27a2c"/>'
            for place, each in enumerate(again)
            if each
        ]
        return [
            f'<polygon points="{" ".join(points)}" fill="#4a77ad" fill-opacity="0.55"/>',
            *marks,
            _line(_LEFT, float(floor), _LEFT + _WIDTH, float(floor), "#444"),
            *[_mark(size, float(self.up(size))) for size in (0, self.most // 2, self.most)],
        ]

    def budget(self, size: int) -> list[str]:
        """The line of the budget."""
        height = float(self.up(size))
        return [
            _line(_LEFT, height, _LEFT + _WIDTH, height, "#b02a37", dashed=True),
            _text(_LEFT + _WIDTH, height - 4, f"budget {_megabytes(size)}", end=True),
        ]


def _megabytes(size: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"


def _mark(size: int, height: float) -> str:
    return _text(_LEFT - 6, height + 4, _megabytes(size), end=True)


def _text(x: float, y: float, text: str, *, end: bool = False, size: int = 11) -> str:
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{anchor}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dashes}/>'
    )
