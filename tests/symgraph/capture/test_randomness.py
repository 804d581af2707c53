"""Random numbers that a trace would freeze are refused."""

from __future__ import annotations

import copy
import operator
import random
import sys
import threading
from pathlib import Path
from random import gauss
from typing import Any

import numpy as np
import pytest
from numpy.random import normal

import symgraph as sg

RNG = np.random.default_rng(0)
STATE = np.random.RandomState(0)
X = np.ones(3)


def legacy(x):
    return np.sum(x * np.random.normal(size=3))


def by_name(x):
    return np.sum(x * normal(size=3))


def by_generator(x):
    return np.sum(x * RNG.normal(size=3))


def by_state(x):
    return np.sum(x * STATE.randn(3))


def by_default(x, rng=RNG):
    return np.sum(x * rng.normal(size=3))


def unseeded(x):
    return np.sum(x * np.random.default_rng().normal(size=3))


def python(x):
    return np.sum(x * random.random())


def python_by_name(x):
    return np.sum(x * gauss(0, 1))


def seeding(x):
    np.random.seed(0)
    return np.sum(x)


def spawning(x):
    return np.sum(x * RNG.spawn(1)[0].normal())


REFUSED = [
    legacy,
    by_name,
    by_generator,
    by_state,
    by_default,
    unseeded,
    python,
    python_by_name,
    seeding,
    spawning,
]


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_np_random_inside_a_traced_function_is_an_error_that_names_sg_random(f: Any) -> None:
    # users.md, "Silent differences", 3: it was drawn once and frozen.
    for call in (
        lambda: sg.grad(f)(X),
        lambda: sg.value_and_grad(f)(X),
        lambda: sg.jvp(f)(X, tangent=X),
        lambda: sg.trace(f, x=(3,)),
        lambda: sg.trace(lambda x: f(x), x=(3,)),
    ):
        with pytest.raises(sg.TraceError, match=r"sg\.random\.normal\(key, shape\)") as told:
            call()
        assert "draws random numbers" in str(told.value)


def test_the_error_names_the_line_that_draws() -> None:
    for f, line in ((legacy, "np.random.normal(size=3)"), (by_name, "normal(size=3)")):
        with pytest.raises(sg.TraceError) as told:
            sg.grad(f)(X)
        assert f"return np.sum(x * {line})" in str(told.value)
    with pytest.raises(sg.TraceError, match=r"drawn at .*return np.sum\(x \* RNG.normal"):
        sg.grad(by_generator)(X)


def test_a_generator_held_by_an_object_or_passed_as_an_argument() -> None:
    class Dropout:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(1)
            self.parts = {"state": [np.random.RandomState(1)]}

        def loss(self, x):
            return np.sum(x * self.rng.random(3))

        def deep(self, x):
            return np.sum(x * self.parts["state"][0].rand())

    class Holder:
        normal = RNG.normal

    layer = Dropout()
    for f in (layer.loss, layer.deep):
        with pytest.raises(sg.TraceError, match=r"from self\.(rng|parts).*made outside"):
            sg.grad(f)(X)
    for rng in (np.random.default_rng(0), Holder()):
        with pytest.raises(sg.TraceError, match=r"int\(rng.integers"):
            sg.grad(lambda x, rng: np.sum(x * rng.normal()))(X, rng)


def test_a_step_of_a_loop_cannot_draw_from_a_generator_of_its_function() -> None:
    def f(x):
        rng = np.random.default_rng(0)
        return sg.fori_loop(3, lambda i, c: c + rng.normal(), np.sum(x))

    with pytest.raises(sg.TraceError, match="draws random numbers from rng"):
        sg.grad(f)(X)


def test_a_generator_seeded_inside_draws_the_same_at_each_call() -> None:
    def f(x):
        return np.sum(x * np.random.default_rng(3).normal(size=3))

    g = sg.grad(f)
    np.testing.assert_array_equal(g(X), np.random.default_rng(3).normal(size=3))
    np.testing.assert_array_equal(g(2 * X), g(X))


def drawn_from_states() -> Any:
    first, second = np.random.RandomState(3), np.random.RandomState(seed=[1, 2])
    copied, given = copy.deepcopy(first), np.random.RandomState(np.random.MT19937(4))
    return first.randn(3) * second.rand(3) * copied.rand(3) * given.rand(3)


def test_so_do_states_seeded_inside_and_copies() -> None:
    g = sg.grad(lambda x: np.sum(x * drawn_from_states()))
    np.testing.assert_array_equal(g(X), drawn_from_states())
    for seed in ((), (None,)):
        with pytest.raises(sg.TraceError, match="without a seed"):
            sg.grad(lambda x, seed=seed: np.sum(x * np.random.RandomState(*seed).rand(3)))(X)


def test_a_generator_that_is_not_drawn_from_is_no_matter() -> None:
    def f(x, rng=RNG):
        return np.sum(x**2) if rng is not None else x

    np.testing.assert_array_equal(sg.grad(f)(X), 2 * X)


def test_afterwards_all_is_as_it_was() -> None:
    originals = np.random.normal, random.random, np.random.default_rng
    with pytest.raises(sg.TraceError):
        sg.grad(legacy)(X)
    with pytest.raises(ZeroDivisionError):
        sg.grad(lambda x: 1 / 0)(X)
    assert (np.random.normal, random.random, np.random.default_rng) == originals
    assert np.random.normal(size=2).shape == (2,)
    assert np.random.default_rng().normal(size=2).shape == (2,)


def test_other_threads_draw_while_a_function_is_traced() -> None:
    inside, drawn = threading.Event(), threading.Event()
    found: list[Any] = []

    def draws() -> None:
        inside.wait(10)
        found.append((np.random.normal(), random.random(), np.random.default_rng().normal()))
        drawn.set()

    def f(x):
        inside.set()
        drawn.wait(10)  # no assert: pytest writes it anew, and all of pytest would be captured
        return np.sum(x**2)

    thread = threading.Thread(target=draws)
    thread.start()
    np.testing.assert_array_equal(sg.grad(f)(X), 2 * X)
    thread.join()
    assert len(found) == 1


def test_a_method_of_a_generator_that_is_enclosed() -> None:
    draw, uniform = random.Random(1).gauss, np.random.default_rng(1).random
    for f in (lambda x: x * draw(0, 1), lambda x: x * uniform()):
        with pytest.raises(sg.TraceError, match=r"draws random numbers from (draw|uniform)"):
            sg.grad(f)(1.0)


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_a_shuffle_by_compiled_code_is_refused(shape: tuple[int, ...]) -> None:
    def loss(x):
        y = 2.0 * x
        np.random.default_rng(0).shuffle(y)
        return np.sum(y[0])

    with pytest.raises(sg.TraceError, match="Compiled code") as caught:
        sg.trace(loss, np.ones(shape))
    assert "sg.random.permutation" in str(caught.value)


def test_a_shuffle_by_python_means_what_it_means_for_numpy() -> None:
    def loss(x):
        y = 2.0 * x
        random.Random(0).shuffle(y)  # swaps views, so that rows stand twice
        return np.sum(y * np.arange(8.0).reshape(4, 2))

    x = np.arange(8.0).reshape(4, 2)
    assert sg.trace(loss, x).evaluate(x) == loss(x)


def test_items_are_assigned_by_name() -> None:
    def loss(x):
        y = 2.0 * x
        operator.setitem(y, 0, 7.0)
        y.__setitem__(1, 8.0)
        y[2:] = 9.0
        return np.sum(y)

    assert sg.trace(loss, np.ones(4)).evaluate(np.ones(4)) == loss(np.ones(4)) == 33.0


def test_a_module_that_draws_when_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `scipy.stats` does; a function of it that draws is refused, as ever."""
    (tmp_path / "draws_once.py").write_text(
        "import numpy as np\nSEEDED = np.random.default_rng()\nNUMBER = np.random.normal()\n"
        "def draw():\n    return np.random.normal()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "draws_once", raising=False)

    def f(x: Any, draws: bool) -> Any:
        import draws_once  # pyright: ignore[reportMissingImports]

        return np.sum(x * (draws_once.draw() if draws else draws_once.NUMBER))

    slope = sg.grad(f, static="draws")
    assert np.unique(slope(X, False)).size == 1
    with pytest.raises(sg.TraceError, match=r"np.random.normal draws random numbers"):
        slope(X, True)
