"""`scipy.stats` on symbols: distributions, and statistics of samples.

`from symgraph.scipy import stats` instead of `from scipy import stats`: the methods `logpdf`, `pdf`
(`logpmf`, `pmf`), `cdf`, `sf`, `logcdf`, `logsf`, `ppf` and `isf`, with SciPy's parameters, `loc`
and `scale`, and frozen distributions; `zscore`, `skew`, `gmean` and their like of samples. All keep
the floating dtype of their arguments, where SciPy's distributions give float64.

Examples
--------
>>> from symgraph.scipy import stats
>>> stats.norm.logpdf(0.0, loc=1.0)
np.float64(-1.4189385332046727)
>>> float(sg.grad(lambda x: stats.norm(1.0, 2.0).logpdf(x))(3.0))
-0.5
"""

from __future__ import annotations

from typing import Any

from ..names.absent import of_numbers
from .bounded import beta, genextreme, genpareto, truncnorm, uniform
from .comparisons import energy_distance, entropy, pearsonr, wasserstein_distance
from .discrete import bernoulli, betabinom, binom, geom, nbinom, poisson
from .half_line import (
    chi2,
    expon,
    f,
    fisk,
    gamma,
    halfcauchy,
    halfnorm,
    invgamma,
    invgauss,
    lognorm,
    lomax,
    pareto,
    rayleigh,
    weibull_min,
)
from .kernel_density import gaussian_kde
from .multivariate import dirichlet, multinomial, multivariate_normal, multivariate_t
from .real_line import (
    cauchy,
    gennorm,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    norm,
    skewnorm,
    t,
    vonmises,
)
from .samples import (
    gmean,
    hmean,
    kurtosis,
    moment,
    pmean,
    sem,
    skew,
    variation,
    zscore,
)

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "energy_distance",
    "entropy",
    "expon",
    "f",
    "fisk",
    "gamma",
    "gaussian_kde",
    "genextreme",
    "gennorm",
    "genpareto",
    "geom",
    "gmean",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "hmean",
    "invgamma",
    "invgauss",
    "kurtosis",
    "laplace",
    "logistic",
    "lognorm",
    "lomax",
    "moment",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "pearsonr",
    "pmean",
    "poisson",
    "rayleigh",
    "sem",
    "skew",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "variation",
    "vonmises",
    "wasserstein_distance",
    "weibull_min",
    "zscore",
]


def __getattr__(name: str) -> Any:
    return of_numbers("stats", name, __all__)
