"""`scipy.stats` on symbols: densities, probabilities and quantiles of distributions.

`from symgraph.scipy import stats` instead of `from scipy import stats`: the methods `logpdf`, `pdf`
(`logpmf`, `pmf`), `cdf`, `sf`, `logcdf`, `logsf`, `ppf` and `isf`, with SciPy's parameters, `loc`
and `scale`, and frozen distributions. They keep the floating dtype of their arguments, where SciPy
gives float64.

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
from .multivariate import dirichlet, multinomial, multivariate_normal
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

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "f",
    "fisk",
    "gamma",
    "gaussian_kde",
    "genextreme",
    "gennorm",
    "genpareto",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "invgauss",
    "laplace",
    "logistic",
    "lognorm",
    "lomax",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rayleigh",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "weibull_min",
]


def __getattr__(name: str) -> Any:
    return of_numbers("stats", name, __all__)
