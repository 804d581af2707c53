"""Classes of fields that never change: dataclasses, frozen and with slots, that are made quickly.

`dataclass(frozen=True, slots=True)` compiles six functions for each class, which takes 0.4 ms; of
150 classes that is a fifth of the library's import. Here one is compiled, the rest is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

__all__ = ["record"]

C = TypeVar("C", bound=type)


@overload
def record(cls: C, /) -> C: ...
@overload
def record(*, eq: bool = True, repr: bool = True, slots: bool = True) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type | None = None, /, *, eq: bool = True, repr: bool = True, slots: bool = True
) -> object:
    """What `dataclass(frozen=True, slots=True)` makes of a class.

    `fields`, `replace`, `match`, copies and pickles work as for any dataclass.

    Parameters
    ----------
    cls : type
        A class with annotated fields.
    eq : bool
        Whether instances of equal fields are equal, and have one hash; otherwise each is itself.
    repr : bool
        Whether to write the fields in the `repr`.
    slots : bool
        Whether instances have slots and nothing besides; cached properties need a dictionary.

    Raises
    ------
    FrozenInstanceError
        When a field of an instance is assigned or deleted.
    """

    def made(given: type) -> type:
        cls = dataclass(init=False, repr=False, eq=False, slots=slots)(given)
        own = vars(cls)
        methods: dict[str, Any] = {"__init__": _initialiser(cls, slots)}
        methods |= {"__setattr__": _assigned, "__delattr__": _deleted}
        methods |= {"__getstate__": _state, "__setstate__": _restored}
        if repr:
            methods["__repr__"] = _written
        if eq:
            methods |= _compared(tuple([each.name for each in _fields(cls) if each.compare]))
            if own.get("__hash__"):
                del methods["__hash__"]
        for name, method in methods.items():
            if own.get(name) is None:
                setattr(cls, name, method)
        return cls

    return made if cls is None else made(cls)


class _Made:
    """Stands for the value that a field's factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _initialiser(cls: type, slots: bool) -> Callable[..., None]:
    """`__init__(self, fields...)`, which sets each through its slot, or in the dictionary."""
    scope: dict[str, Any] = {"_made_": _MADE}
    parameters, lines, annotations = ["self"], list[str](), dict[str, Any]()
    for each in _fields(cls):
        name, value = each.name, each.name
        if slots:
            scope[f"_set_{name}"] = getattr(cls, name).__set__
        if each.default_factory is not MISSING:
            scope[f"_make_{name}"] = each.default_factory
            value = f"_make_{name}()"
            value = f"{value} if {name} is _made_ else {name}" if each.init else value
        if each.init:
            parameters.append(_parameter(each, scope))
            annotations[name] = each.type
        elif each.default_factory is MISSING:
            continue
        lines.append(
            f"_set_{name}(self, {value})" if slots else f"self.__dict__['{name}'] = {value}"
        )
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n    {'; '.join(lines) or 'pass'}", scope)
    method = scope["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__module__ = cls.__module__
    method.__annotations__ = {**annotations, "return": None}
    return method


def _parameter(each: Field[Any], scope: dict[str, Any]) -> str:
    """A field among the parameters of `__init__`."""
    if each.default is not MISSING:
        scope[f"_default_{each.name}"] = each.default
        return f"{each.name}=_default_{each.name}"
    return each.name if each.default_factory is MISSING else f"{each.name}=_made_"


def _compared(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """`__eq__` and `__hash__` by these fields."""
    # One field, too, is compared within a tuple: as itself first, then by ==.
    key = attrgetter(*names) if len(names) > 1 else _values_of(names)

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return key(self) == key(other)

    def __hash__(self: object) -> int:
        return hash(key(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _fields(made: object) -> tuple[Field[Any], ...]:
    return fields(cast("Any", made))


def _values_of(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    return lambda instance: tuple([getattr(instance, name) for name in names])


def _written(self: object) -> str:
    found = [f"{each.name}={getattr(self, each.name)!r}" for each in _fields(self) if each.repr]
    return f"{type(self).__qualname__}({', '.join(found)})"


def _assigned(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _deleted(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[Any]:
    return [getattr(self, each.name) for each in _fields(self)]


def _restored(self: object, state: list[Any]) -> None:
    for each, value in zip(_fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
