"""SymPy both ways; SymPy itself differentiates and evaluates what was handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
import sympy as s

import symgraph as sg
import symgraph.numpy as snp

X, Y = s.symbols("x y", real=True)

SCALARS = [
    (lambda x, y: np.exp(x) * y + np.sin(x) ** 2, X),
    (lambda x, y: np.log(1 + np.exp(x * y)) / np.sqrt(1 + y * y), Y),
    (lambda x, y: snp.sigmoid(x - y) + np.tanh(x) * np.arctan(y), X),
    (lambda x, y: snp.softplus(x) - y / (2.5 + np.cosh(x)), X),
    (lambda x, y: np.log1p(x * x) + np.expm1(y) - np.cbrt(1.0), Y),
]


@pytest.mark.parametrize(("f", "wrt"), SCALARS)
def test_a_gradient_is_the_one_that_sympy_derives(f: Any, wrt: Any) -> None:
    forward = sg.trace(f, x=(), y=())
    value = forward.to_sympy()["out"]
    slope = forward.gradient(wrt.name, value=False).simplify().to_sympy()[f"grad_{wrt}"]
    at = {X: 0.37, Y: -0.81}
    assert float(value.subs(at)) == pytest.approx(forward.evaluate(x=0.37, y=-0.81), rel=1e-13)
    assert float(slope.subs(at)) == pytest.approx(float(value.diff(wrt).subs(at)), rel=1e-12)


EXPRESSIONS = [
    s.exp(X) * Y + s.sin(X) ** 2,
    s.log(1 + X**2) / (2 + s.cos(Y)) - s.Rational(1, 3),
    s.Max(X, Y, 0) + s.Abs(X - Y) * s.pi,
    s.atan2(X, 2 + Y) + s.sqrt(3 + X) - 1 / (4 + Y),
]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_an_expression_is_read_and_written_back(expr: Any) -> None:
    graph = sg.from_sympy(expr)
    at = {X: 0.37, Y: -0.81}
    given = {str(each): at[each] for each in expr.free_symbols}
    assert graph.evaluate(given) == pytest.approx(float(expr.subs(at)), rel=1e-13)
    again = graph.to_sympy()["out"]
    assert float(again.subs(at)) == pytest.approx(float(expr.subs(at)), rel=1e-13)


OF_ONE_NUMBER = """
    gamma(x) digamma(x) polygamma(2,x) loggamma(x) factorial(x) binomial(x,2.5) rf(x,1.5) ff(x,1.5)
    harmonic(x) beta(x,1.5) uppergamma(1.5,x) lowergamma(1.5,x) zeta(x) zeta(2.5,x) erfi(x)
    Ei(x) li(x) Si(x) Ci(x) Shi(x) Chi(x) expint(2,x) fresnels(x) fresnelc(x)
    airyai(x) airybi(x) airyaiprime(x) airybiprime(x) besselj(0.5,x) bessely(1,x) besseli(0.5,x)
    besselk(1,x) elliptic_k(x) elliptic_e(x) elliptic_e(x,0.3) elliptic_f(x,0.3) sinc(x) sec(x)
    csc(x) cot(x) asec(x) acsc(x) acot(x) sech(x) csch(x) coth(x) asech(x) acsch(x) acoth(x)
    Mod(x,0.4) frac(x) Heaviside(x) log(x,2) Piecewise((x,x>1),(x**2,x<-0.5),(3,True))
    Piecewise((sqrt(x),x>0)) ITE(x>0.5,x<1,x<-1) And(x>0,Ne(x,1)) Xor(x>0,x<1) Not(Eq(x,0.37))
    re(log(x)) conjugate(x)**2 Matrix([x,x**2]).norm() Matrix([[x,2],[x**2,sin(x)]]).det()
"""


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("text", OF_ONE_NUMBER.split())
def test_a_function_is_the_one_of_sympy_or_nan_where_that_is_complex(text: str) -> None:
    x = s.Symbol("x")
    named: dict[str, Any] = {"x": x, "ff": s.ff, "rf": s.rf}
    expr: Any = s.sympify(text, locals=named)
    graph = sg.from_sympy(expr)
    truth = expr.is_Boolean or expr.is_Relational
    flat = truth or text == "zeta(x)" or expr.has(s.Mod, s.frac, s.Heaviside, s.re, s.conjugate)
    slope = None if flat else graph.gradient("x", value=False).simplify()
    numbers = 0
    for at in (0.37, 1.9, -0.6):
        expected = complex(bool(expr.subs(x, at)) if truth else expr.subs(x, at).evalf())
        found = float(graph.evaluate(x=at))
        if np.isnan(found) or np.isinf(found):
            continue
        numbers += 1
        assert abs(expected - found) <= 1e-11 * max(1.0, abs(found)), at
        if slope is not None:
            small = 1e-5
            near = [complex(expr.subs(x, at + side).evalf(30)) for side in (-small, small)]
            rise = (near[1] - near[0]).real / (2 * small)
            assert float(slope.evaluate(x=at)) == pytest.approx(rise, rel=1e-6, abs=1e-8), at
    assert numbers


@pytest.mark.parametrize("name", ["erfinv", "erfcinv"])
def test_an_inverse_of_the_error_function_is_scipys(name: str) -> None:
    """SymPy itself evaluates neither beyond its domain."""
    graph = sg.from_sympy(getattr(s, name)(X))
    for at in (0.37, 1.9, -0.6):
        np.testing.assert_equal(graph.evaluate(x=at), getattr(scipy.special, name)(at))


def test_a_matrix_of_expressions_is_an_array() -> None:
    x, y = s.symbols("x y")
    graph = sg.from_sympy(s.Matrix([x * s.cos(y), x * s.sin(y)]).jacobian([x, y]))
    a, b = 2.0, 0.3
    rows = [[np.cos(b), -a * np.sin(b)], [np.sin(b), a * np.cos(b)]]
    np.testing.assert_allclose(graph.evaluate(x=a, y=b), rows, rtol=1e-15)
    A = s.MatrixSymbol("A", 2, 2)
    assert sg.from_sympy(A[0, 1] * A[1, 0]).evaluate(A=np.array([[0, 2.0], [3, 0]])) == 6


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: s.Integral(s.exp(-(x**2)), (x, 0, 1)), "Integral has no .*expr.doit"),
        (lambda x: s.Sum(x**Y, (Y, 0, 5)), "Sum has no .*expr.doit"),
        (lambda x: s.Function("f")(x), "f is a function without a body"),
        (lambda x: s.I * x, "Symbols are real here"),
        (lambda x: [x, x**2], "list is no SymPy expression.*one sympy.Matrix"),
        (lambda x: s.hyper([1, 2], [3], x), "hyper has no counterpart"),
    ],
)
def test_what_no_graph_can_hold_is_told_with_a_remedy(make: Any, words: str) -> None:
    with pytest.raises(sg.InputError, match=f"(?s){words}"):
        sg.from_sympy(make(s.Symbol("x")))


def test_matrices_go_both_ways() -> None:
    A, B = s.MatrixSymbol("A", 4, 3), s.MatrixSymbol("B", 3, 4)
    graph = sg.from_sympy(2 * (A * B).T)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(3, 4))
    np.testing.assert_allclose(graph.evaluate(A=a, B=b), 2 * (a @ b).T)
    written = graph.to_sympy()["out"].subs({A: s.Matrix(a), B: s.Matrix(b)}).doit()
    numbers: Any = np.array(written.as_explicit().tolist(), dtype=float)
    np.testing.assert_allclose(numbers, 2 * (a @ b).T)


def test_named_sizes_go_both_ways() -> None:
    n = s.Symbol("n")
    A, v = s.MatrixSymbol("A", n, n), s.MatrixSymbol("v", n, 1)
    graph = sg.from_sympy(A.inv() * v + v)
    assert str(graph.formula()) == "inv(A) @ v + v"
    assert str(graph.inputs["v"].shape) == "(n, 1)"
    assert str(graph.to_sympy()["out"]) == "A**(-1)*v + v"


def test_a_function_of_the_elements_of_a_matrix_is_refused() -> None:
    with pytest.raises(sg.SymgraphError, match=r"exp of .* has no SymPy expression"):
        sg.trace(lambda x: np.exp(x), x="n, n").to_sympy()
    with pytest.raises(sg.SymgraphError, match="no SymPy expression"):
        sg.trace(lambda x, c: x + c, x="n, n", c=()).to_sympy()


def test_a_cast_that_drops_fractions_is_refused() -> None:
    for dtype in ("int64", "bool"):
        with pytest.raises(sg.SymgraphError, match=r"cast of .* has no SymPy expression"):
            sg.trace(lambda x, to=dtype: snp.astype(x, to), x=()).to_sympy()
    widened = sg.trace(lambda x: snp.astype(x, "float64"), x=sg.spec((), "float32"))
    assert str(widened.to_sympy()["out"]) == "x"


def test_a_text_is_never_evaluated() -> None:
    with pytest.raises(sg.InputError, match="no SymPy expression"):
        sg.from_sympy("__import__('os').system('true')")
    with pytest.raises(sg.InputError, match="mathieuc has no counterpart"):
        sg.from_sympy(s.mathieuc(1, 2, X))
    assert sg.from_sympy(s.Symbol("__import__('os')") * 2).op_count() == 1


def test_a_long_chain_needs_no_recursion() -> None:
    chain = X
    for _ in range(3_000):
        chain = s.sin(chain, evaluate=False)
    assert sg.from_sympy(chain).op_count() == 3_000


def test_logic_is_of_truth_values_and_arithmetic_of_numbers() -> None:
    """A number in a condition is one that is not 0; SymPy counts no truth values."""
    graph = sg.trace(lambda x, y: np.where(np.logical_and(x, y), x, 1.0), x=(), y=())
    x, y = s.symbols("x y", real=True)
    assert graph.to_sympy()["out"] == s.Piecewise((x, s.And(s.Ne(x, 0), s.Ne(y, 0))), (1, True))
    both = sg.trace(lambda x: np.maximum(x > 0, x < 1), x=())
    with pytest.raises(sg.SymgraphError, match=r"maximum of bool\[\], bool\[\] has no SymPy"):
        both.to_sympy()


def test_the_logarithm_of_gamma_is_real_of_negative_numbers_too() -> None:
    graph = sg.trace(scipy.special.gammaln, x=())
    expr: Any = graph.to_sympy()["out"]
    (x,) = expr.free_symbols
    assert float(expr.evalf(subs={x: -0.6})) == pytest.approx(scipy.special.gammaln(-0.6))
    assert sg.from_sympy(expr).evaluate(x=-2.5) == pytest.approx(scipy.special.gammaln(-2.5))
    complex_there = sg.from_sympy(s.loggamma(s.Symbol("x")))
    assert np.isnan(complex_there.evaluate(x=-0.6))
