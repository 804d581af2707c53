"""Random programs to be tried at every magnitude: what people write, where digits can go.

A program is drawn from its seed alone. Its inputs x, y and z are of any sign, p is positive. Steps
keep the shape of the inputs: what reduces is broadcast back, so that any two values go together.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from randomgraphs.program import Input, Line, Program

__all__ = ["accuracy_program"]

_ONE = (
    *("np.exp({0})", "np.exp(-{0})", "np.log(np.abs({0}))", "np.log1p(np.abs({0}))"),
    *("np.expm1({0})", "np.sqrt(np.abs({0}))", "{0}**2", "{0}**3", "1/{0}", "{0}**-2", "-{0}"),
    *("np.tanh({0})", "1/(1 + np.exp(-{0}))", "1/(1 + np.exp({0}))", "sp.sigmoid({0})"),
    *("np.log(1 + np.exp({0}))", "np.log(1 + {0}**2)", "np.sqrt(1 + {0}**2)"),
    *("np.log(1/(1 + np.exp(-{0})))", "np.log(1 - 1/(1 + np.exp(-{0})))", "1 - np.tanh({0})**2"),
    *("sp.sigmoid({0})*(1 - sp.sigmoid({0}))", "{0}*sp.sigmoid({0})", "2*sp.sigmoid(2*{0}) - 1"),
    *("np.cosh({0})", "np.sinh({0})", "1/np.cosh({0})", "np.arctan({0})", "np.arcsinh({0})"),
    *("np.sin({0})", "np.cos({0})", "1 - np.cos({0})", "np.tan({0})"),
    *("np.abs({0})", "np.maximum({0}, 0)", "np.where({0} > 0, {0}, 0)", "np.clip({0}, -1, 1)"),
    *("np.where({0} > 0, {0}, np.expm1({0}))", "np.minimum({0}, 1)", "np.sign({0})*{0}"),
    *("sp.erf({0})", "sp.erfc({0})", "np.exp(-{0}**2)", "np.exp(-{0}**2/2)", "sp.ndtr({0})"),
    *("np.log(sp.ndtr({0}))", "np.log(1 - sp.ndtr({0}))", "np.exp(-{0}**2)/sp.erfc({0})"),
    *("sp.gammaln(1 + np.abs({0}))", "sp.softplus({0})", "np.exp({0})/(2 + np.exp({0}))"),
    *("np.sqrt({0}*{0})", "np.log(np.exp({0}))", "np.exp({0}) - 1", "np.log(1 + {0})"),
    *("np.sqrt({0}**2 + 1) - {0}", "0.5*{0}", "3*{0} + 1", "{0} - 10", "1 - {0}"),
    *("np.exp(2*{0})/(1 + np.exp(2*{0}))", "({0} - 1)**2", "np.exp2({0})", "sp.dawsn({0})"),
)
"""Elementwise functions of one value."""

_TWO = (
    *("{0} + {1}", "{0} - {1}", "{0}*{1}", "{0}/{1}", "{0} + {1}", "{0} - {1}", "{0}*{1}"),
    *("{0}/(1 + {1}**2)", "({0} - {1})/({0} + {1})", "{0}*{1}/{0}", "{0}/{1}*{1}", "{0}/{1}/{1}"),
    *("({0} - {1})**2", "{0}**2 - 2*{0}*{1} + {1}**2", "({0} + {1})*({0} - {1})"),
    *("{0}**2/{1}", "({0}/{1})**2", "{0}*{0}/({1}*{1})", "np.exp({0})*np.exp({1})"),
    *("np.exp({0})/(1 + np.exp({1}))", "np.exp({0})/(np.exp({0}) + np.exp({1}))"),
    *("np.exp({0} - {1})", "np.log(np.exp({0}) + np.exp({1}))", "np.logaddexp({0}, {1})"),
    *("np.hypot({0}, {1})", "np.sqrt({0}**2 + {1}**2)", "np.arctan2({0}, {1})"),
    *("np.maximum({0}, {1})", "np.minimum({0}, {1})", "np.where({0} > {1}, {0}, {1})"),
    *("np.where({0} < 0, {1}, {0})", "np.abs({0} - {1})", "np.copysign({0}, {1})"),
    *("{0}*np.log(np.abs({1}))", "np.abs({0})**(1/2)*{1}", "({0} - {1})/{1}"),
    *("np.maximum({0}, 0) - {0}*{1} + np.log(1 + np.exp(-np.abs({0})))", "1/(1/{0} + 1/{1})"),
    *("{0}*sp.sigmoid({1})", "{0}*(1 - sp.sigmoid({1})) + {1}*sp.sigmoid({1})"),
)
"""Elementwise functions of two values."""

_WITH_P = (
    *("{0}/{1}", "{0}*{1}", "{1}**{0}", "{0}**2/{1}", "{0}*np.log({1})", "{0}**{1}"),
    "np.exp({0})/({1} + np.exp({0}))",
)
"""Functions of a value and the positive input."""

_OVER = (
    *("np.exp({0})/np.sum(np.exp({0}){k})", "{0} - np.log(np.sum(np.exp({0}){k}))"),
    *("np.exp({0} - np.max({0}{k}))", "sp.softmax({0})", "np.log(sp.softmax({0}))"),
    *("{0} - np.mean({0}{k})", "({0} - np.mean({0}{k}))/np.std({0}{k})", "{0}/np.sum({0}{k})"),
    *("{0}/np.sqrt(np.sum({0}**2{k}))", "{0}/np.linalg.norm({0}{k})", "{0}/np.max({0}{k})"),
    *("{0}*np.sum({1}{k})", "{0} + np.prod({1}{k})", "{0}*np.max({1}{k})", "{0} - np.min({1}{k})"),
    *("{0}*np.linalg.norm({1}{k})", "{0}/np.linalg.norm({1} - {0}{k})", "{0}*np.sum({0}*{1}{k})"),
    *("np.cumsum({0}, axis=-1)", "{0}*np.var({1}{k})", "{0}/(1e-5 + np.var({0}{k}))**0.5"),
    *("1/np.sum(1/{0}{k}) + {1}", "{0}*(np.log(np.sum(np.exp({1}){k})) - np.max({1}{k}))"),
)
"""Functions of rows, broadcast back."""

_LOSSES = (
    *(
        "np.sum({0})",
        "np.mean({0})",
        "np.sum({0}*{1})",
        "np.sum({0}**2)",
        "np.mean(({0} - {1})**2)",
    ),
    *("np.linalg.norm({0})", "np.linalg.norm({0} - {1})", "np.sqrt(np.sum({0}**2))"),
    *("np.log(np.sum(np.exp({0})))", "np.log(np.sum({0}**2))", "np.sum({0})/np.sum({1}**2)"),
    *("-np.sum({1}*np.log(np.exp({0})/np.sum(np.exp({0}))))", "np.max({0})", "np.min({0} + {1})"),
    *("np.prod({0})/np.sum({1}**2)", "np.sum({0}*{1})/(np.linalg.norm({0})*np.linalg.norm({1}))"),
    *("np.max({0}) - np.log(np.sum(np.exp({1})))", "np.sum(np.abs({0} - {1}))", "np.prod({0})"),
    *("np.sum(np.log(1 + np.exp({0})))", "np.var({0})", "np.std({0})", "sp.logsumexp({0} - {1})"),
    "-np.sum({1}*np.log({0}) + (1 - {1})*np.log(1 - {0}))",
)
"""The last step; of matrices, `_OF_MATRICES` as well."""

_OF_MATRICES = (
    *("np.sum({0} @ {1}.T)", "np.trace({0} @ {1}.T)", "np.log(np.sum(np.exp({0} @ {1}.T)))"),
    "np.sum(({0} @ {1}.T)**2)",
)

_SHAPES = ((), (2,), (3,), (4,), (2, 3), (3, 2))


@cache
def _texts(rank: int) -> tuple[tuple[str, ...], ...]:
    keep = {0: "", 1: "", 2: ", axis=-1, keepdims=True"}[rank]
    over = tuple(text.replace("{k}", keep) for text in _OVER)
    if rank == 0:
        return _ONE, _TWO, _WITH_P, (), _LOSSES
    return _ONE, _TWO, _WITH_P, over, (*_LOSSES, *_OF_MATRICES) if rank == 2 else _LOSSES


def accuracy_program(seed: int) -> Program:
    """A program of three to eight steps; its inputs have placeholder numbers."""
    rng = random.Random(f"accuracy {seed}")
    shape = rng.choice(_SHAPES)
    one, two, with_p, over, losses = _texts(len(shape))
    names = rng.choice(("x", "xy", "xy", "xyz", "xp", "xyp"))
    inputs = tuple(
        Input(name, np.ones(shape), "sg.positive" if name == "p" else "") for name in names
    )
    lines: list[Line] = []

    def earlier() -> int:
        """A random value; the latest one most often."""
        count = len(names) + len(lines)
        return count - 1 if lines and rng.random() < 0.55 else rng.randrange(count)

    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5))):
        kind = rng.random()
        if kind < 0.4:
            lines.append(Line(rng.choice(one), (earlier(),)))
        elif kind < 0.5 and "p" in names:
            lines.append(Line(rng.choice(with_p), (earlier(), names.index("p"))))
        elif kind < 0.75 and over:
            lines.append(Line(rng.choice(over), (earlier(), earlier())))
        else:
            lines.append(Line(rng.choice(two), (earlier(), rng.randrange(len(names) + len(lines)))))
    last = len(names) + len(lines) - 1
    lines.append(Line(rng.choice(losses), (last, rng.randrange(last + 1))))
    return Program(seed, inputs, tuple(lines)).trimmed()
