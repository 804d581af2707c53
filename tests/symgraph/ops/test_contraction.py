"""Contractions are NumPy's: matmul and einsum on every rank, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgraph.array import Array
from symgraph.autodiff.reverse import cotangents, gradients
from symgraph.errors import ShapeError
from symgraph.facts import Fact, diagonal, orthogonal, positive, symmetric
from symgraph.ir.cost import flops, op_count
from symgraph.ir.dims import named
from symgraph.ir.fact_inference import Knowledge
from symgraph.ir.walks import reachable
from symgraph.ops.creation import input
from symgraph.testing import check_grads, check_stacked

DTYPES = ["float64", "float32", "int64", "int8", "bool"]


def numbers(shape: tuple, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).integers(-3, 4, size=shape).astype(dtype)
    return x[::-1] if x.ndim else x


SHAPES = [(), (3,), (1,), (0,), (2, 3), (3, 2), (1, 3), (3, 1), (0, 3), (3, 0), (2, 2, 3)]
SHAPES += [(2, 3, 2), (1, 3, 2), (4, 1, 2, 3)]
shapes = st.sampled_from(SHAPES)
dtypes = st.sampled_from(DTYPES)


@pytest.mark.parametrize("f", [np.matmul, np.dot, np.inner, np.outer], ids=lambda f: f.__name__)
def test_products_are_numpys(agrees, f):
    @settings(max_examples=80, deadline=None)
    @given(shapes, shapes, dtypes, dtypes)
    def check(one, other, dtype, second):
        x, y = numbers(one, dtype, 1), numbers(other, second, 2)
        agrees(lambda x, y: f(x, y), x, y)
        if one:
            agrees(lambda x: f(x, y), x)

    check()


def test_the_operator_takes_constants_on_either_side(agrees):
    x, y = numbers((2, 3)), numbers((3, 2))
    agrees(lambda x: x @ y, x)
    agrees(lambda x: y @ x, x)
    agrees(lambda x: x.dot(y), x)


SUBSCRIPTS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ji,jk", (2, 3), (2, 4)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,j->ji", (2,), (3,)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (2, 2, 3)),
    ("ijk->ki", (2, 3, 4)),
    ("ij->", (2, 3)),
    ("...ij,...jk->...ik", (4, 2, 3), (3, 2)),
    ("...ij,...jk", (4, 1, 2, 3), (5, 3, 2)),
    ("i...->...i", (2, 3, 4)),
    ("...", (2, 3)),
    ("...->...", (2, 3)),
    ("i...j->...", (2, 3, 4)),
    ("b...,b...->b", (2, 3), (2, 3)),
    ("ij,j", (2, 3), (1,)),
    ("ij,ij->ij", (2, 3), (2, 1)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("a,b,c->abc", (2,), (3,), (4,)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    (",ij->ij", (), (2, 3)),
    (",", (), ()),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
    ("ba,bc", (2, 3), (2, 4)),
    ("Ab,bA->A", (2, 3), (3, 2)),
]
WRONG = [
    ("ij,jk->ik", (2, 3), (2, 4)),
    ("ij->ik", (2, 3)),
    ("ij->ii", (2, 3)),
    ("ij", (2, 3, 4)),
    ("ij,jk", (2, 3)),
    ("i1->i", (2, 3)),
    ("ii", (2, 3)),
    ("i..->i", (2, 3)),
    ("...i...->i", (2, 3)),
    ("ij->i->j", (2, 3)),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("case", SUBSCRIPTS + WRONG, ids=lambda case: f"{case[0]} {case[1:]}")
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_einsum_is_numpys(agrees, case, dtype):
    subscripts, *operands = case
    arrays = [numbers(shape, dtype, i) for i, shape in enumerate(operands)]
    agrees(lambda *xs: np.einsum(subscripts, *xs), *arrays)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32"])
@pytest.mark.parametrize("subscripts", ["ijk->", "ijk->kj", "ijk->i", "i...->...", "...ij->...j"])
def test_a_sum_of_one_array_is_a_sum(agrees, subscripts, dtype):
    """Where `sum` has the dtype and the roundings of `einsum`."""
    agrees(lambda x: np.einsum(subscripts, x), np.arange(24).reshape(2, 3, 4).astype(dtype))
    found = np.einsum(subscripts, input("x", (2, 3, 4), dtype)).node
    operations = {found.op.name, *[each.op.name for each in found.operands]}
    assert ("einsum" in operations) == (dtype in ("float16", "int32"))


def test_einsum_is_kept_in_one_form():
    x, y = input("x", (2, 3)), input("y", (3, 4))
    assert np.einsum("ij,jk", x, y).node is np.einsum("pq,qr->pr", x, y).node
    assert np.einsum("...j,jk", x, y).node is np.einsum("ij,jk->ik", x, y).node
    assert np.einsum("ij,jk->ki", x, y).node is not np.einsum("ij,jk->ik", x, y).node
    assert np.einsum(x, [0, 1], y, [1, 2]).node is np.einsum("ij,jk->ik", x, y).node


@pytest.mark.parametrize(
    "axes", [0, 1, 2, ((1,), (0,)), ((0, 1), (1, 0)), (-1, 0), (0, 1), ((0,), (0, 1)), 5]
)
def test_tensordot_is_numpys(agrees, axes):
    agrees(lambda x, y: np.tensordot(x, y, axes), numbers((3, 3)), numbers((3, 3), seed=4))
    agrees(lambda x, y: np.tensordot(x, y, axes), numbers((2, 3, 4)), numbers((4, 3), seed=4))


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("offset", [-4, -1, 0, 2, 5])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 4), (0, 2), (3,)])
def test_diagonals_are_numpys(agrees, offset, shape):
    x = numbers(shape)
    agrees(lambda x: np.diagonal(x, offset), x)
    agrees(lambda x: np.trace(x, offset), x)
    agrees(lambda x: np.diag(x, offset), x)
    agrees(lambda x: np.linalg.diagonal(x, offset=offset), x)
    agrees(lambda x: np.linalg.trace(x, offset=offset), x)
    agrees(lambda x: x.trace(offset, -1, 0), x)


def test_vdot_and_vecdot(agrees):
    agrees(np_function(np.vdot), numbers((2, 3)), numbers((3, 2), seed=3))
    agrees(np_function(np.vecdot), numbers((2, 3)), numbers((3,), seed=3))


def np_function(f):
    return lambda *arrays: f(*arrays)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x @ x.T,
        lambda x: x.T @ x,
        lambda x: np.einsum("ni,nj->ij", x, x),
        lambda x: np.einsum("ni,ni->n", x, x),
        lambda x: np.trace(x @ x.T),
        lambda x: np.tensordot(x, x, ((0,), (0,))),
        lambda x: np.outer(x[:, 0], x[0]),
        lambda x: np.diag(x[:, 0]),
    ],
)
def test_named_dimensions_contract(agrees, f, n):
    agrees(f, numbers((n, 3)), dims={n: "n"})


def test_a_mismatch_names_both_sides_and_the_lines():
    x = input("x", (2, 3))
    w = input("w", (4, 5))
    with pytest.raises(ShapeError) as caught:
        x @ w
    message = str(caught.value)
    assert "[2, 3]" in message
    assert "[4, 5]" in message
    assert "3 columns against 4 rows" in message
    assert 'w = input("w", (4, 5))' in message
    with pytest.raises(ShapeError, match="0-d"):
        x @ input("s", ())
    with pytest.raises(ShapeError):
        input("a", ("n", 3)) @ input("b", ("m", 3)).T @ input("c", ("n", 2))


def test_gradients_of_least_squares_are_the_textbooks():
    X, y, w = input("X", ("n", 3)), input("y", ("n",)), input("w", (3,))
    r = X @ w - y
    (grad,) = gradients(np.sum(r * r), [w])
    assert grad.node.op.name == "matmul"
    transposed, _ = grad.get_inputs()
    assert transposed.node is X.T.node
    ct = input("ct", (3, 4))
    A, B = input("A", (3, 5)), input("B", (5, 4))
    left, right = cotangents([(A @ B, ct)], [A, B])
    assert left is not None
    assert right is not None
    assert left.node is (ct @ B.T).node
    assert right.node is (A.T @ ct).node


def test_the_gradient_of_an_einsum_is_an_einsum():
    x, y = input("x", ("b", 3, 4)), input("y", ("b", 4, 5))
    ct = input("ct", ("b", 3, 5))
    left, _ = cotangents([(np.einsum("bij,bjk->bik", x, y), ct)], [x, y])
    assert left is not None
    assert left.node is np.einsum("bik,bjk->bij", ct, y).node


def test_costs():
    x, y = input("x", (2, 3)), input("y", (3, 4))
    assert op_count([(x @ y).node]) == 1
    assert flops([(x @ y).node]) == 2 * 2 * 3 * 4
    assert flops([np.einsum("ij,jk->ik", x, y).node]) == 2 * 2 * 3 * 4
    assert flops([np.einsum("i,j->ij", x[0], y[0]).node]) == 3 * 4
    n = named("n")
    assert flops([(input("a", (n, 3)) @ y).node]) == 24 * n
    assert op_count([np.trace(input("s", (3, 3))).node]) == 1
    chain = np.einsum("ij,jk,kl->il", x, y, input("z", (4, 5)))
    assert 0 < flops([chain.node]) <= 2 * 2 * (2 * 3 * 4 * 5)


def test_facts_of_products():
    known = Knowledge()
    x = input("x", (4, 3))
    assert known.of((x.T @ x).node).has(symmetric)
    assert known.of((x @ x.T).node).has(symmetric)
    assert not known.of((x @ input("y", (3, 4))).node).has(symmetric)
    q = input("q", (3, 3), assume=orthogonal)
    d = input("d", (3, 3), assume=diagonal)
    assert known.of((q @ q).node).has(orthogonal)
    assert known.of((d @ d).node).has(diagonal)
    p = input("p", (3, 3), assume=positive)
    assert known.of((p @ p).node).has(Fact("nonnegative"))
    assert known.of(np.diag(p[0]).node).has(diagonal)
    assert known.of(np.diag(p[0]).node).has(Fact("positive_definite"))
    assert not known.of(np.diag(p[0], 1).node).has(diagonal)


@pytest.mark.parametrize(
    "f", [np.trace, lambda x: np.einsum("ii", x), lambda x: np.sum(np.diag(x))]
)
def test_the_gradient_of_a_trace_is_the_identity(f):
    x = input("x", (3, 3))
    (grad,) = gradients(f(x), [x])
    assert isinstance(grad, Array)
    assert {node.op.name for node in reachable([grad.node])} <= {
        "constant",
        "eye",
        "einsum",
        "multiply",
        "broadcast_to",
        "reshape",
        "diagonal_matrix",
    }


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [0, 2]),
        lambda x, y: np.einsum(x, [5, 1], y, [1, 40]),
        lambda x, y: np.einsum(x, [Ellipsis, 1], y, [1, Ellipsis], [Ellipsis]),
        lambda x, y: np.einsum(x, [0, 1]),
        lambda x, y: np.einsum(x, [0, 52]),
        lambda x, y: np.einsum("ij,jk", x, y, optimize="greedy"),
        lambda x, y: np.einsum("ij,jk", x, y, optimize=["einsum_path", (0, 1)]),
        lambda x, y: np.einsum("ij,jk", x, y, dtype="float32", casting="same_kind"),
        lambda x, y: np.einsum("ij,jk", x, y, dtype="float32"),
        lambda x, y: np.einsum("ij,jk->ii", x, y),
        lambda x, y: np.einsum("ij,jk->l", x, y),
        lambda x, y: np.einsum("ij...,jk->i", x[..., None], y),
        lambda x, y: np.einsum("ij,jk,kl", x, y),
        lambda x, y: np.einsum("ii", x[:1]),
    ],
)
def test_every_form_of_einsum(agrees, f):
    agrees(f, np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4))


def drawn_einsum(rng):
    """Subscripts and operands at random: implicit, explicit, ellipses, broadcasting, mistakes."""
    sizes = {letter: int(rng.choice([1, 2, 3])) for letter in "abAz"}
    lead = rng.integers(1, 3, size=2)
    terms, arrays = [], []
    for _ in range(rng.integers(1, 4)):
        term = "".join(rng.choice(list(sizes), rng.integers(0, 4)))
        shape = [sizes[each] if rng.random() > 0.08 else 1 for each in term]
        if rng.random() < 0.4:
            place, spread = int(rng.integers(0, len(term) + 1)), int(rng.integers(0, 3))
            term = f"{term[:place]}...{term[place:]}"
            dots = [int(dim) if rng.random() > 0.2 else 1 for dim in lead[2 - spread :]]
            shape[place:place] = dots
        terms.append(term)
        arrays.append(rng.integers(-3, 4, size=shape).astype(float))
    text = ",".join(terms)
    if rng.random() < 0.6:
        present = sorted(set(text) - set(".,"))
        out = "".join(rng.permutation(present)[: rng.integers(0, len(present) + 1)])
        dots = "..." if ("..." in text) == (rng.random() < 0.9) else ""
        extra = str(rng.choice(list(sizes))) if rng.random() < 0.07 else ""
        text = f"{text}->{dots}{out}{extra}"
    return text, arrays


@pytest.mark.parametrize("seed", range(5))
def test_einsum_is_numpys_whatever_the_subscripts(agrees, seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        text, arrays = drawn_einsum(rng)
        agrees(lambda *operands, text=text: np.einsum(text, *operands), *arrays)


def test_gradients_of_einsum_whatever_the_subscripts():
    rng = np.random.default_rng(0)
    done = 0
    while done < 40:
        text, arrays = drawn_einsum(rng)
        try:
            np.einsum(text, *arrays)
        except ValueError:
            continue
        check_grads(lambda *operands, text=text: np.einsum(text, *operands), *arrays, order=1)
        check_stacked(lambda *operands, text=text: np.einsum(text, *operands), *arrays)
        done += 1
