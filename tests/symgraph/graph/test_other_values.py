"""A pass that changes a value by a fault of ours is found: the result has the values as derived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.ir.node import Node, on_operands
from symgraph.ir.walks import reachable
from symgraph.passes import simplify as passes


def smooth(x: Any, w: Any) -> Any:
    return np.sum(np.log(np.exp(x @ w) + 1) * np.sin(x[:, 0]))


def wave(x: Any, w: Any) -> Any:
    return np.sum(snp.softmax(x @ w, axis=0)[0] * np.tanh(x))


def at(rows: int, columns: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=(rows, columns)), "w": rng.normal(size=columns)}


def spoiled(right: Callable[..., list[Node]]) -> Callable[..., list[Node]]:
    """A pass whose results are wrong: sums have lost a term, products a factor."""

    def wrong(outputs: Sequence[Node], *rest: Any) -> list[Node]:
        now = dict[Node, Node]()
        for node in reachable(outputs):
            operands = tuple([now[each] for each in node.operands])
            dropped = node.op.name == "multiply" and operands[0].shape == node.shape
            now[node] = operands[0] if dropped else on_operands(node, operands)
        return right([now[each] for each in outputs], *rest)

    return wrong


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize("f", [smooth, wave])
@pytest.mark.parametrize("sizes", [(3, 5), (9, 12)], ids=["short", "shortened"])
def test_a_wrong_pass_gives_no_wrong_gradient(
    f: Callable[..., Any], sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, columns = sizes
    derived = sg.trace(f, x=sg.spec((rows, columns)), w=sg.spec((columns,))).gradient("x", "w")
    given = at(rows, columns)
    wanted = derived.evaluate(**given)
    monkeypatch.setattr(passes, "settled_signs", spoiled(passes.settled_signs))
    sg.cache.clear()
    found = derived.simplify().evaluate(**given)
    sg.cache.clear()
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9)
    for new, old in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-9)
