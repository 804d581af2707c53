"""`symgraph rules`: what the installed packs hold, and whether it is true."""

from __future__ import annotations

import argparse
import difflib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import InputError, RuleError
from ..op import OPS
from ..rewriting.packs import load_packs
from ..rewriting.pattern import Term, subterms
from ..rewriting.rule import SOUNDNESS, Rule, RulePack
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
    show.add_argument("--no-verify", action="store_true", help="leave the verification out")
    show.set_defaults(run=run, action="show", pack=None, grade=None, op=None)
    check = actions.add_parser(
        "verify", help="both sides of rules against each other, all by default"
    )
    check.add_argument("names", nargs="*", metavar="NAME")
    check.set_defaults(run=run, action="verify")
    for action in (listing, check):
        action.add_argument("--pack", help="only rules of this pack")
        action.add_argument("--grade", choices=SOUNDNESS, help="only rules of this soundness")
        action.add_argument("--op", help="only rules whose left side has this operation")


def run(options: argparse.Namespace) -> int:
    """List, show or verify; 1 if a rule fails."""
    op: str | None = options.op if options.action == "verify" else None
    if op is not None and op not in OPS:
        # Else none would be verified, and that reported as a success.
        close = difflib.get_close_matches(op, OPS, n=3)
        mend = f"Did you mean {' or '.join(close)}?" if close else ""
        raise InputError(f"There is no operation {op[:60]!r}.", mend=mend)
    if options.action == "list":
        return _listed(options)
    chosen = _named(options)
    if options.action == "show":
        print("\n\n".join("\n".join(_shown(pack, rule, options)) for pack, rule in chosen))
        return 0
    verified = 0
    for _, rule in chosen:
        report = verify_rule(rule)
        verified += report.ok
        print(report, flush=True)
    print(f"{verified} of {len(chosen)} rules verified")
    return 0 if verified == len(chosen) else 1


def _listed(options: argparse.Namespace) -> int:
    for pack in _packs(options):
        kept = RulePack(pack.name, tuple(rule for rule in pack if _wanted(rule, options)))
        if kept.rules:
            print(f"{pack.name}: {len(kept)} rules\n{kept.catalogue()}\n")
    return 0


def _packs(options: argparse.Namespace) -> Sequence[RulePack]:
    packs = load_packs()
    if options.pack is None:
        return packs
    chosen = [pack for pack in packs if pack.name == options.pack]
    if not chosen:
        known = ", ".join(pack.name for pack in packs)
        raise InputError(f"There is no pack {options.pack[:60]!r}.", mend=f"The packs are {known}.")
    return chosen


def _wanted(rule: Rule, options: argparse.Namespace) -> bool:
    ops = {part.op.name for part in subterms(rule.lhs) if isinstance(part, Term)}
    right_grade = options.grade is None or rule.sound == options.grade
    return right_grade and (options.op is None or options.op in ops)


def _named(options: argparse.Namespace) -> list[tuple[RulePack, Rule]]:
    """The rules named, with their packs; all that are wanted if none is."""
    rules = {rule.name: (pack, rule) for pack in _packs(options) for rule in pack.rules}
    names: Sequence[str] = options.names
    unknown = [name for name in names if name not in rules]
    if unknown:
        close = difflib.get_close_matches(unknown[0], rules, n=3)
        mend = f"Did you mean {' or '.join(close)}?" if close else "symgraph rules list shows all."
        raise RuleError(f"There is no rule {unknown[0][:60]!r}.", mend=mend)
    if names:
        return [rules[name] for name in names]
    return [each for each in rules.values() if _wanted(each[1], options)]


def _shown(pack: RulePack, rule: Rule, options: argparse.Namespace) -> Iterator[str]:
    yield f"{rule.name}  [{rule.sound}]  of pack {pack.name}"
    yield f"  {rule.lhs} → {rule.rhs}"
    yield from (f"  {line}" for line in inspect.cleandoc(rule.doc).splitlines())
    for variable in rule.variables:
        for guard in variable.guards:
            yield f"  if {variable.name}: {guard.name}"
    yield from (f"  if {condition}" for condition in rule.conditions)
    for grade, guards in rule.earned.items():
        told = (f"{name}: {guard.name}" for name in guards for guard in guards[name])
        yield f"  [{grade}] if {', '.join(told)}"
    for title, text in (
        ("lowers", rule.measure),
        ("for stability", rule.stable),
        ("at infinity", rule.limit),
    ):
        if text:
            yield f"  {title}: {text}"
    if rule.priority:
        yield f"  priority {rule.priority}"
    yield f"  defined in {rule.function.__module__}"
    if not options.no_verify:
        yield f"  verification: {verify_rule(rule)}"
