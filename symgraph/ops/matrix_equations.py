r"""Matrix equations: Sylvester's, Stein's and Riccati's, and the square root of a matrix.

Each derivative solves a linear equation of the same kind, which the theorem of implicit functions
gives: of $X^2 = A$ it is $X\,\mathrm dX + \mathrm dX\,X = \mathrm dA$ (Higham 2008, section 6.1).
Stacks broadcast along their leading axes, as in `matmul`.
"""

from __future__ import annotations

from typing import Any

from ..array import Array, ArrayLike, apply
from ..errors import ShapeError
from ..facts import Fact
from ..ir.avals import Aval, broadcast_shapes
from ..ir.dims import Dim, count, known_equal, normal, show_shape
from ..ir.fact_inference import Known
from ..ir.op import Op, register
from ..ir.traits import Matrices, Traits
from .batched import batch_aligned
from .carrying import all_but_last
from .families import function
from .matmul import matmul
from .matrices import matrix_dtype, square_size
from .movement import matrix_transpose
from .solving import products, solve

__all__ = ["continuous_riccati", "discrete_riccati", "sqrtm", "stein", "sylvester"]


# -- linear equations ------------------------------------------------------------------------------
def _infer_linear(a: Aval, b: Aval, q: Aval) -> Aval:
    sizes = square_size(a), square_size(b)
    if q.ndim < 2 or not all(map(known_equal, sizes, q.shape[-2:])):
        raise ShapeError(
            f"the right side of matrices {show_shape(a.shape)} and {show_shape(b.shape)} has shape "
            f"{show_shape((*sizes,))}, not {show_shape(q.shape)}."
        )
    return q.with_shape((*_lead(a, b, q), *sizes))


def _lead(*avals: Aval) -> tuple[Dim, ...]:
    found: tuple[Dim, ...] = ()
    for each in avals:
        found = broadcast_shapes(found, each.shape[:-2])
    return found


def _flops_linear(out: Aval, *_: Aval) -> Dim:
    """Of Bartels and Stewart's algorithm: two Schur forms, and products (Golub and Van Loan)."""
    m, n = out.shape[-2:]
    each: Any = 25 * count((m, m, m)) + 25 * count((n, n, n)) + 5 * count((m, n)) * (m + n)
    return normal(count(out.shape[:-2]) * each)


def _room_of_linear(out: Aval, *_: Aval) -> Dim:
    """Systems of 4,096 elements, or the factors of one large equation."""
    m, n = out.shape[-2:]
    return out.dtype.itemsize * (3 * 2**12 + 6 * (m * m + n * n)) + out.nbytes


SYLVESTER = register(
    Op(
        "sylvester",
        workspace=_room_of_linear,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_linear,
        kernel=lambda xp, a, b, q: xp.sylvester(a, b, q),
        vjp=(
            lambda ct, out, a, b, q: -products(_back(SYLVESTER, ct, a, b), out, False),
            lambda ct, out, a, b, q: -matmul(matrix_transpose(out), _back(SYLVESTER, ct, a, b)),
            lambda ct, out, a, b, q: _back(SYLVESTER, ct, a, b),
        ),
        promote=matrix_dtype,
        conditioned=True,
        flops=_flops_linear,
        doc="X with a @ X + X @ b = q, for square matrices a and b; batched.",
        traits=Traits(linear=(2,), homogeneous=0),
    )
)
STEIN = register(
    Op(
        "stein",
        workspace=_room_of_linear,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_linear,
        kernel=lambda xp, a, b, q: xp.stein(a, b, q),
        vjp=(
            lambda ct, out, a, b, q: products(_back(STEIN, ct, a, b), matmul(out, b), False),
            lambda ct, out, a, b, q: matmul(
                matrix_transpose(matmul(a, out)), _back(STEIN, ct, a, b)
            ),
            lambda ct, out, a, b, q: _back(STEIN, ct, a, b),
        ),
        promote=matrix_dtype,
        conditioned=True,
        flops=_flops_linear,
        doc="X with X = a @ X @ b + q, for square matrices a and b; batched.",
        traits=Traits(linear=(2,)),
    )
)


def _back(op: Op, ct: Array, a: Array, b: Array) -> Array:
    return apply(op, matrix_transpose(a), matrix_transpose(b), ct)


def _sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Array:
    return apply(SYLVESTER, a, b, q)


def _stein(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Array:
    return apply(STEIN, a, b, q)


sylvester = function(SYLVESTER, _sylvester)
stein = function(STEIN, _stein)


# -- the square root -------------------------------------------------------------------------------
def _infer_square(x: Aval) -> Aval:
    square_size(x)
    return x


def _facts_root(x: Known) -> Any:
    for fact in (Fact("positive_definite"), Fact("symmetric")):
        if x.has(fact):
            yield fact


def _vjp_root(ct: Array, out: Array, x: Array) -> Array:
    turned = matrix_transpose(out)
    return apply(SYLVESTER, turned, turned, ct)


def _cubes(factor: int) -> Any:
    def flops(out: Aval, *_: Aval, **_params: object) -> Dim:
        return count((factor, *out.shape, out.shape[-1]))

    return flops


def _room_of_root(out: Aval, *_: Aval) -> Dim:
    return out.nbytes + 8 * 8 * out.shape[-1] ** 2


SQRTM = register(
    Op(
        "sqrtm",
        workspace=_room_of_root,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_square,
        kernel=lambda xp, x: xp.sqrtm(x),
        vjp=(_vjp_root,),
        promote=matrix_dtype,
        conditioned=True,
        flops=_cubes(28),
        facts=_facts_root,
        doc=(
            "The principal square root of square matrices, X with X @ X = a; NaN where it is not "
            "real, or there is none."
        ),
        traits=Traits(matrices=Matrices.SQUARE, homogeneous=0.5),
    )
)


def _sqrtm(x: ArrayLike) -> Array:
    return apply(SQRTM, x)


sqrtm = function(SQRTM, _sqrtm)


# -- Riccati's equations ---------------------------------------------------------------------------
def _infer_riccati(a: Aval, b: Aval, q: Aval, r: Aval, *, discrete: bool) -> Aval:
    n, m = square_size(a), square_size(r)
    fits = b.ndim >= 2 and known_equal(b.shape[-2], n) and known_equal(b.shape[-1], m)
    if not fits or not known_equal(square_size(q), n):
        shapes = ", ".join([show_shape(each.shape) for each in (a, b, q, r)])
        raise ShapeError(
            f"Riccati's equation of a, b, q and r of shapes {shapes}.",
            mend="Of n states and m controls they are (n, n), (n, m), (n, n) and (m, m).",
        )
    return a.with_shape((*_lead(a, b, q, r), n, n))


def _symmetric(x: Array) -> Array:
    return (x + matrix_transpose(x)) / 2


def _adjoint(
    ct: Array, out: Array, a: Array, b: Array, r: Array, discrete: bool
) -> tuple[Array, Array, Array]:
    r"""The gain $K$, the closed loop $A_c = A - B K$, and the cotangent $S$ of q.

    $A_c S + S A_c^\top + \bar X = 0$ in continuous time, and $S = A_c S A_c^\top + \bar X$ in
    discrete time, of the symmetric part of $\bar X$ (Kao and Hennequin 2020).
    """
    weights, turned = _symmetric(r), matmul(matrix_transpose(b), out)
    if discrete:
        gain = solve(weights + matmul(turned, b), matmul(turned, a))
    else:
        gain = solve(weights, turned)
    loop = a - matmul(b, gain)
    if discrete:
        return gain, loop, apply(STEIN, loop, matrix_transpose(loop), _symmetric(ct))
    return gain, loop, -apply(SYLVESTER, loop, matrix_transpose(loop), _symmetric(ct))


def _state_slope(out: Array, loop: Array, state: Array, discrete: bool) -> Array:
    """The cotangent of a, 2 X S, or 2 X A_c S in discrete time."""
    return 2 * matmul(matmul(out, loop) if discrete else out, state)


def _vjp_states(
    ct: Array, out: Array, a: Array, b: Array, q: Array, r: Array, *, discrete: bool
) -> Array:
    _, loop, state = _adjoint(ct, out, a, b, r, discrete)
    return _state_slope(out, loop, state, discrete)


def _vjp_controls(
    ct: Array, out: Array, a: Array, b: Array, q: Array, r: Array, *, discrete: bool
) -> Array:
    gain, loop, state = _adjoint(ct, out, a, b, r, discrete)
    return -products(_state_slope(out, loop, state, discrete), gain, False)


def _vjp_state_weights(
    ct: Array, out: Array, a: Array, b: Array, q: Array, r: Array, *, discrete: bool
) -> Array:
    return _adjoint(ct, out, a, b, r, discrete)[2]


def _vjp_control_weights(
    ct: Array, out: Array, a: Array, b: Array, q: Array, r: Array, *, discrete: bool
) -> Array:
    gain, _, state = _adjoint(ct, out, a, b, r, discrete)
    return products(matmul(gain, state), gain, False)


def _room_of_riccati(out: Aval, a: Aval, b: Aval, q: Aval, r: Aval, **_params: object) -> Dim:
    whole = 2 * out.shape[-1] + r.shape[-1]
    return out.nbytes + 8 * 8 * whole * whole


RICCATI = register(
    Op(
        "riccati",
        workspace=_room_of_riccati,
        batch=batch_aligned,
        carries=all_but_last(2),
        infer=_infer_riccati,
        kernel=lambda xp, a, b, q, r, *, discrete: xp.riccati(a, b, q, r, discrete=discrete),
        vjp=(_vjp_states, _vjp_controls, _vjp_state_weights, _vjp_control_weights),
        promote=matrix_dtype,
        conditioned=True,
        flops=_cubes(300),
        facts=lambda a, b, q, r, **_: [Fact("symmetric")],
        doc=(
            "The stabilizing solution X of Riccati's equation, of the symmetric parts of q and r: "
            "a.T @ X + X @ a - X @ b @ inv(r) @ b.T @ X + q = 0, or in discrete time "
            "X = a.T @ X @ a - a.T @ X @ b @ inv(r + b.T @ X @ b) @ b.T @ X @ a + q; batched."
        ),
        traits=Traits(parity=(0, 1), signed_zero=(1,)),
    )
)


def continuous_riccati(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike) -> Array:
    r"""The stabilizing X with $A^\top X + X A - X B R^{-1} B^\top X + Q = 0$."""
    return apply(RICCATI, a, b, q, r, discrete=False)


def discrete_riccati(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike) -> Array:
    r"""The stabilizing X with $X = A^\top X (A - B (R + B^\top X B)^{-1} B^\top X A) + Q$."""
    return apply(RICCATI, a, b, q, r, discrete=True)
