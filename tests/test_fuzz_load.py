"""Hostile bytes for `sg.load`: whatever they are, a graph or a documented error, and soon.

Saved graphs are mutated: bits flipped, bytes cut out, doubled and put in, documents spliced, JSON
values exchanged for others of any kind. What loads in spite of that must be a graph that holds
together: it is verified, printed, and saved again to the same bytes twice.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

SECONDS = 5.0
"""No document of these sizes takes longer to be read or refused."""


@sg.custom_op(vjp=lambda ct, out, x: ct * 2 * x)
def fuzzed_square(x: Any) -> Any:
    return x * x


@sg.custom_vjp
def fuzzed_exp(x: Any) -> Any:
    return np.exp(x)


@fuzzed_exp.backward
def _(ct: Any, out: Any, x: Any) -> Any:
    return ct * out


def regression(x: Any, w: Any, p: Any) -> Any:
    return np.sum((x @ w) ** 2) - np.sum(p * np.log(snp.softmax(w))) + np.mean(x[1:, ::-1])


def looped(c: Any, xs: Any) -> Any:
    last, steps = sg.scan(lambda c, x: (np.tanh(c * x), c + x), c, xs)
    chosen = sg.cond(np.sum(last) > 0, np.exp, np.negative, last)
    return {"last": chosen, "steps": [steps, fuzzed_exp(fuzzed_square(last))]}


def documents() -> list[str]:
    simplex = sg.spec(("m",), assume=sg.simplex(-1))
    first = sg.trace(regression, x="n, m", w="m", p=simplex)
    second = sg.trace(looped, c="3", xs="5, 3")
    numbers = np.array([-0.0, np.inf, np.nan, *range(9)]).reshape(3, 4)
    big = sg.trace(lambda x: np.sum(x @ numbers), x="2, 3")
    return [
        first.to_json(),
        first.gradient("w").simplify().to_json(),
        first.hvp("w", "v").to_json(),
        second.to_json(),
        second.jvp("c", of="steps.0").to_json(),
        big.gradient("x").checkpoint("1 MB").to_json(),
        sg.grad(lambda x: np.sum(np.sin(x))).graph(np.ones(2)).to_json(),
    ]


JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    10**12,
    2**63,
    -(2**63),
    10**400,
    1.5,
    -0.0,
    1e308,
    "",
    "x",
    "n",
    "float64",
    "add",
    "input",
    "constant",
    "scan",
    "__import__('os')",
    "\ud800",
    [],
    [0],
    [[0]],
    {},
    {"float": "7ff8000000000001"},
    {"dim": {"Pow": ["n", 10**9]}},
    {"Mul": [{"Add": ["n", "m", 1]}] * 12},
    {"array": {"dtype": "float64", "shape": [10**6, 10**6], "base64": "AAAA"}},
    {"array": {"dtype": "float64", "shape": [0], "values": []}},
    {"body": {"inputs": [0], "outputs": [0]}},
    {"ellipsis": None},
    {"fact": ["interval", 1.0, 0.0]},
]


# -- mutations -------------------------------------------------------------------------------------
def flipped(rng: random.Random, texts: list[str]) -> bytes:
    data = bytearray(rng.choice(texts).encode())
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(rng: random.Random, texts: list[str]) -> bytes:
    data = rng.choice(texts).encode()
    start, stop = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    middle = rng.choice((b"", data[start:stop] * 2, data[: rng.randrange(200)], rng.randbytes(4)))
    return data[:start] + middle + (data[stop:] if rng.random() < 0.8 else b"")


def spliced(rng: random.Random, texts: list[str]) -> bytes:
    one, other = (rng.choice(texts).splitlines(keepends=True) for _ in range(2))
    lines = list(one)
    for _ in range(rng.choice((1, 2, 5))):
        lines[rng.randrange(len(lines))] = rng.choice(other)
    if rng.random() < 0.3:
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines).encode()


def digits(rng: random.Random, texts: list[str]) -> bytes:
    """A number exchanged for another one."""
    data = bytearray(rng.choice(texts).encode())
    at = [i for i, byte in enumerate(data) if byte in b"0123456789"]
    for _ in range(rng.choice((1, 1, 3))):
        data[rng.choice(at)] = rng.choice(b"0123456789")
    return bytes(data)


def exchanged(rng: random.Random, texts: list[str]) -> bytes:
    """Values of the document exchanged for junk, or for others of it."""
    document = json.loads(rng.choice(texts))
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = slots(document)
        holder, key = rng.choice(places)
        there, field = rng.choice(places)
        match rng.randrange(4):
            case 0 | 1:
                holder[key] = copy.deepcopy(rng.choice(JUNK))
            case 2:
                holder[key] = copy.deepcopy(there[field])
            case _:
                if isinstance(holder, dict):
                    holder[rng.choice(("colour", "copy", "op", "by"))] = holder.pop(key)
                else:
                    del holder[key]
    return json.dumps(document).encode()


def slots(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        each = stack.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        for key in keys:
            found.append((each, key))
            if isinstance(each[key], (dict, list)):
                stack.append(each[key])
    return found


def noise(rng: random.Random, texts: list[str]) -> bytes:
    alphabet = rng.choice((bytes(range(256)), b'{}[]",:0123456789 truefalsn', b"[{", b"[", b"9"))
    return bytes(rng.choices(alphabet, k=rng.choice((0, 1, 10, 300, 3000))))


MUTATIONS: list[Callable[[random.Random, list[str]], bytes]] = [
    flipped,
    cut,
    spliced,
    digits,
    exchanged,
    exchanged,
    exchanged,
    noise,
]


def checked(data: bytes) -> bool:
    """Load it; whether it was a graph."""
    began = time.process_time()
    try:
        graph = sg.load(data)
    except sg.FormatError:
        graph = None
    assert time.process_time() - began < SECONDS
    if graph is None:
        return False
    graph.verify()
    assert str(graph)
    text = graph.to_json()
    assert sg.load(text).to_json() == text
    return True


def fuzz(count: int, seed: int) -> tuple[int, int]:
    """How many bytes were read, and how many documents were graphs still."""
    rng, texts = random.Random(seed), documents()
    total = loaded = 0
    for _ in range(count):
        data = rng.choice(MUTATIONS)(rng, texts)
        total += len(data)
        try:
            loaded += checked(data)
        except BaseException:
            print(ascii(data.decode("utf-8", "replace")))
            raise
    return total, loaded


def test_the_documents_themselves_load() -> None:
    assert all(checked(text.encode()) for text in documents())


@pytest.mark.sampled(one_in=70)
@pytest.mark.parametrize("seed", range(10))
def test_hostile_bytes_give_documented_errors_only(seed: int) -> None:
    total, loaded = fuzz(100, seed)
    assert total > 40_000
    assert loaded < 80


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(100, 106))
def test_many_hostile_bytes_give_documented_errors_only(seed: int) -> None:
    fuzz(2_000, seed)
