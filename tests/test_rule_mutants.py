"""Every mutant of a rule is refused by the verifier, or listed by hand as true as well.

The default run takes each guard and condition that is left out, and a sample of the rest.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from zlib import crc32

import pytest

from symgraph.rewriting import Rule
from symgraph.rewriting.packs import every_rule
from symgraph.verification.equivalent_mutants import EquivalentMutants
from symgraph.verification.mutants import Mutant, mutants_of
from symgraph.verification.verifier import verify_rule

FILES = (
    *("algebra", "choice", "contraction", "erf", "exponential", "gradient", "movement"),
    *("probability", "reduction", "sigmoid", "stability", "trigonometric", "truth_values"),
    *("blocks", "comparison", "diagonals", "elementary", "indexing", "lifting", "linalg"),
    *("parity", "updates"),
)
"""Whose surviving mutants have been gone through by hand."""
RULES = [rule for rule in every_rule() if rule.function.__module__.rpartition(".")[2] in FILES]
LEFT_OUT = ("without ", "nonnegative for", "nonpositive for", "nonzero for")
SAMPLE = 40
"""One in so many of the other mutants is tried in the default run."""


OPEN = {
    line
    for line in Path(__file__)
    .with_name("support")
    .joinpath("open_mutants.txt")
    .read_text(encoding="utf-8")
    .splitlines()[3:]
    if line
}
"""Survivors that nobody has judged yet."""


SUPPORT = Path(__file__).with_name("support")
TRUE = EquivalentMutants(SUPPORT.joinpath("true_mutants.txt").read_text(encoding="utf-8"))


def survives(mutant: Mutant) -> bool:
    """Whether the verifier passes a mutant that is on neither list."""
    if mutant.rule is None or TRUE.reason(str(mutant)) or str(mutant) in OPEN:
        return False
    return verify_rule(mutant.rule, failures=1).ok


def in_default_run(mutant: Mutant) -> bool:
    left_out = any(words in mutant.what for words in LEFT_OUT)
    return left_out or crc32(str(mutant).encode()) % SAMPLE == 0


@pytest.mark.sampled(one_in=64)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_mutants_are_refused(rule: Rule) -> None:
    chosen = [each for each in mutants_of(rule) if in_default_run(each)]
    assert [str(each) for each in chosen if survives(each)] == []


@pytest.mark.fuzz
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_mutant_is_refused(rule: Rule) -> None:
    assert [str(each) for each in mutants_of(rule) if survives(each)] == []


@pytest.mark.fuzz
def test_open_mutants_survive() -> None:
    names = {line.partition(":")[0] for line in OPEN}
    made = {str(each): each for rule in RULES if rule.name in names for each in mutants_of(rule)}
    assert OPEN - set(made) == set()
    refused = [
        line
        for line in sorted(OPEN)
        if (changed := made[line].rule) is not None and not verify_rule(changed, failures=1).ok
    ]
    assert refused == [], "refused now: strike them"


@pytest.mark.fuzz
def test_the_list_of_true_mutants_names_mutants() -> None:
    listed = {
        (name, what)
        for what, entries in TRUE.reasons.items()
        for names, _ in entries
        for name in names.split("|")
    }
    made = [str(each).partition(": ") for rule in RULES for each in mutants_of(rule)]
    by_text: dict[str, list[str]] = {}
    for rule, _, what in made:
        by_text.setdefault(what, []).append(rule)
    idle = [
        f"{name}: {what}"
        for name, what in sorted(listed)
        if not any(fnmatchcase(rule, name) for rule in by_text.get(what, ()))
    ]
    assert idle == []
