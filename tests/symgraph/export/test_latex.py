"""Formulas as LaTeX: textbook gradients read as in the textbook, and all that is written is TeX."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from randomgraphs import random_program, traced_program

import symgraph as sg
import symgraph.numpy as snp
from symgraph.export.latex_names import symbol, words
from symgraph.page.mathml import mathematics


def traced(f: Any, **shapes: Any) -> sg.Graph:
    specs = {n: s if isinstance(s, sg.Spec) else sg.spec(s) for n, s in shapes.items()}
    return sg.trace(f, **specs)


def right(graph: sg.Graph) -> str:
    return graph.to_latex().partition(" = ")[2]


GRADIENTS = [
    (
        lambda X, w, y: np.sum(snp.softplus(X @ w) - y * (X @ w)),
        {"X": "n, d", "w": "d", "y": "n"},
        "w",
        r"X^\top \left(\sigma\left(X w\right) - y\right)",
    ),
    (
        lambda X, w, y: np.sum((X @ w - y) ** 2) / 2,
        {"X": "n, d", "w": "d", "y": "n"},
        "w",
        r"X^\top \left(X w - y\right)",
    ),
    (lambda A, B: np.trace(A @ B), {"A": "n, n", "B": "n, n"}, "A", r"B^\top"),
    (
        lambda z, p: -np.sum(p * np.log(np.exp(z) / np.sum(np.exp(z)))),
        {"z": 5, "p": sg.spec(5, assume=sg.simplex(-1))},
        "z",
        r"\operatorname{softmax}\left(z\right) - p",
    ),
    (lambda x: np.sum(np.log(x)), {"x": sg.spec(3, assume=sg.positive)}, "x", r"\frac{1}{x}"),
    (lambda x: np.sin(x) ** 2 + x, {"x": ()}, "x", r"1 + \sin\left(2 \cdot x\right)"),
]


@pytest.mark.parametrize(("f", "shapes", "wrt", "formula"), GRADIENTS)
def test_gradients_read_as_in_the_textbook(f: Any, shapes: Any, wrt: str, formula: str) -> None:
    found = traced(f, **shapes).gradient(wrt, value=False).simplify().to_latex()
    assert found == rf"\frac{{\partial f}}{{\partial {wrt}}} = {formula}".replace(
        r"\cdot x", r"\, x"
    )


AS_WRITTEN = [
    (lambda x, y: x * y, r"x \odot y", "n", "n"),
    (lambda x, y: x * y, r"y \, x", "n", ""),
    (lambda x, y: x @ y, r"x^\top y", "n", "n"),
    (lambda x, y: x @ y, r"y^\top x", "n", "n, m"),
    (lambda x, y: (x + y) @ x, r"\left(x + y\right) x", "n, n", "n, n"),
    (lambda x, y: x - (y - x), r"x - \left(y - x\right)", "n", "n"),
    (lambda x, y: -(x + y), r"-\left(x + y\right)", "n", "n"),
    (lambda x, y: x[:, None] * y, r"x y^\top", "n", "m"),
    (lambda x, y: x[:, None] * y, r"\operatorname{diag}\left(x\right) y", "n", "n, m"),
    (lambda x, y: y * x, r"y \operatorname{diag}\left(x\right)", "m", "n, m"),
    (lambda x, y: np.sum(x * y, axis=0), r"\sum_{i} \left(x \odot y\right)_{ij}", "n, m", "n, m"),
    (lambda x, y: np.sum(x) * y, r"y \, \sum_{i} x_{i}", "n", ""),
    (lambda x, y: np.sum(x) - np.sum(y), r"\sum_{i} x_{i} - \sum_{i} y_{i}", "n", "n"),
    (lambda x, y: (x / y) ** 2, r"\left(\frac{x}{y}\right)^{2}", "", ""),
    (lambda x, y: np.exp(-x) * 1e-6 + y, r"10^{-6} \, e^{-x} + y", "n", "n"),
    (lambda x, y: np.where(x > y, x, 0.0), r"\begin{cases} x & \text{if } x > y \\ 0 & "
     r"\text{otherwise} \end{cases}", "n", "n"),
    (lambda x, y: np.linalg.inv(x) @ y, r"x^{-1} y", "n, n", "n"),
    (lambda x, y: np.linalg.solve(x, y), r"x^{-1} y", "n, n", "n"),
    (lambda x, y: np.linalg.slogdet(x)[1] + y, r"\log \left|\det x\right| + y", "n, n", ""),
    (lambda x, y: np.sqrt(np.abs(x)) + y[0], r"\sqrt{\left|x\right|} + {y}_{[0]}", "n", "3"),
    (lambda x, y: np.einsum("ij,jk,k->i", x, x, y), r"\left[\sum_{j,k} x_{ij} \, x_{jk} \, y_{k}"
     r"\right]_{i}", "n, n", "n"),
    (lambda x, y: np.arctan2(x, y), r"\operatorname{arctan2}\left(x, y\right)", "n", "n"),
    (lambda x, y: x.shape[0] * y, r"n \, y", "n", "m"),
    (lambda x, y: x * 3 - y * 0.5, r"3 \, x - \frac{1}{2} \, y", "", ""),
    (lambda x, y: 2 * np.log(x) + y, r"2 \, \log x + y", "n", ""),
    (lambda x, y: y * np.log(x), r"y \, \log x", "n", ""),
    (lambda x, y: np.log(x) * y, r"\left(\log x\right) \, y", "", ""),
    (lambda x, y: 3 * np.log(x) * y, r"\left(3 \, \log x\right) \, y", "", ""),
    (lambda x, y: snp.gammaln(x) + y, r"\log\Gamma\left(x\right) + y", "n", ""),
    (lambda x, y: x / y / y, r"\frac{x}{y^{2}}", "n", ""),
    (lambda x, y: x / y / 2, r"\frac{x}{2 \, y}", "n", ""),
    (lambda x, y: x / (1 + y) / y, r"\frac{x}{\left(1 + y\right) \, y}", "n", ""),
    (lambda x, y: (x + 0.5) * y, r"y \, \left(x + \frac{1}{2}\right)", "n", ""),
    (lambda x, y: 0.5 * (x @ y), r"\frac{1}{2} \, x^\top y", "n", "n"),
    (lambda x, y: np.linalg.norm(x, axis=-1) + y,
     r"\left\|x_{i \cdot}\right\|_{2} + y", "n, d", ""),
    (lambda x, y: np.linalg.norm(x, axis=0) + y,
     r"\left\|x_{\cdot j}\right\|_{2} + y", "n, d", ""),
    (lambda x, y: ~(x > y), r"\neg \left(x > y\right)", "n", "n"),
    (lambda x, y: np.logical_not(x > y) & (y > 0),
     r"\neg \left(x > y\right) \land \left(y > 0\right)", "n", "n"),
    (lambda x, y: np.where(x > y, np.nan, x),
     r"\begin{cases} \mathrm{NaN} & \text{if } x > y \\ x & \text{otherwise} \end{cases}",
     "n", "n"),
    (lambda x, y: (x > y) & (x < 2), r"\left(x > y\right) \land \left(x < 2\right)", "n", "n"),
    (lambda x, y: x[:, None] - y[None], r"{x}_{[:, \cdot]} - y", "n, d", "n, d"),
    (lambda x, y: np.stack([x, y, x * y]), r"\left(x, y, x \, y\right)", "", ""),
    (lambda x, y: x ** np.arange(1.0, 4.0) + y, r"x^{(1, 2, 3)} + y", "", ""),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize(("f", "formula", "x", "y"), AS_WRITTEN)
def test_each_operation_has_its_sign(f: Any, formula: str, x: str, y: str) -> None:
    assert right(traced(f, x=x, y=y)) == formula


WITH_INDICES = [
    (lambda x, y: x @ y, r"f_{i} = \sum_{j=1}^{n} x_{ij} \, y_{j}", "m, n", "n"),
    (lambda x, y: x.T @ (2 * y), r"f_{i} = 2 \, \sum_{j=1}^{m} x_{ji} \, y_{j}", "m, n", "m"),
    (lambda x, y: x + y, r"f_{ij} = x_{ij} + y_{j}", "m, n", "n"),
    (lambda x, y: x @ x + y, r"f = \sum_{i=1}^{n} x_{i}^{2} + y", "n", ""),
    (lambda x, y: x + y[:, None], r"f_{ij} = x_{ij} + y_{i}", "m, n", "m"),
    (lambda x, y: x * y, r"f_{i} = y \, x_{i}", "n", ""),
    (lambda x, y: np.sum(x * y) ** 2, r"f = \left(\sum_{i=1}^{n} x_{i} \, y_{i}\right)^{2}",
     "n", "n"),
    (lambda x, y: np.sum(x, axis=0) / y, r"f_{i} = \frac{1}{y} \sum_{j=1}^{3} x_{ji}", "3, n", ""),
    (lambda x, y: np.sum(x) + y, r"f = \sum_{i=1}^{64} x_{i} + y", "64", ""),
    (lambda x, y: np.max(x, axis=-1) + y, r"f_{i} = \max_{j} x_{ij} + y_{i}", "m, n", "m"),
    (lambda x, y: np.linalg.inv(x) @ y,
     r"f_{i} = \sum_{j=1}^{n} \left(x^{-1}\right)_{ij} \, y_{j}", "n, n", "n"),
    (lambda x, y: np.linalg.solve(x, y), r"f_{i} = \left(x^{-1} y\right)_{i}", "n, n", "n"),
    (lambda x, y: np.exp(x) * snp.softmax(y), r"f_{i} = e^{x_{i}} \, "
     r"\operatorname{softmax}\left(y\right)_{i}", "n", "n"),
    (lambda x, y: np.einsum("ij,jk,k->i", x, x, y),
     r"f_{i} = \sum_{j=1}^{n} \sum_{k=1}^{n} x_{ij} \, x_{jk} \, y_{k}", "n, n", "n"),
    (lambda x, y: np.where(x > 0, x, y), r"f_{i} = \begin{cases} x_{i} & \text{if } x_{i} > 0 \\ "
     r"y_{i} & \text{otherwise} \end{cases}", "n", "n"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
def test_formulas_of_the_index_form_are_shown_on_the_page() -> None:
    for f, _, x, y in WITH_INDICES:
        assert mathematics(traced(f, x=x, y=y).to_latex("index")) is not None
    for f, _, x, y in (*MATRICES, *AS_WRITTEN):
        assert mathematics(traced(f, x=x, y=y).to_latex()) is not None


@pytest.mark.filterwarnings("ignore::symgraph.UnusedInputWarning")
@pytest.mark.parametrize(("f", "formula", "x", "y"), WITH_INDICES)
def test_the_index_form_gives_each_element(f: Any, formula: str, x: str, y: str) -> None:
    assert traced(f, x=x, y=y).to_latex("index") == formula


def test_derivatives_in_the_index_form_have_the_indices_of_both() -> None:
    layer = traced(lambda A, x: np.tanh(A @ x), A="m, n", x="n")
    jacobian = layer.jacobian("x", value=False).simplify()
    assert jacobian.to_latex("index") == (
        r"\frac{\partial f_{i}}{\partial x_{j}} = "
        r"\left(1 - \tanh\left(\sum_{k=1}^{n} A_{ik} \, x_{k}\right)^{2}\right) \, A_{ij}"
    )
    cubes = traced(lambda x: np.sum(x**3), x="n").hessian("x", value=False).simplify()
    assert cubes.to_latex("index") == (
        r"\frac{\partial^2 f}{\partial x_{i} \, \partial x_{j}} = 6 \, x_{i} \, I_{ij}"
    )


def test_letters_of_indices_are_no_names_of_the_graph() -> None:
    graph = traced(lambda i, k: i @ k, i="m, j", k="j")
    assert graph.to_latex("index") == r"f_{l} = \sum_{p=1}^{j} i_{lp} \, k_{p}"


def test_a_form_that_there_is_not_is_refused() -> None:
    with pytest.raises(sg.InputError, match='Use "matrix" or "index"'):
        traced(lambda x: x, x="n").to_latex(form="tensor")


MATRICES = [
    (lambda x, y: y @ x, r"x y", sg.spec("n, n", assume=sg.symmetric), "n"),
    (lambda x, y: y @ x, r"x y", sg.spec("n, n", assume=sg.positive_definite), "n"),
    (lambda x, y: x + y, r"x + \mathbf{1} y^\top", "m, n", "n"),
    (lambda x, y: x - y[:, None], r"x - y \mathbf{1}^\top", "m, n", "m"),
    (lambda x, y: x / y[:, None], r"\operatorname{diag}\left(y\right)^{-1} x", "m, n", "m"),
    (lambda x, y: x / y, r"x \operatorname{diag}\left(y\right)^{-1}", "m, n", "n"),
    (lambda x, y: np.log1p(x) + y, r"\operatorname{log1p}_{\odot}\left(x\right) + y", "n, n", ""),
    (lambda x, y: np.log2(x) + y, r"\log_{2, \odot}\left(x\right) + y", "n, n", ""),
    (lambda x, y: snp.softplus(x) + y, r"\operatorname{softplus}_{\odot}\left(x\right) + y",
     "n, n", ""),
    (lambda x, y: np.trace(x) + y, r"\operatorname{tr}\left(x\right) + y", "n, n", ""),
    (lambda x, y: np.trace(x, offset=1) + y, r"\sum_{i} \left(\operatorname{diag}_{1}\left(x\right)"
     r"\right)_{i} + y", "3, 3", ""),
    (lambda x, y: np.max(x, axis=0) + y, r"\max_{i} x_{ij} + y", "m, n", "n"),
    (lambda x, y: np.linalg.norm(x) * y, r"\left\|x\right\|_{F} \, y", "m, n", ""),
    (lambda x, y: np.linalg.norm(x, 3) * y, r"\left\|x\right\|_{3} \, y", "n", ""),
]  # fmt: skip


@pytest.mark.parametrize(("f", "formula", "x", "y"), MATRICES)
def test_the_matrix_form_means_what_it_says(f: Any, formula: str, x: str, y: str) -> None:
    assert right(traced(f, x=x, y=y)) == formula


def test_a_truth_value_as_a_number_is_in_brackets() -> None:
    """Else x = max x over its sum would read as an equation, and t = x = 0 as two."""
    slope = traced(lambda x: np.max(x), x="n").gradient("x", value=False).simplify()
    largest = r"\left[x = \max_{i} x_{i}\right]"
    assert right(slope) == rf"\frac{{{largest}}}{{\sum_{{i}} {largest}_{{i}}}}"
    one = r"\left[x_{i} = \max_{j} x_{j}\right]"
    assert one in slope.to_latex("index")
    assert right(traced(lambda x: np.mean(x > 0), x="n")) == (
        r"\frac{1}{n} \sum_{i} \left[x > 0\right]_{i}"
    )
    assert right(traced(lambda x: x == 0, x="n")) == r"\left[x = 0\right]"
    assert right(traced(lambda x: x > 0, x="n")) == "x > 0"


def test_two_names_never_have_one_symbol() -> None:
    graph = traced(lambda x1, x_1, lam, lambda_: x1 * x_1 + lam * lambda_, x1="", x_1="", lam="",
                   lambda_="")  # fmt: skip
    assert right(graph) == (r"\mathrm{x1} \, \mathrm{x\_1} + \mathrm{lam} \, \mathrm{lambda\_}")


def test_the_derivation_is_a_display_that_may_run_over_pages() -> None:
    small = traced(lambda x: np.log(np.exp(x)), x="n").simplify()
    assert small.explain(format="align") == (
        "\\begin{align*}\n"
        r"\log\left(e^{x}\right) &= x && \text{log\_of\_exp [rounding]}"
        "\n\\end{align*}"
    )
    assert "no rewrite" in traced(lambda x: x, x="n").simplify().explain(format="align")


def test_a_step_that_is_written_alike_before_and_after_is_no_equation() -> None:
    """`x**2` becomes `square(x)`: another operation, and the same mathematics."""
    small = traced(lambda x: np.log(np.exp(x**2)), x="n").simplify()
    assert [step.rule for step in small.history.steps] == ["power_two", "log_of_exp"]
    assert small.explain(format="align").count("&&") == 1


NAMES = {
    "x": "x",
    "x1": "x_{1}",
    "W_old": r"W_{\mathrm{old}}",
    "lambda_": r"\lambda",
    "lam": r"\lambda",
    "eps": r"\varepsilon",
    "theta_2": r"\theta_{2}",
    "weights": r"\mathrm{weights}",
    "a_b_c": r"a_{\mathrm{b\_c}}",
    "100%": r"\mathrm{100\%}",
    r"\input{x}": r"\mathrm{\backslash \backslash input\{x\}}",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_names_are_symbols_and_never_commands(name: str, shown: str) -> None:
    assert symbol(name) == shown


def test_words_are_no_commands() -> None:
    assert words("a_b {$}") == r"\text{a\_b \{\$\}}"


def test_shared_parts_are_named_once() -> None:
    graph = traced(lambda x: np.exp(x) / np.sum(np.exp(x)), x="n")
    assert graph.to_latex() == (
        "\\begin{aligned}\nt_{1} &= e^{x} \\\\\n"
        "f &= \\frac{t_{1}}{\\sum_{i} \\left(t_{1}\\right)_{i}}\n\\end{aligned}"
    )


def test_a_formula_prints_as_text_and_shows_as_mathematics() -> None:
    formula = traced(lambda x: np.sqrt(x), x="n").formula()
    assert str(formula) == repr(formula) == "sqrt(x)"
    assert formula._repr_latex_() == r"$\displaystyle f = \sqrt{x}$"


def test_large_graphs_are_told_by_their_size() -> None:
    def tower(x: Any) -> Any:
        for _ in range(60):
            x = np.sin(x) * np.cos(x)
        return x

    assert "too large for a formula" in traced(tower, x="n").to_latex()


def test_graphs_are_saved_as_tex(tmp_path: Any) -> None:
    graph = traced(lambda x: np.sqrt(x), x="n")
    graph.save(tmp_path / "f.tex")
    assert (tmp_path / "f.tex").read_text(encoding="utf-8") == r"f = \sqrt{x}"


def assert_is_tex(text: str) -> None:
    plain = text.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for char in plain:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0, text
    assert depth == 0, text
    assert len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
    assert text.count(r"\begin{") == text.count(r"\end{")
    # Two subscripts or superscripts in a row are an error of TeX.
    assert not re.search(r"[_^]\{[^{}]*\}[_^]\{[^{}]*\}[_^]", text), text
    assert not re.search(r"([_^])\{[^{}]*\}\1", text), text


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs_give_tex(seed: int) -> None:
    program = random_program(seed)
    graph = traced_program(program)
    small = graph.gradient(*program.targets).simplify()
    for each in (graph, small):
        assert_is_tex(each.to_latex())
        assert_is_tex(each.to_latex(form="index"))
    assert_is_tex(small.explain(format="latex"))
    assert_is_tex(small.explain(format="align"))


def test_numbers_have_six_digits_and_a_sum_of_the_same_is_twice_it() -> None:
    graph = traced(lambda x: x * 0.17677669529663687, x="n")
    assert right(graph) == r"0.176777 \, x"
    assert "x * 0.176777 " in str(graph)
    assert str(graph.formula()) == "x * 0.17677669529663687"
    assert right(traced(lambda x: x + x, x="n")) == r"2 \, x"
    assert right(traced(lambda x: (x + x) ** 2, x=())) == r"\left(2 \, x\right)^{2}"


def test_constant_arrays_have_equations_of_their_own() -> None:
    """They were written constant()."""
    powers = traced(lambda x: np.sum(x ** np.arange(1.0, 6.0)), x=())
    assert powers.to_latex().splitlines()[1:3] == [
        r"c_{1} &= \left(1, 2, 3, 4, 5\right) \\",
        r"f &= \sum_{i} \left(x^{c_{1}}\right)_{i}",
    ]
    assert powers.formula().text == "sum(x**c1) where c1 = [1, 2, 3, 4, 5]"
    mask = np.arange(4.0).reshape(2, 2)
    assert (
        r"c_{1} &= \begin{pmatrix} 0 & 1 \\ 2 & 3 \end{pmatrix}"
        in traced(lambda x: x @ mask, x="n, 2").to_latex()
    )
    large = traced(lambda x: x @ np.arange(12000.0).reshape(3, 4000), x="n, 3")
    assert r"c_{1} &= \text{3 × 4000 numbers}" in large.to_latex()
    assert large.formula().text == "x @ c1 where c1 = constant float64[3, 4000]"
    for each in (powers, traced(lambda x: x @ mask, x="n, 2"), large):
        for form in ("matrix", "index"):
            assert mathematics(each.to_latex(form)) is not None


def test_what_is_put_into_zeros_tells_where() -> None:
    """It read embed(t) + x - embed(t), as if that were x."""
    smooth = traced(lambda u: np.sum(np.diff(u) ** 2), u="n").gradient("u", value=False).simplify()
    found = smooth.to_latex()
    assert r"\operatorname{embed}_{[1:]}" in found
    assert r"\operatorname{embed}_{[:-1]}" in found


def test_derivatives_are_of_f_where_the_result_has_no_name_of_its_own() -> None:
    def rebound(x):
        i = np.sin(x)
        i = i * np.exp(i)
        i = i * np.tanh(i)
        return np.sum(i)

    def returned(x, w):
        total = x * w
        loss = np.sum(np.tanh(total))
        return loss

    def accumulated(x):
        loss = np.sum(np.tanh(x))
        loss = loss * np.exp(loss)
        return loss

    for f in (rebound, accumulated):
        listing = str(traced(f, x="n").gradient("x"))
        assert "∂f/∂" in listing
        assert "∂i/∂i" not in listing
        assert "∂loss/∂loss" not in listing
    joint = traced(returned, x="n", w="n").gradient("x", "w")
    assert "∂loss/∂total" in str(joint)
    assert r"\frac{\partial f}{\partial \mathrm{total}}" in joint.to_latex()
    assert r"\mathrm{loss}" not in joint.to_latex()


def test_a_variable_used_again_has_a_subscript() -> None:
    assert symbol("xx_2") == r"\mathrm{xx}_{2}"
    assert symbol("x1_2") == r"\mathrm{x1\_2}"
    assert symbol("w_old") == r"w_{\mathrm{old}}"


@pytest.mark.parametrize(
    ("f", "call"),
    [
        (lambda x: np.triu(x, 1), r"\operatorname{triu}\left(x, k = 1\right)"),
        (lambda x: np.triu(x), r"\operatorname{triu}\left(x\right)"),
        (lambda x: np.round(x, 2), r"\operatorname{round}\left(x, \mathrm{decimals} = 2\right)"),
        (
            lambda x: np.linalg.norm(x, 3, axis=0),
            r"\operatorname{p\,norm}_{-2}\left(x, \mathrm{ord} = 3\right)",
        ),
        (
            lambda x: np.searchsorted(x, 2, side="right"),
            r"\operatorname{searchsorted}\left(x, 2, \mathrm{side} = \mathrm{right}\right)",
        ),
    ],
)
def test_calls_tell_what_they_are_told(f: Any, call: str) -> None:
    """A norm without its order, or a triangle without its diagonal, could be any."""
    assert sg.trace(f, x=(3,) if "search" in call else (3, 4)).to_latex() == f"f = {call}"
