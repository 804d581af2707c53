"""Contractions: matmul and einsum.

`einsum` has one normal form: explicit subscripts over plain letters, renamed in order of
appearance, without ellipsis. Its derivative is again an einsum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..array import FUNCTIONS, Array, ArrayLike, apply
from ..array.aliasing import unsure
from ..errors import DTypeError, ShapeError
from ..facts import Fact, finite, integer_valued, total
from ..ir.avals import Aval, Casting, broadcast_shapes
from ..ir.dims import Dim, Shape, count, known_equal, normal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Batch, Op, register
from ..ir.traits import Infix, Matrices, Traits
from ..notation import array_formulas
from ..notation import text as texts
from .batched import aligned, own_ndim
from .carrying import carries_matmul
from .composites import as_array, naming_lines, refuse
from .creation import eye
from .families import function, same_dtype
from .movement import expand_dims, matrix_transpose, squeeze
from .subscripts import check_diagonals, parsed, spelled, written

__all__ = [
    "einsum",
    "matmul",
]


def _facts_of_products(*known: Known) -> Iterable[Fact]:
    """Facts of sums of products: signs, finiteness, integers."""
    for fact in (finite, total, integer_valued, Fact("nonnegative")):
        if not [each for each in known if not each.has(fact)]:
            yield fact


# -- matmul --------------------------------------------------------------------------------------
def _infer_matmul(x: Aval, y: Aval) -> Aval:
    if not x.ndim or not y.ndim:
        raise ShapeError(
            f"shapes {show_shape(x.shape)} and {show_shape(y.shape)} do not multiply as matrices.",
            mend="A product with a 0-d array is written with *.",
        )
    inner = y.shape[-2] if y.ndim > 1 else y.shape[-1]
    if not known_equal(x.shape[-1], inner):
        raise ShapeError(
            f"shapes {show_shape(x.shape)} and {show_shape(y.shape)} do not multiply: "
            f"{x.shape[-1]} columns against {inner} rows.",
            mend="Columns of the first must match rows of the second; transpose one with .T.",
        )
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows = (x.shape[-2],) if x.ndim > 1 else ()
    columns = (y.shape[-1],) if y.ndim > 1 else ()
    return Aval(x.dtype, (*lead, *rows, *columns))


def _vjp_matmul_left(ct: Array, out: Array, x: Array, y: Array) -> Array:
    if x.ndim == 1 and y.ndim == 1:
        return (expand_dims(ct, -1) if ct.ndim else ct) * y
    if y.ndim == 1:
        return expand_dims(ct, -1) * y
    if x.ndim == 1 and y.ndim > 2:
        return einsum("...m,...km->...k", ct, y)
    if x.ndim == 1:
        return matmul(y, ct) if ct.ndim == 1 else matmul(ct, matrix_transpose(y))
    return matmul(ct, matrix_transpose(y))


def _vjp_matmul_right(ct: Array, out: Array, x: Array, y: Array) -> Array:
    if x.ndim == 1 and y.ndim == 1:
        return (expand_dims(ct, -1) if ct.ndim else ct) * x
    if x.ndim == 1:
        return expand_dims(x, -1) * expand_dims(ct, -2)
    if y.ndim == 1 and x.ndim > 2:
        return einsum("...nk,...n->...k", x, ct)
    if y.ndim == 1:
        return matmul(matrix_transpose(x), ct) if ct.ndim == 1 else matmul(ct, x)
    return matmul(matrix_transpose(x), ct)


def _flops_matmul(out: Aval, x: Aval, y: Aval) -> Dim:
    return count((2, *out.shape, x.shape[-1]))


def _facts_matmul(x: Known, y: Known) -> Iterable[Fact]:
    yield from _facts_of_products(x, y)
    for fact in (Fact("orthogonal"), Fact("diagonal"), *_TRIANGULAR):
        if x.has(fact) and y.has(fact):
            yield fact
    if x.aval.ndim > 1 < y.aval.ndim and _is_symmetric(x, y):
        yield _SYMMETRIC


_TRIANGULAR = (Fact("triangular", ("lower",)), Fact("triangular", ("upper",)))
_SYMMETRIC = Fact("symmetric")
_LONGEST = 12
"""How many factors of a product we take apart or away to see that it reads the same from both
ends."""


def _is_symmetric(x: Known, y: Known) -> bool:
    """Whether a product is its own transpose: each factor mirrors one, the middle is symmetric."""
    factors: list[Any] = [x, y]
    for _ in range(_LONGEST):
        if len(factors) < 2:
            return not factors or factors[0].has(_SYMMETRIC)
        if _is_mirrored(factors[0], factors[-1]):
            factors = factors[1:-1]
        elif _is_product(factors[0]):
            factors = [*factors[0].operands, *factors[1:]]
        elif _is_product(factors[-1]):
            factors = [*factors[:-1], *factors[-1].operands]
        else:
            return False
    return False


def _is_product(x: Known) -> bool:
    """Whether a value is a product of matrices."""
    return x.node.op.name == "matmul" and all(each.aval.ndim > 1 for each in x.operands)


def _is_mirrored(x: Known, y: Known) -> bool:
    """Whether one factor is the other transposed."""
    for one, other in ((x.node, y.node), (y.node, x.node)):
        exchanged = one.op.name == "transpose" and one.operands[0] is other
        if exchanged and one.params["axes"] == (*range(-other.ndim, -2), -1, -2):
            return True
    return x.node is y.node and x.has(_SYMMETRIC)


def _batch_matmul(batch: Batch) -> Any:
    (x, y), (left, right) = batch.operands, batch.batched
    rows, columns = own_ndim(batch, 0), own_ndim(batch, 1)
    if rows == columns == 1:
        if left and right:
            return einsum("ni,ni->n", x, y)
        return matmul(x, y) if left else matmul(y, x)
    if columns == 1 and rows == 2 and not left:
        return matmul(y, matrix_transpose(x))
    ndim = max(rows, columns)
    if columns == 1 and right:
        column = aligned(expand_dims(y, -1), ndim)
        return squeeze(matmul(aligned(x, ndim) if left else x, column), -1)
    if rows == 1 and left and (right or columns > 2):
        row = aligned(expand_dims(x, -2), ndim)
        return squeeze(matmul(row, aligned(y, ndim) if right else y), -2)
    if rows == 1 or columns == 1:
        return matmul(x, y)
    return matmul(aligned(x, ndim) if left else x, aligned(y, ndim) if right else y)


def _indices_matmul(_out: Aval, x: Aval, y: Aval) -> tuple[list[list[Any]], list[Any]]:
    lead = max(x.ndim, y.ndim, 2)
    rows = [*range(-x.ndim, -2), "row"] if x.ndim > 1 else []
    columns = ["column"] if y.ndim > 1 else []
    result = [*range(-lead, -2), *rows[-1:], *columns]
    return [[*rows, "inner"], [*range(-y.ndim, -2), "inner", *columns]], result


MATMUL = register(
    Op(
        "matmul",
        batch=_batch_matmul,
        total=True,
        infer=_infer_matmul,
        kernel=lambda xp, x, y: xp.matmul(x, y),
        vjp=(_vjp_matmul_left, _vjp_matmul_right),
        carries=carries_matmul,
        promote=same_dtype,
        flops=_flops_matmul,
        facts=_facts_matmul,
        ufunc="matmul",
        doc="The matrix product, batched over leading axes; vectors as NumPy has it.",
        traits=Traits(matrices=Matrices.ANY, linear=..., indices=_indices_matmul),
        mistaken_for=("multiply",),
        text=Infix("@", 7),
        latex=array_formulas.matmul_formula,
        definition=lambda m, x, y: m.matmul(x, y),
    )
)


def _matmul(x: ArrayLike, y: ArrayLike) -> Array:
    return apply(MATMUL, x, y)


matmul = function(MATMUL, _matmul, np.matmul, np.linalg.matmul)


# -- einsum --------------------------------------------------------------------------------------
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
        facts=lambda *known, subscripts: _facts_of_products(*known),
        doc="Sums of products over named indices, as `subscripts` spell them.",
        traits=Traits(linear=..., indices=_indices_einsum),
        latex=array_formulas.contraction_formula,
        text=texts.contraction_text,
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
    if "," not in subscripts or type(operands[0]) is not Array:
        return apply(EINSUM, *operands, subscripts=subscripts)
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


einsum = function(EINSUM, _einsum, np.einsum)
