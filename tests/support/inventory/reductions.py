"""Sums, products and extrema over axes."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

POSITIVE = given(3, sg.positive)

REDUCTIONS = [
    reached(
        "local_sum_prod_of_mul_or_div",
        "what a sum does not run over leaves it",
        lambda a, x: np.sum(a[:, None] * x, axis=1),
        lambda a, x: a * np.sum(x, axis=1),
        a=2,
        x=(2, 3),
    ),
    reached(
        "local_sum_prod_of_mul_or_div",
        "a divisor leaves a sum",
        lambda a, x: np.sum(x / a[:, None], axis=1),
        lambda a, x: np.sum(x, axis=1) / a,
        a=2,
        x=(2, 3),
    ),
    reached(
        "local_sum_prod_of_mul_or_div",
        "a number stays in a product: outside, the rest might leave the range",
        lambda x: np.prod(2 * x, axis=1),
        2,
        x=(2, 3),
    ),
    reached(
        "local_sum_prod_of_mul_or_div",
        "an array leaves a product that it is repeated along",
        lambda a, x: np.prod(a[:, None] * x, axis=1),
        lambda a, x: a**3 * np.prod(x, axis=1),
        a=2,
        x=(2, 3),
    ),
    reached(
        "local_sum_of_neg_to_neg_of_sum",
        "the sign leaves a sum",
        lambda x: np.sum(-x, axis=0),
        lambda x: -np.sum(x, axis=0),
        x=(2, 3),
    ),
    reached(
        "local_sum_prod_all_to_none",
        "over all axes or over none named",
        lambda x: np.sum(x, axis=(0, 1)) - np.sum(x),
        0,
        x=given((2, 3), sg.finite),
    ),
    reached(
        "local_reduce_chain",
        "sums of sums",
        lambda x: np.sum(np.sum(x, axis=0), axis=0),
        np.sum,
        x=(2, 3),
    ),
    reached(
        "local_reduce_chain",
        "products of products",
        lambda x: np.prod(np.prod(x, axis=1), axis=0),
        np.prod,
        x=(2, 3),
    ),
    reached(
        "local_reduce_chain",
        "largest of largest, least of least",
        lambda x: np.max(np.max(x, axis=2), axis=0) - np.min(np.min(x, axis=0), axis=1),
        lambda x: np.max(x, axis=(0, 2)) - np.min(x, axis=(0, 2)),
        x=(2, 3, 2),
    ),
    reached(
        "local_reduce_chain",
        "all of all, any of any",
        lambda c: np.logical_and(np.all(np.all(c, axis=0)), np.any(np.any(c, axis=1))),
        lambda c: np.logical_and(np.all(c), np.any(c)),
        c=given((2, 3), dtype="bool"),
    ),
    reached(
        "local_reduce_join",
        "the sum of a stack of two is their sum",
        lambda x, y: np.sum(np.stack([x, y]), axis=0),
        lambda x, y: x + y,
        x=3,
        y=3,
    ),
    reached(
        "local_reduce_join",
        "the largest of a stack of two",
        lambda x, y: np.max(np.stack([x, y]), axis=0),
        np.maximum,
        x=3,
        y=3,
    ),
    reached(
        "local_reduce_join",
        "the product of a stack of two",
        lambda x, y: np.prod(np.stack([x, y], axis=1), axis=1),
        lambda x, y: x * y,
        x=3,
        y=3,
    ),
    reached(
        "local_reduce_join",
        "the sum of a join is the sum of the sums",
        lambda x, y: np.sum(np.concatenate([x, y])),
        lambda x, y: np.sum(x) + np.sum(y),
        x=3,
        y=2,
    ),
    reached(
        "local_useless_reduce",
        "over no axes",
        lambda x: np.sum(x, axis=()) + np.max(x, axis=()),
        lambda x: 2 * x,
        x=(2, 3),
    ),
    reached(
        "local_reduce_broadcastable",
        "over an axis of length one",
        lambda x: np.sum(x, axis=1) + np.prod(x, axis=1) + np.max(x, axis=1),
        lambda x: 3 * np.squeeze(x, 1),
        x=(3, 1),
    ),
    reached(
        "local_careduce_of_alloc",
        "the sum of a repeated number",
        lambda x: np.sum(snp.broadcast_to(x, (4, 3))),
        lambda x: 12 * x,
        x=(),
    ),
    reached(
        "local_careduce_of_alloc",
        "the sum of repeated rows",
        lambda x: np.sum(snp.broadcast_to(x, (4, 3)), axis=0),
        lambda x: 4 * x,
        x=3,
    ),
    reached(
        "local_careduce_of_alloc",
        "the product of repeated rows",
        lambda x: np.prod(snp.broadcast_to(x, (4, 3)), axis=0),
        1,
        x=3,
    ),
    reached(
        "local_careduce_of_alloc",
        "the product of a repeated number",
        lambda x: np.prod(snp.broadcast_to(x, (4, 3))),
        1,
        x=(),
    ),
    reached(
        "local_careduce_of_alloc",
        "the largest and the least of repeated rows",
        lambda x: (
            np.max(snp.broadcast_to(x, (4, 3)), axis=0)
            * np.min(snp.broadcast_to(x, (4, 3)), axis=0)
        ),
        lambda x: x**2,
        x=3,
    ),
    reached(
        "local_careduce_of_alloc",
        "the largest of repeated rows, over both axes",
        lambda x: np.max(snp.broadcast_to(x, (4, 3))),
        np.max,
        x=3,
    ),
    reached(
        "local_sum_make_vector",
        "the sum of numbers put into a vector",
        lambda x, y, z: np.sum(np.stack([x, y, z])),
        1,
        x=(),
        y=(),
        z=(),
    ),
    reached(
        "local_max_to_min",
        "the largest of the negatives",
        lambda x: -np.max(-x, axis=0),
        lambda x: np.min(x, axis=0),
        x=(2, 3),
    ),
    reached(
        "local_max_to_min",
        "the larger of two negatives",
        lambda x, y: -np.maximum(-x, -y),
        np.minimum,
        x=3,
        y=3,
    ),
    reached(
        "local_max_to_min",
        "where the negative is largest",
        lambda x: np.argmax(-x, axis=0),
        lambda x: np.argmin(x, axis=0),
        x=(2, 3),
    ),
    reached(
        "local_log_prod_to_sum_log",
        "log of a product of what is positive",
        lambda x: np.log(np.prod(x)),
        lambda x: np.sum(np.log(x)),
        x=POSITIVE,
    ),
]

REFUSED = [
    refused(
        "local_reduce_chain",
        "a sum of products is no sum",
        lambda x: np.sum(np.prod(x, axis=1)),
        np.sum,
        x=[[1.0, 2.0], [3.0, 4.0]],
    ),
    refused(
        "local_sum_prod_of_mul_or_div",
        "a factor counts once an element of the axis, not of the array",
        lambda x: np.prod(x * 3.0, axis=0),
        lambda x: 81 * np.prod(x, axis=0),
        x=[[1.0, 2.0], [3.0, 4.0]],
    ),
    refused(
        "local_sum_prod_of_mul_or_div",
        "what is left of the product leaves the range",
        lambda x: np.prod(x * 1e-100),
        lambda x: 1e-200 * np.prod(x),
        x=[1e200, 1e200],
    ),
    refused(
        "local_log_prod_to_sum_log",
        "two negative factors",
        lambda x: np.log(np.prod(x)),
        lambda x: np.sum(np.log(x)),
        x=[-1.0, -2.0],
    ),
]

ROWS = [*REDUCTIONS]
