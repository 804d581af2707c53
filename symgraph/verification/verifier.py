"""The verifier: whether a rule is as sound as it says, tried on operands made from its own guards.

Both sides are evaluated by the plain interpreter over dtypes, shapes (0-d, empty, length 1,
broadcasting both ways) and values (NaN, infinities, both zeros, subnormal, huge, ties, ordinary),
and compared at the declared grade:

- `exact`: bit for bit, NaN, infinities and -0.0 included;
- `rounding`: measured against high precision. Where the left side is right, so is the right side;
  where the left overflows, the right may be finite but must then be right; where the mathematics
  has no value, neither side has a finite one. An infinite operand is taken as the limit of large
  ones. Of a sum near the largest number it is the order that decides what overflows, and both sides
  are looked at again a little below;
- `domain`: as `rounding`, where the left side is not NaN.

A rule that declares itself `stable` must moreover lose no more digits than its left side, element
by element. Gradients of both sides agree too. A rule for which no operands are found, or no numbers
at which its sides have values, fails: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..rewriting.guards import Guard
from ..rewriting.report import Report
from ..rewriting.rule import Rule, Soundness
from .instances import instances
from .proofs import is_proved
from .trials import InstanceTrial

__all__ = ["Report", "verify_rule"]


def verify_rule(
    rule: Rule,
    *,
    seed: int = 0,
    wanted: int = 16,
    attempts: int = 300,
    failures: int = 3,
    thorough: bool = False,
) -> Report:
    """Try a rule on operands made from its guards, at its grade and at each grade it can earn.

    Parameters
    ----------
    rule : Rule
    seed : int
    wanted, attempts : int
        How many different instances to look for, in how many tries.
    failures : int
        Stop after so many.
    thorough : bool
        Enumerate ranks 0 to 4 with lengths 0 to 3 as well, and draw a thousand numbers and more of
        each dtype: slow.
    """
    report = Report(rule.name, rule.sound)
    grades: dict[Soundness, Mapping[str, tuple[Guard, ...]]] = {rule.sound: {}, **rule.earned}
    for sound, extra in grades.items():
        rng = np.random.default_rng([seed, *rule.name.encode()])
        fired = 0
        try:
            for instance in instances(
                rule, sound, extra, rng, wanted, attempts, every_shape=thorough
            ):
                fired += 1
                InstanceTrial(instance, rng, report, thorough).run()
                if len(report.failures) >= failures:
                    return report
        except Exception as error:  # a rule may raise anything
            report.failures.append(f"it cannot be applied: {type(error).__name__}: {error}")
        report.instances += fired
        if not fired:
            report.failures.append(
                f"no operands were found on which it fires at grade {sound}: nothing is verified"
            )
    if not report.elements and not report.failures:
        report.failures.append("no numbers were found for which its sides have values")
    report.proved = report.ok and is_proved(rule)
    return report
