"""Packages that an extra of symgraph brings, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import SymgraphError

__all__ = ["module_of_extra"]


def module_of_extra(name: str, extra: str, needing: str) -> Any:
    """The module `name` of the package `extra`, which is also the name of the extra.

    Parameters
    ----------
    name, extra : str
    needing : str
        What needs the package, as the subject of a sentence.

    Raises
    ------
    SymgraphError
        If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise SymgraphError(
            f"{needing} need the package {extra}, which is not installed.",
            mend=f'Install it with: pip install "symgraph[{extra}]"',
        ) from error
