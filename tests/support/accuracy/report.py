"""A report on many programs: counts, the worst and the median loss, and failures as source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from randomgraphs.program import Program
from randomgraphs.shrink import shrunk

from .grammar import accuracy_program
from .judge import Case, Finding, findings

__all__ = ["Tally", "failing", "shown", "smaller"]

FAILURES = ("wrong", "lost", "worse")


@dataclass
class Tally:
    """The results over programs, magnitudes and dtypes."""

    programs: int = 0
    numbers: int = 0
    unjudged: int = 0
    errors: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    losses: list[float] = field(default_factory=list)
    failures: list[Case] = field(default_factory=list)

    def run(self, seed: int, dtype: str) -> list[Case]:
        """Try one program at all magnitudes, and return the cases that fail."""
        self.programs += 1
        try:
            cases = findings(accuracy_program(seed), dtype)
        except Exception as error:
            self.errors.append(f"{seed} {dtype}: {type(error).__name__}: {error}")
            return []
        for case in cases:
            self.unjudged += not case.judged
            self.numbers += len(case.losses)
            self.losses.extend(case.losses)
            self.verdicts.update(
                {f"{each.verdict} {case.dtype} {case.magnitude}" for each in case.found}
            )
        bad = failing(cases)
        self.failures.extend(bad)
        return bad

    def text(self, show: int = 20, shrink: bool = False) -> str:
        """The table, and failures as readable source."""
        losses = np.array(self.losses or [1.0])
        asked = losses[losses != 1.0]
        lines = [
            f"programs x dtypes {self.programs}, numbers {self.numbers}, "
            f"cases without a judge {self.unjudged}, errors {len(self.errors)}",
            f"loss against the graph as derived: median {np.median(losses):.2g}, of numbers that "
            f"differ {np.median(asked) if asked.size else 1:.2g}, worst {np.max(losses):.3g}; "
            + ", ".join(f"> {k:g}: {int(np.sum(losses > k))}" for k in (10, 30, 100, 1000)),
            *[f"  {count:5d}  {verdict}" for verdict, count in sorted(self.verdicts.items())],
            *self.errors[:show],
        ]
        seen: set[int] = set()
        for case in sorted(self.failures, key=_severity):
            if case.program.seed in seen or len(seen) >= show:
                continue
            seen.add(case.program.seed)
            lines.append(shown(smaller(case) if shrink else case))
        return "\n".join(lines)


def failing(cases: Iterable[Case]) -> list[Case]:
    """The cases with a number that is wrong, lost or worse."""
    return [case for case in cases if any(each.verdict in FAILURES for each in case.found)]


def _severity(case: Case) -> tuple[int, int]:
    worst = min(FAILURES.index(each.verdict) for each in case.found if each.verdict in FAILURES)
    return worst, case.program.seed


def shown(case: Case) -> str:
    """The source, the numbers, the findings and the simplified graph."""
    outputs = ["value", *[f"d{name}" for name in case.program.targets]]
    at = ", ".join(f"{name}={value.tolist()!r}" for name, value in case.at.items())
    rows = [_row(each) for each in case.found if each.verdict in FAILURES]
    return "\n".join(
        [
            f"--- program {case.program.seed}, {case.dtype}, {case.magnitude}",
            case.program.source.rstrip(),
            f"  at {at}",
            f"  outputs {', '.join(outputs)}, one after the other",
            *rows[:6],
            f"  simplified: {case.simple.formula()}",
        ]
    )


def _row(each: Finding) -> str:
    return (
        f"  {each.verdict.upper()} number {each.place}: derived {each.derived!r}, simplified "
        f"{each.simplified!r}, exact {each.exact}, loss {each.loss:.3g}"
    )


def smaller(case: Case) -> Case:
    """The smallest program found that fails at this magnitude in the same way."""
    wanted = {each.verdict for each in case.found if each.verdict in FAILURES}

    def again(program: Program) -> Case | None:
        try:
            (found,) = findings(program, case.dtype, (case.magnitude,))
        except Exception:
            return None
        return found if wanted & {each.verdict for each in found.found} else None

    found = again(shrunk(case.program, lambda program: again(program) is not None, tries=60))
    return found or case
