"""Inverse pairs of functions, and identities of functions."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

POSITIVE = given(3, sg.positive)
NONZERO = given(3, sg.nonzero)

INVERSES = [
    reached(
        "useless_cosh_of_arccosh",
        "cosh undoes arccosh, where that is defined",
        lambda x: np.cosh(np.arccosh(x)),
        lambda x: x,
        "domain",
        x=given(3, sg.interval(1.5, 3)),
    ),
    reached(
        "useless_cosh_of_arccosh",
        "cosh undoes arccosh above 1",
        lambda x: np.cosh(np.arccosh(x)),
        lambda x: x,
        x=given(3, sg.interval(1, 3)),
    ),
    reached(
        "useless_arccosh_of_cosh",
        "arccosh undoes cosh but for the sign",
        lambda x: np.arccosh(np.cosh(x)),
        np.abs,
        x=3,
    ),
    reached(
        "useless_tanh_of_arctanh",
        "tanh undoes arctanh, where that is defined",
        lambda x: np.tanh(np.arctanh(x)),
        lambda x: x,
        "domain",
        x=given(3, sg.interval(-0.9, 0.9)),
    ),
    reached(
        "useless_tanh_of_arctanh",
        "tanh undoes arctanh between -1 and 1",
        lambda x: np.tanh(np.arctanh(x)),
        lambda x: x,
        x=given(3, sg.interval(-0.9, 0.9)),
    ),
    reached(
        "useless_arctanh_of_tanh",
        "arctanh undoes tanh",
        lambda x: np.arctanh(np.tanh(x)),
        lambda x: x,
        x=3,
    ),
    reached(
        "useless_sinh_of_arcsinh",
        "sinh undoes arcsinh",
        lambda x: np.sinh(np.arcsinh(x)),
        lambda x: x,
        x=3,
    ),
    reached(
        "useless_arcsinh_of_sinh",
        "arcsinh undoes sinh",
        lambda x: np.arcsinh(np.sinh(x)),
        lambda x: x,
        x=3,
    ),
    reached("useless_conj_of_conj", "twice conj", lambda x: np.conj(np.conj(x)), lambda x: x, x=3),
    reached(
        "useless_neg_of_neg",
        "twice the other sign",
        lambda x: np.negative(np.negative(x)),
        lambda x: x,
        "exact",
        x=3,
    ),
    reached(
        "useless_reciprocal_of_reciprocal",
        "twice the reciprocal",
        lambda x: 1 / (1 / x),
        lambda x: x,
        x=NONZERO,
    ),
    reached("local_exp_log", "log undoes exp", lambda x: np.log(np.exp(x)), lambda x: x, x=3),
    reached(
        "local_exp_log",
        "log1p undoes expm1",
        lambda x: np.log1p(np.expm1(x)),
        lambda x: x,
        x=3,
    ),
    reached(
        "local_exp_log",
        "exp of softplus",
        lambda x: np.exp(snp.softplus(x)),
        lambda x: 1 + np.exp(x),
        x=3,
    ),
    reached(
        "local_exp_log",
        "expm1 of softplus",
        lambda x: np.expm1(snp.softplus(x)),
        np.exp,
        x=3,
    ),
    reached(
        "local_exp_log_nan_switch",
        "exp undoes log of what is positive",
        lambda x: np.exp(np.log(x)),
        lambda x: x,
        x=POSITIVE,
    ),
    reached(
        "local_exp_log_nan_switch",
        "exp undoes log, where that is defined",
        lambda x: np.exp(np.log(x)),
        lambda x: x,
        "domain",
        x=given(3, sg.interval(0.5, 2)),
    ),
    reached(
        "local_exp_log_nan_switch",
        "exp of log1p",
        lambda x: np.exp(np.log1p(x)),
        lambda x: 1 + x,
        x=POSITIVE,
    ),
    reached(
        "local_exp_log_nan_switch",
        "expm1 of log",
        lambda x: np.expm1(np.log(x)),
        lambda x: x - 1,
        x=POSITIVE,
    ),
    reached(
        "local_exp_log_nan_switch",
        "softplus of log",
        lambda x: snp.softplus(np.log(x)),
        np.log1p,
        x=POSITIVE,
    ),
    reached(
        "local_exp_log_nan_switch",
        "exp of log1mexp",
        lambda x: np.exp(snp.log1mexp(x)),
        lambda x: -np.expm1(x),
        x=given(3, sg.negative),
    ),
    reached("local_sqrt_sqr", "the root of a square", lambda x: np.sqrt(x**2), np.abs, x=3),
    reached(
        "local_sqrt_sqr",
        "the square of a root of what is nonnegative",
        lambda x: np.sqrt(x) ** 2,
        lambda x: x,
        x=given(3, sg.nonnegative),
    ),
    reached("local_log_sqrt", "log of a root", lambda x: np.log(np.sqrt(x)), 2, x=3),
    reached(
        "local_log_div",
        "log of a reciprocal",
        lambda x: np.log(1 / x),
        lambda x: -np.log(x),
        x=POSITIVE,
    ),
    reached(
        "local_log_div",
        "log of a number over an array",
        lambda x: np.log(2 / x) - np.log(2.0),
        lambda x: -np.log(x),
        x=POSITIVE,
    ),
    reached(
        "local_mul_exp_to_exp_add",
        "a product of exps",
        lambda x, y: np.exp(x) * np.exp(y),
        lambda x, y: np.exp(x + y),
        x=3,
        y=3,
    ),
    reached(
        "local_mul_exp_to_exp_add",
        "a quotient of exps",
        lambda x, y: np.exp(x) / np.exp(y),
        lambda x, y: np.exp(x - y),
        x=3,
        y=3,
    ),
    reached(
        "local_div_exp_to_mul_exp",
        "an array over exp",
        lambda a, x: a / np.exp(-x),
        lambda a, x: a * np.exp(x),
        a=3,
        x=3,
    ),
    reached(
        "local_mul_pow_to_pow_add",
        "a product of powers of one positive base",
        lambda a, x, y: a**x * a**y,
        lambda a, x, y: a ** (x + y),
        "domain",
        a=POSITIVE,
        x=3,
        y=3,
    ),
    reached(
        "local_mul_pow_to_pow_add",
        "a quotient of powers of one positive base",
        lambda a, x, y: a**x / a**y,
        lambda a, x, y: a ** (x - y),
        "domain",
        a=POSITIVE,
        x=3,
        y=3,
    ),
    reached(
        "local_mul_pow_to_pow_add",
        "whole powers of any base",
        lambda x: x**3 * x**2,
        lambda x: x**5,
        x=3,
    ),
]

REFUSED = [
    refused(
        "useless_cosh_of_arccosh",
        "arccosh is defined above 1",
        lambda x: np.cosh(np.arccosh(x)),
        lambda x: x,
        x=[0.5],
    ),
    refused(
        "useless_arccosh_of_cosh",
        "cosh forgets the sign",
        lambda x: np.arccosh(np.cosh(x)),
        lambda x: x,
        x=[-2.0],
    ),
    refused(
        "useless_tanh_of_arctanh",
        "arctanh is defined between -1 and 1",
        lambda x: np.tanh(np.arctanh(x)),
        lambda x: x,
        x=[-2.0],
    ),
    refused(
        "local_sqrt_sqr",
        "negative numbers have no root",
        lambda x: np.sqrt(x) ** 2,
        lambda x: x,
        x=[-2.0],
    ),
    refused(
        "local_sigmoid_logit",
        "odds above 1 are negative",
        lambda x: snp.sigmoid(np.log(x / (1 - x))),
        lambda x: x,
        x=[2.0],
    ),
    refused(
        "local_exp_log_nan_switch",
        "negative numbers have no log",
        lambda x: np.exp(np.log(x)),
        lambda x: x,
        x=[-2.0],
    ),
]

ROWS = [*INVERSES]
