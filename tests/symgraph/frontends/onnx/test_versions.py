"""Older definitions of operators: each reading gives the numbers of onnxruntime.

The conformance suite has the newest definition of most operators alone, so each version whose
meaning differs has rows here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import FormatError, InputError

try:
    import onnx
    import onnx.helper
    import onnx.numpy_helper
    import onnxruntime
except ImportError:
    onnx = None

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed"),
]

RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def ints(*values: Any) -> Any:
    return np.array(values, np.int64)


X = floats(2, 3, 4)
IMAGE = floats(2, 4, 7, 6)
KERNEL = floats(6, 2, 3, 2)
SMALL = np.round(floats(3, 4) * 2)


Row = tuple[str, int, dict[str, Any], tuple[Any, ...], tuple[Any, ...]]


def row(op: str, version: int, *given: Any, fixed: tuple[Any, ...] = (), **attributes: Any) -> Row:
    """`given` are inputs, `fixed` are operands behind them that are initializers."""
    return op, version, attributes, given, fixed


ROWS: list[Row] = [
    *[row("Softmax", v, X, axis=a) for v in (7, 11) for a in (0, 1, 2)],
    *[row("LogSoftmax", v, X, axis=a) for v in (7, 11) for a in (0, 1, 2)],
    *[row("Hardmax", v, SMALL.reshape(1, 3, 4), axis=1) for v in (7, 11, 13)],
    *[row(op, 13, X) for op in ("Softmax", "LogSoftmax", "Hardmax")],
    row("Clip", 7, X, min=-0.5, max=0.25),
    row("Clip", 10, X, max=0.25),
    row("Clip", 11, X, fixed=(np.float32(-0.5),)),
    row("Clip", 13, X, np.float32(1), np.float32(-1)),
    *[row("ReduceSum", v, X, axes=[0, 2], keepdims=k) for v in (7, 11) for k in (0, 1)],
    row("ReduceSum", 13, X, fixed=(ints(-1),), keepdims=0),
    row("ReduceSum", 13, X, fixed=(ints(),), noop_with_empty_axes=1),
    row("ReduceSum", 13, X),
    *[
        row(f"Reduce{kind}", v, X, axes=[1])
        for kind in ("Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare")
        for v in (11, 13)
    ],
    *[row(f"Reduce{k}", 18, X, fixed=(ints(1),)) for k in ("Mean", "Max", "L2", "LogSumExp")],
    row("ReduceLogSum", 11, np.abs(X) + 1, axes=[2]),
    row("ReduceMean", 18, X, keepdims=0),
    row("Squeeze", 7, floats(1, 3, 1), axes=[0]),
    row("Squeeze", 11, floats(1, 3, 1)),
    row("Squeeze", 13, floats(1, 3, 1), fixed=(ints(-1),)),
    row("Unsqueeze", 7, floats(3, 4), axes=[0, 3]),
    row("Unsqueeze", 13, floats(3, 4), fixed=(ints(0, -1),)),
    row("Slice", 7, X, starts=[0, -3], ends=[9, -1], axes=[0, 2]),
    row("Slice", 10, X, fixed=(ints(1, 3), ints(-9, -9), ints(1, 2), ints(-1, -2))),
    row("Slice", 11, X, fixed=(ints(0, 1), ints(2**40, 2))),
    row("Slice", 13, X, fixed=(ints(-1), ints(-(2**62)), ints(-1), ints(-1))),
    # Far numbers are borders, or places beyond them, as the direction tells.
    row("Slice", 7, X, starts=[2**31 - 1, -(2**31)], ends=[2**31 - 1, -(2**31)], axes=[0, 2]),
    row("Slice", 13, X, fixed=(ints(2**63 - 1, -9), ints(2**63 - 1, 9), ints(1, 2), ints(1, 2))),
    row("Slice", 13, X, fixed=(ints(2**63 - 1), ints(2**31 - 1), ints(1), ints(-2))),
    row("Slice", 13, X, fixed=(ints(-(2**31)), ints(-(2**63)), ints(1), ints(-1))),
    row("Slice", 13, X, fixed=(ints(-(2**31)), ints(2**31), ints(2), ints(-1))),
    row("Split", 7, X, axis=2, split=[1, 3]),
    row("Split", 11, X, axis=2),
    row("Split", 13, X, fixed=(ints(3, 1),), axis=-1),
    row("Split", 18, X, axis=1, num_outputs=2),
    *[row("Pad", 7, X, pads=[1, 0, 1, 0, 0, 2], mode=m) for m in ("constant", "reflect", "edge")],
    row("Pad", 7, X, pads=[0, -1, 1, 0, 0, -2], value=2.5),
    row("Pad", 11, X, fixed=(ints(0, 0, 2, 0, 1, 0), np.float32(7))),
    row("Pad", 18, X, fixed=(ints(2, 1), np.float32(7), ints(-1))),
    row("Pad", 19, X, fixed=(ints(0, 0, 2, 0, 1, 3),), mode="wrap"),
    row("Upsample", 7, IMAGE, scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"),
    row("Upsample", 7, IMAGE, scales=[1.0, 1.0, 2.0, 3.0], mode="linear"),
    row("Upsample", 9, IMAGE, fixed=(np.float32([1, 1, 1.5, 2]),), mode="nearest"),
    row("Resize", 10, IMAGE, fixed=(np.float32([1, 1, 2, 0.5]),), mode="nearest"),
    row("Resize", 10, IMAGE, fixed=(np.float32([1, 1, 2, 1.5]),), mode="linear"),
    *[
        row("Resize", v, IMAGE, fixed=(floats(0), np.float32([1, 1, *s])), **how)
        for v in (11, 13, 18, 19)
        for s in ((2, 3), (0.8, 0.5))
        for how in (
            {"mode": "linear"},
            {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
            {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
            {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
            {"mode": "cubic"},
            {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5},
            {"mode": "nearest"},
            {"mode": "nearest", "nearest_mode": "floor"},
            {"nearest_mode": "ceil", "coordinate_transformation_mode": "asymmetric"},
            {"mode": "nearest", "nearest_mode": "round_prefer_ceil"},
        )
        if not (how.get("mode") == "linear" and "align" in str(how) and s[0] < 1)
    ],
    row("Dropout", 7, X, ratio=0.3),
    row("Dropout", 12, X, fixed=(np.float32(0.3),)),
    *[
        row("BatchNormalization", v, IMAGE, floats(4), floats(4), floats(4), np.abs(floats(4)))
        for v in (7, 9, 14, 15)
    ],
    row("TopK", 7, X, k=2, axis=1),
    row("TopK", 10, X, fixed=(ints(2),)),
    row("TopK", 11, SMALL, fixed=(ints(3),), largest=0),
    row("TopK", 11, SMALL, fixed=(ints(4),), axis=1),
    row("Gemm", 7, floats(3, 4), floats(3, 5), floats(5), transA=1, alpha=0.5, beta=2.0),
    row("Gemm", 11, floats(3, 4), floats(5, 4), transB=1),
    *[row(op, v, SMALL, axis=1) for op in ("ArgMax", "ArgMin") for v in (7, 11, 13)],
    *[row(op, 12, SMALL, axis=1, select_last_index=1, keepdims=0) for op in ("ArgMax", "ArgMin")],
    row("Reshape", 7, X, fixed=(ints(0, -1),)),
    row("Reshape", 14, floats(0, 3), fixed=(ints(3, 0),), allowzero=1),
    row("Flatten", 7, X, axis=2),
    row("Flatten", 11, X, axis=-1),
    *[
        row("MaxPool", v, IMAGE, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
        for v in (7, 8, 11, 12)
    ],
    row("MaxPool", 10, IMAGE, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    row("MaxPool", 12, IMAGE, kernel_shape=[3, 3], dilations=[2, 1], pads=[2, 1, 1, 1]),
    row("MaxPool", 12, IMAGE, kernel_shape=[3, 3], strides=[3, 2], auto_pad="SAME_LOWER"),
    *[
        row("AveragePool", v, IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], **c)
        for v in (7, 10, 11, 19)
        for c in ({}, {"count_include_pad": 1})
    ],
    *[
        row("AveragePool", v, IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, **c)
        for v in (19, 22)
        for c in ({}, {"count_include_pad": 1, "pads": [1, 1, 1, 1]})
    ],
    row("AveragePool", 11, IMAGE, kernel_shape=[3, 2], auto_pad="SAME_LOWER"),
    row("LpPool", 11, IMAGE, kernel_shape=[2, 2], p=3),
    row("GlobalLpPool", 7, IMAGE, p=2),
    row("GlobalAveragePool", 7, IMAGE),
    row("Conv", 7, IMAGE, KERNEL, floats(6), group=2, pads=[1, 0, 0, 1], strides=[2, 1]),
    row("Conv", 11, IMAGE, KERNEL, group=2, auto_pad="SAME_UPPER", strides=[2, 3]),
    row("Conv", 11, IMAGE, KERNEL, group=2, auto_pad="SAME_LOWER"),
    row("Conv", 11, floats(1, 2, 9), floats(3, 2, 4), dilations=[2], pads=[3, 2]),
    row("Conv", 22, floats(1, 1, 4, 4, 5), floats(2, 1, 2, 3, 2)),
    row("ConvTranspose", 7, IMAGE, floats(4, 3, 3, 2), strides=[2, 3], pads=[1, 0, 1, 1]),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), output_padding=[1, 2], strides=[2, 3]),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), group=2),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), strides=[2, 2], auto_pad="SAME_UPPER"),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), strides=[2, 2], auto_pad="SAME_LOWER"),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), strides=[3, 2], output_shape=[21, 12]),
    row("ConvTranspose", 11, IMAGE, floats(4, 3, 3, 2), dilations=[2, 3], pads=[1, 2, 2, 1]),
    row("Scatter", 9, SMALL, fixed=(ints([0, 2], [1, 0]), floats(2, 2)), axis=0),
    row("ScatterElements", 11, SMALL, fixed=(ints([0, -1], [1, 0]), floats(2, 2)), axis=1),
    *[
        row("ScatterElements", v, SMALL, fixed=(ints([0, 0], [1, 0]), floats(2, 2)), reduction=r)
        for v, r in ((16, "add"), (16, "mul"), (18, "max"), (18, "min"))
    ],
    row("ScatterND", 11, SMALL, fixed=(ints([0], [2]), floats(2, 4))),
    row("ScatterND", 16, SMALL, fixed=(ints([0], [0]), floats(2, 4)), reduction="add"),
    row("Gather", 7, X, fixed=(ints([0, 1], [1, 0]),), axis=1),
    row("Gather", 11, X, fixed=(ints(-1),), axis=2),
    row("GatherElements", 11, X, fixed=(ints([[0, -1]], [[1, 0]]),), axis=2),
    row("GatherND", 11, X, fixed=(ints([0, 1], [1, -1]),)),
    row("GatherND", 12, X, fixed=(ints([1], [0]),), batch_dims=1),
    row("OneHot", 9, ints(0, 2, 1), fixed=(np.int64(3), np.float32([0, 2]))),
    row("OneHot", 11, ints(0, -1, 5), fixed=(np.int64(3), np.float32([1, 2])), axis=0),
    row("CumSum", 11, X, fixed=(np.int32(1),), exclusive=1),
    row("CumSum", 14, X, fixed=(np.int32(-1),), reverse=1),
    row("Mod", 10, ints(7, -7, 7, -7), ints(3, 3, -3, -3)),
    row("Mod", 13, X, floats(2, 3, 4), fmod=1),
    row("Div", 7, ints(7, -7, 7, -7), ints(2, 2, -2, -2)),
    row("Div", 14, np.int32([7, -7, 8, -8]), np.int32([2, 2, -2, -2])),
    row("Pow", 7, np.abs(X), X),
    row("Pow", 12, np.float32([1, 2, 3]), ints(2, 3, 4)),
    row("Pow", 13, np.int32([1, 2, 3]), np.float32([2, 3, 2.5])),
    row("BitShift", 11, np.uint8([1, 129, 255]), np.uint8([1, 2, 7]), direction="LEFT"),
    row("BitShift", 11, np.uint32([1, 129, 255]), np.uint32([1, 2, 31]), direction="RIGHT"),
    row("Max", 8, X, floats(3, 1), floats(4)),
    row("Mean", 8, X, floats(3, 1), floats(4)),
    row("Sum", 8, X, floats(3, 1)),
    row("PRelu", 7, X, floats(3, 1)),
    row("PRelu", 9, X, floats(4)),
    *[row(op, 7, X) for op in ("Elu", "Selu", "LeakyRelu", "HardSigmoid", "Softplus", "Softsign")],
    row("ThresholdedRelu", 10, X, alpha=0.3),
    row("Celu", 12, X, alpha=0.7),
    row("Shrink", 9, X, lambd=0.3, bias=0.1),
    row("HardSwish", 14, X * 4),
    row("Mish", 18, X),
    row("Gelu", 20, X),
    row("Gelu", 20, X, approximate="tanh"),
    row("LRN", 7, IMAGE, size=3, alpha=0.3, beta=0.6, bias=1.5),
    row("LRN", 13, IMAGE, size=5, alpha=0.3),
    row("InstanceNormalization", 7, IMAGE, floats(4), floats(4)),
    row("LayerNormalization", 17, X, floats(3, 4), floats(3, 4), axis=1),
    row("LpNormalization", 7, X, axis=1, p=1),
    row("MeanVarianceNormalization", 9, IMAGE),
    row("GroupNormalization", 21, IMAGE, floats(4), floats(4), num_groups=2),
    row("DepthToSpace", 7, floats(1, 8, 2, 3), blocksize=2),
    row("DepthToSpace", 11, floats(1, 8, 2, 3), blocksize=2, mode="CRD"),
    row("SpaceToDepth", 7, floats(1, 2, 4, 6), blocksize=2),
    row("Tile", 7, X, fixed=(ints(2, 1, 3),)),
    row("Expand", 8, floats(3, 1), fixed=(ints(2, 1, 4),)),
    row("EyeLike", 9, SMALL, k=1),
    row("Trilu", 14, SMALL, fixed=(np.int64(-1),), upper=0),
    row("Where", 9, SMALL > 0, SMALL, floats(1, 4)),
    row("IsInf", 10, np.float32([1, np.inf, -np.inf]), detect_negative=0),
    row("Einsum", 12, floats(2, 3), floats(3, 4), equation="ij,jk->ki"),
    row("Einsum", 12, floats(2, 3, 3), equation="...ii->...i"),
    row("Concat", 7, X, X, axis=2),
    row("Transpose", 7, X),
    row("Cast", 7, X * 3, to=7),
    row("Cast", 9, SMALL, to=9),
    row("Det", 11, floats(2, 3, 3)),
    row("ReverseSequence", 10, floats(4, 3), ints(4, 1, 2), time_axis=0, batch_axis=1),
    row("Compress", 9, SMALL, fixed=(np.array([True, False, True]),), axis=0),
    row("NonZero", 9, fixed=(SMALL,)),
    row("GridSample", 16, IMAGE, floats(2, 3, 5, 2) * 0.7, padding_mode="border"),
    *[
        row("GridSample", v, IMAGE, floats(2, 3, 5, 2), mode=m, padding_mode=p, align_corners=c)
        for v, m in ((16, "bilinear"), (16, "nearest"), (16, "bicubic"), (20, "linear"))
        for p in ("zeros", "border", "reflection")
        for c in (0, 1)
        if (m, p) != ("nearest", "reflection")
    ],
    *[
        row(
            "RoiAlign", v, IMAGE, np.float32([[0, 0, 4, 5], [1, 2, 5, 6]]), ints(0, 1),
            output_height=2, output_width=3, sampling_ratio=2,
        )
        for v in (10, 16)
    ],
]  # fmt: skip


def recurrent_rows() -> list[Row]:
    rows: list[Row] = []
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for kind, dirs in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            x, w, r = floats(5, 2, 3), floats(dirs, gates * 4, 3), floats(dirs, gates * 4, 4)
            bias, lengths = floats(dirs, gates * 8), np.int32([5, 3])
            first = [floats(dirs, 2, 4) for _ in range(2 if op == "LSTM" else 1)]
            rows.append(row(op, 7, x, w, r, bias, lengths, *first, hidden_size=4, direction=kind))
            rows.append(row(op, 14, x, w, r, hidden_size=4, direction=kind, clip=0.4))
    x, w, r = floats(5, 2, 3), floats(1, 12, 3), floats(1, 12, 4)
    rows.append(row("GRU", 7, x, w, r, floats(1, 24), hidden_size=4, linear_before_reset=1))
    w, r, peep = floats(1, 16, 3), floats(1, 16, 4), floats(1, 12)
    states = [floats(1, 2, 4), floats(1, 2, 4)]
    full = (x, w, r, floats(1, 32), np.int32([5, 5]), *states, peep)
    rows.append(row("LSTM", 7, *full, hidden_size=4))
    names = ["HardSigmoid", "ScaledTanh", "Affine"]
    given = {"activation_alpha": [0.3, 0.9, 0.8], "activation_beta": [0.4, 0.7, 0.1]}
    rows.append(row("LSTM", 7, x, w, r, hidden_size=4, activations=names, **given))
    return rows


def label(each: Row) -> str:
    op, version, attributes, *_ = each
    return f"{op}-{version}-" + ",".join(f"{k}={v}" for k, v in attributes.items()).replace(" ", "")


def model_of(each: Row) -> Any:
    """A model of one node. Each operator has all its results, except those of training."""
    op, version, attributes, given, fixed = each
    helper = onnx.helper
    names = [f"x{place}" for place in range(len(given) + len(fixed))]
    schema = onnx.defs.get_schema(op, version, "")
    count = (
        1 if op in ("BatchNormalization", "Dropout", "LayerNormalization") else schema.max_output
    )
    count = {"Split": 2}.get(op, min(count, 3))
    outputs = [f"y{place}" for place in range(count)]
    node = helper.make_node(op, names, outputs, name="the node", **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, map(np.asarray, given), strict=False)
    ]
    constants = [
        onnx.numpy_helper.from_array(np.asarray(x), name)
        for name, x in zip(names[len(given) :], fixed, strict=True)
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], "one", inputs, results, constants)
    imports = [helper.make_opsetid("", version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=min(10, 4 + version // 4))


@pytest.mark.parametrize("each", [*ROWS, *recurrent_rows()], ids=label)
def test_a_definition_gives_the_numbers_of_onnxruntime(each: Row) -> None:
    model = model_of(each)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    given = {f"x{place}": np.asarray(x) for place, x in enumerate(each[3])}
    wanted = session.run(None, given)
    graph = sg.from_onnx(model)
    found = graph.evaluate(**given)
    for got, want in zip(found if len(wanted) > 1 else (found,), wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, 2e-5, 2e-6)


def test_operators_that_a_version_lacks_are_refused() -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Trilu", ["x"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [3, 3])],
        [onnx.helper.make_empty_tensor_value_info("y")],
    )
    for version, what in ((13, r"Trilu \(version 13\) is not read"), (29, "in version 29")):
        imports = [onnx.helper.make_opsetid("", version)]
        with pytest.raises(FormatError, match=what):
            sg.from_onnx(onnx.helper.make_model(graph, opset_imports=imports))


@pytest.mark.parametrize("op", ["Add", "Mul", "Pow"])
def test_broadcasting_by_an_axis_before_version_7(op: str) -> None:
    """No engine runs these any more; the old definition says that b lies along that axis."""
    a, b = np.abs(floats(2, 3, 4)), np.abs(floats(3))
    helper = onnx.helper

    def model(**attributes: Any) -> Any:
        infos = [helper.make_tensor_value_info(n, 1, x.shape) for n, x in (("a", a), ("b", b))]
        node = helper.make_node(op, ["a", "b"], ["y"], **attributes)
        result = helper.make_empty_tensor_value_info("y")
        graph = helper.make_graph([node], "g", infos, [result])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)])

    function = {"Add": np.add, "Mul": np.multiply, "Pow": np.power}[op]
    found = sg.from_onnx(model(axis=1, broadcast=1)).evaluate(a=a, b=b)
    np.testing.assert_allclose(found, function(a, b[:, None]), 1e-6)
    with pytest.raises(FormatError, match="without broadcast=1"):
        sg.from_onnx(model())
    with pytest.raises(FormatError, match="cannot align"):
        sg.from_onnx(model(axis=3, broadcast=1))


def test_inputs_of_which_the_shape_depends_are_named() -> None:
    model = model_of(row("Reshape", 13, X, ints(6, 4)))
    with pytest.raises(
        InputError, match=r"(?s)Reshape needs its shape .*'x1'.*'the node'.*values="
    ):
        sg.from_onnx(model)
    graph = sg.from_onnx(model, values={"x1": [6, 4]})
    np.testing.assert_array_equal(graph.evaluate(x0=X), X.reshape(6, 4))
