"""Mission rows about the rules operations own, layers, and the worked network of GBC 6.5.7.

GBC is chapter 6.5 of *Deep Learning* (Goodfellow, Bengio and Courville), FCV chapter 14 of
*Foundations of Computer Vision* (Torralba, Isola and Freeman).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from everyway import assert_close, every_way
from sklearn.datasets import load_digits

import symgraph as sg
from symgraph import autodiff
from symgraph import numpy as snp
from symgraph.ir.op import OPS
from symgraph.testing import check_grads

RNG = np.random.default_rng(22)


# -- M09: an operation owns its derivative ---------------------------------------------------------
POSITIVE = RNG.uniform(0.5, 2, size=(3, 2))
OTHER = np.roll(POSITIVE, 1)
ONE_NODE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "multiply": (lambda a, b: a * b, (POSITIVE, OTHER)),
    "divide": (lambda a, b: a / b, (POSITIVE, OTHER)),
    "power": (lambda a, b: a**b, (POSITIVE, OTHER)),
    "matmul": (lambda a, b: a @ b, (POSITIVE, POSITIVE.T)),
    "exp": (np.exp, (POSITIVE,)),
    "log": (np.log, (POSITIVE,)),
    "tanh": (np.tanh, (POSITIVE,)),
    "maximum": (np.maximum, (POSITIVE, OTHER)),
    "sum": (lambda a: np.sum(a, axis=0), (POSITIVE,)),
    "cumsum": (lambda a: np.cumsum(a, axis=0), (POSITIVE,)),
    "inv": (np.linalg.inv, (POSITIVE.T @ POSITIVE + np.eye(2),)),
}


def numeric_vjp(f: Callable[..., Any], at: tuple[Any, ...], slot: int, G: Any) -> Any:
    """GBC 6.54: Σᵢ (∇_X op(inputs)ᵢ) Gᵢ, by central differences."""
    found = np.zeros_like(at[slot])
    h = 1e-6
    for place in np.ndindex(found.shape):
        step = np.zeros_like(found)
        step[place] = h
        ahead, behind = (f(*at[:slot], at[slot] + sign * step, *at[slot + 1 :]) for sign in (1, -1))
        found[place] = np.sum((ahead - behind) * G) / (2 * h)
    return found


@pytest.mark.parametrize("name", ONE_NODE)
def test_m09_the_record_holds_the_rule(name: str) -> None:
    """M09: GBC 6.54 from the record alone: vjp(inputs, cotangent), one rule an operand."""
    f, at = ONE_NODE[name]
    arrays = [sg.input(f"x{slot}", each.shape) for slot, each in enumerate(at)]
    made = f(*arrays)
    op = made.get_operation()
    assert (op.name, op) == (name, OPS[name])
    assert all(each.get_operation().name == "input" for each in made.get_inputs())
    G = RNG.normal(size=made.shape)
    for slot, operand in enumerate(at):
        rule = op.vjp_rule(slot)
        assert callable(rule)
        pulled: Any = rule(sg.constant(G), made, *made.get_inputs(), **made.node.params)
        graph = sg.graph(pulled, inputs=arrays)
        found = graph.evaluate(**{f"x{k}": each for k, each in enumerate(at)})
        # Repeating along axes of size 1 is the engine's part, the same for all rules.
        found = np.broadcast_to(found, operand.shape)
        assert_close(found, numeric_vjp(f, at, slot, G), rtol=1e-7)


def test_m09_what_the_record_says_is_what_the_engine_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """M09: with another rule in the record of sin, in every mode the derivative of sin is that."""
    at: dict[str, Any] = {"x": 0.7, "y": 0.2}

    def derivatives() -> list[Any]:
        graph = sg.trace(lambda x, y: np.sin(x) * y, x=(), y=())
        first = graph.gradient("x", value=False)
        second = graph.hessian("x", value=False)
        forward = graph.jvp({"x": 1.0}, value=False)
        return [each.evaluate(**at) for each in (first, forward, second)]

    by_rule = [0.2 * np.cos(0.7), 0.2 * np.cos(0.7), -0.2 * np.sin(0.7)]
    np.testing.assert_allclose(derivatives(), by_rule, rtol=1e-14)
    with monkeypatch.context() as patch:
        patch.setitem(vars(OPS["sin"]), "vjp", (lambda ct, _out, x: ct * x**3,))
        patch.setitem(vars(OPS["sin"]), "jvp", None)
        wrong = [0.2 * 0.7**3, 0.2 * 0.7**3, 0.2 * 3 * 0.7**2]
        np.testing.assert_allclose(derivatives(), wrong, rtol=1e-14)
    np.testing.assert_allclose(derivatives(), by_rule, rtol=1e-14)


def test_m09_an_operation_the_engine_has_never_heard_of() -> None:
    """M09: a user's operation brings its rule, which is all there is to know, twice over."""

    def to_a(ct: Any, _out: Any, a: Any, b: Any) -> Any:
        return ct * 2 * a * b

    def to_b(ct: Any, _out: Any, a: Any, _b: Any) -> Any:
        return ct * a**2

    square_times = sg.custom_op(lambda a, b: a * a * b, name="square_times_m09", vjp=(to_a, to_b))
    f = sg.trace(lambda a, b: np.sum(np.exp(square_times(a, b))), a=(3,), b=(3,))
    op = next(node.op for node in f.nodes if node.op.custom)
    assert op.name == "square_times_m09"
    a, b = RNG.normal(size=3), RNG.normal(size=3)
    e = np.exp(a * a * b)
    want = (np.sum(e), (e * 2 * a * b, e * a**2))
    every_way(f.gradient("a", "b"), {"a": a, "b": b}, want)
    check_grads(lambda a, b: np.sum(np.exp(square_times(a, b))), a, b, order=2, analytic=False)


PLUMBING = {
    # Picking one of several results, and what all rules share: undoing broadcasting, casts, seeds.
    "project",
    "input",
    "stop_gradient",
    "broadcast_to",
    "sum",
}


def test_m09_the_engine_knows_no_differentiation_rule() -> None:
    """M09: `autodiff` names no operation and looks up none but to move, sum and cast cotangents."""
    compared: set[str] = set()
    named: set[str] = set()
    modules: set[str] = set()
    files = list(Path(next(iter(autodiff.__path__))).glob("*.py"))
    assert len(files) > 5
    for each in files:
        for node in ast.walk(ast.parse(each.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.add(node.value)
            elif isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("op.name"):
                compared.update(ast.unparse(each) for each in node.comparators)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ops"):
                modules.add(node.module or "")
    assert compared == {"'project'"}
    assert named & set(OPS) <= PLUMBING
    assert modules <= {"ops.creation", "ops.movement", "ops.diagonals", "ops.parts"}


# -- M11: layers and the network made of them ------------------------------------------------------
def test_m11_the_linear_layer() -> None:
    """M11: FCV 14.6: g_in = g_out W, dW an outer product, db = g_out, and nothing more."""
    graph = sg.trace(lambda W, x, b: W @ x + b, W="m, n", x="n", b="m")
    pulled = graph.vjp("x", "W", "b", cotangent="g", value=False)
    W, x, b, g = (RNG.normal(size=size) for size in ((4, 3), 3, 4, 4))
    every_way(pulled, {"W": W, "x": x, "b": b, "g": g}, (g @ W, np.outer(g, x), g))
    assert pulled.simplify().op_count() == 2


POINTWISE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "sigmoid": (
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
    ),
    "softplus": (lambda x: np.log(1 + np.exp(x)), lambda x: 1 / (1 + np.exp(-x))),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_m11_the_pointwise_layers(name: str) -> None:
    """M11: FCV 14.6: g_in = g_out ⊙ h'(x_in); relu lets pass or stops."""
    h, slope = POINTWISE[name]
    graph = sg.trace(lambda x: h(x), x="n")
    x, g = RNG.normal(size=9), RNG.normal(size=9)
    pulled = graph.vjp("x", cotangent="g", value=False)
    every_way(pulled, {"x": x, "g": g}, g * slope(x))
    if name == "relu":
        gate = pulled.simplify()
        assert sorted(n.op.name for n in gate.nodes if n.operands) == ["greater", "where"]


def test_m11_the_loss_layers() -> None:
    """M11: FCV 14.6: the gradient of ‖ŷ - y‖² is 2(ŷ - y); that of cross-entropy is q - p."""
    squares = sg.trace(lambda yhat, y: np.sum((yhat - y) ** 2), yhat="n", y="n")
    yhat, y = RNG.normal(size=5), RNG.normal(size=5)
    every_way(
        squares.gradient("yhat"), {"yhat": yhat, "y": y}, (np.sum((yhat - y) ** 2), 2 * (yhat - y))
    )
    assert squares.gradient("yhat", value=False).simplify().op_count() == 2

    def cross_entropy(z: Any, p: Any) -> Any:
        return -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z))))

    z, p = RNG.normal(size=5), np.full(5, 0.2)
    q = np.exp(z) / np.sum(np.exp(z))
    graph = sg.trace(cross_entropy, z="n", p=sg.spec("n", assume=sg.simplex(axis=-1)))
    every_way(graph.gradient("z"), {"z": z, "p": p}, (cross_entropy(z, p), q - p))


def algorithms_6_3_and_6_4(at: dict[str, Any], depth: int) -> tuple[Any, list[Any]]:
    """The total cost J = L + λΩ, and ∇J for all W and b: GBC algorithms 6.3 and 6.4 as written."""
    h, a = [at["x"]], []
    for k in range(depth):
        a.append(at["b"][k] + at["W"][k] @ h[k])
        h.append(np.tanh(a[k]))
    omega = sum(np.sum(W**2) for W in at["W"]) + sum(np.sum(b**2) for b in at["b"])
    cost = np.sum((h[-1] - at["y"]) ** 2) + at["lam"] * omega
    g = 2 * (h[-1] - at["y"])
    dW, db = [None] * depth, [None] * depth
    for k in reversed(range(depth)):
        g = g * (1 - np.tanh(a[k]) ** 2)
        db[k] = g + at["lam"] * 2 * at["b"][k]
        dW[k] = np.outer(g, h[k]) + at["lam"] * 2 * at["W"][k]
        g = at["W"][k].T @ g
    return cost, [*dW, *db]


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_m11_a_network_with_a_regulariser(depth: int) -> None:
    """M11: GBC algorithms 6.3 and 6.4, J = L(ŷ, y) + λΩ(θ), for networks of several depths."""
    widths = [3, 4, 5, 4, 3, 2][: depth + 1]
    W = [0.5 * RNG.normal(size=(m, n)) for n, m in pairwise(widths)]
    b = [RNG.normal(size=m) for m in widths[1:]]
    x, y = RNG.normal(size=widths[0]), RNG.normal(size=widths[-1])

    def network(x: Any, y: Any, lam: Any, **theta: Any) -> Any:
        h, omega = x, 0.0
        for k in range(depth):
            h = np.tanh(theta[f"b{k}"] + theta[f"W{k}"] @ h)
        for each in theta.values():
            omega = omega + np.sum(each**2)
        return np.sum((h - y) ** 2) + lam * omega

    theta = {f"W{k}": each for k, each in enumerate(W)} | {f"b{k}": v for k, v in enumerate(b)}
    graph = sg.trace(network, x=x, y=y, lam=(), **theta).gradient(*theta)
    for lam in (0.0, 0.07):
        at = {"x": x, "y": y, "W": W, "b": b, "lam": lam}
        cost, gradients = algorithms_6_3_and_6_4(at, depth)
        every_way(graph, {"x": x, "y": y, "lam": lam, **theta}, (cost, tuple(gradients)), 1e-11)


# -- M13: the worked network -----------------------------------------------------------------------
DECAY = 1e-4


def worked(X: Any, Y: Any, W1: Any, W2: Any) -> Any:
    """GBC 6.5.7: cross-entropy of unnormalised log-probabilities U = max{0, X W1} W2, and decay."""
    U = np.maximum(0, X @ W1) @ W2
    cross_entropy = np.mean(snp.logsumexp(U, axis=-1) - np.sum(Y * U, axis=-1))
    return cross_entropy + DECAY * (np.sum(W1**2) + np.sum(W2**2))


def worked_graph() -> sg.Graph:
    labels = sg.spec("n, 10", assume=sg.simplex(axis=-1))
    return sg.trace(worked, X="n, 64", Y=labels, W1="64, 48", W2="48, 10").gradient("W1", "W2")


def worked_by_hand(X: Any, Y: Any, W1: Any, W2: Any) -> Any:
    """GBC 6.5.7 as the text has it: G is the gradient on U, the rest are matrix products."""
    H = np.maximum(0, X @ W1)
    U = H @ W2
    shifted = U - U.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    G = (np.exp(logs) - Y) / len(X)
    decay = DECAY * (np.sum(W1**2) + np.sum(W2**2))
    dW1 = X.T @ (G @ W2.T * (H > 0)) + 2 * DECAY * W1
    return -np.mean(np.sum(Y * logs, axis=-1)) + decay, (dW1, H.T @ G + 2 * DECAY * W2)


def test_m13_the_gradient_is_that_of_the_text() -> None:
    """M13: GBC 6.5.7, G W2ᵀ gated by the relu, and so on; finite where exp overflows."""
    graph = worked_graph()
    for n, scale in ((1, 1), (9, 1), (9, 1e4)):
        at = {
            "X": RNG.normal(size=(n, 64)),
            "Y": np.eye(10)[RNG.integers(10, size=n)],
            "W1": scale * RNG.normal(size=(64, 48)),
            "W2": RNG.normal(size=(48, 10)),
        }
        every_way(graph, at, worked_by_hand(**at), rtol=1e-10)


def test_m13_digits_are_learnt_by_minibatch_sgd() -> None:
    """M13: 1,797 real handwritten digits; over 96 % of the quarter held out come out right."""
    pixels, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(digits))
    pixels, digits = pixels[order] / 16, digits[order]
    held_out = len(digits) // 4
    X, Y = pixels[held_out:], np.eye(10)[digits[held_out:]]
    w1 = rng.normal(size=(64, 48)) * np.sqrt(2 / 64)
    w2 = rng.normal(size=(48, 10)) * np.sqrt(2 / 48)

    def accuracy() -> float:
        scores = np.maximum(0, pixels[:held_out] @ w1) @ w2
        return float(np.mean(np.argmax(scores, axis=-1) == digits[:held_out]))

    step = worked_graph().simplify().lower()
    costs: list[float] = []
    assert accuracy() < 0.3
    for epoch in range(20):
        shuffled = rng.permutation(len(X))
        for start in range(0, len(X), 32):
            rows = shuffled[start : start + 32]
            _, (d1, d2) = step(X=X[rows], Y=Y[rows], W1=w1, W2=w2)
            rate = 0.4 * (1 - epoch / 20)
            w1, w2 = w1 - rate * d1, w2 - rate * d2
        costs.append(float(step(X=X, Y=Y, W1=w1, W2=w2)[0]))
    assert costs[-1] < 0.1 < costs[0]
    assert accuracy() > 0.96
