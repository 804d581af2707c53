"""A guard over results: a NaN or an infinity raises an error that names where it began.

The program runs as without a guard, and each of its results is looked through once. Only if a bad
number is found, all is computed again, operation by operation, to find the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, get_args

import numpy as np

from ..errors import BackendError, InputError, NonFiniteError
from ..ir.bad_numbers import BadNumber, Cause, bad_elements, cause_of
from ..ir.dag import Dag
from ..ir.dims import bind
from ..ir.node import Node, Origin
from ..ir.op import carries_aligned
from ..ir.origins import origins

__all__ = ["with_finite_results"]

_NAMES = {"nan": "NaN", "inf": "NaN or an infinity"}


class _Reads(Protocol):
    """A backend, as far as its numbers are read."""

    def to_numpy(self, value: Any) -> np.ndarray[Any, Any]: ...


def with_finite_results(
    run: Callable[..., Sequence[Any]],
    dag: Dag,
    dims: Sequence[str],
    backend: _Reads,
    debug: str,
) -> Callable[..., Sequence[Any]]:
    """`run`, whose results are looked through.

    Parameters
    ----------
    run : callable
        As of `Compiled`.
    dag : Dag
    dims : sequence of str
        The named dimensions whose sizes stand behind the inputs.
    backend : Backend
    debug : "nan" or "inf"

    Raises
    ------
    InputError
        If `debug` is another one.
    """
    if debug not in get_args(BadNumber):
        raise InputError(
            f"debug={debug!r} is none of the guards.",
            mend='Pass "nan", or "inf" to look for infinities, too.',
        )
    kind: Any = debug

    def guarded(*values: Any) -> Sequence[Any]:
        results = run(*values)
        for number, result in enumerate(results):
            if bad_elements(_read(backend, result), kind).any():
                count = len(dag.inputs)
                arrays = [_read(backend, value) for value in values[:count]]
                raise _error(
                    dag, arrays, dict(zip(dims, values[count:], strict=True)), kind, number
                )
        return results

    return guarded


def _read(backend: _Reads, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, (np.ndarray, np.generic, float, int)):
        return np.asarray(value)
    try:
        return np.asarray(backend.to_numpy(value))
    except Exception as error:
        raise BackendError(
            f"debug= looks at numbers, and this {type(value).__name__} has none yet.",
            mend="Call the function outside of the other library's transformations.",
        ) from error


def _error(
    dag: Dag, arrays: Sequence[Any], env: dict[str, int], kind: BadNumber, number: int
) -> NonFiniteError:
    for node, array in zip(dag.inputs.values(), arrays, strict=True):
        bind(node.aval.shape, array.shape, env)
    cause = cause_of(dag, dict(zip(dag.inputs, arrays, strict=True)), env, kind)
    if cause is None:
        return NonFiniteError(
            f"Output {dag.names[number]!r} holds {_NAMES[kind]}, but none of its operations "
            "does when each is computed by itself.",
            mend='Lower with backend="numpy" and floats=False, and report it, please.',
            output=dag.names[number],
        )
    return _told(dag, cause, kind)


def _told(dag: Dag, cause: Cause, kind: BadNumber) -> NonFiniteError:
    node = cause.node
    known = origins(cause.nodes)
    origin = known[node]
    output = dag.names[cause.output]
    rows = [_row("result", cause.value, cause.index, kind, _where(origin))]
    for place, (operand, value) in enumerate(zip(node.operands, cause.operands, strict=True)):
        at = _aligned(node, value, cause.index)
        rows.append(_row(f"operand {place}", value, at, kind, _origin(operand, known)))
    if origin.rule:
        rows.append(f"it is there by the rule {origin.rule}")
    if cause.step is not None:
        rows.append(f"in call {cause.step} of the body of a loop or branch, counted from 0")
    rows.append(f"it reaches output {output!r} at {list(cause.reached)}")
    gradient = origin.adjoint_of is not None
    what, mend = _headline(node, cause, origin)
    return NonFiniteError(
        what,
        rows,
        mend,
        operation=node.op.name,
        lines=origin.frames,
        gradient=gradient,
        index=cause.index,
        output=output,
    )


def _headline(node: Node, cause: Cause, origin: Origin) -> tuple[str, str]:
    number = _number(_part(cause.value, cause.index)[cause.index])
    if node.is_input:
        name = node.params["name"]
        return (
            f"Input {name!r} holds {number}, and a result depends on it.",
            "Pass other numbers, or replace these: np.nan_to_num(x), np.where(np.isfinite(x), x, "
            "0).",
        )
    if node.is_constant:
        return (
            f"A constant holds {number}, and a result depends on it.",
            "Constants are read when the function is traced: mend the array before that.",
        )
    name = node.op.name
    of = ""
    if origin.adjoint_of is not None:
        of = f", in the gradient of {origin.adjoint_of.op.name},"
    what = f"{name}{of} gives {number} by itself: no operand brings it."
    infinite = any(np.isinf(_floats(each)).any() for each in cause.operands)
    if infinite:
        return what, 'An operand is infinite: debug="inf" tells where that began.'
    return what, (
        f"Keep the operands where {name} is finite: clip them, or choose safe ones where the "
        "result is not used, as in np.where(ok, np.log(np.where(ok, x, 1)), 0)."
    )


def _floats(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value) if not isinstance(value, tuple) else np.zeros(0)
    return array if array.dtype.kind == "f" else np.zeros(0)


def _part(value: Any, index: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Of several results the one that has this element bad."""
    if not isinstance(value, (tuple, list)):
        return np.asarray(value)
    parts: list[Any] = [np.asarray(each) for each in value]
    fits = [each for each in parts if each.ndim == len(index)]
    return next((each for each in fits if not np.isfinite(each[index])), fits[0])


def _number(value: Any) -> str:
    return "NaN" if np.isnan(value) else f"{value:g}"


def _row(name: str, value: Any, index: tuple[int, ...] | None, kind: BadNumber, where: str) -> str:
    """Dtype, shape, range and the element that counts, then the user's line."""
    array = _part(value, index or ())
    parts = [f"{array.dtype}[{', '.join(map(str, array.shape))}]"]
    real = array.dtype.kind in "fiu"
    good = array[np.isfinite(array)] if real else array[:0] if array.ndim else np.zeros(0)
    if array.size == 1 and real:
        parts.append(f"{array.item():g}")
    elif good.size:
        parts.append(f"from {good.min():g} to {good.max():g}")
    bad = bad_elements(array, kind)
    if bad.any() and array.ndim:
        parts.append(f"{int(bad.sum())} of {array.size} elements bad")
    if index and real and array.size > 1:
        parts.append(f"{array[index]:g} at {list(index)}")
    return f"{name:10} {', '.join(parts)}   {where}".rstrip()


def _aligned(node: Node, value: Any, index: tuple[int, ...]) -> tuple[int, ...] | None:
    """The element of an operand that makes the element of an elementwise result; else None."""
    if node.op.carries is not carries_aligned or isinstance(value, tuple):
        return None
    shape = np.shape(value)
    last = index[len(index) - len(shape) :]
    return tuple([i if n > 1 else 0 for i, n in zip(last, shape, strict=True)])


def _where(origin: Origin) -> str:
    kind = "gradient of " if origin.adjoint_of is not None else "from "
    return kind + origin.frames[0].quoted() if origin.frames else ""


def _origin(node: Node, known: Any) -> str:
    if node.is_input:
        return f"input {node.params['name']!r}"
    if node.is_constant:
        return "constant"
    return f"{node.op.name} {_where(known[node])}".rstrip()
