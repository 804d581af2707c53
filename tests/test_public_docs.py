"""The help of every public name: its sections, and its examples, which run.

A function tells its parameters, its result and its errors; a class how it is made. What is looked
at is `symgraph.__all__`, and the methods of `Graph` and of the handle, `Array`, that are their own.
"""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

NO_ERRORS = {
    # They read what is there, or compare and print it.
    *("global_norm", "diff", "simplex", "one_hot", "unit_norm"),
    *("Array.get_inputs", "Array.get_operation"),
    *("Graph.get_inputs", "Graph.get_operation", "Graph.op_count", "Graph.diff", "Graph.formula"),
    *("Graph.tree", "Graph.table", "Graph.to_dot", "Graph.to_svg", "Graph.derived"),
    *("Graph.to_graphml", "Graph.to_mermaid", "Graph.to_networkx"),
}
"""Functions without errors of their own."""

TRANSFORMS = ["grad", "value_and_grad", "jacobian", "hessian", "jvp", "vjp", "hvp"]
OPTIONS = {"has_aux", "static", "backend", "trust", "cache_size"}


def public() -> Iterator[tuple[str, Any]]:
    for name in sg.__all__:
        value = getattr(sg, name)
        if not isinstance(value, sg.Fact) and not inspect.ismodule(value):
            yield name, value if callable(value) else type(value)
    for owner in (sg.Graph, sg.Array):
        for name in dir(owner):
            value = inspect.getattr_static(owner, name)
            if name.startswith("_") or isinstance(value, property):
                continue
            if isinstance(value, classmethod) or inspect.isfunction(value):
                function = getattr(value, "__func__", value)
                if owner is sg.Graph or name in vars(sg.Array):
                    yield f"{owner.__name__}.{name}", function


PUBLIC = dict(public())
FUNCTIONS = {name: each for name, each in PUBLIC.items() if not inspect.isclass(each)}
CLASSES = {name: each for name, each in PUBLIC.items() if inspect.isclass(each)}


def sections(value: Any) -> dict[str, str]:
    """The text of each section of a docstring, the summary under an empty name."""
    text = inspect.cleandoc(value.__doc__ or "")
    parts = re.split(r"(?m)^([A-Z][A-Za-z ]+)\n-{3,}$", text)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parameters(value: Any) -> list[str]:
    kinds = inspect.signature(value).parameters
    return [name for name in kinds if name not in ("self", "cls")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_tells_its_parameters_result_and_errors(name: str) -> None:
    told = sections(FUNCTIONS[name])
    wanted = {"Parameters"} if parameters(FUNCTIONS[name]) else set[str]()
    if inspect.signature(FUNCTIONS[name]).return_annotation != "None":
        wanted.add("Returns")
    if name not in NO_ERRORS:
        wanted.add("Raises")
    assert wanted <= told.keys()
    assert told[""].strip()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_parameter_is_told(name: str) -> None:
    told = sections(FUNCTIONS[name])
    text = told.get("Parameters", "") + told.get("Other Parameters", "")
    headed = re.findall(r"(?m)^(\S.*?)(?: : .*)?$", text)
    known = {each.strip(" *") for line in headed for each in line.split(",")}
    assert [each for each in parameters(FUNCTIONS[name]) if each not in known] == []


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_tells_how_it_is_made(name: str) -> None:
    told = sections(CLASSES[name])
    assert told[""].strip()
    if not issubclass(CLASSES[name], (Exception, Warning)):
        assert {"Parameters", "Examples"} <= told.keys()


def examples(name: str) -> doctest.DocTest:
    names = {"np": np, "sg": sg, "snp": snp}
    text = PUBLIC[name].__doc__ or ""
    return doctest.DocTestParser().get_doctest(text, names, name, None, None)


@pytest.mark.parametrize("name", PUBLIC)
def test_it_has_examples(name: str) -> None:
    value = PUBLIC[name]
    is_error = inspect.isclass(value) and issubclass(value, (Exception, Warning))
    assert bool(examples(name).examples) is not is_error


@pytest.mark.sampled(one_in=8)  # As doctests of their modules all of them run by default.
@pytest.mark.parametrize("name", PUBLIC)
def test_its_examples_run(name: str) -> None:
    found, text = examples(name), PUBLIC[name].__doc__ or ""
    for package in ("jax", "torch"):
        if f"import {package}" in text:
            pytest.importorskip(package)
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False
    )
    lines: list[str] = []
    runner.run(found, out=lines.append)
    assert runner.failures == 0, "".join(lines)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_signatures_of_transforms_spell_out_their_options(name: str) -> None:
    # Of the code, which editors read, and not of a __signature__ made when it is imported.
    assert spelled_out(getattr(sg, name)) >= OPTIONS


@pytest.mark.parametrize("function", [sg.vmap, sg.FlatObjective.__init__])
def test_so_do_those_that_differentiate_nothing_beside_a_value(function: Any) -> None:
    assert spelled_out(function) >= OPTIONS - {"has_aux"}


def spelled_out(function: Any) -> set[str]:
    code = inspect.unwrap(function).__code__
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
