"""Formulas as MathML: what the closed forms of the page's questions become."""

from __future__ import annotations

import re
from typing import Any

import pytest

from symgraph.cli.answers import answer
from symgraph.page.mathml import Tree, mathematics


def text(tree: Tree) -> str:
    """The characters of a formula without spaces."""
    _, inside = tree
    found = inside if isinstance(inside, str) else "".join(map(text, inside))
    return re.sub(r"\s", "", found)


def tags(tree: Tree) -> set[str]:
    tag, inside = tree
    return {tag}.union(*(() if isinstance(inside, str) else map(tags, inside)))


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(
    ("question", "shown", "elements"),
    [
        (
            {"expression": "-sum(p*log(softmax(z)))", "wrt": "z", "facts": "p: simplex"},
            "∂f∂z=softmax(z)−p",
            {"mfrac"},
        ),
        (
            {"expression": "x@A@x/2", "wrt": "x", "shapes": "A=n,n", "facts": "A: symmetric"},
            "∂f∂x=Ax",
            {"mfrac"},
        ),
        (
            {"expression": "sum((A@x - b)**2)", "wrt": "x", "shapes": "A=m,n\nb=m"},
            "∂f∂x=2A⊤(Ax−b)",
            {"msup"},
        ),
        (
            {"expression": "norm(x + eps)*max(x)", "wrt": "eps"},
            "‖t1‖2",
            {"munder", "msub"},
        ),
        ({"expression": "sqrt(sum(x**2))", "wrt": "x"}, "∂f∂x=", {"mfrac", "msqrt"}),
        (
            {"expression": "sum(where(x > 0, w_old*x, exp(x1)))", "wrt": "x,w_old,x1"},
            "∂f∂x=",
            {"mtable", "msub"},
        ),
        ({"expression": "sum(tanh(lambda1*x)/x)", "wrt": "lambda1"}, "∂f∂λ1=", {"msub"}),
    ],
)
def test_closed_forms_are_shown_as_mathematics(
    question: dict[str, str], shown: str, elements: set[str]
) -> None:
    found: Any = answer(question)["mathematics"]
    assert found is not None
    assert shown in text(found)
    assert elements <= tags(found)


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\operatorname{log\,softmax}\left(z\right)", "logsoftmax(z)"),
        (r"\text{a graph of 3 nodes\_}", "agraphof3nodes_"),
        (r"\sum_{i,j} \left|a_{ij}\right|^{\circ -1/2}", "∑i,j|aij|∘−1/2"),
        (r"1.5 \cdot 10^{-6} \, \mathbf{1}", "1.5·10−6𝟏"),
        (
            r"\begin{cases} a & \text{if } x \ge 0 \\ b & \text{otherwise} \end{cases}",
            "{aifx≥0botherwise",
        ),
    ],
)
def test_each_character_is_kept(latex: str, shown: str) -> None:
    found = mathematics(latex)
    assert found is not None
    assert text(found) == shown


@pytest.mark.parametrize(
    "latex",
    [r"\unknown x", r"\frac{1}", r"{x", r"\left(x", "x^", "x^2^3", "{" * 9_000, "}"],
)
def test_what_is_not_known_is_left_to_the_text(latex: str) -> None:
    assert mathematics(latex) is None
