"""Methods of other libraries: the error says what is written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.array.other_methods import INSTEAD_OF, instead_of_method

PAIRS: list[tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = [
    (lambda x: x.at[0].set(0.0), lambda x: snp.index_update(x, 0, 0.0), "snp.index_update"),
    (lambda x: x.unsqueeze(0), lambda x: np.expand_dims(x, 0), "np.expand_dims"),
    (lambda x: x.detach() * x, lambda x: snp.stop_gradient(x) * x, "snp.stop_gradient"),
    (lambda x: x.exp(), np.exp, "np.exp"),
    (lambda x: x.abs(), np.abs, "np.abs"),
    (lambda x: x.relu(), snp.relu, "snp.relu"),
    (lambda x: x.softmax(-1), lambda x: snp.softmax(x, -1), "snp.softmax"),
    (lambda x: x.pow(2), lambda x: x**2, r"x \*\* y"),
    (lambda x: x.mul(x), lambda x: x * x, r"x \* y"),
    (lambda x: x.view(-1), lambda x: x.reshape(-1), "x.reshape"),
    (lambda x: x.norm(), np.linalg.norm, "np.linalg.norm"),
    (lambda x: x.clamp(0, 1), lambda x: np.clip(x, 0, 1), "np.clip"),
    (lambda x: x.masked_fill(x > 0, 1.0), lambda x: np.where(x > 0, 1.0, x), "np.where"),
    (lambda x: x.t(), lambda x: x.T, r"x\.T"),
    (lambda x: x.matmul(x), lambda x: np.matmul(x, x), r"np\.matmul\(x, y\)"),
    (lambda x: x.numel() * x, lambda x: x.size * x, r"x\.size"),
    (lambda x: x.add_(1.0), lambda x: x + 1.0, "new ones"),
    (
        lambda x: x.gather(1, np.zeros((3, 1), int)),
        lambda x: np.take_along_axis(x, np.zeros((3, 1), int), 1),
        "np.take_along_axis",
    ),
]


@pytest.mark.parametrize(("other", "here", "told"), PAIRS, ids=[told for _, _, told in PAIRS])
def test_the_error_says_what_to_write(other: Any, here: Any, told: str) -> None:
    spec = sg.spec((3, 3))
    with pytest.raises(AttributeError, match=told):
        sg.trace(other, x=spec)
    value = sg.trace(here, x=spec).evaluate(x=np.ones((3, 3)))
    np.testing.assert_allclose(value, here(np.ones((3, 3))))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: x.sum(dim=0), r"^sum\(\) .*'dim'\. NumPy's name of it is axis\."),
        (lambda x: x.mean(1, keepdim=True), r"^mean\(\) .*NumPy's name of it is keepdims\."),
        (lambda x: snp.cumsum(x, dim=0), r"^cumsum\(\) .*NumPy's name of it is axis\."),
        (lambda x: snp.softmax(x, axes=0), r"^softmax\(\) .*'axes'(?!.*NumPy)"),
    ],
)
def test_a_wrong_keyword_is_told_under_the_name_of_the_function(call: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        sg.trace(call, x=sg.spec((3, 3)))


def test_names_that_are_nowhere() -> None:
    assert "np.ndarray" in instead_of_method("frobnicate")
    assert not [name for name in INSTEAD_OF if hasattr(sg.input("x", ()), name)]
    assert [name for name in INSTEAD_OF if hasattr(sg.input("x", (3,)), name)] == ["flat"]
