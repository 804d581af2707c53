"""Sample calls of operations that create, move, reduce, order and look up elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...array import apply
from ...ir.op import OPS
from ...ops.creation import dimension
from .operands import fresh as _x
from .operands import function as _f
from .operands import indices as _i

__all__ = ["SAMPLES"]


SAMPLES: dict[str, tuple[Callable[..., Any], ...]] = {
    "cast": (
        lambda: _f("astype")(_x(3, 2), "float32"),
        lambda: _f("astype")(_x(3, 2, dtype="int64"), "bool"),
    ),
    "round": (lambda: _f("round")(_x(3, 2), 1),),
    "reshape": (
        lambda: _f("reshape")(_x(3, 4), (2, 6)),
        lambda: _f("reshape")(_f("transpose")(_x("n", 4)), (-1,)),
        lambda: _f("reshape")(_x(0, 4), (2, 0)),
    ),
    "transpose": (
        lambda: _f("transpose")(_x(3, 4)),
        lambda: _f("transpose")(_x(2, "n", 4), (1, 2, 0)),
    ),
    "broadcast_to": (
        lambda: _f("broadcast_to")(_x(3, 1), (2, 3, 4)),
        lambda: _f("broadcast_to")(_x("n", 1), _x("n", 4).shape),
        lambda: _f("broadcast_to")(_x(), (0, 2)),
    ),
    "concatenate": (
        lambda: _f("concatenate")((_x(3, 4), _x(2, 4)), axis=0),
        lambda: _f("concatenate")((_x("n", 4), _x("n", 1)), axis=-1),
    ),
    "diagonal": (lambda: _f("diagonal")(_x(3, 4)), lambda: _f("diagonal")(_x(3, 4), 1)),
    "diagonal_matrix": (
        lambda: apply(OPS["diagonal_matrix"], _x(3), rows=3, columns=3, offset=0),
        lambda: apply(OPS["diagonal_matrix"], _x(2, 3), rows=4, columns=4, offset=-1),
    ),
    "dimension": (lambda: _x("n") * dimension(_x("n").shape[0], "float64"),),
    "project": (lambda: apply(OPS["max_with_index"], _x(3, 4), axis=-2, keepdims=True),),
    "constant": (lambda: _x(3) + np.array([0.1, -0.0, np.inf]),),
    "input": (lambda: _x(3, 4),),
    "product_of_others": (lambda: apply(OPS["product_of_others"], _x("n", 4)),),
    "scatter_add": (
        lambda: apply(OPS["scatter_add"], _x(5, 4), _x(3, 4), _i(3), axis=-2),
        lambda: apply(OPS["scatter_add"], _x("n", 4), _x("n", 6), _i(6), axis=-1),
    ),
    "add_along_axis": (
        lambda: apply(OPS["add_along_axis"], _x(5, 4), _x(2, 4), _i(2, 4), axis=-2),
    ),
    "arange": (lambda: _f("arange")(_x("n").shape[0]) * _x("n"),),
    "eye": (lambda: apply(OPS["eye"], rows=3, columns=4, offset=1, dtype=np.dtype("float64")),),
    "getitem": (
        lambda: _x(5, 4)[1:4, ::-1],
        lambda: _x(5, 4)[2],
        lambda: _x("n", 4)[:-1, None, 3],
        lambda: _x(5)[3],
    ),
    "embed": (lambda: _f("embed")(_x(2, 3), (4, 6), (slice(1, 3), slice(None, None, 2))),),
    "gather": (
        lambda: _f("take")(_x(5, 4), _i(3), axis=0),
        lambda: _f("take")(_x(5, 4), _i(2, 3), axis=-1),
    ),
    "take_along_axis": (lambda: _f("take_along_axis")(_x(5, 4), _i(2, 4), axis=0),),
    "random_bits": (
        lambda: _f("random_bits")(_x(2, dtype="uint32"), (3, 4)),
        lambda: (
            _f("random_bits")(_x(3, 2, dtype="uint32"), ("n", 3), "uint64")
            ^ _x("n", 3, dtype="uint64")
        ),
        lambda: _f("random_bits")(_x(2, dtype="uint32")),
        lambda: _f("random_bits")(_x(2, dtype="uint32"), (0, 3)),
    ),
    "split_key": (
        lambda: _f("split_key")(_x(2, dtype="uint32"), 3),
        lambda: _f("split_key")(_x(3, 2, dtype="uint32"), "n") ^ _x("n", 2, dtype="uint32"),
    ),
    "fold_in_key": (
        lambda: _f("fold_in_key")(_x(2, dtype="uint32"), _i()),
        lambda: _f("fold_in_key")(_x(3, 2, dtype="uint32"), _i("n", 1)),
    ),
    "one_hot": (lambda: _f("one_hot")(_i(6), 4),),
    "softmax": (lambda: _f("softmax")(_x("n", 4)), lambda: _f("softmax")(_x(3, 4), axis=(0, 1))),
    "log_softmax": (lambda: _f("log_softmax")(_x("n", 4)),),
    "polygamma": (lambda: _f("polygamma")(2, _x(3)),),
    "max_with_index": (lambda: apply(OPS["max_with_index"], _x(3, 4), axis=-1, keepdims=False),),
    **{
        name: (
            lambda name=name: _f(name)(_x(3, 4), axis=0),
            lambda name=name: _f(name)(_x("n", 4), axis=-2),
        )
        for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort")
    },
    **{name: (lambda name=name: _f(name)(_x(3, "n"), 1),) for name in ("tril", "triu")},
    "assign": (lambda: _f("index_update")(_x("n", 4), (slice(None), 1), _x()),),
    "scatter_set": (
        lambda: _f("scatter_set")(_x(3, 4), _x(3, 2), np.array([3, 1])),
        lambda: _f("index_update")(_x("n", 4), (slice(None), _i(3)), _x(3)),
    ),
    "convolve": (
        lambda: _f("convolve")(_x(5), _x(3), "valid"),
        lambda: _f("convolve")(_x(4), _x(3)),
        lambda: apply(OPS["convolve"], _x(2, 5), _x(3), mode="full"),
    ),
    "linear_recurrence": (lambda: _f("linear_recurrence")(_x("n", 1), _x("n", 4)),),
    "searchsorted": (
        lambda: _f("searchsorted")(_f("sort")(_x("n")), _x(3, 4)),
        lambda: _f("searchsorted")(_f("sort")(_x(5)), _x(3), side="right"),
    ),
    "logsumexp": (lambda: _f("logsumexp")(_x("n", 4), axis=-1),),
    "clip": (lambda: _f("clip")(_x(3, 4), -0.5, 0.5),),
    **{
        name: (
            lambda name=name: _f(name)(_x(3, 4)),
            lambda name=name: _f(name)(_x("n", 4), axis=-1, keepdims=True),
        )
        for name in ("sum", "prod", "max", "min", "all", "any")
    },
    **{name: (lambda name=name: _f(name)(_x("n", 4), axis=-1),) for name in ("argmax", "argmin")},
}
