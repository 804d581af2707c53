"""Elementwise and special functions, and layers, on the samples PyTorch tests its own with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torchsamples import Adapter, compare_samples

import symgraph.numpy as snp

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

# PyTorch's name and ours, where one is called like the other.
UNARY = {
    **{
        name: getattr(np, name)
        for name in (
            "abs",
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "ceil",
            "cos",
            "cosh",
            "deg2rad",
            "exp",
            "exp2",
            "expm1",
            "floor",
            "i0",
            "log",
            "log10",
            "log1p",
            "log2",
            "positive",
            "rad2deg",
            "reciprocal",
            "sign",
            "sin",
            "sinc",
            "sinh",
            "sqrt",
            "square",
            "tan",
            "tanh",
            "trunc",
        )
    },
    **{
        name: getattr(snp, name.rpartition(".")[2])
        for name in (
            "digamma",
            "erf",
            "erfc",
            "erfinv",
            "sigmoid",
            "special.entr",
            "special.erfcx",
            "special.i0e",
            "special.i1",
            "special.i1e",
            "special.log_ndtr",
            "special.ndtr",
            "special.ndtri",
            "nn.functional.relu",
            "nn.functional.relu6",
            "nn.functional.mish",
            "nn.functional.silu",
            "nn.functional.selu",
            "nn.functional.softsign",
            "nn.functional.glu",
        )
    },
    **{
        f"special.{theirs}": getattr(snp, ours)
        for theirs, ours in {
            "bessel_j0": "j0",
            "bessel_j1": "j1",
            "bessel_y0": "y0",
            "bessel_y1": "y1",
            "modified_bessel_i0": "i0",
            "modified_bessel_i1": "i1",
            "modified_bessel_k0": "k0",
            "modified_bessel_k1": "k1",
            "scaled_modified_bessel_k0": "k0e",
            "scaled_modified_bessel_k1": "k1e",
        }.items()
    },
    "lgamma": snp.gammaln,
    "neg": np.negative,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "frac": lambda x: np.modf(x)[0],
    "nn.functional.hardsigmoid": snp.hard_sigmoid,
    "nn.functional.hardswish": snp.hard_swish,
    "nn.functional.logsigmoid": snp.log_sigmoid,
    "logit": lambda x, eps=None: snp.logit(x if eps is None else np.clip(x, eps, 1 - eps)),
    "polygamma/polygamma_n_0": lambda x, n: snp.polygamma(n, x),
}
# They have values in PyTorch, and no derivative.
VALUES_ONLY = [name for name in UNARY if "bessel" in name]


def with_alpha(f: Any) -> Adapter:
    return lambda x, y, alpha=1: f(x, alpha * y)


BINARY = {
    **{
        name: getattr(np, name)
        for name in (
            "atan2",
            "copysign",
            "fmax",
            "fmin",
            "fmod",
            "hypot",
            "logaddexp",
            "logaddexp2",
            "maximum",
            "minimum",
            "pow",
            "remainder",
            "true_divide",
            "float_power",
            "nextafter",
        )
    },
    "add": with_alpha(np.add),
    "sub": with_alpha(np.subtract),
    "mul": np.multiply,
    "div/no_rounding_mode": np.divide,
    "div/floor_rounding": lambda x, y, rounding_mode: np.floor_divide(x, y),
    "div/trunc_rounding": lambda x, y, rounding_mode: np.trunc(x / y),
    "max/binary": np.maximum,
    "min/binary": np.minimum,
    "xlogy": snp.xlogy,
    "special.xlog1py": snp.xlog1py,
    "lerp": lambda x, y, t: x + t * (y - x),
    "where": lambda x, condition, y: np.where(condition, x, y),
}


# -- layers ----------------------------------------------------------------------------------------
def conv(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    y = snp.conv(x, w, stride, padding, dilation, groups)
    return y if bias is None else y + bias[(..., *[None] * (w.ndim - 2))]


def conv_transpose(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    if np.any(np.asarray(output_padding) >= np.asarray(stride)):
        return None  # What is past the last window hangs on no element; refused here.
    y = snp.conv_transpose(x, w, stride, padding, dilation, groups, output_padding)
    return y if bias is None else y + bias[(..., *[None] * (w.ndim - 2))]


def max_pool(n: int) -> Adapter:
    def pool(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        if ceil_mode:
            return None  # No such mode here: padding says the same.
        return getattr(snp, f"max_pool{n}d")(x, kernel_size, stride, padding, dilation)

    return pool


def avg_pool(n: int) -> Adapter:
    def pool(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        if ceil_mode or divisor_override is not None:
            return None
        stride = None if stride in ((), []) else stride
        call = getattr(snp, f"avg_pool{n}d")
        return call(x, kernel_size, stride, padding, count_include_pad=count_include_pad)

    return pool


LAYERS: dict[str, Adapter] = {
    **{f"nn.functional.conv{n}d": conv for n in (1, 2, 3)},
    **{f"nn.functional.conv_transpose{n}d": conv_transpose for n in (1, 2, 3)},
    **{f"nn.functional.max_pool{n}d": max_pool(n) for n in (1, 2, 3)},
    **{f"nn.functional.avg_pool{n}d": avg_pool(n) for n in (1, 2, 3)},
    "nn.functional.celu": snp.celu,
    "nn.functional.elu": snp.elu,
    "nn.functional.leaky_relu": snp.leaky_relu,
    "nn.functional.gelu": lambda x, approximate="none": snp.gelu(x, approximate == "tanh"),
    "nn.functional.hardtanh": lambda x, min_val=-1, max_val=1: np.clip(x, min_val, max_val),
    # Above its threshold PyTorch takes x itself.
    "nn.functional.softplus": lambda x, beta=1, threshold=20: np.where(
        beta * x > threshold, x, snp.softplus(beta * x) / beta
    ),
    "nn.functional.huber_loss": lambda x, y, reduction="mean", delta=1.0: reduced(
        snp.huber(delta, x - y), reduction
    ),
    "nn.functional.smooth_l1_loss": lambda x, y, reduction="mean", beta=1.0: reduced(
        snp.huber(beta, x - y) / beta if beta else abs(x - y), reduction
    ),
    "nn.functional.unfold": lambda x, *args, **keywords: unfolded(x, *args, **keywords),
}


def reduced(x: Any, reduction: str) -> Any:
    return {"mean": np.mean, "sum": np.sum, "none": lambda x: x}[reduction](x)


def unfolded(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Windows as columns: the gradient of a convolution with unit kernels."""
    size = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
    channels = x.shape[-3]
    units = np.eye(size[0] * size[1]).reshape(-1, 1, *size)
    kernel = np.tile(units, (channels, 1, 1, 1))
    y = snp.conv2d(x, kernel, stride, padding, dilation, groups=channels)
    return y.reshape((*y.shape[:-2], y.shape[-2] * y.shape[-1]))


@pytest.mark.parametrize("name", [name for name in UNARY if name not in VALUES_ONLY])
def test_unary(name: str) -> None:
    assert compare_samples(name, UNARY[name])


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    assert compare_samples(name, BINARY[name])


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    assert compare_samples(name, LAYERS[name])
