"""The order of the rooms: imports point down, stand at the top of a file, and stay cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import symgraph
from symgraph.testing import verify

ROOT = Path(__file__).resolve().parent.parent
OURS = ("symgraph", "rewrites")
MODULES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in OURS


def own_imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and module of each import of the project itself, by statement or by `import_module`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names if is_ours(name.name))
            case ast.ImportFrom(module=module, level=level) if level or is_ours(module or ""):
                yield node.lineno, "." * level + (module or "")
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ) if is_ours(name) or name.startswith("."):
                yield node.lineno, name
            case _:
                pass


def late_imports(source: str) -> list[tuple[int, str]]:
    """The imports of the project itself that wait inside a function."""
    functions = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    return sorted({found for function in functions for found in own_imports(function)})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import symgraph.dims", []),
        ("class A:\n    from symgraph import dims", []),
        ("def f():\n    import sympy", []),
        ("def f():\n    import symgraphics", []),
        ("def f():\n    import symgraph.ir.dims as d", [(2, "symgraph.ir.dims")]),
        ("def f():\n    from . import dims", [(2, ".")]),
        ("def f():\n    def g():\n        from rewrites import PACK", [(3, "rewrites")]),
        ("async def f():\n    from symgraph.ir.dims import Dim", [(2, "symgraph.ir.dims")]),
        ("def f():\n    importlib.import_module('symgraph.ops')", [(2, "symgraph.ops")]),
        ("f = lambda: __import__('symgraph')", [(1, "symgraph")]),
    ],
)
def test_late_imports_are_recognised(source: str, expected: list[tuple[int, str]]) -> None:
    assert late_imports(source) == expected


def test_both_packages_are_looked_at() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(OURS)


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_import_of_our_own_inside_a_function(path: Path) -> None:
    found = late_imports(path.read_text(encoding="utf-8"))
    assert not found, "\n".join(
        f"{path.relative_to(ROOT)}:{line} imports {name} inside a function; "
        "that is a cycle asking for a lower room"
        for line, name in found
    )


def test_arrows_point_down() -> None:
    pytest.importorskip("importlinter", reason="import-linter comes with the dev extra")
    code = "import importlinter.cli as cli; raise SystemExit(cli.lint_imports(no_cache=True))"
    checked = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_import_leaves_slow_modules_alone() -> None:
    # SymPy and SciPy cost more to import than all of symgraph may; networkx costs a third of it.
    slow = ("sympy", "scipy", "networkx", "importlib.metadata")
    code = f"import symgraph, sys; print([each for each in {slow} if each in sys.modules])"
    imported = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert imported.stdout.strip() == "[]"


def test_import_loads_no_verifier() -> None:
    code = "import symgraph, sys; print(*sys.modules)"
    imported = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = imported.stdout.split()
    assert "symgraph.graph" in loaded
    assert [name for name in loaded if name.startswith("symgraph.verification")] == []
    assert not {"symgraph.testing", verify.__module__} & set(loaded)


def test_dir_shows_the_public_names_only() -> None:
    shown = [name for name in dir(symgraph) if not name.startswith("__")]
    assert shown == sorted(symgraph.__all__)
    assert "__version__" in dir(symgraph)
    assert all(hasattr(symgraph, name) for name in shown)
