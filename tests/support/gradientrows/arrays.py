"""Rows of cumulative operations, sorting, masked and NaN-skipping reductions."""

from __future__ import annotations

import numpy as np

import symgraph.numpy as snp

from .rows import MATRIX, VECTOR
from .rows import apart as _apart
from .rows import of as _of
from .rows import row as _row
from .rows import zeroed as _zeroed

MASK = np.array([[True, False, True], [True, True, False]])
HOLES = np.where(MASK, 0.0, np.nan)

CUMULATIVE = (
    _row("linear_recurrence", lambda a, b: snp.linear_recurrence(a, b), MATRIX, MATRIX),
    _row("linear_recurrence", lambda a, b: snp.linear_recurrence(a, b), VECTOR, MATRIX, note="row"),
    _row(
        "linear_recurrence",
        lambda a, b: snp.linear_recurrence(a, b),
        _of((2, 1)),
        MATRIX,
        note="column",
    ),
    _row("cumprod", lambda x: np.cumprod(x, axis=0)),
    _row("cumprod", lambda x: np.cumprod(_zeroed(x), axis=1), note="zeros"),
    _row("cumprod", lambda x: np.cumprod(x), note="raveled"),
    _row("cummax", lambda x: np.maximum.accumulate(_apart(x) ** 2, axis=1), analytic=False),
    _row("cummin", lambda x: np.minimum.accumulate(_apart(x) ** 3), analytic=False),
    _row("logcumsumexp", lambda x: snp.logcumsumexp(x, axis=1), analytic=False),
    _row("logcumsumexp", lambda x: snp.logcumsumexp(x, axis=0), analytic=False, note="axis 0"),
    _row("getitem", lambda x: np.diff(x * x, axis=0, prepend=1.0), note="diff"),
    _row("getitem", lambda x: np.gradient(x * x, axis=1, edge_order=2), note="gradient"),
    _row(
        "getitem",
        lambda f, x: np.gradient(f * f, np.cumsum(x), axis=1),
        MATRIX,
        _of((3,), 0.5, 2.0),
        note="gradient over coordinates",
    ),
    _row("getitem", lambda y, x: np.trapezoid(y * y, x), MATRIX, VECTOR, note="trapezoid"),
)

SORTING = (
    _row("sort", lambda x: np.sort(_apart(x) ** 2, axis=1), analytic=False),
    _row("sort", lambda x: np.sort(_apart(x), axis=None) ** 2, analytic=False, note="raveled"),
    _row("sort", lambda x: np.median(_apart(x) ** 2, axis=1), analytic=False, note="median"),
    _row("sort", lambda x: np.median(_apart(x) ** 2), analytic=False, note="median of even"),
    _row(
        "sort",
        lambda x: np.quantile(_apart(x) ** 2, [0.2, 0.7], axis=1),
        analytic=False,
        note="quantile",
    ),
    _row(
        "sort",
        lambda x, q: np.quantile(_apart(x) ** 2, q),
        MATRIX,
        _of((2,), 0.21, 0.39),
        analytic=False,
        note="symbolic quantile",
    ),
    _row(
        "sort",
        lambda x: np.nanquantile(_apart(x) ** 2 + HOLES, 0.3, axis=1),
        analytic=False,
        note="nanquantile",
    ),
)

REDUCTION = (
    _row("sum", lambda x: np.sum(x * x, axis=1, where=MASK, initial=2.0), note="where"),
    _row("prod", lambda x: np.prod(x, axis=0, where=MASK, initial=2.0), note="where"),
    _row(
        "max",
        lambda x: np.max(_apart(x) ** 2, axis=1, where=MASK, initial=-9.0),
        analytic=False,
        note="where",
    ),
    _row("sum", lambda x: np.mean(x * x, axis=1, where=MASK), note="mean where"),
    _row("sum", lambda x: np.var(x, where=MASK, ddof=1), note="var where"),
    _row("sum", lambda x: np.nansum(x * x + HOLES, axis=0), analytic=False, note="nansum"),
    _row("sum", lambda x: np.nanmean(x * x + HOLES, axis=1), analytic=False, note="nanmean"),
    _row("sum", lambda x: np.nanstd(x + HOLES), analytic=False, note="nanstd"),
    _row("max", lambda x: np.nanmax(_apart(x) + HOLES, axis=1) ** 2, analytic=False, note="nan"),
    _row("prod", lambda x: np.nanprod(x + HOLES), analytic=False, note="nan"),
    _row("cumsum", lambda x: np.nancumsum(x * x + HOLES), analytic=False, note="nan"),
    _row("cumprod", lambda x: np.nancumprod(x + HOLES, axis=1), analytic=False, note="nan"),
    _row(
        "sum",
        lambda x, w: np.average(x * x, axis=1, weights=w),
        MATRIX,
        _of((3,), 0.5, 2.0),
        note="average",
    ),
    _row("matmul", lambda x: np.cov(x * x), note="cov"),
    _row(
        "matmul",
        lambda x, w: np.cov(x, aweights=w),
        MATRIX,
        _of((3,), 0.5, 2.0),
        note="weighted cov",
    ),
    _row("matmul", lambda x: np.corrcoef(x)[0, 1], note="corrcoef"),
)

TWICE = np.array([[1, 1], [0, 1]])

PLACES = (
    _row("assign", lambda x, v: snp.index_update(x * x, 1, v * v), MATRIX, VECTOR),
    _row(
        "assign",
        lambda x, v: snp.index_update(x * x, (slice(None), slice(None, None, -2)), v * v),
        MATRIX,
        _of((2, 1)),
        note="broadcast values",
    ),
    _row("assign", lambda x, v: snp.index_add(x * x, (0, 1), v), MATRIX, _of(()), note="add"),
    _row(
        "scatter_set",
        lambda x, v: snp.scatter_set(x * x, v * v, np.array([2, 0])),
        MATRIX,
        _of((2,)),
        analytic=False,
    ),
    _row(
        "scatter_set",
        lambda x, v: snp.index_update(x * x, TWICE, v * v),
        MATRIX,
        _of((2, 2, 3)),
        analytic=False,
        note="places met twice",
    ),
    _row(
        "scatter_set",
        lambda x, v: snp.index_update(x * x, (slice(None), snp.arange(2) * 2), v * v),
        MATRIX,
        _of((2, 2)),
        analytic=False,
        note="computed places",
    ),
    _row(
        "scatter_add",
        lambda x, v: snp.index_add(x * x, (TWICE, TWICE), v * v),
        MATRIX,
        _of((2, 2)),
        analytic=False,
        note="index_add",
    ),
    _row(
        "where",
        lambda x, v: snp.index_update(x * x, x > 0.1, v * v),
        MATRIX,
        _of(()),
        analytic=False,
        note="computed mask",
    ),
    _row("tril", lambda x: np.tril(x * x, 1)),
    _row("triu", lambda x: np.triu(x * x), _of((2, 2, 3)), note="batch"),
    _row("embed", lambda x: np.pad(x * x, ((1, 0), (0, 2))), note="pad"),
    _row(
        "concatenate",
        lambda x, c: np.pad(x * x, 1, constant_values=c),
        MATRIX,
        _of(()),
        note="pad with a symbolic constant",
    ),
    *[
        _row(
            "gather",
            lambda x, mode=mode: np.pad(x * x, ((1, 3), (4, 0)), mode=mode),
            analytic=False,
            note=f"pad {mode}",
        )
        for mode in ("edge", "reflect", "symmetric", "wrap")
    ],
    _row(
        "matmul",
        lambda x: np.pad(x * x, 2, "reflect", reflect_type="odd"),
        note="pad reflect odd",
    ),
    _row("gather", lambda x: np.delete(x * x, 1, axis=1), analytic=False, note="delete"),
    _row(
        "gather",
        lambda x, v: np.insert(x * x, [0, 2], v * v, axis=1),
        MATRIX,
        _of((2, 2)),
        analytic=False,
        note="insert",
    ),
    _row("concatenate", lambda x: np.block([[x * x, x], [x, x[::-1]]]), note="block"),
    _row("broadcast_to", lambda x, y: np.meshgrid(x * x, y)[0], VECTOR, VECTOR, note="meshgrid"),
    _row("reshape", lambda x: np.reshape(x * x, (3, 2), order="F"), note="columns"),
    _row("getitem", lambda x: np.rot90(x * x), note="rot90"),
    _row("getitem", lambda x: np.roll(x * x, (1, 2), axis=(0, 1)), note="roll"),
)

POINTS = np.array([-2.0, -0.5, 0.25, 2.0])
PICK = np.array([[2, 0, 1], [0, 1, 1]])

SELECTION = (
    _row(
        "where",
        lambda x, y: np.select([x < -0.5, y > 0.5], [x * x, x * y], default=y),
        MATRIX,
        MATRIX,
        analytic=False,
        note="select",
    ),
    _row(
        "where",
        lambda x, y: np.choose(PICK, [x * x, x * y, y**3]),
        MATRIX,
        VECTOR,
        note="choose",
    ),
    _row(
        "where",
        lambda x: np.piecewise(x, [x < 0, x > 1], [np.exp, np.log, 3.0]),
        analytic=False,
        note="piecewise",
    ),
    _row(
        "where",
        lambda x, f: np.interp(x, POINTS, f) * x,
        MATRIX,
        _of((4,)),
        analytic=False,
        note="interp",
    ),
    _row(
        "where",
        lambda x, xs, f: np.interp(x, np.cumsum(xs) - 1, f * f, period=5),
        MATRIX,
        _of((4,), 0.3, 1.0),
        _of((4,)),
        analytic=False,
        note="interp between symbolic points",
    ),
    _row("where", lambda x: np.nan_to_num(x * x + HOLES), analytic=False, note="nan_to_num"),
    _row("cumsum", lambda x: np.unwrap(4 * x * x), analytic=False, note="unwrap"),
    _row("convolve", lambda x, v: np.convolve(x, v), _of((4,)), VECTOR),
    _row("convolve", lambda x, v: np.convolve(x, v, "valid"), _of((5,)), VECTOR, note="valid"),
    _row("convolve", lambda x, v: np.convolve(x, v, "same"), VECTOR, _of((4,)), note="same"),
    _row("convolve", lambda x, v: np.correlate(x, v), VECTOR, _of((5,)), note="correlate"),
    _row("cumprod", lambda x: np.vander(x * x, 4), VECTOR, note="vander"),
    _row("multiply", lambda p, x: np.polyval(p, x * x), VECTOR, MATRIX, note="polyval"),
    _row(
        "scatter_add",
        lambda w: np.bincount([1, 3, 1], w * w, minlength=5),
        VECTOR,
        analytic=False,
        note="bincount",
    ),
)

ROWS = (*CUMULATIVE, *SORTING, *REDUCTION, *PLACES, *SELECTION)
