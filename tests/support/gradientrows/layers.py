"""Rows of what layers of networks are made of: windows, convolution, pooling, activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgraph.numpy as snp
from symgraph.array import apply
from symgraph.ir.op import OPS
from symgraph.testing import GradientCase, Operand


def _of(*shape: int) -> Operand:
    return Operand(-2.0, 2.0, shape)


def _row(
    op: str, call: Callable[..., Any], *operands: Operand, analytic: bool = True, note: str = ""
) -> GradientCase:
    return GradientCase(op, call, operands, analytic, note=note)


IMAGES = _of(2, 4, 5, 4)
SIGNALS = _of(2, 2, 7)
STEPS: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 2)}


def _apart(x: Any) -> Any:
    """Elements at least 1 apart, so that no difference crosses a tie."""
    places = np.random.default_rng(3).permutation(x.size).reshape(x.shape)
    return x / 8 + places


WINDOWS = (
    _row(
        "windows",
        lambda x: apply(OPS["windows"], x * x, sizes=(2, 2), **STEPS),
        _of(2, 5, 4),
    ),
    _row(
        "windows",
        lambda x: np.lib.stride_tricks.sliding_window_view(x * x, (2, 3), axis=(2, 0)),
        _of(4, 2, 3),
        note="sliding_window_view",
    ),
    _row(
        "overlap_add",
        lambda y: apply(OPS["overlap_add"], y * y, extents=(6, 4), **STEPS),
        _of(2, 3, 2, 2, 2),
    ),
    _row(
        "sum_of_windows",
        lambda x: apply(OPS["sum_of_windows"], x * x, sizes=(3, 2), **STEPS),
        _of(2, 5, 4),
    ),
    _row(
        "max_of_windows",
        lambda x: snp.max_pool2d(_apart(x) ** 2, 2),
        _of(2, 4, 4),
        analytic=False,
    ),
    _row(
        "max_of_windows",
        lambda x: snp.max_pool(_apart(x) ** 2, (3, 2), (2, 1), ((1, 0), (0, 1)), (1, 2)),
        _of(2, 5, 4),
        analytic=False,
        note="padded",
    ),
    _row(
        "max_of_windows",
        lambda x: snp.max_pool1d(_apart(x) ** 2, 3, 1, "same"),
        _of(2, 5),
        analytic=False,
        note="same",
    ),
    _row("sum_of_windows", lambda x: snp.avg_pool2d(x * x, 2, 1), _of(2, 4, 3), note="avg_pool"),
    _row(
        "sum_of_windows",
        lambda x: snp.avg_pool2d(x * x, 3, 2, 1, count_include_pad=False),
        _of(2, 4, 4),
        note="avg_pool padded",
    ),
)

CONVOLUTION = (
    _row("convolution", snp.conv2d, IMAGES, _of(3, 4, 2, 3)),
    _row(
        "convolution",
        lambda x, w: snp.conv2d(x, w, (2, 1), ((1, 2), (0, 1)), (1, 2), 2),
        IMAGES,
        _of(4, 2, 3, 2),
        note="all at once",
    ),
    _row(
        "convolution",
        lambda x, w: snp.conv2d(x, w, padding="same", groups=4),
        IMAGES,
        _of(4, 1, 3, 3),
        note="depthwise",
    ),
    _row(
        "convolution",
        lambda x, w: snp.conv1d(x, w, 2, "same"),
        SIGNALS,
        _of(3, 2, 4),
        note="1-d",
    ),
    _row("convolution", lambda x, w: snp.conv1d(x, w), _of(2, 7), _of(3, 2, 3), note="unbatched"),
    _row(
        "convolution",
        lambda x, w: snp.conv1d(x, w),
        _of(2, 1, 2, 5),
        _of(3, 2, 3),
        note="two batch axes",
    ),
    GradientCase(
        "convolution",
        lambda x, w: np.sin(snp.conv1d(x, w, 2, 1)),
        (_of(1, 2, 5), _of(2, 2, 3)),
        order=3,
        note="third order",
    ),
    _row("convolution", snp.conv3d, _of(1, 2, 3, 3, 3), _of(2, 2, 2, 1, 2), note="3-d"),
    _row("convolution", lambda x: snp.conv1d(x, x[:, :, :3]), _of(2, 2, 5), note="with itself"),
    _row("convolve", lambda x, v: np.convolve(x, v), _of(6), _of(3), note="6 and 3"),
    _row("convolve", lambda x, v: np.correlate(x, v, "same"), _of(5), _of(4), note="same, 5 and 4"),
    _row(
        "adjoint_convolution",
        lambda y, w: snp.conv_transpose(y, w, (2, 1), ((1, 0), (0, 1)), (1, 2), 2, (1, 0)),
        _of(2, 4, 3, 3),
        _of(4, 1, 2, 2),
    ),
    _row("adjoint_convolution", lambda y, w: snp.conv_transpose(y, w), _of(3, 4), _of(3, 2, 3)),
    _row(
        "kernel_convolution",
        lambda x, y: apply(OPS["kernel_convolution"], x, y, sizes=(3, 2), groups=2, **STEPS),
        _of(2, 4, 6, 4),
        _of(2, 2, 2, 2),
    ),
    _row(
        "kernel_convolution",
        lambda x, y: apply(
            OPS["kernel_convolution"], x, y, sizes=(2,), strides=(1,), dilations=(1,), groups=1
        ),
        _of(3, 2, 2, 5),
        _of(1, 2, 3, 4),
        note="leading axes",
    ),
)

POSITIVE, NEGATIVE, ANY = Operand(0.3, 3.0), Operand(-3.0, -0.3), Operand()


def _activation(op: str, call: Callable[..., Any], operand: Operand, note: str) -> GradientCase:
    return GradientCase(op, call, (operand,), False, note=note)


ACTIVATIONS = (
    _activation("softsign", snp.softsign, POSITIVE, ""),
    _activation("softsign", snp.softsign, NEGATIVE, "negative"),
    _activation("squareplus", snp.squareplus, ANY, ""),
    _activation("multiply", snp.silu, ANY, "silu"),
    _activation("multiply", snp.gelu, ANY, "gelu"),
    _activation("multiply", lambda x: snp.gelu(x, approximate=True), ANY, "gelu with tanh"),
    _activation("multiply", snp.mish, ANY, "mish"),
    *[
        _activation("where", lambda x, f=f: f(x) * x, side, f"{f.__name__} {side.low}")
        for f in (snp.relu, snp.relu6, snp.leaky_relu, snp.elu, snp.celu, snp.selu)
        for side in (POSITIVE, NEGATIVE)
    ],
    _activation("clip", lambda x: snp.hard_swish(x) * snp.hard_tanh(x / 4), ANY, "hard"),
)

ROWS = (*WINDOWS, *CONVOLUTION, *ACTIVATIONS)
