"""Transforms to frequencies and back."""

from __future__ import annotations

from symgraph.numpy import cosine_transform
from symgraph.rewriting import Axis, Identity, Real, rule


@rule(sound="rounding")
def cosines_and_back(x: Real, axis: Axis) -> Identity:
    r"""$C^\top C x = x$: the matrix of the cosine transform is orthogonal."""
    return cosine_transform(cosine_transform(x, axis), axis, True), x


@rule(sound="rounding")
def back_and_cosines(x: Real, axis: Axis) -> Identity:
    r"""$C C^\top x = x$: the matrix of the cosine transform is orthogonal."""
    return cosine_transform(cosine_transform(x, axis, True), axis), x
