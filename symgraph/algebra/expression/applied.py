"""The identities that were applied to a region: the log names them beside its two sides."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc
from typing import Any, TypeAlias, TypeVar

__all__ = ["EQUATIONS", "NONE", "AppliedIdentities", "IdentityNames", "named"]

F = TypeVar("F", bound=Callable[..., Any])

IdentityNames: TypeAlias = frozenset[str]

NONE: IdentityNames = frozenset()

EQUATIONS: dict[str, str] = {}
"""The equation of each identity, by its name."""


def named(step: F) -> F:
    """Register a function as an identity. Its docstring begins with the equation."""
    name = step.__name__
    if name in EQUATIONS:
        raise ValueError(f"two identities are called {name}")
    EQUATIONS[name] = (getdoc(step) or "").split("\n\n")[0]
    return step


class AppliedIdentities:
    """The names of the identities that were applied, in order.

    Examples
    --------
    >>> from symgraph.algebra.expression.applied import AppliedIdentities
    >>> applied = AppliedIdentities()
    >>> before = applied.mark()
    >>> applied.note("sign_times_value")
    >>> sorted(applied.since(before))
    ['sign_times_value']
    """

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: list[str] = []

    def note(self, name: str) -> None:
        """Add the name of an identity."""
        self._names.append(name)

    def mark(self) -> int:
        """The number of names so far; give it to `since` or `take_back`."""
        return len(self._names)

    def since(self, mark: int) -> IdentityNames:
        """The identities that were applied after the mark."""
        return frozenset(self._names[mark:]) if len(self._names) > mark else NONE

    def take_back(self, mark: int) -> None:
        """Forget the identities after the mark: their trial was given up."""
        del self._names[mark:]
