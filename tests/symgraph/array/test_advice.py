"""What a symbolic array tells on meeting what takes only numbers: the call that traces.

PYTEST_DONT_REWRITE: a rewritten `assert` in a traced function refers to all of pytest, and
`captured` reads what a function refers to: ten seconds.
"""

from __future__ import annotations

import bisect
import heapq
import math
import statistics
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import brentq
from scipy.signal import lfilter
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array import Array
from symgraph.errors import InputError, TraceError

TABLE = np.arange(10.0)
ROWS = np.arange(10.0).reshape(5, 2)
EYE = csr_matrix(np.eye(3))
V = np.array([1.0, 2.0, 3.0])


def whole(x):
    return snp.astype(x[0], "int64")


def asserted(x):
    assert np.all(x > 0)
    return np.sum(x)


def checked(x):
    if np.any(np.isnan(x)):
        x = 2 * x
        raise ValueError("not a number")
    return np.sum(x)


def leaves_a_loop(x):
    for _ in range(50):
        after = 0.5 * (x + 2 / x)
        if np.max(np.abs(after - x)) < 1e-9:
            break
        x = after
    return np.sum(x)


def returns_nothing(x):
    np.sum(x)


def listed(x):
    pair = [x[0], x[1]]
    return np.sum(np.asarray(pair))


def of_the_list(x):
    return np.mean(
        [
            x[0],
            x[1],
        ]
    )


def into_zeros(x):
    table = np.zeros((2, 3))
    table[0] = x
    return np.sum(table)


def into_ones(x):
    table = np.ones(3)
    table[:2] += x[:2]
    return np.sum(table)


def into_numbers(x):
    table = np.eye(3)
    table[0, 0] = x[0]
    return np.sum(table)


def list_times_array(x):
    rows = [[x[0], x[1]], [x[1], x[2]]]
    return np.sum(rows @ np.ones(2))


def list_repeated(x):
    pair = [x[0], x[1]]
    return np.sum(pair * 2)


def on_the_diagonal(x):
    table = np.zeros((3, 3))
    np.fill_diagonal(table, x)
    return np.sum(table)


def ends_by_a_condition(x):
    while np.sum(x) > 1:
        x = x / 2
    return np.sum(x)


def scales_where(x):
    y = x.copy()
    y[y > 2] *= 3 - x[0]
    return np.sum(y)


def takes_where(x):
    y, far = x.copy(), x > 2
    y[far] = np.sqrt(x[far]) + 1
    return np.sum(y)


def takes_elsewhere(x):
    y, far = x.copy(), x > 2
    y[1] = x[far][0]
    return np.sum(y)


def ends_by_one_of_two(x):
    steps = 0
    while np.sum(x) > 1 or steps < 3:
        x, steps = x / 2, steps + 1
    return np.sum(x)


TABLE_OF_A_LIBRARY = """
class Table:
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)

    def __mul__(self, other):
        return np.ones(3) * np.asarray(other)

    def __getitem__(self, name):
        return self

    rate = property(lambda self: self)
"""
LIBRARY: dict[str, Any] = {"np": np, "__name__": "pandas.tables"}
exec(compile(TABLE_OF_A_LIBRARY, str(Path(np.__file__).with_name("tables.py")), "exec"), LIBRARY)
FRAME = LIBRARY["Table"]()


CASES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: math.exp(x[0]), "Use np.exp,"),
    (lambda x: math.pow(x[0], 2), "Use np.power,"),
    (lambda x: math.lgamma(np.sum(x)), "Use scipy.special.gammaln,"),
    (lambda x: np.sum(np.array([x[0], x[1]])), "np.stack([x[0], x[1]])"),
    (listed, "np.stack(pair)"),
    (of_the_list, "snp.mean([x[0], x[1]])"),
    (list_times_array, "begin with rows = snp.array(rows), or give the function np.array(rows)."),
    (list_repeated, "pair is a list of symbols, and no array"),
    (lambda x: np.linalg.det(np.array([[x[0], 1.0], [0.0, x[1]]])), "snp.array([[x[0], 1.0], [0."),
    (lambda x: np.sum(np.array([v**2 for v in x])), "snp.array([v ** 2 for v in x])"),
    (lambda x: np.sum(np.concatenate([[x[0]], [1.0]])), "snp.concatenate([[x[0]], [1.0]])"),
    (lambda x: np.linalg.norm([x[0], x[1]], ord=1), "snp.linalg.norm([x[0], x[1]], ord=1)"),
    (lambda x: np.sum(np.full(3, x[0])), "snp.full of symgraph.numpy takes symbols"),
    (lambda x: np.sum(np.arange(0, x[2])), "How large snp.arange is must be known"),
    (lambda x: np.sum(snp.eye(whole(x))), "How large snp.eye is must be known"),
    (lambda x: np.sum(np.r_[x[0], x[1]]), "np.concatenate"),
    (lambda x: np.sum(np.c_[x, x]), "np.column_stack"),
    (lambda x: TABLE[whole(x)], "snp.take(TABLE, index)."),
    (lambda x: np.sum(ROWS[whole(x)]), "snp.take(ROWS, index, axis=0)"),
    (lambda x: np.sum(np.eye(3)[np.argsort(x)]), "snp.take(np.eye(3), index, axis=0)"),
    (lambda x: np.sum(ROWS.T[0, np.argsort(x)]), "snp.asarray(ROWS.T)[0, np.argsort(x)]"),
    (lambda x: np.sum(ROWS[whole(x), 1]), "snp.asarray(ROWS)[whole(x), 1]"),
    (lambda x: np.sum(V[x > 0]), "np.where(x > 0, V, 0)"),
    (lambda x: quad(lambda t: t * x[0], 0, 1)[0], "scipy.integrate.quad"),
    (lambda x: np.sum(EYE.multiply(x)), "A @ x and c * (A @ x) are traced"),
    (lambda x: max(x[0], 0.0), "np.maximum"),
    (lambda x: any(x > 0) * x[0], "np.any(x)"),
    (lambda x: sum(x[0] for _ in range(whole(x))), "sg.while_loop"),
    (lambda x: sorted(x)[0], "np.sort(x)"),
    (lambda x: [1.0, 2.0][whole(x)] * x[0], "snp.take([1.0, 2.0], index, axis=0)"),
    (lambda x: round(np.sum(x)), "np.round(x, decimals)"),
    (lambda x: round(np.sum(x), 2), "np.round(x, decimals)"),
    (lambda x: f"{np.sum(x):.3f}", "format the numbers it returns"),
    (into_zeros, "Start from table = snp.zeros((2, 3)),"),
    (into_ones, "Start from snp.ones(3),"),
    (into_numbers, "Start from table = snp.copy(table),"),
    (on_the_diagonal, "Start from table = snp.zeros((3, 3)),"),
    (lambda x: sum(v for _, v in np.ndenumerate(x)), "np.ndindex(x.shape)"),
    (lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (2,), (8,))), "sliding_window_view"),
    (lambda x: x[0] * float(x[1]), "Leave float() out"),
    (lambda x: np.sum(np.float32(x)), 'x.astype("float32")'),
    (lambda x: snp.int64(x[0]) * 1.0, 'x.astype("int64")'),
    (lambda x: x[int(x[0])], "x.astype(int)"),
    (lambda x: np.sum(np.vectorize(math.sin)(x)), "the whole array"),
    (lambda x: np.where((x > 0) and (x < 2), x, 0), "write (x > 0) & (x < 2),"),
    (lambda x: x[0] or 3.0, r"write np.where(x[0] != 0, x[0], 3.0)."),
    (lambda x: x[0] and 3.0, r"write np.where(x[0] != 0, 3.0, x[0])."),
    (lambda x: x if x[0] > 0 or x[1] > 2 else -x, "write (x[0] > 0) | (x[1] > 2),"),
    (lambda x: np.where(0 < x < 2, x, 0), "write (0 < x) & (x < 2),"),
    (lambda x: np.where(not (x > 0), x, 0), "write ~(x > 0),"),
    (lambda x: x if x[0] > 0 else -x, "sg.cond"),
    (ends_by_a_condition, "sg.while_loop"),
    (lambda x: np.sum(FRAME * x), "np.asarray(FRAME)"),
    (lambda x: np.sum(FRAME["rate"] * x), "np.asarray(FRAME['rate'])"),
    (lambda x: np.sum(FRAME.rate * x), "FRAME.rate comes from a Table"),
    (asserted, "assume=sg.positive"),
    (checked, 'debug="nan"'),
    (leaves_a_loop, "A loop that ends by a condition is sg.while_loop"),
    (lambda x: brentq(lambda t: t**2 - x[0], 0, 5), "sg.root"),
    (lambda x: np.sum(cdist(x[:, None], x[:, None])), "np.linalg.norm(x[:, None] - y, axis=-1)"),
    (lambda x: np.sum(lfilter([1.0], [1.0, 0.5], x)), "Use symgraph.scipy.signal.lfilter"),
    (lambda x: np.sum(gaussian_filter1d(x, 1.0)), "symgraph.scipy.signal.convolve"),
    (lambda x: x[0] * x[1].item(), "Leave item() out"),
    (lambda x: sum(x.tolist()), "list(x) gives the elements"),
    (lambda x: np.take(TABLE, whole(x)) * x[0], "snp.take(values, index)"),
    (lambda x: np.polynomial.Polynomial(x)(0.5), "np.polyval(coefficients, x)"),
    (lambda x: np.sum(np.ma.masked_where(x < 0, x)), "np.where(mask, 0, x)"),
    (lambda x: np.sum(np.frompyfunc(abs, 1, 1)(x)), "np.frompyfunc calls a function of numbers"),
    (returns_nothing, "End it with `return`"),
    (lambda x: np.sum(ROWS.T[:, :3].dot(x)), "np.dot(ROWS.T[:, :3], x)"),
    (lambda x: np.ones(3).dot(x), "np.dot(np.ones(3), x)"),
    (lambda x: np.sum(TABLE.take(whole(x))), "snp.take(TABLE, whole(x))"),
    (lambda x: TABLE.searchsorted(x)[0] * x[0], "np.searchsorted(TABLE, x)"),
    (lambda x: V.mean(where=x > 0), "np.mean(V, where=x > 0)"),
    (lambda x: TABLE.max(initial=x[0]), "snp.max(TABLE, initial=x[0])"),
    (lambda x: np.sum(V.compress(x > 0)), "np.where(x > 0, V, 0)"),
    (lambda x: TABLE.fill(x[0]), "snp.full((10,), x[0])"),
    (lambda x: statistics.fmean(x), "Use np.mean"),
    (lambda x: heapq.nlargest(2, x)[0], "Use np.sort"),
    (lambda x: bisect.bisect(x, 0.5) * x[0], "Use np.searchsorted"),
    (lambda x: statistics.harmonic_mean(x), "Use NumPy's functions"),
    (ends_by_one_of_two, "end the loop by sg.while_loop"),
    (scales_where, "y = np.where(y > 2, y * (3 - x[0]), y)."),
    (takes_where, "y = np.where(far, np.sqrt(x) + 1, y)."),
    (takes_elsewhere, "np.where(mask, x, 0), or multiply by the mask"),
]


@pytest.mark.parametrize(("f", "mend"), CASES, ids=[mend for _, mend in CASES])
def test_the_error_names_what_traces_at_the_user_s_line(f, mend):
    with pytest.raises(TraceError) as raised:
        sg.grad(f)(V)
    assert mend in str(raised.value)
    assert "test_advice.py" in str(raised.value)


@pytest.mark.parametrize(
    ("advised", "value"),
    [
        (lambda x: np.exp(x[0]), math.exp(1.0)),
        (lambda x: np.sum(np.stack([x[0], x[1]])), 3.0),
        (lambda x: snp.mean([x[0], x[1]]), 1.5),
        (lambda x: np.linalg.det(snp.array([[x[0], 1.0], [0.0, x[1]]])), 2.0),
        (lambda x: np.sum(snp.concatenate([[x[0]], [1.0]])), 2.0),
        (lambda x: snp.linalg.norm([x[0], x[1]], ord=1), 3.0),
        (lambda x: np.sum(snp.full(3, x[0])), 3.0),
        (lambda x: np.sum(np.column_stack([x, x])), 12.0),
        (lambda x: snp.take(TABLE, whole(x)) + 0 * x[0], 1.0),
        (lambda x: np.sum(snp.take(ROWS, whole(x), axis=0)) + 0 * x[0], 5.0),
        (lambda x: np.sum(np.dot(ROWS.T[:, :3], x)), 38.0),
        (lambda x: snp.take(TABLE, whole(x)) * x[0], 1.0),
        (lambda x: np.sum(np.searchsorted(TABLE, x)) * x[0], 6.0),
        (lambda x: np.mean(V, where=x > 1) * x[0], 2.5),
        (lambda x: snp.max(TABLE, initial=10 * x[0]), 10.0),
        (lambda x: np.sum(np.where(x > 1, V, 0)) * x[0], 5.0),
        (lambda x: np.sum(snp.full((10,), x[0])), 10.0),
        (lambda x: np.sum(np.arange(4.0).clip(x[0], x[1])), 6.0),
        (lambda x: np.sum(np.arange(4.0).clip(max=x[1])), 5.0),
        (lambda x: np.float64(0.5).clip(x[0], x[1]), 1.0),
    ],
)
def test_what_is_advised_traces(advised, value):
    assert sg.value_and_grad(advised)(V)[0] == pytest.approx(value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.zeros(x.shape[0]) + x,
        lambda x: np.ones((2 * x.shape[0],)),
        lambda x: sum(x[i] for i in range(x.shape[0])),
    ],
)
def test_a_named_dimension_is_no_number(f):
    with pytest.raises(TraceError, match="size of a named dimension") as raised:
        sg.trace(f, x=sg.spec("n"))
    assert "snp.zeros" in str(raised.value)
    assert f"test_advice.py:{f.__code__.co_firstlineno}" in str(raised.value)


def test_other_errors_of_the_user_s_code_stay_as_they_are():
    def adds_text(x):
        return np.sum(x) + len(3)

    with pytest.raises(TypeError, match="has no len") as raised:
        sg.trace(adds_text, x=sg.spec("n"))
    assert not isinstance(raised.value, sg.SymgraphError)


def test_text_of_a_symbol_may_stand_in_a_string():
    shown: list[str] = []

    def loss(x):
        shown.append(f"{np.sum(x)}")
        return np.sum(x)

    sg.grad(loss)(V)
    assert shown == ["<Array sum float64[]>"]


def test_none_given_for_an_array_is_told():
    with pytest.raises(InputError, match=r"no leaf of 'x' is an array"):
        sg.grad(lambda x: np.sum(x))(None)
    with pytest.raises(InputError, match=r"no leaf of 'x' is an array") as raised:
        sg.grad(lambda x: np.sum(x))({"scale": "large"})
    assert "x['scale'] = 'large'" in str(raised.value)
    graph = sg.trace(lambda x: np.sum(x), x=sg.spec((3,)))
    with pytest.raises(InputError, match="'x' is None"):
        graph.lower()(None)
    with pytest.raises(InputError, match="'x' is None"):
        graph.evaluate(x=None)


def test_a_property_is_not_run_to_find_advice():
    class Box:
        asked = 0

        @property
        def exp(self) -> Any:
            type(self).asked += 1
            return math.exp

    box = Box()
    with pytest.raises(TraceError, match="evaluate the graph"):
        sg.grad(lambda x: box.exp(x[0]))(V)
    assert Box.asked == 1


def test_an_expression_may_stand_on_several_lines_and_in_any_letters():
    def loss(x):
        größe = x[0]; return größe + math.exp(  # noqa: E702
            größe,  # é
        )  # fmt: skip

    with pytest.raises(TraceError, match=r"Use np\.exp"):
        sg.grad(loss)(V)


def test_iterators_of_numbers_are_told() -> None:
    with pytest.raises(TypeError, match="Iterator operand") as raised:
        sg.grad(lambda x: sum(each for each in np.nditer(x)))(V)
    assert "np.ndindex(x.shape)" in raised.value.__notes__[0]


def test_no_source_no_advice():
    scope: dict[str, Any] = {"math": math}
    exec(compile("def f(x):\n    return math.exp(x[0])", "<nowhere>", "exec"), scope)
    with pytest.raises(TraceError, match="evaluate the graph"):
        sg.grad(scope["f"])(V)


def test_lines_of_pandas_are_not_the_user_s(monkeypatch):
    source = "def mapped(f, x):\n    return f(x)\n"
    pandas = types.ModuleType("pandas")
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    exec(compile(source, "pandas/core.py", "exec"), pandas.__dict__)

    def loss(x):
        return pandas.mapped(float, x)

    with pytest.raises(TraceError) as raised:
        sg.grad(loss)(V)
    assert "pandas.mapped(float, x)" in str(raised.value)
    assert "core.py" not in str(raised.value)


def test_a_function_of_an_installed_library_is_named_and_the_user_s_line() -> None:
    from sklearn.metrics import mean_squared_error

    def loss(w):
        return mean_squared_error(V, w)  # the line

    with pytest.raises(TraceError) as raised:
        sg.grad(loss)(V)
    told = str(raised.value)
    assert told.startswith("sklearn.mean_squared_error cannot be traced")
    assert "return mean_squared_error(V, w)  # the line" in told
    assert "sg.custom_op" in told


def test_a_class_of_a_library_has_its_own_name() -> None:
    import sympy

    with pytest.raises(TraceError, match=r"sympy\.sin cannot be traced"):
        sg.grad(lambda x: sympy.sin(x))(1.0)


def test_other_errors_of_libraries_that_meet_a_symbol_are_explained() -> None:
    numba = pytest.importorskip("numba", reason="the extra native is not installed")
    with pytest.raises(Exception, match=r"symgraph\.array\.handle\.Array") as raised:
        sg.grad(numba.njit(lambda x: x * x))(2.0)
    (note,) = raised.value.__notes__
    assert "f.py_func" in note


def test_a_symbol_by_hand_is_answered_too():
    x = sg.input("x", ())
    assert isinstance(x, Array)
    with pytest.raises(TraceError, match=r"Use np\.sqrt"):
        math.sqrt(x)


def test_a_loop_over_a_named_size_is_told_of():
    with pytest.raises(TraceError, match=r"(?s)loop over an array of n elements.*sg\.scan"):
        sg.trace(lambda x: sum(v * v for v in x), x="n")


class Foreign:
    """An array of another library, which knows nothing of ours."""


@pytest.mark.parametrize("f", [lambda x: x * Foreign(), lambda x: np.sum(x) - Foreign()])
def test_an_error_of_another_library_is_noted_once(f):
    with pytest.raises(TypeError, match="unsupported operand") as raised:
        sg.grad(lambda x: sg.vmap(f)(x))(V)
    (note,) = raised.value.__notes__
    assert "np.asarray" in note


def test_another_type_error_has_no_note():
    with pytest.raises(TypeError) as raised:
        sg.grad(lambda x: np.sum(x) + len(3))(V)  # pyright: ignore[reportArgumentType]
    assert not hasattr(raised.value, "__notes__")


def test_what_is_advised_for_an_array_of_numbers_is_an_array_of_numbers_outside_of_a_trace():
    def f(x):
        table = snp.copy(ROWS)
        table[0] += x[:2]
        return np.sum(table**2)

    before = ROWS.copy()
    assert isinstance(f(V), np.floating)
    assert sg.value_and_grad(f)(V)[0] == pytest.approx(f(V))
    np.testing.assert_array_equal(ROWS, before)
