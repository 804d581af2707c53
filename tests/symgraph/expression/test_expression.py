"""Expressions as text: what is read means what Python means; the rest is refused, never run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgraph.facts as known_facts
from symgraph.errors import ExpressionError
from symgraph.export.graph_text import formula
from symgraph.expression import LONGEST, functions, parse, parse_fact
from symgraph.facts import Fact, interval, one_hot, positive, simplex, triangular
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate

NUMBERS = {
    "x": np.array([0.5, 1.5, 2.0]),
    "y": np.array([3.0, 0.25, 1.0]),
    "A": np.array([[1.0, 2.0, -1.0], [0.5, 4.0, 2.0]]),
}
SHAPES = {"x": 3, "y": 3, "A": (2, 3)}

# Each is Python as well, so Python with NumPy's functions is the reference.
READ = [
    "x + y",
    "x - y - 1",
    "x * y / 2",
    "x // y + x % y",
    "x ** 2 ** 0.5",
    "-x ** 2",
    "+x",
    "A @ x",
    "A.T @ (A @ x)",
    "(x > 1) & ~(y <= 0.5)",
    "(x == 2) | (y != 3)",
    "where(x > 1, x, -y)",
    "exp(x) + log(y) + sqrt(x) + tanh(y) + abs(-x)",
    "sum(A, axis=0)",
    "sum(A, 0)",
    "sum(A, axis=(0, 1), keepdims=True)",
    "mean(A, axis=-1) + max(A, axis=1)",
    "A.sum(axis=0) + x",
    "A.T.mean()",
    "var(x) + std(A, ddof=1)",
    "maximum(x, y) - minimum(x, 1.0)",
    "clip(x, 0.75, 1.75)",
    "x[0] + y[-1]",
    "A[1, ::2]",
    "A[:, 1:][0]",
    "A[..., None]",
    "einsum('ij,j->i', A, x)",
    "concatenate([x, y])",
    "stack((x, y), axis=1)",
    "transpose(A, (1, 0))",
    "reshape(A, (3, 2))",
    "cumsum(A, axis=1)",
    "np.exp(x) * np.pi",
    "2 ** 3 * x + 7 // 2 - 1 / 4",
    "pi * x",
    "(x\n + y)",
    "1_000 * x",
    "power(x, 3) + multiply(x, y)",
    "np.linalg.norm(x) + np.linalg.norm(A, axis=0).sum()",
    "np.linalg.inv(A @ A.T) @ np.linalg.solve(A @ A.T, A)",
    "np.linalg.det(A @ A.T) * np.trace(A @ A.T)",
    "np.tril(A) + np.triu(A, 1) + np.cumprod(A, 1)",
    "x.dot(y) + A.std() + A.cumsum(1)[0, 1]",
    "np.sort(x) + np.flip(y) + np.roll(x, 1)",
    "np.diff(x)[0] + np.median(A, axis=1)",
    "np.hstack([x, y])[1:] * 2",
    "np.quantile(x, 0.3) + np.interp(1.2, x, y)",
    "np.tensordot(A, x, 1) + np.repeat(x, 2)[:2]",
    "np.degrees(x) + np.trunc(y) + np.copysign(x, -y) + np.i0(x) + np.nansum(y)",
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("source", READ)
def test_an_expression_means_what_python_means(source: str) -> None:
    used = {name: shape for name, shape in SHAPES.items() if name in _names(source)}
    dag = parse(source, shapes=used)
    given_numbers = {name: NUMBERS[name] for name in dag.inputs}
    table = {name: getattr(np, name) for name in functions() if hasattr(np, name)}
    wanted = eval(source, {"np": np, "pi": np.pi, **table, **NUMBERS})  # the test's own text
    found = evaluate(dag, given_numbers)[0]
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def _names(source: str) -> set[str]:
    import ast

    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def test_inputs_come_in_the_order_they_are_met() -> None:
    dag = parse("sum(b * a) + c", shapes={"c": ()}, dtypes={"a": "float32"})
    assert list(dag.inputs) == ["b", "a", "c"]
    assert [str(node.aval) for node in dag.inputs.values()] == [
        "float64[n]",
        "float32[n]",
        "float64[]",
    ]


def test_literals_take_the_dtype_of_the_arrays_they_meet() -> None:
    dag = parse("2 * x + 0.5 - 10**3", dtype="float32")
    assert all(str(node.dtype) == "float32" for node in dag.nodes)


def test_facts_reach_the_inputs() -> None:
    dag = parse("sum(p * x)", facts=["p: simplex", ("x", positive), "x : finite"])
    assert dag.inputs["p"].params["assume"] == (simplex(-1),)
    assert set(dag.inputs["x"].params["assume"]) == {positive, Fact("finite")}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("p: simplex", simplex(-1)),
        ("p: simplex(axis=0)", simplex(0)),
        ("p: one_hot(-2)", one_hot(-2)),
        ("p: positive", positive),
        ("p: interval(0, 1)", interval(0, 1)),
        ("p: interval(-1/2, 2**0.5)", interval(-0.5, 2**0.5)),
        ("p: interval(0, inf)", interval(0, np.inf)),
        ("p: triangular(lower)", triangular("lower")),
        ("p: triangular('upper')", triangular("upper")),
    ],
)
def test_facts_are_read(text: str, fact: Fact) -> None:
    assert parse_fact(text) == ("p", fact)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "simplex",
        "p:",
        "p: nonsense",
        "p: simplex(axis=0, 1)",
        "p: simplex(axis=x)",
        "p: simplex(0, 1)",
        "p: simplex(size=1)",
        "p: interval(1, 0)",
        "p: interval(1)",
        "p: interval(x, 1)",
        "p: interval(nan, 1)",
        "p: triangular(left)",
        "p: positive()",
        "p: positive(1)",
        "p: __import__('os')",
        "p: open('x')",
        "p q: positive",
        "p.q: positive",
        "p: " + "(" * 300,
    ],
)
def test_what_is_no_fact_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_fact(text)


def test_a_fact_that_does_not_fit_is_refused_at_its_name() -> None:
    with pytest.raises(ExpressionError, match="square") as caught:
        parse("sum(2 * A)", facts=["A: symmetric"])
    assert caught.value.rows[:2] == ("sum(2 * A)", "        ^")


HOSTILE = [
    "",
    "   ",
    "1 +",
    "x y",
    "x; y",
    "import os",
    "x = 3",
    "(x := 3)",
    "yield x",
    "await x",
    "lambda: 0",
    "(lambda: 0)()",
    "[x for x in y]",
    "{x for x in y}",
    "(x for x in y)",
    "{'a': 1}",
    "f'{x}'",
    "'text'",
    "b'text'",
    "1j * x",
    "True",
    "None",
    "...",
    "x.__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "x.shape",
    "x.node",
    "x.sum",
    "x.sum.sum()",
    "x.fill(y)",
    "math.sys(x)",
    "scipy.special",
    "scipy.gamma(x)",
    "os.special.exp(x)",
    "gamma(x, y)",
    "betainc(x, y)",
    "median(x, keepdim=1)",
    "x.T()",
    "__import__('os').system('true')",
    "__builtins__",
    "__class__",
    "eval('1')",
    "exec('1')",
    "open('f')",
    "getattr(x, 'node')",
    "globals()",
    "np",
    "np.exp",
    "np.load('f')",
    "np.linalg.inv(A)",
    "np.core",
    "np.__loader__",
    "exp",
    "exp()",
    "exp(x, y)",
    "exp(*x)",
    "exp(**x)",
    "exp(x=1)",
    "exp(x)(y)",
    "x(1)",
    "expo(x)",
    "sum(x, axis=y)",
    "sum(x, axis=1.5)",
    "sum(x, axis=10**9)",
    "sum(x, axis='0')",
    "sum(x, axis=3)",
    "sum(x, axis=0, axis=1)",
    "sum(x, 0, axis=0)",
    "sum(x, dtype=1)",
    "sum(x, out=y)",
    "sum(x, keepdims=2**70)",
    "sum(x for x in y)",
    "x[y]",
    "x[1.5]",
    "x[0, 0]",
    "x['a']",
    "x[1:2:0]",
    "x[[1, 2]]",
    "x[...,...]",
    "3[0]",
    "3.T",
    "x if y else z",
    "x and y",
    "not x",
    "x < y < z",
    "x is y",
    "x in y",
    "1 < 2",
    "x << 2",
    "~3",
    "x + [1, 2]",
    "x, y",
    "stack(x)",
    "stack([])",
    "stack([x, *y])",
    "einsum(x)",
    "einsum()",
    "einsum('ij->i', x)",
    "einsum('" + "i" * 300 + "', x)",
    "einsum(f'{x}', x)",
    "where(x > 0, 1)",
    "where(x > 0)",
    "reshape(x, (7, 9))",
    "reshape(x, -2)",
    "x @ 3",
    "1 / 0",
    "0 ** -1",
    "9 ** 9 ** 9 ** 9",
    "10.0 ** 400",
    "(-1) ** 0.5",
    "1e999",
    "99999999999999999999",
    "1" * 5000,
    "0x" + "f" * 5000,
    "-" * 8000 + "x",
    "~" * 3000 + "x",
    "(" * 300 + "x" + ")" * 300,
    "(" * 5000,
    "[" * 5000,
    "x[" * 500 + "0" + "]" * 500,
    "sum(" * 500 + "x" + ")" * 500,
    "x" + "+x" * LONGEST,
    "x\x00y",
    "\x00",
    "x \\",
    "x \u2028 y",
    "x ‮ y",
    "\ud800",
    "'\\N{NO SUCH NAME}'",
    "x\ty",
    "#",
    "x)",
    "x if",
    '"""',
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: repr(source[:30]))
def test_what_cannot_be_read_is_refused_with_its_place(source: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    message = str(caught.value)
    assert len(message) < 1_500
    assert message.isprintable() or set(message) - {"\n"} <= set(filter(str.isprintable, message))
    if len(source) <= LONGEST:
        line, caret = caught.value.rows[:2]
        assert caret.strip() == "^"
        assert len(line) <= 100


def test_nothing_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for source in (
        f"__import__('pathlib').Path({str(trace)!r}).touch()",
        f"open({str(trace)!r}, 'w')",
        f"np.save({str(trace)!r}, 1)",
        f"[open({str(trace)!r}, 'w') for i in (1,)]",
        f"(lambda: open({str(trace)!r}, 'w'))()",
        f"f\"{{open({str(trace)!r}, 'w')}}\"",
        f"x[open({str(trace)!r}, 'w')]",
        f"sum(x, axis=open({str(trace)!r}, 'w'))",
    ):
        with pytest.raises(ExpressionError):
            parse(source)
    assert list(tmp_path.iterdir()) == []


def test_the_caret_counts_characters_not_bytes() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("αβγ + foo(δ)")
    assert caught.value.rows == ("αβγ + foo(δ)", "      ^")


def test_long_lines_are_shown_around_the_caret() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("+".join(["x"] * 200) + "+ foo(x) +" + "+".join(["x"] * 200))
    line, caret = caught.value.rows[:2]
    assert line[caret.index("^") :].startswith("foo(x)")


def test_an_error_of_an_operation_names_operands_and_place() -> None:
    with pytest.raises(ExpressionError, match="matmul") as caught:
        parse("1 + A @ B", shapes={"A": (2, 3), "B": (4, 5)})
    assert caught.value.rows[1] == "    ^"
    assert "float64[2, 3]" in str(caught.value)
    assert "float64[4, 5]" in str(caught.value)


def test_a_misspelt_function_is_guessed() -> None:
    with pytest.raises(ExpressionError, match="Did you mean softmax"):
        parse("sotfmax(x)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max(x, 0)", r"two meanings.*maximum\(x, y\).*max\(x, axis=0\)"),
        ("min(x, y)", r"two meanings.*minimum\(x, y\)"),
        ("e**x", r"exp\(x\)"),
        ("x * e**(-x)", r"exp\(x\)"),
        ("sin x", r"Write sin\(x\)"),
        ("2 x", r"written 2 \* x"),
        ("a b + 1", r"written a \* b"),
        ("x!", "gamma"),
        ("f = x**2", "right side alone"),
        ("y := x**2", "right side alone"),
        ("a + lambda * x", "call it lambda_"),
        ("x'A x", r"A\.T"),
        ("d/dx x**2", "--wrt x"),
        ("d^2/dx^2 sin(x)", "--wrt x"),
        ("\\frac{1}{x}", "LaTeX is not read"),
        ("∂x", "--wrt x"),
        ("cot(x)", r"Write 1 / tan\(x\)"),
        ("besselJ(0, x)", "Did you mean jv"),
        ("x(y + 1)", r"x \* \(y \+ 1\)"),
        ("norm(x, y)", "order of a norm"),
        ("norm(x, sum(x))", "order of a norm"),
    ],
)
def test_what_a_book_writes_is_answered_by_what_to_write(text: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=f"(?s){words}"):
        parse(text)


def test_a_power_of_e_is_read_where_it_has_one_meaning() -> None:
    assert formula(parse("np.e ** x")) == "2.718281828459045**x"
    assert list(parse("e ** 2").inputs) == ["e"]  # the squares of residuals
    assert list(parse("e ** x", shapes={"e": ()}).inputs) == ["e", "x"]
    assert list(parse("e ** x", facts=["e: positive"]).inputs) == ["e", "x"]


def test_the_larger_of_two_and_the_largest_of_all_are_told_apart() -> None:
    assert formula(parse("np.max(x, 0)")) == formula(parse("max(x, axis=0)")) == "max(x)"
    assert formula(parse("maximum(x, 0)")) == "maximum(x, 0)"


def test_the_order_of_a_norm_is_a_number_or_a_name() -> None:
    square = {"A": (3, 3)}
    assert formula(parse("norm(A, 'fro')", shapes=square)) == "p_norm(A, ord=2)"
    assert "max" in formula(parse("norm(x, inf)"))
    assert formula(parse("norm(x, ord=1.5)")) == "p_norm(x, ord=1.5)"


@pytest.mark.parametrize(
    ("sign", "fact"),
    [
        (">", known_facts.positive),
        (">=", known_facts.nonnegative),
        ("<", known_facts.negative),
        ("<=", known_facts.nonpositive),
        ("!=", known_facts.nonzero),
    ],
)
def test_a_fact_may_be_a_comparison_with_zero(sign: str, fact: object) -> None:
    assert parse_fact(f"x {sign} 0") == ("x", fact)
    assert parse_fact(f"x{sign}0.0") == ("x", fact)
    with pytest.raises(ExpressionError, match="NAME: FACT"):
        parse_fact(f"x {sign} 1")


@pytest.mark.parametrize(
    "said",
    [{"shapes": {"q": 3}}, {"dtypes": {"q": "float32"}}, {"facts": ["q: positive"]}],
    ids=["shape", "dtype", "fact"],
)
def test_what_is_said_of_no_input_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(ExpressionError, match="'q' does not occur"):
        parse("x + y", **said)  # type: ignore[arg-type]


def test_one_identifier_in_two_spellings_is_one_input() -> None:
    # Python reads the ligature as the two letters.
    dag = parse("\ufb01 + fi", shapes={"\ufb01": 3})
    assert list(dag.inputs) == ["fi"]
    assert dag.inputs["fi"].shape == (3,)


def test_long_sums_are_read_in_a_loop() -> None:
    dag = parse("+".join(["x"] * 400))
    assert len(dag) == 400


def test_every_function_of_the_table_exists() -> None:
    # A name in the table without an operation behind it would be an unkept promise.
    from symgraph.expression.calls import CALLS

    missing = sorted(set(CALLS) - set(functions()))
    assert missing == []


def test_functions_take_their_literals() -> None:
    dag = parse("one_hot(k, 4) @ softmax(x, axis=0)", shapes={"x": 4}, dtypes={"k": "int64"})
    assert str(dag.outputs[0].aval) == "float64[n]"
    assert formula(parse("swapaxes(A, 0, 1)", shapes={"A": (2, 3)})) == "A.T"
    assert formula(parse("squeeze(sum(x, 0, True), -1)")) == "reshape(sum(x, keepdims), ())"


def test_constants_may_be_names_of_inputs_if_said_so() -> None:
    assert list(parse("pi * x").inputs) == ["x"]
    assert list(parse("pi * x", shapes={"pi": ()}).inputs) == ["pi", "x"]


def _pieces() -> st.SearchStrategy[str]:
    words = "x y A 1 2.5 -1 exp sum where np pi ( ) [ ] , : . ** * / @ + - < == & ~ axis= 'ij' if"
    return st.lists(st.sampled_from([*words.split(), " "]), max_size=14).map("".join)


@given(source=st.one_of(_pieces(), st.text(max_size=30)))
def test_any_text_gives_a_graph_or_an_expression_error(source: str) -> None:
    try:
        dag = parse(source)
    except ExpressionError:
        return
    assert isinstance(dag, Dag)
    assert formula(dag)


def test_nan_is_a_number_and_no_input() -> None:
    dag = parse("where(x > 0, x, nan)")
    assert list(dag.inputs) == ["x"]


def test_functions_beyond_numpys_names() -> None:
    A = np.array([[2.0, 1.0], [1.0, -3.0]])
    (found,) = evaluate(
        parse("logdet(A) + norm(A, 1) + sum(relu(A))", shapes={"A": (2, 2)}), {"A": A}
    )
    assert found == pytest.approx(np.log(7.0) + 4.0 + 4.0)


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("x^2", r"x\*\*2"),
        ("tr(A)", "Did you mean trace"),
        ("ln(x)", "Did you mean log"),
        ("artanh(x)", "Did you mean arctanh"),
        ("x·y", r"x·y is one name\.(?s:.)*x \* y"),
        ("2x + 1", r"x \* y"),
        ("x²", r"x\*\*2"),
        ("x − y", "Minus is written -"),
        ("|x|", r"abs\(x\)"),
        ("√x", r"sqrt\(x\)"),
    ],
)
def test_what_books_write_is_told_in_numpy_s_words(text: str, mend: str) -> None:
    with pytest.raises(ExpressionError, match=mend):
        parse(text)
