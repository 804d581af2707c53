"""Values that a function reads from around it, and that no variable of its own holds.

Context variables and weak references give them when they are called, `threading.local` gives each
thread its own, and the environment is a mapping of Python's.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from types import MethodType
from typing import Any, cast

from .watched import MISSING

__all__ = ["environment", "given_when_called"]


def given_when_called(value: object) -> Callable[[], Any] | None:
    """How to ask a context variable or a weak reference for its value; None for other objects."""
    if isinstance(value, ContextVar):
        return partial(cast("ContextVar[Any]", value).get, MISSING)
    if isinstance(value, weakref.ref):
        return cast("weakref.ref[Any]", value)
    return None


def environment(value: object) -> Mapping[Any, Any] | None:
    """The variables of the environment, if an object gives them; as they are kept, not decoded."""
    if value is os.environ or value is os.getenv:
        return cast("Mapping[Any, Any]", vars(os.environ)["_data"])
    # `os.environ.get` may have a name of its own.
    return environment(value.__self__) if isinstance(value, MethodType) else None
