r"""Shared by all distributions: parameters, location and scale, support, invalid parameters.

A distribution is stated once in standard form, at location 0 and scale 1, as functions of the
symbolic $z = (x - \mu) / \sigma$ and the shapes. SciPy's methods follow from them. Outside of the
support the formula is computed at a point inside and then masked, so that its derivative is 0 there
and not NaN. An invalid parameter gives NaN, as in SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from ... import numpy as snp
from ...array import Array, ArrayLike
from ...errors import InputError, MissingAttribute, TraceError
from ...ops.slopes import with_slope
from ...records import record
from ...source import user_frame
from ..names.mirrored import mirrored
from .validity import VALID, common_float, fitting, lifted, positive

__all__ = [
    "Discrete",
    "Distribution",
    "Formula",
    "Frozen",
    "Parameters",
    "either",
    "log_of",
    "published",
    "refused_method",
    "spoiled",
    "within",
]

Formula = Callable[..., Any]
Parameters = Sequence[Array]


C = TypeVar("C", bound="type[Distribution]")


# -- what every distribution has -------------------------------------------------------------------
@record(eq=False)
class Distribution:
    """SciPy's methods of a distribution, over its standard form.

    Parameters
    ----------
    name : str
        SciPy's.
    shapes : mapping of str to str
        Names of the shape parameters in SciPy's order, each with its domain, a key of `VALID`.
    log_density : callable
        Of z and the shapes, as are all that follow.
    cdf, sf, logcdf, logsf, ppf, isf : callable, optional
        What is missing is made of the others, or refused.
    density_form : callable, optional
        The density where it has a formula in range; otherwise it is exp of its logarithm.
    below, above : callable, optional
        Where z is at no point of the support, on its left or right side; NaN is in neither.
    opens : callable, optional
        Where z is the number after which the support begins, and the density vanishes there faster
        than any power: logarithms of probabilities, -inf there, have an infinite slope, and an
        unknown one in the shapes.
    first, last : callable, optional
        Where z is the first point of the support, or the last one, and the formula for the
        logarithm of the cdf, or of the sf, has no slope there: it is infinite.
    inside : callable
        A point of the support.
    low, high : callable, optional
        The ends of the support, of the shapes, where the forms of quantiles do not give them with
        their slopes.
    fit : callable, optional
        Whether the shapes fit together; each by itself is valid.
    lacks : frozenset of str
        Methods that are refused, for no formula keeps their digits.
    """

    name: str
    shapes: Mapping[str, str]
    log_density: Formula
    cdf_form: Formula | None = None
    sf_form: Formula | None = None
    logcdf_form: Formula | None = None
    logsf_form: Formula | None = None
    density_form: Formula | None = None
    ppf_form: Formula | None = None
    isf_form: Formula | None = None
    below: Formula | None = None
    above: Formula | None = None
    opens: Formula | None = None
    first: Formula | None = None
    last: Formula | None = None
    inside: Formula = lambda *shapes: 0.5
    low: Formula | None = None
    high: Formula | None = None
    fit: Formula | None = None
    lacks: frozenset[str] = frozenset()

    methods: ClassVar[tuple[str, ...]] = ()
    scaled: ClassVar[bool] = True

    def __call__(self, *args: object, **keywords: object) -> Frozen:
        """The distribution with its parameters fixed."""
        self._named(args, keywords)
        return Frozen(self, args, keywords)

    freeze = __call__

    def __repr__(self) -> str:
        return f"<symgraph.scipy.stats.{self.name}>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused_method(self.name, name, self.methods)

    # -- parameters --------------------------------------------------------------------------------
    def _named(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        names = [*self.shapes, "loc", *(["scale"] if self.scaled else [])]
        placed = dict(zip(names, args, strict=False))
        unknown = [each for each in keywords if each not in names]
        twice = [each for each in keywords if each in placed]
        given = {"loc": 0, "scale": 1, **placed, **keywords}
        missing = [each for each in self.shapes if each not in given]
        if len(args) > len(names) or unknown or twice or missing:
            wrong = (
                f"{len(args)} parameters are given"
                if len(args) > len(names)
                else f"unknown {', '.join(unknown)}"
                if unknown
                else f"{', '.join(twice)} given twice"
                if twice
                else f"missing {', '.join(missing)}"
            )
            raise InputError(
                f"stats.{self.name}: {wrong}.", mend=f"Its parameters are {', '.join(names)}."
            )
        return given

    def _standard(
        self, x: ArrayLike, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Array, list[Array], Array | None, Array | None]:
        """x, the shapes, and the scale and location, or None if they change nothing."""
        given = self._named(args, keywords)
        dtype = common_float([x, *given.values()])
        shapes = [
            VALID[domain](lifted(given[name], dtype), given[name])
            for name, domain in self.shapes.items()
        ]
        if self.fit is not None:
            shapes = fitting(shapes, [given[name] for name in self.shapes], self.fit)
        scale, loc = given["scale"], given["loc"]
        return (
            lifted(x, dtype),
            shapes,
            None if _is_number(scale, 1) else positive(lifted(scale, dtype), scale),
            None if _is_number(loc, 0) else lifted(loc, dtype),
        )

    def _form(self, *names: str) -> Formula | None:
        return next((form for name in names if (form := getattr(self, f"{name}_form"))), None)

    def _refuse(self, method: str) -> NoReturn:
        raise refused_method(self.name, method, [m for m in self.methods if self._has(m)])

    def _has(self, method: str) -> bool:
        if method in self.lacks:
            return False
        if method in ("ppf", "isf"):
            return self._form("ppf", "isf") is not None
        if method in ("cdf", "sf", "logcdf", "logsf"):
            return self._form("cdf", "sf", "logcdf", "logsf") is not None
        return True

    # -- probabilities of both sides ---------------------------------------------------------------
    def _distributed(self, z: Array, shapes: Parameters, method: str) -> Array:
        """The cdf, sf, logcdf or logsf of z."""
        if not self._has(method):
            self._refuse(method)
        below = self.below(z, *shapes) if self.below else None
        above = self.above(z, *shapes) if self.above else None
        zero, one = (self._minus_infinity(z, shapes), 0.0) if method[:3] == "log" else (0.0, 1.0)
        if method == "logcdf" and self.first is not None:
            at_first = self.first(z, *shapes)
            below, zero = snp.logical_or(below, at_first), _steep(z, shapes, at_first, np.inf)
        if method == "logsf" and self.last is not None:
            at_last = self.last(z, *shapes)
            above, zero = snp.logical_or(above, at_last), _steep(z, shapes, at_last, -np.inf)
        masks = [mask for mask in (below, above) if mask is not None]
        outside = snp.logical_or(*masks) if len(masks) == 2 else masks[0] if masks else None
        value = self._inside(within(z, outside, self.inside(*shapes)), shapes, method)
        left, right = (zero, one) if method.endswith("cdf") else (one, zero)
        for condition, constant_there in ((below, left), (above, right)):
            if condition is not None:
                value = snp.where(condition, constant_there, value)
        return value

    def _minus_infinity(self, z: Array, shapes: Parameters) -> Any:
        """-inf off the support, with its slope where the support opens."""
        if self.opens is None:
            return -np.inf
        return _steep(z, shapes, self.opens(z, *shapes), np.inf)

    def _inside(self, z: Array, shapes: Parameters, method: str) -> Array:
        form = self._form(method)
        if form is not None:
            return form(z, *shapes)
        other = {"cdf": "sf", "sf": "cdf", "logcdf": "logsf", "logsf": "logcdf"}[method]
        if not method.startswith("log"):
            logarithm = self._form(f"log{method}")
            if logarithm is not None:
                return snp.exp(logarithm(z, *shapes))
            return 1 - self._inside(z, shapes, other)
        if self._form(method[3:]) is None and self._form(other) is not None:
            return snp.log1mexp(self._inside(z, shapes, other))
        return log_of(self._inside(z, shapes, method[3:]), self._inside(z, shapes, other[3:]))


def _is_number(value: object, number: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == number


def log_of(small: Array, other: Array) -> Array:
    """log(small), by log1p of the other probability where it is smaller."""
    less = small < 0.5
    return snp.where(
        less,
        snp.log(snp.where(less, small, 0.25)),
        snp.log1p(-snp.where(less, 0.25, other)),
    )


def _steep(z: Array, shapes: Parameters, there: Array, slope: float) -> Array:
    """-inf, with this slope in z at an end of the support, and an unknown one in the shapes."""
    flat, unknown = lifted(0.0, z.dtype), lifted(np.nan, z.dtype)
    found: Any = lifted(-np.inf, z.dtype)
    found = with_slope(found, z, snp.where(there, lifted(slope, z.dtype), flat))
    for each in shapes:
        if not each.node.is_constant:
            found = with_slope(found, each, snp.where(there, unknown, flat))
    return found


def either(
    below: Formula | None, above: Formula | None, z: Array, shapes: Parameters
) -> Array | None:
    """The masks of z below and above the support; None if z never is."""
    found = [condition(z, *shapes) for condition in (below, above) if condition is not None]
    return snp.logical_or(*found) if len(found) == 2 else found[0] if found else None


def within(z: Array, outside: Array | None, point: ArrayLike) -> Array:
    """z, and a point inside the support where z is outside."""
    return z if outside is None else snp.where(outside, point, z)


def refused_method(distribution: str, method: str, known: Sequence[str]) -> Exception:
    """The error that tells which methods a distribution has."""
    frame = user_frame()
    return MissingAttribute(
        f"symgraph.scipy.stats.{distribution} has no {method}.",
        [f"used at {frame.quoted()}"] if frame else [],
        mend=f"It has {', '.join(known)}. What needs no derivative can be computed by SciPy "
        "outside of the traced function.",
    )


def published(cls: C) -> C:
    """The class; its methods take numbers and symbols, and their errors name the user's line."""
    for name in cls.methods:
        told = f"scipy.stats.{cls.__name__.lower()}.{name}"
        setattr(cls, name, mirrored(vars(cls)[name], told))
    return cls


def spoiled(value: Array, parameters: Sequence[Array | None]) -> Array:
    """The value, or NaN where a parameter is NaN, even if the value does not depend on it."""
    for each in parameters:
        if each is not None and each.node.op.name == "where":
            value = snp.where(snp.isnan(each), np.nan, value)
    return value


# -- discrete --------------------------------------------------------------------------------------
@published
class Discrete(Distribution):
    """A distribution of whole numbers: SciPy's methods on symbols, and on numbers."""

    methods: ClassVar[tuple[str, ...]] = ("logpmf", "pmf", "logcdf", "cdf", "logsf", "sf")
    scaled: ClassVar[bool] = False

    def logpmf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the probability of k; -inf unless k is a whole number."""
        k, shapes, _scale, loc = self._standard(k, args, keywords)
        k = k if loc is None else k - loc
        # `floor(k) != k` would hold for NaN.
        broken = snp.logical_or(snp.floor(k) < k, snp.floor(k) > k)
        outside = snp.logical_or(broken, either(self.below, self.above, k, shapes))
        value = self.log_density(within(k, outside, self.inside(*shapes)), *shapes)
        return spoiled(snp.where(outside, -np.inf, value), shapes)

    def pmf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The probability of k."""
        return snp.exp(self.logpmf(k, *args, **keywords))

    def cdf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The probability that X is at most k."""
        return self._probability("cdf", k, args, keywords)

    def sf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The probability that X is larger than k."""
        return self._probability("sf", k, args, keywords)

    def logcdf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the cdf."""
        return self._probability("logcdf", k, args, keywords)

    def logsf(self, k: ArrayLike, *args: object, **keywords: object) -> Any:
        """The logarithm of the sf."""
        return self._probability("logsf", k, args, keywords)

    def _probability(
        self, method: str, k: ArrayLike, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Array:
        given, shapes, _scale, loc = self._standard(k, args, keywords)
        whole: Array = snp.floor(given if loc is None else given - loc)
        return spoiled(self._distributed(whole, shapes, method), shapes)


# -- parameters fixed ------------------------------------------------------------------------------
class Frozen:
    """A distribution with its parameters, as `stats.norm(loc, scale)` gives it."""

    __slots__ = ("_args", "_keywords", "dist")

    def __init__(self, dist: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        self.dist = dist
        self._args = tuple(args)
        self._keywords = dict(keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        method = getattr(self.dist, name)
        if name not in self.dist.methods:
            raise TraceError(f"{name} is no method of a frozen distribution.")
        return partial(_call_frozen, method, self._args, self._keywords)

    def __repr__(self) -> str:
        return f"<symgraph.scipy.stats.{self.dist.name}, frozen>"


def _call_frozen(
    method: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any], x: ArrayLike
) -> Any:
    return method(x, *args, **keywords)
