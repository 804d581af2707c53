"""The order of the rooms: imports point down, stand at the top of a file, and stay cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import symgraph
from symgraph import memory
from symgraph.other_names import INSTEAD
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


def loaded_by(code: str) -> set[str]:
    """The modules that a new process has loaded after these statements."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(told.stdout.split())


def test_import_leaves_slow_modules_alone() -> None:
    # SymPy and SciPy cost more to import than all of symgraph may; networkx costs a third of it.
    slow = {"sympy", "scipy", "networkx", "importlib.metadata"}
    assert not loaded_by("import symgraph") & slow
    # So do SciPy's own distributions, filters and solvers.
    slow = {f"scipy.{name}" for name in ("stats", "signal", "integrate", "optimize", "interpolate")}
    ours = "symgraph.scipy.stats, symgraph.scipy.signal, symgraph.scipy.linalg"
    assert not loaded_by(f"import {ours}") & slow


def test_import_loads_no_verifier() -> None:
    loaded = loaded_by("import symgraph")
    assert "symgraph.graph" in loaded
    assert [name for name in loaded if name.startswith("symgraph.verification")] == []
    assert not {"symgraph.testing", verify.__module__} & loaded


@pytest.mark.whole
def test_what_few_programs_need_is_loaded_when_it_is_used() -> None:
    plans = {f"symgraph.memory.{name}" for name in ("aims", "budget", "liveness")}
    pages = {"symgraph.explorer.page", "symgraph.onnx.model", "symgraph.saturation.search"}
    assert not (plans | pages) & loaded_by("import symgraph")
    used = "import symgraph as sg; g = sg.trace(lambda x: x * x, x=()); "
    assert plans <= loaded_by(f"{used}g.memory()")
    assert not plans & loaded_by(f"{used}g.gradient('x').simplify()")
    assert "symgraph.explorer.page" in loaded_by(f"{used}g.explore()")


def test_the_collector_is_as_it_was_after_the_import() -> None:
    code = "import gc; {}; import symgraph; assert gc.isenabled() is {}"
    for before, after in (("pass", True), ("gc.disable()", False)):
        loaded_by(code.format(before, after))


def test_a_room_tells_a_name_that_it_lacks() -> None:
    with pytest.raises(AttributeError, match=r"'symgraph\.memory' has no attribute 'nothing'"):
        _ = memory.nothing  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_name_of_another_library_is_answered_by_ours() -> None:
    code = """
import symgraph
from symgraph.other_names import INSTEAD
for name, mend in INSTEAD.items():
    try:
        getattr(symgraph, name)
    except AttributeError as error:
        assert f"{name!r}. {mend}" in str(error), error
    else:
        raise AssertionError(name)
print(len(INSTEAD))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout.strip() == str(len(INSTEAD)), told.stderr


def test_dir_shows_the_public_names_only() -> None:
    shown = [name for name in dir(symgraph) if not name.startswith("__")]
    assert shown == sorted(symgraph.__all__)
    assert "__version__" in dir(symgraph)
    assert all(hasattr(symgraph, name) for name in shown)
