"""Values that classes of the user's compute, override or hide: a change of them is noticed."""

from __future__ import annotations

from collections import ChainMap, UserDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg

Changed = tuple[Callable[[Any], Any], Callable[[], object]]
X = np.array([1.0, 2.0, 3.0])


class ByAnyName:
    def __init__(self) -> None:
        self.table = {"scale": 2.0}

    def __getattr__(self, name: str) -> Any:
        if name == "table":
            raise AttributeError(name)
        return self.table[name]


def an_attribute_that_is_computed() -> Changed:
    config = ByAnyName()
    return lambda x: np.sum(x**2) * config.scale, lambda: config.table.update(scale=5.0)


class Unit:
    size = 2.0

    def __get__(self, owner: object, _kind: type) -> float:
        return Unit.size if owner is not None else 0.0


class Measured:
    unit = Unit()


def a_descriptor() -> Changed:
    Unit.size = 2.0
    measured = Measured()
    return lambda x: np.sum(x**2) * measured.unit, lambda: setattr(Unit, "size", 5.0)


class Base:
    def whole(self, x: Any) -> Any:
        return x * self.part()

    def part(self) -> float:
        return 2.0


def a_method_that_a_class_is_given() -> Changed:
    class Derived(Base): ...

    model = Derived()
    return lambda x: np.sum(model.whole(x)), lambda: setattr(Derived, "part", lambda _self: 5.0)


class ScaledDict(dict[str, float]):
    scale = 1.0

    def __getitem__(self, key: str) -> float:
        return super().__getitem__(key) * self.scale


def a_dict_that_computes() -> Changed:
    table = ScaledDict(a=2.0)
    return lambda x: np.sum(x) * table["a"], lambda: setattr(table, "scale", 5.0)


class ListWithScale(list[float]):
    scale = 2.0


def a_list_with_attributes() -> Changed:
    found = ListWithScale([3.0])
    return lambda x: np.sum(x) * found[0] * found.scale, lambda: setattr(found, "scale", 5.0)


class ArrayWithScale(np.ndarray[Any, Any]):
    scale: float


def an_array_with_attributes() -> Changed:
    weights = np.ones(3).view(ArrayWithScale)
    weights.scale = 2.0
    return lambda x: np.sum(x * weights) * weights.scale, lambda: setattr(weights, "scale", 5.0)


def a_dict_of_python_s_collections() -> Changed:
    table = UserDict(a=2.0)
    return lambda x: np.sum(x) * table["a"], lambda: table.update(a=5.0)


def dicts_one_above_another() -> Changed:
    table = ChainMap({}, {"a": 2.0})
    return lambda x: np.sum(x) * table["a"], lambda: table.update(a=5.0)


def a_default_by_name() -> Changed:
    def scaled(x: Any, *, by: float = 2.0) -> Any:
        return x * by

    defaults: Any = scaled.__kwdefaults__
    return lambda x: np.sum(scaled(x)), lambda: defaults.update(by=5.0)


def an_attribute_of_a_function() -> Changed:
    def scaled(x: Any) -> Any:
        return x * scaled.by  # pyright: ignore[reportFunctionMemberAccess]

    scaled.by = 2.0  # pyright: ignore[reportFunctionMemberAccess]
    return lambda x: np.sum(scaled(x)), lambda: setattr(scaled, "by", 5.0)


@pytest.mark.parametrize(
    "case",
    [
        an_attribute_that_is_computed,
        a_descriptor,
        a_method_that_a_class_is_given,
        a_dict_that_computes,
        a_list_with_attributes,
        an_array_with_attributes,
        a_dict_of_python_s_collections,
        dicts_one_above_another,
        a_default_by_name,
        an_attribute_of_a_function,
    ],
)
def test_a_change_is_noticed(case: Callable[[], Changed]) -> None:
    f, change = case()
    traced = sg.value_and_grad(f)
    before = traced(X)[0]
    assert before == pytest.approx(f(X))
    change()
    assert f(X) != pytest.approx(before)
    assert traced(X)[0] == pytest.approx(f(X))
    programs = traced.cache_info().currsize
    traced(X)
    assert traced.cache_info().currsize == programs
