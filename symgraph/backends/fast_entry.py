"""The fast entry of a lowered graph: it recognises inputs that need no conversion, in 0.5 µs.

A function is generated for one signature. It compares types, dtypes and shapes, and reads the sizes
of named dimensions. It gives None for inputs that do not fit; the slow entry then converts them or
explains the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..ir.dims import Shape

__all__ = ["fast_entry"]

Entry: TypeAlias = "Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Any, ...] | None]"


def fast_entry(
    names: Sequence[str],
    specs: Sequence[tuple[np.dtype[Any], Shape]],
    dims: Sequence[str],
    native: Sequence[type[Any]],
    floats: bool = False,
) -> Entry:
    """A function `enter(args, inputs)`: it gives the values and then the sizes in `dims`, or None.

    Parameters
    ----------
    names : sequence of str
    specs : sequence of (dtype, shape)
        One for each input.
    dims : sequence of str
        Named dimensions whose sizes are read.
    native : sequence of type
        The array types that need no conversion.
    floats : bool
        Whether Python's floats may stay what they are; else they become arrays.
    """
    tests, sizes = _tests(specs)
    if tests is None or any(dim not in sizes for dim in dims):
        return lambda args, inputs: None
    values = "".join(f"v{i}, " for i in range(len(names)))
    lines = [
        "def enter(args, inputs):",
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
        *[
            line
            for i, (test, spec) in enumerate(zip(tests, specs, strict=True))
            for line in _test_lines(i, test, np.ndarray in native and spec == _FLOAT, floats)
        ],
        f"    return ({values}{''.join(sizes[dim] + ', ' for dim in dims)})",
    ]
    table: dict[str, Any] = {"__builtins__": {}, "type": type, "len": len, "KeyError": KeyError}
    table.update(native=frozenset(native), float=float, float64=np.float64, array=np.array)
    for i, (name, (dtype, shape)) in enumerate(zip(names, specs, strict=True)):
        table.update({f"n{i}": name, f"t{i}": np.dtype(dtype.type), f"s{i}": shape})
    exec(compile("\n".join(lines), "<symgraph entry>", "exec", dont_inherit=True), table)
    return table["enter"]


_FLOAT: tuple[np.dtype[Any], Shape] = (np.dtype(np.float64), ())


def _test_lines(i: int, test: str, is_float: bool, floats: bool) -> list[str]:
    """The lines that refuse an input; one that `is_float` may also be a Python float."""
    if not is_float:
        return [f"    if not ({test}): return None"]
    return [
        f"    if not ({test}):",
        f"        if type(v{i}) is not float and type(v{i}) is not float64: return None",
        *([] if floats else [f"        v{i} = array(v{i})"]),
    ]


def _tests(
    specs: Sequence[tuple[np.dtype[Any], Shape]],
) -> tuple[list[str] | None, dict[str, str]]:
    """A condition for each input, and the variable that holds the size of each named dimension.

    The conditions are None if a dimension is computed from others.
    """
    sizes: dict[str, str] = {}
    tests: list[str] = []
    for i, (_, shape) in enumerate(specs):
        # Almost all arrays of one dtype share a dtype object, and `is` is faster than `==`.
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
