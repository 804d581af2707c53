"""Mutants that were judged true by hand, in a file: what no verifier can refuse."""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["Judged"]


class Judged:
    r"""Mutants known to be true, each with its reason.

    Parameters
    ----------
    text : str
        Lines `rule: what`, as a mutant prints, under a line `# reason`. What is true of mutants of
        several rules is said once: `one|other: what`, `*_of_reshaped: what`.

    Examples
    --------
    >>> known = Judged("# an even function\ncos_of_*: return (cos(-x), cos(x))")
    >>> known.reason("cos_of_absolute: return (cos(-x), cos(x))")
    'an even function'
    """

    def __init__(self, text: str) -> None:
        self.reasons: dict[str, list[tuple[str, str]]] = {}
        """By what was changed: the rules meant, and why that is true."""
        reason = ""
        for line in text.splitlines():
            if line.startswith("# "):
                reason = line[2:].strip()
            elif reason and line.strip():
                names, _, what = line.strip().partition(": ")
                self.reasons.setdefault(what, []).append((names, reason))

    def reason(self, mutant: str) -> str:
        """Why the mutant, as it prints, is true; empty if nobody has said so."""
        rule, _, what = mutant.partition(": ")
        for names, reason in self.reasons.get(what, ()):
            if any(fnmatchcase(rule, each) for each in names.split("|")):
                return reason
        return ""
