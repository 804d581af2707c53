"""Sample calls of loops, branches and functions with custom derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...array import Array
from ...autodiff.implicit.conjugate_gradients import cg
from ...autodiff.implicit.fixed_point import fixed_point
from ...ops.branches import cond
from ...ops.custom_vjp import custom_vjp
from ...ops.iteration import while_loop
from ...ops.loops import scan
from .operands import fresh as _x
from .operands import function as _f

__all__ = ["SAMPLES"]


def _step(carry: Array, x: Array) -> tuple[Array, Array]:
    after = _f("tanh")(carry * x - 0.5)
    return after, after + x


def _no_rule(_ct: Any, _out: Any, *operands: Any) -> tuple[None, ...]:
    """The derivative of a user who says that it is zero."""
    return (None,) * len(operands)


SAMPLES: dict[str, tuple[Callable[..., Any], ...]] = {
    "scan": (
        lambda: scan(_step, _x(3), _x(5, 3), reverse=True),
        lambda: scan(_step, _x(2, dtype="float32"), _x("n", 2, dtype="float32")),
        lambda: scan(lambda c, i: (c * 2, (i, c > 0)), _x(), _f("arange")(4)),
        lambda: scan(lambda c, x: (c, scan(_step, c, x)[1]), _x(3), _x(4, 2, 3))[1],
    ),
    "clip_gradient": (lambda: _f("clip_gradient")(_x(3), norm=1.0),),
    "custom_vjp": (
        lambda: custom_vjp(lambda x, y: (x * y, _f("exp")(x)), _no_rule)(_x(3), _x()),
        lambda: custom_vjp(_f("tanh"), _no_rule)(_x("n", 2)),
    ),
    "implicit": (lambda: fixed_point(lambda x, a: 1 + _f("tanh")(a) * x / 3, _x(2), _x(2)),),
    "linear_solution": (
        lambda: cg(lambda x: x * 2 + _f("sum")(x), _x(3)),
        lambda: cg(lambda x: (x[0] * 3 + x[1], x[1] * 2 + x[0]), (_x(2), _x(2))),
    ),
    "converged": (lambda: fixed_point(lambda x: (x[0] / 2, x[1] * 0 + 1), (_x("n"), _x())),),
    "cond": (
        lambda: cond(_x() > 0, lambda x, y: (x * y, x > y), lambda x, y: (x, x > 0), _x(3), _x(3)),
        lambda: cond(_f("sum")(_x("n")) > 0, _f("exp"), _f("negative"), _x("n", dtype="float32")),
    ),
    "while_loop": (
        lambda: while_loop(
            lambda c: _f("all")(c[0] < 40) & (c[1] < 9),
            lambda c: (c[0] * 2 + 0.5, c[1] + 1),
            (_f("absolute")(_x(3)), 0),
        ),
        lambda: while_loop(lambda c: c < 7, lambda c: c * c + 1, _f("absolute")(_x())),
    ),
}
