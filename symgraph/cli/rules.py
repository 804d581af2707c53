"""`symgraph rules`: lists, shows and verifies the rules of the installed packs."""

from __future__ import annotations

import argparse
import inspect
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InputError, RuleError, did_you_mean
from ..ir.op import OPS
from ..rewriting.packs import load_packs
from ..rewriting.pattern import OpPattern, subterms
from ..rewriting.rule import SOUNDNESS, Rule, RulePack
from ..saturation import axioms_besides
from ..verification.equivalent_mutants import EquivalentMutants
from ..verification.mutants import Mutant, mutants_of
from ..verification.proofs import is_proved
from ..verification.verifier import verify_rule

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `symgraph rules`."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list every rule of every installed pack")
    listing.set_defaults(run=run, action="list", names=[])
    show = actions.add_parser("show", help="show a rule with its guards, its text and its file")
    show.add_argument("names", nargs="+", metavar="NAME")
    show.add_argument("--no-verify", action="store_true", help="skip the verification")
    show.set_defaults(run=run, action="show", pack=None, grade=None, op=None)
    check = actions.add_parser("verify", help="compare both sides of rules, by default of all")
    check.add_argument("names", nargs="*", metavar="NAME")
    check.add_argument(
        "--mutants",
        action="store_true",
        help="break each rule in every place, and list the broken ones that the verifier passes",
    )
    check.add_argument(
        "--known",
        type=Path,
        metavar="FILE",
        help="mutants judged true by hand: lines 'rule: what', as printed, under '# reason'",
    )
    check.set_defaults(run=run, action="verify")
    index = actions.add_parser("index", help="print the file rules.index of a pack's folder")
    index.add_argument("--pack", default="standard", help="the pack, by default ours")
    index.set_defaults(run=run, action="index", names=[])
    for action in (listing, check):
        action.add_argument("--pack", help="only rules of this pack")
        action.add_argument("--grade", choices=SOUNDNESS, help="only rules of this soundness")
        action.add_argument("--op", help="only rules whose left side has this operation")


def run(options: argparse.Namespace) -> int:
    """List, show or verify; 1 if a rule fails."""
    op: str | None = options.op if options.action == "verify" else None
    if op is not None and op not in OPS:
        # Otherwise no rule would be verified, and the command would report success.
        raise InputError(f"There is no operation {op[:60]!r}.", mend=did_you_mean(op, OPS))
    if options.action == "index":
        print(_packs(options)[0].index(), end="")
        return 0
    if options.action == "list":
        return _listed(options)
    chosen = _named(options)
    if options.action == "show":
        print("\n\n".join("\n".join(_shown(pack, rule, options)) for pack, rule in chosen))
        return 0
    if options.mutants:
        return _mutants(chosen, options)
    verified = 0
    for _, rule in chosen:
        report = verify_rule(rule)
        verified += report.ok
        print(report, flush=True)
    print(f"{verified} of {len(chosen)} rules verified")
    return 0 if verified == len(chosen) else 1


def _mutants(chosen: Sequence[tuple[RulePack, Rule]], options: argparse.Namespace) -> int:
    """Verify every mutant of the rules; 1 if one passes and is not known to be true."""
    known = EquivalentMutants(options.known.read_text(encoding="utf-8") if options.known else "")
    total: Counter[str] = Counter()
    for _, rule in chosen:
        counts: Counter[str] = Counter()
        for mutant in mutants_of(rule):
            verdict = _verdict(mutant, known)
            counts[verdict] += 1
            if verdict == "pass":
                print(f"passes: {mutant}", flush=True)
        print(f"{rule.name}: {_summary(counts)}", flush=True)
        total += counts
    print(f"{len(chosen)} rules: {_summary(total)}")
    if total["pass"]:
        print("A mutant that passes is true as well, or shows that the verifier tests too little.")
    return 1 if total["pass"] else 0


def _verdict(mutant: Mutant, known: EquivalentMutants) -> str:
    if mutant.rule is None:
        return "undeclared"
    if known.reason(str(mutant)):
        return "true"
    return "pass" if verify_rule(mutant.rule, failures=1).ok else "refused"


def _summary(verdicts: Counter[str]) -> str:
    return (
        f"{verdicts.total()} mutants, {verdicts['refused']} refused, "
        f"{verdicts['undeclared']} cannot be declared, {verdicts['true']} known to be true, "
        f"{verdicts['pass']} pass"
    )


def _listed(options: argparse.Namespace) -> int:
    """Print a line for each rule: its grade, and `proved` if SymPy proves it, else `sampled`."""
    for pack in _packs(options):
        kept = [rule for rule in pack if _wanted(rule, options)]
        if not kept:
            continue
        used = ', for strategy="saturate" only' if pack.name == "axioms" else ""
        print(f"{pack.name}: {len(kept)} rules{used}")
        width = max(len(rule.name) for rule in kept)
        for rule in kept:
            known = "proved " if is_proved(rule) else "sampled"
            print(f"{rule.sound:8}  {known}  {rule.name:{width}}  {rule}", flush=True)
        print()
    return 0


def _packs(options: argparse.Namespace) -> Sequence[RulePack]:
    """The installed packs, and the axioms of saturation whose names no pack uses."""
    installed = load_packs()
    packs = (*installed, axioms_besides(rule.name for pack in installed for rule in pack))
    if options.pack is None:
        return packs
    chosen = [pack for pack in packs if pack.name == options.pack]
    if not chosen:
        known = ", ".join(pack.name for pack in packs)
        raise InputError(f"There is no pack {options.pack[:60]!r}.", mend=f"The packs are {known}.")
    return chosen


def _wanted(rule: Rule, options: argparse.Namespace) -> bool:
    ops = {part.op.name for part in subterms(rule.lhs) if isinstance(part, OpPattern)}
    right_grade = options.grade is None or rule.sound == options.grade
    return right_grade and (options.op is None or options.op in ops)


def _named(options: argparse.Namespace) -> list[tuple[RulePack, Rule]]:
    """The named rules with their packs; if none is named, all rules that the options select."""
    rules = {rule.name: (pack, rule) for pack in _packs(options) for rule in pack.rules}
    names: Sequence[str] = options.names
    unknown = [name for name in names if name not in rules]
    if unknown:
        mend = did_you_mean(unknown[0], rules) or "symgraph rules list shows all."
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
    proof = "proved by SymPy for all real numbers" if is_proved(rule) else "verified by samples"
    yield f"  {proof}"
    if not options.no_verify:
        yield f"  verification: {verify_rule(rule)}"
