"""An operation's meaning stands in its record: names of operations elsewhere are counted and held.

`python tests/test_op_names.py` prints the count of each package and file.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from symgraph.ir.op import OPS

ROOT = Path(__file__).resolve().parent.parent / "symgraph"

MOST = {
    "algebra": 287,
    "export": 9,
    "lowering": 4,
    "memory": 0,
    "notation": 1,
    "passes": 0,
    "rewriting": 2,
    "saturation": 4,
    "verification": 14,
}
"""Of each package; to be lowered with every step, to a tenth of the 1,191 in all."""


def op_names(source: str) -> Iterator[str]:
    """The string literals that are names of operations."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_ours(node.value):
            yield node.value


def _is_ours(name: str) -> bool:
    """Whether an operation has the name that no user made, nor another test."""
    op = OPS.get(name)
    return op is not None and not op.custom and op.kernel.__module__.startswith("symgraph.")


def counted(package: str) -> Counter[str]:
    """How many there are in each file of a package."""
    files = (ROOT / package).rglob("*.py")
    return Counter({str(path): len(list(op_names(path.read_text()))) for path in files})


@pytest.mark.parametrize("package", MOST)
def test_no_more_names_of_operations_than_before(package: str) -> None:
    found = counted(package)
    assert found, "there is no such package"
    assert found.total() <= MOST[package], found.most_common(8)


def test_names_are_counted_in_code_alone() -> None:
    source = 'TABLE = {"sin", "nothing"}\n"""Of "sin" and cos."""\nif name == "add": pass\n'
    assert sorted(op_names(source)) == ["add", "sin"]


if __name__ == "__main__":
    for each in MOST:
        files = counted(each)
        print(f"{files.total():5} {each}")
        for path, count in files.most_common():
            print(f"{count:9} {Path(path).relative_to(ROOT)}")
