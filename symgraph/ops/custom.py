"""Operations that a user defines, in a few lines: `custom_op`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, cast

import numpy as np

from ..array import FUNCTIONS, NUMPY_FUNCTIONS, Array, ArrayLike, apply, constant
from ..errors import BackendError, InputError, NotDifferentiable
from ..ir.avals import Aval
from ..ir.differentiation import Pull, Undefined, undefined
from ..ir.interning import params_key
from ..ir.op import OPS, Op
from ..namespace import NUMPY, Namespace
from ..records import record
from .batched import batch_whole
from .probing import probed
from .promised_results import PromisedResults
from .userrules import as_sequence, by_rule, lent, lent_to

__all__ = ["custom_op"]


@record(eq=False)
class _Kernel:
    """A user's kernel as one of ours: its operands read-only, its results arrays."""

    name: str
    function: Callable[..., Any]
    any_backend: bool
    fresh: bool
    promised: PromisedResults

    def __call__(self, xp: Any, *operands: Any, **params: Any) -> Any:
        if self.any_backend:
            return self.function(xp, *operands, **params)
        if xp is not NUMPY:
            if isinstance(xp, Namespace):
                raise BackendError(
                    f"The custom operation {self.name!r} is written for NumPy; "
                    f"the namespace {xp.module.__name__} cannot run it.",
                    mend="Lower to NumPy, or write its kernel as kernel(xp, ...) and say "
                    "custom_op(any_backend=True).",
                )
            raise TypeError("A kernel of a user's is called by its name, not written out.")
        found = self.function(*[_read_only(each) for each in operands], **params)
        several = isinstance(found, (tuple, list))
        given = cast("Sequence[Any]", found if several else [found])
        results = self.promised.checked(operands, params, given)
        self._check_fresh(results, operands)
        return tuple(results) if several else results[0]

    def _check_fresh(self, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Refuse a shared array where new ones were promised: it would be written over."""
        if not self.fresh:
            return
        arrays = [each for each in operands if isinstance(each, np.ndarray)]
        for place, result in enumerate(results):
            others = [*arrays, *results[:place]]
            if any(np.may_share_memory(result, other) for other in others):
                raise BackendError(
                    f"The custom operation {self.name!r} was declared with fresh=True, but its "
                    "result shares memory with an operand or with another result.",
                    mend="Return a copy, or leave fresh=True out.",
                )


def _read_only(value: object) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    view = cast("np.ndarray[Any, Any]", value).view()
    view.flags.writeable = False
    return view


def custom_op(
    kernel: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    vjp: object = None,
    infer: Callable[..., Any] | None = None,
    any_backend: bool = False,
    stacks: bool = False,
    batches: bool = False,
    numpy: Sequence[Any] = (),
    flops: int | Callable[..., Any] | None = None,
    fresh: bool = False,
    workspace: int | Callable[..., Any] = 0,
) -> Any:
    """Turn a NumPy function into an operation: one node, with the derivative that you state.

    A decorator, with or without arguments. The function it gives takes symbolic arrays, and NumPy
    arrays too; keywords are static params.

    Parameters
    ----------
    kernel : callable
        From NumPy arrays to one, or a tuple of them. A function of its operands alone: equal calls
        are made once, and those on constants before the graph is run. Operands are read-only.
    name : str, optional
        As printed, and in `symgraph.numpy`; by default the kernel's.
    vjp : callable or tuple, optional
        `vjp(ct, out, *operands, **params)` in symbolic arrays gives the cotangent of the operand,
        or a tuple of one an operand; a tuple of such rules has one an operand (None: zero by
        nature, `undefined(why)`: there is none). Without it a gradient through the operation
        raises.
    infer : callable, optional
        `infer(*avals, **params)` gives the result's `(shape, dtype)` or `Aval`, or a list of them.
        Without it the kernel is run once on made-up numbers of the operands' shapes.
    any_backend : bool
        The kernel is `kernel(xp, *arrays)` and uses the names of `xp` only.
    stacks : bool
        The rules work on cotangents with extra leading axes; else they are run for each.
    batches : bool
        The kernel and the rules take operands with extra leading axes, the same ones on all: those
        of a batch. Else `vmap` applies the operation to one example after the other.
    numpy : sequence, optional
        NumPy functions that this one is from now on for symbolic arrays.
    flops : int or callable, optional
        Floating-point operations of a call, or `flops(out, *operands, **params)` from shapes and
        dtypes (`out.size`, `x.shape`). Without it one for each element of the result.
    fresh : bool
        The kernel gives a new array at each call, which nobody else holds. So its memory is used
        again, and counted as the result's. A result that shares memory with an operand raises.
    workspace : int or callable
        Bytes that the kernel needs while it runs, beside operands and results, as of `flops`.
        Memory budgets count them.

    Returns
    -------
    callable
        From arrays, symbolic or NumPy, to one or a tuple of them; without a kernel the decorator.

    Raises
    ------
    BackendError
        If an operation of the library has the name; one of your own is defined anew.

    Examples
    --------
    >>> @sg.custom_op(vjp=lambda ct, out, x: ct * (1 - np.abs(out)) ** 2)
    ... def soft_sign(x):
    ...     return x / (1 + np.abs(x))
    >>> x = sg.input("x", (3,))
    >>> sg.graph(sg.grad(np.sum(soft_sign(x)), x)).evaluate(x=[0.0, 1.0, 3.0])
    array([1.    , 0.25  , 0.0625])
    """

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        label = name or function.__name__
        op = _op_of(label, function, vjp, infer, any_backend, stacks, batches, fresh)
        told = {"workspace": _stated(workspace)}
        if flops is not None:
            told["flops"] = _stated(flops)
        return _published(function, replace(op, **told), numpy)

    return made if kernel is None else made(kernel)


def _op_of(
    name: str,
    function: Callable[..., Any],
    vjp: object,
    infer: Callable[..., Any] | None,
    any_backend: bool,
    stacks: bool,
    batches: bool,
    fresh: bool,
) -> Op:
    if not name.isidentifier():
        raise InputError(f"{name!r} cannot name an operation.", mend="Give name=.")
    known: Any = OPS.get(name) or getattr(FUNCTIONS.get(name), "op", FUNCTIONS.get(name))
    if known is not None and not getattr(known, "custom", False):
        raise BackendError(
            f"symgraph.numpy has a function {name!r} already.",
            mend=f"Give the operation another name, as in sg.custom_op(name='my_{name}').",
        )
    kernel = _Kernel(name, function, any_backend, fresh, PromisedResults(name))
    rules: dict[str, Any] = {}
    if vjp is None:
        rules["vjp"] = undefined(f"the custom operation {name} was given no vjp")
    elif isinstance(vjp, Undefined):
        rules["vjp"] = vjp
    elif isinstance(vjp, (tuple, list)) and stacks:
        rules["vjp"] = tuple([_lending(each) for each in cast("Sequence[Any]", vjp)])
    else:
        # None and `undefined` say that the derivative is zero or does not exist.
        rules["vjp"] = () if callable(vjp) else tuple(cast("Sequence[Any]", vjp))
        rules["pullback"] = _pullback_of(name, vjp, stacks)
    return Op(
        name,
        infer=_inference(name, kernel, infer),
        kernel=kernel,
        custom=True,
        fresh=fresh,
        unchecked=True,
        batch=batch_whole if batches else None,
        doc=function.__doc__ or f"The custom operation {name}.",
        **rules,
    )


def _stated(amount: int | Callable[..., Any]) -> Callable[..., Any]:
    """A stated number as a function of shapes and dtypes."""
    return amount if callable(amount) else lambda *_avals, **_params: amount


def _lending(rule: object) -> Any:
    """A rule that gets read-only operands; None and `undefined` stay as they are."""
    if not callable(rule):
        return rule

    @wraps(rule)
    def given(*operands: ArrayLike, **params: object) -> Any:
        return rule(*[lent(each) for each in operands], **params)

    return given


def _pullback_of(name: str, vjp: Any, stacks: bool) -> Callable[..., Any]:
    def pullback(pull: Pull, **params: object) -> Any:
        pull = lent_to(pull)
        outs = _alone(pull.outs)

        def rule(cts: tuple[Any, ...]) -> Sequence[Any]:
            ct = _alone(cts)
            if callable(vjp):
                return as_sequence(vjp(ct, outs, *pull.operands, **params))
            if len(vjp) != len(pull.operands):
                return vjp
            return [
                _of_slot(each, slot, name, ct, outs, pull, params) if slot in pull.wanted else None
                for slot, each in enumerate(vjp)
            ]

        return by_rule(pull, rule, name, stacks)

    return pullback


def _alone(values: tuple[Any, ...]) -> Any:
    """The only one, or all."""
    return values[0] if len(values) == 1 else values


def _of_slot(
    rule: Callable[..., Any],
    slot: int,
    name: str,
    ct: Array,
    outs: object,
    pull: Pull,
    params: dict[str, Any],
) -> Any:
    if isinstance(rule, Undefined):
        raise NotDifferentiable(
            f"{name} has no derivative with respect to operand {slot}: {rule.why}.",
            mend="Stop the gradient there (snp.stop_gradient).",
        )
    return None if rule is None else rule(ct, outs, *pull.operands, **params)


def _inference(name: str, kernel: _Kernel, infer: Callable[..., Any] | None) -> Callable[..., Any]:
    def stated(*avals: Aval, **params: object) -> Any:
        if infer is None:
            return probed(name, kernel, avals, params)
        found = infer(*avals, **params)
        several = isinstance(found, list)
        results = [_as_aval(each) for each in (found if several else [found])]
        return tuple(results) if several else results[0]

    return lambda *avals, **params: kernel.promised.note(avals, params, stated(*avals, **params))


def _as_aval(given: Any) -> Aval:
    if isinstance(given, Aval):
        return given
    shape, dtype = given
    return Aval(np.dtype(dtype), tuple(shape))


def _placed(
    name: str, signature: inspect.Signature | None, operands: Sequence[Any], params: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The operands in order, also the ones given by name; other values are static params."""
    arrays = {key: each for key, each in params.items() if isinstance(each, (Array, np.ndarray))}
    if not arrays:
        return list(operands), params
    parameters = list(signature.parameters) if signature is not None else []
    placed = list(operands)
    for key in parameters[len(operands) :]:
        if key not in arrays:
            break
        placed.append(arrays.pop(key))
    if arrays:
        raise InputError(
            f"{name} takes no array by the name {next(iter(arrays))!r}.",
            mend="Give arrays in their order; keywords are static.",
        )
    static = {
        key: each for key, each in params.items() if not isinstance(each, (Array, np.ndarray))
    }
    return placed, static


def _check_kept(name: str, static: Mapping[str, Any]) -> None:
    """Check that params can be compared: equal calls become one node."""
    for key, value in static.items():
        try:
            hash(params_key({key: value}))
        except TypeError:
            raise InputError(
                f"{name}: the keyword {key}={value!r} is not hashable, so it cannot be a param.",
                mend="Give numbers, text and tuples of them, or arrays as operands.",
            ) from None


def _as_numbers(value: object) -> Any:
    """Python's numbers unchanged: they take the dtype of the arrays that they meet."""
    return value if isinstance(value, (int, float)) else np.asarray(value)


def _typed(operands: Sequence[Any]) -> list[Any]:
    """The operands; Python's numbers get the dtype that NumPy gives them beside arrays."""
    dtypes = [each.dtype for each in operands if isinstance(each, (Array, np.ndarray, np.generic))]
    return [
        constant(each, np.result_type(*dtypes, each)) if type(each) in (int, float) else each
        for each in operands
    ]


def _signature(function: Callable[..., Any], op: Op) -> inspect.Signature | None:
    """The signature of a kernel; None if it has none, as NumPy's functions in C."""
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    skipped = 1 if isinstance(op.kernel, _Kernel) and op.kernel.any_backend else 0
    return inspect.Signature(given[skipped:])


def _published(function: Callable[..., Any], op: Op, numpy: Iterable[Any]) -> Callable[..., Any]:
    signature = _signature(function, op)

    def call(*operands: ArrayLike, **params: object) -> Any:
        placed, static = _placed(op.name, signature, operands, params)
        _check_kept(op.name, static)
        if not any(isinstance(each, Array) for each in placed):
            return op.kernel(NUMPY, *[_as_numbers(each) for each in placed], **static)
        return apply(op, *_typed(placed), **static)

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.doc
    call.__wrapped__ = function  # pyright: ignore[reportFunctionMemberAccess]
    if signature is not None:
        call.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    call.op = op  # pyright: ignore[reportFunctionMemberAccess]
    OPS[op.name] = op
    FUNCTIONS[op.name] = call
    for each in numpy:
        NUMPY_FUNCTIONS[each] = call
    return call
