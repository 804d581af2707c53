"""Hash-consing: a weak table of values by key, and keys that tell params apart."""

from __future__ import annotations

import hashlib
import threading
import weakref
from typing import Any, Generic, TypeVar, cast

import numpy as np

from .op import Params

__all__ = ["Interned", "params_key"]

V = TypeVar("V")


class Interned(Generic[V]):
    """Values by their content, each held weakly.

    A `WeakValueDictionary` costs more than a node: here a value that dies leaves its key behind,
    and dead keys are swept when the table has doubled.
    """

    _LEAST = 20_000

    def __init__(self) -> None:
        self.refs: dict[tuple[Any, ...], weakref.ref[V]] = {}
        self._most = self._LEAST
        self._lock = threading.Lock()

    def add(self, key: tuple[Any, ...], value: V) -> V:
        """The value of this key: `value`, if no other thread was faster."""
        with self._lock:
            ref = self.refs.get(key)
            found = None if ref is None else ref()
            if found is not None:
                return found
            self.refs[key] = weakref.ref(value)
            if len(self.refs) > self._most:
                self.refs = {key: ref for key, ref in self.refs.items() if ref() is not None}
                self._most = max(self._LEAST, 2 * len(self.refs))
        return value


def _typed(value: object) -> Any:
    """A hashable key that tells 1, 1.0, True and -0.0 apart, and arrays by their bytes."""
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return tuple([(int, each) if type(each) is int else _typed(each) for each in items])
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        data = array.tobytes()
        if len(data) > 64:
            data = hashlib.blake2b(data, digest_size=20).digest()
        return (array.dtype.str, array.shape, data)
    if isinstance(value, float):
        return (float, value.hex())
    return (type(value), value)


def params_key(params: Params) -> tuple[Any, ...]:
    """A hashable key of params, by which equal ones are found."""
    return tuple([(name, _typed(params[name])) for name in sorted(params)])
