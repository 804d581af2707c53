"""Continuous distributions: densities, probabilities and quantiles at any location and scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...ops.slopes import with_slope
from .distribution import Distribution, Parameters, either, published, spoiled, within
from .validity import lifted

__all__ = ["Continuous"]


@published
class Continuous(Distribution):
    """A continuous distribution: SciPy's methods on symbols, and on numbers."""

    methods: ClassVar[tuple[str, ...]] = (
        "logpdf",
        "pdf",
        "logcdf",
        "cdf",
        "logsf",
        "sf",
        "ppf",
        "isf",
    )

    def logpdf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the density."""
        return self._log_density(x, args, keywords, self._minus_infinity)

    def _log_density(
        self,
        x: ArrayLike,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        nothing: Callable[[Array, Parameters], Any],
    ) -> Any:
        """The logarithm of the density; `nothing` of z and the shapes off the support."""
        x, shapes, scale, loc = self._standard(x, args, keywords)
        z = _centred(x, scale, loc)
        outside = either(self.below, self.above, z, shapes)
        value = self.log_density(within(z, outside, self.inside(*shapes)), *shapes)
        if scale is not None:
            value = value - snp.log(scale)
        if outside is None:
            return value
        return spoiled(snp.where(outside, nothing(z, shapes), value), [*shapes, scale])

    def pdf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The density."""
        if self.density_form is None:
            return snp.exp(self._log_density(x, args, keywords, lambda z, shapes: -np.inf))
        x, shapes, scale, loc = self._standard(x, args, keywords)
        z = _centred(x, scale, loc)
        outside = either(self.below, self.above, z, shapes)
        value = self.density_form(within(z, outside, self.inside(*shapes)), *shapes)
        value = value if scale is None else value / scale
        value = value if outside is None else snp.where(outside, 0.0, value)
        return spoiled(value, [*shapes, scale])

    def cdf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The probability that X is at most x."""
        return self._probability("cdf", x, args, keywords)

    def sf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The probability that X is larger than x."""
        return self._probability("sf", x, args, keywords)

    def logcdf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the cdf."""
        return self._probability("logcdf", x, args, keywords)

    def logsf(self, x: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the sf."""
        return self._probability("logsf", x, args, keywords)

    def ppf(self, q: ArrayLike, *args: object, **keywords: object) -> Any:
        """The x whose cdf is q; NaN unless q is a probability."""
        return self._quantile(q, args, keywords, upper=False)

    def isf(self, q: ArrayLike, *args: object, **keywords: object) -> Any:
        """The x whose sf is q; NaN unless q is a probability."""
        return self._quantile(q, args, keywords, upper=True)

    def _probability(
        self, method: str, x: ArrayLike, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Array:
        x, shapes, scale, loc = self._standard(x, args, keywords)
        value = self._distributed(_centred(x, scale, loc), shapes, method)
        return spoiled(value, [*shapes, scale] if self.below or self.above else [])

    def _quantile(
        self, q: ArrayLike, args: Sequence[Any], keywords: Mapping[str, Any], *, upper: bool
    ) -> Array:
        form = self._form("isf" if upper else "ppf")
        other = self._form("ppf" if upper else "isf")
        if form is None and other is None:
            self._refuse("isf" if upper else "ppf")
        q, shapes, scale, loc = self._standard(q, args, keywords)
        first, last = (self.high, self.low) if upper else (self.low, self.high)
        proper = ((q > 0) if first else (q >= 0)) & ((q < 1) if last else (q <= 1))
        safe = snp.where(proper, q, 0.5)
        value = form(safe, *shapes) if form else other(1 - safe, *shapes)  # pyright: ignore[reportOptionalCall]
        ends = lifted(np.nan, q.dtype)
        for place, end in ((1, last), (0, first)):
            if end:
                there = self._end(lifted(end(*shapes), q.dtype), q, shapes, upper=upper)
                ends = snp.where(q == place, there, ends)
        value = snp.where(proper, value, ends)
        value = value if scale is None else value * scale
        value = value if loc is None else value + loc
        return spoiled(value, [*shapes, scale])

    def _end(self, end: Array, q: Array, shapes: Parameters, *, upper: bool) -> Array:
        """An end of the support with the slope of the quantile, 1 over the density there."""
        slope = snp.exp(-lifted(self.log_density(end, *shapes), q.dtype))
        vanishes = snp.isinf(end)
        if self.opens is not None:
            vanishes = snp.logical_or(vanishes, self.opens(end, *shapes))
        slope = snp.where(vanishes, np.inf, slope)
        return with_slope(end, q, -slope if upper else slope)


def _centred(x: Array, scale: Array | None, loc: Array | None) -> Array:
    x = x if loc is None else x - loc
    return x if scale is None else x / scale
