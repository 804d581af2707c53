"""Programs written for HIPS/autograd, run over symgraph with the import line as it is.

The shim in `support/autogradshim` has autograd's names. Small programs of our own are always run;
autograd's own test files, which are no part of this repository, where AUTOGRAD_TESTS names the
folder they lie in: `AUTOGRAD_TESTS=.../tests pytest tests/test_autograd_port.py`. Its examples are
run by `python -m autogradshim.examples FOLDER`, with tests/support on the path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autogradshim import ComplexNumber, Internal, install
from autogradshim.running import outcomes, table

import symgraph as sg

FOLDER = os.environ.get("AUTOGRAD_TESTS", "")
SHARE = 0.9
NOT_YET = set() if find_spec("symgraph.scipy") else {"test_scipy.py"}
"""Files about functions that are not there."""


@pytest.fixture
def autograd() -> Iterator[Any]:
    """The shim under autograd's name; afterwards all is as before."""
    before = {name: each for name, each in sys.modules.items() if name.split(".")[0] == "autograd"}
    install()
    yield sys.modules["autograd"]
    for name in [each for each in sys.modules if each.split(".")[0] == "autograd"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.fixture
def anp(autograd: Any) -> Any:
    return autograd.numpy


def test_a_gradient_of_a_gradient_that_encloses_the_outer_value(autograd: Any, anp: Any) -> None:
    grad = autograd.grad
    found = grad(lambda x: grad(lambda y: anp.exp(y) * anp.tanh(x[0]))(x[1]))(np.arange(3.0))
    np.testing.assert_allclose(found, [np.e, 0, 0])
    assert grad(lambda x: x * grad(lambda y: y * x)(1.0))(3.0) == 6.0


def test_choices_by_arguments_that_are_not_differentiated(autograd: Any, anp: Any) -> None:
    def loss(x: Any, step: int) -> Any:
        return anp.sum(x**2) if step % 2 else anp.sum(x)

    slope = autograd.grad(loss)
    np.testing.assert_allclose(slope(np.ones(2), 1), [2, 2])
    np.testing.assert_allclose(slope(np.ones(2), 2), [1, 1])


def test_nested_arguments_and_several_of_them(autograd: Any, anp: Any) -> None:
    found = autograd.grad(lambda d: anp.sum(d["a"] * d["b"][0]))({"a": np.ones(2), "b": [3.0]})
    np.testing.assert_allclose(found["a"], [3, 3])
    assert found["b"] == [2.0]
    assert autograd.grad(lambda x, y: x * y, argnum=[1, 0])(2.0, 3.0) == (2.0, 3.0)
    assert autograd.multigrad_dict(lambda x, y=3.0: x * y)(2.0) == {"x": 3.0, "y": 2.0}


def test_jacobians_and_products(autograd: Any, anp: Any) -> None:
    def f(x: Any) -> Any:
        return anp.array([x[0] ** 2, x[0] * x[1]])

    x, v = np.array([2.0, 3.0]), np.array([1.0, -1.0])
    slopes = np.array([[4.0, 0.0], [3.0, 2.0]])
    np.testing.assert_allclose(autograd.jacobian(f)(x), slopes)
    np.testing.assert_allclose(autograd.make_jvp(f)(x)(v)[1], slopes @ v)
    np.testing.assert_allclose(autograd.make_vjp(f)(x)[0](v), slopes.T @ v)
    np.testing.assert_allclose(autograd.make_ggnvp(f)(x)(v), slopes.T @ slopes @ v)
    np.testing.assert_allclose(autograd.hessian(lambda x: anp.sum(x**3))(x), np.diag(6 * x))
    np.testing.assert_allclose(autograd.make_hvp(lambda x: anp.sum(x**3))(x)[0](v), 6 * x * v)
    np.testing.assert_allclose(autograd.elementwise_grad(anp.sin)(x), np.cos(x))


def test_a_primitive_with_its_own_pullback(autograd: Any, anp: Any) -> None:
    extend = autograd.extend

    @extend.primitive
    def scaled(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    extend.defvjp(scaled, lambda ans, x, y: lambda g: 7.0 * g * y, lambda ans, x, y: lambda g: g)
    np.testing.assert_allclose(scaled(1.0, 2.0), 2 * np.sin(1.0))
    found = autograd.grad(lambda x: anp.sum(scaled(x, 2.0 * x)))(np.ones(3))
    np.testing.assert_allclose(found, 16.0)


def test_wrong_derivatives_are_found(autograd: Any, anp: Any) -> None:
    extend, check_grads = autograd.extend, autograd.test_util.check_grads
    wrong = extend.primitive(lambda x: np.sin(x) + 0.0)
    extend.defvjp(wrong, lambda ans, x: lambda g: g * anp.cos(x) * 1.01)
    check_grads(lambda x: anp.sin(x) * x)(np.array([0.3, 2.0]))
    with pytest.raises(AssertionError, match="reverse"):
        check_grads(lambda x: wrong(x) * x, modes=["rev"], order=1)(np.array([0.3, 2.0]))


def test_complex_numbers_and_the_inside_of_autograd_are_told_apart(autograd: Any) -> None:
    with pytest.raises(ComplexNumber):
        autograd.grad(lambda x: x)(1.0 + 1.0j)
    with pytest.raises(Internal):
        autograd.core.vspace(np.ones(3))


@pytest.mark.parametrize("f", [np.array, np.mean], ids=["array", "mean"])
def test_numpy_itself_refuses_a_list_of_symbols_and_tells_what_joins_them(f: Any) -> None:
    with pytest.raises(sg.TraceError, match=r"[Jj]oin symbolic values .*np\.stack|snp\.mean\("):
        sg.trace(lambda x: f([x[0], x[1]]), x=sg.spec((2,)))


def test_lists_of_symbols(autograd: Any, anp: Any) -> None:
    assert autograd.grad(lambda x: anp.mean([x, x + 2]))(0.0) == 1.0
    np.testing.assert_allclose(autograd.grad(lambda x: anp.sum(anp.r_[x, 1, x]))(np.ones(2)), 2)


FILE = """
import autograd.numpy as np
import pytest
from autograd import grad
from autograd.core import vspace

def test_right():
    assert grad(np.sin)(0.0) == 1.0

@pytest.mark.parametrize("x", [1.0, 2.0])
def test_each(x):
    assert grad(np.sin)(x) == 1.0

def test_complex():
    grad(np.sin)(1j)

def test_inside():
    vspace(1.0)
"""


def test_the_runner_tells_what_came_of_each_test(tmp_path: Path, autograd: Any) -> None:
    (tmp_path / "test_some.py").write_text(FILE)
    found = list(outcomes(tmp_path))
    assert [(each.test, each.what) for each in found] == [
        ("test_right", "passed"),
        ("test_each[0]", "failed"),
        ("test_each[1]", "failed"),
        ("test_complex", "left out"),
        ("test_inside", "left out"),
    ]
    assert "passed 1 of 3: 33.3 %" in table(found)


@pytest.mark.skipif(not FOLDER, reason="AUTOGRAD_TESTS names no folder")
def test_nine_in_ten_of_autograds_tests_pass(autograd: Any) -> None:
    found = [each for each in outcomes(Path(FOLDER)) if each.file not in NOT_YET]
    passed = sum(each.what == "passed" for each in found)
    tried = sum(each.what != "left out" for each in found)
    assert tried > 300
    assert passed >= SHARE * tried, table(found)
