"""Which values of a batch in chunks are whole, have rows, or are combined; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.backends.chunked.placement import Rows, Whole, placed
from symgraph.backends.chunked.stages import planned
from symgraph.errors import BackendError


def placements(f: Any, **specs: Any) -> list[str]:
    """The placement of each output, as text."""
    dag = sg.trace(f, **specs).dag
    found = placed(dag, "n")
    texts: list[str] = []
    for node in dag.outputs:
        place = found.of[node]
        if isinstance(place, Rows):
            texts.append(f"rows on {place.axis}, stage {place.stage}")
        else:
            assert isinstance(place, Whole)
            how = f", {found.reductions[node].combine}" if node in found.reductions else ""
            texts.append(f"whole, stage {place.stage}{how}")
    return texts


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x, w: np.tanh(x) * 2, "rows on -2, stage 0"),
        (lambda x, w: x @ w, "rows on -1, stage 0"),
        (lambda x, w: x.T, "rows on -1, stage 0"),
        (lambda x, w: snp.softmax(x, axis=-1), "rows on -2, stage 0"),
        (lambda x, w: np.einsum("ni,i->n", x, w), "rows on -1, stage 0"),
        (lambda x, w: np.sum(x, axis=1, keepdims=True), "rows on -2, stage 0"),
        (lambda x, w: x[:, 1:], "rows on -2, stage 0"),
        (lambda x, w: np.concatenate([x, x * w], axis=1), "rows on -2, stage 0"),
        (lambda x, w: np.broadcast_to(w, x.shape) + x, "rows on -2, stage 0"),
        (lambda x, w: np.sum(x), "whole, stage 1, add"),
        (lambda x, w: np.sum(x, axis=0, keepdims=True), "whole, stage 1, add"),
        (lambda x, w: x.T @ x, "whole, stage 1, add"),
        (lambda x, w: np.einsum("ni,nj->ij", x, x), "whole, stage 1, add"),
        (lambda x, w: np.max(x, axis=0), "whole, stage 1, maximum"),
        (lambda x, w: np.min(x), "whole, stage 1, minimum"),
        (lambda x, w: np.mean(x), "whole, stage 1"),
        (lambda x, w: x - np.mean(x, axis=0), "rows on -2, stage 1"),
        (lambda x, w: np.var(x), "whole, stage 2"),
        (lambda x, w: w * 2, "whole, stage 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::symgraph.graph.tracing.UnusedInputWarning")
def test_placements(f: Any, expected: str) -> None:
    assert placements(f, x="n, 4", w=(4,)) == [expected]


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: np.cumsum(x, axis=0), "cumsum"),
        (lambda x: np.sort(x, axis=0), "sort"),
        (lambda x: x[1:], "getitem"),
        (lambda x: x[0], "getitem"),
        (lambda x: x[::-1], "getitem"),
        (lambda x: x @ x.T, "matmul"),
        (lambda x: np.reshape(x, (-1,)), "reshape"),
        (lambda x: snp.softmax(x, axis=0), "softmax"),
        (lambda x: np.prod(x), "prod"),
        (lambda x: np.argmax(x, axis=0), "argmax"),
        (lambda x: x * snp.arange(x.shape[0])[:, None], "arange"),
        (lambda x: sg.scan(lambda c, s: (c + s, s), np.zeros(4), x)[0], "scan"),
    ],
)
def test_what_mixes_rows_is_refused_with_its_line(f: Any, what: str) -> None:
    with pytest.raises(BackendError, match=f"{what} mixes the rows of the batch") as caught:
        placements(f, x="n, 4")
    assert "test_placement.py" in str(caught.value)


def test_inputs_have_the_batch_once() -> None:
    with pytest.raises(BackendError, match="No input has the dimension 'n'"):
        placements(np.exp, x="m, 4")
    with pytest.raises(BackendError, match=r"Input 'x' of shape .* no one axis"):
        placements(np.exp, x="n, n")


def test_a_gradient_takes_one_pass_over_the_chunks() -> None:
    def loss(x: Any, y: Any, w: Any) -> Any:
        return np.mean((np.tanh(x @ w) - y) ** 2)

    graph = sg.trace(loss, x="n, 4", y="n", w="4").gradient("w").simplify()
    plan = planned(graph.dag, "n")
    assert len(plan.stages) == 1
    assert set(plan.stages[0].combine) == {"add"}
    assert plan.rows == {"x": -2, "y": -1}
    assert [axis for _, axis in plan.results] == [None, None]
