"""Fixtures that tests of operations share."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgraph.array import Array
from symgraph.errors import SymgraphError
from symgraph.ir.dag import Dag
from symgraph.ir.interpreter import evaluate
from symgraph.ir.invariants import verify
from symgraph.ops.creation import input

TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12}


def symbols(arrays: tuple[Any, ...], dims: dict[int, str]) -> list[Array]:
    """An input for each array; sizes in `dims` become named dimensions."""
    return [
        input(f"x{i}", tuple(dims.get(size, size) for size in each.shape), each.dtype)
        for i, each in enumerate(arrays)
    ]


def compute(outputs: Any, inputs: list[Array], arrays: tuple[Any, ...]) -> list[Any]:
    """Values of the outputs (one, or a tuple or list), by the plain interpreter."""
    flat = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    dag = Dag({f"x{i}": each.node for i, each in enumerate(inputs)}, [each.node for each in flat])
    verify(dag)
    given = {f"x{i}": each for i, each in enumerate(arrays)}
    before = {name: np.array(each) for name, each in given.items()}
    values = evaluate(dag, given)
    for name, each in before.items():
        np.testing.assert_array_equal(given[name], each, err_msg="an input was written to")
    return values


def attempt(f: Callable[..., Any], arrays: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    """What NumPy gives, or why it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return f(*arrays), None
        except (ValueError, TypeError, IndexError) as refused:
            return None, refused


def check_agreement(
    f: Callable[..., Any],
    *arrays: Any,
    like: Callable[..., Any] | None = None,
    dims: dict[int, str] | None = None,
) -> None:
    """Check that a function gives on symbols what it gives on numbers, error for error.

    `check_agreement(f, *arrays, dims={3: "n"})`: dtype, shape and values are NumPy's; where NumPy
    refuses, so do we, with an error that names the line of the call. `like` computes what is
    expected, if it is not `f` itself.
    """
    inputs = symbols(arrays, dims or {})
    expected, refused = attempt(like or f, arrays)
    if refused is not None:
        with pytest.raises(SymgraphError) as caught:
            f(*inputs)
        assert Path(inspect.getsourcefile(f) or "").name in str(caught.value), refused
        return
    outputs = f(*inputs)
    values = compute(outputs, inputs, arrays)
    flat = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    wanted = expected if isinstance(expected, (tuple, list)) else [expected]
    assert len(values) == len(wanted)
    for symbol, value, want in zip(flat, values, wanted, strict=True):
        assert value.dtype == np.asarray(want).dtype == symbol.dtype
        assert value.shape == np.shape(want)
        if not dims:
            assert symbol.shape == np.shape(want)
        same(value, want)


@pytest.fixture(scope="session")
def agrees() -> Callable[..., None]:
    """`check_agreement`, for every test of operations."""
    return check_agreement


def same(value: Any, want: Any) -> None:
    """Equal: NaN to NaN, floats to rounding, all else exactly."""
    dtype = np.asarray(want).dtype
    if dtype.kind != "f":
        np.testing.assert_array_equal(value, want)
        return
    tolerance = TOLERANCE[dtype.name]
    scale = np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
    np.testing.assert_allclose(value, want, rtol=tolerance, atol=tolerance * max(1.0, float(scale)))


@pytest.fixture
def drawn_anew(request: pytest.FixtureRequest) -> None:
    """The numbers that a test draws from its module's `RNG` do not depend on the tests before."""
    numbers: np.random.Generator = request.module.RNG
    start = request.module.__dict__.setdefault("_start", numbers.bit_generator.state)
    numbers.bit_generator.state = start
