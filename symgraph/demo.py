"""The whole pipeline on real data: it derives, simplifies, checks and trains a network.

The network is the example of Goodfellow et al., section 6.5.7, with one hidden layer, on
scikit-learn's handwritten digits. The loss is naive on purpose: the softmax is written with exp and
sum, the cross-entropy with log. The simplified graph is stable and short.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from . import facts
from .errors import BackendError
from .graph import Graph
from .graph.tracing import spec, trace
from .records import record

__all__ = ["Digits", "accuracy", "initial_parameters", "load_digits", "loss_graph", "main", "train"]

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Parameters: TypeAlias = dict[str, Floats]

WEIGHTS = ("W1", "b1", "W2", "b2")
DECAY = 1e-4


def loss(X: Floats, Y: Floats, W1: Floats, b1: Floats, W2: Floats, b2: Floats) -> Any:
    """Mean cross-entropy of a relu network, plus weight decay; naive on purpose."""
    hidden = np.maximum(X @ W1 + b1, 0)
    z = hidden @ W2 + b2
    q = np.exp(z) / np.sum(np.exp(z), axis=-1, keepdims=True)
    cross_entropy = -np.mean(np.sum(Y * np.log(q), axis=-1))
    return cross_entropy + DECAY * (np.sum(W1**2) + np.sum(W2**2))


def loss_graph(hidden: int = 128) -> Graph:
    """The graph of the loss for a minibatch of any size n, with 64 pixels and 10 classes."""
    return trace(
        loss,
        X=spec("n, 64", "float32"),
        Y=spec("n, 10", "float32", assume=facts.simplex(axis=-1)),
        W1=spec((64, hidden), "float32"),
        b1=spec((hidden,), "float32"),
        W2=spec((hidden, 10), "float32"),
        b2=spec((10,), "float32"),
    )


@record
class Digits:
    """Images as rows of 64 pixels in [0, 1] and labels as one-hot rows; a quarter is held out."""

    X: Floats
    Y: Floats
    X_test: Floats
    labels_test: np.ndarray[Any, np.dtype[np.int64]]


def load_digits(seed: int = 0) -> Digits:
    """The 1,797 handwritten digits that ship with scikit-learn.

    Raises
    ------
    BackendError
        If scikit-learn is not installed.
    """
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError as error:
        raise BackendError(
            "The demonstration needs the data of scikit-learn, which is not installed.",
            mend='Install it with: pip install "symgraph[demo]"',
        ) from error
    pixels, labels = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    images = (pixels[order] / 16).astype(np.float32)
    labels = labels[order].astype(np.int64)
    held_out = len(labels) // 4
    targets = np.eye(10, dtype=np.float32)[labels]
    return Digits(images[held_out:], targets[held_out:], images[:held_out], labels[:held_out])


def initial_parameters(hidden: int = 128, seed: int = 0) -> Parameters:
    """Weights from a normal distribution of variance 2 / fan-in (He et al. 2015), zero biases."""
    rng = np.random.default_rng(seed)

    def normal(rows: int, columns: int) -> Floats:
        return (rng.standard_normal((rows, columns)) * np.sqrt(2 / rows)).astype(np.float32)

    return {
        "W1": normal(64, hidden),
        "b1": np.zeros(hidden, np.float32),
        "W2": normal(hidden, 10),
        "b2": np.zeros(10, np.float32),
    }


def minibatches(count: int, size: int, rng: np.random.Generator) -> Iterator[Any]:
    """All positions in random order, `size` at a time; the last batch may be smaller."""
    order = rng.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def train(
    value_and_gradient: Callable[..., tuple[object, Sequence[Floats]]],
    digits: Digits,
    parameters: Parameters,
    *,
    epochs: int = 40,
    rate: float = 0.3,
    batch: int = 32,
    seed: int = 0,
    progress: bool = True,
) -> Parameters:
    """The parameters after minibatch stochastic gradient descent."""
    rng = np.random.default_rng(seed)
    current = dict(parameters)
    for epoch in _with_progress(range(epochs), progress):
        step = np.float32(rate * (1 - epoch / epochs))
        for rows in minibatches(len(digits.X), batch, rng):
            _, gradients = value_and_gradient(X=digits.X[rows], Y=digits.Y[rows], **current)
            for name, gradient in zip(WEIGHTS, gradients, strict=True):
                current[name] = current[name] - step * gradient
    return current


def _with_progress(steps: Iterable[int], shown: bool) -> Iterable[int]:
    try:
        bar = import_module("tqdm").tqdm
    except ImportError:
        return steps
    return bar(steps, desc="training", unit="epoch", disable=not shown)


def accuracy(digits: Digits, parameters: Parameters) -> float:
    """The share of held-out images that the network classifies correctly."""
    hidden = np.maximum(digits.X_test @ parameters["W1"] + parameters["b1"], 0)
    scores = hidden @ parameters["W2"] + parameters["b2"]
    return float(np.mean(np.argmax(scores, axis=-1) == digits.labels_test))


def largest_difference(joint: Graph, digits: Digits, parameters: Parameters) -> float:
    """The largest relative error of directional derivatives against central differences.

    The interpreter computes both in double precision, so only the derivation is tested.
    """
    rng = np.random.default_rng(1)
    wide = trace(
        loss,
        **{
            name: spec(array.shape, "float64", array.node.params["assume"])
            for name, array in joint.inputs.items()
        },
    )
    values: dict[str, Any] = {name: array.astype(np.float64) for name, array in parameters.items()}
    data: dict[str, Any] = {
        "X": digits.X[:16].astype(np.float64),
        "Y": digits.Y[:16].astype(np.float64),
    }
    _, gradients = wide.gradient(*WEIGHTS).simplify().evaluate(**data, **values)
    worst = 0.0
    for name, gradient in zip(WEIGHTS, gradients, strict=True):
        direction = rng.standard_normal(gradient.shape)
        h = 1e-6
        ahead = wide.evaluate(**data, **{**values, name: values[name] + h * direction})
        behind = wide.evaluate(**data, **{**values, name: values[name] - h * direction})
        numeric = float(ahead - behind) / (2 * h)
        symbolic = float(np.sum(gradient * direction))
        worst = max(worst, abs(numeric - symbolic) / max(1.0, abs(symbolic)))
    return worst


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 if the gradient is right and the network learns."""
    parser = argparse.ArgumentParser(
        prog="symgraph demo", description="Derive, simplify, check and train an MLP on digits."
    )
    parser.add_argument("--backend", default="numpy", help="numpy (default), jax, ...")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--svg", default="symgraph-demo.svg", help="file of the picture")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(argv)
    digits = load_digits()

    started = time.perf_counter()
    joint = loss_graph().gradient(*WEIGHTS)
    small = joint.simplify()
    elapsed = time.perf_counter() - started
    print("The loss and its gradient, as reverse mode derives them:\n", joint, sep="\n")
    print("\nSimplified:\n", small, sep="\n")
    print("\nWhy:\n", small.explain(), sep="\n")
    print(
        f"\n{joint.op_count()} operations became {small.op_count()}; "
        f"derived and simplified in {elapsed:.2f} s."
    )
    Path(options.svg).write_text(small.to_svg(), encoding="utf-8")
    print(f"Picture written to {options.svg}")

    parameters = initial_parameters()
    worst = largest_difference(joint, digits, parameters)
    print(f"Against central differences: largest relative error {worst:.1e}")
    program = small.lower(backend=options.backend)
    trained = train(program, digits, parameters, epochs=options.epochs, progress=not options.quiet)
    reached = accuracy(digits, trained)
    print(f"Test accuracy on {len(digits.labels_test)} held-out digits: {reached:.1%}")
    return 0 if worst < 1e-6 and reached >= 0.97 else 1
