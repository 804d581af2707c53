"""Packs are found by entry point; ours enters by the door a stranger's does."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import RuleError
from symgraph.rewriting import Real, RulePack, rule
from symgraph.rewriting.driver import rewrite
from symgraph.rewriting.index import RuleSet
from symgraph.rewriting.packs import RulePackWarning, every_rule, load_packs
from symgraph.testing import verify

GOOD = """
import symgraph.numpy as snp
from symgraph.rewriting import Real, RulePack, rule


@rule(sound="rounding")
def sines_written_out(x: Real):
    "A stranger's identity."
    return snp.sin(x) * snp.sin(-x), -snp.square(snp.sin(x))


@rule(sound="rounding")
def a_strangers_mistake(x: Real):
    "Wrong below zero."
    return snp.sqrt(snp.square(x)) * 3, x * 3


PACK = RulePack("strange", (sines_written_out, a_strangers_mistake))
"""
CLASH = """
import symgraph.numpy as snp
from symgraph.rewriting import Array, RulePack, rule


@rule(sound="exact")
def times_one(x: Array):
    "Another rule of this name."
    return x * 1, x


PACK = RulePack("clashing", (times_one,))
"""

Installed = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Puts a module and its entry point where an installed package has them."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def make(module: str, source: str) -> None:
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[symgraph.rules]\n{module} = {module}:PACK\n", encoding="utf-8"
        )
        importlib.invalidate_caches()
        made.append(module)

    yield make
    for module in made:
        sys.modules.pop(module, None)


def test_the_standard_pack_comes_by_entry_point() -> None:
    entries = metadata.entry_points(group="symgraph.rules")
    assert "rewrites:PACK" in {entry.value for entry in entries}
    assert load_packs()[0].name == "standard"


def test_a_strangers_pack_is_found_beside_ours(install: Installed) -> None:
    install("strange_rules", GOOD)
    assert [pack.name for pack in load_packs()] == ["standard", "strange"]
    assert "sines_written_out" in {rule.name for rule in every_rule()}
    x = sg.input("x", (3,))
    rules = RuleSet(load_packs()).only("sines_written_out")
    (small,) = rewrite([(snp.sin(x) * snp.sin(-x)).node], rules)
    assert small.origin.rule == "sines_written_out"


def test_a_strangers_wrong_rule_is_left_out_by_the_verifier(install: Installed) -> None:
    install("strange_rules", GOOD)
    with pytest.warns(RulePackWarning, match="a_strangers_mistake"):
        standard, strange = load_packs(verify=verify)
    assert [rule.name for rule in strange] == ["sines_written_out"]
    assert len(standard) > 100


def test_verify_is_the_verifier_and_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"symgraph\.testing\.verify"):
        load_packs(verify=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "words"),
    [("1 / 0", "ZeroDivisionError"), ("PACK = 3", "not a RulePack"), ("", "AttributeError")],
)
def test_a_broken_pack_warns_and_is_left_out(install: Installed, source: str, words: str) -> None:
    install("broken_rules", source)
    with pytest.warns(RulePackWarning, match=words):
        found = load_packs()
    assert [pack.name for pack in found] == ["standard"]


def test_two_packs_that_claim_one_rule_are_both_named(install: Installed) -> None:
    install("clashing_rules", CLASH)
    with pytest.raises(RuleError, match=r"'standard'.*'clashing'"):
        load_packs()


def test_without_the_standard_pack_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("symgraph.rewriting.packs.entries_of", lambda group: ())
    with pytest.raises(RuleError, match="not installed"):
        load_packs()


# -- choosing rules ------------------------------------------------------------------------------
@rule(sound="rounding")
def sine_of_arcsine(x: Real):
    """What a user adds."""
    return snp.sin(snp.arcsin(x)) * 3, x * 3


def _squares() -> sg.Graph:
    return sg.trace(lambda x: np.sqrt(np.square(np.sin(x))), x=sg.spec("n"))


def test_a_rule_is_left_out_in_one_line() -> None:
    graph = _squares()
    assert "absolute" in [node.op.name for node in graph.simplify().nodes]
    kept = graph.simplify(rules=sg.default_rules().without("sqrt_of_square"))
    assert "sqrt_of_square" not in kept.history.fired
    assert "sqrt" in [node.op.name for node in kept.nodes]
    with pytest.raises(RuleError, match="no rule named 'sqrt_of_squares'"):
        sg.default_rules().without("sqrt_of_squares")


def test_only_some_rules_are_used() -> None:
    small = _squares().simplify(rules=sg.default_rules().only("sqrt_of_square"))
    assert set(small.history.fired) == {"sqrt_of_square"}


def test_a_rule_and_a_pack_are_added_in_one_line() -> None:
    graph = sg.trace(lambda x: np.sin(np.arcsin(x)) * 3, x=sg.spec("n", assume=sg.interval(-1, 1)))
    more = sg.default_rules().plus(sine_of_arcsine)
    assert len(more) == len(sg.default_rules()) + 1
    for rules in (more, sg.default_rules().plus(RulePack("mine", (sine_of_arcsine,)))):
        alone = rules.only("sine_of_arcsine")
        assert graph.simplify(rules=alone).history[0].rule == "sine_of_arcsine"
    assert graph.simplify(rules=[sine_of_arcsine]).history[0].by is sine_of_arcsine
    assert "sine_of_arcsine" in graph.simplify(rules=alone).explain()
    with pytest.raises(RuleError, match="Two rules are named 'sqrt_of_square'"):
        sg.default_rules().plus(replace(sine_of_arcsine, name="sqrt_of_square"))


def test_functions_that_rules_name_are_documented_when_a_user_asks_for_them() -> None:
    """In a process of its own, for others may have asked for them before."""
    seen = run_alone(
        "import symgraph as sg, symgraph.numpy as snp; rules = sg.default_rules();"
        "undone = len(snp._undocumented); doc = snp.log.__doc__;"
        "print(undone > 50, 'Parameters' in doc, 'Examples' in doc,"
        " len(snp._undocumented) == undone - 1)"
    )
    assert seen.split() == ["True"] * 4


def run_alone(source: str) -> str:
    """What a script prints in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return ran.stdout


def test_a_set_of_rules_tells_how_many_they_are() -> None:
    rules = sg.default_rules()
    assert repr(rules) == f"<set of {len(rules)} rules>"
    assert repr(rules.only("log_of_exp")) == "<set of 1 rule>"
