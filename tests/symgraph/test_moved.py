"""Former names of modules say where the modules are now."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from symgraph import algebra
from symgraph.moved import MOVED, REPLACED


@pytest.mark.parametrize("former", MOVED)
def test_a_former_name_says_where_the_module_is(former: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{former} is {MOVED[former]} now"):
        import_module(former)
    assert find_spec(MOVED[former]) is not None


@pytest.mark.parametrize("former", REPLACED)
def test_a_module_that_is_gone_says_what_does_its_work(former: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{former} is gone: {REPLACED[former]} does"):
        import_module(former)
    assert find_spec(REPLACED[former]) is not None


def test_every_module_of_the_algebra_is_found_by_the_name_that_it_had_outside_of_its_room() -> None:
    former = {name.rpartition(".")[2] for name in MOVED if name.startswith("symgraph.algebra.")}
    today = {MOVED[name] for name in MOVED if name.startswith("symgraph.algebra.")}
    assert {"applied", "heads", "echo", "moved", "sums"} <= former
    for path in Path(algebra.__file__).parent.glob("*/*.py"):
        name = f"symgraph.algebra.{path.parent.name}.{path.stem}"
        # Rooms that have the name of a module that stood there: imports of it reach the room.
        kept = f"symgraph.algebra.{path.parent.name}.arithmetic" if "rational" in name else ""
        known = path.stem in ("__init__", "lifting", "regions") or name == kept
        assert known or name in today, name


def test_a_name_taken_from_the_package_says_so_too() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"symgraph\.nodes is symgraph\.ir\.node now"):
        exec("from symgraph import nodes")


def test_another_missing_module_is_told_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("symgraph.nothing")


def test_names_that_became_rooms_give_what_they_gave() -> None:
    for module, name in [("array", "Array"), ("graph", "Graph"), ("transforms", "grad")]:
        assert hasattr(import_module(f"symgraph.{module}"), name)
