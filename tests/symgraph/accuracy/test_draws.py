"""Random numbers at probes, drawn for all settings at once, are what each setting asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import symgraph as sg
from symgraph.accuracy import judge_of
from symgraph.accuracy.draws import drawn, free, groups
from symgraph.accuracy.probes import OF_ONE_SIZE, UNLIKE, Places, Setting, settings_at
from symgraph.ir.fact_inference import Knowledge


def plainly_drawn(shape: tuple[int, ...], rng: Any, settings: list[Setting]) -> Any:
    """Free numbers for all settings, each computed by the full formula."""
    columns = np.array(settings).T
    columns = columns.reshape(7, -1, *[1] * len(shape))
    scale, sign, apart, between, within, zeros, unlike = columns
    wide = (len(settings), *shape)
    size = rng.uniform(0.75, 1.0, wide)
    common = np.random.default_rng([1998, *shape]).uniform(0.6, 1.0, wide)
    size = np.where(apart > 0, common * (1 + apart * rng.normal(size=wide)), size)
    plain = (scale == 0) & (apart == 0) & (within == 0)
    size = np.where(plain, np.abs(rng.normal(size=wide)) + 0.05, size)
    own = rng.uniform(-1, 1, between.shape)
    place, rest = np.divmod(3 * (own + 1), 1)
    moved = np.array([-27, -17, -8, 8, 17, 27])[place.astype(int)] + 3 * (rest - 0.5)
    power = scale + between * own + unlike * moved + within * rng.uniform(-1, 1, wide)
    either = np.where(rng.random(wide) < 0.5, -1.0, 1.0)
    x = np.where(sign == 0, either, sign) * size * 10.0**power
    return np.where(rng.random(wide) < zeros, 0.0, x)


@pytest.mark.parametrize("places", ["usual", "wide", "positive"])
@pytest.mark.parametrize("shape", [(), (3,), (4, 2), (0,), (2, 3, 4)], ids=str)
def test_free_numbers_are_those_of_the_settings(places: Places, shape: tuple[int, ...]) -> None:
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    for settings, group in zip(settings_at(places), groups(places, len(shape)), strict=True):
        found = free(shape, one, group).astype(np.float32)
        assert_array_equal(found, plainly_drawn(shape, other, settings).astype(np.float32))
    assert one.random() == other.random()


@pytest.mark.parametrize("places", ["usual", "wide"])
def test_exponents_are_ordinary_numbers_at_every_second_size(places: Places) -> None:
    x = sg.input("x", (3,)).node
    plain, exponents = (
        drawn((3,), x.dtype, Knowledge().of(x), 0, places, exponent=exponent)
        for exponent in (False, True)
    )
    if places == "wide":
        assert np.abs(exponents[UNLIKE]).max() < 10
        plain, exponents = plain[OF_ONE_SIZE], exponents[OF_ONE_SIZE]
    sizes = np.abs(plain).max(axis=1)
    changed = (plain != exponents).any(axis=1)
    extreme = (sizes > 1e5) | (sizes < 1e-5)
    assert 0.3 < np.mean(changed[extreme]) < 0.7
    assert np.abs(exponents[changed]).max() < 10
    assert not changed[~extreme].all()


def test_inputs_in_exponents_alone_are_told_to_the_judge() -> None:
    x, a, b, c = (sg.input(name, ()) for name in "xabc")
    knowledge = Knowledge()  # The judge goes with it.
    judge = judge_of(knowledge)
    judge.meet([(x ** (a + 1) + b**b + 2.0**c).node])
    assert judge.trials.exponents == {a.node}
