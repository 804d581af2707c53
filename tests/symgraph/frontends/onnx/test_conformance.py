"""ONNX's conformance suite: each case is read and gives ONNX's numbers, or is refused.

`unread.txt` has a line for each case that is refused, with the reason. A test compares it with what
is refused; `python tests/symgraph/frontends/onnx/test_conformance.py` writes it anew, with
`tests/support` in the path.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from onnxcases import Case, check, every_case, onnx

from symgraph.errors import SymgraphError

HERE = Path(__file__).with_name("unread.txt")
LEAST = 1_500
needs_onnx = pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed")


def refusals(cases: list[Case]) -> list[str]:
    """A line for each case that is refused; any other failure is one of the test."""
    lines: list[str] = []
    for case in cases:
        try:
            check(case)
        except SymgraphError as error:
            lines.append(f"{case.name}: {error.what}")
    read = len(cases) - len(lines)
    return [f"{read} of {len(cases)} cases are read and give ONNX's numbers.", *sorted(lines)]


@pytest.mark.oracle
@needs_onnx
def test_every_case_is_read_or_listed() -> None:
    lines = refusals(every_case())
    assert lines == HERE.read_text(encoding="utf-8").splitlines()
    assert int(lines[0].split()[0]) >= LEAST


if __name__ == "__main__":
    HERE.write_text("\n".join(refusals(every_case())) + "\n", encoding="utf-8")
