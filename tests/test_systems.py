"""Jacobians of systems of equations, and Hessians of functions of a few numbers.

Each is written as its users write it, element by element, and its derivative as books print it: one
formula an entry, zeros where an equation does not have a variable. The derivative that is found has
no more operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from textbook import traced

import symgraph as sg
import symgraph.numpy as snp


@dataclass(frozen=True)
class System:
    """A function of a vector and of parameters, and the entries of its derivative.

    `kind` is "jacobian" or "hessian"; shapes are those of the inputs, the vector first. `longer` is
    by how many operations the derivative that is found may be longer.
    """

    f: Callable[..., Any]
    entries: Callable[..., Any]
    shapes: tuple[int, ...]
    parameters: str = ""
    kind: str = "jacobian"
    longer: int = 0

    @property
    def specs(self) -> dict[str, sg.Spec]:
        names = ("x", *self.parameters.split())
        shapes = (*self.shapes, *[0] * (len(names) - len(self.shapes)))
        return {name: sg.spec(str(n) if n else "") for name, n in zip(names, shapes, strict=True)}


def matrix(*rows: Sequence[Any]) -> Any:
    """A matrix of numbers, some of which are symbolic."""
    return np.stack([np.stack([snp.asarray(each) for each in row]) for row in rows])


def lorenz(x: Any, s: Any, r: Any, b: Any) -> Any:
    return np.stack([s * (x[1] - x[0]), x[0] * (r - x[2]) - x[1], x[0] * x[1] - b * x[2]])


def lorenz_96(x: Any) -> Any:
    return np.stack([(x[(i + 1) % 6] - x[i - 2]) * x[i - 1] - x[i] + 8 for i in range(6)])


def lorenz_96_entries(x: Any) -> Any:
    rows = []
    for i in range(6):
        row: list[Any] = [0.0] * 6
        row[i] = -1.0
        row[(i + 1) % 6] = x[i - 1]
        row[i - 2] = -x[i - 1]
        row[i - 1] = x[(i + 1) % 6] - x[i - 2]
        rows.append(row)
    return matrix(*rows)


def arm(x: Any) -> Any:
    """Where the hand of a planar arm with two joints is."""
    both = x[0] + x[1]
    return np.stack([np.cos(x[0]) + np.cos(both) / 2, np.sin(x[0]) + np.sin(both) / 2])


def arm_entries(x: Any) -> Any:
    s, c = np.sin(x[0] + x[1]) / 2, np.cos(x[0] + x[1]) / 2
    return matrix([-(np.sin(x[0]) + s), -s], [np.cos(x[0]) + c, c])


def range_and_bearing(x: Any, p: Any) -> Any:
    """A landmark as a robot sees it."""
    east, north = p[0] - x[0], p[1] - x[1]
    return np.stack([np.sqrt(east**2 + north**2), np.arctan2(north, east) - x[2]])


def range_and_bearing_entries(x: Any, p: Any) -> Any:
    east, north = p[0] - x[0], p[1] - x[1]
    q = east**2 + north**2
    r = np.sqrt(q)
    return matrix([-(east / r), -(north / r), 0.0], [north / q, -(east / q), -1.0])


def rotation(x: Any) -> Any:
    """The matrix of a quaternion."""
    w, i, j, k = x[0], x[1], x[2], x[3]
    return matrix(
        [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
        [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
        [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
    )


def rotation_entries(x: Any) -> Any:
    w, i, j, k = 2 * x[0], 2 * x[1], 2 * x[2], 2 * x[3]
    ii, jj, kk = -2 * i, -2 * j, -2 * k
    return np.stack([
        matrix([0.0, 0.0, jj, kk], [-k, j, i, -w], [j, k, w, i]),
        matrix([k, j, i, w], [0.0, ii, 0.0, kk], [-i, -w, k, j]),
        matrix([-j, k, -w, i], [i, w, k, j], [0.0, ii, jj, 0.0]),
    ])  # fmt: skip


def wood(x: Any) -> Any:
    return (
        100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2 + (x[2] - 1) ** 2
        + 90 * (x[2] ** 2 - x[3]) ** 2 + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2)
        + 19.8 * (x[1] - 1) * (x[3] - 1)
    )  # fmt: skip


def powell(x: Any) -> Any:
    first, second = (x[0] + 10 * x[1]) ** 2, 5 * (x[2] - x[3]) ** 2
    return first + second + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4


def powell_entries(x: Any) -> Any:
    a, b = 12 * (x[1] - 2 * x[2]) ** 2, 120 * (x[0] - x[3]) ** 2
    return matrix(
        [2 + b, 20.0, 0.0, -b],
        [20.0, 200 + a, -2 * a, 0.0],
        [0.0, -2 * a, 10 + 4 * a, -10.0],
        [-b, 0.0, -10.0, 10 + b],
    )


SYSTEMS = {
    "Lorenz": System(
        lorenz,
        lambda x, s, r, b: matrix([-s, s, 0.0], [r - x[2], -1.0, -x[0]], [x[1], x[0], -b]),
        (3,),
        "s r b",
    ),
    "Lorenz 96": System(lorenz_96, lorenz_96_entries, (6,)),
    "Lotka-Volterra": System(
        lambda x, a, b, c, d: np.stack([a * x[0] - b * x[0] * x[1], d * x[0] * x[1] - c * x[1]]),
        lambda x, a, b, c, d: matrix([a - b * x[1], -(b * x[0])], [d * x[1], d * x[0] - c]),
        (2,),
        "a b c d",
    ),
    "van der Pol": System(
        lambda x, m: np.stack([x[1], m * (1 - x[0] ** 2) * x[1] - x[0]]),
        lambda x, m: matrix([0.0, 1.0], [-2 * m * x[0] * x[1] - 1, m * (1 - x[0] ** 2)]),
        (2,),
        "m",
    ),
    "FitzHugh-Nagumo": System(
        lambda x: np.stack([x[0] - x[0] ** 3 / 3 - x[1], 0.08 * (x[0] + 0.7 - 0.8 * x[1])]),
        lambda x: matrix([1 - x[0] ** 2, -1.0], [0.08, -0.064]),
        (2,),
    ),
    "unicycle": System(
        lambda x, v, w: np.stack([x[0] + v * np.cos(x[2]), x[1] + v * np.sin(x[2]), x[2] + w]),
        lambda x, v, w: matrix(
            [1.0, 0.0, -v * np.sin(x[2])], [0.0, 1.0, v * np.cos(x[2])], [0.0, 0.0, 1.0]
        ),
        (3,),
        "v w",
    ),
    "arm of two joints": System(arm, arm_entries, (2,)),
    "range and bearing": System(range_and_bearing, range_and_bearing_entries, (3, 2), "p"),
    # Twice a part that is computed anyway is computed again, with the parts beside it.
    "rotation by a quaternion": System(rotation, rotation_entries, (4,), longer=2),
    "Wood": System(
        wood,
        lambda x: matrix(
            [1200 * x[0] ** 2 - 400 * x[1] + 2, -400 * x[0], 0.0, 0.0],
            [-400 * x[0], 220.2, 0.0, 19.8],
            [0.0, 0.0, 1080 * x[2] ** 2 - 360 * x[3] + 2, -360 * x[2]],
            [0.0, 19.8, -360 * x[2], 200.2],
        ),
        (4,),
        kind="hessian",
    ),
    "Powell": System(powell, powell_entries, (4,), kind="hessian"),
    "Himmelblau": System(
        lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2,
        lambda x: matrix(
            [12 * x[0] ** 2 + 4 * x[1] - 42, 4 * (x[0] + x[1])],
            [4 * (x[0] + x[1]), 12 * x[1] ** 2 + 4 * x[0] - 26],
        ),
        (2,),
        kind="hessian",
    ),
}


def derived(system: System, of: Callable[..., Any] | None = None) -> sg.Graph:
    graph = traced(of or system.f, system.specs)
    return getattr(graph, system.kind)("x", value=False)


def numbers(system: System) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        name: rng.uniform(0.2, 0.9, tuple(map(int, spec.shape)))
        for name, spec in system.specs.items()
    }


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", SYSTEMS)
def test_as_short_as_the_book(name: str) -> None:
    system = SYSTEMS[name]
    book = traced(system.entries, system.specs)
    small = derived(system).simplify()
    assert small.op_count() <= book.op_count() + system.longer
    at = numbers(system)
    wanted = book.evaluate(**at)
    np.testing.assert_allclose(small.evaluate(**at), wanted, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(derived(system).evaluate(**at), wanted, rtol=1e-13, atol=1e-14)


def test_a_step_of_euler() -> None:
    system = SYSTEMS["Lorenz"]
    found = derived(system, lambda x, **given: x + 0.1 * lorenz(x, **given))
    at = numbers(system)
    wanted = np.eye(3) + 0.1 * derived(system).evaluate(**at)
    np.testing.assert_allclose(found.simplify().evaluate(**at), wanted, rtol=1e-13, atol=1e-15)


def test_an_entry_that_is_zero_is_zero_whatever_the_others_are() -> None:
    system = SYSTEMS["unicycle"]
    at = {"x": np.array([1.0, 2.0, np.nan]), "v": np.array(np.inf), "w": np.array(0.0)}
    with np.errstate(invalid="ignore"):
        found = derived(system).simplify().evaluate(**at)
    np.testing.assert_array_equal(found[:, :2], [[1, 0], [0, 1], [0, 0]])
    assert np.isnan(found[:2, 2]).all()


def test_the_gradient_of_an_assembly_cuts_nothing_out_and_back() -> None:
    """`K[i : i + 2] += ...` passes the gradient of K on as it is."""

    def energy(e: Any, x: Any) -> Any:
        stiffness = snp.zeros((5, 5))
        for i in range(4):
            stiffness[i : i + 2, i : i + 2] += e[i] * np.array([[2.0, -1.0], [-1.0, 2.0]])
        return x @ stiffness @ x

    joint = sg.trace(energy, e="4", x="5").gradient("e")
    small = joint.simplify()
    assert small.op_count() <= 22
    at = {"e": np.array([1.0, 2.0, -1.0, 0.5]), "x": np.arange(5.0)}
    for got, want in zip(small.evaluate(**at), joint.evaluate(**at), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
