"""Writes the results of the reference's examples anew: `python tests/support/reference.py`.

The statements stand in `symgraph/reference/*.txt`; what is shown under them is what they give.
`tests/test_numpy_docs.py` runs them as doctests.
"""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np

import symgraph as sg
import symgraph.numpy as snp
from symgraph.reference.entries import PLACE


def shown(statement: str, names: dict[str, object]) -> str:
    """What the interpreter shows for a statement."""
    tree = ast.parse(statement)
    if not isinstance(tree.body[0], ast.Expr):
        exec(statement, names)
        return ""
    return f"{eval(statement, names)!r}\n"


def rewritten(block: str) -> str:
    """An entry with the results of its examples."""
    told, found, examples = block.partition(">>> ")
    if not found:
        return block
    names: dict[str, object] = {"np": np, "sg": sg, "snp": snp}
    statements = [line[4:] for line in (found + examples).splitlines() if line.startswith(">>> ")]
    return told + "".join(f">>> {each}\n{shown(each, names)}" for each in statements).rstrip("\n")


def rewrite(path: Path) -> None:
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    written: list[str] = []
    for block in blocks:
        try:
            written.append(rewritten(block))
        except Exception as error:
            error.add_note(f"in the entry {block.splitlines()[0]!r} of {path.name}")
            raise
    path.write_text("\n\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("error")
    for each in sorted(PLACE.glob("*.txt")):
        rewrite(each)
