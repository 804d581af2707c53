"""Formulas that keep digits or range."""

from __future__ import annotations

import numpy as np

import symgraph as sg
import symgraph.numpy as snp

from . import given, reached, refused

POSITIVE = given(3, sg.positive)

STABLE = [
    reached("local_expm1", "exp less 1", lambda x: np.exp(x) - 1, np.expm1, x=3),
    reached("local_log1p", "log of 1 and more", lambda x: np.log(1 + x), np.log1p, x=3),
    reached(
        "local_log1p", "log of 1 and less", lambda x: np.log(1 - x), lambda x: np.log1p(-x), x=3
    ),
    reached("local_one_plus_erf", "1 + erf", lambda x: 1 + snp.erf(x), lambda x: snp.erfc(-x), x=3),
    reached("local_one_minus_erf", "1 - erf", lambda x: 1 - snp.erf(x), snp.erfc, x=3),
    reached(
        "local_erf_minus_one", "erf - 1", lambda x: snp.erf(x) - 1, lambda x: -snp.erfc(x), x=3
    ),
    reached("local_one_minus_erfc", "1 - erfc", lambda x: 1 - snp.erfc(x), snp.erf, x=3),
    reached(
        "local_erf_neg_minus_one",
        "erfc of the negative, less 1",
        lambda x: snp.erfc(-x) - 1,
        snp.erf,
        x=3,
    ),
    reached("local_log_erfc", "log of erfc", lambda x: np.log(snp.erfc(x)), snp.log_erfc, x=3),
    reached(
        "local_grad_log_erfc_neg",
        "the density over erfc",
        lambda x: np.exp(-(x**2)) / snp.erfc(x),
        lambda x: 1 / snp.erfcx(x),
        x=3,
    ),
    reached(
        "logsigm_to_softplus",
        "log of a sigmoid",
        lambda x: np.log(snp.sigmoid(x)),
        lambda x: -snp.softplus(-x),
        x=3,
    ),
    reached(
        "log1msigm_to_softplus",
        "log of 1 - sigmoid",
        lambda x: np.log(1 - snp.sigmoid(x)),
        lambda x: -snp.softplus(x),
        x=3,
    ),
    reached(
        "log1p_neg_sigmoid",
        "log1p of minus a sigmoid",
        lambda x: np.log1p(-snp.sigmoid(x)),
        lambda x: -snp.softplus(x),
        x=3,
    ),
    reached(
        "local_exp_over_1_plus_exp",
        "exp over 1 + exp",
        lambda x: np.exp(x) / (1 + np.exp(x)),
        snp.sigmoid,
        x=3,
    ),
    reached(
        "local_exp_over_1_plus_exp",
        "a number over 1 + exp",
        lambda x: 3 / (1 + np.exp(x)),
        lambda x: 3 * snp.sigmoid(-x),
        x=3,
    ),
    reached(
        "local_sigm_times_exp",
        "exp times a sigmoid of the other sign, in a product",
        lambda x, y: y * np.exp(x) * snp.sigmoid(-x),
        lambda x, y: y * snp.sigmoid(x),
        x=3,
        y=3,
    ),
    reached(
        "local_reciprocal_1_plus_exp",
        "1 over 1 + exp",
        lambda x: 1 / (1 + np.exp(x)),
        lambda x: snp.sigmoid(-x),
        x=3,
    ),
    reached(
        "local_1msigmoid",
        "1 - sigmoid",
        lambda x: 1 - snp.sigmoid(x),
        lambda x: snp.sigmoid(-x),
        x=3,
    ),
    reached(
        "local_sigmoid_logit",
        "sigmoid undoes the logit of a probability",
        lambda x: snp.sigmoid(np.log(x / (1 - x))),
        lambda x: x,
        x=given(3, sg.interval(0.1, 0.9)),
    ),
    reached(
        "local_sigmoid_logit",
        "sigmoid undoes the logit, where that is defined",
        lambda x: snp.sigmoid(snp.logit(x)),
        lambda x: x,
        "domain",
        x=given(3, sg.interval(0.1, 0.9)),
    ),
    reached(
        "local_odds_sigmoid",
        "the odds of a sigmoid",
        lambda x: snp.sigmoid(x) / (1 - snp.sigmoid(x)),
        np.exp,
        x=3,
    ),
    reached(
        "local_inv_odds_sigmoid",
        "the odds against a sigmoid",
        lambda x: (1 - snp.sigmoid(x)) / snp.sigmoid(x),
        lambda x: np.exp(-x),
        x=3,
    ),
    reached(
        "local_log1p_plusminus_exp",
        "log1p of exp",
        lambda x: np.log1p(np.exp(x)),
        snp.softplus,
        x=3,
    ),
    reached(
        "local_log1p_plusminus_exp",
        "log1p of minus exp",
        lambda x: np.log1p(-np.exp(x)),
        snp.log1mexp,
        x=given(3, sg.negative),
    ),
    reached(
        "logmexpm1_to_log1mexp",
        "log of minus expm1",
        lambda x: np.log(-np.expm1(x)),
        snp.log1mexp,
        x=given(3, sg.negative),
    ),
    reached(
        "logdiffexp_to_log1mexpdiff",
        "log of a difference of exps",
        lambda x, y: np.log(np.exp(x) - np.exp(y)),
        7,  # one comparison and one choice more: y may be -inf
        x=given(3, sg.interval(1, 2)),
        y=given(3, sg.interval(-1, 0)),
    ),
    reached(
        "local_polygamma_to_digamma",
        "the polygamma function of order 0",
        lambda x: snp.polygamma(0, x),
        snp.digamma,
        x=POSITIVE,
    ),
    reached(
        "local_polygamma_to_tri_gamma",
        "the polygamma function of order 1 is one operation",
        lambda x: snp.polygamma(1, x),
        1,
        x=POSITIVE,
    ),
    reached(
        "local_log_kv",
        "log of a product with exp",
        lambda v, x: np.log(snp.kve(v, x) * np.exp(-x)),
        lambda v, x: np.log(snp.kve(v, x)) - x,
        v=POSITIVE,
        x=POSITIVE,
    ),
    reached(
        "local_log_iv",
        "log of a product with exp of an absolute value",
        lambda v, x: np.log(snp.ive(v, x) * np.exp(np.abs(x))),
        lambda v, x: np.log(snp.ive(v, x)) + x,
        v=POSITIVE,
        x=POSITIVE,
    ),
    reached(
        "local_logsoftmax",
        "log of a softmax",
        lambda x: np.log(snp.softmax(x)),
        snp.log_softmax,
        x=(2, 3),
    ),
    reached(
        "local_logsoftmax",
        "log of a row of a softmax",
        lambda x: np.log(snp.softmax(x)[0]),
        lambda x: snp.log_softmax(x)[0],
        x=(2, 3),
    ),
    reached(
        "local_logsoftmax",
        "log of a softmax turned over",
        lambda x: np.log(snp.softmax(x).T),
        lambda x: snp.log_softmax(x).T,
        x=(2, 3),
    ),
    reached(
        "local_exp_log_softmax",
        "exp of a log-softmax",
        lambda x: np.exp(snp.log_softmax(x)),
        snp.softmax,
        x=(2, 3),
    ),
    reached(
        "local_log_softmax_from_logsumexp",
        "less its logsumexp",
        lambda x: x - snp.logsumexp(x, axis=-1, keepdims=True),
        snp.log_softmax,
        x=(2, 3),
    ),
    reached(
        "local_softmax_stabilize",
        "exp over its sum",
        lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True),
        snp.softmax,
        x=(2, 3),
    ),
    reached(
        "local_log_add_exp",
        "log of a sum of exps",
        lambda x, y: np.log(np.exp(x) + np.exp(y)),
        np.logaddexp,
        x=3,
        y=3,
    ),
    reached(
        "local_log_sum_exp",
        "log of a sum of exp",
        lambda x: np.log(np.sum(np.exp(x), axis=-1)),
        lambda x: snp.logsumexp(x, axis=-1),
        x=(2, 3),
    ),
]

REFUSED = [
    refused(
        "local_softmax_stabilize",
        "without keepdims the sums are spread along rows",
        lambda x: np.exp(x) / np.exp(x).sum(1),
        lambda x: snp.softmax(x, axis=1),
        x=[[0.3, -1.2], [1.1, 0.4]],
    ),
]

ROWS = [*STABLE]
