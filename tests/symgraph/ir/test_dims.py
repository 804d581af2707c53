"""Dimensions, broadcasting and axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import sympify

import symgraph as sg
from symgraph.errors import DTypeError, InputError, ShapeError
from symgraph.ir.avals import broadcast_shapes, normal_axes, supported_dtype
from symgraph.ir.dims import (
    bind,
    count,
    known_equal,
    known_most,
    named,
    normal,
    parse_shape,
    resolve,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("n, 64", (named("n"), 64)),
        ("64", (64,)),
        ("", ()),
        ("()", ()),
        ("(n, m)", (named("n"), named("m"))),
        ("3,", (3,)),
        (5, (5,)),
        ((2, "k"), (2, named("k"))),
        ([np.int64(4)], (4,)),
        (np.int64(4), (4,)),
        (named("n"), (named("n"),)),
    ],
)
def test_shapes_are_read_from_text_tuples_and_dimensions(given: object, expected: object) -> None:
    assert parse_shape(given) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["-1", "2.5", "n m", "1x", (-3,), "a;b", (2.0,), "٣"])
def test_what_is_no_shape_is_refused(bad: object) -> None:
    with pytest.raises(ShapeError):
        parse_shape(bad)  # type: ignore[arg-type]


def test_arithmetic_on_named_dimensions_is_normal() -> None:
    n, m = named("n"), named("m")
    assert known_equal(n * (m + 1), n * m + n)
    assert not known_equal(n, m)
    assert not known_equal(n, 3)
    assert normal(n - n) == 0
    assert isinstance(normal(n - n + 2), int)
    assert count((n, 2, 3)) == 6 * n
    assert resolve((n + 1, (2 * m,)), {"n": 4, "m": 5}) == (5, (10,))
    with pytest.raises(InputError, match="'m' is not known"):
        resolve(m, {"n": 1})


@pytest.mark.parametrize(
    "written",
    [
        *("n", "40*n", "n*m + 3", "n**2/2 + n/2", "n**2*m", "(n + m)**9", "n/3", "Integer(5)"),
        *("Max(0, Min(4, n) - 3)", "floor(n/2)", "ceiling((n + m)/3)", "-floor(-n/3)"),
        *("Mod(n, 3)", "Max(n, m) + Mod(m, 2)", "Abs(n - m)"),
    ],
)
def test_sizes_are_those_of_sympy(written: str) -> None:
    dim = sympify(written, locals={"n": named("n"), "m": named("m")})
    for n, m in product((0, 1, 2, 3, 7, 10**9, 10**12), repeat=2):
        found = resolve(dim, {"n": n, "m": m})
        assert type(found) is int
        assert found == int(dim.subs({named("n"): n, named("m"): m}))
        assert resolve(dim, {"n": np.int32(n % 2**31), "m": m}) == resolve(
            dim, {"n": n % 2**31, "m": m}
        )


def test_binding_reads_sizes_and_notices_contradictions() -> None:
    shape = parse_shape("n, 3, n")
    env: dict[str, int] = {}
    assert bind(shape, (5, 3, 5), env)
    assert env == {"n": 5}
    assert not bind(shape, (4, 3, 4), env)
    assert not bind(shape, (5, 3), {})
    assert not bind(shape, (5, 2, 5), {})


shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)


@given(st.lists(shapes, min_size=1, max_size=3))
def test_broadcasting_is_numpys(many: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*many)
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            broadcast_shapes(*many)
    else:
        assert broadcast_shapes(*many) == expected


def test_a_named_dimension_broadcasts_against_itself_and_one_only() -> None:
    n, m = named("n"), named("m")
    assert broadcast_shapes((n, 1), (1, 3), (3,)) == (n, 3)
    for other in (m, 3):
        with pytest.raises(ShapeError):
            broadcast_shapes((n,), (other,))


def test_axes_are_negative_sorted_and_checked() -> None:
    assert normal_axes(None, 3) == (-3, -2, -1)
    assert normal_axes((2, 0), 3) == (-3, -1)
    assert normal_axes(-1, 2) == (-1,)
    for bad in (3, -4, (0, 0), (0, -3), 1.5):
        with pytest.raises(ShapeError):
            normal_axes(bad, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", ["complex128", "O", "U3", "M8[s]", "longdouble", "i4,f8", "nonsense"]
)
def test_dtypes_that_are_not_supported_are_refused(bad: str) -> None:
    with pytest.raises(DTypeError):
        supported_dtype(bad)


def test_byte_order_is_made_native() -> None:
    assert supported_dtype(">f8") == np.dtype("f8")
    assert supported_dtype(">f8").isnative


def test_what_a_dimension_never_exceeds() -> None:
    n = named("n")
    x = sg.input("x", "n, 5")
    assert known_most(7) == 7
    assert known_most(x[3:4].shape[0]) == 1
    assert known_most(x[3:4][:1].shape[0]) == 1
    assert known_most(x[2:].shape[0]) is None
    assert known_most(n) is known_most(2 * n + 1) is None
