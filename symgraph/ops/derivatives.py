"""Functions with a derivative that the user gives: `custom_vjp`.

The forward graph is a body in the params of one node; reverse mode asks the user's rule for the
cotangents, and forward mode transposes it, as it does for any operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..array import Array, apply
from ..avals import Aval
from ..body import Body, SizedBody
from ..errors import ShapeError, TraceError
from ..op import Op, Pull, register
from ..pytrees import Tree, flatten, unflatten
from .closures import as_leaves, closed, newest, traced
from .composites import naming_lines
from .userrules import as_sequence, by_rule

__all__ = ["CUSTOM_VJP", "CustomVjp", "custom_vjp"]

Rule = Callable[..., Any]


@dataclass(frozen=True)
class _Backward:
    """A rule for a graph, and the containers its operands and results come in."""

    name: str
    rule: Rule
    arguments: Tree
    result: Tree
    stacks: bool

    def __repr__(self) -> str:
        return self.name


def _pullback_custom(pull: Pull, *, body: Body, backward: _Backward) -> Any:
    groups = unflatten(backward.arguments, list(pull.operands))
    out = unflatten(backward.result, list(pull.outs))

    def rule(cts: Any) -> Sequence[Any]:
        found = backward.rule(unflatten(backward.result, list(cts)), out, *groups)
        parts = as_sequence(found)
        if len(parts) != len(groups):
            raise ShapeError(
                f"The vjp of {backward.name} gives {len(parts)} cotangents for {len(groups)} "
                "arguments.",
                mend="Return one for each argument, None where the derivative is zero.",
            )
        return [
            leaf
            for part, tree in zip(parts, backward.arguments.children, strict=True)
            for leaf in _leaves_like(part, tree, backward.name)
        ]

    return by_rule(pull, rule, backward.name, backward.stacks)


def _leaves_like(part: Any, tree: Tree, name: str) -> list[Any]:
    leaves, found = flatten(part)
    if found == tree:
        return leaves
    if part is None:
        return [None] * tree.size
    raise TraceError(
        f"The vjp of {name} gives {found} for an argument {tree}.",
        mend="Return cotangents in the containers of the argument, or None for all of it.",
    )


def _infer_custom(*avals: Aval, body: Body, backward: _Backward) -> tuple[Aval, ...]:
    return body.avals


def _kernel_custom(xp: Any, *operands: Any, body: SizedBody, backward: _Backward) -> Any:
    found = body.converted(xp, *operands)
    return tuple(found) if len(found) > 1 else found[0]


CUSTOM_VJP = register(
    Op(
        "custom_vjp",
        infer=_infer_custom,
        kernel=_kernel_custom,
        pullback=_pullback_custom,
        flops=lambda out, *avals, body, backward: body.flops,
        unchecked=True,
        doc="A graph with a derivative of its own.",
    )
)


class CustomVjp:
    """A function of arrays with a derivative of its own; see `custom_vjp`."""

    def __init__(self, f: Callable[..., Any], backward: Rule | None, stacks: bool) -> None:
        self._f = f
        self._backward = backward
        self._stacks = stacks
        self.__name__: str = getattr(f, "__name__", "function")
        self.__doc__ = f.__doc__
        self.__wrapped__ = f
        self._call = naming_lines(self._traced)

    def backward(self, rule: Rule) -> Rule:
        """State the derivative; a decorator."""
        self._backward = rule
        return rule

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            bound = inspect.signature(self._f).bind(*args, **named)
            bound.apply_defaults()
            args = bound.args
        if not any(isinstance(leaf, Array) for leaf in flatten(args)[0]):
            return self._f(*args)
        return self._call(*args)

    def _traced(self, *args: Any) -> Any:
        if self._backward is None:
            raise TraceError(
                f"{self.__name__} has no derivative yet.",
                mend=f"State it: @{self.__name__}.backward above a function (ct, out, *args).",
            )
        leaves, tree = as_leaves(args, "An argument")
        inside = newest()
        found = traced(
            lambda group: self._f(*group), [([each.aval for each in leaves], tree)], "The function"
        )
        outside, body = closed(found.inputs, found.leaves, inside)
        if outside:
            raise TraceError(
                f"{self.__name__} closes over symbolic arrays, of which its rule knows nothing.",
                [f"{node!r}   from {node.origin}" for node in outside],
                mend="Pass them as arguments.",
            )
        rule = _Backward(self.__name__, self._backward, tree, found.tree, self._stacks)
        results = apply(CUSTOM_VJP, *leaves, body=body, backward=rule)
        return unflatten(found.tree, list(results) if isinstance(results, tuple) else [results])

    def __repr__(self) -> str:
        return f"<custom_vjp {self.__name__}>"


def custom_vjp(
    f: Callable[..., Any] | None = None, backward: Rule | None = None, *, stacks: bool = False
) -> Any:
    """A function with a derivative of its own, faster or stabler than the one that follows.

    A decorator. The forward graph is as traced; the gradient is what the rule says.

    Parameters
    ----------
    f : callable
        From arrays (or tuples, lists, dicts and dataclasses of arrays) to such.
    backward : callable
        `backward(ct, out, *args)` in symbolic arrays gives the cotangent of the argument, or a
        tuple of one an argument, in its containers; None where it is zero. It may be stated later,
        with the decorator `f.backward`.
    stacks : bool
        The rule works on cotangents with extra leading axes; else it is run for each.

    Raises
    ------
    TraceError
        At a call: if no rule is stated, or `f` closes over symbolic arrays.
    ShapeError, DTypeError
        When a gradient is taken: if a cotangent has not its argument's shape and dtype.

    Examples
    --------
    >>> @sg.custom_vjp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> @log1pexp.backward
    ... def _(ct, out, x):
    ...     return ct / (1 + np.exp(-x))
    >>> x = sg.input("x")
    >>> sg.graph(sg.grad(log1pexp(x), x)).evaluate(x=800.0)
    array(1.)
    """
    if f is None:
        return lambda function: CustomVjp(function, backward, stacks)
    return CustomVjp(f, backward, stacks)
