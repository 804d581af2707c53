"""The JSON schema of saved graphs, for readers and writers in other languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what `Graph.to_json` writes.

    It tells the form of a document. `sg.load` also checks what a schema cannot say: that nodes come
    before their uses, and that results are those of their operations.

    Returns
    -------
    dict
        The content of `graph.schema.json`, a file of the package.

    Examples
    --------
    >>> from symgraph.saving import schema
    >>> schema()["properties"]["version"]
    {'const': 1}
    """
    path = Path(__file__).with_name("graph.schema.json")
    return json.loads(path.read_text(encoding="utf-8"))
