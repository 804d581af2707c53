"""The help of every name in `symgraph.numpy`: its sections, and its examples, which run.

What a docstring says of shapes, dtypes and errors is checked on the call that its example makes.
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
from symgraph.array.eager import leaves_complex_to_numpy
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.ir.op import OPS
from symgraph.reference.docstrings import sections
from symgraph.reference.entries import PLACE, entry, names


def public() -> Iterator[tuple[str, Any]]:
    for owner, prefix in ((snp, ""), (snp.linalg, "linalg.")):
        for name in dir(owner):
            value = getattr(owner, name)
            if name in OPS and OPS[name].custom:
                continue  # registered by another test
            if callable(value) and not inspect.isclass(value) and not isinstance(value, np.dtype):
                yield prefix + name, value


FUNCTIONS = dict(public())
OWN = [name for name, each in FUNCTIONS.items() if not each.__module__.startswith("numpy")]
"""All but NumPy's own functions, `result_type` and `can_cast`."""


def is_refused(function: Any) -> bool:
    return inspect.signature(function).return_annotation == "NoReturn"


@cache
def told(name: str) -> dict[str, str]:
    return sections(inspect.cleandoc(FUNCTIONS[name].__doc__ or ""))


@cache
def call(name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the first call of the function in its example."""
    spaces: dict[str, Any] = {"np": np, "sg": sg, "snp": snp}
    wanted = inspect.unwrap(FUNCTIONS[name])
    for example in doctest.DocTestParser().get_examples(FUNCTIONS[name].__doc__):
        for node in ast.walk(ast.parse(example.source)):
            if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith("snp."):
                continue
            if inspect.unwrap(eval(ast.unparse(node.func), spaces)) is wanted:
                given = [eval(ast.unparse(each), spaces) for each in node.args]
                return tuple(given), {
                    str(each.arg): eval(ast.unparse(each.value), spaces) for each in node.keywords
                }
        exec(example.source, spaces)
    raise AssertionError(f"no example calls snp.{name}")


def bound(name: str, **changed: Any) -> inspect.BoundArguments:
    """The call of the example with some arguments changed."""
    given, named = call(name)
    found = inspect.signature(FUNCTIONS[name]).bind(*given, **named)
    found.arguments.update(changed)
    return found


def test_all_functions_are_looked_at() -> None:
    assert len(FUNCTIONS) > 550
    assert {"sum", "zeros", "softmax", "unique", "linalg.norm"} <= FUNCTIONS.keys()
    assert not {"np", "sys", "Any", "eager", "annotations"} & set(dir(snp))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_a_function_tells_what_it_takes_and_gives(name: str) -> None:
    text = told(name)
    wanted = {"Examples"} if is_refused(FUNCTIONS[name]) else {"Returns", "Examples"}
    if inspect.signature(FUNCTIONS[name]).parameters:
        wanted.add("Parameters")
    assert wanted <= text.keys()
    assert text[""].strip()
    assert "of symbolic arrays" not in text[""]


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_each_parameter_has_its_type_and_its_meaning(name: str) -> None:
    lines = told(name)["Parameters"].splitlines()
    headings = [line.partition(" : ")[0] for line in lines if not line.startswith(" ")]
    known = {each.strip(" *") for line in headings for each in line.split(",")}
    assert known == inspect.signature(FUNCTIONS[name]).parameters.keys()
    assert not [line for line in lines if line.endswith(" : object")]
    assert any(line.startswith("    ") for line in lines)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", OWN)
def test_its_examples_run(name: str) -> None:
    spaces = {"np": np, "sg": sg, "snp": snp}
    text = FUNCTIONS[name].__doc__
    found = doctest.DocTestParser().get_doctest(text, spaces, name, None, None)
    assert found.examples
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    lines: list[str] = []
    runner.run(found, out=lines.append)
    assert runner.failures == 0, "".join(lines)


# -- what is told, checked -------------------------------------------------------------------------
def with_parameter(name: str) -> list[str]:
    found = [each for each in OWN if name in inspect.signature(FUNCTIONS[each]).parameters]
    return [each for each in found if not is_refused(FUNCTIONS[each])]


def raising(error: str, why: str) -> list[str]:
    """The functions whose docstring tells of an error for a reason."""
    told_so = f"{error}\n    {why}"
    return [name for name in OWN if told_so in told(name).get("Raises", "")]


def returning(text: str) -> list[str]:
    return [name for name in OWN if text in told(name).get("Returns", "")]


def floats(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def in_dtype(name: str, dtype: str) -> tuple[Any, ...]:
    """The operands of the example in another dtype."""
    with np.errstate(invalid="ignore"):
        return tuple(np.asarray(each).astype(dtype) for each in call(name)[0])


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", with_parameter("axis"))
def test_an_axis_out_of_range_is_refused(name: str) -> None:
    assert "If `axis` is out of range." in told(name)["Raises"] or "Raises" in own_sections(name)
    changed = bound(name, axis=99)
    with pytest.raises(ShapeError):
        FUNCTIONS[name](*changed.args, **changed.kwargs)


def own_sections(name: str) -> set[str]:
    """The sections that stand in the function's own docstring."""
    return set(sections(inspect.cleandoc(inspect.unwrap(FUNCTIONS[name]).__doc__ or "")))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", with_parameter("out"))
def test_out_is_refused(name: str) -> None:
    assert "If `out` is given." in told(name)["Raises"]
    changed = bound(name, out=np.zeros(()))
    with pytest.raises(TraceError):
        FUNCTIONS[name](*changed.args, **changed.kwargs)


COMPLEX = [
    *raising("DTypeError", "If an operand is complex, or holds no numbers."),
    *raising("DTypeError", "If an operand holds no numbers."),
    *raising("DTypeError", "If the function is not defined for an operand's dtype."),
]


def numbers_of(name: str) -> str:
    """The first parameter that takes an array of any numbers, by what the docstring tells."""
    given = bound(name).arguments
    found: dict[str, str] = {}
    for line in told(name)["Parameters"].splitlines():
        heads, _, kind = line.partition(" : ")
        first = heads.split(",")[0].strip("*")
        if first in given and "array_like" in kind:
            found.setdefault(
                "numbers" if " of int" not in kind and " of bool" not in kind else "", first
            )
    return found.get("numbers") or found[""]


def made_complex(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([made_complex(value[0]), *value[1:]])
    shape = getattr(value, "shape", ())
    return np.full([each if isinstance(each, int) else 2 for each in shape], 1j)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_numpys_or_refused(name: str) -> None:
    first = numbers_of(name)
    changed = bound(name, **{first: made_complex(bound(name).arguments[first])})
    last = FUNCTIONS[name].__name__
    if not leaves_complex_to_numpy(FUNCTIONS[name]):
        with pytest.raises(DTypeError):
            FUNCTIONS[name](*changed.args, **changed.kwargs)
        return
    original = getattr(np, last, None) or getattr(np.linalg, last)
    try:
        wanted = original(*changed.args, **changed.kwargs)
    except Exception as error:  # as many of NumPy's have no complex numbers
        with pytest.raises(type(error)):
            FUNCTIONS[name](*changed.args, **changed.kwargs)
    else:
        found = FUNCTIONS[name](*changed.args, **changed.kwargs)
        if name == "empty_like":  # its numbers are what was in the memory
            found, wanted = np.zeros_like(found), np.zeros_like(wanted)
        np.testing.assert_equal(found, wanted)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", returning("The operand's shape.") + returning("broadcast."))
def test_the_shape_is_that_of_the_operands(name: str) -> None:
    given, named = call(name)
    shape = np.broadcast_shapes(*[np.shape(each) for each in given])
    result = FUNCTIONS[name](*given, **named)
    for each in result if isinstance(result, tuple) else [result]:
        assert np.shape(each) == shape


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", returning("Array, boolean"))
def test_the_result_is_boolean(name: str) -> None:
    assert FUNCTIONS[name](*call(name)[0]).dtype == bool


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", returning("of floats, which integers become"))
def test_integers_become_floats(name: str) -> None:
    with np.errstate(all="ignore"):
        result = FUNCTIONS[name](*in_dtype(name, "int64"))
    assert result.dtype.kind == "f"


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", returning("of integers or truth values"))
def test_floats_are_refused(name: str) -> None:
    assert FUNCTIONS[name](*call(name)[0]).dtype.kind in "biu"
    with pytest.raises(DTypeError):
        FUNCTIONS[name](*in_dtype(name, "float64"))


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", returning("of the dtype that NumPy promotes the operands to"))
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_the_dtype_is_that_of_the_operands(name: str, dtype: str) -> None:
    condition = call(name)[0][:1] if name == "where" else ()
    operands = in_dtype(name, dtype)[len(condition) :]
    with np.errstate(all="ignore"):
        assert FUNCTIONS[name](*condition, *operands).dtype == dtype


# -- the files of the reference --------------------------------------------------------------------
ENTRIES = [name for name in names() if not name.startswith("scipy.")]
"""Those of `symgraph.scipy` are looked at in `test_scipy_docs`."""


def test_every_entry_is_of_a_function() -> None:
    assert [name for name in ENTRIES if name not in FUNCTIONS] == []


def test_an_entry_describes_no_other_parameters() -> None:
    """Those of the file itself excepted, which its functions share."""
    for name in ENTRIES:
        text = next(
            block
            for path in PLACE.glob("*.txt")
            for block in path.read_text(encoding="utf-8").split("\n\n")
            if block.strip().partition("\n")[0].partition("(")[0] == name
        )
        lines = text.partition(">>> ")[0].splitlines()
        described = [line.partition(" : ")[0] for line in lines if " : " in line[:40]]
        described = [each for each in described if not each.startswith((" ", "->"))]
        assert set(described) <= inspect.signature(FUNCTIONS[name]).parameters.keys(), name


def test_what_stands_in_the_docstring_wins() -> None:
    text = told("conv")
    assert "Channels first" in text["Parameters"]
    assert "counts = floor(" in text["Returns"]
    assert entry("no such function") is None
