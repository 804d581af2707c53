"""The command: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import io
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import symgraph as sg
from symgraph.array import Array
from symgraph.autodiff.differentiate import differentiated
from symgraph.cli import main
from symgraph.cli.check import checked, sample
from symgraph.errors import FactError
from symgraph.expression import parse
from symgraph.facts import Fact, holds_on, interval, one_hot, simplex, triangular, unit_norm
from symgraph.ir.dag import Dag
from symgraph.ops.creation import input as symbolic_input
from symgraph.rewriting import default_rules

CROSS_ENTROPY = "-sum(p*log(exp(z)/sum(exp(z))))"


def test_derive_reaches_the_closed_form_and_checks_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", CROSS_ENTROPY, "--wrt", "z", "--given", "p: simplex"]) == 0
    out = capsys.readouterr().out
    for title in ("forward: ", "gradient with respect to z: ", "simplified: ", "rules that fired"):
        assert f"\n{title}" in out
    assert "  d/dz = softmax(z) - p\n" in out
    assert "check  PASS: 5 derivatives" in out


def test_without_the_fact_the_sum_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", CROSS_ENTROPY, "--wrt=z"]) == 0
    closed = capsys.readouterr().out.partition("d/dz = ")[2].splitlines()[0]
    assert "sum(p)" in closed
    assert "softmax(z)" in closed


GRADIENTS = [
    ["sum(x**2)/2", "--wrt", "x"],
    ["sum(x**2)/2"],
    [
        "sum(log(1+exp(-y*(X@w))))",
        "--wrt",
        "w,X",
        "--shape",
        "X=8,3",
        "--shape",
        "w=3",
        "--shape=y=8",
    ],
    ["t1*t2 + tanh(t1)", "--wrt", "t1", "--wrt", "t2", "--shape", "t1=", "--shape", "t2=()"],
    ["sum(log(x))", "--wrt", "x", "--given", "x: positive"],
    ["sum(log(x)*sqrt(x))", "--wrt", "x"],
    ["sum(arcsin(x)/x)", "--wrt", "x", "--given", "x: interval(0.2, 0.9)"],
    ["sum((A@x - b)**2)", "--wrt", "x,A,b", "--shape", "A=m,n", "--shape", "b=m", "--size", "m=2"],
    ["x@(A@x)", "--wrt", "x", "--shape", "A=n,n", "--given", "A: symmetric"],
    ["mean(maximum(x, 0)**2)", "--wrt", "x", "--dtype", "float32", "--seed", "3"],
    ["sum(exp(x)) * sum(y)", "--wrt", "x,y", "--dtype", "x=float32", "--shape", "x=200"],
    ["sum(k * x)", "--wrt", "x", "--dtype", "k=int32"],
    ["sum(where(x > 0, x, 0.1 * x))", "--wrt", "x", "--no-simplify"],
    ["norm(x) + sum(relu(x))", "--wrt", "x", "--given", "x: nonzero"],
    ["trace(inv(A) @ B) + logdet(A)", "--wrt", "A,B", "--shape", "A=3,3", "--shape", "B=3,3"],
    ["det(A) + norm(A, axis=-1) @ b", "--wrt", "A,b", "--shape", "A=3,3", "--shape", "b=3"],
    ["logsumexp(z) - sum(p * z)", "--wrt", "z", "--given", "p: one_hot", "--trust", "exact"],
    # Element by element: the names without a shape are numbers.
    ["x**3 / (1 + x**2)", "--wrt", "x"],
    ["a*exp(-k*t)*cos(w*t + p)", "--wrt", "a,k,t,w,p"],
    ["polygamma(1, x) * gamma(y) + scipy.special.expn(2, y)", "--wrt", "x,y"],
    # Finite between 0 and 1 alone, and above 1 alone.
    ["p*log(p) + q*log(q) + (1 - p - q)*log(1 - p - q)", "--wrt", "p,q"],
    ["arccosh(x) * log(log(y))", "--wrt", "x,y"],
    # Steep: near a pole long differences are wrong.
    ["betaln(a, b)", "--wrt", "a,b"],
    ["1 / (x - 1.122)", "--wrt", "x"],
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("arguments", GRADIENTS, ids=lambda arguments: arguments[0])
def test_gradients_agree_with_differences(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", *arguments]) == 0
    assert "check  PASS" in capsys.readouterr().out


def test_a_wrong_gradient_fails_at_the_first_clear_point() -> None:
    forward = parse("sin(x) * y", shapes={"x": (), "y": ()})
    wrong = parse("cos(x) * y * 1.00001 + 0 * y", shapes={"x": (), "y": ()})
    found = checked(forward, wrong, ["x"], {})
    assert found.clear
    assert found.finite
    assert not found.ok


def test_names_without_a_shape_are_numbers_or_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "x * log(x / y)", "--wrt", "x,y"]) == 0
    assert "  x: input       float64[]\n" in capsys.readouterr().out
    assert main(["derive", "x @ log(x / y)", "--wrt", "x"]) == 0
    assert "float64[n]" in capsys.readouterr().out


def test_what_more_trust_would_give_is_told_where_it_is_shorter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["derive", "x * log(x / y)", "--wrt", "y"]) == 0
    told = capsys.readouterr().out.partition("with --trust domain, 2:")[2]
    assert "d/dy = -(x / y)\n" in told
    assert main(["derive", "x * log(x)", "--wrt", "x"]) == 0
    assert main(["derive", "x * log(x / y)", "--wrt", "y", "--trust", "exact"]) == 0
    assert "--trust domain" not in capsys.readouterr().out


def test_a_shape_may_be_written_as_a_fact_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "norm(A, 'fro')", "--wrt", "A", "--shape", "A: n, n"]) == 0
    assert "float64[n, n]" in capsys.readouterr().out


def test_simplify_takes_names_for_numbers_where_derive_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["simplify", "sin(x)**2 + cos(x)**2"]) == 0
    assert "\n1\n" in capsys.readouterr().out
    assert main(["simplify", "sum(x - x)"]) == 0
    assert "float64[n]" in capsys.readouterr().out


BAD = [
    ([], "COMMAND"),
    (["nonsense"], "nonsense"),
    (["derive"], "required"),
    (["derive", "sum(x", "--wrt", "x"], "Not an expression"),
    (["derive", "__import__('os').system('true')", "--wrt", "x"], "Only functions by their names"),
    (["derive", "-" * 8000 + "x", "--wrt", "x"], "nested too deeply"),
    (["derive", "9**9**9**9*sum(x)", "--wrt", "x"], "too large"),
    (["derive", "softmax(x)", "--wrt", "x"], "Reduce it, as in sum(...).\n"),
    (["derive", "sum(x) * y", "--wrt", "x"], "--shape x= --shape y="),
    (["derive", "A @ x - b", "--wrt", "x"], "Reduce it, as in sum(...).\n"),
    (["derive", "x * y", "--wrt", "x", "--shape", "x=n"], "float64[n]"),
    (["derive", "sum(x)", "--wrt", "y"], "y"),
    (["derive", "sum(x * y)"], "here are x, y.\nGive one or more of them, as in --wrt x,y."),
    (["derive", "1 + 2"], "here are none"),
    (["check", "sum(x * y)"], "here are x, y."),
    (["derive", "sum(x)", "--wrt", "x", "--given", "x: shiny"], "not a fact"),
    (["derive", "sum(x)", "--wrt", "x", "--given", "x"], "NAME: FACT"),
    (["derive", "sum(x)", "--wrt", "x", "--given", "y: positive"], "'y' does not occur"),
    (["derive", "sum(x)", "--wrt", "x", "--shape", "3"], "--shape z=3,4"),
    (["derive", "sum(x)", "--wrt", "x", "--shape", "x=-3"], "negative"),
    (["derive", "sum(x)", "--wrt", "x", "--shape", "x=a b"], "dimension"),
    (["derive", "sum(x)", "--wrt", "x", "--dtype", "complex128"], "complex128"),
    (["derive", "sum(x)", "--wrt", "x", "--dtype", "int32"], "int64"),
    (["derive", "sum(x)", "--wrt", "x", "--size", "m=3"], "named dimensions"),
    (["derive", "sum(x)", "--wrt", "x", "--trust", "blind"], "blind"),
    (["derive", "sum(x)", "--wrt", "x", "--shape", "x=1000000000"], "--no-check"),
    (["derive", "sum(x)", "--wrt", "x", "--svg", "/nonexistent/a.svg"], "nonexistent"),
    (["rules"], "ACTION"),
    (["rules", "show", "no_such_rule"], "no_such_rule"),
]


@pytest.mark.parametrize(("arguments", "word"), BAD, ids=lambda value: str(value)[:40])
def test_bad_usage_is_told_without_a_traceback(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert word in told
    assert "Traceback" not in told
    assert ".py" not in told


def test_pictures_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg, dot = tmp_path / "g.svg", tmp_path / "g.dot"
    command = ["derive", "sum(tanh(x))", "--wrt", "x", "--no-check"]
    assert main([*command, "--svg", str(svg), "--dot", str(dot)]) == 0
    assert "check" not in capsys.readouterr().out
    assert ET.parse(svg).getroot().tag.endswith("svg")
    assert dot.read_text(encoding="utf-8").startswith("digraph {")


def test_a_constant_gradient_and_an_absent_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "sum(x) + 0 * sum(sign(y))", "--wrt", "x,y"]) == 0
    assert "check  PASS" in capsys.readouterr().out


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("symgraph ")
    assert main(["--help"]) == 0
    helped = capsys.readouterr().out
    for command in ("derive", "rules", "demo"):
        assert command in helped
    assert main(["demo", "--help"]) == 0


def test_the_package_runs_as_the_command() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "symgraph", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"symgraph {sg.__version__}\n"


@pytest.mark.parametrize("command", ["derive", "rules", "serve", "simplify", "export", "check"])
def test_each_command_has_its_own_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: symgraph {command} ")
    assert ("--wrt" in told) == (command not in ("rules", "serve"))


def test_a_reader_that_stops_early_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    assert main(["rules", "list"]) == 0


def test_rules_are_listed_shown_and_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list"]) == 0
    listed = capsys.readouterr().out
    assert "standard: " in listed
    name = listed.splitlines()[1].split()[2]
    assert main(["rules", "show", name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(name)
    assert "→" in shown
    assert main(["rules", "verify", name]) == 0
    assert "1 of 1 rules verified" in capsys.readouterr().out


def test_rules_tell_what_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--op", "cos"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("proved " in line and "cos_is_even" in line for line in lines)
    assert any(line.startswith("axioms: ") and "saturate" in line for line in lines)
    assert any("sine_of_sum" in line for line in lines)
    assert main(["rules", "show", "--no-verify", "cos_is_even", "sum_of_sum", "sine_of_sum"]) == 0
    out = capsys.readouterr().out
    assert out.count("proved by SymPy") == 2
    assert out.count("verified by samples") == 1


@pytest.mark.whole
def test_mutants_of_rules_are_verified(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["rules", "verify", "--mutants", "cosh_is_even"]) == 1
    out = capsys.readouterr().out
    assert "passes: cosh_is_even: sound='exact'" in out
    assert "3 refused" in out
    known = tmp_path / "known.txt"
    known.write_text("# with NumPy's kernels\ncosh_is_*: sound='exact'\n")
    assert main(["rules", "verify", "--mutants", "--known", str(known), "cosh_is_even"]) == 0
    assert "1 known to be true, 0 pass" in capsys.readouterr().out
    assert main(["rules", "verify", "--mutants", "--known", "no such file", "cosh_is_even"]) == 2


@pytest.mark.whole
def test_rules_are_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--grade", "exact", "--op", "transpose"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) > 1
    assert all(line.startswith("exact") for line in lines[1:])
    assert main(["rules", "list", "--pack", "standard", "--op", "no_such_op"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["rules", "list", "--pack", "nobody's"]) == 2
    assert "The packs are standard" in capsys.readouterr().err
    assert main(["rules", "verify", "--op", "log1p"]) == 0
    assert "rules verified" in capsys.readouterr().out


def test_a_rule_is_shown_with_all_it_states(capsys: pytest.CaptureFixture[str]) -> None:
    rules = list(default_rules())
    guarded = next(rule for rule in rules if rule.name == "absolute_of_nonnegative")
    stable = next(rule for rule in rules if rule.stable)
    earned = next(rule for rule in rules if rule.earned)
    names = [guarded.name, stable.name, earned.name]
    assert main(["rules", "show", "--no-verify", *names]) == 0
    shown = capsys.readouterr().out
    assert "  if x: nonnegative" in shown
    assert f"  for stability: {stable.stable}" in shown
    assert f"  [{next(iter(earned.earned))}] if " in shown
    assert "of pack standard" in shown
    assert "verification" not in shown
    assert main(["rules", "show", guarded.name]) == 0
    assert "verification: absolute_of_nonnegative" in capsys.readouterr().out


def test_derive_explains_and_writes_latex(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["derive", CROSS_ENTROPY, "--wrt", "z", "--given", "p: simplex", "--no-check"]
    assert main([*command, "--explain", "--latex"]) == 0
    out = capsys.readouterr().out
    assert "rules that fired" not in out
    assert "with simplex(-1), of p" in out
    latex = r"\frac{\partial f}{\partial z} = \operatorname{softmax}\left(z\right) - p"
    assert f"\nLaTeX\n{latex}\n" in out
    assert main(["derive", "--latex-index", "sum(A@x)", "--wrt", "x", "--shape", "A=m,n"]) == 0
    out = capsys.readouterr().out
    assert "LaTeX\n\\frac{\\partial f}{\\partial x_{i}} = \\sum_{j=1}^{m} A_{ji}" in out


# -- the check itself ------------------------------------------------------------------------------
def test_a_wrong_gradient_fails() -> None:
    forward = parse("sum(x**3)")
    x = Array(forward.inputs["x"])
    right = forward.with_outputs([(3 * x**2).node], ["g"], 0)
    wrong = forward.with_outputs([(3 * x**2 + 1e-4 * x).node], ["g"], 0)
    assert checked(forward, right, ["x"], {"n": 4}).ok
    assert not checked(forward, wrong, ["x"], {"n": 4}).ok


def test_a_gradient_that_is_nan_fails() -> None:
    forward = parse("sum(x**2)")
    x = Array(forward.inputs["x"])
    nan = forward.with_outputs([(2 * x + np.log(-(x**2))).node], ["g"], 0)
    check = checked(forward, nan, ["x"], {"n": 4})
    assert not check.ok
    assert "FAIL" in str(check)


def test_a_function_without_a_value_is_not_passed() -> None:
    forward = parse("sum(log(-x**2 - 1))")
    check = checked(forward, differentiated(forward, ["x"], value=False), ["x"], {"n": 3})
    assert not check.ok
    assert "not finite" in str(check)


FACTS = [
    ("v", Fact("positive")),
    ("v", Fact("negative")),
    ("v", Fact("nonnegative")),
    ("v", Fact("nonpositive")),
    ("v", Fact("nonzero")),
    ("v", Fact("integer_valued")),
    ("v", interval(-1, 2)),
    ("v", interval(3, np.inf)),
    ("v", interval(-np.inf, -3)),
    ("v", simplex(-1)),
    ("A", simplex(-2)),
    ("A", one_hot(-1)),
    ("A", unit_norm(-2)),
    ("A", Fact("symmetric")),
    ("A", Fact("positive_definite")),
    ("A", Fact("orthogonal")),
    ("A", Fact("diagonal")),
    ("A", triangular("lower")),
    ("A", triangular("upper")),
]


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("spread", ["normal", "positive"])
@pytest.mark.parametrize(("name", "fact"), FACTS, ids=str)
def test_points_satisfy_the_facts(name: str, fact: Fact, spread: str) -> None:
    shape = (4,) if name == "v" else (3, 3)
    node = symbolic_input(name, shape, assume=fact).node
    for seed in range(5):
        value = sample(node, shape, np.random.default_rng(seed), spread)
        assert value.shape == shape
        assert holds_on(fact, value)


def test_facts_no_draw_satisfies_are_told() -> None:
    node = symbolic_input("A", (3, 3), assume=(Fact("diagonal"), Fact("positive"))).node
    with pytest.raises(FactError, match="diagonal, positive"):
        sample(node, (3, 3), np.random.default_rng(0))


def test_integers_and_booleans_are_drawn_in_their_dtypes() -> None:
    rng = np.random.default_rng(0)
    for dtype in ("int32", "uint8", "bool"):
        node = symbolic_input("k", (50,), dtype).node
        assert sample(node, (50,), rng).dtype == dtype


def test_no_input_is_left_out_of_the_point() -> None:
    x = symbolic_input("x", (2,))
    unused = symbolic_input("unused", (3,))
    forward = Dag({"x": x.node, "unused": unused.node}, [np.sum(x * x).node])
    gradients = forward.with_outputs([(2 * x).node], ["g"], 0)
    assert checked(forward, gradients, ["x"], {}).ok


@pytest.mark.parametrize("expression", ["x@A@x", "0.5*x@A@x", "det(x)"])
def test_a_shape_that_does_not_fit_tells_how_a_matrix_is_stated(
    expression: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", expression, "--wrt", "x"]) == 2
    assert "say --shape A=n,n of a matrix A" in capsys.readouterr().err
    assert main(["derive", "x +", "--wrt", "x"]) == 2
    assert "--shape" not in capsys.readouterr().err
