"""The verifier: it tests whether a rule is as sound as declared, on operands made from its guards.

Both sides are evaluated by the plain interpreter over dtypes, shapes (0-d, empty, length 1,
broadcasting both ways) and values (NaN, infinities, both zeros, subnormal, huge, ties, ordinary),
and compared at the declared grade:

- `exact`: bit for bit, NaN, infinities and -0.0 included;
- `rounding`: measured against high precision. Where the left side is accurate, the right side must
  be accurate; where the left side overflows, the right side may be finite but must then be
  accurate; where the exact value is undefined, neither side may be finite. An infinite operand
  stands for the limit of large ones. Near the largest number the order of a sum decides whether it
  overflows, so both sides are compared again at smaller numbers;
- `domain`: as `rounding`, where the left side is not NaN.

A rule that declares itself `stable` must also lose no more digits than its left side, element by
element. Gradients of both sides must agree too. A rule fails if no operands are found for it, or no
numbers at which its sides have values: then nothing is known about it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..rewriting.guards import Guard
from ..rewriting.report import Report
from ..rewriting.rule import Rule, Soundness
from .instance_trials import InstanceTrial
from .instances import instances
from .proofs import is_proved

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
    """Test a rule on operands made from its guards, at its grade and at each grade it can earn.

    Parameters
    ----------
    rule : Rule
    seed : int
    wanted, attempts : int
        The number of different instances to look for, and of tries.
    failures : int
        Stop after so many failures.
    thorough : bool
        Also enumerate ranks 0 to 4 with lengths 0 to 3, and draw over a thousand numbers of each
        dtype. This is slow.
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
