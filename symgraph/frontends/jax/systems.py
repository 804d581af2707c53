"""Linear systems and determinants of JAX, read by what they mean.

JAX writes `jnp.linalg.solve` as a factorization, two triangular solves and a note of the product
that they undo; a determinant as a factorization and a rule of its derivative. Here a system is
solved by the matrix of that product, and a determinant is one operation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from ...ir.dag import Dag
from ...ir.interpreter import evaluate
from ...ir.walks import reachable
from ..functions import f
from ..spelling import Refused

__all__ = ["determinant_of", "linear_solve", "primitives"]

_NO_MATRIX = "solves a system that is not written as one product with a matrix"
_LOOPS = frozenset(["while", "scan"])


def primitives(jaxpr: Any) -> Iterator[str]:
    """The names of the primitives of a jaxpr, and of the functions in it."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for param in equation.params.values():
            for part in param if isinstance(param, (tuple, list)) else (param,):
                inner = getattr(part, "jaxpr", part)
                if hasattr(inner, "eqns"):
                    yield from primitives(inner)


# -- systems ---------------------------------------------------------------------------------------
def linear_solve(equation: Any, operands: Sequence[Any]) -> list[Any]:
    """The solution of a system whose product is one of a matrix.

    Raises
    ------
    Refused
        If the product is another one, or the system is not solved by factors of the matrix.
    """
    product = equation.params["jaxprs"].matvec
    steps = {*primitives(equation.params["jaxprs"].solve.jaxpr)}
    if _LOOPS & steps:
        raise Refused("solves by iteration", "Use jnp.linalg.solve, or write the iteration out.")
    matrices, sides = equation.params["const_lengths"].matvec, len(equation.outvars)
    if matrices != 1 or sides != 1 or product.consts:
        raise Refused(_NO_MATRIX)
    axes_of_matrix, axes_of_side, result = _axes(product.jaxpr)
    if "triangular_solve" not in steps:
        raise Refused("solves in a way that may not be exact", "Use jnp.linalg.solve.")
    return [_solution(operands[0], operands[-1], axes_of_matrix, axes_of_side, result)]


def _axes(jaxpr: Any) -> tuple[list[int], list[int], list[int]]:
    """A number for each axis of the matrix, the vectors and the product; equal where they meet."""
    numbers = count()
    matrix, side = jaxpr.invars
    axes = {each: [next(numbers) for _ in each.aval.shape] for each in (matrix, side)}
    multiplied = False
    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        given = equation.invars
        if name == "dot_general" and {*given} == {matrix, side} and not multiplied:
            multiplied = True
            one, other = given
            found = _product(axes[one], axes[other], params["dimension_numbers"])
        elif name == "transpose":
            found = [axes[given[0]][axis] for axis in params["permutation"]]
        elif name == "reduce_sum" and not params["axes"]:
            found = axes[given[0]]
        else:
            raise Refused(_NO_MATRIX)
        axes[equation.outvars[0]] = found
    (out,) = jaxpr.outvars
    if not multiplied or out not in axes:
        raise Refused(_NO_MATRIX)
    return axes[matrix], axes[side], axes[out]


def _product(one: list[int], other: list[int], dimension_numbers: Any) -> list[int]:
    """The axes of a product; those of the operands that meet get one number."""
    (left, right), (left_batch, right_batch) = dimension_numbers
    for here, there in (*zip(left_batch, right_batch, strict=True), *zip(left, right, strict=True)):
        other[there] = one[here]
    return [
        *[one[axis] for axis in left_batch],
        *[each for axis, each in enumerate(one) if axis not in {*left_batch, *left}],
        *[each for axis, each in enumerate(other) if axis not in {*right_batch, *right}],
    ]


def _solution(a: Any, b: Any, of_a: list[int], of_b: list[int], of_product: list[int]) -> Any:
    shared = [axis for axis in of_b if axis in of_a]
    summed = [axis for axis in shared if axis not in of_product]
    rows = [axis for axis in of_a if axis not in of_b]
    if len(summed) != 1 or len(rows) != 1:
        raise Refused(_NO_MATRIX)
    if of_product != [rows[0] if axis == summed[0] else axis for axis in of_b]:
        raise Refused(_NO_MATRIX)
    batch = [axis for axis in shared if axis != summed[0]]
    sides = [axis for axis in of_b if axis not in of_a]
    a = _ordered(a, of_a, [*batch, *rows, *summed])
    order = [*batch, *summed, *sides]
    b = _ordered(b, of_b, order)
    if len(sides) == 1 and _is_identity(b):
        found = f.inv(a)
    elif len(sides) == 1 or (not batch and not sides):
        found = f.solve(a, b)
    else:
        columns = f.reshape(b, (*b.shape[: len(batch) + 1], -1))
        found = f.reshape(f.solve(a, columns), b.shape)
    return _ordered(found, order, of_b)


def _is_identity(x: Any) -> bool:
    """Whether right sides that depend on no input are unit matrices, as those of an inverse are."""
    if any(node.is_input for node in reachable([x.node])):
        return False
    (value,) = evaluate(Dag({}, [x.node]), {})
    return value.shape[-1] == value.shape[-2] and bool(np.all(value == np.eye(value.shape[-1])))


def _ordered(x: Any, given: list[int], wanted: list[int]) -> Any:
    if given == wanted:
        return x
    return f.transpose(x, tuple([given.index(axis) for axis in wanted]))


# -- determinants ----------------------------------------------------------------------------------
_DETERMINANTS = {"_det": (f.det, 1), "_slogdet_lu": (f.slogdet, 2)}


def determinant_of(equation: Any, operands: Sequence[Any]) -> list[Any] | None:
    """The determinant, or its sign and logarithm, if a function with a rule is JAX's of these."""
    body = equation.params["call_jaxpr"].jaxpr
    told = body.debug_info
    file = os.path.basename(str(getattr(told, "func_filename", None) or ""))
    function, results = _DETERMINANTS.get(str(getattr(told, "func_name", "")), (None, 0))
    if function is None or file != "linalg.py" or len(operands) != 1:
        return None
    (x,) = operands
    shapes = [tuple(each.aval.shape) for each in equation.outvars]
    if shapes != [x.shape[:-2]] * results or not _is_factorized(body, body.invars[0]):
        return None
    found = function(x)
    return [found] if results == 1 else list(found)


def _is_factorized(jaxpr: Any, matrix: Any) -> bool:
    """Whether the matrix itself, and not another arrangement of it, is factorized and no more."""
    readers = [each for each in jaxpr.eqns if matrix in each.invars]
    if len(readers) != 1 or len(readers[0].invars) != 1:
        return False
    (reader,) = readers
    if reader.primitive.name == "lu":
        return True
    inner = reader.params.get("jaxpr") or reader.params.get("call_jaxpr")
    inner = getattr(inner, "jaxpr", inner)
    return inner is not None and _is_factorized(inner, inner.invars[0])
