"""The help of every function in `symgraph.scipy`: its sections, and its examples, which run.

What a docstring says of dtypes and axes is checked on the call that its example makes.
"""

from __future__ import annotations

import ast
import doctest
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import DTypeError, ShapeError
from symgraph.reference.docstrings import sections
from symgraph.reference.entries import PLACE, entry, names
from symgraph.scipy import integrate, linalg, signal, special, stats
from symgraph.scipy.stats import comparisons, samples
from symgraph.scipy.stats.continuous import Continuous
from symgraph.scipy.stats.distribution import Discrete

MODULES = {"special": special, "linalg": linalg, "signal": signal, "integrate": integrate}
SAMPLES = [*samples.__all__, *comparisons.__all__]
NO_DISTRIBUTIONS = ["gaussian_kde", *SAMPLES]
DISTRIBUTIONS = {
    name: getattr(stats, name) for name in stats.__all__ if name not in NO_DISTRIBUTIONS
}
VECTORS = ["multivariate_normal", "multivariate_t", "dirichlet", "multinomial"]
SPACES: dict[str, Any] = {"np": np, "sg": sg, "snp": snp, "stats": stats, **MODULES}


def public() -> Iterator[tuple[str, Any]]:
    for place, module in MODULES.items():
        for name in dir(module) if module is special else module.__all__:
            yield f"{place}.{name}", getattr(module, name)
    for name in SAMPLES:
        yield f"stats.{name}", getattr(stats, name)
    # All distributions have the methods of their class: one of each class stands for them.
    for name in ("norm", "poisson", *VECTORS):
        for method in DISTRIBUTIONS[name].methods:
            yield f"stats.{name}.{method}", getattr(DISTRIBUTIONS[name], method)


FUNCTIONS = dict(public())
UFUNCS = [name for name in FUNCTIONS if name[8:] not in special.__all__ and "special." in name]
OWN = [name for name in FUNCTIONS if name not in {*UFUNCS, "linalg.kron", "integrate.trapezoid"}]
"""All but those that are functions of `symgraph.numpy`, whose help is tested there."""


def entry_name(name: str) -> str:
    """The name of a function's entry in the reference."""
    for of_class, known in (("norm", "continuous"), ("poisson", "discrete")):
        name = name.replace(f"stats.{of_class}.", f"stats.{known}.")
    return f"scipy.{name}"


@cache
def told(name: str) -> dict[str, str]:
    return sections(inspect.cleandoc(FUNCTIONS[name].__doc__ or ""))


@cache
def bound(name: str) -> inspect.BoundArguments:
    """The arguments of the first call of the function in its example."""
    last = name.rpartition(".")[2]
    spaces = dict(SPACES)
    for example in doctest.DocTestParser().get_examples(FUNCTIONS[name].__doc__ or ""):
        for node in ast.walk(ast.parse(example.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == last:
                function = eval(ast.unparse(node.func), spaces)
                given = [eval(ast.unparse(each), spaces) for each in node.args]
                keywords = {
                    str(each.arg): eval(ast.unparse(each.value), spaces) for each in node.keywords
                }
                assert inspect.unwrap(function).__doc__ == inspect.unwrap(FUNCTIONS[name]).__doc__
                return inspect.signature(function).bind(*given, **keywords)
        exec(example.source, spaces)
    raise AssertionError(f"no example calls {name}")


def test_all_functions_are_looked_at() -> None:
    assert len(FUNCTIONS) > 200
    assert len(OWN) > 45
    assert {"special.erf", "linalg.solve", "signal.convolve", "stats.norm.ppf"} <= FUNCTIONS.keys()


def test_ufuncs_are_the_functions_of_the_namespace() -> None:
    assert len(UFUNCS) > 150
    assert [name for name in UFUNCS if FUNCTIONS[name] is not getattr(snp, name[8:])] == []
    assert linalg.kron is snp.kron
    assert integrate.trapezoid is snp.trapezoid


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_has_the_methods_that_are_looked_at(name: str) -> None:
    kind = type(DISTRIBUTIONS[name])
    assert kind in (Continuous, Discrete) or name in VECTORS
    for method in kind.methods:
        assert getattr(DISTRIBUTIONS[name], method).__func__ is vars(kind)[method]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_a_function_tells_what_it_takes_and_gives(name: str) -> None:
    assert {"", "Parameters", "Returns", "Raises", "Examples"} <= told(name).keys()
    assert told(name)[""].strip()
    assert entry(entry_name(name)) is not None


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_each_parameter_has_its_type_and_its_meaning(name: str) -> None:
    lines = told(name)["Parameters"].splitlines()
    headings = [line.partition(" : ")[0] for line in lines if not line.startswith(" ")]
    known = {each.strip(" *") for line in headings for each in line.split(",")}
    assert known == inspect.signature(FUNCTIONS[name]).parameters.keys()
    assert not [line for line in lines if line.startswith("    ") and not line.strip()]
    for heading, following in zip(lines, [*lines[1:], ""], strict=True):
        assert heading.startswith(" ") or (" : " in heading and following.startswith("    "))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_its_examples_run(name: str) -> None:
    text = FUNCTIONS[name].__doc__
    spaces = {"np": np, "sg": sg, "snp": snp}
    found = doctest.DocTestParser().get_doctest(text, spaces, name, None, None)
    assert [each for each in found.examples if f"{name.rpartition('.')[2]}(" in each.source]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    lines: list[str] = []
    runner.run(found, out=lines.append)
    assert runner.failures == 0, "".join(lines)


# -- what is told, checked -------------------------------------------------------------------------
def raising(why: str) -> list[str]:
    """The functions whose docstring tells of an error for a reason."""
    return [name for name in OWN if why in told(name).get("Raises", "")]


def made_complex(value: Any) -> Any:
    if isinstance(value, tuple):
        return (made_complex(value[0]), *value[1:])
    return np.asarray(value) * 1j


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", raising("If an operand is complex, or holds no numbers."))
def test_complex_numbers_are_refused(name: str) -> None:
    changed = bound(name)
    changed = inspect.BoundArguments(changed.signature, dict(changed.arguments))
    lines = told(name)["Parameters"].splitlines()
    taken = [line.partition(" : ") for line in lines if "array_like" in line]
    first = next(each for each, _, _ in taken if each.strip("*") in changed.arguments).strip("*")
    value = changed.arguments[first]
    whole = first == "arrs"
    changed.arguments[first] = (made_complex(value[0]),) if whole else made_complex(value)
    with pytest.raises(DTypeError):
        FUNCTIONS[name](*changed.args, **changed.kwargs)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", raising("If `axis` is out of range."))
def test_an_axis_out_of_range_is_refused(name: str) -> None:
    given = bound(name)
    changed = inspect.BoundArguments(given.signature, {**given.arguments, "axis": 99})
    with pytest.raises(ShapeError):
        FUNCTIONS[name](*changed.args, **changed.kwargs)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", [each for each in OWN if each.count(".") == 2])
def test_an_unknown_parameter_is_refused(name: str) -> None:
    given = bound(name)
    error = sg.InputError if "InputError" in told(name)["Raises"] else TypeError
    with pytest.raises(error):
        FUNCTIONS[name](*given.args, **given.kwargs, unknown=1.0)


# -- the file of the reference ---------------------------------------------------------------------
def test_every_entry_is_of_a_function() -> None:
    found = {name for name in names() if name.startswith("scipy.")}
    assert found == {entry_name(name) for name in OWN}


def test_an_entry_describes_no_other_parameters() -> None:
    """Those of `[parameters]` excepted, which all functions of the file share."""
    taken = {entry_name(name): inspect.signature(FUNCTIONS[name]).parameters for name in OWN}
    for block in (PLACE / "scipy.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        name, _, body = block.strip().partition("\n")
        lines = body.partition(">>> ")[0].splitlines()
        described = {line.partition(" : ")[0] for line in lines if line[:1] not in (" ", "-", "!")}
        assert described <= taken[name].keys(), name
