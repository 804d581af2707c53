"""RNN, GRU and LSTM: loops over time, in one direction or in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .... import numpy as snp
from ....errors import FormatError
from ....ops.loops import scan
from ..call import Call, Tensor
from ..registry import operator
from .activations import ACTIVATIONS, activation

__all__: list[str] = []

_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


class _Weights(NamedTuple):
    """The weights of one direction; a matrix for each gate is stacked on the first axis."""

    w: Tensor
    r: Tensor
    w_bias: Tensor | None
    r_bias: Tensor | None
    peepholes: Tensor | None


State = tuple[Tensor, ...]
Step = Callable[[Tensor, State], State]


@operator("RNN", "GRU", "LSTM")
def recurrent(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    bias: Tensor | None = None,
    lengths: Tensor | None = None,
    first_h: Tensor | None = None,
    first_c: Tensor | None = None,
    peepholes: Tensor | None = None,
) -> list[Tensor]:
    """All hidden states, and the last states."""
    call.ignore("hidden_size", "output_sequence")
    if call.op != "LSTM" and (first_c is not None or peepholes is not None):
        raise FormatError(f"{call.op} has no cells.")
    hidden: Any = r.shape[-1]
    layout = call.flag("layout")
    x = np.swapaxes(x, 0, 1) if layout else x
    initial = [first_h, first_c] if call.op == "LSTM" else [first_h]
    if layout:
        initial = [each if each is None else np.swapaxes(each, 0, 1) for each in initial]
    found: list[tuple[State, Tensor]] = []
    for place, (backwards, functions) in enumerate(_directions(call)):
        both: list[Any] = [None, None] if bias is None else np.split(bias[place], 2)
        peep = None if peepholes is None else peepholes[place]
        weights = _Weights(w[place], r[place], both[0], both[1], peep)
        zeros = snp.zeros((x.shape[1], hidden), x.dtype)
        state = tuple([zeros if each is None else each[place] for each in initial])
        step = _STEPS[call.op](call, weights, functions)
        found.append(_run(x, step, state, lengths, backwards))
    every = np.stack([each for _, each in found], axis=1)
    last = [np.stack([state[i] for state, _ in found]) for i in range(len(initial))]
    if layout:
        every = np.transpose(every, (2, 0, 1, 3))
        last = [np.swapaxes(each, 0, 1) for each in last]
    return [every, *last]


def _run(
    x: Tensor, step: Step, state: State, lengths: Tensor | None, backwards: bool
) -> tuple[State, Tensor]:
    """The last state, and the hidden states of all steps; zeros beyond the end of a sequence."""
    if lengths is None:
        return scan(
            lambda s, each: ((after := step(each, s)), after[0]), state, x, reverse=backwards
        )

    def within(before: State, each: tuple[Tensor, Tensor]) -> tuple[State, Tensor]:
        now, place = each
        going = np.expand_dims(place < lengths, -1)
        after = step(now, before)
        kept = tuple([np.where(going, b, a) for a, b in zip(before, after, strict=True)])
        return kept, np.where(going, kept[0], np.zeros((), x.dtype))

    places = snp.arange(x.shape[0])
    return scan(within, state, (x, places), reverse=backwards)


def _directions(call: Call) -> Iterator[tuple[bool, list[Any]]]:
    """For each direction whether it is backwards, and its activations."""
    kind = call.choice("direction", "forward", "reverse", "bidirectional")
    backwards = [kind == "reverse"] if kind != "bidirectional" else [False, True]
    names = call.list("activations") or _DEFAULTS[call.op] * len(backwards)
    alphas, betas = (
        iter(call.list("activation_alpha") or []),
        iter(call.list("activation_beta") or []),
    )
    count = len(_DEFAULTS[call.op])
    if len(names) != count * len(backwards):
        raise FormatError(f"{call.op} has {count} activations for each direction.")
    functions: list[Any] = []
    for name in names:
        if name.lower() not in ACTIVATIONS:
            raise FormatError(f"The activation {name!r} of {call.op} is not read.")
        params = len(ACTIVATIONS[name.lower()]) - 1
        alpha = next(alphas, None) if params > 0 else None
        functions.append(activation(name, alpha, next(betas, None) if params > 1 else None))
    for place, each in enumerate(backwards):
        yield each, functions[place * count : (place + 1) * count]


def _clipping(call: Call) -> Callable[[Tensor], Tensor]:
    """The clipping of the operands of activations."""
    if not call.has("clip"):
        return lambda x: x
    most = call.real("clip")
    return lambda x: np.clip(x, -most, most)


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else x + bias


def _rnn(call: Call, weights: _Weights, functions: list[Any]) -> Step:
    clip, (f,) = _clipping(call), functions

    def step(x: Tensor, state: State) -> State:
        (h,) = state
        z = _plus(x @ weights.w.T, weights.w_bias) + _plus(h @ weights.r.T, weights.r_bias)
        return (f(clip(z)),)

    return step


def _gru(call: Call, weights: _Weights, functions: list[Any]) -> Step:
    r"""$h' = (1 - z) \tilde h + z h$, where the reset gate comes before or after the product."""
    clip, (f, g) = _clipping(call), functions
    after = call.flag("linear_before_reset")
    rz, rr, rh = np.split(weights.r, 3)
    bz, br, bh = (None,) * 3 if weights.r_bias is None else np.split(weights.r_bias, 3)

    def step(x: Tensor, state: State) -> State:
        (h,) = state
        xz, xr, xh = np.split(_plus(x @ weights.w.T, weights.w_bias), 3, axis=-1)
        z = f(clip(xz + _plus(h @ rz.T, bz)))
        r = f(clip(xr + _plus(h @ rr.T, br)))
        inner = r * _plus(h @ rh.T, bh) if after else _plus((r * h) @ rh.T, bh)
        return ((1 - z) * g(clip(xh + inner)) + z * h,)

    return step


def _lstm(call: Call, weights: _Weights, functions: list[Any]) -> Step:
    """Gates stand in the order input, output, forget, cell; peepholes in input, output, forget."""
    clip, (f, g, h_of) = _clipping(call), functions
    coupled = call.flag("input_forget")
    peep = (None,) * 3 if weights.peepholes is None else np.split(weights.peepholes, 3)

    def peeped(z: Tensor, cell: Tensor, place: int) -> Tensor:
        weight = peep[place]
        return z if weight is None else z + weight * cell

    def step(x: Tensor, state: State) -> State:
        h, c = state
        z = _plus(x @ weights.w.T, weights.w_bias) + _plus(h @ weights.r.T, weights.r_bias)
        zi, zo, zf, zc = np.split(z, 4, axis=-1)
        i = f(clip(peeped(zi, c, 0)))
        forget = 1 - i if coupled else f(clip(peeped(zf, c, 2)))
        cell = forget * c + i * g(clip(zc))
        return f(clip(peeped(zo, cell, 1))) * h_of(cell), cell

    return step


_STEPS = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}
