r"""Recurrent layers of PyTorch: each direction of each layer is one `scan`.

The products with the inputs of all steps are one product outside of the loop. Gates stand in
PyTorch's order: reset, update, new for a GRU, $h' = (1 - z) n + z h$ with
$n = \tanh(W_n x + r (U_n h + c_n))$; input, forget, cell, output for an LSTM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..functions import f
from ..spelling import Refused, Spelling, own
from .refusals import Random

__all__ = ["RECURRENT"]

State: TypeAlias = tuple[Any, ...]
Step: TypeAlias = Callable[[Any, State, Callable[[Any], Any]], State]
"""From the input's share of the gates, the state, and the map of h to its share, the next state."""


def _gates(x: Any, number: int) -> list[Any]:
    size = x.shape[-1] // number
    return [x[..., place * size : (place + 1) * size] for place in range(number)]


def _gru_step(x: Any, state: State, hidden: Callable[[Any], Any]) -> State:
    (h,) = state
    (reset, update, new), (r, z, n) = _gates(x, 3), _gates(hidden(h), 3)
    r, z = f.sigmoid(reset + r), f.sigmoid(update + z)
    n = f.tanh(new + r * n)
    return (n + z * (h - n),)


def _lstm_step(x: Any, state: State, hidden: Callable[[Any], Any]) -> State:
    h, c = state
    i, forget, g, o = _gates(x + hidden(h), 4)
    c = f.sigmoid(forget) * c + f.sigmoid(i) * f.tanh(g)
    return (f.sigmoid(o) * f.tanh(c), c)


def _plain_step(activation: Callable[[Any], Any]) -> Step:
    return lambda x, state, hidden: (activation(x + hidden(state[0])),)


def _share(weight: Any, bias: Any) -> Callable[[Any], Any]:
    """The map x ↦ x Wᵀ + b."""

    def call(x: Any) -> Any:
        product = x @ f.transpose(weight)
        return product if bias is None else product + bias

    return call


def _direction(
    step: Step, x: Any, state: State, params: Sequence[Any], reverse: bool, projected: bool
) -> Any:
    """The last state and the stacked h of one direction; steps on the first axis."""
    *params, projection = (*params,) if projected else (*params, None)
    w, u, *biases = params
    b, c = biases or (None, None)
    hidden = _share(u, c)

    def once(carry: State, slice_of: Any) -> tuple[State, Any]:
        h, *rest = step(slice_of, carry, hidden)
        h = h if projection is None else _share(projection, None)(h)
        return (h, *rest), h

    return f.scan(once, state, _share(w, b)(x), reverse=reverse)


def _layers(
    step: Step,
    x: Any,
    states: State,
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Any, ...]:
    if train and dropout and num_layers > 1:
        raise Random
    directions, each = (2 if bidirectional else 1), (4 if has_biases else 2)
    # nn.LSTM(proj_size=k) has one weight more, which makes h of the gates.
    projected = len(params) == num_layers * directions * (each + 1)
    each += projected
    # Without a batch there are two axes, and the first is that of the steps.
    batch_first = batch_first and x.ndim == 3
    y = f.swapaxes(x, 0, 1) if batch_first else x
    last: list[State] = []
    for layer in range(num_layers):
        found: list[Any] = []
        for direction in range(directions):
            place = layer * directions + direction
            state = tuple([each[place] for each in states])
            own_params = params[place * each : (place + 1) * each]
            after, steps = _direction(step, y, state, own_params, direction == 1, projected)
            last.append(after)
            found.append(steps)
        y = found[0] if len(found) == 1 else f.concatenate(found, axis=-1)
    stacked = [f.stack([state[kind] for state in last]) for kind in range(len(states))]
    return (f.swapaxes(y, 0, 1) if batch_first else y, *stacked)


def _network(step: Step, several: bool = False) -> Spelling:
    """A recurrent layer; `several`: its state has several parts, given as a list."""

    def call(x: Any, hx: Any, params: Any, *rest: Any) -> tuple[Any, ...]:
        if not isinstance(params, list):
            raise Refused("takes sequences packed by their lengths")
        return _layers(step, x, tuple(hx) if several else (hx,), params, *rest)

    return own(call)


def _cell(step: Step, several: bool = False) -> Spelling:
    def call(x: Any, hx: Any, w: Any, u: Any, b: Any = None, c: Any = None) -> Any:
        after = step(_share(w, b)(x), tuple(hx) if several else (hx,), _share(u, c))
        return after if several else after[0]

    return own(call)


RECURRENT: dict[str, Spelling] = {
    "gru": _network(_gru_step),
    "lstm": _network(_lstm_step, several=True),
    "rnn_tanh": _network(_plain_step(f.tanh)),
    "rnn_relu": _network(_plain_step(f.relu)),
    "gru_cell": _cell(_gru_step),
    "lstm_cell": _cell(_lstm_step, several=True),
    "rnn_tanh_cell": _cell(_plain_step(f.tanh)),
    "rnn_relu_cell": _cell(_plain_step(f.relu)),
}
