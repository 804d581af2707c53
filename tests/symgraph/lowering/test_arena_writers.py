"""Calls that write to a place: the bits are those of the calls that they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
import symgraph.numpy as snp
from symgraph.lowering.program import program_of
from symgraph.lowering.statements import Role
from symgraph.namespace import NUMPY, writing


def drawn(*shape: int) -> Any:
    """The same numbers for the same shape."""
    x = np.random.default_rng(0).normal(size=shape)
    x.ravel()[::5] = np.nan
    return x


PLACES = np.array([[3, -1, 0], [2, 2, -4]])
PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "where": (
        lambda: np.where(drawn(4, 5) > 0, drawn(5), 0.0),
        lambda out: writing.where(drawn(4, 5) > 0, drawn(5), 0.0, out=out),
    ),
    "where of numbers": (
        lambda: np.where(drawn(4, 5), drawn(4, 5), drawn(4, 1)),
        lambda out: writing.where(drawn(4, 5), drawn(4, 5), drawn(4, 1), out=out),
    ),
    "astype": (
        lambda: drawn(4, 5).astype("float32"),
        lambda out: writing.astype(drawn(4, 5), out=out),
    ),
    "sort": (
        lambda: np.sort(drawn(4, 5), axis=0),
        lambda out: writing.sort(drawn(4, 5), axis=0, out=out),
    ),
    "take": (lambda: drawn(4, 5)[PLACES], lambda out: writing.take(drawn(4, 5), PLACES, out=out)),
    "take of a view": (
        lambda: drawn(5, 4).T[PLACES],
        lambda out: writing.take(drawn(5, 4).T, PLACES, out=out),
    ),
    "scatter_set": (
        lambda: NUMPY.scatter_set(np.zeros((4, 5)), np.s_[..., 1:3, :], drawn(2, 5)),
        lambda out: writing.scatter_set(0, np.s_[..., 1:3, :], drawn(2, 5), out=out),
    ),
    "scatter_add": (
        lambda: NUMPY.scatter_add(drawn(4, 5), (np.array([1, 1, 2]),), drawn(3, 5)),
        lambda out: writing.scatter_add(drawn(4, 5), (np.array([1, 1, 2]),), drawn(3, 5), out=out),
    ),
    "scatter_add of a row": (
        lambda: NUMPY.scatter_add(drawn(4), (np.array([1, 1, 2]),), drawn(1)),
        lambda out: writing.scatter_add(drawn(4), (np.array([1, 1, 2]),), drawn(1), out=out),
    ),
    "convolution": (
        lambda: NUMPY.convolution(drawn(70, 8, 9, 9), drawn(6, 8, 3, 3), (1, 1), (1, 1), 1),
        lambda out: writing.convolution(
            drawn(70, 8, 9, 9), drawn(6, 8, 3, 3), (1, 1), (1, 1), 1, out=out
        ),
    ),
    "adjoint_convolution": (
        lambda: NUMPY.adjoint_convolution(
            drawn(2, 6, 5, 5), drawn(6, 8, 3, 3), (7, 7), (1, 1), (1, 1), 1
        ),
        lambda out: writing.adjoint_convolution(
            drawn(2, 6, 5, 5), drawn(6, 8, 3, 3), (7, 7), (1, 1), (1, 1), 1, out=out
        ),
    ),
    "kernel_convolution": (
        lambda: NUMPY.kernel_convolution(
            drawn(70, 8, 9, 9), drawn(70, 6, 7, 7), (3, 3), (1, 1), (1, 1), 1
        ),
        lambda out: writing.kernel_convolution(
            drawn(70, 8, 9, 9), drawn(70, 6, 7, 7), (3, 3), (1, 1), (1, 1), 1, out=out
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_bits_are_written_to_a_place(name: str) -> None:
    new, written = PAIRS[name]
    wanted = new()
    assert wanted.flags.c_contiguous or name == "take of a view"
    place = np.full(wanted.shape, 7, wanted.dtype)
    assert written(place) is place
    assert place.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("place", [4, -5])
def test_a_place_out_of_range_is_refused(place: int) -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        writing.take(np.zeros((4, 5)), np.array([0, place]), out=np.zeros((2, 5)))


def _network(table: Any, words: Any, images: Any, w: Any) -> Any:
    rows = np.tanh(table[words])
    low = np.where(rows > 0, rows, np.sort(rows, axis=-1)).astype("float32")
    maps = np.maximum(snp.conv2d(images, w, padding=1), 0)
    return np.sum(low * low) + np.sum(maps * maps)


@pytest.mark.whole
def test_large_values_lie_in_the_arena_and_no_bit_changes() -> None:
    graph = sg.trace(
        _network,
        table=sg.spec((300, 50)),
        words=sg.spec((4000,), "int64"),
        images=sg.spec((30, 8, 16, 16), "float32"),
        w=sg.spec((8, 8, 3, 3), "float32"),
    )
    graph = graph.gradient("table", "w").simplify()
    planned = graph.checkpoint("100%")
    program = program_of(planned.dag)
    source = planned.lower().source
    for call in ("take", "sort", "astype", "scatter_set", "convolution"):
        assert f"into.{call}(" in source
    assert re.search(r"xp\.chosen\(.*, out=", source)
    large = [each for each in program.workspace if each.aval.nbytes > 2**17]
    outside = [each for each in large if each.role is Role.MARK]
    assert len(outside) < len(large) / 4
    random = np.random.default_rng(0)
    given: dict[str, Any] = {
        "table": random.normal(size=(300, 50)),
        "words": random.integers(-300, 300, 4000),
        "images": random.normal(size=(30, 8, 16, 16)).astype("float32"),
        "w": random.normal(size=(8, 8, 3, 3)).astype("float32"),
    }
    loss, gradients = planned.lower()(**given)
    plain, wanted = graph.evaluate(**given)
    assert loss.tobytes() == np.asarray(plain).tobytes()
    for one, other in zip(gradients, wanted, strict=True):
        assert one.tobytes() == other.tobytes()
