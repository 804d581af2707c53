"""A program as a graph, what its results must be, and how results are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgraph as sg

from .namespaces import AUTOGRAD, NUMPY, SYMGRAPH
from .program import Program

__all__ = [
    "ROUNDING",
    "TOLERANCE",
    "Reference",
    "Values",
    "difference",
    "flat",
    "identical",
    "traced",
]

Values = tuple[np.ndarray[Any, Any], ...]


# -- from a program to graphs ---------------------------------------------------------------------
def traced(program: Program, dims: Mapping[int, str] | None = None) -> sg.Graph:
    """The program as a graph; dimensions of the sizes in `dims` get names."""
    names, named = {"sg": sg}, dims or {}
    specs = {
        each.name: sg.spec(
            tuple(named.get(size, size) for size in each.value.shape),
            each.value.dtype,
            eval(each.assume, names) if each.assume else (),
        )
        for each in program.inputs
    }

    def function(**inputs: Any) -> Any:
        return program.function(SYMGRAPH.np, SYMGRAPH.sp, **inputs)

    return sg.trace(function, **specs)


def flat(results: Any) -> Values:
    """Value and gradients, however they are grouped."""
    if isinstance(results, tuple | list):
        return tuple(leaf for part in results for leaf in flat(part))
    return (np.asarray(results),)


@dataclass(frozen=True)
class Reference:
    """What the results must be, in double precision, of which dtypes, and how large they are."""

    results: Values
    dtypes: tuple[np.dtype[Any], ...]
    scale: float

    @classmethod
    def of(cls, program: Program) -> Reference:
        value, gradients = AUTOGRAD.value_and_gradients(program.astype("float64"))
        with np.errstate(all="ignore"):
            plain = program.function(NUMPY.np, NUMPY.sp, **program.values)
        dtypes = [np.asarray(plain).dtype, *(program.values[n].dtype for n in program.targets)]
        results = (np.asarray(value), *(np.asarray(each) for each in gradients))
        sizes = [float(np.max(np.abs(each))) for each in results if each.size]
        return cls(results, tuple(dtypes), max(1.0, *sizes))


# -- comparing ------------------------------------------------------------------------------------
TOLERANCE = {"float64": 1e-8, "float32": 5e-3, "mixed": 5e-3}
"""Against another package, in units of the largest result."""
ROUNDING = {"float64": 1e-11, "float32": 2e-4, "mixed": 2e-4}
"""The same operations in another order."""


def difference(
    found: Sequence[Any], wanted: Sequence[Any], tolerance: float, dtypes: Sequence[Any] = ()
) -> str:
    """What is wrong with `found`, or an empty string."""
    if len(found) != len(wanted):
        return f"{len(found)} results for {len(wanted)}"
    for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
        dtype = dtypes[position] if dtypes else other.dtype
        if one.shape != other.shape:
            return f"result {position} has shape {one.shape}, not {other.shape}"
        if one.dtype != dtype:
            return f"result {position} has dtype {one.dtype}, not {dtype}"
        gap = np.abs(one.astype(np.float64) - other.astype(np.float64))
        if not np.all(gap <= tolerance):
            return f"result {position} is off by {np.max(gap)}: {one} for {other}"
    return ""


def identical(found: Sequence[Any], wanted: Sequence[Any]) -> str:
    """As `difference`, to the last bit."""
    for position, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one.dtype != other.dtype or one.tobytes() != other.tobytes():
            return f"result {position} is not bitwise equal: {one} for {other}"
    return ""
