"""Sums are written only as far as they may become a gain, and nothing shorter is missed by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.algebra.extraction.writer as writer
from symgraph.graph.cache import CACHE


def epidemic(beta: Any, gamma: Any, s: Any, i: Any) -> Any:
    """The square of the last number of infected, after four steps of Heun's method."""

    def slope(s: Any, i: Any) -> tuple[Any, Any]:
        new = beta * s * i
        return -new, new - gamma * i

    for _ in range(4):
        a, b = slope(s, i)
        c, d = slope(s + 0.5 * a, i + 0.5 * b)
        s, i = s + 0.25 * (a + c), i + 0.25 * (b + d)
    return i * i


@pytest.mark.whole
def test_far_longer_sums_are_not_factored(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    plain = writer.ExpressionWriter._cheapest_sum

    def counted(self: Any, expr: Any) -> Any:
        tried.append(len(self.terms.products))
        return plain(self, expr)

    def operations() -> tuple[int, int]:
        specs = dict.fromkeys(("beta", "gamma", "s", "i"), sg.spec(()))
        graph = sg.trace(lambda **given: epidemic(**given), **specs)
        tried.clear()
        found = graph.gradient("beta", "gamma").simplify().op_count()
        return found, len(tried)

    monkeypatch.setattr(writer.ExpressionWriter, "_cheapest_sum", counted)
    short = operations()
    CACHE.clear()
    monkeypatch.setattr(writer, "_LONGER", 10**6)
    monkeypatch.setattr(writer.ExpressionWriter, "is_too_long", lambda _self, _piece: False)
    long = operations()
    assert short[0] == long[0]
    assert short[1] < long[1]


@pytest.mark.parametrize(
    ("product", "most"),
    [
        (lambda a, b, c, d, x: a * b * c * d * x, 12),
        (lambda a, b, c, d, x: np.sum(a[:, None] * b * c[None, :] * d * x, axis=0), 40),
    ],
)
def test_shared_factors_are_not_taken_out_in_all_orders(
    product: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    plain = writer.ExpressionWriter._cheapest_sum

    def counted(self: Any, expr: Any) -> Any:
        written.append(len(expr))
        return plain(self, expr)

    def joined(a: Any, b: Any, c: Any, d: Any, x: Any, y: Any) -> Any:
        return np.sin(product(a, b, c, d, x) + product(a, b, c, d, y))

    specs = {name: sg.spec("n" if name in "ac" else "n, n") for name in "abcdxy"}
    graph = sg.trace(joined, **specs)
    monkeypatch.setattr(writer.ExpressionWriter, "_cheapest_sum", counted)
    found = graph.simplify()
    assert len(written) <= most
    assert found.op_count() <= 6
