"""Writes what SymPy proves of the rules that come with symgraph.

python tests/support/verdicts.py
"""

from __future__ import annotations

from symgraph.rewriting.packs import every_rule
from symgraph.saturation.axioms import AXIOMS
from symgraph.verification.proofs import KEPT, proof_found, statement

__all__ = ["verdicts"]


def verdicts() -> str:
    """A line for each rule without params, sorted by statement."""
    found = {
        statement(each): proof_found(each)
        for each in (*every_rule(), *AXIOMS)
        if not each.statics and "\n" not in statement(each)
    }
    return "".join(f"{'proved' if found[each] else 'open'} {each}\n" for each in sorted(found))


if __name__ == "__main__":
    KEPT.write_text(verdicts(), encoding="utf-8")
