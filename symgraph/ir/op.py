"""Op: the record of all that an operation is, and the table of operations by name.

An operation's shape and dtype rule, kernel, derivative, cost, facts and place in the algebra stand
in one record, written in one place under `ops/`. Everything else in the engine asks the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np

from ..errors import BackendError
from ..records import record
from .avals import Aval
from .differentiation import Places, StandIn, Undefined
from .dims import Dim, known_equal
from .traits import PLAIN, Infix, Prefix, Traits

__all__ = [
    "OPS",
    "Batch",
    "Op",
    "Params",
    "Pullback",
    "Said",
    "Unbatched",
    "carries_aligned",
    "in_double",
    "no_facts",
    "no_flops",
    "per_element",
    "register",
    "results_of",
]

Params: TypeAlias = Mapping[str, Any]
Infer: TypeAlias = Callable[..., "Aval | tuple[Aval, ...]"]
Kernel: TypeAlias = Callable[..., Any]
Flops: TypeAlias = Callable[..., Dim]
VjpRule: TypeAlias = Callable[..., Any]
"""`rule(ct, out, *operands, **params)` gives the cotangent of one operand.

`ct` may carry extra leading axes beyond those of `out`; rules use negative axes and trailing
broadcasting, so the same rule serves gradients, Jacobians and Hessians.
"""
JvpRule: TypeAlias = Callable[..., Any]
"""`rule(tangents, out, *operands, **params)` gives the tangent of the result.

`tangents` has one entry an operand, None where it is zero; each may carry extra leading axes, the
same for all. For several results `out` and what is given are tuples.
"""
Carries: TypeAlias = Callable[..., "Sequence[int | None]"]
"""`carries(out, *avals, slot=i, **params)`: where each axis of operand `i` goes.

One entry an axis: the (negative) axis a of the result such that result[..., k on a, ...] depends on
the operand at k on its own axis alone; None where the axis is mixed, reduced or reordered.
"""
Pullback: TypeAlias = Callable[..., Any]
"""`pullback(pull, **params)` gives the cotangents of all operands asked for at once.

For operations whose operands share the work, such as a loop. `pull` is a `Pull`.
"""
BatchRule: TypeAlias = Callable[..., Any]
"""`rule(batch, **params)` applies an operation to each of a batch; `batch` is a `Batch`.

It gives the result, or a sequence of them, with the batch on a new first axis; an `Unbatched` is
the same for all of the batch.
"""
Total: TypeAlias = "bool | Callable[..., bool]"
"""Whether a kernel ends and raises nothing, or `total(*avals, **params)` that tells."""


@record
class Batch:
    """The argument of an operation's `batch`, from `vmap` at a node.

    Parameters
    ----------
    op : Op
        Of the node.
    operands : tuple
        Batched operands have the batch on their first axis.
    batched : tuple of bool
        One an operand, one of them true at least.
    size : Dim
        How many there are in the batch.
    mapped : callable
        `vmap` itself, for operations that hold graphs: `mapped(outputs, given, size)` gives a pair
        an output, the array and whether it is batched; `given` holds such a pair an input.
    one_by_one : callable
        `one_by_one()` gives the results of a loop over the batch.
    """

    op: Op
    operands: tuple[Any, ...]
    batched: tuple[bool, ...]
    size: Dim
    mapped: Callable[..., Any]
    one_by_one: Callable[[], Any]


@record
class Unbatched:
    """A result that is the same for all of a batch."""

    value: Any


def _mixes(*avals: Aval, slot: int, **_params: object) -> Sequence[int | None]:
    """Nothing is known: every axis may be mixed (avals[0] is the result's)."""
    return (None,) * avals[slot + 1].ndim


def carries_aligned(out: Aval, *avals: Aval, slot: int, **_params: object) -> Sequence[int | None]:
    """Axes aligned from the end, as operands of elementwise operations are broadcast.

    An axis of size 1 that is repeated is not carried: all copies depend on the one element.
    """
    shape = avals[slot].shape
    return tuple(
        axis if -axis <= out.ndim and known_equal(shape[axis], out.shape[axis]) else None
        for axis in range(-len(shape), 0)
    )


def no_facts(*_operands: object, **_params: object) -> Iterable[Any]:
    """The fact rule of an operation whose result nothing is known of."""
    return ()


def _same_params(_avals: tuple[Aval, ...], **params: object) -> dict[str, Any]:
    return params


def _one_flop_per_element(out: Aval, *_avals: Aval, **_params: object) -> Dim:
    return out.size


def per_element(flops: int) -> Flops:
    """Cost of `flops` floating-point operations per element of the result."""

    def cost(out: Aval, *_avals: Aval, **_params: object) -> Dim:
        return out.size * flops  # pyright: ignore[reportReturnType]  # int * Expr is an Expr

    return cost


def results_of(count: float) -> Callable[..., Dim]:
    """The bytes of `count` results, as working room of a kernel."""

    def room(out: Aval, *_avals: Aval, **_params: object) -> Dim:
        return (out.nbytes * round(8 * count) + 7) // 8

    return room


def in_double(out: Aval, *avals: Aval, **_params: object) -> Dim:
    """The bytes of operands and a result in double precision, where these are in single."""
    if out.dtype.itemsize >= 8:
        return 0
    room: Dim = out.nbytes
    for each in avals:
        room = room + 2 * each.nbytes
    return room


def no_flops(*_avals: Aval, **_params: object) -> Dim:
    """Cost of an operation that only moves data."""
    return 0


@record(eq=False, slots=False)
class Op:
    """All that an operation is.

    Parameters
    ----------
    name : str
        As printed, and the key in the table of operations.
    infer : callable
        `infer(*avals, **params)` gives the result's `Aval` (a tuple for several results); raises
        `ShapeError` or `DTypeError`.
    kernel : callable
        `kernel(xp, *arrays, **params)` computes the value in the array namespace `xp`.
    vjp : tuple, one entry an operand, or one rule for any number of operands
        A rule, None (zero by nature) or `undefined(why)`. A single callable is called with the
        operand's position as `index=`; a single `undefined(why)` is said of all operands.
    pullback : callable, optional
        The cotangents of all operands at once; `vjp` then only tells which are zero or undefined.
    pushforward : callable, optional
        `pushforward(push, **params)` gives the tangents of all results, for an operation that holds
        graphs; `push` is a `Push`.
    custom : bool
        Whether a user has defined it.
    jvp : callable, optional
        The forward rule. Without one, or where it returns NotImplemented, forward mode transposes
        `vjp`; give one where there is no reverse rule to transpose, or a shorter way.
    carries : callable
        Where each axis of an operand goes, so that Jacobians of batched maps are found diagonal.
    follows : callable, optional
        `follows(trail, **params)` says where the axes of a value are in each result, for an
        operation that holds graphs, in place of `carries`; `trail` is a `Trail`.
    stand_in : callable, optional
        `stand_in(node)` gives a `StandIn` if the node's derivative is to be taken from further back
        than its operands; else None.
    asymmetric : bool
        Whether reverse mode passes back anything but the transpose of forward mode's map,
        as where cotangents are clipped.
    unchecked : bool
        Whether its derivative is whatever a user says: then second derivatives may not commute.
    batch : callable, optional
        `batch(batch, **params)` applies it to each of a batch at once; `batch` is a `Batch`.
        Without one, `vmap` loops over the batch.
    total : bool or callable
        Whether the kernel ends, and raises nothing, whatever the numbers are: then it may be run
        where its result is not wanted. `total(*avals, **params)` tells where it depends on them.
    lazy : bool
        Whether the kernel takes `keep=`, one truth value a result: None may stand for the others.
    normalize : callable
        `normalize(avals, **params)` gives params in normal form (negative axes, resolved defaults)
        before `infer` sees them.
    promote : callable or None
        From the common dtype of the operands (NumPy 2 promotion) to the dtype they are cast to
        before the operation; None leaves operands as they are. If it has a method `resolve`, that
        is asked instead, with the dtype of each operand (a Python number's type), for one dtype an
        operand.
    unpromoted : tuple of int
        Operands that keep their dtype, such as the condition of `where`.
    flops : callable
        `flops(out, *avals, **params)`.
    count : int
        Operations by the convention for closed forms: 0 for movement and casts, 1 else, composites
        what they are made of.
    conditioned : bool
        Whether the result is right for operands that differ by roundings, and no better: what is
        lost inside may be much more than the rounding of the result.
    ends_below : float, optional
        The size of operands from which its kernel may take very long, never end, or end the
        process: infinity, NaN included, for what iterates until a matrix is diagonal. None if it
        ends for all.
    facts : callable
        `facts(*known, **params)` yields facts of the result, given those of the operands.
    traits : Traits
    definition : callable, optional
        `definition(m, *operands)` as textbooks have it, written apart from the kernel, over a
        mathematics `m` that has the functions: high precision, symbols and residues, for
        verification. Operands are numbers of an elementwise operation; the list of numbers along
        `axis` of a reduction, and of what keeps to rows, which gives such a list; else arrays.
    latex : str or callable
        The name of the function as a formula has it, or the formula with `#` for the operand, or
        `latex(node, operands)` that gives the formula and how strongly it binds, None for a call.
    latex_of_results : tuple of str
        The formula of each of several results, with `#` for the operand; empty where it has none.
    text : Infix, Prefix or callable, optional
        The sign between or before the operands, or `text(node, operands)` as of `latex`.
    source : callable, optional
        Of an operation that holds bodies: `source(run)` gives the Python source that runs them;
        `run` is a `notation.loops.Run`.
    reduces : str
        Name of the NumPy ufunc whose `reduce` it is; empty if there is none.
    fresh : bool
        Whether NumPy's function of this name always gives a new array, if it is no view.
    workspace : callable
        `workspace(out, *avals, **params)`: bytes that the kernel needs while it runs, beside
        operands and results, where they cannot be read off its calls.
    examples : str
        Lines of a doctest of the function in `symgraph.numpy`; the reference has them of others.
    kernel_of_many : callable, optional
        Another kernel, that NumPy runs faster where there are some hundred elements: functions that
        it vectorises in the place of one that goes number by number. It may differ by roundings.
    many : int
        From how many elements of double precision it is; of others from 256.
    kernel_on_numpy : callable, optional
        The kernel on NumPy's arrays and in machine code, at every size, in single and double
        precision: where the function that `kernel` calls has less range there than its result.
    mistaken_for : tuple of str
        Functions of `symgraph.numpy` that one may write in its place by mistake: a rule with one of
        them in its place is false, and the verifier is tried on it.
    ufunc : str
        Name of a NumPy ufunc with the same meaning, which takes `out=`; empty if there is none.
    view : bool
        Whether the result may share memory with the first operand.
    write : callable, optional
        Of an operation whose result is a view in NumPy: `write(whole, part, **params)` gives the
        whole that is left when `part` is written into the view. `cuts.READ_ONLY` where NumPy
        lets nothing be written.
    """

    name: str
    infer: Infer
    kernel: Kernel
    vjp: tuple[VjpRule | Undefined | None, ...] | VjpRule | Undefined = ()
    jvp: JvpRule | None = None
    carries: Carries = _mixes
    normalize: Callable[..., dict[str, Any]] = _same_params
    promote: Callable[[np.dtype[Any]], np.dtype[Any]] | None = None
    unpromoted: tuple[int, ...] = ()
    flops: Flops = _one_flop_per_element
    count: int = 1
    conditioned: bool = False
    ends_below: float | None = None
    facts: Callable[..., Iterable[Any]] = no_facts
    traits: Traits = PLAIN
    ufunc: str = ""
    view: bool = False
    doc: str = ""
    pullback: Pullback | None = None
    pushforward: Callable[..., Any] | None = None
    custom: bool = False
    follows: Callable[..., Sequence[Places | None]] | None = None
    stand_in: Callable[[Any], StandIn | None] | None = None
    lazy: bool = False
    asymmetric: bool = False
    unchecked: bool = False
    batch: BatchRule | None = None
    total: Total = False
    write: Callable[..., Any] | None = None
    definition: Callable[..., Any] | None = None
    latex: str | Callable[..., Any] = ""
    latex_of_results: tuple[str, ...] = ()
    text: Infix | Prefix | Callable[..., Any] | None = None
    source: Callable[..., Any] | None = None
    reduces: str = ""
    fresh: bool = True
    workspace: Flops = no_flops
    kernel_of_many: Kernel | None = None
    many: int = 256
    kernel_on_numpy: Kernel | None = None
    mistaken_for: tuple[str, ...] = ()
    examples: str = ""

    def is_total(self, *avals: Aval, **params: object) -> bool:
        """Whether the kernel ends and raises nothing for operands of these shapes and dtypes."""
        return self.total(*avals, **params) if callable(self.total) else self.total

    def vjp_rule(self, index: int) -> VjpRule | Undefined | None:
        """The derivative with respect to operand `index`."""
        if self.pullback is not None:
            stated = self.vjp if isinstance(self.vjp, tuple) else ()
            rule = stated[index] if index < len(stated) else _jointly
            return _jointly if callable(rule) else rule
        if isinstance(self.vjp, Undefined):
            return self.vjp
        if callable(self.vjp):
            rule = self.vjp

            def bound(ct: object, out: object, *operands: object, **params: object) -> Any:
                return rule(ct, out, *operands, index=index, **params)

            return bound
        return self.vjp[index] if index < len(self.vjp) else None

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class Said(TypedDict, total=False):
    """Fields that constructors of families pass on to the record unchanged: see `Op`."""

    count: int
    definition: Callable[..., Any] | None
    ends_below: float | None
    examples: str
    latex: str | Callable[..., Any]
    text: Infix | Prefix | Callable[..., Any] | None
    mistaken_for: tuple[str, ...]
    jvp: JvpRule | None
    stand_in: Callable[[Any], StandIn | None] | None
    workspace: Flops
    kernel_of_many: Kernel | None
    many: int
    kernel_on_numpy: Kernel | None


def _jointly(*_operands: object, **_params: object) -> Any:
    raise AssertionError("This operation differentiates all its operands at once: Op.pullback.")


OPS: dict[str, Op] = {}
"""Every operation by name."""


def register(op: Op) -> Op:
    """Enter `op` in the table.

    Raises
    ------
    BackendError
        If another operation has the name.
    """
    if OPS.setdefault(op.name, op) is not op:
        raise BackendError(f"An operation named {op.name!r} exists already.")
    return op
