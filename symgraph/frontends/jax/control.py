"""Primitives of JAX with functions in them: calls, loops, branches, rules of derivatives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ...ops.custom_vjp import custom_vjp
from ..functions import f
from ..spelling import Refused, present
from .elementwise import known_number
from .systems import determinant_of, linear_solve, primitives

__all__ = ["CONTROL"]


class RunsJaxprs(Protocol):
    """The walk: it gives the results of a function of JAX for symbolic arrays."""

    def of(self, jaxpr: Any, operands: Sequence[Any]) -> list[Any]:
        """The results of a closed or an open jaxpr."""
        ...

    def precision(self) -> AbstractContextManager[Any]:
        """JAX's setting of double precision under which the function was read."""
        ...


# -- calls -----------------------------------------------------------------------------------------
def _call(name: str) -> Callable[..., Any]:
    def call(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
        return walk.of(equation.params[name], operands)

    return call


def _platform(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    """The place of the branch for the CPU, or of that for any other platform."""
    known = [each or ("cpu",) for each in equation.params["platforms"]]
    place = next((place for place, each in enumerate(known) if "cpu" in each), None)
    if place is None:
        raise Refused("has no branch for the CPU", "Add a default to jax.lax.platform_dependent.")
    return [f.asarray(place, "int32")]


# -- rules of derivatives --------------------------------------------------------------------------
_FACTORS = frozenset(["eigh", "lu", "qr", "svd"])


def _is_jaxs_own(jaxpr: Any) -> bool:
    """Whether a function stands in JAX itself, as `jax.nn.relu` does.

    Its own rule says what the derived gradient says, and stabler; the graph is stabilised anyway.
    """
    file = str(getattr(jaxpr.jaxpr.debug_info, "func_filename", None) or "")
    return file.startswith(os.path.dirname(str(import_module("jax").__file__)))


def _with_rule(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    """A function with a derivative of its own, which JAX itself applies."""
    return _ruled(walk, equation, equation.params["call_jaxpr"], operands)


def _ruled(walk: RunsJaxprs, equation: Any, body: Any, operands: Sequence[Any]) -> list[Any]:
    """The results of a function, with the derivative that JAX has for that of the equation."""
    present(operands)
    floats = [place for place, each in enumerate(operands) if each.dtype.kind == "f"]
    if _is_jaxs_own(body):
        determinant = determinant_of(equation, operands)
        if determinant is not None:
            return determinant
        # Derivatives through factors are worse: those of `pinv` would be NaN for equal values.
        floats = floats if _FACTORS.intersection(primitives(body.jaxpr)) else []
    if not floats:
        return walk.of(body, operands)

    with walk.precision():  # A rule may be asked for later, under other settings.
        pulled = _pulled_back(equation, body.jaxpr.debug_info, floats)

    def forward(*args: Any) -> Any:
        found = walk.of(body, args)
        return tuple(found) if len(found) > 1 else found[0]

    def backward(ct: Any, out: Any, *args: Any) -> Any:
        cts = ct if isinstance(ct, tuple) else (ct,)
        found = walk.of(pulled, [*args, *cts])
        slopes = dict(zip(floats, found, strict=True))
        return tuple([slopes.get(place) for place in range(len(args))])

    found = custom_vjp(forward, backward)(*operands)
    return list(found) if isinstance(found, tuple) else [found]


def _pulled_back(equation: Any, told: Any, floats: Sequence[int]) -> Any:
    """The jaxpr from operands and cotangents to the cotangents of the floating operands."""
    jax, core = import_module("jax"), import_module("jax.extend.core")
    variables = [core.Var(each.aval) for each in equation.invars]
    own = equation.replace(invars=variables)
    alone = core.Jaxpr([], variables, equation.outvars, [own], debug_info=told)
    function = core.jaxpr_as_fun(core.ClosedJaxpr(alone, []))
    none = jax.dtypes.float0  # The dtype of cotangents of whole numbers.

    def pulled(args: Any, cts: Any) -> Any:
        def of_floats(*given: Any) -> Any:
            every = list(args)
            for place, value in zip(floats, given, strict=True):
                every[place] = value
            return function(*every)

        given = [ct if _is_float(ct) else np.zeros(ct.shape, none) for ct in cts]
        return jax.vjp(of_floats, *[args[place] for place in floats])[1](given)

    return jax.make_jaxpr(pulled)(_described(variables), _described(equation.outvars))


def _is_float(x: Any) -> bool:
    return np.dtype(x.dtype).kind == "f"


def _described(variables: Sequence[Any]) -> list[Any]:
    """Shapes and dtypes to trace a function of JAX for."""
    shape = import_module("jax").ShapeDtypeStruct
    return [shape(each.aval.shape, each.aval.dtype) for each in variables]


_PLAIN = frozenset(
    ["CheckpointName", "Einsum", "Nonzero", "OptRemat", "RematTraced", "SearchSorted"]
)
"""Operations of JAX 0.12 whose derivative is that of the primitives they consist of."""


def _high(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    """An operation that JAX keeps whole till it is lowered: the primitives it consists of."""
    jax, whole = import_module("jax"), equation.params["_prim"]

    def parts(*args: Any) -> Any:
        return jax.tree.leaves(whole.expand(*jax.tree.unflatten(whole.in_tree, args)))

    with walk.precision():
        body = jax.make_jaxpr(parts)(*_described(equation.invars))
    if type(whole).__name__ in _PLAIN:
        return walk.of(body, operands)
    return _ruled(walk, equation, body, operands)


# -- loops and branches ----------------------------------------------------------------------------
def _scan(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    present(operands)
    params = equation.params
    if "ft_in" in params:  # From JAX 0.12 on.
        consts, carries, _ = map(len, params["ft_in"].unpack())
    else:
        consts, carries = params["num_consts"], params["num_carry"]
    fixed, init = operands[:consts], tuple(operands[consts : consts + carries])
    xs = tuple(operands[consts + carries :])

    def step(carry: Any, slices: Any) -> Any:
        found = walk.of(params["jaxpr"], [*fixed, *carry, *(slices or ())])
        return tuple(found[:carries]), tuple(found[carries:])

    last, stacked = f.scan(step, init, xs or None, params["length"], reverse=params["reverse"])
    return [*last, *stacked]


def _while(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    present(operands)
    params = equation.params
    tested, stepped = params["cond_nconsts"], params["body_nconsts"]
    of_test, of_step = operands[:tested], operands[tested : tested + stepped]

    def test(carry: Any) -> Any:
        return walk.of(params["cond_jaxpr"], [*of_test, *carry])[0]

    def step(carry: Any) -> Any:
        return tuple(walk.of(params["body_jaxpr"], [*of_step, *carry]))

    return list(f.while_loop(test, step, tuple(operands[tested + stepped :])))


def _cond(walk: RunsJaxprs, equation: Any, operands: Sequence[Any]) -> list[Any]:
    params = equation.params
    present(operands)
    which, *given = operands
    branches = list(params["branches"])
    place = known_number(which)
    if place is not None:
        return walk.of(branches[min(max(int(place), 0), len(branches) - 1)], given)

    def chosen(place: int) -> Callable[..., Any]:
        def branch(*args: Any) -> Any:
            if place == len(branches) - 1:
                return tuple(walk.of(branches[place], args))
            return tuple(f.cond(which <= place, run(place), chosen(place + 1), *args))

        return branch

    def run(place: int) -> Callable[..., Any]:
        return lambda *args: tuple(walk.of(branches[place], args))

    if which.dtype.kind == "b":
        return list(f.cond(which, run(1), run(0), *given))
    return list(chosen(0)(*given))


CONTROL: dict[str, Callable[..., Any]] = {
    # "pjit" is the name of "jit" in older versions.
    **dict.fromkeys(["jit", "pjit", "remat2"], _call("jaxpr")),
    "custom_jvp_call": _with_rule,
    "custom_vjp_call": _with_rule,
    "call_hi_primitive": _high,
    "eval_jaxpr": _call("call_jaxpr"),
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "platform_index": _platform,
    "custom_linear_solve": lambda _walk, equation, operands: linear_solve(equation, operands),
}
