"""Graphs as SVG pictures, drawn without other programs.

Forward nodes are rounded boxes that run down the left, gradient nodes square boxes that run up the
right, each near its forward node; inputs are pills, with a thick rim if there is a derivative by
them. A box shows the node's name and expression, its dtype and shape, and the user's line; a
tooltip shows them in full. All text is escaped, and the picture can be read without colour. There
is no background: boxes have their own, and all else is readable on light and dark pages alike.
"""

from __future__ import annotations

import base64
import textwrap
import zlib
from html import escape

from ..ir.collector import collector_paused
from ..ir.dag import Dag
from ..notation.node_text import escaped, shortened
from .graph_text import headline
from .labels import Labels
from .layout import BoxPlace, Edge, Item, laid_out
from .scene import CLOSE, OPEN, Card, Scene, bare, scene, tooltip

__all__ = ["image", "render"]

_STYLE = """
.sg-t,.sg-s{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.sg-m,.sg-a{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.sg-t{font-size:15px;font-weight:600;fill:#6f7d8c}
.sg-s{font-size:11px;fill:#75828f}
.sg-m{font-size:11.5px;fill:#1d2733}
.sg-a{font-size:9.5px;fill:#55636f}
.sg-n{font-weight:700}
.sg-l{fill:#236b2e;font-weight:700}
.sg-f{fill:#edf3fb;stroke:#4a77ad;stroke-width:1.3}
.sg-g{fill:#fdf1e3;stroke:#c27a2c;stroke-width:1.3}
.sg-i{fill:#eaf5e8;stroke:#5b8f58;stroke-width:1.2}
.sg-p{fill:#d9efd5;stroke:#2f7d2b;stroke-width:2.4}
.sg-r{stroke-dasharray:5 2.5}
.sg-o{fill:#1d2733}
.sg-w{fill:#fff}
.sg-e{fill:none;stroke:#7b8a99;stroke-width:1.3}
.sg-v{fill:none;stroke:#8b99a7;stroke-width:1.2;stroke-dasharray:5 3}
""".strip().replace("\n", "")
_DARK = {
    ".sg-m": "fill:#e4eaf1",
    ".sg-a": "fill:#a9b6c3",
    ".sg-l": "fill:#9bd59f",
    ".sg-f": "fill:#1c2b3d;stroke:#6f9fd8",
    ".sg-g": "fill:#38280f;stroke:#d99a4a",
    ".sg-i": "fill:#1b3220;stroke:#74ad72",
    ".sg-p": "fill:#21442a;stroke:#8fd38c",
    ".sg-o": "fill:#dfe6ee",
    ".sg-w": "fill:#14202c",
}
# Notebooks tell their theme by an attribute or a class, which may differ from the system's.
_THEMES = ('[data-jp-theme-light="false"] ', ".vscode-dark ", 'html[theme="dark"] ')

_MARGIN = 16.0
_HEIGHT = 40.0
_TEXT = 6.95  # width of a character of .sg-m
_SMALL = 5.75  # and of .sg-a
_WIDEST, _NARROWEST = 264.0, 92.0
_LEAST = 360.0  # the least width of a picture, for its title


@collector_paused()
def render(dag: Dag, title: str = "", *, fold: bool | None = None) -> str:
    """The picture of a graph, as the text of an SVG file.

    Parameters
    ----------
    dag : Dag
    title : str
        The title; by default the names of the outputs.
    fold : bool, optional
        Whether to draw groups of nodes; by default where there are more than 70 boxes.
    """
    labels = Labels(dag)
    shown = scene(dag, labels, fold=fold)
    items = [
        Item(unit, _width(card), _HEIGHT, card.gradient, shown.beside.get(unit))
        for unit, card in shown.cards.items()
    ]
    draft = laid_out(items, shown.edges)
    width = max(draft.width + 2 * _MARGIN + 6, _LEAST)
    head, below = _head(dag, labels, title, width)
    chips, below = _chips(shown, labels, width, below)
    legend, below = _legend(shown, below, parameters=bool(labels.parameters))
    layout = laid_out(items, shown.edges, below, (width - draft.width) / 2)
    height = layout.height + 10
    mark = _mark(dag)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" class="sg" '
        'style="max-width:100%;height:auto">',
        f"<title>{escape(shortened(_title(dag, title), 200))}</title>",
        f'<defs><style>{_style()}</style><marker id="{mark}" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="6.5" markerHeight="6.5" orient="auto"><path d="M0.5 0.8 L7.5 4 L0.5 7.2 Z" '
        'fill="#7b8a99"/></marker></defs>',
        *head,
        *chips,
        *legend,
        *(_path(edge, mark) for edge in layout.edges),
        *(_box(shown.cards[unit], place) for unit, place in layout.places.items()),
        *(_flag(shown.cards[unit], place) for unit, place in layout.places.items()),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def image(picture: str, alternative: str) -> str:
    """A picture as HTML that notebooks show without trusting it: an image that holds its data."""
    data = base64.b64encode(picture.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(alternative)}"/>'


def _style() -> str:
    dark = "".join(f"{name}{{{rule}}}" for name, rule in _DARK.items())
    themes = "".join(
        ",".join(f"{theme}{name}" for theme in _THEMES) + f"{{{rule}}}"
        for name, rule in _DARK.items()
    )
    return f"{_STYLE}@media(prefers-color-scheme:dark){{{dark}}}{themes}"


def _mark(dag: Dag) -> str:
    """An identifier of the picture, for one page may hold several."""
    return f"sg{zlib.crc32(' '.join(dag.names).encode('utf-8', 'replace')) ^ len(dag):08x}"


# -- title, inputs and legend ----------------------------------------------------------------------
def _title(dag: Dag, title: str) -> str:
    return escaped(title) if title else ", ".join(shortened(escaped(name)) for name in dag.names)


def _head(dag: Dag, labels: Labels, title: str, width: float) -> tuple[list[str], float]:
    """The title in at most three lines, the size of the graph, and the end of both."""
    room = int((width - 2 * _MARGIN) / 9.8)  # of the widest of the usual fonts
    lines = textwrap.wrap(_title(dag, title), room, max_lines=3, placeholder=" …") or [""]
    parts: list[str] = []
    y = 8.0
    for line in lines:
        y += 19
        parts.append(f'<text class="sg-t" x="{_MARGIN:g}" y="{y:g}">{escape(line)}</text>')
    for line in textwrap.wrap(headline(dag, labels), int((width - 2 * _MARGIN) / 6)):
        y += 16
        parts.append(f'<text class="sg-s" x="{_MARGIN:g}" y="{y:g}">{escape(line)}</text>')
    return parts, y + 14


def _chips(shown: Scene, labels: Labels, width: float, top: float) -> tuple[list[str], float]:
    """A pill for each input that has no box, in rows, and the end of the last row."""
    parts: list[str] = []
    x, y, most = _MARGIN, top, 12 if shown.folded else 40
    for node in shown.chips[:most]:
        name, aval = shortened(labels.name(node), 32), shortened(labels.aval(node), 40)
        kind = "sg-p" if node in labels.parameters else "sg-i"
        wide = 24 + len(name) * _TEXT + len(aval) * _SMALL
        if x + wide > width - _MARGIN and x > _MARGIN:
            x, y = _MARGIN, y + 28
        parts.append(
            f"<g><title>{escape(tooltip(node, labels))}</title>"
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{wide:g}" height="22" rx="11"/>'
            f'<text class="sg-m" x="{x + 9:g}" y="{y + 15:g}"><tspan class="sg-l">{escape(name)}'
            f'</tspan><tspan class="sg-a" dx="6">{escape(aval)}</tspan></text></g>'
        )
        x += wide + 8
    if len(shown.chips) > most:
        y += 22
        more = f"and {len(shown.chips) - most} inputs more"
        parts.append(f'<text class="sg-s" x="{_MARGIN:g}" y="{y + 15:g}">{more}</text>')
    return parts, y + 34 if shown.chips else top


def _legend(shown: Scene, top: float, *, parameters: bool) -> tuple[list[str], float]:
    """The legend of the shapes, where there is more than one kind."""
    boxes = [card for card in shown.cards.values() if card.kind not in ("leaf", "parameter")]
    lanes = {card.gradient for card in boxes}
    if len(lanes) < 2:
        return [], top + 6
    parts: list[str] = []
    x = _MARGIN
    told_of = [("f", 4, "forward, downwards"), ("g", 0, "gradient, upwards")]
    told_of += [("p", 5, "parameter")] if parameters else []
    for kind, radius, told in told_of:
        parts.append(
            f'<rect class="sg-{kind}" x="{x:g}" y="{top:g}" width="14" height="10" rx="{radius}"/>'
            f'<text class="sg-s" x="{x + 20:g}" y="{top + 9:g}">{told}</text>'
        )
        x += 150
    return parts, top + 30


# -- boxes -----------------------------------------------------------------------------------------
def _width(card: Card) -> float:
    below = card.below if not card.place else f"{card.below}   {card.place}"
    wanted = max(len(bare(card.title)) * _TEXT, len(below) * _SMALL) + 22
    return min(max(wanted, _NARROWEST), _WIDEST)


def _box(card: Card, place: BoxPlace) -> str:
    leaves = {"leaf": ("sg-i", 20.0), "parameter": ("sg-p", 20.0)}
    kind, radius = {**leaves, "gradient": ("sg-g", 1.5)}.get(
        card.kind, ("sg-g" if card.gradient else "sg-f", 1.5 if card.gradient else 9.0)
    )
    kind += " sg-r" if card.again else ""
    x, y = place.x, place.y
    room = int((place.width - 20) / _SMALL)
    aval = shortened(card.below, max(room - (len(card.place[:22]) + 2 if card.place else 0), 8))
    source = shortened(card.place, max(room - len(aval) - 1, 4)) if card.place else ""
    sheet = ""
    if card.kind == "group":
        # A second sheet behind it: there is more inside.
        sheet = (
            f'<rect class="{kind}" x="{x + 4:g}" y="{y + 4:g}" width="{place.width:g}" '
            f'height="{place.height:g}" rx="{radius:g}"/>'
        )
    middle = f' text-anchor="middle" x="{x + place.width / 2:g}"'
    start, end = f' x="{x + 10:g}"', f' x="{x + place.width - 10:g}" text-anchor="end"'
    here = middle if card.kind in leaves else start
    title = _marked(card.title, int((place.width - 20) / _TEXT))
    parts = [
        f"<g><title>{escape(card.tip)}</title>{sheet}"
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{place.width:g}" '
        f'height="{place.height:g}" rx="{radius:g}"/>'
        f'<text class="sg-m"{here} y="{y + 17:g}">{title}</text>',
        f'<text class="sg-a"{here} y="{y + 31:g}">{escape(aval)}</text>',
        f'<text class="sg-a"{end} y="{y + 31:g}">{escape(source)}</text>' if source else "",
        "</g>",
    ]
    return "".join(parts)


def _flag(card: Card, place: BoxPlace) -> str:
    """A dark flag with the names of outputs, at the corner of their box."""
    if not card.outputs:
        return ""
    first, *others = card.outputs
    more = f" +{len(others)}" if others else ""
    text = f"→ {shortened(first, max(int(place.width / 2 / _SMALL) - 6, 8))}{more}"
    width = len(text) * _SMALL + 12
    x, y = place.x + place.width - width + 6, place.y + place.height - 4
    return (
        f'<rect class="sg-o" x="{x:g}" y="{y:g}" width="{width:g}" height="16" rx="8"/>'
        f'<text class="sg-a" x="{x + 6:g}" y="{y + 11.5:g}"><tspan class="sg-w sg-n">{escape(text)}'
        "</tspan></text>"
    )


def _marked(text: str, room: int) -> str:
    """The text `v3 = x * y`, cut to the box: the name is bold, leaves have another colour."""
    name, sign, rest = text.partition(" = ")
    spans: list[str] = []
    if sign and not name.startswith(OPEN):
        spans.append(f'<tspan class="sg-n">{escape(name)}</tspan> = ')
        room -= len(name) + 3
        text = rest
    elif not text.startswith(OPEN):
        return f'<tspan class="sg-n">{escape(shortened(text, max(room, 1)))}</tspan>'
    for position, piece in enumerate(text.replace(CLOSE, OPEN).split(OPEN)):
        if room <= 0:
            break
        cut = piece if len(piece) <= room else piece[: room - 1] + "…"
        room -= len(cut)
        spans.append(f'<tspan class="sg-l">{escape(cut)}</tspan>' if position % 2 else escape(cut))
    return "".join(spans)


# -- edges -----------------------------------------------------------------------------------------
def _path(edge: Edge, mark: str) -> str:
    """An edge; dashed between the lanes, for its value is kept until it is used."""
    (x, y), (_, out) = edge.points[:2]
    parts = [f"M{x:g} {y:g}" + (f"V{out:g}" if out != y else "")]
    runs = zip(edge.points[1::2], edge.points[2::2], edge.points[3::2], strict=False)
    for (x, y), (to_x, to_y), (_, end) in runs:
        # A curve between boxes of one row hangs into the channel below it.
        low = (y + to_y) / 2 if y != to_y else y + 30
        if x == to_x and y != to_y:
            parts.append(f"V{to_y:g}")
        else:
            parts.append(f"C{x:g} {low:g} {to_x:g} {low:g} {to_x:g} {to_y:g}")
        if end != to_y:
            parts.append(f"V{end:g}")
    kind = "sg-v" if edge.across else "sg-e"
    return f'<path class="{kind}" d="{"".join(parts)}" marker-end="url(#{mark})"/>'
