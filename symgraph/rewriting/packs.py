"""The rule packs that are installed, found by entry point; our own is found the same way.

Once a package is installed, each `RulePack` that it names in the entry-point group
`symgraph.rules` is found:

    [project.entry-points."symgraph.rules"]
    mine = "my_rules:PACK"
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ..errors import RuleError
from ..installed import entries_of
from ..reference.docstrings import docstrings_put_off
from .index import RuleSet, distinct
from .rule import Rule, RulePack

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .report import Report

__all__ = ["GROUP", "RulePackWarning", "default_rules", "every_rule", "load_packs"]

GROUP = "symgraph.rules"
_OURS = "standard"


class RulePackWarning(UserWarning):
    """A rule pack is installed but cannot be used."""


def load_packs(*, verify: Callable[[Rule], Report] | None = None) -> tuple[RulePack, ...]:
    """The installed rule packs: the standard pack first, the others by name.

    A pack that cannot be loaded is left out with a warning; the standard pack must load.

    Parameters
    ----------
    verify : callable, optional
        `symgraph.testing.verify`. It is run on the rules of all packs but the standard one, which
        the tests verify. A rule that fails is left out with a warning.

    Raises
    ------
    TypeError
        If `verify` cannot be called.
    RuleError
        If the standard pack is not installed, or two packs claim one rule name.
    """
    if verify is not None and not callable(verify):
        raise TypeError("load_packs: pass the verifier itself, verify=symgraph.testing.verify.")
    found = sorted(entries_of(GROUP), key=lambda each: (each.name != _OURS, each.name))
    with docstrings_put_off():
        packs = [pack for entry in found if (pack := _load(entry)) is not None]
    if not any(entry.name == _OURS for entry in found):
        raise RuleError(
            "The standard rule pack is not installed: no entry point "
            f"{_OURS!r} in the group {GROUP!r}.",
            mend="Install the project: pip install -e . in a checkout.",
        )
    if verify is not None:
        packs = [pack if pack.name == _OURS else _verified(pack, verify) for pack in packs]
    distinct(packs)  # Raises if two packs claim one rule name.
    return tuple(packs)


def _load(entry: EntryPoint) -> RulePack | None:
    if entry.name == _OURS:
        return _as_pack(entry.load(), entry)
    try:
        return _as_pack(entry.load(), entry)
    except Exception as error:  # The module of another package may raise anything.
        warnings.warn(
            f"Rule pack {entry.name!r} ({entry.value}) is left out: "
            f"{type(error).__name__}: {error}",
            RulePackWarning,
            stacklevel=3,
        )
        return None


def _as_pack(value: object, entry: EntryPoint) -> RulePack:
    if not isinstance(value, RulePack):
        raise RuleError(f"{entry.value} is of type {type(value).__name__}, not a RulePack.")
    return value


def _verified(pack: RulePack, verify: Callable[[Rule], Report]) -> RulePack:
    kept: list[Rule] = []
    for rule in pack.rules:
        report = verify(rule)
        if report.ok:
            kept.append(rule)
        else:
            warnings.warn(
                f"Rule {rule.name!r} of pack {pack.name!r} is left out: {report.failures[0]}",
                RulePackWarning,
                stacklevel=3,
            )
    return RulePack(pack.name, tuple(kept))


@cache
def default_rules() -> RuleSet:
    """The rules of all installed packs, indexed; found once.

    Returns
    -------
    RuleSet
        Its methods `without`, `only` and `plus` give a new set. `Graph.simplify` takes one.

    Raises
    ------
    RuleError
        If the standard pack is not installed, or two packs claim one rule name.

    Examples
    --------
    >>> names = [rule.name for rule in sg.default_rules().without("sort_of_sort")]
    >>> "sort_of_sort" in names, "absolute_of_nonnegative" in names
    (False, True)
    """
    return RuleSet(load_packs())


def every_rule() -> tuple[Rule, ...]:
    """Every rule of every installed pack."""
    return tuple(rule for pack in load_packs() for rule in pack.rules)
