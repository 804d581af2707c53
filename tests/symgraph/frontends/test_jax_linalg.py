"""Linear algebra of JAX as graphs: values and gradients are JAX's, in both precisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import InputError
from symgraph.frontends.jax.linalg import LINALG
from symgraph.frontends.jax.systems import primitives

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(1200)]
jax = pytest.importorskip("jax", reason="the jax extra is not installed")
jnp, lax, jsl = jax.numpy, jax.lax, jax.scipy.linalg
la = jnp.linalg


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


A, COLUMNS, B = numbers(4, 4), numbers(4, 2), numbers(4)
STACK, LAST = numbers(3, 4, 4), numbers(4, 4, 3)
TALL, WIDE = numbers(5, 3), numbers(3, 5)
SPD = A @ A.T + np.eye(4)
PAIR = np.stack([SPD, SPD + np.diag([1.0, 2, 3, 4])])


def symmetric(x: Any) -> Any:
    return (x + jnp.swapaxes(x, -1, -2)) / 2


def flat(results: Any) -> Any:
    """All results in one vector."""
    return jnp.concatenate([each.ravel() for each in results])


Row = tuple[Callable[..., Any], ...]
SYSTEMS: dict[str, Any] = {
    "solve": (la.solve, A, COLUMNS),
    "solve of a vector": (la.solve, A, B),
    "solve of one number": (la.solve, A[:1, :1], B[:1]),
    "solve of stacked sides": (la.solve, STACK, numbers(3, 4, 2)),
    "solve of stacked matrices": (la.solve, STACK, COLUMNS),
    "solve of stacked matrices and a vector": (la.solve, STACK, B),
    "normal equations": (lambda x, y: la.solve(x.T @ x, x.T @ y), TALL, numbers(5)),
    "vmap over matrices": (jax.vmap(la.solve, (2, None)), LAST, B),
    "vmap over sides": (jax.vmap(la.solve, (None, 1)), A, COLUMNS),
    "vmap over both": (jax.vmap(la.solve, (0, 1)), STACK, numbers(4, 3, 2)),
    "solve in a loop": (lambda a, b: lax.fori_loop(0, 3, lambda _, c: la.solve(a, c), b), A, B),
    "gradient of solve": (jax.grad(lambda a, b: jnp.sum(la.solve(a, b) ** 2)), A, COLUMNS),
    "tensorsolve": (la.tensorsolve, numbers(2, 2, 4), numbers(2, 2)),
    "inv": (la.inv, A),
    "inv of a stack": (la.inv, STACK),
    "inv of none": (la.inv, np.zeros((0, 4, 4))),
    "inv under vmap": (jax.vmap(la.inv, 1), numbers(4, 3, 4)),
    "jacobian of inv": (jax.jacobian(la.inv), A[:2, :2]),
    "negative power": (lambda a: la.matrix_power(a, -2), A),
    "positive definite": (lambda a, b: jsl.solve(symmetric(a), b, assume_a="pos"), SPD, COLUMNS),
    "cho_solve": (lambda a, b: jsl.cho_solve(jsl.cho_factor(symmetric(a)), b), SPD, COLUMNS),
    "cho_solve of a lower factor": (
        lambda a, b: jsl.cho_solve(jsl.cho_factor(symmetric(a), lower=True), b),
        SPD,
        B,
    ),
    "triangular": (lambda a, b: jsl.solve_triangular(a, b, trans=1), A, B),
    "triangular of ones": (
        lambda a, b: jsl.solve_triangular(a, b, lower=True, unit_diagonal=True),
        A,
        COLUMNS,
    ),
    "triangular from the right": (
        lambda a, b: lax.linalg.triangular_solve(a, b, lower=True, transpose_a=True),
        A,
        numbers(2, 4),
    ),
    "expm": (jsl.expm, A),
}
DETERMINANTS: dict[str, Any] = {
    "det": (la.det, A),
    "det of three": (la.det, A[:3, :3]),
    "det of a stack": (la.det, STACK),
    "det under vmap": (jax.vmap(la.det, 2), LAST),
    "slogdet": (lambda a: la.slogdet(a)[0] * la.slogdet(a)[1], A),
    "slogdet of a stack": (lambda a: la.slogdet(a)[1], STACK),
    "slogdet under two vmaps": (
        jax.vmap(jax.vmap(lambda a: la.slogdet(a)[1], 2), 3),
        numbers(4, 4, 2, 2),
    ),
    "gradient of slogdet": (jax.grad(lambda a: la.slogdet(a)[1]), A),
    "hessian of slogdet": (jax.hessian(lambda a: la.slogdet(a)[1]), A[:2, :2]),
    "density": (
        lambda x, s: jax.scipy.stats.multivariate_normal.logpdf(x, jnp.zeros(4), symmetric(s)),
        COLUMNS.T.copy(),
        SPD,
    ),
}
FACTORS: dict[str, Any] = {
    "cholesky": (lambda x: la.cholesky(x), SPD),
    "cholesky under vmap": (jax.vmap(lambda x: la.cholesky(x), 2), np.moveaxis(PAIR, 0, 2)),
    "qr": (lambda x: flat(la.qr(x)), TALL),
    "qr of a square": (lambda x: la.qr(x)[0], A),
    "qr of a stack": (lambda x: flat(la.qr(x)), STACK),
    "r": (lambda x: la.qr(x, "r"), TALL),
    "eigh": (lambda x: la.eigh(x)[1] * la.eigh(x)[0], SPD),
    "eigh of a stack": (lambda x: flat(la.eigh(x)), PAIR),
    "eigvalsh of the other triangle": (lambda x: la.eigvalsh(x, UPLO="U"), SPD),
    "gradient of eigh": (jax.grad(lambda x: jnp.sum(la.eigh(x)[1][0] ** 3)), SPD),
    "svd": (lambda x: flat(la.svd(x, full_matrices=False)), TALL),
    "svd of a wide matrix": (lambda x: flat(la.svd(x, full_matrices=False)), WIDE),
    "svd of a square": (lambda x: flat(la.svd(x)), A),
    "svdvals": (la.svdvals, STACK),
    "norms": (lambda x: la.norm(x, 2) + la.norm(x, "nuc") * la.cond(x[:3]), TALL),
    "pinv": (la.pinv, TALL),
    "pinv of equal singular values": (la.pinv, np.eye(4)[:, :2].copy()),
    "lstsq": (lambda a, b: la.lstsq(a, b)[0], TALL, numbers(5)),
    "rank": (la.matrix_rank, TALL),
    "lu": (lambda a: (lambda p, lower, u: p @ lower @ lower + u)(*jsl.lu(a)), A),
    "lu_factor": (lambda a: jsl.lu_factor(a)[0], A),
    "lu_factor of a tall matrix": (lambda a: jsl.lu_factor(a)[0], TALL),
    "lu_factor of a wide matrix": (lambda a: jsl.lu_factor(a)[0], WIDE),
    "lu_factor and its pivots": (
        lambda a: (lambda f, p: f * p[..., None])(*jsl.lu_factor(a)),
        STACK,
    ),
    "lu_solve": (lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), A, COLUMNS),
    "lu_solve transposed": (lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1), A, B),
    "lu_solve under vmap": (
        jax.vmap(lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), (0, None)),
        STACK,
        B,
    ),
    "change of lu": (lambda a: jax.jvp(lambda x: jsl.lu_factor(x)[0], (a,), (a * a,))[1], A),
}
ROWS: dict[str, Any] = SYSTEMS | DETERMINANTS | FACTORS
NEAR = {"float64": 1e-8, "float32": 3e-3}


def near(found: Any, expected: Any, dtype: str) -> None:
    """The difference is small beside the largest number."""
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    np.testing.assert_allclose(found, expected, rtol=NEAR[dtype], atol=NEAR[dtype] * scale)


BOTH = [*[(name, "float64") for name in ROWS], *[(name, "float32") for name in list(ROWS)[::3]]]


@pytest.mark.parametrize(("name", "dtype"), BOTH)
def test_values_and_gradients_are_those_of_jax(name: str, dtype: str) -> None:
    function, *given = ROWS[name]
    args = [each.astype(dtype) for each in given]
    with jax.enable_x64(dtype == "float64"):
        arrays = list(map(jnp.asarray, args))
        graph = sg.from_jax(function, *args)
        expected = np.asarray(function(*arrays))
        found = graph.evaluate(*args)
        assert found.dtype == expected.dtype
        near(found, expected, dtype)
        if expected.dtype.kind != "f":
            return
        weights = np.random.default_rng(1).normal(size=expected.shape).astype(dtype)
        places = tuple(range(len(args)))
        slopes = jax.grad(lambda *a: jnp.sum(function(*a) * weights), argnums=places)(*arrays)
    (out,) = graph.outputs.values()
    weighted = sg.graph(np.sum(out * weights), inputs=list(graph.inputs.values()))
    ours = weighted.gradient(*graph.inputs, value=False).evaluate(*args)
    for one, other in zip([ours] if len(args) == 1 else ours, slopes, strict=True):
        near(one, np.asarray(other), dtype)


def test_every_primitive_has_a_row() -> None:
    seen = {name for f, *args in ROWS.values() for name in primitives(jax.make_jaxpr(f)(*args))}
    assert {*LINALG, "custom_linear_solve"} - seen == set()


# -- what they become ------------------------------------------------------------------------------
def operations(function: Callable[..., Any], *args: Any) -> set[str]:
    return {node.op.name for node in sg.from_jax(function, *args).simplify().nodes} - {"input"}


def test_systems_and_determinants_are_operations() -> None:
    assert operations(la.solve, A, COLUMNS) == {"solve"}
    assert operations(la.inv, A) == {"inv"}
    assert operations(la.det, A) == {"det"}
    assert operations(lambda a: la.slogdet(a)[1], STACK) == {"slogdet", "project"}


def test_the_gradient_of_a_logarithm_of_a_determinant_is_the_inverse() -> None:
    graph = sg.from_jax(lambda a: la.slogdet(a)[1], A).gradient("a", value=False)
    assert str(graph.simplify().formula()) == "inv(a).T"


def test_the_gradient_of_a_determinant_is_right_where_it_vanishes() -> None:
    # JAX itself gives 0 there.
    singular = np.diag([1.0, 2, 0, 3]).astype("f4")
    slope = sg.from_jax(la.det, singular).gradient("a", value=False).evaluate(singular)
    np.testing.assert_allclose(slope, np.diag([0, 0, 6.0, 0]), atol=1e-5)


def test_a_function_of_the_name_of_jaxs_is_not_its_determinant() -> None:
    @jax.custom_jvp
    def _det(x: Any) -> Any:
        return jsl.lu_factor(x)[0][0, 0]

    _det.defjvp(lambda at, moved: (_det(*at), 3 * moved[0][0, 0]))
    with jax.enable_x64(True):
        graph = sg.from_jax(_det, A)
        value, slope = graph.gradient("x").evaluate(A)
    np.testing.assert_allclose(value, np.max(np.abs(A[:, 0])) * np.sign(value))
    np.testing.assert_allclose(slope, 3 * np.outer(np.eye(4)[0], np.eye(4)[0]))


def test_singular_factors_have_ones_for_vanishing_pivots() -> None:
    singular = np.array([[0.0, 1, 2], [0, 2, 1], [0, 4, 3]])
    with jax.enable_x64(True):
        expected = jsl.lu_factor(singular)
        found = sg.from_jax(jsl.lu_factor, singular).evaluate(singular)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


# -- refused ---------------------------------------------------------------------------------------
def conjugate_gradients(a: Any, b: Any) -> Any:
    return jax.scipy.sparse.linalg.cg(lambda v: a @ v, b)[0]


def by_elements(a: Any) -> Any:
    solve = lambda _, b: b / a  # noqa: E731
    return lax.custom_linear_solve(lambda v: a * v, a, solve, solve)


def by_one_step(a: Any, b: Any) -> Any:
    solve = lambda _, b: b / jnp.diagonal(a)  # noqa: E731
    return lax.custom_linear_solve(lambda v: a @ v, b, solve, solve)


@pytest.mark.parametrize(
    ("function", "args", "match"),
    [
        (by_one_step, (A, B), "solves in a way that may not be exact"),
        (conjugate_gradients, (A, B), "custom_linear_solve solves by iteration"),
        (by_elements, (A,), "not written as one product with a matrix"),
        (lambda x: la.svd(x)[2] @ x.T, (WIDE,), "takes the full singular vectors"),
        (lambda x: la.svd(x), (WIDE,), "The function gives the full singular vectors"),
        (lambda x: la.qr(x, "raw")[0], (A,), "geqrf has no counterpart"),
        (lambda x: jsl.qr(x, pivoting=True)[0], (A,), "qr exchanges columns|geqp3 has no"),
        (lambda x: lax.linalg.eigh(x, subset_by_index=(0, 2)), (A,), "computes some of the values"),
        (lambda x: jsl.schur(x)[0], (A,), "schur has no counterpart"),
    ],
)
def test_what_has_no_counterpart_is_refused(function: Any, args: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        sg.from_jax(function, *args)
