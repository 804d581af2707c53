"""Steps of random programs that multiply matrices."""

from __future__ import annotations

import numpy as np

from .builder import Builder
from .forms import FormTable

form = FormTable()


@form(8)
def product(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim > 0)
    if x is None:
        return None
    shape = b.values[x].shape
    y = b.pick(lambda value: value.ndim > 0 and value.shape[-2:][0] == shape[-1])
    if y is None:
        return None
    try:
        np.matmul(b.values[x], b.values[y])
    except ValueError:
        return None
    small_ranks = len(shape) < 3 and b.values[y].ndim < 3
    text = ["{0} @ {1}", "{0} @ {1}", "np.matmul({0}, {1})", *(["np.dot({0}, {1})"] * small_ranks)]
    return b.add(b.rng.choice(text), x, y)


@form(4)
def by_itself(b: Builder) -> int | None:
    x = b.shaped(1, 2, 3)
    if x is None:
        return None
    ndim = b.values[x].ndim
    text = {
        1: ["{0} @ {0}", "np.outer({0}, {0})", "np.dot({0}, {0})", "np.einsum('i,i->', {0}, {0})"],
        2: [
            "{0}.T @ {0}",
            "{0} @ {0}.T",
            "np.einsum('ij,ij->i', {0}, {0})",
            "np.einsum('ij,kj->ik', {0}, {0})",
            "np.einsum('ij->ji', {0})",
            "np.einsum('ij->', {0})",
            "np.tensordot({0}, {0}, axes=2)",
        ],
        3: [
            "np.einsum('ijk->kij', {0})",
            "np.einsum('ijk,ijk->jk', {0}, {0})",
            "np.einsum('ijk->j', {0})",
        ],
    }[ndim]
    return b.add(b.rng.choice(text), x)


@form(3)
def contracted(b: Builder) -> int | None:
    x = b.shaped(2, 3)
    if x is None:
        return None
    shape = b.values[x].shape
    y = b.pick(lambda value: value.ndim == 2 and value.shape[0] == shape[-1])
    z = b.pick(lambda value: value.shape == shape)
    v = b.pick(lambda value: value.ndim == 1 and value.shape[0] == shape[-1])
    if y is not None and b.rng.random() < 0.4:
        text = ["np.tensordot({0}, {1}, axes=1)", "np.einsum('...j,jk->...k', {0}, {1})"]
        if len(shape) == 2:
            text += ["np.einsum('ij,jk->ik', {0}, {1})", "np.einsum('ij,jk->ki', {0}, {1})"]
        return b.add(b.rng.choice(text), x, y)
    if v is not None and b.rng.random() < 0.5:
        return b.add(b.rng.choice(["np.einsum('...j,j->...', {0}, {1})", "{0} @ {1}"]), x, v)
    if z is None:
        return None
    text = ["np.einsum('...ij,...ij->...', {0}, {1})", "np.sum({0} * {1}, axis=-1)"]
    if len(shape) == 2:
        text += ["np.trace({0} @ {1}.T)", "np.tensordot({0}, {1}, axes=2)", "np.inner({0}, {1})"]
    return b.add(b.rng.choice(text), x, z)


@form(2)
def square_matrix(b: Builder) -> int | None:
    x = b.pick(lambda value: value.ndim == 2 and value.shape[0] == value.shape[1])
    if x is None:
        return None
    return b.add(
        b.rng.choice(
            [
                "np.trace({0})",
                "np.diagonal({0})",
                "np.einsum('ii->i', {0})",
                "np.einsum('ii->', {0})",
                "{0} @ {0}",
                "{0} + {0}.T",
                "np.trace({0} @ {0})",
                "np.diag(np.diagonal({0}))",
                "np.diag({0})",
            ]
        ),
        x,
    )
