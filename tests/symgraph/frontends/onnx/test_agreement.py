"""The cases of ONNX's suite with other attributes, and with named dimensions: no other numbers.

What onnxruntime runs and is read gives the same; what is refused is no concern here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnxcases import Case, check, every_case, graph_of, onnx

import symgraph as sg
from symgraph.errors import SymgraphError

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(onnxruntime is None, reason="the oracles extra is not installed"),
]

WORDS = ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "linear", "nearest", "cubic", "floor"]
WORDS += ["ceil", "round_prefer_ceil", "half_pixel", "asymmetric", "pytorch_half_pixel", "zeros"]
WORDS += ["border", "reflection", "add", "mul", "max", "min", "none", "sum", "mean", "tanh"]
WORDS += [
    "reverse",
    "bidirectional",
    "forward",
    "constant",
    "edge",
    "reflect",
    "wrap",
    "DCR",
    "CRD",
]
NUMBERS = [0, 1, -1, 2, 3]
REALS = [0.5, 2.0, 0.1]
# onnxruntime takes values of these that mean nothing; what is not sorted has any order.
UNTOUCHED = {"saturate", "round_mode", "interleaved", "sorted"}
# It draws these itself, or measures them by whole sizes, where the suite takes scales.
LEFT_OUT = ("test_bernoulli", "test_resize_downsample_scales", "test_image_decoder")


def random_attribute(kind: str, name: str, rng: np.random.Generator) -> Any:
    chosen = {"INT": NUMBERS, "FLOAT": REALS, "STRING": WORDS}[kind]
    return onnx.helper.make_attribute(name, chosen[rng.integers(len(chosen))])


def with_other_attributes(model: Any, rng: np.random.Generator) -> Any:
    """One attribute or two are others, more or missing."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    versions = {each.domain: each.version for each in changed.opset_import}
    for _ in range(rng.integers(1, 3)):
        node = changed.graph.node[rng.integers(len(changed.graph.node))]
        given = {each.name: each for each in node.attribute}
        schema = onnx.defs.get_schema(node.op_type, versions[node.domain], node.domain)
        kinds = {name: each.type.name for name, each in schema.attributes.items()}
        names = sorted(set(kinds) - UNTOUCHED)
        if not names:
            continue
        name = names[rng.integers(len(names))]
        if kinds[name] == "INTS" and name in given and given[name].ints and rng.integers(3):
            place = rng.integers(len(given[name].ints))
            given[name].ints[place] = NUMBERS[rng.integers(len(NUMBERS))]
            continue
        if name in given:
            node.attribute.remove(given[name])
        if kinds[name] in ("INT", "FLOAT", "STRING") and (name not in given or rng.integers(4)):
            node.attribute.append(random_attribute(kinds[name], name, rng))
    return changed


def numbers_of_onnxruntime(model: Any, given: dict[str, Any]) -> list[Any] | None:
    """What it computes without optimizing, or None if it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    off = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.graph_optimization_level = off
    model.ir_version = min(max(model.ir_version, 4), 13)
    try:
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return session.run(None, {each.name: given[each.name] for each in session.get_inputs()})
    except Exception:  # Whatever it says of a model that makes no sense.
        return None


def outcome(case: Case, rng: np.random.Generator) -> str:
    model = with_other_attributes(case.model, rng)
    try:
        graph = graph_of(case._replace(model=model))
        with np.errstate(all="ignore"):
            found = graph.evaluate(**{name: case.given[name] for name in graph.inputs})
    except (SymgraphError, IndexError, ValueError) as error:
        return type(error).__name__
    wanted = numbers_of_onnxruntime(model, case.given)
    if wanted is None:
        return "refused by onnxruntime"
    results = found if len(wanted) > 1 else (found,)
    softmax = any(node.op_type == "Softmax" for node in model.graph.node)
    if not all(map(same, results, wanted, [softmax] * len(wanted))):
        # The two engines differ about masks: one of them must agree.
        again = onnx.reference.ReferenceEvaluator(model).run(None, case.given)
        assert all(map(same, results, again, [softmax] * len(wanted))), model
    return "agrees"


def same(got: Any, want: Any, softmax: bool) -> bool:
    """Whether the numbers agree; the softmax of minus infinity alone is NaN there, and 0 here."""
    if want is None:  # onnxruntime leaves out what one of its operators does not compute.
        return True
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return False
    scale = float(np.max(np.abs(want), initial=1, where=np.isfinite(want)))
    rtol = 3e-2 if want.dtype == np.float16 else 5e-3
    close = np.isclose(got, want, rtol, 1e-5 * min(scale, 1e6), equal_nan=True)
    return bool(np.all(close | np.isnan(want) if softmax else close))


@pytest.mark.parametrize(
    "start", [0, *[pytest.param(n, marks=pytest.mark.fuzz) for n in (1, 2, 3)]]
)
def test_other_attributes_give_the_numbers_of_onnxruntime(start: int) -> None:
    cases = [case for case in every_case() if not case.name.startswith(LEFT_OUT)]
    count = 2_000 if start else 500
    found: Counter[str] = Counter()
    for seed in range(count):
        rng = np.random.default_rng([start, seed])
        found[outcome(cases[rng.integers(len(cases))], rng)] += 1
    assert found["agrees"] > count / 5


def with_names(case: Case, graph: sg.Graph, rng: np.random.Generator) -> Case:
    """Half of the sizes above 1 are names: equal ones have one name."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    chosen = {size for size in range(200) if rng.integers(2)}
    for info in model.graph.input:
        if info.name not in graph.inputs:
            continue
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value > 1 and dim.dim_value in chosen:
                dim.dim_param = f"d{dim.dim_value}"
    return case._replace(model=model)


def test_named_dimensions_change_no_numbers() -> None:
    rng = np.random.default_rng(0)
    found: Counter[str] = Counter()
    for case in every_case():
        try:
            graph = graph_of(case)
        except SymgraphError:
            continue
        try:
            check(with_names(case, graph, rng))
            found["same"] += 1
        except SymgraphError as error:
            found[type(error).__name__] += 1
    assert found["same"] > 1_000
