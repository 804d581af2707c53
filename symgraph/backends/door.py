"""The fast way into a lowered graph: inputs that fit as they are, recognised in half a microsecond.

A function written for one signature compares types, dtypes and shapes, reads off the sizes of named
dimensions, and gives None for what does not fit at once; the slow way then converts or explains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..ir.dims import Shape

__all__ = ["fast_door"]

Door: TypeAlias = "Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...] | None]"


def fast_door(
    names: Sequence[str],
    specs: Sequence[tuple[np.dtype[Any], Shape]],
    dims: Sequence[str],
    native: Sequence[type[Any]],
) -> Door:
    """`door(args, inputs)`: the values followed by the sizes in `dims`, or None.

    Parameters
    ----------
    names : sequence of str
    specs : sequence of (dtype, shape)
        One an input.
    dims : sequence of str
        Named dimensions whose sizes are wanted.
    native : sequence of type
        What values may be.
    """
    tests, sizes = _tests(specs)
    if tests is None or any(dim not in sizes for dim in dims):
        return lambda args, inputs: None
    values = "".join(f"v{i}, " for i in range(len(names)))
    lines = [
        "def door(args, inputs):",
        f"    if len(args) == {len(names)} and not inputs:",
        f"        ({values}) = args" if names else "        pass",
        f"    elif not args and len(inputs) == {len(names)}:",
        "        try:",
        *[f"            v{i} = inputs[n{i}]" for i in range(len(names))],
        "            pass",
        "        except KeyError:",
        "            return None",
        "    else:",
        "        return None",
        *[f"    if not ({test}): return None" for test in tests],
        f"    return ({values}{''.join(sizes[dim] + ', ' for dim in dims)})",
    ]
    table: dict[str, Any] = {"__builtins__": {}, "type": type, "len": len, "KeyError": KeyError}
    table["native"] = frozenset(native)
    for i, (name, (dtype, shape)) in enumerate(zip(names, specs, strict=True)):
        table.update({f"n{i}": name, f"t{i}": np.dtype(dtype.type), f"s{i}": shape})
    exec(compile("\n".join(lines), "<symgraph door>", "exec", dont_inherit=True), table)
    return table["door"]


def _tests(
    specs: Sequence[tuple[np.dtype[Any], Shape]],
) -> tuple[list[str] | None, dict[str, str]]:
    """One condition an input, and the variable that holds the size of each named dimension."""
    sizes: dict[str, str] = {}
    tests: list[str] = []
    for i, (_, shape) in enumerate(specs):
        # Almost every array of a dtype holds the same dtype object; comparing others costs more.
        test = [f"type(v{i}) in native", f"(v{i}.dtype is t{i} or v{i}.dtype == t{i})"]
        if all(isinstance(dim, int) for dim in shape):
            tests.append(" and ".join([*test, f"v{i}.shape == s{i}"]))
            continue
        test.append(f"len(z{i} := v{i}.shape) == {len(shape)}")
        for axis, dim in enumerate(shape):
            if isinstance(dim, int):
                test.append(f"z{i}[{axis}] == {dim}")
            elif not dim.is_Symbol:
                return None, {}
            elif str(dim) in sizes:
                test.append(f"z{i}[{axis}] == {sizes[str(dim)]}")
            else:
                variable = sizes[str(dim)] = f"d{len(sizes)}"
                test.append(f"({variable} := z{i}[{axis}]) >= 0")
        tests.append(" and ".join(test))
    return tests, sizes
