"""Small programs as one compiled function: what they take, what they refuse, what they give."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest
from nativegraphs import arrays_for, native_graph, ulps_apart

import symgraph as sg
import symgraph.numpy as snp
from symgraph.errors import InputError, NonFiniteError

pytest.importorskip("llvmlite", reason="the native extra is not installed")

pytestmark = pytest.mark.oracle


def direct_of(lowered: Any) -> Any:
    """The function that the inputs go to first."""
    assert lowered._compiled.direct is not None
    return lowered._compiled.direct.call


def native(function: Any, **specs: Any) -> Any:
    given = {name: sg.spec(*each) for name, each in specs.items()}
    return sg.trace(function, **given).lower("native")


# -- inputs ----------------------------------------------------------------------------------------
X = np.random.default_rng(0).normal(size=(4, 6))


class Subclass(np.ndarray[Any, Any]):
    pass


def _not_aligned() -> np.ndarray[Any, Any]:
    found = np.zeros(X.nbytes + 1, "u1")[1:].view("float64").reshape(X.shape)
    found[...] = X
    return found


def _read_only() -> np.ndarray[Any, Any]:
    found = X.copy()
    found.flags.writeable = False
    return found


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(X.copy(), id="as declared"),
        pytest.param(_read_only(), id="read-only"),
        pytest.param(np.asfortranarray(X), id="by columns"),
        pytest.param(X[::-1].copy()[::-1], id="negative strides"),
        pytest.param(np.repeat(X, 2, axis=1)[:, ::2], id="with gaps"),
        pytest.param(X.astype(">f8"), id="big-endian"),
        pytest.param(X.astype("float32").astype("float64"), id="other numbers"),
        pytest.param(X.tolist(), id="lists"),
        pytest.param(pickle.loads(pickle.dumps(X)), id="a dtype like NumPy's own"),
        pytest.param(X.view(Subclass), id="a subclass"),
        pytest.param(_not_aligned(), id="not aligned"),
    ],
)
def test_any_layout_gives_the_same_bits(x: Any) -> None:
    lowered = native(lambda x: (np.exp(x).T @ np.tanh(x), np.sum(x, axis=0), x.T), x=((4, 6),))
    want = lowered(np.array(x, "float64"))
    for got in (lowered(x), lowered(x=x)):
        for one, other in zip(got, want, strict=True):
            np.testing.assert_array_equal(one, other)
            assert not np.shares_memory(one, np.asarray(x))


@pytest.mark.parametrize(
    "x",
    [
        np.ones((6, 4)),
        np.ones((4, 6, 1)),
        np.ones(24),
        np.ones((4, 6), "complex128"),
        np.ma.masked_array(np.ones((4, 6))),
        "text",
        None,
    ],
)
def test_what_does_not_fit_is_refused_as_ever(x: Any) -> None:
    lowered = native(lambda x: np.exp(x) + 1, x=((4, 6),))
    lowered(np.ones((4, 6)))
    with pytest.raises(InputError):
        lowered(x)


def test_another_number_of_inputs() -> None:
    lowered = native(lambda x, y: np.exp(x) + y, x=((3,),), y=((3,),))
    lowered(np.ones(3), np.ones(3))
    for given in ((), (np.ones(3),), (np.ones(3),) * 3):
        with pytest.raises(InputError):
            lowered(*given)
    with pytest.raises(InputError):
        lowered(np.ones(3), z=np.ones(3))


@pytest.mark.parametrize(
    "a", [2, 2.0, np.float64(2), np.float32(2), np.array(2.0), np.array(2), True]
)
def test_numbers(a: Any) -> None:
    lowered = native(lambda a, b: np.exp(a) * b + a, a=((),), b=((),))
    got = lowered(a, 0.5)
    assert type(got) is np.ndarray
    assert got.shape == ()
    np.testing.assert_allclose(got, np.exp(float(a)) * 0.5 + float(a), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32", "int16", "int8", "bool"])
def test_dtypes_are_told_apart(dtype: str) -> None:
    lowered = native(lambda x: (x, x.T), x=((2, 3), dtype))
    x = np.arange(6).reshape(2, 3).astype(dtype)
    for _ in range(2):
        for got, want in zip(lowered(x), (x, x.T), strict=True):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == x.dtype
    other = np.dtype("uint64") if dtype != "float32" else np.dtype("float64")
    with pytest.raises(InputError):
        lowered(np.full((2, 3), 3, other))


# -- results ---------------------------------------------------------------------------------------
def test_results_are_arrays_of_their_own() -> None:
    constant = np.arange(4.0)

    def function(x: Any) -> Any:
        e = np.exp(x)
        return {"twice": (e, e), "turned": e.T, "input": x, "same": snp.asarray(constant)}

    lowered = native(function, x=((3, 4),))
    x = X[:3, :4].copy()
    first = lowered(x)
    second = lowered(x)
    flat = [*first["twice"], first["turned"], first["input"], first["same"]]
    flat += [*second["twice"], second["turned"], second["input"], second["same"]]
    for k, one in enumerate(flat):
        assert one.flags.writeable
        assert not np.shares_memory(one, x)
        assert not np.shares_memory(one, constant)
        assert not any(np.shares_memory(one, each) for each in flat[:k])
    np.testing.assert_array_equal(first["turned"], first["twice"][0].T)
    np.testing.assert_array_equal(first["input"], x)
    np.testing.assert_array_equal(first["same"], constant)


def test_no_reference_is_lost_or_kept() -> None:
    lowered = native(lambda x: (np.exp(x) + 1, np.sum(x)), x=((8,),))
    x, refused = np.ones(8), np.ones(9)
    things = (None, np.dtype("float64"), np.ndarray, x)
    lowered(x)
    found = [*lowered(x)]
    counts = [sys.getrefcount(found.pop()) for _ in range(2)]
    assert counts == [sys.getrefcount(np.ones(8)), sys.getrefcount(np.ones(()))]
    changes: list[int] = []
    for _ in range(3):  # What other tests have left may be freed in one of these rounds.
        gc.collect()
        before = [sys.getrefcount(each) for each in things]
        for _ in range(5000):
            lowered(x)
            direct_of(lowered)(refused)
        gc.collect()
        after = [sys.getrefcount(each) for each in things]
        changes.append(max(abs(a - b) for a, b in zip(after, before, strict=True)))
    assert min(changes) < 100


def test_constants_live_as_long_as_the_function() -> None:
    table = np.random.default_rng(0).normal(size=(5, 5))
    lowered = native(lambda x: x @ snp.asarray(table) + np.exp(x), x=((5,),))
    call = direct_of(lowered)
    x = np.ones(5)
    want = x @ table + np.exp(x)
    lowered(x)
    call = direct_of(lowered)
    del lowered
    gc.collect()
    np.testing.assert_allclose(call(x)[0], want, rtol=1e-14)


def test_many_threads() -> None:
    lowered = native(lambda x: (np.sum(np.exp(x) * x), np.tanh(x) @ x), x=((50,),))
    inputs = [np.random.default_rng(seed).normal(size=50) for seed in range(8)]
    want = [lowered(x) for x in inputs]

    def run(k: int) -> bool:
        return all(
            np.array_equal(one, other)
            for _ in range(300)
            for one, other in zip(lowered(inputs[k]), want[k], strict=True)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_temporaries_fit_a_small_stack() -> None:
    """What needs more than a thread may have runs by its statements."""

    def softmax(z: Any) -> Any:
        e = np.exp(z - np.max(z, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    found: list[bool] = []
    before = threading.stack_size(2**18)
    try:
        for shape in ((4, 30), (60, 100), (1, 1000), (2, 5000)):
            lowered = native(lambda z: softmax(np.sin(z) * 2) @ z.T, z=(shape,))
            z = np.random.default_rng(0).normal(size=shape)
            want = softmax(np.sin(z) * 2) @ z.T

            def run(lowered: Any = lowered, z: Any = z, want: Any = want) -> None:
                found.append(np.allclose(lowered(z), want))

            lowered(z)
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    finally:
        threading.stack_size(before)
    assert found == [True] * 4
    assert lowered._compiled.direct is None


# -- beside the program ----------------------------------------------------------------------------
def test_checks_and_guards_are_not_passed_over() -> None:
    graph = sg.trace(lambda x: np.log(x) * 2, x=sg.spec((3,)))
    seen: list[Any] = []
    guarded = graph.lower("native").guarded(lambda **given: seen.append(given["x"]))
    guarded(np.ones(3))
    assert len(seen) == 1
    strict = graph.lower("native", debug="nan")
    strict(np.ones(3))
    with pytest.raises(NonFiniteError):
        strict(-np.ones(3))


def test_named_and_large_programs_run_by_statements() -> None:
    for shape in ("n", (100_000,)):
        lowered = sg.trace(lambda x: np.exp(x) * x, x=sg.spec(shape)).lower("native")
        assert lowered._compiled.direct is None
        np.testing.assert_allclose(lowered(np.ones(100_000)), np.e)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_by_statements_too(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [native_graph(seed, dtype) for seed in range(500, 540)]
    whole = [graph.lower("native") for graph in graphs]
    monkeypatch.setattr("symgraph.native.programs.is_small", lambda aval: False)
    parts = [graph.lower("native") for graph in graphs]
    for seed, (graph, one, other) in enumerate(zip(graphs, whole, parts, strict=True)):
        given = arrays_for(graph, np.random.default_rng(seed))
        assert other._compiled.direct is None
        for got, want in zip(one(**given), other(**given), strict=True):
            assert ulps_apart(got, want) <= 256


# -- products --------------------------------------------------------------------------------------
SIZES = [*product((1, 3, 9), (1, 3, 9), (1, 2, 8, 17)), (0, 3, 2), (3, 0, 2), (2, 3, 0)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("register", [16, 32, 64])
def test_products_of_every_layout(
    register: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whole numbers, whose sums are exact in any order."""
    monkeypatch.setattr("symgraph.backends.native.vector_bytes", lambda: register)
    rng = np.random.default_rng(register)

    def some(*shape: int) -> np.ndarray[Any, Any]:
        return rng.integers(-9, 9, shape).astype(dtype)

    def function(a: Any, b: Any, c: Any, d: Any) -> Any:
        return [left @ right for left in (a, c.T) for right in (b, d.T)]

    for m, n, k in SIZES:
        given = some(m, k), some(k, n), some(k, m), some(n, k)
        specs = {name: sg.spec(each.shape, dtype) for name, each in zip("abcd", given, strict=True)}
        lowered = sg.trace(function, **specs).lower("native")
        assert lowered._compiled.direct is not None
        for got, want in zip(lowered(*given), function(*given), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (1, 40), (7, 3), (9, 33), (40, 1), (33, 9), (3, 0)])
def test_products_with_vectors(m: int, k: int, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, x, y = [rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k,), (m,))]

    def function(a: Any, x: Any, y: Any) -> Any:
        return a @ x, y @ a, a.T @ y, x @ a.T, x @ x, y @ y

    specs = {"a": sg.spec((m, k), dtype), "x": sg.spec((k,), dtype), "y": sg.spec((m,), dtype)}
    lowered = sg.trace(function, **specs).lower("native")
    assert lowered._compiled.direct is not None
    for got, want in zip(lowered(a, x, y), function(a, x, y), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -0.0])
def test_special_numbers_in_products(bad: float) -> None:
    lowered = native(lambda a, b: (a @ b, b.T @ a.T, a.T @ b), a=((5, 5),), b=((5, 5),))
    for place in range(25):
        a, b = np.ones((5, 5)), np.eye(5)
        a.flat[place] = bad
        with np.errstate(all="ignore"):
            want = a @ b, b.T @ a.T, a.T @ b
        for got, expected in zip(lowered(a, b), want, strict=True):
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


# -- other statements ------------------------------------------------------------------------------
@pytest.mark.parametrize("offset", [-2, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_diagonals_repeats_and_orders(offset: int, dtype: str) -> None:
    def function(x: Any, r: Any) -> Any:
        matrix = snp.diag(x, offset)
        return matrix, matrix.T, snp.broadcast_to(r, (3, 5)), snp.broadcast_to(r, (3, 5)) + x

    x, r = np.arange(1, 6).astype(dtype), np.arange(3).reshape(3, 1).astype(dtype)
    graph = sg.trace(function, x=sg.spec((5,), dtype), r=sg.spec((3, 1), dtype))
    lowered = graph.lower("native")
    assert lowered._compiled.direct is not None
    for got, want in zip(lowered(x, r), graph.evaluate(x=x, r=r), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_views_and_joins(dtype: str) -> None:
    def function(x: Any, r: Any) -> Any:
        turned, rows = x.T, x[1:3]
        return {
            "cuts": (rows, x[::-1, ::2], x[0], x[..., None], x[1:1], rows.T[::-1]),
            "diagonal": snp.diagonal(x, 1),
            "shapes": (turned.reshape(6, 4), np.squeeze(x[:1]), snp.moveaxis(x, 0, 1)),
            "joined": snp.concatenate([x, r, x[::-1]]),
            "beside": snp.concatenate([turned, r.T[:, :1]], axis=1),
            "repeated": snp.broadcast_to(x[0], (200, 6)),
            "larger": np.where(x[::-1] == r, x, x),
        }

    x, r = np.arange(24).reshape(4, 6).astype(dtype), np.arange(6).reshape(1, 6).astype(dtype)
    graph = sg.trace(function, x=sg.spec((4, 6), dtype), r=sg.spec((1, 6), dtype))
    lowered = graph.lower("native")
    assert lowered._compiled.direct is not None
    got, want = lowered(x, r), graph.evaluate(x=x, r=r)
    for name, each in want.items():
        pairs = zip(got[name], each, strict=True) if type(each) is tuple else [(got[name], each)]
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
            assert one.flags.writeable
            assert not np.shares_memory(one, x)


def test_views_are_operands() -> None:
    def function(x: Any) -> Any:
        left, right = x[:3, 1:], x[1:, ::-1]
        product = left.T @ right[:, :5] + np.exp(x[0, 1:])
        return product, np.sum(x[1:, 2]), x[:, 3] @ x[:, 2], product[::-1] * x[:1, :5]

    graph = sg.trace(function, x=sg.spec((4, 6)))
    lowered = graph.lower("native")
    assert lowered._compiled.direct is not None
    x = np.random.default_rng(0).normal(size=(4, 6))
    for got, want in zip(lowered(x), graph.evaluate(x=x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


def test_a_hessian_is_one_function() -> None:
    rng = np.random.default_rng(0)
    a, u, v = rng.normal(size=(6, 5)), rng.normal(size=(6, 2)), rng.normal(size=(2, 5))
    graph = sg.trace(
        lambda a, u, v: np.sum((a - u @ v) ** 2) + np.sum(np.exp(u)),
        a=sg.spec(a.shape), u=sg.spec(u.shape), v=sg.spec(v.shape),
    )  # fmt: skip
    hessian = graph.hessian("u", value=False).simplify()
    lowered = hessian.lower("native")
    assert lowered._compiled.direct is not None
    want = hessian.evaluate(a=a, u=u, v=v)
    np.testing.assert_allclose(lowered(a, u, v), want, rtol=1e-13)
