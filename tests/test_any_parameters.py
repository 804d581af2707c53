"""Signatures that tell: the share of functions with an `Any` parameter is counted and held.

Kernels are left out: a function that takes an array namespace as `xp` gets arrays of any library,
and so do the rooms `namespace`, `backends`, `onnx` and `frontends`. `python
tests/test_any_parameters.py` prints the counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ("symgraph/namespace", "symgraph/backends", "symgraph/onnx", "symgraph/frontends")

HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""Parts of a file that may hold functions. Most of a file is expressions, which hold none."""

MOST = {
    "accuracy": 0,
    "algebra": 0,
    "array": 6,
    "autodiff": 0,
    "capture": 5,
    "cli": 0,
    "complexes": 14,
    "demo.py": 0,
    "facts": 0,
    "graph": 1,
    "ir": 3,
    "lowering": 0,
    "memory": 0,
    "native": 0,
    "numpy.py": 1,
    "ops": 23,
    "page": 3,
    "passes": 0,
    "random.py": 3,
    "reference": 1,
    "rewrites": 1,
    "rewriting": 0,
    "saturation": 0,
    "saving": 0,
    "scipy": 1,
    "transforms": 6,
    "verification": 0,
}
"""Functions with an `Any` parameter in each room; to be lowered, to 5 % of all functions."""

SHARE = 0.011
"""Of all functions, the share of those with an `Any` parameter."""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file, those inside others too, without kernels."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, HOLDERS)]
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if all(each.arg != "xp" for each in parameters(node)):
            yield node


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    told = node.args
    rest = [each for each in (told.vararg, told.kwarg) if each is not None]
    return [*told.posonlyargs, *told.args, *told.kwonlyargs, *rest]


def takes_any(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a parameter is annotated as `Any`, alone or beside None."""
    told = [each.annotation for each in parameters(node) if each.annotation is not None]
    return any(ast.unparse(each) in ("Any", "Any | None") for each in told)


def room(path: Path) -> str:
    """The room of a file: its folder under `symgraph`, or its own name."""
    inside = path.relative_to(ROOT)
    return inside.parts[1] if inside.parts[0] == "symgraph" else inside.parts[0]


@cache
def counted() -> dict[str, tuple[int, int]]:
    """For each room the functions with an `Any` parameter, and all functions."""
    found: dict[str, tuple[int, int]] = {}
    for tree in ("symgraph", "rewrites"):
        for path in sorted((ROOT / tree).rglob("*.py")):
            if str(path.relative_to(ROOT)).startswith(KERNELS):
                continue
            nodes = list(functions(path))
            some, every = found.get(room(path), (0, 0))
            found[room(path)] = (some + sum(map(takes_any, nodes)), every + len(nodes))
    return found


def share() -> float:
    counts = counted().values()
    return sum(some for some, _ in counts) / sum(every for _, every in counts)


def test_no_more_functions_with_any_than_before() -> None:
    counts = counted()
    assert {place: counts[place][0] for place in MOST if counts[place][0] > MOST[place]} == {}
    assert all(MOST[place] <= counts[place][1] for place in MOST)


def test_every_room_is_counted() -> None:
    assert {place for place, (some, _) in counted().items() if some} <= MOST.keys()
    assert share() <= SHARE


def test_annotations_are_counted_and_kernels_are_not() -> None:
    source = """
def told(x: int, *rest: object): ...
def untold(x: Any): ...
def gathered(*rest: Any): ...
def optional(x: Any | None = None): ...
def kernel(xp: Any, x: Any): ...
"""
    nodes = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)]
    assert [each.name for each in nodes if takes_any(each)] == [
        *["untold", "gathered", "optional", "kernel"]
    ]
    assert [each.arg for each in parameters(nodes[-1])] == ["xp", "x"]


if __name__ == "__main__":
    for place, (some, every) in sorted(counted().items(), key=lambda each: -each[1][0]):
        print(f"{some:5} of {every:5} {place}")
    print(f"{share():.1%}")
