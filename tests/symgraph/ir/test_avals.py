"""Abstract values: equal dtypes are one object, however they are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.ir.avals import supported_dtype


@pytest.mark.parametrize("name", ["bool", "int8", "uint32", "float16", "float32", "float64"])
def test_a_dtype_is_one_object(name: str) -> None:
    dtype = np.dtype(name)
    swapped: Any = dtype.newbyteorder(">").newbyteorder("=")
    for given in (name, dtype, dtype.type, dtype.str, swapped):
        assert supported_dtype(given) is dtype


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype(">f4")])
def test_inputs_and_constants_have_the_same_dtype(given: Any) -> None:
    graph = sg.trace(lambda x: 2 * x + np.float32(1), x=sg.spec(3, given))
    assert {id(node.dtype) for node in graph.nodes} == {id(np.dtype("float32"))}
