"""einsum: sums of products over named indices.

`einsum` has one normal form: explicit subscripts over plain letters, renamed in order of
appearance, without ellipsis. Its derivative is again an einsum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, apply
from ..array.aliasing import unsure
from ..errors import DTypeError, ShapeError
from ..ir.avals import Aval, Casting
from ..ir.dims import Dim, Shape, count, known_equal, normal
from ..ir.op import Batch, Op, register
from ..ir.traits import Traits
from ..notation import array_formulas, node_text
from .arithmetic_facts import facts_of_products
from .composites import as_array, naming_lines, refuse
from .creation import eye
from .families import function, same_dtype
from .movement import expand_dims, squeeze, transpose
from .subscripts import check_diagonals, parsed, spelled, written
from .totals import sum as sum_over

__all__ = ["EINSUM", "einsum"]


def _normal_einsum(avals: tuple[Aval, ...], *, subscripts: str) -> dict[str, Any]:
    operands, result = parsed(subscripts, [aval.ndim for aval in avals])
    return {"subscripts": written(operands, result)}


def _terms(subscripts: str) -> tuple[list[str], str]:
    left, _, right = subscripts.partition("->")
    return left.split(","), right


def _sizes(subscripts: str, shapes: Sequence[Shape]) -> dict[str, Dim]:
    sizes: dict[str, Dim] = {}
    terms, _ = _terms(subscripts)
    for term, shape in zip(terms, shapes, strict=True):
        for letter, dim in zip(term, shape, strict=True):
            if not known_equal(sizes.setdefault(letter, dim), dim):
                raise ShapeError(
                    f"{subscripts!r}: index {letter!r} is {sizes[letter]} long and {dim} long."
                )
    return sizes


def _infer_einsum(*avals: Aval, subscripts: str) -> Aval:
    sizes = _sizes(subscripts, [aval.shape for aval in avals])
    return Aval(avals[0].dtype, tuple([sizes[letter] for letter in _terms(subscripts)[1]]))


def _vjp_einsum(ct: Array, out: Array, *operands: Array, subscripts: str, index: int) -> Array:
    terms, result = _terms(subscripts)
    own = terms[index]
    spare = (letter for letter in ascii_letters if letter not in subscripts)
    others = [
        (term, each)
        for i, (term, each) in enumerate(zip(terms, operands, strict=True))
        if i != index
    ]
    target = ""
    deltas: list[tuple[str, Array]] = []
    for letter, size in zip(own, operands[index].shape, strict=True):
        if letter in target:
            twin = next(spare)
            deltas.append((letter + twin, eye(size, dtype=ct.dtype)))
            letter = twin
        target += letter
    factors = [("..." + result, ct), *others, *deltas]
    present = {letter for term, _ in factors for letter in term}
    found = "".join(letter for letter in target if letter in present)
    text = ",".join(term for term, _ in factors) + "->..." + found
    value = einsum(text, *[factor for _, factor in factors])
    missing = tuple(i - len(target) for i, letter in enumerate(target) if letter not in present)
    return expand_dims(value, missing) if missing else value


def _carries_einsum(out: Aval, *avals: Aval, slot: int, subscripts: str) -> Sequence[int | None]:
    """The axes whose index the result has too."""
    terms, result = _terms(subscripts)
    return [
        result.index(letter) - len(result) if letter in result else None for letter in terms[slot]
    ]


def _flops_einsum(out: Aval, *avals: Aval, subscripts: str) -> Dim:
    sizes = _sizes(subscripts, [aval.shape for aval in avals])
    if len(avals) <= 2:
        factor = 2 if len(avals) == 2 and len(sizes) > len(_terms(subscripts)[1]) else 1
        return count((factor, *sizes.values()))
    return _flops_of_path(subscripts, avals, sizes)


def _flops_of_path(subscripts: str, avals: Sequence[Aval], sizes: dict[str, Dim]) -> Dim:
    """Flops of pairwise contraction: along opt_einsum's path, or left to right with named sizes."""
    if [size for size in sizes.values() if not isinstance(size, int)]:
        return normal(count((2, *sizes.values())) * (len(avals) - 1))
    from opt_einsum import contract_path  # 0.1 s to import: only products of three or more pay

    _, info = contract_path(subscripts, *[aval.shape for aval in avals], shapes=True)
    return int(info.opt_cost)


def _batch_einsum(batch: Batch, *, subscripts: str) -> Any:
    terms, result = _terms(subscripts)
    own = next(letter for letter in ascii_letters if letter not in subscripts)
    led = [own + term if flag else term for term, flag in zip(terms, batch.batched, strict=True)]
    return einsum(f"{','.join(led)}->{own}{result}", *batch.operands)


def _indices_einsum(
    _out: Aval, *_avals: Aval, subscripts: str
) -> tuple[list[list[Any]], list[Any]]:
    left, _, right = subscripts.partition("->")
    return [list(term) for term in left.split(",")], list(right)


def _room_of_einsum(_out: Aval, *avals: Aval, subscripts: str) -> Dim:
    """Bytes of the operands that are copied, to be multiplied as matrices (NumPy 2.4)."""
    if len(avals) != 2:
        return 0
    terms, result = _terms(subscripts)
    both = list(zip(terms, avals, strict=True))[::-1]  # NumPy takes the last operand first.
    left, right = [
        [letter for letter, dim in zip(term, aval.shape, strict=True) if dim != 1]
        for term, aval in both
    ]
    shared = [letter for letter in left if letter in right]
    contracted = [letter for letter in shared if letter not in result]
    if not contracted:
        return 0
    batch = [letter for letter in shared if letter in result]
    return sum(
        aval.nbytes
        for letters, (_, aval) in zip((left, right), both, strict=True)
        if not all(
            _lie_together(letters, group)
            for group in (batch, contracted, [each for each in letters if each not in shared])
        )
    )


def _lie_together(letters: Sequence[str], group: Sequence[str]) -> bool:
    """Whether these axes are one axis in a view, and none is summed or taken twice."""
    if not group:
        return True
    first = letters.index(group[0])
    return len(set(letters)) == len(letters) and list(letters[first : first + len(group)]) == [
        *group
    ]


EINSUM = register(
    Op(
        "einsum",
        batch=_batch_einsum,
        total=True,
        infer=_infer_einsum,
        kernel=lambda xp, *arrays, subscripts: xp.einsum(
            subscripts, *arrays, optimize=len(arrays) > 1
        ),
        vjp=_vjp_einsum,
        carries=_carries_einsum,
        normalize=_normal_einsum,
        promote=same_dtype,
        flops=_flops_einsum,
        workspace=_room_of_einsum,
        facts=lambda *known, subscripts: facts_of_products(*known),
        doc="Sums of products over named indices, as `subscripts` spell them.",
        traits=Traits(linear=..., indices=_indices_einsum),
        latex=array_formulas.contraction_formula,
        text=node_text.contraction_text,
        fresh=False,
    )
)


@partial(naming_lines, view=True)
def _einsum(
    subscripts: object,
    *operands: Any,
    out: object = None,
    dtype: DTypeLike | None = None,
    order: str = "K",
    casting: Any = "safe",
    optimize: object = False,
) -> Array:
    refuse("einsum", {"out": out})
    if not isinstance(subscripts, str):
        subscripts, operands = spelled(subscripts, *operands)
    if not operands:
        raise ShapeError("einsum: there is no operand.")
    if [each for each in operands if not isinstance(each, Array)]:
        operands = tuple(as_array(each) for each in operands)
    if dtype is not None:
        operands = tuple(_in_dtype(each, np.dtype(dtype), casting) for each in operands)
    found = _widened(subscripts, operands)
    if len(operands) == 1 and found.ndim and type(found) is Array:
        # NumPy gives a view for one operand if nothing is summed.
        unsure(found, operands[0])
    return found


def _in_dtype(x: Array, dtype: np.dtype[Any], casting: Casting) -> Array:
    if not np.can_cast(x.dtype, dtype, casting):
        raise DTypeError(
            f"einsum: {x.dtype} is not cast to {dtype} by the rule {casting!r}.",
            mend="Pass casting='unsafe', or convert the operands.",
        )
    return FUNCTIONS["astype"](x, dtype)


def _widened(subscripts: str, operands: Sequence[Any]) -> Array:
    """Drop an index of length 1 that is longer on another operand: NumPy broadcasts it."""
    if type(operands[0]) is not Array:
        return apply(EINSUM, *operands, subscripts=subscripts)
    if "," not in subscripts:
        total = _total(subscripts, operands[0])
        return apply(EINSUM, *operands, subscripts=subscripts) if total is None else total
    labels, result = parsed(subscripts, [each.ndim for each in operands])
    for row, each in zip(labels, operands, strict=True):
        check_diagonals(subscripts, row, each.shape)
    long = {
        label
        for row, each in zip(labels, operands, strict=True)
        for label, dim in zip(row, each.shape, strict=True)
        if not known_equal(dim, 1)
    }
    rows: list[list[Any]] = []
    kept: list[Array] = []
    for row, each in zip(labels, operands, strict=True):
        thin = [i for i, label in enumerate(row) if label in long and known_equal(each.shape[i], 1)]
        rows.append([label for i, label in enumerate(row) if i not in thin])
        kept.append(squeeze(each, tuple(thin)) if thin else each)
    return apply(EINSUM, *kept, subscripts=written(rows, result))


def _total(subscripts: str, x: Array) -> Array | None:
    """A sum over indices of one array, as `sum` gives it; None for anything else.

    It is met as a sum by all that knows sums: `einsum("ij->i", exp(x))` divides a softmax. A sum of
    integers or of half precision has another dtype or other roundings there.
    """
    (row,), result = parsed(subscripts, [x.ndim])
    repeated = len({*row}) < len(row)
    if repeated or not {*result} < {*row} or x.dtype.name not in ("float32", "float64"):
        return None
    total = sum_over(x, axis=tuple([i for i, label in enumerate(row) if label not in result]))
    left = [label for label in row if label in result]
    order = [left.index(label) for label in result]
    return total if order == sorted(order) else transpose(total, order)


einsum = function(EINSUM, _einsum, np.einsum)
