"""Softmax, logsumexp and their logarithms: closed forms of normalised exponentials."""

from __future__ import annotations

from typing import Annotated, Any

from symgraph.numpy import (
    broadcast_to,
    exp,
    log,
    log1p,
    log_softmax,
    logaddexp,
    logsumexp,
    matmul,
    sigmoid,
    softmax,
    softplus,
    sum,
)
from symgraph.numpy import max as largest
from symgraph.rewriting import (
    Axes,
    Flag,
    Identity,
    Index,
    Positive,
    PositiveConstant,
    Real,
    UniformConstant,
    applied,
    number,
    provided,
    rule,
    static,
)

from .known import logarithm_in_range


@static
def every_axis(axis: tuple[int, ...], ndim: int) -> bool:
    """Whether a reduction includes every axis."""
    return len(axis) == ndim


@static
def is_single(axis: tuple[int, ...]) -> bool:
    """Whether a reduction includes one axis only."""
    return len(axis) == 1


@static
def with_length_one(shape: tuple[Any, ...], axis: tuple[int, ...]) -> tuple[Any, ...]:
    """The shape of a reduction that keeps its axes with length one."""
    return tuple([1 if i - len(shape) in axis else dim for i, dim in enumerate(shape)])


@static
def single_axis(axis: tuple[int, ...]) -> int:
    """The only axis of a reduction."""
    return axis[0]


_ALL_LOST = "0 where every element is -inf, NaN only where one is +inf"


# -- softmax ---------------------------------------------------------------------------------------
@rule(sound="rounding", stable="large x: inf / inf", limit=_ALL_LOST)
def softmax_written_out(x: Real, axis: Axes) -> Identity:
    r"""$e^{x_i} / \sum_j e^{x_j}$ is the softmax; the sum keeps its axes."""
    return exp(x) / sum(exp(x), axis=axis, keepdims=True), softmax(x, axis=axis)


@rule(sound="rounding", stable="large x: inf / inf")
def softmax_with_one_more(x: Real, axis: Axes) -> Identity:
    r"""$e^{x_i} / (1 + \sum_j e^{x_j})$ is the softmax with a further score 0."""
    whole = logsumexp(x, axis=axis, keepdims=True)
    return exp(x) / (1 + sum(exp(x), axis=axis, keepdims=True)), softmax(x, axis=axis) * sigmoid(
        whole
    )


@rule(sound="rounding", stable="large x: exp overflows", limit=_ALL_LOST)
def softmax_by_logsumexp(x: Real, axis: Axes) -> Identity:
    r"""$e^{x_i - \log \sum_j e^{x_j}}$ is the softmax."""
    return exp(x - logsumexp(x, axis=axis, keepdims=True)), softmax(x, axis=axis)


@rule(sound="rounding", limit=_ALL_LOST)
def exp_of_log_softmax(x: Real, axis: Axes) -> Identity:
    """The exponential of the log-softmax is the softmax."""
    return exp(log_softmax(x, axis=axis)), softmax(x, axis=axis)


@rule(sound="rounding", limit=_ALL_LOST)
def softmax_of_shifted_by_maximum(x: Real, axis: Axes) -> Identity:
    """Subtracting the maximum first does not change a softmax."""
    shifted = x - largest(x, axis=axis, keepdims=True)
    return softmax(shifted, axis=axis), softmax(x, axis=axis)


@rule(sound="rounding")
def softmax_of_shifted(x: Real, c: UniformConstant, axis: Axes) -> Identity:
    """Adding a number to all scores does not change a softmax."""
    shifted = x + c
    return softmax(shifted, axis=axis), softmax(broadcast_to(x, shifted.shape), axis=axis)


@rule(sound="rounding")
def softmax_of_lowered(x: Real, c: UniformConstant, axis: Axes) -> Identity:
    """Subtracting a number from all scores does not change a softmax."""
    lowered = x - c
    return softmax(lowered, axis=axis), softmax(broadcast_to(x, lowered.shape), axis=axis)


@rule(sound="rounding")
def log_softmax_of_lowered(x: Real, c: UniformConstant, axis: Axes) -> Identity:
    """Subtracting a number from all scores does not change a log-softmax."""
    lowered = x - c
    return log_softmax(lowered, axis=axis), log_softmax(broadcast_to(x, lowered.shape), axis=axis)


@rule(sound="rounding")
def log_softmax_of_shifted(x: Real, c: UniformConstant, axis: Axes) -> Identity:
    """Adding a number to all scores does not change a log-softmax."""
    shifted = x + c
    return log_softmax(shifted, axis=axis), log_softmax(broadcast_to(x, shifted.shape), axis=axis)


@rule(sound="rounding", limit=_ALL_LOST)
def softmax_of_log_softmax(x: Real, axis: Axes) -> Identity:
    """A log-softmax is a shift of the scores, and does not change their softmax."""
    return softmax(log_softmax(x, axis=axis), axis=axis), softmax(x, axis=axis)


@rule(sound="rounding", stable="large x: inf / inf", limit=_ALL_LOST)
def softmax_of_element(x: Real, index: Index, axis: Axes) -> Identity:
    r"""$e^{x_k} / \sum_j e^{x_j}$ over all elements is one element of the softmax."""
    provided(every_axis(axis, x.ndim))
    top = exp(applied("getitem", x, index=index))
    whole = softmax(x, axis=axis)
    return top / sum(exp(x), axis=axis), applied("getitem", whole, index=index)


# -- log_softmax -----------------------------------------------------------------------------------
@rule(sound="rounding", stable="softmax underflows to 0, whose logarithm is -inf")
def log_of_softmax(x: Real, axis: Axes) -> Identity:
    r"""$\log (e^{x_i} / \sum_j e^{x_j})$ is the log-softmax."""
    return log(softmax(x, axis=axis)), log_softmax(x, axis=axis)


@rule(sound="rounding", stable="softmax underflows to 0, whose logarithm is -inf")
def log_of_part_of_softmax(x: Real, axis: Axes, index: Index) -> Identity:
    """The logarithm of a part of a softmax is a part of the log-softmax."""
    part = applied("getitem", softmax(x, axis=axis), index=index)
    return log(part), applied("getitem", log_softmax(x, axis=axis), index=index)


@rule(sound="rounding")
def shifted_by_logsumexp(x: Real, axis: Axes) -> Identity:
    r"""$x_i - \log \sum_j e^{x_j}$ is the log-softmax."""
    return x - logsumexp(x, axis=axis, keepdims=True), log_softmax(x, axis=axis)


@rule(sound="rounding")
def log_softmax_of_shifted_by_maximum(x: Real, axis: Axes) -> Identity:
    """Subtracting the maximum first does not change a log-softmax."""
    shifted = x - largest(x, axis=axis, keepdims=True)
    return log_softmax(shifted, axis=axis), log_softmax(x, axis=axis)


@rule(sound="rounding")
def log_softmax_of_log_softmax(x: Real, axis: Axes) -> Identity:
    """The log-softmax of a log-softmax is the same: it is normalised already."""
    return log_softmax(log_softmax(x, axis=axis), axis=axis), log_softmax(x, axis=axis)


# -- logsumexp -------------------------------------------------------------------------------------
@rule(sound="rounding", stable="large x: exp overflows")
def log_of_sum_of_exp(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log \sum_j e^{x_j}$ is the logsumexp."""
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    return log(total), applied("logsumexp", x, axis=axis, keepdims=keepdims)


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_mean_of_exp(x: Real, c: PositiveConstant, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log(\frac1n \sum_j e^{x_j}) = \log \sum_j e^{x_j} - \log n$."""
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    return log(total / c), applied("logsumexp", x, axis=axis, keepdims=keepdims) - log(c)


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_scaled_sum_of_exp(x: Real, c: PositiveConstant, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log(c \sum_j e^{x_j}) = \log c + \log \sum_j e^{x_j}$."""
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    return log(c * total), applied("logsumexp", x, axis=axis, keepdims=keepdims) + log(c)


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_weighted_sum_of_exp(x: Real, w: Positive, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log \sum_j w_j e^{x_j} = \log \sum_j e^{x_j + \log w_j}$ for $w_j > 0$."""
    total = applied("sum", w * exp(x), axis=axis, keepdims=keepdims)
    return log(total), applied("logsumexp", x + log(w), axis=axis, keepdims=keepdims)


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_exps_by_weights(x: Real, w: Positive) -> Identity:
    r"""$\log \sum_j e^{x_j} w_j = \log \sum_j e^{x_j + \log w_j}$ for a vector $w_j > 0$."""
    provided(w.ndim == 1)
    return log(matmul(exp(x), w)), logsumexp(x + log(w), axis=-1)


@rule(sound="rounding", stable="large x: exp overflows")
def log_of_weights_by_exps(x: Real, w: Positive) -> Identity:
    r"""$\log \sum_j w_j e^{x_j} = \log \sum_j e^{x_j + \log w_j}$ of a vector $x$."""
    provided(x.ndim == 1)
    return log(matmul(w, exp(x))), logsumexp(x + log(w), axis=-1)


@rule(sound="rounding", priority=1, stable="large x: exp overflows")
def log1p_of_sum_of_exp(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log(1 + \sum_j e^{x_j})$ is a logsumexp with one further term, $e^0$."""
    provided(is_single(axis))
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    zeros = broadcast_to(number(0, x.dtype), with_length_one(x.shape, axis))
    more = applied("concatenate", x, zeros, axis=single_axis(axis))
    return log1p(total), applied("logsumexp", more, axis=axis, keepdims=keepdims)


@rule(sound="rounding", stable="large x: exp overflows")
def log1p_of_sum_of_exp_over_axes(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    r"""$\log(1 + \sum_j e^{x_j})$ is the softplus of a logsumexp."""
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    return log1p(total), softplus(applied("logsumexp", x, axis=axis, keepdims=keepdims))


@rule(sound="rounding", stable="large x: exp overflows")
def log1p_of_multiple_of_sum_of_exp(
    x: Real, y: Annotated[Positive, logarithm_in_range], axis: Axes, keepdims: Flag
) -> Identity:
    r"""$\log(1 + y \sum_j e^{x_j}) = \log(1 + e^{s + \log y})$ for $y > 0$.

    Here $s = \log \sum_j e^{x_j}$.
    """
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    whole = applied("logsumexp", x, axis=axis, keepdims=keepdims)
    return log1p(y * total), softplus(log(y) + whole)


@rule(sound="rounding", priority=-2, stable="large x: exp overflows")
def log_of_positive_and_sum_of_exp(
    x: Real, y: Annotated[Positive, logarithm_in_range], axis: Axes, keepdims: Flag
) -> Identity:
    r"""$\log(y + \sum_j e^{x_j}) = \log(e^{\log y} + e^s)$ for $y > 0$.

    Here $s = \log \sum_j e^{x_j}$.
    """
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    whole = applied("logsumexp", x, axis=axis, keepdims=keepdims)
    return log(y + total), logaddexp(log(y), whole)


@rule(sound="rounding")
def logsumexp_shifted_by_maximum(x: Real, axis: Axes) -> Identity:
    r"""$m + \log \sum_j e^{x_j - m} = \log \sum_j e^{x_j}$ for the maximum $m$."""
    top = largest(x, axis=axis, keepdims=True)
    return top + logsumexp(x - top, axis=axis, keepdims=True), logsumexp(
        x, axis=axis, keepdims=True
    )


@rule(sound="rounding")
def exp_of_logsumexp(x: Real, axis: Axes, keepdims: Flag) -> Identity:
    """The exponential of a logsumexp is the sum of exponentials."""
    total = applied("sum", exp(x), axis=axis, keepdims=keepdims)
    return exp(applied("logsumexp", x, axis=axis, keepdims=keepdims)), total
