"""Rules proved by SymPy: how many, and none that is wrong."""

from __future__ import annotations

import pytest
from verdicts import verdicts

import symgraph.numpy as snp
from symgraph.rewriting import (
    Array,
    Boolean,
    Identity,
    Nonnegative,
    Positive,
    Real,
    Rule,
    rule,
)
from symgraph.rewriting.packs import every_rule
from symgraph.saturation.axioms import AXIOMS
from symgraph.verification import proofs
from symgraph.verification.proofs import KEPT, is_proved, statement
from symgraph.verification.verifier import verify_rule


def test_the_scalar_rules_are_proved() -> None:
    scalar = [each for each in (*every_rule(), *AXIOMS) if not each.statics]
    proved = [each for each in scalar if is_proved(each)]
    assert len(proved) >= 255


@pytest.mark.whole
def test_the_kept_verdicts_are_those_that_sympy_finds() -> None:
    assert KEPT.read_text(encoding="utf-8") == verdicts(), "run python tests/support/verdicts.py"


def test_a_kept_verdict_is_told_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def proof(_: Rule) -> bool:
        raise AssertionError

    monkeypatch.setattr(proofs, "proof_found", proof)
    told = [is_proved(each) for each in (*every_rule(), *AXIOMS)]
    assert any(told)
    assert not all(told)
    with pytest.raises(AssertionError):
        is_proved(log_of_any_product)


def test_a_statement_tells_apart_what_a_proof_does() -> None:
    every = (log_of_any_product, log_of_positive_product, over_itself, over_itself_on_its_domain)
    assert len({statement(each) for each in every}) == len(every)


@rule(sound="rounding")
def log_of_any_product(x: Real, y: Real) -> Identity:
    """Of two negative numbers only the left side has a value."""
    return snp.log(x * y), snp.log(x) + snp.log(y)


@rule(sound="rounding")
def log_of_positive_product(x: Positive, y: Positive) -> Identity:
    """True."""
    return snp.log(x * y), snp.log(x) + snp.log(y)


@rule(sound="rounding")
def root_of_square(x: Real) -> Identity:
    """The absolute value is meant."""
    return snp.sqrt(snp.square(x)), x


@rule(sound="rounding")
def root_of_nonnegative_square(x: Nonnegative) -> Identity:
    """True."""
    return snp.sqrt(snp.square(x)), x


@rule(sound="rounding")
def over_itself(x: Real) -> Identity:
    """At zero only the right side has a value."""
    return x / x, 1


@rule(sound="domain")
def over_itself_on_its_domain(x: Real) -> Identity:
    """True."""
    return x / x, 1


@rule(sound="rounding")
def exp_of_sum(x: Real, y: Real) -> Identity:
    """A product is meant."""
    return snp.exp(x + y), snp.exp(x) + snp.exp(y)


@rule(sound="rounding")
def larger_of_two(x: Real, y: Real) -> Identity:
    """Only if y is not larger."""
    return snp.maximum(x, y), x


@rule(sound="rounding")
def negated_difference(x: Real, y: Real) -> Identity:
    """A sign is lost."""
    return -(x - y), x - y


@rule(sound="exact")
def not_and(c: Boolean, d: Boolean) -> Identity:
    """Or is meant."""
    return snp.logical_not(snp.logical_and(c, d)), snp.logical_and(~c, ~d)


@rule(sound="exact")
def chosen(c: Boolean, x: Array, y: Array) -> Identity:
    """The branches change places."""
    return snp.where(c, x, y), snp.where(c, y, x)


WRONG = [
    *(log_of_any_product, root_of_square, over_itself, exp_of_sum, larger_of_two),
    *(negated_difference, not_and, chosen),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.name)
def test_wrong_rules_are_not_proved(wrong: Rule) -> None:
    assert not is_proved(wrong)
    assert not verify_rule(wrong, failures=1).ok


@pytest.mark.parametrize(
    "true",
    [log_of_positive_product, root_of_nonnegative_square, over_itself_on_its_domain],
    ids=lambda each: each.name,
)
def test_with_its_guard_the_same_is_proved(true: Rule) -> None:
    assert is_proved(true)
    report = verify_rule(true)
    assert report.ok
    assert report.proved
    assert "proved by SymPy" in str(report)


def test_rules_about_axes_are_left_to_samples() -> None:
    (sums,) = [each for each in every_rule() if each.name == "sum_of_sum"]
    assert not is_proved(sums)
    assert "SymPy" not in str(verify_rule(sums))
