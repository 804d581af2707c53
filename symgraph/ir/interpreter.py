"""The plain interpreter: node by node in the order of the graph, nothing fused, nothing reused.

It is the reference that every faster path is tested against, so it stays simple on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, cast

import numpy as np

from ..errors import FactError, InputError
from ..facts import violation
from ..namespace.namespace import NUMPY, Namespace
from .avals import refuse_other_arrays
from .dag import Dag
from .dims import bind, resolve, show_shape
from .node import Node

__all__ = [
    "bound_inputs",
    "bound_kernel",
    "check_facts",
    "evaluate",
    "given_inputs",
    "kernel_on_numpy",
    "results_read",
    "run",
    "values_of",
]

Value = Any


def bound_inputs(
    inputs: Mapping[str, Node], given: Mapping[str, Any], dims: Mapping[str, int] | None = None
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, int]]:
    """The given values as arrays of the declared dtypes, and the sizes of named dimensions.

    Nothing is copied where dtype and layout fit already; nothing given is ever written to.

    Raises
    ------
    InputError
        Missing or unknown names, shapes that do not fit, dtypes that would lose digits.
    """
    missing = [name for name in inputs if name not in given]
    unknown = [name for name in given if name not in inputs]
    if missing or unknown:
        wrong = f"missing {', '.join(missing)}" if missing else f"unknown {', '.join(unknown)}"
        raise InputError(
            f"The inputs do not match: {wrong}.",
            _rows(inputs),
            mend="Pass each input above by its name.",
        )
    env: dict[str, int] = dict(dims or {})
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, node in inputs.items():
        array = _as_declared(name, node, given[name])
        if not bind(node.aval.shape, array.shape, env):
            sizes = {dim: env[dim] for dim in node.aval.dim_names if dim in env}
            known = f" with {', '.join(f'{k}={v}' for k, v in sizes.items())}" if sizes else ""
            raise InputError(
                f"Input {name!r} has shape {show_shape(array.shape)}, "
                f"but {show_shape(node.aval.shape)} was declared{known}.",
                [f"declared at {node.origin}"] if str(node.origin) else [],
            )
        arrays[name] = array
    return arrays, env


def given_inputs(
    declared: Mapping[str, Node],
    args: Sequence[Any],
    named: Mapping[str, Any],
    keywords: Sequence[str] = (),
) -> dict[str, Any]:
    """Inputs given in their order, or as a mapping, and by name, together.

    Parameters
    ----------
    declared : mapping
        The inputs of a graph.
    args : sequence
        One mapping, of any names; or numbers for the first inputs.
    named : mapping
    keywords : sequence of str
        Names that have another meaning as keywords, so that inputs cannot be given by them.

    Raises
    ------
    InputError
        If there are too many, an input is given twice, or its name is one of the keywords and it is
        given in no other way.
    """
    if len(args) == 1 and isinstance(args[0], Mapping):
        given = dict(cast("Mapping[str, Any]", args[0]))
    elif len(args) > len(declared):
        raise InputError(
            f"{len(args)} inputs are given, but the graph has {len(declared)}.",
            _rows(declared),
            mend="Give them in the order above, or by name.",
        )
    else:
        given = dict(zip(declared, args, strict=False))
    for name in keywords:
        if name in declared and name not in given:
            raise InputError(
                f"An input is named {name!r}, and so is a keyword of this method.",
                _rows(declared),
                mend=f'Pass inputs as a mapping: {{"{name}": ..., ...}} as first argument.',
            )
    twice = [name for name in named if name in given]
    if twice:
        raise InputError(
            f"Input {twice[0]!r} is given twice, {_first_way(args)} and by name.",
            mend="Give each input once.",
        )
    return {**given, **named}


def _rows(declared: Mapping[str, Node]) -> list[str]:
    return [f"{name}: {node.aval}" for name, node in declared.items()]


def _first_way(args: Sequence[Any]) -> str:
    return "in the mapping" if isinstance(args[0], Mapping) else "by position"


def check_facts(inputs: Mapping[str, Node], arrays: Mapping[str, Any]) -> None:
    """Check numbers against the facts stated of inputs.

    Raises
    ------
    FactError
        Naming the input, the fact, a value that contradicts it and the line that stated it.
    """
    for name, node in inputs.items():
        for fact in node.params["assume"]:
            wrong = violation(fact, np.asarray(arrays[name]))
            if wrong is not None:
                frames = node.origin.frames
                raise FactError(
                    f"Input {name!r} is not {fact}, as was stated of it.",
                    [f"{name}{wrong}", *(f"stated at {each.quoted()}" for each in frames[:1])],
                    mend="Pass numbers that satisfy it, or leave the fact out of assume=.",
                )


def _as_declared(name: str, node: Node, value: object) -> np.ndarray[Any, Any]:
    wanted = node.aval.dtype
    if value is None:
        raise InputError(
            f"Input {name!r} is None, but {node.aval} was declared.", mend="Pass an array for it."
        )
    refuse_other_arrays(value, f"Input {name!r}")
    typed = hasattr(value, "dtype")
    try:
        array = cast("np.ndarray[Any, Any]", np.asarray(value))
    except (ValueError, TypeError, RuntimeError) as error:  # the last of a tensor on its tape
        raise InputError(f"Input {name!r} is not an array of numbers: {error}") from error
    if array.dtype == wanted:
        return array
    same_kind = not typed and np.can_cast(array.dtype, wanted, "same_kind")
    if array.dtype.kind in "biuf" and (np.can_cast(array.dtype, wanted, "safe") or same_kind):
        return array.astype(wanted)
    raise InputError(
        f"Input {name!r} has dtype {array.dtype}, but {wanted} was declared.",
        mend=f"Convert it where it is made: {name}.astype({str(wanted)!r}).",
    )


def run(
    node: Node,
    operands: Sequence[Value],
    env: Mapping[str, int],
    xp: Namespace = NUMPY,
    keep: tuple[bool, ...] | None = None,
) -> Value:
    """The value of one node from its operands' values; of a lazy one, the results to keep."""
    return bound_kernel(node, env, xp, keep)(*operands)


def bound_kernel(
    node: Node,
    env: Mapping[str, int],
    xp: Namespace = NUMPY,
    keep: tuple[bool, ...] | None = None,
) -> Callable[..., Value]:
    """The kernel of a node as a function of its operands' values alone."""
    params = {name: resolve(value, env) for name, value in node.params.items()}
    if keep is not None:
        params["keep"] = keep
    on_numpy = xp.module is NUMPY.module
    kernel = kernel_on_numpy(node, of_many=xp is NUMPY) if on_numpy else node.op.kernel
    return partial(kernel, xp, **params)


_MANY = 256
"""From so many elements on a call of NumPy's costs little beside the elements."""


def kernel_on_numpy(node: Node, *, of_many: bool = True) -> Callable[..., Any]:
    """The kernel on NumPy's arrays: its own, or the faster at this shape.

    It depends on the node alone, so that every program gives the same bits as the interpreter. A
    named dimension counts as large. Machine code has no use for a kernel `of_many` elements.
    """
    if node.dtype.itemsize < 4:
        return node.op.kernel  # In half precision intermediate results would lose digits.
    if node.op.kernel_on_numpy is not None:
        return node.op.kernel_on_numpy
    if node.op.kernel_of_many is None or not of_many:
        return node.op.kernel
    known = [dim for dim in node.shape if isinstance(dim, int)]
    least = node.op.many if node.dtype == np.float64 else _MANY
    many = len(known) < node.ndim or prod(known) >= least
    return node.op.kernel_of_many if many else node.op.kernel


def results_read(order: Iterable[Node]) -> dict[Node, tuple[bool, ...]]:
    """For each node of a lazy operation with several results, which of them something reads."""
    read: dict[Node, set[int]] = {}
    for node in order:
        if node.op.lazy and len(node.results) > 1:
            read.setdefault(node, set())
        elif node.op.name == "project" and node.operands[0] in read:
            read[node.operands[0]].add(node.params["index"])
    return {
        node: tuple([index in found for index in range(len(node.results))])
        for node, found in read.items()
    }


def evaluate(
    dag: Dag,
    given: Mapping[str, Any],
    dims: Mapping[str, int] | None = None,
    xp: Namespace = NUMPY,
) -> list[Value]:
    """The value of each output.

    Parameters
    ----------
    dag : Dag
    given : mapping of str to array_like
        One array an input.
    dims : mapping of str to int, optional
        Sizes of named dimensions that no input brings.
    xp : Namespace
        Where kernels run.

    Raises
    ------
    InputError
        As `bound_inputs`.
    """
    arrays, env = bound_inputs(dag.inputs, given, dims)
    values: dict[Node, Value] = {node: arrays[name] for name, node in dag.inputs.items()}
    order = dag.nodes if dag.schedule is None else dag.schedule
    last_use = {operand: node for node in order for operand in node.operands}
    kept = set(dag.outputs)
    read = results_read(order)
    with np.errstate(all="ignore"):
        for node in order:
            if node.is_input:
                continue
            operands = [values[operand] for operand in node.operands]
            values[node] = run(node, operands, env, xp, read.get(node))
            for operand in set(node.operands):
                if last_use[operand] is node and operand not in kept:
                    del values[operand]
    return [_fresh(values[output], output) for output in dag.outputs]


def values_of(
    nodes: Iterable[Node],
    inputs: Mapping[str, Node],
    arrays: Mapping[str, Any],
    env: Mapping[str, int],
) -> dict[Node, Value]:
    """The value of every one of `nodes`, which stand operands first; nothing is let go."""
    values: dict[Node, Value] = {node: arrays[name] for name, node in inputs.items()}
    with np.errstate(all="ignore"):
        for node in nodes:
            if node not in values:
                values[node] = run(node, [values[each] for each in node.operands], env)
    return values


def _fresh(value: Value, node: Node) -> Value:
    """An output the caller may write to: never an input, a constant or a view of one."""
    if isinstance(value, np.ndarray):
        return np.array(cast("Any", value))
    if isinstance(value, np.generic):
        return np.asarray(value)
    return value
