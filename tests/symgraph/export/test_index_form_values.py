"""The index form means what it says: formulas are read by the rules of mathematics and computed."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

import symgraph as sg

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\[,;|{}]|\d+(?:\.\d+)?|[a-zA-Z]|\S")
_FUNCTIONS = {"tanh": math.tanh, "log": math.log, "sin": math.sin, "cos": math.cos, "exp": math.exp}


class Reader:
    """Computes a formula: sums reach to the next sign, products bind more, powers most."""

    def __init__(self, text: str, arrays: dict[str, Any], sizes: dict[str, int]) -> None:
        self.tokens = [each for each in _TOKEN.findall(text) if each != r"\,"]
        self.place, self.arrays, self.sizes = 0, arrays, sizes

    @property
    def next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        for each in wanted:
            assert self.next == each, (self.next, each, " ".join(self.tokens))
            self.place += 1
        return wanted[-1] if wanted else self._any()

    def _any(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1]

    def braces(self) -> list[str]:
        self.take("{")
        found: list[str] = []
        depth = 1
        while depth:
            found.append(self.take())
            depth += {"{": 1, "}": -1}.get(found[-1], 0)
        return found[:-1]

    def expression(self, env: dict[str, int]) -> float:
        sign = -1.0 if self.next == "-" else 1.0
        if self.next == "-":
            self.take()
        total = sign * self.term(env)
        while self.next in ("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            total += sign * self.term(env)
        return total

    def term(self, env: dict[str, int]) -> float:
        product = 1.0
        while self.next not in ("", "+", "-", "}", r"\right", "&", ","):
            if self.next == r"\cdot":
                self.take()
            elif self.next == r"\sum":
                return product * self.sum(env)  # It reaches to the end of the product.
            else:
                product *= self.power(env)
        return product

    def sum(self, env: dict[str, int]) -> float:
        self.take(r"\sum", "_", "{")
        letter = self.take()
        self.take("=", "1", "}", "^")
        (size,) = self.braces()
        start, total = self.place, 0.0
        for value in range(int(size) if size.isdigit() else self.sizes[size]):
            self.place = start
            total += self.term({**env, letter: value})
        return total

    def power(self, env: dict[str, int]) -> float:
        base = self.atom(env)
        if self.next == "^":
            self.take("^", "{")
            base = base ** self.expression(env)
            self.take("}")
        return base

    def atom(self, env: dict[str, int]) -> float:
        token = self.take()
        if token[0].isdigit():
            return float(token)
        if token == r"\left":
            return self.bracket(env)
        if token == r"\frac":
            above, below = self.group(env), self.group(env)
            return above / below
        if token == r"\sqrt":
            return math.sqrt(self.group(env))
        if token == "e" and self.next == "^":
            self.take("^")
            return math.exp(self.group(env))
        if token[1:] in _FUNCTIONS:
            return _FUNCTIONS[token[1:]](self.atom(env))
        if token == "t" and self.next == "_":
            self.take("_")
            return float(self.arrays["t" + "".join(self.braces())])
        return self.element(self.arrays.get(token, self.sizes.get(token)), env)

    def group(self, env: dict[str, int]) -> float:
        self.take("{")
        value = self.expression(env)
        self.take("}")
        return value

    def bracket(self, env: dict[str, int]) -> float:
        self.take("(")
        if self.tokens[self.place : self.place + 2] == ["t", "_"]:
            start = self.place
            self.take("t", "_")
            name = "t" + "".join(self.braces())
            if self.next == r"\right" and self.tokens[self.place + 2] == "_":
                self.take(r"\right", ")")
                return self.element(self.arrays[name], env)
            self.place = start
        value = self.expression(env)
        self.take(r"\right", ")")
        return value

    def element(self, array: Any, env: dict[str, int]) -> float:
        if self.next != "_":
            return float(array)
        self.take("_")
        places = [env[each] if each in env else int(each) - 1 for each in self.braces()]
        return float(np.asarray(array)[tuple(places)])


def computed(
    graph: sg.Graph, given: dict[str, Any], sizes: dict[str, int], shapes: list[tuple[int, ...]]
) -> list[Any]:
    """The arrays of these shapes that the equations of the index form define."""
    text = (
        graph.to_latex("index").removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    )
    arrays, found = dict(given), []
    for row in text.split(" \\\\\n"):
        left, right = re.split(r" &?= ", row, maxsplit=1)
        part = re.match(r"(?:\\left\()?t_\{(\d+)\}", left)
        indices = re.findall(r"(?:[a-zA-Z]|\\right\))_\{([a-z1]+)\}", left)
        letters = "".join(indices).replace("1", "")
        if part:
            node_shape = shapes_of(right, letters, arrays)
        else:
            node_shape = tuple(size for size in shapes[len(found)] if size != 1)
        out = np.empty(node_shape)
        for places in itertools.product(*map(range, node_shape)):
            env = dict(zip(letters, places, strict=True))
            out[places] = Reader(right, arrays, sizes).expression(env)
        if part:
            arrays[f"t{part[1]}"] = out
        else:
            found.append(out)
    return found


def shapes_of(right: str, letters: str, arrays: dict[str, Any]) -> tuple[int, ...]:
    """The range of each free letter: the length of an axis that it stands at."""
    found: dict[str, int] = {}
    for name, places in re.findall(r"(t_\{\d+\}\\right\)|[A-Za-z])_\{([a-z1]+)\}", right):
        part = re.match(r"t_\{(\d+)\}", name)
        array = arrays.get(f"t{part[1]}" if part else name)
        if array is not None:
            for place, letter in enumerate(places):
                found.setdefault(letter, np.shape(array)[place])
    return tuple(found[letter] for letter in letters)


SIZES = {"m": 2, "n": 3, "k": 4}
SHAPES = {
    "A": "m, n",
    "B": "n, k",
    "S": "n, n",
    "x": "n",
    "b": "m",
    "c": "n",
    "s": "",
    "u": "n, 1",
    "T": "m, n, k",
}
CASES: dict[str, tuple[Any, str, str]] = {
    "least squares": (lambda A, x, b: np.sum((A @ x - b) ** 2), "A x b", "x A"),
    "ridge": (lambda A, x, b, s: np.sum((A @ x - b) ** 2) + s * np.sum(x**2), "A x b s", "x s"),
    "bilinear": (lambda x, S, c: x @ S @ c - np.sum(x * c) ** 2, "x S c", "x S c"),
    "products": (lambda A, B, b: np.sum(np.tanh(A @ B) * b[:, None]), "A B b", "A B b"),
    "columns": (lambda A, x, b: np.sum((A * x + b[:, None]) ** 3), "A x b", "A x b"),
    "means": (lambda A, x: np.sum(np.mean(A, axis=0) * np.exp(x)), "A x", "A x"),
    "transposes": (lambda A, S: np.sum((A @ S.T - A) * A), "A S", "A S"),
    "axes of one": (lambda u, A: np.sum((A @ u) ** 2 + u.T @ u), "u A", "u A"),
    "three axes": (lambda T, B: np.sum(np.einsum("mnk,nk->m", T, B) ** 2), "T B", "T B"),
    "chained sums": (lambda x, S: np.sum(S @ (S @ x - np.sum(x) * x)), "x S", "x S"),
    "quotients": (lambda x, c: np.sum(x / (2 + c * c)) / np.sum(c * c), "x c", "x c"),
}


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", CASES)
def test_the_formulas_compute_what_the_graph_computes(name: str) -> None:
    f, names, targets = CASES[name]
    graph = sg.trace(f, **{each: SHAPES[each] for each in names.split()})
    rng = np.random.default_rng(0)
    given = {
        each: rng.uniform(0.5, 1.5, [SIZES.get(d, 1) for d in SHAPES[each].split(", ") if d])
        for each in names.split()
    }
    derived = graph.gradient(*targets.split(), value=False)
    for shown in (derived, derived.simplify()):
        result = shown.evaluate(**given)
        expected = result if isinstance(result, tuple) else (result,)
        found = computed(shown, given, SIZES, [each.shape for each in expected])
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.ravel(one), np.ravel(other), rtol=1e-9)
