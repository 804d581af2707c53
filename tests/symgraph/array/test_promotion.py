"""Dtypes and values of every ufunc over all dtypes, numbers and refusals: as NumPy itself."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import NUMPY_FUNCTIONS
from symgraph.errors import DTypeError, InputError, RangeError, SymgraphError, TraceError

DTYPES = [
    "bool",
    *[f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)],
    "float16",
    "float32",
    "float64",
]
UFUNCS = [
    ufunc
    for name in sorted(dir(np))
    if isinstance(ufunc := getattr(np, name), np.ufunc)
    and ufunc.__name__ == name
    and not ufunc.signature
    and name != "isnat"  # of dates alone
]
TOLERANCE = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-13}


def outcome(call: Callable[..., Any], *operands: Any) -> Any:
    """The results of a call as a tuple, or None where it is refused or gives complex numbers."""
    with np.errstate(all="ignore"):
        try:
            found = call(*operands)
        except (TypeError, OverflowError, ValueError):
            return None
    results = found if isinstance(found, tuple) else (found,)
    return None if any(each.dtype.kind not in "biuf" for each in results) else results


def traced(call: Callable[..., Any], *operands: Any) -> Any:
    """The same through the graph: arrays are symbols, anything else is as it is."""
    given: dict[str, Any] = {}
    symbols: list[Any] = []
    for i, each in enumerate(operands):
        if isinstance(each, np.ndarray):
            given[f"x{i}"] = each
            symbols.append(sg.input(f"x{i}", each.shape, each.dtype))
        else:
            symbols.append(each)
    try:
        with np.errstate(all="ignore"):
            found = call(*symbols)
    except (SymgraphError, TypeError, OverflowError):
        return None
    results = found if isinstance(found, tuple) else (found,)
    values: list[Any] = []
    for each in results:
        graph = sg.graph(each)
        with np.errstate(all="ignore"):
            try:
                value = graph.evaluate(**{name: given[name] for name in graph.inputs})
            except ValueError:  # NumPy's, of an integer to a negative power
                return None
        assert value.dtype == each.dtype
        values.append(value)
    return tuple(values)


def assert_same(call: Callable[..., Any], *operands: Any) -> None:
    want, got = outcome(call, *operands), traced(call, *operands)
    assert (want is None) == (got is None), (call, operands, want, got)
    for expected, found in zip(want or (), got or (), strict=True):
        assert found.dtype == expected.dtype, (call, operands, found.dtype, expected.dtype)
        if expected.dtype.kind == "f":
            limit = TOLERANCE[expected.dtype.name]
            np.testing.assert_allclose(found, expected, rtol=limit, atol=limit)
        else:
            np.testing.assert_array_equal(found, expected)


SMALL = {
    dtype: np.array([0, 1, 1, 0] if dtype == "bool" else [0, 1, 2, 5], dtype) for dtype in DTYPES
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_over_every_dtype(ufunc: np.ufunc) -> None:
    for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
        assert_same(ufunc, *[SMALL[dtype] for dtype in dtypes])


NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.integers(-300, 300),
    st.sampled_from([0.5, -2.0, 1e30, float("inf")]),
)
SCALARS = st.sampled_from(
    [np.float64(1.5), np.float32(0.5), np.int8(3), np.uint64(7), np.bool_(True), np.float16(2)]
)
BINARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 2]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_numbers_are_weak_and_scalars_are_not(data: st.DataObject) -> None:
    ufunc = data.draw(st.sampled_from(BINARY))
    array = SMALL[data.draw(st.sampled_from(DTYPES))]
    number = data.draw(st.one_of(NUMBERS, SCALARS))
    if ufunc in (np.power, np.left_shift, np.right_shift, np.ldexp) and abs(number) > 4:
        number = type(number)(3)
    if ufunc.__name__.startswith("logical") and isinstance(number, int):
        number %= 2**63  # NumPy refuses truth values of larger ones
    operands = (array, number) if data.draw(st.booleans()) else (number, array)
    assert_same(ufunc, *operands)


EXTREMES = {
    dtype: np.array([info.min, info.max // 2, info.max], dtype)
    for dtype in DTYPES
    if "int" in dtype and (info := np.iinfo(dtype))
}


@pytest.mark.parametrize("name", ["less", "less_equal", "equal", "greater", "not_equal"])
def test_integers_of_two_kinds_compare_exactly(name: str) -> None:
    for one, other in itertools.product(EXTREMES.values(), repeat=2):
        assert_same(getattr(np, name), one, other)
    for array in EXTREMES.values():
        for number in (-(2**70), -129, 255, 256, 2**63 - 1, 2**63, 2**64):
            assert_same(getattr(np, name), array, number)
            assert_same(getattr(np, name), number, array)


def test_clip_by_numbers() -> None:
    for dtype, low, high in itertools.product(
        DTYPES, (None, -(2**70), -1000, -1, 0, 1.5, 300), (None, -1, 2, 127, 128, 2**70, 2.5)
    ):
        if low is not None or high is not None:
            assert_same(lambda x, low=low, high=high: np.clip(x, low, high), SMALL[dtype])


def test_what_the_mission_asks() -> None:
    half, byte = sg.input("h", (2,), "float32"), sg.input("b", (2,), "int8")
    assert (half + 1.5).dtype == "float32"
    assert (half + np.float64(1.5)).dtype == "float64"
    assert (byte / byte).dtype == "float64"
    assert (byte * 2).dtype == "int8"
    with pytest.raises(RangeError, match="does not fit the dtype int8"):
        byte + 300
    with pytest.raises(OverflowError):
        byte - 300


def test_half_precision_is_kept_and_differentiated() -> None:
    x = sg.input("x", (3,), "float16")
    graph = sg.graph(np.sum(np.exp(x) * x)).gradient("x")
    at = np.array([0.5, 1.0, -2.0], "float16")
    value, gradient = graph.evaluate(x=at)
    assert value.dtype == gradient.dtype == np.float16
    wide = at.astype("float64")
    np.testing.assert_allclose(gradient, np.exp(wide) * (1 + wide), rtol=5e-3)


# -- ufunc methods and keywords --------------------------------------------------------------------
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.subtract, np.maximum, np.less, np.gcd])
def test_outer(ufunc: np.ufunc) -> None:
    a, b = np.array([[1, 2], [3, 4]]), np.array([5, 6, 7])
    assert_same(ufunc.outer, a, b)
    assert_same(lambda b: ufunc.outer(a, b), b)
    assert_same(lambda a: ufunc.outer(a, 2), a)


def test_keywords_of_ufuncs() -> None:
    x = SMALL["int32"]
    assert_same(lambda x: np.add(x, x, dtype="float32"), x)
    assert_same(lambda x: np.exp(x, where=True, order="C", casting="same_kind"), x)
    assert_same(lambda x: np.add.outer(x, x, dtype="float64"), x)
    assert_same(lambda x: np.add(x, 0.5, dtype="int32"), x)  # both refuse


S = sg.input("x", (3,))
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: np.add.at(S, [0], 1.0), "index_add"),
    (lambda: np.subtract.reduceat(S, [0, 1]), "scatter_add"),
    (lambda: np.arctan2.reduce(S), "np.sum"),
    (lambda: np.exp(S, out=np.zeros(3)), "Use the result"),
    (lambda: np.exp(S, where=S > 0), r"np.where\(condition"),
    (lambda: np.add(S, 1, casting="unsafe"), "astype"),
    (lambda: np.add(S, 1, signature="ff->f"), "astype"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_ufuncs_cannot_do_says_what_can(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TraceError, match=words):
        call()


def test_every_ufunc_of_numbers_is_known() -> None:
    unknown = [ufunc.__name__ for ufunc in UFUNCS if ufunc not in NUMPY_FUNCTIONS]
    assert not unknown


# -- parts of numbers ------------------------------------------------------------------------------
PARTS = np.array([0.0, -0.0, 1.0, -1.0, 0.75, 3.5, -1e300, 5e-324, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("function", [np.modf, np.frexp, np.spacing, np.angle, np.signbit])
def test_parts_at_special_values(function: Any) -> None:
    got, want = traced(function, PARTS), outcome(function, PARTS)
    for found, expected in zip(got, want, strict=True):
        if function is np.frexp and found.dtype.kind == "i":
            found, expected = found[:8], expected[:8]  # C leaves it open for the rest
        np.testing.assert_array_equal(found, expected)
        if found.dtype.kind == "f":
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[number], np.signbit(expected)[number])


def test_stacks_of_products() -> None:
    rng = np.random.default_rng(0)
    a, v, u = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    if hasattr(np, "matvec"):
        assert_same(np.matvec, a, v)
        assert_same(np.vecmat, u, a)
    np.testing.assert_allclose(traced(snp.matvec, a, v)[0], np.einsum("nij,nj->ni", a, v))


# -- complex numbers -------------------------------------------------------------------------------
def test_complex_functions_of_real_arrays() -> None:
    for function in (np.real, np.imag, np.conj, np.isreal, np.iscomplex, np.real_if_close):
        assert_same(function, PARTS[:8])
    assert_same(lambda x: np.angle(x, deg=True), PARTS[:8])
    assert_same(lambda x: x.real + x.imag * x.conj() - x.conjugate(), PARTS[2:6])
    assert not np.iscomplexobj(S)
    assert np.isrealobj(S)


COMPLEX_DOORS: list[Callable[[], Any]] = [
    lambda: sg.input("z", (2,), "complex128"),
    lambda: sg.spec((2,), np.complex64),
    lambda: sg.trace(lambda z: z, z=sg.spec("n", complex)),
    lambda: sg.constant(1j),
    lambda: np.zeros_like(S, dtype=complex),
    lambda: np.sum(S, dtype=complex),
    lambda: np.add(S, S, dtype=complex),
    lambda: snp.softmax(np.array([1j])) + S,
]


@pytest.mark.parametrize("door", COMPLEX_DOORS)
def test_complex_numbers_are_refused_at_the_door(door: Callable[[], Any]) -> None:
    with pytest.raises(DTypeError, match=r"(?s)complex.*real and imaginary parts"):
        door()


def test_complex_numbers_are_refused_when_run() -> None:
    graph = sg.graph(S * 2)
    with pytest.raises(SymgraphError, match="complex"):
        graph.evaluate(x=np.array([1j, 2, 3]))
    with pytest.raises(SymgraphError, match="complex"):
        graph.lower()(x=np.array([1j, 2, 3]))


def test_the_root_of_a_negative_number_is_nan() -> None:
    for function in (np.sqrt, np.log, np.arccos, np.arctanh):
        assert_same(function, np.array([-4.0, -2.0]))


COMPLEX_RESULTS: list[Callable[[], Any]] = [
    lambda: np.fft.hfft(S),
    lambda: np.fft.ihfft(S),
    lambda: np.emath.sqrt(S),
    lambda: np.emath.power(S, 0.5),
    lambda: np.linalg.eigvals(sg.input("a", (3, 3))),
    lambda: np.roots(S),
    lambda: np.sort_complex(S),
]


@pytest.mark.parametrize("call", COMPLEX_RESULTS)
def test_what_gives_complex_numbers_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(TraceError, match="gives complex numbers") as caught:
        call()
    assert caught.value.mend


def test_python_asks_for_complex_numbers_and_quotients() -> None:
    with pytest.raises(TraceError, match=r"complex\(\) needs numbers"):
        complex(sg.input("s", ()))
    assert_same(lambda x: divmod(x, 3), SMALL["int16"])
    assert_same(lambda x: divmod(7.5, x), SMALL["float32"])


def test_operators_are_the_ufuncs() -> None:
    for symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq"):
        for dtypes in itertools.product(["bool", "int8", "uint16", "float32"], repeat=2):
            assert_same(getattr(operator, symbol), *[SMALL[dtype] for dtype in dtypes])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: np.full_like(x, np.nan), "nan cannot be a constant of dtype int8"),
        (lambda x: np.full_like(x, 300), "300 does not fit the dtype int8"),
        (lambda x: np.float_power(x, 2**64), "18446744073709551616 is too large"),
    ],
)
def test_numbers_that_no_dtype_holds_are_told(call: Any, words: str) -> None:
    with pytest.raises(SymgraphError, match=words):
        sg.trace(call, x=sg.spec((3,), "int8"))


A_MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)  # Calling np.matrix would warn.
A_MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])


@pytest.mark.parametrize(
    ("given", "words"), [(A_MATRIX, "np.matrix"), (A_MASKED, "mask would be ignored")]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda given: sg.trace(lambda x: np.add(x, given), x=(2, 2)),
        lambda given: sg.trace(lambda x: given @ x, x=(2, 2)),
        lambda given: sg.trace(lambda x: np.where(x > 0, given, x), x=(2, 2)),
        lambda given: sg.trace(lambda x: np.stack([x, given]), x=(2, 2)),
        lambda given: sg.trace(lambda x: x * x, x=given),
        lambda given: sg.grad(lambda p: np.sum(p["x"] * p["x"]))({"x": given}),
        lambda given: sg.trace(lambda x: x * x, x=(2, 2)).lower()(x=given),
        lambda given: sg.constant(given),
    ],
)
def test_arrays_whose_operators_mean_something_else_are_refused(
    given: Any, words: str, call: Any
) -> None:
    """A * B is a product of matrices if one of them is an np.matrix."""
    with pytest.raises(InputError, match=words):
        call(given)


@pytest.mark.parametrize("digits", [40, 400, 5000])
def test_an_integer_that_fills_lines_is_told_by_its_size(digits: int) -> None:
    """Python refuses to show one of more than 4,300 digits."""
    x = sg.input("x", (3,), "int64")
    bits = (10**digits).bit_length()
    with pytest.raises(sg.SymgraphError, match=f"an integer of {bits} bits") as raised:
        _ = x + 10**digits
    assert "0000" not in str(raised.value)
