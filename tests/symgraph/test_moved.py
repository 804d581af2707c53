"""Former names of modules say where the modules are now."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

from symgraph.moved import MOVED


@pytest.mark.parametrize("former", MOVED)
def test_a_former_name_says_where_the_module_is(former: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{former} is {MOVED[former]} now"):
        import_module(former)
    assert find_spec(MOVED[former]) is not None


def test_a_name_taken_from_the_package_says_so_too() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"symgraph\.nodes is symgraph\.ir\.node now"):
        exec("from symgraph import nodes")


def test_another_missing_module_is_told_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("symgraph.nothing")


def test_names_that_became_rooms_give_what_they_gave() -> None:
    for module, name in [("array", "Array"), ("graph", "Graph"), ("transforms", "grad")]:
        assert hasattr(import_module(f"symgraph.{module}"), name)
