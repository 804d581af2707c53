"""Sizes with names: polynomials that agree with SymPy's expressions, and need no SymPy."""

from __future__ import annotations

import operator
import pickle
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symgraph as sg
from symgraph.ir.dims import is_nonnegative, known_equal, named, names_of, normal, resolve, sized
from symgraph.ir.symbolic_sizes import SymbolicSize, as_expr

NAMES = ("m", "n", "n2", "batch")
OPERATORS = (operator.add, operator.sub, operator.mul)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """A size by this library's arithmetic, and by SymPy's."""
    own: Any = named(draw(st.sampled_from(NAMES)))
    theirs: Any = as_expr(own)
    for _ in range(draw(st.integers(0, 6))):
        compute = draw(st.sampled_from(OPERATORS))
        other: Any = draw(st.integers(-4, 4) | st.sampled_from(NAMES).map(named))
        if draw(st.booleans()):
            own, theirs = compute(own, other), compute(theirs, as_expr(other))
        else:
            own, theirs = compute(other, own), compute(as_expr(other), theirs)
    return own, sympy.expand(theirs)


@given(pairs())
def test_arithmetic_is_sympys(pair: tuple[Any, Any]) -> None:
    own, theirs = pair
    assert isinstance(own, (int, SymbolicSize))
    assert as_expr(own) == theirs
    assert str(own) == str(theirs)
    assert normal(theirs) == own
    assert type(normal(theirs)) is type(own)
    assert names_of(own) == tuple(sorted(each.name for each in theirs.free_symbols))


@given(pairs(), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 9)))
def test_numbers_take_the_place_of_names(pair: tuple[Any, Any], sizes: dict[str, int]) -> None:
    own, theirs = pair
    wanted = theirs.subs({as_expr(named(name)): size for name, size in sizes.items()})
    if isinstance(own, SymbolicSize):
        assert as_expr(sized(own, sizes)) == sympy.expand(wanted)
        if set(names_of(own)) <= set(sizes):
            assert resolve(own, sizes) == int(wanted)


@given(pairs())
def test_what_is_known_of_the_sign_is_known_to_sympy(pair: tuple[Any, Any]) -> None:
    own, theirs = pair
    if isinstance(own, SymbolicSize):
        assert is_nonnegative(own) == bool(theirs.is_nonnegative)
        assert bool(own.is_nonpositive) == bool(theirs.is_nonpositive)
        assert (own.is_zero is False) == (theirs.is_zero is False)


@given(pairs(), pairs())
def test_equal_sizes_are_equal_and_have_one_hash(
    one: tuple[Any, Any], two: tuple[Any, Any]
) -> None:
    assert known_equal(one[0], two[0]) == (one[1] == two[1])
    if one[1] == two[1]:
        assert hash(one[0]) == hash(two[0])


@given(pairs(), st.sampled_from(NAMES), st.integers(1, 4))
def test_a_product_is_divided_by_its_factors(pair: tuple[Any, Any], name: str, number: int) -> None:
    own, _ = pair
    if isinstance(own, SymbolicSize):
        assert (own * named(name) * number).over(named(name) * number) == own
        assert (own * number + number - 1) // number == own
        assert (own * number - 1) // number == own - 1
        assert (own * 6 + 1).over(3) is None


@pytest.mark.parametrize(
    ("compute", "theirs"),
    [
        (lambda n: n // 2, "floor(n/2)"),
        (lambda n: 7 // n, "floor(7/n)"),
        (lambda n: n / 3, "n/3"),
        (lambda n: 1 / n, "1/n"),
        (lambda n: n % 2, "Mod(n, 2)"),
        (lambda n: n * 0.5, "0.5*n"),
        (lambda n: 2**n, "2**n"),
        (lambda n: (n + 1) ** 3, "(n + 1)**3"),
        (lambda n: abs(n - 3), "Abs(n - 3)"),
        (lambda n: n < 5, "n < 5"),
        (lambda n: sympy.ceiling(n / 2), "ceiling(n/2)"),
        (lambda n: sympy.Integer(2) * n, "2*n"),
        (lambda n: sympy.sympify(n), "n"),
    ],
)
def test_sympy_computes_the_rest(compute: Callable[[Any], Any], theirs: str) -> None:
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    assert compute(named("n")) == sympy.sympify(theirs, locals={"n": n})


def test_sympys_expression_becomes_a_polynomial_only_if_its_symbols_are_dimensions() -> None:
    own = sympy.Symbol("n", integer=True, nonnegative=True)
    assert type(normal((own + 1) ** 2)) is SymbolicSize
    assert normal(own * (own + 1) / 2) == own**2 / 2 + own / 2
    for other in (sympy.Symbol("n"), sympy.Dummy("n", integer=True, nonnegative=True)):
        assert normal(other) is other
        assert normal(other) != named("n")


def test_numbers_of_numpy_are_whole_numbers() -> None:
    n = named("n")
    assert np.int64(3) * n == n * np.int64(3) == 3 * n
    assert np.int64(3) + n == n + 3
    assert n - n == 0


def test_what_is_no_operand_is_refused() -> None:
    n = named("n")
    for bad in ("n", None, [1]):
        with pytest.raises(TypeError):
            operator.add(n, bad)
    assert n != "n"
    with pytest.raises(TypeError, match="not known"):
        int(n)


def test_a_size_equals_what_a_function_sees_of_it() -> None:
    n = named("n")
    seen: Any = sg.input("x", "n, 3").shape[0]
    assert n == seen
    assert seen == n
    assert n + 1 != seen
    assert n not in (3, "n", None)


def test_sizes_are_copied_and_pickled() -> None:
    size = named("n") * named("m") + 2
    assert deepcopy(size) == size == pickle.loads(pickle.dumps(size))


def test_questions_of_sympy_are_passed_on_and_others_are_not() -> None:
    size = named("n") * 2 + 1
    assert size.subs(as_expr(named("n")), 3) == 7
    assert size.is_Add
    assert not hasattr(size, "shape")
    assert not hasattr(size, "at_sizes")
    with pytest.raises(AttributeError):
        _ = size.name


PROGRAM = """
import sys
import numpy as np
import symgraph as sg

def loss(x, y, w):
    h = np.tanh((x @ w).reshape(x.shape[0], -1))
    h = np.concatenate([h, 2 * h]) / np.sqrt(x.shape[-1])
    return np.mean((h[: x.shape[0]].sum(axis=-1) - y) ** 2)

graph = sg.trace(loss, x=sg.spec("n, d"), y=sg.spec("n"), w=sg.spec("d, 4")).gradient("w")
small = graph.simplify()
assert "n" in str(small) and small.explain()
_, slope = small.lower()(x=np.ones((3, 2)), y=np.ones(3), w=np.ones((2, 4)))
assert slope.shape == (2, 4)
"""


def test_named_sizes_do_not_import_sympy() -> None:
    """A shape of names, products and sums is all that most programs have (M03)."""
    told = PROGRAM + "\nassert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
