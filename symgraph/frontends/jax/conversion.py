"""The walk over a jaxpr: each equation becomes nodes here, made at the function's line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...errors import DTypeError, InputError, SymgraphError
from ...extras import module_of_extra
from ...ir.avals import Aval, supported_dtype
from ...ir.node import Origin, origin
from ...source import Frame
from ..functions import f
from ..spelling import Refused, SpelledCall, bindable, fitting, present
from .control import CONTROL
from .table import IGNORED, TABLE

__all__ = ["Walk", "aval_of", "jax_module"]


def jax_module(name: str = "jax") -> Any:
    """The package `jax`, or a module of it.

    Raises
    ------
    SymgraphError
        If it is not installed.
    """
    return module_of_extra(name, "jax", "Functions of JAX")


def aval_of(described: Any) -> Aval:
    """The dtype and shape that JAX tells of a value.

    Raises
    ------
    DTypeError
        If graphs have no such dtype.
    """
    try:
        dtype = supported_dtype(np.dtype(described.dtype))
    except (TypeError, DTypeError):
        raise DTypeError(
            f"The function has values of dtype {described.dtype}, which graphs do not have.",
            mend="Random keys and complex numbers have no counterpart; make samples an argument.",
        ) from None
    return Aval(dtype, tuple([int(size) for size in described.shape]))


class Walk:
    """Runs jaxprs on symbolic arrays."""

    def __init__(self) -> None:
        self._inside = os.path.dirname(str(jax_module().__file__))
        self._doubles = bool(jax_module().config.jax_enable_x64)
        self._ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    def precision(self) -> AbstractContextManager[Any]:
        """JAX's setting of double precision under which the function was read."""
        jax = jax_module()
        home = jax if hasattr(jax, "enable_x64") else jax_module("jax.experimental")
        return home.enable_x64(self._doubles)

    def of(self, jaxpr: Any, operands: Sequence[Any]) -> list[Any]:
        """The results of a jaxpr.

        Parameters
        ----------
        jaxpr : closed or open jaxpr
        operands : sequence of Array

        Raises
        ------
        InputError
            If a primitive has no counterpart; it names the primitive and the function's line.
        """
        consts: Sequence[Any] = ()
        if hasattr(jaxpr, "consts"):
            jaxpr, consts = jaxpr.jaxpr, jaxpr.consts
        constants = [
            f.asarray(np.asarray(each)) if not hasattr(each, "node") else each for each in consts
        ]
        values: dict[Any, Any] = {}
        values.update(zip(jaxpr.constvars, constants, strict=True))
        values.update(zip(jaxpr.invars, operands, strict=True))

        def read(atom: Any) -> Any:
            if hasattr(atom, "val"):
                return f.asarray(np.asarray(atom.val, atom.aval.dtype))
            return values[atom]

        for equation in _needed(jaxpr):
            operands = [read(each) for each in equation.invars]
            with origin(Origin((self._frame(equation),), scope=_scope(equation))):
                found = self._results(equation, operands)
            values.update(zip(equation.outvars, found, strict=True))
        return [read(each) for each in jaxpr.outvars]

    def _results(self, equation: Any, operands: Sequence[Any]) -> list[Any]:
        name = equation.primitive.name
        try:
            if name in CONTROL:
                return CONTROL[name](self, equation, operands)
            spelling = TABLE.get(name)
            if spelling is None:
                raise Refused("has no counterpart here")
            present(operands)
            call = SpelledCall(tuple([self._aval(each) for each in equation.outvars]))
            params = {key: each for key, each in equation.params.items() if key not in IGNORED}
            params = {key: each for key, each in params.items() if key != "out_dtype" or each}
            bindable(spelling, call, operands, params)
            found = fitting(name, spelling(call, operands, params), call)
            return list(found) if isinstance(found, tuple) else [found]
        except Refused as why:
            rows = [f"in the function at {self._frame(equation).quoted()}"]
            raise InputError(f"JAX's {name} {why}.", rows, why.mend) from None
        except SymgraphError as error:
            if any("in the function" in row for row in error.rows):
                raise
            rows = [*error.rows, f"in the function at {self._frame(equation).quoted()}"]
            raise type(error)(error.what, rows, error.mend) from None

    def _aval(self, variable: Any) -> Aval:
        try:
            return aval_of(variable.aval)
        except DTypeError as error:
            raise Refused(f"gives values of dtype {variable.aval.dtype}", error.mend) from None

    def _frame(self, equation: Any) -> Frame:
        """The function's line: the innermost one outside of JAX and of this library."""
        traceback = getattr(equation.source_info, "traceback", None)
        for each in getattr(traceback, "frames", ()):
            if not each.file_name.startswith((self._inside, self._ours)):
                return Frame(each.file_name, each.line_num, each.function_name)
        return Frame(f"<{equation.primitive.name}>", 0, "function")


def _needed(jaxpr: Any) -> list[Any]:
    """The equations that a result depends on."""
    wanted = {each for each in jaxpr.outvars if not hasattr(each, "val")}
    needed: list[Any] = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or wanted.intersection(equation.outvars):
            needed.append(equation)
            wanted.update(each for each in equation.invars if not hasattr(each, "val"))
    return needed[::-1]


def _scope(equation: Any) -> tuple[str, ...]:
    """The scopes of `jax.named_scope` around an equation."""
    stack = str(getattr(equation.source_info, "name_stack", ""))
    return tuple([each for each in stack.split("/") if each])
