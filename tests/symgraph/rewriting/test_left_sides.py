"""The index of left sides that a pack ships: true, up to date, and not used where it is not."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import rewrites
import symgraph.numpy as snp
from symgraph.cli.main import main
from symgraph.errors import RuleError
from symgraph.rewriting import Real, RulePack, rule
from symgraph.rewriting.left_sides import INDEX, LeftSide
from symgraph.rewriting.packs import load_packs

Imported = Callable[..., ModuleType]
OURS = Path(rewrites.__file__).parent / INDEX
TEXT = """
import symgraph.numpy as snp
from symgraph.rewriting import Real, RulePack, rule

read = []


@rule(sound="rounding")
def sines_written_out(x: Real):
    read.append(x)
    return snp.sin(x) * snp.sin(-x), -snp.square(snp.sin(x))


PACK = RulePack.of("sines", sines_written_out)
"""


def test_ours_is_up_to_date() -> None:
    told = load_packs()[0].index()
    assert OURS.read_text(encoding="utf-8") == told, "symgraph rules index > rewrites/rules.index"


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "index"]) == 0
    assert capsys.readouterr().out == OURS.read_text(encoding="utf-8")


def test_left_sides_are_as_they_are_read() -> None:
    assert [each.name for each in load_packs()[0] if each.shipped != LeftSide.of(each.lhs)] == []


# -- a stranger's pack ---------------------------------------------------------------------------
@pytest.fixture
def imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of a text; each call has a folder of its own."""

    def make(text: str, index: str = "", name: str = "sines_rules") -> ModuleType:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        if index:
            (folder / INDEX).write_text(index, encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make
    sys.modules.pop("sines_rules", None)


def test_a_rule_is_read_when_it_is_asked_for(imported: Imported) -> None:
    index = imported(TEXT).PACK.index()
    assert "\nsines_written_out 4 multiply sin sin\n" in index
    module = imported(TEXT, index)
    sines = module.sines_written_out
    assert sines.left_side.head == "multiply"
    assert module.read == []
    assert str(sines) == str(imported(TEXT).sines_written_out)
    assert len(module.read) == 1


def test_a_changed_module_is_read_as_it_is(imported: Imported) -> None:
    index = imported(TEXT).PACK.index()
    changed = imported(TEXT.replace("snp.sin(x) * snp", "snp.sin(x) + snp"), index)
    assert changed.sines_written_out.left_side.head == "add"


@pytest.mark.parametrize("index", ["x", "sines_rules.py\n", "sines_rules.py 12\nsines_written_out"])
def test_a_damaged_index_is_not_used(imported: Imported, index: str) -> None:
    assert len(imported(TEXT, index).read) == 1


def test_lines_may_end_as_on_windows(imported: Imported) -> None:
    index = imported(TEXT).PACK.index()
    assert imported(TEXT.replace("\n", "\r\n"), index).read == []


def test_a_function_of_another_text_is_read(imported: Imported) -> None:
    index = imported(TEXT).PACK.index()
    module = imported(TEXT, index)
    text = "def sines_written_out(x: Real):\n    return snp.cos(x) * snp.cos(-x), snp.cos(x)"
    scope = {**vars(module), "Real": Real}
    exec(compile(text, "<mutant>", "exec"), scope)
    other = rule(sound="rounding")(scope["sines_written_out"])
    assert other.left_side.operands == ("cos", "cos")


def test_rules_without_a_module_are_left_out(imported: Imported) -> None:
    scope = {"snp": snp}
    exec(compile("def twice(x):\n    return x + x, x * 2", "<notebook>", "exec"), scope)
    scope["twice"].__annotations__ = {"x": Real}
    typed = rule(sound="rounding")(scope["twice"])
    assert "twice" not in RulePack.of("both", imported(TEXT).PACK, typed).index()
    assert RulePack.of("typed", typed).index() == ""


def test_modules_in_several_folders_are_told(imported: Imported) -> None:
    one, other = imported(TEXT).PACK, imported(TEXT.replace("sines_written_out", "others")).PACK
    with pytest.raises(RuleError, match="several folders"):
        RulePack.of("both", one, other).index()
