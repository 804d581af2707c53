"""The page's document, and the policy that admits its own script and style by their hashes."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

from ..explorer.page import hash_of, own_hashes

__all__ = ["document"]


def document(token: str) -> tuple[bytes, str]:
    """The page with its token, and the value of its Content-Security-Policy header.

    The script may ask this server alone. Pictures are images, which run nothing; the explorer is
    shown in a frame without privileges, whose script the policy names as well.
    """
    style, script = _own("page.css"), _own("page.js")
    frame_style, frame_script = own_hashes()
    policy = (
        "default-src 'none'; connect-src 'self'; img-src data:; "
        f"style-src '{hash_of(style)}' '{frame_style}'; "
        f"script-src '{hash_of(script)}' '{frame_script}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    parts = {"TOKEN": escape(token), "STYLE": style, "SCRIPT": script}
    page = re.sub(r"@([A-Z]+)@", lambda found: parts[found[1]], _own("page.html"))
    return page.encode(), policy


def _own(name: str) -> str:
    return files(__package__ or "symgraph.page").joinpath(name).read_text(encoding="utf-8")
