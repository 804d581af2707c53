"""Mutants that a person has judged true, listed in a file: no verifier can refuse them."""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["EquivalentMutants"]


class EquivalentMutants:
    r"""Mutants known to be true, each with its reason.

    Parameters
    ----------
    text : str
        Lines `rule: change`, as a mutant prints, under a line `# reason`. One line can name several
        rules: `one|other: change`, `*_of_reshaped: change`.

    Examples
    --------
    >>> known = EquivalentMutants("# an even function\ncos_of_*: return (cos(-x), cos(x))")
    >>> known.reason("cos_of_absolute: return (cos(-x), cos(x))")
    'an even function'
    """

    def __init__(self, text: str) -> None:
        self.reasons: dict[str, list[tuple[str, str]]] = {}
        """For each change: the names of the rules, and the reason why the change is true."""
        reason = ""
        for line in text.splitlines():
            if line.startswith("# "):
                reason = line[2:].strip()
            elif reason and line.strip():
                names, _, change = line.strip().partition(": ")
                self.reasons.setdefault(change, []).append((names, reason))

    def reason(self, mutant: str) -> str:
        """The reason why a printed mutant is true; empty if it is not listed."""
        rule, _, change = mutant.partition(": ")
        for names, reason in self.reasons.get(change, ()):
            if any(fnmatchcase(rule, each) for each in names.split("|")):
                return reason
        return ""
