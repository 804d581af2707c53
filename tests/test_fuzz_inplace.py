"""Programs that write in place mean what they mean in NumPy, or are refused; nothing between.

Each is run by NumPy, on arrays that lie row by row and column by column, and traced: all variables
it leaves are compared, evaluated and lowered, and the gradient of a sum of them with differences.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from inplaceprograms import arguments, compiled, program

import symgraph as sg
import symgraph.numpy as snp

SHORT = [range(start, start + 25) for start in range(0, 250, 25)]
LONG = [range(start, start + 500) for start in range(1000, 6000, 500)]


def flat(values: Any) -> np.ndarray[Any, Any]:
    return np.concatenate([np.zeros(0), *[np.ravel(each).astype(float) for each in values]])


def weighted(values: Any) -> Any:
    """One number of all that a program leaves."""
    total: Any = 0.0
    for k, each in enumerate(values, 1):
        total = total + np.sum(each * (0.5 + 0.25 * k)) + 0.125 * np.sum(each * each)
    return total


def outcome(seed: int, *, slope: bool) -> str:
    """Whether the program of a seed is equal, or why it is refused."""
    lines = program(seed)
    shown = "\n".join(lines)
    plain = compiled(lines, np)
    runs: list[Any] = []
    touched = False
    for order in "CF":
        given = arguments(seed, order)
        before = {name: value.copy() for name, value in given.items()}
        try:
            with np.errstate(all="ignore"):
                runs.append(plain(**given))
        except ValueError:
            return "NumPy itself refuses one layout"
        touched |= any(not np.array_equal(before[name], given[name]) for name in given)
    given = arguments(seed)
    traced = compiled(lines, snp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.UnusedInputWarning)
        graph = traced_or_refused(traced, shown)
    if isinstance(graph, str):
        return graph
    assert not touched, f"the caller's array changes:\n{shown}"
    names = graph.dag.inputs
    values = graph.evaluate(**{name: given[name] for name in names})
    lowered = graph.lower()(**{name: given[name] for name in names})
    for each in runs:
        assert [np.shape(v) for v in values] == [np.shape(v) for v in each], shown
        np.testing.assert_allclose(flat(values), flat(each), rtol=1e-12, atol=1e-12, err_msg=shown)
    np.testing.assert_allclose(flat(lowered), flat(values), rtol=1e-12, atol=1e-12, err_msg=shown)
    if slope:
        check_slope(plain, traced, given, shown)
    return "equal"


def traced_or_refused(f: Any, shown: str) -> sg.Graph | str:
    """The graph, or why there is none: with the mend, and the line, of a helper perhaps."""
    try:
        return sg.trace(f, x=(6,), m=(3, 4))
    except sg.SymgraphError as error:
        refusal = error
    places = ("at <string>:", "at inplaceprograms.py:")
    assert refusal.mend, f"{refusal}\n{shown}"
    assert any(place in str(refusal) for place in places), f"{refusal}\n{shown}"
    return refusal.what.partition(":")[0][:60]


def check_slope(plain: Any, traced: Any, given: dict[str, Any], shown: str) -> None:
    found = sg.grad(lambda x, m: weighted(traced(x, m)), wrt=("x", "m"))(given["x"], given["m"])
    rng = np.random.default_rng(1)
    way = {name: rng.normal(size=value.shape) for name, value in given.items()}
    sides = []
    for step in (1e-6, -1e-6):
        moved = {name: given[name] + step * way[name] for name in given}
        sides.append(float(weighted(plain(**moved))))
    along = sum(float(np.sum(g * way[name])) for g, name in zip(found, given, strict=True))
    difference = (sides[0] - sides[1]) / 2e-6
    np.testing.assert_allclose(along, difference, rtol=2e-5, atol=2e-5, err_msg=shown)


def tally(seeds: Iterable[int], *, slope: bool) -> Counter[str]:
    return Counter(outcome(seed, slope=slope) for seed in seeds)


@pytest.mark.sampled(one_in=32)
@pytest.mark.parametrize("seeds", SHORT, ids=str)
def test_random_programs(seeds: range) -> None:
    found = tally(seeds[::2], slope=False) + tally(seeds[1::10], slope=True)
    assert found["equal"] > len(seeds) // 5  # Refusing everything would pass as well.


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", LONG, ids=str)
def test_many_random_programs(seeds: range) -> None:
    found = tally(seeds[::5], slope=True) + tally([s for s in seeds if s % 5], slope=False)
    print(found)
    assert found["equal"] > len(seeds) // 3


def test_reads_that_the_algebra_moves_back_come_to_rest() -> None:
    """Of this program a read moved below and back without end."""
    assert outcome(2600, slope=True) == "equal"
