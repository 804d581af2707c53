"""Each primitive of JAX that has a counterpart: values and gradients are JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import InputError
from symgraph.frontends.jax.control import CONTROL
from symgraph.frontends.jax.linalg import LINALG
from symgraph.frontends.jax.table import TABLE

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::symgraph.graph.tracing.UnusedInputWarning"),
]
jax = pytest.importorskip("jax", reason="the jax extra is not installed")
jnp, lax = jax.numpy, jax.lax
from jax._src.lax.lax import le_to_p, lt_to_p  # noqa: E402  # it needs jax
from jax.ad_checkpoint import checkpoint_name  # noqa: E402


def numbers(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Any:
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


def whole(*shape: int, below: int = 5, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).integers(0, below, shape)


X, Y, ROW = numbers(3, 4), numbers(3, 4, seed=1), numbers(4)
POSITIVE, SHARE = numbers(3, 4, low=0.2), numbers(3, 4, low=0.1, high=0.9)
CUBE, MATRIX = numbers(2, 3, 4), numbers(4, 4)
IMAGE, KERNEL = numbers(2, 4, 6, 6), numbers(6, 2, 3, 3)
COUNTS, PLACES = whole(3, 4), np.array([2, 0, 1])
TRUTH = X > 0

Row = tuple[Callable[..., Any], tuple[Any, ...]]
ROWS: dict[str, Row] = {}


def row(name: str, function: Callable[..., Any], *args: Any) -> None:
    assert name not in ROWS
    ROWS[name] = (function, args)


for each in (
    *["exp", "exp2", "expm1", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "logistic"],
    *["erf", "erfc", "floor", "ceil", "sign", "abs", "neg", "atan", "asinh", "cbrt", "is_finite"],
    *["bessel_i0e", "bessel_i1e", "stop_gradient"],
):
    row(each, getattr(lax, each), X)
for each in ("log", "log1p", "sqrt", "rsqrt", "lgamma", "digamma"):
    row(each, getattr(lax, each), POSITIVE)
for each in ("asin", "acos", "atanh", "erf_inv"):
    row(each, getattr(lax, each), SHARE)
row("acosh", lax.acosh, POSITIVE + 1)
row("round", lambda x: jnp.round(x) + lax.round(3 * x, lax.RoundingMethod.AWAY_FROM_ZERO), X)
for each in ("add", "sub", "mul", "max", "min"):
    row(each, getattr(lax, each), X, Y)
for each in ("div", "atan2", "rem", "nextafter"):
    row(each, getattr(lax, each), X, POSITIVE)
row("log2", jnp.log2, POSITIVE)
row("polynomial", lambda x: jnp.polyval(jnp.array([2.0, -1.0, 0.5]), x), X)
row(
    "root",
    lambda x: lax.custom_root(
        lambda y: y**3 - jnp.sum(x),
        1.0,
        lambda f, start: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y * y), start),
        lambda g, y: y / g(1.0),
    ),
    POSITIVE,
)
row("nonzero", lambda x: x[0][jnp.nonzero(x[0] > 0, size=3, fill_value=0)[0]], X)
row("pow", lambda x, y: x**y + x**3 + x**-2 + x**0.5, POSITIVE, Y)
row("integers", lambda i: lax.div(i - 2, i + 1) + lax.rem(i - 2, i + 1) + i**2, COUNTS)
row("unsigned", lambda i: lax.div(i, i + 1) + lax.shift_right_logical(i, i), COUNTS.astype("u4"))
HALVES = np.array(
    [0.5, np.nextafter(0.5, 0), 2.5, 2.0**52 + 1, 2.0**60 + 256, -0.0, np.inf, np.nan]
)
row("away from zero", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), HALVES)
row("away from zero, negative", lambda x: lax.round(-x, lax.RoundingMethod.AWAY_FROM_ZERO), HALVES)
LEAST = np.array([-128, -127, -7, -1, 0, 5, 127], "i1")
row("quotients towards zero", lambda i, k: lax.div(i, k), *np.meshgrid(LEAST, LEAST[LEAST != 0]))
row("bits of negative numbers", lambda i: lax.population_count(i), LEAST)
row("bits of unsigned numbers", lambda i: lax.population_count(i), LEAST.astype("u1"))
row("bits", lambda i: (i & 3) | (i ^ 5) & ~i, COUNTS)
row("shifts", lambda i: (i << 2) + (i >> 1) + lax.population_count(i), COUNTS)
row("truths", lambda m, x: (m & (x < 1)) | ~m ^ (x >= 0.5), TRUTH, X)
row("comparisons", lambda x, y: (x == y) | (x != y) & (x <= y) | (x > y), X, Y)
ENDS = np.array([np.nan, -np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf])
row("total_order", lambda x, y: lt_to_p.bind(x, y) | le_to_p.bind(y, x), *np.meshgrid(ENDS, ENDS))
row("searchsorted", lambda x, y: jnp.searchsorted(y, x), X, np.sort(ROW))
row("platform", lambda x: lax.platform_dependent(x, tpu=jnp.sin, default=jnp.cos), X)
row("platforms", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), X)
row("device_put", lambda x: jax.device_put(x) * 2, X)
row("clamp", lambda x: lax.clamp(-0.5, x, 0.7) + jnp.clip(x, 0.1), X)
row("where", lambda x, y: jnp.where(x > y, x * 2, y), X, Y)
row("select_n", lambda i, x, y: lax.select_n(i, x, y, x * y), COUNTS % 3, X, Y)
row("cast", lambda x, i: x.astype(int) + i.astype(float) + i.astype(bool), X, COUNTS)
FAR = np.array([np.nan, -np.inf, -1e20, -300, -1.5, -0.5, 0.7, 129.5, 300, 7e4, 5e9, 1e20, np.inf])
for each in ("u1", "i1", "u2", "i2", "u4", "u8"):
    row(f"cast to {each}", lambda x, to=each: x.astype(to), FAR)
    row(f"cast of floats to {each}", lambda x, to=each: x.astype(to), FAR.astype("f4"))
row(
    "special",
    lambda x: lax.igamma(jnp.ones((3, 4)), x) + lax.igammac(jnp.full((3, 4), 2.0), x),
    POSITIVE,
)
row("igamma in a", lambda x, y: lax.igamma(x, y) * lax.igammac(y, x), POSITIVE, POSITIVE)
# JAX has no derivative of this one, so it is of whole numbers.
row(
    "slope of igamma in a",
    lambda i, x: lax.igamma_grad_a(abs(i) + 1.0, abs(i) + 0.5) * x,
    COUNTS,
    POSITIVE,
)
row("betainc", lambda x: jax.scipy.special.betainc(2.0, 3.0, x), SHARE)
row(
    "zeta",
    lambda x: lax.zeta(jnp.full((3, 4), 3.0), x) + jax.scipy.special.polygamma(1, x),
    POSITIVE,
)
row("barrier", lambda x: lax.optimization_barrier(x) * 2, X)
row("copy", lambda x: jnp.array(x, copy=True) * 2, X)
row("named", lambda x: checkpoint_name(x * 2, "double") ** 2, X)

# -- movement --------------------------------------------------------------------------------------
row("broadcast", lambda x, r: x + r + jnp.broadcast_to(r, (3, 4)) + 1.0, X, ROW)
row("reshape", lambda x: x.reshape(4, 3).T.ravel() * jnp.expand_dims(x, 0).reshape(-1), X)
row("squeeze", lambda x: jnp.squeeze(x[None, :, None], (0, 2)), X)
row("expand_dims", lambda x: lax.expand_dims(x, (0, 2)), X)
row("transpose", lambda x: jnp.transpose(x, (2, 0, 1)) @ x[0].T[:3], CUBE)
row("rev", lambda x: x[::-1] + jnp.flip(x, 1) + jnp.roll(x, 1, 1), X)
row(
    "concatenate",
    lambda x, y: jnp.concatenate([x, y], 1) * jnp.stack([x, y], 1).reshape(3, 8),
    X,
    Y,
)
row("pad", lambda x: lax.pad(x, 0.0, [(1, 2, 0), (0, 1, 0)]), X)
row("pad_value", lambda x, y: lax.pad(x, y[0, 0], [(1, 0, 1), (-1, 2, 2)]), X, Y)
row("slice", lambda x: x[1:, ::2] + x[:2, 1:3], X)
row("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 2)), X, PLACES)
row("dynamic_slice_known", lambda x: lax.dynamic_slice(x, (1, 9), (2, 2)), X)
row("dynamic_index", lambda x, i: lax.dynamic_index_in_dim(x, i[0], 1), X, PLACES)
row(
    "dynamic_update",
    lambda x, y, i: lax.dynamic_update_slice(x, y[:2, :2], (i[0], i[1])),
    X,
    Y,
    PLACES,
)
row("unstack", lambda x: jnp.unstack(x, axis=1)[2] * jnp.tile(x, 2)[:, 5], X)
row("split", lambda x: jnp.split(x, [1, 3], 1)[1] * jnp.split(x, 2, 1)[0], X)
row("iota", lambda x: x * jnp.arange(4) + jnp.eye(3, 4) + lax.broadcasted_iota(float, (3, 4), 0), X)
row("sort", lambda x: jnp.sort(x, 1) * jnp.argsort(x, 0), X)
SPOILT = np.array([[np.nan, 1.0, np.inf, 1.0], [-np.inf, 2.0, np.nan, 0.0]])
row("top_k with nan", lambda x: lax.top_k(x, 3)[1], SPOILT)
row("top_k of integers", lambda i: lax.top_k(i, 2)[1], COUNTS)
row("sort_pairs", lambda x, y: lax.sort([x, y], num_keys=1)[1], X, Y)
row("top_k", lambda x: lax.top_k(x, 2)[0] + lax.top_k(x, 2)[1], X)

# -- indices ---------------------------------------------------------------------------------------
row("gather_rows", lambda x, i: x[i] * x[i, 1][:, None], X, PLACES)
row("gather_columns", lambda x, i: x[:, i] + x[i][:, i].T, X, PLACES)
row("gather_apart", lambda x, i: x[i % 2, :, i], CUBE, PLACES)
row("gather_negative", lambda x, i: x[-i - 1], X, PLACES)
row("gather_fill", lambda x, i: jnp.take(x, i + 1, 0, mode="fill", fill_value=0.5), X, PLACES)
row("gather_clip", lambda x, i: jnp.take(x, i + 1, 0, mode="clip"), X, PLACES)
row(
    "windows_of_one",
    lambda x, i: jax.vmap(lambda r, k: lax.dynamic_slice(r, (k, 0), (1, 3)))(x[:, None, :], i),
    X,
    PLACES,
)
row(
    "one_of_each",
    lambda x, i: jax.vmap(lambda k: lax.dynamic_slice(x, (k, 0), (1, 4)))(i),
    X,
    PLACES,
)
row("take_along", lambda x, i: jnp.take_along_axis(x, i, 1), X, whole(3, 2, below=4))
row("batched", lambda x, i: jax.vmap(lambda r, k: r[k] ** 2)(x, i), X, whole(3, 2, below=4))
row("set", lambda x, i: x.at[i[:2]].set(2.0).at[0, 1].set(x[1, 1]), X, PLACES)
row("set_outside", lambda x, i: x.at[i + 1].set(7.0), X, PLACES)
row("add_at", lambda x, y, i: x.at[i % 2].add(y).at[:, i].add(1.5), X, Y, PLACES)
row("add_clipped", lambda x, y, i: x.at[i + 1].add(y, mode="clip"), X, Y, PLACES)
row("add_promised", lambda x, y, i: x.at[i].add(y, mode="promise_in_bounds"), X, Y, PLACES)
row(
    "add_batched",
    lambda x, i: jax.vmap(lambda r, k: r.at[k].add(2 * r[:2]))(x, i),
    X,
    whole(3, 2, below=4),
)

# -- reductions and products -----------------------------------------------------------------------
row("sums", lambda x: x.sum() + x.sum(0) * x.mean((0, 2)[:1]) + jnp.var(x, 0), X)
row("extremes", lambda x: x.max(1) * x.min(1) + x.max() + x.prod(1), X)
row("any", lambda m: m.any(1) | m.all() | m.any(), TRUTH)
row("places", lambda x: jnp.argmax(x, 1) + jnp.argmin(x) * 2, X)
row("cumulative", lambda x: jnp.cumsum(x, 1) * jnp.cumprod(x, 0), X)
row("cumulative_back", lambda x: lax.cumsum(x, 1, reverse=True) + lax.cumlogsumexp(x, 1), X)
row("cumulative_extremes", lambda x: lax.cummax(x, 1) + lax.cummin(x, 0, reverse=True), X)
row("dot", lambda x, c: (c @ x.T) @ x + jnp.einsum("bij,bkj->bik", c, c) @ x, X, CUBE)
row("dot_general", lambda x, c: jnp.tensordot(c, x, ((1, 2), (0, 1))) + x[0] @ x[1], X, CUBE)
row("softmax", lambda x: jax.nn.softmax(x) + jax.nn.log_softmax(x, 0) * jax.nn.gelu(x), X)
row(
    "activations", lambda x: jax.nn.relu(x) + jax.nn.silu(x) + jax.nn.softplus(x) + jax.nn.elu(x), X
)
row("logsumexp", lambda x: jax.scipy.special.logsumexp(x, 1) + jnp.logaddexp(x, 1.0)[:, 0], X)
row(
    "conv",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 2), [(1, 0), (0, 2)], None, (2, 1), feature_group_count=2
    ),
    IMAGE,
    KERNEL,
)
row(
    "conv_last",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    numbers(2, 6, 6, 2),
    numbers(3, 3, 2, 5),
)
row(
    "max_pool",
    lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
    IMAGE,
)
row(
    "sum_pool",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 2), (1, 1, 2, 1), "SAME"),
    IMAGE,
)
row(
    "min_pool",
    lambda x: lax.reduce_window(x, jnp.inf, lax.min, (1, 1, 2, 2), (1, 1, 1, 2), "VALID"),
    IMAGE,
)

# -- functions in them -----------------------------------------------------------------------------
row("pulled_back", lambda x: jax.vjp(lambda y: y * jnp.sin(y) + y, x)[1](x)[0], X)
row("jit", jax.jit(lambda x: jax.jit(jnp.sin)(x) * 2), X)
row("remat", lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x), X)
row("scan", lambda x, r: lax.scan(lambda c, s: (c * r + s, c * s), r, x)[1], X, ROW)
row(
    "scan_back", lambda x: lax.scan(lambda c, s: (c + s, None), jnp.zeros(4), x, reverse=True)[0], X
)
row("scan_count", lambda r: lax.fori_loop(0, 3, lambda k, c: c * r + k, r), ROW)
row("scan_map", lambda x: lax.map(lambda s: s * s.sum(), x), X)
row("cond", lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda v: v * x, x), X)
row("switch", lambda x, i: lax.switch(i[0], [jnp.sin, jnp.cos, lambda v: v * x], x), X, PLACES)


@jax.custom_vjp
def clipped(x: Any, y: Any) -> Any:
    return x * y, jnp.sin(x)


clipped.defvjp(
    lambda x, y: (clipped(x, y), (x, y)),
    lambda kept, ct: (jnp.clip(ct[0] * kept[1], -0.1, 0.1) + ct[1], None),
)


@jax.custom_jvp
def stepped(x: Any, n: Any) -> Any:
    return jnp.floor(x) * n


stepped.defjvp(lambda at, moved: (stepped(*at), 7 * moved[0] * at[0]))

row("custom_vjp", lambda x, y: clipped(x, y)[0] + clipped(x * y, y)[1] ** 2, X, Y)
row("custom_jvp", lambda x, i: stepped(x * x, i) + stepped(x, 2), X, COUNTS)

VALUES_ONLY = {"nextafter", "zeta"}
"""What JAX does not differentiate."""


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_those_of_jax(name: str) -> None:
    function, args = ROWS[name]
    with jax.enable_x64(True):
        graph = sg.from_jax(function, *args)
        given = dict(zip(graph.inputs, args, strict=True))
        expected = np.asarray(function(*map(jnp.asarray, args)))
        found = graph.evaluate(**given)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        places = [place for place, each in enumerate(args) if each.dtype.kind == "f"]
        if expected.dtype.kind != "f" or not places or name in VALUES_ONLY:
            return
        weights = np.random.default_rng(0).normal(size=expected.shape)
        total = lambda *a: jnp.sum(function(*a) * weights)  # noqa: E731
        slopes = jax.grad(total, argnums=places)(*map(jnp.asarray, args))
    (out,) = graph.outputs.values()
    weighted = sg.graph(np.sum(out * weights), inputs=list(graph.inputs.values()))
    ours = weighted.gradient(*[list(given)[place] for place in places], value=False)
    ours = ours.evaluate(**given)
    for one, other in zip([ours] if len(places) == 1 else ours, slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def primitives(jaxpr: Any) -> set[str]:
    """Those of a jaxpr and of the functions in it."""
    found: set[str] = set()
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for each in equation.params.values():
            for part in each if isinstance(each, tuple) else (each,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    found |= primitives(inner)
    return found


def test_no_primitive_is_without_a_row() -> None:
    with jax.enable_x64(True):
        every = [jax.make_jaxpr(f)(*args).jaxpr for f, args in ROWS.values()]
    seen = set[str]().union(*map(primitives, every))
    others = {"while", "pjit"}  # See below; the name of "jit" in older versions.
    others |= {*LINALG, "custom_linear_solve"}  # In test_jax_linalg.py.
    others |= {"eval_jaxpr"}  # In derivatives of operations that JAX 0.12 keeps whole.
    others |= {"call_hi_primitive", "log2", "polynomial"} - seen  # From JAX 0.12 on.
    assert sorted({*TABLE, *CONTROL} - seen - others) == []


def test_a_loop_with_a_condition() -> None:
    def halved(x: Any) -> Any:
        return lax.while_loop(lambda c: c[1] > 1, lambda c: (c[0] + 1, c[1] / 2), (0, x))

    graph = sg.from_jax(halved, np.float32(5))
    assert [float(each) for each in graph.evaluate(x=np.float32(20))] == [5, 0.625]


# -- inputs and outputs ----------------------------------------------------------------------------
def test_inputs_are_named_by_their_path() -> None:
    def loss(params: Any, *rest: Any, scale: Any) -> Any:
        layer = params["layers"][1]
        return {"loss": jnp.sum(layer["w"] * rest[0]) * scale, "all": (rest[0], [params["b"]])}

    params = {"layers": [{"w": X}, {"w": X + 1}], "b": ROW}
    graph = sg.from_jax(loss, params, Y, scale=np.float32(2))
    assert list(graph.inputs) == [
        "params.b",
        "params.layers.0.w",
        "params.layers.1.w",
        "rest0",
        "scale",
    ]
    assert all(str(each.dtype) == "float32" for each in graph.inputs.values())
    found = graph.evaluate(ROW.astype("f4"), *[X.astype("f4")] * 3, np.float32(2))
    assert set(found) == {"loss", "all"}
    np.testing.assert_allclose(found["loss"], 2 * np.sum(X.astype("f4") ** 2), rtol=1e-5)


def test_shapes_alone_are_enough() -> None:
    graph = sg.from_jax(lambda x: x * 2, jax.ShapeDtypeStruct((3,), "float32"))
    assert str(graph.inputs["x"].aval) == "float32[3]"


def test_the_gradient_of_cross_entropy_is_short() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(x @ w), -1))

    w, x, y = (jax.ShapeDtypeStruct(each, "float32") for each in ((4, 3), (6, 4), (6, 3)))
    graph = sg.from_jax(loss, w, x, y, assume={"y": sg.simplex(axis=-1)})
    small = graph.gradient("w", value=False).simplify()
    assert "softmax" in str(small.formula())
    assert small.op_count() <= 9


@pytest.mark.parametrize(
    ("f", "formula"),
    [
        (lambda z: jax.nn.softmax(z, -1), "softmax(z, axis=-1)"),
        (lambda z: jax.nn.log_softmax(z, -1), "log_softmax(z, axis=-1)"),
        (lambda z: jax.nn.logsumexp(z, -1), "logsumexp(z, axis=-1)"),
    ],
)
def test_what_jax_writes_out_is_found_again(f: Any, formula: str) -> None:
    """JAX begins a maximum at -inf: the shift by it was no shift by the maximum of the row."""
    graph = sg.from_jax(f, np.ones((3, 4), "float32"))
    assert graph.simplify().formula().text == formula


def test_it_names_the_functions_line() -> None:
    def model(x: Any) -> Any:
        with jax.named_scope("head"):
            return jnp.tanh(x)  # the line

    text = str(sg.from_jax(model, X))
    assert "return jnp.tanh(x)  # the line" in text


# -- refused ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "args", "match"),
    [
        (lambda x: jnp.linalg.eigvals(x).real, (MATRIX,), "eig has no counterpart"),
        (lambda x: jnp.fft.fft(x).real, (X,), "fft has no counterpart|complex64"),
        (lambda x: x + jax.random.normal(jax.random.key(0), x.shape), (X,), "random_seed|key"),
        (lambda x: jax.debug.print("{}", x) or x, (X,), "debug_\\w+ has no counterpart"),
        (lambda x: x.astype(jnp.bfloat16), (X,), "dtype bfloat16"),
        (lambda x, i: x.at[i].multiply(2.0), (X, PLACES), "scatter.mul has no counterpart"),
    ],
)
def test_what_has_no_counterpart_is_refused(function: Any, args: Any, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        sg.from_jax(function, *args)
    assert "test_jax_primitives.py" in str(caught.value)


def test_facts_of_what_is_no_input() -> None:
    with pytest.raises(InputError, match="assume= names y, which no input is"):
        sg.from_jax(jnp.exp, X, assume={"y": sg.positive})
