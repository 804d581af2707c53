"""The fast entries of a lowered graph: they recognise inputs that need no conversion, in 0.3 µs.

A function is generated for one signature. It compares types, dtypes and shapes, and reads the sizes
of named dimensions. It gives None for inputs that do not fit; the slow entry then converts them or
explains the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..ir.dims import Shape

__all__ = ["direct_entry", "fast_entry"]

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
    tests, sizes = _tests(specs, len(native) == 1)
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
        *_all_test_lines(tests, specs, native, floats),
        f"    return ({values}{''.join(sizes[dim] + ', ' for dim in dims)})",
    ]
    more = {f"n{i}": name for i, name in enumerate(names)}
    return _defined(lines, specs, native, {"KeyError": KeyError, **more})


def direct_entry(
    specs: Sequence[tuple[np.dtype[Any], Shape]],
    dims: Sequence[str],
    native: Sequence[type[Any]],
    run: Callable[..., Sequence[Any]],
    grouping: str,
    table: Mapping[str, Any],
) -> Callable[..., Any]:
    """A function of the inputs in order: it runs the program and groups the results.

    It gives None for inputs that do not fit. A function that only looks at inputs, one that groups
    results, and the tuples between them, take as long as the rest of a small call.

    Parameters
    ----------
    specs, dims, native
        As of `fast_entry`.
    run : callable
        The program: it takes the values and then the sizes in `dims`.
    grouping : str
        An expression of the results `r`.
    table : mapping of str to object
        The names in it.
    """
    tests, sizes = _tests(specs, len(native) == 1)
    if tests is None or any(dim not in sizes for dim in dims):
        return lambda *args: None
    given = [f"v{i}" for i in range(len(specs))]
    lines = [
        f"def enter({''.join([f'{name}=None, ' for name in given])}*more):",
        "    if more: return None",
        *_all_test_lines(tests, specs, native, floats=False),
        f"    r = run({', '.join([*given, *[sizes[dim] for dim in dims]])})",
        f"    return {grouping}",
    ]
    return _defined(lines, specs, native, {"run": run, **table})


def _defined(
    lines: Sequence[str],
    specs: Sequence[tuple[np.dtype[Any], Shape]],
    native: Sequence[type[Any]],
    more: Mapping[str, Any],
) -> Callable[..., Any]:
    """The function `enter` of this source."""
    table: dict[str, Any] = {"__builtins__": {}, "type": type, "len": len, "float": float, **more}
    own = native[0] if len(native) == 1 else frozenset(native)
    table.update(native=own, float64=np.float64, array=np.array)
    for i, (dtype, shape) in enumerate(specs):
        table.update({f"t{i}": np.dtype(dtype.type), f"s{i}": shape})
    exec(compile("\n".join(lines), "<symgraph entry>", "exec", dont_inherit=True), table)
    return table["enter"]


_FLOAT: tuple[np.dtype[Any], Shape] = (np.dtype(np.float64), ())


def _all_test_lines(
    tests: Sequence[str],
    specs: Sequence[tuple[np.dtype[Any], Shape]],
    native: Sequence[type[Any]],
    floats: bool,
) -> list[str]:
    numbers = np.ndarray in native
    return [
        line
        for i, (test, spec) in enumerate(zip(tests, specs, strict=True))
        for line in _test_lines(i, test, numbers and spec == _FLOAT, floats)
    ]


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
    specs: Sequence[tuple[np.dtype[Any], Shape]], single: bool
) -> tuple[list[str] | None, dict[str, str]]:
    """A condition for each input, and the variable that holds the size of each named dimension.

    The conditions are None if a dimension is computed from others.
    """
    sizes: dict[str, str] = {}
    tests: list[str] = []
    own = "is native" if single else "in native"
    for i, (_, shape) in enumerate(specs):
        # Almost all arrays of one dtype share a dtype object, and `is` is faster than `==`.
        test = [f"type(v{i}) {own}", f"(v{i}.dtype is t{i} or v{i}.dtype == t{i})"]
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
