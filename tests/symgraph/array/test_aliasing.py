"""Handles share memory where NumPy's arrays do, and a write is read by all that share it."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import NUMPY_FUNCTIONS, Array
from symgraph.array.aliasing import has_memory
from symgraph.array.cuts import READ_ONLY, Cut, relation
from symgraph.errors import DTypeError, ShapeError, TraceError
from symgraph.ops.creation import zeros

# -- which results share memory: NumPy is asked of every function it has ---------------------------
MATRIX = np.arange(9.0).reshape(3, 3) + 1
OPERANDS: list[Any] = [
    MATRIX,
    np.arange(4.0) + 1,
    np.arange(4),
    np.arange(6.0).reshape(2, 3),
    np.float64(2.0),
    np.arange(8.0).reshape(2, 2, 2),
    np.arange(4) > 1,
    np.ones((1, 3)),
    np.ones(1),
]
BESIDE: list[tuple[Any, ...]] = [
    *[(), (0,), (1,), ((0, 1),), (-1,), ((-1,),), ((2, 2),), (2,), (0, 1)],
    *[(None, None), ("float64",)],
]


def calls(function: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(function, np.ufunc):  # These give arrays of their own, or numbers.
        yield from (args for x in OPERANDS for args in ((x,), (x, x)))
        return
    for x in OPERANDS:
        yield from ((x, *more) for more in BESIDE)
        yield from ((x, x), ([x, x],), ([x],), (x, x, x), (x > 0, x, x), (x > 0, x))
        yield from ((text, x) for text in ("...->...", "ii->i", "ij->ji", "ij->ij", "i->"))


def as_symbol(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, list):
        return [as_symbol(each, known) for each in value]
    if isinstance(value, np.ndarray):
        made = sg.input("x", value.shape, value.dtype).copy()
        return known.setdefault(id(value), made)
    return sg.input("x", (), value.dtype) * 1 if isinstance(value, np.generic) else value


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def ours(result: Any, operand: Any) -> str:
    if result is operand:
        return "shared"
    memories = result.memory, operand.memory
    if any(type(each) is not Cut for each in memories):
        return "parted"
    if memories[0].family is not memories[1].family:
        return "parted"
    return relation(memories[1], memories[0])


def compare(function: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """How many pairs of a result and an operand were compared."""
    args = copy.deepcopy(args)  # Some write into them.
    known: dict[int, Any] = {}
    symbols = [as_symbol(each, known) for each in args]
    try:
        traced = NUMPY_FUNCTIONS[function](*symbols)  # First: what saves to files is refused.
        with np.errstate(all="ignore"):
            plain = function(*args)
    except Exception:  # The arguments are not for this function.
        return 0
    pairs = list(zip(leaves(plain), leaves(traced), strict=False))
    compared = 0
    for result, symbol in pairs:
        if not isinstance(symbol, Array) or np.shape(result) != symbol.shape:
            continue
        # broadcast_arrays gives a number back where nothing is broadcast; nobody writes to it.
        if function not in (np.broadcast_arrays, np.real_if_close):
            assert has_memory(symbol) == isinstance(result, np.ndarray), "number or array"
        for operand, given in zip(leaves(list(args)), leaves(symbols), strict=True):
            if not isinstance(operand, np.ndarray) or not isinstance(given, Array):
                continue
            if not np.size(result) or not isinstance(result, np.ndarray):
                continue
            expected = "shared" if np.shares_memory(result, operand) else "parted"
            assert ours(symbol, given) in (expected, "open")
            if expected == "shared" and not result.flags.writeable and symbol is not given:
                way = symbol.memory.way()
                assert ours(symbol, given) == "open" or any(e.op.write is READ_ONLY for e in way)
            compared += 1
    return compared


FUNCTIONS = [each for each in NUMPY_FUNCTIONS if callable(each)]


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
def test_results_share_memory_as_numpys_do() -> None:
    reached = 0
    for function in FUNCTIONS:
        try:
            reached += bool(sum([compare(function, args) for args in calls(function)]))
        except AssertionError as error:
            error.add_note(f"np.{getattr(function, '__name__', function)}")
            raise
    assert reached > 180


@pytest.mark.parametrize(
    ("view", "written"),
    [
        (lambda x: x.T, True),
        (lambda x: x.reshape(-1), True),
        (lambda x: x.ravel(), True),
        (lambda x: x.T.reshape(-1), False),
        (lambda x: x[:, 1:].ravel(), False),
        (lambda x: x[:, 1:].reshape(3, 1, 3), True),
        (lambda x: x[1:].ravel(), True),
        (lambda x: x.flatten(), False),
        (lambda x: x.copy(), False),
        (lambda x: +x, False),
        (lambda x: x.astype(float), False),
        (lambda x: x.astype(float, copy=False), True),
        (lambda x: x.conj(), True),
        (lambda x: np.conjugate(x), False),
        (lambda x: x.real, True),
        (lambda x: np.clip(x, None, None), False),
        (lambda x: copy.copy(x), False),
        (lambda x: copy.deepcopy([x])[0], False),
    ],
)
def test_what_lies_by_rows(view: Callable[[Any], Any], written: bool) -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        b = view(a)
        b *= 2
        return a

    x = np.arange(12.0).reshape(3, 4)
    expected = f(x)
    assert np.array_equal(expected, x) != written  # so says NumPy
    np.testing.assert_array_equal(sg.trace(f, x=(3, 4)).evaluate(x=x), expected)


# -- a layout that is not known --------------------------------------------------------------------
def test_arithmetic_follows_the_layout_of_its_operands() -> None:
    def kept(x: Any) -> Any:
        a = x * 2
        b = a.ravel()
        b += 1
        return a, b

    with pytest.raises(TraceError, match="lies in memory, which is not known") as refusal:
        sg.trace(kept, x=(3, 4))
    assert "b += 1" in str(refusal.value)
    assert "flatten" in refusal.value.mend

    def alone(x: Any) -> Any:
        b = (x * 2).ravel()  # what it was made of is gone
        b += 1
        return b

    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(sg.trace(alone, x=(3, 4)).evaluate(x=x), alone(x))


def test_axes_split_are_a_view_in_any_layout() -> None:
    def f(x: Any) -> Any:
        a = x * 2
        b = a.reshape(3, 2, 2)[:, 0]
        b += 1
        return a

    x = np.arange(12.0).reshape(3, 4)
    for given in (x, np.asfortranarray(x)):
        np.testing.assert_array_equal(sg.trace(f, x=(3, 4)).evaluate(x=given), f(given))


# -- named dimensions ------------------------------------------------------------------------------
NAMED: list[Callable[[Any], Any]] = [
    lambda a: a[1:],
    lambda a: a[::-1],
    lambda a: a.T,
    lambda a: a[:, 0],
    lambda a: a[0, ::2],
    lambda a: a.reshape(-1),
    lambda a: a.ravel()[1:],
    lambda a: a[None, ..., None],
    lambda a: np.swapaxes(a, 0, 1)[1:],
]


@pytest.mark.parametrize("view", NAMED)
@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (1, 4)])
def test_named_dimensions(view: Callable[[Any], Any], shape: tuple[int, int]) -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        b = view(a)
        b *= 3
        b[...] += 1
        return a, b

    x = np.arange(float(np.prod(shape))).reshape(shape)
    found = sg.trace(f, x="n, m").evaluate(x=x)
    for one, other in zip(found, f(x), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_of_fixed_size() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        row = a[0]
        part = row[1:]
        part += 1
        row *= 2
        return a, row, part

    x = np.arange(6.0).reshape(2, 3)
    for one, other in zip(sg.trace(f, x="n, 3").evaluate(x=x), f(x), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_may_be_a_view_is_written_to_once_the_other_is_gone() -> None:
    def f(x: Any) -> Any:
        a = np.einsum("ij->ji", x * 2)
        row = a[0]
        row += 1
        return a, row

    x = np.arange(6.0).reshape(2, 3)
    for one, other in zip(sg.trace(f, x=(2, 3)).evaluate(x=x), f(x), strict=True):
        np.testing.assert_array_equal(one, other)

    def kept(x: Any) -> Any:
        a = x.copy()
        b = np.einsum("ij->ji", a)
        b += 1
        return a

    with pytest.raises(TraceError, match="which is not known"):
        sg.trace(kept, x=(2, 3))


def test_of_large_arrays_only_what_is_plain_is_known() -> None:
    x = zeros((2**15, 2**15))
    row, flat = x[0], x.reshape(-1)
    row += 1
    assert flat.node.op.name == "reshape"
    assert flat.node.operands == (x.node,)
    turned = x.T.reshape(-1)
    with pytest.raises(TraceError, match="which is not known"):
        turned += 1


def test_named_dimensions_left_open() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        b = a[:, :3].reshape(-1)  # a view where there are but three columns
        b += 1
        return a, b

    with pytest.raises(TraceError, match="which is not known"):
        sg.trace(f, x=sg.spec((2, "m")))


# -- numbers and arrays without dimensions ---------------------------------------------------------
def test_numbers_are_rebound_and_arrays_are_written() -> None:
    def f(x: Any) -> Any:
        x = x.copy()
        s = x[0]
        t = s
        t += 1
        u = x[..., 1]
        v = u
        v += 10
        w = np.sum(x)
        y = w
        y *= 2
        return x, s, t, u, v, w, y

    x = np.arange(3.0)
    for found, expected in zip(sg.trace(f, x=(3,)).evaluate(x=x), f(x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_number_given_as_argument_is_rebound() -> None:
    def f(s: Any) -> Any:
        t = s
        t += 1
        return s * t

    assert sg.grad(f)(2.0) == 5.0


# -- nothing longer than it was --------------------------------------------------------------------
def ops(f: Callable[..., Any], **shapes: Any) -> list[str]:
    return [node.op.name for node in sg.trace(f, **shapes).dag.nodes]


def test_a_write_to_all_is_what_the_function_says() -> None:
    def typed(x: Any) -> Any:
        y = x * 3
        y *= 2
        y[:] = y - 4
        return y

    assert ops(typed, x=(3,)) == ops(lambda x: x * 3 * 2 - 4, x=(3,))


def test_a_write_to_all_through_views_assigns_nothing() -> None:
    def typed(x: Any) -> Any:
        y = x.copy()
        y[...] += 1
        z = y.T[::-1, None]
        z *= 2
        return y

    assert "assign" not in ops(typed, x=(3, 3))


def test_an_augmented_slice_is_written_once() -> None:
    def typed(x: Any) -> Any:
        y = x * 3
        y[1:] += 1
        return y

    assert ops(typed, x=(3,)).count("assign") == 1


def test_views_apart_from_what_is_written_keep_their_nodes() -> None:
    x = sg.input("x", (4, 3)) * 1
    rows = list(x)
    before = [row.node for row in rows]
    rows[1] += 1
    assert [row.node is node for row, node in zip(rows, before, strict=True)] == [
        *[True, False, True, True]
    ]


def test_many_views_that_are_gone_are_forgotten() -> None:
    x = sg.input("x", (1000, 2)) * 1
    for i in range(1000):
        x[i]
    assert len(x.memory.family.handles) < 100


# -- refused ---------------------------------------------------------------------------------------
def bump(z: Any) -> None:
    z += 1


def readonly(x: Any) -> Any:
    y = np.broadcast_to(x.copy(), (2, 3))
    bump(y)


def diagonal(x: Any) -> Any:
    y = np.diagonal(np.outer(x, x))
    bump(y)


def grown(x: Any) -> Any:
    y = x.copy()
    y += np.ones((3, 3))


def into_ints(x: Any) -> Any:
    y = snp.arange(3)
    y += x


def into_a_number(x: Any) -> Any:
    s = np.sum(x)
    s[...] = 1.0


def into_ndarray(x: Any) -> Any:
    out = np.ones(3)
    out += x


def into_an_element(x: Any) -> Any:
    out = np.zeros(3)
    out[0] = x[0] ** 2


def into_a_slice(x: Any) -> Any:
    out = np.zeros(3)
    out[1:] = x[1:]


def at_ndarray(x: Any) -> Any:
    np.add.at(np.zeros(3), [0, 1, 2], x)


def into_captured(x: Any) -> Any:
    bump(snp.asarray(CAPTURED))


def in_a_loop(x: Any) -> Any:
    y = x.copy()

    def step(carry: Any, each: Any) -> Any:
        y[0] += each
        return carry, each

    return sg.scan(step, x[0], x)


CAPTURED = np.ones(3)
REFUSED: dict[Any, tuple[type[Exception], str, str, str]] = {
    (lambda x: bump(x)): (TraceError, "the argument 'x'", "z += 1", "x.copy()"),
    (lambda x: bump(x[1:])): (TraceError, "the argument 'x'", "z += 1", "x.copy()"),
    (lambda x: bump(np.ravel(x))): (TraceError, "the argument 'x'", "z += 1", "x.copy()"),
    readonly: (TraceError, "only read", "z += 1", "y.copy()"),
    diagonal: (TraceError, "only read", "z += 1", "y.copy()"),
    grown: (ShapeError, "does not grow", "y += np.ones", "y = y + z"),
    into_ints: (DTypeError, "float64 does not go into", "y += x", "astype"),
    into_a_number: (TraceError, "a number", "s[...] = 1.0", "the array it comes from"),
    into_ndarray: (TraceError, "an array of NumPy's", "out += x", "Start from snp.ones(3)"),
    into_an_element: (TraceError, "float()", "out[0] =", "snp.zeros"),
    into_a_slice: (TraceError, "NumPy array", "out[1:] =", "snp.zeros"),
    at_ndarray: (TraceError, "np.add.at writes", "np.add.at(", "snp.zeros"),
    into_captured: (TraceError, "an array of NumPy's", "z += 1", "x.copy()"),
    in_a_loop: (TraceError, "made outside of the function", "y[0] += each", "x.copy()"),
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused_at_the_line_with_the_mend(f: Callable[..., Any]) -> None:
    kind, words, line, mend = REFUSED[f]
    with pytest.raises(kind) as refusal:
        sg.trace(f, x=(3,))
    assert words in str(refusal.value)
    assert line in str(refusal.value)
    assert mend in refusal.value.mend  # type: ignore[attr-defined]


def test_a_refused_write_changes_nothing() -> None:
    x = sg.input("x", (3, 4)) * 2
    y = x.ravel()
    before = x.node, y.node
    with pytest.raises(TraceError):
        y += 1
    assert (x.node, y.node) == before


@pytest.mark.parametrize("stacks", [False, True])
def test_a_derivative_rule_does_not_write_into_what_it_is_given(stacks: bool) -> None:
    def scaled(ct: Any, out: Any, x: Any) -> Any:
        ct *= out  # would be the cotangent of the other operands too
        return ct

    double = sg.custom_op(vjp=(scaled,), name="double_in_place", stacks=stacks)(lambda x: 2 * x)
    with pytest.raises(TraceError, match="a derivative rule is given") as refusal:
        sg.grad(lambda x: np.sum(double(x)))(np.ones(3))
    assert "ct *= out" in str(refusal.value)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_no_elements(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        z = y.reshape(-1)
        z += 1
        y[...] = 2.0
        return y, z

    for found in sg.trace(f, x=shape).evaluate(x=np.zeros(shape)):
        assert found.size == 0


def test_dtypes_stay_as_in_numpy() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x.copy()
        z += y
        z[0] = 7
        k = y.astype("int8")
        k += np.int8(3)
        return z, k

    x, y = np.ones(3, np.float32), np.full(3, 0.1)
    graph = sg.trace(f, x=sg.spec((3,), "float32"), y=sg.spec((3,), "float64"))
    for found, expected in zip(graph.evaluate(x=x, y=y), f(x, y), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_any_order_of_writes_through_two_views() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        views = [a[1:], a[::2], a[::-1][1:], a]
        for one, other in itertools.permutations(range(4), 2):
            views[one] *= 1.5
            views[other][0] = views[one][-1]
        return [a, *views]

    x = np.arange(1.0, 7.0)
    for found, expected in zip(sg.trace(f, x=(6,)).evaluate(x=x), f(x), strict=True):
        np.testing.assert_allclose(found, expected)
