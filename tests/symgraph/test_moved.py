"""Former names of modules say where the modules are now."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

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


def test_every_module_that_stood_in_the_algebra_outside_of_a_room_is_known() -> None:
    known = {name.rpartition(".")[2] for name in (*MOVED, *REPLACED) if ".algebra." in name}
    assert set(LOOSE.split()) == known


LOOSE = """
    applied arithmetic array_identities echo exponentials exponents exps extract
    factor_identities flat_writer forms gathering growth heads identities instances inverses
    labels leaves licence logistic lower_bound manyvariable memory moved multiples normalize
    pieces plan polynomials powers printable products protocol quotients ranges recall roles
    scalars selections settling sharing simplify slices slots solves spelled steadiness
    sum_identities sum_spellings sums term term_writer vanishing variants views world
"""
"""Without `rational` and `regions`, which became rooms."""


def test_a_name_taken_from_the_package_says_so_too() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"symgraph\.nodes is symgraph\.ir\.node now"):
        exec("from symgraph import nodes")


def test_another_missing_module_is_told_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("symgraph.nothing")


def test_names_that_became_rooms_give_what_they_gave() -> None:
    for module, name in [("array", "Array"), ("graph", "Graph"), ("transforms", "grad")]:
        assert hasattr(import_module(f"symgraph.{module}"), name)
