"""The source of a function on Python's floats: it refuses other inputs, and gives arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..ir.dag import Dag
from .comments import commented, remark
from .floats import float_lines, nested
from .statements import Program, Statement
from .unrolled import unrolled

__all__ = ["float_function"]

Row = tuple[str, Statement | None]
"""A line, and the statement that it is."""


def float_function(program: Program, apart: bool) -> list[Row]:
    """The lines of `floats(inputs..., *more)`; none if the program needs arrays.

    It gives None for inputs that are not floats, or arrays of floats, as they are declared.

    Parameters
    ----------
    program : Program
    apart : bool
        Whether each statement has a line of its own.
    """
    lines, elements = float_lines(program), dict[str, tuple[str, ...]]()
    dense: Collection[str] = ()
    results: list[tuple[tuple[int, ...], list[str]]] = [((), [name]) for name in program.results]
    if lines is None:
        arrays = unrolled(program)
        if arrays is None:
            return []
        lines, elements, results = arrays.lines, arrays.elements, arrays.results
        dense = arrays.dense_inputs
    rows: list[Row] = [
        ("# On Python's floats. Where this raises, as 1.0 / 0.0 does, `program` is called.", None),
        (f"def floats({''.join([f'{name}=None, ' for name in program.inputs])}*more):", None),
        (f"    if {_refused(program.inputs, program.dag, dense)}: return None", None),
    ]
    for name, node in zip(program.inputs, program.dag.inputs.values(), strict=True):
        if not elements.get(name):
            continue
        flat = name if node.ndim == 1 else f"{name}.ravel()"
        names = elements[name]
        rows.append((f"    {', '.join(names)}, = {flat}.tolist()", None))
    wanted = [each for _, texts in results for each in texts]
    for target, text, statement in lines if apart else nested(lines, wanted):
        comment = remark(statement.node, statement.avals)
        rows.append((f"    {commented(f'{target} = {text}', comment)}", statement))
    given = ", ".join([_array(*each) for each in results])
    return [
        *rows,
        (f"    return ({given},)" if results else "    return ()", None),
        ("", None),
        ("", None),
    ]


def _array(shape: tuple[int, ...], texts: Sequence[str]) -> str:
    """An array of these elements."""
    if not shape:
        return f"array({texts[0]})"
    flat = f"array([{', '.join(texts)}])"
    return flat if len(shape) == 1 else f"{flat}.reshape({', '.join(map(str, shape))})"


def _refused(names: Sequence[str], dag: Dag, dense: Collection[str]) -> str:
    """A condition: the inputs are not as declared, or those that must be are not dense."""
    tests = ["more"]
    floats = [name for name, node in zip(names, dag.inputs.values(), strict=True) if not node.ndim]
    if floats:
        tests.append(f"not ({''.join([f'type({name}) is ' for name in floats])}float)")
    for name, node in zip(names, dag.inputs.values(), strict=True):
        if node.ndim:
            shape = "".join([f"{size}, " for size in node.shape])
            tests.append(f"type({name}) is not ndarray")
            tests.append(f"{name}.dtype is not float64 or {name}.shape != ({shape.strip()})")
            if name in dense:
                tests.append(f"not {name}.flags.c_contiguous")
    return " or ".join(tests)
