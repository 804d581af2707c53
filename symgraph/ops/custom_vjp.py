"""Functions with a derivative that the user gives: `custom_vjp`.

The forward graph is a body in the params of one node; reverse mode asks the user's rule for the
cotangents, and forward mode transposes it, as it does for any operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..array import FUNCTIONS, Array, ArrayLike, apply, constant
from ..errors import ShapeError, TraceError
from ..ir.avals import Aval
from ..ir.body import Body, SizedBody
from ..ir.differentiation import Pull
from ..ir.dims import Dim
from ..ir.op import Batch, Op, register
from ..notation import loops
from ..pytrees import flatten, unflatten
from ..records import record
from .backward_rules import Backward, Rule, cotangents_asked, leaves_of_rule
from .batched import applied, per_example
from .closures import as_leaves, body_of_batch, body_total, closed, fresh_like, newest, traced
from .composites import naming_lines

__all__ = ["CUSTOM_VJP", "CustomVjp", "custom_vjp"]


def _pullback_custom(pull: Pull, *, body: Body, backward: Backward) -> Any:
    return cotangents_asked(pull, backward)


def _infer_custom(*avals: Aval, body: Body, backward: Backward) -> tuple[Aval, ...]:
    taken = tuple([node.aval for node in body.inputs])
    if avals != taken:  # only in a loaded file: a traced call has these operands
        raise ShapeError(f"The function takes {_listed(taken)}; it is given {_listed(avals)}.")
    return body.avals


def _listed(avals: Iterable[Aval]) -> str:
    return ", ".join(map(str, avals)) or "nothing"


def _kernel_custom(xp: Any, *operands: Any, body: SizedBody, backward: Backward) -> Any:
    found = body.converted(xp, *operands)
    return tuple(found) if len(found) > 1 else found[0]


# -- each of a batch -------------------------------------------------------------------------------
@record
class _RuleOfBatch:
    """The rule of a batch: it applies a rule to each example.

    A shared argument gets the sum of the cotangents.
    """

    backward: Backward
    batched: tuple[bool, ...]
    mapped: Callable[..., Any]

    def __call__(self, ct: ArrayLike, out: Array, *args: object) -> tuple[Any, ...]:
        """The cotangents, in the containers of the arguments."""
        cts, outs, operands = (flatten(each)[0] for each in (ct, out, args))
        lead = cts[0].ndim - outs[0].ndim
        cts = [FUNCTIONS["moveaxis"](each, lead, 0) for each in cts]
        flags = [*[True] * len(cts), *[True] * len(outs), *self.batched]
        values = [*cts, *outs, *operands]
        inner = [
            Array(fresh_like(x.aval.with_shape(x.shape[1:] if flag else x.shape), "example"))
            for x, flag in zip(values, flags, strict=True)
        ]
        given = {
            each.node: pair
            for each, pair in zip(inner, zip(values, flags, strict=True), strict=True)
        }
        found = self._of_one(inner, len(cts), len(outs))
        nodes = [
            (each if isinstance(each, Array) else constant(each, x.dtype)).node
            for each, x in zip(found, operands, strict=True)
            if each is not None
        ]
        size = outs[0].shape[0]
        pairs = iter(self.mapped(nodes, given, size))
        results = [
            None if each is None else self._gathered(next(pairs), flag, size, lead)
            for each, flag in zip(found, self.batched, strict=True)
        ]
        return self._in_containers(results)

    def _in_containers(self, results: list[Any]) -> tuple[Any, ...]:
        """For each argument None, or its containers of cotangents."""
        rest = iter(results)
        parts: list[Any] = []
        for tree in self.backward.arguments.children:
            leaves = [next(rest) for _ in range(tree.size)]
            empty = all(each is None for each in leaves)
            parts.append(None if empty else unflatten(tree, leaves))
        return tuple(parts)

    def _of_one(self, inner: list[Array], cts: int, outs: int) -> list[Any]:
        """The rule's results for one example, as leaves."""
        backward = self.backward
        ct = unflatten(backward.result, inner[:cts])
        out = unflatten(backward.result, inner[cts : cts + outs])
        groups = unflatten(backward.arguments, inner[cts + outs :])
        return leaves_of_rule(backward, ct, out, groups)

    def _gathered(self, found: tuple[Array, bool], flag: bool, size: Dim, lead: int) -> Array:
        ct = found[0] if found[1] else per_example(found[0], size)
        return FUNCTIONS["moveaxis"](ct, 0, lead) if flag else FUNCTIONS["sum"](ct, axis=0)


def _batch_custom(batch: Batch, *, body: Body, backward: Backward) -> Any:
    inputs, found = body_of_batch(batch, body, batch.batched)
    results = [value if flag else per_example(value, batch.size) for value, flag in found]
    rule = _RuleOfBatch(backward, batch.batched, batch.mapped)
    return applied(
        batch,
        batch.operands,
        body=Body(inputs, [each.node for each in results]),
        backward=replace(backward, rule=rule),
    )


CUSTOM_VJP = register(
    Op(
        "custom_vjp",
        batch=_batch_custom,
        total=lambda *_avals, body, backward: body_total(body),
        infer=_infer_custom,
        kernel=_kernel_custom,
        pullback=_pullback_custom,
        flops=lambda out, *avals, body, backward: body.flops,
        unchecked=True,
        doc="A graph with a derivative of its own.",
        source=loops.call_source,
    )
)


class CustomVjp:
    """A function of arrays with a derivative of its own; see `custom_vjp`."""

    def __init__(self, f: Callable[..., Any], backward: Rule | None, stacks: bool) -> None:
        self._f = f
        self._backward = backward
        self._stacks = stacks
        self.__name__: str = getattr(f, "__name__", "function")
        self.__qualname__: str = getattr(f, "__qualname__", self.__name__)
        self.__module__: str = f.__module__
        self.__doc__ = f.__doc__
        self.__wrapped__ = f
        self._call = naming_lines(self._traced)

    def backward(self, rule: Rule) -> Rule:
        """State the derivative; a decorator."""
        self._backward = rule
        return rule

    def __call__(self, *args: object, **named: object) -> Any:
        if named:
            bound = inspect.signature(self._f).bind(*args, **named)
            bound.apply_defaults()
            args = bound.args
        if not any(isinstance(leaf, Array) for leaf in flatten(args)[0]):
            return self._f(*args)
        return self._call(*args)

    def _traced(self, *args: object) -> Any:
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
                f"{self.__name__} captures symbolic arrays, which its rule does not differentiate.",
                [f"{node!r}   from {node.origin}" for node in outside],
                mend="Pass them as arguments.",
            )
        rule = Backward(self.__name__, self._backward, tree, found.tree, self._stacks)
        results = apply(CUSTOM_VJP, *leaves, body=body, backward=rule)
        return unflatten(found.tree, list(results) if isinstance(results, tuple) else [results])

    def __repr__(self) -> str:
        return f"<custom_vjp {self.__name__}>"

    def __reduce__(self) -> str:
        # Pickle by name, as functions are.
        return self.__qualname__


def custom_vjp(
    f: Callable[..., Any] | None = None, backward: Rule | None = None, *, stacks: bool = False
) -> Any:
    """Give a function its own derivative, faster or more stable than the derived one.

    A decorator. The forward graph is traced as usual; the gradient follows the rule.

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

    Returns
    -------
    callable
        Called as `f`; without `f` the decorator.

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
