"""Every mutant of a rule is refused by the verifier, or listed by hand as true as well.

The default run takes each guard and condition that is left out, and a sample of the rest.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from symgraph.rewriting import Rule
from symgraph.rewriting.mutants import Mutant, mutants_of
from symgraph.rewriting.packs import every_rule
from symgraph.rewriting.verifier import verify_rule

FILES = (
    *("algebra", "choice", "contraction", "erf", "exponential", "gradient", "movement"),
    *("probability", "reduction", "stability", "trigonometric"),
)
"""Whose surviving mutants have been gone through by hand; the newer files have not."""
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


def true_mutants() -> dict[str, str]:
    """Reasons by mutant, as a mutant prints."""
    known: dict[str, str] = {}
    reason = ""
    listed = Path(__file__).with_name("support").joinpath("true_mutants.txt")
    for line in listed.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:].strip()
        elif line.strip() and reason:
            known[line.strip()] = reason
    return known


TRUE = true_mutants()


def survives(mutant: Mutant) -> bool:
    """Whether the verifier passes a mutant that is on neither list."""
    if mutant.rule is None or str(mutant) in TRUE or str(mutant) in OPEN:
        return False
    return verify_rule(mutant.rule, failures=1).ok


def in_default_run(mutant: Mutant) -> bool:
    left_out = any(words in mutant.what for words in LEFT_OUT)
    return left_out or crc32(str(mutant).encode()) % SAMPLE == 0


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


def test_the_list_of_true_mutants_names_mutants() -> None:
    listed = {text.partition(":")[0] for text in TRUE}
    made = {str(each) for rule in RULES if rule.name in listed for each in mutants_of(rule)}
    assert set(TRUE) - made == set()
