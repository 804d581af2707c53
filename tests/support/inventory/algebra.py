"""Sums, products, quotients and powers, and their constants."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

INTEGERS = given(3, dtype="int64")
TRUTHS = given(3, dtype="bool")
POSITIVE = given(3, sg.positive)
NONZERO = given(3, sg.nonzero)
FINITE = given(3, sg.finite)

ALGEBRA = [
    reached(
        "local_sign_div",
        "the sign of a quotient by what is positive is that of the numerator",
        lambda x, y: np.sign(x / y),
        lambda x, y: np.sign(x),
        x=3,
        y=POSITIVE,
    ),
    reached(
        "local_sign_div",
        "a reciprocal has the sign of its operand, which is not zero",
        lambda x: np.sign(1 / x),
        np.sign,
        x=NONZERO,
    ),
    reached(
        "AlgebraicCanonizer",
        "terms and their opposites cancel in nested sums",
        lambda x, y, z: (x + (y - z)) - (y - (z + x)) - x,
        lambda x, y, z: x,
        x=FINITE,
        y=FINITE,
        z=FINITE,
    ),
    reached(
        "local_mul_canonizer",
        "factors and divisors cancel in nested products",
        lambda x, y, z: (x * (y / z)) / (y * (x / z)) * x,
        lambda x, y, z: x,
        x=NONZERO,
        y=NONZERO,
        z=NONZERO,
    ),
    reached(
        "mul_canonizer",
        "numbers in a product become one",
        lambda x, y: (2 * x) * (y / 4) * 6,
        lambda x, y: 3 * x * y,
        x=3,
        y=3,
    ),
    reached(
        "local_add_canonizer",
        "numbers in a sum become one",
        lambda x, y: (2 + x) - (y - 4) - 6,
        lambda x, y: x - y,
        x=3,
        y=3,
    ),
    reached(
        "add_canonizer",
        "like terms become one",
        lambda x: 2 * x + x / 2 - x,
        lambda x: 1.5 * x,
        x=3,
    ),
    reached(
        "local_neg_to_mul",
        "signs of factors meet in one",
        lambda x, y: -x * (-(2 * y)),
        lambda x, y: 2 * (x * y),
        x=3,
        y=3,
    ),
    reached(
        "local_neg_div_neg",
        "a quotient of two negatives",
        lambda x, y: -(-x / y),
        lambda x, y: x / y,
        x=3,
        y=3,
    ),
    reached(
        "local_neg_div_neg",
        "the sign of a quotient goes to its number",
        lambda x: -(2 / x),
        lambda x: -2 / x,
        x=3,
    ),
    reached(
        "local_sub_neg_to_add",
        "to subtract a negative is to add",
        lambda x, y: x - (-y),
        lambda x, y: x + y,
        "exact",
        x=3,
        y=3,
    ),
    reached(
        "local_add_neg_to_sub",
        "to add a negative is to subtract",
        lambda x, y: x + (-y),
        lambda x, y: x - y,
        "exact",
        x=3,
        y=3,
    ),
    reached(
        "local_add_neg_to_sub",
        "to add a negative number is to subtract",
        lambda x: x + (-2.0),
        lambda x: x - 2.0,
        "exact",
        x=3,
    ),
    reached(
        "local_mul_zero",
        "zero times what is finite",
        lambda x: x * 0.0,
        lambda x: np.zeros(3),
        x=FINITE,
    ),
    reached(
        "local_mul_zero",
        "zero times a whole number",
        lambda x: x * 0,
        lambda x: np.zeros(3, dtype=int),
        "exact",
        x=INTEGERS,
    ),
    reached(
        "local_mul_zero",
        "zero times anything that is a number",
        lambda x: x * 0.0,
        lambda x: np.zeros(3),
        "domain",
        x=3,
    ),
    reached(
        "local_div_to_reciprocal",
        "one divided by x is one operation",
        lambda x: 1 / x,
        1,
        "exact",
        x=3,
    ),
    reached(
        "local_reciprocal_canon",
        "a reciprocal in a product divides",
        lambda x, y: np.reciprocal(x) * y,
        lambda x, y: y / x,
        x=3,
        y=3,
    ),
    reached("local_pow_canonicalize", "power 1", lambda x: x**1.0, lambda x: x, "exact", x=3),
    reached("local_pow_canonicalize", "power 0", lambda x: x**0.0, 0, "exact", x=3),
    reached("local_pow_canonicalize", "powers of 1", lambda x: 1.0**x, 0, "exact", x=3),
    reached("local_pow_specialize", "power 2", lambda x: x**2, np.square, x=3),
    reached("local_pow_specialize", "power 1/2", lambda x: x**0.5, np.sqrt, x=3),
    reached(
        "local_pow_specialize", "power -1/2 is one operation", lambda x: x**-0.5, 1, x=POSITIVE
    ),
    reached("local_pow_specialize", "power -1", lambda x: x**-1.0, lambda x: 1 / x, x=3),
    reached("local_pow_specialize", "power -2", lambda x: x**-2.0, lambda x: x**-2.0, x=3),
    reached("local_mul_to_sqr", "a number times itself", lambda x: x * x, np.square, "exact", x=3),
    reached("local_div_by_one", "divided by 1", lambda x: x / 1, lambda x: x, "exact", x=3),
    reached(
        "local_zero_div",
        "zero divided by what is not zero",
        lambda x: 0 / x,
        lambda x: np.zeros(3),
        x=NONZERO,
    ),
    reached(
        "local_zero_div",
        "zero divided by anything, where that is a number",
        lambda x: 0 / x,
        lambda x: np.zeros(3),
        "domain",
        x=3,
    ),
    reached(
        "local_mul_specialize",
        "ones go and -1 becomes a sign",
        lambda x, y: 1 * x * (-1 * y) * 1,
        lambda x, y: -(x * y),
        x=3,
        y=3,
    ),
    reached(
        "local_add_remove_zeros",
        "zeros go",
        lambda x, y: 0 + x + (0 + y),
        lambda x, y: x + y,
        x=3,
        y=3,
    ),
    reached(
        "local_elemwise_sub_zeros",
        "a finite number less itself",
        lambda x: x - x,
        lambda x: np.zeros(3),
        x=FINITE,
    ),
    reached(
        "local_abs_lift",
        "a number over its absolute value is its sign",
        lambda x: x / np.abs(x),
        np.sign,
        x=NONZERO,
    ),
    reached(
        "local_abs_lift",
        "the absolute value of a product, over one of its factors'",
        lambda x, y: np.abs(x * y) / np.abs(x),
        lambda x, y: np.abs(y),
        x=NONZERO,
        y=3,
    ),
    reached(
        "local_abs_merge",
        "a product of absolute values",
        lambda x, y: np.abs(x) * np.abs(y),
        lambda x, y: np.abs(x * y),
        x=3,
        y=3,
    ),
    reached(
        "local_greedy_distributor",
        "a factor goes inside where it cancels",
        lambda a, b, x, y: (a / x + b / y) * x * y,
        lambda a, b, x, y: a * y + b * x,
        a=3,
        b=3,
        x=NONZERO,
        y=NONZERO,
    ),
    reached(
        "local_greedy_distributor",
        "a number goes inside where it cancels",
        lambda x, y: (2 * x + 2 * y) / 2,
        lambda x, y: x + y,
        x=3,
        y=3,
    ),
    reached("local_useless_conj", "conj of what is real", np.conj, lambda x: x, "exact", x=3),
    reached(
        "local_useless_elemwise",
        "a whole number equals itself",
        lambda x: x == x,
        lambda x: np.ones(3, dtype=bool),
        "exact",
        x=INTEGERS,
    ),
    reached(
        "local_useless_elemwise",
        "and with true, or with false",
        lambda c: np.logical_or(np.logical_and(c, True), False),
        lambda c: c,
        "exact",
        c=TRUTHS,
    ),
    reached(
        "local_useless_elemwise",
        "exclusive or with itself",
        lambda c: np.logical_xor(c, c),
        lambda c: np.zeros(3, dtype=bool),
        "exact",
        c=TRUTHS,
    ),
    reached(
        "local_useless_elemwise",
        "exclusive or of whole numbers with themselves",
        lambda x: x ^ x,
        lambda x: np.zeros(3, dtype=int),
        "exact",
        x=INTEGERS,
    ),
]

CONSTANTS = [
    reached(
        peer,
        says,
        lambda x: x * (np.exp(snp.zeros(3)) + snp.arange(3.0)),
        lambda x: x * np.array([1.0, 2.0, 3.0]),
        "exact",
        x=3,
    )
    for peer, says in [
        ("unconditional_constant_folding", "what no input reaches, computed once"),
        ("topo_unconditional_constant_folding", "the same, along the graph"),
        ("constant_folding", "the same, where an operation allows it: all do"),
        ("topo_constant_folding", "the same, along the graph"),
    ]
] + [
    reached(
        "constant_fold_branches_of_add_mul",
        "constant arrays of a sum or product, computed once",
        lambda x: (x + np.array([1.0, 2.0, 3.0])) + np.array([1.0, 0.0, 1.0]),
        lambda x: x + np.array([2.0, 2.0, 4.0]),
        x=3,
    ),
    reached(
        "constant_fold_branches_of_add_mul",
        "constant arrays of a product",
        lambda x: (x * np.array([1.0, 2.0, 3.0])) * np.array([1.0, 3.0, 1.0]),
        lambda x: x * np.array([1.0, 6.0, 3.0]),
        x=3,
    ),
]

REFUSED = [
    refused(
        "local_mul_zero", "0 * inf is NaN", lambda x: x * 0.0, lambda x: snp.zeros(1), x=[np.inf]
    ),
    refused("local_zero_div", "0 / 0 is NaN", lambda x: 0 / x, lambda x: snp.zeros(1), x=[0.0]),
    refused(
        "local_elemwise_sub_zeros",
        "inf - inf is NaN",
        lambda x: x - x,
        lambda x: snp.zeros(1),
        x=[np.inf],
    ),
    refused(
        "local_useless_elemwise",
        "NaN does not equal itself",
        lambda x: x == x,
        lambda x: np.ones(1, dtype=bool),
        x=[np.nan],
    ),
    refused("local_mul_canonizer", "0 / 0 is NaN", lambda x: x * x / x, lambda x: x, x=[0.0]),
    refused(
        "local_mul_pow_to_pow_add",
        "half powers of negative numbers",
        lambda x: x**0.5 * x**0.5,
        lambda x: x,
        x=[-2.0],
    ),
    refused(
        "local_mul_pow_to_pow_add",
        "half powers of negative numbers, computed",
        lambda a, x: a**x * a**x,
        lambda a, x: a ** (2 * x),
        a=[-2.0],
        x=[0.5],
    ),
    refused("local_abs_lift", "0 / |0| is NaN", lambda x: x / np.abs(x), np.sign, x=[0.0]),
]

ROWS = [*ALGEBRA, *CONSTANTS]
