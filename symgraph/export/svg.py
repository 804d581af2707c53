"""Graphs as SVG pictures of the width 640, drawn without other programs.

Forward nodes are rounded boxes that run down the left. Gradient nodes are square boxes that run up
the right, each beside its forward node; see `layout`. A box shows the node's name and expression,
its dtype and shape, and the user's line. A tooltip shows them in full. All text is escaped, and the
picture can be read without colour.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from html import escape

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..ir.node import Node
from ..ir.traits import Arrangement
from ..notation.text import Spelled, escaped, shortened, spelled
from .labels import Labels
from .layout import BOX_HEIGHT, WIDTH, Box, Layout, bands
from .text import headline

__all__ = ["render"]

_STYLE = """
.sg-t,.sg-s{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.sg-m,.sg-a{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.sg-t{font-size:15px;font-weight:600;fill:#1d2733}
.sg-s{font-size:11px;fill:#5d6b7a}
.sg-m{font-size:11.5px;fill:#1d2733}
.sg-a{font-size:9.5px;fill:#5d6b7a}
.sg-n{font-weight:700}
.sg-l{fill:#2c6e35;font-weight:700}
.sg-f{fill:#edf3fb;stroke:#4a77ad;stroke-width:1.3}
.sg-g{fill:#fdf1e3;stroke:#c27a2c;stroke-width:1.3}
.sg-i{fill:#eaf5e8;stroke:#5b8f58;stroke-width:1.1}
.sg-r{stroke-dasharray:5 2.5}
.sg-o{fill:#1d2733}
.sg-w{fill:#fff}
.sg-b{fill:#f5f7f9}
.sg-e{fill:none;stroke:#6f7f90;stroke-width:1.3}
.sg-v{fill:none;stroke:#9aa8b6;stroke-width:1.1;stroke-dasharray:4 2.5}
""".strip().replace("\n", "")

_MARGIN = 16
_INPUT_HEIGHT = 22
_MOST_INPUTS = 60
_TEXT = 6.95  # width of a character of .sg-m
_SMALL = 5.75  # and of .sg-a
_FARTHEST = 700.0  # a longer edge is hard to follow: only its end is drawn, with a name
_OPEN, _CLOSE = "\ue000", "\ue001"  # around leaves in an expression; `escaped` removes them


@collector_paused()
def render(dag: Dag, title: str = "") -> str:
    """The picture of a graph, as the text of an SVG file.

    Parameters
    ----------
    dag : Dag
    title : str
        The title; by default the names of the outputs.
    """
    labels = Labels(dag)
    pills, below = _inputs(dag, labels, top=50.0)
    layout = bands(dag, labels.nodes, labels.orders, top=below + 34)
    height = layout.height + 8
    mark = _mark(dag)
    shown = shortened(escaped(title or ", ".join(dag.names)), 70)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img">',
        f"<title>{escape(shown)}</title>",
        f'<defs><style>{_STYLE}</style><marker id="{mark}" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="6.5" markerHeight="6.5" orient="auto"><path d="M0.5 0.8 L7.5 4 L0.5 7.2 Z" '
        'fill="#6f7f90"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>',
        f'<text class="sg-t" x="{_MARGIN}" y="26">{escape(shown)}</text>',
        f'<text class="sg-s" x="{_MARGIN}" y="42">{escape(headline(dag, labels))}</text>',
        *pills,
        *_headings(layout, below + 20),
        *_stripes(layout),
        *_edges(layout, labels, mark),
        *_boxes(layout, labels),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _mark(dag: Dag) -> str:
    """An identifier of the picture, for one page may hold several."""
    return f"sg{zlib.crc32(' '.join(dag.names).encode('utf-8', 'replace')) ^ len(dag):08x}"


# -- inputs and legend -----------------------------------------------------------------------------
def _inputs(dag: Dag, labels: Labels, top: float) -> tuple[list[str], float]:
    """A rounded box for each input, in rows, and the end of the last row."""
    parts: list[str] = []
    x, y = float(_MARGIN), top
    nodes = list(dag.inputs.values())
    for node in nodes[:_MOST_INPUTS]:
        name, aval = shortened(labels.name(node), 32), shortened(labels.aval(node), 40)
        width = 18 + len(name) * _TEXT + 6 + len(aval) * _SMALL
        if x + width > WIDTH - _MARGIN and x > _MARGIN:
            x, y = float(_MARGIN), y + _INPUT_HEIGHT + 6
        parts.append(_pill(node, x, y, width, name, aval, labels))
        x += width + 8
    if len(nodes) > _MOST_INPUTS:
        y += _INPUT_HEIGHT + 6
        more = f"and {len(nodes) - _MOST_INPUTS} inputs more"
        parts.append(f'<text class="sg-s" x="{_MARGIN}" y="{y + 15:g}">{more}</text>')
    return parts, y + _INPUT_HEIGHT if nodes else top


def _pill(
    node: Node, x: float, y: float, width: float, name: str, aval: str, labels: Labels
) -> str:
    return (
        f"<g><title>{_tooltip(node, labels)}</title>"
        f'<rect class="sg-i" x="{x:g}" y="{y:g}" width="{width:g}" '
        f'height="{_INPUT_HEIGHT}" rx="11"/>'
        f'<text class="sg-m" x="{x + 9:g}" y="{y + 15:g}">'
        f'<tspan class="sg-l">{escape(name)}</tspan>'
        f'<tspan class="sg-a" dx="6">{escape(aval)}</tspan></text></g>'
    )


def _headings(layout: Layout, y: float) -> list[str]:
    """The legend of each column: the shape of its boxes, and the direction it runs in."""
    told = {"forward": "forward, downwards", "gradient": "gradient, upwards"}
    if len(layout.columns) == 1:
        told = dict.fromkeys(told, "operands above results")
    parts: list[str] = []
    for column in layout.columns:
        x = next(box.x for box in layout.boxes.values() if box.column == column)
        kind, radius = ("sg-f", 4) if column == "forward" else ("sg-g", 0)
        parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y - 9:g}" width="14" height="10" rx="{radius}"/>'
            f'<text class="sg-s" x="{x + 20:g}" y="{y:g}">{told[column]}</text>'
        )
    return parts


def _stripes(layout: Layout) -> Iterable[str]:
    for position, band in enumerate(layout.bands):
        if position % 2 == 0:
            yield (
                f'<rect class="sg-b" x="8" y="{band.y:g}" width="{WIDTH - 16}" '
                f'height="{band.height:g}" rx="6"/>'
            )


# -- boxes -----------------------------------------------------------------------------------------
def _boxes(layout: Layout, labels: Labels) -> Iterable[str]:
    texts = _texts(layout, labels)
    return (_box(node, box, labels, texts) for node, box in layout.boxes.items())


def _texts(layout: Layout, labels: Labels) -> dict[Node, Spelled]:
    """The text of each node as an operand: its name, or its expression if it has no box."""
    texts: dict[Node, Spelled] = {}
    for node in labels.nodes:
        text, binding = labels.atom(node)
        if node not in layout.boxes and node.operands:
            # A broadcast, reshaped or cast number is written as the number.
            moved = node.op.view or node.op.traits.arrangement is Arrangement.CONVERTED
            inner = [texts[operand] for operand in node.operands]
            text, binding = inner[0] if moved else spelled(node, inner)
            text = shortened(_bare(text), 16)
        texts[node] = (text if node in layout.boxes else f"{_OPEN}{_bare(text)}{_CLOSE}"), binding
    return texts


def _bare(text: str) -> str:
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def _box(node: Node, box: Box, labels: Labels, texts: dict[Node, Spelled]) -> str:
    kind, radius = ("sg-g", 1.5) if labels.orders[node] else ("sg-f", 9)
    if node.copy:
        kind += " sg-r"
    frame = labels.frame(node)
    source = shortened(escaped(str(frame)), 22) if frame else ""
    room = int((box.width - 20) / _SMALL) - len(source) - 1
    aval = shortened(labels.aval(node), max(room, 8))
    x, y = box.x, box.y
    return (
        f"<g><title>{_tooltip(node, labels)}</title>"
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{box.width:g}" '
        f'height="{BOX_HEIGHT}" rx="{radius}"/>'
        f'<text class="sg-m" x="{x + 10:g}" y="{y + 16:g}">'
        f"{_spans(node, box, labels, texts)}</text>"
        f'<text class="sg-a" x="{x + 10:g}" y="{y + 30:g}">{escape(aval)}</text>'
        f'<text class="sg-a" x="{x + box.width - 10:g}" y="{y + 30:g}" text-anchor="end">'
        f"{escape(source)}</text>{_flags(node, box, labels)}</g>"
    )


def _flags(node: Node, box: Box, labels: Labels) -> str:
    """A dark flag with the name of an output, at the corner of its box."""
    names = labels.outputs.get(node)
    if not names:
        return ""
    text = shortened("→ " + ", ".join(names), 24)
    width = len(text) * _SMALL + 12
    x, y = box.x + box.width - width + 6, box.y - 9
    return (
        f'<rect class="sg-o" x="{x:g}" y="{y:g}" width="{width:g}" height="16" rx="8"/>'
        f'<text class="sg-a" x="{x + 6:g}" y="{y + 11.5:g}"><tspan class="sg-w sg-n">{escape(text)}'
        "</tspan></text>"
    )


def _spans(node: Node, box: Box, labels: Labels, texts: dict[Node, Spelled]) -> str:
    """The text `v3 = exp(z)`, cut to the box, with leaves in another colour."""
    name = labels.name(node)
    if not node.operands:
        return f'<tspan class="sg-n">{escape(shortened(name, 30))}</tspan>'
    text = spelled(node, [texts[operand] for operand in node.operands])[0]
    room = int((box.width - 20) / _TEXT) - len(name) - 3
    return f'<tspan class="sg-n">{escape(name)}</tspan> = {_marked(text, max(room, 8))}'


def _marked(text: str, room: int) -> str:
    spans: list[str] = []
    for position, piece in enumerate(text.replace(_CLOSE, _OPEN).split(_OPEN)):
        if room <= 0:
            break
        cut = piece if len(piece) <= room else piece[: room - 1] + "…"
        room -= len(cut)
        spans.append(f'<tspan class="sg-l">{escape(cut)}</tspan>' if position % 2 else escape(cut))
    return "".join(spans)


def _tooltip(node: Node, labels: Labels) -> str:
    lines = [f"{labels.name(node)} = {shortened(labels.expression(node), 400)}", labels.aval(node)]
    lines.append(labels.role(node))
    facts = node.params.get("assume", ()) if node.is_input else ()
    lines += [escaped(str(fact)) for fact in facts]
    lines += [f"{frame}   {shortened(frame.text, 160)}" for frame in labels.origins[node].frames]
    if labels.origins[node].rule:
        lines.append(f"by {labels.origins[node].rule}")
    return "\n".join(escape(escaped(line)) for line in lines)


# -- edges -----------------------------------------------------------------------------------------
def _edges(layout: Layout, labels: Labels, mark: str) -> Iterable[str]:
    """All edges, one for each pair of boxes. The expression shows the places of the operands."""
    boxes = layout.boxes
    for node, box in boxes.items():
        sources = [operand for operand in dict.fromkeys(node.operands) if operand in boxes]
        far = [each for each in sources if abs(boxes[each].y - box.y) > _FARTHEST]
        near = [each for each in sources if abs(boxes[each].y - box.y) <= _FARTHEST]
        across = [each for each in near if boxes[each].column != box.column]
        for each in near:
            if boxes[each].column == box.column:
                yield _along(boxes[each], box, mark)
        for position, each in enumerate(across):
            share = (position + 1) / (len(across) + 1)
            yield _across(boxes[each], box, share, mark)
        if far:
            yield _stub(far, box, labels, mark)


def _along(source: Box, target: Box, mark: str) -> str:
    """An edge within a column: straight between neighbours, else bent around other boxes."""
    down = target.y > source.y
    if abs(source.rank - target.rank) == 1:
        x = target.x + target.width / 2
        start = source.y + BOX_HEIGHT if down else source.y
        end = target.y if down else target.y + BOX_HEIGHT
        return f'<path class="sg-e" d="M{x:g} {start:g} V{end:g}" marker-end="url(#{mark})"/>'
    outward = -1 if source.column == "forward" else 1
    x = source.x if outward < 0 else source.x + source.width
    bow = x + outward * min(44.0, 14 + abs(target.y - source.y) / 12)
    start = source.y + BOX_HEIGHT * (0.7 if down else 0.3)
    end = target.y + BOX_HEIGHT * (0.3 if down else 0.7)
    return (
        f'<path class="sg-e" d="M{x:g} {start:g} C{bow:g} {start:g} {bow:g} {end:g} {x:g} {end:g}" '
        f'marker-end="url(#{mark})"/>'
    )


def _across(source: Box, target: Box, share: float, mark: str) -> str:
    """An edge between columns: dashed, for its value is kept until it is used."""
    right = target.x > source.x
    x = source.x + source.width if right else source.x
    end_x = target.x if right else target.x + target.width
    start = source.y + BOX_HEIGHT / 2
    end = target.y + BOX_HEIGHT * share
    middle = (x + end_x) / 2
    return (
        f'<path class="sg-v" d="M{x:g} {start:g} C{middle:g} {start:g} {middle:g} {end:g} '
        f'{end_x:g} {end:g}" marker-end="url(#{mark})"/>'
    )


def _stub(sources: list[Node], target: Box, labels: Labels, mark: str) -> str:
    """The end of edges from distant boxes, with the names of their sources."""
    names = ", ".join(labels.name(source) for source in sources)
    left = target.column == "forward"
    x = target.x if left else target.x + target.width
    start = x - 16 if left else x + 16
    y = target.y + BOX_HEIGHT / 2
    anchor = ' text-anchor="end"' if left else ""
    text = x - 5 if left else x + 5
    return (
        f'<path class="sg-v" d="M{start:g} {y:g} H{x:g}" marker-end="url(#{mark})"/>'
        f'<text class="sg-a" x="{text:g}" y="{y - 5:g}"{anchor}>'
        f"{escape(shortened(names, 9))}</text>"
    )
