"""Graphs lowered to JAX: JAX arrays in and out, under jax.jit, jax.grad and jax.vmap."""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.base import backend_named
from symgraph.backends.conformance import check_backend
from symgraph.errors import BackendError, InputError
from symgraph.ir.op import OPS

jax = pytest.importorskip("jax", reason="the jax extra is not installed")
from symgraph.backends.jax import evaluated  # noqa: E402

jnp = jax.numpy
wide = getattr(jax, "enable_x64", None)
if wide is None:
    from jax.experimental import enable_x64 as wide


def f(x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x) ** 2 * y)


def slope(x: Any, y: Any) -> Any:
    return 2 * np.tanh(x) * (1 - np.tanh(x) ** 2) * y


X, Y = np.array([0.3, -1.2, 0.0]), np.array([1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def run() -> Any:
    return sg.trace(f, x="n", y="n").lower("jax")


@pytest.fixture(scope="module")
def narrow() -> Any:
    return sg.trace(f, x=sg.spec("n", "float32"), y=sg.spec("n", "float32")).lower("jax")


# -- as given --------------------------------------------------------------------------------------
def test_numpy_in_numpy_out_and_the_callers_own(run: Any) -> None:
    found = run(X, Y)
    assert type(found) is np.ndarray
    assert found.flags.writeable
    assert np.allclose(found, f(X, Y), rtol=1e-12)


def test_one_jax_array_among_the_inputs_makes_the_results_jaxs(run: Any) -> None:
    with wide(True):
        for given in ((jnp.asarray(X), jnp.asarray(Y)), (jnp.asarray(X), Y), (X, jnp.asarray(Y))):
            found = run(*given)
            assert isinstance(found, jax.Array)
            assert found.dtype == np.float64
            assert np.allclose(found, f(X, Y), rtol=1e-12)


def test_numpy_out_says_it_for_all(narrow: Any) -> None:
    dag = narrow.dag
    x, y = X.astype("float32"), Y.astype("float32")
    for out, kind in ((True, np.ndarray), (False, jax.Array)):
        lowered = sg.Graph(dag).lower("jax", numpy_out=out)
        assert isinstance(lowered(x, y), kind)
        assert isinstance(lowered(jnp.asarray(x), y), kind)
        assert isinstance(pickle.loads(pickle.dumps(lowered))(x, y), kind)


def test_dtypes_widen_where_nothing_is_lost_and_are_refused_else(run: Any, narrow: Any) -> None:
    assert run(jnp.ones(3, "float32"), Y).dtype == np.float64
    with wide(True), pytest.raises(InputError, match="float64, but float32 was declared"):
        narrow(jnp.ones(3, "float64"), Y.astype("float32"))
    with pytest.raises(InputError, match=r"shape \[4\], but \[n\] was declared with n=3"):
        run(jnp.ones(3, "float32"), jnp.ones(4, "float32"))
    with pytest.raises(InputError, match="missing y"):
        run(x=jnp.ones(3, "float32"))


def test_a_truth_value_times_infinity_is_no_number() -> None:
    # XLA takes a product with a converted truth value for a choice between 0 and the factor.
    p, x = np.array([True, False, False]), np.array([0.0, np.inf, 1.0])
    for f, wanted in (
        (lambda p, x: p * x, [0, np.nan, 0]),
        (lambda p, x: (x > 0) / p.astype("float64"), [0, np.inf, np.inf]),
        (lambda p, x: p.astype("float64") / (x < 0), [np.inf, np.nan, np.nan]),
    ):
        found = sg.trace(f, p=sg.spec("n", "bool"), x="n").lower("jax")(p, x)
        np.testing.assert_array_equal(found, wanted)


# -- devices and memory ----------------------------------------------------------------------------
def test_a_device_that_is_not_here_is_refused(run: Any) -> None:
    assert "cpu" in backend_named("jax").capabilities.devices
    np.testing.assert_allclose(
        sg.Graph(run.dag).lower("jax", device="cpu")(X[::-1], Y), f(X[::-1], Y)
    )
    with pytest.raises(BackendError, match="no device 'abacus' here") as told:
        sg.Graph(run.dag).lower("jax", device="abacus")
    assert "here: cpu" in str(told.value)


def test_scipy_is_not_called_on_the_host_for_another_device(monkeypatch: Any) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    graph = sg.trace(lambda x: np.sum(special.jv(1.0, np.abs(x))), x="n")
    with pytest.raises(BackendError, match=r"JAX has no jv.*on the host") as told:
        graph.lower("jax")(X)
    assert "test_jax.py" in str(told.value)
    wanted = np.sum(special.jv(1.0, np.abs(X)))
    np.testing.assert_allclose(graph.lower("jax", host=True)(X), wanted)
    with wide(True):
        np.testing.assert_allclose(graph.lower("jax")(jnp.asarray(X)), wanted)  # it is on the CPU
    np.testing.assert_allclose(sg.trace(f, x="n", y="n").lower("jax")(X, Y), f(X, Y))


def test_on_another_device_a_program_is_looked_through_once_for_each_size(monkeypatch: Any) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    traced = list[int]()
    make_jaxpr = jax.make_jaxpr

    def counted(function: Any) -> Any:
        traced.append(1)
        return make_jaxpr(function)

    monkeypatch.setattr(jax, "make_jaxpr", counted)
    lowered = sg.trace(f, x="n", y="n").lower("jax")
    for given in ((X, Y), (X, Y), (X[:2], Y[:2]), (X, Y)):
        np.testing.assert_allclose(lowered(*given), f(*given))
    assert len(traced) == 2


def test_the_convolutions_of_other_devices_have_the_same_values(monkeypatch: Any) -> None:
    monkeypatch.setattr("symgraph.backends.jax_namespace._on_cpu", lambda: False)
    for name in ("convolution", "adjoint_convolution", "kernel_convolution"):
        assert check_backend("jax", ops=[OPS[name]], graphs=0, gradients=True) > 1


def test_a_device_keeps_the_shapes_of_numpys_arrays() -> None:
    lowered = sg.trace(np.exp, x="").lower("jax", device="cpu")
    assert lowered(np.array(0.5)).shape == ()


def test_donated_memory_is_gone_and_numpys_is_not() -> None:
    graph = sg.trace(lambda w, g: w - 0.1 * g, w="3", g="3")
    step = graph.lower("jax", donate=["w"])
    with wide(True):
        w, g = jnp.asarray(X), jnp.asarray(Y)
        np.testing.assert_allclose(step(w, g), X - 0.1 * Y)
        assert w.is_deleted()
        assert not g.is_deleted()
    given = np.array(X)
    np.testing.assert_allclose(step(given, Y), X - 0.1 * Y)
    np.testing.assert_array_equal(given, X)
    with pytest.raises(BackendError, match="no input 'v' to donate"):
        graph.lower("jax", donate=["v"])
    with pytest.raises(BackendError, match="Only compiled programs"):
        graph.lower("jax", donate=["w"], jit=False)


# -- under JAX's transformations -------------------------------------------------------------------
def test_it_stands_under_jit_grad_and_vmap(run: Any) -> None:
    with wide(True):
        x, y = jnp.asarray(X), jnp.asarray(Y)
        assert np.allclose(jax.jit(run)(x, y), f(X, Y), rtol=1e-12)
        assert np.allclose(jax.jit(lambda x: run(x, Y) * 2)(x), 2 * f(X, Y), rtol=1e-12)
        assert np.allclose(jax.grad(run)(x, y), slope(X, Y), rtol=1e-10)
        assert np.allclose(jax.grad(run, argnums=1)(x, y), np.tanh(X) ** 2, rtol=1e-10)
        rows = np.stack([X, 2 * X])
        found = jax.jit(jax.vmap(jax.grad(run), in_axes=(0, None)))(jnp.asarray(rows), y)
        assert np.allclose(found, slope(rows, Y), rtol=1e-10)
        second = sg.hessian(f)(X, Y)
        assert np.allclose(jax.hessian(run)(x, y), second, rtol=1e-8, atol=1e-12)


def test_float32_graphs_stand_there_whatever_the_types(narrow: Any) -> None:
    x, y = X.astype("float32"), Y.astype("float32")
    for each in (False, True):
        with wide(each):
            found = jax.jit(jax.grad(narrow))(jnp.asarray(x), jnp.asarray(y))
            assert found.dtype == np.float32
            assert np.allclose(found, slope(X, Y), rtol=1e-4, atol=1e-6)


def test_graphs_of_64_bits_are_refused_where_jax_has_none(run: Any) -> None:
    with wide(False):
        rows = ((jax.jit(run), (3,)), (jax.grad(run), (3,)), (jax.vmap(run), (2, 3)))
        for transformed, shape in rows:
            with pytest.raises(BackendError, match="computes in float64") as told:
                transformed(jnp.ones(shape), jnp.ones(shape))
            assert "jax_enable_x64" in str(told.value)
            assert "test_jax.py" in str(told.value)


def test_loops_choices_and_structures_pass_through() -> None:
    def g(c: Any, xs: Any) -> Any:
        last, steps = sg.scan(lambda c, x: (np.tanh(c * x), c + x), c, xs)
        return {"last": sg.cond(np.sum(last) > 0, np.exp, np.negative, last), "steps": [steps]}

    run = sg.trace(g, c="3", xs="4, 3").lower("jax")
    c, xs = np.array([0.1, 0.5, -0.3]), np.linspace(-1, 1, 12).reshape(4, 3)
    wanted = run(c, xs)
    with wide(True):
        found = jax.jit(run)(jnp.asarray(c), xs)
        slopes = jax.grad(lambda c: jnp.sum(run(c, xs)["last"]))(jnp.asarray(c))
    assert isinstance(found["steps"][0], jax.Array)
    assert np.allclose(found["last"], wanted["last"])
    assert np.allclose(found["steps"][0], wanted["steps"][0])
    ours = sg.grad(lambda c: np.sum(g(c, xs)["last"]))(c)
    assert np.allclose(slopes, ours)


# -- transforms ------------------------------------------------------------------------------------
def test_transforms_take_and_give_jax_arrays_under_jax_too() -> None:
    ours = sg.grad(f, backend="jax")
    assert type(ours(X, Y)) is np.ndarray
    x, y = jnp.asarray(X, "float32"), jnp.asarray(Y, "float32")
    for found in (ours(x, y), jax.jit(ours)(x, y), jax.vmap(ours)(x[None], y[None])[0]):
        assert isinstance(found, jax.Array)
        assert np.allclose(found, slope(X, Y), rtol=1e-4, atol=1e-6)


def test_directions_may_be_traced_too() -> None:
    product = sg.hvp(f, backend="jax")
    x, y, v = (jnp.asarray(each, "float32") for each in (X, Y, np.ones(3)))
    found = jax.jit(lambda x, y, v: product(x, y, v=v))(x, y, v)
    assert np.allclose(found, sg.hvp(f)(X, Y, v=np.ones(3)), rtol=1e-3, atol=1e-5)
    value, tangent = jax.jit(lambda x, v: sg.jvp(np.sin, backend="jax")(x, tangent=v))(x, v)
    assert np.allclose(tangent, np.cos(X), rtol=1e-5)
    assert np.allclose(value, np.sin(X), rtol=1e-5)


def test_threads_share_a_lowered_function(run: Any) -> None:
    wanted, found = f(X, Y), []

    def work() -> None:
        for _ in range(20):
            found.append((run(X, Y), run(jnp.asarray(X, "float32"), Y)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 80
    assert all(np.allclose(one, wanted, rtol=1e-12) for one, _ in found)
    assert all(isinstance(other, jax.Array) and other.dtype == "float64" for _, other in found)


# -- what XLA does better --------------------------------------------------------------------------
def hlo(graph: sg.Graph) -> str:
    """The operations of the program that JAX gets."""
    order = [node for node in graph.dag.nodes if not node.is_input]
    given = [np.ones(node.shape, node.dtype) for node in graph.dag.inputs.values()]
    with wide(True):
        lowered = jax.jit(lambda *given: evaluated(graph.dag, order, given, {})).lower(*given)
        return lowered.compile().as_text()


def test_a_vector_times_rows_is_not_a_product_by_a_transposed_matrix() -> None:
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(7, 4)), rng.normal(size=7)
    graph = sg.trace(lambda X, v: X.T @ v, X="7, 4", v="7")
    np.testing.assert_allclose(graph.lower("jax")(X, v), X.T @ v, rtol=1e-12)
    assert "transpose(" not in hlo(graph)
    both = sg.trace(lambda X, v: (X.T @ v, X.T), X="7, 4", v="7").lower("jax")(X, v)
    np.testing.assert_array_equal(both[1], X.T)


def test_what_is_written_whole_and_reversed_does_not_end_the_process() -> None:
    def function(x: Any, y: Any) -> Any:
        place = (slice(None), None, slice(None, None, 1))
        whole = snp.index_update(snp.zeros((2, 3)), place, x[:, None])
        turned = snp.index_update(y, (slice(None, None, -1), slice(2, None, -1)), whole)
        return snp.index_update(snp.zeros((2, 3)), (slice(None), slice(None, None, -1)), turned)

    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    graph = sg.trace(function, x="2, 3", y="2, 3")
    np.testing.assert_array_equal(graph.lower("jax")(x, y), graph.evaluate(x, y))
    np.testing.assert_array_equal(graph.evaluate(x, y), x[::-1])


def test_a_transpose_that_keeps_the_axes_is_none() -> None:
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(4, 4)), rng.normal(size=4)
    kept = sg.trace(lambda X, v: np.transpose(X, (0, 1)) @ v, X="4, 4", v="4")
    np.testing.assert_allclose(kept.lower("jax")(X, v), X @ v, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("stride", "dilation", "groups", "size"),
    [(1, 1, 1, 3), (2, 1, 1, 3), (1, 2, 2, 3), (2, 2, 2, 1), (1, 1, 4, 2)],
)
def test_convolutions_and_their_derivatives(
    n: int, dtype: str, stride: int, dilation: int, groups: int, size: int
) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(2, 4, *[7, 8, 6][:n])).astype(dtype)
    w = rng.normal(size=(8, 4 // groups, *[size, 2, 3][:n])).astype(dtype)

    def loss(x: Any, w: Any) -> Any:
        return snp.sum(snp.tanh(snp.conv(x, w, stride, 1, dilation, groups)))

    graph = sg.trace(loss, x=x, w=w).gradient("x", "w")
    found, wanted = graph.lower("jax")(x, w), graph.evaluate(x=x, w=w)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        far = 1e-5 if dtype == "float32" else 1e-12
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, far, far * float(np.abs(other).max()))


def test_convolutions_by_xla_where_it_is_faster() -> None:
    for dtype, shape, own in (
        ("float32", (3, 3), True),
        ("float64", (3, 3), True),
        ("float32", (1, 1), False),
        ("int64", (3, 3), False),
        ("float16", (3, 3), False),
    ):
        x, w = sg.spec("2, 4, 8, 8", dtype), sg.spec((4, 4, *shape), dtype)
        assert ("convolution(" in hlo(sg.trace(snp.conv, x=x, w=w))) is own
    x, w = sg.spec("2, 4, 8", "float64"), sg.spec("4, 4, 3", "float64")
    assert "convolution(" not in hlo(sg.trace(snp.conv, x=x, w=w))


def test_a_convolution_of_no_images() -> None:
    w = np.random.default_rng(1).normal(size=(4, 2, 3, 3)).astype("float32")

    def loss(x: Any, w: Any) -> Any:
        return snp.sum(snp.conv(x, w) ** 2)

    step = sg.trace(loss, x=sg.spec("n, 2, 5, 5", "float32"), w=w).gradient("w").lower("jax")
    value, slope = step(np.zeros((0, 2, 5, 5), "float32"), w)
    assert value == 0
    np.testing.assert_array_equal(slope, np.zeros_like(w))


def test_images_and_kernels_with_a_leading_axis() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3, 2, 4, 6)).astype("float32")
    w = rng.normal(size=(3, 5, 4, 2)).astype("float32")

    def loss(x: Any, w: Any) -> Any:
        each = sg.vmap(lambda x, w: snp.conv1d(x, w))(x, w)
        return snp.sum(each**2)

    graph = sg.trace(loss, x=x, w=w).gradient("x", "w")
    assert [node.ndim for node in graph.nodes if node.op.name == "convolution"] == [4]
    found, wanted = graph.lower("jax")(x, w), graph.evaluate(x=x, w=w)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_infinite_weights_meet_no_zeros_from_outside() -> None:
    # A transposed convolution by XLA pads with zeros, and 0 times infinity is NaN.
    x, w = np.ones((1, 1, 5, 5), "float32"), np.full((1, 1, 3, 3), np.inf, "float32")
    graph = sg.trace(lambda x, w: snp.sum(snp.conv(x, w)), x=x, w=w).gradient("x", "w")
    found, wanted = graph.lower("jax")(x, w), graph.evaluate(x=x, w=w)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(one, other)


def test_products_have_the_digits_of_their_dtype_unless_jax_is_told_otherwise() -> None:
    product = sg.trace(lambda x, y: x @ y, x=sg.spec("2, 3", "f4"), y=sg.spec("3, 2", "f4"))
    x, y = jax.numpy.ones((2, 3), "f4"), jax.numpy.ones((3, 2), "f4")
    traced = str(jax.make_jaxpr(product.lower("jax"))(x, y))
    assert "HIGHEST" in traced
    with jax.default_matmul_precision("tensorfloat32"):
        traced = str(jax.make_jaxpr(product.lower("jax"))(x, y))
    assert "HIGHEST" not in traced


def test_a_usual_call_leaves_shapes_to_jax() -> None:
    """JAX looks them up in its cache; where it meets new ones, the program refuses them."""
    product = sg.trace(lambda x, y: np.sum(x * y), x=sg.spec((3,)), y=sg.spec((3,))).lower("jax")
    with wide(True):
        x = jnp.arange(3.0)
        assert product(x, x) == 5
        entered: list[str] = []

        def seen(frame: Any, event: str, _argument: object) -> None:
            if event == "call" and "symgraph" in frame.f_code.co_filename:
                entered.append(frame.f_code.co_name)

        sys.setprofile(seen)
        try:
            product(x, x)
        finally:
            sys.setprofile(None)
        assert entered[:2] == ["__call__", "run"]
        assert len(entered) <= 3
        assert product(x, np.arange(3.0)) == 5
        assert product(x.astype("float32"), x) == 5
        for wrong in ((x,), (x, x, x), (x, jnp.arange(4.0)), (x, x + 1j)):
            with pytest.raises(sg.SymgraphError):
                product(*wrong)
        assert product(x=x, y=x) == product(x, x) == 5
    assert float(product(x, x)) == 5
