"""Options of a backend: the keywords of its `compile`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from ..errors import BackendError
from .base import Backend, backend_named

__all__ = ["check_options"]


def check_options(backend: str | Backend, options: Iterable[str]) -> None:
    """Refuse a name that is none of the backend's options, nor `debug`, which all have.

    Raises
    ------
    BackendError
        If there is one, or if the backend is unknown or not installed.
    """
    unknown = [name for name in options if name != "debug"]
    if not unknown:
        return
    chosen = backend_named(backend)
    parameters = inspect.signature(chosen.compile).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    unknown = [name for name in unknown if name not in known]
    if unknown:
        raise BackendError(
            f"Backend {chosen.name!r} has no option {unknown[0]!r}.",
            mend=f"Its options: {', '.join(sorted([*known, 'debug']))}.",
        )
