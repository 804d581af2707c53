"""`symgraph rules`: what the installed packs hold, and whether it is true."""

from __future__ import annotations

import argparse
import difflib
import inspect
from collections.abc import Sequence
from typing import Any

from ..errors import RuleError
from ..rewriting.packs import every_rule, load_packs
from ..rewriting.rule import Rule
from ..rewriting.verifier import verify_rule

__all__ = ["add_parser", "run"]


def add_parser(commands: Any) -> None:
    """Add `rules` to the commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "rules", help="list, show or verify the rewrite rules", allow_abbrev=False
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="every rule of every installed pack")
    listing.set_defaults(run=run, action="list", names=[])
    show = actions.add_parser("show", help="a rule with its guards, its text and its file")
    show.add_argument("names", nargs="+", metavar="NAME")
    show.set_defaults(run=run, action="show")
    check = actions.add_parser(
        "verify", help="both sides of rules against each other, all by default"
    )
    check.add_argument("names", nargs="*", metavar="NAME")
    check.set_defaults(run=run, action="verify")


def run(options: argparse.Namespace) -> int:
    """List, show or verify; 1 if a rule fails."""
    if options.action == "list":
        for pack in load_packs():
            print(f"{pack.name}: {len(pack)} rules\n{pack.catalogue()}\n")
        return 0
    chosen = _named(options.names)
    if options.action == "show":
        print("\n\n".join(_shown(rule) for rule in chosen))
        return 0
    verified = 0
    for rule in chosen:
        report = verify_rule(rule)
        verified += report.ok
        print(report, flush=True)
    print(f"{verified} of {len(chosen)} rules verified")
    return 0 if verified == len(chosen) else 1


def _named(names: Sequence[str]) -> list[Rule]:
    rules = {rule.name: rule for rule in every_rule()}
    unknown = [name for name in names if name not in rules]
    if unknown:
        close = difflib.get_close_matches(unknown[0], rules, n=3)
        mend = f"Did you mean {' or '.join(close)}?" if close else "symgraph rules list shows all."
        raise RuleError(f"There is no rule {unknown[0][:60]!r}.", mend=mend)
    return [rules[name] for name in names] if names else list(rules.values())


def _shown(rule: Rule) -> str:
    lines = [f"{rule.name}  [{rule.sound}]", f"  {rule}"]
    lines += [f"  [{grade}] where more is known" for grade in rule.earned]
    lines += [f"  lowers: {rule.measure}"] if rule.measure else []
    lines += [f"  for stability: {rule.stable}"] if rule.stable else []
    doc = inspect.cleandoc(rule.doc)
    lines += [f"  {line}" for line in doc.splitlines()]
    lines.append(f"  defined in {rule.function.__module__}")
    return "\n".join(lines)
