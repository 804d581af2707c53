"""Activations: functions of one operand that networks are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import numpy as snp
from ..call import Call, Tensor
from ..registry import operator

__all__ = ["ACTIVATIONS", "activation"]


@operator("Relu")
def relu(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return snp.relu(x)


@operator("Sigmoid")
def sigmoid(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return snp.sigmoid(x)


@operator("LeakyRelu")
def leaky_relu(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return snp.leaky_relu(x, call.real("alpha", 0.01))


@operator("PRelu", until=6)
def prelu_along_channels(call: Call, x: Tensor, slope: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    if slope.ndim == 1 and slope.shape != (1,):
        slope = np.reshape(slope, (-1, *[1] * (x.ndim - 2)))
    return np.where(x < 0, slope * x, x)


@operator("PRelu", since=7)
def prelu(_call: Call, x: Tensor, slope: Tensor) -> Tensor:
    return np.where(x < 0, slope * x, x)


@operator("ThresholdedRelu")
def thresholded_relu(call: Call, x: Tensor) -> Tensor:
    return np.where(x > call.real("alpha", 1.0), x, np.zeros((), x.dtype))


@operator("Elu")
def elu(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return snp.elu(x, call.real("alpha", 1.0))


@operator("Selu")
def selu(call: Call, x: Tensor) -> Tensor:
    """The defaults before version 6 have fewer digits."""
    call.ignore("consumed_inputs")
    old = call.version < 6
    alpha = call.real("alpha", 1.6732 if old else 1.67326319217681884765625)
    gamma = call.real("gamma", 1.0507 if old else 1.05070102214813232421875)
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, np.zeros((), x.dtype))))


@operator("Celu")
def celu(call: Call, x: Tensor) -> Tensor:
    return snp.celu(x, call.real("alpha", 1.0))


@operator("Gelu")
def gelu(call: Call, x: Tensor) -> Tensor:
    return snp.gelu(x, approximate=call.choice("approximate", "none", "tanh") == "tanh")


@operator("HardSigmoid")
def hard_sigmoid(call: Call, x: Tensor) -> Tensor:
    call.ignore("consumed_inputs")
    return np.clip(call.real("alpha", 0.2) * x + call.real("beta", 0.5), 0, 1)


@operator("HardSwish")
def hard_swish(_call: Call, x: Tensor) -> Tensor:
    return snp.hard_swish(x)


@operator("Mish")
def mish(_call: Call, x: Tensor) -> Tensor:
    return snp.mish(x)


@operator("Swish")
def swish(call: Call, x: Tensor) -> Tensor:
    return x * snp.sigmoid(call.real("alpha", 1.0) * x)


@operator("Softplus")
def softplus(_call: Call, x: Tensor) -> Tensor:
    return snp.softplus(x)


@operator("Softsign")
def softsign(_call: Call, x: Tensor) -> Tensor:
    return snp.softsign(x)


@operator("Shrink")
def shrink(call: Call, x: Tensor) -> Tensor:
    edge, bias = call.real("lambd", 0.5), call.real("bias", 0.0)
    zero = np.zeros((), x.dtype)
    return np.where(x < -edge, x + bias, np.where(x > edge, x - bias, zero)).astype(x.dtype)


# -- along an axis ---------------------------------------------------------------------------------
def _flat(x: Tensor, axis: int) -> Tensor:
    """A matrix: the axes from `axis` on are its columns."""
    axis += x.ndim if axis < 0 else 0
    return np.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def _hardmax(x: Tensor, axis: int = -1) -> Tensor:
    """One at the first largest element, zero elsewhere."""
    largest = np.argmax(x, axis=axis)
    chosen = snp.one_hot(largest, x.shape[axis], x.dtype)
    return np.moveaxis(chosen, -1, axis)


_ALONG = {"Softmax": snp.softmax, "LogSoftmax": snp.log_softmax, "Hardmax": _hardmax}


@operator(*_ALONG)
def along_flattened(call: Call, x: Tensor) -> Tensor:
    """Before version 13 all axes from one on are taken as a single one."""
    flat = _flat(x, call.whole("axis", 1))
    return np.reshape(_ALONG[call.op](flat, axis=-1), x.shape)


@operator(*_ALONG, since=13)
def along_axis(call: Call, x: Tensor) -> Tensor:
    return _ALONG[call.op](x, axis=call.whole("axis", -1))


# -- inside of recurrent operators -----------------------------------------------------------------
def activation(name: str, alpha: float | None, beta: float | None) -> Any:
    """The activation of a recurrent operator, by its name there.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    function, *defaults = ACTIVATIONS[name.lower()]
    given = [alpha, beta][: len(defaults)]
    params = [d if g is None else g for g, d in zip(given, defaults, strict=True)]
    return lambda x: function(x, *params)


ACTIVATIONS: dict[str, tuple[Any, ...]] = {
    "relu": (snp.relu,),
    "tanh": (np.tanh,),
    "sigmoid": (snp.sigmoid,),
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "leakyrelu": (snp.leaky_relu, 0.01),
    "thresholdedrelu": (lambda x, a: np.where(x > a, x, np.zeros((), x.dtype)), 1.0),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (snp.elu, 1.0),
    "softsign": (snp.softsign,),
    "softplus": (snp.softplus,),
}
"""Each with the defaults of its parameters."""
