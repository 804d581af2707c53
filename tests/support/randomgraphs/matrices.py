"""Random expressions of square matrices of which facts are stated: products, inverses, systems."""

from __future__ import annotations

import random
import re
from typing import Any, TypeAlias

import numpy as np

import symgraph as sg

__all__ = ["At", "graph_of", "values_of", "written"]

At: TypeAlias = dict[str, np.ndarray[Any, Any]]

SIZE = 4

FACTS: dict[str, sg.Fact | None] = {
    "A": None,
    "B": None,
    "S": sg.symmetric,
    "P": sg.positive_definite,
    "L": sg.triangular("lower"),
    "D": sg.diagonal,
    "Q": sg.orthogonal,
    "K": sg.antisymmetric,
}
VECTORS = "uvw"

OF_MATRICES = (
    *("({M} @ {M})",) * 4,
    *("{M}.T", "{M}.T", "({M} + {M})", "({M} - {M})", "({M} * {M})", "({M} + np.eye(4))"),
    *("(2 * {M})", "(0.5 * {M})", "(-1 * {M})", "(c * {M})"),
    *("la.inv({M})", "la.solve({M}, {M})", "la.cholesky(P)"),
    *("np.outer({v}, {v})", "np.diag({v})", "({M} @ {M}.T)"),
)
OF_VECTORS = (
    *("({M} @ {v})", "({M} @ {v})", "({v} @ {M})", "la.solve({M}, {v})"),
    *("({v} + {v})", "({v} * {v})", "np.diag({M})", "np.sum({M}, axis=0)", "np.sum({M}, axis=1)"),
)
OF_NUMBERS = (
    *("np.trace({M})", "np.trace({M})", "np.sum({M})", "np.sum({M} ** 2)"),
    *("({v} @ {M} @ {v})", "({v} @ {v})", "la.det({M})", "la.slogdet({M})[1]"),
)


class _Builder:
    """Text by text: in each a matrix, a vector or a number is written out."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def filled(self, text: str, depth: int) -> str:
        return re.sub(r"{(\w)}", lambda found: self.of(found[1], depth), text)

    def of(self, kind: str, depth: int) -> str:
        if depth <= 0:
            return self.rng.choice("AABSPLDQK" if kind == "M" else VECTORS)
        texts = OF_MATRICES if kind == "M" else OF_VECTORS
        return self.filled(self.rng.choice(texts), depth - 1)


def written(seed: int, depth: int = 3) -> tuple[str, list[str]]:
    """An expression that gives a number, and what to differentiate it with respect to."""
    builder = _Builder(seed)
    text = builder.filled(builder.rng.choice(OF_NUMBERS), depth)
    if builder.rng.random() < 0.3:
        other = builder.filled(builder.rng.choice(OF_NUMBERS), depth - 1)
        text = f"({text} {builder.rng.choice('+-*')} {other})"
    names = _names(text)
    return text, builder.rng.sample(names, min(2, len(names)))


def _names(text: str) -> list[str]:
    return [name for name in (*FACTS, *VECTORS, "c") if re.search(rf"\b{name}\b", text)]


def graph_of(text: str, wrt: list[str]) -> sg.Graph:
    """The value and its gradients."""
    names = _names(text)
    function = eval(f"lambda {', '.join(names)}: {text}", {"np": np, "la": np.linalg})
    square = f"{SIZE}, {SIZE}"
    specs: dict[str, sg.Spec] = {}
    for name in names:
        if name in FACTS:
            fact = FACTS[name]
            specs[name] = sg.spec(square) if fact is None else sg.spec(square, assume=fact)
        else:
            specs[name] = sg.spec("" if name == "c" else str(SIZE))
    return sg.trace(function, **specs).gradient(*wrt)


def values_of(graph: sg.Graph, seed: int) -> At:
    """Numbers of which the facts are true."""
    rng = np.random.default_rng(seed)
    normal, one = rng.normal(size=(8, SIZE, SIZE)), np.eye(SIZE)
    found: At = {
        "A": normal[0] + 2 * one,
        "B": normal[1] - 2 * one,
        "S": normal[2] + normal[2].T + np.diag([1.0, -2, 3, -4]),
        "P": normal[3] @ normal[3].T + one,
        "L": np.tril(normal[4]) + 2 * one,
        "D": np.diag(rng.uniform(0.5, 2, SIZE) * np.sign(rng.normal(size=SIZE))),
        "Q": np.linalg.qr(normal[6])[0],
        "K": normal[7] - normal[7].T,
        "c": np.asarray(rng.uniform(0.5, 2)),
    }
    found |= {name: rng.normal(size=SIZE) for name in VECTORS}
    return {name: found[name] for name in graph.dag.inputs}
