"""Pictures as PNG, by a renderer of SVG that is installed; this library draws no pixels."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import SymgraphError

__all__ = ["png"]


def png(picture: str, scale: float) -> bytes:
    """The bytes of a PNG file of a picture on white.

    Parameters
    ----------
    picture : str
        An SVG document of `svg.render`.
    scale : float
        Pixels for each unit of the picture.

    Raises
    ------
    SymgraphError
        If no renderer is installed.
    """
    # Renderers take the size of the file, not that of a page.
    plain = picture.replace(' style="max-width:100%;height:auto"', "", 1)
    renderer: Any
    try:
        renderer = import_module("resvg_py")
        return bytes(renderer.svg_to_bytes(svg_string=plain, zoom=scale, background="#ffffff"))
    except ImportError:
        pass
    try:
        renderer = import_module("cairosvg")
    except (ImportError, OSError):  # It raises the latter without the cairo library.
        raise SymgraphError(
            "A PNG needs a renderer of SVG, and none is installed.",
            mend='Install one: pip install "symgraph[png]"; or save the picture as .svg.',
        ) from None
    found = renderer.svg2png(bytestring=plain.encode(), scale=scale, background_color="white")
    return bytes(found)
