"""Random loops, with choices and loops inside, against the same loops written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp

UNARY: list[Callable[[Any], Any]] = [
    np.tanh,
    np.sin,
    lambda x: x * 0.5 + 0.3,
    lambda x: np.where(x > 0, x, x * x),
    lambda x: np.sum(x) * np.ones(2),
    lambda x: x[::-1],
    lambda x: snp.stop_gradient(x) * x,
    lambda x: np.maximum(x, 0.1),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x - y,
    lambda x, y: np.outer(x, y) @ y,
    lambda x, y: np.dot(x, y) * x,
    lambda x, y: np.where(x > y, x, y * x),
]


class RandomLoop:
    """A loss over a loop whose step is a random graph of its carries, slices and tied arrays."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.carries, self.slices, tied = (int(n) for n in rng.integers((1, 0, 0), (4, 3, 3)))
        self.length = int(rng.integers(1, 5))
        self.plan = rng.integers(0, 60, size=(int(rng.integers(2, 8)), 4)).tolist()
        self.after = rng.integers(0, 999, size=self.carries).tolist()
        self.given = rng.integers(0, 999, size=int(rng.integers(0, 3))).tolist()
        self.read = (rng.random(self.carries) < 0.5).tolist()
        self.chooses, self.nests, reverse = (bool(each) for each in rng.random(3) < 0.35)
        truncate = (None, None, 2, 3)[int(rng.integers(0, 4))]
        self.options = {"reverse": reverse, "truncate": truncate}
        shapes = [(2,)] * self.carries + [(self.length, 2)] * self.slices + [(2,)] * tied
        self.at = {f"a{i}": rng.normal(size=shape) * 0.6 for i, shape in enumerate(shapes)}

    def step(self, c: list[Any], x: list[Any], tied: list[Any], unroll: bool) -> Any:
        pool = [*c, *x, *[np.exp(each * 0.3) for each in tied]]

        def picked(number: int) -> Any:
            return pool[number % len(pool)]

        for kind, which, one, other in self.plan:
            if kind % 3:
                pool.append(BINARY[which % len(BINARY)](picked(one), picked(other)))
            else:
                pool.append(UNARY[which % len(UNARY)](picked(one)))
        last = pool[-1]
        if self.chooses:
            pool.append(
                sg.cond(np.sum(last) > 0, lambda: np.tanh(last) * pool[0], lambda: last * 0.5)
            )
        if self.nests:
            pool.append(self.inner(last, pool[0], unroll))
        after = [np.tanh(picked(n)) if n % 3 else picked(n) for n in self.after]
        return after, [picked(n) for n in self.given]

    def inner(self, last: Any, first: Any, unroll: bool) -> Any:
        def step(s: Any, x: Any) -> Any:
            return np.sin(s * last + x), None

        return sg.scan(step, first, np.ones((2, 2)), unroll=unroll)[0]

    def loss(self, unroll: bool) -> Callable[..., Any]:
        def f(**arrays: Any) -> Any:
            values = list(arrays.values())
            first, xs = values[: self.carries], values[self.carries :][: self.slices]
            tied = values[self.carries + self.slices :]
            last, given = sg.scan(
                lambda c, x: self.step(c, x, tied, unroll),
                first,
                xs,
                self.length,
                unroll=unroll,
                **self.options,
            )
            total = sum(np.sum(x) for x in values) * 0.1
            for each, read in zip(last, self.read, strict=True):
                total = total + (np.sum(np.sin(each)) if read else 0.0)
            return total + sum(np.sum(each * each) for each in given) * 0.1

        return f

    def graphs(self, unroll: bool) -> tuple[sg.Graph, sg.Graph]:
        """The gradient, and the gradient of a function of the gradient."""
        names = list(self.at)
        graph = sg.trace(self.loss(unroll), **{name: x.shape for name, x in self.at.items()})
        inputs = [graph.inputs[name] for name in names]
        grads = sg.grad(graph.outputs["out"], inputs)
        curved = sum(np.sum(np.sin(each)) for each in grads)
        second = sg.grad(curved, inputs)
        return sg.graph(*grads, inputs=inputs), sg.graph(*second, inputs=inputs)


def assert_close(got: Any, want: Any) -> None:
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "seed",
    [
        *range(2),
        pytest.param(2, marks=pytest.mark.whole),
        *[pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(3, 300)],
    ],
)
def test_loops_are_what_they_are_written_out(seed: int) -> None:
    loop = RandomLoop(seed)
    for graph, plain in zip(loop.graphs(False), loop.graphs(True), strict=True):
        want = as_tuple(plain.evaluate(**loop.at))
        small = graph.simplify()
        names: dict[str, Any] = {}
        exec(small.to_python(), names)
        assert_close(as_tuple(graph.evaluate(**loop.at)), want)
        assert_close(as_tuple(graph.lower()(**loop.at)), want)
        assert_close(as_tuple(small.lower()(**loop.at)), want)
        assert_close(as_tuple(names["function"](np, **loop.at)), want)


@pytest.mark.parametrize(
    "seed", [*range(2), *[pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(2, 300)]]
)
def test_steps_are_compiled(seed: int) -> None:
    """Gradients and second derivatives by the native backend, whose loops stand in the steps."""
    pytest.importorskip("llvmlite", reason="the native extra is not installed")
    loop = RandomLoop(seed)
    for graph in loop.graphs(False):
        want = as_tuple(graph.evaluate(**loop.at))
        assert_close(as_tuple(graph.lower("native")(**loop.at)), want)
        assert_close(as_tuple(graph.simplify().lower("native")(**loop.at)), want)


def as_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize(
    "seed", [*range(2), *[pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(2, 300)]]
)
def test_loops_on_a_batch_are_loops_on_each(seed: int) -> None:
    """Values, gradients and second derivatives, some of the arrays shared by the batch."""
    loop = RandomLoop(seed)
    rng = np.random.default_rng(seed)
    shared = (rng.random(len(loop.at)) < 0.3).tolist()
    shared[int(rng.integers(len(shared)))] = False
    axes = tuple(None if each else int(rng.integers(0, 2)) for each in shared)
    rows = [
        {
            name: x if each else x + 0.3 * np.random.default_rng(i).normal(size=x.shape)
            for (name, x), each in zip(loop.at.items(), shared, strict=True)
        }
        for i in range(3)
    ]
    whole = [
        rows[0][name] if axis is None else np.stack([row[name] for row in rows], axis)
        for name, axis in zip(loop.at, axes, strict=True)
    ]

    def loss(*arrays: Any) -> Any:
        return loop.loss(False)(**dict(zip(loop.at, arrays, strict=True)))

    def curved(*arrays: Any) -> Any:
        found = sg.grad(loss, wrt=range(len(arrays)))(*arrays)
        return sum(np.sum(np.sin(each)) for each in found)

    for f in (loss, curved):
        one = sg.value_and_grad(f, wrt=range(len(axes)))
        values, grads = sg.vmap(one, in_axes=axes)(*whole)
        each = [one(*row.values()) for row in rows]
        np.testing.assert_allclose(values, [value for value, _ in each], rtol=1e-8, atol=1e-9)
        wanted = [np.stack(parts) for parts in zip(*[found for _, found in each], strict=True)]
        assert_close(grads, wanted)
        total = sg.grad(lambda *a, f=f: np.sum(sg.vmap(f, in_axes=axes)(*a)), wrt=range(len(axes)))(
            *whole
        )
        placed = [
            part.sum(0) if axis is None else np.moveaxis(part, 0, axis)
            for part, axis in zip(wanted, axes, strict=True)
        ]
        assert_close(total, placed)
