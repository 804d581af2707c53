"""Models of others: networks that torch exports, and those that the package onnx ships."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg

try:
    import onnx
    import onnx.numpy_helper
    import onnxruntime
    import torch
    from torch import nn
except ImportError:
    onnx = None

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed"),
]


# -- exported by torch -----------------------------------------------------------------------------
def exported(model: Any, x: Any, dynamic: Sequence[int] = (0,)) -> bytes:
    """The model as ONNX; the axes of x named that need not be as long as here."""
    held = io.BytesIO()
    names = {"x": {axis: f"dim{axis}" for axis in dynamic}}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # The exporter is the older one, which needs no other package.
        torch.onnx.export(
            model, (x,), held, input_names=["x"], dynamic_axes=names, opset_version=17, dynamo=False
        )
    return held.getvalue()


def encoder() -> Any:
    """A transformer's encoder layer."""

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
            self.first, self.second = nn.LayerNorm(16), nn.LayerNorm(16)
            self.feed = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

        def forward(self, x: Any) -> Any:
            h = self.first(x + self.attention(x, x, x, need_weights=True)[0])
            return self.second(h + self.feed(h))

    return Encoder()


def residual() -> Any:
    """A residual block with a stride, batch normalization and a pooled head."""

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.norm = nn.BatchNorm2d(8)
            self.two = nn.Conv2d(8, 8, 3, padding=1, groups=2)
            self.past = nn.Conv2d(3, 8, 1, stride=2)
            self.head = nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            h = torch.relu(self.norm(self.one(x)))
            h = nn.functional.max_pool2d(torch.relu(self.two(h) + self.past(x)), 2)
            h = nn.functional.adaptive_avg_pool2d(h, 1).flatten(1)
            return torch.log_softmax(self.head(h), -1)

    return Residual()


class First(nn.Module if onnx is not None else object):
    """The states of a recurrent network at all steps."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x)[0]


MODELS = {
    "encoder": (encoder, (2, 5, 16)),
    "residual": (residual, (2, 3, 8, 8)),
    "gru": (lambda: First(nn.GRU(16, 8, batch_first=True)), (2, 5, 16)),
    "lstm": (lambda: First(nn.LSTM(16, 8, num_layers=2, bidirectional=True)), (5, 2, 16)),
    "rnn": (lambda: First(nn.RNN(16, 8, nonlinearity="relu")), (5, 2, 16)),
    "mlp": (lambda: nn.Sequential(nn.Linear(6, 5), nn.ELU(), nn.Linear(5, 2)), (4, 6)),
}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_torch(name: str) -> None:
    """In float64: of the sum of the results times given numbers, by each weight and the input."""
    build, shape = MODELS[name]
    torch.manual_seed(0)
    model = build().double().eval()
    with torch.no_grad():
        for each in model.parameters():  # The exporter would merge weights that are equal.
            each.uniform_(-0.5, 0.5)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    data = exported(model, x.detach())
    graph = sg.from_onnx(data, parameters="inputs")
    weights = sg.onnx_parameters(data, graph.inputs)
    (result,) = graph.outputs.values()
    total = sg.graph(np.sum(result * result), inputs=list(graph.inputs.values()))
    small = total.gradient("x", *weights).simplify()
    value = model(x)
    loss = torch.sum(value * value)
    loss.backward()
    given = {"x": x.detach().numpy(), **weights}
    np.testing.assert_allclose(graph.evaluate(**given), value.detach().numpy(), 1e-9, 1e-11)
    found, gradients = small.lower()(**given)
    np.testing.assert_allclose(found, loss.item(), 1e-10)
    np.testing.assert_allclose(gradients[0], x.grad.numpy(), 1e-7, 1e-10)
    named = dict(model.named_parameters())
    compared = 0
    for (weight, _), gradient in zip(weights.items(), gradients[1:], strict=True):
        if weight in named:
            np.testing.assert_allclose(gradient, named[weight].grad.numpy(), 1e-7, 1e-10)
            compared += 1
    # Recurrent weights are stored in another order, so their names are not the module's.
    assert compared or name in ("gru", "lstm", "rnn")


# -- shipped by the package onnx -------------------------------------------------------------------
def shipped() -> list[Path]:
    if onnx is None:
        return []
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    return sorted(folder.glob("light_*.onnx"))


def with_numbers(model: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Random weights, where the model has a constant in the place of each."""
    given: dict[str, Any] = {}
    sizes = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    kept: list[Any] = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = tuple(int(dim) for dim in sizes[node.input[0]])
        scale = 1 / np.sqrt(max(np.prod(shape[1:]), 1))
        value = rng.uniform(0.2, 1.0, shape) if len(shape) == 1 else rng.normal(0, scale, shape)
        given[node.output[0]] = value.astype(np.float32)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    for name, value in given.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return given


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_shipped_networks_give_the_numbers_of_onnxruntime(path: Path) -> None:
    rng = np.random.default_rng(0)
    model = onnx.load(path)
    weights = with_numbers(model, rng)
    graph = sg.from_onnx(path, parameters=list(weights))
    name, data = next(iter(graph.inputs.items()))
    x = rng.normal(size=tuple(data.shape)).astype(np.float32)
    found = graph.evaluate(**{name: x}, **weights)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    (want,) = session.run(None, {name: x})
    assert np.ptp(want) > 0
    np.testing.assert_allclose(found, want, 2e-3, 1e-5 * float(np.max(np.abs(want))))


@pytest.mark.parametrize("stem", ["light_squeezenet", "light_shufflenet"])
def test_the_gradient_of_a_shipped_network(stem: str) -> None:
    """Along a random direction in some weights, against a difference.

    The logarithm of the softmax that ends the network overflows, unless it is simplified.
    """
    (path,) = [each for each in shipped() if each.stem == stem]
    rng = np.random.default_rng(1)
    weights = with_numbers(onnx.load(path), rng)
    graph = sg.from_onnx(path, parameters=list(weights))
    name, data = next(iter(graph.inputs.items()))
    given = {name: rng.normal(size=tuple(data.shape)).astype(np.float32), **weights}
    (result,) = graph.outputs.values()
    cost = sg.graph(np.sum(np.log(result)), inputs=list(graph.inputs.values()))
    chosen = [each for each in weights if weights[each].ndim == 4][:3]
    value, gradients = cost.gradient(*chosen).simplify(effort="low").evaluate(**given)
    cost = cost.simplify(effort="low")
    for each, gradient in zip(chosen, gradients, strict=True):
        step = rng.normal(size=gradient.shape).astype(np.float32)
        step *= 1e-2 / np.linalg.norm(step)
        ends = [cost.evaluate(**{**given, each: given[each] + side * step}) for side in (1, -1)]
        slope = float(ends[0] - ends[1]) / 2
        assert abs(slope - float(np.sum(gradient * step))) < 0.03 * abs(slope) + 2e-4 * abs(value)
